/* SPDX-License-Identifier: MIT */
/* Every endpoint with everything that can be wrong with a request to it, derived from the route
 * table and the shapes: new rows and new fields are covered automatically.
 *
 * Each time the answer has the dialect's code and the full path of the field; nothing is stored, no
 * agent gets a command, and the server keeps running.  With the header for Chinese the whole answer
 * except the path is Chinese.  HTTP, gate, tasks, fleet, groups, events and store are real; agents
 * are simulated by the test. */
#include "api/pipeline/routes.h"
#include "base/os/time.h"
#include "model/rules.h"
#include "model/task.h"
#include "server/events/events.h"
#include "server/registry/groups.h"
#include "server/registry/pushes.h"
#include "server/sessions/logs.h"
#include "tests/lib/broken.h"
#include "tests/lib/english.h"
#include "tests/unit/api/server_world.h"

#include <inttypes.h>

/* Replaces the C library's function for SQLite: nothing here tests disks, and thousands of refused
 * attempts are recorded. */
int fdatasync(int fd)
{
    (void)fd;
    return 0;
}

int fsync(int fd)
{
    (void)fd;
    return 0;
}

/* ---- a server, and an app without limits */

struct bad_world {
    struct server_world v; /* first */
    struct pushes *pushes;
    struct groups *groups;
    struct logs *logs;
    struct db *db;
    size_t n_sent;
    int64_t item;
    char task[64], old_secret[256];
    struct map sentences; /* that were asked for in Chinese, without numbers */
    struct arena arena;
};

static void on_send(void *arg, const char *agent, int64_t epoch, unsigned type,
                    const struct shape *s, const void *message)
{
    struct bad_world *b = arg;

    (void)agent, (void)epoch, (void)type, (void)s, (void)message;
    b->n_sent++;
}

/* The only command before the tests begin. */
static void on_command(void *arg, const char *agent, int64_t epoch, unsigned type,
                       const struct shape *s, const void *message)
{
    struct bad_world *b = arg;

    if (type == MESSAGE_COMMAND)
        b->item = ((const struct message_command *)message)->item;
    on_send(arg, agent, epoch, type, s, message);
}

static const struct tasks_effects counting_effects = { on_command };

/* A secret that was rotated twice, and is invalid. */
static void make_apps(struct bad_world *b)
{
    struct world *w = &b->v.w;
    json_t *made;

    world_put_app(w, "chief", "{\"rights\":[\"read\",\"operate\",\"admin\",\"metrics\"]}");
    world_put_app(w, "reader", "{\"rights\":[\"read\"]}");
    world_put_app(w, "actor", "{\"rights\":[\"operate\"]}");
    world_put_app(w, "tenant", "{\"businesses\":[77]}");
    for (int i = 0; i < 3; i++) {
        world_admin(w, "POST", i ? "/v1/apps?rotate=1" : "/v1/apps", "{\"code\":\"turned\"}");
        made = json_loads(w->body, 0, NULL);
        if (!i)
            snprintf(b->old_secret, sizeof(b->old_secret), "%s", server_world_text(made, "secret"));
        json_decref(made);
    }
}

/* Businesses, a set, and a finished task: the agent gets no more commands for it. */
static void make_things(struct bad_world *b)
{
    struct world *w = &b->v.w;
    struct message_result result;

    make_apps(b);
    store_rig_do(&w->store, &store_token_put, &(struct token_row){ .hash = "sha256:0123456789ab" },
                 NULL);
    world_admin(w, "PUT", "/v1/businesses", "{\"id\":1,\"name\":\"one\"}");
    world_admin(w, "PUT", "/v1/businesses", "{\"id\":77,\"name\":\"spare\"}");
    world_admin(w, "PUT", "/v1/business_sets", "{\"id\":8000077,\"name\":\"spare\"}");
    assert_int_equal(w->status, 200);
    server_world_operate(&b->v,
                         "{\"operation\":\"query\",\"namespace\":\"gse\",\"name\":\"q\","
                         "\"hosts\":[\"a1\"]}",
                         b->task);
    TURN_UNTIL(&w->rig, b->n_sent == 1);
    result = (struct message_result){ .task = b->task, .item = b->item, .text = "" };
    shape_defaults(&proc_view_shape, &result.view);
    result.view.space = "gse";
    result.view.name = "q";
    tasks_on_message(b->v.tasks, "a1", b->v.epoch, MESSAGE_RESULT, &result);
    TURN_UNTIL(&w->rig, b->n_sent == 2); /* the result is stored: the last message to the agent */
}

/* ---- what must not change */

struct counted {
    int64_t n;
};
static const struct field counted_fields[] = { DB_NUMBER(counted, n), { 0 } };
static const struct shape counted_shape = DB_SHAPE(counted, counted_fields);

