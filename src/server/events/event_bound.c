/* SPDX-License-Identifier: MIT */
/* event_bound.c - see event_bound.h. */
#include "server/events/event_bound.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem/map.h"
#include "base/mem/mem.h"
#include "server/events/event_line.h"

enum { SWEEP_AT = 10000 }; /* remembered processes; beyond it old ones are swept */

struct flow {
    int64_t began_ms, line_ms; /* start of the window, time of the last line */
    int64_t lines;             /* within the window */
    int64_t left_out;          /* since the last line */
    size_t len;
    char key[];
};

struct event_bound {
    struct map flows; /* by agent, namespace and name */
    size_t sweep_at;
};

struct event_bound *event_bound_new(void)
{
    struct event_bound *b = xalloc(sizeof(*b));

    b->sweep_at = SWEEP_AT;
    return b;
}

void event_bound_free(struct event_bound *b)
{
    struct map_entry *e;

    if (!b)
        return;
    for (size_t at = 0; (e = map_next(&b->flows, &at));)
        free(e->value);
    map_free(&b->flows);
    free(b);
}

static bool is_bounded(const struct event_row *row)
{
    return !strcmp(row->name, "process_restart_success") &&
           (row->report_id <= 0 || row->report_id == EVENT_DATA_ID);
}

/* No part contains a newline, so the key is unambiguous. */
static struct flow *event_bound_find(const struct event_bound *b, const struct event_row *row)
{
    char *key = xprintf("%s\n%s\n%s", row->agent_id, row->space, row->proc);
    struct flow *f = map_find_str(&b->flows, key);

    free(key);
    return f;
}

static bool is_past(const struct flow *f, int64_t now_ms)
{
    return now_ms - f->began_ms >= EVENT_BOUND_MS || now_ms < f->began_ms;
}

int64_t event_bound_look(const struct event_bound *b, const struct event_row *row)
{
    const struct flow *f = is_bounded(row) ? event_bound_find(b, row) : NULL;

    if (!f)
        return 1;
    if (is_past(f, row->taken_ms) || f->lines < EVENT_BOUND_LINES ||
        row->taken_ms - f->line_ms >= EVENT_BOUND_APART_MS)
        return f->left_out + 1;
    return 0;
}

/* A flow whose window is over only holds its count of omitted events; that count is dropped. */
static void sweep(struct event_bound *b, int64_t now_ms)
{
    struct flow **past = xalloc((b->flows.n + 1) * sizeof(struct flow *));
    size_t n = 0;
    struct map_entry *e;

    for (size_t at = 0; (e = map_next(&b->flows, &at));) {
        if (is_past(e->value, now_ms))
            past[n++] = e->value;
    }
    for (size_t i = 0; i < n; i++) {
        map_del(&b->flows, past[i]->key, past[i]->len);
        free(past[i]);
    }
    free(past);
    b->sweep_at = 2 * b->flows.n > SWEEP_AT ? 2 * b->flows.n : SWEEP_AT;
}

static struct flow *event_bound_add(struct event_bound *b, const struct event_row *row)
{
    char *key = xprintf("%s\n%s\n%s", row->agent_id, row->space, row->proc);
    size_t len = strlen(key);
    struct flow *f = xalloc(sizeof(*f) + len);

    f->began_ms = row->taken_ms;
    f->len = len;
    memcpy(f->key, key, len);
    free(key);
    if (b->flows.n >= b->sweep_at)
        sweep(b, row->taken_ms);
    map_put(&b->flows, f->key, f->len, f);
    return f;
}

void event_bound_note(struct event_bound *b, const struct event_row *row)
{
    bool has_line = event_bound_look(b, row) > 0;
    struct flow *f;

    if (!is_bounded(row))
        return;
    f = event_bound_find(b, row);
    if (!f)
        f = event_bound_add(b, row);
    if (is_past(f, row->taken_ms)) {
        f->began_ms = row->taken_ms;
        f->lines = 0;
    }
    if (!has_line) {
        f->left_out++;
        return;
    }
    f->lines++;
    f->left_out = 0;
    f->line_ms = row->taken_ms;
}
