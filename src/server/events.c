/* SPDX-License-Identifier: MIT */
/* events.c - see events.h. */
#include "server/events.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sys.h"

enum { DATA_ID = 1100008 };

struct events {
    char *path; /* "": nowhere */
    int fd;
    struct log *log;
    int64_t failed; /* writes, since the last that was good */
    bool torn;      /* the file may end inside a line */
};

/* ---- one line ---- */

/* All of them text, the cloud's number too: so it is read. */
struct event_dimension {
    const char *cloud_id, *ip, *space, *index, *proc_name, *agent_id;
};

struct event_content {
    const char *text;
};

struct event_item {
    const char *name;
    struct event_content content;
    const char *target;
    int64_t wall_ms;
    struct event_dimension dimension;
};

struct event_line {
    int64_t data_id;
    struct list data; /* struct event_item, one */
};

#define AT(type, member) .offset = offsetof(struct event_##type, member)

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
static const struct shape dimension_shape = { "dimension", sizeof(struct event_dimension), dimension_fields };

static const struct field content_fields[] = {
    { "content", .type = FIELD_STR, AT(content, text) },
    { 0 },
};
static const struct shape content_shape = { "content", sizeof(struct event_content), content_fields };

static const struct field item_fields[] = {
    { "event_name", .type = FIELD_STR, AT(item, name) },
    { "event", .type = FIELD_OBJ, AT(item, content), .sub = &content_shape },
    { "target", .type = FIELD_STR, AT(item, target) },
    { "timestamp", .type = FIELD_INT, AT(item, wall_ms) },
    { "dimension", .type = FIELD_OBJ, AT(item, dimension), .sub = &dimension_shape },
    { 0 },
};
static const struct shape item_shape = { "event", sizeof(struct event_item), item_fields };

static const struct field line_fields[] = {
    { "data_id", .type = FIELD_INT, AT(line, data_id) },
    { "data", .type = FIELD_LIST, AT(line, data), .sub = &item_shape },
    { 0 },
};
static const struct shape line_shape = { "events", sizeof(struct event_line), line_fields };
/* clang-format on */

void events_write(const struct fleet_host *host, const struct message_event *event, struct buf *to)
{
    struct arena a = { 0 };
    const bool of_proc = *event->space || *event->proc; /* else of the host itself */
    const char *cloud = arena_printf(&a, "%lld", (long long)host->cloud_id);
    struct event_item item = {
        .name = event->name,
        .content = { event->text },
        .target = arena_printf(&a, "%s|%s", host->ip, cloud),
        .wall_ms = event->wall_ms,
        .dimension = { .cloud_id = cloud,
                       .ip = host->ip,
                       .space = event->space,
                       .index = of_proc ? arena_printf(&a, "%s:%s", event->space, event->proc) : "",
                       .proc_name = event->proc_name,
                       .agent_id = host->agent_id },
    };
    const struct event_line line = {
        .data_id = event->report_id > 0 ? event->report_id : DATA_ID,
        .data = { &item, 1 },
    };

    shape_write(&line_shape, &line, to);
    arena_free(&a);
}

/* ---- the file ---- */

/* Not blocking, as the log: a path may name a pipe, whose reader is not waited for. */
static int open_file(const char *path, int *ret_fd, struct err *err)
{
    int fd = sys_open(path, O_WRONLY | O_APPEND | O_CREAT | O_NOCTTY | O_NONBLOCK, 0640);

    if (fd < 0)
        return err_sys(err, "open events file %s", path);
    *ret_fd = fd;
    return 0;
}

int events_new(const char *path, struct log *log, struct events **ret, struct err *err)
{
    struct events *e;
    int fd = -1;

    if (*path && open_file(path, &fd, err))
        return -1;
    e = xalloc(sizeof(*e));
    *e = (struct events){ .path = xstrdup(path), .fd = fd, .log = log };
    *ret = e;
    return 0;
}

void events_free(struct events *e)
{
    if (!e)
        return;
    if (e->failed > 0)
        LOG(e->log, LOG_WARN, "events could not be written to the end", log_str("file", e->path),
            log_int("failed", e->failed));
    if (e->fd >= 0)
        sys_close(e->fd);
    free(e->path);
    free(e);
}

int events_reopen(struct events *e, struct err *err)
{
    int fd = -1;

    if (!*e->path)
        return 0;
    if (open_file(e->path, &fd, err))
        return -1; /* the old one stays */
    sys_close(e->fd);
    e->fd = fd;
    e->torn = false;
    return 0;
}

/* The first failure is logged, then each time there are twice as many: a disk that stays
 * full must not fill the log too. */
static void count_failed(struct events *e, ssize_t put)
{
    struct err err = { 0 };

    if (put < 0)
        err_sys(&err, "write events file %s", e->path);
    else
        err_set(&err, ERR_UNAVAILABLE, "write events file %s: there was room for a part only",
                e->path);
    e->failed++;
    if ((e->failed & (e->failed - 1)) == 0)
        LOG(e->log, LOG_ERROR,
            "an event can not be written; agents keep theirs, up to 1,000 each, until it can",
            log_err(&err), log_int("failed", e->failed));
}

/* The newline in front is needed only behind a line that was cut short. */
static bool append(struct events *e, struct buf *line)
{
    ssize_t put;

    if (!e->torn)
        buf_drop(line, 1);
    buf_addc(line, '\n');
    put = sys_write(e->fd, buf_data(line), line->len);
    if (put != (ssize_t)line->len) {
        e->torn = e->torn || put > 0;
        count_failed(e, put);
        return false;
    }
    e->torn = false;
    if (e->failed > 0)
        LOG(e->log, LOG_WARN, "events are written again", log_str("file", e->path),
            log_int("failed", e->failed));
    e->failed = 0;
    return true;
}

bool events_put(struct events *e, const struct fleet_host *host, const struct message_event *event)
{
    struct buf line = { 0 };
    bool is_written;

    if (!host) {
        LOG(e->log, LOG_WARN, "an event of a host that is not known", log_str("event", event->name),
            log_str("about", event->text), log_str("namespace", event->space),
            log_str("name", event->proc));
        return true;
    }
    if (!*e->path)
        return true;
    buf_addc(&line, '\n');
    events_write(host, event, &line);
    is_written = append(e, &line);
    buf_free(&line);
    return is_written;
}

enum events_place events_place(int64_t last, const struct message_event *event)
{
    if (event->after < 0)
        return EVENTS_NEXT; /* an agent of before, which says each once */
    if (event->id <= last)
        return EVENTS_KNOWN;
    return event->after > last ? EVENTS_EARLY : EVENTS_NEXT;
}
