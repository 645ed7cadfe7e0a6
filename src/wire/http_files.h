/* SPDX-License-Identifier: MIT */
/* http_files.h - files to be served as they are, from memory.
 *
 * A directory is read once, with all below it; afterwards a request's path is
 * only looked up in a map, so nothing a client sends ever becomes the name of a
 * file.  Symbolic links, names that begin with a dot, and what is not a regular
 * file are left out.  "/x/" is "/x/index.html".
 *
 * Answers carry a strong ETag, Last-Modified and nosniff, and honour
 * If-None-Match and If-Modified-Since.  What has a hash of its content in its
 * name, the way Vite writes it (/assets/name-BxY12_-z.js), may be kept for ever;
 * everything else is asked for again each time, which costs a 304. */
#ifndef WIRE_HTTP_FILES_H
#define WIRE_HTTP_FILES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "wire/http_req.h"

struct http_files;

struct http_files_config {
    const char *dir;
    bool is_app;      /* a path without an extension that is no file is "/index.html" */
    size_t count_max; /* 0: 4,096 */
    size_t bytes_max; /* 0: 64 MiB, of all together */
};

int http_files_load(const struct http_files_config *config, struct http_files **ret,
                    struct err *err);
void http_files_free(
    struct http_files *f); /* after the server that answers with it; NULL is fine */

/* Answers if there is such a file (a method other than GET and HEAD with 405);
 * false, and the request untouched, if there is none. */
bool http_files_answer(const struct http_files *f, struct http_req *req);

#endif
