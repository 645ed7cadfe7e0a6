/* SPDX-License-Identifier: MIT */
/* queue.c - a list under a mutex, and an eventfd that is readable while the list is not empty or
 * the queue is closed, except for messages of queue_put_quietly().  The eventfd is written once
 * until the list is taken, so that a busy queue costs its senders no system call. */
#include "base/io/queue.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem/mem.h"
#include "base/os/sys.h"
#include "base/os/time.h"

struct queue {
    pthread_mutex_t lock;
    struct queue_node *first, **last;
    size_t n, limit;
    bool closed, is_raised;
    int fd;
};

int queue_new(size_t limit, struct queue **ret, struct err *err)
{
    struct queue *q = xalloc(sizeof(*q));

    q->fd = sys_eventfd();
    if (q->fd < 0) {
        free(q);
        return err_sys(err, "eventfd for a queue");
    }
    pthread_mutex_init(&q->lock, NULL);
    q->last = &q->first;
    q->limit = limit;
    *ret = q;
    return 0;
}

void queue_free(struct queue *q)
{
    if (!q)
        return;
    sys_close(q->fd);
    pthread_mutex_destroy(&q->lock);
    free(q);
}

/* The write cannot fail: the counter of our eventfd is 0 or 1, far from its limit of 2^64. */
static void raise_flag(struct queue *q)
{
    uint64_t one = 1;

    if (q->is_raised)
        return;
    q->is_raised = true;
    if (write(q->fd, &one, sizeof(one)) != sizeof(one))
        abort();
}

static void lower_flag(struct queue *q)
{
    uint64_t count;

    if (!q->is_raised || q->closed)
        return;
    q->is_raised = false;
    if (read(q->fd, &count, sizeof(count)) != sizeof(count))
        abort();
}

static bool put(struct queue *q, struct queue_node *node, bool is_quiet)
{
    bool ok;

    pthread_mutex_lock(&q->lock);
    ok = !q->closed && q->n < q->limit;
    if (ok) {
        node->next = NULL;
        *q->last = node;
        q->last = &node->next;
        q->n++;
        if (!is_quiet)
            raise_flag(q);
    }
    pthread_mutex_unlock(&q->lock);
    return ok;
}

bool queue_put(struct queue *q, struct queue_node *node)
{
    return put(q, node, false);
}

bool queue_put_quietly(struct queue *q, struct queue_node *node)
{
    return put(q, node, true);
}

struct queue_node *queue_take(struct queue *q)
{
    struct queue_node *list;

    pthread_mutex_lock(&q->lock);
    list = q->first;
    lower_flag(q);
    q->first = NULL;
    q->last = &q->first;
    q->n = 0;
    pthread_mutex_unlock(&q->lock);
    return list;
}

/* If a signal interrupts poll(), the remaining time is waited for. */
bool queue_wait(struct queue *q, int timeout_ms)
{
    struct pollfd p = { .fd = q->fd, .events = POLLIN };
    int64_t end_ms = clock_mono_ms(&clock_system) + timeout_ms;
    int n;

    while ((n = poll(&p, 1, timeout_ms)) < 0) {
        int64_t left_ms = end_ms - clock_mono_ms(&clock_system);

        if (errno != EINTR)
            abort(); /* poll() on one descriptor of our own cannot fail otherwise */
        if (timeout_ms > 0)
            timeout_ms = left_ms > 0 ? (int)left_ms : 0;
    }
    return n > 0;
}

void queue_close(struct queue *q)
{
    pthread_mutex_lock(&q->lock);
    raise_flag(q);
    q->closed = true;
    pthread_mutex_unlock(&q->lock);
}

bool queue_is_closed(struct queue *q)
{
    bool closed;

    pthread_mutex_lock(&q->lock);
    closed = q->closed;
    pthread_mutex_unlock(&q->lock);
    return closed;
}

size_t queue_len(struct queue *q)
{
    size_t n;

    pthread_mutex_lock(&q->lock);
    n = q->n;
    pthread_mutex_unlock(&q->lock);
    return n;
}

int queue_fd(const struct queue *q)
{
    return q->fd;
}
