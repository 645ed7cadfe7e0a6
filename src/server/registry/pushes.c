/* SPDX-License-Identifier: MIT */
/* pushes.c - see pushes.h. */
#include "server/registry/pushes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/mem/map.h"
#include "base/mem/mem.h"
#include "base/os/sys.h"
#include "model/code.h"

enum {
    RESEND_MS = 5 * 1000,
    RETRY_MS = 30 * 1000,
    DEADLINE_MS = 600 * 1000, /* an operation on the process may have to end before */
    ID_SIZE = 48,
    TEXT_KEPT = 512, /* bytes of a text of an agent of an older version */
    PER_MS = 20,     /* an update may concern all hosts: leave time for other work */
};

static const char prefix[] = "PUSH:";

struct push {
    struct pushes *all;
    char id[ID_SIZE]; /* task id for the agent, different each time */
    char *key;        /* agent, namespace and name, one per line */
    char *agent, *space, *name;
    int64_t epoch, op;
    int64_t spec_seq; /* fleet_proc.spec_seq of what is sent */
    bool is_taken;
    struct timer timer; /* for the next repetition */
    TAILQ_ENTRY(push) link;
};

struct pushes {
    struct loop *loop;
    struct log *log;
    struct fleet *fleet;
    pushes_send_fn *send;
    void *arg;
    TAILQ_HEAD(, push) out;
    int64_t n_out;
    struct map by_id, by_key; /* at most one push per process */
    uint64_t counter;
};

static void pushes_drop(struct push *u)
{
    struct pushes *p = u->all;

    timer_stop(p->loop, &u->timer);
    TAILQ_REMOVE(&p->out, u, link);
    p->n_out--;
    map_del_str(&p->by_id, u->id);
    map_del_str(&p->by_key, u->key);
    free(u->key);
    free(u->agent);
    free(u->space);
    free(u->name);
    free(u);
}

/* ---- sending */

/* A new task id each time, so that the agent does not take it for one it has done. */
static void draw_id(struct push *u)
{
    struct pushes *p = u->all;
    uint64_t random;

    if (*u->id)
        map_del_str(&p->by_id, u->id);
    sys_random(&random, sizeof(random));
    snprintf(u->id, sizeof(u->id), "%s%016" PRIx64 ":%" PRIu64, prefix, random, ++p->counter);
    map_put_str(&p->by_id, u->id, u);
}

static const struct fleet_proc *pushes_find_proc(const struct push *u)
{
    const struct fleet_host *h = fleet_find(u->all->fleet, u->agent);

    return h && h->epoch == u->epoch ? fleet_proc(h, u->space, u->name) : NULL;
}

static int pushes_fill(const struct push *u, const struct fleet_proc *proc, struct arena *a,
                       struct message_command *ret, struct err *err)
{
    shape_defaults(&message_command_shape, ret);
    ret->task = u->id;
    ret->op = u->op;
    ret->deadline_ms = loop_now_ms(u->all->loop) + DEADLINE_MS;
    ret->meta.space = u->space;
    ret->meta.name = u->name;
    ret->only_if_hosted = u->op == PROC_OP_HOST;
    ret->forgets = u->op == PROC_OP_UNHOST;
    if (u->op != PROC_OP_HOST)
        return 0;
    return shape_read(&proc_spec_shape, proc->spec, strlen(proc->spec), 0, a, &ret->spec, err);
}

static void fail_for_good(struct push *u, int64_t code, const char *text)
{
    struct pushes *p = u->all;
    char why[ERR_MSG_BYTES], trouble[sizeof(why) + 128];

    msg_copy(why, msg_is(text) ? sizeof(why) : TEXT_KEPT, text);
    msg_printf(trouble, sizeof(trouble), "its host does not take what was registered: %lld, %s",
               (long long)code, why);
    LOG(p->log, LOG_ERROR, "an agent does not take what was registered", log_str("agent", u->agent),
        log_str("namespace", u->space), log_str("name", u->name), log_int("op", u->op),
        log_int("code", code), log_str("why", text));
    fleet_settle(p->fleet, u->agent, u->space, u->name, u->spec_seq, trouble);
    pushes_drop(u);
}

/* A change in the meantime gets a push of its own. */
static void send_push(struct push *u)
{
    struct pushes *p = u->all;
    const struct fleet_proc *proc = pushes_find_proc(u);
    struct message_command m;
    struct arena a = { 0 };
    struct err err;

    if (!proc || !proc->needs_push || proc->spec_seq != u->spec_seq) {
        pushes_drop(u);
        return;
    }
    if (pushes_fill(u, proc, &a, &m, &err)) {
        fail_for_good(u, err.code, err_msg(&err));
    } else {
        timer_set(p->loop, &u->timer, RESEND_MS);
        p->send(p->arg, u->agent, u->epoch, MESSAGE_COMMAND, &message_command_shape, &m);
    }
    arena_free(&a);
}

/* After `taken` the result comes from the agent; if its session is lost, the push starts again. */
static void pushes_on_timer(void *arg)
{
    struct push *u = arg;

    if (u->is_taken && pushes_find_proc(u))
        timer_set(u->all->loop, &u->timer, RESEND_MS);
    else
        send_push(u);
}

