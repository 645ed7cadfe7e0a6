/* SPDX-License-Identifier: MIT */
/* args.c - see args.h. */
#include "cli/args.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem/mem.h"
#include "base/text/suggest.h"
#include "base/text/utf8.h"
#include "cli/commands.h"
#include "model/duration.h"
#include "model/operation.h"

enum { COMMANDS_MAX = 64 };

struct reader {
    int argc, at;
    char *const *argv;
    enum lang lang;
    struct arena *arena;
    struct args *args;
    const char **words; /* all plain words, including those of the command */
    size_t n_words;
    struct err *err;
};

static int args_fail(const struct reader *r, enum text id, const char *const *args)
{
    return text_err(r->err, ERR_INVALID, r->lang, id, args);
}

/* The command with the longest name that the first words form, and how many words that is. */
static const struct command *find_command(const struct reader *r, const char *const *words,
                                          size_t n, size_t *ret_used)
{
    const struct command *one = n ? command_find(words[0]) : NULL, *two = NULL;

    *ret_used = 1;
    if (n > 1 && command_is_group(words[0]))
        two = command_find(arena_printf(r->arena, "%s %s", words[0], words[1]));
    if (two || (n > 1 && !one && command_is_group(words[0])))
        *ret_used = 2;
    return two ? two : one;
}

/* ---- options ---- */

/* If the command precedes the option, only its options are suggested. */
static const char *suggest_option(const struct reader *r, const char *name)
{
    const char *names[OPTIONS + 1] = { 0 };
    size_t used, n = 0;
    const struct command *c = find_command(r, r->words, r->n_words, &used);

    for (size_t i = 0; i < OPTIONS; i++) {
        if (!c || i >= OPTIONS_GLOBAL || c->options >> i & 1)
            names[n++] = cli_options[i].name;
    }
    return suggest_find(name, names);
}

static int unknown_option(const struct reader *r, const char *word, const char *name)
{
    const char *near;

    if (!strcmp(name, "secret"))
        return args_fail(r, TEXT_SECRET_IN_SIGHT, NULL);
    near = suggest_option(r, name);
    return near ? args_fail(r, TEXT_NEAREST_OPTION, TEXT_ARGS(word, near))
                : args_fail(r, TEXT_UNKNOWN_OPTION, TEXT_ARGS(word));
}

/* The capacity is the next power of two. */
static void add_word(struct list *list, const char *text, struct arena *a)
{
    struct word *words = list->items;

    if (!(list->n & (list->n - 1))) {
        words = arena_alloc(a, (list->n ? 2 * list->n : 1) * sizeof(*words));
        if (list->n)
            memcpy(words, list->items, list->n * sizeof(*words));
        list->items = words;
    }
    words[list->n++].text = text;
}

int args_number(const char *text, int64_t *ret)
{
    char *end;

    errno = 0;
    *ret = strtoll(text, &end, 10);
    return errno || end == text || *end ? -1 : 0;
}

size_t args_processes(const struct args *args)
{
    const struct operation *o = args->command->op < 0 ? NULL : operation_find(args->command->op);

    return args->n_words - (o && o->takes_signal);
}

static int args_put_number(struct reader *r, const struct option *o, const char *text, int64_t *to)
{
    if (args_number(text, to))
        return args_fail(r, TEXT_NOT_A_NUMBER, TEXT_ARGS(o->name, text));
    return 0;
}

static int put_option(struct reader *r, const struct option *o, const char *text)
{
    void *to = (char *)r->args + o->offset;

    switch (o->kind) {
    case OPTION_IS_FLAG: *(bool *)to = true; return 0;
    case OPTION_IS_TEXT: *(const char **)to = text; return 0;
    case OPTION_IS_FLAG_OR_TEXT: *(const char **)to = text ? text : ""; return 0;
    case OPTION_IS_LIST: add_word(to, text, r->arena); return 0;
    case OPTION_IS_NUMBER: return args_put_number(r, o, text, to);
    case OPTION_IS_SECONDS:
        if (!duration_read(text, to))
            return args_fail(r, TEXT_NOT_A_DURATION, TEXT_ARGS(o->name, text));
        return 0;
    case OPTION_IS_SETTING:
        r->args->settings[r->args->n_settings++] =
            text ? arena_printf(r->arena, "--%s=%s", o->name, text)
                 : arena_printf(r->arena, "--%s", o->name);
        return 0;
    }
    return 0;
}

