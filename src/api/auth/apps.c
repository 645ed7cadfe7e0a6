/* SPDX-License-Identifier: MIT */
/* apps.c - see apps.h. */
#include "api/auth/apps.h"

#include <stdlib.h>
#include <string.h>

#include "api/auth/rate.h"
#include "base/mem/map.h"
#include "base/mem/mem.h"
#include "store/store_apps.h"
#include "wire/tls/secret.h"

struct entry {
    struct app pub; /* first, so that an app can be cast to an entry */
    struct arena arena;
    int64_t until_ms;
    bool is_known;
    unsigned holders;       /* references, including the cache's */
    uint64_t seed[2], mark; /* see app_has_secret(); mark 0: none */
    struct rate rate;
};

struct apps {
    struct loop *loop;
    struct store *store;
    const struct seal *seal;
    struct log *log;
    struct map by_code; /* entries, oldest first */
    uint64_t changes;   /* number of apps_forget() calls */
};

struct search {
    struct apps *apps;
    app_found_fn *fn;
    void *arg;
    uint64_t changes; /* value when it began; if it differs at the end, the row may be old and is
                         not cached */
};

static struct app_number all_rights[] = { { APP_READ | APP_OPERATE | APP_ADMIN | APP_METRICS } };
const struct app app_admin = { "admin", "", "", "", "", { .rights = { all_rights, 1 } } };

struct apps *apps_new(struct loop *loop, struct store *store, const struct seal *seal,
                      struct log *log)
{
    struct apps *a = xalloc(sizeof(*a));

    a->loop = loop;
    a->store = store;
    a->seal = seal;
    a->log = log;
    return a;
}

const struct app *app_hold(const struct app *app)
{
    if (app != &app_admin)
        ((struct entry *)(void *)app)->holders++;
    return app;
}

void app_let_go(const struct app *app)
{
    struct entry *e = (struct entry *)(void *)app;

    if (!app || app == &app_admin || --e->holders)
        return;
    explicit_bzero((char *)app->plain_1, strlen(app->plain_1));
    explicit_bzero((char *)app->plain_2, strlen(app->plain_2));
    arena_free(&e->arena);
    free(e);
}

void apps_free(struct apps *a)
{
    struct map_entry *m;

    if (!a)
        return;
    for (size_t at = 0; (m = map_next(&a->by_code, &at));)
        app_let_go(m->value);
    map_free(&a->by_code);
    free(a);
}

void apps_forget(struct apps *a, const char *code)
{
    a->changes++;
    app_let_go(map_del_str(&a->by_code, code));
}

static struct entry *find_fresh(struct apps *a, const char *code)
{
    struct entry *e = map_find_str(&a->by_code, code);

    return e && e->until_ms > loop_now_ms(a->loop) ? e : NULL;
}

const struct app *apps_peek(struct apps *a, const char *code)
{
    struct entry *e = map_find_str(&a->by_code, code);

    return e && e->is_known ? &e->pub : NULL;
}

/* ---- rows of the store */

/* Without the key that sealed it, the app can send its secret, but can not sign with it. */
static const char *open_sealed(const struct apps *a, struct entry *e, const char *sealed)
{
    char *text;
    struct err err;

    if (!e->pub.permissions.signatures || !a->seal || !*sealed)
        return "";
    if (!seal_read(a->seal, e->pub.code, sealed, &e->arena, &text, &err))
        return text;
    LOG(a->log, LOG_WARN, "an app's signatures can not be checked; give it a new secret",
        log_str("app", e->pub.code), log_err(&err));
    return "";
}

/* Permissions that can not be parsed are a failure. */
static int apps_read_row(const struct apps *a, struct entry *e, const struct app_row *row,
                         struct err *err)
{
    e->is_known = true;
    e->pub.secret_1 = arena_strdup(&e->arena, row->secret_1);
    e->pub.secret_2 = arena_strdup(&e->arena, row->secret_2);
    if (!row->permissions)
        return 0;
    if (shape_read(&app_permissions_shape, row->permissions, strlen(row->permissions), 0, &e->arena,
                   &e->pub.permissions, err)) {
        err_set(err, ERR_SYSTEM, "app %s: its permissions in the store: %s", row->code,
                err_msg(err));
        return -1;
    }
    e->pub.plain_1 = open_sealed(a, e, row->sealed_1);
    e->pub.plain_2 = open_sealed(a, e, row->sealed_2);
    return 0;
}

