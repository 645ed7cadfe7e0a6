/* SPDX-License-Identifier: MIT */
/* routes.c - see routes.h.  A new endpoint is one row here. */
#include "api/routes.h"

#include <string.h>

#include "api/handlers.h"
#include "base/mem.h"
#include "model/host.h"
#include "model/log.h"
#include "model/proc.h"
#include "model/task.h"

#define ANY (METHOD_GET | METHOD_POST)

enum { SMALL = 64 * 1024, MIDDLE = 1024 * 1024, LARGE = 8 * 1024 * 1024, HUGE = HTTP_BODY_MAX };

/* clang-format off */
const struct route routes[] = {
    { SERVED_GSE | SERVED_PROC, "operate_proc_v2", ANY, APP_OPERATE, HUGE, &proc_operate_shape, &task_ref_shape,
      operate_one, "One operation on one process of several hosts; the answer is a task to ask for." },
    { SERVED_GSE | SERVED_PROC, "operate_proc_multi", ANY, APP_OPERATE, HUGE, &proc_operate_batch_shape,
      &task_ref_shape, operate_batch, "Several operations as one task." },
    { SERVED_GSE, "get_proc_operate_result", ANY, APP_READ, SMALL, &task_ref_shape, NULL, result_get,
      "What became of a task, by result key." },
    { SERVED_GSE | SERVED_PROC, "get_proc_operate_result_v2", ANY, APP_READ, SMALL, &task_ref_shape, NULL,
      result_get, "What became of a task, by result key." },

    { SERVED_BACKEND, "/procapi/v2/proc/operate", METHOD_POST, APP_OPERATE, HUGE, &proc_operate_shape,
      &task_ref_shape, operate_one, "operate_proc_v2, behind an ESB." },
    { SERVED_BACKEND, "/procapi/v2/proc/multioperate", METHOD_POST, APP_OPERATE, HUGE, &proc_operate_batch_shape,
      &task_ref_shape, operate_batch, "operate_proc_multi, behind an ESB." },
    { SERVED_BACKEND, "/procapi/v1/proc/operate", METHOD_GET, APP_READ, SMALL, &task_ref_shape, NULL, result_get,
      "get_proc_operate_result, behind an ESB." },
    { SERVED_BACKEND, "/procapi/v2/proc/operate", METHOD_GET, APP_READ, SMALL, &task_ref_shape, NULL, result_get,
      "get_proc_operate_result_v2, behind an ESB." },

    { SERVED_V1, "/v1/status", METHOD_GET, APP_READ, 0, NULL, &status_view_shape, v1_status,
      "The server and its fleet in numbers." },
    { SERVED_V1, "/v1/hosts", METHOD_GET, APP_READ, 0, &page_ask_shape, &host_page_shape, v1_hosts,
      "Hosts, page by page." },
    { SERVED_V1, "/v1/hosts/remove", METHOD_POST, APP_ADMIN, SMALL, &host_remove_ask_shape, &host_view_shape,
      v1_host_remove, "Forgets a host and what it runs; its agent is let in no more, and its address is free for another. "
      "Processes on it run on." },
    { SERVED_V1, "/v1/processes", METHOD_GET, APP_READ, 0, &process_ask_shape, &process_page_shape, v1_processes,
      "Processes of all hosts, page by page." },
    { SERVED_V1, "/v1/logs", METHOD_GET, APP_READ, 0, &log_ask_shape, &log_view_shape, v1_logs,
      "What a process, or a command of it, has said: the last lines, or what came since." },
    { SERVED_V1, "/v1/tasks/*", METHOD_GET, APP_READ, 0, NULL, &task_view_shape, v1_task,
      "A task and all its items." },
    { SERVED_V1, "/v1/operations", METHOD_POST, APP_OPERATE, LARGE, &operation_ask_shape, &operation_view_shape,
      v1_operate, "One operation on one process of several hosts, or of all that have it." },
    { SERVED_V1, "/v1/apps", METHOD_GET, APP_ADMIN, 0, &page_ask_shape, &app_page_shape, v1_apps,
      "Apps, page by page; never their secrets." },
    { SERVED_V1, "/v1/apps", METHOD_POST, APP_ADMIN, MIDDLE, &app_ask_shape, &app_view_shape, v1_app_put,
      "Makes an app; the answer has its secret, which is told only this once. With `?rotate=1` an app that is there "
      "gets a new secret, and the one it had goes on to work until the next time." },
    { SERVED_V1, "/v1/tokens", METHOD_POST, APP_ADMIN, SMALL, &token_ask_shape, &token_view_shape, v1_token_put,
      "Makes a token by which hosts may join." },
    { 0 },
};

