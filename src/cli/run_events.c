/* SPDX-License-Identifier: MIT */
/* run_events.c - the events command. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem/mem.h"
#include "cli/ask.h"
#include "cli/local.h"
#include "cli/run.h"
#include "cli/sse.h"
#include "cli/table.h"
#include "cli/views.h"
#include "cli/width.h"
#include "model/event.h"

enum {
    PAGE_ROWS = 1000,
    LINES_USUAL = 100,
    LINES_BEFORE = 10, /* past events shown before new ones */
    LINES_MAX = 10000,
    PAUSE_MS = 1000,
    OFFLINE_MS = 60 * 1000,
    SILENCE_MS = 45 * 1000, /* three heartbeats of the server */
};

struct showing {
    struct cli *cli;
    struct event_ask ask;
    struct sse sse;
    int64_t heard_ms;
    struct err err; /* from writing, or from the server */
    sigset_t signals;
};

/* ---- one event ---- */

static const char *time_of(struct arena *a, const struct event_view *e)
{
    char iso[TIME_TEXT_SIZE];

    time_iso(e->time_ms + time_zone_offset_s(e->time_ms / 1000) * 1000, iso);
    return arena_printf(a, "%.10s %.8s", iso, iso + 11);
}

static const char *run_events_host_of(struct showing *w, struct arena *a,
                                      const struct event_view *e)
{
    const char *host = views_host(a, e->agent_id, e->cloud_id, e->ip);

    return *host ? host : text_get(w->cli->lang, TEXT_EVENT_SERVER);
}

static const char *process_of(struct arena *a, const struct event_view *e)
{
    return *e->space || *e->name ? arena_printf(a, "%s/%s", e->space, e->name) : "";
}

/* An unknown kind is shown by its own name. */
static const char *kind_of(const struct showing *w, const struct event_view *e)
{
    const struct event_kind *k = event_kind_find(e->event);

    return k ? k->text[w->cli->lang] : e->event;
}

static enum style style_of(const struct event_view *e)
{
    const struct event_kind *k = event_kind_find(e->event);

    return k && k->is_trouble ? STYLE_BAD : STYLE_GOOD;
}

static const char *colon(const struct showing *w, const struct event_view *e)
{
    return !*e->text ? "" : w->cli->lang == LANG_ZH ? "：" : ": ";
}

static void put_word(struct showing *w, struct arena *a, const char *text)
{
    out_puts(&w->cli->out, "  ");
    out_puts(&w->cli->out, width_clean(a, text));
}

static void put_kind(struct showing *w, struct arena *a, const struct event_view *e)
{
    struct out *out = &w->cli->out;

    out_puts(out, "  ");
    out_styled(out, style_of(e), width_clean(a, kind_of(w, e)));
    out_puts(out, colon(w, e));
    out_puts(out, width_clean(a, e->text));
    out_puts(out, "\n");
}

static void put_line(struct showing *w, const struct event_view *e)
{
    struct arena a = { 0 };
    const char *process = process_of(&a, e);

    out_styled(&w->cli->out, STYLE_DIM, time_of(&a, e));
    put_word(w, &a, run_events_host_of(w, &a, e));
    if (*process)
        put_word(w, &a, process);
    put_kind(w, &a, e);
    arena_free(&a);
}

static void put_event(struct showing *w, const struct event_view *e)
{
    if (w->cli->settings.json)
        cli_json(w->cli, &event_view_shape, e);
    else
        put_line(w, e);
}

/* ---- past events ---- */

static int64_t lines_of(const struct args *args)
{
    if (args_has(args, OPTION_LINES))
        return args->lines > 0 && args->lines < LINES_MAX ? args->lines : LINES_MAX;
    if (args_has(args, OPTION_SINCE))
        return LINES_MAX;
    return args->follow ? LINES_BEFORE : LINES_USUAL;
}

static int get_page(struct showing *w, const char *after, int64_t limit, struct event_page *ret,
                    struct err *err)
{
    const struct event_filter *f = &w->ask.filter;
    struct cli *cli = w->cli;
    const struct client_pair query[] = {
        { "host", f->host },
        { "namespace", f->space },
        { "since_s", w->ask.since_s ? cli_count(cli, w->ask.since_s) : "" },
        { "limit", cli_count(cli, limit < PAGE_ROWS ? limit : PAGE_ROWS) },
        { "after", after },
        { 0 },
    };

