/* SPDX-License-Identifier: MIT */
/* fleet_procs.c - see fleet_procs.h. */
#include "fleetsim/fleet_procs.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem/map.h"
#include "base/mem/mem.h"
#include "model/code.h"
#include "model/operation.h"

enum { FIRST_PID = 1000, LAST_PID = 4 * 1000 * 1000 };

/* ---- names */

void fleet_names_init(struct fleet_names *names, const char *space, size_t n)
{
    *names = (struct fleet_names){ .space = xstrdup(space), .n = n };
    names->procs = xalloc((n + 1) * sizeof(*names->procs));
    for (size_t i = 0; i < n; i++)
        names->procs[i] = xprintf("proc-%02zu", i);
}

void fleet_names_done(struct fleet_names *names)
{
    for (size_t i = 0; i < names->n; i++)
        free(names->procs[i]);
    free(names->procs);
    free(names->space);
    *names = (struct fleet_names){ 0 };
}

/* ---- digest: the XOR of all hashes, as in agent/supervise/core_tell.c */

static uint64_t hash_of(const struct fleet_dummy *proc)
{
    static const uint64_t key[2] = { 0x686f6c6466617374, 0x73696d756c617465 };
    char facts[640];
    int n = snprintf(facts, sizeof(facts), "%.256s%c%.256s%c%d %d %d %d %u %u", proc->space, '\0',
                     proc->name, '\0', proc->wanted, proc->hosted, proc->pid, proc->restarts,
                     proc->exit_s, proc->exit_signal);
    uint64_t hash = map_hash(key, facts, (size_t)n);

    return hash ? hash : 1;
}

static void update_hash(struct fleet_procs *p, struct fleet_dummy *proc)
{
    p->digest ^= proc->hash;
    proc->hash = hash_of(proc);
    p->digest ^= proc->hash;
}

void fleet_procs_digest(const struct fleet_procs *p, char to[FLEET_DIGEST_SIZE])
{
    snprintf(to, FLEET_DIGEST_SIZE, "%016llx", (unsigned long long)p->digest);
}

/* ---- the list */

static int32_t make_pid(struct fleet_procs *p)
{
    p->next_pid = p->next_pid < FIRST_PID || p->next_pid >= LAST_PID ? FIRST_PID : p->next_pid + 1;
    return p->next_pid;
}

void fleet_procs_init(struct fleet_procs *p, const struct fleet_names *names, int64_t start_s)
{
    *p = (struct fleet_procs){ .n = names->n, .running = names->n };
    p->list = xalloc((names->n + 1) * sizeof(*p->list));
    for (size_t i = 0; i < names->n; i++) {
        p->list[i] = (struct fleet_dummy){ .space = names->space,
                                           .name = names->procs[i],
                                           .last_start_s = (uint32_t)start_s,
                                           .register_s = (uint32_t)start_s,
                                           .pid = make_pid(p),
                                           .wanted = PROC_RUNNING,
                                           .hosted = true };
        update_hash(p, &p->list[i]);
    }
}

void fleet_procs_done(struct fleet_procs *p)
{
    for (size_t i = 0; i < p->n; i++) {
        if (p->list[i].is_own) {
            free((char *)(uintptr_t)p->list[i].space);
            free((char *)(uintptr_t)p->list[i].name);
        }
    }
    free(p->list);
    *p = (struct fleet_procs){ 0 };
}

struct fleet_dummy *fleet_procs_find(const struct fleet_procs *p, const char *space,
                                     const char *name)
{
    for (size_t i = 0; i < p->n; i++) {
        if (!strcmp(p->list[i].name, name) && !strcmp(p->list[i].space, space))
            return &p->list[i];
    }
    return NULL;
}

/* May move the existing entries. */
static struct fleet_dummy *add_process(struct fleet_procs *p, const struct fleet_dummy *like)
{
    struct fleet_dummy *proc;

    p->list = xresize(p->list, (p->n + 1) * sizeof(*p->list));
    proc = &p->list[p->n++];
    *proc = *like;
    proc->space = xstrdup(like->space);
    proc->name = xstrdup(like->name);
    proc->is_own = true;
    return proc;
}

/* ---- operations */

static void set_running(struct fleet_procs *p, struct fleet_dummy *proc, int64_t now_s)
{
    p->running += !proc->pid;
    proc->pid = make_pid(p);
    proc->last_start_s = (uint32_t)now_s;
}

static void set_stopped(struct fleet_procs *p, struct fleet_dummy *proc, int number, int64_t now_s)
{
    p->running--;
    proc->exit_s = (uint32_t)now_s;
    proc->exit_pid = proc->pid;
    proc->exit_signal = (uint8_t)number;
    proc->pid = 0;
}

