/* SPDX-License-Identifier: MIT */
/* fleet_command.c - the commands of a simulated agent and their results; see fleet_agent.h. */
#include <stdlib.h>
#include <string.h>

#include "base/mem/mem.h"
#include "fleetsim/fleet_agent.h"
#include "model/code.h"
#include "model/operation.h"

/* One command, until its result is stored. */
struct fleet_command {
    struct fleet_agent *agent;
    int64_t item, op, deadline_ms; /* deadline_ms on the server's clock */
    bool only_if_hosted, is_done;
    struct timer timer; /* ends the operation */
    int code;
    const char *text;
    struct fleet_dummy proc; /* state after the operation */
    int64_t sent_ns;         /* when its result was first sent; 0: not yet */
    const char *space, *name;
    LIST_ENTRY(fleet_command) link;
    char task[];
};

static struct fleet_command *find_command(const struct fleet_agent *a, const char *task,
                                          int64_t item)
{
    struct fleet_command *d;

    LIST_FOREACH(d, &a->commands, link) {
        if (d->item == item && !strcmp(d->task, task))
            return d;
    }
    return NULL;
}

/* ---- answers */

static void send_taken(struct fleet_agent *a, const char *task, int64_t item)
{
    const struct message_ref ref = { task, item };

    fleet_send(a, MESSAGE_TAKEN, &message_ref_shape, &ref);
}

static void send_result(struct fleet_command *d)
{
    struct fleet_agent *a = d->agent;
    struct message_result m = {
        .task = d->task, .item = d->item, .code = d->code, .text = d->text
    };

    if (!a->is_up)
        return; /* the next session sends it */
    fleet_dummy_view(&d->proc, operation_has_kind(d->op, ONLY_LOOKS), fleet_wall_s(a), &m.view);
    fleet_send(a, MESSAGE_RESULT, &message_result_shape, &m);
    if (!d->sent_ns)
        d->sent_ns = fleet_now_ns();
    a->world->counts.results++;
}

/* ---- operations */

/* An operation that only queries or stores something never fails. */
static bool must_fail(const struct fleet_command *d)
{
    const struct operation *o = operation_find(d->op);

    return d->agent->kind == FLEET_FAILING && (!o || o->kind == ACTS_ON_PROCESS);
}

static void decide_outcome(struct fleet_command *d, struct fleet_outcome *ret)
{
    struct fleet_agent *a = d->agent;
    const struct proc_meta meta = { .space = d->space, .name = d->name };
    const struct fleet_dummy *known = fleet_procs_find(&a->procs, d->space, d->name);

    *ret = (struct fleet_outcome){ .proc = { .space = d->space, .name = d->name } };
    if (known)
        ret->proc = *known;
    if (loop_now_ms(a->world->loop) + a->server_ms >= d->deadline_ms) {
        ret->code = CODE_TIMEOUT;
        ret->text = "not begun: its deadline passed while it waited";
    } else if (must_fail(d)) {
        ret->code = CODE_COMMAND;
        ret->text = "Script exit code non-zero. Error msessage: [simulated failure]";
    } else {
        fleet_procs_operate(&a->procs, &meta, d->op, d->only_if_hosted, fleet_wall_s(a), ret);
    }
}

/* The process is reported before the result, because a client that sees the result may query the
 * process. */
static void finish_command(struct fleet_command *d, const struct fleet_outcome *o)
{
    struct fleet_agent *a = d->agent;

    d->is_done = true;
    d->code = o->code;
    d->text = o->text;
    d->proc = o->proc;
    d->proc.space = d->space; /* our own copy, independent of the process */
    d->proc.name = d->name;
    a->world->counts.failed += o->code != CODE_OK;
    a->world->counts.unstored++;
    send_result(d);
}

static void run_command(void *arg)
{
    struct fleet_command *d = arg;
    struct fleet_agent *a = d->agent;
    struct fleet_outcome o;

    decide_outcome(d, &o);
    if (o.owes_start && fleet_dummy_revive(&a->procs, o.moved, fleet_wall_s(a)))
        o.proc = *o.moved;
    if (o.moved)
        fleet_push(a, o.moved);
    finish_command(d, &o);
}

