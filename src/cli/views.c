/* SPDX-License-Identifier: MIT */
/* views.c - see views.h. */
#include "cli/views.h"

#include <string.h>

#include "base/mem/mem.h"
#include "cli/refusal.h"
#include "model/duration.h"
#include "model/operation.h"
#include "model/why_judge.h"
#include "model/why_write.h"

static const struct column process_columns[] = {
    { TEXT_HOST, false },
    { TEXT_PROCESS, false },
    { TEXT_WANTED, false, .goes = 2 },
    { TEXT_STATE, false },
    { TEXT_PID, true },
    { TEXT_HOSTED, false, .goes = 3 },
    { TEXT_RESTARTS, true, .goes = 1 },
    { TEXT_CPU, true, .goes = 4 },
    { TEXT_MEM, true, .goes = 5 },
    { TEXT_UPTIME, true },
    { TEXT_HEALTH, false, .goes = 7, .hides = true },
    { TEXT_WHY, false },
};

/* With --local the host is known. */
static const struct column local_columns[] = {
    { TEXT_HOST, false, .goes = 1 },
    { TEXT_PROCESS, false },
    { TEXT_WANTED, false, .goes = 3 },
    { TEXT_STATE, false },
    { TEXT_PID, true },
    { TEXT_HOSTED, false, .goes = 4 },
    { TEXT_RESTARTS, true, .goes = 2 },
    { TEXT_CPU, true, .goes = 5 },
    { TEXT_MEM, true, .goes = 6 },
    { TEXT_UPTIME, true },
    { TEXT_HEALTH, false, .goes = 7, .hides = true },
    { TEXT_WHY, false },
};

static const struct column wrong_columns[] = {
    { TEXT_HOST, false },
    { TEXT_PROCESS, false },
    { TEXT_WANTED, false, .goes = 1 },
    { TEXT_STATE, false },
    { TEXT_WHY, false, .wraps = true },
};

static const struct column item_columns[] = {
    { TEXT_HOST, false },
    { TEXT_PROCESS, false },
    { TEXT_CODE, false },
    { TEXT_TEXT, false, .wraps = true },
};

const char *views_host(struct arena *a, const char *agent_id, int64_t cloud_id, const char *ip)
{
    if (!*ip)
        return agent_id;
    return cloud_id ? arena_printf(a, "%lld:%s", (long long)cloud_id, ip) : ip;
}

/* ---- processes ---- */

void views_processes_init(struct table *t, bool is_local)
{
    table_init(t, is_local ? local_columns : process_columns, ARRAY_LEN(process_columns));
}

const char *views_bytes(struct arena *a, int64_t bytes)
{
    static const char units[] = "KMGT";
    double n = (double)bytes / 1024;
    size_t unit = 0;

    for (; n >= 1000 && units[unit + 1]; unit++)
        n /= 1024;
    return arena_printf(a, n < 10 && unit ? "%.1f%c" : "%.0f%c", n, units[unit]);
}

/* The use is known once it was measured; the memory of a process is never 0. */
bool views_has_use(const struct process_view *p)
{
    return p->view.pid > 0 && p->view.mem_bytes > 0 && !p->unknown_since_s;
}

static void add_use(struct table *t, const struct process_view *p)
{
    if (!views_has_use(p)) {
        table_add(t, STYLE_PLAIN, "");
        table_add(t, STYLE_PLAIN, "");
        return;
    }
    table_add(t, STYLE_PLAIN, arena_printf(&t->arena, "%.1f%%", p->view.cpu_percent));
    table_add(t, STYLE_PLAIN, views_bytes(&t->arena, p->view.mem_bytes));
}

enum text views_status(int64_t status)
{
    switch (status) {
    case PROC_RUNNING: return TEXT_RUNNING;
    case PROC_STOPPED: return TEXT_STOPPED;
    }
    return TEXT_UNREGISTERED;
}

enum text views_state(const struct process_view *p)
{
    switch (process_state_of(&p->view, p->unknown_since_s != 0)) {
    case PROCESS_UNKNOWN: return TEXT_UNKNOWN;
    case PROCESS_SCHEDULED: return TEXT_SCHEDULED;
    case PROCESS_RUNNING: return TEXT_RUNNING;
    case PROCESS_STOPPED: return TEXT_STOPPED;
    case PROCESS_UNREGISTERED: break;
    }
    return TEXT_UNREGISTERED;
}

static enum style status_style(const struct process_view *p)
{
    if (!p->online)
        return STYLE_DIM;
    if (why_is_trouble(&p->view))
        return STYLE_BAD;
    return p->view.status == PROC_RUNNING ? STYLE_GOOD : STYLE_PLAIN;
}

/* Counted with our clock since the start, because the agent reports only now and then. */
static void add_uptime(struct table *t, enum lang lang, const struct process_view *p, int64_t now_s)
{
    const struct proc_view *v = &p->view;
    int64_t since_s = v->cause.since_s > 0 ? v->cause.since_s : v->last_start_s;
    int64_t s = since_s > 0 ? now_s - since_s : v->elapsed_s;
    struct buf b = { 0 };

    if (views_state(p) == TEXT_RUNNING && v->status == PROC_RUNNING && (s > 0 || since_s > 0))
        duration_put(&b, lang, s * 1000);
    table_add(t, STYLE_PLAIN, buf_text(&b));
    buf_free(&b);
}

/* A process in a result has no sentence from the server. */
const char *views_why(struct arena *a, enum lang lang, const struct process_view *p, int64_t now_s)
{
    struct buf b = { 0 };
    const char *copy;

    if (p->view.why && *p->view.why)
        return p->view.why;
    why_write(&p->view, lang, now_s, &b);
    copy = arena_strdup(a, buf_text(&b));
    buf_free(&b);
    return copy;
}

