/* SPDX-License-Identifier: MIT */
/* ask.c - see ask.h. */
#include "cli/ask.h"

#include <stdio.h>
#include <string.h>

#include "base/mem/mem.h"
#include "model/operation.h"
#include "model/spec_file.h"

/* ---- words as JSON, to be read by the shapes ---- */

static void ask_put_text(struct buf *b, const char *key, const char *text)
{
    buf_printf(b, "%s\"%s\":", b->len && buf_data(b)[b->len - 1] != '{' ? "," : "", key);
    buf_quote(b, text, strlen(text));
}

static void ask_put_number(struct buf *b, const char *key, int64_t number)
{
    char text[24];

    snprintf(text, sizeof(text), "%lld", (long long)number);
    ask_put_text(b, key, text);
}

static void ask_put_list(struct buf *b, const char *key, const struct list *list)
{
    const struct word *words = list->items;

    buf_printf(b, "%s\"%s\":[", b->len && buf_data(b)[b->len - 1] != '{' ? "," : "", key);
    for (size_t i = 0; i < list->n; i++) {
        buf_puts(b, i ? "," : "");
        buf_quote(b, words[i].text, strlen(words[i].text));
    }
    buf_addc(b, ']');
}

static int read_ask(const struct shape *shape, struct buf *json, struct arena *a, void *ret,
                    struct err *err)
{
    int bad;

    buf_addc(json, '}');
    bad = shape_read(shape, buf_data(json), json->len, SHAPE_STRICT | SHAPE_TEXT, a, ret, err);
    buf_free(json);
    return bad ? -1 : 0;
}

struct option_field {
    const char *field, *option;
};

/* A copy of the shape with the names of the options as names of its fields, so that errors name the
 * option that was typed. */
static struct shape named_by_options(const struct shape *s, const struct option_field *names,
                                     struct arena *a)
{
    struct field *fields = arena_alloc(a, (SHAPE_FIELDS_MAX + 1) * sizeof(*fields));
    struct shape named = *s;

    for (size_t i = 0; s->fields[i].name; i++) {
        fields[i] = s->fields[i];
        for (const struct option_field *n = names; n->field; n++) {
            if (!strcmp(n->field, fields[i].name))
                fields[i].name = n->option;
        }
    }
    named.fields = fields;
    return named;
}

/* ---- operations ---- */

/* The namespace ends at the first slash: a name may contain more slashes. */
static bool ask_split(const char *word, struct arena *a, const char **ret_space,
                      const char **ret_name)
{
    const char *slash = strchr(word, '/');

    *ret_space = arena_memdup(a, word, slash ? (size_t)(slash - word) : strlen(word));
    *ret_name = slash ? slash + 1 : "";
    return slash && slash != word && slash[1];
}

/* The agent of this host runs it as the caller; a server has no such default. */
static int read_spec(const struct args *args, const char *space, const char *name, struct arena *a,
                     struct proc_spec *ret, struct err *err)
{
    const struct short_context context = {
        .space = space,
        .name = name,
        .user = args_has(args, OPTION_LOCAL) ? spec_file_user(a) : "",
        .pid_dir = args->pid_dir ? args->pid_dir : SHORT_PID_DIR,
    };
    struct spec_process one;

    if (spec_file_read_one(args->spec, &context, a, &one, err))
        return -1;
    *ret = one.spec;
    return 0;
}

int ask_operation(const struct args *args, enum lang lang, struct arena *a,
                  struct operation_ask *ret, struct err *err)
{
    struct buf json = { 0 };
    const char *space, *name;

    if (!ask_split(args->words[0], a, &space, &name))
        return text_err(err, ERR_INVALID, lang, TEXT_NOT_A_PROCESS, TEXT_ARGS(args->words[0]));
    buf_addc(&json, '{');
    ask_put_text(&json, "operation", operation_name(args->command->op));
    ask_put_text(&json, "namespace", space);
    ask_put_text(&json, "name", name);
    ask_put_list(&json, "hosts", &args->hosts);
    if (operation_find(args->command->op)->takes_signal)
        ask_put_text(&json, "signal", args->words[args->n_words - 1]);
    if (args_has(args, OPTION_EXPECT))
        ask_put_number(&json, "expect", args->expect);
    ask_put_text(&json, "dry_run", args->dry_run ? "true" : "false");
    ask_put_text(&json, "idempotent", args->idempotent ? "true" : "false");
    if (read_ask(&operation_ask_shape, &json, a, ret, err))
        return -1;
    if (!args_has(args, OPTION_SPEC))
        return 0;
    if (read_spec(args, space, name, a, &ret->spec, err))
        return err_wrap(err, "%s", "--spec");
    ret->has_spec = PRESENCE_GIVEN;
    return 0;
}

int ask_forget(const struct args *args, enum lang lang, struct arena *a, struct forget_ask *ret,
               struct err *err)
{
    struct word all = { "-" };
    struct buf json = { 0 };
    const char *space, *name;

