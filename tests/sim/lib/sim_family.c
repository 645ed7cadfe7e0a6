/* SPDX-License-Identifier: MIT */
/* sim_family.c - see sim_family.h. */
#include "tests/sim/lib/sim_family.h"

#include <signal.h>

#include "tests/sim/lib/sim_in.h"

void family_begin(struct host *h, struct process *main)
{
    uint64_t n =
        h->sim->world.has[TRAIT_FAMILIES] && sim_chance(h->sim, 40) ? 1 + sim_below(h->sim, 2) : 0;
    int key = main->key;

    for (uint64_t i = 0; i < n; i++) {
        struct process *p = process_new(h, key);

        p->is_worker = true;
        sim_trace(h->sim, "host %d: p%d has worker %lld", h->n, key, (long long)p->pid);
    }
}

static size_t count_workers(const struct host *h, int key)
{
    size_t n = 0;

    for (size_t i = 0; i < h->n_procs; i++)
        n += h->procs[i].is_alive && h->procs[i].is_worker && h->procs[i].key == key;
    return n;
}

bool family_holds_port(struct host *h, int key)
{
    return count_workers(h, key) > 0;
}

/* ---- starts in two steps */

struct process *family_helper(struct host *h, int64_t command)
{
    for (size_t i = 0; i < h->n_procs; i++) {
        struct process *p = &h->procs[i];

        if (p->is_alive && p->is_daemon && p->helps == command && command)
            return p;
    }
    return NULL;
}

/* The helper has done its work: the command becomes the process. */
static void on_second_step(struct event *e)
{
    struct host *h = &e->sim->hosts[e->host];
    struct process *helper = process_find(h, e->a), *command;
    bool is_there = helper && helper->is_alive && helper->ticks == e->b;

    command = is_there ? process_find(h, helper->helps) : NULL;
    if (!is_there)
        return;
    process_die(h, helper, 0);
    if (!command || !command->is_alive)
        return;
    command->is_daemon = true;
    h->pid_file[command->key] = command->pid;
    sim_trace(h->sim, "host %d: p%d runs as %lld, its command", h->n, command->key,
              (long long)command->pid);
}

void family_two_steps(struct host *h, struct process *command)
{
    int64_t takes_ms = 1000 + (int64_t)sim_below(h->sim, 8000), pid = command->pid;
    uint64_t unjournaled = command->unjournaled;
    struct process *helper = process_new(h, command->key);
    struct event *e = sim_later(h->sim, takes_ms, h->n, 0, on_second_step);

    command->is_step = true;
    helper->is_daemon = true;
    helper->helps = pid;
    helper->unjournaled = unjournaled;
    e->a = helper->pid;
    e->b = helper->ticks;
    sim_trace(h->sim, "host %d: a helper of p%d runs as %lld", h->n, helper->key,
              (long long)helper->pid);
}

/* ---- what a stop leaves */

void family_check_stop(struct host *h, const struct message_result *m)
{
    int key = m->view.name[1] - '0';
    const struct sim_item *item = &check_find(h->sim, m->task)->items[m->item];

    if (m->code != CODE_OK || item->op != PROC_OP_STOP ||
        *h->sim->specs[h->n][key].control.stop_cmd)
        return;
    h->sim->report.counts[SIM_STOPS]++;
    if (count_workers(h, key))
        sim_fail(h->sim, "host %d: p%d was stopped, and %zu of its workers live", h->n, key,
                 count_workers(h, key));
}

/* ---- effects */

static bool start_lives(struct host *h, const struct core_family *f)
{
    return f->start.pid && !core_is_same(f->start, f->main) && family_is_alive(h, f->start);
}

/* Its cgroup has a start command whose pid no agent knows. */
static bool has_step(const struct process *p, int key, struct core_ident main)
{
    return p->is_alive && p->is_step && p->key == key && p->pid != main.pid;
}

bool family_has(void *host, const struct core_family *f)
{
    struct host *h = host;
    int key = f->name[1] - '0';
    bool is_left = count_workers(h, key) > 0 || start_lives(h, f);

    for (size_t i = 0; i < h->n_procs; i++)
        is_left |= has_step(&h->procs[i], key, f->main);
    return is_left;
}

bool family_is_alive(void *host, struct core_ident ident)
{
    const struct process *p = process_find(host, ident.pid);

    return p && p->is_alive && p->ticks == ident.start_ticks;
}

static void family_signal(struct host *h, struct process *p, int number)
{
    bool ends = number == SIGKILL || h->sim->is_calm || sim_below(h->sim, 100) < 70;

    if (number && ends)
        process_die_later(h, p, number == SIGKILL ? 0 : 1 + (int64_t)sim_below(h->sim, 800),
                          CORE_SIGNALED + number);
}

/* The start command is ended with the rest; so is a helper of it. */
static void on_family(struct event *e)
{
    struct host *h = &e->sim->hosts[e->host];
    int key = (int)e->b, number = (int)e->c;
    struct core_members m = { .question = e->look.question, .names = "worker", .others = "" };

    for (size_t i = 0; i < h->n_procs; i++) {
        struct process *p = &h->procs[i];
        bool is_start = e->look.start.pid && p->pid == e->look.start.pid &&
                        p->ticks == e->look.start.start_ticks &&
                        !core_is_same(e->look.start, e->look.known);
        bool is_helper = is_start ? false : p->helps && p->helps == e->look.start.pid;

        if (!p->is_alive || p->key != key ||
            !(p->is_worker || is_start || is_helper || has_step(p, key, e->look.known)))
            continue;
        m.n++;
        m.may_be_main |= sim_chance(h->sim, 30);
        family_signal(h, p, number);
    }
    core_on_family(h->core, (uint64_t)e->a, &m, e->sim->now_ms);
    host_wake(h);
}

void family_ask(void *host, const struct core_family *f)
{
    struct host *h = host;
    struct event *e =
        sim_later(h->sim, 1 + (int64_t)sim_below(h->sim, 10), h->n, h->life, on_family);

    e->a = (int64_t)f->id;
    e->b = f->name[1] - '0';
    e->c = f->number;
    e->look.question = f->question;
    e->look.start = f->start;
    e->look.known = f->main;
}
