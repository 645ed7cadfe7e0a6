/* SPDX-License-Identifier: MIT */
/* core_rules.c - what the operations are, and what each needs before it may begin. */
#include <signal.h>
#include <stdlib.h>

#include "agent/core_op.h"
#include "agent/core_order.h"
#include "base/mem.h"

#define CMD(member) offsetof(struct proc_control, member)
#define NO_COMMAND  SIZE_MAX

/* clang-format off */
static const struct op_rule rules[] = {
    { PROC_OP_START,   "start",   MAKES_RUN,    true,  CODE_RUNNING, 0,                CMD(start_cmd),   0 },
    { PROC_OP_STOP,    "stop",    MAKES_STOP,   true,  0,            CODE_NOT_RUNNING, CMD(stop_cmd),    SIGTERM },
    { PROC_OP_QUERY,   "query",   LEAVES_AS_IS, true,  0,            0,                NO_COMMAND,       0 },
    { PROC_OP_HOST,    "host",    LEAVES_AS_IS, false, 0,            0,                NO_COMMAND,       0 },
    { PROC_OP_UNHOST,  "unhost",  LEAVES_AS_IS, false, 0,            0,                NO_COMMAND,       0 },
    { PROC_OP_RESTART, "restart", MAKES_RUN,    true,  0,            0,                CMD(restart_cmd), 0 },
    { PROC_OP_RELOAD,  "reload",  LEAVES_AS_IS, true,  0,            CODE_NOT_RUNNING, CMD(reload_cmd),  0 },
    { PROC_OP_KILL,    "kill",    MAKES_STOP,   true,  0,            CODE_NOT_RUNNING, CMD(kill_cmd),    SIGKILL },
};
/* clang-format on */

static const struct op_rule *find_rule(int64_t op)
{
    for (size_t i = 0; i < ARRAY_LEN(rules); i++) {
        if (rules[i].op == op)
            return &rules[i];
    }
    return NULL;
}

const struct op_rule *op_rule(const struct op *op)
{
    return find_rule(op->command.op);
}

const struct op_rule *op_part(const struct op *op)
{
    const struct op_rule *r = op_rule(op);

    if (r->op != PROC_OP_RESTART || *op->command.spec.control.restart_cmd)
        return r;
    return find_rule(op->stops_first ? PROC_OP_STOP : PROC_OP_START);
}

const char *op_line(const struct op *op)
{
    const char *control = (const char *)&op->command.spec.control;
    size_t at = op_part(op)->command;

    return at == NO_COMMAND ? "" : *(const char *const *)(const void *)(control + at);
}

bool op_is_acting(const struct op *op)
{
    return op->phase != PHASE_JOURNAL && op->phase != PHASE_SYNC && op->phase != PHASE_ASK &&
           (op->phase != PHASE_QUEUE || op->has_acted);
}

int64_t op_instances(const struct op *op)
{
    int64_t asked = op->command.spec.extra.instances, known = op->kept->spec.extra.instances;
    int64_t n = asked ? asked : known;

    return n > 1 ? n : 0;
}

bool op_is_ours(const struct op *op)
{
    return !*op->command.task;
}

bool op_goes_first(const struct op *op)
{
    return op_is_ours(op) && op->aim != AIM_CYCLE;
}

bool op_starts(const struct op *op)
{
    return op_rule(op) && op_part(op)->outcome == MAKES_RUN;
}

/* A start that failed may have left something that runs. */
static bool is_for_leftovers(const struct op *op)
{
    int64_t number = op->command.op;

    return number == PROC_OP_QUERY || number == PROC_OP_STOP || number == PROC_OP_KILL;
}

void op_use_known_spec(struct op *op)
{
    struct proc_spec *spec = &op->command.spec, known;
    const struct kept *k = op->kept;
    bool has_worked = k->hosted || k->wanted != PROC_UNREGISTERED;

    if (*spec->identity.proc_name || !k->has_spec || (!has_worked && !is_for_leftovers(op)))
        return;
    proc_spec_copy(&op->kept->spec, &op->arena, &known);
    if (spec->has_identity == PRESENCE_GIVEN || spec->has_control == PRESENCE_GIVEN)
        spec->identity = known.identity; /* what was given counts */
    else
        *spec = known;
}

