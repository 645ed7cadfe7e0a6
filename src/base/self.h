/* SPDX-License-Identifier: MIT */
/* self.h - what this very process uses.  What the kernel does not say is 0. */
#ifndef BASE_SELF_H
#define BASE_SELF_H

#include <stdint.h>

struct self_use {
    int64_t cpu_us; /* of all its threads, since it began */
    int64_t rss_bytes, size_bytes;
};

void self_use(struct self_use *ret);

/* Open descriptors, and how many there may be.  On kernels before 6.2 the first one costs
 * time for each of them. */
int64_t self_fds(void);
int64_t self_fds_max(void);

#endif
