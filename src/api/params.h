/* SPDX-License-Identifier: MIT */
/* params.h - the parameters of a request: JSON of its body, or pairs of its query or of a
 * form.
 *
 * Clients of BlueKing post JSON without saying so; so a body is JSON when its first byte
 * that is no blank is "{", whatever the headers say, and a form otherwise.  GET has its
 * parameters in the query, all of them text. */
#ifndef API_PARAMS_H
#define API_PARAMS_H

#include "wire/http_req.h"
#include "wire/json_scan.h"
#include "wire/shape.h"

struct params {
    bool is_json;
    const char *text;
    size_t n;
};

struct params params_of(const struct http_req *req);
struct params params_of_query(const struct http_req *req); /* whatever the method */
struct params params_of_any(const struct http_req *req);   /* the body, if there is one */

/* A few values; of JSON without allocating anything.  As json_scan(). */
int params_scan(const struct params *p, struct json_want *wants, size_t n_wants,
                struct arena *arena, struct err *err);

/* All of them; `flags` of enum shape_flag. */
int params_read(const struct params *p, const struct shape *s, unsigned flags, struct arena *arena,
                void *out, struct err *err);

#endif
