/* SPDX-License-Identifier: MIT */
/* config_file.h - reads a file of a configmap. Only regular files are opened, never a pipe or a
 * device. Files larger than CONFIG_FILE_MAX_BYTES are not read. May block on a slow disk, so it is
 * called on a worker thread. */
#ifndef AGENT_EXEC_CONFIG_FILE_H
#define AGENT_EXEC_CONFIG_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/tls/digest.h"

enum { CONFIG_FILE_MAX_BYTES = 64 << 20, CONFIG_FILE_WHY_SIZE = 160 };

/* Identifies a version of a file. */
struct config_mark {
    int64_t device, inode, size, modified_ns, changed_ns;
};

/* Result: md5, or "" and the reason. *mark: in: version of the last read; out: current version. */
struct config_content {
    char md5[MD5_TEXT_SIZE], why[CONFIG_FILE_WHY_SIZE];
    bool is_link;
    bool is_same; /* same version as *mark; nothing was read */
};
void config_file_read(const char *path, struct config_mark *mark, struct config_content *ret);

#endif
