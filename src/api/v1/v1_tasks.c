/* SPDX-License-Identifier: MIT */
/* v1_tasks.c - tasks in /v1: show, list and cancel. (Creation: v1_operate.c.) */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/gse/content.h"
#include "api/pipeline/api_state.h"
#include "api/pipeline/call.h"
#include "api/pipeline/handlers.h"
#include "api/pipeline/hosts.h"
#include "api/pipeline/task_scope.h"
#include "base/mem/mem.h"
#include "model/code.h"
#include "model/operation.h"
#include "model/task.h"
#include "model/translate.h"
#include "server/dispatch/task_key.h"
#include "store/store_task_lists.h"

/* ---- an item */

static bool is_unchanged(const struct task_info *task, struct task_mark i)
{
    return task->idempotent && operation_was_done(i.op, i.code);
}

static bool is_failed(const struct task_info *task, struct task_mark i)
{
    return i.code != CODE_OK && i.code != CODE_WAITING && !is_unchanged(task, i);
}

static struct task_item in_own_words(const struct call *c, struct task_item i)
{
    i.text = i.text ? translate_own(i.text, call_lang(c), c->arena) : "";
    return i;
}

/* Unlike in BlueKing's dialects a success may have a text.  Texts are in our own words already. */
static const char *item_text(const struct call *c, const struct task_item *i)
{
    if (i->code == CODE_OK && i->text && *i->text)
        return i->text;
    return result_text(i, call_lang(c), c->arena);
}

/* For a host that was named in several ways the first name is shown. */
static struct task_item_view view_item(const struct call *c, const struct task_info *task,
                                       const struct task_item *i)
{
    const struct fleet_host *h =
        i->agent && *i->agent ? fleet_find(c->api->parts.fleet, i->agent) : NULL;

    return (struct task_item_view){
        .key = task_key_first(i->key, c->arena),
        .agent_id = i->agent ? i->agent : "",
        .cloud_id = h ? h->cloud_id : 0,
        .ip = h ? h->ip : "",
        .space = i->space,
        .name = i->name,
        .op = i->op,
        .done = i->code != CODE_WAITING,
        .changed = i->code == CODE_OK && !operation_has_kind(i->op, ONLY_LOOKS),
        .code =
            is_unchanged(task, (struct task_mark){ i->op, i->code, i->key }) ? CODE_OK : i->code,
        .text = item_text(c, i),
        .view = hosts_translated(c, &i->view),
    };
}

static bool v1_tasks_is_wanted(const struct task_info *task, struct task_mark i, int64_t only)
{
    switch ((enum task_items)only) {
    case TASK_ITEMS_ALL: return true;
    case TASK_ITEMS_FAILED: return is_failed(task, i);
    case TASK_ITEMS_OPEN: return i.code == CODE_WAITING;
    case TASK_ITEMS_NONE: return false;
    }
    return false;
}

/* ---- a task */

enum { CODES_MAX = 100 };

/* In the order of first occurrence; there are few. */
static void count_code(struct list *codes, int64_t code, enum lang lang)
{
    struct task_code_view *views = codes->items;
    const struct code_info *info = code_get((int)code);
    size_t i = 0;

    while (i < codes->n && views[i].code != code)
        i++;
    if (i == CODES_MAX)
        return;
    if (i == codes->n) {
        bool is_known = info->number == code;

        views[codes->n++] = (struct task_code_view){ code, 0, is_known ? info->name : "",
                                                     is_known ? info->text[lang] : "" };
    }
    views[i].count++;
}

static void count_all(const struct call *c, const struct task_info *task, struct task_view *view)
{
    enum lang lang = call_lang(c);

    view->codes.items = arena_alloc(c->arena, CODES_MAX * sizeof(struct task_code_view));
    for (size_t i = 0; i < task->n; i++) {
        const struct task_mark mark = task_mark(task, i);
        bool is_so = is_unchanged(task, mark);

        count_code(&view->codes, is_so ? CODE_OK : mark.code, lang);
        view->failed += is_failed(task, mark);
        view->unchanged += is_so;
    }
}

/* Selects the items of the page; their indexes go to `page`. */
static size_t choose_items(const struct task_info *task, const struct task_look *look, size_t *page,
                           bool *ret_more)
{
    size_t n = 0;

    *ret_more = false;
    if (look->only == TASK_ITEMS_NONE)
        return 0;
    for (size_t i = (size_t)(look->after + 1); i < task->n; i++) {
        if (!v1_tasks_is_wanted(task, task_mark(task, i), look->only))
            continue;
        *ret_more = n == (size_t)look->limit;
        if (*ret_more)
            break;
        page[n++] = i;
    }
    return n;
}

static void answer_task(struct call *c, const struct task_info *task, const struct task_look *look)
{
    size_t most = (size_t)look->limit < task->n ? (size_t)look->limit : task->n;
    size_t *page = arena_alloc(c->arena, most * sizeof(*page));
    bool more;
    size_t n = choose_items(task, look, page, &more);
    struct task_item_view *items = arena_alloc(c->arena, n * sizeof(*items));
    struct task_view view = {
        .task_id = task->id,
        .app = task->app,
        .user = task->user,
        .created_ms = task->created_ms,
        .deadline_ms = task->deadline_ms,
        .cancelled_ms = task->cancelled_ms,
        .total = (int64_t)task->n,
        .left = (int64_t)task->n_left,
        .idempotent = task->idempotent,
        .items = { items, n },
        .next = more ? arena_printf(c->arena, "%zu", page[n - 1]) : "",
    };

    for (size_t i = 0; i < n; i++) {
        const struct task_item whole = in_own_words(c, task_item(task, page[i]));
        const struct task_item item = result_share(&whole, n, call_lang(c), c->arena);

        items[i] = view_item(c, task, &item);
    }
    count_all(c, task, &view);
    call_finish(c, &task_view_shape, &view);
}

