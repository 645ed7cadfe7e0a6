/* SPDX-License-Identifier: MIT */
/* config.c - see config.h.
 *
 * The tree of shapes is flattened once into a list of settings.  A value from the environment or
 * the command line becomes a JSON document with one member, which is read as an overlay. */
#include "wire/json/config.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem/mem.h"
#include "base/text/msg.h"
#include "base/text/utf8.h"
#include "wire/json/field.h"
#include "wire/json/yaml.h"

enum { SETTINGS_MAX = 128, DEPTH_MAX = 4 };

struct setting {
    const struct field *path[DEPTH_MAX]; /* outermost first */
    size_t depth;
    const char *dotted, *flag, *env;
};

struct settings {
    struct setting list[SETTINGS_MAX];
    size_t n;
};

static const struct field *leaf(const struct setting *s)
{
    return s->path[s->depth - 1];
}

/* The names on the path to the setting, joined, in the wanted case. */
static const char *joined(const struct setting *s, const char *prefix, char between, bool upper,
                          struct arena *a)
{
    struct buf b = { 0 };
    const char *copy;

    buf_puts(&b, prefix);
    for (size_t i = 0; i < s->depth; i++) {
        if (b.len)
            buf_addc(&b, between);
        for (const char *p = s->path[i]->name; *p; p++)
            buf_addc(&b, upper                         ? (char)toupper((unsigned char)*p)
                         : between == '-' && *p == '_' ? '-'
                                                       : *p);
    }
    copy = arena_memdup(a, buf_data(&b), b.len);
    buf_free(&b);
    return copy;
}

static void flatten(const struct config_spec *spec, const struct shape *shape,
                    struct setting so_far, struct settings *to, struct arena *a)
{
    if (so_far.depth == DEPTH_MAX)
        abort(); /* the field table is nested too deeply */
    so_far.depth++;
    for (const struct field *f = shape->fields; f->name; f++) {
        so_far.path[so_far.depth - 1] = f;
        if (f->type == FIELD_OBJ) {
            flatten(spec, f->sub, so_far, to, a);
            continue;
        }
        if (to->n == SETTINGS_MAX)
            abort();
        to->list[to->n] = so_far;
        to->list[to->n].dotted = joined(&so_far, "", '.', false, a);
        to->list[to->n].flag = joined(&so_far, "", '-', false, a);
        to->list[to->n].env = joined(&so_far, spec->env_prefix, '_', true, a);
        to->n++;
    }
}

static int apply(const struct config_spec *spec, const struct setting *s, const char *text,
                 const char *source, struct arena *a, void *out, struct err *err)
{
    struct buf json = { 0 };
    int failed;

    if (utf8_valid(text, strlen(text)) != strlen(text))
        return err_set(err, ERR_INVALID, "%s: %s: is not valid UTF-8", source, s->dotted);
    for (size_t i = 0; i < s->depth; i++)
        buf_printf(&json, "{\"%s\":", s->path[i]->name);
    buf_quote(&json, text, strlen(text));
    for (size_t i = 0; i < s->depth; i++)
        buf_addc(&json, '}');
    failed = shape_read(spec->shape, buf_data(&json), json.len,
                        SHAPE_STRICT | SHAPE_TEXT | SHAPE_OVERLAY, a, out, err);
    buf_free(&json);
    return failed ? err_wrap(err, "%s", source) : 0;
}

static int read_environment(const struct config_spec *spec, const struct settings *all,
                            char *const *env, struct arena *a, void *out, const char **ret_file,
                            struct err *err)
{
    size_t prefix = strlen(spec->env_prefix);

    for (; *env; env++) {
        const char *equals = strchr(*env, '='), *name;
        const struct setting *found = NULL;

        if (!equals || strncmp(*env, spec->env_prefix, prefix) != 0 || (*env)[prefix] != '_')
            continue;
        name = arena_memdup(a, *env, (size_t)(equals - *env));
        if (!strcmp(name + prefix, "_CONFIG")) {
            *ret_file = equals + 1;
            continue;
        }
        for (size_t i = 0; i < all->n && !found; i++)
            found = strcmp(all->list[i].env, name) ? NULL : &all->list[i];
        if (!found)
            return err_set(err, ERR_INVALID, "environment variable %s: no such setting, see --help",
                           name);
        if (out && apply(spec, found, equals + 1, name, a, out, err))
            return -1;
    }
    return 0;
}

