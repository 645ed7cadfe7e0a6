/* SPDX-License-Identifier: MIT */
/* sim_server.c - the server: sessions, effects of the hub. */
#include <stdlib.h>
#include <string.h>

#include "base/mem/arena.h"
#include "base/mem/mem.h"
#include "tests/sim/lib/sim_in.h"

static void on_server_wake(void *arg)
{
    struct sim *s = arg;

    if (s->hub) {
        hub_on_time(s->hub, s->now_ms);
        server_wake(s);
    }
}

void server_wake(struct sim *s)
{
    int64_t next = hub_next_ms(s->hub);

    if (next == INT64_MAX)
        timers_stop(&s->timers, &s->server_wake);
    else
        timers_set(&s->timers, &s->server_wake, next > s->now_ms ? next : s->now_ms);
}

/* ---- the hub's effects */

static void effects_store_task(void *arg, const struct hub_task *task)
{
    struct sim *s = arg;
    struct sim_task *t = check_find(s, task->id);
    const struct hub_item *items = task->items.items;

    check_task(s, t, task);
    for (int i = 0; i < t->n; i++)
        t->items[i].code = items[i].code;
    store_put_task(s, (int)(t - s->tasks));
}

static void effects_store_result(void *arg, const char *task, int64_t item,
                                 const struct message_result *result)
{
    struct sim *s = arg;
    struct sim_task *t = check_find(s, task);

    check_result(s, t, item, result->code);
    t->items[item].ended_life = s->server_life;
    store_put_result(s, (int)(t - s->tasks), item, result->code);
}

static void effects_send(void *arg, const char *agent, int64_t epoch, unsigned type,
                         const struct shape *shape, const void *message)
{
    struct sim *s = arg;

    if (type == MESSAGE_COMMAND) {
        const struct message_command *m = message;
        struct sim_task *t = check_find(s, m->task);

        check_turn(s, t, m->item);
        t->items[m->item].was_sent = true;
    }
    net_to_agent(s, agent[strlen("agent-")] - '0', epoch, type, shape, message);
}

/* In worlds with little buffer space each agent stops reading at times. */
static bool effects_is_full(void *arg, const char *agent, int64_t epoch)
{
    const struct sim *s = arg;

    (void)epoch;
    return s->world.has[TRAIT_TIGHT] && (s->now_ms / 128 + agent[strlen("agent-")] - '0') % 4 == 0;
}

static const struct hub_effects effects = { effects_store_task, effects_store_result, effects_send,
                                            effects_is_full };

/* ---- tasks */

/* All items for one process have the same spec, so that they can be twins. */
static struct hub_item *make_items(struct sim *s, const struct sim_task *t, struct arena *a)
{
    static const char *const names[KEYS] = { "p0", "p1", "p2" };
    struct hub_item *items = arena_alloc(a, (size_t)t->n * sizeof(*items));

    for (int i = 0; i < t->n; i++) {
        const struct sim_item *item = &t->items[i];

        items[i] = (struct hub_item){
            .agent = item->host < 0 ? NULL : s->hosts[item->host].id,
            .key = names[item->key],
            .op = item->op,
            .meta = { "space", names[item->key], { 0 } },
            .deadline_ms = item->deadline_ms,
            .code = item->code,
            .text = "",
            .was_sent = item->was_sent,
            .spec = &s->specs[item->host < 0 ? 0 : item->host][item->key],
        };
    }
    return items;
}

static struct hub_task make_task(struct sim *s, const struct sim_task *t, struct arena *a)
{
    static const char *const apps[] = { "one", "two", "three" };

    return (struct hub_task){ .id = t->id,
                              .items = { make_items(s, t, a), (size_t)t->n },
                              .is_cancelled = t->is_cancelled,
                              .app = apps[(size_t)t->n % ARRAY_LEN(apps)] };
}

void server_operate(struct sim *s, int task)
{
    struct arena a = { 0 };
    struct hub_task asked = make_task(s, &s->tasks[task], &a);

    hub_operate(s->hub, &asked, s->now_ms);
    arena_free(&a);
    server_wake(s);
}

