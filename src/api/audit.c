/* SPDX-License-Identifier: MIT */
/* audit.c - see audit.h. */
#include "api/audit.h"

#include <stdlib.h>
#include <string.h>

#include "api/api_in.h"
#include "api/handlers.h"
#include "api/routes.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "store/store_apps.h"
#include "store/store_audit.h"
#include "wire/shape_text.h"

enum {
    LIST_TOLD = 3, /* of a list; the rest is a number */
    TEXT_TOLD = 128,
    FIRST_TRIM_MS = 60 * 1000,
    TRIM_MS = 24 * 3600 * 1000,
    TRIM_MORE_MS = 50, /* and while there is more that is old */
    TRIM_ROWS = 500,   /* at once, so that others come in between */
    DAY_MS = 24 * 3600 * 1000,
};

/* ---- what was asked for */

/* clang-format off */
static const char *const audit_told[] = {
    "account", "agent_id", "agent_id_list", "biz_id", "bk_agent_id", "bk_biz_id", "bk_cloud_id",
    "bk_gse_taskid", "bk_scope_id", "bk_scope_type", "business_sets", "businesses", "cloud_id", "code",
    "cpu_pool_limit", "cpu_pool_weight", "dry_run", "expect", "group_id", "host", "host_id", "hosts", "id",
    "idempotent", "ip", "ip_list", "mem_pool_limit", "mem_pool_weight", "meta", "name", "namespace", "namespaces",
    "note", "op_type", "operation", "operations", "permissions", "proc_infos", "proc_name", "proc_operate_req",
    "proc_owner", "process_group", "process_group_infos", "process_infos", "rate_per_second", "resource", "rights",
    "setup_path", "signatures", "task_id", "ttl_s", "uses", "value_key",
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
    case FIELD_RAW: return true; /* there is none that is told */
    }
    return true;
}

static void put_text(const char *text, struct buf *b)
{
    buf_quote(b, text, utf8_whole(text, strnlen(text, TEXT_TOLD)));
}

static void put_list(const struct shape *sub, const struct list *list, struct buf *b);

static void put_value(const struct field *f, const void *at, struct buf *b)
{
    const char *name;

    switch (f->type) {
    case FIELD_STR: put_text(*(const char *const *)at, b); return;
    case FIELD_INT: buf_put_int(b, *(const int64_t *)at); return;
    case FIELD_BOOL: buf_puts(b, "true"); return;
    case FIELD_LIST: put_list(f->sub, at, b); return;
    case FIELD_OBJ: put_shape(f->sub, at, b); return;
    case FIELD_ENUM:
        name = field_enum_name(f, *(const int64_t *)at);
        if (name)
            put_text(name, b);
        else
            buf_put_int(b, *(const int64_t *)at);
        return;
    case FIELD_FLOAT:
    case FIELD_MAP:
    case FIELD_SCALAR:
    case FIELD_RAW: buf_puts(b, "null"); return; /* see is_nothing() */
    }
}

/* A short one as it is; of a long one the beginning, and how many they are. */
static void put_list(const struct shape *sub, const struct list *list, struct buf *b)
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
        put_text(rest, &b);
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
    struct store *store; /* NULL: it is no longer asked */
    int64_t days;
    const struct retention *retention;
    struct timer trim;
};

struct putting {
    struct call *call;
    struct audit_row row;
    void (*then)(struct call *c);
};

/* Lists that only an admin may see change nothing. */
bool audit_is_due(const struct call *c)
{
    return c->app && c->route && c->route->right != APP_READ && c->route->methods != METHOD_GET &&
           !c->result.is_unsaid;
}

/* Of the path, where that says what is meant.  In place of its id somebody may send a token. */
static const char *rest_of(const struct call *c)
{
    if (c->route->path[strlen(c->route->path) - 1] != '*')
        return "";
    return c->route->handle == v1_token_del && strlen(c->rest) != TOKEN_ID_CHARS ? "-" : c->rest;
}

static void fill_row(const struct call *c, int64_t at_ms, struct audit_row *row)
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

/* The change has happened: the log is what is left. */
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
    p->then(p->call); /* p is the call's, and gone with it */
    store_call_free(s);
}

void audit_put(struct audit *a, struct call *c, void (*then)(struct call *c))
{
    struct putting *p = arena_alloc(c->arena, sizeof(*p));
    struct err err = call_stopping;
    struct store_call *s;

    *p = (struct putting){ .call = c, .then = then };
    fill_row(c, clock_wall_ms(loop_clock(a->loop)), &p->row);
    s = store_call_new(&store_audit_put, on_put, p);
    s->in = &p->row; /* the call's arena outlives the store's call */
    if (a->store && !store_submit(a->store, s, &err))
        return;
    store_call_free(s);
    put_in_log(p, &err);
    then(c);
}

/* ---- what is old */

static void trim(void *arg);

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

static void trim(void *arg)
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
    timer_init(&a->trim, trim, a);
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
    audit_stop(a);
    free(a);
}
