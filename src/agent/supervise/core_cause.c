/* SPDX-License-Identifier: MIT */
/* core_cause.c - see core_cause.h. */
#include "agent/supervise/core_cause.h"

#include <stdlib.h>
#include <string.h>

#include "agent/supervise/core_cycle.h"
#include "agent/supervise/core_op.h"
#include "agent/supervise/core_order.h"
#include "base/mem/mem.h"
#include "base/text/utf8.h"
#include "model/operation.h"
#include "wire/tls/digest.h"

#define TEXT(member) offsetof(struct proc_cause, member)
static const size_t texts[] = { TEXT(output),       TEXT(failed_text), TEXT(waits_for),
                                TEXT(limit_text),   TEXT(drift),       TEXT(left),
                                TEXT(changed_file), TEXT(instead) };

static const char **text_at(struct proc_cause *c, size_t i)
{
    return (const char **)(void *)((char *)c + texts[i]);
}

static void set_text(const char **slot, const char *text, size_t n)
{
    free((char *)*slot);
    *slot = n ? xmemdup(text, n) : NULL;
}

/* Of an error text the beginning is the most useful part. */
size_t cause_cut(char *to, size_t size, const char *text)
{
    if (msg_put(NULL, 0, text, NULL, 0) < size / 2)
        return msg_copy(to, size, text);
    msg_put(to, size / 2, text, NULL, 0);
    return strlen(to);
}

void cause_set_text(const char **slot, const char *text)
{
    char first[CAUSE_TEXT_SIZE];

    set_text(slot, first, text ? cause_cut(first, sizeof(first), text) : 0);
}

/* Of an output the last lines are kept; the cut is at a character boundary. */
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

void cause_init(struct proc *k)
{
    shape_defaults(&proc_cause_shape, &k->cause);
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        *text_at(&k->cause, i) = NULL;
    k->cause.since_s = k->core->wall_ms / 1000;
}

/* ---- last exit */

static void drop_exited(struct proc *k)
{
    struct map *m = &k->core->by_exited;

    if (k->exited.pid && cause_find_exited(k->core, k->exited) == k)
        map_del(m, (const char *)&k->exited.pid, sizeof(k->exited.pid));
    k->exited = (struct core_ident){ 0 };
}

void cause_free(struct proc *k)
{
    drop_exited(k);
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        set_text(text_at(&k->cause, i), NULL, 0);
}

struct proc *cause_find_exited(const struct core *c, struct core_ident ident)
{
    struct proc *k = map_find(&c->by_exited, (const char *)&ident.pid, sizeof(ident.pid));

    return k && k->exited.start_ticks == ident.start_ticks ? k : NULL;
}

static void set_status(struct proc_cause *cause, int status)
{
    bool is_signal = status >= CORE_SIGNALED;

    cause->exit_code = is_signal || status == CORE_STATUS_UNKNOWN ? -1 : status;
    cause->exit_signal = is_signal ? status % CORE_SIGNALED : 0;
    cause->exit_core = status >= CORE_DUMPED;
}

static bool learn_status(struct proc *k, int status)
{
    if (status == CORE_STATUS_UNKNOWN || k->cause.exit_code >= 0 || k->cause.exit_signal)
        return false;
    set_status(&k->cause, status);
    return true;
}

void cause_on_exit(struct proc *k, struct core_ident ident, int status)
{
    struct proc_cause *cause = &k->cause;

    drop_exited(k);
    k->exited = ident;
    map_put(&k->core->by_exited, (const char *)&k->exited.pid, sizeof(k->exited.pid), k);
    cause->exit_s = k->core->wall_ms / 1000;
    cause->exit_pid = ident.pid;
    set_status(cause, status);
    cause->exit_oom = cause->exit_oom_perhaps = false;
    cause->instances = cause->instances_wanted = 0; /* until the next probe */
    set_text(&cause->output, NULL, 0);
}

/* What followed from the exit stays: a restart did not wait for this. */
void core_on_exit_status(struct core *c, struct core_ident ident, int status, int64_t now_ms)
{
    struct map_entry *e;

    c->now_ms = now_ms;
    for (size_t at = 0; (e = map_next(&c->proc, &at));) {
        struct proc *k = e->value;

        if (!core_is_same(k->exited, ident) || !learn_status(k, status))
            continue;
        if (core_is_known(k))
            journal_note_process(k);
        core_tell_process(k);
    }
}

/* An output that is already there comes from a command that failed after the exit, so it is
 * newer. */
void cause_on_output(struct proc *k, const char *output, enum proc_oom oom)
{
    k->cause.exit_oom = oom == PROC_OOM_YES;
    k->cause.exit_oom_perhaps = oom == PROC_OOM_PERHAPS;
    if (output && *output && !k->cause.output)
        cause_set_last(&k->cause.output, output);
}

