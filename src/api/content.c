/* SPDX-License-Identifier: MIT */
/* content.c - see content.h. */
#include "api/content.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "model/code.h"
#include "model/proc.h"
#include "model/wording.h"
#include "wire/json.h"

const char *result_text(const struct task_item *item)
{
    if (item->code == CODE_OK)
        return "success";
    return item->text && *item->text ? item->text : code_get((int)item->code)->text[LANG_EN];
}

/* Each pid becomes half a kilobyte; up to a thousand results have all of theirs. */
static const char *share_others(const char *others, size_t n, struct arena *a)
{
    enum { OTHERS_MAX_BYTES = 1 << 20 };
    size_t share = OTHERS_MAX_BYTES / n;

    if (!others || strlen(others) <= share)
        return others;
    while (share && others[share] != ' ')
        share--;
    return arena_memdup(a, others, share);
}

/* Clients look for "success". */
const char *result_words(const struct task_item *item, enum lang lang, struct wording_memo *memo,
                         struct arena *a)
{
    const char *text = result_text(item);

    return item->code == CODE_OK ? text : wording_again(memo, text, lang, a);
}

struct task_item result_share(const struct task_item *item, size_t n, struct arena *a)
{
    enum { TEXTS_MAX_BYTES = 24 << 20 };
    struct task_item one = *item;
    size_t share = TEXTS_MAX_BYTES / n, length = item->text ? strlen(item->text) : 0;

    one.view.others = share_others(item->view.others, n, a);
    if (length <= share)
        return one;
    share = utf8_whole(item->text, share);
    one.text = arena_printf(a, "%.*s (%zu bytes more are not shown: so many results are too long)",
                            (int)share, item->text, length - share);
    return one;
}

/* ---- members of objects */

static void put_name(struct buf *b, const char *name)
{
    size_t n = b->len;

    if (n && buf_data(b)[n - 1] != '{')
        buf_addc(b, ',');
    buf_addc(b, '"');
    buf_puts(b, name);
    buf_add(b, "\":", 2);
}

static void put_text(struct buf *b, const char *name, const char *text)
{
    put_name(b, name);
    buf_quote(b, text ? text : "", text ? strlen(text) : 0);
}

static void put_int(struct buf *b, const char *name, int64_t n)
{
    put_name(b, name);
    buf_put_int(b, n);
}

static void put_number(struct buf *b, const char *name, double d)
{
    put_name(b, name);
    json_put_double(b, d);
}

static void put_bool(struct buf *b, const char *name, bool is)
{
    put_name(b, name);
    buf_puts(b, is ? "true" : "false");
}

/* Times that are texts of numbers. */
static const char *or_zero(const char *text)
{
    return text && *text ? text : "0";
}

/* ---- a status query */

/* "utctime" is local time and "utctime2" is UTC, as their examples have it.  The host does
 * not tell its time zone, so it is ours. */
static void put_time(struct buf *b, int64_t wall_s)
{
    time_t t = (time_t)wall_s;
    struct tm local, utc;
    char text[64];

    localtime_r(&t, &local);
    gmtime_r(&t, &utc);
    strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &local);
    put_text(b, "utctime", text);
    strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &utc);
    put_text(b, "utctime2", text);
    put_int(b, "timezone", local.tm_gmtoff / 3600);
}

static void put_use(struct buf *b, const struct proc_view *v)
{
    put_number(b, "cpuUsage", v->cpu_percent);
    put_number(b, "cpuUsageAve", v->cpu_percent_avg);
    put_number(b, "phyMemUsage", v->mem_percent);
    put_int(b, "usePhyMem", v->mem_bytes);
    put_int(b, "diskSize", -1);
    put_text(b, "freeVMem", "0");
    put_int(b, "pid", v->pid > 0 ? v->pid : -1);
    put_text(b, "startTime", v->start_time);
    put_text(b, "stat", v->stat);
    put_text(b, "utime", or_zero(v->utime));
    put_text(b, "stime", or_zero(v->stime));
    put_int(b, "threadCount", v->threads);
    put_int(b, "elapsedTime", v->elapsed_s);
}

static void put_instance(struct buf *b, const struct task_item *item, const struct proc_view *v,
                         int64_t form)
{
    buf_addc(b, '{');
    put_text(b, "cmdline", v->cmdline);
    put_text(b, "processName", form == TASK_FORM_JOB ? item->proc_name : item->name);
    put_text(b, "version", v->version);
    put_text(b, "health", v->health);
    put_bool(b, "isAuto", v->hosted);
    put_use(b, v);
    put_int(b, "register_time", v->register_s);
    put_int(b, "last_start_time", v->last_start_s);
    put_int(b, "report_time", v->report_s ? v->report_s : item->done_ms / 1000);
    buf_addc(b, '}');
}

/* Where several processes are expected: of the others only the pid is known. */
static void put_others(struct buf *b, const struct task_item *item, int64_t form)
{
    const char *at = item->view.others ? item->view.others : "";
    struct proc_view v;
    char *end;

    shape_defaults(&proc_view_shape, &v);
    v.hosted = item->view.hosted;
    v.register_s = item->view.register_s;
    v.report_s = item->view.report_s;
    for (; (v.pid = strtoll(at, &end, 10)) > 0 && end != at; at = end) {
        buf_addc(b, ',');
        put_instance(b, item, &v, form);
    }
}

static void put_status(struct buf *b, const struct task_item *item, int64_t form, const char *ip)
{
    buf_addc(b, '{');
    put_text(b, "ip", ip);
    put_text(b, "bk_agent_id", item->agent);
    put_time(b, item->done_ms / 1000);
    buf_puts(b, ",\"process\":[{");
    put_text(b, "procname", item->proc_name);
    buf_puts(b, ",\"instance\":[");
    put_instance(b, item, &item->view, form);
    put_others(b, item, form);
    buf_puts(b, "]}]}");
}

/* ---- every other operation */

static void put_value(struct buf *b, const struct task_item *item)
{
    buf_puts(b, "{\"value\":[{");
    put_text(b, "procName", item->proc_name);
    put_text(b, "setupPath", item->setup_path);
    put_text(b, "funcID", item->func_id);
    put_text(b, "instanceID", item->instance_id);
    put_text(b, "bk_agent_id", item->agent);
    put_text(b, "result", result_text(item));
    put_bool(b, "isAuto", item->view.hosted);
    buf_puts(b, "}]}");
}

void content_write(const struct task_item *item, int64_t form, const char *ip, struct buf *out)
{
    if (item->code == CODE_WAITING)
        return;
    if (item->op == PROC_OP_QUERY)
        put_status(out, item, form, ip);
    else
        put_value(out, item);
}

void result_write(const struct task_item *item, int64_t form, const char *ip,
                  enum content_kind kind, struct buf *scratch, struct buf *out)
{
    const char *text = result_text(item);

    buf_truncate(scratch, 0);
    content_write(item, form, ip, scratch);
    buf_puts(out, "{\"error_code\":");
    buf_put_int(out, item->code);
    buf_puts(out, ",\"error_msg\":");
    buf_quote(out, text, strlen(text));
    buf_puts(out, ",\"content\":");
    if (kind == CONTENT_OBJECT && scratch->len)
        buf_add(out, buf_data(scratch), scratch->len);
    else
        buf_quote(out, buf_data(scratch), scratch->len);
    buf_addc(out, '}');
}
