/* SPDX-License-Identifier: MIT */
/* run_logs.c - the logs command: output of a process. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/mem/mem.h"
#include "cli/ask.h"
#include "cli/local.h"
#include "cli/run.h"
#include "cli/width.h"

/* PAUSE_MS: between requests for up to MANY processes; more of them are asked more rarely.
 * OFFLINE_MS: how long the server or the host may be unreachable.  MUCH_BYTES: an answer of this
 * size means that there is more. */
enum { PAUSE_MS = 1000, MANY = 50, OFFLINE_MS = 60 * 1000, MUCH_BYTES = 32 * 1024 };

/* The output of one process.  Where lines get something in front, or are left out, an unfinished
 * line waits for its end. */
struct tailing {
    struct log_ask ask;
    const char *host; /* the host that answered first: only this one is asked later */
    const char *name; /* as a prefix; "": none */
    enum style style;
    int64_t heard_ms; /* time of the last answer */
    bool is_line_open, is_followed;
    struct buf part;
};

struct tailings {
    struct cli *cli;
    struct tailing *all;
    size_t n;
    bool by_lines;
    sigset_t signals;
};

/* ---- requests ---- */

static int look_at_server(struct tailings *w, struct tailing *t, struct arena *a,
                          struct log_view *ret, struct err *err)
{
    const struct log_ask *ask = &t->ask;
    const struct client_pair query[] = {
        { "namespace", ask->space },
        { "name", ask->name },
        { "host", t->host },
        { "what", ask->what },
        { "lines", arena_printf(a, "%lld", (long long)ask->lines) },
        { "at", arena_printf(a, "%lld", (long long)ask->at) },
        { "age_s", ask->age_s ? arena_printf(a, "%lld", (long long)ask->age_s) : NULL },
        { 0 },
    };

    return cli_get(w->cli, "/v1/logs", query, CLI_GET_MS, &log_view_shape, a, ret, err);
}

static int request_log(struct tailings *w, struct tailing *t, struct arena *a, struct log_view *ret,
                       struct err *err)
{
    return w->cli->local ? local_get_log(w->cli, &t->ask, a, ret, err)
                         : look_at_server(w, t, a, ret, err);
}

/* ---- lines ---- */

/* The time at which a followed line came; an old line may be of any time. */
static void put_time(struct tailings *w, const struct tailing *t)
{
    int64_t now_ms = clock_wall_ms(w->cli->clock);
    char iso[TIME_TEXT_SIZE], text[32];

    time_iso(now_ms + time_zone_offset_s(now_ms / 1000) * 1000, iso);
    snprintf(text, sizeof(text), "%.10s %.8s  ", iso, iso + 11);
    if (t->is_followed)
        out_styled(&w->cli->out, STYLE_DIM, text);
    else
        out_blanks(&w->cli->out, strlen(text));
}

static void put_front(struct tailings *w, const struct tailing *t)
{
    if (w->cli->args.timestamps)
        put_time(w, t);
    if (*t->name) {
        out_styled(&w->cli->out, t->style, t->name);
        out_puts(&w->cli->out, " | ");
    }
}

/* On a terminal, control characters are escaped. */
static void put_text(struct out *out, const char *text)
{
    if (out->terminal)
        width_show(&out->b, text);
    else
        out_puts(out, text);
}

static void put_line(struct tailings *w, struct tailing *t)
{
    const char *grep = w->cli->args.grep, *text = buf_text(&t->part);

    if (!grep || strstr(text, grep)) {
        put_front(w, t);
        put_text(&w->cli->out, text);
        out_puts(&w->cli->out, "\n");
    }
    buf_truncate(&t->part, 0);
}

static void put_by_lines(struct tailings *w, struct tailing *t, const char *text)
{
    for (const char *end; (end = strchr(text, '\n')); text = end + 1) {
        buf_add(&t->part, text, (size_t)(end - text));
        put_line(w, t);
    }
    buf_puts(&t->part, text);
}

