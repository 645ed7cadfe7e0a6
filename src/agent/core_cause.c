/* SPDX-License-Identifier: MIT */
/* core_cause.c - see core_cause.h. */
#include "agent/core_cause.h"

#include <stdlib.h>
#include <string.h>

#include "agent/core_cycle.h"
#include "agent/core_op.h"
#include "agent/core_order.h"
#include "base/mem.h"
#include "base/utf8.h"

#define TEXT(member) offsetof(struct proc_cause, member)
static const size_t texts[] = { TEXT(output), TEXT(failed_text), TEXT(waits_for), TEXT(limit_text),
                                TEXT(drift) };

static const char **text_at(struct proc_cause *c, size_t i)
{
    return (const char **)(void *)((char *)c + texts[i]);
}

static void set_text(const char **slot, const char *text, size_t n)
{
    free((char *)*slot);
    *slot = n ? xmemdup(text, n) : NULL;
}

/* The beginning of what went wrong says most. */
static void set_first(const char **slot, const char *text)
{
    size_t n = text ? strlen(text) : 0;

    set_text(slot, text, n > WHY_TEXT_BYTES ? utf8_whole(text, WHY_TEXT_BYTES) : n);
}

void cause_set_text(const char **slot, const char *text)
{
    set_first(slot, text);
}

/* Of what was said, the last lines do; what is cut begins with a whole character. */
void cause_set_last(const char **slot, const char *text)
{
    const char *end = text ? text + strlen(text) : text, *from = end;
    int lines = 1;

    while (end > text && (end[-1] == '\n' || end[-1] == '\r'))
        end--;
    for (from = end; from > text && end - from < WHY_OUTPUT_BYTES; from--) {
        if (from[-1] == '\n' && ++lines > WHY_OUTPUT_LINES)
            break;
    }
    while (from < end && ((unsigned char)*from & 0xc0) == 0x80)
        from++;
    set_text(slot, from, (size_t)(end - from));
}

void cause_init(struct kept *k)
{
    shape_defaults(&proc_cause_shape, &k->cause);
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        *text_at(&k->cause, i) = NULL;
    k->cause.since_s = k->core->wall_ms / 1000;
}

/* ---- how it ended */

static void drop_exited(struct kept *k)
{
    struct map *m = &k->core->by_exited;

    if (k->exited.pid && cause_find_exited(k->core, k->exited) == k)
        map_del(m, (const char *)&k->exited.pid, sizeof(k->exited.pid));
    k->exited = (struct core_ident){ 0 };
}

void cause_free(struct kept *k)
{
    drop_exited(k);
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        set_text(text_at(&k->cause, i), NULL, 0);
}

struct kept *cause_find_exited(const struct core *c, struct core_ident ident)
{
    struct kept *k = map_find(&c->by_exited, (const char *)&ident.pid, sizeof(ident.pid));

    return k && k->exited.start_ticks == ident.start_ticks ? k : NULL;
}

void cause_on_exit(struct kept *k, struct core_ident ident, int status)
{
    struct proc_cause *cause = &k->cause;
    bool is_signal = status >= CORE_SIGNALED;

    drop_exited(k);
    k->exited = ident;
    map_put(&k->core->by_exited, (const char *)&k->exited.pid, sizeof(k->exited.pid), k);
    cause->exit_s = k->core->wall_ms / 1000;
    cause->exit_pid = ident.pid;
    cause->exit_code = is_signal || status == CORE_STATUS_UNKNOWN ? -1 : status;
    cause->exit_signal = is_signal ? status % CORE_SIGNALED : 0;
    cause->exit_core = status >= CORE_DUMPED;
    cause->exit_oom = false;
    cause->instances = cause->instances_wanted = 0; /* until somebody asks again */
    set_text(&cause->output, NULL, 0);
}

/* What is there by now was said since it ended, by a command that failed: that is later. */
void cause_on_said(struct kept *k, const char *output, bool oom)
{
    k->cause.exit_oom = oom;
    if (output && *output && !k->cause.output)
        cause_set_last(&k->cause.output, output);
}

void cause_restore_exit(struct kept *k, const struct proc_cause *before)
{
    struct proc_cause *cause = &k->cause;

    drop_exited(k);
    cause->exit_s = before->exit_s;
    cause->exit_pid = before->exit_pid;
    cause->exit_code = before->exit_code;
    cause->exit_signal = before->exit_signal;
    cause->exit_core = before->exit_core;
    cause->exit_oom = before->exit_oom;
    set_text(&cause->output, before->output, before->output ? strlen(before->output) : 0);
}

/* ---- what was tried */

void cause_on_failure(struct kept *k, int64_t op, int code, const char *text, const char *output)
{
    k->cause.failed_s = k->core->wall_ms / 1000;
    k->cause.failed_op = op;
    k->cause.failed_code = code;
    set_first(&k->cause.failed_text, text);
    if (output && *output)
        cause_set_last(&k->cause.output, output);
}

void cause_on_success(struct kept *k)
{
    struct proc_cause *cause = &k->cause;

    cause->failed_s = cause->failed_op = cause->failed_code = 0;
    set_text(&cause->failed_text, NULL, 0);
    cause->has_given_up = cause->has_finished = false;
}

/* ---- told, and told us */

static int64_t doing(const struct kept *k)
{
    const struct op *op = TAILQ_FIRST(&k->ops);

    return op && op_is_acting(op) && op->command.op != PROC_OP_QUERY ? op->command.op : -1;
}

static void fill_tries(const struct kept *k, struct proc_cause *ret)
{
    struct proc_policy policy;

    ret->tries = ret->tries_max = ret->next_try_s = 0;
    if (!k->has_spec || !(k->hosted || k->cause.has_given_up))
        return;
    policy = proc_policy_of(&k->spec);
    if (policy.kind != PROC_RESIDENT)
        return;
    ret->tries = k->tries;
    ret->tries_max = k->spec.extra.keep_trying ? -1 : policy.start_retries;
    ret->next_try_s = k->timer.place ? k->cause.next_try_s : 0;
}

void cause_fill(const struct kept *k, struct proc_cause *ret)
{
    *ret = k->cause;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        const char **text = text_at(ret, i);

        *text = *text ? *text : "";
    }
    ret->waits_for = order_waits_for(k);
    ret->doing = doing(k);
    cycle_fill_cause(k, ret);
    fill_tries(k, ret);
}

void cause_replay(struct kept *k, const struct proc_cause *from)
{
    struct proc_cause old = k->cause;

    k->cause = *from;
    k->cause.runs = (struct list){ 0 };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        const char **text = text_at(&k->cause, i), *read = *text;

        *text = *text_at(&old, i);
        set_text(text, read, read ? strlen(read) : 0);
    }
}
