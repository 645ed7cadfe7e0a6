/* SPDX-License-Identifier: MIT */
/* core_book.c - what is in the journal, how it gets there, and what becomes of
 * it after a crash. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/core_in.h"
#include "agent/core_op.h"
#include "base/mem.h"

/* A result that the server has not stored is told again this often. */
enum { RESEND_MS = 5000, REMEMBER_MS = 60 * 1000 };

struct run_record {
    const char *task;
    int64_t item, pid, start_ticks, out_from;
};

struct process_record {
    struct proc_meta meta;
    struct proc_spec spec;
    int64_t wanted, pid, start_ticks, run_pid, run_ticks, command_pid, command_ticks, tries;
    int64_t register_s, last_start_s, restarts;
    bool hosted, has_spec;
    const char *why;
};

#define RUN_AT(member)     .offset = offsetof(struct run_record, member)
#define PROCESS_AT(member) .offset = offsetof(struct process_record, member)

/* clang-format off */
static const struct field run_fields[] = {
    { "task", .type = FIELD_STR, RUN_AT(task), .max = 64 },
    { "item", .type = FIELD_INT, RUN_AT(item) },
    { "pid", .type = FIELD_INT, RUN_AT(pid) },
    { "start_ticks", .type = FIELD_INT, RUN_AT(start_ticks) },
    { "out_from", .type = FIELD_INT, RUN_AT(out_from) },
    { 0 },
};
static const struct shape run_shape = { "run record", sizeof(struct run_record), run_fields };

static const struct field process_fields[] = {
    { "meta", .type = FIELD_OBJ, PROCESS_AT(meta), .sub = &proc_meta_shape, .flags = FIELD_REQUIRED },
    { "spec", .type = FIELD_OBJ, PROCESS_AT(spec), .sub = &proc_spec_shape },
    { "has_spec", .type = FIELD_BOOL, PROCESS_AT(has_spec) },
    { "wanted", .type = FIELD_INT, PROCESS_AT(wanted) },
    { "hosted", .type = FIELD_BOOL, PROCESS_AT(hosted) },
    { "pid", .type = FIELD_INT, PROCESS_AT(pid) },
    { "start_ticks", .type = FIELD_INT, PROCESS_AT(start_ticks) },
    { "run_pid", .type = FIELD_INT, PROCESS_AT(run_pid) },
    { "run_ticks", .type = FIELD_INT, PROCESS_AT(run_ticks) },
    { "command_pid", .type = FIELD_INT, PROCESS_AT(command_pid) },
    { "command_ticks", .type = FIELD_INT, PROCESS_AT(command_ticks) },
    { "tries", .type = FIELD_INT, PROCESS_AT(tries) },
    { "register_s", .type = FIELD_INT, PROCESS_AT(register_s) },
    { "last_start_s", .type = FIELD_INT, PROCESS_AT(last_start_s) },
    { "restarts", .type = FIELD_INT, PROCESS_AT(restarts) },
    { "why", .type = FIELD_STR, PROCESS_AT(why), .max = 1024 },
    { 0 },
};
static const struct shape process_shape = { "process record", sizeof(struct process_record), process_fields };
/* clang-format on */

static uint64_t put(struct core *c, unsigned type, const struct shape *s, const void *record,
                    bool durable)
{
    return c->hands->journal(c->arg, type, s, record, durable);
}

/* Hosting must survive a power loss; what it is doing need not, for then it
 * does nothing. */
void book_process(struct kept *k)
{
    const struct process_record r = {
        .meta = k->meta,
        .spec = k->spec,
        .wanted = k->wanted,
        .pid = k->ident.pid,
        .start_ticks = k->ident.start_ticks,
        .run_pid = k->run.pid,
        .run_ticks = k->run.start_ticks,
        .command_pid = k->start.pid,
        .command_ticks = k->start.start_ticks,
        .tries = k->tries,
        .register_s = k->register_s,
        .last_start_s = k->last_start_s,
        .restarts = k->restarts,
        .hosted = k->hosted,
        .has_spec = k->has_spec,
        .why = k->why,
    };

    put(k->core, RECORD_PROCESS, &process_shape, &r, false);
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
    const struct run_record r = { op->command.task, op->command.item, op->run.pid,
                                  op->run.start_ticks, op->out_from };

    if (*op->command.task) {
        put(op->core, RECORD_RUN, &run_shape, &r, false);
        return;
    }
    op->kept->run = op->run;
    book_process(op->kept);
}

uint64_t book_result(struct op *op)
{
    return put(op->core, RECORD_RESULT, &message_result_shape, &op->result, true);
}

/* ---- results that are kept */

void book_free_done(struct done *d)
{
    timers_stop(&d->core->timers, &d->timer);
    map_del_str(&d->core->done, d->key);
    arena_free(&d->arena);
    free(d->key);
    free(d);
}

static void send_result(struct done *d)
{
    struct core *c = d->core;

    if (c->is_linked)
        c->hands->send(c->arg, MESSAGE_RESULT, &message_result_shape, &d->result);
    timers_set(&c->timers, &d->timer, c->now_ms + RESEND_MS);
}

static void on_done_timer(void *arg)
{
    struct done *d = arg;

    if (!d->is_stored)
        send_result(d);
    else
        book_free_done(d);
}

