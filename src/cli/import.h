/* SPDX-License-Identifier: MIT */
/* import.h - reads a file of hosts: JSON, or CSV with the field names in its first line. */
#ifndef CLI_IMPORT_H
#define CLI_IMPORT_H

#include "base/mem/arena.h"
#include "cli/text.h"
#include "model/inventory.h"

enum { IMPORT_BYTES_MAX = 16 * 1024 * 1024 };

struct import_file {
    struct host_import_ask ask;
    size_t *lines; /* line number of each host; NULL: the file is JSON */

    /* On failure of a CSV file: the messages of all wrong lines, in order. */
    const char **wrong;
    size_t n_wrong;
};

/* "*.json" is JSON, an object with "hosts" or a list; all other files are CSV.  Errors give
 * file, line and column; `err` is the last one. */
int import_read(const char *path, enum lang lang, struct arena *a, struct import_file *ret,
                struct err *err);

#endif