    return cli_get(cli, "/v1/events", query, CLI_GET_MS, &event_page_shape, &cli->arena, ret, err);
}

/* The newest events, newest first; `last` is from the first page. */
static int get_all(struct showing *w, struct event_page *ret, struct err *err)
{
    size_t want = (size_t)lines_of(&w->cli->args);
    struct event_view *all = arena_alloc(&w->cli->arena, want * sizeof(*all));
    struct event_page page = { .next = "" };
    size_t n = 0;

    *ret = (struct event_page){ { all, 0 }, "", -1 };
    do {
        if (get_page(w, page.next, (int64_t)(want - n), &page, err))
            return -1;
        if (ret->last < 0)
            ret->last = page.last;
        for (size_t i = 0; i < page.events.n && n < want; i++)
            all[n++] = ((const struct event_view *)page.events.items)[i];
    } while (*page.next && n < want);
    ret->events.n = n;
    ret->next = page.next;
    return 0;
}

static const struct column columns[] = {
    { TEXT_TIME, false },
    { TEXT_HOST, false },
    { TEXT_PROCESS, false },
    { TEXT_WHAT, false, .wraps = true },
};

static void put_table(struct showing *w, const struct event_page *page)
{
    const struct event_view *e = page->events.items;
    struct table t;

    table_init(&t, columns, ARRAY_LEN(columns));
    for (size_t i = page->events.n; i-- > 0;) {
        table_add(&t, STYLE_DIM, time_of(&t.arena, &e[i]));
        table_add(&t, STYLE_PLAIN, run_events_host_of(w, &t.arena, &e[i]));
        table_add(&t, STYLE_PLAIN, process_of(&t.arena, &e[i]));
        table_add(&t, style_of(&e[i]),
                  arena_printf(&t.arena, "%s%s%s", kind_of(w, &e[i]), colon(w, &e[i]), e[i].text));
    }
    table_put(&t, &w->cli->out);
    table_done(&t);
}

/* Prints past events line by line, in the format of new ones. */
static void run_events_put_all(struct showing *w, const struct event_page *page)
{
    const struct event_view *e = page->events.items;

    for (size_t i = page->events.n; i > 0; i--)
        put_event(w, &e[i - 1]);
}

/* ---- events of this host ---- */

/* What a server would select; newest first, as its answers are. */
static int get_local(struct showing *w, int64_t after, struct event_page *ret, struct err *err)
{
    size_t max = after ? SIZE_MAX : (size_t)lines_of(&w->cli->args);
    const struct event_filter *f = &w->ask.filter;
    const struct event_view *e;
    struct event_view *wanted;
    struct list all;

    if (local_get_events(w->cli, after, &all, err))
        return -1;
    e = all.items;
    wanted = arena_alloc(&w->cli->arena, (all.n + 1) * sizeof(*wanted));
    *ret = (struct event_page){ { wanted, 0 }, "", all.n ? e[all.n - 1].id : after };
    for (size_t i = all.n; i > 0 && ret->events.n < max; i--) {
        if ((*f->space && strcmp(f->space, e[i - 1].space) != 0) ||
            e[i - 1].time_ms < w->ask.since_s * 1000)
            continue;
        wanted[ret->events.n] = e[i - 1];
        if (!w->cli->settings.json)
            wanted[ret->events.n].ip = local_host(&w->cli->arena);
        ret->events.n++;
    }
    return 0;
}

static int poll_local(struct showing *w, int64_t *last, struct err *err)
{
    struct arena before = w->cli->arena;
    struct event_page page;
    int bad;

    w->cli->arena = (struct arena){ 0 };
    bad = get_local(w, *last, &page, err);
    if (!bad) {
        run_events_put_all(w, &page);
        *last = page.last;
        w->heard_ms = clock_mono_ms(w->cli->clock);
        bad = out_flush(&w->cli->out, err);
    }
    arena_free(&w->cli->arena);
    w->cli->arena = before;
    if (bad && err->code == ERR_UNAVAILABLE &&
        clock_mono_ms(w->cli->clock) - w->heard_ms < OFFLINE_MS)
        return 0; /* the agent may be restarting */
    return bad;
}

/* ---- new events ---- */