struct table {
    const char *name;
};
static const struct field table_fields[] = { DB_TEXT(table, name), { 0 } };
static const struct shape table_shape = DB_SHAPE(table, table_fields);

static struct list ask_db(struct bad_world *b, const char *sql, const struct shape *out)
{
    const struct query q = { .sql = sql, .out = out };
    struct list rows;
    struct err err;

    if (db_run(b->db, &q, NULL, &b->v.w.store.arena, &rows, &err))
        fail_msg("%s", err.text);
    return rows;
}

/* "app 5, host 3, ..."; rows of the audit log do not count. */
static void count_rows(struct bad_world *b, char to[1024])
{
    struct list tables = ask_db(
        b, "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name", &table_shape);
    size_t at = 0;

    to[0] = '\0';
    for (size_t i = 0; i < tables.n; i++) {
        const char *name = ROW(table, tables, i)->name;
        char sql[128];

        if (!strcmp(name, "audit"))
            continue;
        snprintf(sql, sizeof(sql), "SELECT count(*) FROM %s", name);
        at += (size_t)snprintf(to + at, 1024 - at, "%s %lld, ", name,
                               (long long)ROW(counted, ask_db(b, sql, &counted_shape), 0)->n);
    }
}

/* Reports of agents are stored a little later. */
static void wait_written(struct bad_world *b)
{
    static const char sql[] = "SELECT count(*) AS n FROM process";

    for (int i = 0; i < 1000; i++) {
        if (ROW(counted, ask_db(b, sql, &counted_shape), 0)->n == 2)
            return;
        rig_turn_in(&b->v.w.rig, 100, 1);
    }
    fail_msg("never written");
}

static int setup(void **state)
{
    static const struct events_settings none = { .file = "", .node = "main" };
    struct bad_world *b = xalloc(sizeof(*b));
    struct server_world *v = &b->v;
    struct err err;

    world_init(&v->w);
    v->fleet = fleet_new(v->w.rig.loop, NULL, v->w.store.store);
    v->tasks = tasks_new(v->w.rig.loop, NULL, v->w.store.store, v->fleet, &counting_effects, b);
    b->pushes = pushes_new(v->w.rig.loop, NULL, v->fleet, on_send, b);
    b->groups = groups_new(v->w.rig.loop, NULL, v->w.store.store, v->fleet, on_send, b);
    if (fleet_load(v->fleet, &err) || tasks_load(v->tasks, &err) || groups_load(b->groups, &err) ||
        events_new(v->w.rig.loop, NULL, v->w.store.store, &none, &v->w.events, &err) ||
        events_load(v->w.events, v->fleet, &err) || db_open(v->w.store.url, DB_READ, &b->db, &err))
        fail_msg("%s", err.text);
    server_world_put_host(v, "a1", 0, "10.0.0.1", 1);
    server_world_put_host(v, "a2", 0, "10.0.0.2", 2);
    server_world_put_host(v, "a3", 0, "10.0.0.3", 1);
    server_world_connect(v, "a1");
    server_world_put_proc(v, "a1", "p");
    server_world_put_proc(v, "a1", "q");
    world_open(&v->w, v->fleet, v->tasks);
    b->logs = logs_new(v->w.rig.loop, on_send, b);
    v->w.api->parts.logs = b->logs;
    v->w.api->parts.groups = b->groups;
    make_things(b);
    wait_written(b);
    *state = b;
    return 0;
}

static int teardown(void **state)
{
    struct bad_world *b = *state;
    struct server_world *v = &b->v;
    struct events *events = v->w.events;

    db_close(b->db);
    world_close_doors(&v->w);
    api_stop(v->w.api);
    logs_free(b->logs);
    groups_free(b->groups);
    pushes_free(b->pushes);
    tasks_free(v->tasks);
    events_stop(events);
    fleet_free(v->fleet);
    events_free(events);
    world_done(&v->w);
    json_decref(v->answer);
    map_free(&b->sentences);
    arena_free(&b->arena);
    free(b);
    return 0;
}

/* ---- one row of the table at one place */

struct trial {
    struct bad_world *b;
    const struct route *route;
    const struct place *place;
    char path[256];
    const char *method;
    bool by_query;
    json_t *least;
    struct broken_hint *hints;
    size_t n_tried;
};

/* A text in quotes is JSON; the task's id is filled in. */
static const struct broken_hint all_hints[] = {
    { "task_id", NULL, false },
    { "bk_gse_taskid", NULL, false },
    { "hosts", NULL, true },
    { "host", "\"a1\"", true },
    { "ip", "\"10.0.0.1\"", false },
    { "bk_cloud_id", "0", false },
    { "bk_biz_id", "1", true },
    { "bk_agent_id", "\"a1\"", false },
    { "agent_id", "\"a1\"", false },
    { "namespace", "\"gse\"", false },
    { "name", NULL, false },
    { "op_type", "2", false },
    { "operation", "\"query\"", false },
    { "proc_name", "\"p\"", true },
    { "setup_path", "\"/a\"", true },
    { "pid_path", "\"/a/p\"", true },
    { "monitor_policy", NULL, true },
    { "auto_type", "1", true },
    { "code", "\"fresh\"", false },
    { "id", "78", false },
    { 0 },
};

