/* SPDX-License-Identifier: MIT */
/* core_book.c - what is in the journal, how it gets there, and what becomes of
 * it after a crash. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/core_cause.h"
#include "agent/core_cycle.h"
#include "agent/core_group.h"
#include "agent/core_in.h"
#include "agent/core_local.h"
#include "agent/core_op.h"
#include "base/mem.h"

/* A result that the server has not stored is told again this often. */
enum { RESEND_MS = 5000, REMEMBER_MS = 60 * 1000, RESULT_BYTES = 256 };

struct run_record {
    const char *task;
    int64_t item, pid, start_ticks, out_from;
    bool stops_first;
};

/* Of a state record only what has changed is read and written: no spec. */
struct process_record {
    struct proc_meta meta;
    struct proc_spec spec;
    int64_t wanted, pid, start_ticks, run_pid, run_ticks, run_aim, command_pid, command_ticks,
        tries;
    int64_t command_from, begun_ms;
    int64_t register_s, last_start_s, restarts, spec_op, spec_s;
    int64_t past_ms, periodic_ms; /* core_cycle.h */
    bool hosted, has_spec, is_owed;
    struct proc_cause cause;
};

struct done_record {
    const char *task;
    int64_t item, deadline_ms;
};

#define RUN_AT(member)     .offset = offsetof(struct run_record, member)
#define PROCESS_AT(member) .offset = offsetof(struct process_record, member)
#define DONE_AT(member)    .offset = offsetof(struct done_record, member)

/* clang-format off */
static const struct field run_fields[] = {
    { "task", .type = FIELD_STR, RUN_AT(task), .max = 64 },
    { "item", .type = FIELD_INT, RUN_AT(item) },
    { "pid", .type = FIELD_INT, RUN_AT(pid) },
    { "start_ticks", .type = FIELD_INT, RUN_AT(start_ticks) },
    { "out_from", .type = FIELD_INT, RUN_AT(out_from) },
    { "stops_first", .type = FIELD_BOOL, RUN_AT(stops_first), .flags = FIELD_OMIT_EMPTY },
    { 0 },
};
static const struct shape run_shape = { "run record", sizeof(struct run_record), run_fields };

#define NUMBER(field_name, member) { field_name, .type = FIELD_INT, PROCESS_AT(member), .flags = FIELD_OMIT_EMPTY }

#define STATE_FIELDS \
    { "meta", .type = FIELD_OBJ, PROCESS_AT(meta), .sub = &proc_meta_shape, .flags = FIELD_REQUIRED }, \
    { "hosted", .type = FIELD_BOOL, PROCESS_AT(hosted), .flags = FIELD_OMIT_EMPTY }, \
    NUMBER("wanted", wanted), \
    NUMBER("pid", pid), \
    NUMBER("start_ticks", start_ticks), \
    NUMBER("run_pid", run_pid), \
    NUMBER("run_ticks", run_ticks), \
    NUMBER("run_aim", run_aim), \
    NUMBER("command_pid", command_pid), \
    NUMBER("command_ticks", command_ticks), \
    NUMBER("command_from", command_from), \
    NUMBER("begun_ms", begun_ms), \
    { "is_owed", .type = FIELD_BOOL, PROCESS_AT(is_owed), .flags = FIELD_OMIT_EMPTY }, \
    NUMBER("tries", tries), \
    NUMBER("last_start_s", last_start_s), \
    NUMBER("restarts", restarts), \
    NUMBER("past_ms", past_ms), \
    NUMBER("periodic_ms", periodic_ms), \
    { "cause", .type = FIELD_OBJ, PROCESS_AT(cause), .sub = &proc_cause_shape }

static const struct field state_fields[] = { STATE_FIELDS, { 0 } };
static const struct shape state_shape = { "state record", sizeof(struct process_record), state_fields };

