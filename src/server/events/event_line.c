/* SPDX-License-Identifier: MIT */
/* event_line.c - see event_line.h. */
#include "server/events/event_line.h"

#include <string.h>

#include "base/mem/mem.h"
#include "base/os/time.h"

enum { ALARM_AGENT_LOST = 2 };

const char event_lost_name[] = "agent_lost", event_back_name[] = "agent_back";

bool event_line_has(const struct event_row *row)
{
    return *row->agent_id && strcmp(row->name, event_back_name) != 0;
}

/* ---- process and host events ---- */

/* All values are strings, the cloud id too: readers expect that. */
struct line_dimension {
    const char *cloud_id, *ip, *space, *index, *proc_name, *agent_id;
};

struct line_content {
    const char *text;
};

struct line_item {
    const char *name;
    struct line_content content;
    const char *target;
    int64_t wall_ms;
    struct line_dimension dimension;
};

struct line_process {
    int64_t data_id;
    struct list data; /* struct line_item, one */
};

#define AT(type, member) .offset = offsetof(struct line_##type, member)

/* clang-format off */
static const struct field dimension_fields[] = {
    { "bk_target_cloud_id", .type = FIELD_STR, AT(dimension, cloud_id) },
    { "bk_target_ip", .type = FIELD_STR, AT(dimension, ip) },
    { "process_group_id", .type = FIELD_STR, AT(dimension, space), .flags = FIELD_OMIT_EMPTY },
    { "process_index", .type = FIELD_STR, AT(dimension, index), .flags = FIELD_OMIT_EMPTY },
    { "process_name", .type = FIELD_STR, AT(dimension, proc_name), .flags = FIELD_OMIT_EMPTY },
    { "bk_agent_id", .type = FIELD_STR, AT(dimension, agent_id), .flags = FIELD_OMIT_EMPTY },
    { 0 },
};
static const struct shape dimension_shape = { "dimension", sizeof(struct line_dimension), dimension_fields };

static const struct field content_fields[] = {
    { "content", .type = FIELD_STR, AT(content, text) },
    { 0 },
};
static const struct shape content_shape = { "content", sizeof(struct line_content), content_fields };

static const struct field item_fields[] = {
    { "event_name", .type = FIELD_STR, AT(item, name) },
    { "event", .type = FIELD_OBJ, AT(item, content), .sub = &content_shape },
    { "target", .type = FIELD_STR, AT(item, target) },
    { "timestamp", .type = FIELD_INT, AT(item, wall_ms) },
    { "dimension", .type = FIELD_OBJ, AT(item, dimension), .sub = &dimension_shape },
    { 0 },
};
static const struct shape item_shape = { "event", sizeof(struct line_item), item_fields };

static const struct field process_fields[] = {
    { "data_id", .type = FIELD_INT, AT(process, data_id) },
    { "data", .type = FIELD_LIST, AT(process, data), .sub = &item_shape },
    { 0 },
};
static const struct shape process_shape = { "events", sizeof(struct line_process), process_fields };
/* clang-format on */

/* The names that monitoring knows under EVENT_DATA_ID.  All others are our own. */
static const char *const blueking_names[] = {
    "process_restart_success",
    "process_restart_failed",
    "process_cancel_restart",
    "process_resource_limit_exceed",
    "process_group_resource_limit_exceed",
};

static bool is_blueking(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(blueking_names); i++) {
        if (!strcmp(blueking_names[i], name))
            return true;
    }
    return false;
}

/* Our own kinds never use EVENT_DATA_ID; 0 means no data id. */
static int64_t data_id_of(const struct event_row *row)
{
    int64_t id = row->report_id > 0 ? row->report_id : EVENT_DATA_ID;

    return id == EVENT_DATA_ID && !is_blueking(row->name) ? 0 : id;
}

static void write_process(const struct event_row *row, struct arena *a, struct buf *to)
{
    const bool of_proc = *row->space || *row->proc; /* otherwise the event is about the host */
    const char *cloud = arena_printf(a, "%lld", (long long)row->cloud_id);
    struct line_item item = {
        .name = row->name,
        .content = { row->message },
        .target = arena_printf(a, "%s|%s", row->ip, cloud),
        .wall_ms = row->wall_ms,
        .dimension = { .cloud_id = cloud,
                       .ip = row->ip,
                       .space = row->space,
                       .index = of_proc ? arena_printf(a, "%s:%s", row->space, row->proc) : "",
                       .proc_name = row->proc_name,
                       .agent_id = row->agent_id },
    };
    const struct line_process line = {
        .data_id = data_id_of(row),
        .data = { &item, 1 },
    };

    shape_write(&process_shape, &line, to);
}

