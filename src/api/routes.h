/* SPDX-License-Identifier: MIT */
/* routes.h - every endpoint, one row each: where it is served, what it needs, what it takes
 * and gives, and who does it.  The pipeline (call.h) and the tests go by the table alone.
 *
 * A row has a name, and route_places says what paths that makes; or, where a place has no
 * root, its whole path, in which "*" at the end stands for one more word:
 *
 *     [/api]/c/compapi[/v2]/gse/N                ESB, with any number of slashes behind
 *     [/api]/c/compapi/v2/{job,jobv3}/N          the same, of Job
 *     [/api]/c/compapi[/v2]/gse/api/v2/proc/N    clients whose gateway is not set; ESB speaks
 *     /api/bk-gse/{prod,stage}/api/v2/proc/N     the gateway
 *     /api/v2/proc/N                             the gateway, seen from behind it
 *     /procapi/v1/proc/procinfo                  what a real ESB asks of us
 *     /v1/hosts                                  ours */
#ifndef API_ROUTES_H
#define API_ROUTES_H

#include "api/call.h"
#include "model/app.h"

/* The places; a bit each. */
enum {
    SERVED_GSE = 1 << 0,        /* ESB, system gse */
    SERVED_JOB = 1 << 1,        /* ESB, systems job and jobv3 */
    SERVED_PROC = 1 << 2,       /* the gateway of GSE, processes */
    SERVED_CLUSTER = 1 << 3,    /* and agents */
    SERVED_TASK = 1 << 4,       /* and tasks */
    SERVED_JOB_SYSTEM = 1 << 5, /* the gateway of Job */
    SERVED_BACKEND = 1 << 6,    /* behind a real ESB */
    SERVED_V1 = 1 << 7,
    SERVED_ALL = (1 << 8) - 1,
};

struct place {
    unsigned served;
    enum dialect_kind dialect;
    const char *root; /* what stands before a row's name; "": rows have their whole path */
    bool is_usual;    /* the spelling to tell people of */
};

extern const struct place route_places[]; /* ends with a NULL root */

/* How `out` stands in the answer: alone, or many of it; text has none. */
enum route_gives { GIVES_ONE, GIVES_MAP, GIVES_LIST, GIVES_TEXT };

struct route {
    unsigned served;
    const char *path;
    unsigned methods;
    enum app_right right; /* required: without it the server does not start */
    size_t body_max;
    const struct shape *in;  /* NULL: it takes nothing */
    const struct shape *out; /* NULL: a map that its handler writes */
    void (*handle)(struct call *c);
    const char *doc;
    int64_t form; /* enum task_form: how its keys look */
    /* Its parameters are ESB's own form, which refuses them with its own code and calls the
     * only one so; NULL: they are ours to check. */
    const char *label;
    bool is_repeatable; /* of a POST: once more does no harm, should nobody know of the first */
    bool tells_secret;  /* in its answer, which is kept nowhere */
    bool is_stream;     /* its answer is server-sent events, each of them an `out` */
    enum route_gives gives;
};

extern const struct route routes[]; /* ends with a NULL path */

/* Whether each row says all that it must; a row without a right lets nobody start. */
int routes_check(const struct route *table, struct err *err);

struct route_found {
    enum dialect_kind dialect;
    const struct route *route; /* NULL: none */
    unsigned methods;          /* of all rows with this path; 0: there is none */
    const char *rest;          /* in the path given */
};

/* `method` is one of METHOD_*, or 0 for another. */
void route_find(const char *path, unsigned method, struct route_found *ret);

#endif