struct flags {
    struct {
        const struct setting *setting;
        const char *text;
    } given[SETTINGS_MAX];
    size_t n;
    bool help, version;
    const char *file;
};

static const struct setting *find_flag(const struct settings *all, const char *name)
{
    for (size_t i = 0; i < all->n; i++) {
        if (!strcmp(all->list[i].flag, name))
            return &all->list[i];
    }
    return NULL;
}

/* s NULL: the flag is --config, and text the file's name. */
static int take_flag(const struct setting *s, const char *text, struct flags *to, struct err *err)
{
    if (!s) {
        to->file = text;
        return 0;
    }
    if (to->n == SETTINGS_MAX)
        return err_set(err, ERR_LIMIT, "more than %d options", SETTINGS_MAX);
    to->given[to->n].setting = s;
    to->given[to->n++].text = text;
    return 0;
}

/* "--name=value" or "--name value"; a boolean needs no value.  Not getopt_long(), which accepts
 * --log for --log-file. */
static int read_flags(const struct settings *all, int argc, char *const *argv, struct arena *a,
                      struct flags *ret, struct err *err)
{
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i], *text = strchr(word, '='), *name;
        const struct setting *s;

        if (!strcmp(word, "-h"))
            word = "--help";
        if (strncmp(word, "--", 2) != 0)
            return err_set(err, ERR_INVALID, "%s: not an option, see --help", word);
        name = arena_memdup(a, word + 2, text ? (size_t)(text - word - 2) : strlen(word + 2));
        if ((!strcmp(name, "help") || !strcmp(name, "version")) && text)
            return err_set(err, ERR_INVALID, "--%s: takes no value", name);
        ret->help |= !strcmp(name, "help");
        ret->version |= !strcmp(name, "version");
        if (ret->help || ret->version)
            continue;
        s = find_flag(all, name);
        if (!s && strcmp(name, "config") != 0)
            return err_set(err, ERR_INVALID, "--%s: no such option, see --help", name);
        if (text)
            text++;
        else if (s && leaf(s)->type == FIELD_BOOL)
            text = "true";
        else if (++i < argc)
            text = argv[i];
        else
            return err_set(err, ERR_INVALID, "--%s: needs a value", name);
        if (take_flag(s, text, ret, err))
            return -1;
    }
    return 0;
}

/* The struct that the setting is a member of. */
static const char *parent_of(const struct setting *s, const void *out)
{
    const char *at = out;

    for (size_t i = 0; i + 1 < s->depth; i++)
        at += s->path[i]->offset;
    return at;
}

static bool is_unset(const struct setting *s, const void *out)
{
    const char *at = parent_of(s, out) + leaf(s)->offset;

    if (leaf(s)->type == FIELD_STR)
        return **(const char *const *)(const void *)at == '\0';
    return leaf(s)->type == FIELD_LIST && ((const struct list *)(const void *)at)->n == 0;
}

static int check_required(const struct settings *all, const void *out, struct err *err)
{
    for (size_t i = 0; i < all->n; i++) {
        const struct setting *s = &all->list[i];

        if ((leaf(s)->flags & FIELD_REQUIRED) && is_unset(s, out))
            return err_set(err, ERR_INVALID,
                           "%s: required; set it in the configuration file, by --%s or by %s",
                           s->dotted, s->flag, s->env);
    }
    return 0;
}

static bool is_given_without_effect(const struct setting *s, const void *out)
{
    if (!(leaf(s)->flags & FIELD_NO_EFFECT))
        return false;
    assert(leaf(s)->has);
    return *(const enum presence *)(parent_of(s, out) + leaf(s)->has) == PRESENCE_GIVEN;
}

static const char *const *given_without_effect(const struct settings *all, const void *out,
                                               struct arena *a)
{
    const char **names = arena_alloc(a, (all->n + 1) * sizeof(*names));
    size_t n = 0;

    for (size_t i = 0; i < all->n; i++) {
        if (is_given_without_effect(&all->list[i], out))
            names[n++] = all->list[i].dotted;
    }
    names[n] = NULL;
    return names;
}

