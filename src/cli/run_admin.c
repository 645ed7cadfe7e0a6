/* SPDX-License-Identifier: MIT */
/* run_admin.c - the token commands: tokens with which hosts join. */
#include "base/mem/mem.h"
#include "cli/ask.h"
#include "cli/run.h"
#include "cli/table.h"
#include "model/duration.h"
#include "wire/json/field.h"

static void put_alone(struct cli *cli, const char *text)
{
    out_puts(&cli->out, text);
    out_puts(&cli->out, "\n");
}

static void put_token(struct cli *cli, const struct token_view *v)
{
    int64_t left_ms = v->expires_s * 1000 - clock_wall_ms(cli->clock);
    struct buf date = { 0 };

    duration_put_date(&date, v->expires_s);
    out_line(&cli->out, TEXT_TOKEN_MADE,
             TEXT_ARGS(v->token, cli_hosts(cli, v->uses), cli_count(cli, v->cloud_id),
                       cli_count(cli, v->biz_id), buf_text(&date), cli_duration(cli, left_ms),
                       v->id));
    buf_free(&date);
}

/* ---- create ---- */

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

/* ---- list ---- */

static const struct column columns[] = {
    { TEXT_ID, false },
    { TEXT_STATE, false },
    { TEXT_USES_LEFT, true },
    { TEXT_CLOUD, true },
    { TEXT_BIZ, true },
    { TEXT_EXPIRES, false },
    { TEXT_CREATED, false, .goes = 1 },
    { TEXT_MADE_BY, false, .goes = 2 },
    { TEXT_RELAY, false, .goes = 3 },
    { TEXT_NOTE, false, .wraps = true },
};

static void add_date(struct table *t, int64_t wall_s)
{
    struct buf date = { 0 };

    if (wall_s)
        duration_put_date(&date, wall_s);
    table_add(t, STYLE_PLAIN, wall_s ? buf_text(&date) : "-");
    buf_free(&date);
}

static void add_token(struct cli *cli, struct table *t, const struct token_line *line)
{
    bool is_past = line->expires_s * 1000 <= clock_wall_ms(cli->clock);
    bool is_good = line->uses_left && !is_past && !line->revoked_s;

    table_add(t, STYLE_PLAIN, line->id);
    table_add_text(t, is_good ? STYLE_GOOD : STYLE_DIM, cli->lang,
                   line->revoked_s    ? TEXT_REVOKED
                   : !line->uses_left ? TEXT_USED_UP
                   : is_past          ? TEXT_EXPIRED
                                      : TEXT_GOOD);
    table_add_number(t, line->uses_left);
    table_add_number(t, line->cloud_id);
    table_add_number(t, line->biz_id);
    add_date(t, line->expires_s);
    add_date(t, line->created_s);
    table_add(t, STYLE_PLAIN,
              *line->user  ? arena_printf(&t->arena, "%s (%s)", line->app, line->user)
              : *line->app ? line->app
                           : "-");
    table_add_text(t, STYLE_PLAIN, cli->lang, line->relay ? TEXT_YES : TEXT_NO);
    table_add(t, STYLE_PLAIN, line->note);
}

int run_token_list(struct cli *cli, struct err *err)
{
    struct client_pair query[] = { { "limit", "1000" }, { "after", NULL }, { 0 } };
    struct token_page page = { .next = "" };
    const struct token_line *lines;
    struct table t;

    if (cli_get_all(cli, "/v1/tokens", query, &token_page_shape, &page.tokens, err))
        return -1;
    if (cli->settings.json) {
        cli_json(cli, &token_page_shape, &page);
        return CLI_OK;
    }
    if (!page.tokens.n && !cli->settings.quiet)
        out_line(&cli->out, TEXT_NO_TOKENS, NULL);
    lines = page.tokens.items;
    table_init(&t, columns, ARRAY_LEN(columns));
    for (size_t i = 0; i < page.tokens.n; i++)
        add_token(cli, &t, &lines[i]);
    if (page.tokens.n)
        table_put(&t, &cli->out);
    table_done(&t);
    return CLI_OK;
}

/* ---- revoke ---- */

int run_token_revoke(struct cli *cli, struct err *err)
{
    struct token_line line;
    struct buf path = { 0 };
    int bad;

    buf_puts(&path, "/v1/tokens/");
    client_escape(&path, cli->args.words[0]);
    bad = cli_send(cli, "DELETE", buf_text(&path), NULL, NULL, NULL, &token_line_shape, &line, err);
    buf_free(&path);
    if (bad)
        return -1;
    if (cli->settings.json)
        cli_json(cli, &token_line_shape, &line);
    else if (!cli->settings.quiet)
        out_line(&cli->out, TEXT_TOKEN_REVOKED, TEXT_ARGS(line.id));
    return CLI_OK;
}
