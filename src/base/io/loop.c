/* SPDX-License-Identifier: MIT */
/* loop.c - libevent waits for descriptors and signals.  The timers are our own binary heap: they
 * use an injectable clock, and a timer is 40 bytes inside its owner. */
#include "base/io/loop.h"

#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem/mem.h"

enum { SIGNALS_MAX = 8 };

struct signal_watch {
    struct loop *loop;
    signal_fn *fn;
    void *arg;
    struct event *event;
};

struct loop {
    struct event_base *base;
    struct event *wake; /* ends the wait when a timer is due */
    const struct clock *clock;
    int64_t now_ms, now_us;
    bool stopping;
    uint64_t next_seq; /* sequence number of the next timer that is set */
    struct timers timers;
    struct signal_watch signals[SIGNALS_MAX];
    size_t n_signals;
};

struct watch {
    struct loop *loop;
    watch_fn *fn;
    void *arg;
    struct event *event;
    int fd;
    unsigned interest;
};

static void on_wake(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    (void)arg;
}

/* libevent writes its warnings to standard error, where our log may be.  We drop them, because
 * the call that caused them fails with an error; only the message before an exit is printed. */
static void on_libevent_log(int severity, const char *text)
{
    if (severity == EVENT_LOG_ERR)
        fprintf(stderr, "libevent: %s\n", text);
}

/* Only epoll is accepted: libevent would otherwise fall back to select(), which cannot watch
 * descriptors above 1023. */
static struct event_base *new_base(void)
{
    struct event_config *config = event_config_new();
    struct event_base *base;

    if (!config)
        return NULL;
    event_set_log_callback(on_libevent_log);
    event_config_set_flag(config, EVENT_BASE_FLAG_NOLOCK | EVENT_BASE_FLAG_NO_CACHE_TIME |
                                      EVENT_BASE_FLAG_IGNORE_ENV);
    event_config_require_features(config, EV_FEATURE_O1);
    base = event_base_new_with_config(config);
    event_config_free(config);
    return base;
}

/* Reads the clock once for both times. */
static void look_up_time(struct loop *l)
{
    l->now_us = clock_mono_us(l->clock);
    l->now_ms = l->clock->mono_us ? l->now_us / 1000 : clock_mono_ms(l->clock);
}

int loop_new(const struct clock *clock, struct loop **ret, struct err *err)
{
    struct loop *l = xalloc(sizeof(*l));

    l->base = new_base();
    if (l->base)
        l->wake = event_new(l->base, -1, 0, on_wake, NULL);
    if (!l->wake) {
        err_sys(err, "event loop: epoll");
        loop_free(l);
        return -1;
    }
    l->clock = clock;
    look_up_time(l);
    *ret = l;
    return 0;
}

void loop_free(struct loop *l)
{
    if (!l)
        return;
    for (size_t i = 0; i < l->n_signals; i++)
        event_free(l->signals[i].event);
    if (l->wake)
        event_free(l->wake);
    if (l->base)
        event_base_free(l->base);
    timers_free(&l->timers);
    free(l);
}

int64_t loop_now_ms(const struct loop *l)
{
    return l->now_ms;
}

int64_t loop_now_us(const struct loop *l)
{
    return l->now_us;
}

const struct clock *loop_clock(const struct loop *l)
{
    return l->clock;
}

void timer_set(struct loop *l, struct timer *t, int64_t in_ms)
{
    if (in_ms < 0)
        in_ms = 0;
    timers_set(&l->timers, t, in_ms < INT64_MAX - l->now_ms ? l->now_ms + in_ms : INT64_MAX);
}

void timer_stop(struct loop *l, struct timer *t)
{
    timers_stop(&l->timers, t);
}

/* Runs the timers that are due and were set before this call.  A timer that a callback sets for
 * "now" goes off in the next turn, so that descriptors are served in between. */
static void run_timers(struct loop *l)
{
    int64_t now = l->now_ms;
    uint64_t seq = l->timers.next_seq;
    struct timer *t;

    while (!l->stopping && (t = timers_take(&l->timers, now, seq)))
        t->fn(t->arg);
}

