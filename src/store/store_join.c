/* SPDX-License-Identifier: MIT */
/* store_join.c - see store_join.h; made of the queries of the two tables. */
#include "store/store_join.h"

#include <string.h>

#include "store/verb.h"

static int find_host(struct db *db, const char *agent_id, struct arena *a, struct list *ret,
                     struct err *err)
{
    return db_run(db, store_host_find.query, &(struct host_ask){ agent_id }, a, ret, err);
}

static int look(struct db *db, const void *in, struct arena *a, void *out, struct err *err)
{
    const struct join_look_ask *ask = in;
    struct join_look *ret = out;
    struct host_find_at_ask at = { .ip = ask->ip };

    if (db_run(db, store_token_find.query, &(struct token_find_ask){ ask->hash }, a, &ret->token,
               err) ||
        find_host(db, ask->agent_id, a, &ret->named, err))
        return -1;
    if (ret->token.n == 0)
        return 0;
    at.cloud_id = ((const struct token_row *)ret->token.items)->cloud_id;
    return db_run(db, store_host_find_at.query, &at, a, &ret->at, err);
}

static int take_token(struct db *db, const struct join_ask *ask, struct arena *a, struct err *err)
{
    struct list rows;

    if (store_token_take.run(db, &(struct token_take_ask){ ask->hash, ask->now_ms }, a, &rows,
                             err) == 0)
        return 0;
    if (err->code == ERR_CONFLICT)
        err->code = ERR_DENIED;
    return -1;
}

static int join(struct db *db, const void *in, struct arena *a, void *out, struct err *err)
{
    const struct join_ask *ask = in;
    const struct host_row *known;
    struct list rows;

    (void)out;
    if (find_host(db, ask->host.agent_id, a, &rows, err))
        return -1;
    known = rows.n ? rows.items : NULL;
    if (known && strcmp(known->cert_fingerprint, ask->host.cert_fingerprint) != 0)
        return err_set(err, ERR_CONFLICT, "another agent has the id %s", ask->host.agent_id);
    if (!*ask->hash && !known)
        return err_set(err, ERR_NOT_FOUND, "the host %s is not known", ask->host.agent_id);
    if (*ask->hash && take_token(db, ask, a, err))
        return -1;
    return db_run(db, store_host_put.query, &ask->host, NULL, NULL, err);
}

const struct store_verb store_join_look =
    VERB_RUN("join_look", DB_READ, look, sizeof(struct join_look));
const struct store_verb store_join = VERB_RUN("join", DB_WRITE, join, sizeof(struct list));
