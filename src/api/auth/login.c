/* SPDX-License-Identifier: MIT */
/* login.c - see login.h. */
#include "api/auth/login.h"

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/mem/map.h"
#include "base/mem/mem.h"
#include "model/rules.h"
#include "wire/http/fetch.h"
#include "wire/http/http_uri.h"
#include "wire/json/shape.h"
#include "wire/tls/digest.h"

enum { ANSWER_MAX = 64 * 1024, USER_MAX_BYTES = 256 };

struct cached_user {
    char key[DIGEST_SIZE];
    char *user; /* NULL: the token is invalid */
    int64_t until_ms;
};

struct waiter {
    login_told_fn *fn;
    void *arg;
    STAILQ_ENTRY(waiter) link;
};

struct asking {
    char key[DIGEST_SIZE];
    struct login *login;
    STAILQ_HEAD(, waiter) waiters;
};

struct login {
    struct loop *loop;
    struct log *log;
    struct fetch *fetch;
    char *url; /* up to the token */
    char *app_code, *app_token;
    int64_t timeout_ms;
    struct map known;  /* struct cached_user by key, oldest first */
    struct map asking; /* struct asking by key */
    bool is_away;      /* as logged last */
};

/* ---- start and end */

/* Completes the URL to "http://host/login/accounts/is_login/?bk_token=". */
static char *token_url(const char *url)
{
    static const char usual[] = "/login/accounts/is_login/";
    const char *host = strstr(url, "://") + 3;
    size_t n = strcspn(host, "/?#");
    bool has_path = host[n] && strcmp(host + n, "/") != 0;
    int base = (int)(has_path ? strlen(url) : (size_t)(host - url) + n);

    return xprintf("%.*s%s%sbk_token=", base, url, has_path ? "" : usual,
                   strchr(url, '?') ? "&" : "?");
}

int login_new(struct loop *loop, struct log *log, const struct login_config *config,
              struct login **ret, struct err *err)
{
    const char *wrong = fetch_check_url(config->url);
    struct login *l;

    if (wrong)
        return err_set(err, ERR_INVALID, "login.url: %s", wrong);
    if (strchr(config->url, '#'))
        return err_set(err, ERR_INVALID, "login.url: must have no \"#\" in it");
    l = xalloc(sizeof(*l));
    l->loop = loop;
    l->log = log;
    l->url = token_url(config->url);
    l->app_code = xstrdup(config->app_code);
    l->app_token = xstrdup(config->app_token);
    l->timeout_ms = config->timeout_ms;
    if (fetch_new(loop, config->ca, &l->fetch, err)) {
        login_free(l);
        return err_wrap(err, "login");
    }
    *ret = l;
    return 0;
}

static void cached_user_free(struct cached_user *k)
{
    if (!k)
        return;
    free(k->user);
    free(k);
}

/* fetch_free() answers all waiting callers. */
void login_free(struct login *l)
{
    struct map_entry *m;

    if (!l)
        return;
    fetch_free(l->fetch);
    for (size_t at = 0; (m = map_next(&l->known, &at));)
        cached_user_free(m->value);
    map_free(&l->known);
    map_free(&l->asking);
    explicit_bzero(l->app_token, strlen(l->app_token));
    free(l->url);
    free(l->app_code);
    free(l->app_token);
    free(l);
}

/* ---- answers of the service */

struct reply {
    bool result;
    const char *data;
};
struct reply_data {
    const char *user;
};

/* clang-format off */
static const struct field reply_fields[] = {
    { "result", .type = FIELD_BOOL, .offset = offsetof(struct reply, result), .flags = FIELD_REQUIRED },
    { "data", .type = FIELD_RAW, .offset = offsetof(struct reply, data), .max = ANSWER_MAX },
    { 0 },
};
static const struct shape reply_shape = { "answer", sizeof(struct reply), reply_fields };

/* The two versions of the service name the field differently. */
static const struct field data_fields[] = {
    { "username", .also = "bk_username", .type = FIELD_STR, .offset = offsetof(struct reply_data, user),
      .flags = FIELD_REQUIRED, .min = 1, .max = USER_MAX_BYTES, .check = rule_line },
    { 0 },
};
static const struct shape data_shape = { "data", sizeof(struct reply_data), data_fields };
/* clang-format on */

/* The name in the arena, "" for an invalid token; NULL: unknown, see err. */
static const char *read_reply(const struct fetch_answer *answer, struct arena *a, struct err *err)
{
    struct reply reply;
    struct reply_data data;

    if (!answer->status) {
        *err = answer->err;
        return NULL;
    }
    if (answer->status != 200) {
        err_set(err, ERR_UNAVAILABLE, "HTTP status %d", answer->status);
        return NULL;
    }
    if (shape_read(&reply_shape, answer->body.len ? buf_data(&answer->body) : "", answer->body.len,
                   0, a, &reply, err))
        return NULL;
    if (!reply.result)
        return "";
    if (!reply.data) {
        err_set(err, ERR_INVALID, "data: required");
        return NULL;
    }
    if (shape_read(&data_shape, reply.data, strlen(reply.data), 0, a, &data, err)) {
        err_wrap(err, "data");
        return NULL;
    }
    return data.user;
}

