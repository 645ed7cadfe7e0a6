/* SPDX-License-Identifier: MIT */
/* run_task.c - operations and what becomes of them. */
#include "cli/ask.h"
#include "cli/local.h"
#include "cli/run.h"
#include "cli/views.h"
#include "cli/watch.h"
#include "model/duration.h"

enum { SIGNAL_STATUS = 128 };

/* ---- tables ---- */

static void put_items(struct cli *cli, const struct task_view *task, bool failed_only)
{
    const struct task_item_view *items = task->items.items;
    struct table t;

    views_items_init(&t);
    for (size_t i = 0; i < task->items.n; i++) {
        if (!failed_only || (items[i].done && items[i].code))
            views_item_add(&t, cli->lang, &items[i]);
    }
    if (t.n_cells)
        table_put(&t, &cli->out);
    table_done(&t);
}

/* A query is asked for what it finds. */
static void put_found(struct cli *cli, const struct task_view *task)
{
    const struct task_item_view *items = task->items.items;
    struct table t;

    views_processes_init(&t);
    for (size_t i = 0; i < task->items.n; i++) {
        struct process_view p = { .agent_id = items[i].agent_id, .online = true };

        if (!items[i].done || items[i].code || items[i].op != PROC_OP_QUERY)
            continue;
        p.ip = views_item_host(&t.arena, &items[i]);
        p.view = items[i].view;
        views_process_add(&t, cli->lang, &p, clock_wall_ms(cli->clock) / 1000);
    }
    if (t.n_cells)
        table_put(&t, &cli->out);
    table_done(&t);
}

/* ---- the end of a wait ---- */

static void put_summary(struct cli *cli, const struct watch *w)
{
    const struct task_view *t = &w->task;
    const char *time = cli_duration(cli, w->elapsed_ms);

    if (w->end == WATCH_SIGNAL)
        out_line(&cli->out, cli->local ? TEXT_LOCAL_INTERRUPTED : TEXT_INTERRUPTED,
                 TEXT_ARGS(w->label, w->task_id));
    else if (w->end == WATCH_TIMEOUT)
        out_line(&cli->out, cli->local ? TEXT_LOCAL_WAIT_OVER : TEXT_WAIT_OVER,
                 TEXT_ARGS(w->label, cli_count(cli, t->left), cli_count(cli, t->total), time,
                           w->task_id));
    else if (t->failed)
        out_line(&cli->out, TEXT_SOME_FAILED,
                 TEXT_ARGS(w->label, cli_count(cli, t->failed), cli_count(cli, t->total), time,
                           w->task_id));
    else if (!cli->settings.quiet)
        out_line(&cli->out, TEXT_ALL_WELL,
                 TEXT_ARGS(w->label, cli_count(cli, t->total), cli_count(cli, t->total), time));
}

/* The agent refuses what it has no spec for by the field that it misses first. */
static void put_hint(struct cli *cli, const struct task_view *task)
{
    const struct task_item_view *items = task->items.items;
    bool lacks = false;

    for (size_t i = 0; i < task->items.n; i++)
        lacks = lacks || ((items[i].code == CODE_NO_COMMAND || items[i].code == CODE_PARAM) &&
                          items[i].view.wanted == PROC_UNREGISTERED);
    if (cli->local && lacks && !*cli->args.spec)
        out_line(&cli->out, TEXT_LOCAL_NO_SPEC, NULL);
}

static int show_end(struct cli *cli, struct watch *w)
{
    int status;

    if (cli->settings.json) {
        cli_json(cli, &task_view_shape, &w->task);
    } else {
        put_summary(cli, w);
        put_items(cli, &w->task, true);
        put_hint(cli, &w->task);
        put_found(cli, &w->task);
    }
    status = w->end == WATCH_SIGNAL                      ? SIGNAL_STATUS + w->signal
             : w->end == WATCH_TIMEOUT || w->task.failed ? CLI_SOME_FAILED
                                                         : CLI_OK;
    arena_free(&w->arena);
    return status;
}

