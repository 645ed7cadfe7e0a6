/* SPDX-License-Identifier: MIT */
/* why.h - why a process is as it is: facts that its agent keeps, and the one sentence
 * made of them.
 *
 * The facts travel; the sentence is written where somebody reads it, in his language.
 * A time of 0 means that it never happened. */
#ifndef MODEL_WHY_H
#define MODEL_WHY_H

#include <stdint.h>

#include "base/buf.h"
#include "model/code.h"
#include "wire/shape.h"

enum { WHY_OUTPUT_BYTES = 512, WHY_OUTPUT_LINES = 3, WHY_TEXT_BYTES = 512 };

/* Times and counts of a view: whoever says them, they can be reckoned with. */
#define WHY_NUMBER_MAX   INT64_C(1000000000000)
#define WHY_NUMBER_RANGE .min = -WHY_NUMBER_MAX, .max = WHY_NUMBER_MAX

struct proc_cause {
    int64_t since_s; /* it has been running, or not, since then */
    int64_t doing;   /* enum proc_op of what is in work; -1: nothing */

    /* How it ended last. */
    int64_t exit_s, exit_pid;
    int64_t exit_code;   /* -1: not by an exit code, or nobody knows */
    int64_t exit_signal; /* 0: not by a signal, or nobody knows */
    bool exit_core;      /* it left a core */
    bool exit_oom;       /* the kernel ended it because memory ran out */
    const char *output;  /* the last lines it, or the command that failed, had said */

    /* The last operation on it, or restart of our own, that did not succeed. */
    int64_t failed_s, failed_op, failed_code;
    const char *failed_text; /* for people; what was found and what was expected, too */

    /* Hosted: tries to pull it up. */
    int64_t tries;                       /* in a row */
    int64_t tries_max;                   /* -1: for ever */
    int64_t next_try_s;                  /* when the next one is; 0: none is planned */
    bool has_given_up;                   /* and so it is hosted no more */
    bool has_finished;                   /* it did what it was to do: run once, or expected */
    int64_t instances, instances_wanted; /* where several are expected; wanted 0: one is */

    bool is_periodic;
    int64_t next_run_s;
    struct list runs; /* struct proc_run, the last ones, newest first */

    const char *waits_for;  /* "namespace:name" that is to be up before it */
    int64_t limit_s;        /* when it was last stopped for what it used, */
    const char *limit_text; /* "cpu 93.1 % of 50 % in 3 samples" */
    int64_t unhealthy_s;    /* its health command has failed since then; 0: it does not */
    const char *drift;      /* files of its configmap that are not as they should be */
};

/* A run of a periodic process. */
enum { WHY_RUNS = 10 };
struct proc_run {
    int64_t begun_s, duration_ms;
    int64_t code;        /* of model/code.h: 0, or why it failed */
    int64_t exit_code;   /* -1: not by an exit code, or nobody knows */
    int64_t exit_signal; /* 0: not by a signal */
    const char *output;  /* its last lines */
};
extern const struct shape proc_run_shape;

extern const struct shape proc_cause_shape;

/* Texts copied into the arena; NULL becomes "". */
void proc_cause_keep(struct proc_cause *c, struct arena *a);

struct proc_view;

/* "running for 3h 2m as pid 812; restarted 2 times, last after signal 11 (SIGSEGV),
 * core dumped".  One line, no full stop at the end; the output is not in it. */
void why_write(const struct proc_view *v, enum lang lang, int64_t now_s, struct buf *to);

/* The same of a host whose agent has not been heard of since (0: not known): what was known
 * then. */
void why_write_away(const struct proc_view *v, enum lang lang, int64_t since_s, int64_t now_s,
                    struct buf *to);

/* Parts of it, for a table of the facts: how it ended last, and the name of an op_type. */
void why_write_exit(const struct proc_cause *c, enum lang lang, struct buf *to);
const char *why_op_name(int64_t op, enum lang lang);
bool why_is_used_up(const struct proc_cause *c); /* there is no next try */

/* Whether it is not as it should be: wanted and status, a failure that still stands. */
bool why_is_trouble(const struct proc_view *v);

#endif
