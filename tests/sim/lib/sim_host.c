/* SPDX-License-Identifier: MIT */
/* sim_host.c - the agent on a host: its effects, link and life. */
#include "tests/sim/lib/sim_host.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem/arena.h"
#include "tests/sim/lib/sim_in.h"

/* ---- the agent's effects */

static void effects_send(void *arg, unsigned type, const struct shape *shape, const void *message)
{
    struct host *h = arg;

    if (type == MESSAGE_RESULT) {
        check_said(h->sim, message);
        sim_results_told(h, message);
    }
    net_to_server(h, type, shape, message);
}

static void on_run_begun(struct event *e)
{
    struct host *h = &e->sim->hosts[e->host];
    const struct core_began began = { .ident = { e->a, e->b } };

    core_on_run(h->core, (uint64_t)e->c, &began, NULL, e->sim->now_ms);
    host_wake(h);
}

/* The journal has the start of a command, but the command's own start is never reported. */
static void on_killed_at_once(struct event *e)
{
    sim_kill_agent(&e->sim->hosts[e->host], false);
}

static void on_run_refused(struct event *e)
{
    struct host *h = &e->sim->hosts[e->host];
    const struct core_began began = { 0 };
    struct err failure;

    err_set(&failure, CODE_SYSTEM, "not run: the journal can not be written");
    core_on_run(h->core, (uint64_t)e->a, &began, &failure, e->sim->now_ms);
    host_wake(h);
}

static void effects_run(void *arg, const struct core_run *run)
{
    struct host *h = arg;
    struct process *p;
    struct event *e;

    if (*run->task && h->disk.is_broken) { /* as in agent_run.c */
        sim_later(h->sim, 0, h->n, h->life, on_run_refused)->a = (int64_t)run->id;
        return;
    }
    p = process_new(h, run->name[1] - '0');
    sim_trace(h->sim, "host %d: runs %s for %s as %lld (task %s)", h->n, run->line, run->name,
              (long long)p->pid, run->task);
    check_run(h, run);
    sim_wanted_run(h, run);
    sim_restart_run(h, run);
    p->run = run->id;
    p->run_life = h->life;
    p->unjournaled = process_unjournaled(h, p->key);
    if (sim_chance(h->sim, 2))
        sim_later(h->sim, 0, h->n, h->life, on_killed_at_once);
    e = sim_later(h->sim, 0, h->n, h->life, on_run_begun);
    e->a = p->pid;
    e->b = p->ticks;
    e->c = (int64_t)run->id;
    process_carry_out(h, p, run->line);
}

/* The exit status of a process that has ended. */
static int status_of_gone(struct host *h, struct core_ident ident)
{
    struct process *p = process_find(h, ident.pid);

    return p && p->is_zombie && p->ticks == ident.start_ticks ? p->status : CORE_STATUS_UNKNOWN;
}

/* The exit is reported for a child, or if the kernel tells it; otherwise it stays unknown. */
static void effects_adopt(void *arg, const struct core_adopt *a)
{
    struct host *h = arg;
    struct process *p = process_find(h, a->ident.pid);

    if (p && p->is_alive && p->ticks == a->ident.start_ticks) {
        p->run = a->id;
        p->run_life = h->life;
        p->is_strange = !h->is_parent && sim_chance(h->sim, 50);
    } else {
        process_tell_run_end(h, a->id, status_of_gone(h, a->ident));
    }
}

static void effects_end_run(void *arg, uint64_t id)
{
    struct host *h = arg;

    for (size_t i = 0; i < h->n_procs; i++) {
        struct process *p = &h->procs[i];

        if (p->is_alive && p->run == id && p->run_life == h->life && !p->is_daemon)
            process_die(h, p, CORE_SIGNALED + SIGKILL);
    }
}

static struct process *living_daemon(struct host *h, int64_t pid, int key)
{
    struct process *p = process_find(h, pid);

    return p && p->is_alive && p->is_daemon && p->key == key ? p : NULL;
}

/* As in find.c: the known pid, the pid file, then a search. */
static struct process *look_for(struct host *h, const struct core_look *look, int key)
{
    struct process *p = living_daemon(h, look->self.pid ? look->self.pid : look->known.pid, key);

    if (!p && look->self.pid)
        p = family_helper(h, look->self.pid);
    if (p && look->self.pid)
        h->pid_file[key] = p->pid;
    if (p || look->self.pid)
        return p;
    p = living_daemon(h, h->pid_file[key], key);
    if (!p && !look->by_pid_file && (!h->pid_file[key] || look->is_doubtful))
        p = process_daemon(h, key);
    return p;
}

