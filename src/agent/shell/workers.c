/* SPDX-License-Identifier: MIT */
/* workers.c - see workers.h. The lock protects the queued jobs, the list of threads and their
 * states. The number of unreturned jobs of an owner is used by the loop only. */
#include "agent/shell/workers.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem/map.h"
#include "base/mem/mem.h"
#include "base/os/time.h"

/* Number of threads while nothing hangs. */
enum { BASE_THREADS = 2 };

/* The loop is woken once for several jobs that end in sequence: a turn of the loop, a record and a
 * message for each job took a fifth of the agent's CPU time. */
enum { TOGETHER_MS = 5 };

enum { OUT_MAX = 1 << 20 }; /* more than can be in the queue: WORKERS_ROOM for each owner */

struct worker_owner {
    size_t in;      /* jobs not returned yet */
    size_t working; /* of these, running */
    char name[];
};

/* An owner that the loop has waited for too long. */
struct slow_owner {
    int64_t until_ms;
    char name[];
};

struct worker {
    TAILQ_ENTRY(worker) link;
    struct workers *all;
    struct spawner *spawner;
    struct worker_job *job; /* running job; NULL: none */
    int64_t silent_ms;      /* end of the first job that the loop was not woken for; 0: none */
    bool is_slow;
};

struct workers {
    struct loop *loop;
    const struct spawner *spawner;
    struct map owners; /* struct worker_owner, by name */
    size_t in;         /* jobs not returned yet */
    struct queue *out;
    struct watch *watch;
    struct timer tick;
    struct map slow_owners;           /* struct slow_owner, by name */
    int64_t waits_from_ms, waited_ms; /* start of the interval, and time waited in it */

    pthread_mutex_t lock;
    pthread_cond_t wake, end;
    TAILQ_HEAD(, worker_job) waiting;
    TAILQ_HEAD(, worker) threads;
    size_t n_threads, n_idle, n_slow;
    bool is_closing; /* threads end when the queue is empty */
    bool is_over;    /* queued jobs are not started any more */
};

static int64_t workers_now(void)
{
    return clock_mono_ms(&clock_system);
}

/* ---- with the lock held */

/* The first job of an owner without a thread, otherwise of an owner below its limit. */
static struct worker_job *find_job(const struct workers *w)
{
    struct worker_job *job, *second = NULL;

    if (w->is_over)
        return NULL;
    TAILQ_FOREACH(job, &w->waiting, link) {
        if (!job->owner->working)
            return job;
        if (!second && job->owner->working < WORKERS_PER_OWNER)
            second = job;
    }
    return second;
}

static void begin_job(struct worker *me, struct worker_job *job)
{
    TAILQ_REMOVE(&me->all->waiting, job, link);
    job->owner->working++;
    job->began_ms = workers_now();
    me->job = job;
}

/* Wakes the loop, unless this thread has another job at once and has woken the loop recently. */
static void end_job(struct worker *me)
{
    struct workers *w = me->all;
    struct worker_job *job = me->job;
    int64_t now_ms = workers_now();

    me->job = NULL;
    job->has_ended = true;
    if (job->is_waited_for)
        pthread_cond_broadcast(&w->end);
    w->n_slow -= me->is_slow;
    me->is_slow = false;
    job->owner->working--;
    if (!me->silent_ms)
        me->silent_ms = now_ms;
    if (now_ms - me->silent_ms < TOGETHER_MS && find_job(w)) {
        (void)queue_put_quietly(w->out, &job->node); /* OUT_MAX is never reached */
        return;
    }
    (void)queue_put(w->out, &job->node);
    me->silent_ms = 0;
}

static bool is_one_too_many(const struct workers *w)
{
    return w->is_closing || w->n_threads - w->n_slow > BASE_THREADS;
}

static bool is_one_wanted(const struct workers *w)
{
    return !w->is_closing && !w->n_idle && w->n_threads - w->n_slow < BASE_THREADS &&
           w->n_threads < WORKERS_MAX && find_job(w);
}

static void note_slow(struct workers *w)
{
    int64_t now_ms = workers_now();
    struct worker *one;

    TAILQ_FOREACH(one, &w->threads, link) {
        if (!one->job || one->is_slow || now_ms - one->job->began_ms < WORKERS_SLOW_MS)
            continue;
        one->is_slow = true;
        w->n_slow++;
    }
}

/* ---- a thread */