static struct entry *entry_new(const char *code)
{
    struct entry *e = xalloc(sizeof(*e));

    e->holders = 1;
    map_seed(e->seed);
    e->pub.code = arena_strdup(&e->arena, code);
    e->pub.secret_1 = e->pub.secret_2 = e->pub.plain_1 = e->pub.plain_2 = "";
    return e;
}

/* Guessed codes must not fill the memory: the oldest entry is removed, whatever it is. */
static void cache_entry(struct apps *a, struct entry *e)
{
    size_t at = 0;
    struct map_entry *oldest = a->by_code.n >= APPS_MAX ? map_next(&a->by_code, &at) : NULL;
    const struct entry *before = map_find_str(&a->by_code, e->pub.code);

    if (before)
        e->rate = before->rate;
    if (oldest)
        app_let_go(map_del(&a->by_code, oldest->key, oldest->key_len));
    e->until_ms = loop_now_ms(a->loop) + (e->is_known ? APPS_KNOWN_MS : APPS_UNKNOWN_MS);
    app_hold(&e->pub);
    app_let_go(map_put_str(&a->by_code, e->pub.code, e));
}

static void on_row(void *arg, struct store_call *c)
{
    struct search *s = arg;
    const struct app_find_ask *ask = c->in;
    const struct list *rows = c->out;
    struct entry *e = entry_new(ask->code);
    struct err err = c->err;

    if (c->failed || (rows->n && apps_read_row(s->apps, e, rows->items, &err))) {
        s->fn(s->arg, NULL, &err);
    } else {
        if (s->changes == s->apps->changes)
            cache_entry(s->apps, e);
        s->fn(s->arg, e->is_known ? &e->pub : NULL, NULL);
    }
    app_let_go(&e->pub);
    store_call_free(c);
    free(s);
}

void apps_find(struct apps *a, const char *code, app_found_fn *fn, void *arg)
{
    struct entry *e = find_fresh(a, code);
    struct store_call *c;
    struct app_find_ask *ask;
    struct search *s;
    struct err err = { 0 };

    if (e) {
        fn(arg, e->is_known ? &e->pub : NULL, NULL);
        return;
    }
    s = xalloc(sizeof(*s));
    *s = (struct search){ a, fn, arg, a->changes };
    c = store_call_new(&store_app_find, on_row, s);
    ask = arena_alloc(&c->arena, sizeof(*ask));
    ask->code = arena_strdup(&c->arena, code);
    c->in = ask;
    if (store_submit(a->store, c, &err)) {
        store_call_free(c);
        free(s);
        fn(arg, NULL, &err);
    }
}

int app_view_row(const struct app_row *row, struct arena *a, struct app_view *ret, struct err *err)
{
    struct app_view view = { .code = row->code, .secret = "", .created_s = row->created_ms / 1000 };

    if (row->permissions && shape_read(&app_permissions_shape, row->permissions,
                                       strlen(row->permissions), 0, a, &view.permissions, err)) {
        err->code = ERR_SYSTEM; /* the caller did not send it */
        return err_wrap(err, "app %s: permissions in the store", row->code);
    }
    view.can_sign = view.permissions.signatures && *row->sealed_1;
    *ret = view;
    return 0;
}

/* The last correct secret is recognized by a hash with a random key: SHA-256 would be the most
 * expensive part of a small request.  Otherwise both hashes are always compared, so that the time
 * does not depend on which one matches. */
bool app_has_secret(const struct app *app, const char *secret)
{
    struct entry *e = (struct entry *)(void *)app;
    char hash[SECRET_HASH_SIZE];
    bool first, second;
    uint64_t mark;

    if (app == &app_admin)
        return false;
    mark = map_hash(e->seed, secret, strlen(secret));
    if (e->mark && e->mark == mark)
        return true;
    secret_hash(secret, hash);
    first = secret_fits(hash, app->secret_1);
    second = secret_fits(hash, app->secret_2);
    if (first || second)
        e->mark = mark;
    return first || second;
}

int64_t app_take_rate(const struct app *app, int64_t usual, int64_t now_ms)
{
    int64_t own = app->permissions.rate_per_second, per_second = own ? own : usual;

    if (!per_second || app == &app_admin)
        return 0;
    return rate_take(&((struct entry *)(void *)app)->rate, per_second, now_ms);
}
