/* SPDX-License-Identifier: MIT */
/* run_admin.c - tokens for hosts to join by. */
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
