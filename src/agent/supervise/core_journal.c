/* SPDX-License-Identifier: MIT */
/* core_journal.c - the journal's records: writing, compaction, and replay after a crash. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/supervise/core_cause.h"
#include "agent/supervise/core_cycle.h"
#include "agent/supervise/core_group.h"
#include "agent/supervise/core_in.h"
#include "agent/supervise/core_local.h"
#include "agent/supervise/core_op.h"
#include "base/mem/mem.h"

/* RESEND_MS: a result that the server has not stored is resent at this interval. */
enum { RESEND_MS = 5000, REMEMBER_MS = 60 * 1000, RESULT_BYTES = 256 };

struct run_record {
    const char *task;
    int64_t item, pid, start_ticks, out_from;
    bool stops_first, is_preparing;
};

/* A state record has only the members that change: no spec. */
struct process_record {
    struct proc_meta meta;
    struct proc_spec spec;
    int64_t wanted, pid, start_ticks, run_pid, run_ticks, run_origin, command_pid, command_ticks,
        tries;
    int64_t fast_tries, failed_ms, tried_ms, up_ms; /* core_restart.c */
    int64_t last_pid, last_ticks, last_start_pid, last_start_ticks;
    int64_t command_from, begun_ms;
    int64_t register_s, last_start_s, restarts, spec_op, spec_s, started_with;
    int64_t past_ms, periodic_ms; /* core_cycle.h */
    const char *siblings;
    bool run_prepares, hosted, has_spec, is_owed, knows_siblings, is_proven, is_outdated;
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
    { "is_preparing", .type = FIELD_BOOL, RUN_AT(is_preparing), .flags = FIELD_OMIT_EMPTY },
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
    NUMBER("run_aim", run_origin), \
    { "run_prepares", .type = FIELD_BOOL, PROCESS_AT(run_prepares), .flags = FIELD_OMIT_EMPTY }, \
    NUMBER("command_pid", command_pid), \
    NUMBER("command_ticks", command_ticks), \
    NUMBER("command_from", command_from), \
    NUMBER("begun_ms", begun_ms), \
    { "is_owed", .type = FIELD_BOOL, PROCESS_AT(is_owed), .flags = FIELD_OMIT_EMPTY }, \
    NUMBER("tries", tries), \
    NUMBER("fast_tries", fast_tries), \
    NUMBER("failed_ms", failed_ms), \
    NUMBER("tried_ms", tried_ms), \
    NUMBER("up_ms", up_ms), \
    NUMBER("last_pid", last_pid), \
    NUMBER("last_ticks", last_ticks), \
    NUMBER("last_start_pid", last_start_pid), \
    NUMBER("last_start_ticks", last_start_ticks), \
    { "is_proven", .type = FIELD_BOOL, PROCESS_AT(is_proven), .flags = FIELD_OMIT_EMPTY }, \
    { "is_outdated", .type = FIELD_BOOL, PROCESS_AT(is_outdated), .flags = FIELD_OMIT_EMPTY }, \
    NUMBER("last_start_s", last_start_s), \
    NUMBER("restarts", restarts), \
    NUMBER("started_with", started_with), \
    NUMBER("past_ms", past_ms), \
    { "knows_siblings", .type = FIELD_BOOL, PROCESS_AT(knows_siblings), .flags = FIELD_OMIT_EMPTY }, \
    { "siblings", .type = FIELD_STR, PROCESS_AT(siblings), .flags = FIELD_OMIT_EMPTY }, \
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
    return c->effects->journal(c->arg, type, s, record, durable);
}

/* Hosting must survive a power loss.  An operation in progress need not: after a power loss no
 * process runs. */
static void journal_put_process(struct proc *k, unsigned type, const struct shape *s)
{
    struct process_record r = {
        .meta = k->meta,
        .spec = k->spec,
        .wanted = k->wanted,
        .pid = k->ident.pid,
        .start_ticks = k->ident.start_ticks,
        .run_pid = k->run.pid,
        .run_ticks = k->run.start_ticks,
        .run_origin = k->run.pid ? k->run_origin : 0,
        .run_prepares = k->run.pid && k->run_prepares,
        .command_pid = k->start.pid,
        .command_ticks = k->start.start_ticks,
        .command_from = k->start_from,
        .begun_ms = k->ident.pid ? k->begun_ms : 0,
        .is_owed = k->is_owed,
        .tries = k->tries,
        .fast_tries = k->fast_tries,
        .failed_ms = k->failed_ms,
        .tried_ms = k->tried_ms,
        .up_ms = k->up_ms,
        .last_pid = k->last.pid,
        .last_ticks = k->last.start_ticks,
        .last_start_pid = k->last_start.pid,
        .last_start_ticks = k->last_start.start_ticks,
        .is_proven = k->is_proven,
        .is_outdated = k->is_outdated,
        .register_s = k->register_s,
        .last_start_s = k->last_start_s,
        .restarts = k->restarts,
        .started_with = k->started_with,
        .siblings = k->siblings ? k->siblings : "",
        .knows_siblings = k->knows_siblings,
        .spec_op = k->spec_op,
        .spec_s = k->spec_s,
        .hosted = k->hosted,
        .has_spec = k->has_spec,
    };

    cause_fill(k, &r.cause);
    r.cause.doing = -1; /* the next agent determines it itself */
    r.cause.instead = "";
    r.cause.runs = (struct list){ 0 }; /* each run has its own record */
    r.cause.next_run_s = 0;
    cycle_state(k, &r.past_ms, &r.periodic_ms);
    put(k->core, type, s, &r, false);
}

