/* SPDX-License-Identifier: MIT */
/* example.c - see example.h. */
#include "api/describe/example.h"

#include <string.h>

#include "base/mem/mem.h"

#define TASK "GSETASK:S:202611150547530123456789:1"

/* Recognizable values by field name.  With a shape they apply only there, and the field is shown
 * even if it is not required.  These rows precede the others. */
/* clang-format off */
static const struct {
    const char *shape, *field, *value;
} values[] = {
    { "operate", "hosts", NULL },
    { "operate", "spec", NULL },
    { "spec", "identity", NULL },
    { "spec", "control", NULL },
    { "identity", "proc_name", "nginx" },
    { "identity", "setup_path", "/opt/nginx" },
    { "identity", "pid_path", "/run/nginx.pid" },
    { "identity", "user", "root" },
    { "control", "start_cmd", "./start.sh" },
    { "update", "hosts", NULL },
    { "updated_spec", "monitor_policy", NULL },
    { "registered_spec", "monitor_policy", NULL },
    { "policy", "auto_type", "1" },
    { "proc_status_ask", "hosts", NULL },
    { "job_manage", "bk_scope_type", "biz" },
    { "job_manage", "bk_scope_id", "2" },
    { "job_operate", "bk_scope_type", "biz" },
    { "job_operate", "bk_scope_id", "2" },
    { "job_script_operate", "bk_scope_type", "biz" },
    { "job_script_operate", "bk_scope_id", "2" },
    { "job_result_ask", "bk_scope_type", "biz" },
    { "job_result_ask", "bk_scope_id", "2" },
    { "job_agents_ask", "bk_scope_type", "biz" },
    { "job_agents_ask", "bk_scope_id", "2" },
    { "process_info", "setup_path", "/opt/nginx" },
    { "process_info", "proc_name", "nginx" },
    { "process_info", "pid_path", "/run/nginx.pid" },
    { "process_info", "start_cmd", "./start.sh" },
    { "process_info", "type", "1" }, /* Job's default is periodic, which is rarely meant */
    { "script_process_info", "setup_path", "/opt/nginx" },
    { "script_process_info", "proc_name", "nginx" },
    { "script_process_info", "pid_path", "/run/nginx.pid" },
    { "process_group", "id", "prod" },
    { "host_set_ask", "host", "10.0.0.1" },
    { "host_set_ask", "biz_id", "2" },
    { "host_set_ask", "host_id", "1042" },
    { "business_put_ask", "id", "2" },
    { "business_put_ask", "name", "shop" },
    { "business_set_view", "id", "8000001" },
    { "business_set_view", "name", "retail" },
    { "business_set_view", "businesses", NULL },
    { "operation_ask", "hosts", NULL },
    { "sync_page", "start", "0" },
    { "sync_page", "limit", "100" },
    { NULL, "ip", "10.0.0.1" },
    { NULL, "bk_cloud_id", "0" },
    { NULL, "namespace", "prod" },
    { NULL, "name", "web" },
    { NULL, "proc_name", "nginx" },
    { NULL, "setup_path", "/opt/nginx" },
    { NULL, "pid_path", "/run/nginx.pid" },
    { NULL, "user", "root" },
    { NULL, "start_cmd", "./start.sh" },
    { NULL, "task_id", TASK },
    { NULL, "bk_gse_taskid", TASK },
    { NULL, "host", "10.0.0.1" },
    { NULL, "agent_id", "0:10.0.0.1" },
    { NULL, "bk_agent_id", "0:10.0.0.1" },
    { NULL, "bk_host_id", "1042" },
    { NULL, "host_id", "1042" },
    { NULL, "business", "2" },
    { NULL, "cpu", "50" },
    { NULL, "mem", "50" },
    { NULL, "cpu_pool_limit", "50" },
    { NULL, "mem_pool_limit", "50" },
    { NULL, "code", "deployer" },
};

/* The value of a final "*" of a path. */
static const struct {
    const char *path, *id;
} ids[] = {
    { "/v1/businesses/*", "2" },
    { "/v1/business_sets/*", "8000001" },
    { "/v1/tasks/*", TASK },
    { "/v1/apps/*", "deployer" },
    { "/v1/tokens/*", "0123456789ab" },
};
/* clang-format on */

