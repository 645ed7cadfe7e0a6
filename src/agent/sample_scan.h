/* SPDX-License-Identifier: MIT */
/* sample_scan.h - all processes of the host as they were at one moment, for sample.h: what
 * each uses, and who descends from whom. */
#ifndef AGENT_SAMPLE_SCAN_H
#define AGENT_SAMPLE_SCAN_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/procfs.h"

struct scan;

struct scan_sum {
    int64_t processes, ticks, rss_pages;
    bool is_partial; /* there are more than `max` */
};

int scan_new(struct scan **ret, struct err *err);
void scan_free(struct scan *s); /* NULL is fine */

/* Of a process and its descendants.  ERR_NOT_FOUND: it was not there. */
int scan_tree(struct scan *s, int64_t pid, int64_t start_ticks, size_t max, struct scan_sum *ret,
              struct err *err);

/* A number that the kernel said, such that two thousand of them can be summed up in any unit:
 * one that is absurd does no harm. */
int64_t scan_sane(int64_t n);

/* Processor time of a process and of the children it has waited for. */
int64_t scan_ticks(const struct procfs_stat *st);

#endif
