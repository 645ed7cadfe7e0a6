/* SPDX-License-Identifier: MIT */
/* names.c - see names.h. */
#include "cli/names.h"

#include <string.h>

#include "base/mem/mem.h"
#include "base/text/suggest.h"
#include "cli/args.h"
#include "cli/commands.h"
#include "cli/local.h"
#include "cli/run.h"
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
    size_t max = 4 * known->n + 1;
    struct candidates c = { arena_alloc(&cli->arena, max * sizeof(*c.words)),
                            arena_alloc(&cli->arena, max * sizeof(*c.meant)), 0 };

    for (size_t i = 0; i < known->n; i++) {
        const char *full = full_name(&cli->arena, &p[i]);

        add_candidate(&c, full, full);
        add_candidate(&c, p[i].view.name, cli->local ? p[i].view.name : full);
        if (cli->local)
            add_candidate(&c, arena_printf(&cli->arena, "%s/", p[i].view.space),
                          arena_printf(&cli->arena, "%s/", p[i].view.space));
        if (!cli->args.command->words_min)
            add_candidate(&c, p[i].view.space, p[i].view.space);
    }
    return c;
}

/* NULL: none is near. */
static const char *suggest_known(struct cli *cli, const struct list *known, const char *word)
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
static const char *suggest_from_server(struct cli *cli, const char *space, const char *word)
{
    const struct client_pair query[] = { { "namespace", space }, { "limit", "1000" }, { 0 } };
    struct process_page page;
    struct err ignored;

    if (cli_get(cli, "/v1/processes", query, CLI_GET_MS, &process_page_shape, &cli->arena, &page,
                &ignored))
        return NULL;
    return suggest_known(cli, &page.processes, word);
}

/* Leaves what the server has said about the command's own request. */
static const char *ask_server(struct cli *cli, const char *word)
{
    const struct refusal refusal = cli->refusal;
    bool refused = cli->refused;
    const char *slash = strchr(word, '/'), *near = NULL;

    if (slash)
        near =
            suggest_from_server(cli, arena_memdup(&cli->arena, word, (size_t)(slash - word)), word);
    if (!near)
        near = suggest_from_server(cli, NULL, word);
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
    return set_unknown(cli, word, suggest_known(cli, &known, word), err);
}

int names_explain(struct cli *cli, struct err *err)
{
    if (!cli->refused || cli->refusal.error.number != ERR_NOT_FOUND || cli->args.hosts.n)
        return -1;
    return names_unknown(cli, cli->args.words[0], err);
}

/* ---- selections ---- */

/* What a word of the command line selects. */
struct selection {
    size_t n, n_space; /* processes with that name; in the namespace of that name */
    const char *found; /* the first with that name */
    struct buf all;    /* "web/a, db/a" */
    bool is_in_space;  /* `found` is in the namespace of that name */
};

enum { CANDIDATES_MAX = 6 };

static bool is_it(struct arena *a, const struct process_view *p, const char *word)
{
    return !strcmp(word, p->view.name) || !strcmp(word, full_name(a, p)) ||
           !strcmp(word, arena_printf(a, "%s:%s", p->view.space, p->view.name));
}

static void add_found(struct selection *s, const char *name)
{
    if (s->n < CANDIDATES_MAX)
        buf_printf(&s->all, "%s%s", s->n ? ", " : "", name);
    else if (s->n == CANDIDATES_MAX)
        buf_puts(&s->all, " …");
    s->found = s->n++ ? s->found : name;
}

static struct selection look_for(struct cli *cli, const struct list *known, const char *word)
{
    const struct process_view *p = known->items;
    struct selection s = { 0 };

    for (size_t i = 0; i < known->n; i++) {
        bool is_in_space = !strcmp(word, p[i].view.space);

        s.n_space += is_in_space;
        if (!is_it(&cli->arena, &p[i], word))
            continue;
        add_found(&s, full_name(&cli->arena, &p[i]));
        s.is_in_space = s.is_in_space || is_in_space;
    }
    return s;
}