static void on_probe(struct event *e)
{
    struct host *h = &e->sim->hosts[e->host];
    struct process *p = look_for(h, &e->look, (int)e->b);
    struct core_probe probe = { .question = e->look.question, .why = "no process" };

    shape_defaults(&proc_view_shape, &probe.view);
    if (p) {
        probe.found = FOUND_IT;
        probe.ident = (struct core_ident){ p->pid, p->ticks };
    }
    core_on_probe(h->core, e->look.id, &probe, e->sim->now_ms);
    host_wake(h);
}

static void effects_probe(void *arg, const struct core_look *look)
{
    struct host *h = arg;
    struct event *e =
        sim_later(h->sim, 1 + (int64_t)sim_below(h->sim, 10), h->n, h->life, on_probe);

    e->b = look->name[1] - '0';
    e->look = *look;
}

static void effects_watch(void *arg, struct core_ident ident)
{
    struct host *h = arg;
    struct process *p = process_find(h, ident.pid);
    struct process gone = { .pid = ident.pid, .ticks = ident.start_ticks };

    if (p && p->is_alive && p->ticks == ident.start_ticks)
        p->is_watched = true;
    else
        process_tell_exit(h, &gone, status_of_gone(h, ident));
}

static void effects_signal(void *arg, struct core_ident ident, int number, bool with_children)
{
    struct host *h = arg;
    struct process *p = process_find(h, ident.pid);

    (void)with_children;
    if (!p || p->ticks != ident.start_ticks)
        return;
    if (number == SIGKILL)
        process_die_later(h, p, 1, CORE_SIGNALED + SIGKILL);
    else if (h->sim->is_calm || sim_below(h->sim, 100) < 85)
        process_die_later(h, p, 1 + (int64_t)sim_below(h->sim, 1000), CORE_SIGNALED + SIGTERM);
}

static int effects_deliver(void *arg, struct core_ident ident, int number, struct err *err)
{
    struct host *h = arg;
    struct process *p = process_find(h, ident.pid);

    if (!p || p->ticks != ident.start_ticks)
        return err_set(err, ERR_NOT_FOUND, "the process has ended");
    effects_signal(arg, ident, number, false);
    return 0;
}

static void effects_unexpected(void *arg, const char *state, const char *event)
{
    const struct host *h = arg;

    sim_fail(h->sim, "host %d: %s in %s, which the tables of the core do not have", h->n, event,
             state);
}

static const struct core_effects effects = {
    .journal = disk_put,
    .send = effects_send,
    .run = effects_run,
    .adopt = effects_adopt,
    .end_run = effects_end_run,
    .probe = effects_probe,
    .watch = effects_watch,
    .signal = effects_signal,
    .deliver = effects_deliver,
    .sample = sim_hand_sample,
    .has_family = family_has,
    .family = family_ask,
    .is_alive = family_is_alive,
    .unexpected = effects_unexpected,
};

/* ---- life cycle */

static void on_wake(void *arg)
{
    struct host *h = arg;

    if (!h->core)
        return;
    core_on_time(h->core, h->sim->now_ms, h->sim->now_ms + h->wall_jump_ms);
    host_wake(h);
}

void host_wake(struct host *h)
{
    const char *fault;
    int64_t next;

    core_tell_now(h->core);
    fault = core_find_fault(h->core);
    if (fault)
        sim_fail(h->sim, "host %d: %s", h->n, fault);
    next = core_next_ms(h->core);
    if (next == INT64_MAX)
        timers_stop(&h->sim->timers, &h->wake);
    else
        timers_set(&h->sim->timers, &h->wake, next > h->sim->now_ms ? next : h->sim->now_ms);
}

void host_deliver(struct host *h, unsigned type, const char *json)
{
    const struct shape *shape = message_shape(type);
    struct arena a = { 0 };
    void *message = arena_alloc(&a, shape->size);
    struct err err;

    if (shape_read(shape, json, strlen(json), 0, &a, message, &err))
        sim_fail(h->sim, "the agent can not read a %s: %s", message_name(type), err.text);
    else
        core_on_message(h->core, type, message, h->sim->now_ms);
    if (type == MESSAGE_WELCOME)
        sim_results_session(h);
    if (type == MESSAGE_EVENT_STORED)
        sim_events_told_anew(h->sim, h->n);
    arena_free(&a);
    host_wake(h);
}

