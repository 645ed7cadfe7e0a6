/* SPDX-License-Identifier: MIT */
/* core_rules.c - what the operations are, and what each needs before it may begin. */
#include <signal.h>
#include <stdlib.h>

#include "agent/core_op.h"
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
    return op->phase != PHASE_JOURNAL && op->phase != PHASE_SYNC &&
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

bool op_starts(const struct op *op)
{
    return op_rule(op) && op_part(op)->outcome == MAKES_RUN;
}

void op_use_known_spec(struct op *op)
{
    struct proc_spec *spec = &op->command.spec, known;
    const struct kept *k = op->kept;
    bool has_worked = k->hosted || k->wanted != PROC_UNREGISTERED;

    if (*spec->identity.proc_name || !k->has_spec ||
        (!has_worked && op->command.op != PROC_OP_QUERY))
        return;
    proc_spec_copy(&op->kept->spec, &op->arena, &known);
    if (spec->has_identity == PRESENCE_GIVEN)
        spec->identity = known.identity;
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

int op_lacks(const struct op *op, const char **ret_what)
{
    const char *command = missing_command(op), *identity = missing_identity(op);

    *ret_what = command ? command : identity;
    return command ? CODE_NO_COMMAND : identity ? CODE_PARAM : CODE_OK;
}
