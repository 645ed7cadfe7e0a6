/* SPDX-License-Identifier: MIT */
/* content.c - see content.h. */
#include "api/gse/content.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem/mem.h"
#include "base/text/utf8.h"
#include "model/code.h"
#include "model/operation.h"
#include "model/proc.h"
#include "model/translate.h"
#include "wire/json/json.h"

/* Nodeman and GSEKit compare error_msg with this word and drop the result of an unfinished item
 * that has another text: it is never translated. */
static const char handling[] = "handling";

static const char success[] = "success";

const char *result_text(const struct task_item *item, enum lang lang, struct arena *a)
{
    if (item->code == CODE_OK)
        return success;
    if (item->text && *item->text)
        return translate(item->text, lang, a);
    return code_get((int)item->code)->text[lang];
}

/* Of an item whose text is in the caller's language already. */
static const char *shown_text(const struct task_item *item)
{
    if (item->code == CODE_OK)
        return success;
    return item->text && *item->text ? item->text : code_get((int)item->code)->text[LANG_EN];
}

/* Each pid becomes about 512 bytes of output; with up to a thousand results none is cut. */
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

struct task_item result_share(const struct task_item *item, size_t n, enum lang lang,
                              struct arena *a)
{
    enum { TEXTS_MAX_BYTES = 24 << 20 };
    struct task_item one = *item;
    size_t share = TEXTS_MAX_BYTES / n, length;
    const char *rest;

    one.view.others = share_others(item->view.others, n, a);
    one.text = translate(item->text ? item->text : "", lang, a);
    length = strlen(one.text);
    if (length <= share)
        return one;
    share = utf8_cut(one.text, share);
    rest = arena_msg(a, " (%zu bytes more are not shown: so many results are too long)",
                     length - share);
    one.text = arena_printf(a, "%.*s%s", (int)share, one.text, translate(rest, lang, a));
    return one;
}

/* ---- members of objects */

static void content_put_name(struct buf *b, const char *name)
{
    size_t n = b->len;

    if (n && buf_data(b)[n - 1] != '{')
        buf_addc(b, ',');
    buf_addc(b, '"');
    buf_puts(b, name);
    buf_add(b, "\":", 2);
}

static void content_put_text(struct buf *b, const char *name, const char *text)
{
    content_put_name(b, name);
    buf_quote(b, text ? text : "", text ? strlen(text) : 0);
}

static void put_int(struct buf *b, const char *name, int64_t n)
{
    content_put_name(b, name);
    buf_put_int(b, n);
}

static void content_put_number(struct buf *b, const char *name, double d)
{
    content_put_name(b, name);
    json_put_double(b, d);
}

static void put_bool(struct buf *b, const char *name, bool is)
{
    content_put_name(b, name);
    buf_puts(b, is ? "true" : "false");
}

/* Times are numbers in strings. */
static const char *or_zero(const char *text)
{
    return text && *text ? text : "0";
}

/* ---- a status query */

/* "utctime" is local time and "utctime2" is UTC, as in GSE's examples.  The host does not report
 * its time zone, so the server's is used. */
static void put_time(struct buf *b, int64_t wall_s)
{
    time_t t = (time_t)wall_s;
    struct tm local, utc;
    char text[64];

    localtime_r(&t, &local);
    gmtime_r(&t, &utc);
    strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &local);
    content_put_text(b, "utctime", text);
    strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &utc);
    content_put_text(b, "utctime2", text);
    put_int(b, "timezone", local.tm_gmtoff / 3600);
}

static void put_use(struct buf *b, const struct proc_view *v, int64_t absent_pid)
{
    content_put_number(b, "cpuUsage", v->cpu_percent);
    content_put_number(b, "cpuUsageAve", v->cpu_percent_avg);
    content_put_number(b, "phyMemUsage", v->mem_percent);
    put_int(b, "usePhyMem", v->mem_bytes);
    put_int(b, "diskSize", -1);
    content_put_text(b, "freeVMem", "0");
    put_int(b, "pid", v->pid > 0 ? v->pid : absent_pid);
    content_put_text(b, "startTime", v->start_time);
    content_put_text(b, "stat", v->stat);
    content_put_text(b, "utime", or_zero(v->utime));
    content_put_text(b, "stime", or_zero(v->stime));
    put_int(b, "threadCount", v->threads);
    put_int(b, "elapsedTime", v->elapsed_s);
}

/* Job identifies a process by its binary, GSE by meta.name. */
static const char *name_in(const struct task_item *item, int64_t form)
{
    return form == TASK_FORM_JOB ? item->proc_name : item->name;
}

/* pid -1: the process does not run; 0: the query failed, and its state is unknown. */
static void put_instance(struct buf *b, const struct task_item *item, const struct proc_view *v,
                         int64_t form)
{
    buf_addc(b, '{');
    content_put_text(b, "cmdline", v->cmdline);
    content_put_text(b, "processName", name_in(item, form));
    content_put_text(b, "version", v->version);
    content_put_text(b, "health", v->health);
    put_bool(b, "isAuto", v->hosted);
    put_use(b, v, item->code == CODE_OK ? -1 : 0);
    put_int(b, "register_time", v->register_s);
    put_int(b, "last_start_time", v->last_start_s);
    put_int(b, "report_time", v->report_s ? v->report_s : item->done_ms / 1000);
    buf_addc(b, '}');
}

/* If several processes are expected: of the others only the pid is known. */
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
    content_put_text(b, "ip", ip);
    content_put_text(b, "bk_agent_id", item->agent);
    put_time(b, item->done_ms / 1000);
    buf_puts(b, ",\"process\":[{");
    content_put_text(b, "procname", name_in(item, form));
    buf_puts(b, ",\"instance\":[");
    put_instance(b, item, &item->view, form);
    put_others(b, item, form);
    buf_puts(b, "]}]}");
}

/* ---- every other operation */

static void put_value(struct buf *b, const struct task_item *item)
{
    buf_puts(b, "{\"value\":[{");
    content_put_text(b, "procName", item->proc_name);
    content_put_text(b, "setupPath", item->setup_path);
    content_put_text(b, "funcID", item->func_id);
    content_put_text(b, "instanceID", item->instance_id);
    content_put_text(b, "bk_agent_id", item->agent);
    content_put_text(b, "result", shown_text(item));
    put_bool(b, "isAuto", item->view.hosted);
    buf_puts(b, "}]}");
}

void content_write(const struct task_item *item, int64_t form, const char *ip, struct buf *out)
{
    if (item->code == CODE_WAITING)
        return;
    if (operation_has_kind(item->op, ONLY_LOOKS))
        put_status(out, item, form, ip);
    else
        put_value(out, item);
}

void result_write(const struct task_item *item, int64_t form, const char *ip,
                  enum content_kind kind, struct buf *scratch, struct buf *out)
{
    const char *text = item->code == CODE_WAITING ? handling : shown_text(item);

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
