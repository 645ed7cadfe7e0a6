/* SPDX-License-Identifier: MIT */
/* agent_output.c - see agent_output.h. */
#include "agent/shell/agent_output.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/confine/cgroup.h"
#include "agent/confine/oom.h"
#include "agent/exec/outlog_read.h"
#include "agent/shell/agent_base.h"
#include "agent/shell/agent_effect.h"
#include "agent/shell/agent_trim.h"
#include "agent/supervise/core.h"
#include "base/io/log.h"
#include "base/io/loop.h"
#include "base/mem/arena.h"
#include "base/mem/mem.h"
#include "model/code.h"
#include "model/operation.h"

enum { WAIT_MS = 50, WAIT_MAX_MS = 2000 }; /* delay, so that restarts come first */
enum { WORDS_MAX = 8192, WORDS_AT_ONCE = 4, QUESTIONS_MAX = 256, QUESTIONS_AT_ONCE = 4 };

/* Retry interval for a file that is being trimmed, and the total time for last lines and for
 * requests. One trim takes longer than that where the disk hangs; the server waits for 10 s. */
enum { TRY_AGAIN_MS = 2, TRY_MS = 200, ASK_MS = 5000 };

/* Pending last lines of an ended process. */
struct words {
    STAILQ_ENTRY(words) link;
    struct core_ident ident;
    uint64_t from, until;
    int64_t tried_ms; /* time of the first attempt; 0: none */
    bool has_until;   /* false: `until` is an estimate, the file was being trimmed */
    bool is_killed;   /* by a signal that the agent did not send */
    enum oom_group group;
    char file[];
};

/* A request that could not be answered at once. */
struct question {
    TAILQ_ENTRY(question) link;
    struct outlog_waiter *waiter;
    struct message_log_ask ask; /* its texts are in the arena */
    struct arena arena;
    output_answer_fn *fn;
    void *arg;
    int64_t asked_ms;
    char file[OUTLOG_NAME_SIZE];
};

struct output_reader {
    struct agent_base *agent;
    const struct effects *effects;
    TAILQ_HEAD(, question) questions;
    size_t n_questions;
    struct timer again; /* next attempt */
    STAILQ_HEAD(, words) words;
    size_t n;
    int64_t since_ms; /* when the first request began to wait */
    struct timer timer;
    struct oom oom;
    bool has_oom; /* the kernel counts OOM kills */
};

/* ---- last lines */

/* Read after the end of all reported processes; unknown counts as none. */
static int64_t kills_so_far(const struct output_reader *s)
{
    struct err ignored;
    int64_t kills;

    return s->has_oom && !oom_kills(&kills, &ignored) ? kills : 0;
}

/* False: the file is being trimmed; retry. */
static bool output_read_words(struct output_reader *s, struct words *w, struct buf *to)
{
    struct agent_base *a = s->agent;
    int64_t now_ms = loop_now_ms(a->loop);
    struct err err;

    w->has_until = w->has_until || outlog_try_end(a->outlog, w->file, &w->until);
    w->tried_ms = w->tried_ms ? w->tried_ms : now_ms;
    if (!w->has_until && now_ms - w->tried_ms < TRY_MS)
        return false;
    if (w->until <= w->from || !outlog_tail(a->outlog, w->file, w->from, w->until, WHY_OUTPUT_BYTES,
                                            OUTLOG_NO_WAIT, to, &err))
        return true;
    if (err.code == ERR_UNAVAILABLE && now_ms - w->tried_ms < TRY_MS)
        return false;
    LOG(a->log, LOG_WARN, "what a process said last can not be read", log_err(&err));
    return true;
}

static bool output_tell(struct output_reader *s, struct words *w, int64_t kills)
{
    struct agent_base *a = s->agent;
    struct buf text = { 0 };
    enum proc_oom oom;
    size_t at;

    if (!output_read_words(s, w, &text))
        return false;
    oom = w->is_killed ? oom_judge(&s->oom, w->group, kills) : PROC_OOM_NO;
    at = outlog_last_lines(buf_text(&text), text.len, WHY_OUTPUT_LINES);
    core_on_output(a->core, w->ident, buf_text(&text) + at, oom, agent_now_ms(a));
    buf_free(&text);
    return true;
}

static struct words *take_first(struct output_reader *s)
{
    struct words *w = STAILQ_FIRST(&s->words);

    STAILQ_REMOVE_HEAD(&s->words, link);
    s->n--;
    return w;
}

static void output_on_time(void *output_reader)
{
    struct output_reader *s = output_reader;
    struct agent_base *a = s->agent;
    struct words *w;
    int64_t kills;
    bool is_behind = false;

    if (effects_are_busy(s->effects) && loop_now_ms(a->loop) - s->since_ms < WAIT_MAX_MS) {
        timer_set(a->loop, &s->timer, WAIT_MS);
        return;
    }
    kills = kills_so_far(s);
    for (int i = 0; i < WORDS_AT_ONCE && s->n > 0; i++) {
        w = take_first(s);
        if (output_tell(s, w, kills)) {
            free(w);
            continue;
        }
        STAILQ_INSERT_TAIL(&s->words, w, link); /* at the end, so that others do not wait for it */
        s->n++;
        is_behind = true;
    }
    if (s->n > 0)
        timer_set(a->loop, &s->timer, is_behind ? TRY_AGAIN_MS : 0);
    agent_wake(a);
}

