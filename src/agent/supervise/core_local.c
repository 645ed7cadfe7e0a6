/* SPDX-License-Identifier: MIT */
/* core_local.c - see core_local.h. */
#include "agent/supervise/core_local.h"

#include <stdio.h>
#include <string.h>

#include "agent/supervise/core_cause.h"
#include "agent/supervise/core_op.h"
#include "base/text/utf8.h"
#include "model/operation.h"

/* An event is for humans: the output of a command is in the result. */
enum { TEXT_SIZE = 600 };

static const char prefix[] = "local:";

void core_local_task(const char *user, uint64_t number, char to[CORE_LOCAL_TASK_SIZE])
{
    snprintf(to, CORE_LOCAL_TASK_SIZE, "%s%.*s:%016llx", prefix,
             (int)utf8_cut(user, CORE_LOCAL_USER_MAX), user, (unsigned long long)number);
}

bool core_is_local(const char *task)
{
    return !strncmp(task, prefix, strlen(prefix));
}

bool core_operate(struct core *c, const struct message_command *m, int64_t in_ms, int64_t now_ms)
{
    c->now_ms = now_ms;
    return core_take(c, m, now_ms + in_ms);
}

/* Called before the result is sent; the event and the result are both in the journal by then, or
 * neither. */
void local_on_end(struct op *op)
{
    const char *user = op->command.task + strlen(prefix);
    int user_n = (int)strcspn(user, ":");
    const struct operation *o = op_row(op);
    const struct proc *k = op->proc;
    const char *what = op->command.forgets ? "forget"
                       : !o                ? "operate"
                       : o->takes_signal
                           ? arena_printf(&op->arena, "%s (%s)", o->name, op->command.signal)
                           : o->name;
    char why[TEXT_SIZE];

    if (operation_has_kind(op->command.op, ONLY_LOOKS))
        return;
    cause_cut(why, sizeof(why), op->result.text);
    if (op->result.code == CODE_OK)
        core_tell_event(op->proc, "process_local_operation",
                        "%.*s asked on the host itself to %s %s:%s: success", user_n, user, what,
                        k->meta.space, k->meta.name);
    else
        core_tell_event(op->proc, "process_local_operation",
                        "%.*s asked on the host itself to %s %s:%s: failed, code %lld: %s", user_n,
                        user, what, k->meta.space, k->meta.name, (long long)op->result.code, why);
}

/* ---- views */

static bool local_fits(const char *wanted, const char *is)
{
    return !*wanted || !strcmp(wanted, is);
}

static bool is_being_started(const struct proc_view *v)
{
    return operation_has_outcome(v->cause.doing, MAKES_RUN);
}

void core_each_view(const struct core *c, const char *space, const char *name,
                    void (*fn)(void *arg, const struct proc_view *view), void *arg)
{
    struct map_entry *e;

    for (size_t at = 0; (e = map_next(&c->proc, &at));) {
        const struct proc *k = e->value;
        struct proc_view v;

        if (!local_fits(space, k->meta.space) || !local_fits(name, k->meta.name))
            continue;
        shape_defaults(&proc_view_shape, &v);
        core_fill_view(k, &v);
        if (core_is_known(k) || is_being_started(&v))
            fn(arg, &v);
    }
}

void core_each_spec(const struct core *c, const char *space, const char *name,
                    void (*fn)(void *arg, const struct core_spec *spec), void *arg)
{
    struct map_entry *e;

    for (size_t at = 0; (e = map_next(&c->proc, &at));) {
        const struct proc *k = e->value;
        const struct core_spec s = { &k->meta, &k->spec, k->hosted, k->ident.pid != 0 };

        if (k->has_spec && local_fits(space, k->meta.space) && local_fits(name, k->meta.name))
            fn(arg, &s);
    }
}

static void local_count(void *counts, const struct proc_view *v)
{
    struct core_counts *to = counts;

    to->processes++;
    to->running += v->status == PROC_RUNNING;
    to->hosted += v->hosted;
}

void core_count(const struct core *c, struct core_counts *ret)
{
    *ret = (struct core_counts){ .operations = (int64_t)core_in_work(c),
                                 .events = (int64_t)c->events.n };
    core_each_view(c, "", "", local_count, ret);
}

/* Only the host itself may create local tasks. */
void local_refuse(struct core *c)
{
    const struct message_error error = { .type = MESSAGE_COMMAND,
                                         .code = CODE_PARAM,
                                         .text = MSG(
                                             "task: \"local:\" begins those of this host itself"),
                                         .retry_ms = -1 };

    c->effects->send(c->arg, MESSAGE_ERROR, &message_error_shape, &error);
}
