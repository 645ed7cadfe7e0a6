/* SPDX-License-Identifier: MIT */
/* store_join.h - an agent joins: its token and its host in one transaction, so that a
 * use of the token is never lost and never spent twice; verbs of store.h.
 *
 * Who a host is, is its key: host_row.cert_fingerprint holds the key's SHA-256 here
 * (cert_facts.key_id), which stays the same when the certificate is renewed. */
#ifndef STORE_STORE_JOIN_H
#define STORE_STORE_JOIN_H

#include "store/store_apps.h"
#include "store/store_hosts.h"

struct join_look_ask {
    const char *hash, *ip, *agent_id;
};

struct join_look {
    struct list token; /* token_row, at most one; it may be used up or expired */
    struct list at;    /* host_row: who has the address in the token's cloud area */
    struct list named; /* host_row: who has the id */
};

/* What there is to know before: join_look_ask; join_look, all of one moment. */
extern const struct store_verb store_join_look;

struct join_ask {
    const char *hash; /* of the token that a use is taken of; "": the host is known already */
    int64_t now_ms;
    struct host_row host;
};

/* join_ask; list of host_row, one, as it is stored: the business of a host that is known, its
 * number and its note are what they were, unless a token says where it belongs now; those of a
 * new one are what it was expected with (store_inventory.h).  ERR_DENIED: the token is not good.
 * ERR_CONFLICT: another key has the id, or another agent the address.  ERR_NOT_FOUND: no token, and
 * no such host either; so one that was removed does not come back by an update that was under way.
 */
extern const struct store_verb store_join;

static inline const struct host_row *join_stored(const struct store_call *c)
{
    return ((const struct list *)c->out)->items;
}

#endif
