/* SPDX-License-Identifier: MIT */
/* audit.c - see audit.h. */
#include "api/pipeline/audit.h"

#include <stdlib.h>
#include <string.h>

#include "api/pipeline/api_state.h"
#include "api/pipeline/audit_fold.h"
#include "api/pipeline/handlers.h"
#include "api/pipeline/routes.h"
#include "base/mem/mem.h"
#include "base/text/utf8.h"
#include "store/store_apps.h"
#include "store/store_audit.h"
#include "wire/json/field.h"

enum {
    LIST_TOLD = 3, /* items of a list that are shown; beyond that only their number */
    TEXT_TOLD = 128,
    FIRST_TRIM_MS = 60 * 1000,
    TRIM_MS = 24 * 3600 * 1000,
    TRIM_MORE_MS = 50, /* while there are more old rows */
    TRIM_ROWS = 500,   /* per transaction, so that other writes are not delayed */
    DAY_MS = 24 * 3600 * 1000,
};

/* ---- the request */

/* clang-format off */
static const char *const audit_told[] = {
    "account", "agent_id", "agent_id_list", "biz_id", "bk_agent_id", "bk_biz_id", "bk_cloud_id",
    "bk_gse_taskid", "bk_scope_id", "bk_scope_type", "business_sets", "businesses", "cloud_id", "code",
    "cpu_pool_limit", "cpu_pool_weight", "dry_run", "expect", "group_id", "host", "host_id", "hosts", "id",
    "idempotent", "ip", "ip_list", "mem_pool_limit", "mem_pool_weight", "meta", "name", "namespace", "namespaces",
    "note", "op_type", "operation", "operations", "permissions", "proc_infos", "proc_name", "proc_operate_req",
    "proc_owner", "process_group", "process_group_infos", "process_infos", "rate_per_second", "relay", "resource",
    "rights",
    "setup_path", "signal", "signatures", "task_id", "ttl_s", "uses", "value_key",
};
/* clang-format on */

bool audit_tells(const struct field *f)
{
    if (f->flags & FIELD_SECRET)
        return false;
    for (size_t i = 0; i < ARRAY_LEN(audit_told); i++) {
        if (!strcmp(audit_told[i], f->name))
            return true;
    }
    return false;
}

static void put_shape(const struct shape *s, const void *at, struct buf *b);

static bool is_nothing(const struct field *f, const void *at)
{
    const char *text;

    switch (f->type) {
    case FIELD_STR: text = *(const char *const *)at; return !text || !*text;
    case FIELD_BOOL: return !*(const bool *)at;
    case FIELD_LIST: return ((const struct list *)at)->n == 0;
    case FIELD_ENUM:
    case FIELD_OBJ:
    case FIELD_INT: return false;
    case FIELD_FLOAT:
    case FIELD_MAP:
    case FIELD_SCALAR:
    case FIELD_RAW: return true; /* audit_told has no such fields */
    }
    return true;
}

static void audit_put_text(const char *text, struct buf *b)
{
    buf_quote(b, text, utf8_cut(text, TEXT_TOLD));
}

static void audit_put_list(const struct shape *sub, const struct list *list, struct buf *b);

static void put_value(const struct field *f, const void *at, struct buf *b)
{
    const char *name;

    switch (f->type) {
    case FIELD_STR: audit_put_text(*(const char *const *)at, b); return;
    case FIELD_INT: buf_put_int(b, *(const int64_t *)at); return;
    case FIELD_BOOL: buf_puts(b, "true"); return;
    case FIELD_LIST: audit_put_list(f->sub, at, b); return;
    case FIELD_OBJ: put_shape(f->sub, at, b); return;
    case FIELD_ENUM:
        name = field_enum_name(f, *(const int64_t *)at);
        if (name)
            audit_put_text(name, b);
        else
            buf_put_int(b, *(const int64_t *)at);
        return;
    case FIELD_FLOAT:
    case FIELD_MAP:
    case FIELD_SCALAR:
    case FIELD_RAW: buf_puts(b, "null"); return; /* see is_nothing() */
    }
}

