/* SPDX-License-Identifier: MIT */
/* routes.c - see routes.h.  A new endpoint is one row here. */
#include "api/pipeline/routes.h"

#include <string.h>

#include "api/pipeline/handlers.h"
#include "base/mem/mem.h"
#include "model/agent_info.h"
#include "model/audit.h"
#include "model/event.h"
#include "model/explain.h"
#include "model/group.h"
#include "model/host.h"
#include "model/inventory.h"
#include "model/job.h"
#include "model/log.h"
#include "model/proc.h"
#include "model/proc_info.h"
#include "model/task.h"
#include "model/upgrade.h"
#include "server/dispatch/tasks.h"
#include "wire/http/http_req.h"

#define ANY (METHOD_GET | METHOD_POST)

enum { SMALL = 64 * 1024, MIDDLE = 1024 * 1024, LARGE = 8 * 1024 * 1024, HUGE = HTTP_BODY_MAX };

/* clang-format off */
const struct route routes[] = {
    { SERVED_GSE, "register_proc_info", ANY, APP_OPERATE, HUGE, &proc_register_shape, NULL, register_new,
      "Registers the spec of a process on several hosts; the answer maps each result key to its result.", TASK_FORM_V1 },
    { SERVED_GSE | SERVED_PROC, "update_proc_info", ANY, APP_OPERATE, HUGE, &proc_update_shape, NULL, register_update,
      "The same for a process that may be registered already; a hosted process uses the new spec from then on, without "
      "a restart.", TASK_FORM_V1 },
    { SERVED_GSE, "unregister_proc_info", ANY, APP_OPERATE, HUGE, &proc_unregister_shape, NULL, register_end,
      "Removes the registration and stops hosting the process; a running process keeps running, a stopped one is "
      "removed from its host too.", TASK_FORM_V1 },
    { SERVED_GSE, "operate_proc", ANY, APP_OPERATE, HUGE, &proc_operate_known_shape, &task_ref_shape, operate_known,
      "One operation on a registered process on several hosts; the answer is a task id.", TASK_FORM_V1 },
    { SERVED_GSE, "set_process_group_info", ANY, APP_OPERATE, HUGE, &group_set_shape, NULL, groups_put,
      "Sets the resources that the processes of a namespace may use together on a host.", TASK_FORM_V1 },
    { SERVED_GSE, "get_process_group_info", ANY, APP_READ, LARGE, &group_get_shape, &group_infos_shape, groups_get,
      "The resources that set_process_group_info has set.", TASK_FORM_V1 },
    { SERVED_PROC, "upgrade_to_agent_id", METHOD_POST, APP_OPERATE, LARGE, &upgrade_ask_shape, &upgrade_view_shape,
      upgrade_to_agent_id, "Whether hosts are known by these agent ids; here they always are." },
    { SERVED_GSE | SERVED_PROC, "operate_proc_v2", ANY, APP_OPERATE, HUGE, &proc_operate_shape, &task_ref_shape,
      operate_one, "One operation on one process on several hosts; the answer is a task id." },
    { SERVED_GSE | SERVED_PROC, "operate_proc_multi", ANY, APP_OPERATE, HUGE, &proc_operate_batch_shape,
      &task_ref_shape, operate_batch, "Several operations as one task." },
    { SERVED_GSE, "get_proc_operate_result", ANY, APP_READ, SMALL, &task_ref_shape, NULL, result_get,
      "The results of a task, by result key." },
    { SERVED_GSE | SERVED_PROC, "get_proc_operate_result_v2", ANY, APP_READ, SMALL, &task_ref_shape, NULL,
      result_get, "The results of a task, by result key." },

    { SERVED_JOB, "manage_proc", ANY, APP_OPERATE, HUGE, &job_manage_shape, &job_task_ref_shape, job_manage,
      "Hosts or unhosts processes.", TASK_FORM_JOB },
    { SERVED_JOB, "manage_process", ANY, APP_OPERATE, HUGE, &job_manage_shape, &job_task_ref_shape, job_manage,
      "The same as manage_proc, by the name that its documents use.", TASK_FORM_JOB },
    { SERVED_JOB, "operate_process", ANY, APP_OPERATE, HUGE, &job_operate_shape, &job_task_ref_shape, job_operate,
      "One operation on several processes, each on several hosts.", TASK_FORM_JOB },
    { SERVED_JOB, "operate_proc", ANY, APP_OPERATE, HUGE, &job_script_operate_shape, &job_task_ref_shape,
      job_operate_script, "The same for processes with commands that are scripts with fixed names.", TASK_FORM_JOB },
    { SERVED_JOB, "get_proc_result", ANY, APP_READ, SMALL, &job_result_ask_shape, &job_result_shape,
      job_result_get, "The results of a task, by result key.", TASK_FORM_JOB },

    { SERVED_GSE, "get_proc_status", ANY, APP_READ, LARGE, &proc_hosts_ask_shape, &proc_infos_shape, status_get,
      "A process on several hosts, as last reported by their agents; unknown for an agent that is not connected." },
    { SERVED_GSE | SERVED_PROC, "get_proc_status_v2", ANY, APP_READ, LARGE, &proc_status_ask_shape, &proc_infos_shape,
      status_get, "The same, by address or agent id." },
    { SERVED_GSE | SERVED_PROC, "sync_proc_status", ANY, APP_READ, SMALL, &proc_sync_ask_shape, &proc_sync_shape,
      status_sync, "All processes of a namespace, page by page, by agent id and name." },
    { SERVED_TASK, "get_task_state", METHOD_POST, APP_READ, LARGE, &task_state_ask_shape, &task_state_view_shape,
      task_state_get, "The agents of a task by their state." },

    { SERVED_GSE, "get_agent_status", ANY, APP_READ, LARGE, &agent_hosts_ask_shape, &agent_alive_shape,
      agents_status, "Whether the agents of hosts are connected, by `cloud:ip`.", .label = "host list [hosts]",
      .gives = GIVES_MAP },
    { SERVED_GSE, "get_agent_info", ANY, APP_READ, LARGE, &agent_hosts_ask_shape, &agent_short_shape, agents_info,
      "The agent version of hosts, by `cloud:ip`; hosts without an agent are absent.",
      .label = "host list [hosts]", .gives = GIVES_MAP },
    { SERVED_CLUSTER, "list_agent_state", METHOD_POST, APP_READ, HUGE, &agent_ids_ask_shape, &agent_state_shape,
      agents_list_state, "The state of agents, one entry per requested id.", .gives = GIVES_LIST },
    { SERVED_CLUSTER, "list_agent_info", METHOD_POST, APP_READ, HUGE, &agent_ids_ask_shape, &agent_full_shape,
      agents_list_info, "Facts of agents and their hosts, one entry per requested id.",
      .gives = GIVES_LIST },
    { SERVED_JOB, "get_agent_status", ANY, APP_READ, LARGE, &job_agents_ask_shape, &agent_alive_shape,
      job_agents_status, "Whether the agents of hosts are connected.", .gives = GIVES_LIST },
    { SERVED_JOB_SYSTEM, "query_agent_info", METHOD_POST, APP_READ, MIDDLE, &host_ids_ask_shape, &job_agents_shape,
      job_agents_info, "Whether the agents of hosts are connected, by the hosts' ids." },

    { SERVED_BACKEND, "/procapi/v1/proc/procinfo", METHOD_POST, APP_OPERATE, HUGE, &proc_register_shape, NULL,
      register_new, "register_proc_info, behind an ESB.", TASK_FORM_V1 },
    { SERVED_BACKEND, "/procapi/v1/proc/procinfo", METHOD_PUT, APP_OPERATE, HUGE, &proc_update_shape, NULL,
      register_update, "update_proc_info, behind an ESB.", TASK_FORM_V1 },
    { SERVED_BACKEND, "/procapi/v1/proc/procinfo", METHOD_DELETE, APP_OPERATE, HUGE, &proc_unregister_shape, NULL,
      register_end, "unregister_proc_info, behind an ESB.", TASK_FORM_V1 },
    { SERVED_BACKEND, "/procapi/v1/proc/operate", METHOD_POST, APP_OPERATE, HUGE, &proc_operate_known_shape,
      &task_ref_shape, operate_known, "operate_proc, behind an ESB.", TASK_FORM_V1 },
    { SERVED_BACKEND, "/procapi/v1/proc/groupinfo", METHOD_POST, APP_OPERATE, HUGE, &group_set_shape, NULL,
      groups_put, "set_process_group_info, behind an ESB.", TASK_FORM_V1 },
    { SERVED_BACKEND, "/procapi/v1/proc/groupinfo", METHOD_GET, APP_READ, LARGE, &group_get_shape, &group_infos_shape,
      groups_get, "get_process_group_info, behind an ESB.", TASK_FORM_V1 },
    { SERVED_BACKEND, "/procapi/v2/proc/operate", METHOD_POST, APP_OPERATE, HUGE, &proc_operate_shape,
      &task_ref_shape, operate_one, "operate_proc_v2, behind an ESB." },
    { SERVED_BACKEND, "/procapi/v2/proc/multioperate", METHOD_POST, APP_OPERATE, HUGE, &proc_operate_batch_shape,
      &task_ref_shape, operate_batch, "operate_proc_multi, behind an ESB." },
    { SERVED_BACKEND, "/procapi/v1/proc/operate", METHOD_GET, APP_READ, SMALL, &task_ref_shape, NULL, result_get,
      "get_proc_operate_result, behind an ESB." },
    { SERVED_BACKEND, "/procapi/v2/proc/operate", METHOD_GET, APP_READ, SMALL, &task_ref_shape, NULL, result_get,
      "get_proc_operate_result_v2, behind an ESB." },

    { SERVED_BACKEND, "/procapi/v1/proc/status", METHOD_GET, APP_READ, LARGE, &proc_hosts_ask_shape, &proc_infos_shape,
      status_get, "get_proc_status, behind an ESB." },
    { SERVED_BACKEND, "/procapi/v2/proc/status", METHOD_GET, APP_READ, LARGE, &proc_status_ask_shape, &proc_infos_shape,
      status_get, "get_proc_status_v2, behind an ESB." },
    { SERVED_BACKEND, "/procapi/v1/proc/syncstatus", METHOD_GET, APP_READ, SMALL, &proc_sync_ask_shape,
      &proc_sync_shape, status_sync, "sync_proc_status, behind an ESB." },

    { SERVED_V1, "/metrics", METHOD_GET, APP_METRICS, 0, NULL, NULL, metrics_get,
      "Metrics of the server for Prometheus, text format 0.0.4.", .gives = GIVES_TEXT },
    { SERVED_V1, "/v1/status", METHOD_GET, APP_READ, 0, NULL, &status_view_shape, v1_status,
      "The server and its fleet in numbers." },
    { SERVED_V1, "/v1/hosts", METHOD_GET, APP_READ, 0, &host_list_ask_shape, &host_page_shape, v1_hosts,
      "Hosts, page by page." },
    { SERVED_V1, "/v1/hosts", METHOD_PUT, APP_ADMIN, SMALL, &host_set_ask_shape, &host_set_view_shape, v1_host_set,
      "Sets the business of a host, its id in the CMDB and a note. A host that has not joined becomes an expected host." },
    { SERVED_V1, "/v1/hosts/import", METHOD_POST, APP_ADMIN, HUGE, &host_import_ask_shape, &host_import_view_shape,
      v1_hosts_import, "The same for many hosts, all or none." },
    { SERVED_V1, "/v1/hosts/remove", METHOD_POST, APP_ADMIN, SMALL, &host_remove_ask_shape, &host_view_shape,
      v1_host_remove, "Removes a host and its processes from the server; its agent is refused, and its address can be used by another host. "
      "Processes on it keep running." },
    { SERVED_V1, "/v1/businesses", METHOD_GET, APP_READ, 0, &page_ask_shape, &business_page_view_shape,
      v1_businesses, "Businesses, page by page: those that are listed, and those of joined or expected hosts." },
    { SERVED_V1, "/v1/businesses", METHOD_PUT, APP_ADMIN, SMALL, &business_put_ask_shape, &business_view_shape,
      v1_business_put, "Adds a business to the list, or renames it." },
    { SERVED_V1, "/v1/businesses/*", METHOD_DELETE, APP_ADMIN, 0, NULL, &business_view_shape, v1_business_del,
      "Removes a business from the list; refused while it has hosts or is in a set." },
    { SERVED_V1, "/v1/business_sets", METHOD_GET, APP_READ, 0, &page_ask_shape, &business_set_page_shape,
      v1_business_sets, "Business sets, page by page." },
    { SERVED_V1, "/v1/business_sets", METHOD_PUT, APP_ADMIN, MIDDLE, &business_set_view_shape,
      &business_set_view_shape, v1_business_set_put, "Creates a business set, or replaces its contents." },
    { SERVED_V1, "/v1/business_sets/*", METHOD_DELETE, APP_ADMIN, 0, NULL, &business_set_view_shape,
      v1_business_set_del, "Removes a business set." },
    { SERVED_V1, "/v1/audit", METHOD_GET, APP_ADMIN, 0, &audit_ask_shape, &audit_page_view_shape, v1_audit,
      "The audit log: changes and attempts, with app, user and result; newest first." },
    { SERVED_V1, "/v1/processes", METHOD_GET, APP_READ, 0, &process_ask_shape, &process_page_shape, v1_processes,
      "Processes of all hosts, page by page." },
    { SERVED_V1, "/v1/processes/forget", METHOD_POST, APP_OPERATE, LARGE, &forget_ask_shape, &forget_view_shape, v1_forget,
      "Removes a process definition from hosts and stops supervising it; on an offline host as soon as its agent reconnects. "
      "A running process keeps running; a stopped one is removed from its host too." },
    { SERVED_V1, "/v1/logs", METHOD_GET, APP_READ, 0, &log_ask_shape, &log_view_shape, v1_logs,
      "Output of a process or of one of its commands: the last lines, or what was written since." },
    { SERVED_V1, "/v1/events", METHOD_GET, APP_READ, 0, &event_ask_shape, &event_page_shape, v1_events,
      "Events of hosts, page by page, newest first or oldest first." },
    { SERVED_V1, "/v1/events/stream", METHOD_GET, APP_READ, 0, &event_stream_ask_shape, &event_view_shape,
      v1_event_stream, "New events as server-sent events: the data of each is an event_view, its id is the event's id; "
      "`Last-Event-ID` resumes a stream, and `event: gap` names the events that are missing then.",
      .is_stream = true },
    { SERVED_V1, "/v1/tasks", METHOD_GET, APP_READ, 0, &task_list_query_shape, &task_page_shape, v1_tasks,
      "Tasks, page by page, newest first." },
    { SERVED_V1, "/v1/tasks/cancel", METHOD_POST, APP_OPERATE, SMALL, &task_ref_shape, &task_view_shape, v1_task_cancel,
      "Cancels the items of a task that have not begun, with code 826; running ones continue. It can be repeated. "
      "The answer has the first 1,000 items; `GET /v1/tasks/ID` continues at `next`.",
      .is_repeatable = true },
    { SERVED_V1, "/v1/tasks/*", METHOD_GET, APP_READ, 0, &task_look_shape, &task_view_shape, v1_task,
      "A task and its items: all, a page, or those that failed." },
    { SERVED_V1, "/v1/explain", METHOD_GET, APP_READ, 0, &explain_ask_shape, &explain_page_shape, v1_explain,
      "Why a process is in its state, for each host that has it: one sentence, the facts, and the last operations." },
    { SERVED_V1, "/v1/operations", METHOD_POST, APP_OPERATE, LARGE, &operation_short_ask_shape, &operation_view_shape,
      v1_operate, "One operation on one process on several hosts, or on all hosts that have it.", TASK_FORM_NATIVE,
      .is_repeatable = true },
    { SERVED_V1, "/v1/apps", METHOD_GET, APP_ADMIN, 0, &page_ask_shape, &app_page_shape, v1_apps,
      "Apps, page by page, without their secrets." },
    { SERVED_V1, "/v1/apps", METHOD_POST, APP_ADMIN, MIDDLE, &app_ask_shape, &app_view_shape, v1_app_put,
      "Creates an app; the answer has its secret, which is shown only once. With `?rotate=1` an existing app gets a new "
      "secret, and the previous one stays valid until the next rotation.", .tells_secret = true },
    { SERVED_V1, "/v1/apps/*", METHOD_GET, APP_ADMIN, 0, NULL, &app_view_shape, v1_app, "One app." },
    { SERVED_V1, "/v1/apps/*", METHOD_PUT, APP_ADMIN, MIDDLE, &app_set_ask_shape, &app_view_shape, v1_app_set,
      "Replaces the permissions of an app, with immediate effect. Its secrets stay." },
    { SERVED_V1, "/v1/apps/*", METHOD_DELETE, APP_ADMIN, 0, NULL, &app_view_shape, v1_app_del,
      "Removes an app: it is refused from now on. Its tasks continue." },
    { SERVED_V1, "/v1/tokens", METHOD_POST, APP_ADMIN, SMALL, &token_ask_shape, &token_view_shape, v1_token_put,
      "Creates a token with which hosts can join.", .tells_secret = true },
    { SERVED_V1, "/v1/tokens", METHOD_GET, APP_ADMIN, 0, &page_ask_shape, &token_page_shape, v1_tokens,
      "Tokens, page by page, including used, expired and revoked ones; without the tokens themselves." },
    { SERVED_V1, "/v1/tokens/*", METHOD_DELETE, APP_ADMIN, 0, NULL, &token_line_shape, v1_token_del,
      "Revokes a token: no host can join with it any more. Hosts that have joined with it stay. It is listed as revoked "
      "until it is removed with the expired ones. It can be repeated." },
    { 0 },
};