/* During a start the process is wanted already; the agent records that when the start has
 * succeeded. */
const char *views_wanted(enum lang lang, const struct proc_view *v)
{
    if (operation_has_outcome(v->cause.doing, MAKES_RUN))
        return text_get(lang, TEXT_RUNNING);
    return v->wanted == PROC_UNREGISTERED ? "" : text_get(lang, views_status(v->wanted));
}

/* The first columns of both tables. */
static void add_state(struct table *t, enum lang lang, const struct process_view *p)
{
    const struct proc_view *v = &p->view;

    table_add(t, STYLE_PLAIN, views_host(&t->arena, p->agent_id, p->cloud_id, p->ip));
    table_add(t, STYLE_PLAIN, arena_printf(&t->arena, "%s/%s", v->space, v->name));
    table_add(t, STYLE_PLAIN, views_wanted(lang, v));
    table_add_text(t, status_style(p), lang, views_state(p));
}

/* Of a running process; nothing is known of one that has neither checks nor a health command. */
static void add_health(struct table *t, enum lang lang, const struct process_view *p)
{
    const struct proc_view *v = &p->view;
    const char *failing = proc_view_failing(v);
    struct buf b = { 0 };

    if (v->status != PROC_RUNNING || p->unknown_since_s) {
        table_add(t, STYLE_PLAIN, "");
    } else if (failing) {
        text_put(&b, lang, TEXT_HEALTH_FAILING, TEXT_ARGS(failing));
        table_add(t, STYLE_BAD, buf_text(&b));
    } else if (!v->checks.n && !(v->health && *v->health)) {
        table_add(t, STYLE_PLAIN, "");
    } else if (proc_view_is_healthy(v)) {
        table_add_text(t, STYLE_GOOD, lang, TEXT_HEALTH_OK);
    } else {
        table_add_text(t, STYLE_DIM, lang, TEXT_UNKNOWN);
    }
    buf_free(&b);
}

void views_process_add(struct table *t, enum lang lang, const struct process_view *p, int64_t now_s)
{
    const struct proc_view *v = &p->view;

    add_state(t, lang, p);
    if (v->pid > 0 && !p->unknown_since_s)
        table_add_number(t, v->pid);
    else
        table_add(t, STYLE_PLAIN, "");
    table_add_text(t, STYLE_PLAIN, lang, v->hosted ? TEXT_YES : TEXT_NO);
    table_add_number(t, v->restarts);
    add_use(t, p);
    add_uptime(t, lang, p, now_s);
    add_health(t, lang, p);
    table_add(t, STYLE_PLAIN, views_why(&t->arena, lang, p, now_s));
}

void views_wrong_init(struct table *t)
{
    table_init(t, wrong_columns, ARRAY_LEN(wrong_columns));
}

void views_wrong_add(struct table *t, enum lang lang, const struct process_view *p, int64_t now_s)
{
    add_state(t, lang, p);
    table_add(t, STYLE_PLAIN, views_why(&t->arena, lang, p, now_s));
}

/* ---- results ---- */

void views_items_init(struct table *t)
{
    table_init(t, item_columns, ARRAY_LEN(item_columns));
}

/* An unknown host is shown as the caller named it: a key is HOST:NAMESPACE:NAME. */
const char *views_item_host(struct arena *a, const struct task_item_view *item)
{
    const char *end = arena_printf(a, ":%s:%s", item->space, item->name), *host;
    size_t n = strlen(item->key), m = strlen(end);

    if (*item->ip)
        return views_host(a, item->agent_id, item->cloud_id, item->ip);
    if (n <= m || strcmp(item->key + n - m, end) != 0)
        return *item->agent_id ? item->agent_id : item->key;
    host = arena_memdup(a, item->key, n - m);
    return strncmp(host, "0:", 2) ? host : host + 2; /* cloud area 0 is not shown */
}

static void add_code(struct table *t, enum lang lang, const struct task_item_view *item)
{
    const struct code_info *info = code_get((int)item->code);

    if (!item->done)
        table_add_text(t, STYLE_DIM, lang, TEXT_WAITING);
    else if (!item->code)
        table_add_text(t, STYLE_GOOD, lang, TEXT_DONE);
    else if (info->number != item->code)
        table_add_number(t, item->code); /* a code of a newer server */
    else
        table_add(t, STYLE_BAD, arena_printf(&t->arena, "%d %s", info->number, info->name));
}

/* The state at the time of the result. */
static void put_done(struct buf *b, enum lang lang, const struct proc_view *v)
{
    if (v->why && *v->why)
        buf_puts(b, v->why);
    else if (v->report_s > 0)
        why_write(v, lang, v->report_s, b);
}

/* A success with additional information. */
bool views_has_remark(const struct task_item_view *item)
{
    const char *const *success = code_get(CODE_OK)->text;

    return item->done && !item->code && *item->text && strcmp(item->text, success[LANG_EN]) != 0 &&
           strcmp(item->text, success[LANG_ZH]) != 0;
}

/* A text that exists only in English is prefixed with the meaning of its code. */
static void views_add_text(struct table *t, enum lang lang, const struct task_item_view *item)
{
    const char *known = code_get((int)item->code)->text[lang];
    struct buf b = { 0 };

    if (views_has_remark(item))
        buf_puts(&b, item->text);
    else if (!item->done || !item->code)
        put_done(&b, lang, &item->view);
    else if (!*item->text)
        buf_puts(&b, known);
    else if (lang == LANG_EN || refusal_is_translated(item->text))
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
    views_add_text(t, lang, item);
}
