/* SPDX-License-Identifier: MIT */
/* task_rows.c - see task_rows.h. */
#include "server/dispatch/task_rows.h"

#include <string.h>

#include "base/mem/map.h"
#include "base/mem/mem.h"
#include "model/code.h"
#include "model/operation.h"
#include "model/signal.h"
#include "wire/net/frame.h"

enum {
    SLACK_MS = 30 * 1000,
    LABELS_MAX = 64,
    SPEC_MAX = FRAME_BODY_MAX -
               16 * 1024, /* bytes of JSON: fits into one frame with the rest of a command */
};

/* Members that describe the operation come first: see task_rows_digest_len(). */
/* clang-format off */
static const struct field stored_fields[] = {
    { "labels", .type = FIELD_MAP, .offset = offsetof(struct task_stored_spec, labels), .flags = FIELD_OMIT_EMPTY,
      .max = LABELS_MAX, .sub = &proc_label_shape },
    { "spec", .type = FIELD_OBJ, .offset = offsetof(struct task_stored_spec, spec), .sub = &proc_spec_shape },
    { "look", .type = FIELD_INT, .offset = offsetof(struct task_stored_spec, look), .max = LOOK_UNCHECKED,
      .flags = FIELD_OMIT_EMPTY },
    { "signal", .type = FIELD_STR, .offset = offsetof(struct task_stored_spec, signal), .max = SIGNAL_NAME_MAX_BYTES,
      .flags = FIELD_OMIT_EMPTY },
    { "by_agent_id", .type = FIELD_BOOL, .offset = offsetof(struct task_stored_spec, by_agent_id),
      .flags = FIELD_OMIT_EMPTY },
    { 0 },
};
/* clang-format on */
static const struct shape stored_shape = { "stored_spec", sizeof(struct task_stored_spec),
                                           stored_fields };

/* Time from the start of the command, or from the pause after it, to the failure of the check. */
static int64_t ready_s(const struct proc_spec *spec)
{
    const struct proc_ready *r = &spec->extra.ready;

    if (r->kind == READY_ALIVE)
        return 0;
    return r->timeout_s ? r->timeout_s : proc_policy_of(spec).op_timeout_s;
}

/* One formula for all operations, so that it is never shorter than the time the agent takes: a
 * restart without a command of its own is a stop and a start, and a pre-start command is one more.
 */
int64_t task_budget_ms(const struct proc_spec *spec, int64_t op)
{
    struct proc_policy p = proc_policy_of(spec);
    const struct operation *o = operation_find(op);
    int64_t commands = o && o->replaces && !*operation_line(&o->command, &spec->control) ? 2 : 1;

    if (o && o->outcome == MAKES_RUN && *spec->extra.pre_start)
        commands++;
    return (commands * p.op_timeout_s + proc_check_end_s(spec) + p.stop_check_s +
            spec->extra.stop_wait_s + ready_s(spec)) *
               1000 +
           SLACK_MS;
}

const char *task_view_json(const struct proc_view *view, struct arena *a)
{
    struct buf json = { 0 };
    const char *text;

    shape_write(&proc_view_shape, view, &json);
    text = arena_memdup(a, buf_data(&json), json.len);
    buf_free(&json);
    return text;
}

static void name_view(const char *space, const char *name, struct proc_view *ret)
{
    shape_defaults(&proc_view_shape, ret);
    ret->space = space;
    ret->name = name;
}

void task_view_read(const struct task_item_row *row, struct arena *a, struct proc_view *ret)
{
    struct err ignored;

    if (!*row->content ||
        shape_read(&proc_view_shape, row->content, strlen(row->content), 0, a, ret, &ignored))
        name_view(row->space, row->name, ret);
}

