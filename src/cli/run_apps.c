/* SPDX-License-Identifier: MIT */
/* run_apps.c - the app commands: API clients, their secrets and permissions. */
#include "base/mem/mem.h"
#include "cli/ask.h"
#include "cli/run.h"
#include "cli/table.h"
#include "model/duration.h"
#include "wire/json/field.h"

/* ---- changes ---- */

static void put_made(struct cli *cli, const struct app_view *app)
{
    if (cli->settings.json) {
        cli_json(cli, &app_view_shape, app);
    } else if (cli->settings.quiet) {
        out_puts(&cli->out, app->secret);
        out_puts(&cli->out, "\n");
    } else {
        out_line(&cli->out, TEXT_APP_MADE, TEXT_ARGS(app->code, app->secret));
    }
}

static int run_apps_make(struct cli *cli, const struct app_ask *ask, bool rotate, struct err *err)
{
    const struct client_pair query[] = { { "rotate", rotate ? "1" : "" }, { 0 } };
    struct app_view app;

    if (cli_post(cli, "/v1/apps", query, &app_ask_shape, ask, &app_view_shape, &app, err))
        return -1;
    put_made(cli, &app);
    return CLI_OK;
}

int run_app_create(struct cli *cli, struct err *err)
{
    struct app_ask ask;

    if (ask_app(&cli->args, cli->lang, &cli->arena, &ask, err))
        return -1;
    return run_apps_make(cli, &ask, cli->args.rotate, err);
}

int run_app_rotate(struct cli *cli, struct err *err)
{
    struct app_ask ask;

    if (ask_app(&cli->args, cli->lang, &cli->arena, &ask, err))
        return -1;
    return run_apps_make(cli, &ask, true, err);
}

static const char *app_path(struct cli *cli)
{
    struct buf path = { 0 };
    const char *text;

    buf_puts(&path, "/v1/apps/");
    client_escape(&path, cli->args.words[0]);
    text = arena_strdup(&cli->arena, buf_text(&path));
    buf_free(&path);
    return text;
}

static void put_changed(struct cli *cli, enum text said, const struct app_view *app)
{
    if (cli->settings.json)
        cli_json(cli, &app_view_shape, app);
    else if (!cli->settings.quiet)
        out_line(&cli->out, said, TEXT_ARGS(app->code));
}

/* Reads the permissions, changes the given ones and writes them back. */
int run_app_set(struct cli *cli, struct err *err)
{
    struct app_ask checked;
    struct app_set_ask ask;
    struct app_view app;

    if (ask_app(&cli->args, cli->lang, &cli->arena, &checked, err))
        return -1;
    if (!(cli->args.given & cli->args.command->options))
        return text_err(err, ERR_INVALID, cli->lang, TEXT_NOTHING_SAID, NULL);
    if (cli_get(cli, app_path(cli), NULL, CLI_GET_MS, &app_view_shape, &cli->arena, &app, err))
        return -1;
    ask.permissions = app.permissions;
    if (ask_permissions(&cli->args, cli->lang, &cli->arena, &ask.permissions, err) ||
        cli_send(cli, "PUT", app_path(cli), NULL, &app_set_ask_shape, &ask, &app_view_shape, &app,
                 err))
        return -1;
    put_changed(cli,
                app.permissions.signatures && !app.can_sign ? TEXT_APP_SIGNS_LATER : TEXT_APP_SET,
                &app);
    return CLI_OK;
}

int run_app_delete(struct cli *cli, struct err *err)
{
    struct app_ask checked;
    struct app_view app;

    if (ask_app(&cli->args, cli->lang, &cli->arena, &checked, err) ||
        cli_send(cli, "DELETE", app_path(cli), NULL, NULL, NULL, &app_view_shape, &app, err))
        return -1;
    put_changed(cli, TEXT_APP_DELETED, &app);
    return CLI_OK;
}

/* ---- list ---- */

