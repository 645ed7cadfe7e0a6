/* SPDX-License-Identifier: MIT */
/* task_read.c - reads a task, from memory or else from the store. */
#include "base/mem/mem.h"
#include "server/dispatch/task_in.h"
#include "server/dispatch/task_rows.h"

/* ---- in memory */

struct seen {
    const struct active_task *active_task;
    const struct hub_item *items;
};

static struct task_mark active_mark(const struct task_info *task, size_t n)
{
    const struct hub_item *item = &((const struct seen *)task->from)->items[n];

    return (struct task_mark){ item->op, item->code, item->key };
}

static struct task_item active_item(const struct task_info *task, size_t n)
{
    const struct seen *seen = task->from;
    const struct hub_item *from = &seen->items[n];

    return (struct task_item){
        .agent = from->agent ? from->agent : "",
        .key = from->key,
        .op = from->op,
        .space = from->meta.space,
        .name = from->meta.name,
        .code = from->code,
        .text = from->text,
        .view = from->view,
        .done_ms = from->code == CODE_WAITING ? 0 : seen->active_task->items[n].done_ms,
        .setup_path = from->spec->identity.setup_path,
        .proc_name = from->spec->identity.proc_name,
        .func_id = from->spec->extra.job.func_id,
        .instance_id = from->spec->extra.job.instance_id,
        .by_agent_id = from->by_agent_id,
    };
}

static const struct task_source active_source = { active_mark, active_item };

static void read_active_task(struct seen *seen, task_read_fn *fn, void *arg)
{
    const struct active_task *active_task = seen->active_task;
    const struct task_info info = {
        .id = active_task->id,
        .app = active_task->app,
        .user = active_task->user,
        .form = active_task->form,
        .created_ms = active_task->created_ms,
        .deadline_ms = active_task->deadline_ms,
        .n = active_task->n,
        .n_left = active_task->left,
        .cancelled_ms = active_task->cancelled_ms,
        .idempotent = active_task->idempotent,
        .source = &active_source,
        .from = seen,
    };

    fn(arg, &info, NULL);
}

/* ---- in the store */

struct old {
    task_read_fn *fn;
    void *arg;
    struct task_read_ask ask;
    struct arena *arena; /* of the call; also holds what is read from the rows */
    const struct task_item_row *rows;
    const struct task_spec_row *specs;
    const struct task_stored_spec **read; /* the specs that were read so far */
};

static struct task_mark old_mark(const struct task_info *task, size_t n)
{
    const struct task_item_row *row = &((const struct old *)task->from)->rows[n];

    return (struct task_mark){ row->op, row->state == STORE_ITEM_DONE ? row->code : CODE_WAITING,
                               row->key };
}

/* A spec that can not be read, because another version wrote it, counts as empty. */
static const struct task_stored_spec *old_spec(struct old *old, int64_t n)
{
    struct task_stored_spec *stored;
    struct err ignored;

    if (old->read[n])
        return old->read[n];
    stored = arena_alloc(old->arena, sizeof(*stored));
    if (task_rows_spec(&old->specs[n], old->arena, stored, &ignored)) {
        *stored = (struct task_stored_spec){ 0 };
        shape_defaults(&proc_spec_shape, &stored->spec);
    }
    old->read[n] = stored;
    return stored;
}

static struct task_item old_item(const struct task_info *task, size_t n)
{
    struct old *old = task->from;
    const struct task_item_row *row = &old->rows[n];
    const struct task_stored_spec *stored = old_spec(old, row->spec_n);
    const struct proc_spec *spec = &stored->spec;
    bool is_done = row->state == STORE_ITEM_DONE;
    struct task_item item = {
        .agent = row->agent_id,
        .key = row->key,
        .op = row->op,
        .space = row->space,
        .name = row->name,
        .code = is_done ? row->code : CODE_WAITING,
        .text = is_done ? row->message : "",
        .done_ms = is_done ? row->done_ms : 0,
        .setup_path = spec->identity.setup_path,
        .proc_name = spec->identity.proc_name,
        .func_id = spec->extra.job.func_id,
        .instance_id = spec->extra.job.instance_id,
        .by_agent_id = stored->by_agent_id,
    };

    task_view_read(row, old->arena, &item.view);
    return item;
}

static const struct task_source old_source = { old_mark, old_item };

static void show_old(struct old *old, const struct task_read_got *got)
{
    const struct task_row *task = got->tasks.items;
    const struct task_info info = {
        .id = task->id,
        .app = task->app,
        .user = task->user,
        .form = task->form,
        .created_ms = task->created_ms,
        .deadline_ms = task->deadline_ms,
        .n = got->items.n,
        .n_left = (size_t)task->n_left,
        .cancelled_ms = task->cancelled_ms,
        .idempotent = task->idempotent,
        .source = &old_source,
        .from = old,
    };

    old->rows = got->items.items;
    old->specs = got->specs.items;
    old->read = arena_alloc(old->arena, got->specs.n * sizeof(const struct task_stored_spec *));
    old->fn(old->arg, &info, NULL);
}

static void on_old(void *arg, struct store_call *c)
{
    struct old *old = arg;
    const struct task_read_got *got = c->out;
    struct err err;

    if (c->failed)
        old->fn(old->arg, NULL, &c->err);
    else if (got->tasks.n == 0) {
        err_set(&err, CODE_NO_TASK, "task %s: no such task, or it has expired", old->ask.id);
        old->fn(old->arg, NULL, &err);
    } else if (task_rows_check(got, &err)) {
        err_wrap(&err, "task %s", old->ask.id);
        old->fn(old->arg, NULL, &err);
    } else {
        show_old(old, got);
    }
    store_call_free(c);
}

static void read_old(struct tasks *t, const char *id, task_read_fn *fn, void *arg)
{
    struct store_call *c = store_call_new(&store_task_read, on_old, NULL);
    struct old *old = arena_alloc(&c->arena, sizeof(*old));
    struct err err;

    *old = (struct old){ fn, arg, { arena_strdup(&c->arena, id), -1, TASK_ITEMS_MAX }, &c->arena };
    c->in = &old->ask;
    c->arg = old;
    if (pending_calls_submit(t->pending_calls, c, &err) == 0)
        return;
    store_call_free(c);
    fn(arg, NULL, &err);
}

void tasks_read(struct tasks *t, const char *id, task_read_fn *fn, void *arg)
{
    const struct active_task *active_task = map_find_str(&t->by_id, id);
    size_t n;
    struct seen seen = { active_task, active_task ? hub_find(t->hub, id, &n) : NULL };

    if (seen.items)
        read_active_task(&seen, fn, arg);
    else
        read_old(t, id, fn, arg);
}