static int64_t duration_ms(struct fleet_agent *a)
{
    const struct fleet_settings *s = a->world->s;

    if (a->kind != FLEET_SLOW)
        return s->op_ms;
    return s->slow_ms + (int64_t)(fleet_random(&a->random) % (uint64_t)(s->slow_ms + 1));
}

/* ---- messages of the server */

static char *fleet_command_put_text(const char **ret, char *to, const char *text)
{
    size_t size = strlen(text) + 1;

    memcpy(to, text, size);
    *ret = to;
    return to + size;
}

static struct fleet_command *command_new(struct fleet_agent *a, const char *task, int64_t item,
                                         const struct proc_meta *meta)
{
    size_t size = strlen(task) + strlen(meta->space) + strlen(meta->name) + 3;
    struct fleet_command *d = xalloc(sizeof(*d) + size);
    const char *ignored;
    char *to;

    d->agent = a;
    d->item = item;
    to = fleet_command_put_text(&ignored, d->task, task);
    to = fleet_command_put_text(&d->space, to, meta->space);
    fleet_command_put_text(&d->name, to, meta->name);
    timer_init(&d->timer, run_command, d);
    LIST_INSERT_HEAD(&a->commands, d, link);
    return d;
}

static void command_free(struct fleet_command *d)
{
    timer_stop(d->agent->world->loop, &d->timer);
    LIST_REMOVE(d, link);
    free(d);
}

static void repeat_answer(struct fleet_command *d)
{
    send_taken(d->agent, d->task, d->item);
    if (d->is_done)
        send_result(d);
}

void fleet_on_command(struct fleet_agent *a, const struct message_command *m)
{
    struct fleet_command *d = find_command(a, m->task, m->item);
    int64_t ms;

    if (d) {
        a->world->counts.repeated++;
        repeat_answer(d);
        return;
    }
    a->world->counts.commands++;
    if (a->kind == FLEET_LYING)
        fleet_lie_about(a, m);
    d = command_new(a, m->task, m->item, &m->meta);
    d->op = m->op;
    d->deadline_ms = m->deadline_ms;
    d->only_if_hosted = m->only_if_hosted;
    send_taken(a, d->task, d->item);
    ms = duration_ms(a);
    if (ms > 0)
        timer_set(a->world->loop, &d->timer, ms);
    else
        run_command(d);
    if (a->kind == FLEET_LYING && ms <= 0)
        fleet_lie_again(a, m);
}

/* A waiting command is not started; a command that arrives after its cancel is refused. */
void fleet_on_cancel(struct fleet_agent *a, const struct message_cancel *m)
{
    struct fleet_outcome cancelled = { .code = CODE_CANCELLED,
                                       .text = "cancelled before it was begun" };
    const struct fleet_dummy *known = fleet_procs_find(&a->procs, m->meta.space, m->meta.name);
    struct fleet_command *d = find_command(a, m->task, m->item);

    if (d && d->is_done) {
        repeat_answer(d);
        return;
    }
    if (!d)
        d = command_new(a, m->task, m->item, &m->meta);
    if (known)
        cancelled.proc = *known;
    timer_stop(a->world->loop, &d->timer);
    a->world->counts.cancels++;
    send_taken(a, d->task, d->item);
    finish_command(d, &cancelled);
}

void fleet_on_stored(struct fleet_agent *a, const struct message_ref *m)
{
    struct fleet_command *d = find_command(a, m->task, m->item);

    if (!d || !d->is_done)
        return;
    fleet_counts_stored(&a->world->counts, d->sent_ns ? (fleet_now_ns() - d->sent_ns) / 1000 : 0);
    a->world->counts.unstored--;
    command_free(d);
}

void fleet_commands_resend(struct fleet_agent *a)
{
    struct fleet_command *d;

    LIST_FOREACH(d, &a->commands, link) {
        if (d->is_done)
            send_result(d);
    }
}

int64_t fleet_commands_open(const struct fleet_agent *a)
{
    const struct fleet_command *d;
    int64_t n = 0;

    LIST_FOREACH(d, &a->commands, link)
        n += !d->is_done;
    return n;
}

void fleet_commands_done(struct fleet_agent *a)
{
    while (!LIST_EMPTY(&a->commands))
        command_free(LIST_FIRST(&a->commands));
}