static const struct field process_fields[] = {
    STATE_FIELDS,
    { "spec", .type = FIELD_OBJ, PROCESS_AT(spec), .sub = &proc_spec_shape },
    { "has_spec", .type = FIELD_BOOL, PROCESS_AT(has_spec) },
    NUMBER("register_s", register_s),
    NUMBER("spec_op", spec_op),
    NUMBER("spec_s", spec_s),
    { 0 },
};
static const struct shape process_shape = { "process record", sizeof(struct process_record), process_fields };

static const struct field done_fields[] = {
    { "task", .type = FIELD_STR, DONE_AT(task), .max = 64 },
    { "item", .type = FIELD_INT, DONE_AT(item) },
    { "deadline_ms", .type = FIELD_INT, DONE_AT(deadline_ms) },
    { 0 },
};
static const struct shape done_shape = { "done record", sizeof(struct done_record), done_fields };
/* clang-format on */

static uint64_t put(struct core *c, unsigned type, const struct shape *s, const void *record,
                    bool durable)
{
    return c->hands->journal(c->arg, type, s, record, durable);
}

/* Hosting must survive a power loss; what it is doing need not, for then it
 * does nothing. */
static void put_process(struct kept *k, unsigned type, const struct shape *s)
{
    struct process_record r = {
        .meta = k->meta,
        .spec = k->spec,
        .wanted = k->wanted,
        .pid = k->ident.pid,
        .start_ticks = k->ident.start_ticks,
        .run_pid = k->run.pid,
        .run_ticks = k->run.start_ticks,
        .run_aim = k->run.pid ? k->run_aim : 0,
        .command_pid = k->start.pid,
        .command_ticks = k->start.start_ticks,
        .command_from = k->start_from,
        .begun_ms = k->ident.pid ? k->begun_ms : 0,
        .is_owed = k->is_owed,
        .tries = k->tries,
        .register_s = k->register_s,
        .last_start_s = k->last_start_s,
        .restarts = k->restarts,
        .spec_op = k->spec_op,
        .spec_s = k->spec_s,
        .hosted = k->hosted,
        .has_spec = k->has_spec,
    };

    cause_fill(k, &r.cause);
    r.cause.doing = -1;                /* the next agent sees for itself */
    r.cause.runs = (struct list){ 0 }; /* each has a record of its own */
    r.cause.next_run_s = 0;
    cycle_state(k, &r.past_ms, &r.periodic_ms);
    put(k->core, type, s, &r, false);
}

void book_process(struct kept *k)
{
    if (k->hosted ? !k->is_listed || !k->is_booked : k->is_listed)
        k->core->list_changes++;
    k->is_listed = k->hosted;
    if (k->is_booked)
        put_process(k, RECORD_STATE, &state_shape);
    else
        put_process(k, RECORD_PROCESS, &process_shape);
    k->is_booked = true;
}

/* Exactly as much memory as it needs: there are many, and they stay. */
void book_set_spec(struct kept *k, const struct proc_spec *spec)
{
    struct arena a = { 0 };
    struct proc_spec copy;

    proc_spec_copy(spec, &a, &copy);
    arena_free(&k->arena);
    arena_init(&k->arena, arena_used(&a));
    proc_spec_copy(&copy, &k->arena, &k->spec);
    arena_free(&a);
    k->has_spec = true;
    k->is_booked = false;
}

/* The deadline is written in our own clock's terms. */
uint64_t book_command(struct op *op)
{
    struct message_command m = op->command;

    m.deadline_ms = op->deadline_ms;
    return put(op->core, RECORD_COMMAND, &message_command_shape, &m, true);
}

/* Once before anything is done, and again when the command's process is known. */
void book_run(struct op *op)
{
    const struct run_record r = { op->command.task,    op->command.item, op->run.pid,
                                  op->run.start_ticks, op->out_from,     op->stops_first };

    if (*op->command.task) {
        put(op->core, RECORD_RUN, &run_shape, &r, false);
        return;
    }
    op->kept->run = op->run;
    op->kept->run_aim = op->aim;
    book_process(op->kept);
}