/* Logs only changes: once when the service fails, once when it answers again. */
static void log_state(struct login *l, const struct err *err)
{
    if (err && !l->is_away)
        LOG(l->log, LOG_WARN, "the login service can not be asked", log_err(err));
    if (!err && l->is_away)
        LOG(l->log, LOG_INFO, "the login service answers again");
    l->is_away = err != NULL;
}

static void cache_user(struct login *l, const char key[DIGEST_SIZE], const char *user)
{
    size_t at = 0;
    struct map_entry *oldest = l->known.n >= LOGIN_MAX ? map_next(&l->known, &at) : NULL;
    struct cached_user *k = xalloc(sizeof(*k));

    if (oldest)
        cached_user_free(map_del(&l->known, oldest->key, oldest->key_len));
    memcpy(k->key, key, sizeof(k->key));
    k->user = *user ? xstrdup(user) : NULL;
    k->until_ms = loop_now_ms(l->loop) + (*user ? LOGIN_KNOWN_MS : LOGIN_REFUSED_MS);
    cached_user_free(map_del(&l->known, k->key, sizeof(k->key))); /* to become the youngest */
    (void)map_put(&l->known, k->key, sizeof(k->key), k);          /* replaces nothing now */
}

static void answer_waiters(struct asking *q, const char *user)
{
    enum login_answer answer = !user ? LOGIN_AWAY : *user ? LOGIN_KNOWN : LOGIN_REFUSED;
    struct waiter *w;

    while ((w = STAILQ_FIRST(&q->waiters))) {
        STAILQ_REMOVE_HEAD(&q->waiters, link);
        w->fn(w->arg, answer, answer == LOGIN_KNOWN ? user : NULL);
        free(w);
    }
    free(q);
}

static void on_reply(void *arg, struct fetch_answer *answer)
{
    struct asking *q = arg;
    struct login *l = q->login;
    struct arena arena = { 0 };
    struct err err;
    const char *user = read_reply(answer, &arena, &err);

    log_state(l, user ? NULL : &err);
    map_del(&l->asking, q->key, sizeof(q->key));
    if (user)
        cache_user(l, q->key, user);
    answer_waiters(q, user);
    arena_free(&arena);
}

/* ---- requests to the service */

static int start_fetch(struct login *l, const char *token, struct asking *q, struct err *err)
{
    const struct http_field headers[] = {
        { "X-APP-CODE", l->app_code },
        { *l->app_token ? "X-APP-TOKEN" : NULL, l->app_token },
        { 0 },
    };
    struct buf url = { 0 };
    int bad;

    buf_puts(&url, l->url);
    http_escape(&url, token);
    bad = fetch_start(l->fetch,
                      &(struct fetch_ask){ .url = buf_text(&url),
                                           .headers = headers,
                                           .timeout_ms = l->timeout_ms,
                                           .answer_max = ANSWER_MAX },
                      on_reply, q, err);
    explicit_bzero(buf_data(&url), url.len);
    buf_free(&url);
    return bad;
}

static void ask_service(struct login *l, const char key[DIGEST_SIZE], const char *token,
                        struct waiter *w)
{
    struct asking *q = map_find(&l->asking, key, DIGEST_SIZE);
    struct err err;

    if (q) {
        STAILQ_INSERT_TAIL(&q->waiters, w, link);
        return;
    }
    q = xalloc(sizeof(*q));
    memcpy(q->key, key, sizeof(q->key));
    q->login = l;
    STAILQ_INIT(&q->waiters);
    STAILQ_INSERT_TAIL(&q->waiters, w, link);
    if (start_fetch(l, token, q, &err)) {
        answer_waiters(q, NULL); /* too many requests are in progress; their results are logged */
        return;
    }
    (void)map_put(&l->asking, q->key, sizeof(q->key), q); /* was not in the map */
}

void login_ask(struct login *l, const char *token, login_told_fn *fn, void *arg)
{
    char key[DIGEST_SIZE];
    const struct cached_user *k;
    struct waiter *w;

    digest_sha256(token, strlen(token), (unsigned char *)key);
    k = map_find(&l->known, key, sizeof(key));
    if (k && k->until_ms > loop_now_ms(l->loop)) {
        fn(arg, k->user ? LOGIN_KNOWN : LOGIN_REFUSED, k->user);
        return;
    }
    w = xalloc(sizeof(*w));
    *w = (struct waiter){ .fn = fn, .arg = arg };
    ask_service(l, key, token, w);
}