static bool is_shown(const struct shape *s, const struct field *f)
{
    for (size_t i = 0; i < ARRAY_LEN(values) && values[i].shape; i++) {
        if (!strcmp(values[i].shape, s->name) && !strcmp(values[i].field, f->name))
            return true;
    }
    return f->flags & FIELD_REQUIRED;
}

/* NULL: none. */
static const char *value_of(const struct shape *s, const struct field *f)
{
    for (size_t i = 0; i < ARRAY_LEN(values); i++) {
        if ((!values[i].shape || !strcmp(values[i].shape, s->name)) &&
            !strcmp(values[i].field, f->name) && values[i].value)
            return values[i].value;
    }
    return f->fallback_text && *f->fallback_text ? f->fallback_text : NULL;
}

static void example_put_text(struct buf *out, const char *text)
{
    buf_quote(out, text, strlen(text));
}

static void example_put_number(const struct field *f, const char *value, struct buf *out)
{
    int64_t number = f->fallback;

    if (!number && (f->min || f->max))
        number = f->min > 0 ? f->min : f->max > 0;
    if (value)
        buf_puts(out, value);
    else
        buf_printf(out, "%lld", (long long)number);
}

static void put_field(const struct shape *s, const struct field *f, struct buf *out)
{
    const char *value = value_of(s, f);

    switch (f->type) {
    case FIELD_STR:
    case FIELD_SCALAR: example_put_text(out, value ? value : f->name); return;
    case FIELD_INT: example_put_number(f, value, out); return;
    case FIELD_FLOAT: buf_puts(out, value ? value : "1.5"); return;
    case FIELD_BOOL: buf_puts(out, f->fallback ? "true" : "false"); return;
    case FIELD_ENUM:
        if (f->flags & FIELD_BY_NAME)
            example_put_text(out, value ? value : f->names->name);
        else if (value)
            buf_puts(out, value);
        else
            buf_printf(out, "%lld", (long long)f->names->value);
        return;
    case FIELD_OBJ: example_write(f->sub, out); return;
    case FIELD_LIST:
        buf_addc(out, '[');
        if (f->sub->bare)
            put_field(f->sub, f->sub->fields, out);
        else
            example_write(f->sub, out);
        buf_addc(out, ']');
        return;
    case FIELD_MAP: buf_puts(out, "{\"key\":\"value\"}"); return;
    case FIELD_RAW: buf_puts(out, "{}"); return;
    }
}

void example_write(const struct shape *shape, struct buf *out)
{
    const char *between = "";

    buf_addc(out, '{');
    for (const struct field *f = shape->fields; f->name; f++) {
        if (!is_shown(shape, f))
            continue;
        buf_puts(out, between);
        example_put_text(out, f->name);
        buf_addc(out, ':');
        put_field(shape, f, out);
        between = ",";
    }
    buf_addc(out, '}');
}

/* ---- a row */

static const struct place *example_place_of(const struct route *r)
{
    const struct place *p = route_places;

    while (!(r->served & p->served) || !p->is_usual)
        p++;
    return p;
}

static void put_path(const struct route *r, const struct place *p, struct buf *out)
{
    const char *hole;

    route_path_write(r, p, out);
    hole = strstr(buf_text(out), "{id}");
    if (!hole)
        return;
    buf_truncate(out, (size_t)(hole - buf_text(out)));
    for (size_t i = 0; i < ARRAY_LEN(ids); i++)
        buf_puts(out, strcmp(ids[i].path, r->path) ? "" : ids[i].id);
}

/* The shown fields as a query; all of them are plain. */
static void example_put_query(const struct shape *s, struct buf *out)
{
    const char *between = "?";

    for (const struct field *f = s->fields; f->name; f++) {
        const char *value = value_of(s, f);

        if (!is_shown(s, f))
            continue;
        buf_printf(out, "%s%s=%s", between, f->name, value ? value : f->name);
        between = "&";
    }
}

void example_init(struct example *e, const struct route *r, enum dialect_kind *ret_dialect)
{
    const struct place *p = example_place_of(r);

    *e = (struct example){ .method = method_name(r->methods & dialects[p->dialect].methods) };
    *ret_dialect = p->dialect;
    put_path(r, p, &e->path);
    if (r->in && (strcmp(e->method, "GET") != 0 || p->dialect == DIALECT_BACKEND))
        example_write(r->in, &e->body);
    else if (r->in)
        example_put_query(r->in, &e->path);
}

void example_done(struct example *e)
{
    buf_free(&e->path);
    buf_free(&e->body);
}
