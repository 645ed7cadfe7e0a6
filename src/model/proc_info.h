/* SPDX-License-Identifier: MIT */
/* proc_info.h - processes as BlueKing's status APIs show them, and the requests of those APIs. */
#ifndef MODEL_PROC_INFO_H
#define MODEL_PROC_INFO_H

#include "model/proc.h"

/* get_proc_status and get_proc_status_v2 */
struct proc_status_ask {
    struct proc_meta meta;
    struct list hosts;  /* struct host_ref */
    struct list agents; /* struct agent_ref; if given, hosts are ignored */
};

/* sync_proc_status */
enum { PROC_SYNC_MAX = 1000 }; /* size of a page; a larger limit is reduced to it */

struct proc_sync_meta {
    const char *space;
};

struct proc_sync_page {
    int64_t start, limit;
};

struct proc_sync_ask {
    struct proc_sync_meta meta;
    struct proc_sync_page page;
};

struct proc_info_meta {
    const char *space, *name;
    const char *labels; /* JSON, as registered */
};

/* One process on one host.  Every version of the API always has all of these fields: clients fail
 * on a missing one. */
struct proc_info {
    struct proc_info_meta meta;
    struct host_ref host; /* as in the request */
    const char *agent_id; /* as in the request */
    int64_t wanted, status;
    bool hosted;
    const char *message;
    int64_t pid; /* -1: not running */
    const char *version;
    int64_t register_s, last_start_s, report_s;
    double cpu_percent, mem_percent;
    int64_t fd, disk, net;
};

struct proc_infos {
    struct list list; /* struct proc_info */
};

struct proc_sync {
    int64_t count;    /* of all pages */
    struct list list; /* struct proc_info */
};

/* proc_hosts_ask: a proc_status_ask with hosts only, as in version 1. */
extern const struct shape proc_status_ask_shape, proc_hosts_ask_shape, proc_sync_ask_shape,
    proc_infos_shape, proc_sync_shape;

#endif