/* A short list is written as it is; a long one as its first items and its length. */
static void audit_put_list(const struct shape *sub, const struct list *list, struct buf *b)
{
    bool is_long = list->n > LIST_TOLD;

    if (is_long)
        buf_printf(b, "{\"n\":%zu,\"first\":", list->n);
    buf_addc(b, '[');
    for (size_t i = 0; i < list->n && i < LIST_TOLD; i++) {
        const char *at = (const char *)list->items + i * sub->size;

        buf_puts(b, i ? "," : "");
        if (sub->bare)
            put_value(sub->fields, at + sub->fields->offset, b);
        else
            put_shape(sub, at, b);
    }
    buf_puts(b, is_long ? "]}" : "]");
}

static void put_shape(const struct shape *s, const void *at, struct buf *b)
{
    const char *between = "";

    buf_addc(b, '{');
    for (const struct field *f = s->fields; f->name; f++) {
        const void *value = (const char *)at + f->offset;
        const enum presence *has = (const void *)((const char *)at + f->has);

        if (!audit_tells(f) || (f->has && *has != PRESENCE_GIVEN) || is_nothing(f, value))
            continue;
        buf_printf(b, "%s\"%s\":", between, f->name);
        put_value(f, value, b);
        between = ",";
    }
    buf_addc(b, '}');
}

const char *audit_what(const struct shape *s, const void *ask, const char *rest, struct arena *a)
{
    struct buf b = { 0 };
    const char *text;

    if (*rest) {
        buf_puts(&b, "{\"id\":");
        audit_put_text(rest, &b);
    }
    if (s && ask) {
        buf_puts(&b, *rest ? ",\"ask\":" : "");
        put_shape(s, ask, &b);
    }
    buf_puts(&b, *rest ? "}" : "");
    text = b.len ? arena_strdup(a, buf_text(&b)) : NULL;
    buf_free(&b);
    return text;
}

/* ---- rows */

struct audit {
    struct loop *loop;
    struct log *log;
    struct store *store; /* NULL: stopped */
    int64_t days;
    const struct retention *retention;
    struct timer trim;
    struct audit_folds *folds;
};

struct putting {
    struct call *call;
    struct audit_row row;
    void (*then)(struct call *c);
};

/* A GET that only an admin may use changes nothing. */
bool audit_is_due(const struct call *c)
{
    return c->app && c->route && c->route->right != APP_READ && c->route->methods != METHOD_GET &&
           !c->result.is_unrecorded;
}

/* The word of the path that identifies the object.  A client may send a token instead of its id: it
 * must not be recorded. */
static const char *rest_of(const struct call *c)
{
    if (c->route->path[strlen(c->route->path) - 1] != '*')
        return "";
    return c->route->handle == v1_token_del && strlen(c->rest) != TOKEN_ID_CHARS ? "-" : c->rest;
}

static void audit_fill_row(const struct call *c, int64_t at_ms, struct audit_row *row)
{
    *row = (struct audit_row){
        .at_ms = at_ms,
        .request_id = c->request_id,
        .app = c->app->code,
        .user = c->user,
        .is_proven = c->user_is_proven,
        .peer = c->req->peer ? c->req->peer : "",
        .method = c->req->head.method,
        .route = c->route->path,
        .what = c->result.what ? c->result.what
                               : audit_what(c->route->in, c->ask, rest_of(c), c->arena),
        .code = c->result.code,
        .code_name = c->result.name ? c->result.name : "",
        .message = c->result.message ? c->result.message : "",
        .task_id = c->result.task_id ? c->result.task_id : "",
    };
}

/* The change is done and can not be recorded in the store: record it in the server's log. */
static void put_in_log(const struct putting *p, const struct err *err)
{
    const struct audit_row *row = &p->row;

    LOG(p->call->api->parts.log, LOG_ERROR,
        "THE AUDIT LOG LACKS A CHANGE: the store did not take it", log_str("app", row->app),
        log_str("user", row->user), log_str("from", row->peer), log_str("route", row->route),
        log_str("what", row->what ? row->what : ""), log_int("code", row->code),
        log_str("task", row->task_id), log_str("request_id", row->request_id), log_err(err));
}

static void on_put(void *arg, struct store_call *s)
{
    struct putting *p = arg;

    if (s->failed)
        put_in_log(p, &s->err);
    p->then(p->call); /* p is in the call's arena and freed with it */
    store_call_free(s);
}

/* ---- repeated refusals */