/* File and offset of its output; false: not a process of the agent. */
static bool output_find_file(struct agent_base *a, const struct output_exit *e,
                             char to[OUTLOG_NAME_SIZE], uint64_t *ret_from)
{
    struct core_whose whose;

    if (e->output) {
        snprintf(to, OUTLOG_NAME_SIZE, "%s", e->output);
        *ret_from = e->out_from;
        return true;
    }
    if (!core_find_whose(a->core, e->ident, &whose))
        return false;
    output_name(whose.space, whose.name, "start", to);
    *ret_from = (uint64_t)whose.out_from;
    return true;
}

/* A cgroup has the name of the output file; cgroups_tidy() removes it later. */
static enum oom_group look_at_group(struct output_reader *s, const char *name)
{
    struct agent_base *a = s->agent;
    char folder[PATH_MAX];

    if (!cgroups_are_used(a->cgroups) || strchr(name, '~') ||
        !cgroup_folder(a->cgroups, name, folder, sizeof(folder)))
        return OOM_GROUP_UNKNOWN;
    return oom_look_at_group(&s->oom, name, folder);
}

bool output_reader_on_exit(struct output_reader *s, const struct output_exit *e)
{
    struct agent_base *a = s->agent;
    char file[OUTLOG_NAME_SIZE];
    struct words *w;
    uint64_t from;

    if (s->n >= WORDS_MAX || !output_find_file(a, e, file, &from))
        return false;
    w = xalloc(sizeof(*w) + strlen(file) + 1);
    *w = (struct words){ .ident = e->ident, .from = from };
    w->has_until = outlog_try_end(a->outlog, file, &w->until);
    w->is_killed = e->status == CORE_SIGNALED + SIGKILL && !e->is_killed;
    w->group = look_at_group(s, file);
    memcpy(w->file, file, strlen(file) + 1);
    if (!s->n++) {
        s->since_ms = loop_now_ms(a->loop);
        timer_set(a->loop, &s->timer, WAIT_MS);
    }
    STAILQ_INSERT_TAIL(&s->words, w, link);
    return true;
}

/* ---- answers */

static const char *command_of(const struct message_log_ask *ask)
{
    return *ask->what ? ask->what : "start";
}

static struct outlog_ask how_to_read(const struct message_log_ask *ask)
{
    return (struct outlog_ask){ ask->at, (size_t)ask->lines, (size_t)ask->max_bytes, OUTLOG_NO_WAIT,
                                ask->age_s * 1000 };
}

/* The thread that trims the file may have read it. */
static int read_output(struct agent_base *a, const struct message_log_ask *ask, const char *file,
                       struct outlog_waiter *waiter, struct buf *output, struct outlog_piece *ret,
                       struct err *err)
{
    const struct outlog_ask how = how_to_read(ask);
    int result = waiter ? outlog_waiter_take(waiter, output, ret, err) : 1;

    return result == 1 ? outlog_read(a->outlog, file, &how, output, ret, err) : result;
}

static int output_fill(struct agent_base *a, const struct message_log_ask *ask, const char *file,
                       struct outlog_waiter *waiter, struct buf *output, struct message_log *ret,
                       struct err *err)
{
    struct outlog_piece piece = { 0 };

    if (read_output(a, ask, file, waiter, output, &piece, err))
        return -1;
    if (!piece.is_there)
        return err_set(err, ERR_NOT_FOUND,
                       *ask->what ? "%s:%s: no output of that command of it is kept on this host: "
                                    "it has not been run here since the agent was installed, or "
                                    "not for long"
                                  : "%s:%s: no output of it is kept on this host: it has not been "
                                    "run here since the agent was installed, or not for long",
                       ask->space, ask->name);
    ret->output = buf_text(output);
    ret->next = (int64_t)piece.next;
    ret->has_gap = piece.has_gap;
    ret->gap_bytes = (int64_t)piece.gap_bytes;
    return 0;
}

static void output_refuse(const struct message_log_ask *ask, const struct err *err,
                          output_answer_fn *fn, void *arg)
{
    const struct message_log m = {
        .id = ask->id, .code = err->code, .text = err_msg(err), .output = ""
    };

    fn(arg, &m);
}

/* False: the file is being trimmed, and there was no answer. */
static bool try_answer(struct agent_base *a, const struct message_log_ask *ask, const char *file,
                       struct outlog_waiter *waiter, bool is_last, output_answer_fn *fn, void *arg)
{
    struct message_log answer = { .id = ask->id, .text = "", .output = "" };
    struct buf output = { 0 };
    struct err err = { 0 };
    bool is_late;