static bool is_open(const struct sim_task *t)
{
    for (int i = 0; i < t->n; i++) {
        if (t->items[i].code == CODE_WAITING)
            return t->is_stored;
    }
    return false;
}

static void load(struct sim *s, const struct sim_task *t)
{
    struct arena a = { 0 };
    struct hub_task stored = make_task(s, t, &a);

    hub_load(s->hub, &stored, s->now_ms);
    arena_free(&a);
}

/* ---- life cycle */

void server_start(struct sim *s)
{
    s->server_life++;
    s->server_up_ms = s->now_ms;
    for (int i = 0; i < s->world.agents; i++)
        s->away_ms[i] = s->now_ms + HUB_GRACE_MS;
    s->hub = hub_new(&effects, s, s->now_ms);
    if (s->world.has[TRAIT_TIGHT])
        hub_set_limits(s->hub, &(struct hub_limits){ s->world.per_agent, s->world.total });
    timer_init(&s->server_wake, on_server_wake, s);
    sim_trace(s, "server up");
    for (int i = 0; i < s->n_tasks; i++) {
        if (is_open(&s->tasks[i]))
            load(s, &s->tasks[i]);
    }
    server_wake(s);
}

void server_kill(struct sim *s)
{
    sim_trace(s, "server killed");
    s->report.counts[SIM_SERVER_KILLS]++;
    hub_free(s->hub);
    s->hub = NULL;
    s->server_life++;
    timers_stop(&s->timers, &s->server_wake);
    memset(s->sessions, 0, sizeof(s->sessions));
    for (int i = 0; i < s->world.agents; i++)
        host_disconnect(&s->hosts[i]);
}

/* ---- sessions */

void server_arrival(struct sim *s, int host)
{
    if (!s->sessions[host] && s->away_ms[host] < s->now_ms + HUB_OFFLINE_MS)
        s->away_ms[host] = s->now_ms + HUB_OFFLINE_MS;
    hub_on_arrival(s->hub, s->hosts[host].id, s->now_ms);
    server_wake(s);
}

void server_session(struct sim *s, int host, int64_t epoch)
{
    s->sessions[host] = epoch;
    s->away_ms[host] = INT64_MAX;
    net_welcome(s, host, epoch);
    sim_events_session(s, host, epoch);
    hub_on_session(s->hub, s->hosts[host].id, epoch, s->now_ms);
    server_wake(s);
}

void server_session_end(struct sim *s, int host, int64_t epoch)
{
    if (!s->hub)
        return;
    if (s->sessions[host] == epoch) {
        s->sessions[host] = 0;
        s->away_ms[host] = s->now_ms + HUB_OFFLINE_MS;
    }
    hub_on_session_end(s->hub, s->hosts[host].id, epoch, s->now_ms);
    server_wake(s);
}

/* ---- messages of agents */

static void on_event(struct sim *s, int host, int64_t epoch, const struct message_event *m)
{
    struct message_event_ref ref;

    if (sim_events_heard(s, host, epoch, m, &ref.id))
        net_to_agent(s, host, epoch, MESSAGE_EVENT_STORED, &message_event_ref_shape, &ref);
}

void server_deliver(struct sim *s, int host, int64_t epoch, unsigned type, const char *json)
{
    const struct shape *shape = message_shape(type);
    struct arena a = { 0 };
    void *message = arena_alloc(&a, shape->size);
    struct err err;

    if (shape_read(shape, json, strlen(json), 0, &a, message, &err))
        sim_fail(s, "the server can not read a %s: %s", message_name(type), err.text);
    else if (s->hub && type == MESSAGE_EVENT)
        on_event(s, host, epoch, message);
    else if (s->hub)
        hub_on_message(s->hub, s->hosts[host].id, epoch, type, message, s->now_ms);
    arena_free(&a);
    if (s->hub)
        server_wake(s);
}
