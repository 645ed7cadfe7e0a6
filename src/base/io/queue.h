/* SPDX-License-Identifier: MIT */
/* queue.h - a bounded message queue: any thread puts, the owner takes in batches, in order.
 *
 * A message embeds a queue_node as its first member and belongs to the queue while it is queued.
 * The queue holds at most `limit` messages: a full queue refuses, and the sender must report
 * that to its caller.  The owner either watches queue_fd() in its loop (readable while messages
 * wait, except for those of queue_put_quietly()) or blocks in queue_wait(). */
#ifndef BASE_IO_QUEUE_H
#define BASE_IO_QUEUE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text/err.h"

struct queue_node {
    struct queue_node *next;
};

struct queue;

int queue_new(size_t limit, struct queue **ret, struct err *err);
void queue_free(struct queue *q); /* must be empty and without senders; NULL is allowed */

/* False if the queue is full or closed; the caller still owns the message then. */
bool queue_put(struct queue *q, struct queue_node *node);

/* The same, but does not wake the owner: it gets the message together with the next one that
 * does, or when it calls queue_take() for another reason. */
bool queue_put_quietly(struct queue *q, struct queue_node *node);

/* All queued messages, oldest first, linked by next; NULL if there are none. */
struct queue_node *queue_take(struct queue *q);

/* Blocks until a message waits or the queue is closed (true), or until timeout_ms have passed
 * (false); -1 waits forever. */
bool queue_wait(struct queue *q, int timeout_ms);

void queue_close(struct queue *q); /* refuses further messages and wakes the owner */
bool queue_is_closed(struct queue *q);
size_t queue_len(struct queue *q);
int queue_fd(const struct queue *q);

#endif
