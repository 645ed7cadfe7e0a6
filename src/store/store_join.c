/* SPDX-License-Identifier: MIT */
/* store_join.c - see store_join.h; uses the queries of the tables host and join_token. */
#include "store/store_join.h"

#include <string.h>

#include "store/verb.h"

static int store_join_find_host(struct db *db, const char *agent_id, struct arena *a,
                                struct list *ret, struct err *err)
{
    return db_run(db, store_host_find.query, &(struct host_ask){ agent_id }, a, ret, err);
}

static int look_up_join(struct db *db, const void *in, struct arena *a, void *out, struct err *err)
{
    const struct join_look_ask *ask = in;
    struct join_look *ret = out;
    struct host_find_at_ask at = { .ip = ask->ip };

    if (db_run(db, store_token_find.query, &(struct token_find_ask){ ask->hash }, a, &ret->token,
               err) ||
        store_join_find_host(db, ask->agent_id, a, &ret->named, err))
        return -1;
    if (ret->token.n == 0)
        return 0;
    at.cloud_id = ((const struct token_row *)ret->token.items)->cloud_id;
    if (db_run(db, store_host_find_at.query, &at, a, &ret->at, err))
        return -1;
    return db_run(db, store_expected_find.query, &at, a, &ret->expected, err);
}

int join_not_for_token(const char *ip, int64_t cloud_id, struct err *err)
{
    return err_set(err, ERR_CONFLICT,
                   "ip: %s in cloud area %lld is not for this join token, or not from this "
                   "address; if the agent comes through a relay, make its token with --relay, else "
                   "use another token or address",
                   ip, (long long)cloud_id);
}

enum join_bar join_unexpected(const struct token_row *token, const struct expected_row *expected,
                              bool is_elsewhere)
{
    if (token->biz_id && expected->biz_id && token->biz_id != expected->biz_id)
        return JOIN_BAR_BUSINESS;
    return is_elsewhere && !token->relay ? JOIN_BAR_ADDRESS : JOIN_BAR_NONE;
}

static int take_token(struct db *db, const struct join_ask *ask, struct arena *a,
                      const struct token_row **ret, struct err *err)
{
    struct list rows;

    if (store_token_take.run(db, &(struct token_take_ask){ ask->hash, ask->now_ms }, a, &rows,
                             err) == 0) {
        *ret = rows.items;
        return 0;
    }
    if (err->code == ERR_CONFLICT)
        err->code = ERR_DENIED;
    return -1;
}

/* Facts that an operator entered are kept, whatever the agent sends. */
static void keep_facts(const struct host_row *known, bool has_token, struct host_row *to)
{
    to->host_id = known->host_id;
    to->note = known->note;
    if (!to->addresses)
        to->addresses = known->addresses;
    if (!has_token)
        to->biz_id = known->biz_id;
}

/* Deletes the expected host and moves its facts to the host. */
static int store_join_take_expected(struct db *db, const struct token_row *token, bool is_elsewhere,
                                    struct arena *a, struct host_row *to, struct err *err)
{
    const struct expected_row *row;
    struct list rows;

    if (db_run(db, store_expected_del.query, &(struct host_find_at_ask){ to->cloud_id, to->ip }, a,
               &rows, err))
        return -1;
    if (!rows.n)
        return 0;
    row = rows.items;
    if (token && join_unexpected(token, row, is_elsewhere))
        return join_not_for_token(to->ip, to->cloud_id, err);
    to->biz_id = row->biz_id;
    to->host_id = row->host_id;
    to->note = row->note;
    return 0;
}

static int put_host(struct db *db, const struct host_row *known, const struct token_row *token,
                    const struct join_ask *ask, struct arena *a, struct list *ret, struct err *err)
{
    struct host_row *host = arena_alloc(a, sizeof(*host));

    *host = ask->host;
    if (known)
        keep_facts(known, *ask->hash, host);
    if (store_join_take_expected(db, token, ask->is_elsewhere, a, host, err) ||
        db_run(db, store_host_put.query, host, NULL, NULL, err))
        return -1;
    *ret = (struct list){ host, 1 };
    return 0;
}

static int join_host(struct db *db, const void *in, struct arena *a, void *out, struct err *err)
{
    const struct join_ask *ask = in;
    const struct token_row *token = NULL;
    const struct host_row *known;
    struct list rows;

    if (store_join_find_host(db, ask->host.agent_id, a, &rows, err))
        return -1;
    known = rows.n ? rows.items : NULL;
    if (known && strcmp(known->cert_fingerprint, ask->host.cert_fingerprint) != 0)
        return err_set(err, ERR_CONFLICT, "another agent has the id %s", ask->host.agent_id);
    if (!*ask->hash && !known)
        return err_set(err, ERR_NOT_FOUND, "the host %s is not known", ask->host.agent_id);
    if (*ask->hash && take_token(db, ask, a, &token, err))
        return -1;
    return put_host(db, known, token, ask, a, out, err);
}

const struct store_verb store_join_look =
    VERB_RUN("join_look", DB_READ, look_up_join, sizeof(struct join_look));
const struct store_verb store_join = VERB_RUN("join", DB_WRITE, join_host, sizeof(struct list));