uint64_t book_result(struct op *op)
{
    return put(op->core, RECORD_RESULT, &message_result_shape, &op->result, true);
}

/* ---- results that are kept */

struct kept_result {
    struct arena arena;
    struct message_result m;
};

static void forget_result(struct done *d)
{
    if (!d->result)
        return;
    d->core->n_unstored--;
    arena_free(&d->result->arena);
    free(d->result);
    d->result = NULL;
}

void book_free_done(struct done *d)
{
    timers_stop(&d->core->timers, &d->timer);
    map_del_str(&d->core->done, d->key);
    forget_result(d);
    free(d);
}

void book_send_again(struct done *d)
{
    struct core *c = d->core;

    if (d->result)
        c->hands->send(c->arg, MESSAGE_RESULT, &message_result_shape, &d->result->m);
}

static void send_result(struct done *d)
{
    struct core *c = d->core;

    if (c->is_linked)
        book_send_again(d);
    timers_set(&c->timers, &d->timer, c->now_ms + RESEND_MS);
}

static void on_done_timer(void *arg)
{
    struct done *d = arg;

    if (d->result)
        send_result(d);
    else
        book_free_done(d);
}

static struct done *new_done(struct core *c, const char *task, int64_t item, int64_t deadline_ms)
{
    char *key = xprintf("%s#%lld", task, (long long)item);
    size_t size = strlen(key) + 1;
    struct done *d = map_find_str(&c->done, key);

    if (d)
        book_free_done(d); /* a journal that says it twice */
    d = xalloc(sizeof(*d) + size);
    d->core = c;
    d->deadline_ms = deadline_ms;
    memcpy(d->key, key, size);
    free(key);
    timer_init(&d->timer, on_done_timer, d);
    map_put_str(&c->done, d->key, d);
    return d;
}

static struct done *keep_result(struct core *c, const struct message_result *m, int64_t deadline_ms)
{
    struct done *d = new_done(c, m->task, m->item, deadline_ms);
    struct kept_result *r = xalloc(sizeof(*r));

    arena_init(&r->arena, RESULT_BYTES); /* a thousand may wait at once */
    r->m = *m;
    r->m.task = arena_strdup(&r->arena, m->task);
    r->m.text = arena_strdup(&r->arena, m->text);
    proc_view_keep(&r->m.view, &r->arena);
    d->result = r;
    c->n_unstored++;
    return d;
}

/* What it has done to the process comes first. */
void book_done(struct core *c, const struct message_result *result, int64_t deadline_ms)
{
    core_tell_now(c);
    if (core_is_local(result->task))
        c->hands->send(c->arg, MESSAGE_RESULT, &message_result_shape, result);
    else
        send_result(keep_result(c, result, deadline_ms));
}

/* Still remembered until no copy of the command can be acted upon. */
static void remember(struct done *d)
{
    struct core *c = d->core;
    int64_t until = d->deadline_ms > c->now_ms ? d->deadline_ms : c->now_ms;

    timers_set(&c->timers, &d->timer, until + REMEMBER_MS);
}

void book_stored(struct core *c, const char *task, int64_t item)
{
    char *key = xprintf("%s#%lld", task, (long long)item);
    struct done *d = map_find_str(&c->done, key);
    const struct message_ref ref = { task, item };

    free(key);
    if (!d || !d->result)
        return;
    forget_result(d);
    remember(d);
    if (c->is_started) /* else it is there, and being read */
        put(c, RECORD_STORED, &message_ref_shape, &ref, false);
}

void book_send_all(struct core *c)
{
    struct map_entry *e;

    for (size_t at = 0; (e = map_next(&c->done, &at));) {
        struct done *d = e->value;

        if (d->result)
            send_result(d);
    }
}