static const char *meaning(const struct field *f)
{
    if (f->flags & FIELD_NO_EFFECT)
        return "without effect; accepted for compatibility";
    return f->doc ? f->doc : "";
}

static void put_default(const struct field *f, struct buf *out)
{
    struct buf text = { 0 };

    if (f->flags & FIELD_NO_EFFECT)
        return;
    field_default(f, &text);
    if (f->flags & FIELD_REQUIRED)
        buf_puts(out, " (required)");
    else if (text.len > 2)
        buf_printf(out, " (default %.*s)", (int)text.len - 2, buf_data(&text) + 1);
    buf_free(&text);
}

/* Columns of the help, and where the second one begins. */
enum { HELP_WIDTH = 80, HELP_DOC = 29, HELP_SIGNAL = 12 };

/* Ends a line that has text up to `column`: moves words that do not fit to lines that begin at
 * `indent`. */
static void config_put_wrapped(const char *text, size_t column, size_t indent, struct buf *out)
{
    size_t blanks = 0;

    while (*text) {
        size_t n = strcspn(text, " ");

        if (blanks && column + blanks + n > HELP_WIDTH) {
            buf_addc(out, '\n');
            column = 0;
            blanks = indent;
        }
        buf_printf(out, "%*s%.*s", (int)blanks, "", (int)n, text);
        column += blanks + n;
        text += n;
        blanks = strspn(text, " ");
        text += blanks;
    }
    buf_addc(out, '\n');
}

static void config_put_row(const char *flag, const char *doc, struct buf *out)
{
    if (strlen(flag) > HELP_DOC - 3)
        buf_printf(out, "  %s\n%*s", flag, HELP_DOC, "");
    else
        buf_printf(out, "  %-*s ", HELP_DOC - 3, flag);
    config_put_wrapped(doc, HELP_DOC, HELP_DOC, out);
}

/* The placeholder of a flag's value in the help. */
static const char *const placeholders[] = {
    [FIELD_STR] = " TEXT",    [FIELD_INT] = " N",    [FIELD_FLOAT] = " N",  [FIELD_BOOL] = "",
    [FIELD_ENUM] = " WORD",   [FIELD_OBJ] = " JSON", [FIELD_LIST] = " A,B", [FIELD_MAP] = " JSON",
    [FIELD_SCALAR] = " TEXT", [FIELD_RAW] = " JSON",
};

static void put_choices(const struct field *f, struct buf *out)
{
    const char *between = ": ";

    for (const struct enum_name *e = f->names; f->type == FIELD_ENUM && e->name; e++) {
        buf_printf(out, "%s%s", between, e->name);
        between = ", ";
    }
}

/* Explains the sources with one setting as an example, if possible one in a section. */
static void put_ways(const struct settings *all, struct buf *out)
{
    const struct setting *s = all->list;
    struct buf text = { 0 };

    for (size_t i = all->n; i-- > 0;)
        s = all->list[i].depth > 1 ? &all->list[i] : s;
    buf_printf(&text, "Every option may also stand in the file (--%s is ", s->flag);
    for (size_t i = 0; i < s->depth; i++)
        buf_printf(&text, "%s%s: ", i ? "{ " : "", s->path[i]->name);
    buf_puts(&text, "...");
    for (size_t i = 1; i < s->depth; i++)
        buf_puts(&text, " }");
    buf_printf(&text, ") or in the environment (%s).  The command line wins, then the environment.",
               s->env);
    buf_addc(out, '\n');
    config_put_wrapped(buf_text(&text), 0, 0, out);
    buf_free(&text);
}

static void put_option(const struct setting *s, struct arena *a, struct buf *out)
{
    const struct field *f = leaf(s);
    struct buf doc = { 0 };

    buf_puts(&doc, meaning(f));
    put_choices(f, &doc);
    put_default(f, &doc);
    config_put_row(arena_printf(a, "--%s%s", s->flag, placeholders[f->type]), buf_text(&doc), out);
    buf_free(&doc);
}

static const char *help_text(const struct config_spec *spec, const struct settings *all,
                             struct arena *a)
{
    struct buf b = { 0 };
    const char *copy;

