/* SPDX-License-Identifier: MIT */
/* check.h - the checks of a spec: what the agent looks at regularly to see whether a process works.
 *
 * A check has exactly one kind: `http`, a GET request; `tcp`, a connection; `command`, a shell line
 * like health_cmd.  Addresses are numeric or localhost: a check asks no name server. */
#ifndef MODEL_CHECK_H
#define MODEL_CHECK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mem/arena.h"
#include "model/ip.h"
#include "wire/json/shape.h"

enum {
    CHECKS_MAX = 8,
    CHECK_NAME_MAX_BYTES = 64,
    CHECK_URL_MAX_BYTES = 1024,
    CHECK_TEXT_MAX_BYTES = 256, /* of `body` */
    CHECK_THRESHOLD = 3,
    CHECK_INTERVAL_S = 10,
    CHECK_TIMEOUT_S = 2,
    CHECK_NET_TIMEOUT_MAX_S = 60, /* of http and tcp */
};

enum proc_check_kind { CHECK_NONE, CHECK_HTTP, CHECK_TCP, CHECK_COMMAND };

struct proc_check {
    const char *name; /* "": by its kind, see proc_check_name() */
    const char *http, *tcp, *command;
    const char *body; /* http: text that the body must contain; "": any */
    int64_t status;   /* http: expected status; 0: any from 200 to 399 */
    int64_t interval_s, timeout_s /* 0: the default */, threshold;
    bool any_owner; /* tcp: the listener may belong to another process */
};

extern const struct shape proc_check_shape;

enum proc_check_kind proc_check_kind_of(const struct proc_check *c);
int64_t proc_check_timeout_ms(const struct proc_check *c);
const char *proc_check_name(const struct proc_check *c, struct arena *a); /* "tcp 8080" */
bool proc_check_is_equal(const struct proc_check *a, const struct proc_check *b);

bool proc_checks_have(const struct list *checks, const char *line); /* as a command */

/* What is wrong with checks that were read, by the full path of the field; NULL: nothing.  A
 * message in the arena. */
const char *proc_checks_fault(const struct list *checks, struct arena *a);

/* Where a check connects to. */
struct check_place {
    char host[IP_TEXT_SIZE]; /* a numeric address; "": 127.0.0.1 and ::1 */
    int64_t port;
    const char *path;      /* http: what follows the port, in the text that was read; may be "" */
    size_t host_len;       /* http: bytes of host and port in the URL, */
    const char *host_text; /* which begin here */
};

/* Return NULL, or what is wrong: MSG("must be ..."). */
const char *check_read_tcp(const char *text, struct check_place *ret);
const char *check_read_url(const char *text, struct check_place *ret);

/* A check as its agent sees it. */
enum proc_check_state { CHECK_UNKNOWN, CHECK_PASSING, CHECK_FAILING };

struct proc_check_view {
    const char *name;
    int64_t state;     /* enum proc_check_state */
    double latency_ms; /* of the last result */
    int64_t since_s;   /* in this state since; 0: unknown */
    const char *text;  /* the last failure; "": none */
};

extern const struct shape proc_check_view_shape;

#endif
