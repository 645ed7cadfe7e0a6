/* SPDX-License-Identifier: MIT */
/* audit_what.c - see audit_what.h. */
#include "cli/audit_what.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem/mem.h"
#include "cli/text.h"
#include "model/operation.h"
#include "model/proc.h"
#include "model/task.h"
#include "model/why_write.h"
#include "wire/json/json.h"

/* Values collected while reading the JSON. */
struct what {
    struct json json;
    struct arena arena;
    enum lang lang;
    bool is_manage;                /* Job's calls to host and unhost have numbers of their own */
    const char *op, *space, *name; /* NULL: absent */
    int64_t hosts, others;         /* number of hosts; number of operations after the first */
    struct buf host_names, rest;   /* "a, b"; "key=value key=value" */
};

static int audit_what_walk(struct what *w, const char *key);

/* ---- single values ---- */

static const char *audit_what_copy_text(struct what *w, const struct json_text *text)
{
    size_t ignored; /* the text is NUL-terminated */

    return json_text_copy(text, &w->arena, &ignored);
}

static int audit_what_read_text(struct what *w, const char **ret)
{
    struct json_text text;
    struct json_number number;
    enum json_kind kind;
    bool is_true = false;

    if (json_peek(&w->json, &kind))
        return -1;
    if (kind == JSON_KIND_STRING) {
        if (json_read_string(&w->json, &text))
            return -1;
        *ret = audit_what_copy_text(w, &text);
        return 0;
    }
    if (kind == JSON_KIND_NUMBER) {
        if (json_read_number(&w->json, &number))
            return -1;
        *ret = arena_memdup(&w->arena, number.p, number.n);
        return 0;
    }
    *ret = kind == JSON_KIND_NULL ? "-" : "no";
    if (kind == JSON_KIND_BOOL && json_read_bool(&w->json, &is_true))
        return -1;
    if (is_true)
        *ret = "yes";
    return kind == JSON_KIND_NULL ? json_read_null(&w->json) : 0;
}

static void add_rest(struct what *w, const char *key, const char *value)
{
    buf_printf(&w->rest, "%s%s=%s", w->rest.len ? " " : "", key, value);
}

static const char *op_name(const struct what *w, const char *text)
{
    const struct operation *o = operation_find_name(text);
    char *end;
    long long number = strtoll(text, &end, 10);

    if (!o && !strcmp(text, "rotate")) /* of a secret */
        return text_get(w->lang, TEXT_ROTATE);
    if (!o && !*end)
        o = w->is_manage && operation_find_managed(number) ? operation_find_managed(number)
                                                           : operation_find(number);
    return o ? o->verb[w->lang] : text;
}

static int take_single(struct what *w, const char *key)
{
    const char *text;

    if (audit_what_read_text(w, &text))
        return -1;
    if (!strcmp(key, "op_type") || !strcmp(key, "operation"))
        w->op = op_name(w, text);
    else if (!strcmp(key, "namespace") && !w->space)
        w->space = text;
    else if ((!strcmp(key, "name") || !strcmp(key, "proc_name")) && !w->name)
        w->name = text;
    else
        add_rest(w, key, text);
    return 0;
}

/* ---- hosts ---- */

static bool is_hosts(const char *key)
{
    static const char *const keys[] = { "hosts", "ip_list", "agent_id_list" };

    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        if (!strcmp(keys[i], key))
            return true;
    }
    return false;
}

/* By its address if there is one, with the cloud area unless that is 0. */
static int audit_what_read_host(struct what *w, const char **ret)
{
    const char *cloud = "0", *best = "?", *value, *key;
    enum json_kind kind;
    struct json_walk walk_in;
    bool more;

    if (json_peek(&w->json, &kind))
        return -1;
    if (kind != JSON_KIND_OBJECT)
        return audit_what_read_text(w, ret);
    if (json_enter(&w->json, JSON_KIND_OBJECT, &walk_in))
        return -1;
    while (json_next(&w->json, &walk_in, &more) == 0 && more) {
        key = audit_what_copy_text(w, &walk_in.key);
        if (audit_what_read_text(w, &value))
            return -1;
        if (!strcmp(key, "bk_cloud_id") || !strcmp(key, "cloud_id"))
            cloud = value;
        else if (!strcmp(best, "?") || !strcmp(key, "ip"))
            best = value;
    }
    *ret = strcmp(cloud, "0") ? arena_printf(&w->arena, "%s:%s", cloud, best) : best;
    return more ? -1 : 0;
}

static int take_host(struct what *w)
{
    const char *name;

    if (audit_what_read_host(w, &name))
        return -1;
    buf_printf(&w->host_names, "%s%s", w->host_names.len ? ", " : "", name);
    w->hosts++;
    return 0;
}

/* ---- lists and objects ---- */

