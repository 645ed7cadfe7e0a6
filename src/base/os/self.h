/* SPDX-License-Identifier: MIT */
/* self.h - resource usage of this process.  A value that the kernel does not provide is 0. */
#ifndef BASE_OS_SELF_H
#define BASE_OS_SELF_H

#include <stdint.h>

struct self_use {
    int64_t cpu_us; /* of all threads since the start of the process */
    int64_t rss_bytes, size_bytes;
};

void self_use(struct self_use *ret);

/* Number of open descriptors and its limit.  On kernels before 6.2 self_fds() takes time for
 * each open descriptor. */
int64_t self_fds(void);
int64_t self_fds_max(void);

#endif
