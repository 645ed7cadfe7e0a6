/* SPDX-License-Identifier: MIT */
/* core_claim.c - see core_claim.h. */
#include "agent/supervise/core_claim.h"

#include <string.h>

#include "model/app.h"

/* By ident, the next other hosted entry after `from`; NULL: from the first. */
static struct proc *next_other(const struct op *op, struct core_ident ident,
                               const struct proc *from)
{
    struct proc *k = from
                         ? from->same_pid
                         : map_find(&op->core->by_pid, (const char *)&ident.pid, sizeof(ident.pid));

    while (k && (k == op->proc || !k->hosted || !core_is_same(k->ident, ident)))
        k = k->same_pid;
    return k;
}

bool claim_has(const struct op *op, struct core_ident ident)
{
    return ident.pid && next_other(op, ident, NULL);
}

static bool is_same_identity(const struct proc_identity *a, const struct proc_identity *b)
{
    return !strcmp(a->proc_name, b->proc_name) && !strcmp(a->pid_path, b->pid_path) &&
           !strcmp(a->user, b->user);
}

static bool has_same_identity(const struct proc *other, const struct op *op)
{
    return is_same_identity(&other->spec.identity, &op->command.spec.identity);
}

/* A run of a periodic or run-once process is judged by its command; several may share a program. */
static bool is_kept(const struct proc_spec *spec)
{
    return proc_policy_of(spec).kind == PROC_RESIDENT;
}

/* The next other hosted name of the process, which is down: both would start it.  Without a pid
 * file two processes of one program are told apart by the command that started them.  `at`: from 0.
 */
static struct proc *next_down(const struct op *op, size_t *at)
{
    struct map_entry *e;

    if (op_row(op)->kind != CHANGES_HOSTING || !is_kept(&op->command.spec))
        return NULL;
    while ((e = map_next(&op->core->proc, at))) {
        struct proc *other = e->value;

        if (other != op->proc && other->hosted && !other->ident.pid && is_kept(&other->spec) &&
            *other->spec.identity.pid_path && has_same_identity(other, op))
            return other;
    }
    return NULL;
}

static bool has_down(const struct op *op)
{
    size_t at = 0;

    return next_down(op, &at);
}

/* One pid file may have two paths, by symbolic links; its process has one name. */
static bool may_be_same(const struct proc *other, const struct proc_identity *i)
{
    return other->hosted && other->ident.pid && *i->pid_path &&
           (!strcmp(other->spec.identity.pid_path, i->pid_path) ||
            !strcmp(other->spec.identity.proc_name, i->proc_name));
}

bool claim_is_possible(const struct op *op)
{
    struct map_entry *e;

    for (size_t at = 0; (e = map_next(&op->core->proc, &at));) {
        if (e->value != op->proc && may_be_same(e->value, &op->command.spec.identity))
            return true;
    }
    return claim_has(op, op->proc->ident) || has_down(op);
}

bool claim_is_made(const struct op *op, struct core_ident ident)
{
    return claim_has(op, ident) || has_down(op);
}

static bool is_same_space(const struct proc *a, const struct proc *b)
{
    return !strcmp(a->meta.space, b->meta.space);
}

static bool caller_may_host(const struct op *op, const struct proc *other)
{
    return op->command.may_host == MAY_HOST_ALL ||
           (op->command.may_host == MAY_HOST_SPACE && is_same_space(op->proc, other));
}

/* Its start command, and what that has started besides, count as those of the new name: they say
 * which processes are the family. */
static void take_over(struct proc *k, const struct proc *other)
{
    core_set_ident(k, other->ident);
    k->start = other->start;
    k->begun_ms = other->begun_ms;
    core_set_siblings(k, other->siblings ? other->siblings : "");
}

/* Readers of the events of one namespace may not read those of another. */
static void tell_moved(struct proc *other, const struct proc *to)
{
    long long pid = (long long)other->ident.pid;

    if (!pid && is_same_space(other, to))
        core_tell_event(other, "process_hosting_moved",
                        "%s is no longer hosted: it is hosted as %s from now on", other->meta.name,
                        to->meta.name);
    else if (!pid)
        core_tell_event(other, "process_hosting_moved",
                        "%s is no longer hosted: it is hosted under a name of another namespace "
                        "from now on",
                        other->meta.name);
    else if (is_same_space(other, to))
        core_tell_event(other, "process_hosting_moved",
                        "%s is no longer hosted: its process %lld is hosted as %s from now on",
                        other->meta.name, pid, to->meta.name);
    else
        core_tell_event(
            other, "process_hosting_moved",
            "%s is no longer hosted: its process %lld is hosted under a name of another "
            "namespace from now on",
            other->meta.name, pid);
}

static void end_claim(struct proc *other, const struct proc *to)
{
    other->hosted = other->is_owed = false;
    tell_moved(other, to);
    journal_note_process(other);
    core_tell_process(other);
    restart_evaluate(other);
}

/* One that the caller may not host is enough to refuse: claim_move() ends the hosting of all. */
bool claim_can_move(const struct op *op, struct core_ident ident, const struct proc **ret_other)
{
    const struct proc *other = NULL;
    size_t at = 0;

    while (ident.pid && (other = next_other(op, ident, other))) {
        if (caller_may_host(op, other) && has_same_identity(other, op))
            continue;
        *ret_other = caller_may_host(op, other) ? other : NULL;
        return false;
    }
    *ret_other = NULL;
    while ((other = next_down(op, &at))) {
        if (!caller_may_host(op, other))
            return false;
    }
    return true;
}

const struct proc *claim_other(const struct op *op, struct core_ident ident)
{
    const struct proc *other = NULL;

    while (ident.pid && (other = next_other(op, ident, other))) {
        if (caller_may_host(op, other))
            return other;
    }
    return NULL;
}

void claim_move(struct op *op, struct core_ident ident)
{
    struct proc *other;
    size_t at = 0;

    while (ident.pid && (other = next_other(op, ident, NULL))) {
        take_over(op->proc, other);
        end_claim(other, op->proc);
    }
    while ((other = next_down(op, &at)))
        end_claim(other, op->proc);
}

static bool is_starting(const struct op *op)
{
    bool is_begun = op->phase == PHASE_PREPARE || op->phase == PHASE_FIND ||
                    op->phase == PHASE_RUN || op->phase == PHASE_LATE ||
                    op->phase == PHASE_SETTLE || op->phase == PHASE_CHECK;

    return is_begun && op_starts(op) && op->half == HALF_START;
}

bool claim_is_being_started(const struct op *op)
{
    const struct core *c = op->core;
    struct map_entry *e;

    for (size_t at = 0; *op->command.spec.identity.pid_path && (e = map_next(&c->by_id, &at));) {
        const struct op *other = e->value;

        if (other->proc != op->proc && is_starting(other) && is_kept(&op->command.spec) &&
            is_kept(&other->command.spec) &&
            is_same_identity(&other->command.spec.identity, &op->command.spec.identity))
            return true;
    }
    return false;
}

bool claim_gives_way(const struct proc *owner, const struct proc *k)
{
    return !owner->hosted && k->hosted && is_kept(&owner->spec) && is_kept(&k->spec) &&
           *k->spec.identity.pid_path && is_same_identity(&owner->spec.identity, &k->spec.identity);
}
