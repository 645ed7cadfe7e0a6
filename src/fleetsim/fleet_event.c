/* SPDX-License-Identifier: MIT */
/* fleet_event.c - the events of a simulated agent, kept until the server has stored them; see
 * fleet_agent.h.
 *
 * Each event has the id of the previous one (link/message.h), so they are stored in order. */
#include <stdlib.h>
#include <string.h>

#include "base/mem/mem.h"
#include "fleetsim/fleet_agent.h"

/* More than a server leaves unacknowledged; the oldest are dropped first. */
enum { EVENTS_MAX = 64 };

struct fleet_event {
    STAILQ_ENTRY(fleet_event) link;
    struct message_event event; /* its names are constants, its text is below */
    char *space, *proc;
    char text[];
};

static void drop_oldest(struct fleet_agent *a)
{
    struct fleet_event *t = STAILQ_FIRST(&a->events);

    STAILQ_REMOVE_HEAD(&a->events, link);
    a->n_events--;
    free(t->space);
    free(t->proc);
    free(t);
}

static void send_event(struct fleet_agent *a, struct fleet_event *t, int64_t after)
{
    t->event.after = after;
    fleet_send(a, MESSAGE_EVENT, &message_event_shape, &t->event);
    a->world->counts.events++;
}

void fleet_event_send(struct fleet_agent *a, const char *name, const char *text,
                      const struct fleet_dummy *proc)
{
    struct fleet_event *t = xalloc(sizeof(*t) + strlen(text) + 1);
    int64_t before;

    if (a->n_events == EVENTS_MAX)
        drop_oldest(a);
    before = STAILQ_EMPTY(&a->events) ? 0 : a->event_id;
    memcpy(t->text, text, strlen(text) + 1);
    t->space = xstrdup(proc->space);
    t->proc = xstrdup(proc->name);
    t->event = (struct message_event){ .id = ++a->event_id,
                                       .name = name,
                                       .text = t->text,
                                       .space = t->space,
                                       .proc = t->proc,
                                       .proc_name = t->proc,
                                       .wall_ms = clock_wall_ms(loop_clock(a->world->loop)) };
    STAILQ_INSERT_TAIL(&a->events, t, link);
    a->n_events++;
    if (a->is_up)
        send_event(a, t, before);
}

void fleet_events_resend(struct fleet_agent *a)
{
    struct fleet_event *t;
    int64_t before = 0;

    STAILQ_FOREACH(t, &a->events, link) {
        send_event(a, t, before);
        before = t->event.id;
    }
}

/* If the server has events with higher ids, the agent continues from there. */
void fleet_on_event_stored(struct fleet_agent *a, int64_t id)
{
    if (id > a->event_id && id < INT64_MAX / 2)
        a->event_id = id;
    while (!STAILQ_EMPTY(&a->events) && STAILQ_FIRST(&a->events)->event.id <= id) {
        drop_oldest(a);
        a->world->counts.events_stored++;
    }
}

void fleet_events_done(struct fleet_agent *a)
{
    while (!STAILQ_EMPTY(&a->events))
        drop_oldest(a);
}
