/* SPDX-License-Identifier: MIT */
/* params.h - the parameters of a request: a JSON body, or pairs in the query or in a form.
 *
 * Clients of BlueKing post JSON without declaring it.  A body is therefore JSON if its first
 * non-blank byte is "{", whatever the headers say, and a form otherwise.  A GET has its parameters
 * in the query, all as text. */
#ifndef API_PIPELINE_PARAMS_H
#define API_PIPELINE_PARAMS_H

#include "wire/http/http_req.h"
#include "wire/json/json_scan.h"
#include "wire/json/shape.h"

struct params {
    bool is_json;
    const char *text;
    size_t n;
};

struct params params_of(const struct http_req *req);
struct params params_of_query(const struct http_req *req); /* whatever the method */
struct params params_of_any(const struct http_req *req);   /* the body, else the query */

/* Reads a few values, from JSON without allocation; see json_scan(). */
int params_scan(const struct params *p, struct json_want *wants, size_t n_wants,
                struct arena *arena, struct err *err);

/* Reads all; `flags`: enum shape_flag. */
int params_read(const struct params *p, const struct shape *s, unsigned flags, struct arena *arena,
                void *out, struct err *err);

#endif