static int take_item(struct what *w, const char *key, size_t i, struct buf *singles)
{
    enum json_kind kind;
    const char *text;

    if (is_hosts(key))
        return take_host(w);
    if (json_peek(&w->json, &kind))
        return -1;
    if (kind == JSON_KIND_OBJECT && i) {
        w->others++;
        return json_skip(&w->json);
    }
    if (kind == JSON_KIND_OBJECT)
        return audit_what_walk(w, key);
    if (audit_what_read_text(w, &text))
        return -1;
    buf_printf(singles, "%s%s", singles->len ? "," : "", text);
    return 0;
}

/* Of several operations only the first is shown. */
static int take_list(struct what *w, const char *key)
{
    struct json_walk walk_in;
    struct buf singles = { 0 };
    int bad = json_enter(&w->json, JSON_KIND_LIST, &walk_in);
    bool more = !bad;

    for (size_t i = 0; !bad && more; i++) {
        bad = json_next(&w->json, &walk_in, &more);
        if (!bad && more)
            bad = take_item(w, key, i, &singles);
    }
    if (singles.len)
        add_rest(w, key, buf_text(&singles));
    buf_free(&singles);
    return bad ? -1 : 0;
}

/* { "n": 50, "first": [...] } is a shortened list. */
static int take_count(struct what *w, int64_t *ret)
{
    struct json_number number;
    enum json_kind kind;

    if (json_peek(&w->json, &kind) || kind != JSON_KIND_NUMBER ||
        json_read_number(&w->json, &number))
        return -1;
    *ret = number.i;
    return 0;
}

static int take_object(struct what *w, const char *key)
{
    struct json_walk walk_in;
    int64_t n = 0;
    bool more;

    if (json_enter(&w->json, JSON_KIND_OBJECT, &walk_in))
        return -1;
    while (json_next(&w->json, &walk_in, &more) == 0 && more) {
        const char *inner = audit_what_copy_text(w, &walk_in.key);

        if (!strcmp(inner, "n") ? take_count(w, &n)
                                : audit_what_walk(w, strcmp(inner, "first") ? inner : key))
            return -1;
    }
    if (n && is_hosts(key)) {
        w->hosts = n;
        buf_puts(&w->host_names, " ...");
    } else if (n > 1 && w->others) {
        w->others = n - 1;
    } else if (n) {
        buf_printf(&w->rest, " (%lld)", (long long)n);
    }
    return more ? -1 : 0;
}

static int audit_what_walk(struct what *w, const char *key)
{
    enum json_kind kind;

    if (json_peek(&w->json, &kind))
        return -1;
    if (kind == JSON_KIND_OBJECT)
        return take_object(w, key);
    return kind == JSON_KIND_LIST ? take_list(w, key) : take_single(w, key);
}

/* ---- output ---- */

static void join(struct buf *to, const char *text)
{
    buf_printf(to, "%s%s", to->len ? "; " : "", text);
}

static void audit_what_put_process(const struct what *w, struct buf *to)
{
    const char *process = NULL;
    struct arena a = { 0 };

    if (w->space && w->name)
        process = arena_printf(&a, "%s/%s", w->space, w->name);
    else
        process = w->name ? w->name : w->space;
    if (w->op && process)
        join(to, arena_printf(&a, "%s %s", w->op, process));
    else if (w->op || process)
        join(to, w->op ? w->op : process);
    arena_free(&a);
}

static void put_count(const struct what *w, enum text one, enum text many, int64_t n,
                      struct buf *to)
{
    char number[24];

    snprintf(number, sizeof(number), "%lld", (long long)n);
    text_put(to, w->lang, n == 1 ? one : many, TEXT_ARGS(number));
}

static void put_hosts(struct what *w, struct buf *to)
{
    struct buf count = { 0 }, all = { 0 };

    if (!w->hosts)
        return;
    put_count(w, TEXT_ONE_HOST, TEXT_MANY_HOSTS, w->hosts, &count);
    text_put(&all, w->lang, TEXT_WITH_DETAIL,
             TEXT_ARGS(buf_text(&count), buf_text(&w->host_names)));
    join(to, buf_text(&all));
    buf_free(&count);
    buf_free(&all);
}

static void audit_what_put_all(struct what *w, struct buf *to)
{
    struct buf line = { 0 };

    audit_what_put_process(w, &line);
    put_hosts(w, &line);
    if (w->others) {
        struct buf more = { 0 };

        put_count(w, TEXT_ONE_MORE, TEXT_MANY_MORE, w->others, &more);
        join(&line, buf_text(&more));
        buf_free(&more);
    }
    if (w->rest.len)
        join(&line, buf_text(&w->rest));
    buf_add(to, buf_data(&line), line.len);
    buf_free(&line);
}

void audit_what_put(struct buf *to, const char *route, const char *json, enum lang lang)
{
    struct what w = { .lang = lang, .is_manage = !strncmp(route, "manage_proc", 11) };
    struct err err;

    if (!json || !*json)
        return;
    json_init(&w.json, json, strlen(json), &w.arena, &err);
    if (audit_what_walk(&w, "") || json_finish(&w.json))
        buf_puts(to, json);
    else
        audit_what_put_all(&w, to);
    json_done(&w.json);
    buf_free(&w.host_names);
    buf_free(&w.rest);
    arena_free(&w.arena);
}