    if (!ask_split(args->words[0], a, &space, &name))
        return text_err(err, ERR_INVALID, lang, TEXT_NOT_A_PROCESS, TEXT_ARGS(args->words[0]));
    buf_addc(&json, '{');
    ask_put_text(&json, "namespace", space);
    ask_put_text(&json, "name", name);
    ask_put_list(&json, "hosts", args->hosts.n ? &args->hosts : &(struct list){ &all, 1 });
    if (read_ask(&forget_ask_shape, &json, a, ret, err))
        return -1;
    if (!args->hosts.n)
        ret->hosts = (struct list){ 0 };
    return 0;
}

/* List options that may be given only once here. */
static int check_once(const struct args *args, enum lang lang, struct err *err)
{
    const struct {
        const char *name;
        const struct list *list;
    } once[] = { { "host", &args->hosts },
                 { "namespace", &args->spaces },
                 { "biz", &args->businesses } };

    for (size_t i = 0; i < ARRAY_LEN(once); i++) {
        if (once[i].list->n > 1)
            return text_err(err, ERR_INVALID, lang, TEXT_TWICE, TEXT_ARGS(once[i].name));
    }
    return 0;
}

static const char *ask_first_of(const struct list *words)
{
    return words->n ? ((const struct word *)words->items)->text : "";
}

/* "--hosted", "--hosted=yes" and "--hosted=no". */
static int put_hosted(struct buf *json, const struct args *args, enum lang lang, struct err *err)
{
    const char *text = args->hosted;

    if (!args_has(args, OPTION_HOSTED))
        return 0;
    if (*text && strcmp(text, "yes") != 0 && strcmp(text, "no") != 0)
        return text_err(err, ERR_INVALID, lang, TEXT_NOT_YES_OR_NO, TEXT_ARGS("hosted", text));
    ask_put_text(json, "hosted", strcmp(text, "no") ? "true" : "false");
    return 0;
}

/* "prod/" */
static bool is_local_group(const struct args *args, const char *space, const char *name)
{
    return args_has(args, OPTION_LOCAL) && *space && !*name;
}

int ask_processes(const struct args *args, enum lang lang, struct arena *a, struct process_ask *ret,
                  struct err *err)
{
    static const struct option_field names[] = {
        { "status", "--state" }, { "business", "--biz" }, { "text", "--match" }, { 0 }
    };
    const struct shape named = named_by_options(&process_ask_shape, names, a);
    const char *space = ask_first_of(&args->spaces), *name = "";
    struct buf json = { 0 };

    if (check_once(args, lang, err))
        return -1;
    if (args->n_words && *space)
        return text_err(err, ERR_INVALID, lang, TEXT_TWICE, TEXT_ARGS("namespace"));
    if (args->n_words && !ask_split(args->words[0], a, &space, &name) &&
        (!*args->words[0] || (strchr(args->words[0], '/') && !is_local_group(args, space, name))))
        return text_err(err, ERR_INVALID, lang, TEXT_NOT_A_PROCESS, TEXT_ARGS(args->words[0]));
    buf_addc(&json, '{');
    ask_put_text(&json, "namespace", space);
    ask_put_text(&json, "name", name);
    ask_put_text(&json, "host", ask_first_of(&args->hosts));
    if (args->businesses.n)
        ask_put_text(&json, "--biz", ask_first_of(&args->businesses));
    if (args->state)
        ask_put_text(&json, "--state", args->state);
    if (args->text)
        ask_put_text(&json, "--match", args->text);
    ask_put_number(&json, "limit", 1000);
    if (put_hosted(&json, args, lang, err)) {
        buf_free(&json);
        return -1;
    }
    return read_ask(&named, &json, a, ret, err);
}

int ask_logs(const struct args *args, const char *word, enum lang lang, struct arena *a,
             struct log_ask *ret, struct err *err)
{
    static const struct option_field names[] = { { "lines", "--lines" },
                                                 { "age_s", "--since" },
                                                 { 0 } };
    const struct shape named = named_by_options(&log_ask_shape, names, a);
    const struct word *hosts = args->hosts.items;
    const char *space, *name;
    struct buf json = { 0 };

    if (!ask_split(word, a, &space, &name))
        return text_err(err, ERR_INVALID, lang, TEXT_NOT_A_PROCESS, TEXT_ARGS(word));
    if (args->hosts.n > 1)
        return text_err(err, ERR_INVALID, lang, TEXT_TWICE, TEXT_ARGS("host"));
    if (!log_is_what(args->what))
        return text_err(err, ERR_INVALID, lang, TEXT_NOT_A_COMMAND, TEXT_ARGS(args->what));
    buf_addc(&json, '{');
    ask_put_text(&json, "namespace", space);
    ask_put_text(&json, "name", name);
    ask_put_text(&json, "host", args->hosts.n ? hosts[0].text : "");
    ask_put_text(&json, "what", args->what);
    if (args_has(args, OPTION_LINES) || args_has(args, OPTION_SINCE))
        ask_put_number(&json, "--lines", args->lines); /* 0: all of that time */
    if (args_has(args, OPTION_SINCE))
        ask_put_number(&json, "--since", args->since_s);
    return read_ask(&named, &json, a, ret, err);
}

