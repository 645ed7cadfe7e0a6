/* SPDX-License-Identifier: MIT */
/* cli.c - see cli.h. */
#include "cli/cli.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/local.h"
#include "cli/width.h"
#include "model/duration.h"
#include "model/host.h"
#include "model/wording.h"

/* ---- requests ---- */

/* Signals that a wait for a task has blocked end the request it is in. */
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

    cli->refused = false; /* what an answer before this one said is past */
    return cli->client ? 0 : client_new(&config, &cli->client, err);
}

static int read_answer(struct cli *cli, struct client_answer *answer, const struct shape *shape,
                       struct arena *a, void *ret, struct err *err)
{
    const char *address = client_address(cli->client);
    char status[16];
    int bad;

    if (answer->status != 200 && answer->status != 201 && answer->status != 202) {
        cli->refused = true;
        bad = refusal_read(answer, address, *cli->settings.socket ? "" : cli->settings.app,
                           cli->lang, &cli->arena, &cli->refusal, err); /* outlives the answer */
    } else {
        bad = shape_read(shape, buf_data(&answer->body), answer->body.len, 0, a, ret, err);
        snprintf(status, sizeof(status), "%d", answer->status);
        if (bad) {
            struct err inner = *err;

            bad = text_err(err, ERR_MALFORMED, cli->lang, TEXT_NOT_OURS,
                           TEXT_ARGS(address, status, inner.text));
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

static const char *state_name(int64_t state)
{
    const struct enum_name *n = process_state_names;

    while (n->name && n->value != state)
        n++;
    return n->name;
}

int cli_get_processes(struct cli *cli, const struct process_ask *ask, struct list *ret,
                      struct err *err)
{
    struct client_pair query[] = {
        { "namespace", ask->space },
        { "name", ask->name },
        { "host", ask->host },
        { "business", ask->has_biz_id ? cli_count(cli, ask->biz_id) : NULL },
        { "status", ask->has_status ? state_name(ask->status) : NULL },
        { "hosted", !ask->has_hosted ? NULL
                    : ask->hosted    ? "true"
                                     : "false" },
        { "text", ask->text },
        { "limit", "1000" },
        { "after", ask->after },
        { 0 },
    };

    if (cli->local)
        return local_get_processes(cli, ask, ret, err);
    return cli_get_all(cli, "/v1/processes", query, &process_page_shape, ret, err);
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

/* ---- the program ---- */

static void show(struct cli *cli)
{
    if (cli->args.version)
        out_puts(&cli->out, "holdfast " HOLDFAST_VERSION "\n");
    else
        command_help(&cli->out, cli->args.about);
}

static enum lang lang_of(const struct cli *cli)
{
    switch ((enum lang_wish)cli->settings.lang) {
    case LANG_WISH_AUTO: return cli->lang;
    case LANG_WISH_EN: return LANG_EN;
    case LANG_WISH_ZH: return LANG_ZH;
    }
    return cli->lang;
}

static int run_command(struct cli *cli, struct err *err)
{
    int status;

    if (args_has(&cli->args, OPTION_LOCAL)) {
        cli->local = local_path(&cli->args, &cli->settings);
        status = local_find_names(cli, err);
        if (status != CLI_OK)
            return status;
    }
    return cli->args.command->run(cli, err);
}

static int load_and_run(struct cli *cli, char *const *env, struct err *err)
{
    const char *no_colour = settings_env(env, "NO_COLOR"), *term = settings_env(env, "TERM");

    if (settings_load(&cli->args, env, cli->lang, &cli->arena, &cli->settings, err))
        return -1;
    cli->lang = cli->out.lang = cli->side.lang = lang_of(cli);
    out_colour(&cli->out, (enum colour_wish)cli->settings.color, no_colour, term);
    out_colour(&cli->side, (enum colour_wish)cli->settings.color, no_colour, term);
    if (term && !strcmp(term, "dumb"))
        cli->side.terminal = false; /* it can not draw a line again */
    return run_command(cli, err);
}

static int run(struct cli *cli, int argc, char *const *argv, char *const *env, struct err *err)
{
    if (args_read(argc, argv, cli->lang, &cli->arena, &cli->args, err))
        return -1;
    if (!cli->args.command) {
        show(cli);
        return CLI_OK;
    }
    return load_and_run(cli, env, err);
}

/* What a server or a file said may be in it: it must not move the cursor. */
static void complain(struct cli *cli, const char *text)
{
    static const char name[] = "holdfast: ";
    struct err ignored;

    out_styled(&cli->side, STYLE_BAD, name);
    out_wrapped(&cli->side, strlen(name), STYLE_PLAIN, width_clean(&cli->arena, text));
    (void)out_flush(&cli->side, &ignored); /* there is nowhere left to say it */
}

static int failed(struct cli *cli, const struct err *err)
{
    if (cli->settings.json) {
        struct refusal r = cli->refused ? cli->refusal : refusal_of(err);

        cli_json(cli, &refusal_shape, &r);
    }
    complain(cli, wording_in(err->text, cli->lang, &cli->arena)); /* shapes speak English */
    return cli->client || cli->has_asked ? CLI_SERVER : CLI_USAGE;
}

int cli_main(int argc, char *const *argv, char *const *env)
{
    enum lang lang = settings_lang(argc, argv, env);
    struct cli cli = { .lang = lang, .clock = &clock_system };
    struct err err = { 0 };
    int status;

    out_init(&cli.out, STDOUT_FILENO, "standard output", lang);
    out_init(&cli.side, STDERR_FILENO, "standard error", lang);
    status = run(&cli, argc, argv, env, &err);
    if (status < 0)
        status = failed(&cli, &err);
    if (out_flush(&cli.out, &err)) {
        complain(&cli, err.text);
        status = CLI_SERVER;
    }
    client_free(cli.client);
    out_done(&cli.out);
    out_done(&cli.side);
    arena_free(&cli.arena);
    return status;
}