/* Some field names have another meaning in one endpoint. */
static const struct {
    const char *route, *name, *json;
} own_hints[] = {
    { "/v1/logs", "host", "\"a3\"" }, /* no agent answers for a1 */
    { "/v1/business_sets", "id", "8000078" },
    { "set_process_group_info", "id", "\"gse\"" },
    { "/procapi/v1/proc/groupinfo", "id", "\"gse\"" },
};

/* The value of "*". */
static const struct {
    const char *route, *rest;
} rests[] = {
    { "/v1/businesses/*", "77" },
    { "/v1/business_sets/*", "8000077" },
    { "/v1/apps/*", "reader" },
    { "/v1/tokens/*", "0123456789ab" },
};

static void fill_hints(struct trial *t)
{
    static char task[80];

    t->hints = xalloc(sizeof(all_hints));
    memcpy(t->hints, all_hints, sizeof(all_hints));
    snprintf(task, sizeof(task), "\"%s\"", t->b->task);
    for (struct broken_hint *h = t->hints; h->name; h++) {
        if (!strcmp(h->name, "task_id") || !strcmp(h->name, "bk_gse_taskid"))
            h->json = task;
        for (size_t i = 0; i < ARRAY_LEN(own_hints); i++) {
            if (!strcmp(own_hints[i].route, t->route->path) && !strcmp(own_hints[i].name, h->name))
                h->json = own_hints[i].json;
        }
    }
}

static const char *rest_of(const struct trial *t)
{
    for (size_t i = 0; i < ARRAY_LEN(rests); i++) {
        if (!strcmp(rests[i].route, t->route->path))
            return rests[i].rest;
    }
    return t->b->task;
}

static void trial_init(struct trial *t, struct bad_world *b, const struct route *r,
                       const struct place *p)
{
    bool is_esb = *p->root && *p->root != '/';
    size_t n;

    *t = (struct trial){ .b = b, .route = r, .place = p };
    t->method = method_name(r->methods & dialects[p->dialect].methods);
    t->by_query = p->dialect == DIALECT_V1 && !strcmp(t->method, "GET");
    snprintf(t->path, sizeof(t->path), "%s%s%s", is_esb ? "/api/c/compapi/v2/" : "", p->root,
             r->path);
    n = strlen(t->path);
    if (t->path[n - 1] == '*')
        snprintf(t->path + n - 1, sizeof(t->path) - n + 1, "%s", rest_of(t));
    fill_hints(t);
    t->least = r->in ? broken_least(r->in, t->hints) : json_object();
}

static void trial_done(struct trial *t)
{
    json_decref(t->least);
    free(t->hints);
}

#define AS(code)                                                                                   \
    "X-Bkapi-Authorization: {\"bk_app_code\":\"" code "\",\"bk_app_secret\":\"" WORLD_SECRET       \
    "\",\"bk_username\":\"tom\"}\r\n"

/* As world_ask(), but used thousands of times: most answers arrive at once. */
static void ask_soon(struct world *w, const struct buf *request)
{
    int fd = world_connect(w, 0);
    bool is_over = false;

    buf_truncate(&w->got, 0);
    world_send(w, fd, request);
    for (int i = 0; i < 1000 && !is_over; i++) {
        rig_turn_in(&w->rig, 0, 0);
        is_over = world_take(w, fd);
    }
    if (!is_over)
        TURN_UNTIL(&w->rig, world_take(w, fd));
    close(fd);
    world_read_answer(w);
}

static void send_text(struct trial *t, const char *headers, const char *query, const char *body)
{
    struct buf path = { 0 }, request = { 0 };

    t->b->n_sent = 0;
    t->n_tried++;
    buf_printf(&path, "%s%s", t->path, query);
    world_head(&request, t->method, buf_text(&path), headers);
    if (body)
        buf_printf(&request, "Content-Length: %zu\r\n", strlen(body));
    buf_printf(&request, "\r\n%s", body ? body : "");
    ask_soon(&t->b->v.w, &request);
    buf_free(&request);
    buf_free(&path);
}

/* `request` with `raw` at its mark. */
static void send_as(struct trial *t, const char *headers, const json_t *request, const char *raw)
{
    struct buf text = { 0 };

    if (!t->route->in) {
        send_text(t, headers, "", NULL);
    } else if (t->by_query) {
        broken_query(request, raw, &text);
        send_text(t, headers, buf_text(&text), NULL);
    } else {
        broken_body(request, raw, &text);
        send_text(t, headers, "", buf_text(&text));
    }
    buf_free(&text);
}

