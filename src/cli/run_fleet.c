/* SPDX-License-Identifier: MIT */
/* run_fleet.c - the commands status and ps.  (Hosts: run_inventory.c.) */
#include <string.h>

#include "base/mem/mem.h"
#include "cli/ask.h"
#include "cli/local.h"
#include "cli/names.h"
#include "cli/run.h"
#include "cli/views.h"
#include "model/why_judge.h"

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

/* The time agents need to reconnect to a restarted server. */
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

/* A host that counts as connected until the server gives it up. */
static void put_silent(struct cli *cli, const struct list *hosts)
{
    if (!hosts->n)
        return;
    out_puts(&cli->out, "\n");
    out_line(&cli->out, TEXT_STATUS_SILENT,
             TEXT_ARGS(cli_hosts(cli, (int64_t)hosts->n), name_hosts(cli, hosts)));
}

/* Hosts of a state; `n` is their number by the totals. */
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

/* Offline hosts are listed as such; the state of their processes is unknown. */
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

static size_t run_fleet_add_hosts(const struct list *hosts, enum wrong_kind kind, const char *text,
                                  struct status_wrong *to)
{
    const struct host_view *h = hosts->items;

    for (size_t i = 0; i < hosts->n; i++)
        to[i] = (struct status_wrong){ kind, h[i].agent_id, "", "", text };
    return hosts->n;
}

/* All problems in one list: the server itself, processes and hosts. */
static struct list list_wrong(struct cli *cli, const struct list *of_server,
                              const struct list *processes, const struct list *offline,
                              const struct list *silent)
{
    const struct process_view *p = processes->items;
    size_t max = of_server->n + processes->n + offline->n + silent->n, n = of_server->n;
    struct status_wrong *all = arena_alloc(&cli->arena, (max + 1) * sizeof(*all));

    if (n)
        memcpy(all, of_server->items, n * sizeof(*all));
    for (size_t i = 0; i < processes->n; i++) {
        if (is_wrong(&p[i]))
            all[n++] =
                (struct status_wrong){ WRONG_PROCESS, p[i].agent_id, p[i].view.space,
                                       p[i].view.name,
                                       views_why(&cli->arena, cli->lang, &p[i], now_s(cli)) };
    }
    n += run_fleet_add_hosts(offline, WRONG_OFFLINE, text_get(cli->lang, TEXT_OFFLINE), all + n);
    n += run_fleet_add_hosts(silent, WRONG_SILENT, text_get(cli->lang, TEXT_STATUS_UNHEARD),
                             all + n);
    return (struct list){ all, n };
}

/* Without a reason the agent has just started and is still on its first attempt. */
static bool is_cut_off(const struct local_facts *f)
{
    return *f->servers && !f->is_linked && *f->trouble;
}

/* As `facts --json`, plus `wrong` as in `status --json` of a server. */
static void put_local_json(struct cli *cli, const struct local_facts *facts,
                           const struct list *processes)
{
    enum { FIELDS_MAX = 32 };
    struct status_wrong cut_off = { WRONG_LINK, facts->agent_id, "", "", facts->trouble };
    const struct list none = { 0 }, link = { &cut_off, is_cut_off(facts) ? 1 : 0 };
    const struct local_status {
        struct local_facts facts;
        struct list wrong;
    } status = { *facts, list_wrong(cli, &link, processes, &none, &none) };
    struct field fields[FIELDS_MAX] = { 0 };
    size_t n = 0;

    while (local_facts_shape.fields[n].name && n < FIELDS_MAX - 2) {
        fields[n] = local_facts_shape.fields[n];
        n++;
    }
    fields[n] = (struct field){ .name = "wrong",
                                .type = FIELD_LIST,
                                .offset = offsetof(struct local_status, wrong),
                                .sub = &status_wrong_shape };
    cli_json(cli, &(struct shape){ "local status", sizeof(status), fields }, &status);
}

static int local_status(struct cli *cli, struct err *err)
{
    const struct process_ask all = { "", "", "", NULL, 0 };
    struct local_facts facts;
    struct list processes;
    int status;

    if (local_get_facts(cli, &facts, err) || cli_get_processes(cli, &all, &processes, err))
        return -1;
    status = are_well(&processes) && !is_cut_off(&facts) ? CLI_OK : CLI_SOME_FAILED;
    if (cli->settings.json) {
        put_local_json(cli, &facts, &processes);
        return status;
    }
    local_name_hosts(cli, &processes);
    local_put_facts(cli, &facts);
    if (!processes.n)
        out_line(&cli->out, TEXT_LOCAL_NO_PROCESSES, NULL);
    put_wrong(cli, &processes);
    return status;
}

static void put_store(struct cli *cli, const struct status_view *s)
{
    const struct status_wrong *w = s->wrong.items;

    for (size_t i = 0; i < s->wrong.n; i++) {
        out_puts(&cli->out, "\n");
        out_line(&cli->out, TEXT_STATUS_STORE, TEXT_ARGS(w[i].text));
    }
}

/* The exit status is that of `why` over all processes. */
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
    status =
        are_well(&processes) && !offline.n && !silent.n && !s.wrong.n ? CLI_OK : CLI_SOME_FAILED;
    if (cli->settings.json) {
        s.wrong = list_wrong(cli, &s.wrong, &processes, &offline, &silent);
        cli_json(cli, &status_view_shape, &s);
        return status;
    }
    put_totals(cli, &s);
    put_store(cli, &s);
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

static bool is_filtered(const struct cli *cli)
{
    return cli->args.given & cli->args.command->options;
}

/* Of a namespace, filters may leave nothing.  A process that was named, and a namespace without
 * any, was not found. */
static int none(struct cli *cli, const struct process_ask *ask, struct err *err)
{
    bool is_missing = cli->args.n_words && (*ask->name || cli->local || !is_filtered(cli));

    if (is_missing && !is_filtered(cli) && !cli->settings.json)
        return names_unknown(cli, cli->args.words[0], err);
    if (!cli->settings.quiet && !cli->settings.json)
        out_line(&cli->out,
                 is_filtered(cli) ? TEXT_NONE_MATCHES
                 : cli->local     ? TEXT_LOCAL_NO_PROCESSES
                                  : TEXT_NO_PROCESSES,
                 NULL);
    return is_missing ? CLI_SOME_FAILED : CLI_OK;
}

int run_ps(struct cli *cli, struct err *err)
{
    const struct process_view *p;
    struct process_page page = { .next = "" };
    struct process_ask ask;
    struct table t;

    if (cli->local && args_has(&cli->args, OPTION_BIZ))
        return text_err(err, ERR_INVALID, cli->lang, TEXT_LOCAL_NEEDS_SERVER, TEXT_ARGS("biz"));
    cli->wants_use = true;
    if (ask_processes(&cli->args, cli->lang, &cli->arena, &ask, err) ||
        cli_get_processes(cli, &ask, &page.processes, err))
        return -1;
    if (cli->settings.json) {
        cli_json(cli, &process_page_shape, &page);
        return page.processes.n ? CLI_OK : none(cli, &ask, err);
    }
    if (!page.processes.n)
        return none(cli, &ask, err);
    local_name_hosts(cli, &page.processes);
    p = page.processes.items;
    views_processes_init(&t, cli->local);
    for (size_t i = 0; i < page.processes.n; i++)
        views_process_add(&t, cli->lang, &p[i], now_s(cli));
    table_put(&t, &cli->out);
    table_done(&t);
    return CLI_OK;
}