    if (!output_fill(a, ask, file, waiter, &output, &answer, &err)) {
        fn(arg, &answer);
        buf_free(&output);
        return true;
    }
    buf_free(&output);
    is_late = err.code == ERR_UNAVAILABLE && !is_last;
    if (!is_late)
        output_refuse(ask, &err, fn, arg);
    return !is_late;
}

static void free_question(struct question *q)
{
    outlog_waiter_free(q->waiter);
    arena_free(&q->arena);
    free(q);
}

static void take_question(struct output_reader *s, struct question *q)
{
    TAILQ_REMOVE(&s->questions, q, link);
    s->n_questions--;
}

/* Answered by the thread that trims the file, or here when no trim is in progress. */
static void put_question(struct output_reader *s, const struct message_log_ask *ask,
                         const char *file, output_answer_fn *fn, void *arg)
{
    const struct outlog_ask how = how_to_read(ask);
    struct question *q = xalloc(sizeof(*q));

    q->ask = *ask;
    q->ask.space = arena_strdup(&q->arena, ask->space);
    q->ask.name = arena_strdup(&q->arena, ask->name);
    q->ask.what = arena_strdup(&q->arena, ask->what);
    q->fn = fn;
    q->arg = arg;
    q->asked_ms = loop_now_ms(s->agent->loop);
    snprintf(q->file, sizeof(q->file), "%s", file);
    q->waiter = outlog_waiter_new(s->agent->outlog, file, &how);
    s->n_questions++;
    timer_set(s->agent->loop, &s->again, TRY_AGAIN_MS);
    TAILQ_INSERT_TAIL(&s->questions, q, link);
}

static void output_on_again(void *output_reader)
{
    struct output_reader *s = output_reader;
    struct agent_base *a = s->agent;
    size_t n = s->n_questions < QUESTIONS_AT_ONCE ? s->n_questions : QUESTIONS_AT_ONCE;

    for (; n > 0 && s->n_questions > 0; n--) {
        struct question *q = TAILQ_FIRST(&s->questions);
        bool is_last = loop_now_ms(a->loop) - q->asked_ms >= ASK_MS;

        take_question(s, q); /* first, so that fn() can not free it by output_reader_forget() */
        if (try_answer(a, &q->ask, q->file, q->waiter, is_last, q->fn, q->arg)) {
            free_question(q);
        } else {
            TAILQ_INSERT_TAIL(&s->questions, q, link);
            s->n_questions++;
        }
    }
    if (s->n_questions > 0)
        timer_set(a->loop, &s->again, TRY_AGAIN_MS);
}

void output_reader_ask(struct output_reader *s, const struct message_log_ask *ask,
                       output_answer_fn *fn, void *arg)
{
    char file[OUTLOG_NAME_SIZE];
    struct err err;

    if (!operation_is_output(command_of(ask))) {
        err_set(&err, CODE_PARAM,
                "what: must be empty, stop, reload, kill, version or health, not %s", ask->what);
        output_refuse(ask, &err, fn, arg);
        return;
    }
    output_name(ask->space, ask->name, command_of(ask), file);
    if (!try_answer(s->agent, ask, file, NULL, s->n_questions >= QUESTIONS_MAX, fn, arg))
        put_question(s, ask, file, fn, arg);
}

void output_reader_forget(struct output_reader *s, const void *arg)
{
    struct question *q, *next;

    for (q = s ? TAILQ_FIRST(&s->questions) : NULL; q; q = next) {
        next = TAILQ_NEXT(q, link);
        if (q->arg == arg) {
            take_question(s, q);
            free_question(q);
        }
    }
}

/* ---- start and end */

void output_reader_on_tick(struct output_reader *s)
{
    struct err ignored; /* on failure the value does not change */
    int64_t kills;

    if (s->has_oom && !oom_kills(&kills, &ignored))
        oom_on_tick(&s->oom, kills);
}

struct output_reader *output_reader_new(struct agent_base *a, const struct effects *effects)
{
    struct output_reader *s = xalloc(sizeof(*s));
    struct err err;
    int64_t kills = 0;

    s->agent = a;
    s->effects = effects;
    STAILQ_INIT(&s->words);
    TAILQ_INIT(&s->questions);
    timer_init(&s->timer, output_on_time, s);
    timer_init(&s->again, output_on_again, s);
    s->has_oom = !oom_kills(&kills, &err);
    oom_begin(&s->oom, kills);
    if (!s->has_oom)
        LOG(a->log, LOG_INFO, "whether memory was out when a process ended will not be told",
            log_err(&err));
    return s;
}

void output_reader_free(struct output_reader *s)
{
    struct question *q;

    if (!s)
        return;
    timer_stop(s->agent->loop, &s->timer);
    timer_stop(s->agent->loop, &s->again);
    while (s->n > 0)
        free(take_first(s));
    while ((q = TAILQ_FIRST(&s->questions))) {
        take_question(s, q);
        free_question(q);
    }
    oom_done(&s->oom);
    free(s);
}
