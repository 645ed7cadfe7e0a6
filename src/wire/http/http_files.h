/* SPDX-License-Identifier: MIT */
/* http_files.h - serves static files from memory.
 *
 * A directory is read once, with its subdirectories.  Afterwards a request's path is only looked
 * up in a map, so nothing from a client ever becomes a file name.  Symbolic links, names that
 * begin with a dot, and files that are not regular are skipped.  "/x/" is "/x/index.html".
 *
 * Answers have a strong ETag, Last-Modified and nosniff, and honour If-None-Match and
 * If-Modified-Since.  A file with a hash of its content in its name, as Vite writes it
 * (/assets/name-BxY12_-z.js), may be cached forever; all others are revalidated each time, which
 * costs a 304. */
#ifndef WIRE_HTTP_HTTP_FILES_H
#define WIRE_HTTP_HTTP_FILES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text/err.h"
#include "wire/http/http_req.h"

struct http_files;

struct http_files_config {
    const char *dir;
    bool is_app; /* a path without an extension that is not a file is answered with "/index.html" */
    size_t count_max; /* files; 0: 4,096 */
    size_t bytes_max; /* of all files together; 0: 64 MiB */
};

int http_files_load(const struct http_files_config *config, struct http_files **ret,
                    struct err *err);
void http_files_free(
    struct http_files *f); /* free it after the server that answers with it; NULL is allowed */

/* Answers if there is such a file (a method other than GET and HEAD with 405).  Returns false
 * and does not touch the request if there is none. */
bool http_files_answer(const struct http_files *f, struct http_req *req);

#endif