static void put_gap(struct tailings *w, struct tailing *t, int64_t bytes)
{
    struct out *out = &w->cli->out;

    if (t->part.len)
        put_line(w, t);
    out_puts(out, t->is_line_open ? "\n" : "");
    if (w->by_lines)
        put_front(w, t);
    if (bytes > 0)
        out_line(out, TEXT_LOG_GAP_BYTES, TEXT_ARGS(cli_count(w->cli, bytes)));
    else
        out_line(out, TEXT_LOG_GAP, NULL);
    t->is_line_open = false;
}

static void run_logs_put(struct tailings *w, struct tailing *t, const struct log_view *view)
{
    size_t n = strlen(view->output);

    if (view->has_gap)
        put_gap(w, t, view->gap_bytes);
    if (w->by_lines) {
        put_by_lines(w, t, view->output);
        return;
    }
    put_text(&w->cli->out, view->output);
    if (n)
        t->is_line_open = view->output[n - 1] != '\n';
}

/* ---- new output ---- */

/* Waits; returns the signal that arrived, 0 if none. */
static int run_logs_wait_for_signal(const struct tailings *w, int64_t ms)
{
    const struct timespec time = { ms / 1000, ms % 1000 * 1000000 };
    int number;

    do {
        number = sigtimedwait(&w->signals, NULL, &time);
    } while (number < 0 && errno == EINTR);
    return number > 0 ? number : 0;
}

/* A process of a group may have no output yet. */
static bool is_to_skip(const struct tailings *w, const struct err *err)
{
    return w->cli->has_group && err->code == ERR_NOT_FOUND;
}

/* Whether the error may end by itself: a server or an agent that restarts comes back. */
static bool run_logs_is_passing(const struct cli *cli, const struct tailing *t,
                                const struct err *trouble)
{
    bool is_late = cli->refused && cli->refusal.error.number == CODE_DEADLINE;

    return (trouble->code == ERR_UNAVAILABLE || is_late) &&
           clock_mono_ms(cli->clock) - t->heard_ms < OFFLINE_MS;
}

/* Sends one request; 0 also if there was no answer this time. */
static int run_logs_go_on(struct tailings *w, struct tailing *t, bool *ret_more, struct err *err)
{
    struct arena a = { 0 };
    struct err trouble = { 0 };
    struct log_view view;
    int bad = request_log(w, t, &a, &view, &trouble);

    if (!bad) {
        t->is_followed = true;
        run_logs_put(w, t, &view);
        t->ask.at = view.next;
        t->heard_ms = clock_mono_ms(w->cli->clock);
        *ret_more = *ret_more || strlen(view.output) >= MUCH_BYTES;
        bad = out_flush(&w->cli->out, err);
    } else if (is_to_skip(w, &trouble) || run_logs_is_passing(w->cli, t, &trouble)) {
        bad = 0;
    } else {
        *err = trouble;
    }
    arena_free(&a);
    return bad;
}

static int go_on_with_all(struct tailings *w, bool *ret_more, struct err *err)
{
    *ret_more = false;
    for (size_t i = 0; i < w->n && !cli_is_interrupted(); i++) {
        if (run_logs_go_on(w, &w->all[i], ret_more, err))
            return -1;
    }
    return 0;
}

/* Runs until it is interrupted, which counts as success. */
static int run_logs_follow(struct tailings *w, struct err *err)
{
    int64_t pause_ms = PAUSE_MS * (1 + (int64_t)w->n / MANY);
    struct err trouble = { 0 };
    sigset_t old;
    bool more;
    int bad = 0, number = 0;

    sigemptyset(&w->signals);
    sigaddset(&w->signals, SIGINT);
    sigaddset(&w->signals, SIGTERM);
    sigprocmask(SIG_BLOCK, &w->signals, &old); /* of this thread; cannot fail */
    while (!bad && !number) {
        bad = go_on_with_all(w, &more, &trouble);
        number = run_logs_wait_for_signal(w, bad || more ? 0 : pause_ms);
    }
    sigprocmask(SIG_SETMASK, &old, NULL);
    if (number) /* the request that the signal ended has not failed */
        return CLI_OK;
    *err = trouble;
    return -1;
}