static void v1_tasks_on_task(struct call *c, const struct task_info *task)
{
    answer_task(c, task, c->ask);
}

void v1_task(struct call *c)
{
    task_scope_read(c, c->rest, v1_tasks_on_task);
}

/* ---- cancel */

enum { CANCEL_ITEMS = 1000 }; /* items shown; `next` continues with the others */

static void on_shown(struct call *c, const struct task_info *task)
{
    const struct task_look first = { TASK_ITEMS_ALL, -1, CANCEL_ITEMS };

    answer_task(c, task, &first);
}

static void on_cancelled(void *arg, const struct err *failure)
{
    struct call *c = arg;
    const struct task_ref *ask = c->ask;

    if (failure) {
        call_fail(c, failure);
        return;
    }
    LOG(c->api->parts.log, LOG_INFO, "task cancelled", log_str("task", ask->task_id),
        log_str("app", c->app->code), log_str("user", c->user), log_str("peer", c->req->peer),
        log_str("request_id", c->request_id));
    task_scope_read(c, ask->task_id, on_shown);
}

/* An app may cancel another app's operation only if it may use that operation itself. */
static int check_cancel(const struct call *c, const struct task_info *task, struct err *err)
{
    if (!strcmp(task->app, c->app->code))
        return 0;
    for (size_t i = 0; i < task->n; i++) {
        int64_t op = task_mark(task, i).op;
        const char *name = operation_name(op); /* NULL: unknown, and not carried out */

        if (name && !app_may_op(&c->app->permissions, op))
            return err_set(err, CODE_DENIED, "app %s may not %s, and it is another's task",
                           c->app->code, name);
    }
    return 0;
}

static void v1_tasks_on_found(struct call *c, const struct task_info *task)
{
    const struct task_ref *ask = c->ask;
    struct err err;

    if (check_cancel(c, task, &err))
        call_fail(c, &err);
    else
        tasks_cancel(c->api->parts.tasks, ask->task_id, on_cancelled, c);
}

void v1_task_cancel(struct call *c)
{
    task_scope_read(c, ((const struct task_ref *)c->ask)->task_id, v1_tasks_on_found);
}

/* ---- list */

static int read_cursor(const char *text, int64_t *ret, struct err *err)
{
    char *end;

    *ret = INT64_MAX;
    if (!*text)
        return 0;
    errno = 0;
    *ret = strtoll(text, &end, 10);
    if (errno || *end || *ret <= 0)
        return err_set(err, ERR_INVALID, "after: must be what `next` of the page before was");
    return 0;
}

static struct task_line view_line(const struct task_list_row *r)
{
    return (struct task_line){
        .task_id = r->task.id,
        .app = r->task.app,
        .user = r->task.user,
        .op = r->op,
        .space = r->space,
        .name = r->name,
        .created_ms = r->task.created_ms,
        .finished_ms = r->task.finished_ms,
        .cancelled_ms = r->task.cancelled_ms,
        .total = r->task.n_items,
        .left = r->task.n_left,
        .failed = r->task.n_failed,
        .cancelled = r->n_cancelled,
    };
}

static void on_listed(void *arg, struct store_call *s)
{
    struct call *c = arg;
    const struct task_list_query *ask = c->ask;
    const struct list *rows = s->out;
    const struct task_list_row *row = rows->items;
    struct task_line *lines = arena_alloc(c->arena, (rows->n + 1) * sizeof(*lines));
    struct task_page page = { { lines, 0 }, "" };

    if (s->failed) {
        call_fail(c, &s->err);
        store_call_free(s);
        return;
    }
    while (page.tasks.n < rows->n && page.tasks.n < (size_t)ask->limit) {
        lines[page.tasks.n] = view_line(&row[page.tasks.n]);
        page.tasks.n++;
    }
    if (page.tasks.n < rows->n)
        page.next = arena_printf(c->arena, "%lld", (long long)row[page.tasks.n - 1].task.task_no);
    call_finish(c, &task_page_shape, &page);
    store_call_free(s);
}

/* An app with limits sees only its own tasks. */
static void list_tasks(struct call *c, const struct task_list_query *ask, int64_t before_no)
{
    struct store_call *s = store_call_new(&store_task_list, on_listed, c);
    struct task_list_ask *in = arena_alloc(&s->arena, sizeof(*in));
    bool is_limited = app_has_limits(&c->app->permissions);
    struct err err;

    *in = (struct task_list_ask){
        .before_no = before_no,
        .since_ms = ask->since_s * 1000,
        .app = arena_strdup(&s->arena, is_limited ? c->app->code : ask->app),
        .open_only = ask->open,
        .failed_only = ask->failed,
        .limit = ask->limit + 1,
    };
    s->in = in;
    if (!store_submit(c->api->parts.store, s, &err))
        return;
    store_call_free(s);
    call_fail(c, &err);
}

void v1_tasks(struct call *c)
{
    const struct task_list_query *ask = c->ask;
    const struct task_page none = { .next = "" };
    int64_t before_no;
    struct err err;

    if (read_cursor(ask->after, &before_no, &err))
        call_fail(c, &err);
    else if (app_has_limits(&c->app->permissions) && *ask->app &&
             strcmp(ask->app, c->app->code) != 0)
        call_finish(c, &task_page_shape, &none);
    else
        list_tasks(c, ask, before_no);
}
