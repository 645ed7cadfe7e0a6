/* SPDX-License-Identifier: MIT */
/* run_fleet.c - what there is: status and ps.  (Hosts: run_inventory.c.) */
#include "base/mem.h"
#include "cli/ask.h"
#include "cli/local.h"
#include "cli/run.h"
#include "cli/views.h"

static int64_t now_s(const struct cli *cli)
{
    return clock_wall_ms(cli->clock) / 1000;
}

/* ---- status ---- */

static void put_totals(struct cli *cli, const struct status_view *s)
{
    out_line(&cli->out, TEXT_STATUS_SERVER,
             TEXT_ARGS(s->version, cli_duration(cli, s->uptime_s * 1000)));
    out_line(&cli->out, TEXT_STATUS_HOSTS,
             TEXT_ARGS(cli_count(cli, s->hosts), cli_count(cli, s->online),
                       cli_count(cli, s->hosts - s->online)));
    out_line(&cli->out, TEXT_STATUS_PROCESSES,
             TEXT_ARGS(cli_count(cli, s->processes), cli_count(cli, s->running),
                       cli_count(cli, s->hosted)));
    out_line(&cli->out, TEXT_STATUS_TASKS, TEXT_ARGS(cli_count(cli, s->open_tasks)));
}

/* Hosts that are offline are counted above; what runs on them now nobody knows. */
static void put_wrong(struct cli *cli, const struct list *processes)
{
    const struct process_view *p = processes->items;
    struct table t;

    views_wrong_init(&t);
    for (size_t i = 0; i < processes->n; i++) {
        if (p[i].online && why_is_trouble(&p[i].view))
            views_wrong_add(&t, cli->lang, &p[i], now_s(cli));
    }
    if (t.n_cells) {
        out_puts(&cli->out, "\n");
        out_line(&cli->out, TEXT_STATUS_BAD,
                 TEXT_ARGS(cli_count(cli, (int64_t)(t.n_cells / t.n_columns))));
        table_put(&t, &cli->out);
    } else if (!cli->settings.quiet && processes->n) {
        out_line(&cli->out, cli->local ? TEXT_LOCAL_GOOD : TEXT_STATUS_GOOD, NULL);
    }
    table_done(&t);
}

static int local_status(struct cli *cli, struct err *err)
{
    const struct process_ask all = { "", "", "", NULL, 0 };
    struct local_facts facts;
    struct list processes;

    if (local_get_facts(cli, &facts, err))
        return -1;
    if (cli->settings.json) {
        cli_json(cli, &local_facts_shape, &facts);
        return CLI_OK;
    }
    if (cli_get_processes(cli, &all, &processes, err))
        return -1;
    local_name_hosts(cli, &processes);
    local_put_facts(cli, &facts);
    if (!processes.n)
        out_line(&cli->out, TEXT_LOCAL_NO_PROCESSES, NULL);
    put_wrong(cli, &processes);
    return CLI_OK;
}

int run_status(struct cli *cli, struct err *err)
{
    const struct process_ask all = { "", "", "", NULL, 0 };
    struct status_view s;
    struct list processes;

    if (cli->local)
        return local_status(cli, err);
    if (cli_get(cli, "/v1/status", NULL, CLI_GET_MS, &status_view_shape, &cli->arena, &s, err))
        return -1;
    if (cli->settings.json) {
        cli_json(cli, &status_view_shape, &s);
        return CLI_OK;
    }
    if (cli_get_processes(cli, &all, &processes, err))
        return -1;
    put_totals(cli, &s);
    if (!s.hosts)
        out_line(&cli->out, TEXT_NO_HOSTS, NULL);
    else if (!processes.n)
        out_line(&cli->out, TEXT_NO_PROCESSES, NULL);
    put_wrong(cli, &processes);
    return CLI_OK;
}

/* ---- ps ---- */

static void put_none(struct cli *cli)
{
    if (cli->local && cli->args.n_words)
        out_line(&cli->out, TEXT_LOCAL_UNKNOWN, TEXT_ARGS(cli->args.words[0]));
    else if (cli->args.n_words || cli->args.hosts.n)
        out_line(&cli->out, TEXT_NONE_FITS, NULL);
    else
        out_line(&cli->out, cli->local ? TEXT_LOCAL_NO_PROCESSES : TEXT_NO_PROCESSES, NULL);
}

int run_ps(struct cli *cli, struct err *err)
{
    const struct process_view *p;
    struct process_page page = { .next = "" };
    struct process_ask ask;
    struct table t;

    if (ask_processes(&cli->args, cli->lang, &cli->arena, &ask, err) ||
        cli_get_processes(cli, &ask, &page.processes, err))
        return -1;
    if (cli->settings.json) {
        cli_json(cli, &process_page_shape, &page);
        return CLI_OK;
    }
    if (!page.processes.n) {
        if (!cli->settings.quiet)
            put_none(cli);
        return CLI_OK;
    }
    local_name_hosts(cli, &page.processes);
    p = page.processes.items;
    views_processes_init(&t);
    for (size_t i = 0; i < page.processes.n; i++)
        views_process_add(&t, cli->lang, &p[i], now_s(cli));
    table_put(&t, &cli->out);
    table_done(&t);
    return CLI_OK;
}
