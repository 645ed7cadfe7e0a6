/* SPDX-License-Identifier: MIT */
/* hub_world.h - a hub whose store and agents are played by the test: what they are told is
 * written down. */
#ifndef TESTS_SERVER_HUB_WORLD_H
#define TESTS_SERVER_HUB_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem/buf.h"
#include "base/mem/mem.h"
#include "server/dispatch/hub.h"

enum { BEGIN_MS = 1000, DEADLINE_MS = BEGIN_MS + 60 * 1000 };

struct world {
    struct hub *hub;
    struct proc_spec spec;
    struct hub_item item; /* a start of p by a, and the task T of it alone */
    struct hub_task task;
    struct buf sent; /* "A0 A1 B0": the tasks' ids and the items' numbers, as they went */
    int n_sent, cancels, stored;
    int64_t code; /* of the result that was stored last */
    bool is_full; /* too much waits to be sent to agents */
    bool is_here; /* they are connected */
};

static inline void world_on_task(void *arg, const struct hub_task *task)
{
    (void)arg;
    (void)task;
}

static inline void world_on_result(void *arg, const char *task, int64_t item,
                                   const struct message_result *result)
{
    struct world *w = arg;

    (void)task;
    (void)item;
    w->stored++;
    w->code = result->code;
}

static inline void world_on_send(void *arg, const char *agent, int64_t epoch, unsigned type,
                                 const struct shape *s, const void *message)
{
    struct world *w = arg;
    const struct message_command *m = message;

    (void)agent;
    (void)epoch;
    (void)s;
    w->cancels += type == MESSAGE_CANCEL;
    if (type != MESSAGE_COMMAND)
        return;
    w->n_sent++;
    buf_printf(&w->sent, "%s%s%lld", w->sent.len ? " " : "", m->task, (long long)m->item);
}

static inline bool world_is_full(void *arg, const char *agent, int64_t epoch)
{
    const struct world *w = arg;

    (void)agent;
    (void)epoch;
    return w->is_full;
}

static inline bool world_is_here(void *arg, const char *agent)
{
    const struct world *w = arg;

    (void)agent;
    return w->is_here;
}

static const struct hub_effects world_effects = { world_on_task, world_on_result, world_on_send,
                                                  world_is_full, world_is_here };

/* A start of the process `name` that waits. */
static inline struct hub_item world_item(const struct world *w, const char *agent, const char *name)
{
    return (struct hub_item){ .agent = agent,
                              .key = "key",
                              .op = PROC_OP_START,
                              .meta = { .space = "gse", .name = name },
                              .spec = &w->spec,
                              .deadline_ms = DEADLINE_MS,
                              .code = CODE_WAITING,
                              .text = "" };
}

static inline int world_setup(void **state)
{
    struct world *w = xalloc(sizeof(*w));

    w->hub = hub_new(&world_effects, w, BEGIN_MS);
    shape_defaults(&proc_spec_shape, &w->spec);
    w->item = world_item(w, "a", "p");
    w->task = (struct hub_task){ "T", { &w->item, 1 } };
    *state = w;
    return 0;
}

static inline int world_teardown(void **state)
{
    struct world *w = *state;

    hub_free(w->hub);
    buf_free(&w->sent);
    free(w);
    return 0;
}

#define HUB_TEST(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)

/* What the agent says came of it. */
static inline void world_say_result(struct world *w, const char *agent, int64_t epoch,
                                    const char *task, int64_t item, int64_t code, int64_t now_ms)
{
    struct message_result m = { .task = task, .item = item, .code = code, .text = "text" };

    shape_defaults(&proc_view_shape, &m.view);
    m.view.space = "gse";
    m.view.name = "p";
    hub_on_message(w->hub, agent, epoch, MESSAGE_RESULT, &m, now_ms);
}

#endif
