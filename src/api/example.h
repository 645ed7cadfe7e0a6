/* SPDX-License-Identifier: MIT */
/* example.h - requests made up from the tables, for people: with what must be in them, and
 * where what must be depends on the rest, with that too.  tests/system/test_pages.py sends
 * every one of them to a server. */
#ifndef API_EXAMPLE_H
#define API_EXAMPLE_H

#include "api/routes.h"
#include "base/buf.h"

struct example {
    const char *method;
    struct buf path; /* and the query */
    struct buf body; /* nothing in it: there is none */
};

/* Of a row, at the first of its places by the usual spelling. */
void example_init(struct example *e, const struct route *r, enum dialect_kind *ret_dialect);
void example_done(struct example *e);

/* Appends a body of that shape. */
void example_write(const struct shape *shape, struct buf *out);

#endif