static void on_fold_put(void *arg, struct store_call *s)
{
    const struct audit *a = arg;
    const struct audit_row *row = s->in;

    if (s->failed)
        LOG(a->log, LOG_ERROR, "the audit log lacks refusals: the store did not take them",
            log_str("app", row->app), log_str("from", row->peer), log_int("number", row->repeats),
            log_err(&s->err));
    store_call_free(s);
}

static void put_fold(void *arg, const struct audit_row *row)
{
    struct audit *a = arg;
    struct store_call *s = store_call_new(&store_audit_put, on_fold_put, a);
    struct audit_row *copy = arena_alloc(&s->arena, sizeof(*copy));

    *copy = *row;
    copy->request_id = arena_strdup(&s->arena, row->request_id);
    copy->app = arena_strdup(&s->arena, row->app);
    copy->user = arena_strdup(&s->arena, row->user);
    copy->peer = arena_strdup(&s->arena, row->peer);
    copy->method = arena_strdup(&s->arena, row->method);
    copy->route = arena_strdup(&s->arena, row->route);
    copy->what = row->what ? arena_strdup(&s->arena, row->what) : NULL;
    copy->message = arena_strdup(&s->arena, row->message);
    copy->task_id = arena_strdup(&s->arena, row->task_id);
    copy->code_name = arena_strdup(&s->arena, row->code_name);
    s->in = copy;
    s->err = call_stopping;
    if (a->store && !store_submit(a->store, s, &s->err))
        return;
    s->failed = true;
    on_fold_put(a, s);
}

void audit_flush(struct audit *a)
{
    audit_folds_flush(a->folds);
}

void audit_put(struct audit *a, struct call *c, void (*then)(struct call *c))
{
    struct putting *p = arena_alloc(c->arena, sizeof(*p));
    struct err err = call_stopping;
    struct store_call *s;

    *p = (struct putting){ .call = c, .then = then };
    audit_fill_row(c, clock_wall_ms(loop_clock(a->loop)), &p->row);
    if (c->result.is_refusal && audit_folds_take(a->folds, &p->row)) {
        then(c);
        return;
    }
    s = store_call_new(&store_audit_put, on_put, p);
    s->in = &p->row; /* the call's arena outlives the store's call */
    if (a->store && !store_submit(a->store, s, &err))
        return;
    store_call_free(s);
    put_in_log(p, &err);
    then(c);
}

/* ---- old rows */

static void trim_old_rows(void *arg);

static void on_trimmed(void *arg, struct store_call *s)
{
    struct audit *a = arg;
    const struct list *gone = s->out;
    bool more = !s->failed && gone->n == TRIM_ROWS;

    if (s->failed)
        LOG(a->log, LOG_WARN, "old rows of the audit log stay for another day", log_err(&s->err));
    store_call_free(s);
    if (a->store && more)
        timer_set(a->loop, &a->trim, TRIM_MORE_MS);
}

static void trim_old_rows(void *arg)
{
    struct audit *a = arg;
    struct store_call *s = store_call_new(&store_audit_trim, on_trimmed, a);
    struct audit_trim *ask = arena_alloc(&s->arena, sizeof(*ask));
    struct err err;

    timer_set(a->loop, &a->trim, TRIM_MS);
    ask->before_ms = retention_now_ms(a->retention, loop_clock(a->loop)) - a->days * DAY_MS;
    ask->limit = TRIM_ROWS;
    s->in = ask;
    if (!store_submit(a->store, s, &err))
        return;
    store_call_free(s);
    LOG(a->log, LOG_WARN, "old rows of the audit log stay for another day", log_err(&err));
}

struct audit *audit_new(struct loop *loop, struct log *log, struct store *store, int64_t days,
                        const struct retention *retention)
{
    struct audit *a = xalloc(sizeof(*a));

    *a = (struct audit){
        .loop = loop, .log = log, .store = store, .days = days, .retention = retention
    };
    a->folds = audit_folds_new(loop, put_fold, a);
    timer_init(&a->trim, trim_old_rows, a);
    if (days)
        timer_set(loop, &a->trim, FIRST_TRIM_MS);
    return a;
}

void audit_stop(struct audit *a)
{
    if (!a)
        return;
    timer_stop(a->loop, &a->trim);
    a->store = NULL;
}

void audit_free(struct audit *a)
{
    if (!a)
        return;
    audit_stop(a);
    audit_folds_free(a->folds);
    free(a);
}