/* ---- the answer */

struct answer {
    int64_t number;
    char code[64], message[2048];
    bool is_ok, has_data;
};

static void read_answer(const struct trial *t, struct answer *a)
{
    const struct world *w = &t->b->v.w;
    json_t *root = json_loads(w->body, JSON_REJECT_DUPLICATES, NULL), *at = root;
    const char *text;

    if (!root)
        fail_msg("%s %s: not JSON: %s", t->method, t->path, w->body);
    *a = (struct answer){ .is_ok = w->status == 200 };
    if (t->place->dialect == DIALECT_V1)
        at = json_object_get(root, "error");
    else
        a->is_ok = json_is_true(json_object_get(root, "result"));
    text = json_string_value(json_object_get(at, "message"));
    snprintf(a->message, sizeof(a->message), "%s", text ? text : "");
    a->number = json_integer_value(json_object_get(at, "code"));
    text = json_string_value(json_object_get(at, "code"));
    snprintf(a->code, sizeof(a->code), "%s", text ? text : "");
    a->has_data = json_object_get(root, "data") && !json_is_null(json_object_get(root, "data"));
    json_decref(root);
}

enum wrong { WRONG_FIELD, WRONG_JSON };

/* Contract 13.4, 13.3, 3.7; for forms of ESB, 8.1. */
static const struct {
    int status;
    int64_t number;
    const char *code;
} says[DIALECTS][2] = {
    [DIALECT_ESB] = { { 200, 1000811, "" }, { 200, 1306000, "" } },
    [DIALECT_GATEWAY] = { { 200, 1000811, "" }, { 400, 1640001, "" } },
    [DIALECT_JOB] = { { 200, 1241002, "" }, { 200, 1306000, "" } },
    [DIALECT_BACKEND] = { { 200, 1000811, "" }, { 200, 1306000, "" } },
    [DIALECT_V1] = { { 400, 0, "INVALID" }, { 400, 0, "MALFORMED" } },
};

static bool is_said(const struct trial *t, enum wrong wrong, const struct answer *a)
{
    enum dialect_kind d = t->place->dialect;
    int64_t number = wrong == WRONG_FIELD && t->route->label ? 1306000 : says[d][wrong].number;

    return t->b->v.w.status == says[d][wrong].status && a->number == number &&
           !strcmp(a->code, says[d][wrong].code);
}

static void check_refused(struct trial *t, enum wrong wrong, const char *path, const char *what)
{
    struct answer a;

    read_answer(t, &a);
    if (a.is_ok || a.has_data)
        fail_msg("%s %s: %s of '%s' was taken: %.500s", t->method, t->path, what, path,
                 t->b->v.w.body);
    if (!is_said(t, wrong, &a) || !strstr(a.message, path))
        fail_msg("%s %s: %s of '%s': %d %.700s", t->method, t->path, what, path, t->b->v.w.status,
                 t->b->v.w.body);
    if (t->b->n_sent)
        fail_msg("%s %s: %s of '%s': an agent was asked", t->method, t->path, what, path);
}

/* "PATH:", except for the only field of an ESB form. */
static const char *told_path(const struct trial *t, const struct broken_way *w, bool is_missing,
                             char to[600])
{
    char path[512];

    broken_path(w, path);
    snprintf(to, 600, t->route->label && is_missing && w->n == 1 ? "%s" : "%s:",
             t->route->label && is_missing && w->n == 1 ? t->route->label : path);
    return to;
}

/* ---- the same in Chinese */

#define IN_CHINESE "Blueking-Language: zh-hans\r\n"

static void check_chinese(const struct trial *t, const char *words, const char *what)
{
    if (strcspn(words, "\xe4\xe5\xe6\xe7\xe8\xe9") == strlen(words) || english_left(words))
        fail_msg("%s %s: %s: English is left: %s", t->method, t->path, what, words);
}

/* The sentence of the English answer, which follows the path, without its numbers. */
static void print_sentence(const struct trial *t, const char *path, char to[2048])
{
    struct answer a;
    size_t n = 0;

    read_answer(t, &a);
    for (const char *p = strstr(a.message, path) + strlen(path); *p; p++) {
        if (!strchr("0123456789", *p))
            to[n++] = *p;
    }
    to[n] = '\0';
}

/* Whether the sentence is asked for in Chinese for the first time: asking twice each time would
 * double the run time. */
static bool is_first(struct trial *t, const char *path)
{
    char sentence[2048];

    print_sentence(t, path, sentence);
    if (map_find_str(&t->b->sentences, sentence))
        return false;
    map_put_str(&t->b->sentences, arena_strdup(&t->b->arena, sentence), t->b);
    return true;
}

