/* SPDX-License-Identifier: MIT */
/* metrics_write.c - the metrics as text, and the handler of GET /metrics. */
#include "api/pipeline/api_state.h"
#include "api/pipeline/call.h"
#include "api/pipeline/call_counts.h"
#include "api/pipeline/handlers.h"
#include "api/pipeline/metrics.h"
#include "base/os/self.h"

/* ---- sources */

static void fill_server(const struct api *api, struct metrics_server *to)
{
    struct self_use use;

    self_use(&use);
    *to = (struct metrics_server){ .one = 1,
                                   .start_ms = api->started_wall_ms,
                                   .cpu_us = use.cpu_us,
                                   .rss_bytes = use.rss_bytes,
                                   .size_bytes = use.size_bytes,
                                   .fds = self_fds(),
                                   .fds_max = self_fds_max(),
                                   .version = api->parts.version };
}

/* *ret NULL: there is no such part. */
static void find_sources(const struct api *api, struct metrics_room *room,
                         const char *ret[METRIC_SOURCES])
{
    for (int i = 0; i < METRIC_SOURCES; i++) {
        const struct metrics_source *s = &api->metrics_from[i];

        ret[i] = s->part ? s->get(s->part, room) : NULL;
    }
    fill_server(api, &room->server);
    ret[FROM_SERVER] = (const char *)&room->server;
    ret[FROM_ROUTES] = (const char *)api->counts->rows;
    ret[FROM_CALLS] = (const char *)api->counts;
}

/* ---- text */

void metrics_escape(const char *text, bool is_label, struct buf *out)
{
    for (; *text; text++) {
        if (*text == '\n') {
            buf_puts(out, "\\n");
            continue;
        }
        if (*text == '\\' || (is_label && *text == '"'))
            buf_addc(out, '\\');
        buf_addc(out, *text);
    }
}

/* n / per as decimal text, where per is a power of ten; without the rounding of a float. */
static void metrics_write_put_number(struct buf *out, int64_t n, int64_t per)
{
    uint64_t whole = n < 0 ? -(uint64_t)n : (uint64_t)n, part;

    if (n < 0)
        buf_addc(out, '-');
    if (!per)
        per = 1;
    part = whole % (uint64_t)per;
    buf_put_int(out, (int64_t)(whole / (uint64_t)per));
    if (part)
        buf_addc(out, '.');
    for (; part; part = part * 10 % (uint64_t)per)
        buf_addc(out, (char)('0' + part * 10 / (uint64_t)per));
}

static void metrics_write_put_name(struct buf *out, const char *name, const char *suffix,
                                   const char *labels)
{
    buf_puts(out, name);
    buf_puts(out, suffix);
    if (*labels)
        buf_printf(out, "{%s}", labels);
    buf_addc(out, ' ');
}

enum { PER_SECOND = 1000 * 1000 }; /* microseconds */

static void put_hist(struct buf *out, const char *name, const char *labels, const struct hist *h)
{
    const char *between = *labels ? "," : "";
    uint64_t n = 0;

    for (size_t i = 0; i < HIST_BOUNDS; i++) {
        n += h->counts[i];
        buf_printf(out, "%s_bucket{%s%sle=\"", name, labels, between);
        metrics_write_put_number(out, hist_bounds_us[i], PER_SECOND);
        buf_printf(out, "\"} %llu\n", (unsigned long long)n);
    }
    n += h->counts[HIST_BOUNDS];
    buf_printf(out, "%s_bucket{%s%sle=\"+Inf\"} %llu\n", name, labels, between,
               (unsigned long long)n);
    metrics_write_put_name(out, name, "_sum", labels);
    metrics_write_put_number(out, (int64_t)h->sum_us, PER_SECOND);
    buf_addc(out, '\n');
    metrics_write_put_name(out, name, "_count", labels);
    buf_printf(out, "%llu\n", (unsigned long long)n);
}

static void put_one(struct buf *out, const struct metric *m, const char *labels, const void *at)
{
    if (m->type == METRIC_HISTOGRAM) {
        put_hist(out, m->name, labels, at);
        return;
    }
    metrics_write_put_name(out, m->name, "", labels);
    metrics_write_put_number(out, *(const int64_t *)at, m->per);
    buf_addc(out, '\n');
}

static void metrics_write_put_all(struct buf *out, const struct metric *m, const char *first)
{
    const struct metric_labels *l = m->labels;
    size_t own = m->type == METRIC_HISTOGRAM ? sizeof(struct hist) : sizeof(int64_t);
    size_t stride = l->stride ? l->stride : own, n = l->count();
    struct buf labels = { 0 };

    for (size_t i = 0; i < n; i++) {
        const void *at = first + i * stride;

        if (l->is_sparse && !*(const int64_t *)at)
            continue;
        buf_truncate(&labels, 0);
        if (l->put(first, i, &labels))
            put_one(out, m, buf_text(&labels), at);
    }
    buf_free(&labels);
}

void metrics_write(const struct api *api, struct buf *out)
{
    const char *from[METRIC_SOURCES];
    struct metrics_room room = { 0 };

    find_sources(api, &room, from);
    for (const struct metric *m = metrics; m->name; m++) {
        if (!from[m->from])
            continue;
        buf_printf(out, "# HELP %s ", m->name);
        metrics_escape(m->help, false, out);
        buf_printf(out, "\n# TYPE %s %s\n", m->name, metric_type_name(m->type));
        if (m->labels)
            metrics_write_put_all(out, m, from[m->from] + m->offset);
        else
            put_one(out, m, "", from[m->from] + m->offset);
    }
}

/* ---- the handler */

void metrics_get(struct call *c)
{
    metrics_write(c->api, &c->out);
    c->type = "text/plain; version=0.0.4; charset=utf-8";
    call_answer(c, 200);
}

/* ---- documentation */

void metrics_page_write(struct buf *out)
{
    buf_puts(out, "# Metrics\n\nAll metrics of `/metrics`, made from its table; "
                  "[metrics.md](../metrics.md) says which right it needs and what to watch. All "
                  "histograms have the same buckets: ");
    for (size_t i = 0; i < HIST_BOUNDS; i++) {
        buf_puts(out, i ? ", " : "");
        metrics_write_put_number(out, hist_bounds_us[i], PER_SECOND);
    }
    buf_puts(out, " s.\n\n| metric | type | labels | what |\n|---|---|---|---|\n");
    for (const struct metric *m = metrics; m->name; m++)
        buf_printf(out, "| `%s` | %s | %s | %s |\n", m->name, metric_type_name(m->type),
                   m->labels ? m->labels->names : "", m->help);
}
