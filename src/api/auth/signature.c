/* SPDX-License-Identifier: MIT */
/* signature.c - see signature.h. */
#include "api/auth/signature.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem/mem.h"
#include "base/text/base64.h"
#include "wire/tls/digest.h"
#include "wire/tls/secret.h"

static int by_key(const void *a, const void *b)
{
    return strcmp(((const struct http_pair *)a)->key, ((const struct http_pair *)b)->key);
}

/* Removes the pair with that key; returns its value, NULL if absent or empty. */
static const char *take_pair(struct signature *s, const char *key)
{
    for (size_t i = 0; i < s->n; i++) {
        const char *value = s->pairs[i].value;

        if (strcmp(s->pairs[i].key, key) != 0)
            continue;
        memmove(&s->pairs[i], &s->pairs[i + 1], (s->n - i - 1) * sizeof(*s->pairs));
        s->n--;
        return *value ? value : NULL;
    }
    return NULL;
}

/* Empty counts as absent, as in ESB. */
static const char *find_value(const struct signature *s, const char *key)
{
    for (size_t i = 0; i < s->n; i++) {
        if (!strcmp(s->pairs[i].key, key))
            return *s->pairs[i].value ? s->pairs[i].value : NULL;
    }
    return NULL;
}

static size_t count_pieces(const char *query)
{
    size_t n = 1;

    for (; *query; query++)
        n += *query == '&';
    return n;
}

int signature_read(const char *query, struct arena *arena, struct signature *ret, struct err *err)
{
    struct signature s = { .pairs = arena_alloc(arena, count_pieces(query) * sizeof(*s.pairs)) };
    struct http_pairs pairs;
    struct http_pair pair;

    http_pairs_init(&pairs, query, strlen(query));
    for (;;) {
        if (http_pairs_next(&pairs, arena, &pair, err))
            return -1;
        if (!pair.key)
            break;
        s.pairs[s.n++] = pair;
    }
    qsort(s.pairs, s.n, sizeof(*s.pairs), by_key);
    for (size_t i = 1; i < s.n; i++)
        s.is_ambiguous |= by_key(&s.pairs[i - 1], &s.pairs[i]) == 0;
    s.given = take_pair(&s, "bk_signature");
    if (!s.given)
        s.given = take_pair(&s, "signature");
    s.nonce = find_value(&s, "bk_nonce");
    s.time = find_value(&s, "bk_timestamp");
    *ret = s;
    return 0;
}

static bool to_number(const char *text, int64_t *ret)
{
    char *end;

    errno = 0;
    *ret = strtoll(text, &end, 10);
    return *text && !*end && errno == 0;
}

enum refusal signature_judge(const struct signature *s, int64_t wall_s)
{
    int64_t nonce, time;

    if (!s->nonce)
        return REFUSAL_NONCE_NONE;
    if (!to_number(s->nonce, &nonce))
        return REFUSAL_NONCE_ILLEGAL;
    if (nonce <= 0)
        return REFUSAL_NONCE_NEGATIVE;
    if (!s->time)
        return REFUSAL_TIME_NONE;
    if (!to_number(s->time, &time))
        return REFUSAL_TIME_ILLEGAL;
    if (time < wall_s - SIGNATURE_S || time > wall_s + SIGNATURE_S)
        return REFUSAL_TIME_EXPIRED;
    return s->is_ambiguous ? REFUSAL_SIGNATURE : REFUSALS;
}

/* ---- the path */

struct span {
    const char *p;
    size_t n;
};

/* The last two segments: system or group, and call. */
static struct span ending(struct span s)
{
    size_t words = 0, from;

    while (s.n && s.p[s.n - 1] == '/')
        s.n--;
    for (from = s.n; from && words < 2; from--)
        words += s.p[from - 1] == '/';
    return (struct span){ s.p + from, s.n - from };
}

/* False: X-Request-Uri names another call than the request. */
static bool find_path(const struct http_req *req, struct span *ret)
{
    const char *uri = http_head_find(&req->head, "X-Request-Uri");
    struct span own = { req->head.path, strlen(req->head.path) }, said = own, a, b;

    if (uri && *uri)
        said = (struct span){ uri, strcspn(uri, "?") };
    *ret = said;
    a = ending(own);
    b = ending(said);
    return a.n == b.n && !memcmp(a.p, b.p, a.n);
}

