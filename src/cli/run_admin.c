/* SPDX-License-Identifier: MIT */
/* run_admin.c - who may call: apps, and tokens for hosts to join by. */
#include "base/mem.h"
#include "cli/ask.h"
#include "cli/run.h"
#include "cli/table.h"
#include "model/duration.h"
#include "wire/shape_text.h"

static void put_alone(struct cli *cli, const char *text)
{
    out_puts(&cli->out, text);
    out_puts(&cli->out, "\n");
}

/* ---- apps ---- */

int run_app_create(struct cli *cli, struct err *err)
{
    const struct client_pair query[] = { { "rotate", cli->args.rotate ? "1" : "" }, { 0 } };
    struct app_ask ask;
    struct app_view app;

    if (ask_app(&cli->args, cli->lang, &cli->arena, &ask, err) ||
        cli_post(cli, "/v1/apps", query, &app_ask_shape, &ask, &app_view_shape, &app, err))
        return -1;
    if (cli->settings.json)
        cli_json(cli, &app_view_shape, &app);
    else if (cli->settings.quiet)
        put_alone(cli, app.secret);
    else
        out_line(&cli->out, TEXT_APP_MADE, TEXT_ARGS(app.code, app.secret));
    return CLI_OK;
}

static const struct column app_columns[] = {
    { TEXT_APP, false },        { TEXT_RIGHTS, false },  { TEXT_NAMESPACES, false },
    { TEXT_BUSINESSES, false }, { TEXT_CREATED, false },
};

/* A list of values as the shape `list` writes them one by one, with blanks between. */
static void add_list(struct table *t, enum lang lang, const struct list *list,
                     const struct field *field)
{
    const struct field *value = field->sub->fields;
    struct buf b = { 0 };

    for (size_t i = 0; i < list->n; i++) {
        const void *at = (const char *)list->items + i * field->sub->size + value->offset;

        buf_puts(&b, i ? " " : "");
        if (value->type == FIELD_STR)
            buf_puts(&b, *(const char *const *)at);
        else if (value->type == FIELD_ENUM)
            buf_puts(&b, field_enum_name(value, *(const int64_t *)at));
        else
            buf_put_int(&b, *(const int64_t *)at);
    }
    table_add(t, STYLE_PLAIN, list->n ? buf_text(&b) : text_get(lang, TEXT_ALL));
    buf_free(&b);
}

static void add_app(struct cli *cli, struct table *t, const struct app_view *app)
{
    const struct field *fields = app_permissions_shape.fields;
    const struct app_permissions *p = &app->permissions;
    struct buf date = { 0 };

    table_add(t, STYLE_PLAIN, app->code);
    if (p->rights.n)
        add_list(t, cli->lang, &p->rights, &fields[0]);
    else
        table_add(t, STYLE_PLAIN, "read operate"); /* what none means: model/app.h */
    add_list(t, cli->lang, &p->spaces, &fields[1]);
    add_list(t, cli->lang, &p->businesses, &fields[2]);
    duration_put_date(&date, app->created_s);
    table_add(t, STYLE_PLAIN, buf_text(&date));
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

/* ---- tokens ---- */

static void put_token(struct cli *cli, const struct token_view *v)
{
    int64_t left_ms = v->expires_s * 1000 - clock_wall_ms(cli->clock);
    struct buf date = { 0 }, hosts = { 0 };

    text_put(&hosts, cli->lang, v->uses == 1 ? TEXT_ONE_HOST : TEXT_MANY_HOSTS,
             TEXT_ARGS(cli_count(cli, v->uses)));
    duration_put_date(&date, v->expires_s);
    out_line(&cli->out, TEXT_TOKEN_MADE,
             TEXT_ARGS(v->token, buf_text(&hosts), cli_count(cli, v->cloud_id),
                       cli_count(cli, v->biz_id), buf_text(&date), cli_duration(cli, left_ms)));
    buf_free(&date);
    buf_free(&hosts);
}

int run_token_create(struct cli *cli, struct err *err)
{
    struct token_ask ask;
    struct token_view token;

    if (ask_token(&cli->args, cli->lang, &cli->arena, &ask, err) ||
        cli_post(cli, "/v1/tokens", NULL, &token_ask_shape, &ask, &token_view_shape, &token, err))
        return -1;
    if (cli->settings.json)
        cli_json(cli, &token_view_shape, &token);
    else if (cli->settings.quiet)
        put_alone(cli, token.token);
    else
        put_token(cli, &token);
    return CLI_OK;
}
