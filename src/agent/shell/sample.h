/* SPDX-License-Identifier: MIT */
/* sample.h - CPU time and resident memory of a process and all its descendants.
 *
 * Members are the members of its cgroup, if the caller knows one; otherwise its descendants, from
 * child to child where the kernel lists children, or else from one scan of all processes that is
 * shared by all requests of a turn. A member costs one read of its stat. Memory is allocated only
 * in a turn that needs a scan. CPU time of an ended child that was waited for counts with its
 * parent; a cgroup counts every process. At most SAMPLE_MEMBERS_MAX members are read; beyond that
 * the result is marked as partial. */
#ifndef AGENT_SHELL_SAMPLE_H
#define AGENT_SHELL_SAMPLE_H

#include "agent/supervise/core_effects.h"
#include "base/text/err.h"

enum { SAMPLE_MEMBERS_MAX = 2048 };

struct sampler;

int sampler_new(struct sampler **ret, struct err *err);
void sampler_free(struct sampler *s); /* NULL is allowed */

/* `cgroup`: path of its folder (version 2), or NULL. ERR_NOT_FOUND: the process has ended. */
int sampler_read(struct sampler *s, struct core_ident who, const char *cgroup,
                 struct core_sample *ret, struct err *err);

/* End of a turn: discards the scan of all processes. */
void sampler_forget(struct sampler *s);

/* For tests: parses "12 34\n5 " in pieces; *pid keeps a number that is split between pieces. False:
 * no room for all. */
bool sample_take_pids(const char *text, size_t n, int64_t *pid, pid_t *to, size_t *to_n,
                      size_t max);

/* usage_usec of a cgroup's "cpu.stat"; -1: not found. */
int64_t sample_parse_cpu_us(const char *text, size_t n);

#endif
