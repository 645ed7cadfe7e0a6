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

/* As long as agents take to come back to a server that has started. */
enum { COMING_S = 30, NAMED = 3 };

static const char *name_hosts(struct cli *cli, const struct list *hosts)
{
    const struct host_view *h = hosts->items;
    struct buf b = { 0 };
    const char *names;

    for (size_t i = 0; i < hosts->n && i < NAMED; i++)
        buf_printf(&b, "%s%s", i ? ", " : "",
                   views_host(&cli->arena, h[i].agent_id, h[i].cloud_id, h[i].ip));
    if (hosts->n > NAMED) {
        bool is_one = hosts->n == NAMED + 1;

        buf_puts(&b, cli->lang == LANG_ZH ? "，" : ", ");
        text_put(&b, cli->lang, is_one ? TEXT_ONE_MORE : TEXT_MANY_MORE,
                 TEXT_ARGS(cli_count(cli, (int64_t)hosts->n - NAMED)));
    }
    names = arena_strdup(&cli->arena, buf_text(&b));
    buf_free(&b);
    return names;
}

static void put_offline(struct cli *cli, const struct status_view *s, const struct list *hosts)
{
    const char *count = cli_hosts(cli, (int64_t)hosts->n), *names = name_hosts(cli, hosts);

    if (!hosts->n)
        return;
    out_puts(&cli->out, "\n");
    if (s->uptime_s < COMING_S)
        out_line(&cli->out, TEXT_STATUS_COMING,
                 TEXT_ARGS(cli_duration(cli, s->uptime_s * 1000), count, names));
    else
        out_line(&cli->out, TEXT_STATUS_OFFLINE, TEXT_ARGS(count, names));
}

/* Who is taken for connected until the server gives him up. */
static void put_silent(struct cli *cli, const struct list *hosts)
{
    if (!hosts->n)
        return;
    out_puts(&cli->out, "\n");
    out_line(&cli->out, TEXT_STATUS_SILENT,
             TEXT_ARGS(cli_hosts(cli, (int64_t)hosts->n), name_hosts(cli, hosts)));
}

/* Those of a state; `n` is how many there are said to be. */
static int get_hosts(struct cli *cli, const char *state, int64_t n, struct list *ret,
                     struct err *err)
{
    struct client_pair query[] = {
        { "state", state }, { "limit", "1000" }, { "after", NULL }, { 0 }
    };

    *ret = (struct list){ 0 };
    if (!n)
        return 0;
    return cli_get_all(cli, "/v1/hosts", query, &host_page_shape, ret, err);
}

static bool is_wrong(const struct process_view *p)
{
    return p->online && why_is_trouble(&p->view);
}

static bool are_well(const struct list *processes)
{
    const struct process_view *p = processes->items;

    for (size_t i = 0; i < processes->n; i++) {
        if (is_wrong(&p[i]))
            return false;
    }
    return true;
}

/* Hosts that are offline are named for themselves; what runs on them now nobody knows. */
static void put_wrong(struct cli *cli, const struct list *processes)
{
    const struct process_view *p = processes->items;
    struct table t;

    views_wrong_init(&t);
    for (size_t i = 0; i < processes->n; i++) {
        if (is_wrong(&p[i]))
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

    if (local_get_facts(cli, &facts, err) || cli_get_processes(cli, &all, &processes, err))
        return -1;
    if (cli->settings.json) {
        cli_json(cli, &local_facts_shape, &facts);
        return are_well(&processes) ? CLI_OK : CLI_SOME_FAILED;
    }
    local_name_hosts(cli, &processes);
    local_put_facts(cli, &facts);
    if (!processes.n)
        out_line(&cli->out, TEXT_LOCAL_NO_PROCESSES, NULL);
    put_wrong(cli, &processes);
    return are_well(&processes) ? CLI_OK : CLI_SOME_FAILED;
}

/* Its exit status is as that of `why` of all there is. */
int run_status(struct cli *cli, struct err *err)
{
    const struct process_ask all = { "", "", "", NULL, 0 };
    struct list processes, offline, silent;
    struct status_view s;
    int status;

    if (cli->local)
        return local_status(cli, err);
    if (cli_get(cli, "/v1/status", NULL, CLI_GET_MS, &status_view_shape, &cli->arena, &s, err))
        return -1;
    if (cli_get_processes(cli, &all, &processes, err) ||
        get_hosts(cli, "offline", s.hosts - s.online, &offline, err) ||
        get_hosts(cli, "silent", s.silent, &silent, err))
        return -1;
    status = are_well(&processes) && !offline.n && !silent.n ? CLI_OK : CLI_SOME_FAILED;
    if (cli->settings.json) {
        cli_json(cli, &status_view_shape, &s);
        return status;
    }
    put_totals(cli, &s);
    if (!s.hosts)
        out_line(&cli->out, TEXT_NO_HOSTS, NULL);
    else if (!processes.n)
        out_line(&cli->out, TEXT_NO_PROCESSES, NULL);
    put_wrong(cli, &processes);
    put_silent(cli, &silent);
    put_offline(cli, &s, &offline);
    return status;
}

/* ---- ps ---- */

static void put_none(struct cli *cli)
{
    if (cli->local && cli->args.n_words)
        out_line(&cli->out, TEXT_LOCAL_UNKNOWN, TEXT_ARGS(cli->args.words[0]));
    else if (cli->args.given & cli->args.command->options)
        out_line(&cli->out, TEXT_NONE_MATCHES, NULL);
    else if (cli->args.n_words)
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

    if (cli->local && args_has(&cli->args, OPTION_BIZ))
        return text_err(err, ERR_INVALID, cli->lang, TEXT_LOCAL_NEEDS_SERVER, TEXT_ARGS("biz"));
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
