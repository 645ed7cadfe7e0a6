/* SPDX-License-Identifier: MIT */
/* cli.c - see cli.h. */
#include "cli/cli.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/mem/mem.h"
#include "model/duration.h"
#include "model/host.h"

/* ---- requests ---- */

/* While a command waits, signals are blocked; a pending one ends the current request. */
bool cli_is_interrupted(void)
{
    sigset_t pending;

    sigemptyset(&pending);
    sigpending(&pending);
    return sigismember(&pending, SIGINT) == 1 || sigismember(&pending, SIGTERM) == 1;
}

static int open_client(struct cli *cli, struct err *err)
{
    const struct cli_settings *s = &cli->settings;
    const struct client_config config = { s->server, s->socket,         s->app, s->secret, s->ca,
                                          cli->lang, cli_is_interrupted };

    cli->refused = false; /* forget the previous answer */
    cli->refused_status = CLI_OK;
    return cli->client ? 0 : client_new(&config, &cli->client, err);
}

/* Results of a host: their HTTP status is 500 or more although the server works. */
static bool is_of_host(int64_t number)
{
    return number == CODE_OFFLINE || number == CODE_DEADLINE || number == CODE_SPACE ||
           number == CODE_TIMEOUT || number == CODE_COMMAND;
}

/* Statuses that /v1 does not use come from another server or a proxy. */
static enum cli_status status_of_refusal(int http_status, const struct refusal *r)
{
    if (is_of_host(r->error.number))
        return CLI_SOME_FAILED;
    switch (http_status) {
    case 400:
    case 413:
    case 422: return CLI_USAGE;
    case 401:
    case 403:
    case 404:
    case 409: return CLI_SOME_FAILED;
    }
    return CLI_SERVER;
}

static int read_answer(struct cli *cli, struct client_answer *answer, const struct shape *shape,
                       struct arena *a, void *ret, struct err *err)
{
    const char *address = client_address(cli->client);
    char status[16];
    int bad;

    if (answer->status != 200 && answer->status != 201 && answer->status != 202) {
        cli->refused = true;
        /* Cli->arena: the refusal outlives the answer. */
        bad = refusal_read(answer, address, *cli->settings.socket ? "" : cli->settings.app,
                           cli->lang, &cli->arena, &cli->refusal, err);
        cli->refused_status = status_of_refusal(answer->status, &cli->refusal);
    } else {
        bad = shape_read(shape, buf_data(&answer->body), answer->body.len, 0, a, ret, err);
        snprintf(status, sizeof(status), "%d", answer->status);
        if (bad) {
            struct err inner = *err;

            bad = text_err(err, ERR_MALFORMED, cli->lang, TEXT_NOT_OURS,
                           TEXT_ARGS(address, status, err_msg(&inner)));
        }
    }
    buf_free(&answer->body);
    return bad;
}

int cli_get(struct cli *cli, const char *path, const struct client_pair *query, int64_t timeout_ms,
            const struct shape *shape, struct arena *a, void *ret, struct err *err)
{
    struct client_answer answer;

    if (open_client(cli, err) || client_get(cli->client, path, query, timeout_ms, &answer, err))
        return -1;
    return read_answer(cli, &answer, shape, a, ret, err);
}

int cli_post(struct cli *cli, const char *path, const struct client_pair *query,
             const struct shape *ask_shape, const void *ask, const struct shape *shape, void *ret,
             struct err *err)
{
    return cli_send(cli, "POST", path, query, ask_shape, ask, shape, ret, err);
}

int cli_send(struct cli *cli, const char *method, const char *path, const struct client_pair *query,
             const struct shape *ask_shape, const void *ask, const struct shape *shape, void *ret,
             struct err *err)
{
    struct client_answer answer;
    struct buf body = { 0 };
    int bad;

    if (open_client(cli, err))
        return -1;
    if (ask_shape)
        shape_write(ask_shape, ask, &body);
    bad = client_send(cli->client, method, path, query, &body, CLI_POST_MS, &answer, err);
    buf_free(&body);
    return bad ? -1 : read_answer(cli, &answer, shape, &cli->arena, ret, err);
}

int cli_post_once(struct cli *cli, const char *path, const struct shape *ask_shape, const void *ask,
                  const struct shape *shape, void *ret, struct err *err)
{
    struct client_answer answer;
    struct buf body = { 0 };
    int bad;

    if (open_client(cli, err))
        return -1;
    shape_write(ask_shape, ask, &body);
    bad = client_post_once(cli->client, path, &body, CLI_POST_MS, &answer, err);
    buf_free(&body);
    return bad ? -1 : read_answer(cli, &answer, shape, &cli->arena, ret, err);
}

int cli_stream(struct cli *cli, const char *path, const struct client_pair *query,
               const char *last_id, const struct client_sink *sink, struct err *err)
{
    struct client_answer answer;

    if (open_client(cli, err) ||
        client_stream(cli->client, path, query, last_id, sink, &answer, err))
        return -1;
    if (answer.status != 200)
        return read_answer(cli, &answer, NULL, NULL, NULL, err);
    buf_free(&answer.body);
    return 0;
}

int cli_get_all(struct cli *cli, const char *path, struct client_pair *query,
                const struct shape *page, struct list *ret, struct err *err)
{
    void *one = arena_alloc(&cli->arena, page->size);
    struct list *list = (struct list *)(void *)((char *)one + page->fields[0].offset);
    const char **next = (const char **)(void *)((char *)one + page->fields[1].offset);
    size_t size = page->fields[0].sub->size;
    struct client_pair *after = query;
    struct buf all = { 0 };

    while (after[1].key)
        after++;
    do {
        if (cli_get(cli, path, query, CLI_GET_MS, page, &cli->arena, one, err)) {
            buf_free(&all);
            return -1;
        }
        buf_add(&all, list->items, list->n * size);
        if (**next && after->value && !strcmp(after->value, *next)) {
            buf_free(&all);
            return text_err(err, ERR_MALFORMED, cli->lang, TEXT_PAGES_LOOP, NULL);
        }
        after->value = *next;
    } while (**next);
    ret->n = all.len / size;
    ret->items = arena_alloc(&cli->arena, all.len + 1);
    if (all.len)
        memcpy(ret->items, buf_data(&all), all.len);
    buf_free(&all);
    return 0;
}

const char *cli_count(struct cli *cli, int64_t n)
{
    return arena_printf(&cli->arena, "%lld", (long long)n);
}

const char *cli_limit(struct cli *cli)
{
    enum { PAGE_MAX = 1000 };

    if (!args_has(&cli->args, OPTION_LINES))
        return NULL;
    return cli_count(cli, cli->args.lines ? cli->args.lines : PAGE_MAX);
}

const char *cli_duration(struct cli *cli, int64_t ms)
{
    struct buf b = { 0 };
    const char *copy;

    duration_put(&b, cli->lang, ms);
    copy = arena_strdup(&cli->arena, buf_text(&b));
    buf_free(&b);
    return copy;
}

const char *cli_hosts(struct cli *cli, int64_t n)
{
    struct buf b = { 0 };
    const char *copy;

    text_put(&b, cli->lang, n == 1 ? TEXT_ONE_HOST : TEXT_MANY_HOSTS, TEXT_ARGS(cli_count(cli, n)));
    copy = arena_strdup(&cli->arena, buf_text(&b));
    buf_free(&b);
    return copy;
}

void cli_json(struct cli *cli, const struct shape *shape, const void *value)
{
    shape_write(shape, value, &cli->out.b);
    out_puts(&cli->out, "\n");
}
