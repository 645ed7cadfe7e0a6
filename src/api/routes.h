/* SPDX-License-Identifier: MIT */
/* routes.h - every endpoint, one row each: where it is served, what it needs, what it takes
 * and gives, and who does it.  The pipeline (call.h) and the tests go by the table alone.
 *
 * Paths of one row, for the name N of a row of SERVED_ESB | SERVED_GATEWAY:
 *
 *     [/api]/c/compapi[/v2]/gse/N           ESB, with any number of slashes behind
 *     [/api]/c/compapi[/v2]/gse/api/v2/proc/N    clients whose gateway is not set; ESB speaks
 *     /api/bk-gse/{prod,stage}/api/v2/proc/N     the gateway
 *     /api/v2/proc/N                        the gateway, seen from behind it
 *
 * A row of SERVED_V1 has its whole path, where "*" at the end stands for one more word. */
#ifndef API_ROUTES_H
#define API_ROUTES_H

#include "api/call.h"
#include "model/app.h"

enum {
    SERVED_ESB = 1 << DIALECT_ESB,
    SERVED_GATEWAY = 1 << DIALECT_GATEWAY,
    SERVED_V1 = 1 << DIALECT_V1,
};

struct route {
    unsigned served;
    const char *path;
    unsigned methods;
    enum app_right right; /* required: without it the gate lets nobody in */
    size_t body_max;
    const struct shape *in;  /* NULL: it takes nothing */
    const struct shape *out; /* NULL: a map that its handler writes */
    void (*handle)(struct call *c);
    const char *doc;
};

extern const struct route routes[]; /* ends with a NULL path */

struct route_found {
    enum dialect_kind dialect;
    const struct route *route; /* NULL: none */
    unsigned methods;          /* of all rows with this path; 0: there is none */
    const char *rest;          /* in the path given */
};

/* `method` is one of METHOD_*, or 0 for another. */
void route_find(const char *path, unsigned method, struct route_found *ret);

#endif