/* ---- heartbeat events ---- */

/* Older readers identify a host by its address, newer ones by its id. */
struct line_host {
    int64_t biz_id, cloud_id;
    const char *ip, *agent_id;
};

struct line_extra {
    int64_t type, count;
    struct list hosts; /* struct line_host, one */
};

struct line_value {
    const char *desc, *source, *title, *type, *time;
    int64_t raw_id;
    struct line_extra extra;
};

struct line_beat {
    const char *server, *time, *utctime, *utctime2;
    int64_t timezone;  /* hours */
    struct list value; /* struct line_value, one */
};

/* clang-format off */
static const struct field host_fields[] = {
    { "bizid", .type = FIELD_INT, AT(host, biz_id) },
    { "cloudid", .type = FIELD_INT, AT(host, cloud_id) },
    { "ip", .type = FIELD_STR, AT(host, ip), .flags = FIELD_OMIT_EMPTY },
    { "agent_id", .type = FIELD_STR, AT(host, agent_id) },
    { 0 },
};
static const struct shape host_shape = { "host", sizeof(struct line_host), host_fields };

static const struct field extra_fields[] = {
    { "type", .type = FIELD_INT, AT(extra, type) },
    { "count", .type = FIELD_INT, AT(extra, count) },
    { "host", .type = FIELD_LIST, AT(extra, hosts), .sub = &host_shape },
    { 0 },
};
static const struct shape extra_shape = { "extra", sizeof(struct line_extra), extra_fields };

static const struct field value_fields[] = {
    { "event_desc", .type = FIELD_STR, AT(value, desc) },
    { "event_raw_id", .type = FIELD_INT, AT(value, raw_id) },
    { "event_time", .type = FIELD_STR, AT(value, time) },
    { "event_source_system", .type = FIELD_STR, AT(value, source) },
    { "event_title", .type = FIELD_STR, AT(value, title) },
    { "event_type", .type = FIELD_STR, AT(value, type) },
    { "extra", .type = FIELD_OBJ, AT(value, extra), .sub = &extra_shape },
    { 0 },
};
static const struct shape value_shape = { "value", sizeof(struct line_value), value_fields };

static const struct field beat_fields[] = {
    { "server", .type = FIELD_STR, AT(beat, server) },
    { "time", .type = FIELD_STR, AT(beat, time) },
    { "timezone", .type = FIELD_INT, AT(beat, timezone) },
    { "utctime", .type = FIELD_STR, AT(beat, utctime) },
    { "utctime2", .type = FIELD_STR, AT(beat, utctime2) },
    { "value", .type = FIELD_LIST, AT(beat, value), .sub = &value_shape },
    { 0 },
};
static const struct shape beat_shape = { "heartbeat", sizeof(struct line_beat), beat_fields };
/* clang-format on */

/* "2026-11-15 05:47:53", without time zone conversion. */
static const char *plain_time(int64_t wall_ms, struct arena *a)
{
    char iso[TIME_TEXT_SIZE];

    time_iso(wall_ms, iso);
    return arena_printf(a, "%.10s %.8s", iso, iso + 11);
}

/* In GSE's own lines `utctime` is the local time, and `utctime2` is UTC, which is also the time
 * of the event. */
static void write_beat(const struct event_row *row, struct arena *a, struct buf *to)
{
    int64_t offset_s = time_zone_offset_s(row->wall_ms / 1000);
    const char *local = plain_time(row->wall_ms + offset_s * 1000, a);
    const char *utc = plain_time(row->wall_ms, a);
    struct line_host host = { .biz_id = row->biz_id,
                              .cloud_id = row->cloud_id,
                              .ip = strchr(row->agent_id, ':') ? row->ip : "",
                              .agent_id = row->agent_id };
    struct line_value value = { .desc = "",
                                .source = "",
                                .title = "",
                                .type = "gse_basic_alarm_type",
                                .time = utc,
                                .raw_id = row->seq,
                                .extra = { ALARM_AGENT_LOST, 1, { &host, 1 } } };
    const struct line_beat line = { .server = "",
                                    .time = local,
                                    .utctime = local,
                                    .utctime2 = utc,
                                    .timezone = offset_s / 3600,
                                    .value = { &value, 1 } };

    shape_write(&beat_shape, &line, to);
}

void event_line_write(const struct event_row *row, struct buf *to)
{
    struct arena a = { 0 };

    if (!strcmp(row->name, event_lost_name))
        write_beat(row, &a, to);
    else
        write_process(row, &a, to);
    arena_free(&a);
}
