/* SPDX-License-Identifier: MIT */
/* store_join.c - see store_join.h; made of the queries of the two tables. */
#include "store/store_join.h"

#include <string.h>

#include "store/store_inventory.h"
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

/* What people have said of the host is theirs, whatever its agent says. */
static void keep_facts(const struct host_row *known, bool has_token, struct host_row *to)
{
    to->host_id = known->host_id;
    to->note = known->note;
    if (!to->addresses)
        to->addresses = known->addresses;
    if (!has_token)
        to->biz_id = known->biz_id;
}

/* One that was expected is no longer. */
static int take_expected(struct db *db, struct arena *a, struct host_row *to, struct err *err)
{
    const struct expected_row *row;
    struct list rows;

    if (db_run(db, store_expected_del.query, &(struct host_find_at_ask){ to->cloud_id, to->ip }, a,
               &rows, err))
        return -1;
    if (!rows.n)
        return 0;
    row = rows.items;
    to->biz_id = row->biz_id;
    to->host_id = row->host_id;
    to->note = row->note;
    return 0;
}

static int put_host(struct db *db, const struct host_row *known, const struct join_ask *ask,
                    struct arena *a, struct list *ret, struct err *err)
{
    struct host_row *host = arena_alloc(a, sizeof(*host));

    *host = ask->host;
    if (known)
        keep_facts(known, *ask->hash, host);
    if (take_expected(db, a, host, err) || db_run(db, store_host_put.query, host, NULL, NULL, err))
        return -1;
    *ret = (struct list){ host, 1 };
    return 0;
}

static int join(struct db *db, const void *in, struct arena *a, void *out, struct err *err)
{
    const struct join_ask *ask = in;
    const struct host_row *known;
    struct list rows;

    if (find_host(db, ask->host.agent_id, a, &rows, err))
        return -1;
    known = rows.n ? rows.items : NULL;
    if (known && strcmp(known->cert_fingerprint, ask->host.cert_fingerprint) != 0)
        return err_set(err, ERR_CONFLICT, "another agent has the id %s", ask->host.agent_id);
    if (!*ask->hash && !known)
        return err_set(err, ERR_NOT_FOUND, "the host %s is not known", ask->host.agent_id);
    if (*ask->hash && take_token(db, ask, a, err))
        return -1;
    return put_host(db, known, ask, a, out, err);
}

const struct store_verb store_join_look =
    VERB_RUN("join_look", DB_READ, look, sizeof(struct join_look));
const struct store_verb store_join = VERB_RUN("join", DB_WRITE, join, sizeof(struct list));