/* ---- output so far ---- */

static void end_line(struct tailings *w, struct tailing *t)
{
    struct out *out = &w->cli->out;

    if (t->part.len)
        put_line(w, t);
    else if (t->is_line_open && out->terminal)
        out_puts(out, "\n");
}

static int show_one(struct tailings *w, struct tailing *t, struct err *err)
{
    struct cli *cli = w->cli;
    struct err trouble = { 0 };
    struct log_view view;

    t->heard_ms = clock_mono_ms(cli->clock);
    if (request_log(w, t, &cli->arena, &view, &trouble)) {
        t->ask.at = 0;
        *err = trouble;
        return is_to_skip(w, &trouble) ? 0 : -1;
    }
    if (cli->settings.json) {
        cli_json(cli, &log_view_shape, &view);
        return 0;
    }
    run_logs_put(w, t, &view);
    if (!cli->args.follow)
        end_line(w, t);
    t->host = view.host;
    t->ask.at = view.next;
    return out_flush(&cli->out, err);
}

static int show_all(struct tailings *w, struct err *err)
{
    for (size_t i = 0; i < w->n; i++) {
        if (show_one(w, &w->all[i], err))
            return -1;
    }
    return w->cli->args.follow ? run_logs_follow(w, err) : CLI_OK;
}

/* ---- the processes ---- */

static const char *logs_word(const struct cli *cli, size_t i)
{
    const struct word *names = cli->names.items;

    return cli->local ? names[i].text : cli->args.words[i];
}

/* All prefixes have the same width. */
static const char *prefix_of(struct tailings *w, const char *word)
{
    size_t widest = 0, own = width_text(word);

    for (size_t i = 0; i < w->n; i++) {
        size_t width = width_text(logs_word(w->cli, i));

        widest = width > widest ? width : widest;
    }
    return arena_printf(&w->cli->arena, "%s%*s", width_clean(&w->cli->arena, word),
                        (int)(widest - own), "");
}

static int begin_all(struct tailings *w, struct err *err)
{
    static const enum style styles[] = { STYLE_CYAN, STYLE_YELLOW, STYLE_GOOD, STYLE_PURPLE,
                                         STYLE_BLUE };
    struct cli *cli = w->cli;

    for (size_t i = 0; i < w->n; i++) {
        struct tailing *t = &w->all[i];
        const char *word = logs_word(cli, i);

        if (ask_logs(&cli->args, word, cli->lang, &cli->arena, &t->ask, err))
            return -1;
        t->host = t->ask.host;
        t->name = w->n > 1 ? prefix_of(w, word) : "";
        t->style = styles[i % ARRAY_LEN(styles)];
    }
    return 0;
}

int run_logs(struct cli *cli, struct err *err)
{
    struct tailings w = { .cli = cli, .n = cli->local ? cli->names.n : cli->args.n_words };
    int status;

    if (cli->args.follow && cli->settings.json)
        return text_err(err, ERR_INVALID, cli->lang, TEXT_FOLLOW_JSON, NULL);
    if (w.n > 1 && cli->settings.json)
        return text_err(err, ERR_INVALID, cli->lang, TEXT_LOGS_JSON, NULL);
    w.by_lines = w.n > 1 || cli->args.timestamps || cli->args.grep;
    w.all = arena_alloc(&cli->arena, w.n * sizeof(*w.all));
    status = begin_all(&w, err) ? -1 : show_all(&w, err);
    for (size_t i = 0; i < w.n; i++)
        buf_free(&w.all[i].part);
    return status;
}