/* Of ESB: behind /api/c/compapi/v2/.  A longer root stands before a shorter one. */
const struct place route_places[] = {
    { SERVED_PROC, DIALECT_ESB, "gse/api/v2/proc/", false },
    { SERVED_CLUSTER, DIALECT_ESB, "gse/api/v2/cluster/", false },
    { SERVED_TASK, DIALECT_ESB, "gse/api/v2/task/", false },
    { SERVED_GSE, DIALECT_ESB, "gse/", true },
    { SERVED_JOB, DIALECT_JOB, "job/", true },
    { SERVED_JOB, DIALECT_JOB, "jobv3/", true },
    { SERVED_PROC, DIALECT_GATEWAY, "/api/bk-gse/prod/api/v2/proc/", true },
    { SERVED_PROC, DIALECT_GATEWAY, "/api/bk-gse/stage/api/v2/proc/", false },
    { SERVED_PROC, DIALECT_GATEWAY, "/api/v2/proc/", false },
    { SERVED_CLUSTER, DIALECT_GATEWAY, "/api/bk-gse/prod/api/v2/cluster/", true },
    { SERVED_CLUSTER, DIALECT_GATEWAY, "/api/bk-gse/stage/api/v2/cluster/", false },
    { SERVED_CLUSTER, DIALECT_GATEWAY, "/api/v2/cluster/", false },
    { SERVED_TASK, DIALECT_GATEWAY, "/api/bk-gse/prod/api/v2/task/", true },
    { SERVED_TASK, DIALECT_GATEWAY, "/api/bk-gse/stage/api/v2/task/", false },
    { SERVED_TASK, DIALECT_GATEWAY, "/api/v2/task/", false },
    { SERVED_JOB_SYSTEM, DIALECT_GATEWAY, "/api/bk-job/prod/api/v3/system/", true },
    { SERVED_JOB_SYSTEM, DIALECT_GATEWAY, "/api/bk-job/stage/api/v3/system/", false },
    { SERVED_JOB_SYSTEM, DIALECT_GATEWAY, "/api/v3/system/", false },
    { SERVED_BACKEND, DIALECT_BACKEND, "", true },
    { SERVED_V1, DIALECT_V1, "", true },
    { 0 },
};
/* clang-format on */

int routes_check(const struct route *table, struct err *err)
{
    for (const struct route *r = table; r->path; r++) {
        if (!r->right || (r->right & (r->right - 1)))
            return err_set(err, ERR_INVALID, "route %s: needs exactly one right", r->path);
        if (!r->served || (r->served & ~(unsigned)SERVED_ALL) || !r->methods || !r->handle)
            return err_set(err, ERR_INVALID, "route %s: no place, method or handler", r->path);
    }
    return 0;
}

/* ---- words of a path */

struct span {
    const char *p;
    size_t n;
};

static bool eat(struct span *s, const char *prefix)
{
    size_t n = strlen(prefix);

    if (s->n < n || memcmp(s->p, prefix, n) != 0)
        return false;
    s->p += n;
    s->n -= n;
    return true;
}

static void strip_end(struct span *s)
{
    while (s->n && s->p[s->n - 1] == '/')
        s->n--;
}

static void strip(struct span *s)
{
    strip_end(s);
    while (s->n && *s->p == '/')
        s->p++, s->n--;
}

/* A last "*" takes one word that is not empty. */
static bool fits(const char *pattern, const struct span *s, const char **ret_rest)
{
    size_t n = strlen(pattern);

    if (n && pattern[n - 1] == '*') {
        *ret_rest = s->p + n - 1;
        return s->n >= n && !memcmp(pattern, s->p, n - 1) && !memchr(*ret_rest, '/', s->n - n + 1);
    }
    *ret_rest = s->p + s->n;
    return s->n == n && !memcmp(pattern, s->p, n);
}

/* The row for a name in a place. */
static void find_row(const struct span *s, unsigned served, unsigned method,
                     struct route_found *ret)
{
    unsigned known = dialects[ret->dialect].methods;
    const char *rest;

    for (const struct route *r = routes; r->path; r++) {
        if (!(r->served & served) || !fits(r->path, s, &rest))
            continue;
        ret->methods |= r->methods & known;
        if (r->methods & known & method) {
            ret->route = r;
            ret->rest = rest;
        }
    }
}

/* ---- the ways of writing a path */

static void find_place(struct span s, bool is_esb, unsigned method, struct route_found *ret)
{
    for (const struct place *p = route_places; p->root; p++) {
        struct span name = s;

        if (!*p->root || (*p->root != '/') != is_esb || !eat(&name, p->root))
            continue;
        ret->dialect = p->dialect;
        find_row(&name, p->served, method, ret);
        return;
    }
}

/* Job's paths without a version were another API. */
static bool find_esb(struct span s, unsigned method, struct route_found *ret)
{
    bool has_version;

    eat(&s, "/api");
    if (!eat(&s, "/c/compapi") || (s.n && *s.p != '/'))
        return false;
    ret->dialect = DIALECT_ESB;
    strip(&s);
    has_version = eat(&s, "v2/");
    if (has_version || (s.n >= 4 && !memcmp(s.p, "gse/", 4)))
        find_place(s, true, method, ret);
    return true;
}

/* Rows with their whole path. */
static bool find_whole(struct span s, const char *root, enum dialect_kind dialect, unsigned served,
                       unsigned method, struct route_found *ret)
{
    struct span rest = s;

    if (!eat(&rest, root) || (rest.n && *rest.p != '/'))
        return false;
    ret->dialect = dialect;
    strip_end(&s);
    find_row(&s, served, method, ret);
    return true;
}

/* All that is left under /api is the gateway's to answer. */
static void find_gateway(struct span s, unsigned method, struct route_found *ret)
{
    ret->dialect = DIALECT_GATEWAY;
    strip_end(&s);
    find_place(s, false, method, ret);
}

void route_find(const char *path, unsigned method, struct route_found *ret)
{
    struct span s = { path, strlen(path) };

    *ret = (struct route_found){ .dialect = DIALECT_V1 };
    if (find_esb(s, method, ret) || find_whole(s, "/v1", DIALECT_V1, SERVED_V1, method, ret) ||
        find_whole(s, "/procapi", DIALECT_BACKEND, SERVED_BACKEND, method, ret))
        return;
    if (!strncmp(path, "/api", 4) && (!path[4] || path[4] == '/'))
        find_gateway(s, method, ret);
}
