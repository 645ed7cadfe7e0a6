/* SPDX-License-Identifier: MIT */
/* watch.c - see watch.h. */
#include "cli/watch.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>

#include "cli/width.h"
#include "model/duration.h"

/* The task is polled often at first, because most operations are quick; then less often, and
 * less the longer an answer takes: 50,000 items are 20 MB. */
enum { PAUSE_FIRST_MS = 50, PAUSE_MAX_MS = 1000, PAUSE_PER_LOOK = 4, LOOK_MIN_MS = 1000 };

/* How long the server may be unreachable. */
enum { OFFLINE_MS = 30 * 1000 };

struct state {
    struct cli *cli;
    struct watch *w;
    int64_t start_ms, seen_ms; /* seen: time of the last answer */
    int64_t pause_ms;
    bool has_task;
    sigset_t signals;
};

static int64_t watch_now(const struct state *s)
{
    return clock_mono_ms(s->cli->clock);
}

static int get_task(struct cli *cli, const char *task_id, int64_t timeout_ms, struct arena *a,
                    struct task_view *ret, struct err *err)
{
    struct buf path = { 0 };
    int bad;

    buf_puts(&path, "/v1/tasks/");
    client_escape(&path, task_id);
    bad = cli_get(cli, buf_text(&path), NULL, timeout_ms, &task_view_shape, a, ret, err);
    buf_free(&path);
    return bad;
}

/* ---- progress ---- */

static void put_count(char to[24], int64_t n)
{
    snprintf(to, 24, "%lld", (long long)n);
}

static void draw(struct state *s, bool away)
{
    const struct task_view *t = &s->w->task;
    struct out *side = &s->cli->side;
    struct buf line = { 0 }, time = { 0 };
    char done[24], left[24], failed[24];
    struct err ignored;

    if (!side->terminal || s->cli->settings.quiet)
        return;
    put_count(done, t->total - t->left);
    put_count(left, t->left);
    put_count(failed, t->failed);
    duration_put(&time, s->cli->lang, (watch_now(s) - s->start_ms) / 1000 * 1000);
    if (away)
        text_put(&line, side->lang, TEXT_PROGRESS_AWAY, TEXT_ARGS(s->w->label, buf_text(&time)));
    else
        text_put(&line, side->lang, TEXT_PROGRESS,
                 TEXT_ARGS(s->w->label, done, left, failed, buf_text(&time)));
    buf_truncate(&line, width_cut(buf_text(&line), side->width - 1));
    out_puts(side, "\r");
    out_puts(side, buf_text(&line));
    out_puts(side, "\033[K");
    (void)out_flush(side, &ignored); /* a progress line that cannot be written is no failure */
    buf_free(&line);
    buf_free(&time);
}

static void clear(struct state *s)
{
    struct err ignored;

    if (!s->cli->side.terminal || s->cli->settings.quiet)
        return;
    out_puts(&s->cli->side, "\r\033[K");
    (void)out_flush(&s->cli->side, &ignored); /* as above */
}

/* ---- waiting ---- */

static int64_t left_ms(const struct state *s)
{
    int64_t left = s->w->timeout_ms - (watch_now(s) - s->start_ms);

    return s->w->timeout_ms < 0 ? INT64_MAX : left > 0 ? left : 0;
}

/* Replaces the last known state, if there is an answer. */
static int poll_task(struct state *s, struct err *err)
{
    int64_t limit = left_ms(s);
    struct arena a = { 0 };
    struct task_view task;

    if (limit < LOOK_MIN_MS)
        limit = LOOK_MIN_MS;
    if (limit > CLI_TASK_MS)
        limit = CLI_TASK_MS;
    if (get_task(s->cli, s->w->task_id, limit, &a, &task, err)) {
        arena_free(&a);
        return -1;
    }
    arena_free(&s->w->arena);
    s->w->arena = a;
    s->w->task = task;
    s->has_task = true;
    s->seen_ms = watch_now(s);
    return 0;
}

/* Waits; returns the signal that arrived, 0 if none. */
static int watch_wait_for_signal(const struct state *s, int64_t ms)
{
    const struct timespec time = { ms / 1000, ms % 1000 * 1000000 };
    int number;

    do {
        number = sigtimedwait(&s->signals, NULL, &time);
    } while (number < 0 && errno == EINTR);
    return number > 0 ? number : 0;
}

static int64_t next_pause(struct state *s, int64_t took_ms)
{
    int64_t pause = s->pause_ms;

    s->pause_ms = pause * 3 / 2 < PAUSE_MAX_MS ? pause * 3 / 2 : PAUSE_MAX_MS;
    if (pause < took_ms * PAUSE_PER_LOOK)
        pause = took_ms * PAUSE_PER_LOOK;
    return pause < left_ms(s) ? pause : left_ms(s);
}

static bool is_over(struct state *s, bool bad)
{
    if (!bad && s->w->task.left == 0)
        s->w->end = WATCH_DONE;
    else if (s->has_task && left_ms(s) == 0)
        s->w->end = WATCH_TIMEOUT;
    else
        return false;
    return true;
}

static int wait_on(struct state *s, struct err *err)
{
    for (;;) {
        int64_t began = watch_now(s);
        struct err trouble = { 0 };
        bool bad = poll_task(s, &trouble);

        if (is_over(s, bad))
            return 0;
        s->w->signal = watch_wait_for_signal(s, 0);
        if (!s->w->signal && bad &&
            (trouble.code != ERR_UNAVAILABLE || !s->has_task ||
             watch_now(s) - s->seen_ms > OFFLINE_MS)) {
            *err = trouble;
            return -1;
        }
        draw(s, bad);
        if (!s->w->signal)
            s->w->signal = watch_wait_for_signal(s, next_pause(s, watch_now(s) - began));
        if (s->w->signal) {
            s->w->end = WATCH_SIGNAL;
            return 0;
        }
    }
}

int watch_task(struct cli *cli, struct watch *w, struct err *err)
{
    struct state s = { .cli = cli, .w = w, .pause_ms = PAUSE_FIRST_MS };
    sigset_t old;
    int bad;

    s.start_ms = s.seen_ms = watch_now(&s);
    sigemptyset(&s.signals);
    sigaddset(&s.signals, SIGINT);
    sigaddset(&s.signals, SIGTERM);
    sigprocmask(SIG_BLOCK, &s.signals, &old); /* of this thread; cannot fail */
    bad = wait_on(&s, err);
    clear(&s);
    sigprocmask(SIG_SETMASK, &old, NULL);
    w->elapsed_ms = watch_now(&s) - s.start_ms;
    if (bad)
        arena_free(&w->arena);
    return bad;
}