static int64_t wait_time(const struct loop *l, int64_t wait_ms)
{
    int64_t left;

    if (!l->timers.n)
        return wait_ms;
    left = timers_next_ms(&l->timers) - clock_mono_ms(l->clock);
    if (left < 0)
        left = 0;
    return wait_ms < 0 || left < wait_ms ? left : wait_ms;
}

int loop_turn(struct loop *l, int64_t wait_ms, struct err *err)
{
    int64_t wait = wait_time(l, wait_ms);
    int flags = EVLOOP_ONCE | (wait == 0 ? EVLOOP_NONBLOCK : 0) | EVLOOP_NO_EXIT_ON_EMPTY;

    l->stopping = false;
    if (wait > 0) {
        struct timeval tv = { .tv_sec = (time_t)(wait / 1000), .tv_usec = (wait % 1000) * 1000 };

        if (event_add(l->wake, &tv))
            return err_sys(err, "event loop: set the time to wait");
    }
    if (event_base_loop(l->base, flags) < 0)
        return err_sys(err, "event loop: wait");
    if (wait > 0)
        event_del(l->wake);
    look_up_time(l);
    run_timers(l);
    return 0;
}

int loop_run(struct loop *l, struct err *err)
{
    int rc = 0;

    while (!l->stopping && rc == 0)
        rc = loop_turn(l, -1, err);
    l->stopping = false;
    return rc;
}

void loop_stop(struct loop *l)
{
    l->stopping = true;
    event_base_loopbreak(l->base);
}

static void loop_on_ready(evutil_socket_t fd, short what, void *arg)
{
    struct watch *w = arg;

    (void)fd;
    look_up_time(w->loop);
    w->fn(w->arg, (what & EV_READ ? WATCH_READ : 0) | (what & EV_WRITE ? WATCH_WRITE : 0));
}

int watch_new(struct loop *l, int fd, watch_fn *fn, void *arg, struct watch **ret, struct err *err)
{
    struct watch *w = xalloc(sizeof(*w));

    *w = (struct watch){ .loop = l, .fn = fn, .arg = arg, .fd = fd };
    w->event = event_new(l->base, fd, EV_READ | EV_PERSIST, loop_on_ready, w);
    if (!w->event) {
        free(w);
        return err_sys(err, "event loop: watch descriptor %d", fd);
    }
    *ret = w;
    return 0;
}

int watch_want(struct watch *w, unsigned interest, struct err *err)
{
    short what = EV_PERSIST;

    if (interest == w->interest)
        return 0;
    if (w->interest)
        event_del(w->event);
    w->interest = 0;
    if (!interest)
        return 0;
    what |= interest & WATCH_READ ? EV_READ : 0;
    what |= interest & WATCH_WRITE ? EV_WRITE : 0;
    event_assign(w->event, w->loop->base, w->fd, what, loop_on_ready, w);
    if (event_add(w->event, NULL))
        return err_sys(err, "event loop: watch descriptor %d", w->fd);
    w->interest = interest;
    return 0;
}

void watch_free(struct watch *w)
{
    if (!w)
        return;
    event_free(w->event);
    free(w);
}

static void on_signal(evutil_socket_t number, short what, void *arg)
{
    struct signal_watch *s = arg;

    (void)what;
    look_up_time(s->loop);
    s->fn(s->arg, (int)number);
}

int loop_on_signal(struct loop *l, int number, signal_fn *fn, void *arg, struct err *err)
{
    struct signal_watch *s = &l->signals[l->n_signals];

    if (l->n_signals == SIGNALS_MAX)
        return err_set(err, ERR_LIMIT, "event loop: more than %d signals", SIGNALS_MAX);
    *s = (struct signal_watch){ l, fn, arg, NULL };
    s->event = evsignal_new(l->base, number, on_signal, s);
    if (!s->event || event_add(s->event, NULL)) {
        err_sys(err, "event loop: catch signal %d", number);
        if (s->event)
            event_free(s->event);
        return -1;
    }
    l->n_signals++;
    return 0;
}
