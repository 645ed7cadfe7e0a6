/* SPDX-License-Identifier: MIT */
/* v1_audit.c - the audit log in /v1, newest first. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/pipeline/api_state.h"
#include "api/pipeline/call.h"
#include "api/pipeline/handlers.h"
#include "model/audit.h"
#include "model/translate.h"
#include "store/store_audit.h"

/* ---- the end of a page: "milliseconds:request id" */

static int read_after(const char *text, struct audit_page *page, struct err *err)
{
    char *end;

    page->before_ms = INT64_MAX;
    page->before_id = "";
    if (!*text)
        return 0;
    errno = 0;
    page->before_ms = strtoll(text, &end, 10);
    if (errno || end == text || *end != ':')
        return err_set(err, ERR_INVALID, "after: must be what `next` of the page before was");
    page->before_id = end + 1;
    return 0;
}

static const char *write_after(const struct audit_row *row, struct arena *a)
{
    return arena_printf(a, "%lld:%s", (long long)row->at_ms, row->request_id);
}

/* ---- the list */

static struct audit_view view_row(const struct call *c, const struct audit_row *row)
{
    return (struct audit_view){
        .at_ms = row->at_ms,
        .request_id = row->request_id,
        .app = row->app,
        .user = row->user,
        .user_proven = row->is_proven,
        .from = row->peer,
        .method = row->method,
        .route = row->route,
        .what = row->what,
        .code = row->code,
        .code_name = row->code_name,
        .message = translate_own(row->message, call_lang(c), c->arena),
        .task_id = row->task_id,
        .repeats = row->repeats,
    };
}

static void v1_audit_on_list(void *arg, struct store_call *s)
{
    struct call *c = arg;
    const struct audit_ask *ask = c->ask;
    const struct list *rows = s->out;
    const struct audit_row *row = rows->items;
    size_t n = rows->n < (size_t)ask->limit ? rows->n : (size_t)ask->limit;
    struct audit_view *views = arena_alloc(c->arena, n * sizeof(*views));
    struct audit_page_view page = { { views, n }, "" };

    if (s->failed) {
        call_fail(c, &s->err);
    } else {
        for (size_t i = 0; i < n; i++)
            views[i] = view_row(c, &row[i]);
        if (rows->n > n)
            page.next = write_after(&row[n - 1], c->arena);
        call_finish(c, &audit_page_view_shape, &page);
    }
    store_call_free(s);
}

/* Reads one row more than requested to know whether there is another page. */
void v1_audit(struct call *c)
{
    const struct audit_ask *ask = c->ask;
    struct store_call *s = store_call_new(&store_audit_list, v1_audit_on_list, c);
    struct audit_page *page = arena_alloc(&s->arena, sizeof(*page));
    struct err err;

    *page = (struct audit_page){
        .since_ms = ask->since_s * 1000,
        .until_ms = ask->until_s ? ask->until_s * 1000 : INT64_MAX,
        .app = ask->app,
        .user = ask->user,
        .route = ask->route,
        .limit = ask->limit + 1,
    };
    s->in = page;
    if (!read_after(ask->after, page, &err) && !store_submit(c->api->parts.store, s, &err))
        return;
    store_call_free(s);
    call_fail(c, &err);
}