static const struct column app_columns[] = {
    { TEXT_APP, false },
    { TEXT_CREATED, false, .goes = 1 },
    { TEXT_RATE, true, .goes = 3 },
    { TEXT_SIGNS, false, .goes = 2 },
    { TEXT_RIGHTS, false },
    { TEXT_OPERATIONS, false },
    { TEXT_NAMESPACES, false },
    { TEXT_BUSINESSES, false, .wraps = true },
};

static const struct field *field_at(size_t offset)
{
    const struct field *f = app_permissions_shape.fields;

    while (f->offset != offset)
        f++;
    return f;
}

#define FIELD(member) field_at(offsetof(struct app_permissions, member))

/* The values of a list, separated by blanks, each formatted by the field. */
static void run_apps_put_list(struct buf *b, const struct list *list, const struct field *field,
                              const char *before)
{
    const struct field *value = field->sub->fields;

    for (size_t i = 0; i < list->n; i++) {
        const void *at = (const char *)list->items + i * field->sub->size + value->offset;

        buf_printf(b, "%s%s", b->len ? " " : "", before);
        if (value->type == FIELD_STR)
            buf_puts(b, *(const char *const *)at);
        else if (value->type == FIELD_ENUM)
            buf_puts(b, field_enum_name(value, *(const int64_t *)at));
        else
            buf_put_int(b, *(const int64_t *)at);
    }
}

/* An empty cell stands for all. */
static void add_cell(struct cli *cli, struct table *t, struct buf *b)
{
    table_add(t, STYLE_PLAIN, b->len ? buf_text(b) : text_get(cli->lang, TEXT_ALL));
    buf_truncate(b, 0);
}

static void add_permissions(struct cli *cli, struct table *t, const struct app_permissions *p)
{
    struct buf b = { 0 };

    run_apps_put_list(&b, &p->rights, FIELD(rights), "");
    if (!b.len)
        buf_puts(&b, "read operate"); /* the meaning of no rights: see model/app.h */
    add_cell(cli, t, &b);
    run_apps_put_list(&b, &p->operations, FIELD(operations), "");
    add_cell(cli, t, &b);
    run_apps_put_list(&b, &p->spaces, FIELD(spaces), "");
    add_cell(cli, t, &b);
    run_apps_put_list(&b, &p->businesses, FIELD(businesses), "");
    run_apps_put_list(&b, &p->business_sets, FIELD(business_sets), "set:");
    add_cell(cli, t, &b);
    buf_free(&b);
}

static void add_app(struct cli *cli, struct table *t, const struct app_view *app)
{
    const struct app_permissions *p = &app->permissions;
    struct buf date = { 0 };

    table_add(t, STYLE_PLAIN, app->code);
    duration_put_date(&date, app->created_s);
    table_add(t, STYLE_PLAIN, buf_text(&date));
    table_add(t, STYLE_PLAIN, p->rate_per_second ? cli_count(cli, p->rate_per_second) : "-");
    table_add(t, STYLE_PLAIN,
              app->can_sign   ? text_get(cli->lang, TEXT_YES)
              : p->signatures ? text_get(cli->lang, TEXT_SIGNS_NOT_YET)
                              : "-");
    add_permissions(cli, t, p);
    buf_free(&date);
}

int run_app_list(struct cli *cli, struct err *err)
{
    struct client_pair query[] = { { "limit", "1000" }, { "after", NULL }, { 0 } };
    struct app_page page = { .next = "" };
    const struct app_view *apps;
    struct table t;

    if (cli_get_all(cli, "/v1/apps", query, &app_page_shape, &page.apps, err))
        return -1;
    if (cli->settings.json) {
        cli_json(cli, &app_page_shape, &page);
        return CLI_OK;
    }
    if (!page.apps.n) {
        if (!cli->settings.quiet)
            out_line(&cli->out, TEXT_NO_APPS, NULL);
        return CLI_OK;
    }
    apps = page.apps.items;
    table_init(&t, app_columns, ARRAY_LEN(app_columns));
    for (size_t i = 0; i < page.apps.n; i++)
        add_app(cli, &t, &apps[i]);
    table_put(&t, &cli->out);
    table_done(&t);
    return CLI_OK;
}