static void ask_in_chinese(struct trial *t, const json_t *request, const char *raw,
                           const char *path, const char *what)
{
    struct answer a;

    send_as(t, AS("chief") IN_CHINESE, request, raw);
    read_answer(t, &a);
    check_chinese(t, a.message, what);
    if (!t->route->label && !strstr(a.message, path))
        fail_msg("%s %s: no %s in: %s", t->method, t->path, path, a.message);
}

static void refused_with(struct trial *t, const struct broken_way *w, const char *raw,
                         const char *what)
{
    json_t *request = json_deep_copy(t->least);
    char path[600];
    bool is_new;

    broken_set(request, w, t->hints, raw ? json_string(BROKEN_MARK) : NULL);
    send_as(t, AS("chief"), request, raw);
    check_refused(t, WRONG_FIELD, told_path(t, w, !raw, path), what);
    is_new = is_first(t, path);
    if (!raw || is_new) {
        path[strlen(path) - 1] = '\0'; /* the colon is another character */
        ask_in_chinese(t, request, raw, path, what);
    }
    json_decref(request);
}

/* ---- everything that can be wrong with a field */

static void try_numbers(struct trial *t, const struct broken_way *w)
{
    const struct field *f = broken_field(w);
    char raw[32];

    if (!f->min && !f->max)
        return;
    if (f->max < INT64_MAX) {
        snprintf(raw, sizeof(raw), "%" PRId64, f->max + 1);
        refused_with(t, w, raw, "more than the most");
    }
    if (!(f->min == 1 && (f->flags & FIELD_ZERO_UNSET))) {
        snprintf(raw, sizeof(raw), "%" PRId64, f->min - 1);
        refused_with(t, w, raw, "less than the least");
    }
}

static void try_int(struct trial *t, const struct broken_way *w)
{
    try_numbers(t, w);
    refused_with(t, w, "99999999999999999999999999", "a huge number");
    refused_with(t, w, "1.5", "a fraction");
    refused_with(t, w, t->by_query ? "abc" : "\"abc\"", "a wrong type");
}

static void try_long(struct trial *t, const struct broken_way *w)
{
    const struct field *f = broken_field(w);
    struct buf raw = { 0 };

    if (!f->max || f->type == FIELD_RAW)
        return;
    buf_puts(&raw, t->by_query ? "" : "\"");
    for (int64_t i = 0; i <= f->max; i++)
        buf_addc(&raw, i ? 'a' : '/');
    buf_puts(&raw, t->by_query ? "" : "\"");
    refused_with(t, w, buf_text(&raw), "too long a text");
    buf_free(&raw);
}

static void try_text(struct trial *t, const struct broken_way *w)
{
    const struct field *f = broken_field(w);

    if (!t->by_query && f->type == FIELD_STR)
        refused_with(t, w, "{\"a\":1}", "a wrong type");
    if (f->min >= 1 && f->type == FIELD_STR)
        refused_with(t, w, t->by_query ? "" : "\"\"", "an empty text");
    if (f->check && f->check("a\nb"))
        refused_with(t, w, t->by_query ? "a\nb" : "\"a\\nb\"", "what its rule forbids");
    try_long(t, w);
}

/* n copies of the item of the minimal request. */
static void try_many(struct trial *t, const struct broken_way *w)
{
    const struct field *f = broken_field(w);
    json_t *list = broken_value(f, t->hints);
    char *item = json_dumps(json_array_get(list, 0), JSON_COMPACT | JSON_ENCODE_ANY);
    struct buf raw = { 0 };

    for (int64_t i = 0; i <= f->max; i++)
        buf_printf(&raw, "%c%s", i ? ',' : '[', item);
    buf_addc(&raw, ']');
    refused_with(t, w, buf_text(&raw), "one item too many");
    buf_free(&raw);
    free(item);
    json_decref(list);
}

static void try_list(struct trial *t, const struct broken_way *w)
{
    const struct field *f = broken_field(w);

    refused_with(t, w, "{}", "a wrong type");
    if (f->min >= 1)
        refused_with(t, w, "[]", "an empty list");
    if (f->max && (size_t)f->max * 64 < t->route->body_max)
        try_many(t, w);
}

static void try_field(struct trial *t, const struct broken_way *w)
{
    const struct field *f = broken_field(w);
    bool is_bare = w->n > 1 && w->fields[w->n - 2]->type != FIELD_OBJ &&
                   (w->fields[w->n - 2]->type == FIELD_MAP || w->fields[w->n - 2]->sub->bare);

    if ((f->flags & FIELD_REQUIRED) && !is_bare) {
        refused_with(t, w, NULL, "absence");
        if (!t->by_query)
            refused_with(t, w, "null", "null");
    }
    switch (f->type) {
    case FIELD_STR:
    case FIELD_SCALAR: try_text(t, w); return;
    case FIELD_INT: try_int(t, w); return;
    case FIELD_FLOAT:
        try_numbers(t, w);
        refused_with(t, w, "\"abc\"", "a wrong type");
        return;
    case FIELD_BOOL: refused_with(t, w, t->by_query ? "maybe" : "7", "a wrong type"); return;
    case FIELD_ENUM:
        refused_with(t, w, t->by_query ? "nonesuch" : "\"nonesuch\"", "an unknown word");
        refused_with(t, w, "4711", "an unknown number");
        return;
    case FIELD_OBJ:
    case FIELD_MAP: refused_with(t, w, "[]", "a wrong type"); return;
    case FIELD_LIST: try_list(t, w); return;
    case FIELD_RAW: return;
    }
}

