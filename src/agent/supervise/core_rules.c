/* SPDX-License-Identifier: MIT */
/* core_rules.c - what an operation requires before it may start; see core_rules.h. */
#include "agent/supervise/core_op.h"
#include "agent/supervise/core_order.h"
#include "base/mem/mem.h"
#include "model/check.h"
#include "model/operation.h"
#include "model/signal.h"

#define CMD(member) offsetof(struct proc_control, member)

const struct operation *op_row(const struct op *op)
{
    return operation_find(op->command.op);
}

const struct operation *op_part(const struct op *op)
{
    const struct operation *o = op_row(op);

    if (!o->replaces || *operation_line(&o->command, &op->command.spec.control))
        return o;
    return operation_find(op->half == HALF_STOP ? PROC_OP_STOP : PROC_OP_START);
}

const char *op_line(const struct op *op)
{
    return operation_line(&op_part(op)->command, &op->command.spec.control);
}

bool op_is_acting(const struct op *op)
{
    return op->phase != PHASE_JOURNAL && op->phase != PHASE_SYNC && op->phase != PHASE_ASK &&
           (op->phase != PHASE_QUEUE || op_has_acted(op));
}

int64_t op_instances(const struct op *op)
{
    int64_t asked = op->command.spec.extra.instances, known = op->proc->spec.extra.instances;
    int64_t n = asked ? asked : known;

    return n > 1 ? n : 0;
}

bool op_is_ours(const struct op *op)
{
    return !*op->command.task;
}

bool op_goes_first(const struct op *op)
{
    return op_is_ours(op) && op->origin != ORIGIN_CYCLE;
}

bool op_starts(const struct op *op)
{
    return op_row(op) && op_part(op)->outcome == MAKES_RUN;
}

/* Queries and stops: a failed start may have left a running process. */
static bool is_for_leftovers(const struct op *op)
{
    const struct operation *o = op_row(op);

    return o && (o->kind == ONLY_LOOKS || o->outcome == MAKES_STOP);
}

void op_use_known_spec(struct op *op)
{
    struct proc_spec *spec = &op->command.spec, known;
    const struct proc *k = op->proc;
    bool has_worked = k->hosted || k->wanted != PROC_UNREGISTERED;
    bool is_unchecked = op->command.look == LOOK_UNCHECKED;

    if ((*spec->identity.proc_name && !is_unchecked) || !k->has_spec ||
        (!has_worked && !is_for_leftovers(op)))
        return;
    proc_spec_copy(&op->proc->spec, &op->arena, &known);
    if (!is_unchecked &&
        (spec->has_identity == PRESENCE_GIVEN || spec->has_control == PRESENCE_GIVEN)) {
        spec->identity = known.identity; /* given settings take precedence */
        return;
    }
    *spec = known;
    if (is_unchecked)
        op->command.look = LOOK_ONLY;
}

/* False for a query, which answers that nothing runs, and for the end of hosting, which has
 * nothing to do. */
static bool needs_identity(const struct op *op)
{
    const struct operation *o = op_row(op);

    return !o || o->needs != NEEDS_NOTHING;
}

/* The request has no spec, and this host has none stored (op_use_known_spec()). */
static const char *missing_spec(const struct op *op)
{
    const struct proc_spec *spec = &op->command.spec;
    bool is_given = spec->has_identity == PRESENCE_GIVEN || spec->has_control == PRESENCE_GIVEN ||
                    *spec->identity.proc_name;

    return needs_identity(op) && !is_given ? MSG("process info not registered") : NULL;
}

/* The requirements of an operation that acts on the process now or later.  In Job's
 * documentation setup_path and pid_path are optional: without them commands run in / and the
 * process is searched for by name and user. */
static const char *missing_identity(const struct op *op)
{
    const struct proc_identity *i = &op->command.spec.identity;
    bool is_job = op->command.spec.extra.has_job == PRESENCE_GIVEN;
    const struct operation *o = op_row(op);

    if (!needs_identity(op))
        return NULL;
    if (!*i->proc_name)
        return MSG("spec.identity.proc_name: required for this operation");
    if (!*i->setup_path && !is_job)
        return MSG("spec.identity.setup_path: required for this operation");
    if (!*i->user)
        return MSG("spec.identity.user: required for this operation");
    if (!*i->pid_path && !is_job && (!o || o->needs == NEEDS_PID_PATH))
        return MSG("spec.identity.pid_path: required for this operation");
    return NULL;
}

/* A setting without which the process could never become ready. */
static const char *missing_for_ready(const struct op *op)
{
    const struct proc_spec *spec = &op->command.spec;
    int64_t kind = spec->extra.ready.kind;

    if (!operation_registers(op->command.op))
        return NULL;
    if (kind == READY_PORT && !spec->extra.ready.port)
        return MSG("spec.holdfast.ready.port: required where ready.when is port");
    if (kind == READY_HEALTH && !*spec->control.health_cmd && !spec->extra.checks.n)
        return MSG("spec.control.health_cmd: required where ready.when is health and there are no "
                   "checks");
    if (kind == READY_PID_FILE && !*spec->identity.pid_path)
        return MSG("spec.identity.pid_path: required where ready.when is pid_file");
    return NULL;
}

static const char *wrong_checks(struct op *op)
{
    if (!operation_registers(op->command.op))
        return NULL;
    return proc_checks_fault(&op->command.spec.extra.checks, &op->arena);
}

