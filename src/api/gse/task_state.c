/* SPDX-License-Identifier: MIT */
/* task_state.c - GSE's get_task_state: the agents of a task by their state.
 *
 * An agent with several items has the worst of their states.  A requested agent without any item
 * counts as failed: it will never have a result. */
#include <string.h>

#include "api/pipeline/api_state.h"
#include "api/pipeline/call.h"
#include "api/pipeline/handlers.h"
#include "api/pipeline/task_scope.h"
#include "model/agent_info.h"
#include "server/dispatch/task_key.h"

/* From best to worst. */
enum verdict { NO_VERDICT, DONE, OFFLINE, TIMED_OUT, FAILED, PENDING, VERDICTS };

struct party { /* an agent of the task */
    const char *id;
    enum verdict verdict;
};

struct tally {
    struct call *call;
    struct map by_name; /* struct party by agent id and by the caller's spelling */
    struct party *parties;
    size_t n;
    struct list lists[VERDICTS]; /* struct agent_ref */
};

static enum verdict verdict_of(int64_t code)
{
    if (code == CODE_OK)
        return DONE;
    if (code == CODE_WAITING)
        return PENDING;
    if (code == CODE_OFFLINE)
        return OFFLINE;
    return code == CODE_DEADLINE || code == CODE_TIMEOUT ? TIMED_OUT : FAILED;
}

/* ---- agents of the task */

/* The part of a key before ":namespace:name"; NULL: the key has another form. */
static const char *spelled_in(const struct tally *t, const struct task_item *item)
{
    size_t space = strlen(item->space), tail = space + strlen(item->name) + 2;
    const char *at = item->key, *end;
    struct task_name key;

    task_key_next(&at, t->call->arena, &key);
    end = key.text + (key.n > tail ? key.n - tail : 0);
    if (key.n <= tail || *end != ':' || strncmp(end + 1, item->space, space) != 0)
        return NULL;
    return arena_memdup(t->call->arena, key.text, (size_t)(end - key.text));
}

static struct party *party_get(struct tally *t, const char *agent, const char *spelled)
{
    const char *id = agent ? agent : spelled;
    struct party *p = map_find_str(&t->by_name, id);

    if (!p) {
        p = &t->parties[t->n++];
        p->id = id;
        map_put_str(&t->by_name, id, p);
    }
    if (spelled && !map_find_str(&t->by_name, spelled))
        map_put_str(&t->by_name, spelled, p);
    return p;
}

static void add_item(struct tally *t, const struct task_item *item)
{
    const char *agent = item->agent && *item->agent ? item->agent : NULL;
    const char *spelled = spelled_in(t, item);
    enum verdict v = verdict_of(item->code);
    struct party *p;

    if (!agent && !spelled)
        return;
    p = party_get(t, agent, spelled);
    if (v > p->verdict)
        p->verdict = v;
}

/* ---- agents of the request */

static void add_agent(struct tally *t, const char *id, enum verdict v)
{
    struct agent_ref *refs = t->lists[v].items;

    refs[t->lists[v].n++].id = id;
}

static const struct party *find_party(const struct tally *t, const char *id)
{
    const struct party *p = map_find_str(&t->by_name, id);
    const struct fleet_host *h = p ? NULL : fleet_find(t->call->api->parts.fleet, id);

    return h ? map_find_str(&t->by_name, h->agent_id) : p;
}

static void add_asked(struct tally *t, const struct list *asked)
{
    const struct agent_ref *refs = asked->items;
    struct map seen = { 0 };

    for (size_t i = 0; i < asked->n; i++) {
        const struct party *p = find_party(t, refs[i].id);

        if (!map_put_str(&seen, refs[i].id, t))
            add_agent(t, refs[i].id, p ? p->verdict : FAILED);
    }
    map_free(&seen);
}

static void add_every_party(struct tally *t)
{
    for (size_t i = 0; i < t->n; i++)
        add_agent(t, t->parties[i].id, t->parties[i].verdict);
}

/* ---- the answer */

static const char *state_of(const struct tally *t)
{
    const struct list *l = t->lists;
    size_t ended = l[DONE].n + l[OFFLINE].n + l[TIMED_OUT].n + l[FAILED].n;

    if (l[PENDING].n)
        return ended ? "executing" : "pending";
    if (l[FAILED].n || l[OFFLINE].n)
        return "failed";
    return l[TIMED_OUT].n ? "timeout" : "successed";
}

static struct task_state_view view_of(const struct tally *t)
{
    return (struct task_state_view){ {
        .state = state_of(t),
        .done = t->lists[DONE],
        .timed_out = t->lists[TIMED_OUT],
        .failed = t->lists[FAILED],
        .pending = t->lists[PENDING],
        .offline = t->lists[OFFLINE],
    } };
}

static void task_state_on_task(struct call *c, const struct task_info *task)
{
    const struct task_state_ask *ask = c->ask;
    size_t most = ask->agents.n ? ask->agents.n : task->n;
    struct tally t = { .call = c };
    struct task_state_view view;

    t.parties = arena_alloc(c->arena, task->n * sizeof(*t.parties));
    for (int v = 0; v < VERDICTS; v++)
        t.lists[v].items = arena_alloc(c->arena, most * sizeof(struct agent_ref));
    for (size_t i = 0; i < task->n; i++) {
        const struct task_item item = task_item(task, i);

        add_item(&t, &item);
    }
    if (ask->agents.n)
        add_asked(&t, &ask->agents);
    else
        add_every_party(&t);
    map_free(&t.by_name);
    view = view_of(&t);
    call_finish(c, &task_state_view_shape, &view);
}

void task_state_get(struct call *c)
{
    const struct task_state_ask *ask = c->ask;

    task_scope_read(c, ask->task_id, task_state_on_task);
}