/* ESB: after /api/c/compapi/v2/.  A longer root must precede its prefixes. */
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

/* A final "*" matches one non-empty word. */
static bool routes_fits(const char *pattern, const struct span *s, const char **ret_rest)
{
    size_t n = strlen(pattern);

    if (n && pattern[n - 1] == '*') {
        *ret_rest = s->p + n - 1;
        return s->n >= n && !memcmp(pattern, s->p, n - 1) && !memchr(*ret_rest, '/', s->n - n + 1);
    }
    *ret_rest = s->p + s->n;
    return s->n == n && !memcmp(pattern, s->p, n);
}

/* The row with this name in a place. */
static void find_row(const struct span *s, unsigned served, unsigned method,
                     struct route_found *ret)
{
    unsigned known = dialects[ret->dialect].methods;
    const char *rest;

    for (const struct route *r = routes; r->path; r++) {
        if (!(r->served & served) || !routes_fits(r->path, s, &rest))
            continue;
        ret->methods |= r->methods & known;
        if (r->methods & known & method) {
            ret->route = r;
            ret->rest = rest;
        }
    }
}

/* ---- forms of a path */

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

/* Paths of Job without a version belong to another API. */
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

/* Rows with a whole path. */
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

/* All other paths under /api are answered as the gateway. */
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
        find_whole(s, "/metrics", DIALECT_V1, SERVED_V1, method, ret) ||
        find_whole(s, "/procapi", DIALECT_BACKEND, SERVED_BACKEND, method, ret))
        return;
    if (!strncmp(path, "/api", 4) && (!path[4] || path[4] == '/'))
        find_gateway(s, method, ret);
}

void route_path_write(const struct route *r, const struct place *p, struct buf *out)
{
    bool is_esb = *p->root && *p->root != '/';
    size_t n = strlen(r->path);

    buf_printf(out, "%s%s", is_esb ? "/api/c/compapi/v2/" : "", p->root);
    if (r->path[n - 1] == '*')
        buf_printf(out, "%.*s{id}", (int)n - 1, r->path);
    else
        buf_puts(out, r->path);
    buf_puts(out, is_esb ? "/" : "");
}
