/* SPDX-License-Identifier: MIT */
/* server_list.h - which server is tried next, and when.
 *
 * Servers are tried in turn, starting with a random one; a server with several addresses is tried
 * at another one in each round.  The wait after a failure is random, up to 0.1 s, doubled after
 * each failure in a row and capped at 8 s, so that a fleet that has lost its server does not come
 * back all at once.  A server that has refused the agent at all its addresses is skipped for as
 * long as it said; the others are tried at once. */
#ifndef LINK_SERVER_LIST_H
#define LINK_SERVER_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text/err.h"

enum {
    SERVER_LIST_FIRST_MS = 100,
    SERVER_LIST_LONGEST_MS = 8 * 1000,     /* less than until an agent counts as offline */
    SERVER_LIST_TOLD_MAX_MS = 3600 * 1000, /* caps what a server asks for */
};

struct server_refusal {
    size_t places;    /* number of the server's addresses, as last looked up */
    size_t n;         /* how many addresses in a row have refused */
    int64_t until_ms; /* skipped until then; 0: not skipped */
};

struct server_list {
    char **servers;
    struct server_refusal *refusals; /* one for each server */
    size_t n;
    uint64_t turn;
    unsigned failures; /* in a row */
};

/* `servers` ends with NULL; the texts are copied. */
int server_list_init(struct server_list *r, const char *const *servers, struct err *err);
void server_list_done(struct server_list *r); /* all zeroes is fine */

/* Replaces the servers; failures and waits stay.  ret_is_there: the current server is in the new
 * list and stays current. */
int server_list_set(struct server_list *r, const char *const *servers, bool *ret_is_there,
                    struct err *err);

const char *server_list_server(const struct server_list *r);
size_t server_list_place(struct server_list *r, size_t n); /* index of the address to try, of n */

/* Moves to the next server; servers that have refused are skipped unless all have. */
void server_list_next(struct server_list *r, int64_t now_ms);
void server_list_forgive(struct server_list *r); /* success: resets failures */
int64_t server_list_fail(struct server_list *r); /* failure: returns how long to wait */

/* How long to wait if the server asked for retry_ms: up to a quarter more. */
int64_t server_list_wait_ms(int64_t retry_ms);

/* The current server refuses the agent for retry_ms: moves to the next one and returns how long to
 * wait, which is 0 unless that one has refused the agent too. */
int64_t server_list_refused(struct server_list *r, int64_t retry_ms, int64_t now_ms);

#endif
