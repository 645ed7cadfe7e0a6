/* SPDX-License-Identifier: MIT */
/* agent_help.c - a thread for what blocks: syncs of the journal, users that may have to
 * be asked for over the network, commands until they are programs. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/agent_in.h"
#include "base/mem.h"
#include "base/time.h"

enum { JOBS_MAX = 256 }; /* and one sync */

/* Of many commands that are started one after the other the loop hears together, in one turn: a
 * turn, a record and a message for each took a fifth of the agent's processor time.  What has
 * waited this long is told of before the next is begun. */
enum { TOGETHER_MS = 5 };

struct help {
    struct agent *agent;
    help_fn *fn;
    struct queue *in, *out;
    struct watch *watch;
    pthread_t thread;
    bool is_running;
    size_t on_their_way; /* jobs that have not come back */
    struct spawner *spawner;
};

static void work(const struct help *h, struct job *job)
{
    if (job->work)
        job->work(job);
    else if (job->act)
        run_start(h->agent, job->act, h->spawner);
    else if (job->name)
        user_name_of(job->name->uid, job->name->text);
    else if (!job->user_name)
        journal_sync_run(&job->sync);
    else if (user_new(job->user_name, &job->user, &job->err))
        job->has_failed = true;
}

/* It holds as many as can be on their way. */
static void tell(struct help *h, struct queue_node *node, bool is_last, int64_t *since_ms)
{
    int64_t now_ms = clock_mono_ms(&clock_system);

    if (!*since_ms)
        *since_ms = now_ms;
    if (h->spawner && !is_last && now_ms - *since_ms < TOGETHER_MS) {
        (void)queue_put_quietly(h->out, node);
        return;
    }
    (void)queue_put(h->out, node);
    *since_ms = 0;
}

/* All that is in is done before the end. */
static void *run(void *arg)
{
    struct help *h = arg;
    int64_t since_ms = 0; /* there is something that the loop was not told of */

    for (;;) {
        bool is_last = queue_is_closed(h->in); /* before the rest is taken */
        struct queue_node *next, *node = queue_take(h->in);

        if (!node && is_last)
            return NULL;
        if (!node)
            queue_wait(h->in, -1);
        for (; node; node = next) {
            next = node->next;
            work(h, (struct job *)node);
            tell(h, node, !next, &since_ms);
        }
    }
}

static void hand_back(struct help *h)
{
    struct queue_node *next;

    for (struct queue_node *node = queue_take(h->out); node; node = next) {
        next = node->next;
        h->on_their_way--;
        h->fn(h->agent, (struct job *)node);
    }
}

void help_collect(struct help *h)
{
    if (h->on_their_way)
        hand_back(h);
}

static void on_out(void *arg, unsigned ready)
{
    (void)ready;
    hand_back(arg);
}

static int start_thread(struct help *h, struct err *err)
{
    sigset_t all, old;
    int number;

    sigfillset(&all); /* signals are the loop's */
    pthread_sigmask(SIG_SETMASK, &all, &old);
    number = pthread_create(&h->thread, NULL, run, h);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (number)
        return err_set(err, ERR_SYSTEM, "start a thread: %s", strerror(number));
    h->is_running = true;
    return 0;
}

int help_new(struct agent *a, help_fn *fn, struct spawner *s, struct help **ret, struct err *err)
{
    struct help *h = xalloc(sizeof(*h));

    h->agent = a;
    h->fn = fn;
    h->spawner = s;
    if (queue_new(JOBS_MAX + 1, &h->in, err) || queue_new(JOBS_MAX + 1, &h->out, err) ||
        watch_new(a->loop, queue_fd(h->out), on_out, h, &h->watch, err) ||
        watch_want(h->watch, WATCH_READ, err) || start_thread(h, err)) {
        h->spawner = NULL;
        help_free(h);
        return -1;
    }
    *ret = h;
    return 0;
}

void help_free(struct help *h)
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
    spawner_free(h->spawner);
    free(h);
}

void help_leave(struct help *h, int64_t wait_ms)
{
    struct timespec until;

    if (!h)
        return;
    queue_close(h->in);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += wait_ms / 1000;
    if (h->is_running && pthread_timedjoin_np(h->thread, NULL, &until)) {
        watch_free(h->watch);
        return;
    }
    if (h->is_running)
        hand_back(h);
    h->is_running = false;
    help_free(h);
}

bool help_do(struct help *h, struct job *job)
{
    if ((job->user_name || job->name) && h->on_their_way >= JOBS_MAX)
        return false;
    h->on_their_way++;
    return queue_put(h->in, &job->node);
}

size_t help_load(const struct help *h)
{
    return h->on_their_way;
}