static struct push *push_new(struct pushes *p, const struct fleet_host *h,
                             const struct fleet_proc *proc, char *key)
{
    struct push *u = xalloc(sizeof(*u));

    u->all = p;
    u->key = key;
    u->agent = xstrdup(h->agent_id);
    u->space = xstrdup(proc->space);
    u->name = xstrdup(proc->name);
    u->epoch = h->epoch;
    u->spec_seq = proc->spec_seq;
    u->op = proc->registry == FLEET_UNREGISTERED ? PROC_OP_UNHOST : PROC_OP_HOST;
    TAILQ_INSERT_TAIL(&p->out, u, link);
    p->n_out++;
    map_put_str(&p->by_key, u->key, u);
    draw_id(u);
    timer_init(&u->timer, pushes_on_timer, u);
    return u;
}

/* Sent from a timer: the fleet is in the middle of a change. */
static void on_needs_push(void *arg, const struct fleet_host *h, const struct fleet_proc *proc)
{
    struct pushes *p = arg;
    char *key = xprintf("%s\n%s\n%s", h->agent_id, proc->space, proc->name);
    struct push *u = map_find_str(&p->by_key, key);

    if (u && u->epoch == h->epoch && u->spec_seq == proc->spec_seq) {
        free(key);
        return;
    }
    if (u)
        pushes_drop(u);
    u = push_new(p, h, proc, key);
    timer_set(p->loop, &u->timer, (p->n_out - 1) / PER_MS);
}

/* ---- results */

/* Codes that are not the fault of the spec. */
static bool is_for_now(int64_t code)
{
    return code == CODE_SYSTEM || code == CODE_SPACE || code == CODE_DEADLINE ||
           code == CODE_TIMEOUT || code == CODE_LOCKED || code == CODE_CANCELLED;
}

/* Whether the process was unregistered and its agent has dropped it; a view without a name has no
 * information. */
static bool has_gone(const struct push *u, const struct proc_view *v)
{
    return u->op == PROC_OP_UNHOST && v->name && !strcmp(v->name, u->name) &&
           v->wanted == PROC_UNREGISTERED && !v->hosted && v->status != PROC_RUNNING;
}

static void on_result(struct push *u, const struct message_result *m)
{
    struct pushes *p = u->all;
    const char *id = m->task; /* a push of a newer spec may have replaced this one */

    if (m->code == CODE_OK && has_gone(u, &m->view)) {
        fleet_forget(p->fleet, u->agent, u->space, u->name, u->spec_seq);
        pushes_drop(u);
    } else if (m->code == CODE_OK) {
        fleet_settle(p->fleet, u->agent, u->space, u->name, u->spec_seq, NULL);
        if (u->op == PROC_OP_HOST)
            fleet_took_older(p->fleet, u->agent, u->space, u->name, u->spec_seq);
        if (map_find_str(&p->by_id, id) == u)
            pushes_drop(u);
    } else if (m->code == CODE_NOT_REGISTERED) {
        pushes_drop(u); /* no longer hosted; pushed when it is hosted again */
    } else if (is_for_now(m->code)) {
        draw_id(u);
        u->is_taken = false;
        timer_set(p->loop, &u->timer, RETRY_MS);
    } else {
        fail_for_good(u, m->code, m->text);
    }
}

/* An unknown id is from before our start; that push is repeated with a new id anyway. */
bool pushes_on_message(struct pushes *p, const char *agent, int64_t epoch, unsigned type,
                       const void *message)
{
    const struct message_result *result = message;
    const struct message_ref *ref = message;
    bool is_result = type == MESSAGE_RESULT;
    const char *task = is_result ? result->task : ref->task;
    struct message_ref stored;
    struct push *u;

    if (strncmp(task, prefix, strlen(prefix)) != 0)
        return false;
    u = map_find_str(&p->by_id, task);
    if (u && strcmp(u->agent, agent) != 0)
        return true;
    if (!is_result) {
        if (u)
            u->is_taken = true;
        return true;
    }
    stored = (struct message_ref){ task, result->item };
    p->send(p->arg, agent, epoch, MESSAGE_STORED, &message_ref_shape, &stored);
    if (u)
        on_result(u, result);
    return true;
}

/* ---- life cycle */

struct pushes *pushes_new(struct loop *loop, struct log *log, struct fleet *fleet,
                          pushes_send_fn *send_fn, void *arg)
{
    struct pushes *p = xalloc(sizeof(*p));

    p->loop = loop;
    p->log = log;
    p->fleet = fleet;
    p->send = send_fn;
    p->arg = arg;
    TAILQ_INIT(&p->out);
    fleet_on_needs_push(fleet, on_needs_push, p);
    return p;
}

void pushes_free(struct pushes *p)
{
    if (!p)
        return;
    fleet_on_needs_push(p->fleet, NULL, NULL);
    while (!TAILQ_EMPTY(&p->out))
        pushes_drop(TAILQ_FIRST(&p->out));
    map_free(&p->by_id);
    map_free(&p->by_key);
    free(p);
}

int64_t pushes_waiting(const struct pushes *p)
{
    return p->n_out;
}
