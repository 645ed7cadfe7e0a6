/* SPDX-License-Identifier: MIT */
/* example.h - example requests made from the tables, with all required fields, including those that
 * are required only in combination. tests/system/test_pages.py sends each of them to a server. */
#ifndef API_DESCRIBE_EXAMPLE_H
#define API_DESCRIBE_EXAMPLE_H

#include "api/pipeline/routes.h"
#include "base/mem/buf.h"

struct example {
    const char *method;
    struct buf path; /* with the query */
    struct buf body; /* empty: no body */
};

/* The example of a row, at its first usual place. */
void example_init(struct example *e, const struct route *r, enum dialect_kind *ret_dialect);
void example_done(struct example *e);

/* Appends a body of that shape. */
void example_write(const struct shape *shape, struct buf *out);

#endif
