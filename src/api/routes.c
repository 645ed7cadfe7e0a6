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

#define GSE (SERVED_ESB | SERVED_GATEWAY)
#define ANY (METHOD_GET | METHOD_POST)

enum { SMALL = 64 * 1024, MIDDLE = 1024 * 1024, LARGE = 8 * 1024 * 1024, HUGE = HTTP_BODY_MAX };

/* clang-format off */
const struct route routes[] = {
    { GSE, "operate_proc_v2", ANY, APP_OPERATE, HUGE, &proc_operate_shape, &task_ref_shape, operate_one,
      "One operation on one process of several hosts; the answer is a task to ask for." },
    { GSE, "operate_proc_multi", ANY, APP_OPERATE, HUGE, &proc_operate_batch_shape, &task_ref_shape, operate_batch,
      "Several operations as one task." },
    { SERVED_ESB, "get_proc_operate_result", ANY, APP_READ, SMALL, &task_ref_shape, NULL, result_get,
      "What became of a task, by result key." },
    { GSE, "get_proc_operate_result_v2", ANY, APP_READ, SMALL, &task_ref_shape, NULL, result_get,
      "What became of a task, by result key." },

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

static const char *const gateway_roots[] = {
    "/api/bk-gse/prod/api/v2/proc/", "/api/bk-gse/stage/api/v2/proc/", "/api/v2/proc/",
};
/* clang-format on */

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

/* The row for a name that is served in all of `served`. */
static void find_row(const struct span *s, unsigned served, unsigned method,
                     struct route_found *ret)
{
    unsigned known = dialects[ret->dialect].methods;
    const char *rest;

    for (const struct route *r = routes; r->path; r++) {
        if ((r->served & served) != served || !fits(r->path, s, &rest))
            continue;
        ret->methods |= r->methods & known;
        if (r->methods & known & method) {
            ret->route = r;
            ret->rest = rest;
        }
    }
}

/* ---- the three ways of writing a path */

static bool find_esb(struct span s, unsigned method, struct route_found *ret)
{
    unsigned served = SERVED_ESB;

    eat(&s, "/api");
    if (!eat(&s, "/c/compapi") || (s.n && *s.p != '/'))
        return false;
    ret->dialect = DIALECT_ESB;
    strip(&s);
    eat(&s, "v2/");
    if (!eat(&s, "gse/"))
        return true;
    if (eat(&s, "api/v2/proc/"))
        served |= SERVED_GATEWAY;
    find_row(&s, served, method, ret);
    return true;
}

static bool find_v1(struct span s, unsigned method, struct route_found *ret)
{
    struct span rest = s;

    if (!eat(&rest, "/v1") || (rest.n && *rest.p != '/'))
        return false;
    ret->dialect = DIALECT_V1;
    strip_end(&s);
    find_row(&s, SERVED_V1, method, ret);
    return true;
}

/* All that is left under /api is the gateway's to answer. */
static void find_gateway(struct span s, unsigned method, struct route_found *ret)
{
    ret->dialect = DIALECT_GATEWAY;
    strip_end(&s);
    for (size_t i = 0; i < ARRAY_LEN(gateway_roots); i++) {
        struct span name = s;

        if (eat(&name, gateway_roots[i])) {
            find_row(&name, SERVED_GATEWAY, method, ret);
            return;
        }
    }
}

void route_find(const char *path, unsigned method, struct route_found *ret)
{
    struct span s = { path, strlen(path) };

    *ret = (struct route_found){ .dialect = DIALECT_V1 };
    if (find_esb(s, method, ret) || find_v1(s, method, ret))
        return;
    if (!strncmp(path, "/api", 4) && (!path[4] || path[4] == '/'))
        find_gateway(s, method, ret);
}