static struct done *keep_result(struct core *c, const struct message_result *result,
                                int64_t deadline_ms)
{
    struct done *d = xalloc(sizeof(*d));

    d->core = c;
    d->key = xprintf("%s#%lld", result->task, (long long)result->item);
    d->result = *result;
    d->result.task = arena_strdup(&d->arena, result->task);
    d->result.text = arena_strdup(&d->arena, result->text);
    proc_view_keep(&d->result.view, &d->arena);
    d->deadline_ms = deadline_ms;
    timer_init(&d->timer, on_done_timer, d);
    map_put_str(&c->done, d->key, d);
    return d;
}

void book_done(struct core *c, const struct message_result *result, int64_t deadline_ms)
{
    send_result(keep_result(c, result, deadline_ms));
}

/* Still remembered until no copy of the command can be acted upon. */
void book_stored(struct core *c, const char *task, int64_t item)
{
    char *key = xprintf("%s#%lld", task, (long long)item);
    struct done *d = map_find_str(&c->done, key);
    const struct message_ref ref = { task, item };
    int64_t until;

    free(key);
    if (!d || d->is_stored)
        return;
    d->is_stored = true;
    until = d->deadline_ms > c->now_ms ? d->deadline_ms : c->now_ms;
    timers_set(&c->timers, &d->timer, until + REMEMBER_MS);
    if (c->is_started) /* else it is there, and being read */
        put(c, RECORD_STORED, &message_ref_shape, &ref, false);
}

void book_send_all(struct core *c)
{
    struct map_entry *e;

    for (size_t at = 0; (e = map_next(&c->done, &at));) {
        struct done *d = e->value;

        if (!d->is_stored)
            send_result(d);
    }
}

void book_new_boot(struct core *c)
{
    struct map_entry *e;

    for (size_t at = 0; (e = map_next(&c->done, &at));) {
        struct done *d = e->value;

        d->deadline_ms = c->now_ms;
        if (d->is_stored)
            timers_set(&c->timers, &d->timer, c->now_ms + REMEMBER_MS);
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
    keep_result(c, m, deadline_ms);
}

static void replay_process(struct core *c, const struct process_record *r)
{
    struct kept *k = core_kept(c, r->meta.space, r->meta.name);

    arena_reset(&k->arena);
    proc_spec_copy(&r->spec, &k->arena, &k->spec);
    k->has_spec = r->has_spec;
    k->wanted = r->wanted;
    k->hosted = r->hosted;
    k->ident = (struct core_ident){ r->pid, r->start_ticks };
    k->run = (struct core_ident){ r->run_pid, r->run_ticks };
    k->start = (struct core_ident){ r->command_pid, r->command_ticks };
    k->tries = r->tries;
    k->register_s = r->register_s;
    k->last_start_s = r->last_start_s;
    k->restarts = r->restarts;
    snprintf(k->why, sizeof(k->why), "%s", r->why);
}

static void replay_run(struct core *c, const struct run_record *r)
{
    struct op *op = find_op(c, r->task, r->item);

    if (!op)
        return;
    op->was_running = true;
    op->run = (struct core_ident){ r->pid, r->start_ticks };
    op->out_from = r->out_from;
    if (r->pid > 0 && op_starts(op))
        op->kept->start = op->run;
}

static void replay_one(struct core *c, unsigned type, const void *record)
{
    const struct message_ref *ref = record;

    if (type == RECORD_COMMAND)
        replay_command(c, record);
    else if (type == RECORD_RUN)
        replay_run(c, record);
    else if (type == RECORD_RESULT)
        replay_result(c, record);
    else if (type == RECORD_STORED)
        book_stored(c, ref->task, ref->item);
    else
        replay_process(c, record);
}

int core_replay(struct core *c, unsigned type, const char *json, size_t n, struct err *err)
{
    static const struct shape *const shapes[] = {
        [RECORD_COMMAND] = &message_command_shape, [RECORD_RUN] = &run_shape,
        [RECORD_RESULT] = &message_result_shape,   [RECORD_STORED] = &message_ref_shape,
        [RECORD_PROCESS] = &process_shape,
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
static void compact_deadline(const struct done *d)
{
    struct message_command m = { .task = d->result.task,
                                 .item = d->result.item,
                                 .op = PROC_OP_QUERY,
                                 .deadline_ms = d->deadline_ms,
                                 .meta = { d->result.view.space, d->result.view.name, { 0 } } };

    shape_defaults(&proc_spec_shape, &m.spec);
    if (d->deadline_ms > d->core->now_ms)
        put(d->core, RECORD_COMMAND, &message_command_shape, &m, false);
}

void core_compact(struct core *c)
{
    struct map_entry *e;
    struct op *op;

    for (size_t at = 0; (e = map_next(&c->kept, &at));) {
        struct kept *k = e->value;

        book_process(k);
        TAILQ_FOREACH(op, &k->ops, link)
        compact_op(op);
    }
    for (size_t at = 0; (e = map_next(&c->done, &at));) {
        struct done *d = e->value;
        const struct message_ref ref = { d->result.task, d->result.item };

        compact_deadline(d);
        put(c, RECORD_RESULT, &message_result_shape, &d->result, false);
        if (d->is_stored)
            put(c, RECORD_STORED, &message_ref_shape, &ref, false);
    }
}
