/* SPDX-License-Identifier: MIT */
/* health.c - see health.h. */
#include "server/sessions/health.h"

#define AT(member) .offset = offsetof(struct health, member)

/* clang-format off */
static const struct field fields[] = {
    { "status", .type = FIELD_STR, AT(status), .max = 16, .doc = "`ok`, or `stopping`" },
    { "version", .type = FIELD_STR, AT(version), .max = 32, .doc = "of the server" },
    { "uptime_seconds", .type = FIELD_INT, AT(uptime_s), .doc = "since its start" },
    { "connections", .type = FIELD_INT, AT(connections), .doc = "to the API, now" },
    { "requests", .type = FIELD_INT, AT(requests), .doc = "served since its start" },
    { "refused", .type = FIELD_INT, AT(refused), .doc = "requests and connections turned away since its start" },
    { 0 },
};
/* clang-format on */
const struct shape health_shape = { "health", sizeof(struct health), fields };

static void health_put_row(struct buf *out, const char *name, const char *name_zh, int64_t value)
{
    buf_printf(out, "<tr><th>%s <small>%s</small></th><td>", name, name_zh);
    buf_put_int(out, value);
    buf_puts(out, "</td></tr>\n");
}

void health_page(const struct health *h, struct buf *out)
{
    buf_puts(
        out,
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Holdfast</title>\n"
        "<meta name=\"viewport\" content=\"width=device-width\">\n<style>\n"
        "body { font: 16px/1.5 system-ui, sans-serif; margin: 4rem auto; max-width: 34rem; "
        "padding: 0 1rem; color: #1f2933 }\n"
        "table { border-collapse: collapse; width: 100% }\n"
        "th, td { text-align: left; padding: .4rem 0; border-bottom: 1px solid #e4e7eb }\n"
        "td { text-align: right; font-variant-numeric: tabular-nums }\n"
        "th { font-weight: 500 } small { color: #7b8794; font-weight: 400 }\n"
        "</style></head><body>\n");
    buf_printf(out, "<h1>Holdfast %s</h1>\n<p>The server is running: <b>%s</b>. ", h->version,
               h->status);
    buf_puts(out, "<span lang=\"zh\">服务正在运行。</span></p>\n<table>\n");
    health_put_row(out, "Uptime, seconds", "运行时间（秒）", h->uptime_s);
    health_put_row(out, "Connections", "连接数", h->connections);
    health_put_row(out, "Requests served", "已处理请求", h->requests);
    health_put_row(out, "Turned away", "已拒绝", h->refused);
    buf_puts(out,
             "</table>\n<p><small>For machines: <a href=\"/healthz\">/healthz</a></small></p>\n"
             "</body></html>\n");
}