void journal_note_process(struct proc *k)
{
    if (k->hosted ? !k->is_listed || !k->is_journaled : k->is_listed)
        k->core->list_changes++;
    k->is_listed = k->hosted;
    if (k->is_journaled)
        journal_put_process(k, RECORD_STATE, &state_shape);
    else
        journal_put_process(k, RECORD_PROCESS, &process_shape);
    k->is_journaled = true;
}

/* Allocates exactly the memory needed: there are many specs, and they are long-lived. */
void journal_note_spec(struct proc *k, const struct proc_spec *spec)
{
    struct arena a = { 0 };
    struct proc_spec copy;

    proc_spec_copy(spec, &a, &copy);
    arena_free(&k->arena);
    arena_init(&k->arena, arena_used(&a));
    proc_spec_copy(&copy, &k->arena, &k->spec);
    arena_free(&a);
    k->has_spec = true;
    k->is_journaled = false;
}

/* The deadline is written on our own clock. */
uint64_t journal_note_command(struct op *op)
{
    struct message_command m = op->command;

    m.deadline_ms = op->deadline_ms;
    return put(op->core, RECORD_COMMAND, &message_command_shape, &m, true);
}

/* Written once before the command starts, and again when its pid is known. */
void journal_note_run(struct op *op)
{
    const struct run_record r = { op->command.task,    op->command.item, op->run.pid,
                                  op->run.start_ticks, op->out_from,     op->half == HALF_STOP,
                                  op->is_preparing };

    if (*op->command.task) {
        put(op->core, RECORD_RUN, &run_shape, &r, false);
        return;
    }
    op->proc->run = op->run;
    op->proc->run_origin = op->origin;
    op->proc->run_prepares = op->is_preparing;
    journal_note_process(op->proc);
}

uint64_t journal_note_result(struct op *op)
{
    return put(op->core, RECORD_RESULT, &message_result_shape, &op->result, true);
}

/* ---- results */

struct unstored_result {
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

void done_free(struct done *d)
{
    timers_stop(&d->core->timers, &d->timer);
    map_del_str(&d->core->done, d->key);
    forget_result(d);
    free(d);
}

void done_send_again(struct done *d)
{
    struct core *c = d->core;

    if (d->result)
        c->effects->send(c->arg, MESSAGE_RESULT, &message_result_shape, &d->result->m);
}

static void send_result(struct done *d)
{
    struct core *c = d->core;

    if (c->is_linked)
        done_send_again(d);
    timers_set(&c->timers, &d->timer, c->now_ms + RESEND_MS);
}

static void on_done_timer(void *arg)
{
    struct done *d = arg;

    if (d->result)
        send_result(d);
    else
        done_free(d);
}

static struct done *new_done(struct core *c, const char *task, int64_t item, int64_t deadline_ms)
{
    char *key = xprintf("%s#%lld", task, (long long)item);
    size_t size = strlen(key) + 1;
    struct done *d = map_find_str(&c->done, key);

    if (d)
        done_free(d); /* a journal with a duplicate record */
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
    struct unstored_result *r = xalloc(sizeof(*r));

    arena_init(&r->arena, RESULT_BYTES); /* a thousand may wait at once */
    r->m = *m;
    r->m.task = arena_strdup(&r->arena, m->task);
    r->m.text = arena_strdup(&r->arena, m->text);
    proc_view_keep(&r->m.view, &r->arena);
    d->result = r;
    c->n_unstored++;
    return d;
}

/* Changes of the process are sent before the result. */
void journal_note_done(struct core *c, const struct message_result *result, int64_t deadline_ms)
{
    core_tell_now(c);
    if (core_is_local(result->task))
        c->effects->send(c->arg, MESSAGE_RESULT, &message_result_shape, result);
    else
        send_result(keep_result(c, result, deadline_ms));
}

/* The command is remembered until no copy of it can be executed any more. */
static void journal_remember(struct done *d)
{
    struct core *c = d->core;
    int64_t until = d->deadline_ms > c->now_ms ? d->deadline_ms : c->now_ms;

    timers_set(&c->timers, &d->timer, until + REMEMBER_MS);
}

void journal_note_stored(struct core *c, const char *task, int64_t item)
{
    char *key = xprintf("%s#%lld", task, (long long)item);
    struct done *d = map_find_str(&c->done, key);
    const struct message_ref ref = { task, item };

    free(key);
    if (!d || !d->result)
        return;
    forget_result(d);
    journal_remember(d);
    if (c->is_started) /* otherwise the record is in the journal, which is being read */
        put(c, RECORD_STORED, &message_ref_shape, &ref, false);
}

void done_send_all(struct core *c)
{
    struct map_entry *e;

    for (size_t at = 0; (e = map_next(&c->done, &at));) {
        struct done *d = e->value;

        if (d->result)
            send_result(d);
    }
}

void done_on_new_boot(struct core *c)
{
    struct map_entry *e;

    for (size_t at = 0; (e = map_next(&c->done, &at));) {
        struct done *d = e->value;

        d->deadline_ms = c->now_ms;
        if (!d->result)
            journal_remember(d);
    }
}

/* ---- replay */

static struct op *find_op(struct core *c, const char *task, int64_t item)
{
    char *key = xprintf("%s#%lld", task, (long long)item);
    struct op *op = map_find_str(&c->commands, key);