/* A shape that several rows use is tested once, except its required fields: the reader is the
 * same. */
struct seen {
    const struct shape *shapes[128];
    size_t n;
};

static bool is_new(struct seen *seen, const struct shape *s)
{
    for (size_t i = 0; i < seen->n; i++) {
        if (seen->shapes[i] == s)
            return false;
    }
    assert_true(seen->n < ARRAY_LEN(seen->shapes));
    seen->shapes[seen->n++] = s;
    return true;
}

static void walk(struct trial *t, const struct shape *s, const struct broken_way *up,
                 struct seen *seen)
{
    bool is_first = is_new(seen, s);

    for (const struct field *f = s->fields + (up->n && broken_field(up)->type == FIELD_MAP);
         f->name; f++) {
        struct broken_way w = broken_to(up, f);

        if (is_first || up->n < 1 || (f->flags & FIELD_REQUIRED))
            try_field(t, &w);
        if (f->sub &&
            (is_first || (f->flags & FIELD_REQUIRED) || json_object_get(t->least, f->name)))
            walk(t, f->sub, &w, seen);
    }
}

/* ---- everything that can be wrong with the rest */

static void try_twice(struct trial *t)
{
    char *text = json_dumps(t->least, JSON_COMPACT);
    const char *key = json_object_iter_key(json_object_iter(t->least));
    struct buf body = { 0 };
    char path[128];

    if (!key) {
        free(text);
        return;
    }
    buf_printf(&body, "{\"%s\":null,%s", key, text + 1);
    snprintf(path, sizeof(path), "%s:", key);
    send_text(t, AS("chief"), "", buf_text(&body));
    /* A required null is refused before its duplicate is. */
    check_refused(t, WRONG_FIELD, t->route->label ? "" : path, "a second one");
    buf_free(&body);
    free(text);
}

static void try_json(struct trial *t)
{
    static const char *const texts[] = {
        "{",
        "{,}",
        "{'a':1}",
        "{\"a",
        "{\"\xff\":1}",
        "{\"\xed\xa0\x80\":1}",
        "{\"a\":\"\xff\xfe\"}",
        "{\"a\":01}",
        "{\"a\":NaN}",
        "{\"a\":\"\x01\"}",
        "{\"a\":[1,]}",
    };

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct answer a;

        send_text(t, AS("chief"), "", texts[i]);
        read_answer(t, &a);
        /* /v1 may report the unknown field first. */
        if (is_said(t, WRONG_JSON, &a) ||
            (t->place->dialect == DIALECT_V1 && is_said(t, WRONG_FIELD, &a)))
            assert_int_equal(t->b->n_sent, 0);
        else
            fail_msg("%s %s: %s: %d %s", t->method, t->path, texts[i], t->b->v.w.status,
                     t->b->v.w.body);
        send_text(t, AS("chief") IN_CHINESE, "", texts[i]);
        read_answer(t, &a);
        check_chinese(t, a.message, texts[i]);
    }
}

static void try_depth(struct trial *t)
{
    struct buf body = { 0 };
    struct answer a;

    buf_puts(&body, "{\"labels\":");
    for (int i = 0; i < 20000; i++)
        buf_addc(&body, '[');
    send_text(t, AS("chief"), "", buf_text(&body));
    read_answer(t, &a);
    if (a.is_ok || (!is_said(t, WRONG_JSON, &a) && !is_said(t, WRONG_FIELD, &a)))
        fail_msg("%s %s: 20000 deep: %d %s", t->method, t->path, t->b->v.w.status, t->b->v.w.body);
    send_text(t, AS("chief") IN_CHINESE, "", buf_text(&body));
    buf_free(&body);
    read_answer(t, &a);
    check_chinese(t, a.message, "20000 deep");
}

/* ---- what is allowed */

/* The minimal request succeeds; otherwise the refusals here would prove little. */
static void try_least(struct trial *t)
{
    struct answer a;

    if (t->route->is_stream || t->route->gives == GIVES_TEXT)
        return;
    send_as(t, AS("chief"), t->least, "");
    read_answer(t, &a);
    if (!a.is_ok && !strstr(a.message, "its agent is not connected"))
        fail_msg("%s %s: the least is refused: %d %s", t->method, t->path, t->b->v.w.status,
                 t->b->v.w.body);
}

