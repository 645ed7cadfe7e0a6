/* SPDX-License-Identifier: MIT */
/* exes.h - cache of the executable of each process of the host, shared by many searches. A start
 * without a pid file searches the host, so a thousand starts would read a thousand links a thousand
 * times. A scan that began after a question was asked can answer it, because every process that ran
 * at that time is in it. Results are hints only: the caller checks each process again. */
#ifndef AGENT_IDENTIFY_EXES_H
#define AGENT_IDENTIFY_EXES_H

#include "agent/identify/procfs.h"
#include "base/text/err.h"

struct exes; /* usable from any thread */

struct exes *exes_new(void);
void exes_free(struct exes *e); /* NULL is allowed */
void exes_forget(struct exes *e);

/* A scan made for one question also answers others; it expires after this time. The time grows by
 * the same amount for every EXES_SOME processes, so that scanning takes a small share of the time
 * however many processes are started. */
enum { EXES_MAX_MS = 300, EXES_SOME = 1000 };
int64_t exes_serve_ms(size_t n);

/* First asked at since_ms; now_ms is the current time. */
struct exes_question {
    int64_t since_ms, now_ms;
};

/* Calls fn for each process whose executable is under the folder (an absolute path without links
 * and trailing slash). Scans all processes if the last scan is older than the question. */
int exes_each(struct exes *e, struct exes_question q, const char *folder, procfs_fn *fn, void *arg,
              struct err *err);

#endif
