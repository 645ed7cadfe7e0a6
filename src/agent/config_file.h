/* SPDX-License-Identifier: MIT */
/* config_file.h - what is in a file of a configmap.
 *
 * Only regular files are opened: a pipe or a device is never waited for.  Of one with more than
 * CONFIG_FILE_MAX_BYTES nothing is said.  A slow disk is waited for, so it is for a thread
 * that may wait. */
#ifndef AGENT_CONFIG_FILE_H
#define AGENT_CONFIG_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/digest.h"

enum { CONFIG_FILE_MAX_BYTES = 64 << 20, CONFIG_FILE_WHY_SIZE = 160 };

/* Which state of a file it was. */
struct config_mark {
    int64_t device, inode, size, modified_ns, changed_ns;
};

/* What is in it now: md5, or "" and why not.  *mark: as it was read last, and is now. */
struct config_content {
    char md5[MD5_TEXT_SIZE], why[CONFIG_FILE_WHY_SIZE];
    bool is_link;
    bool is_same; /* as by *mark, and so nothing was read */
};
void config_file_read(const char *path, struct config_mark *mark, struct config_content *ret);

#endif