    buf_printf(&b, "Usage: %s [options]\n\n", spec->program);
    config_put_wrapped(spec->about, 0, 0, &b);
    buf_puts(&b, "\nOptions:\n");
    config_put_row(
        "--config FILE",
        arena_printf(a, "settings from this file (default %s, if there)", spec->default_file), &b);
    for (size_t i = 0; i < all->n; i++)
        put_option(&all->list[i], a, &b);
    config_put_row("--help", "this text", &b);
    config_put_row("--version", "the version", &b);
    put_ways(all, &b);
    if (spec->signals)
        buf_puts(&b, "\nSignals:\n");
    for (const struct config_signal *s = spec->signals; s && s->name; s++) {
        buf_printf(&b, "  %-*s ", HELP_SIGNAL - 3, s->name);
        config_put_wrapped(s->doc, HELP_SIGNAL, HELP_SIGNAL, &b);
    }
    copy = arena_memdup(a, buf_data(&b), b.len);
    buf_free(&b);
    return copy;
}

/* The default file may be missing; any other file that cannot be read is an error. */
static int config_read_file(const struct config_spec *spec, const char *named, const char *source,
                            struct arena *a, void *out, const char **ret_file, struct err *err)
{
    *ret_file = named ? named : spec->default_file;
    if (!**ret_file)
        return err_set(err, ERR_INVALID, "%s: is empty, and should name a file", source);
    if (!yaml_read_file(spec->shape, *ret_file, a, out, err))
        return 0;
    if (named)
        return err->code == ERR_SYSTEM ? err_wrap(err, "%s", source) : -1;
    *ret_file = NULL;
    return err->sys == ENOENT || err->sys == ENOTDIR ? 0 : -1;
}

int config_load(const struct config_spec *spec, int argc, char *const *argv, char *const *env,
                struct arena *a, void *out, struct config_loaded *ret, struct err *err)
{
    struct settings *all = arena_alloc(a, sizeof(*all));
    struct flags *flags = arena_alloc(a, sizeof(*flags));
    const char *file = NULL;

    flatten(spec, spec->shape, (struct setting){ 0 }, all, a);
    if (read_flags(all, argc, argv, a, flags, err))
        return -1;
    *ret = (struct config_loaded){ 0 };
    if (flags->help || flags->version) {
        ret->show = flags->help ? help_text(spec, all, a)
                                : arena_printf(a, "%s %s\n", spec->program, HOLDFAST_VERSION);
        return 0;
    }
    shape_defaults(spec->shape, out);
    if (read_environment(spec, all, env, a, NULL, &file, err) ||
        config_read_file(spec, flags->file ? flags->file : file,
                         flags->file ? "--config" : arena_printf(a, "%s_CONFIG", spec->env_prefix),
                         a, out, &ret->file, err) ||
        read_environment(spec, all, env, a, out, &file, err))
        return -1;
    for (size_t i = 0; i < flags->n; i++) {
        const struct setting *s = flags->given[i].setting;

        if (apply(spec, s, flags->given[i].text, arena_printf(a, "--%s", s->flag), a, out, err))
            return -1;
    }
    if (check_required(all, out, err))
        return -1;
    ret->no_effect = given_without_effect(all, out, a);
    return 0;
}

void config_doc(const struct config_spec *spec, struct buf *out)
{
    struct arena a = { 0 };
    struct settings *all = arena_alloc(&a, sizeof(*all));

    flatten(spec, spec->shape, (struct setting){ 0 }, all, &a);
    buf_puts(out, "| setting | flag | environment | value | default | meaning "
                  "|\n|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < all->n; i++) {
        const struct setting *s = &all->list[i];
        char expected[SHAPE_EXPECT_SIZE], english[SHAPE_EXPECT_SIZE];

        field_expect(leaf(s), expected);
        buf_printf(out, "| `%s` | `--%s` | `%s` | %s | ", s->dotted, s->flag, s->env,
                   msg_english(english, sizeof(english), expected));
        field_default(leaf(s), out);
        buf_printf(out, " | %s |\n", meaning(leaf(s)));
    }
    buf_addc(out, '\n');
    if (spec->signals)
        buf_puts(out, "| signal | what it does |\n|---|---|\n");
    for (const struct config_signal *s = spec->signals; s && s->name; s++)
        buf_printf(out, "| %s | %s |\n", s->name, s->doc);
    if (spec->signals)
        buf_addc(out, '\n');
    arena_free(&a);
}
