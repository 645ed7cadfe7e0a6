/* SPDX-License-Identifier: MIT */
/* run_audit.c - the audit command: the log of changes. */
#include "base/mem/mem.h"
#include "cli/audit_what.h"
#include "cli/run.h"
#include "cli/table.h"
#include "model/audit.h"
#include "model/duration.h"

static const struct column columns[] = {
    { TEXT_TIME, false },
    { TEXT_APP, false },
    { TEXT_USER, false, .goes = 2 },
    { TEXT_FROM, false, .goes = 1 },
    { TEXT_API, false },
    { TEXT_CODE, false },
    { TEXT_WHAT, false, .wraps = true },
};

/* The request, its error if it failed, and its task if it has one. */
static const char *what_of(struct arena *a, const struct audit_view *v, enum lang lang)
{
    const char *tail = v->code ? v->message : v->task_id, *copy;
    struct buf what = { 0 };

    audit_what_put(&what, v->route, v->what, lang);
    if (*tail)
        buf_printf(&what, "%s%s", what.len ? "; " : "", tail);
    if (v->repeats)
        buf_printf(&what, " (x%lld)", (long long)v->repeats);
    copy = arena_strdup(a, buf_text(&what));
    buf_free(&what);
    return copy;
}

/* The code as in the caller's answer: by name for API dialects that use names. */
static const char *code_of(struct cli *cli, const struct audit_view *v)
{
    return *v->code_name ? v->code_name : cli_count(cli, v->code);
}

/* A user name that was not authenticated is marked. */
static const char *user_of(struct arena *a, const struct audit_view *v)
{
    return *v->user && !v->user_proven ? arena_printf(a, "%s?", v->user) : v->user;
}

enum { NARROW = 100, YEAR_CHARS = 5 };

/* Seconds are shown; on a narrow terminal the year is not. */
static void add_time(struct cli *cli, struct table *t, int64_t at_ms)
{
    bool is_narrow = cli->out.terminal && cli->out.width < NARROW;
    struct buf date = { 0 };

    duration_put_second(&date, at_ms / 1000);
    table_add(t, STYLE_PLAIN, buf_text(&date) + (is_narrow ? YEAR_CHARS : 0));
    buf_free(&date);
}

static void add_row(struct cli *cli, struct table *t, const struct audit_view *v)
{
    add_time(cli, t, v->at_ms);
    table_add(t, STYLE_PLAIN, v->app);
    table_add(t, STYLE_PLAIN, user_of(&t->arena, v));
    table_add(t, STYLE_PLAIN, v->from);
    table_add(t, STYLE_PLAIN, arena_printf(&t->arena, "%s %s", v->method, v->route));
    if (v->code)
        table_add(t, STYLE_BAD, code_of(cli, v));
    else /* the result of a task is not in the log: see holdfast task */
        table_add_text(t, STYLE_GOOD, cli->lang, *v->task_id ? TEXT_ACCEPTED : TEXT_DONE);
    table_add(t, STYLE_PLAIN, what_of(&t->arena, v, cli->lang));
}

static const char *ago(struct cli *cli, enum option_id id, int64_t s)
{
    if (!args_has(&cli->args, id))
        return NULL;
    return cli_count(cli, clock_wall_ms(cli->clock) / 1000 - s);
}

int run_audit(struct cli *cli, struct err *err)
{
    const struct args *args = &cli->args;
    const struct client_pair query[] = {
        { "app", args->by },
        { "user", args->user },
        { "route", args->route },
        { "since_s", ago(cli, OPTION_SINCE, args->since_s) },
        { "until_s", ago(cli, OPTION_UNTIL, args->until_s) },
        { "limit", cli_limit(cli) },
        { 0 },
    };
    struct audit_page_view page;
    const struct audit_view *v;
    struct table t;

    if (cli_get(cli, "/v1/audit", query, CLI_GET_MS, &audit_page_view_shape, &cli->arena, &page,
                err))
        return -1;
    if (cli->settings.json) {
        cli_json(cli, &audit_page_view_shape, &page);
        return CLI_OK;
    }
    if (!page.rows.n && !cli->settings.quiet)
        out_line(&cli->out, TEXT_NO_AUDIT, NULL);
    v = page.rows.items;
    table_init(&t, columns, ARRAY_LEN(columns));
    for (size_t i = page.rows.n; i-- > 0;)
        add_row(cli, &t, &v[i]);
    if (page.rows.n)
        table_put(&t, &cli->out);
    table_done(&t);
    return CLI_OK;
}
