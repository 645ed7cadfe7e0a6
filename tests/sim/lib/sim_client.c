/* SPDX-License-Identifier: MIT */
/* sim_client.c - a client that requests, polls and cancels. */
#include "base/mem/mem.h"
#include "model/operation.h"
#include "tests/sim/lib/sim_in.h"

enum { TASKS_MAX = 4096, DEADLINE_MS = 45000, RECENT = 8 };

/* On some hosts processes start one after the other, by priority or by name. */
static void order_spec(int host, int key, struct proc_extra *extra)
{
    static struct proc_word first[] = { { "p0" }, { "p1" }, { "nobody" } };

    if (host % 2)
        extra->priority = -key;
    if (key == 2 && host % 3)
        extra->after = (struct list){ first, ARRAY_LEN(first) };
}

/* Some specs stop by a command and some by a signal; some restart in two steps. */
static void make_spec(int host, int key, struct proc_spec *ret)
{
    static const char *const pid_paths[KEYS] = { "/srv/0.pid", "/srv/1.pid", "/srv/2.pid" };

    shape_defaults(&proc_spec_shape, ret);
    ret->identity = (struct proc_identity){ "", "daemon", "/srv", pid_paths[key], "", "", "root" };
    ret->control.start_cmd = "start";
    ret->control.stop_cmd = key == 1 ? "" : "stop";
    ret->control.restart_cmd = (host + key) % 2 ? "restart" : "";
    ret->control.reload_cmd = "reload";
    ret->has_identity = ret->has_control = ret->has_policy = PRESENCE_GIVEN;
    ret->policy.start_check_s = 1 + key;
    ret->policy.stop_check_s = 2;
    ret->policy.op_timeout_s = 8;
    ret->policy.start_interval_s = 3;
    ret->policy.has_start_check = ret->policy.has_stop_check = PRESENCE_GIVEN;
    ret->policy.has_timeout = ret->policy.has_interval = PRESENCE_GIVEN;
    order_spec(host, key, &ret->extra);
}

void client_specs(struct sim *s)
{
    for (int host = 0; host < s->world.agents; host++) {
        for (int key = 0; key < KEYS; key++) {
            struct proc_spec *spec = &s->specs[host][key];

            make_spec(host, key, spec);
            sim_limit_spec(s, key, spec);
            sim_ready_spec(s, key, spec);
        }
    }
}

/* Every operation, those that start and stop more often than the others. */
static int64_t some_op(struct sim *s)
{
    static const uint8_t more[PROC_OP_END] = {
        [PROC_OP_START] = 2, [PROC_OP_STOP] = 1, [PROC_OP_RESTART] = 1
    };
    int64_t ops[4 * PROC_OP_END];
    size_t n = 0;

    for (const struct enum_name *e = operation_names; e->name; e++) {
        for (int i = 0; i <= more[e->value]; i++)
            ops[n++] = e->value;
    }
    return ops[sim_below(s, n)];
}

/* Sometimes for an unknown host. */
static struct sim_item make_item(struct sim *s, int64_t deadline_ms)
{
    struct sim_item item = { .deadline_ms = deadline_ms,
                             .code = CODE_WAITING,
                             .shown = CODE_WAITING };

    item.host = sim_below(s, 50) ? (int)sim_below(s, (uint64_t)s->world.agents) : -1;
    item.key = (int)sim_below(s, KEYS);
    item.op = some_op(s);
    return item;
}

static struct sim_task *new_task(struct sim *s, int n)
{
    struct sim_task *t;

    if ((s->n_tasks & (s->n_tasks - 1)) == 0)
        s->tasks = xresize(s->tasks, (s->n_tasks ? (size_t)s->n_tasks * 2 : 1) * sizeof(*s->tasks));
    t = &s->tasks[s->n_tasks++];
    *t = (struct sim_task){ .items = xalloc((size_t)n * sizeof(*t->items)), .n = n };
    snprintf(t->id, sizeof(t->id), "GSETASK:S:%d", s->n_tasks);
    s->report.counts[SIM_TASKS]++;
    s->report.counts[SIM_ITEMS] += n;
    return t;
}

static void send_task(struct sim *s, struct sim_task *t)
{
    for (int i = 0; i < t->n; i++)
        t->items[i].task = (int)(t - s->tasks);
    sim_trace(s, "ask: task %s, %d items, first: op %lld on host %d p%d", t->id, t->n,
              (long long)t->items[0].op, t->items[0].host, t->items[0].key);
    server_operate(s, (int)(t - s->tasks));
}

/* In some tasks the last item repeats the first. */
static void ask(struct sim *s)
{
    int n = 1 + (int)sim_below(s, (uint64_t)s->world.items_max);
    int64_t deadline_ms =
        s->now_ms + (sim_below(s, 3) ? DEADLINE_MS : 2000 + (int64_t)sim_below(s, DEADLINE_MS));
    struct sim_task *t = new_task(s, n);

    for (int i = 0; i < n; i++)
        t->items[i] = make_item(s, deadline_ms);
    if (n > 1 && sim_below(s, 5) == 0)
        t->items[n - 1] = t->items[0];
    send_task(s, t);
}

void client_ask_all(struct sim *s)
{
    int n = s->world.agents * KEYS;
    struct sim_task *t = new_task(s, n);

    for (int i = 0; i < n; i++)
        t->items[i] = (struct sim_item){ .host = i / KEYS,
                                         .key = i % KEYS,
                                         .op = PROC_OP_START,
                                         .deadline_ms = s->now_ms + DEADLINE_MS / 2,
                                         .code = CODE_WAITING,
                                         .shown = CODE_WAITING };
    send_task(s, t);
}

/* A random one of the last tasks; -1: it was not accepted. */
static int some_task(struct sim *s, uint64_t of)
{
    int n = s->n_tasks - 1 - (int)sim_below(s, of);

    return n >= 0 && s->tasks[n].is_accepted ? n : -1;
}

static void poll_some(struct sim *s)
{
    int recent = some_task(s, RECENT), any = some_task(s, (uint64_t)s->n_tasks + 1);

    if (recent >= 0)
        check_poll(s, &s->tasks[recent]);
    if (any >= 0)
        check_poll(s, &s->tasks[any]);
}

static void cancel_some(struct sim *s)
{
    int n = some_task(s, RECENT / 2);

    if (n < 0)
        return;
    s->report.counts[SIM_CANCELS]++;
    store_put_cancel(s, n);
}

/* Tasks that have not ended must stay in memory. */
static void forget_some(struct sim *s)
{
    int n = some_task(s, RECENT);
    size_t found;

    if (n < 0 || !hub_find(s->hub, s->tasks[n].id, &found))
        return;
    hub_forget(s->hub, s->tasks[n].id);
    s->report.counts[SIM_FORGOTTEN] += !hub_find(s->hub, s->tasks[n].id, &found);
    check_poll(s, &s->tasks[n]);
    server_wake(s);
}

void client_request(struct sim *s)
{
    if (!s->hub)
        return;
    if (s->n_tasks < TASKS_MAX)
        ask(s);
    poll_some(s);
    if (sim_chance(s, 15))
        cancel_some(s);
    if (s->world.has[TRAIT_FORGETS])
        forget_some(s);
}