static void *workers_run(void *arg)
{
    struct worker *me = arg;
    struct workers *w = me->all;
    struct worker_job *job;

    pthread_mutex_lock(&w->lock);
    while ((job = find_job(w)) || !is_one_too_many(w)) {
        if (!job) {
            w->n_idle++;
            pthread_cond_wait(&w->wake, &w->lock);
            w->n_idle--;
            continue;
        }
        begin_job(me, job);
        pthread_mutex_unlock(&w->lock);
        job->work(job, me->spawner);
        pthread_mutex_lock(&w->lock);
        end_job(me);
    }
    TAILQ_REMOVE(&w->threads, me, link);
    spawner_free(me->spawner);
    free(me);
    w->n_threads--;
    pthread_cond_broadcast(&w->end);
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

static int workers_start_thread(struct worker *one, struct err *err)
{
    sigset_t all, old;
    pthread_t thread;
    int number;

    sigfillset(&all); /* only the loop handles signals */
    pthread_sigmask(SIG_SETMASK, &all, &old);
    number = pthread_create(&thread, NULL, workers_run, one);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (number) {
        errno = number;
        return err_sys(err, "start a thread");
    }
    pthread_detach(thread);
    return 0;
}

static int add_thread(struct workers *w, struct err *err)
{
    struct worker *one = xalloc(sizeof(*one));
    int result;

    one->all = w;
    if (spawner_copy(w->spawner, &one->spawner, err)) {
        free(one);
        return -1;
    }
    pthread_mutex_lock(&w->lock);
    result = workers_start_thread(one, err);
    if (!result) {
        TAILQ_INSERT_TAIL(&w->threads, one, link);
        w->n_threads++;
    }
    pthread_mutex_unlock(&w->lock);
    if (result) {
        spawner_free(one->spawner);
        free(one);
    }
    return result;
}

/* ---- on the loop */

static void count_back(struct workers *w, struct worker_owner *owner)
{
    w->in--;
    if (--owner->in)
        return;
    map_del_str(&w->owners, owner->name);
    free(owner);
}

static void hand_back(struct workers *w)
{
    struct queue_node *next;

    for (struct queue_node *node = queue_take(w->out); node; node = next) {
        struct worker_job *job = (struct worker_job *)node;
        struct worker_owner *owner = job->owner;

        next = node->next;
        count_back(w, owner);
        job->done(job);
    }
    if (!w->in)
        timer_stop(w->loop, &w->tick);
}

void workers_collect(struct workers *w)
{
    if (w->in)
        hand_back(w);
}

static void workers_on_out(void *workers, unsigned ready)
{
    (void)ready;
    hand_back(workers);
}

static void workers_on_tick(void *workers)
{
    struct workers *w = workers;
    bool is_wanted, is_watched;
    struct err ignored;

    pthread_mutex_lock(&w->lock);
    note_slow(w);
    is_wanted = is_one_wanted(w);
    is_watched = w->n_threads > w->n_slow + w->n_idle || find_job(w);
    pthread_mutex_unlock(&w->lock);
    if (is_watched)
        timer_set(w->loop, &w->tick, WORKERS_SLOW_MS);
    if (is_wanted)
        (void)add_thread(w, &ignored); /* if it fails, the next tick tries again */
    workers_collect(w);
}

static struct worker_owner *find_owner(struct workers *w, const char *name)
{
    struct worker_owner *owner = map_find_str(&w->owners, name);
    size_t n = strlen(name) + 1;

    if (owner)
        return owner;
    owner = xalloc(sizeof(*owner) + n);
    memcpy(owner->name, name, n);
    map_put_str(&w->owners, owner->name, owner);
    return owner;
}

bool workers_have_room(const struct workers *w, const char *name)
{
    const struct worker_owner *owner = map_find_str(&w->owners, name);

    return !owner || owner->in < WORKERS_ROOM;
}

void workers_put(struct workers *w, const char *owner, struct worker_job *job)
{
    bool is_wanted;
    struct err ignored;

    job->owner = find_owner(w, owner);
    job->began_ms = 0;
    job->owner->in++;
    w->in++;
    pthread_mutex_lock(&w->lock);
    TAILQ_INSERT_TAIL(&w->waiting, job, link);
    if (w->n_idle)
        pthread_cond_signal(&w->wake);
    is_wanted = is_one_wanted(w);
    pthread_mutex_unlock(&w->lock);
    if (is_wanted)
        (void)add_thread(w, &ignored); /* if it fails, the next tick tries again */
    if (!w->tick.place)
        timer_set(w->loop, &w->tick, WORKERS_SLOW_MS);
}

bool workers_are_slow(struct workers *w, const char *name)
{
    const struct worker_owner *owner = map_find_str(&w->owners, name);
    const struct worker *one;
    bool is_slow = false;

    if (!owner)
        return false;
    pthread_mutex_lock(&w->lock);
    note_slow(w);
    TAILQ_FOREACH(one, &w->threads, link)
        is_slow |= one->is_slow && one->job->owner == owner;
    pthread_mutex_unlock(&w->lock);
    return is_slow;
}

static struct timespec in_ms(int64_t wait_ms)
{
    int64_t until_ms = workers_now() + wait_ms;

    return (struct timespec){ .tv_sec = until_ms / 1000, .tv_nsec = until_ms % 1000 * 1000000 };
}

static void forget_slow(struct workers *w, int64_t now_ms)
{
    struct map_entry *e;

    for (size_t at = 0; (e = map_next(&w->slow_owners, &at));) {
        struct slow_owner *slow = e->value;

        if (slow->until_ms > now_ms)
            continue;
        map_del_str(&w->slow_owners, slow->name);
        free(slow);
    }
}

/* How long the loop may wait for a job of this owner. */
static int64_t wait_left(struct workers *w, const char *owner)
{
    int64_t now_ms = workers_now();

    forget_slow(w, now_ms); /* a short list: each entry took a third of the wait */
    if (now_ms - w->waits_from_ms >= WORKERS_WAIT_EACH_MS) {
        w->waits_from_ms = now_ms;
        w->waited_ms = 0;
    }
    return map_find_str(&w->slow_owners, owner) ? 0 : WORKERS_WAIT_MS - w->waited_ms;
}

static void note_wait(struct workers *w, const char *owner, int64_t began_ms)
{
    int64_t now_ms = workers_now();
    size_t n = strlen(owner) + 1;
    struct slow_owner *slow;

    w->waited_ms += now_ms - began_ms;
    if (now_ms - began_ms <= WORKERS_SLOW_MS)
        return;
    slow = xalloc(sizeof(*slow) + n);
    slow->until_ms = now_ms + WORKERS_NO_WAIT_MS;
    memcpy(slow->name, owner, n);
    map_put_str(&w->slow_owners, slow->name, slow);
}

bool workers_put_and_wait(struct workers *w, const char *owner, struct worker_job *job)
{
    int64_t began_ms = workers_now(), wait_ms = wait_left(w, owner);
    struct timespec until = in_ms(wait_ms);
    bool has_ended;
    int late = 0;

    if (wait_ms <= 0 || w->is_closing || !workers_have_room(w, owner) ||
        workers_are_slow(w, owner)) {
        job->done(job);
        return false;
    }
    job->is_waited_for = true;
    workers_put(w, owner, job);
    pthread_mutex_lock(&w->lock);
    while (!job->has_ended && !late)
        late = pthread_cond_timedwait(&w->end, &w->lock, &until);
    has_ended = job->has_ended; /* the job returns by the loop, so it still exists */
    pthread_mutex_unlock(&w->lock);
    note_wait(w, owner, began_ms);
    return has_ended;
}

bool workers_have_jobs(const struct workers *w)
{
    return w->in > 0;
}

void workers_begin_no_more(struct workers *w)
{
    pthread_mutex_lock(&w->lock);
    w->is_over = true;
    pthread_cond_broadcast(&w->wake);
    pthread_mutex_unlock(&w->lock);
}

bool workers_take_back(struct workers *w, struct worker_job *job)
{
    bool is_waiting;

    pthread_mutex_lock(&w->lock);
    is_waiting = !job->began_ms;
    if (is_waiting)
        TAILQ_REMOVE(&w->waiting, job, link);
    pthread_mutex_unlock(&w->lock);
    if (is_waiting)
        count_back(w, job->owner);
    return is_waiting;
}

int64_t workers_began_ms(struct workers *w, const struct worker_job *job)
{
    int64_t began_ms;

    pthread_mutex_lock(&w->lock);
    began_ms = job->began_ms;
    pthread_mutex_unlock(&w->lock);
    return began_ms;
}

/* ---- start and end */

static void workers_init_lock(struct workers *w)
{
    pthread_condattr_t attr;

    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->wake, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&w->end, &attr);
    pthread_condattr_destroy(&attr);
}

