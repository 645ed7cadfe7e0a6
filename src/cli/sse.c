/* SPDX-License-Identifier: MIT */
/* sse.c - see sse.h. */
#include "cli/sse.h"

#include <stdio.h>
#include <string.h>

void sse_init(struct sse *s, sse_event_fn *fn, void *arg)
{
    *s = (struct sse){ .fn = fn, .arg = arg };
}

void sse_done(struct sse *s)
{
    buf_free(&s->line);
    buf_free(&s->name);
    buf_free(&s->data);
}

static void begin_event(struct sse *s)
{
    buf_truncate(&s->name, 0);
    buf_truncate(&s->data, 0);
    s->has_data = false;
}

void sse_again(struct sse *s)
{
    buf_truncate(&s->line, 0);
    memcpy(s->next_id, s->id, sizeof(s->id));
    begin_event(s);
}

/* An empty line completes the event.  An event without data only sets the id. */
static bool end_event(struct sse *s)
{
    bool goes_on = true;

    memcpy(s->id, s->next_id, sizeof(s->id));
    if (s->has_data)
        goes_on = s->fn(s->arg, buf_text(&s->name), buf_text(&s->data));
    begin_event(s);
    return goes_on;
}

static void take_field(struct sse *s, const char *field, const char *value)
{
    if (!strcmp(field, "data")) {
        if (s->has_data)
            buf_addc(&s->data, '\n');
        buf_puts(&s->data, value);
        s->has_data = true;
    } else if (!strcmp(field, "event")) {
        buf_truncate(&s->name, 0);
        buf_puts(&s->name, value);
    } else if (!strcmp(field, "id") && strlen(value) < sizeof(s->next_id)) {
        snprintf(s->next_id, sizeof(s->next_id), "%s", value);
    }
}

/* "field: value"; a line that begins with a colon is a comment. */
static bool take_line(struct sse *s)
{
    char *line, *colon;

    if (s->line.len && buf_data(&s->line)[s->line.len - 1] == '\r')
        buf_truncate(&s->line, s->line.len - 1);
    if (!s->line.len)
        return end_event(s);
    buf_addc(&s->line, '\0');
    line = buf_data(&s->line);
    colon = strchr(line, ':');
    if (colon != line) {
        const char *value = colon ? colon + 1 : "";

        if (colon)
            *colon = '\0';
        take_field(s, line, *value == ' ' ? value + 1 : value);
    }
    buf_truncate(&s->line, 0);
    return s->data.len <= SSE_EVENT_MAX;
}

bool sse_read(struct sse *s, const char *bytes, size_t n)
{
    while (n) {
        const char *end = memchr(bytes, '\n', n);
        size_t part = end ? (size_t)(end - bytes) : n;

        buf_add(&s->line, bytes, part);
        if (s->line.len > SSE_EVENT_MAX || (end && !take_line(s)))
            return false;
        bytes += part + (end ? 1 : 0);
        n -= part + (end ? 1 : 0);
    }
    return true;
}
