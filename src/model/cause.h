/* SPDX-License-Identifier: MIT */
/* cause.h - the facts that explain the state of a process; its agent keeps them.
 *
 * The facts are sent and stored; the sentence (why_write.h) is made from them where it is shown, in
 * the reader's language.  A time of 0 means never. */
#ifndef MODEL_CAUSE_H
#define MODEL_CAUSE_H

#include <stdint.h>

#include "wire/json/shape.h"

enum { WHY_OUTPUT_BYTES = 512, WHY_OUTPUT_LINES = 3, WHY_TEXT_BYTES = 512 };

/* Limits of the times and counts in a view: sums of them cannot overflow, whatever an agent
 * sends. */
#define WHY_NUMBER_MAX   INT64_C(1000000000000)
#define WHY_NUMBER_RANGE .min = -WHY_NUMBER_MAX, .max = WHY_NUMBER_MAX

/* Whether the OOM killer ended a process. */
enum proc_oom { PROC_OOM_NO, PROC_OOM_PERHAPS, PROC_OOM_YES };

struct proc_cause {
    int64_t since_s;     /* seconds since 1970; when it last started or ended */
    int64_t doing;       /* enum proc_op in progress; -1: none */
    const char *instead; /* of a start in progress: the program that was found instead; "": none */

    /* The last exit. */
    int64_t exit_s, exit_pid;
    int64_t exit_code;     /* -1: ended by a signal, or not known */
    int64_t exit_signal;   /* 0: ended by an exit code, or not known */
    bool exit_core;        /* a core was dumped */
    bool exit_oom;         /* ended by the OOM killer */
    bool exit_oom_perhaps; /* perhaps ended by the OOM killer */
    const char *output;    /* last lines of output of the process, or of the command that failed */

    /* The last operation or automatic restart that failed. */
    int64_t failed_s, failed_op, failed_code;
    const char *failed_text; /* explanation: what was found and what was expected */

    /* Automatic restarts of a hosted process. */
    int64_t tries;                     /* restarts in a row */
    int64_t tries_max;                 /* -1: no limit */
    int64_t next_try_s;                /* seconds since 1970; 0: no restart is planned */
    int64_t recent_restarts, recent_s; /* in the 10 minutes before the last one, and its time */
    bool has_old_spec; /* its spec was changed after its start and takes effect at the next start */
    bool has_given_up; /* restarts were given up, so it is no longer hosted */
    bool has_finished; /* it ended as expected: runs once, or one of exit_codes */
    int64_t instances, instances_wanted; /* only if several are expected; wanted 0: one is */

    bool is_periodic;
    int64_t next_run_s;
    struct list runs; /* struct proc_run, newest first */

    const char *waits_for;  /* "namespace:name" that has to be up first; "": none */
    int64_t limit_s;        /* when it was last stopped for exceeding a limit */
    const char *limit_text; /* "cpu 93.1 % of 50 % in 3 samples" */
    int64_t changed_s;      /* when it was last restarted because this file had changed */
    const char *changed_file;
    int64_t unhealthy_s; /* health_cmd has failed since then; 0: it succeeds */
    const char *left;    /* processes of its family that could not be ended: "nginx (12)" */
    const char *drift;   /* files of its configmap with other content than expected */
};

/* One run of a periodic process. */
enum { WHY_RUNS = 10 };
struct proc_run {
    int64_t begun_s, duration_ms;
    int64_t code;        /* code of model/code.h; 0: success */
    int64_t exit_code;   /* -1: ended by a signal, or not known */
    int64_t exit_signal; /* 0: ended by an exit code */
    const char *output;  /* its last lines of output */
};
extern const struct shape proc_run_shape;

extern const struct shape proc_cause_shape;

/* Copies the texts into the arena; NULL becomes "". */
void proc_cause_keep(struct proc_cause *c, struct arena *a);

#endif
