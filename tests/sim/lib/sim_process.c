/* SPDX-License-Identifier: MIT */
/* sim_process.c - processes of a host.
 *
 * A command is a process of its own, which survives a kill of the agent and ends with the host.
 * Its behaviour is decided when it starts. */
#include <signal.h>
#include <string.h>

#include "tests/sim/lib/sim_in.h"

struct process *process_find(struct host *h, int64_t pid)
{
    for (size_t i = 0; i < h->n_procs; i++) {
        if (h->procs[i].pid == pid)
            return &h->procs[i];
    }
    return NULL;
}

/* Reuses the entry of a dead process. */
struct process *process_new(struct host *h, int key)
{
    struct process *p = NULL;

    for (size_t i = 0; i < h->n_procs && !p; i++) {
        if (!h->procs[i].is_alive && !h->procs[i].is_zombie)
            p = &h->procs[i];
    }
    if (!p && h->n_procs < PROCS_MAX)
        p = &h->procs[h->n_procs++];
    if (!p) {
        sim_fail(h->sim, "host %d: more processes than the world has room for", h->n);
        p = &h->procs[0];
    }
    *p = (struct process){
        .pid = ++h->next_pid + 100, .ticks = h->sim->now_ms, .key = key, .is_alive = true
    };
    return p;
}

struct process *process_daemon(struct host *h, int key)
{
    for (size_t i = 0; i < h->n_procs; i++) {
        if (h->procs[i].is_alive && h->procs[i].is_daemon && h->procs[i].key == key)
            return &h->procs[i];
    }
    return NULL;
}

/* ---- exit of a process */

static void on_exit_seen(struct event *e)
{
    struct host *h = &e->sim->hosts[e->host];

    core_on_exit(h->core, (struct core_ident){ e->a, e->b }, (int)e->c, e->sim->now_ms);
    host_wake(h);
}

static void on_run_end_seen(struct event *e)
{
    struct host *h = &e->sim->hosts[e->host];

    core_on_run_end(h->core, (uint64_t)e->a, (int)e->c, "output", e->sim->now_ms);
    host_wake(h);
}

void process_tell_run_end(struct host *h, uint64_t run, int status)
{
    struct event *e = sim_later(h->sim, 1, h->n, h->life, on_run_end_seen);

    e->a = (int64_t)run;
    e->c = status;
}

void process_tell_exit(struct host *h, const struct process *p, int status)
{
    struct event *e = sim_later(h->sim, 1, h->n, h->life, on_exit_seen);

    e->a = p->pid;
    e->b = p->ticks;
    e->c = status;
}

void process_die(struct host *h, struct process *p, int status)
{
    if (!p || !p->is_alive)
        return;
    p->is_alive = false;
    p->status = status;
    p->is_zombie = !h->core && h->is_parent;
    sim_trace(h->sim, "host %d: process %lld of p%d ends: %d", h->n, (long long)p->pid, p->key,
              status);
    if (p->run && p->run_life == h->life && h->core)
        process_tell_run_end(h, p->run, p->is_strange ? CORE_STATUS_UNKNOWN : status);
    if (p->is_watched && h->core)
        process_tell_exit(h, p, status);
}

static void on_death(struct event *e)
{
    struct host *h = &e->sim->hosts[e->host];
    struct process *p = process_find(h, e->a);

    if (p && p->ticks == e->b)
        process_die(h, p, (int)e->c);
}

void process_die_later(struct host *h, const struct process *p, int64_t in_ms, int status)
{
    struct event *e = sim_later(h->sim, in_ms, h->n, 0, on_death);

    e->a = p->pid;
    e->b = p->ticks;
    e->c = status;
}

void process_kill_some(struct host *h)
{
    struct process *p = process_daemon(h, (int)sim_below(h->sim, KEYS));

    if (p)
        process_die(h, p, CORE_SIGNALED + SIGSEGV);
}

/* ---- behaviour of commands */

/* If an agent could not journal a start, its successor does not know the process: while the disk is
 * full processes are kept running, at the risk that a second one is started after the agent is
 * killed. */
static bool is_unknown(const struct host *h, const struct process *p)
{
    return p && p->unjournaled && p->unjournaled != h->life;
}

