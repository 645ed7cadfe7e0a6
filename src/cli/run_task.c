/* SPDX-License-Identifier: MIT */
/* run_task.c - the operation and task commands. */
#include "base/mem/mem.h"
#include "cli/ask.h"
#include "cli/local.h"
#include "cli/local_operate.h"
#include "cli/names.h"
#include "cli/run.h"
#include "cli/views.h"
#include "cli/watch.h"
#include "model/duration.h"
#include "model/operation.h"
#include "model/why_write.h"

enum { SIGNAL_STATUS = 128 };

/* ---- tables ---- */

static void put_items(struct cli *cli, const struct task_view *task, bool failed_only)
{
    const struct task_item_view *items = task->items.items;
    struct table t;

    views_items_init(&t);
    for (size_t i = 0; i < task->items.n; i++) {
        if (!failed_only || (items[i].done && items[i].code) || views_has_remark(&items[i]))
            views_item_add(&t, cli->lang, &items[i]);
    }
    if (t.n_cells)
        table_put(&t, &cli->out);
    table_done(&t);
}

/* The result of a query is the state that it found. */
static void put_found(struct cli *cli, const struct task_view *task)
{
    const struct task_item_view *items = task->items.items;
    struct table t;

    views_processes_init(&t, cli->local);
    for (size_t i = 0; i < task->items.n; i++) {
        struct process_view p = { .agent_id = items[i].agent_id, .online = true };

        if (!items[i].done || items[i].code || !operation_has_kind(items[i].op, ONLY_LOOKS))
            continue;
        p.ip = views_item_host(&t.arena, &items[i]);
        p.view = items[i].view;
        views_process_add(&t, cli->lang, &p, clock_wall_ms(cli->clock) / 1000);
    }
    if (t.n_cells)
        table_put(&t, &cli->out);
    table_done(&t);
}

/* The latest end of the task, whatever hosts do; nothing if it has ended or the deadline is
 * unknown. */
static void put_deadline(struct cli *cli, int64_t deadline_ms)
{
    int64_t left_ms = deadline_ms - clock_wall_ms(cli->clock);
    struct buf date = { 0 };

    if (left_ms <= 0)
        return;
    duration_put_second(&date, deadline_ms / 1000);
    out_line(&cli->out, TEXT_TASK_DEADLINE, TEXT_ARGS(buf_text(&date), cli_duration(cli, left_ms)));
    buf_free(&date);
}

/* ---- end of a wait ---- */

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

/* An agent without a spec refuses an operation by naming the first missing field. */
static void put_hint(struct cli *cli, const struct task_view *task)
{
    const struct task_item_view *items = task->items.items;
    bool lacks = false;

    for (size_t i = 0; i < task->items.n; i++)
        lacks = lacks || ((items[i].code == CODE_NO_COMMAND || items[i].code == CODE_PARAM ||
                           items[i].code == CODE_NOT_REGISTERED) &&
                          items[i].view.wanted == PROC_UNREGISTERED);
    if (cli->local && lacks && !*cli->args.spec)
        out_line(&cli->out, TEXT_LOCAL_NO_SPEC, NULL);
}

static bool is_still_hosted(const struct task_item_view *item)
{
    bool stops = operation_has_outcome(item->op, MAKES_STOP);

    return stops && item->done && item->code && item->view.hosted;
}

/* A stop that failed has not ended the hosting.  Only with --local are there several processes. */
static void put_still_hosted(struct cli *cli, const struct task_view *task)
{
    const struct task_item_view *items = task->items.items;
    const char *command = cli->local ? "--local unhost" : "unhost";
    int64_t n = 0;

    for (size_t i = 0; i < task->items.n; i++) {
        if (!is_still_hosted(&items[i]))
            continue;
        if (!n++ || cli->local)
            command = arena_printf(&cli->arena, "%s %s/%s", command, items[i].space, items[i].name);
    }
    if (n)
        out_line(&cli->out, TEXT_STILL_HOSTED,
                 TEXT_ARGS(cli_hosts(cli, cli->local ? 1 : n), command));
}