/* Contract 2.2: null counts as absent, and unknown fields are ignored. */
static void try_tolerance(struct trial *t)
{
    bool is_v1 = t->place->dialect == DIALECT_V1;

    for (const struct field *f = t->route->in->fields; f->name && !t->by_query; f++) {
        json_t *request = json_deep_copy(t->least);
        struct answer a;

        if (!(f->flags & FIELD_REQUIRED) && !json_object_get(request, f->name)) {
            json_object_set_new(request, f->name, json_null());
            if (!is_v1)
                json_object_set_new(request, "no_request", json_true());
            send_as(t, AS("chief"), request, "");
            read_answer(t, &a);
            if (is_said(t, WRONG_FIELD, &a) || is_said(t, WRONG_JSON, &a))
                fail_msg("%s %s: null for %s: %s", t->method, t->path, f->name, t->b->v.w.body);
        }
        json_decref(request);
    }
}

/* ---- credentials */

struct stranger {
    const char *what, *headers;
    bool is_known; /* authenticated, but without the right */
};

static void check_stranger(struct trial *t, const struct stranger *s)
{
    static const struct {
        int status;
        int64_t number;
        const char *code;
    } who[DIALECTS][2] = {
        [DIALECT_ESB] = { { 200, 1306000, "" }, { 200, 1306403, "" } },
        [DIALECT_GATEWAY] = { { 400, 1640001, "" }, { 403, 1640301, "" } },
        [DIALECT_JOB] = { { 200, 1306000, "" }, { 200, 9900403, "" } },
        [DIALECT_BACKEND] = { { 200, 1306000, "" }, { 200, 1306403, "" } },
        [DIALECT_V1] = { { 401, 0, "UNAUTHORIZED" }, { 403, 0, "FORBIDDEN" } },
    };
    enum dialect_kind d = t->place->dialect;
    struct answer a;

    send_as(t, s->headers, t->least, "");
    read_answer(t, &a);
    if (a.is_ok || a.has_data || t->b->v.w.status != who[d][s->is_known].status ||
        a.number != who[d][s->is_known].number || strcmp(a.code, who[d][s->is_known].code) != 0)
        fail_msg("%s %s: %s: %d %s", t->method, t->path, s->what, t->b->v.w.status, t->b->v.w.body);
    assert_int_equal(t->b->n_sent, 0);
}

static void try_strangers(struct trial *t)
{
    char gone[512];
    const struct stranger strangers[] = {
        { "nobody", "", false },
        { "a wrong secret",
          "X-Bkapi-Authorization: {\"bk_app_code\":\"chief\",\"bk_app_secret\":\"guess\"}\r\n",
          false },
        { "an unknown app", AS("nobody"), false },
        { "another app's secret", AS("turned"), false },
        { "a secret that was rotated away", gone, false },
        { "an app without the right", t->route->right == APP_READ ? AS("actor") : AS("reader"),
          true },
    };

    snprintf(gone, sizeof(gone),
             "X-Bkapi-Authorization: {\"bk_app_code\":\"turned\",\"bk_app_secret\":\"%s\"}\r\n",
             t->b->old_secret);
    for (size_t i = 0; i < ARRAY_LEN(strangers); i++)
        check_stranger(t, &strangers[i]);
}

/* ---- tests */

typedef void trial_fn(struct trial *t);

/* Rows of the audit log may still be written when a request is answered. */
static void settle_store(struct bad_world *b)
{
    TURN_UNTIL(&b->v.w.rig, store_counters(b->v.w.store.store)->on_their_way == 0);
}

/* Each row at each of its places; a refused request leaves the store unchanged, except for one row
 * of the audit log. */
static void in_each_place(struct bad_world *b, bool only_usual, trial_fn *fn)
{
    char before[1024], after[1024];

    for (const struct route *r = routes; r->path; r++) {
        for (const struct place *p = route_places; p->root; p++) {
            struct trial t;
            int64_t commits;

            if (!(r->served & p->served) || (only_usual && !p->is_usual))
                continue;
            trial_init(&t, b, r, p);
            settle_store(b);
            count_rows(b, before);
            commits = store_counters(b->v.w.store.store)->commits;
            fn(&t);
            settle_store(b);
            commits = store_counters(b->v.w.store.store)->commits - commits;
            count_rows(b, after);
            assert_string_equal(before, after);
            if (commits > (r->right == APP_READ ? 0 : (int64_t)t.n_tried))
                fail_msg("%s: %lld commits of %zu refused requests", t.path, (long long)commits,
                         t.n_tried);
            trial_done(&t);
        }
    }
}

static void no_stranger_gets_anywhere(void **state)
{
    in_each_place(*state, false, try_strangers);
}

static void try_body(struct trial *t)
{
    if (t->by_query || !t->route->in)
        return;
    try_twice(t);
    try_json(t);
    try_depth(t);
}