/* What an operation needs that acts, or whose process will be acted upon. */
static const char *missing_identity(const struct op *op)
{
    const struct proc_identity *i = &op->command.spec.identity;
    int64_t number = op->command.op;

    if (number == PROC_OP_QUERY || number == PROC_OP_UNHOST)
        return NULL;
    if (!*i->proc_name)
        return "spec.identity.proc_name: required for this operation";
    if (!*i->setup_path)
        return "spec.identity.setup_path: required for this operation";
    if (!*i->user)
        return "spec.identity.user: required for this operation";
    if (!*i->pid_path && number != PROC_OP_RESTART && number != PROC_OP_RELOAD)
        return "spec.identity.pid_path: required for this operation";
    return NULL;
}

/* What could never be ready, else. */
static const char *missing_for_ready(const struct op *op)
{
    const struct proc_spec *spec = &op->command.spec;
    int64_t kind = spec->extra.ready.kind, number = op->command.op;

    if (number != PROC_OP_START && number != PROC_OP_RESTART && number != PROC_OP_HOST)
        return NULL;
    if (kind == READY_PORT && !spec->extra.ready.port)
        return "spec.holdfast.ready.port: required where ready.when is port";
    if (kind == READY_HEALTH && !*spec->control.health_cmd)
        return "spec.control.health_cmd: required where ready.when is health";
    if (kind == READY_PID_FILE && !*spec->identity.pid_path)
        return "spec.identity.pid_path: required where ready.when is pid_file";
    return NULL;
}

static const char *missing_command(const struct op *op)
{
    const struct proc_control *control = &op->command.spec.control;
    int64_t number = op->command.op;

    if ((number == PROC_OP_START || number == PROC_OP_HOST) && !*control->start_cmd)
        return "spec.control.start_cmd: required for this operation";
    if (number == PROC_OP_RESTART && !*control->restart_cmd && !*control->start_cmd)
        return "spec.control.restart_cmd: required for this operation, or start_cmd";
    if (number == PROC_OP_RELOAD && !*control->reload_cmd)
        return "spec.control.reload_cmd: required for this operation";
    return NULL;
}

/* What makes a process known, and will be used on it later. */
static bool registers(const struct op *op)
{
    return op->command.op == PROC_OP_START || op->command.op == PROC_OP_HOST ||
           op->command.op == PROC_OP_RESTART;
}

static const char *find_circle(struct op *op)
{
    const char *circle = NULL;

    if (!op_is_ours(op) && registers(op))
        circle = order_find_circle(op->kept, &op->command.spec, &op->arena);
    return circle ? arena_printf(&op->arena, "spec.holdfast.after: %s", circle) : NULL;
}

/* ---- the host's policy */

/* Every command of a spec that is to be kept, so that nobody finds out when he wants to stop
 * it; else what will be run now. */
static bool is_to_be_run(const struct op *op, size_t at)
{
    const struct op_rule *r = op_rule(op);

    return registers(op) || r->command == at;
}

static int ask_policy(const struct op *op, struct err *err)
{
    static const size_t lines[] = {
        CMD(start_cmd), CMD(stop_cmd),    CMD(restart_cmd), CMD(reload_cmd),
        CMD(kill_cmd),  CMD(version_cmd), CMD(health_cmd),
    };
    const struct core *c = op->core;
    const struct proc_spec *spec = &op->command.spec;

    if (c->hands->allow(c->arg, spec, "", err))
        return -1;
    for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
        const char *line =
            *(const char *const *)(const void *)((const char *)&spec->control + lines[i]);

        if (*line && is_to_be_run(op, lines[i]) && c->hands->allow(c->arg, spec, line, err))
            return -1;
    }
    return 0;
}

/* To look and to let go is always allowed, and what we stop ourselves, by a signal, is the
 * host's own business. */
static const char *find_denial(struct op *op)
{
    const struct op_rule *r = op_rule(op);
    struct err err;

    if (!op->core->hands->allow || !r || r->op == PROC_OP_QUERY || r->op == PROC_OP_UNHOST)
        return NULL;
    if (op_is_ours(op) && r->outcome == MAKES_STOP && !*op_line(op))
        return NULL;
    return ask_policy(op, &err) ? arena_strdup(&op->arena, err.text) : NULL;
}

int op_lacks(struct op *op, const char **ret_what)
{
    if ((*ret_what = missing_command(op)))
        return CODE_NO_COMMAND;
    if ((*ret_what = missing_identity(op)) || (*ret_what = missing_for_ready(op)) ||
        (*ret_what = find_circle(op)))
        return CODE_PARAM;
    return (*ret_what = find_denial(op)) ? CODE_DENIED : CODE_OK;
}
