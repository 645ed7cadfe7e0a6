/* SPDX-License-Identifier: MIT */
/* core_world.h - a core whose journal and messages are written down, and which can be
 * begun anew from them, for tests of what it keeps. */
#ifndef TESTS_UNIT_AGENT_CORE_WORLD_H
#define TESTS_UNIT_AGENT_CORE_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/supervise/core_in.h"
#include "base/mem/buf.h"
#include "base/mem/mem.h"
#include "tests/lib/readable.h"
#include "tests/lib/wide_text.h"

enum { WORLD_RECORDS = 8192, WORLD_EVENTS = 4096 };

static struct {
    struct core *core;
    int64_t now_ms, wall_ms;
    size_t events_max; /* 0: as ever */

    struct {
        unsigned type;
        struct buf json;
    } records[WORLD_RECORDS];
    size_t n_records;

    struct {
        int64_t id, after, lost;
        char text[64], chinese[128];
    } sent[WORLD_EVENTS]; /* events */
    size_t n_sent;

    int messages, pages, results, runs; /* that were sent; asked for */
    size_t views;                       /* on those pages */
    char order[64];                     /* a letter for each message: P, R, E */
    char digest[DIGEST_TEXT_SIZE];
    uint64_t run, probe;
} world;

static inline uint64_t world_journal(void *arg, unsigned type, const struct shape *s,
                                     const void *record, bool durable)
{
    (void)arg;
    (void)durable;
    assert_true(world.n_records < WORLD_RECORDS);
    world.records[world.n_records].type = type;
    shape_write(s, record, &world.records[world.n_records++].json);
    return world.n_records;
}

static inline void world_take_event(const struct message_event *e)
{
    assert_true(world.n_sent < WORLD_EVENTS);
    assert_whole_text(e->text);
    world.sent[world.n_sent].id = e->id;
    world.sent[world.n_sent].after = e->after;
    world.sent[world.n_sent].lost =
        strcmp(e->name, "agent_events_lost") ? 0 : strtoll(english(e->text), NULL, 10);
    readable(world.sent[world.n_sent].text, sizeof(world.sent[0].text), e->text, LANG_EN);
    readable(world.sent[world.n_sent].chinese, sizeof(world.sent[0].chinese), e->text, LANG_ZH);
    world.n_sent++;
}

static inline void world_send(void *arg, unsigned type, const struct shape *s, const void *message)
{
    size_t n = strlen(world.order);

    (void)arg;
    (void)s;
    world.messages++;
    if (type == MESSAGE_EVENT) {
        world_take_event(message);
    } else if (type == MESSAGE_PROCESSES) {
        const struct message_processes *m = message;

        world.pages++;
        world.views += m->list.n;
        snprintf(world.digest, sizeof(world.digest), "%s", m->digest);
    } else if (type == MESSAGE_RESULT) {
        world.results++;
    } else {
        return;
    }
    if (n + 1 < sizeof(world.order))
        world.order[n] = type == MESSAGE_EVENT ? 'E' : type == MESSAGE_RESULT ? 'R' : 'P';
}

static inline void world_run(void *arg, const struct core_run *run)
{
    (void)arg;
    world.runs++;
    world.run = run->id;
}

static inline void world_probe(void *arg, const struct core_look *look)
{
    (void)arg;
    world.probe = look->id;
}

static inline void world_adopt(void *arg, const struct core_adopt *a)
{
    (void)arg;
    (void)a;
}

static inline void world_end_run(void *arg, uint64_t id)
{
    (void)arg;
    (void)id;
}

static inline void world_watch(void *arg, struct core_ident ident)
{
    (void)arg;
    (void)ident;
}

static inline void world_signal(void *arg, struct core_ident ident, int number, bool with_children)
{
    (void)arg;
    (void)ident;
    (void)number;
    (void)with_children;
}

static const struct core_effects world_effects = {
    .journal = world_journal,
    .send = world_send,
    .run = world_run,
    .adopt = world_adopt,
    .end_run = world_end_run,
    .probe = world_probe,
    .watch = world_watch,
    .signal = world_signal,
};

/* A new agent reads what the one before has written. */
static inline void world_replay(void)
{
    struct err err;

    core_free(world.core);
    world.core = core_new(&world_effects, NULL, world.now_ms, world.wall_ms);
    if (world.events_max)
        core_set_events_max(world.core, world.events_max);
    for (size_t i = 0, n = world.n_records; i < n; i++) {
        const struct buf *json = &world.records[i].json;

        if (core_replay(world.core, world.records[i].type, buf_data(json), json->len, &err))
            fail_msg("%s", err.text);
    }
}

static inline void world_begin(bool same_boot)
{
    world_replay();
    core_start(world.core, same_boot, world.now_ms, world.wall_ms);
    world.n_sent = 0;
}

static inline void world_drop_records(size_t keep)
{
    while (world.n_records > keep)
        buf_free(&world.records[--world.n_records].json);
}

static inline void world_compact(void)
{
    world_drop_records(0);
    core_compact(world.core);
}

static inline void world_welcome(void)
{
    const struct message_welcome m = { .version = 1, .epoch = 1, .server_ms = world.now_ms };

    core_on_link(world.core, true, world.now_ms);
    core_on_message(world.core, MESSAGE_WELCOME, &m, world.now_ms);
}

static inline void world_pass_ms(int64_t ms)
{
    world.now_ms += ms;
    world.wall_ms += ms;
    core_on_time(world.core, world.now_ms, world.wall_ms);
    core_tell_now(world.core);
}

static inline int world_set_up(void **state)
{
    (void)state;
    memset(&world, 0, sizeof(world));
    world.now_ms = 1000;
    world.wall_ms = 5000;
    world_begin(true);
    return 0;
}

static inline int world_tear_down(void **state)
{
    (void)state;
    core_free(world.core);
    world_drop_records(0);
    return 0;
}

#define WORLD_TEST(name) cmocka_unit_test_setup_teardown(name, world_set_up, world_tear_down)

#endif
