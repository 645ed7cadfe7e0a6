/* SPDX-License-Identifier: MIT */
/* host.h - hosts, and processes with their host, as /v1 shows them. */
#ifndef MODEL_HOST_H
#define MODEL_HOST_H

#include <stdint.h>

#include "model/view.h"

enum host_state { HOST_OFFLINE, HOST_ONLINE, HOST_AWAITED, HOST_SILENT };

struct host_address {
    const char *text;
};

struct host_view {
    const char *agent_id, *ip, *hostname, *version; /* of the agent; all "" but ip: expected */
    struct list addresses;                          /* struct host_address, `ip` first */
    int64_t cloud_id, biz_id, host_id;
    const char *note;
    int64_t state; /* enum host_state */
    bool online;
    int64_t since_s, joined_s; /* seconds since 1970: of the last change of state; when it joined */
    int64_t silent_since_s;    /* online, but silent since then; 0: not silent */
    int64_t processes, running;
};

struct host_page {
    struct list hosts; /* struct host_view, by agent id */
    const char *next;  /* `after` of the next page; "": this is the last */
};

struct process_view {
    const char *agent_id, *ip;
    int64_t cloud_id;
    bool online; /* the host is; otherwise the rest is the last known state */
    struct proc_view view;
    int64_t biz_id;
    int64_t unknown_since_s; /* the state is stale since then; 0: it is current */
};

struct process_page {
    struct list processes; /* struct process_view, by agent id, namespace, name */
    const char *next;
};

struct host_list_ask {               /* the query of GET /v1/hosts */
    int64_t biz_id, cloud_id, state; /* enum host_state */
    enum presence has_biz_id, has_cloud_id, has_state;
    const char *text, *after;
    int64_t limit;
};

enum process_state {
    PROCESS_UNREGISTERED,
    PROCESS_RUNNING,
    PROCESS_STOPPED,
    PROCESS_UNKNOWN,   /* its host is offline */
    PROCESS_SCHEDULED, /* periodic, hosted, and not running now */
};

struct process_ask { /* the query of GET /v1/processes */
    const char *space, *name, *host, *after;
    int64_t limit;
    int64_t biz_id, status; /* enum process_state */
    bool hosted;
    enum presence has_biz_id, has_status, has_hosted;
    const char *text;
};

struct page_ask { /* of the other lists */
    const char *after;
    int64_t limit;
};

/* POST /v1/hosts/remove */
struct host_remove_ask {
    const char *host;
};

/* A problem that needs attention. */
enum wrong_kind { WRONG_STORE, WRONG_PROCESS, WRONG_OFFLINE, WRONG_SILENT, WRONG_LINK };

struct status_wrong {
    int64_t kind; /* enum wrong_kind */
    const char *agent_id, *space, *name, *text;
};

/* GET /v1/status */
struct status_view {
    const char *version;
    int64_t uptime_s, hosts, online, silent, processes, running, hosted, open_tasks;
    struct list wrong; /* struct status_wrong; only of the server, as hosts are listed separately */
};

extern const struct enum_name host_state_names[], process_state_names[];

/* The state that is shown; is_unknown: its host is offline. */
enum process_state process_state_of(const struct proc_view *v, bool is_unknown);

extern const struct shape host_view_shape, host_list_ask_shape, host_page_shape, process_view_shape,
    process_page_shape, process_ask_shape, page_ask_shape, status_wrong_shape, status_view_shape,
    host_remove_ask_shape;

#endif
