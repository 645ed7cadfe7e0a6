/* SPDX-License-Identifier: MIT */
/* sim_host.c - a host: processes, journal, the agent's hands.
 *
 * A command is a process of its own, which goes on when the agent is killed and
 * goes with the host.  What it will do is decided when it begins. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/mem.h"
#include "sim/sim_in.h"

enum { COMPACT_OVER = 100 };

static struct process *find_process(struct host *h, int64_t pid)
{
    for (size_t i = 0; i < h->n_procs; i++) {
        if (h->procs[i].pid == pid)
            return &h->procs[i];
    }
    return NULL;
}

/* A dead one's place is used again. */
static struct process *new_process(struct host *h, int key)
{
    struct process *p = NULL;

    for (size_t i = 0; i < h->n_procs && !p; i++) {
        if (!h->procs[i].is_alive && !h->procs[i].is_zombie)
            p = &h->procs[i];
    }
    if (!p && h->n_procs < PROCS_MAX)
        p = &h->procs[h->n_procs++];
    if (!p)
        abort(); /* the world is too small */
    *p = (struct process){
        .pid = ++h->next_pid + 100, .ticks = h->sim->now_ms, .key = key, .is_alive = true
    };
    return p;
}

static struct process *daemon_of(struct host *h, int key)
{
    for (size_t i = 0; i < h->n_procs; i++) {
        if (h->procs[i].is_alive && h->procs[i].is_daemon && h->procs[i].key == key)
            return &h->procs[i];
    }
    return NULL;
}

static void with_core(struct host *h)
{
    if (h->core)
        host_wake(h);
}

/* ---- the end of a process */

static void on_exit_seen(struct event *e)
{
    struct host *h = &e->sim->hosts[e->host];

    core_on_exit(h->core, (struct core_ident){ e->a, e->b }, (int)e->c, e->sim->now_ms);
    with_core(h);
}

static void on_run_end_seen(struct event *e)
{
    struct host *h = &e->sim->hosts[e->host];

    core_on_run_end(h->core, (uint64_t)e->a, (int)e->c, "output", e->sim->now_ms);
    with_core(h);
}

static void tell_exit(struct host *h, const struct process *p, int status)
{
    struct event *e = sim_later(h->sim, 1, h->n, h->life, on_exit_seen);

    e->a = p->pid;
    e->b = p->ticks;
    e->c = status;
}

static void die(struct host *h, struct process *p, int status)
{
    if (!p || !p->is_alive)
        return;
    p->is_alive = false;
    p->status = status;
    p->is_zombie = !h->core && h->is_parent;
    sim_trace(h->sim, "host %d: process %lld of p%d ends: %d", h->n, (long long)p->pid, p->key,
              status);
    if (p->run && p->run_life == h->life && h->core) {
        struct event *e = sim_later(h->sim, 1, h->n, h->life, on_run_end_seen);

        e->a = (int64_t)p->run;
        e->c = p->is_strange ? CORE_STATUS_UNKNOWN : status;
    }
    if (p->is_watched && h->core)
        tell_exit(h, p, status);
}

static void on_death(struct event *e)
{
    struct host *h = &e->sim->hosts[e->host];
    struct process *p = find_process(h, e->a);

    if (p && p->ticks == e->b)
        die(h, p, (int)e->c);
}

static void die_later(struct host *h, const struct process *p, int64_t in_ms, int status)
{
    struct event *e = sim_later(h->sim, in_ms, h->n, 0, on_death);

    e->a = p->pid;
    e->b = p->ticks;
    e->c = status;
}

void host_kill_process(struct host *h)
{
    struct process *p = daemon_of(h, (int)sim_below(h->sim, KEYS));

    if (p)
        die(h, p, CORE_SIGNALED + SIGSEGV);
}

/* ---- what commands do */

static void make_daemon(struct host *h, struct process *p, bool writes_pid_file)
{
    if (daemon_of(h, p->key))
        sim_fail(h->sim, "host %d: p%d is started while it runs", h->n, p->key);
    p->is_daemon = true;
    if (writes_pid_file)
        h->pid_file[p->key] = p->pid;
    sim_trace(h->sim, "host %d: p%d runs as %lld", h->n, p->key, (long long)p->pid);
    if (sim_chance(h->sim, 20))
        die_later(h, p, (int64_t)sim_below(h->sim, 20000), 1);
}

