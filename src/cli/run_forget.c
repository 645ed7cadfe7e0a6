/* SPDX-License-Identifier: MIT */
/* run_forget.c - the forget command: removes a process definition. */
#include "base/mem/mem.h"
#include "cli/ask.h"
#include "cli/confirm.h"
#include "cli/local.h"
#include "cli/local_operate.h"
#include "cli/names.h"
#include "cli/run.h"
#include "cli/views.h"
#include "model/operation.h"

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

/* ---- with --local ---- */

static const struct column local_columns[] = {
    { TEXT_PROCESS, false },
    { TEXT_CODE, false },
    { TEXT_TEXT, false, .wraps = true },
};

/* "shop/web", "shop/web, shop/db", or for a group "12 processes (all)". */
static const char *name_all(struct cli *cli)
{
    const struct word *names = cli->names.items;
    struct buf b = { 0 };
    const char *text;

    for (size_t i = 0; !cli->has_group && i < cli->names.n; i++)
        buf_printf(&b, "%s%s", i ? ", " : "", names[i].text);
    for (size_t i = 0; cli->has_group && i < cli->args.n_words; i++)
        buf_printf(&b, "%s%s", i ? ", " : "", cli->args.words[i]);
    text = arena_strdup(&cli->arena, buf_text(&b));
    buf_free(&b);
    if (!cli->has_group)
        return text;
    text_put(&b, cli->lang, TEXT_LOCAL_MANY,
             TEXT_ARGS(cli_count(cli, (int64_t)cli->names.n), text));
    text = arena_strdup(&cli->arena, buf_text(&b));
    buf_free(&b);
    return text;
}

/* One that other operations wait for is not forgotten. */
static struct operation_target target_of(struct cli *cli, const struct task_item_view *item)
{
    bool is_left = item->done && !item->code && item->view.wanted != PROC_UNREGISTERED;

    return (struct operation_target){
        .key = arena_printf(&cli->arena, "%s/%s", item->space, item->name),
        .agent_id = "",
        .ip = "",
        .online = true,
        .code = is_left ? CODE_LOCKED : item->code,
        .text = is_left ? text_get(cli->lang, TEXT_LOCAL_NOT_FORGOTTEN) : item->text,
    };
}

static void put_local_refused(struct cli *cli, const struct list *list)
{
    const struct operation_target *targets = list->items;
    struct table t;

    table_init(&t, local_columns, ARRAY_LEN(local_columns));
    for (size_t i = 0; i < list->n; i++) {
        if (!targets[i].code)
            continue;
        table_add(&t, STYLE_PLAIN, targets[i].key);
        table_add_number(&t, targets[i].code);
        table_add(&t, STYLE_BAD, targets[i].text);
    }
    if (t.n_cells)
        table_put(&t, &cli->out);
    table_done(&t);
}

static int show_local(struct cli *cli, const struct watch *w)
{
    const struct task_item_view *items = w->task.items.items;
    struct operation_target *targets =
        arena_alloc(&cli->arena, (w->task.items.n + 1) * sizeof(*targets));
    const struct forget_view view = { { targets, w->task.items.n } };
    size_t n_done = 0;

    for (size_t i = 0; i < w->task.items.n; i++) {
        targets[i] = target_of(cli, &items[i]);
        n_done += !targets[i].code;
    }
    if (cli->settings.json)
        cli_json(cli, &forget_view_shape, &view);
    else
        put_local_refused(cli, &view.targets);
    if (!cli->settings.json && !cli->settings.quiet && n_done == 1 && w->task.items.n == 1)
        out_line(&cli->out, TEXT_LOCAL_FORGOTTEN, TEXT_ARGS(targets[0].key));
    else if (!cli->settings.json && !cli->settings.quiet)
        out_line(&cli->out, TEXT_LOCAL_FORGOTTEN_MANY, TEXT_ARGS(cli_count(cli, (int64_t)n_done)));
    return n_done < w->task.items.n ? CLI_SOME_FAILED : CLI_OK;
}

static int forget_local(struct cli *cli, struct err *err)
{
    struct watch w = { .timeout_ms = CLI_GET_MS };
    int64_t not_begun;

    if (confirm_check(cli, err))
        return -1;
    if (!confirm(cli, TEXT_LOCAL_FORGET_SURE, TEXT_ARGS(name_all(cli))))
        return CLI_USAGE;
    if (local_operate(cli, &w, &not_begun, err))
        return err_wrap(err, "%s", cli->args.words[0]);
    return show_local(cli, &w);
}

int run_forget(struct cli *cli, struct err *err)
{
    const char *name = cli->args.words[0];
    struct forget_view view;
    struct forget_ask ask;

    if (cli->local)
        return forget_local(cli, err);
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
