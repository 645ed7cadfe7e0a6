/* SPDX-License-Identifier: MIT */
/* store_procs.h - the processes of all hosts as last reported by their agents: verbs of store.h. */
#ifndef STORE_STORE_PROCS_H
#define STORE_STORE_PROCS_H

#include "store/store.h"

struct proc_row {
    const char *agent_id, *space, *name;
    const char *labels, *spec; /* JSON, or NULL */
    int64_t wanted, status;    /* enum proc_status: 0 not registered, 1 running, 2 stopped */
    bool hosted;
    int64_t pid, start_ms;
    const char *version, *message;
    int64_t register_ms, last_start_ms, report_ms, restarts;
    const char *cause; /* JSON, or NULL */
};

struct proc_ref_row {
    const char *agent_id, *space, *name;
};

struct agent_row {
    const char *agent_id;
};

struct proc_all_ask {          /* a page of all processes, by agent id, namespace and name */
    struct proc_ref_row after; /* last row of the previous page; "" each: first page */
    int64_t limit;
};

/* For other verbs that take the same structs. */
extern const struct shape proc_ref_row_shape, agent_row_shape, proc_all_ask_shape;

struct proc_list_ask { /* one process on several hosts */
    const char *space, *name;
    struct list agents; /* of agent_row */
};

struct proc_replace_ask {
    const char *agent_id;
    struct list procs; /* of proc_row, whose agent_id is ignored */
};

/* A page of one namespace, by agent id and name.  With `after_*` the cost is that of the page;
 * `skip` skips so many rows, as the paging of BlueKing's API needs. */
struct proc_page_ask {
    const char *space;
    const char *after_agent, *after_name; /* last row of the previous page; "": first page */
    int64_t skip, limit;
    bool counts; /* whether `count` is wanted */
};

struct proc_page_got {
    struct list procs; /* of proc_row */
    int64_t count;     /* of all pages */
};

extern const struct store_verb store_proc_put;  /* proc_row; nothing */
extern const struct store_verb store_proc_list; /* proc_list_ask; list of proc_row, in that order */
extern const struct store_verb store_proc_page; /* proc_page_ask; proc_page_got */
extern const struct store_verb store_proc_of;   /* agent_row; list of proc_row */
extern const struct store_verb store_proc_all;  /* proc_all_ask; list of proc_row */
extern const struct store_verb store_proc_del;  /* proc_ref_row; list of deleted rows */

/* Replaces all processes of an agent: proc_replace_ask; nothing. */
extern const struct store_verb store_proc_replace;

#endif