/* "--hosted no": the word is the value, although the documented form is "--hosted=no". */
static bool is_yes_or_no(const struct reader *r, const struct option *o)
{
    const char *next = r->at + 1 < r->argc ? r->argv[r->at + 1] : "";

    return o->kind == OPTION_IS_FLAG_OR_TEXT && !strcmp(o->value, "[=no]") &&
           (!strcmp(next, "no") || !strcmp(next, "yes"));
}

/* The option's value, behind "=" or in the next word. */
static int take_value(struct reader *r, const struct option *o, const char *equals,
                      const char **ret)
{
    *ret = equals ? equals + 1 : NULL;
    if (!equals && is_yes_or_no(r, o))
        *ret = r->argv[++r->at];
    if (o->kind == OPTION_IS_FLAG_OR_TEXT)
        return 0;
    if (!o->value)
        return equals && o->kind != OPTION_IS_SETTING
                   ? args_fail(r, TEXT_NO_VALUE, TEXT_ARGS(o->name))
                   : 0;
    if (!*ret && ++r->at < r->argc)
        *ret = r->argv[r->at];
    if (*ret && utf8_valid(*ret, strlen(*ret)) != strlen(*ret))
        return args_fail(r, TEXT_NOT_UTF8, TEXT_ARGS(*ret));
    return *ret ? 0 : args_fail(r, TEXT_NEEDS_VALUE, TEXT_ARGS(o->name));
}

static int read_option(struct reader *r, const char *word)
{
    const char *equals = strchr(word, '='), *name, *text;
    size_t id = 0;

    if (!strcmp(word, "-h"))
        word = "--help";
    if (!strcmp(word, "-f"))
        word = "--follow";
    if (!strcmp(word, "-n"))
        word = "--lines";
    if (word[1] != '-')
        return unknown_option(r, word, word + 1);
    name =
        arena_memdup(r->arena, word + 2, equals ? (size_t)(equals - word - 2) : strlen(word + 2));
    while (id < OPTIONS && strcmp(cli_options[id].name, name) != 0)
        id++;
    if (id == OPTIONS)
        return unknown_option(r, arena_printf(r->arena, "--%s", name), name);
    if (take_value(r, &cli_options[id], equals, &text))
        return -1;
    if (args_has(r->args, (enum option_id)id) && cli_options[id].kind != OPTION_IS_LIST &&
        cli_options[id].value)
        return args_fail(r, TEXT_TWICE, TEXT_ARGS(name));
    r->args->given |= UINT64_C(1) << id;
    return put_option(r, &cli_options[id], text);
}

static int args_read_words(struct reader *r)
{
    bool plain = false;

    for (r->at = 1; r->at < r->argc; r->at++) {
        const char *word = r->argv[r->at];

        if (utf8_valid(word, strlen(word)) != strlen(word))
            return args_fail(r, TEXT_NOT_UTF8, TEXT_ARGS(word));
        if (!plain && !strcmp(word, "--"))
            plain = true;
        else if (plain || word[0] != '-' || !word[1])
            r->words[r->n_words++] = word;
        else if (read_option(r, word))
            return -1;
    }
    return 0;
}

/* ---- the command ---- */

static int unknown_command(const struct reader *r, const char *name)
{
    const char *names[COMMANDS_MAX] = { 0 }, *near;
    size_t n = 0;

    for (const struct command *c = cli_commands; c->name && n + 1 < COMMANDS_MAX; c++)
        names[n++] = c->name;
    near = suggest_find(name, names);
    return near ? args_fail(r, TEXT_NEAREST_COMMAND, TEXT_ARGS(name, near))
                : args_fail(r, TEXT_UNKNOWN_COMMAND, TEXT_ARGS(name));
}