static void on_connect(struct event *e)
{
    host_connect(&e->sim->hosts[e->host]);
}

static void on_session(struct event *e)
{
    if (e->sim->hosts[e->host].link == (uint64_t)e->a)
        server_session(e->sim, e->host, e->a);
}

void host_connect(struct host *h)
{
    struct sim *s = h->sim;

    if (!h->core || h->link)
        return;
    if (!s->hub || h->hole_until_ms > s->now_ms) {
        sim_later(s, 500 + (int64_t)sim_below(s, 1500), h->n, h->life, on_connect);
        return;
    }
    h->link = (uint64_t)++s->epochs[h->n];
    sim_trace(s, "host %d: connected, epoch %llu", h->n, (unsigned long long)h->link);
    core_on_link(h->core, true, s->now_ms);
    if (s->world.has[TRAIT_ARRIVALS]) { /* a claim may take longer than the time until the agent
                                           counts as offline */
        uint64_t most_ms = s->is_calm ? HUB_OFFLINE_MS / 2 : HUB_OFFLINE_MS + 2000;

        server_arrival(s, h->n);
        sim_later(s, (int64_t)sim_below(s, most_ms), h->n, h->life, on_session)->a =
            (int64_t)h->link;
    } else {
        server_session(s, h->n, (int64_t)h->link);
    }
    host_wake(h);
}

static void on_session_end(struct event *e)
{
    server_session_end(e->sim, e->host, e->a);
}

/* The server may notice later than the agent. */
void host_disconnect(struct host *h)
{
    struct sim *s = h->sim;

    if (!h->link)
        return;
    sim_trace(s, "host %d: disconnected", h->n);
    sim_later(s, (int64_t)sim_below(s, 3000), h->n, 0, on_session_end)->a = (int64_t)h->link;
    h->link = 0;
    if (!h->core)
        return;
    core_on_link(h->core, false, s->now_ms);
    sim_later(s, 200 + (int64_t)sim_below(s, s->world.has[TRAIT_STORMS] ? 1 : 3000), h->n, h->life,
              on_connect);
    host_wake(h);
}

void host_start(struct host *h)
{
    struct sim *s = h->sim;

    bool same_boot = h->disk.boot == h->boot + 1; /* 0: there is no journal */

    h->life++;
    timer_init(&h->wake, on_wake, h);
    h->core = core_new(&effects, h, s->now_ms, s->now_ms + h->wall_jump_ms);
    core_set_events_max(h->core, s->world.events_max);
    sim_limit_host(h);
    if (h->n % 2)
        core_set_at_once(h->core, 2); /* so that operations wait for each other */
    sim_trace(s, "host %d: agent up, %zu records, %s boot", h->n, h->disk.n,
              same_boot ? "same" : "new");
    disk_replay(h);
    core_start(h->core, same_boot, s->now_ms, s->now_ms + h->wall_jump_ms);
    disk_start(h);
    sim_later(s, 100 + (int64_t)sim_below(s, 1000), h->n, h->life, on_connect);
    host_wake(h);
}

/* All processes are gone. */
static void lose_power(struct host *h)
{
    h->sim->report.counts[SIM_POWER_LOSSES]++;
    for (size_t i = 0; i < h->n_procs; i++)
        h->procs[i].is_alive = false;
    h->boot++;
}

static void end_agent(struct host *h, bool stays_parent, bool power_loss)
{
    core_free(h->core);
    h->core = NULL;
    h->is_parent = stays_parent;
    timers_stop(&h->sim->timers, &h->wake);
    host_disconnect(h);
    disk_end(h, power_loss);
    h->life++;
    for (size_t i = 0; i < h->n_procs; i++)
        h->procs[i].is_watched = h->procs[i].is_zombie = false;
}

void host_upgrade(struct host *h)
{
    sim_trace(h->sim, "host %d: agent replaced", h->n);
    h->sim->report.counts[SIM_UPGRADES]++;
    end_agent(h, true, false);
}

void host_kill(struct host *h, bool power_loss)
{
    struct sim *s = h->sim;

    sim_trace(s, "host %d: %s", h->n, power_loss ? "power lost" : "agent killed");
    s->report.counts[SIM_AGENT_KILLS]++;
    end_agent(h, false, power_loss);
    if (power_loss)
        sim_restart_forget(h);
    if (power_loss)
        lose_power(h);
}

void host_free(struct host *h)
{
    core_free(h->core);
    arena_free(&h->disk.arena);
    free(h->disk.records);
}
