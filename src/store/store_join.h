/* SPDX-License-Identifier: MIT */
/* store_join.h - joining of an agent: token and host in one transaction, so that a use of the token
 * is neither lost nor spent twice; verbs of store.h.
 *
 * A host is identified by its key: host_row.cert_fingerprint is the key's SHA-256 here
 * (cert_facts.key_id), which stays the same when the certificate is renewed. */
#ifndef STORE_STORE_JOIN_H
#define STORE_STORE_JOIN_H

#include "store/store_apps.h"
#include "store/store_hosts.h"
#include "store/store_inventory.h"

struct join_look_ask {
    const char *hash, *ip, *agent_id;
};

struct join_look {
    struct list token;    /* token_row, at most one; it may be used up or expired */
    struct list at;       /* host_row with the address in the token's cloud area */
    struct list named;    /* host_row with the agent id */
    struct list expected; /* expected_row at the address in that cloud area */
};

/* What a join has to check, read in one snapshot: join_look_ask; join_look. */
extern const struct store_verb store_join_look;

struct join_ask {
    const char *hash; /* of the token to take a use of; "": the host has joined before */
    int64_t now_ms;
    struct host_row host;
    bool is_elsewhere; /* it connects from another address than host.ip */
};

/* The one answer to an agent whose token is not valid for an address, whatever the reason: the
 * holder of a token must not learn which addresses other businesses have or expect.  Returns -1. */
int join_not_for_token(const char *ip, int64_t cloud_id, struct err *err);

enum join_bar {
    JOIN_BAR_NONE,
    JOIN_BAR_BUSINESS, /* the host is expected in another business than the token is for */
    JOIN_BAR_ADDRESS,  /* the agent connects from another address */
};

/* Why a token does not admit an agent as the host that is expected at an address.  A token of one
 * business does not admit hosts of another, and an expected host must connect from its address
 * unless the token is for agents behind a relay. */
enum join_bar join_unexpected(const struct token_row *token, const struct expected_row *expected,
                              bool is_elsewhere);

/* join_ask; list of host_row, one, as stored.  A host that has joined before keeps its business,
 * number and note unless a token gives a business; a new host gets those of its expected host
 * (store_inventory.h).  ERR_DENIED: the token is not valid.  ERR_CONFLICT: another key has the id,
 * another agent has the address, or join_unexpected().  ERR_NOT_FOUND: neither a token nor such a
 * host, so a removed host does not come back by a renewal that was in progress. */
extern const struct store_verb store_join;

static inline const struct host_row *join_stored(const struct store_call *c)
{
    return ((const struct list *)c->out)->items;
}

#endif
