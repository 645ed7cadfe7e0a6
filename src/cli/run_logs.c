/* SPDX-License-Identifier: MIT */
/* run_logs.c - the logs command: output of a process. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "cli/ask.h"
#include "cli/local.h"
#include "cli/run.h"
#include "cli/width.h"

/* PAUSE_MS: between requests.  OFFLINE_MS: how long the server or the host may be unreachable.
 * MUCH_BYTES: an answer of this size means that there is more. */
enum { PAUSE_MS = 1000, OFFLINE_MS = 60 * 1000, MUCH_BYTES = 32 * 1024 };

struct tailing {
    struct cli *cli;
    struct log_ask ask;
    const char *host; /* the host that answered first: only this one is asked later */
    int64_t heard_ms; /* time of the last answer */
    bool is_line_open;
    sigset_t signals;
};

static int look_at_server(struct tailing *t, struct arena *a, struct log_view *ret, struct err *err)
{
    const struct log_ask *ask = &t->ask;
    const struct client_pair query[] = {
        { "namespace", ask->space },
        { "name", ask->name },
        { "host", t->host },
        { "what", ask->what },
        { "lines", arena_printf(a, "%lld", (long long)ask->lines) },
        { "at", arena_printf(a, "%lld", (long long)ask->at) },
        { 0 },
    };

    return cli_get(t->cli, "/v1/logs", query, CLI_GET_MS, &log_view_shape, a, ret, err);
}

static int request_log(struct tailing *t, struct arena *a, struct log_view *ret, struct err *err)
{
    return t->cli->local ? local_get_log(t->cli, &t->ask, a, ret, err)
                         : look_at_server(t, a, ret, err);
}

static void put_gap(struct tailing *t, int64_t bytes)
{
    struct out *out = &t->cli->out;

    out_puts(out, t->is_line_open ? "\n" : "");
    if (bytes > 0)
        out_line(out, TEXT_LOG_GAP_BYTES, TEXT_ARGS(cli_count(t->cli, bytes)));
    else
        out_line(out, TEXT_LOG_GAP, NULL);
    t->is_line_open = false;
}

/* On a terminal, control characters are escaped. */
static void run_logs_put(struct tailing *t, const struct log_view *view)
{
    struct out *out = &t->cli->out;
    size_t n = strlen(view->output);

    if (view->has_gap)
        put_gap(t, view->gap_bytes);
    if (out->terminal)
        width_show(&out->b, view->output);
    else
        out_puts(out, view->output);
    if (n)
        t->is_line_open = view->output[n - 1] != '\n';
}

/* Waits; returns the signal that arrived, 0 if none. */
static int run_logs_wait_for_signal(const struct tailing *t, int64_t ms)
{
    const struct timespec time = { ms / 1000, ms % 1000 * 1000000 };
    int number;

    do {
        number = sigtimedwait(&t->signals, NULL, &time);
    } while (number < 0 && errno == EINTR);
    return number > 0 ? number : 0;
}

/* Whether the error may end by itself: a server or an agent that restarts comes back. */
static bool run_logs_is_passing(const struct tailing *t, const struct err *trouble)
{
    const struct cli *cli = t->cli;
    bool is_late = cli->refused && cli->refusal.error.number == CODE_DEADLINE;

    return (trouble->code == ERR_UNAVAILABLE || is_late) &&
           clock_mono_ms(cli->clock) - t->heard_ms < OFFLINE_MS;
}

/* Sends one request; 0 also if there was no answer this time. */
static int run_logs_go_on(struct tailing *t, bool *ret_more, struct err *err)
{
    struct arena a = { 0 };
    struct err trouble = { 0 };
    struct log_view view;
    int bad = request_log(t, &a, &view, &trouble);

    *ret_more = false;
    if (!bad) {
        run_logs_put(t, &view);
        t->ask.at = view.next;
        t->heard_ms = clock_mono_ms(t->cli->clock);
        *ret_more = strlen(view.output) >= MUCH_BYTES;
        bad = out_flush(&t->cli->out, err);
    } else if (run_logs_is_passing(t, &trouble)) {
        bad = 0;
    } else {
        *err = trouble;
    }
    arena_free(&a);
    return bad;
}

/* Runs until it is interrupted, which counts as success. */
static int run_logs_follow(struct tailing *t, struct err *err)
{
    struct err trouble = { 0 };
    sigset_t old;
    bool more;
    int bad = 0, number = 0;

    sigemptyset(&t->signals);
    sigaddset(&t->signals, SIGINT);
    sigaddset(&t->signals, SIGTERM);
    sigprocmask(SIG_BLOCK, &t->signals, &old); /* of this thread; cannot fail */
    while (!bad && !number) {
        bad = run_logs_go_on(t, &more, &trouble);
        number = run_logs_wait_for_signal(t, bad || more ? 0 : PAUSE_MS);
    }
    sigprocmask(SIG_SETMASK, &old, NULL);
    if (number) /* the request that the signal ended has not failed */
        return CLI_OK;
    *err = trouble;
    return -1;
}

static int run_logs_show(struct tailing *t, struct err *err)
{
    struct cli *cli = t->cli;
    struct log_view view;

    if (request_log(t, &cli->arena, &view, err))
        return -1;
    if (cli->settings.json) {
        cli_json(cli, &log_view_shape, &view);
        return CLI_OK;
    }
    run_logs_put(t, &view);
    if (t->is_line_open && cli->out.terminal && !cli->args.follow)
        out_puts(&cli->out, "\n");
    if (!cli->args.follow)
        return CLI_OK;
    t->host = view.host;
    t->ask.at = view.next;
    t->heard_ms = clock_mono_ms(cli->clock);
    return out_flush(&cli->out, err) ? -1 : run_logs_follow(t, err);
}

int run_logs(struct cli *cli, struct err *err)
{
    struct tailing t = { .cli = cli };

    if (cli->args.follow && cli->settings.json)
        return text_err(err, ERR_INVALID, cli->lang, TEXT_FOLLOW_JSON, NULL);
    if (ask_logs(&cli->args, cli->lang, &cli->arena, &t.ask, err))
        return -1;
    t.host = t.ask.host;
    return run_logs_show(&t, err);
}