static int show_end(struct cli *cli, struct watch *w)
{
    int status;

    if (cli->settings.json) {
        cli_json(cli, &task_view_shape, &w->task);
    } else {
        put_summary(cli, w);
        if (w->end != WATCH_DONE)
            put_deadline(cli, w->task.deadline_ms);
        put_items(cli, &w->task, true);
        put_hint(cli, &w->task);
        put_still_hosted(cli, &w->task);
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
        put_deadline(cli, made->deadline_ms);
    }
    return CLI_OK;
}

/* ---- dry run ---- */

static const struct column target_columns[] = {
    { TEXT_HOST, false },
    { TEXT_STATE, false },
    { TEXT_TEXT, false, .wraps = true },
};

static void put_target(struct cli *cli, struct table *t, const struct operation_target *g)
{
    bool is_known = *g->agent_id;

    table_add(t, STYLE_PLAIN,
              is_known ? views_host(&t->arena, g->agent_id, g->cloud_id, g->ip) : g->key);
    table_add_text(t, g->online ? STYLE_GOOD : STYLE_DIM, cli->lang,
                   g->online ? TEXT_ONLINE : TEXT_OFFLINE);
    if (g->code)
        table_add(t, STYLE_BAD, arena_printf(&t->arena, "%lld %s", (long long)g->code, g->text));
    else
        table_add_text(t, STYLE_PLAIN, cli->lang, TEXT_WOULD_TRY);
}

static int show_dry_run(struct cli *cli, const struct operation_view *made)
{
    const struct operation_target *targets = made->targets.items;
    bool is_well = true;
    struct table t;

    table_init(&t, target_columns, ARRAY_LEN(target_columns));
    for (size_t i = 0; i < made->targets.n; i++) {
        put_target(cli, &t, &targets[i]);
        is_well = is_well && !targets[i].code;
    }
    if (cli->settings.json) {
        cli_json(cli, &operation_view_shape, made);
    } else {
        out_line(
            &cli->out, TEXT_DRY_RUN,
            TEXT_ARGS(cli->args.command->name, cli->args.words[0], cli_hosts(cli, made->items)));
        table_put(&t, &cli->out);
    }
    table_done(&t);
    return is_well ? CLI_OK : CLI_SOME_FAILED;
}

/* ---- with --local ---- */

static const struct column local_target_columns[] = {
    { TEXT_PROCESS, false },
    { TEXT_TEXT, false, .wraps = true },
};

static void put_local_targets(struct cli *cli, const struct operation_view *made)
{
    const struct operation_target *targets = made->targets.items;
    struct table t;

    table_init(&t, local_target_columns, ARRAY_LEN(local_target_columns));
    for (size_t i = 0; i < made->targets.n; i++) {
        table_add(&t, STYLE_PLAIN, targets[i].key);
        table_add(&t, STYLE_PLAIN, targets[i].text);
    }
    table_put(&t, &cli->out);
    table_done(&t);
}

static int run_local_dry(struct cli *cli, const char *words, struct err *err)
{
    struct operation_view made;

    if (local_dry_run(cli, &made, err))
        return -1;
    if (cli->settings.json) {
        cli_json(cli, &operation_view_shape, &made);
        return CLI_OK;
    }
    out_line(&cli->out, TEXT_LOCAL_DRY_RUN,
             TEXT_ARGS(cli->args.command->name, words, cli_count(cli, made.items)));
    put_local_targets(cli, &made);
    return CLI_OK;
}

/* "stop shop/web" */
static const char *label_of(struct cli *cli)
{
    const char *label = cli->args.command->name;

    for (size_t i = 0; i < cli->args.n_words; i++)
        label = arena_printf(&cli->arena, "%s %s", label, cli->args.words[i]);
    return label;
}

/* The agent of this host keeps no tasks: results arrive on the open connection. */
static int run_local(struct cli *cli, struct watch *w, struct err *err)
{
    const char *words = cli->args.words[0];
    int64_t not_begun;

    if (args_has(&cli->args, OPTION_EXPECT))
        return text_err(err, ERR_INVALID, cli->lang, TEXT_LOCAL_NEEDS_SERVER, TEXT_ARGS("expect"));
    if (*cli->args.spec && local_get_pid_dir(cli, &cli->args.pid_dir, err))
        return -1;
    for (size_t i = 1; i < cli->args.n_words; i++)
        words = arena_printf(&cli->arena, "%s %s", words, cli->args.words[i]);
    if (cli->args.dry_run)
        return run_local_dry(cli, words, err);
    w->label = arena_printf(&cli->arena, "%s %s", cli->args.command->name, words);
    if (local_operate(cli, w, &not_begun, err))
        return err_wrap(err, "%s", w->label);
    if (not_begun && !cli->settings.json)
        out_line(&cli->out, TEXT_LOCAL_NOT_BEGUN,
                 TEXT_ARGS(cli_count(cli, not_begun), cli_count(cli, w->task.total)));
    if (cli->args.no_wait && w->end == WATCH_DONE)
        return show_begun(
            cli, &(struct operation_view){ .task_id = w->task_id, .items = w->task.total });
    return show_end(cli, w);
}

