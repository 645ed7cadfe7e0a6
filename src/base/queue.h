/* SPDX-License-Identifier: MIT */
/* queue.h - how threads talk: messages in, in order, from any of them; out in
 * batches, to the one that owns the queue.
 *
 * A message embeds a queue_node as its first member and belongs to the queue
 * while it is in it.  The queue holds at most `limit` messages: a full queue
 * refuses, and the sender must say so to whoever asked.  The owner either
 * watches queue_fd() in its loop (readable while messages wait, but for those that were put in
 * quietly) or blocks in queue_wait(). */
#ifndef BASE_QUEUE_H
#define BASE_QUEUE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct queue_node {
    struct queue_node *next;
};

struct queue;

int queue_new(size_t limit, struct queue **ret, struct err *err);
void queue_free(struct queue *q); /* must be empty and without senders; NULL is fine */

/* False when the queue is full or closed; the message is then still the caller's. */
bool queue_put(struct queue *q, struct queue_node *node);

/* The same, but the owner hears of it with the next one, unless he looks. */
bool queue_put_quietly(struct queue *q, struct queue_node *node);

/* Everything that waits, oldest first, linked by next; NULL when nothing does. */
struct queue_node *queue_take(struct queue *q);

/* Blocks until a message waits, the queue is closed (both true) or timeout_ms
 * has passed (false); -1 waits for ever. */
bool queue_wait(struct queue *q, int timeout_ms);

void queue_close(struct queue *q); /* nothing more goes in; wakes the owner */
bool queue_is_closed(struct queue *q);
size_t queue_len(struct queue *q);
int queue_fd(const struct queue *q);

#endif
