/* SPDX-License-Identifier: MIT */
/* job_thread.c - see job_thread.h. */
#include "agent/shell/job_thread.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem/mem.h"
#include "base/os/time.h"

enum { JOBS_MAX = 256 };

struct job_thread {
    struct queue *in, *out;
    struct watch *watch;
    pthread_t thread;
    bool is_running;
    size_t on_their_way; /* jobs not returned yet */
};

/* All queued jobs are done before the thread ends. */
static void *job_thread_run(void *arg)
{
    struct job_thread *h = arg;

    for (;;) {
        bool is_last = queue_is_closed(h->in); /* read before the remaining jobs are taken */
        struct queue_node *next, *node = queue_take(h->in);

        if (!node && is_last)
            return NULL;
        if (!node)
            queue_wait(h->in, -1);
        for (; node; node = next) {
            next = node->next;
            ((struct job *)node)->work((struct job *)node);
            (void)queue_put(h->out, node); /* its capacity is the maximum number of jobs */
        }
    }
}

static void hand_back(struct job_thread *h)
{
    struct queue_node *next;

    for (struct queue_node *node = queue_take(h->out); node; node = next) {
        next = node->next;
        h->on_their_way--;
        ((struct job *)node)->done((struct job *)node);
    }
}

static void job_thread_on_out(void *arg, unsigned ready)
{
    (void)ready;
    hand_back(arg);
}

static int job_thread_start_thread(struct job_thread *h, struct err *err)
{
    sigset_t all, old;
    int number;

    sigfillset(&all); /* only the loop handles signals */
    pthread_sigmask(SIG_SETMASK, &all, &old);
    number = pthread_create(&h->thread, NULL, job_thread_run, h);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (number) {
        errno = number;
        return err_sys(err, "start a thread");
    }
    h->is_running = true;
    return 0;
}

int job_thread_new(struct loop *loop, struct job_thread **ret, struct err *err)
{
    struct job_thread *h = xalloc(sizeof(*h));

    if (queue_new(JOBS_MAX, &h->in, err) || queue_new(JOBS_MAX, &h->out, err) ||
        watch_new(loop, queue_fd(h->out), job_thread_on_out, h, &h->watch, err) ||
        watch_want(h->watch, WATCH_READ, err) || job_thread_start_thread(h, err)) {
        job_thread_free(h);
        return -1;
    }
    *ret = h;
    return 0;
}

void job_thread_free(struct job_thread *h)
{
    if (!h)
        return;
    if (h->is_running) {
        queue_close(h->in);
        pthread_join(h->thread, NULL);
        hand_back(h);
    }
    watch_free(h->watch);
    queue_free(h->in);
    queue_free(h->out);
    free(h);
}

void job_thread_leave(struct job_thread *h, int64_t wait_ms)
{
    struct timespec until;

    if (!h)
        return;
    queue_close(h->in);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += wait_ms % 1000 * 1000000;
    until.tv_sec += wait_ms / 1000 + until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    if (h->is_running && pthread_timedjoin_np(h->thread, NULL, &until)) {
        watch_free(h->watch);
        return;
    }
    if (h->is_running)
        hand_back(h);
    h->is_running = false;
    job_thread_free(h);
}

bool job_thread_do(struct job_thread *h, struct job *job)
{
    if (h->on_their_way >= JOBS_MAX)
        return false;
    h->on_their_way++;
    return queue_put(h->in, &job->node);
}