int task_rows_check(const struct task_read_got *got, struct err *err)
{
    const struct task_spec_row *spec = got->specs.items;
    const struct task_item_row *row = got->items.items;

    for (size_t i = 0; i < got->specs.n; i++) {
        if (spec[i].n != (int64_t)i)
            return err_set(err, ERR_MALFORMED, "spec %zu is not there", i);
    }
    for (size_t i = 0; i < got->items.n; i++) {
        if (row[i].n != (int64_t)i)
            return err_set(err, ERR_MALFORMED, "item %zu is not there", i);
        if (row[i].spec_n < 0 || (size_t)row[i].spec_n >= got->specs.n)
            return err_set(err, ERR_MALFORMED, "item %zu: its spec %lld is not there", i,
                           (long long)row[i].spec_n);
    }
    return 0;
}

int task_rows_spec(const struct task_spec_row *row, struct arena *a, struct task_stored_spec *ret,
                   struct err *err)
{
    if (shape_read(&stored_shape, row->spec, strlen(row->spec), 0, a, ret, err))
        return err_wrap(err, "spec %lld", (long long)row->n);
    return 0;
}

struct list task_rows_renew(const struct task_stored_spec *specs, size_t n, struct arena *a)
{
    struct task_spec_row *rows = arena_alloc(a, n * sizeof(*rows));
    struct buf json = { 0 };

    for (size_t i = 0; i < n; i++) {
        buf_truncate(&json, 0);
        shape_write(&stored_shape, &specs[i], &json);
        rows[i] = (struct task_spec_row){ (int64_t)i, arena_memdup(a, buf_data(&json), json.len) };
    }
    buf_free(&json);
    return (struct list){ rows, n };
}

/* Excludes the closing brace, so that the length is the same with and without by_agent_id. */
size_t task_rows_digest_len(const char *spec)
{
    static const char by_id[] = ",\"by_agent_id\":true}";
    size_t n = strlen(spec), end = sizeof(by_id) - 1;

    return n >= end && !strcmp(spec + n - end, by_id) ? n - end : n - 1;
}

/* Most specs have no labels. */
struct list *task_rows_labels(const struct list *specs, struct arena *a)
{
    const struct task_spec_row *rows = specs->items;
    struct list *labels = arena_alloc(a, specs->n * sizeof(*labels));
    struct task_stored_spec stored;
    struct err ignored;

    for (size_t i = 0; i < specs->n; i++) {
        if (strncmp(rows[i].spec, "{\"labels\":", 10) != 0)
            continue;
        if (shape_read(&stored_shape, rows[i].spec, strlen(rows[i].spec), 0, a, &stored,
                       &ignored) == 0)
            labels[i] = stored.labels;
    }
    return labels;
}

/* ---- requests */

struct spec_ref {
    const void *spec, *labels;
    size_t by_agent_id; /* not a bool: compared as bytes, so without padding */
    int64_t look;
    const char *signal; /* compared as a pointer: that of one request */
};

/* Targets share a row if their specs and labels are the same pointers, or equal: batches name one
 * process on many hosts, host by host. */
struct spec_book {
    struct arena *a;
    struct map known;   /* spec_ref -> task_spec_row */
    struct map by_text; /* JSON -> task_spec_row */
    struct buf json;    /* scratch buffer */
    struct task_spec_row *rows;
    size_t *sizes; /* lengths of the rows' specs */
    int64_t n;
};

static struct task_spec_row *find_text(struct spec_book *book, const struct task_target *target)
{
    const struct task_stored_spec stored = { target->meta.labels, *target->spec,
                                             target->by_agent_id, target->look, target->signal };
    struct task_spec_row *row;

    buf_truncate(&book->json, 0);
    shape_write(&stored_shape, &stored, &book->json);
    row = map_find(&book->by_text, buf_data(&book->json), book->json.len);
    if (row)
        return row;
    row = &book->rows[book->n];
    *row = (struct task_spec_row){ book->n,
                                   arena_memdup(book->a, buf_data(&book->json), book->json.len) };
    book->sizes[book->n++] = book->json.len;
    map_put(&book->by_text, row->spec, book->json.len, row);
    return row;
}

static int64_t number_spec(struct spec_book *book, const struct task_target *target)
{
    struct spec_ref ref = { target->spec, target->meta.labels.items, target->by_agent_id,
                            target->look, target->signal };
    struct task_spec_row *row = map_find(&book->known, (const char *)&ref, sizeof(ref));

    if (row)
        return row->n;
    row = find_text(book, target);
    map_put(&book->known, arena_memdup(book->a, (const char *)&ref, sizeof(ref)), sizeof(ref), row);
    return row->n;
}