int workers_new(struct loop *loop, const struct spawner *s, struct workers **ret, struct err *err)
{
    struct workers *w = xalloc(sizeof(*w));

    w->loop = loop;
    w->spawner = s;
    TAILQ_INIT(&w->waiting);
    TAILQ_INIT(&w->threads);
    timer_init(&w->tick, workers_on_tick, w);
    workers_init_lock(w);
    if (queue_new(OUT_MAX, &w->out, err) ||
        watch_new(loop, queue_fd(w->out), workers_on_out, w, &w->watch, err) ||
        watch_want(w->watch, WATCH_READ, err) || add_thread(w, err) || add_thread(w, err)) {
        (void)workers_free(w, INT32_MAX); /* there are no jobs to wait for */
        return -1;
    }
    *ret = w;
    return 0;
}

static bool wait_for_end(struct workers *w, int64_t wait_ms)
{
    struct timespec until = in_ms(wait_ms);
    bool has_ended;
    int late = 0;

    pthread_mutex_lock(&w->lock);
    w->is_closing = true;
    pthread_cond_broadcast(&w->wake);
    while (w->n_threads && !late)
        late = pthread_cond_timedwait(&w->end, &w->lock, &until);
    has_ended = !w->n_threads;
    pthread_mutex_unlock(&w->lock);
    return has_ended;
}

bool workers_free(struct workers *w, int64_t wait_ms)
{
    struct map_entry *e;
    bool has_ended;

    if (!w)
        return true;
    has_ended = wait_for_end(w, wait_ms);
    if (w->out)
        hand_back(w);
    if (!has_ended)
        return false;
    timer_stop(w->loop, &w->tick);
    watch_free(w->watch);
    queue_free(w->out);
    for (size_t at = 0; (e = map_next(&w->owners, &at));)
        free(e->value);
    map_free(&w->owners);
    forget_slow(w, INT64_MAX);
    map_free(&w->slow_owners);
    pthread_cond_destroy(&w->end);
    pthread_cond_destroy(&w->wake);
    pthread_mutex_destroy(&w->lock);
    free(w);
    return true;
}