/* ---- the signed text, in pieces: the body is not copied */

struct text {
    struct digest_piece *pieces;
    size_t n;
};

static void add_piece(struct text *t, const char *bytes, size_t n)
{
    t->pieces[t->n++] = (struct digest_piece){ bytes, n };
}

static void add_pair(struct text *t, bool is_first, const char *key, const char *value, size_t n)
{
    if (!is_first)
        add_piece(t, "&", 1);
    add_piece(t, key, strlen(key));
    add_piece(t, "=", 1);
    add_piece(t, value, n);
}

/* `data` NULL: none.  It is inserted in sort order and replaces a parameter of the same name. */
static void add_pairs(struct text *t, const struct signature *s, const struct buf *data)
{
    bool is_first = true;

    for (size_t i = 0; i < s->n; i++) {
        int side = data ? strcmp(s->pairs[i].key, "data") : -1;

        if (side >= 0) {
            add_pair(t, is_first, "data", buf_data(data), data->len);
            data = NULL;
            is_first = false;
        }
        if (side != 0)
            add_pair(t, is_first, s->pairs[i].key, s->pairs[i].value, strlen(s->pairs[i].value));
        is_first = false;
    }
    if (data)
        add_pair(t, is_first, "data", buf_data(data), data->len);
}

static struct text make_text(const struct signature *s, const struct http_req *req,
                             const struct span *path, const struct buf *data, struct arena *arena)
{
    enum { BEFORE = 3, PAIR = 4 };
    struct text t = { .pieces =
                          arena_alloc(arena, (BEFORE + PAIR * (s->n + 1)) * sizeof(*t.pieces)) };

    add_piece(&t, req->head.method, strlen(req->head.method));
    add_piece(&t, path->p, path->n);
    add_piece(&t, "?", 1);
    add_pairs(&t, s, data);
    return t;
}

/* ---- comparing */

enum { SIGNATURE_SIZE = BASE64_SIZE(DIGEST_HMAC_SIZE) + 1 }; /* with its "=" */

static void sign(const struct text *t, const char *secret, char to[SIGNATURE_SIZE])
{
    unsigned char hash[DIGEST_HMAC_SIZE];

    digest_hmac_sha1(secret, strlen(secret), t->pieces, t->n, hash);
    base64_write(hash, sizeof(hash), to);
    for (char *p = to; *p; p++)
        *p = *p == '-' ? '+' : *p == '_' ? '/' : *p;
    memcpy(to + SIGNATURE_SIZE - 2, "=", 2);
}

/* Both secrets are always tried.  A blank is a "+" that was not escaped. */
static bool is_signed(const struct text *t, const char *given, const char *const secrets[2])
{
    char own[SIGNATURE_SIZE], theirs[SIGNATURE_SIZE];
    bool fits = false;

    if (strlen(given) != sizeof(theirs) - 1)
        return false;
    for (size_t i = 0; i < sizeof(theirs); i++)
        theirs[i] = given[i] == ' ' ? '+' : given[i];
    for (size_t i = 0; i < 2; i++) {
        if (!*secrets[i])
            continue;
        sign(t, secrets[i], own);
        fits |= secret_equal(own, theirs, sizeof(own));
    }
    return fits;
}

/* For a POST without a body ESB signs an empty `data`, its clients none. */
bool signature_fits(const struct signature *s, const struct http_req *req,
                    const char *const secrets[2], struct arena *arena)
{
    bool is_post = !strcmp(req->head.method, "POST");
    struct span path;
    struct text t;

    if (!s->given || !find_path(req, &path))
        return false;
    t = make_text(s, req, &path, is_post ? &req->body : NULL, arena);
    if (is_signed(&t, s->given, secrets))
        return true;
    if (!is_post || req->body.len)
        return false;
    t = make_text(s, req, &path, NULL, arena);
    return is_signed(&t, s->given, secrets);
}