void book_new_boot(struct core *c)
{
    struct map_entry *e;

    for (size_t at = 0; (e = map_next(&c->done, &at));) {
        struct done *d = e->value;

        d->deadline_ms = c->now_ms;
        if (!d->result)
            remember(d);
    }
}

/* ---- after a crash */

static struct op *find_op(struct core *c, const char *task, int64_t item)
{
    char *key = xprintf("%s#%lld", task, (long long)item);
    struct op *op = map_find_str(&c->commands, key);

    free(key);
    return op;
}

/* Whether it is on the disk is not known: what was read may still be in memory. */
static void replay_command(struct core *c, const struct message_command *m)
{
    if (!find_op(c, m->task, m->item))
        op_new(c, m)->deadline_ms = m->deadline_ms;
}

static void replay_result(struct core *c, const struct message_result *m)
{
    struct op *op = find_op(c, m->task, m->item);
    int64_t deadline_ms = op ? op->deadline_ms : 0;

    if (op)
        op_free(op);
    if (!core_is_local(m->task)) /* who asked has gone with the agent before us */
        keep_result(c, m, deadline_ms);
}

static void replay_done(struct core *c, const struct done_record *r)
{
    struct op *op = find_op(c, r->task, r->item);

    if (op)
        op_free(op);
    remember(new_done(c, r->task, r->item, r->deadline_ms));
}

static struct kept *find_kept(const struct core *c, const struct proc_meta *meta)
{
    char *key = xprintf("%s:%s", meta->space, meta->name);
    struct kept *k = map_find_str(&c->kept, key);

    free(key);
    return k;
}

/* Of a process that is not known it says too little. */
static void replay_state(struct core *c, const struct process_record *r)
{
    struct kept *k = find_kept(c, &r->meta);

    if (!k)
        return;
    k->wanted = r->wanted;
    k->hosted = k->is_listed = r->hosted;
    k->ident = (struct core_ident){ r->pid, r->start_ticks };
    k->run = (struct core_ident){ r->run_pid, r->run_ticks };
    k->run_aim = (unsigned)r->run_aim;
    k->start = (struct core_ident){ r->command_pid, r->command_ticks };
    k->start_from = r->command_from;
    k->begun_ms = r->begun_ms;
    k->is_owed = r->is_owed;
    k->tries = r->tries;
    k->last_start_s = r->last_start_s;
    k->restarts = r->restarts;
    cause_replay(k, &r->cause);
    cycle_replay_state(k, r->past_ms, r->periodic_ms);
}

static void replay_cycle(struct core *c, const struct cycle_record *r)
{
    struct kept *k = find_kept(c, &r->meta);

    if (k)
        cycle_replay_run(k, r);
}

static void replay_process(struct core *c, const struct process_record *r)
{
    struct kept *k = core_kept(c, r->meta.space, r->meta.name);

    book_set_spec(k, &r->spec);
    k->has_spec = r->has_spec;
    k->register_s = r->register_s;
    k->spec_op = r->spec_op;
    k->spec_s = r->spec_s;
    k->is_booked = true;
    replay_state(c, r);
}

static void replay_run(struct core *c, const struct run_record *r)
{
    struct op *op = find_op(c, r->task, r->item);

    if (!op)
        return;
    op->was_running = true;
    op->run = (struct core_ident){ r->pid, r->start_ticks };
    op->out_from = r->out_from;
    op->stops_first = r->stops_first;
    if (r->pid > 0 && op_starts(op))
        op_note_start(op);
}

static void replay_one(struct core *c, enum record_type type, const void *record)
{
    const struct message_ref *ref = record;
    const struct message_event_ref *event = record;

    switch (type) {
    case RECORD_COMMAND: replay_command(c, record); break;
    case RECORD_RUN: replay_run(c, record); break;
    case RECORD_RESULT: replay_result(c, record); break;
    case RECORD_STORED: book_stored(c, ref->task, ref->item); break;
    case RECORD_PROCESS: replay_process(c, record); break;
    case RECORD_STATE: replay_state(c, record); break;
    case RECORD_DONE: replay_done(c, record); break;
    case RECORD_EVENT: event_replay(c, record); break;
    case RECORD_EVENT_STORED: event_stored(c, event->id); break;
    case RECORD_EVENT_GAP: event_replay_gap(c, record); break;
    case RECORD_EVENT_LAST: event_replay_last(c, event->id); break;
    case RECORD_GROUP: group_replay(c, record); break;
    case RECORD_CYCLE: replay_cycle(c, record); break;
    }
}

