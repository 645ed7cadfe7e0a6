/* SPDX-License-Identifier: MIT */
/* routes.c - see routes.h.  A new endpoint is one row here. */
#include "api/routes.h"

#include <string.h>

#include "api/handlers.h"
#include "base/mem.h"
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
#include "model/register.h"
#include "model/task.h"
#include "model/upgrade.h"

#define ANY (METHOD_GET | METHOD_POST)

enum { SMALL = 64 * 1024, MIDDLE = 1024 * 1024, LARGE = 8 * 1024 * 1024, HUGE = HTTP_BODY_MAX };

/* clang-format off */
const struct route routes[] = {
    { SERVED_GSE, "register_proc_info", ANY, APP_OPERATE, HUGE, &proc_register_shape, NULL, register_new,
      "Says how a process of several hosts is run, for later; a map from result key to what came of it.", TASK_FORM_V1 },
    { SERVED_GSE | SERVED_PROC, "update_proc_info", ANY, APP_OPERATE, HUGE, &proc_update_shape, NULL, register_update,
      "The same, whether or not it was said before; a process that is hosted is kept by it from then on, without a "
      "restart.", TASK_FORM_V1 },
    { SERVED_GSE, "unregister_proc_info", ANY, APP_OPERATE, HUGE, &proc_unregister_shape, NULL, register_end,
      "Forgets that, and hosts the process no more; one that runs runs on, and one that does not is forgotten by its "
      "host, too.", TASK_FORM_V1 },
    { SERVED_GSE, "operate_proc", ANY, APP_OPERATE, HUGE, &proc_operate_known_shape, &task_ref_shape, operate_known,
      "One operation on a process that is registered; the answer is a task to ask for.", TASK_FORM_V1 },
    { SERVED_GSE, "set_process_group_info", ANY, APP_OPERATE, HUGE, &group_set_shape, NULL, groups_put,
      "What the processes of a namespace may use together on a host.", TASK_FORM_V1 },
    { SERVED_GSE, "get_process_group_info", ANY, APP_READ, LARGE, &group_get_shape, &group_infos_shape, groups_get,
      "What was set by that.", TASK_FORM_V1 },
    { SERVED_PROC, "upgrade_to_agent_id", METHOD_POST, APP_OPERATE, LARGE, &upgrade_ask_shape, &upgrade_view_shape,
      upgrade_to_agent_id, "Whether hosts are known by these agent ids, as they are here from the start." },
    { SERVED_GSE | SERVED_PROC, "operate_proc_v2", ANY, APP_OPERATE, HUGE, &proc_operate_shape, &task_ref_shape,
      operate_one, "One operation on one process of several hosts; the answer is a task to ask for." },
    { SERVED_GSE | SERVED_PROC, "operate_proc_multi", ANY, APP_OPERATE, HUGE, &proc_operate_batch_shape,
      &task_ref_shape, operate_batch, "Several operations as one task." },
    { SERVED_GSE, "get_proc_operate_result", ANY, APP_READ, SMALL, &task_ref_shape, NULL, result_get,
      "What became of a task, by result key." },
    { SERVED_GSE | SERVED_PROC, "get_proc_operate_result_v2", ANY, APP_READ, SMALL, &task_ref_shape, NULL,
      result_get, "What became of a task, by result key." },

    { SERVED_JOB, "manage_proc", ANY, APP_OPERATE, HUGE, &job_manage_shape, &job_task_ref_shape, job_manage,
      "Hosts processes, or lets go of them.", TASK_FORM_JOB },
    { SERVED_JOB, "manage_process", ANY, APP_OPERATE, HUGE, &job_manage_shape, &job_task_ref_shape, job_manage,
      "The same as manage_proc, by the name that its documents seem to have.", TASK_FORM_JOB },
    { SERVED_JOB, "operate_process", ANY, APP_OPERATE, HUGE, &job_operate_shape, &job_task_ref_shape, job_operate,
      "One operation on several processes, each on several hosts.", TASK_FORM_JOB },
    { SERVED_JOB, "operate_proc", ANY, APP_OPERATE, HUGE, &job_script_operate_shape, &job_task_ref_shape,
      job_operate_script, "The same for processes whose commands are scripts of fixed names.", TASK_FORM_JOB },
    { SERVED_JOB, "get_proc_result", ANY, APP_READ, SMALL, &job_result_ask_shape, &job_result_shape,
      job_result_get, "What became of a task, by result key.", TASK_FORM_JOB },

    { SERVED_GSE, "get_proc_status", ANY, APP_READ, LARGE, &proc_hosts_ask_shape, &proc_infos_shape, status_get,
      "A process on several hosts, as their agents last said; where an agent is not connected it is unknown." },
    { SERVED_GSE | SERVED_PROC, "get_proc_status_v2", ANY, APP_READ, LARGE, &proc_status_ask_shape, &proc_infos_shape,
      status_get, "The same, by address or agent id." },
    { SERVED_GSE | SERVED_PROC, "sync_proc_status", ANY, APP_READ, SMALL, &proc_sync_ask_shape, &proc_sync_shape,
      status_sync, "All processes of a namespace, page by page, by agent id and name." },
    { SERVED_TASK, "get_task_state", METHOD_POST, APP_READ, LARGE, &task_state_ask_shape, &task_state_view_shape,
      task_state_get, "Which agents are done with a task, and how." },

    { SERVED_GSE, "get_agent_status", ANY, APP_READ, LARGE, &agent_hosts_ask_shape, &agent_alive_shape,
      agents_status, "Whether the agents of hosts are connected, by `cloud:ip`.", .label = "host list [hosts]",
      .gives = GIVES_MAP },
    { SERVED_GSE, "get_agent_info", ANY, APP_READ, LARGE, &agent_hosts_ask_shape, &agent_short_shape, agents_info,
      "The version of the agents of hosts, by `cloud:ip`; hosts without one are absent.",
      .label = "host list [hosts]", .gives = GIVES_MAP },
    { SERVED_CLUSTER, "list_agent_state", METHOD_POST, APP_READ, MIDDLE, &agent_ids_ask_shape, &agent_state_shape,
      agents_list_state, "How agents are, one entry for each id asked for.", .gives = GIVES_LIST },
    { SERVED_CLUSTER, "list_agent_info", METHOD_POST, APP_READ, MIDDLE, &agent_ids_ask_shape, &agent_full_shape,
      agents_list_info, "What is known of agents and their hosts, one entry for each id asked for.",
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
      "What the server counts, for Prometheus, in its text format 0.0.4.", .gives = GIVES_TEXT },
    { SERVED_V1, "/v1/status", METHOD_GET, APP_READ, 0, NULL, &status_view_shape, v1_status,
      "The server and its fleet in numbers." },
    { SERVED_V1, "/v1/hosts", METHOD_GET, APP_READ, 0, &host_list_ask_shape, &host_page_shape, v1_hosts,
      "Hosts, page by page." },
    { SERVED_V1, "/v1/hosts", METHOD_PUT, APP_ADMIN, SMALL, &host_set_ask_shape, &host_set_view_shape, v1_host_set,
      "Says which business a host is in, its number in the CMDB, a note. One that has not joined is expected." },
    { SERVED_V1, "/v1/hosts/import", METHOD_POST, APP_ADMIN, HUGE, &host_import_ask_shape, &host_import_view_shape,
      v1_hosts_import, "The same of many hosts at once, all or none of them." },
    { SERVED_V1, "/v1/hosts/remove", METHOD_POST, APP_ADMIN, SMALL, &host_remove_ask_shape, &host_view_shape,
      v1_host_remove, "Forgets a host and what it runs; its agent is let in no more, and its address is free for another. "
      "Processes on it run on." },
    { SERVED_V1, "/v1/businesses", METHOD_GET, APP_READ, 0, &page_ask_shape, &business_page_view_shape,
      v1_businesses, "Businesses, page by page: those that are listed and those that hosts are, or are expected to be, in." },
    { SERVED_V1, "/v1/businesses", METHOD_PUT, APP_ADMIN, SMALL, &business_put_ask_shape, &business_view_shape,
      v1_business_put, "Lists a business, or gives it another name." },
    { SERVED_V1, "/v1/businesses/*", METHOD_DELETE, APP_ADMIN, 0, NULL, &business_view_shape, v1_business_del,
      "Takes a business off the list; not while hosts are in it, or a set has it." },
    { SERVED_V1, "/v1/business_sets", METHOD_GET, APP_READ, 0, &page_ask_shape, &business_set_page_shape,
      v1_business_sets, "Business sets, page by page." },
    { SERVED_V1, "/v1/business_sets", METHOD_PUT, APP_ADMIN, MIDDLE, &business_set_view_shape,
      &business_set_view_shape, v1_business_set_put, "Makes a business set, or says anew what it has." },
    { SERVED_V1, "/v1/business_sets/*", METHOD_DELETE, APP_ADMIN, 0, NULL, &business_set_view_shape,
      v1_business_set_del, "Forgets a business set." },
    { SERVED_V1, "/v1/audit", METHOD_GET, APP_ADMIN, 0, &audit_ask_shape, &audit_page_view_shape, v1_audit,
      "Who has changed what, or tried to, and what came of it; the newest first." },
    { SERVED_V1, "/v1/processes", METHOD_GET, APP_READ, 0, &process_ask_shape, &process_page_shape, v1_processes,
      "Processes of all hosts, page by page." },
    { SERVED_V1, "/v1/processes/forget", METHOD_POST, APP_OPERATE, LARGE, &forget_ask_shape, &forget_view_shape, v1_forget,
      "Forgets how a process of hosts is run: it is hosted no more there, by an agent that is away as soon as it is back. "
      "One that runs runs on; one that does not is forgotten by its host, too." },
    { SERVED_V1, "/v1/logs", METHOD_GET, APP_READ, 0, &log_ask_shape, &log_view_shape, v1_logs,
      "What a process, or a command of it, has said: the last lines, or what came since." },
    { SERVED_V1, "/v1/events", METHOD_GET, APP_READ, 0, &event_ask_shape, &event_page_shape, v1_events,
      "What happened on hosts, page by page, newest first or oldest first." },
    { SERVED_V1, "/v1/events/stream", METHOD_GET, APP_READ, 0, &event_stream_ask_shape, &event_view_shape,
      v1_event_stream, "The same as it happens, as server-sent events: the data of each is an event_view, its id the event's; "
      "`Last-Event-ID` goes on where a stream ended, and `event: gap` says what is missing then.",
      .is_stream = true },
    { SERVED_V1, "/v1/tasks", METHOD_GET, APP_READ, 0, &task_list_query_shape, &task_page_shape, v1_tasks,
      "Tasks, the newest first, page by page." },
    { SERVED_V1, "/v1/tasks/cancel", METHOD_POST, APP_OPERATE, SMALL, &task_ref_shape, &task_view_shape, v1_task_cancel,
      "Cancels what has not been begun of a task, item by item with code 826; what runs goes on. Again is fine. "
      "The answer has the first 1,000 items; `next` is where `GET /v1/tasks/ID` goes on.",
      .is_repeatable = true },
    { SERVED_V1, "/v1/tasks/*", METHOD_GET, APP_READ, 0, &task_look_shape, &task_view_shape, v1_task,
      "A task and its items: all of them, or a page, or those that failed." },
    { SERVED_V1, "/v1/explain", METHOD_GET, APP_READ, 0, &explain_ask_shape, &explain_page_shape, v1_explain,
      "Why a process is as it is, on each host that has it: in one sentence, in facts, and what was last asked of it." },
    { SERVED_V1, "/v1/operations", METHOD_POST, APP_OPERATE, LARGE, &operation_ask_shape, &operation_view_shape,
      v1_operate, "One operation on one process of several hosts, or of all that have it.", .is_repeatable = true },
    { SERVED_V1, "/v1/apps", METHOD_GET, APP_ADMIN, 0, &page_ask_shape, &app_page_shape, v1_apps,
      "Apps, page by page; never their secrets." },
    { SERVED_V1, "/v1/apps", METHOD_POST, APP_ADMIN, MIDDLE, &app_ask_shape, &app_view_shape, v1_app_put,
      "Makes an app; the answer has its secret, which is told only this once. With `?rotate=1` an app that is there "
      "gets a new secret, and the one it had goes on to work until the next time.", .tells_secret = true },
    { SERVED_V1, "/v1/apps/*", METHOD_GET, APP_ADMIN, 0, NULL, &app_view_shape, v1_app, "One app." },
    { SERVED_V1, "/v1/apps/*", METHOD_PUT, APP_ADMIN, MIDDLE, &app_set_ask_shape, &app_view_shape, v1_app_set,
      "Says anew what an app may do, at once. Its secrets stay." },
    { SERVED_V1, "/v1/apps/*", METHOD_DELETE, APP_ADMIN, 0, NULL, &app_view_shape, v1_app_del,
      "Forgets an app: it is let in no more. Its tasks run on." },
    { SERVED_V1, "/v1/tokens", METHOD_POST, APP_ADMIN, SMALL, &token_ask_shape, &token_view_shape, v1_token_put,
      "Makes a token by which hosts may join.", .tells_secret = true },
    { SERVED_V1, "/v1/tokens", METHOD_GET, APP_ADMIN, 0, &page_ask_shape, &token_page_shape, v1_tokens,
      "Tokens, page by page, those that are used up, expired or revoked too; never what they are." },
    { SERVED_V1, "/v1/tokens/*", METHOD_DELETE, APP_ADMIN, 0, NULL, &token_line_shape, v1_token_del,
      "Revokes a token: nobody joins by it any more. Hosts that have joined by it stay. It is listed as revoked until "
      "it is removed with what has expired; again is fine." },
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
        find_whole(s, "/metrics", DIALECT_V1, SERVED_V1, method, ret) ||
        find_whole(s, "/procapi", DIALECT_BACKEND, SERVED_BACKEND, method, ret))
        return;
    if (!strncmp(path, "/api", 4) && (!path[4] || path[4] == '/'))
        find_gateway(s, method, ret);
}
