/* SPDX-License-Identifier: MIT */
/* v1_tokens.c - join tokens in /v1: create, list and revoke. */
#include <string.h>

#include "api/pipeline/api_state.h"
#include "api/pipeline/call.h"
#include "api/pipeline/handlers.h"
#include "link/token.h"
#include "model/host.h"
#include "store/store_apps.h"
#include "wire/tls/secret.h"

/* Prefix of hashes; ids do not have it. */
static const char hash_prefix[] = "sha256:";

/* Submits, or ends the call. */
static void submit_token_call(struct call *c, struct store_call *s)
{
    struct err err;

    if (!store_submit(c->api->parts.store, s, &err))
        return;
    store_call_free(s);
    call_fail(c, &err);
}

static const char *id_of(const char *hash, struct arena *a)
{
    size_t skip = strncmp(hash, hash_prefix, strlen(hash_prefix)) ? 0 : strlen(hash_prefix);

    return arena_memdup(a, hash + skip, strnlen(hash + skip, TOKEN_ID_CHARS));
}

static struct token_line line_of(const struct token_row *row, struct arena *a)
{
    return (struct token_line){
        .id = id_of(row->hash, a),
        .cloud_id = row->cloud_id,
        .biz_id = row->biz_id,
        .uses_left = row->uses_left,
        .created_s = row->created_ms / 1000,
        .expires_s = row->expires_ms / 1000,
        .app = row->app,
        .user = row->user_name,
        .note = row->note,
        .revoked_s = row->revoked_ms / 1000,
        .relay = row->relay,
    };
}

/* ---- the list */

static void v1_tokens_on_list(void *arg, struct store_call *s)
{
    struct call *c = arg;
    const struct page_ask *ask = c->ask;
    const struct list *rows = s->out;
    const struct token_row *row = rows->items;
    size_t n = rows->n < (size_t)ask->limit ? rows->n : (size_t)ask->limit;
    struct token_line *lines = arena_alloc(c->arena, n * sizeof(*lines));
    struct token_page page = { { lines, n }, "" };

    if (s->failed) {
        call_fail(c, &s->err);
    } else {
        for (size_t i = 0; i < n; i++)
            lines[i] = line_of(&row[i], c->arena);
        if (rows->n > n)
            page.next = lines[n - 1].id;
        call_finish(c, &token_page_shape, &page);
    }
    store_call_free(s);
}

/* Reads one row more than requested to know whether there is another page.  The page starts after
 * all hashes that begin with the id: "g" sorts after every hex digit. */
void v1_tokens(struct call *c)
{
    const struct page_ask *ask = c->ask;
    struct store_call *s = store_call_new(&store_token_list, v1_tokens_on_list, c);
    struct store_page *page = arena_alloc(&s->arena, sizeof(*page));

    page->after = *ask->after ? arena_printf(&s->arena, "%s%sg", hash_prefix, ask->after) : "";
    page->limit = ask->limit + 1;
    s->in = page;
    submit_token_call(c, s);
}

/* ---- create */

struct token_making {
    struct call *call;
    char token[TOKEN_TEXT_SIZE], hash[SECRET_HASH_SIZE];
    struct token_row row;
};

static void on_token(void *arg, struct store_call *s)
{
    struct token_making *m = arg;
    struct call *c = m->call;
    const struct token_ask *ask = c->ask;
    const struct token_view view = { m->token,    id_of(m->hash, c->arena), ask->cloud_id,
                                     ask->biz_id, m->row.expires_ms / 1000, ask->uses,
                                     ask->relay };

    if (s->failed) {
        call_fail(c, &s->err);
    } else {
        LOG(c->api->parts.log, LOG_INFO, "join token made", log_str("id", view.id),
            log_int("cloud_id", ask->cloud_id), log_int("biz_id", ask->biz_id),
            log_int("uses", ask->uses), log_str("note", ask->note), log_str("by", c->app->code),
            log_str("user", c->user), log_str("request_id", c->request_id));
        call_finish(c, &token_view_shape, &view);
    }
    store_call_free(s);
}

void v1_token_put(struct call *c)
{
    const struct token_ask *ask = c->ask;
    struct token_making *m = arena_alloc(c->arena, sizeof(*m));
    struct store_call *s = store_call_new(&store_token_put, on_token, m);
    int64_t now_ms = clock_wall_ms(loop_clock(c->api->parts.loop));
    struct token token;

    m->call = c;
    token_new(c->api->parts.ca_fingerprint, &token);
    token_write(&token, m->token);
    secret_hash(token.secret, m->hash);
    m->row = (struct token_row){
        .hash = m->hash,
        .cloud_id = ask->cloud_id,
        .biz_id = ask->biz_id,
        .expires_ms = now_ms + ask->ttl_s * 1000,
        .uses_left = ask->uses,
        .note = ask->note,
        .created_ms = now_ms,
        .app = c->app->code,
        .user_name = c->user,
        .relay = ask->relay,
    };
    s->in = &m->row;
    submit_token_call(c, s);
}

/* ---- revoke: hosts that have joined with it stay */

static void on_revoked(void *arg, struct store_call *s)
{
    struct call *c = arg;
    const struct list *rows = s->out;
    struct err err = s->err;
    struct token_line line;

    if (!s->failed && !rows->n)
        err_set(&err, ERR_NOT_FOUND, "token %s: there is none", c->rest);
    if (s->failed || !rows->n) {
        call_fail(c, &err);
    } else {
        line = line_of(rows->items, c->arena);
        LOG(c->api->parts.log, LOG_INFO, "join token revoked", log_str("id", line.id),
            log_str("by", c->app->code), log_str("user", c->user),
            log_str("request_id", c->request_id));
        call_finish(c, &token_line_shape, &line);
    }
    store_call_free(s);
}

/* A text that is not an id may be a token.  It is not repeated in the error, because failures are
 * recorded. */
void v1_token_del(struct call *c)
{
    struct store_call *s;
    struct token_revoke_ask *ask;
    struct err err;

    if (strlen(c->rest) != TOKEN_ID_CHARS) {
        err_set(&err, ERR_NOT_FOUND, "id: must be the %d digits by which the list shows a token",
                TOKEN_ID_CHARS);
        call_fail(c, &err);
        return;
    }
    s = store_call_new(&store_token_revoke, on_revoked, c);
    ask = arena_alloc(&s->arena, sizeof(*ask));
    ask->id = arena_strdup(&s->arena, c->rest);
    ask->now_ms = clock_wall_ms(loop_clock(c->api->parts.loop));
    s->in = ask;
    submit_token_call(c, s);
}
