/* SPDX-License-Identifier: MIT */
/* views.c - see views.h. */
#include "cli/views.h"

#include <string.h>

#include "base/mem.h"
#include "cli/duration.h"

static const struct column process_columns[] = {
    { TEXT_HOST, false },
    { TEXT_PROCESS, false },
    { TEXT_WANTED, false, .goes = 2 },
    { TEXT_STATE, false },
    { TEXT_PID, true },
    { TEXT_HOSTED, false, .goes = 3 },
    { TEXT_RESTARTS, true, .goes = 1 },
    { TEXT_UPTIME, true },
    { TEXT_WHY, false },
};

static const struct column wrong_columns[] = {
    { TEXT_HOST, false },  { TEXT_PROCESS, false }, { TEXT_WANTED, false },
    { TEXT_STATE, false }, { TEXT_WHY, false },
};

static const struct column item_columns[] = {
    { TEXT_HOST, false },
    { TEXT_PROCESS, false },
    { TEXT_CODE, false },
    { TEXT_TEXT, false },
};

const char *views_host(struct arena *a, const char *agent_id, int64_t cloud_id, const char *ip)
{
    if (!*ip)
        return agent_id;
    return cloud_id ? arena_printf(a, "%lld:%s", (long long)cloud_id, ip) : ip;
}

/* ---- processes ---- */

void views_processes_init(struct table *t)
{
    table_init(t, process_columns, ARRAY_LEN(process_columns));
}

/* What nothing is wanted of is never wrong. */
bool views_is_as_wanted(const struct proc_view *v)
{
    return v->wanted == PROC_UNREGISTERED || v->wanted == v->status;
}

static enum text status_text(int64_t status)
{
    switch (status) {
    case PROC_RUNNING: return TEXT_RUNNING;
    case PROC_STOPPED: return TEXT_STOPPED;
    }
    return TEXT_UNREGISTERED;
}

static enum style status_style(const struct process_view *p)
{
    if (!p->online)
        return STYLE_DIM;
    if (!views_is_as_wanted(&p->view))
        return STYLE_BAD;
    return p->view.status == PROC_RUNNING ? STYLE_GOOD : STYLE_PLAIN;
}

/* By our own clock since its start, which goes on between two reports of the agent. */
static void add_uptime(struct table *t, enum lang lang, const struct proc_view *v, int64_t now_s)
{
    int64_t s = v->last_start_s > 0 ? now_s - v->last_start_s : v->elapsed_s;
    struct buf b = { 0 };

    if (v->status == PROC_RUNNING && (s > 0 || v->last_start_s > 0))
        duration_put(&b, lang, s * 1000);
    table_add(t, STYLE_PLAIN, buf_text(&b));
    buf_free(&b);
}

static void add_why(struct table *t, enum lang lang, const struct process_view *p)
{
    struct buf b = { 0 };

    if (p->online)
        buf_puts(&b, p->view.why);
    else if (*p->view.why)
        text_put(&b, lang, TEXT_HOST_OFFLINE, TEXT_ARGS(p->view.why));
    else
        text_put(&b, lang, TEXT_HOST_OFFLINE_ONLY, NULL);
    table_add(t, STYLE_PLAIN, buf_text(&b));
    buf_free(&b);
}

/* The columns both tables begin with. */
static void add_state(struct table *t, enum lang lang, const struct process_view *p)
{
    const struct proc_view *v = &p->view;

    table_add(t, STYLE_PLAIN, views_host(&t->arena, p->agent_id, p->cloud_id, p->ip));
    table_add(t, STYLE_PLAIN, arena_printf(&t->arena, "%s/%s", v->space, v->name));
    table_add(t, STYLE_PLAIN,
              v->wanted == PROC_UNREGISTERED ? "" : text_get(lang, status_text(v->wanted)));
    table_add_text(t, status_style(p), lang, status_text(v->status));
}

void views_process_add(struct table *t, enum lang lang, const struct process_view *p, int64_t now_s)
{
    const struct proc_view *v = &p->view;

    add_state(t, lang, p);
    if (v->pid > 0)
        table_add_number(t, v->pid);
    else
        table_add(t, STYLE_PLAIN, "");
    table_add_text(t, STYLE_PLAIN, lang, v->hosted ? TEXT_YES : TEXT_NO);
    table_add_number(t, v->restarts);
    add_uptime(t, lang, v, now_s);
    add_why(t, lang, p);
}

void views_wrong_init(struct table *t)
{
    table_init(t, wrong_columns, ARRAY_LEN(wrong_columns));
}

void views_wrong_add(struct table *t, enum lang lang, const struct process_view *p)
{
    add_state(t, lang, p);
    add_why(t, lang, p);
}

/* ---- results ---- */

void views_items_init(struct table *t)
{
    table_init(t, item_columns, ARRAY_LEN(item_columns));
}

/* One that is not known is called as the caller did: a key is HOST:NAMESPACE:NAME. */
const char *views_item_host(struct arena *a, const struct task_item_view *item)
{
    const char *end = arena_printf(a, ":%s:%s", item->space, item->name), *host;
    size_t n = strlen(item->key), m = strlen(end);

    if (*item->ip)
        return views_host(a, item->agent_id, item->cloud_id, item->ip);
    if (n <= m || strcmp(item->key + n - m, end) != 0)
        return *item->agent_id ? item->agent_id : item->key;
    host = arena_memdup(a, item->key, n - m);
    return strncmp(host, "0:", 2) ? host : host + 2; /* people leave cloud area 0 out */
}

static void add_code(struct table *t, enum lang lang, const struct task_item_view *item)
{
    const struct code_info *info = code_get((int)item->code);

    if (!item->done)
        table_add_text(t, STYLE_DIM, lang, TEXT_WAITING);
    else if (!item->code)
        table_add_text(t, STYLE_GOOD, lang, TEXT_DONE);
    else if (info->number != item->code)
        table_add_number(t, item->code); /* of a newer server */
    else
        table_add(t, STYLE_BAD, arena_printf(&t->arena, "%d %s", info->number, info->name));
}

/* The server's text is English; what the code means is said in the caller's language. */
static void add_text(struct table *t, enum lang lang, const struct task_item_view *item)
{
    const char *known = code_get((int)item->code)->text[lang];
    struct buf b = { 0 };

    if (!item->done || !item->code)
        buf_puts(&b, item->view.why ? item->view.why : "");
    else if (!*item->text)
        buf_puts(&b, known);
    else if (lang == LANG_EN)
        buf_puts(&b, item->text);
    else
        text_put(&b, lang, TEXT_WITH_DETAIL, TEXT_ARGS(known, item->text));
    table_add(t, STYLE_PLAIN, buf_text(&b));
    buf_free(&b);
}

void views_item_add(struct table *t, enum lang lang, const struct task_item_view *item)
{
    table_add(t, STYLE_PLAIN, views_item_host(&t->arena, item));
    table_add(t, STYLE_PLAIN, arena_printf(&t->arena, "%s/%s", item->space, item->name));
    add_code(t, lang, item);
    add_text(t, lang, item);
}
