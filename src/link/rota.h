/* SPDX-License-Identifier: MIT */
/* rota.h - which server is tried next, and when.
 *
 * Servers come in turn, beginning anywhere; one with several addresses is tried at
 * another each time round.  The wait after a failure is a random part of 0.1 s, twice
 * as long after each in a row, up to 8 s, so that a fleet that has lost its server
 * does not come back as one. */
#ifndef LINK_ROTA_H
#define LINK_ROTA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum {
    ROTA_FIRST_MS = 100,
    ROTA_LONGEST_MS = 8 * 1000,     /* less than until an agent is taken for offline */
    ROTA_TOLD_MAX_MS = 3600 * 1000, /* whatever a server says */
};

struct rota {
    char **servers;
    size_t n;
    uint64_t turn;
    unsigned failures; /* in a row */
};

/* `servers` ends with NULL; they are copied. */
int rota_init(struct rota *r, const char *const *servers, struct err *err);
void rota_done(struct rota *r); /* all zeroes is fine */

/* Other servers from now on; failures and waits stay.  ret_is_there: the one whose turn it
 * is is among them, and it is still its turn. */
int rota_set(struct rota *r, const char *const *servers, bool *ret_is_there, struct err *err);

const char *rota_server(const struct rota *r);
size_t rota_place(const struct rota *r, size_t n); /* which of its n addresses */

void rota_next(struct rota *r);
void rota_forgive(struct rota *r); /* it works: failures are forgotten */
int64_t rota_fail(struct rota *r); /* it does not: how long to wait */

/* How long if the server has said it: up to a quarter more. */
int64_t rota_told(int64_t retry_ms);

#endif
