/* SPDX-License-Identifier: MIT */
/* extra.h - the block `holdfast` of a spec: settings that BlueKing's documents do not have.  All of
 * them are optional; other programs ignore the block. */
#ifndef MODEL_EXTRA_H
#define MODEL_EXTRA_H

#include <stdint.h>

#include "model/check.h"
#include "wire/json/shape.h"

struct proc_env {
    const char *key, *value;
};

struct proc_number {
    int64_t number;
};

struct proc_word {
    const char *text;
};

/* When a start counts as successful. */
enum proc_ready_kind {
    READY_ALIVE,    /* it has run for start_check_secs */
    READY_NOTIFY,   /* it has sent READY=1 to $NOTIFY_SOCKET */
    READY_PID_FILE, /* its pid file has its pid */
    READY_PORT,     /* its port accepts connections */
    READY_HEALTH,   /* its health_cmd exits with 0, and its checks pass */
};

struct proc_ready {
    int64_t kind; /* enum proc_ready_kind */
    int64_t port, timeout_s;
    bool any_owner; /* READY_PORT: the listener may belong to another process */
};

/* Bounds that the kernel enforces for all processes of the spec, besides the limits of
 * `resource`. */
struct proc_caps {
    double cpu_percent; /* of the whole machine */
    int64_t mem_bytes, processes;
};

/* A resource limit of setrlimit(2), soft and hard. */
struct proc_rlimit {
    const char *name; /* "nofile" */
    int64_t value;    /* -1: unlimited */
};

/* What is done when a file has changed; a stronger action has a larger number. */
enum proc_on_change { ON_CHANGE_REPORT, ON_CHANGE_RELOAD, ON_CHANGE_RESTART };

struct proc_watch {
    const char *path;
    int64_t on_change; /* enum proc_on_change */
};

/* Which processes end with the main process. */
enum proc_scope {
    SCOPE_DEFAULT, /* SCOPE_FAMILY, or as the agent's setting `scope_by_name` says */
    SCOPE_FAMILY,  /* its family: agent/identify/family.h */
    SCOPE_PROCESS, /* no other */
    SCOPE_START,   /* its family, and what the start command has started besides it */
};

/* Where whole lines of the output go, besides the output file. */
enum proc_output { OUTPUT_FILE, OUTPUT_SYSLOG, OUTPUT_JOURNAL };

/* Fields that only Job has; if they are present, Job sent the spec. */
struct proc_job {
    const char *owner, *func_id, *instance_id;
    int64_t check_end_s; /* end of the check after a start, in seconds; from start_check_s on it has
                            to be seen alive once; less than start_check_s: checked once */
};

struct proc_extra {
    int64_t stop_signal; /* sent if stop_cmd is empty */
    int64_t stop_wait_s; /* seconds from stop_signal to SIGKILL; 0: op_timeout */
    struct list env;     /* struct proc_env; for every command of the process */
    const char *env_file;
    const char *pre_start;  /* a command before each start_cmd; "": none */
    struct list exit_codes; /* struct proc_number; an exit with one of them is a success */
    struct proc_ready ready;
    enum presence has_job;  /* of `job`; placed here it needs no padding */
    bool keep_trying;       /* start_retries is ignored: restarts never end */
    int64_t max_interval_s; /* cap of the exponential back-off between them */
    int64_t instances;      /* how many processes are expected; 0 or 1: one */
    int64_t priority;       /* start order when the host boots: smaller first */
    struct list after; /* struct proc_word: "name" or "namespace:name" that have to be up first */
    int64_t health_interval_s;  /* 0: only on request */
    struct list checks;         /* struct proc_check */
    int64_t unhealthy_restarts; /* restart after so many failures in a row; 0: never */
    int64_t log_max_bytes;      /* 0: the agent's setting */
    int64_t output;             /* enum proc_output */
    struct proc_caps caps;
    int64_t nice;
    struct list rlimits;  /* struct proc_rlimit */
    int64_t scope;        /* enum proc_scope */
    const char *source;   /* the folder of specs that it came from */
    struct list watch;    /* struct proc_watch */
    int64_t limit_memory; /* bytes of its family, above which it is stopped; 0: no limit */
    struct proc_job job;
};

enum {
    PROC_ENV_MAX = 256,
    PROC_LIST_MAX = 64, /* exit codes, processes to come after, rlimits */
    PROC_PRIORITY_MAX = 1000,
    PROC_WATCH_MAX = 16,
};

extern const struct shape proc_extra_shape;
/* What extra_rows.h names. */
extern const struct shape proc_env_shape, proc_exit_code_shape, proc_after_shape, proc_ready_shape,
    proc_caps_shape, proc_rlimit_shape, proc_watch_shape;
extern const struct enum_name proc_ready_names[], proc_signal_names[], proc_scope_names[],
    proc_output_names[];

/* Judges an exit by exit_codes: status 0 to 255 is an exit code, anything else is not.  For
 * proc_exit_is_good(), which judges commands, 0 is a success too. */
bool proc_exit_is_expected(const struct proc_extra *x, int status);
bool proc_exit_is_good(const struct proc_extra *x, int status);

/* RLIMIT_* of a name in a spec ("nofile"); -1: unknown. */
int proc_rlimit_number(const char *name);

#endif
