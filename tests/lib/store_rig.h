/* SPDX-License-Identifier: MIT */
/* store_rig.h - an empty store, for tests that ask it.
 *
 * HOLDFAST_TEST_DB names the database to use, which is emptied before each test;
 * without it each test has a SQLite file in a folder of its own. */
#ifndef TESTS_LIB_STORE_RIG_H
#define TESTS_LIB_STORE_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem/mem.h"
#include "store/db.h"
#include "store/store.h"

struct store_rig {
    char dir[64], path[96], url[256];
    struct store_options options;
    struct store *store;
    struct arena arena;
    struct err err;
};

static inline void store_rig_empty(const char *url)
{
    static const char *const tables[] = { "audit",         "business",    "business_set",
                                          "expected_host", "task_item",   "task_spec",
                                          "task",          "process",     "host",
                                          "app",           "join_token",  "agent_session",
                                          "registry",      "request_key", "process_group",
                                          "event",         "event_head",  "event_mark",
                                          "agent_lost",    "retention",   "schema_version" };
    struct err err = { 0 };
    struct db *db;

    if (db_open(url, DB_WRITE, &db, &err))
        fail_msg("%s", err.text);
    for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
        char sql[64];

        snprintf(sql, sizeof(sql), "DROP TABLE IF EXISTS %s", tables[i]);
        assert_int_equal(db_run(db, &(struct query){ sql }, NULL, NULL, NULL, &err), 0);
    }
    db_close(db);
}

static inline void store_rig_open(struct store_rig *r)
{
    r->options.url = r->url;
    if (store_open(&r->options, &r->store, &r->err))
        fail_msg("%s", r->err.text);
}

/* Names the files; nothing is opened yet. */
static inline void store_rig_place(struct store_rig *r)
{
    const char *given = getenv("HOLDFAST_TEST_DB");

    *r = (struct store_rig){ .dir = "/tmp/holdfast-store-XXXXXX" };
    assert_non_null(mkdtemp(r->dir));
    snprintf(r->path, sizeof(r->path), "%s/test.db", r->dir);
    snprintf(r->url, sizeof(r->url), "sqlite:%s", r->path);
    if (!given)
        return;
    snprintf(r->url, sizeof(r->url), "%s", given);
    store_rig_empty(r->url);
}

static inline void store_rig_close(struct store_rig *r)
{
    store_close(r->store);
    r->store = NULL;
}

static inline void store_rig_remove(struct store_rig *r)
{
    DIR *dir = opendir(r->dir);
    struct dirent *e;

    while (dir && (e = readdir(dir)))
        unlinkat(dirfd(dir), e->d_name, 0);
    closedir(dir);
    rmdir(r->dir);
    arena_free(&r->arena);
}

static inline int store_rig_setup(void **state)
{
    struct store_rig *r = xalloc(sizeof(*r));

    store_rig_place(r);
    store_rig_open(r);
    *state = r;
    return 0;
}

static inline int store_rig_teardown(void **state)
{
    struct store_rig *r = *state;

    store_rig_close(r);
    store_rig_remove(r);
    free(r);
    return 0;
}

#define STORE_TEST(f) cmocka_unit_test_setup_teardown(f, store_rig_setup, store_rig_teardown)

static inline void store_rig_do(struct store_rig *r, const struct store_verb *verb, const void *in,
                                void *out)
{
    if (store_sync(r->store, verb, in, &r->arena, out, &r->err))
        fail_msg("%s", r->err.text);
}

/* The same for a verb that must fail, with this code. */
static inline void store_rig_refused(struct store_rig *r, const struct store_verb *verb,
                                     const void *in, int code)
{
    assert_int_equal(store_sync(r->store, verb, in, &r->arena, NULL, &r->err), -1);
    assert_int_equal(r->err.code, code);
}

#define LIST(...) ((struct list){ (__VA_ARGS__), sizeof(__VA_ARGS__) / sizeof((__VA_ARGS__)[0]) })

/* Row i of a list. */
#define ROW(type, list, i) (&((struct type *)(list).items)[i])

#endif
