/* SPDX-License-Identifier: MIT */
/* sample.h - what a process and all its descendants use: processor time and resident memory.
 *
 * Who belongs to it: the members of its cgroup, where the caller knows one; else its
 * descendants, from child to child where the kernel lists children, or else by one look at
 * all processes for all that are asked about in one turn.
 *
 * A member costs one read of its stat, and memory is only held, never asked for, but in a
 * turn that has to look at all.  What a child used that has ended and was waited for counts
 * with its parent; a cgroup counts every one.  A crowd without end is read up to
 * SAMPLE_MEMBERS_MAX and said to be partial. */
#ifndef AGENT_SAMPLE_H
#define AGENT_SAMPLE_H

#include "agent/core_hands.h"
#include "base/err.h"

enum { SAMPLE_MEMBERS_MAX = 2048 };

struct sampler;

int sampler_new(struct sampler **ret, struct err *err);
void sampler_free(struct sampler *s); /* NULL is fine */

/* `cgroup`: path of its folder (version 2), or NULL.  ERR_NOT_FOUND: it has ended. */
int sampler_read(struct sampler *s, struct core_ident who, const char *cgroup,
                 struct core_sample *ret, struct err *err);

/* The turn is over: what was seen of all processes is old. */
void sampler_forget(struct sampler *s);

/* For tests: "12 34\n5 " in pieces, the number before the end of a piece kept in *pid; whether
 * there was room for all. */
bool sample_take_pids(const char *text, size_t n, int64_t *pid, pid_t *to, size_t *to_n,
                      size_t max);

/* What "cpu.stat" of a cgroup says; -1: nothing. */
int64_t sample_parse_cpu_us(const char *text, size_t n);

#endif
