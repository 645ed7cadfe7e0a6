/* SPDX-License-Identifier: MIT */
/* names.c - see names.h. */
#include "cli/names.h"

#include <string.h>

#include "base/mem/mem.h"
#include "base/text/suggest.h"
#include "cli/args.h"
#include "cli/commands.h"
#include "cli/local.h"
#include "model/host.h"
#include "model/operation.h"

static const char *full_name(struct arena *a, const struct process_view *p)
{
    return arena_printf(a, "%s/%s", p->view.space, p->view.name);
}

/* ---- unknown names ---- */

/* What a word may have been meant to be: it resembles `words[i]`, which stands for `meant[i]`. */
struct candidates {
    const char **words, **meant;
    size_t n;
};

static void add_candidate(struct candidates *c, const char *word, const char *meant)
{
    c->words[c->n] = word;
    c->meant[c->n++] = meant;
}

/* A server takes a name only with its namespace, or a namespace alone. */
static struct candidates candidates_of(struct cli *cli, const struct list *known)
{
    const struct process_view *p = known->items;
    size_t max = 3 * known->n + 1;
    struct candidates c = { arena_alloc(&cli->arena, max * sizeof(*c.words)),
                            arena_alloc(&cli->arena, max * sizeof(*c.meant)), 0 };

    for (size_t i = 0; i < known->n; i++) {
        const char *full = full_name(&cli->arena, &p[i]);

        add_candidate(&c, full, full);
        add_candidate(&c, p[i].view.name, cli->local ? p[i].view.name : full);
        if (!cli->args.command->words_min)
            add_candidate(&c, p[i].view.space, p[i].view.space);
    }
    return c;
}

/* NULL: none is near. */
static const char *nearest(struct cli *cli, const struct list *known, const char *word)
{
    struct candidates c = candidates_of(cli, known);
    const char *found = suggest_find(word, c.words);

    for (size_t i = 0; i < c.n; i++) {
        if (c.words[i] == found)
            return c.meant[i];
    }
    return NULL;
}

/* One page of processes is enough for a suggestion; without an answer there is none. */
static const char *nearest_of_server(struct cli *cli, const char *space, const char *word)
{
    const struct client_pair query[] = { { "namespace", space }, { "limit", "1000" }, { 0 } };
    struct process_page page;
    struct err ignored;

    if (cli_get(cli, "/v1/processes", query, CLI_GET_MS, &process_page_shape, &cli->arena, &page,
                &ignored))
        return NULL;
    return nearest(cli, &page.processes, word);
}

/* Leaves what the server has said about the command's own request. */
static const char *ask_server(struct cli *cli, const char *word)
{
    const struct refusal refusal = cli->refusal;
    bool refused = cli->refused;
    const char *slash = strchr(word, '/'), *near = NULL;

    if (slash)
        near =
            nearest_of_server(cli, arena_memdup(&cli->arena, word, (size_t)(slash - word)), word);
    if (!near)
        near = nearest_of_server(cli, NULL, word);
    cli->refusal = refusal;
    cli->refused = refused;
    return near;
}

static int set_unknown(struct cli *cli, const char *word, const char *near, struct err *err)
{
    int op = cli->args.command->op;
    bool can_add = op >= 0 && operation_has_outcome(op, MAKES_RUN);
    enum text id = near && cli->local ? TEXT_LOCAL_NEAREST
                   : near && can_add  ? TEXT_NEAREST_OR_NEW
                   : near             ? TEXT_NEAREST_PROCESS
                   : cli->local       ? TEXT_LOCAL_UNKNOWN
                                      : TEXT_UNKNOWN_PROCESS;

    cli->refused_status = CLI_SOME_FAILED;
    return text_err(err, ERR_NOT_FOUND, cli->lang, id, TEXT_ARGS(word, near ? near : ""));
}

int names_unknown(struct cli *cli, const char *word, struct err *err)
{
    const struct process_ask all = { "", "", "", NULL, 0 };
    struct list known;
    struct err ignored;

    if (!cli->local)
        return set_unknown(cli, word, ask_server(cli, word), err);
    if (local_get_processes(cli, &all, &known, &ignored))
        known = (struct list){ 0 };
    return set_unknown(cli, word, nearest(cli, &known, word), err);
}

int names_explain(struct cli *cli, struct err *err)
{
    if (!cli->refused || cli->refusal.error.number != ERR_NOT_FOUND || cli->args.hosts.n)
        return -1;
    return names_unknown(cli, cli->args.words[0], err);
}

/* ---- short names ---- */

static bool is_it(struct arena *a, const struct process_view *p, const char *word)
{
    return !strcmp(word, p->view.name) || !strcmp(word, full_name(a, p)) ||
           !strcmp(word, arena_printf(a, "%s:%s", p->view.space, p->view.name));
}

static int ambiguous(struct cli *cli, const char *word, const char *one, const char *other,
                     struct err *err)
{
    cli->refused_status = CLI_SOME_FAILED;
    return text_err(err, ERR_CONFLICT, cli->lang, TEXT_LOCAL_SEVERAL,
                    TEXT_ARGS(word, arena_printf(&cli->arena, "%s, %s", one, other)));
}

/* A word with a slash is used unchanged: a process that is started with a spec, or that was
 * stopped and forgotten, need not be known. */
static int complete(struct cli *cli, const struct list *known, const char **word, struct err *err)
{
    const struct process_view *p = known->items;
    bool is_full = strchr(*word, '/') != NULL,
         is_new = cli->args.command->op < 0 || *cli->args.spec;
    const char *found = NULL;

    for (size_t i = 0; i < known->n; i++) {
        if (!is_it(&cli->arena, &p[i], *word))
            continue;
        if (found)
            return ambiguous(cli, *word, found, full_name(&cli->arena, &p[i]), err);
        found = full_name(&cli->arena, &p[i]);
    }
    if (!found && is_full && is_new)
        return 0;
    if (!found)
        return set_unknown(cli, *word, nearest(cli, known, *word), err);
    *word = found;
    return 0;
}

int names_complete(struct cli *cli, struct err *err)
{
    const struct process_ask all = { "", "", "", NULL, 0 };
    struct list known;

    if (!cli->args.command->words_min)
        return 0;
    if (local_get_processes(cli, &all, &known, err))
        return -1;
    for (size_t i = 0; i < args_processes(&cli->args); i++) {
        if (complete(cli, &known, &cli->args.words[i], err))
            return -1;
    }
    return 0;
}
