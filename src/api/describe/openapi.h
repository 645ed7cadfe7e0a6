/* SPDX-License-Identifier: MIT */
/* openapi.h - the API as OpenAPI 3.1, for generated clients.
 *
 * It is made from the tables: routes.c, their shapes, the dialects and the codes.  A row appears at
 * each of its places, in the usual spelling. */
#ifndef API_DESCRIBE_OPENAPI_H
#define API_DESCRIBE_OPENAPI_H

#include "base/mem/buf.h"

void openapi_write(const char *version, struct buf *out);

#endif
