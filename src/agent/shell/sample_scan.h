/* SPDX-License-Identifier: MIT */
/* sample_scan.h - scan of all processes of the host, for sample.h: usage and parent of each. */
#ifndef AGENT_SHELL_SAMPLE_SCAN_H
#define AGENT_SHELL_SAMPLE_SCAN_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/identify/procfs.h"

struct scan;

struct scan_sum {
    int64_t processes, ticks, rss_pages;
    bool is_partial; /* there are more than `max` */
};

int scan_new(struct scan **ret, struct err *err);
void scan_free(struct scan *s); /* NULL is allowed */

/* Sum of a process and its descendants. ERR_NOT_FOUND: the process is not in the scan. */
int scan_tree(struct scan *s, int64_t pid, int64_t start_ticks, size_t max, struct scan_sum *ret,
              struct err *err);

/* Limits an absurd number of the kernel, so that two thousand of them can be summed in any unit
 * without overflow. */
int64_t scan_sane(int64_t n);

/* CPU time of a process and of the children it has waited for. */
int64_t scan_ticks(const struct procfs_stat *st);

#endif