/* "app" alone, or followed by a word that is not a command of the group. */
static int unknown_in_group(const struct reader *r, const char *group)
{
    struct buf rest = { 0 };

    if (r->n_words > 1)
        return unknown_command(r, arena_printf(r->arena, "%s %s", group, r->words[1]));
    for (const struct command *c = cli_commands; c->name; c++) {
        if (!strncmp(c->name, group, strlen(group)) && c->name[strlen(group)] == ' ')
            buf_printf(&rest, "%s%s", rest.len ? ", " : "", c->name + strlen(group) + 1);
    }
    (void)args_fail(r, TEXT_NEEDS_MORE, TEXT_ARGS(group, buf_text(&rest))); /* -1, returned below */
    buf_free(&rest);
    return -1;
}

/* What help is wanted for: "holdfast app --help", "holdfast help app create". */
static int read_help(struct reader *r, const char *const *words, size_t n)
{
    size_t used;
    const struct command *c = find_command(r, words, n, &used);

    r->args->help = true;
    r->args->about = c ? c->name : n ? words[0] : "";
    if (!c && n && !command_is_group(words[0]))
        return unknown_command(r, words[0]);
    return 0;
}

static int check_words(struct reader *r, size_t used)
{
    const struct command *c = r->args->command;
    bool is_local = args_has(r->args, OPTION_LOCAL);
    size_t words_max = is_local && command_has_names(c) ? ARGS_WORDS_MAX : c->words_max;

    if (is_local ? c->place == OF_SERVER : c->place == OF_AGENT)
        return args_fail(r, is_local ? TEXT_NOT_LOCAL : TEXT_ONLY_LOCAL, TEXT_ARGS(c->name));
    if (is_local && r->args->hosts.n)
        return args_fail(r, TEXT_LOCAL_HOST, NULL);
    if (r->n_words - used < c->words_min)
        return args_fail(r, TEXT_TOO_FEW_WORDS, TEXT_ARGS(c->name, c->words));
    if (r->n_words - used > words_max)
        return args_fail(r, TEXT_TOO_MANY_WORDS, TEXT_ARGS(c->name, r->words[used + words_max]));
    for (size_t i = used; i < r->n_words; i++)
        r->args->words[r->args->n_words++] = r->words[i];
    for (size_t id = 0; id < OPTIONS_GLOBAL; id++) {
        if (args_has(r->args, (enum option_id)id) && !(c->options >> id & 1))
            return args_fail(r, TEXT_NOT_ITS_OPTION, TEXT_ARGS(c->name, cli_options[id].name));
    }
    return 0;
}

/* "host lst": not a process name, because those contain a slash without --local. */
static bool is_mistyped(const struct reader *r, size_t used)
{
    const struct command *c = r->args->command;

    return used == 1 && r->n_words > 1 && c->op >= 0 && command_is_group(c->name) &&
           !args_has(r->args, OPTION_LOCAL) && !strchr(r->words[1], '/');
}

static int read_command(struct reader *r)
{
    size_t used;

    if (!r->n_words)
        return args_fail(r, TEXT_NO_COMMAND, NULL);
    r->args->command = find_command(r, r->words, r->n_words, &used);
    if (r->args->command && is_mistyped(r, used))
        return unknown_command(
            r, arena_printf(r->arena, "%s %s", r->args->command->name, r->words[1]));
    if (r->args->command)
        return check_words(r, used);
    return command_is_group(r->words[0]) ? unknown_in_group(r, r->words[0])
                                         : unknown_command(r, r->words[0]);
}

int args_read(int argc, char *const *argv, enum lang lang, struct arena *a, struct args *ret,
              struct err *err)
{
    size_t room = ((size_t)argc + 1) * sizeof(char *);
    struct reader r = { argc, 0, argv, lang, a, ret, arena_alloc(a, room), 0, err };

    *ret = (struct args){
        .about = "", .spec = "", .note = "", .what = "", .local = "", .timeout_s = -1
    };
    ret->settings = arena_alloc(a, room);
    ret->settings[ret->n_settings++] = arena_strdup(a, "holdfast");
    if (args_read_words(&r))
        return -1;
    ret->version = args_has(ret, OPTION_VERSION);
    if (ret->version)
        return 0;
    if (r.n_words && !strcmp(r.words[0], "help"))
        return read_help(&r, r.words + 1, r.n_words - 1);
    if (args_has(ret, OPTION_HELP))
        return read_help(&r, r.words, r.n_words);
    return read_command(&r);
}
