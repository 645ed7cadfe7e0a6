/* SPDX-License-Identifier: MIT */
/* event.c - the shapes of event.h, and the kinds of events. */
#include "model/event.h"

#include <string.h>

#include "model/rules.h"

#define AT(type, member) .offset = offsetof(struct type, member)

enum { PAGE_MAX = 1000, PAGE_USUAL = 100, CURSOR_MAX_BYTES = 32, TEXT_MAX_BYTES = 16384 };

/* clang-format off */
const struct event_kind event_kinds[] = {
    { "process_restart_success", false, { "restarted", "已重新拉起" } },
    { "process_restart_failed", true, { "restart failed", "拉起失败" } },
    { "process_exited", true, { "ended", "进程已退出" } },
    { "process_left", true, { "left processes running", "有进程残留" } },
    { "process_main_changed", false, { "main process changed", "主进程已变更" } },
    { "process_hosting_moved", true, { "hosted under another name", "改由其他名称托管" } },
    { "process_flapping", true, { "restarted again and again", "反复重启" } },
    { "process_cancel_restart", true, { "given up", "放弃拉起" } },
    { "process_resource_limit_exceed", true, { "over its limit", "超出资源限制" } },
    { "process_group_resource_limit_exceed", true, { "group over its limit", "进程组超出资源限制" } },
    { "process_run_failed", true, { "run failed", "周期执行失败" } },
    { "process_unhealthy", true, { "unhealthy", "健康检查失败" } },
    { "process_healthy", false, { "healthy again", "恢复健康" } },
    { "process_config_changed", true, { "configuration changed", "配置文件有变动" } },
    { "process_config_restored", false, { "configuration as it should be", "配置文件已恢复" } },
    { "process_local_operation", false, { "operated on the host", "在主机上被操作" } },
    { "process_order_passed", true, { "not waited for any longer", "不再等待" } },
    { "agent_lost", true, { "agent lost", "Agent 失联" }, true },
    { "agent_back", false, { "agent back", "Agent 恢复" }, true },
    { "agent_clone", true, { "clone refused", "拒绝克隆的 Agent" }, true },
    { "agent_address_taken", true, { "address is taken", "地址已被占用" }, true },
    { "agent_address_differs", true, { "joined from another address", "从其他地址加入" }, true },
    { "agent_join_refused", true, { "join refused", "拒绝加入" }, true },
    { EVENT_UNKNOWN_KIND, true, { "event of an unknown kind", "未知类型的事件" }, true },
    { "agent_proc_file_edited", true, { ".proc was edited", ".proc 被改动" } },
    { "agent_events_lost", true, { "events lost on the host", "主机上丢失了事件" } },
    { "agent_events_left_out", true, { "events left out", "省略了部分事件" }, true },
    { "server_store_failed", true, { "the store failed", "存储故障" }, true },
    { 0 },
};

static const struct field view_fields[] = {
    { "id", .type = FIELD_INT, AT(event_view, id), .flags = FIELD_REQUIRED,
      .doc = "rises over all hosts; in a stream it is also the event's `id:`" },
    { "time_ms", .type = FIELD_INT, AT(event_view, time_ms), .doc = "when it happened, by the host's clock, epoch milliseconds" },
    { "taken_ms", .type = FIELD_INT, AT(event_view, taken_ms), .doc = "when the server stored it, by its own clock" },
    { "event", .type = FIELD_STR, AT(event_view, event), .flags = FIELD_REQUIRED, .max = ID_MAX_BYTES, .doc = "what kind" },
    { "text", .type = FIELD_STR, AT(event_view, text), .max = TEXT_MAX_BYTES, .doc = "for people" },
    { "agent_id", .type = FIELD_STR, AT(event_view, agent_id), .max = ID_MAX_BYTES, .doc = "the host; empty: the server itself" },
    { "cloud_id", .type = FIELD_INT, AT(event_view, cloud_id), .doc = "of the host" },
    { "ip", .type = FIELD_STR, AT(event_view, ip), .max = ID_MAX_BYTES, .doc = "of the host" },
    { "biz_id", .type = FIELD_INT, AT(event_view, biz_id), .doc = "of the host, as it was then" },
    { "namespace", .type = FIELD_STR, AT(event_view, space), .max = NAME_MAX_BYTES, .doc = "of the process; empty: the host itself" },
    { "name", .type = FIELD_STR, AT(event_view, name), .max = NAME_MAX_BYTES, .doc = "of the process" },
    { "proc_name", .type = FIELD_STR, AT(event_view, proc_name), .max = NAME_MAX_BYTES, .doc = "its binary" },
    { 0 },
};
const struct shape event_view_shape = { "event_view", sizeof(struct event_view), view_fields, .doc = "Something that happened." };

