/* SPDX-License-Identifier: MIT */
/* run_logs.c - what a process has said: logs. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "cli/ask.h"
#include "cli/local.h"
#include "cli/run.h"
#include "cli/width.h"

/* How often is asked, how long a server or a host may be away; and how much of an answer
 * says that there is more. */
enum { PAUSE_MS = 1000, AWAY_MS = 60 * 1000, MUCH_BYTES = 32 * 1024 };

struct tailing {
    struct cli *cli;
    struct log_ask ask;
    const char *host; /* that answered first: the others are not asked then */
    int64_t heard_ms; /* the last answer */
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

static int look(struct tailing *t, struct arena *a, struct log_view *ret, struct err *err)
{
    return t->cli->local ? local_get_log(t->cli, &t->ask, a, ret, err)
                         : look_at_server(t, a, ret, err);
}

/* Onto a terminal nothing goes that would do something there. */
static void put(struct tailing *t, const struct log_view *view)
{
    struct out *out = &t->cli->out;
    size_t n = strlen(view->output);

    if (view->has_gap) {
        out_puts(out, t->is_line_open ? "\n" : "");
        out_line(out, TEXT_LOG_GAP, NULL);
        t->is_line_open = false;
    }
    if (out->terminal)
        width_show(&out->b, view->output);
    else
        out_puts(out, view->output);
    if (n)
        t->is_line_open = view->output[n - 1] != '\n';
}

/* The signal that came meanwhile, 0 if none did. */
static int rest(const struct tailing *t, int64_t ms)
{
    const struct timespec time = { ms / 1000, ms % 1000 * 1000000 };
    int number;

    do {
        number = sigtimedwait(&t->signals, NULL, &time);
    } while (number < 0 && errno == EINTR);
    return number > 0 ? number : 0;
}

/* A server or an agent that is started anew comes back. */
static bool is_passing(const struct tailing *t, const struct err *trouble)
{
    const struct cli *cli = t->cli;
    bool is_late = cli->refused && cli->refusal.error.number == CODE_DEADLINE;

    return (trouble->code == ERR_UNAVAILABLE || is_late) &&
           clock_mono_ms(cli->clock) - t->heard_ms < AWAY_MS;
}

/* One look; 0 also if there was no answer this time. */
static int go_on(struct tailing *t, bool *ret_more, struct err *err)
{
    struct arena a = { 0 };
    struct err trouble = { 0 };
    struct log_view view;
    int bad = look(t, &a, &view, &trouble);

    *ret_more = false;
    if (!bad) {
        put(t, &view);
        t->ask.at = view.next;
        t->heard_ms = clock_mono_ms(t->cli->clock);
        *ret_more = strlen(view.output) >= MUCH_BYTES;
        bad = out_flush(&t->cli->out, err);
    } else if (is_passing(t, &trouble)) {
        bad = 0;
    } else {
        *err = trouble;
    }
    arena_free(&a);
    return bad;
}

/* Until it is interrupted, which is how it ends well. */
static int follow(struct tailing *t, struct err *err)
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
        bad = go_on(t, &more, &trouble);
        number = rest(t, bad || more ? 0 : PAUSE_MS);
    }
    sigprocmask(SIG_SETMASK, &old, NULL);
    if (number) /* what it ended was not a failure */
        return CLI_OK;
    *err = trouble;
    return -1;
}

static int show(struct tailing *t, struct err *err)
{
    struct cli *cli = t->cli;
    struct log_view view;

    if (look(t, &cli->arena, &view, err))
        return -1;
    if (cli->settings.json) {
        cli_json(cli, &log_view_shape, &view);
        return CLI_OK;
    }
    put(t, &view);
    if (t->is_line_open && cli->out.terminal && !cli->args.follow)
        out_puts(&cli->out, "\n");
    if (!cli->args.follow)
        return CLI_OK;
    t->host = view.host;
    t->ask.at = view.next;
    t->heard_ms = clock_mono_ms(cli->clock);
    return out_flush(&cli->out, err) ? -1 : follow(t, err);
}

int run_logs(struct cli *cli, struct err *err)
{
    struct tailing t = { .cli = cli };

    if (cli->args.follow && cli->settings.json)
        return text_err(err, ERR_INVALID, cli->lang, TEXT_FOLLOW_JSON, NULL);
    if (ask_logs(&cli->args, cli->lang, &cli->arena, &t.ask, err))
        return -1;
    t.host = t.ask.host;
    return show(&t, err);
}