/* A process that starts while such a process exists may meet it, and be met by later ones. */
uint64_t process_unjournaled(const struct host *h, int key)
{
    for (size_t i = 0; i < h->n_procs; i++) {
        const struct process *p = &h->procs[i];

        if (p->is_alive && p->key == key && is_unknown(h, p))
            return p->unjournaled;
    }
    return h->disk.is_broken ? h->life : 0;
}

bool process_is_hidden(struct host *h, int key)
{
    return is_unknown(h, process_daemon(h, key));
}

/* Whether one runs already; a permitted second one finds its port in use. */
static bool is_second(struct host *h, struct process *command)
{
    const struct process *other = process_daemon(h, command->key);

    if (family_holds_port(h, command->key)) {
        process_die(h, command, 1);
        return true;
    }
    if (!other)
        return false;
    if (!is_unknown(h, command) && !is_unknown(h, other))
        sim_fail(h->sim, "host %d: p%d is started while it runs", h->n, command->key);
    process_die(h, command, 1);
    return true;
}

static void make_daemon(struct host *h, struct process *p, bool writes_pid_file)
{
    p->is_daemon = true;
    if (writes_pid_file)
        h->pid_file[p->key] = p->pid;
    family_begin(h, p);
    sim_trace(h->sim, "host %d: p%d runs as %lld", h->n, p->key, (long long)p->pid);
    if (h->sim->world.has[TRAIT_CRASHES] && sim_chance(h->sim, 60))
        process_die_later(h, p, (int64_t)sim_below(h->sim, 4000), 1);
    else if (sim_chance(h->sim, 20))
        process_die_later(h, p, (int64_t)sim_below(h->sim, 20000), 1);
}

static void on_started(struct event *e)
{
    struct host *h = &e->sim->hosts[e->host];
    struct process *command = process_find(h, e->a), *p;

    if (!command || !command->is_alive || command->ticks != e->b || is_second(h, command))
        return;
    p = process_new(h, command->key);
    p->unjournaled = command->unjournaled;
    make_daemon(h, p, true);
    process_die(h, command, 0);
}

static void run_start(struct host *h, struct process *command)
{
    struct sim *s = h->sim;
    uint64_t what = s->is_calm ? 99 : sim_below(s, 100);
    int64_t takes = 1 + (int64_t)sim_below(s, 800);

    if (what < 8) {
        process_die_later(h, command, takes, 1);
    } else if (what < 12) {
        sim_trace(s, "host %d: start of p%d hangs", h->n, command->key);
    } else if (what < 30 && s->world.has[TRAIT_TWO_STEPS]) {
        if (!is_second(h, command))
            family_two_steps(h, command);
    } else if (what < 30) {
        if (!is_second(h, command))
            make_daemon(h, command, false); /* in the foreground: the command is the process */
    } else {
        struct event *e = sim_later(s, takes, h->n, 0, on_started);

        e->a = command->pid;
        e->b = command->ticks;
    }
}

static void run_stop(struct host *h, struct process *command)
{
    struct process *p = process_daemon(h, command->key);
    uint64_t what = h->sim->is_calm ? 99 : sim_below(h->sim, 100);
    int64_t takes = 1 + (int64_t)sim_below(h->sim, 500);

    if (p && what >= 15)
        process_die_later(h, p, 1 + (int64_t)sim_below(h->sim, 1500), 0);
    process_die_later(h, command, takes, what < 5 ? 1 : 0);
}

static void run_restart(struct host *h, struct process *command)
{
    struct process *p = process_daemon(h, command->key);
    struct event *e;

    if (p)
        process_die(h, p, 0);
    e = sim_later(h->sim, 1 + (int64_t)sim_below(h->sim, 800), h->n, 0, on_started);
    e->a = command->pid;
    e->b = command->ticks;
}

void process_carry_out(struct host *h, struct process *command, const char *line)
{
    if (!strcmp(line, "start"))
        run_start(h, command);
    else if (!strcmp(line, "stop"))
        run_stop(h, command);
    else if (!strcmp(line, "restart"))
        run_restart(h, command);
    else
        process_die_later(h, command, 1 + (int64_t)sim_below(h->sim, 500), 0);
}