static void on_started(struct event *e)
{
    struct host *h = &e->sim->hosts[e->host];
    struct process *command = find_process(h, e->a);

    if (!command || !command->is_alive || command->ticks != e->b)
        return;
    make_daemon(h, new_process(h, command->key), true);
    die(h, command, 0);
}

static void run_start(struct host *h, struct process *command)
{
    struct sim *s = h->sim;
    uint64_t what = s->is_calm ? 99 : sim_below(s, 100);
    int64_t takes = 1 + (int64_t)sim_below(s, 800);

    if (what < 8) {
        die_later(h, command, takes, 1);
    } else if (what < 12) {
        sim_trace(s, "host %d: start of p%d hangs", h->n, command->key);
    } else if (what < 30) {
        make_daemon(h, command, false); /* in the foreground: the command is the process */
    } else {
        struct event *e = sim_later(s, takes, h->n, 0, on_started);

        e->a = command->pid;
        e->b = command->ticks;
    }
}

static void run_stop(struct host *h, struct process *command)
{
    struct process *p = daemon_of(h, command->key);
    uint64_t what = h->sim->is_calm ? 99 : sim_below(h->sim, 100);
    int64_t takes = 1 + (int64_t)sim_below(h->sim, 500);

    if (p && what >= 15)
        die_later(h, p, 1 + (int64_t)sim_below(h->sim, 1500), 0);
    die_later(h, command, takes, what < 5 ? 1 : 0);
}

static void run_restart(struct host *h, struct process *command)
{
    struct process *p = daemon_of(h, command->key);
    struct event *e;

    if (p)
        die(h, p, 0);
    e = sim_later(h->sim, 1 + (int64_t)sim_below(h->sim, 800), h->n, 0, on_started);
    e->a = command->pid;
    e->b = command->ticks;
}

static void carry_out(struct host *h, struct process *command, const char *line)
{
    if (!strcmp(line, "start"))
        run_start(h, command);
    else if (!strcmp(line, "stop"))
        run_stop(h, command);
    else if (!strcmp(line, "restart"))
        run_restart(h, command);
    else
        die_later(h, command, 1 + (int64_t)sim_below(h->sim, 500), 0);
}

/* ---- the agent's hands */

static void on_durable(struct event *e)
{
    struct host *h = &e->sim->hosts[e->host];

    if (h->durable < (size_t)e->a)
        h->durable = (size_t)e->a;
    core_on_durable(h->core, (uint64_t)e->a, e->sim->now_ms);
    with_core(h);
}

static uint64_t hand_journal(void *arg, unsigned type, const struct shape *shape,
                             const void *record, bool durable)
{
    struct host *h = arg;
    int64_t event = shape == &message_event_shape ? ((const struct message_event *)record)->id : 0;

    if ((h->records & (h->records - 1)) == 0)
        h->journal = xresize(h->journal, (h->records ? h->records * 2 : 1) * sizeof(*h->journal));
    h->journal[h->records++] = (struct record){ type, event, sim_json(shape, record) };
    if (event)
        sim_events_told(h->sim, h->n, event);
    if (shape == &message_result_shape && !h->is_compacting)
        sim_wanted_result(h, record);
    if (durable)
        sim_later(h->sim, 1 + (int64_t)sim_below(h->sim, 20), h->n, h->life, on_durable)->a =
            (int64_t)h->records;
    return h->records;
}

static void on_frame(struct event *e)
{
    server_deliver(e->sim, e->host, e->a, e->type, e->json);
}

static void hand_send(void *arg, unsigned type, const struct shape *shape, const void *message)
{
    struct host *h = arg;
    struct sim *s = h->sim;

    if (!h->link)
        return;
    for (int copies = sim_chance(s, 5) ? 2 : 1; copies > 0; copies--) {
        struct event *e;

        if (sim_chance(s, 5))
            continue;
        e = sim_later(s, 1 + (int64_t)sim_below(s, sim_chance(s, 5) ? 5000 : 20), h->n, 0,
                      on_frame);
        e->a = (int64_t)h->link;
        e->type = type;
        e->json = sim_json(shape, message);
    }
}

static void on_run_begun(struct event *e)
{
    struct host *h = &e->sim->hosts[e->host];
    const struct core_began began = { .ident = { e->a, e->b } };

    core_on_run(h->core, (uint64_t)e->c, &began, NULL, e->sim->now_ms);
    with_core(h);
}