int run_operation(struct cli *cli, struct err *err)
{
    struct watch w = { .timeout_ms = timeout_ms(&cli->args) };
    struct operation_ask ask;
    struct operation_view made;

    if (cli->local)
        return run_local(cli, &w, err);
    if (ask_operation(&cli->args, cli->lang, &cli->arena, &ask, err))
        return -1;
    if (cli_post_once(cli, "/v1/operations", &operation_ask_shape, &ask, &operation_view_shape,
                      &made, err))
        return names_explain(cli, err);
    if (made.dry_run)
        return show_dry_run(cli, &made);
    if (!made.items)
        return names_unknown(cli, cli->args.words[0], err);
    if (!cli->args.no_wait) {
        w.task_id = made.task_id;
        w.label = label_of(cli);
        return wait_and_show(cli, &w, err);
    }
    return show_begun(cli, &made);
}

static int64_t count_cancelled(const struct task_view *task)
{
    const struct task_code_view *codes = task->codes.items;

    for (size_t i = 0; i < task->codes.n; i++) {
        if (codes[i].code == CODE_CANCELLED)
            return codes[i].count;
    }
    return 0;
}

static void put_cancel(struct cli *cli, const struct task_view *t)
{
    struct buf date = { 0 };

    if (!t->cancelled_ms)
        return;
    duration_put_date(&date, t->cancelled_ms / 1000);
    out_line(
        &cli->out, TEXT_TASK_CANCEL_ASKED,
        TEXT_ARGS(buf_text(&date), cli_count(cli, count_cancelled(t)), cli_count(cli, t->total)));
    buf_free(&date);
}

/* The app, and the user it acts for. */
static const char *caller_name(struct arena *a, const char *app, const char *user)
{
    return *user ? arena_printf(a, "%s (%s)", app, user) : app;
}

static void put_task(struct cli *cli, const struct task_view *t)
{
    struct buf date = { 0 };

    duration_put_date(&date, t->created_ms / 1000);
    out_line(&cli->out, TEXT_TASK_STATE,
             TEXT_ARGS(t->task_id, cli_count(cli, t->total - t->left), cli_count(cli, t->left),
                       cli_count(cli, t->failed), buf_text(&date),
                       caller_name(&cli->arena, t->app, t->user)));
    put_cancel(cli, t);
    if (t->left)
        put_deadline(cli, t->deadline_ms);
    put_items(cli, t, cli->args.failed);
    put_still_hosted(cli, t);
    buf_free(&date);
}

/* Requests only the items that are shown: there may be 50,000. */
static int get_task(struct cli *cli, const char *id, struct task_view *ret, struct err *err)
{
    const struct client_pair query[] = { { "items", cli->args.failed ? "failed" : NULL }, { 0 } };
    struct buf path = { 0 };
    int bad;

    buf_puts(&path, "/v1/tasks/");
    client_escape(&path, id);
    bad =
        cli_get(cli, buf_text(&path), query, CLI_TASK_MS, &task_view_shape, &cli->arena, ret, err);
    buf_free(&path);
    return bad;
}

