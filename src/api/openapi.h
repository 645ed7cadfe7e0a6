/* SPDX-License-Identifier: MIT */
/* openapi.h - the API as OpenAPI 3.1, for clients that are made of it.
 *
 * All of it comes from the tables: routes.c, the shapes they name, the dialects and the
 * codes.  A row appears in each of its places by the usual spelling. */
#ifndef API_OPENAPI_H
#define API_OPENAPI_H

#include "api/routes.h"
#include "base/buf.h"

void openapi_write(const char *version, struct buf *out);

/* The path of a row in a place, "{id}" for what "*" stands for. */
void openapi_path(const struct route *r, const struct place *p, struct buf *out);

#endif