/* Its journal says that a command is about to begin; that it has, nobody ever hears. */
static void on_killed_at_once(struct event *e)
{
    sim_kill_agent(&e->sim->hosts[e->host], false);
}

static void hand_run(void *arg, const struct core_run *run)
{
    struct host *h = arg;
    struct process *p = new_process(h, run->name[1] - '0');
    struct event *e;

    sim_trace(h->sim, "host %d: runs %s for %s as %lld (task %s)", h->n, run->line, run->name,
              (long long)p->pid, run->task);
    sim_note_run(h->sim, h->n, run);
    sim_wanted_run(h, run);
    p->run = run->id;
    p->run_life = h->life;
    if (sim_chance(h->sim, 2))
        sim_later(h->sim, 0, h->n, h->life, on_killed_at_once);
    e = sim_later(h->sim, 0, h->n, h->life, on_run_begun);
    e->a = p->pid;
    e->b = p->ticks;
    e->c = (int64_t)run->id;
    carry_out(h, p, run->line);
}

/* Of one that is not there any more. */
static int status_of_gone(struct host *h, struct core_ident ident)
{
    struct process *p = find_process(h, ident.pid);

    return p && p->is_zombie && p->ticks == ident.start_ticks ? p->status : CORE_STATUS_UNKNOWN;
}

/* How it ends is known if it is a child still, or the kernel tells; else to nobody. */
static void hand_adopt(void *arg, const struct core_adopt *a)
{
    struct host *h = arg;
    struct process *p = find_process(h, a->ident.pid);

    if (p && p->is_alive && p->ticks == a->ident.start_ticks) {
        p->run = a->id;
        p->run_life = h->life;
        p->is_strange = !h->is_parent && sim_chance(h->sim, 50);
    } else {
        struct event *e = sim_later(h->sim, 1, h->n, h->life, on_run_end_seen);

        e->a = (int64_t)a->id;
        e->c = status_of_gone(h, a->ident);
    }
}

static void hand_end_run(void *arg, uint64_t id)
{
    struct host *h = arg;

    for (size_t i = 0; i < h->n_procs; i++) {
        struct process *p = &h->procs[i];

        if (p->is_alive && p->run == id && p->run_life == h->life && !p->is_daemon)
            die(h, p, CORE_SIGNALED + SIGKILL);
    }
}

static struct process *living_daemon(struct host *h, int64_t pid, int key)
{
    struct process *p = find_process(h, pid);

    return p && p->is_alive && p->is_daemon && p->key == key ? p : NULL;
}

/* As find.c does it: the one that is known, the pid file, and only then a search. */
static struct process *look_for(struct host *h, const struct core_look *look, int key)
{
    struct process *p = living_daemon(h, look->self.pid ? look->self.pid : look->known.pid, key);

    if (p && look->self.pid)
        h->pid_file[key] = p->pid;
    if (p || look->self.pid)
        return p;
    p = living_daemon(h, h->pid_file[key], key);
    if (!p && !look->by_pid_file && (!h->pid_file[key] || look->is_doubtful))
        p = daemon_of(h, key);
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
    with_core(h);
}

static void hand_probe(void *arg, const struct core_look *look)
{
    struct host *h = arg;
    struct event *e =
        sim_later(h->sim, 1 + (int64_t)sim_below(h->sim, 10), h->n, h->life, on_probe);

    e->b = look->name[1] - '0';
    e->look = *look;
}

static void hand_watch(void *arg, struct core_ident ident)
{
    struct host *h = arg;
    struct process *p = find_process(h, ident.pid);
    struct process gone = { .pid = ident.pid, .ticks = ident.start_ticks };

    if (p && p->is_alive && p->ticks == ident.start_ticks)
        p->is_watched = true;
    else
        tell_exit(h, &gone, status_of_gone(h, ident));
}

static void hand_signal(void *arg, struct core_ident ident, int number, bool with_children)
{
    struct host *h = arg;
    struct process *p = find_process(h, ident.pid);

    (void)with_children;
    if (!p || p->ticks != ident.start_ticks)
        return;
    if (number == SIGKILL)
        die_later(h, p, 1, CORE_SIGNALED + SIGKILL);
    else if (h->sim->is_calm || sim_below(h->sim, 100) < 85)
        die_later(h, p, 1 + (int64_t)sim_below(h->sim, 1000), CORE_SIGNALED + SIGTERM);
}

