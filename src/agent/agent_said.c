/* SPDX-License-Identifier: MIT */
/* agent_said.c - last words, and answers to those who ask; see agent_said.h. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/agent_in.h"
#include "agent/oom.h"
#include "base/mem.h"
#include "model/code.h"

enum { WAIT_MS = 50, WAIT_MAX_MS = 2000 }; /* for restarts to be through */
enum { WORDS_MAX = 8192, WORDS_AT_ONCE = 32 };

/* Of one that has ended. */
struct words {
    STAILQ_ENTRY(words) link;
    struct core_ident ident;
    uint64_t from, until;
    bool is_killed; /* and not by us */
    char file[];
};

struct said {
    struct agent *agent;
    STAILQ_HEAD(, words) words;
    size_t n;
    int64_t since_ms; /* the first of them waits */
    struct timer timer;
    struct oom oom;
    bool has_oom; /* the kernel counts them */
};

bool said_is_own(const char *what)
{
    return !strcmp(what, "start") || !strcmp(what, "restart");
}

/* Of all commands only those that bring it up are the process's own. */
void said_name(const char *space, const char *name, const char *what, char to[OUTLOG_NAME_SIZE])
{
    char *key = xprintf("%s:%s", space, name);

    outlog_name(key, said_is_own(what) ? "" : what, to);
    free(key);
}

/* ---- last words */

/* Read when all that are told of had ended; not known is none. */
static int64_t kills_so_far(const struct said *s)
{
    struct err ignored;
    int64_t kills;

    return s->has_oom && !oom_kills(&kills, &ignored) ? kills : 0;
}

static void tell(struct said *s, const struct words *w, int64_t kills)
{
    struct agent *a = s->agent;
    struct buf text = { 0 };
    struct err err;
    bool oom = w->is_killed && oom_claim(&s->oom, kills);
    size_t at;

    if (w->until > w->from &&
        outlog_tail(a->outlog, w->file, w->from, w->until, WHY_OUTPUT_BYTES, &text, &err))
        LOG(a->log, LOG_WARN, "what a process said last can not be read", log_err(&err));
    at = outlog_last_lines(buf_text(&text), text.len, WHY_OUTPUT_LINES);
    if (oom || at < text.len)
        core_on_said(a->core, w->ident, buf_text(&text) + at, oom, agent_now_ms(a));
    buf_free(&text);
}

static void take_first(struct said *s)
{
    struct words *w = STAILQ_FIRST(&s->words);

    STAILQ_REMOVE_HEAD(&s->words, link);
    s->n--;
    free(w);
}

static void on_time(void *said)
{
    struct said *s = said;
    struct agent *a = s->agent;
    int64_t kills;

    if (agent_is_busy(a) && loop_now_ms(a->loop) - s->since_ms < WAIT_MAX_MS) {
        timer_set(a->loop, &s->timer, WAIT_MS);
        return;
    }
    kills = kills_so_far(s);
    for (int i = 0; i < WORDS_AT_ONCE && s->n > 0; i++) {
        tell(s, STAILQ_FIRST(&s->words), kills);
        take_first(s);
    }
    if (s->n > 0)
        timer_set(a->loop, &s->timer, 0);
    agent_wake(a);
}

/* Its file and where in it; false: it was none of ours. */
static bool find_file(struct agent *a, const struct held *h, char to[OUTLOG_NAME_SIZE],
                      uint64_t *ret_from)
{
    struct core_whose whose;

    if (h->output) {
        snprintf(to, OUTLOG_NAME_SIZE, "%s", h->output);
        *ret_from = h->out_from;
        return true;
    }
    if (!core_find_whose(a->core, (struct core_ident){ h->id.pid, h->id.start_ticks }, &whose))
        return false;
    said_name(whose.space, whose.name, "start", to);
    *ret_from = (uint64_t)whose.out_from;
    return true;
}

