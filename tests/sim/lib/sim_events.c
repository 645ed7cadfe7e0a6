/* SPDX-License-Identifier: MIT */
/* sim_events.c - see sim_events.h. */
#include "tests/sim/lib/sim_events.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem/mem.h"
#include "server/events/event_source.h"
#include "tests/lib/readable.h"
#include "tests/sim/lib/sim_in.h"

static struct sim_event *find_told(struct sim_events *e, int64_t id)
{
    for (size_t i = e->n; i-- > 0;) {
        if (e->told[i].id == id)
            return &e->told[i];
    }
    return NULL;
}

static void add(struct sim_events *e, int64_t id)
{
    if (e->n == e->cap) {
        e->cap = e->cap ? e->cap * 2 : 8;
        e->told = xresize(e->told, e->cap * sizeof(*e->told));
    }
    e->told[e->n++] = (struct sim_event){ .id = id };
}

/* A compaction writes waiting events again.  The id of a lost event may be reused for another
 * one. */
void sim_events_told(struct sim *s, int host, int64_t id, bool is_new)
{
    struct sim_events *e = &s->events[host];
    struct sim_event *told = is_new ? find_told(e, id) : NULL;

    if (!is_new)
        return;
    if (id <= e->last)
        sim_fail(s, "host %d: event %lld comes after a later one", host, (long long)id);
    e->last = id;
    e->anew--;
    if (told)
        *told = (struct sim_event){ .id = id };
    else
        add(e, id);
    s->report.counts[SIM_EVENTS]++;
}

static void lose(struct sim_events *e, int64_t from, int64_t to)
{
    e->last = 0;
    for (size_t i = 0; i < e->n; i++) {
        struct sim_event *told = &e->told[i];

        told->is_void |= told->id >= from && told->id <= to;
        if (!told->is_void && told->id > e->last)
            e->last = told->id;
    }
}

void sim_events_lost(struct sim *s, int host, int64_t from, int64_t to)
{
    lose(&s->events[host], from, to);
}

/* If the server has other events with these ids, which happens after a loss here, the waiting ones
 * get new ids and are sent again at once. */
void sim_events_acked(struct sim *s, int host, int64_t id)
{
    struct sim_events *e = &s->events[host];

    e->anew = 0;
    for (size_t i = 0; i < e->n && e->taken != id; i++) {
        struct sim_event *told = &e->told[i];

        if (told->is_void || told->is_written || told->id > id || told->id <= e->gap)
            continue; /* a written gap reports the events up to it as lost */
        told->is_void = true;
        e->anew++;
    }
}

void sim_events_gap(struct sim *s, int host, int64_t lost)
{
    s->events[host].anew -= lost;
}

void sim_events_told_anew(struct sim *s, int host)
{
    struct sim_events *e = &s->events[host];

    if (e->anew > 0)
        sim_fail(s, "host %d: %lld events are taken for stored, and are not", host,
                 (long long)e->anew);
    e->anew = 0;
}

/* A server that has just started does not know which events it has stored. */
void sim_events_session(struct sim *s, int host, int64_t epoch)
{
    struct sim_events *e = &s->events[host];

    if (e->server_life != s->server_life)
        e->taken = 0;
    e->server_life = s->server_life;
    e->epoch = epoch;
}

static void write_down(struct sim *s, int host, const struct message_event *m)
{
    struct sim_events *e = &s->events[host];
    struct sim_event *told = find_told(e, m->id);

    sim_trace(s, "server: event %lld of host %d: %s", (long long)m->id, host, english(m->text));
    if (m->id <= e->taken)
        sim_fail(s, "host %d: event %lld is written out of order", host, (long long)m->id);
    e->taken = m->id;
    if (!strcmp(m->name, "agent_events_lost")) {
        e->lost += strtoll(english(m->text), NULL, 10);
        e->gap = m->id > e->gap ? m->id : e->gap;
        s->report.counts[SIM_EVENT_GAPS]++;
    } else if (told) {
        told->is_written = true;
    } else {
        sim_fail(s, "host %d: event %lld was never told", host, (long long)m->id);
    }
}

bool sim_events_heard(struct sim *s, int host, int64_t epoch, const struct message_event *m,
                      int64_t *ret_id)
{
    struct sim_events *e = &s->events[host];
    enum event_source_place place = event_source_place(e->taken, m);

    if (epoch != e->epoch || e->server_life != s->server_life || place == EVENT_SOURCE_EARLY)
        return false;
    if (place == EVENT_SOURCE_NEXT && sim_chance(s, 10))
        return false; /* the disk is full */
    if (place == EVENT_SOURCE_NEXT)
        write_down(s, host, m);
    *ret_id = e->taken;
    return true;
}

void sim_events_check(struct sim *s, int host)
{
    const struct sim_events *e = &s->events[host];
    int64_t missing = 0;

    for (size_t i = 0; i < e->n; i++) {
        const struct sim_event *told = &e->told[i];

        if (told->is_written || told->is_void)
            continue;
        missing++;
        if (told->id > e->gap)
            sim_fail(s, "host %d: event %lld is lost", host, (long long)told->id);
    }
    if (missing > e->lost)
        sim_fail(s, "host %d: %lld events are lost, and only %lld said to be", host,
                 (long long)missing, (long long)e->lost);
}