void cause_restore_exit(struct proc *k, const struct proc_cause *before)
{
    struct proc_cause *cause = &k->cause;

    drop_exited(k);
    cause->exit_s = before->exit_s;
    cause->exit_pid = before->exit_pid;
    cause->exit_code = before->exit_code;
    cause->exit_signal = before->exit_signal;
    cause->exit_core = before->exit_core;
    cause->exit_oom = before->exit_oom;
    cause->exit_oom_perhaps = before->exit_oom_perhaps;
    set_text(&cause->output, before->output, before->output ? strlen(before->output) : 0);
}

/* ---- last operation */

void cause_on_failure(struct proc *k, int64_t op, int code, const char *text, const char *output)
{
    k->cause.failed_s = k->core->wall_ms / 1000;
    k->cause.failed_op = op;
    k->cause.failed_code = code;
    cause_set_text(&k->cause.failed_text, text);
    if (output && *output)
        cause_set_last(&k->cause.output, output);
}

void cause_on_success(struct proc *k)
{
    struct proc_cause *cause = &k->cause;

    cause->failed_s = cause->failed_op = cause->failed_code = 0;
    set_text(&cause->failed_text, NULL, 0);
    cause->has_given_up = cause->has_finished = false;
}

/* ---- reports and replay */

/* A signal takes no time; older servers and command lines refuse a number that they do not know. */
static int64_t doing(const struct proc *k)
{
    const struct op *op = TAILQ_FIRST(&k->ops);

    return op && op_is_acting(op) && !operation_has_kind(op->command.op, ONLY_LOOKS) &&
                   operation_find_gse(op->command.op)
               ? op->command.op
               : -1;
}

static void fill_tries(const struct proc *k, struct proc_cause *ret)
{
    struct proc_policy policy;

    ret->tries = ret->tries_max = ret->next_try_s = 0;
    if (!k->has_spec || !(k->hosted || k->cause.has_given_up))
        return;
    policy = proc_policy_of(&k->spec);
    if (policy.kind != PROC_RESIDENT)
        return;
    ret->tries = k->fast_tries + k->tries;
    ret->tries_max = restart_is_unlimited(k) ? -1 : k->fast_tries + policy.start_retries;
    ret->next_try_s = k->actual == ACTUAL_BACKOFF ? k->cause.next_try_s : 0;
}

/* Digest of the fields that a start depends on; limits and restart policy take effect at once.
 * Never 0. */
static int64_t start_digest(const struct proc_spec *spec)
{
    const char *const fields[] = {
        spec->control.start_cmd,   spec->control.restart_cmd, spec->identity.proc_name,
        spec->identity.setup_path, spec->identity.pid_path,   spec->identity.user,
    };
    unsigned char digest[DIGEST_SIZE];
    struct buf b = { 0 };
    uint64_t number = 0;

    for (size_t i = 0; i < ARRAY_LEN(fields); i++)
        buf_add(&b, fields[i], strlen(fields[i]) + 1);
    shape_write(&proc_extra_shape, &spec->extra, &b);
    digest_sha256(buf_data(&b), b.len, digest);
    buf_free(&b);
    for (size_t i = 0; i < sizeof(number); i++)
        number = number << 8 | digest[i];
    return (int64_t)(number >> 1) | 1;
}

/* As long as no other spec was stored since its start, the process runs with the stored one.  An
 * older agent version recorded only that another spec was stored: then it is unknown which one
 * the process runs with. */
void cause_on_spec(struct proc *k, const struct proc_spec *spec)
{
    if (!k->ident.pid || !k->has_spec)
        return;
    if (!k->started_with && !k->cause.has_old_spec)
        k->started_with = start_digest(&k->spec);
    if (k->started_with)
        k->cause.has_old_spec = start_digest(spec) != k->started_with;
}

void cause_on_start(struct proc *k)
{
    k->started_with = 0;
    k->cause.has_old_spec = false;
}

static const char *instead(const struct proc *k)
{
    const struct op *op = TAILQ_FIRST(&k->ops);

    return op && op->instead ? op->instead : "";
}

void cause_fill(const struct proc *k, struct proc_cause *ret)
{
    *ret = k->cause;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        const char **text = text_at(ret, i);

        *text = *text ? *text : "";
    }
    ret->waits_for = order_waits_for(k);
    ret->doing = doing(k);
    ret->instead = ret->doing >= 0 ? instead(k) : "";
    cycle_fill_cause(k, ret);
    fill_tries(k, ret);
}

void cause_replay(struct proc *k, const struct proc_cause *from)
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
