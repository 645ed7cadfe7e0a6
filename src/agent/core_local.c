/* SPDX-License-Identifier: MIT */
/* core_local.c - see core_local.h. */
#include "agent/core_local.h"

#include <stdio.h>
#include <string.h>

#include "agent/core_op.h"
#include "base/utf8.h"

/* An event is for people: what a command has printed stands in the result. */
enum { TEXT_MAX = 300 };

static const char prefix[] = "local:";

void core_local_task(const char *user, uint64_t number, char to[CORE_LOCAL_TASK_SIZE])
{
    snprintf(to, CORE_LOCAL_TASK_SIZE, "%s%.*s:%016llx", prefix, CORE_LOCAL_USER_MAX, user,
             (unsigned long long)number);
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

/* Before the result is answered; both are in the journal by then, or neither. */
void local_on_end(struct op *op)
{
    const char *user = op->command.task + strlen(prefix), *text = op->result.text;
    int user_n = (int)strcspn(user, ":"), text_n = (int)utf8_whole(text, strnlen(text, TEXT_MAX));
    const struct op_rule *r = op_rule(op);
    const struct kept *k = op->kept;

    if (op->command.op == PROC_OP_QUERY)
        return;
    if (op->result.code == CODE_OK)
        core_tell_event(op->kept, "process_local_operation",
                        "%.*s asked on the host itself to %s %s:%s: success", user_n, user,
                        r ? r->name : "operate", k->meta.space, k->meta.name);
    else
        core_tell_event(op->kept, "process_local_operation",
                        "%.*s asked on the host itself to %s %s:%s: failed, code %lld: %.*s",
                        user_n, user, r ? r->name : "operate", k->meta.space, k->meta.name,
                        (long long)op->result.code, text_n, text);
}

/* ---- what is shown */

static bool fits(const char *wanted, const char *is)
{
    return !*wanted || !strcmp(wanted, is);
}

void core_each_view(const struct core *c, const char *space, const char *name,
                    void (*fn)(void *arg, const struct proc_view *view), void *arg)
{
    struct map_entry *e;

    for (size_t at = 0; (e = map_next(&c->kept, &at));) {
        const struct kept *k = e->value;
        struct proc_view v;

        if (!core_is_known(k) || !fits(space, k->meta.space) || !fits(name, k->meta.name))
            continue;
        shape_defaults(&proc_view_shape, &v);
        core_fill_view(k, &v);
        fn(arg, &v);
    }
}

static void count(void *counts, const struct proc_view *v)
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
    core_each_view(c, "", "", count, ret);
}

/* Who did what on the host itself, only the host can say. */
void local_refuse(struct core *c)
{
    const struct message_error error = { .type = MESSAGE_COMMAND,
                                         .code = CODE_PARAM,
                                         .text =
                                             "task: \"local:\" begins those of this host itself",
                                         .retry_ms = -1 };

    c->hands->send(c->arg, MESSAGE_ERROR, &message_error_shape, &error);
}
