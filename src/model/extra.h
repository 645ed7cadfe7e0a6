/* SPDX-License-Identifier: MIT */
/* extra.h - the block `holdfast` of a spec: what BlueKing's documents have no word
 * for.  All of it is optional; others ignore it. */
#ifndef MODEL_EXTRA_H
#define MODEL_EXTRA_H

#include <stdint.h>

#include "wire/shape.h"

struct proc_env {
    const char *key, *value;
};

struct proc_number {
    int64_t number;
};

struct proc_word {
    const char *text;
};

/* When a start has succeeded. */
enum proc_ready_kind {
    READY_ALIVE,    /* it has lived for start_check_secs */
    READY_NOTIFY,   /* it has said READY=1 to $NOTIFY_SOCKET */
    READY_PID_FILE, /* its pid file names it */
    READY_PORT,     /* its port takes connections */
    READY_HEALTH,   /* its health_cmd exits with 0 */
};

struct proc_ready {
    int64_t kind; /* enum proc_ready_kind */
    int64_t port, timeout_s;
};

/* The kernel's own bounds for all its processes, beside the limits of `resource`. */
struct proc_caps {
    double cpu_percent; /* of the whole machine */
    int64_t mem_bytes, processes;
};

/* A resource limit of setrlimit(2), soft and hard. */
struct proc_rlimit {
    const char *name; /* "nofile" */
    int64_t value;    /* -1: unlimited */
};

/* What only Job has words for; its being there says that it was Job who sent the spec. */
struct proc_job {
    const char *owner, *func_id, *instance_id;
    int64_t check_end_s; /* from start_check_s until then after a start it is looked whether it
                          * is alive, and once is enough; less: it is looked once */
};

struct proc_extra {
    int64_t stop_signal; /* where stop_cmd is empty */
    int64_t stop_wait_s; /* from that to SIGKILL; 0: op_timeout */
    struct list env;     /* struct proc_env: for every command of the process */
    const char *env_file;
    struct list exit_codes; /* struct proc_number: a process that ends so has ended well */
    struct proc_ready ready;
    enum presence has_job;      /* of the last; here it takes no room */
    bool keep_trying;           /* start_retries does not count: it is pulled up for ever, */
    int64_t max_interval_s;     /* ever more seldom, up to this */
    int64_t instances;          /* how many processes are expected; 0 or 1: one */
    int64_t priority;           /* when the host comes up: smaller ones first */
    struct list after;          /* struct proc_word: "name" or "namespace:name", up before it */
    int64_t health_interval_s;  /* 0: only when somebody asks */
    int64_t unhealthy_restarts; /* restart after so many failures in a row; 0: never */
    int64_t log_max_bytes;      /* 0: as for all */
    struct proc_caps caps;
    int64_t nice;
    struct list rlimits; /* struct proc_rlimit */
    struct proc_job job;
};

extern const struct shape proc_extra_shape;
extern const struct enum_name proc_ready_names[];

/* How something ended that exit_codes are about: 0 to 255 is its exit code, all else is not.
 * A command has done well with 0, too. */
bool proc_exit_is_expected(const struct proc_extra *x, int status);
bool proc_exit_is_good(const struct proc_extra *x, int status);

/* RLIMIT_* by the name it has in a spec ("nofile"); -1: there is none. */
int proc_rlimit_number(const char *name);

#endif
