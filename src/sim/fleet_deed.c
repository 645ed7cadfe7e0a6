/* SPDX-License-Identifier: MIT */
/* fleet_deed.c - the commands of a simulated agent, and what came of them; see
 * fleet_agent.h. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/code.h"
#include "sim/fleet_agent.h"

/* One command, from when it came until its result is stored. */
struct fleet_deed {
    struct fleet_agent *agent;
    int64_t item, op, deadline_ms; /* the latter in the server's time */
    bool only_if_hosted, is_done;
    struct timer timer; /* until it is done */
    int code;
    const char *text;
    struct fleet_dummy proc; /* as it was afterwards */
    int64_t sent_ns;         /* when its result first was; 0: not yet */
    const char *space, *name;
    LIST_ENTRY(fleet_deed) link;
    char task[];
};

static struct fleet_deed *find(const struct fleet_agent *a, const char *task, int64_t item)
{
    struct fleet_deed *d;

    LIST_FOREACH(d, &a->deeds, link)
    {
        if (d->item == item && !strcmp(d->task, task))
            return d;
    }
    return NULL;
}

/* ---- the answers */

static void send_taken(struct fleet_agent *a, const char *task, int64_t item)
{
    const struct message_ref ref = { task, item };

    fleet_send(a, MESSAGE_TAKEN, &message_ref_shape, &ref);
}

static void send_result(struct fleet_deed *d)
{
    struct fleet_agent *a = d->agent;
    struct message_result m = {
        .task = d->task, .item = d->item, .code = d->code, .text = d->text
    };

    if (!a->is_up)
        return; /* it is sent with the next session */
    fleet_dummy_view(&d->proc, d->op == PROC_OP_QUERY, fleet_wall_s(a), &m.view);
    fleet_send(a, MESSAGE_RESULT, &message_result_shape, &m);
    if (!d->sent_ns)
        d->sent_ns = fleet_now_ns();
    a->world->counts.results++;
}

/* ---- doing it */

/* What only looks, or only writes down, can hardly fail. */
static bool is_to_fail(const struct fleet_deed *d)
{
    return d->agent->kind == FLEET_FAILING && d->op != PROC_OP_QUERY && d->op != PROC_OP_HOST &&
           d->op != PROC_OP_UNHOST;
}

static void decide(struct fleet_deed *d, struct fleet_outcome *ret)
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
    } else if (is_to_fail(d)) {
        ret->code = CODE_COMMAND;
        ret->text = "Script exit code non-zero. Error msessage: [simulated failure]";
    } else {
        fleet_procs_operate(&a->procs, &meta, d->op, d->only_if_hosted, fleet_wall_s(a), ret);
    }
}

/* The process is told of before the result: who sees the one may look for the other. */
static void finish(struct fleet_deed *d, const struct fleet_outcome *o)
{
    struct fleet_agent *a = d->agent;

    d->is_done = true;
    d->code = o->code;
    d->text = o->text;
    d->proc = o->proc;
    d->proc.space = d->space; /* a copy of ours, whatever becomes of the process */
    d->proc.name = d->name;
    a->world->counts.failed += o->code != CODE_OK;
    a->world->counts.unstored++;
    send_result(d);
}

static void carry_out(void *arg)
{
    struct fleet_deed *d = arg;
    struct fleet_agent *a = d->agent;
    struct fleet_outcome o;

    decide(d, &o);
    if (o.owes_start && fleet_dummy_revive(&a->procs, o.moved, fleet_wall_s(a)))
        o.proc = *o.moved;
    if (o.moved)
        fleet_push(a, o.moved);
    finish(d, &o);
}

static int64_t takes_ms(struct fleet_agent *a)
{
    const struct fleet_settings *s = a->world->s;

    if (a->kind != FLEET_SLOW)
        return s->op_ms;
    return s->slow_ms + (int64_t)(fleet_random(&a->random) % (uint64_t)(s->slow_ms + 1));
}

