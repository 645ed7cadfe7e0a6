/* SPDX-License-Identifier: MIT */
/* config.c - see config.h.
 *
 * The tree of shapes is flattened once into a list of settings; a value from
 * the environment or the command line becomes a one-member JSON document that
 * is read over what is there. */
#include "wire/config.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "wire/shape_text.h"
#include "wire/yaml.h"

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

/* The names on the way to the setting, joined and put in the case asked for. */
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
        abort(); /* our own table is nested too deeply */
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

/* Without a setting it is the file's name. */
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

/* "--name=value" or "--name value"; a boolean may stand alone.  Not getopt_long,
 * because that takes --log for --log-file. */
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

static bool is_unset(const struct setting *s, const void *out)
{
    const char *at = out;

    for (size_t i = 0; i < s->depth; i++)
        at += s->path[i]->offset;
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

static void put_default(const struct field *f, struct buf *out)
{
    struct buf text = { 0 };

    field_default(f, &text);
    if (f->flags & FIELD_REQUIRED)
        buf_puts(out, " (required)");
    else if (text.len > 2)
        buf_printf(out, " (default %.*s)", (int)text.len - 2, buf_data(&text) + 1);
    buf_free(&text);
}

/* What stands behind a flag in the help. */
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

/* By one that it has, in a section if there is any. */
static void put_ways(const struct settings *all, struct buf *out)
{
    const struct setting *s = all->list;

    for (size_t i = all->n; i-- > 0;)
        s = all->list[i].depth > 1 ? &all->list[i] : s;
    buf_printf(out, "\nEvery option may also stand in the file (--%s is ", s->flag);
    for (size_t i = 0; i < s->depth; i++)
        buf_printf(out, "%s%s: ", i ? "{ " : "", s->path[i]->name);
    buf_puts(out, "...");
    for (size_t i = 1; i < s->depth; i++)
        buf_puts(out, " }");
    buf_printf(out,
               ") or in the\n"
               "environment (%s).  The command line wins, then the environment.\n",
               s->env);
}

static const char *help_text(const struct config_spec *spec, const struct settings *all,
                             struct arena *a)
{
    struct buf b = { 0 };
    const char *copy;

    buf_printf(&b, "Usage: %s [options]\n\n%s\n\nOptions:\n", spec->program, spec->about);
    buf_printf(&b, "  %-26s settings from this file (default %s, if there)\n", "--config FILE",
               spec->default_file);
    for (size_t i = 0; i < all->n; i++) {
        const struct field *f = leaf(&all->list[i]);
        char flag[64];

        snprintf(flag, sizeof(flag), "--%s%s", all->list[i].flag, placeholders[f->type]);
        buf_printf(&b, strlen(flag) > 26 ? "  %s\n%28s " : "  %-26s %s", flag, "");
        buf_puts(&b, f->doc ? f->doc : "");
        put_choices(f, &b);
        put_default(f, &b);
        buf_addc(&b, '\n');
    }
    buf_printf(&b, "  %-26s this text\n  %-26s the version\n", "--help", "--version");
    put_ways(all, &b);
    copy = arena_memdup(a, buf_data(&b), b.len);
    buf_free(&b);
    return copy;
}

/* A default file that is not there is none; one that can not be read is a failure. */
static int read_file(const struct config_spec *spec, const char *named, const char *source,
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
        read_file(spec, flags->file ? flags->file : file,
                  flags->file ? "--config" : arena_printf(a, "%s_CONFIG", spec->env_prefix), a, out,
                  &ret->file, err) ||
        read_environment(spec, all, env, a, out, &file, err))
        return -1;
    for (size_t i = 0; i < flags->n; i++) {
        const struct setting *s = flags->given[i].setting;

        if (apply(spec, s, flags->given[i].text, arena_printf(a, "--%s", s->flag), a, out, err))
            return -1;
    }
    return check_required(all, out, err);
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
        char expected[SHAPE_EXPECT_SIZE];

        field_expect(leaf(s), expected);
        buf_printf(out, "| `%s` | `--%s` | `%s` | %s | ", s->dotted, s->flag, s->env, expected);
        field_default(leaf(s), out);
        buf_printf(out, " | %s |\n", leaf(s)->doc ? leaf(s)->doc : "");
    }
    buf_addc(out, '\n');
    arena_free(&a);
}