static int wait_and_show(struct cli *cli, struct watch *w, struct err *err)
{
    if (watch_task(cli, w, err))
        return err_wrap(err, "%s", w->label);
    return show_end(cli, w);
}

static int64_t timeout_ms(const struct args *args)
{
    return args_has(args, OPTION_TIMEOUT) ? args->timeout_s * 1000 : -1;
}

/* ---- commands ---- */

static int no_targets(struct cli *cli)
{
    struct err ignored;

    out_line(&cli->side, TEXT_NO_TARGETS, TEXT_ARGS(cli->args.command->name, cli->args.words[0]));
    (void)out_flush(&cli->side, &ignored); /* the status says it too */
    return CLI_SOME_FAILED;
}

static int show_begun(struct cli *cli, const struct operation_view *made)
{
    if (cli->settings.json) {
        cli_json(cli, &operation_view_shape, made);
    } else if (cli->settings.quiet) {
        out_puts(&cli->out, made->task_id);
        out_puts(&cli->out, "\n");
    } else {
        out_line(&cli->out, cli->local ? TEXT_LOCAL_STARTED : TEXT_TASK_STARTED,
                 TEXT_ARGS(made->task_id, cli_count(cli, made->items)));
    }
    return CLI_OK;
}

/* The agent of this host keeps no tasks: who waits for one has its connection open. */
static int run_local(struct cli *cli, struct watch *w, struct err *err)
{
    w->label = cli->args.command->name;
    for (size_t i = 0; i < cli->args.n_words; i++)
        w->label = arena_printf(&cli->arena, "%s %s", w->label, cli->args.words[i]);
    if (local_operate(cli, w, err))
        return err_wrap(err, "%s", w->label);
    if (cli->args.no_wait && w->end == WATCH_DONE)
        return show_begun(cli, &(struct operation_view){ w->task_id, w->task.total });
    return show_end(cli, w);
}

int run_operation(struct cli *cli, struct err *err)
{
    struct watch w = { .timeout_ms = timeout_ms(&cli->args) };
    struct operation_ask ask;
    struct operation_view made;

    if (cli->local)
        return run_local(cli, &w, err);
    if (ask_operation(&cli->args, cli->lang, &cli->arena, &ask, err) ||
        cli_post(cli, "/v1/operations", NULL, &operation_ask_shape, &ask, &operation_view_shape,
                 &made, err))
        return -1;
    if (!made.items)
        return no_targets(cli);
    if (!cli->args.no_wait) {
        w.task_id = made.task_id;
        w.label = arena_printf(&cli->arena, "%s %s", cli->args.command->name, cli->args.words[0]);
        return wait_and_show(cli, &w, err);
    }
    return show_begun(cli, &made);
}

static void put_task(struct cli *cli, const struct task_view *t)
{
    struct buf date = { 0 };

    duration_put_date(&date, t->created_ms / 1000);
    out_line(&cli->out, TEXT_TASK_STATE,
             TEXT_ARGS(t->task_id, cli_count(cli, t->total - t->left), cli_count(cli, t->left),
                       cli_count(cli, t->failed), buf_text(&date), *t->user ? t->user : t->app));
    put_items(cli, t, false);
    buf_free(&date);
}

static int look_at_task(struct cli *cli, const char *id, struct err *err)
{
    struct task_view task;

    if (watch_look(cli, id, CLI_TASK_MS, &cli->arena, &task, err))
        return -1;
    if (cli->settings.json)
        cli_json(cli, &task_view_shape, &task);
    else
        put_task(cli, &task);
    return task.failed ? CLI_SOME_FAILED : CLI_OK;
}

int run_task(struct cli *cli, struct err *err)
{
    const char *id = cli->args.words[0];
    struct watch w = { .task_id = id, .timeout_ms = timeout_ms(&cli->args) };
    struct buf label = { 0 };

    if (!cli->args.wait)
        return look_at_task(cli, id, err);
    text_put(&label, cli->lang, TEXT_TASK_LABEL, TEXT_ARGS(id));
    w.label = arena_strdup(&cli->arena, buf_text(&label));
    buf_free(&label);
    return wait_and_show(cli, &w, err);
}