static bool run_events_on_event(void *arg, const char *name, const char *data)
{
    struct showing *w = arg;
    struct arena a = { 0 };
    struct event_view e;
    bool is_good = true;

    if (!strcmp(name, "gap")) {
        out_line(w->cli->settings.json ? &w->cli->side : &w->cli->out, TEXT_EVENT_GAP, NULL);
        is_good = out_flush(&w->cli->side, &w->err) == 0;
    } else if (!*name) {
        is_good = shape_read(&event_view_shape, data, strlen(data), 0, &a, &e, &w->err) == 0;
        if (is_good)
            put_event(w, &e);
    }
    arena_free(&a);
    return is_good && out_flush(&w->cli->out, &w->err) == 0;
}

static bool run_events_on_bytes(void *arg, const char *bytes, size_t n)
{
    struct showing *w = arg;

    w->heard_ms = clock_mono_ms(w->cli->clock);
    return sse_read(&w->sse, bytes, n);
}

/* Reads one connection to its end.  -1: reconnecting does not help. */
static int listen_once(struct showing *w, struct err *err)
{
    const struct event_filter *f = &w->ask.filter;
    const struct client_pair query[] = { { "host", f->host }, { "namespace", f->space }, { 0 } };
    const struct client_sink sink = { run_events_on_bytes, w, SILENCE_MS };
    struct err trouble = { 0 };
    int bad;

    sse_again(&w->sse);
    bad = cli_stream(w->cli, "/v1/events/stream", query, w->sse.id, &sink, &trouble);
    if (w->err.code) {
        *err = w->err;
        return -1;
    }
    if (!bad || cli_is_interrupted())
        return 0;
    if (trouble.code == ERR_UNAVAILABLE && clock_mono_ms(w->cli->clock) - w->heard_ms < OFFLINE_MS)
        return 0;
    *err = trouble;
    return -1;
}

/* Waits; returns the signal that arrived, 0 if none. */
static int run_events_wait_for_signal(const struct showing *w, int64_t ms)
{
    const struct timespec time = { ms / 1000, ms % 1000 * 1000000 };
    int number;

    do {
        number = sigtimedwait(&w->signals, NULL, &time);
    } while (number < 0 && errno == EINTR);
    return number > 0 ? number : 0;
}

/* Runs until it is interrupted, which counts as success. */
static int run_events_follow(struct showing *w, int64_t last, struct err *err)
{
    sigset_t old;
    int bad = 0, number = 0;

    sse_init(&w->sse, run_events_on_event, w);
    snprintf(w->sse.id, sizeof(w->sse.id), "%lld", (long long)last);
    w->heard_ms = clock_mono_ms(w->cli->clock);
    sigemptyset(&w->signals);
    sigaddset(&w->signals, SIGINT);
    sigaddset(&w->signals, SIGTERM);
    sigprocmask(SIG_BLOCK, &w->signals, &old); /* of this thread; cannot fail */
    while (!bad && !number) {
        bad = w->cli->local ? poll_local(w, &last, err) : listen_once(w, err);
        number = run_events_wait_for_signal(w, bad ? 0 : PAUSE_MS);
    }
    sigprocmask(SIG_SETMASK, &old, NULL);
    sse_done(&w->sse);
    return number ? CLI_OK : -1;
}

int run_events(struct cli *cli, struct err *err)
{
    struct showing w = { .cli = cli };
    int64_t now_s = clock_wall_ms(cli->clock) / 1000;
    struct event_page page;

    if (ask_events(&cli->args, cli->lang, now_s, &cli->arena, &w.ask, err) ||
        (cli->local ? get_local(&w, 0, &page, err) : get_all(&w, &page, err)))
        return -1;
    if (cli->settings.json && !cli->args.follow) {
        cli_json(cli, &event_page_shape, &page);
        return CLI_OK;
    }
    if (cli->args.follow)
        run_events_put_all(&w, &page);
    else if (page.events.n)
        put_table(&w, &page);
    if (!page.events.n && !cli->args.follow && !cli->settings.quiet)
        out_line(&cli->out, TEXT_NO_EVENTS, NULL);
    if (!cli->args.follow)
        return CLI_OK;
    return out_flush(&cli->out, err) ? -1 : run_events_follow(&w, page.last, err);
}