static const struct core_hands hands = { hand_journal, hand_send,      hand_run,   hand_adopt,
                                         hand_end_run, hand_probe,     hand_watch, hand_signal,
                                         NULL,         sim_hand_sample };

/* ---- its life */

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
    int64_t next;

    core_tell_now(h->core);
    if (!core_has_sound_slots(h->core))
        sim_fail(h->sim, "host %d: a slot is lost, or free and not used", h->n);
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
    arena_free(&a);
    with_core(h);
}

static void on_connect(struct event *e)
{
    host_connect(&e->sim->hosts[e->host]);
}

void host_connect(struct host *h)
{
    struct sim *s = h->sim;

    if (!h->core || h->link)
        return;
    if (!s->hub) {
        sim_later(s, 500 + (int64_t)sim_below(s, 1500), h->n, h->life, on_connect);
        return;
    }
    h->link = (uint64_t)++s->epochs[h->n];
    sim_trace(s, "host %d: connected, epoch %llu", h->n, (unsigned long long)h->link);
    core_on_link(h->core, true, s->now_ms);
    server_session(s, h->n, (int64_t)h->link);
    with_core(h);
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
    sim_later(s, 200 + (int64_t)sim_below(s, 3000), h->n, h->life, on_connect);
    with_core(h);
}

/* A new journal with what is live; it takes the old one's place when it is on the
 * disk. */
static void compact(struct host *h)
{
    while (h->records)
        free(h->journal[--h->records].json);
    h->is_compacting = true;
    core_compact(h->core);
    h->is_compacting = false;
    h->durable = h->records;
}

void host_start(struct host *h)
{
    struct sim *s = h->sim;
    struct err err;

    h->life++;
    timer_init(&h->wake, on_wake, h);
    h->core = core_new(&hands, h, s->now_ms, s->now_ms + h->wall_jump_ms);
    core_set_events_max(h->core, sim_events_max(s));
    sim_limit_host(h);
    if (h->n % 2)
        core_set_at_once(h->core, 2); /* here they wait for each other */
    sim_trace(s, "host %d: agent up, %zu records, %s boot", h->n, h->records,
              h->same_boot ? "same" : "new");
    for (size_t i = 0; i < h->records; i++) {
        if (core_replay(h->core, h->journal[i].type, h->journal[i].json, strlen(h->journal[i].json),
                        &err))
            sim_fail(s, "host %d: %s", h->n, err.text);
    }
    if (h->records > COMPACT_OVER)
        compact(h);
    core_start(h->core, h->same_boot, s->now_ms, s->now_ms + h->wall_jump_ms);
    h->same_boot = true;
    sim_later(s, 100 + (int64_t)sim_below(s, 1000), h->n, h->life, on_connect);
    host_wake(h);
}

/* Without power the records that were not yet on the disk are gone, and so is
 * everything that ran. */
static void lose_power(struct host *h)
{
    h->sim->report.power_losses++;
    while (h->records > h->durable) {
        const struct record *r = &h->journal[--h->records];

        if (r->event)
            sim_events_power_lost(h->sim, h->n, r->event);
        free(r->json);
    }
    for (size_t i = 0; i < h->n_procs; i++)
        h->procs[i].is_alive = false;
    h->same_boot = false;
    sim_wanted_power_lost(h);
}

static void end_agent(struct host *h, bool stays_parent)
{
    core_free(h->core);
    h->core = NULL;
    h->is_parent = stays_parent;
    timers_stop(&h->sim->timers, &h->wake);
    host_disconnect(h);
    h->life++;
    for (size_t i = 0; i < h->n_procs; i++)
        h->procs[i].is_watched = h->procs[i].is_zombie = false;
}

void host_upgrade(struct host *h)
{
    sim_trace(h->sim, "host %d: agent replaced", h->n);
    h->sim->report.upgrades++;
    end_agent(h, true);
}

void host_kill(struct host *h, bool power_loss)
{
    struct sim *s = h->sim;

    sim_trace(s, "host %d: %s", h->n, power_loss ? "power lost" : "agent killed");
    s->report.agent_kills++;
    end_agent(h, false);
    if (power_loss)
        lose_power(h);
}

void host_free(struct host *h)
{
    core_free(h->core);
    for (size_t i = 0; i < h->records; i++)
        free(h->journal[i].json);
    free(h->journal);
}