void said_on_exit(struct agent *a, const struct held *h, int status)
{
    struct said *s = a->said;
    char file[OUTLOG_NAME_SIZE];
    struct words *w;
    uint64_t from;

    if (s->n >= WORDS_MAX || !find_file(a, h, file, &from))
        return;
    w = xalloc(sizeof(*w) + strlen(file) + 1);
    *w = (struct words){ .ident = { h->id.pid, h->id.start_ticks }, .from = from };
    w->until = outlog_end(a->outlog, file);
    w->is_killed = status == CORE_SIGNALED + SIGKILL && !h->is_killed;
    memcpy(w->file, file, strlen(file) + 1);
    if (!s->n++) {
        s->since_ms = loop_now_ms(a->loop);
        timer_set(a->loop, &s->timer, WAIT_MS);
    }
    STAILQ_INSERT_TAIL(&s->words, w, link);
}

/* ---- answers */

static bool is_command(const char *what)
{
    static const char *const known[] = { "start", "restart", "stop",  "reload",
                                         "kill",  "version", "health" };

    for (size_t i = 0; i < ARRAY_LEN(known); i++) {
        if (!strcmp(what, known[i]))
            return true;
    }
    return false;
}

static void fill(struct agent *a, const struct message_log_ask *ask, struct buf *output,
                 struct message_log *ret, struct err *err)
{
    const struct outlog_ask how = { ask->at, (size_t)ask->lines, (size_t)ask->max_bytes };
    const char *what = *ask->what ? ask->what : "start";
    struct outlog_piece piece = { 0 };
    char file[OUTLOG_NAME_SIZE];

    if (!is_command(what)) {
        err_set(err, CODE_PARAM,
                "what: must be empty, stop, reload, kill, version or health, not %s", ask->what);
        return;
    }
    said_name(ask->space, ask->name, what, file);
    if (outlog_read(a->outlog, file, &how, output, &piece, err))
        return;
    if (!piece.is_there)
        err_set(err, ERR_NOT_FOUND,
                "%s:%s: %s of it is kept on this host: it has not been run here since the agent "
                "was installed, or not for long",
                ask->space, ask->name, *ask->what ? "no output of that command" : "no output");
    ret->output = buf_text(output);
    ret->next = (int64_t)piece.next;
    ret->has_gap = piece.has_gap;
}

void said_read(struct agent *a, const struct message_log_ask *ask, struct buf *output,
               struct message_log *ret, struct err *err)
{
    *ret = (struct message_log){ .id = ask->id, .text = "", .output = "" };
    *err = (struct err){ 0 };
    fill(a, ask, output, ret, err);
    ret->code = err->code;
    ret->text = err->code ? err->text : "";
}

void said_answer(struct agent *a, const struct message_log_ask *ask)
{
    struct message_log answer;
    struct buf output = { 0 };
    struct err err;

    said_read(a, ask, &output, &answer, &err);
    a->o.send(a->o.arg, MESSAGE_LOG, &message_log_shape, &answer);
    buf_free(&output);
}

/* ---- its life */

void said_on_tick(struct said *s)
{
    struct err ignored; /* then it stays as it was */
    int64_t kills;

    if (s->has_oom && !oom_kills(&kills, &ignored))
        oom_on_tick(&s->oom, kills);
}

struct said *said_new(struct agent *a)
{
    struct said *s = xalloc(sizeof(*s));
    struct err err;
    int64_t kills = 0;

    s->agent = a;
    STAILQ_INIT(&s->words);
    timer_init(&s->timer, on_time, s);
    s->has_oom = !oom_kills(&kills, &err);
    oom_begin(&s->oom, kills);
    if (!s->has_oom)
        LOG(a->log, LOG_INFO, "whether memory was out when a process ended will not be told",
            log_err(&err));
    return s;
}

void said_free(struct said *s)
{
    if (!s)
        return;
    timer_stop(s->agent->loop, &s->timer);
    while (s->n > 0)
        take_first(s);
    free(s);
}