static int ambiguous(struct cli *cli, const char *word, struct selection *s, struct err *err)
{
    if (s->n_space)
        buf_printf(&s->all, ", %s/", word);
    cli->refused_status = CLI_SOME_FAILED;
    return text_err(err, ERR_CONFLICT, cli->lang, TEXT_LOCAL_SEVERAL,
                    TEXT_ARGS(word, buf_text(&s->all)));
}

static void select_name(struct cli *cli, const char *name)
{
    struct word *words = cli->names.items;

    for (size_t i = 0; i < cli->names.n; i++) {
        if (!strcmp(words[i].text, name))
            return; /* several words may select it */
    }
    words[cli->names.n++].text = name;
}

/* `space` NULL: all of them. */
static int select_group(struct cli *cli, const struct list *known, const char *space,
                        const char *word, struct err *err)
{
    const struct process_view *p = known->items;
    size_t n = 0;

    if (*cli->args.spec)
        return text_err(err, ERR_INVALID, cli->lang, TEXT_LOCAL_ONE_SPEC, TEXT_ARGS(word));
    for (size_t i = 0; i < known->n; i++) {
        if (space && strcmp(space, p[i].view.space) != 0)
            continue;
        select_name(cli, full_name(&cli->arena, &p[i]));
        n++;
    }
    cli->has_group = true;
    if (n)
        return 0;
    if (space)
        return set_unknown(cli, word, suggest_known(cli, known, word), err);
    cli->refused_status = CLI_SOME_FAILED;
    return text_err(err, ERR_NOT_FOUND, cli->lang, TEXT_LOCAL_NO_PROCESSES, NULL);
}

/* A word with a slash that no process has is used unchanged if the command can act on it: one that
 * is started with a spec, or that was forgotten, need not be known. */
static int select_unknown(struct cli *cli, const struct list *known, const char **word,
                          struct err *err)
{
    bool is_full = strchr(*word, '/') != NULL;
    bool may_be_gone = cli->args.command->op < 0 && cli->args.command->run != run_forget;

    if (!is_full && *cli->args.spec)
        *word = arena_printf(&cli->arena, "default/%s", *word);
    else if (!is_full || !(may_be_gone || *cli->args.spec))
        return set_unknown(cli, *word, suggest_known(cli, known, *word), err);
    select_name(cli, *word);
    return 0;
}

static int select_word(struct cli *cli, const struct list *known, const char **word,
                       struct err *err)
{
    const char *slash = strchr(*word, '/');
    struct selection s;
    int bad = 0;

    if (!strcmp(*word, "all"))
        return select_group(cli, known, NULL, *word, err);
    if (slash && slash > *word && !slash[1])
        return select_group(cli, known, arena_memdup(&cli->arena, *word, (size_t)(slash - *word)),
                            *word, err);
    s = look_for(cli, known, *word);
    if (*cli->args.spec) /* is for one process */
        s.n_space = 0;
    if (s.n_space == 1 && s.is_in_space)
        s.n_space = 0; /* its only process has the same name */
    if (s.n > 1 || (s.n && s.n_space))
        bad = ambiguous(cli, *word, &s, err);
    else if (s.n)
        select_name(cli, *word = s.found);
    else if (s.n_space)
        bad = select_group(cli, known, *word, *word, err);
    else
        bad = select_unknown(cli, known, word, err);
    buf_free(&s.all);
    return bad;
}

int names_select(struct cli *cli, struct err *err)
{
    const struct process_ask all = { "", "", "", NULL, 0 };
    struct list known;

    if (!command_has_names(cli->args.command))
        return 0;
    if (local_get_processes(cli, &all, &known, err))
        return -1;
    cli->names = (struct list){
        arena_alloc(&cli->arena, (known.n + cli->args.n_words) * sizeof(struct word)), 0
    };
    for (size_t i = 0; i < args_processes(&cli->args); i++) {
        if (select_word(cli, &known, &cli->args.words[i], err))
            return -1;
    }
    return 0;
}