static void task_rows_fill_row(struct spec_book *book, const struct task_target *target, size_t n,
                               struct task_item_row *ret)
{
    *ret = (struct task_item_row){
        .n = (int64_t)n,
        .agent_id = arena_strdup(book->a, target->agent ? target->agent : ""),
        .key = arena_strdup(book->a, target->key),
        .space = arena_strdup(book->a, target->meta.space),
        .name = arena_strdup(book->a, target->meta.name),
        .op = target->op,
        .spec_n = number_spec(book, target),
        .code = CODE_WAITING,
        .message = "",
        .content = "",
    };
}

static void fill_item(const struct task_target *target, int64_t now_ms, struct hub_item *ret)
{
    *ret = (struct hub_item){
        .agent = target->agent,
        .key = target->key,
        .op = target->op,
        .meta = target->meta,
        .spec = target->spec,
        .deadline_ms = now_ms + task_budget_ms(target->spec, target->op),
        .code = target->code ? target->code : CODE_WAITING,
        .text = target->code ? target->text : "",
        .by_agent_id = target->by_agent_id,
        .look = target->look,
        .signal = target->signal,
    };
    name_view(ret->meta.space, ret->meta.name, &ret->view);
    ret->view.hosted = target->code && target->hosted;
}

/* A spec that does not fit into a frame would end the session of every agent it is sent to. */
static void refuse_large(struct hub_item *item, size_t size, struct arena *a)
{
    if (size <= SPEC_MAX || item->code != CODE_WAITING)
        return;
    item->code = CODE_PARAM;
    item->text =
        arena_msg(a, "spec: %zu bytes, at most %d can be sent to an agent", size, SPEC_MAX);
}

void task_rows_of(const struct task_ask *ask, int64_t wall_ms, int64_t now_ms, struct arena *a,
                  struct task_create_ask *ret_rows, struct hub_item *ret_items)
{
    const struct task_target *targets = ask->targets.items;
    size_t n = ask->targets.n;
    struct task_item_row *rows = arena_alloc(a, n * sizeof(*rows));
    struct spec_book book = { .a = a,
                              .rows = arena_alloc(a, n * sizeof(*book.rows)),
                              .sizes = arena_alloc(a, n * sizeof(*book.sizes)) };
    int64_t last_ms = now_ms;

    for (size_t i = 0; i < n; i++) {
        task_rows_fill_row(&book, &targets[i], i, &rows[i]);
        fill_item(&targets[i], now_ms, &ret_items[i]);
        refuse_large(&ret_items[i], book.sizes[rows[i].spec_n], a);
        if (ret_items[i].code == CODE_WAITING && ret_items[i].deadline_ms > last_ms)
            last_ms = ret_items[i].deadline_ms;
    }
    ret_rows->task.app = arena_strdup(a, ask->app ? ask->app : "");
    ret_rows->task.user = arena_strdup(a, ask->user ? ask->user : "");
    ret_rows->task.form = ask->form;
    ret_rows->task.idempotent = ask->idempotent;
    ret_rows->task.request_key = arena_strdup(a, ask->request_key ? ask->request_key : "");
    ret_rows->task.created_ms = wall_ms;
    ret_rows->task.deadline_ms = wall_ms + last_ms - now_ms;
    ret_rows->specs = (struct list){ book.rows, (size_t)book.n };
    ret_rows->items = (struct list){ rows, n };
    map_free(&book.known);
    map_free(&book.by_text);
    buf_free(&book.json);
}

void task_rows_end(struct task_item_row *row, const struct hub_item *item, int64_t wall_ms,
                   struct arena *a)
{
    row->state = STORE_ITEM_DONE;
    row->code = item->code;
    row->message = arena_strdup(a, item->text);
    row->content = task_view_json(&item->view, a);
    row->done_ms = wall_ms;
}