static const char *missing_signal(const struct op *op)
{
    const struct operation *o = op_row(op);

    return o && o->takes_signal && !signal_number(op->command.signal)
               ? MSG("signal: must be the name of a signal, such as HUP")
               : NULL;
}

static const char *missing_command(struct op *op)
{
    const struct proc_control *control = &op->command.spec.control;
    const struct operation *o = op_row(op);

    if (!o || !o->required.name || *operation_line(&o->required, control) ||
        *operation_line(&o->or_required, control))
        return NULL;
    if (o->or_required.name)
        return arena_msg(&op->arena, "spec.control.%s: required for this operation, or %s",
                         o->required.name, o->or_required.name);
    return arena_msg(&op->arena, "spec.control.%s: required for this operation", o->required.name);
}

static const char *missing_for_watch(const struct op *op)
{
    const struct list *watch = &op->command.spec.extra.watch;
    const struct proc_watch *w = watch->items;

    if (!operation_registers(op->command.op) || *op->command.spec.control.reload_cmd)
        return NULL;
    for (size_t i = 0; i < watch->n; i++) {
        if (w[i].on_change == ON_CHANGE_RELOAD)
            return MSG("spec.control.reload_cmd: required where watch.on_change is reload");
    }
    return NULL;
}

static const char *find_circle(struct op *op)
{
    const char *circle = NULL;

    if (!op_is_ours(op) && operation_registers(op->command.op))
        circle = order_find_circle(op->proc, &op->command.spec, &op->arena);
    return circle;
}

/* ---- the host's policy */

/* If the spec is stored, every command of it is checked now, so that a forbidden stop is not
 * discovered only when it is needed; otherwise only the commands that run now. */
static bool is_to_be_run(const struct op *op, size_t at)
{
    const struct operation *o = op_row(op);

    return o->hosting == HOSTING_BEGINS || (o->command.name && o->command.offset == at);
}

/* Checks of a start decide whether it is ready, and those of a hosted process are run from now on.
 */
static size_t add_check_lines(const struct op *op, const char **lines)
{
    const struct list *checks = &op->command.spec.extra.checks;
    const struct proc_check *rows = checks->items;
    size_t n = 0;

    for (size_t i = 0; i < checks->n && operation_registers(op->command.op); i++) {
        if (*rows[i].command)
            lines[n++] = rows[i].command;
    }
    return n;
}

const char *const *op_policy_lines(struct op *op)
{
    static const size_t all[] = {
        CMD(start_cmd), CMD(stop_cmd),    CMD(restart_cmd), CMD(reload_cmd),
        CMD(kill_cmd),  CMD(version_cmd), CMD(health_cmd),
    };
    const char *control = (const char *)&op->command.spec.control;
    const char **lines =
        arena_alloc(&op->arena, (ARRAY_LEN(all) + CHECKS_MAX + 2) * sizeof(*lines));
    const char *pre_start = op->command.spec.extra.pre_start;
    size_t n = 0;

    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        const char *line = *(const char *const *)(const void *)(control + all[i]);

        if (*line && is_to_be_run(op, all[i]))
            lines[n++] = line;
    }
    if (*pre_start && is_to_be_run(op, CMD(start_cmd)))
        lines[n++] = pre_start;
    add_check_lines(op, lines + n);
    return lines;
}

static int ask_policy(struct op *op, struct err *err)
{
    const struct core *c = op->core;
    const struct proc_spec *spec = &op->command.spec;
    const char *const *lines = op_policy_lines(op);

    if (c->effects->allow(c->arg, spec, "", err))
        return -1;
    for (; *lines; lines++) {
        if (c->effects->allow(c->arg, spec, *lines, err))
            return -1;
    }
    return 0;
}

/* Automatic restarts are checked right before their command, because many may be queued at
 * once.  A restart that sends a signal first is checked now: later would be too late. */
static bool is_checked_later(const struct op *op)
{
    return op_is_ours(op) &&
           (op->command.op != PROC_OP_RESTART || *op->command.spec.control.restart_cmd);
}

/* Queries and the end of hosting are always allowed.  An internal stop by a signal is not
 * subject to the policy. */
static const char *find_denial(struct op *op)
{
    const struct operation *o = op_row(op);
    struct err err;

    if (!op->core->effects->allow || !o || o->needs == NEEDS_NOTHING)
        return NULL;
    if (op_is_ours(op) && o->outcome == MAKES_STOP && !*op_line(op))
        return NULL;
    if (!ask_policy(op, &err))
        return NULL;
    if (err.code != ERR_UNAVAILABLE)
        return arena_strdup(&op->arena, err_msg(&err));
    op->is_unchecked = !is_checked_later(op);
    return NULL;
}

int op_lacks(struct op *op, const char **ret_what)
{
    if ((*ret_what = missing_spec(op)))
        return CODE_NOT_REGISTERED;
    if ((*ret_what = missing_command(op)))
        return CODE_NO_COMMAND;
    if ((*ret_what = missing_signal(op)) || (*ret_what = missing_identity(op)) ||
        (*ret_what = missing_for_ready(op)) || (*ret_what = wrong_checks(op)) ||
        (*ret_what = missing_for_watch(op)) || (*ret_what = find_circle(op)))
        return CODE_PARAM;
    return (*ret_what = find_denial(op)) ? CODE_DENIED : CODE_OK;
}