static int look_at_task(struct cli *cli, const char *id, struct err *err)
{
    struct task_view task;

    if (get_task(cli, id, &task, err))
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

/* ---- list ---- */

static const struct column task_columns[] = {
    { TEXT_TASK, false },
    { TEXT_CREATED, false, .goes = 2 },
    { TEXT_APP, false, .goes = 1 },
    { TEXT_STATE, false, .goes = 3 }, /* in tasks that have ended, other columns show most of it */
    { TEXT_ENDED, true },
    { TEXT_FAILED, true },
    { TEXT_WHAT, false, .wraps = true },
};

static void add_line(struct cli *cli, struct table *t, const struct task_line *line)
{
    struct buf date = { 0 };
    enum text state = line->left ? TEXT_WAITING : line->cancelled ? TEXT_CANCELLED : TEXT_DONE;

    duration_put_date(&date, line->created_ms / 1000);
    table_add(t, STYLE_PLAIN, line->task_id);
    table_add(t, STYLE_PLAIN, buf_text(&date));
    table_add(t, STYLE_PLAIN, caller_name(&t->arena, line->app, line->user));
    table_add_text(t, STYLE_PLAIN, cli->lang, state);
    table_add(t, STYLE_PLAIN,
              arena_printf(&t->arena, "%lld/%lld", (long long)(line->total - line->left),
                           (long long)line->total));
    table_add(t, line->failed ? STYLE_BAD : STYLE_PLAIN,
              arena_printf(&t->arena, "%lld", (long long)line->failed));
    table_add(t, STYLE_PLAIN,
              arena_printf(&t->arena, "%s %s/%s", why_op_name(line->op, cli->lang), line->space,
                           line->name));
    buf_free(&date);
}

static void put_lines(struct cli *cli, const struct task_page *page)
{
    const struct task_line *lines = page->tasks.items;
    struct table t;

    table_init(&t, task_columns, ARRAY_LEN(task_columns));
    for (size_t i = 0; i < page->tasks.n; i++)
        add_line(cli, &t, &lines[i]);
    if (t.n_cells)
        table_put(&t, &cli->out);
    else
        out_line(&cli->out, TEXT_NO_TASKS, NULL);
    table_done(&t);
}

/* The last tasks; the server keeps a week of them. */
int run_task_list(struct cli *cli, struct err *err)
{
    const struct args *args = &cli->args;
    int64_t since_s = clock_wall_ms(cli->clock) / 1000 - args->since_s;
    const struct client_pair query[] = {
        { "app", args->by },
        { "open", args->open ? "true" : NULL },
        { "failed", args->failed ? "true" : NULL },
        { "since_s",
          args_has(args, OPTION_SINCE) ? cli_count(cli, since_s > 0 ? since_s : 0) : NULL },
        { "limit", cli_limit(cli) },
        { 0 },
    };
    struct task_page page;

    if (cli_get(cli, "/v1/tasks", query, CLI_GET_MS, &task_page_shape, &cli->arena, &page, err))
        return -1;
    if (cli->settings.json)
        cli_json(cli, &task_page_shape, &page);
    else
        put_lines(cli, &page);
    return CLI_OK;
}

/* ---- cancel ---- */

/* How long to wait for agents to report operations that had not begun. */
enum { CANCEL_WAIT_MS = 2000 };

/* The server answers before its agents do; its answer is shown if the second request fails. */
static void await_agents(struct cli *cli, struct task_view *task)
{
    struct watch w = { .task_id = task->task_id, .timeout_ms = CANCEL_WAIT_MS };
    struct buf label = { 0 };
    struct err ignored;

    if (!task->left || !task->cancelled_ms)
        return;
    text_put(&label, cli->lang, TEXT_TASK_LABEL, TEXT_ARGS(task->task_id));
    w.label = buf_text(&label);
    if (watch_task(cli, &w, &ignored) == 0) {
        shape_copy(&task_view_shape, &w.task, &cli->arena, task);
        arena_free(&w.arena);
    }
    buf_free(&label);
}

int run_task_cancel(struct cli *cli, struct err *err)
{
    const struct task_ref ask = { cli->args.words[0] };
    struct task_view task;

    if (cli_post(cli, "/v1/tasks/cancel", NULL, &task_ref_shape, &ask, &task_view_shape, &task,
                 err))
        return -1;
    await_agents(cli, &task);
    if (cli->settings.json)
        cli_json(cli, &task_view_shape, &task);
    else
        out_line(&cli->out,
                 !task.cancelled_ms ? TEXT_TASK_HAD_ENDED
                 : task.left        ? TEXT_TASK_CANCELLED
                                    : TEXT_TASK_CANCELLED_ALL,
                 TEXT_ARGS(task.task_id, cli_count(cli, count_cancelled(&task)),
                           cli_count(cli, task.total), cli_count(cli, task.left)));
    return CLI_OK;
}