int core_replay(struct core *c, unsigned type, const char *json, size_t n, struct err *err)
{
    static const struct shape *const shapes[] = {
        [RECORD_COMMAND] = &message_command_shape,
        [RECORD_RUN] = &run_shape,
        [RECORD_RESULT] = &message_result_shape,
        [RECORD_STORED] = &message_ref_shape,
        [RECORD_PROCESS] = &process_shape,
        [RECORD_STATE] = &state_shape,
        [RECORD_DONE] = &done_shape,
        [RECORD_EVENT] = &message_event_shape,
        [RECORD_EVENT_STORED] = &message_event_ref_shape,
        [RECORD_EVENT_GAP] = &event_gap_shape,
        [RECORD_EVENT_LAST] = &message_event_ref_shape,
        [RECORD_GROUP] = &proc_group_shape,
        [RECORD_CYCLE] = &cycle_record_shape,
    };
    const struct shape *s = type < ARRAY_LEN(shapes) ? shapes[type] : NULL;
    struct arena a = { 0 };
    void *record;
    int failed;

    if (!s)
        return err_set(err, ERR_MALFORMED,
                       "journal: a record of type %u, which this version does not know", type);
    record = arena_alloc(&a, s->size);
    failed = shape_read(s, json, n, 0, &a, record, err);
    if (!failed)
        replay_one(c, type, record);
    arena_free(&a);
    return failed ? err_wrap(err, "journal: a %s", s->name) : 0;
}

static void compact_op(struct op *op)
{
    if (!*op->command.task)
        return;
    book_command(op);
    if (op->has_acted || op->was_running)
        book_run(op);
    if (op->phase == PHASE_SYNC)
        book_result(op);
}

/* A result has no deadline of its own; that of its command says how long it is kept. */
static void compact_result(const struct done *d)
{
    const struct message_result *r = &d->result->m;
    struct message_command m = { .task = r->task,
                                 .item = r->item,
                                 .op = PROC_OP_QUERY,
                                 .deadline_ms = d->deadline_ms,
                                 .meta = { r->view.space, r->view.name, { 0 } } };

    shape_defaults(&proc_spec_shape, &m.spec);
    if (d->deadline_ms > d->core->now_ms)
        put(d->core, RECORD_COMMAND, &message_command_shape, &m, false);
    put(d->core, RECORD_RESULT, &message_result_shape, r, false);
}

static void compact_done(const struct done *d)
{
    const char *item = strrchr(d->key, '#') + 1;
    char *task;
    struct done_record r = { .item = strtoll(item, NULL, 10), .deadline_ms = d->deadline_ms };

    if (d->result) {
        compact_result(d);
        return;
    }
    r.task = task = xmemdup(d->key, (size_t)(item - 1 - d->key));
    put(d->core, RECORD_DONE, &done_shape, &r, false);
    free(task);
}

void core_compact(struct core *c)
{
    struct map_entry *e;
    struct op *op;

    for (size_t at = 0; (e = map_next(&c->kept, &at));) {
        struct kept *k = e->value;

        put_process(k, RECORD_PROCESS, &process_shape);
        k->is_booked = true;
        cycle_compact(k);
        TAILQ_FOREACH(op, &k->ops, link)
        compact_op(op);
    }
    for (size_t at = 0; (e = map_next(&c->done, &at));)
        compact_done(e->value);
    event_compact(c);
    group_compact(c);
}