int ask_events(const struct args *args, enum lang lang, int64_t now_s, struct arena *a,
               struct event_ask *ret, struct err *err)
{
    const struct word *hosts = args->hosts.items, *spaces = args->spaces.items;
    struct buf json = { 0 };

    if (args->hosts.n > 1 || args->spaces.n > 1)
        return text_err(err, ERR_INVALID, lang, TEXT_TWICE,
                        TEXT_ARGS(args->hosts.n > 1 ? "host" : "namespace"));
    buf_addc(&json, '{');
    ask_put_text(&json, "host", args->hosts.n ? hosts[0].text : "");
    ask_put_text(&json, "namespace", args->spaces.n ? spaces[0].text : "");
    if (args_has(args, OPTION_SINCE))
        ask_put_number(&json, "since_s", now_s > args->since_s ? now_s - args->since_s : 0);
    return read_ask(&event_ask_shape, &json, a, ret, err);
}

/* ---- apps and tokens ---- */

/* A single empty word stands for the empty list, which means all. */
static void put_given(struct buf *b, const struct args *args, enum option_id id, const char *key,
                      const struct list *list)
{
    const struct word *words = list->items;
    const struct list none = { 0 };

    if (args_has(args, id))
        ask_put_list(b, key, list->n == 1 && !*words[0].text ? &none : list);
}

int ask_permissions(const struct args *args, enum lang lang, struct arena *a,
                    struct app_permissions *to, struct err *err)
{
    /* Errors have the paths of a new app's request. */
    static const struct field fields[] = {
        { "permissions", .type = FIELD_OBJ, .sub = &app_permissions_shape }, { 0 }
    };
    static const struct shape in_app = { "permissions", sizeof(*to), fields };
    const char *signs = args_has(args, OPTION_SIGNATURES) ? args->signatures : "no";
    struct buf json = { 0 };
    int bad;

    if (*signs && strcmp(signs, "yes") != 0 && strcmp(signs, "no") != 0)
        return text_err(err, ERR_INVALID, lang, TEXT_NOT_YES_OR_NO, TEXT_ARGS("signatures", signs));
    buf_puts(&json, "{\"permissions\":{");
    put_given(&json, args, OPTION_RIGHT, "rights", &args->rights);
    put_given(&json, args, OPTION_OPERATION, "operations", &args->operations);
    put_given(&json, args, OPTION_NAMESPACE, "namespaces", &args->spaces);
    put_given(&json, args, OPTION_BIZ, "businesses", &args->businesses);
    put_given(&json, args, OPTION_BIZ_SET, "business_sets", &args->business_sets);
    if (args_has(args, OPTION_RATE))
        ask_put_number(&json, "rate_per_second", args->rate);
    if (args_has(args, OPTION_SIGNATURES))
        ask_put_text(&json, "signatures", strcmp(signs, "no") ? "true" : "false");
    buf_puts(&json, "}}");
    bad = shape_read(&in_app, buf_data(&json), json.len, SHAPE_STRICT | SHAPE_TEXT | SHAPE_OVERLAY,
                     a, to, err);
    buf_free(&json);
    return bad ? -1 : 0;
}

int ask_app(const struct args *args, enum lang lang, struct arena *a, struct app_ask *ret,
            struct err *err)
{
    struct buf json = { 0 };

    buf_addc(&json, '{');
    ask_put_text(&json, "code", args->words[0]);
    if (read_ask(&app_ask_shape, &json, a, ret, err) ||
        ask_permissions(args, lang, a, &ret->permissions, err))
        return -1;
    if (args->rotate && !app_is_plain(&ret->permissions))
        return text_err(err, ERR_INVALID, lang, TEXT_ROTATE_ALONE, NULL);
    return 0;
}

int ask_token(const struct args *args, enum lang lang, struct arena *a, struct token_ask *ret,
              struct err *err)
{
    const char *ttl = text_get(lang, TEXT_TTL_IN_SECONDS);
    const struct option_field names[] = { { "cloud_id", "--cloud" }, { "biz_id", "--biz" },
                                          { "ttl_s", ttl },          { "uses", "--uses" },
                                          { "note", "--note" },      { 0 } };
    const struct shape named = named_by_options(&token_ask_shape, names, a);
    const struct word *businesses = args->businesses.items;
    struct buf json = { 0 };

    if (args->businesses.n > 1)
        return text_err(err, ERR_INVALID, lang, TEXT_TWICE, TEXT_ARGS("biz"));
    buf_addc(&json, '{');
    ask_put_number(&json, "--cloud", args->cloud);
    if (args->businesses.n)
        ask_put_text(&json, "--biz", businesses[0].text);
    if (args_has(args, OPTION_TTL))
        ask_put_number(&json, ttl, args->ttl_s);
    if (args_has(args, OPTION_USES))
        ask_put_number(&json, "--uses", args->uses);
    ask_put_text(&json, "--note", args->note);
    ask_put_text(&json, "relay", args->relay ? "true" : "false");
    return read_ask(&named, &json, a, ret, err);
}
