/* SPDX-License-Identifier: MIT */
/* run_forget.c - the forget command: removes a process definition. */
#include "base/mem/mem.h"
#include "cli/ask.h"
#include "cli/confirm.h"
#include "cli/local.h"
#include "cli/names.h"
#include "cli/run.h"
#include "cli/views.h"

/* All hosts that have it now: the user has not confirmed hosts that get it later. */
static int find_hosts(struct cli *cli, struct forget_ask *ask, struct err *err)
{
    const struct process_ask which = { ask->space, ask->name, "", NULL, 0 };
    struct list processes;
    const struct process_view *p;
    struct agent_ref *hosts;

    if (cli_get_processes(cli, &which, &processes, err))
        return -1;
    p = processes.items;
    hosts = arena_alloc(&cli->arena, processes.n * sizeof(*hosts));
    for (size_t i = 0; i < processes.n; i++)
        hosts[i].id = p[i].agent_id;
    ask->hosts = (struct list){ hosts, processes.n };
    return 0;
}

static const struct column columns[] = {
    { TEXT_HOST, false },
    { TEXT_CODE, false },
    { TEXT_TEXT, false, .wraps = true },
};

/* Prints the hosts that refused, with the reason; returns their number. */
static size_t put_refused(struct cli *cli, const struct list *list)
{
    const struct operation_target *targets = list->items;
    struct table t;
    size_t n = 0;

    table_init(&t, columns, ARRAY_LEN(columns));
    for (size_t i = 0; i < list->n; i++) {
        const struct operation_target *g = &targets[i];

        if (!g->code)
            continue;
        n++;
        table_add(&t, STYLE_PLAIN,
                  *g->ip ? views_host(&t.arena, g->agent_id, g->cloud_id, g->ip) : g->key);
        table_add_number(&t, g->code);
        table_add(&t, STYLE_BAD, g->text);
    }
    if (n && !cli->settings.json)
        table_put(&t, &cli->out);
    table_done(&t);
    return n;
}

static int run_forget_show(struct cli *cli, const struct forget_view *view)
{
    size_t n_refused;

    if (cli->settings.json)
        cli_json(cli, &forget_view_shape, view);
    n_refused = put_refused(cli, &view->targets);
    if (!cli->settings.json && !cli->settings.quiet)
        out_line(
            &cli->out, TEXT_FORGOTTEN,
            TEXT_ARGS(cli->args.words[0], cli_hosts(cli, (int64_t)(view->targets.n - n_refused))));
    return n_refused ? CLI_SOME_FAILED : CLI_OK;
}

int run_forget(struct cli *cli, struct err *err)
{
    const char *name = cli->args.words[0];
    struct forget_view view;
    struct forget_ask ask;

    if (ask_forget(&cli->args, cli->lang, &cli->arena, &ask, err) || confirm_check(cli, err) ||
        (!ask.hosts.n && find_hosts(cli, &ask, err)))
        return -1;
    if (!ask.hosts.n)
        return names_unknown(cli, name, err);
    if (!confirm(cli, TEXT_FORGET_SURE, TEXT_ARGS(name, cli_hosts(cli, (int64_t)ask.hosts.n))))
        return CLI_USAGE;
    if (cli_post(cli, "/v1/processes/forget", NULL, &forget_ask_shape, &ask, &forget_view_shape,
                 &view, err))
        return -1;
    return run_forget_show(cli, &view);
}
