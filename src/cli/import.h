/* SPDX-License-Identifier: MIT */
/* import.h - hosts in a file: JSON, or CSV whose first line names the fields. */
#ifndef CLI_IMPORT_H
#define CLI_IMPORT_H

#include "base/arena.h"
#include "cli/text.h"
#include "model/inventory.h"

enum { IMPORT_BYTES_MAX = 16 * 1024 * 1024 };

struct import_file {
    struct host_import_ask ask;
    size_t *lines; /* of each host; NULL: it is JSON */

    /* On failure, of a table: all lines that are wrong, in their order, if it is that. */
    const char **wrong;
    size_t n_wrong;
};

/* By what the file is called: "*.json" is JSON, an object with "hosts" or the list alone; any
 * other is CSV.  What is wrong is told by file, line and column: the error has the last. */
int import_read(const char *path, enum lang lang, struct arena *a, struct import_file *ret,
                struct err *err);

#endif