static void a_body_that_can_not_be_read_is_refused(void **state)
{
    in_each_place(*state, true, try_body);
}

static struct seen seen;

static void try_fields(struct trial *t)
{
    static const struct broken_way root;

    if (t->route->in)
        walk(t, t->route->in, &root, &seen);
}

static void a_field_that_is_wrong_is_named_and_nothing_is_done(void **state)
{
    seen.n = 0;
    in_each_place(*state, true, try_fields);
}

/* An app learns nothing about hosts that it may not see, and nothing is done there. */
static void try_tenant(struct trial *t)
{
    static const char *const told[] = {
        ":4711",
        "ann",
        "\"hostname\":\"h\"",
        "\"bk_agent_alive\":1",
        "\"status_code\":2",
        "\"online\":true",
        "\"status\":1,",
    };

    if (t->route->is_stream)
        return;
    send_as(t, AS("tenant"), t->least, "");
    rig_turns(&t->b->v.w.rig, 3);
    for (size_t i = 0; i < ARRAY_LEN(told); i++) {
        if (strstr(t->b->v.w.body, told[i]))
            fail_msg("%s %s: tells others %s: %s", t->method, t->path, told[i], t->b->v.w.body);
    }
    if (t->b->n_sent)
        fail_msg("%s %s: is done for others: %s", t->method, t->path, t->b->v.w.body);
}

static void in_each_usual_place(struct bad_world *b, trial_fn *fn)
{
    for (const struct route *r = routes; r->path; r++) {
        for (const struct place *p = route_places; p->root; p++) {
            struct trial t;

            if (!(r->served & p->served) || !p->is_usual)
                continue;
            trial_init(&t, b, r, p);
            fn(&t);
            trial_done(&t);
        }
    }
}

static void hosts_of_other_apps_count_as_unknown(void **state)
{
    in_each_usual_place(*state, try_tenant);
}

/* The number of keys in the result: of a map directly, of a task by reading it. */
static size_t count_keys(struct trial *t)
{
    struct server_world *v = &t->b->v;
    json_t *root = json_loads(v->w.body, 0, NULL), *data = json_object_get(root, "data");
    const char *task = json_string_value(json_object_get(data, "task_id"));
    size_t n = json_object_size(data);
    char body[128];

    if (!task)
        task = json_string_value(json_object_get(data, "bk_gse_taskid"));
    if (task) {
        snprintf(body, sizeof(body), "{\"task_id\":\"%s\"}", task);
        server_world_post(v, "/api/c/compapi/v2/gse/get_proc_operate_result_v2/", body);
        n = json_object_size(json_object_get(v->answer, "data"));
    }
    json_decref(root);
    return n;
}

/* A map or a task has one key per target, however often it was named: contract 5.2. */
static void try_double(struct trial *t)
{
    json_t *request = json_deep_copy(t->least);
    json_t *infos = json_object_get(request, "process_infos");
    json_t *holder = infos ? json_array_get(infos, 0) : request;
    json_t *list = json_object_get(holder, infos ? "ip_list" : "hosts");
    bool is_map = !t->route->out || t->route->out == &task_ref_shape || t->route->gives || infos;
    struct answer a;

    if (list && is_map && t->place->dialect != DIALECT_V1) {
        json_array_append(list, json_array_get(list, 0));
        send_as(t, AS("chief"), request, "");
        read_answer(t, &a);
        if (!a.is_ok || count_keys(t) != 1)
            fail_msg("%s %s: a target twice: %s", t->method, t->path, t->b->v.w.body);
    }
    json_decref(request);
}

static void a_target_named_twice_is_one(void **state)
{
    in_each_usual_place(*state, try_double);
}

/* Each in a world of its own, because the requests are carried out. */
static void what_was_broken_works_when_it_is_whole(void **state)
{
    (void)state;
    for (const struct route *r = routes; r->path; r++) {
        for (const struct place *p = route_places; p->root; p++) {
            void *own;
            struct trial t;

            if (!(r->served & p->served) || !p->is_usual)
                continue;
            setup(&own);
            trial_init(&t, own, r, p);
            try_least(&t);
            if (r->in && !r->is_stream)
                try_tolerance(&t);
            world_admin(&t.b->v.w, "GET", "/v1/status", NULL);
            assert_int_equal(t.b->v.w.status, 200);
            trial_done(&t);
            teardown(&own);
        }
    }
}

#define BAD_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_broken_works_when_it_is_whole),
        BAD_TEST(no_stranger_gets_anywhere),
        BAD_TEST(hosts_of_other_apps_count_as_unknown),
        BAD_TEST(a_target_named_twice_is_one),
        BAD_TEST(a_body_that_can_not_be_read_is_refused),
        BAD_TEST(a_field_that_is_wrong_is_named_and_nothing_is_done),
    };

    return cmocka_run_group_tests_name("bad input", tests, NULL, NULL);
}
