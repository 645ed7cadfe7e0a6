/* SPDX-License-Identifier: MIT */
/* routes.h - the table of endpoints, one row each: where it is served, the required right, its
 * parameters, its answer, and its handler.  The pipeline (pipeline.h) and the tests use only the
 * table.
 *
 * A row has a name that route_places expands to paths; or, for a place without a root, the whole
 * path, in which a final "*" matches one word:
 *
 *     [/api]/c/compapi[/v2]/gse/N                ESB, with any number of slashes after it
 *     [/api]/c/compapi/v2/{job,jobv3}/N          the same for Job
 *     [/api]/c/compapi[/v2]/gse/api/v2/proc/N    clients without a gateway setting; answered as ESB
 *     /api/bk-gse/{prod,stage}/api/v2/proc/N     the gateway
 *     /api/v2/proc/N                             the gateway's backend path
 *     /procapi/v1/proc/procinfo                  requests of a real ESB to its backend
 *     /v1/hosts                                  our own */
#ifndef API_PIPELINE_ROUTES_H
#define API_PIPELINE_ROUTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/pipeline/dialect.h"
#include "base/mem/buf.h"
#include "base/text/err.h"
#include "model/app.h"
#include "wire/json/shape.h"

struct call;

/* Places where a row is served; bits. */
enum {
    SERVED_GSE = 1 << 0,        /* ESB, system gse */
    SERVED_JOB = 1 << 1,        /* ESB, systems job and jobv3 */
    SERVED_PROC = 1 << 2,       /* the gateway of GSE, processes */
    SERVED_CLUSTER = 1 << 3,    /* and agents */
    SERVED_TASK = 1 << 4,       /* and tasks */
    SERVED_JOB_SYSTEM = 1 << 5, /* the gateway of Job */
    SERVED_BACKEND = 1 << 6,    /* the backend of a real ESB */
    SERVED_V1 = 1 << 7,
    SERVED_ALL = (1 << 8) - 1,
};

struct place {
    unsigned served;
    enum dialect_kind dialect;
    const char *root; /* prefix of a row's name; "": rows have their whole path */
    bool is_usual;    /* the spelling that the documentation shows */
};

extern const struct place route_places[]; /* ends with a NULL root */

/* How the answer contains `out`: one, a map, a list; text has none. */
enum route_gives { GIVES_ONE, GIVES_MAP, GIVES_LIST, GIVES_TEXT };

struct route {
    unsigned served;
    const char *path;
    unsigned methods;
    enum app_right right; /* required: the server does not start without it */
    size_t body_max;
    const struct shape *in;  /* parameters; NULL: none */
    const struct shape *out; /* NULL: a map that its handler writes */
    void (*handle)(struct call *c);
    const char *doc;
    int64_t form; /* enum task_form: the format of result keys */
    /* The parameters are a form of ESB, which refuses them with its own code and shows this label
     * for the form's only field; NULL: parameters are checked by `in` alone. */
    const char *label;
    bool is_repeatable; /* of a POST: may be executed again if the first result is unknown */
    bool tells_secret;  /* the answer contains a secret and is not stored */
    bool is_stream;     /* the answer is server-sent events, each an `out` */
    enum route_gives gives;
};

extern const struct route routes[]; /* ends with a NULL path */

/* Checks that every row is complete; a row without a right fails. */
int routes_check(const struct route *table, struct err *err);

struct route_found {
    enum dialect_kind dialect;
    const struct route *route; /* NULL: none */
    unsigned methods;          /* of all rows with this path; 0: no such path */
    const char *rest;          /* points into the given path */
};

/* `method` is one of METHOD_*, or 0 for any other. */
void route_find(const char *path, unsigned method, struct route_found *ret);

/* Appends the path of a row at a place, with "{id}" for "*". */
void route_path_write(const struct route *r, const struct place *p, struct buf *out);

#endif
