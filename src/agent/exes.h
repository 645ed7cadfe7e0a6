/* SPDX-License-Identifier: MIT */
/* exes.h - which file each process of the host runs, read once for many who ask.
 *
 * A start that has no pid file searches the host, and a thousand starts would read a
 * thousand times what a thousand processes run.  Whatever was read after a question was
 * asked answers it: who ran by then is there.  What stands here is a hint all the same:
 * whoever is named is looked at anew. */
#ifndef AGENT_EXES_H
#define AGENT_EXES_H

#include "agent/procfs.h"
#include "base/err.h"

struct exes;

struct exes *exes_new(void);
void exes_free(struct exes *e); /* NULL is fine */
void exes_forget(struct exes *e);

/* What is read for one question is used for others; older than this it is no use.  The more
 * processes there were the longer it serves, that much longer for every EXES_SOME of them, so
 * that reading takes a small share of the time however many are started. */
enum { EXES_MAX_MS = 300, EXES_SOME = 1000 };
int64_t exes_serve_ms(size_t n);

/* Asked at since_ms, and again now. */
struct exes_question {
    int64_t since_ms, now_ms;
};

/* Calls fn for each process whose file lies under the folder (an absolute path without
 * links and without a slash behind), reading them all if what is here is older than the
 * question. */
int exes_each(struct exes *e, struct exes_question q, const char *folder, procfs_fn *fn, void *arg,
              struct err *err);

#endif