    free(key);
    return op;
}

/* It is unknown whether the record is on disk: it may have been read from the page cache. */
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
    if (!core_is_local(m->task)) /* a local client disconnected when the previous agent ended */
        keep_result(c, m, deadline_ms);
}

static void replay_done(struct core *c, const struct done_record *r)
{
    struct op *op = find_op(c, r->task, r->item);

    if (op)
        op_free(op);
    journal_remember(new_done(c, r->task, r->item, r->deadline_ms));
}

static struct proc *journal_find_proc(const struct core *c, const struct proc_meta *meta)
{
    char *key = xprintf("%s:%s", meta->space, meta->name);
    struct proc *k = map_find_str(&c->proc, key);

    free(key);
    return k;
}

/* Ignored for an unknown process: a state record has too little data. */
static void replay_state(struct core *c, const struct process_record *r)
{
    struct proc *k = journal_find_proc(c, &r->meta);

    if (!k)
        return;
    k->wanted = r->wanted;
    k->hosted = k->is_listed = r->hosted;
    k->ident = (struct core_ident){ r->pid, r->start_ticks };
    k->run = (struct core_ident){ r->run_pid, r->run_ticks };
    k->run_origin = (unsigned)r->run_origin;
    k->run_prepares = r->run_prepares;
    k->start = (struct core_ident){ r->command_pid, r->command_ticks };
    k->start_from = r->command_from;
    k->begun_ms = r->begun_ms;
    k->is_owed = r->is_owed;
    k->tries = r->tries;
    k->fast_tries = r->fast_tries;
    k->failed_ms = r->failed_ms;
    k->tried_ms = r->tried_ms;
    k->up_ms = r->up_ms;
    k->last = (struct core_ident){ r->last_pid, r->last_ticks };
    k->last_start = (struct core_ident){ r->last_start_pid, r->last_start_ticks };
    k->is_after_run = !r->pid && r->last_pid;
    k->is_proven = r->is_proven;
    k->is_outdated = r->is_outdated;
    k->last_start_s = r->last_start_s;
    k->restarts = r->restarts;
    k->started_with = r->started_with;
    core_set_siblings(k, r->siblings);
    k->knows_siblings = r->knows_siblings;
    cause_replay(k, &r->cause);
    cycle_replay_state(k, r->past_ms, r->periodic_ms);
}

static void replay_cycle(struct core *c, const struct cycle_record *r)
{
    struct proc *k = journal_find_proc(c, &r->meta);

    if (k)
        cycle_replay_run(k, r);
}

static void replay_process(struct core *c, const struct process_record *r)
{
    struct proc *k = core_proc(c, r->meta.space, r->meta.name);

    journal_note_spec(k, &r->spec);
    k->has_spec = r->has_spec;
    k->register_s = r->register_s;
    k->spec_op = r->spec_op;
    k->spec_s = r->spec_s;
    k->is_journaled = true;
    replay_state(c, r);
}

static void replay_run(struct core *c, const struct run_record *r)
{
    struct op *op = find_op(c, r->task, r->item);

    if (!op)
        return;
    op->begun = BEGUN_BEFORE;
    op->run = (struct core_ident){ r->pid, r->start_ticks };
    op->out_from = r->out_from;
    op->half = r->stops_first ? HALF_STOP : HALF_START;
    op->is_preparing = r->is_preparing;
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
    case RECORD_STORED: journal_note_stored(c, ref->task, ref->item); break;
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
    journal_note_command(op);
    if (op->begun)
        journal_note_run(op);
    if (op->phase == PHASE_SYNC)
        journal_note_result(op);
}

/* A result has no deadline of its own; the deadline of its command says how long it is kept. */
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

    for (size_t at = 0; (e = map_next(&c->proc, &at));) {
        struct proc *k = e->value;

        journal_put_process(k, RECORD_PROCESS, &process_shape);
        k->is_journaled = true;
        cycle_compact(k);
        TAILQ_FOREACH(op, &k->ops, link)
            compact_op(op);
    }
    for (size_t at = 0; (e = map_next(&c->done, &at));)
        compact_done(e->value);
    event_compact(c);
    group_compact(c);
}