/* As if every command succeeded. */
static void apply_operation(struct fleet_procs *p, struct fleet_dummy *proc,
                            const struct operation *o, int64_t now_s)
{
    if (o->outcome == MAKES_RUN) {
        set_running(p, proc, now_s);
        proc->restarts = 0;
    } else if (o->outcome == MAKES_STOP) {
        set_stopped(p, proc, SIGTERM, now_s);
    }
    if (o->hosting != HOSTING_STAYS)
        proc->hosted = o->hosting == HOSTING_BEGINS;
    if (o->wanted != PROC_UNREGISTERED)
        proc->wanted = (uint8_t)o->wanted;
    update_hash(p, proc);
}

static int check_operation(const struct operation *o, const struct fleet_dummy *proc,
                           bool only_if_hosted, const char **ret_text)
{
    *ret_text = "success";
    if (!o) {
        *ret_text = "op_type: no such operation";
        return CODE_UNKNOWN_OP;
    }
    if (only_if_hosted && !proc->hosted) {
        *ret_text = "the process is not hosted";
        return CODE_NOT_REGISTERED;
    }
    if (proc->pid && o->if_running) {
        *ret_text = "the process is already running";
        return o->if_running;
    }
    if (!proc->pid && o->if_stopped) {
        *ret_text = "the process is not running";
        return o->if_stopped;
    }
    return CODE_OK;
}

void fleet_procs_operate(struct fleet_procs *p, const struct proc_meta *meta, int64_t op,
                         bool only_if_hosted, int64_t now_s, struct fleet_outcome *ret)
{
    struct fleet_dummy *proc = fleet_procs_find(p, meta->space, meta->name);
    const struct fleet_dummy none = { .space = meta->space,
                                      .name = meta->name,
                                      .register_s = (uint32_t)now_s };
    const struct operation *o = operation_find(op);
    bool makes = operation_registers(op);
    bool changes = o && (o->hosting != HOSTING_STAYS || o->outcome != LEAVES_AS_IS);

    *ret = (struct fleet_outcome){ .proc = none };
    ret->code = check_operation(o, proc ? proc : &none, only_if_hosted, &ret->text);
    if (!ret->code && !proc && makes && p->n >= FLEET_PROCS_ROOM) {
        ret->code = CODE_SYSTEM;
        ret->text = "this simulated agent has no room for more processes";
    }
    if (!ret->code && !proc && makes)
        proc = add_process(p, &none);
    if (!ret->code && proc && changes) {
        apply_operation(p, proc, o, now_s);
        ret->moved = proc;
        ret->owes_start = proc->hosted && !proc->pid;
    }
    if (proc)
        ret->proc = *proc;
}

bool fleet_dummy_die(struct fleet_procs *p, struct fleet_dummy *proc, int number, int64_t now_s)
{
    if (!proc->pid)
        return false;
    set_stopped(p, proc, number, now_s);
    update_hash(p, proc);
    return true;
}

bool fleet_dummy_revive(struct fleet_procs *p, struct fleet_dummy *proc, int64_t now_s)
{
    if (proc->pid || !proc->hosted)
        return false;
    set_running(p, proc, now_s);
    proc->restarts++;
    p->restarts++;
    update_hash(p, proc);
    return true;
}

/* ---- views */

static void fill_usage(const struct fleet_dummy *proc, int64_t now_s, struct proc_view *v)
{
    v->cmdline = proc->name;
    v->stat = "S";
    v->utime = "1.50";
    v->stime = "0.50";
    v->cpu_percent = v->cpu_percent_avg = 0.5;
    v->mem_percent = 0.1;
    v->mem_bytes = 8 * 1024 * 1024;
    v->threads = 1;
    v->elapsed_s = now_s > proc->last_start_s ? now_s - proc->last_start_s : 0;
}

static void fill_cause(const struct fleet_dummy *proc, struct proc_cause *c)
{
    c->since_s = proc->pid ? proc->last_start_s : proc->exit_s;
    c->exit_s = proc->exit_s;
    c->exit_pid = proc->exit_pid;
    c->exit_code = -1;
    c->exit_signal = proc->exit_signal;
    c->doing = -1;
    c->tries_max = -1;
}

void fleet_dummy_view(const struct fleet_dummy *proc, bool detailed, int64_t now_s,
                      struct proc_view *ret)
{
    shape_defaults(&proc_view_shape, ret);
    ret->space = proc->space;
    ret->name = proc->name;
    ret->wanted = proc->wanted;
    ret->status = proc->pid ? PROC_RUNNING : PROC_STOPPED;
    ret->hosted = proc->hosted;
    ret->pid = proc->pid ? proc->pid : -1;
    ret->restarts = proc->restarts;
    fill_cause(proc, &ret->cause);
    ret->register_s = proc->register_s;
    ret->last_start_s = proc->last_start_s;
    ret->report_s = now_s;
    if (detailed && proc->pid)
        fill_usage(proc, now_s, ret);
}