static const struct field page_fields[] = {
    { "events", .type = FIELD_LIST, AT(event_page, events), .max = PAGE_MAX, .sub = &event_view_shape,
      .doc = "in the requested order; may be fewer than `limit`, or none, although there is a next page" },
    { "next", .type = FIELD_STR, AT(event_page, next), .max = CURSOR_MAX_BYTES,
      .doc = "`after` of the next page; empty: this is the last" },
    { "last", .type = FIELD_INT, AT(event_page, last),
      .doc = "id of the newest event: `after` to continue from it, in a stream or with `order` oldest" },
    { 0 },
};
const struct shape event_page_shape = { "event_page", sizeof(struct event_page), page_fields };

#define FILTER_FIELDS(ask)                                                                                             \
    { "host", .type = FIELD_STR, AT(ask, filter.host), .max = ID_MAX_BYTES, .check = rule_line,                        \
      .doc = "only this host: an agent id, `cloud:ip` or an address of cloud area 0" },                              \
    { "namespace", .type = FIELD_STR, AT(ask, filter.space), .max = NAME_MAX_BYTES, .check = rule_line,                \
      .doc = "only processes of this namespace" },                                                                        \
    { "name", .type = FIELD_STR, AT(ask, filter.name), .max = NAME_MAX_BYTES, .check = rule_line,                      \
      .doc = "only processes of this name" },                                                                       \
    { "event", .type = FIELD_STR, AT(ask, filter.event), .max = ID_MAX_BYTES, .check = rule_line,                      \
      .doc = "only of this kind" }

static const struct enum_name orders[] = {
    { EVENT_NEWEST_FIRST, "newest" }, { EVENT_OLDEST_FIRST, "oldest" }, { 0 },
};

static const struct field ask_fields[] = {
    FILTER_FIELDS(event_ask),
    { "since_s", .type = FIELD_INT, AT(event_ask, since_s), .min = 0, .max = INT64_MAX / 1000,
      .doc = "only events that the server stored since then, epoch seconds" },
    { "order", .type = FIELD_ENUM, AT(event_ask, order), .names = orders, .flags = FIELD_BY_NAME,
      .doc = "`newest` first, or `oldest`" },
    { "after", .type = FIELD_INT, AT(event_ask, after), .min = -1, .max = INT64_MAX, .fallback = -1,
      .doc = "`next` of the previous page; with `order` oldest also the id of any event, to get those after it" },
    { "limit", .type = FIELD_INT, AT(event_ask, limit), .min = 1, .max = PAGE_MAX, .fallback = PAGE_USUAL,
      .doc = "maximum number of items" },
    { 0 },
};
const struct shape event_ask_shape = { "event_ask", sizeof(struct event_ask), ask_fields };

static const struct field stream_fields[] = {
    FILTER_FIELDS(event_stream_ask),
    { "after", .type = FIELD_INT, AT(event_stream_ask, after), .min = -1, .max = INT64_MAX, .fallback = -1,
      .doc = "start with the events after this id, as with the header `Last-Event-ID`, which takes precedence; "
             "without either only new events are sent" },
    { 0 },
};
const struct shape event_stream_ask_shape = { "event_stream_ask", sizeof(struct event_stream_ask), stream_fields };

static const struct field gap_fields[] = {
    { "after", .type = FIELD_INT, AT(event_missing, after), .flags = FIELD_REQUIRED, .doc = "an id" },
    { "until", .type = FIELD_INT, AT(event_missing, until), .flags = FIELD_REQUIRED,
      .doc = "the events after `after` up to this id are not sent: they were deleted, or are too many" },
    { 0 },
};
const struct shape event_missing_shape = { "event_missing", sizeof(struct event_missing), gap_fields,
                                       .doc = "In a stream, as the data of `event: gap`." };
/* clang-format on */

const struct event_kind *event_kind_find(const char *name)
{
    for (const struct event_kind *k = event_kinds; k->name; k++) {
        if (!strcmp(k->name, name))
            return k;
    }
    return NULL;
}
