/* SPDX-License-Identifier: MIT */
/* apps.c - see apps.h. */
#include "api/apps.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "store/store_apps.h"
#include "wire/secret.h"

struct entry {
    struct app pub; /* first: what others hold is ours */
    struct arena arena;
    int64_t until_ms;
    bool is_known;
    unsigned holders; /* the cache is one of them */
};

struct apps {
    struct loop *loop;
    struct store *store;
    struct map by_code; /* of entries, oldest first */
    uint64_t changes;   /* counts apps_forget() */
};

struct search {
    struct apps *apps;
    app_found_fn *fn;
    void *arg;
    uint64_t changes; /* when it began: what was changed since may not be remembered */
};

static struct app_number all_rights[] = { { APP_READ | APP_OPERATE | APP_ADMIN } };
const struct app app_admin = { "admin", "", "", { .rights = { all_rights, 1 } } };

struct apps *apps_new(struct loop *loop, struct store *store)
{
    struct apps *a = xalloc(sizeof(*a));

    a->loop = loop;
    a->store = store;
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
    struct entry *e = find_fresh(a, code);

    return e && e->is_known ? &e->pub : NULL;
}

/* ---- what the store says */

/* A row for which nothing can be said of what it may do is of no use to anybody. */
static int read_row(struct entry *e, const struct app_row *row, struct err *err)
{
    e->is_known = true;
    e->pub.secret_1 = arena_strdup(&e->arena, row->secret_1);
    e->pub.secret_2 = arena_strdup(&e->arena, row->secret_2);
    if (!row->permissions)
        return 0;
    if (shape_read(&app_permissions_shape, row->permissions, strlen(row->permissions), 0, &e->arena,
                   &e->pub.permissions, err)) {
        err_set(err, ERR_SYSTEM, "app %s: its permissions in the store: %s", row->code, err->text);
        return -1;
    }
    return 0;
}

static struct entry *entry_new(const char *code)
{
    struct entry *e = xalloc(sizeof(*e));

    e->holders = 1;
    e->pub.code = arena_strdup(&e->arena, code);
    e->pub.secret_1 = e->pub.secret_2 = "";
    return e;
}

/* Guesses may not fill the memory: the oldest makes room, whatever it is. */
static void remember(struct apps *a, struct entry *e)
{
    size_t at = 0;
    struct map_entry *oldest = a->by_code.n >= APPS_MAX ? map_next(&a->by_code, &at) : NULL;

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

    if (c->failed || (rows->n && read_row(e, rows->items, &err))) {
        s->fn(s->arg, NULL, &err);
    } else {
        if (s->changes == s->apps->changes)
            remember(s->apps, e);
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

/* Both are looked at in any case: which one fits can not be measured. */
bool app_has_secret(const struct app *app, const char *secret)
{
    bool first = secret_matches(secret, app->secret_1);
    bool second = secret_matches(secret, app->secret_2);

    return first || second;
}