/* ---- what the server says */

static char *put_text(const char **ret, char *to, const char *text)
{
    size_t size = strlen(text) + 1;

    memcpy(to, text, size);
    *ret = to;
    return to + size;
}

static struct fleet_deed *deed_new(struct fleet_agent *a, const char *task, int64_t item,
                                   const struct proc_meta *meta)
{
    size_t size = strlen(task) + strlen(meta->space) + strlen(meta->name) + 3;
    struct fleet_deed *d = xalloc(sizeof(*d) + size);
    const char *ignored;
    char *to;

    d->agent = a;
    d->item = item;
    to = put_text(&ignored, d->task, task);
    to = put_text(&d->space, to, meta->space);
    put_text(&d->name, to, meta->name);
    timer_init(&d->timer, carry_out, d);
    LIST_INSERT_HEAD(&a->deeds, d, link);
    return d;
}

static void deed_free(struct fleet_deed *d)
{
    timer_stop(d->agent->world->loop, &d->timer);
    LIST_REMOVE(d, link);
    free(d);
}

static void answer_again(struct fleet_deed *d)
{
    send_taken(d->agent, d->task, d->item);
    if (d->is_done)
        send_result(d);
}

void fleet_on_command(struct fleet_agent *a, const struct message_command *m)
{
    struct fleet_deed *d = find(a, m->task, m->item);
    int64_t ms;

    if (d) {
        a->world->counts.repeated++;
        answer_again(d);
        return;
    }
    a->world->counts.commands++;
    if (a->kind == FLEET_LYING)
        fleet_lie_about(a, m);
    d = deed_new(a, m->task, m->item, &m->meta);
    d->op = m->op;
    d->deadline_ms = m->deadline_ms;
    d->only_if_hosted = m->only_if_hosted;
    send_taken(a, d->task, d->item);
    ms = takes_ms(a);
    if (ms > 0)
        timer_set(a->world->loop, &d->timer, ms);
    else
        carry_out(d);
    if (a->kind == FLEET_LYING && ms <= 0)
        fleet_lie_again(a, m);
}

/* One that waits is not begun; one that has not come yet is to be refused when it does. */
void fleet_on_cancel(struct fleet_agent *a, const struct message_cancel *m)
{
    struct fleet_outcome cancelled = { .code = CODE_CANCELLED,
                                       .text = "cancelled before it was begun" };
    const struct fleet_dummy *known = fleet_procs_find(&a->procs, m->meta.space, m->meta.name);
    struct fleet_deed *d = find(a, m->task, m->item);

    if (d && d->is_done) {
        answer_again(d);
        return;
    }
    if (!d)
        d = deed_new(a, m->task, m->item, &m->meta);
    if (known)
        cancelled.proc = *known;
    timer_stop(a->world->loop, &d->timer);
    a->world->counts.cancels++;
    send_taken(a, d->task, d->item);
    finish(d, &cancelled);
}

void fleet_on_stored(struct fleet_agent *a, const struct message_ref *m)
{
    struct fleet_deed *d = find(a, m->task, m->item);

    if (!d || !d->is_done)
        return;
    fleet_counts_stored(&a->world->counts, d->sent_ns ? (fleet_now_ns() - d->sent_ns) / 1000 : 0);
    a->world->counts.unstored--;
    deed_free(d);
}

void fleet_deeds_again(struct fleet_agent *a)
{
    struct fleet_deed *d;

    LIST_FOREACH(d, &a->deeds, link)
    {
        if (d->is_done)
            send_result(d);
    }
}

int64_t fleet_deeds_open(const struct fleet_agent *a)
{
    const struct fleet_deed *d;
    int64_t n = 0;

    LIST_FOREACH(d, &a->deeds, link)
    n += !d->is_done;
    return n;
}

void fleet_deeds_done(struct fleet_agent *a)
{
    while (!LIST_EMPTY(&a->deeds))
        deed_free(LIST_FIRST(&a->deeds));
}
