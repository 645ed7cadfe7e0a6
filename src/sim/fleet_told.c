/* SPDX-License-Identifier: MIT */
/* fleet_told.c - the events of a simulated agent, kept until the server has stored them;
 * see fleet_agent.h.
 *
 * Each says which one is before it (link/message.h), so they are stored in order. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/fleet_agent.h"

/* More than a server ever owes an answer for; the oldest go first. */
enum { TOLD_MAX = 64 };

struct fleet_told {
    STAILQ_ENTRY(fleet_told) link;
    struct message_event event; /* its names are never freed, its text is below */
    char *space, *proc;
    char text[];
};

static void drop_first(struct fleet_agent *a)
{
    struct fleet_told *t = STAILQ_FIRST(&a->told);

    STAILQ_REMOVE_HEAD(&a->told, link);
    a->n_told--;
    free(t->space);
    free(t->proc);
    free(t);
}

static void send(struct fleet_agent *a, struct fleet_told *t, int64_t after)
{
    t->event.after = after;
    fleet_send(a, MESSAGE_EVENT, &message_event_shape, &t->event);
    a->world->counts.events++;
}

void fleet_tell(struct fleet_agent *a, const char *name, const char *text,
                const struct fleet_dummy *proc)
{
    struct fleet_told *t = xalloc(sizeof(*t) + strlen(text) + 1);
    int64_t before;

    if (a->n_told == TOLD_MAX)
        drop_first(a);
    before = STAILQ_EMPTY(&a->told) ? 0 : a->event_id;
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
    STAILQ_INSERT_TAIL(&a->told, t, link);
    a->n_told++;
    if (a->is_up)
        send(a, t, before);
}

void fleet_told_again(struct fleet_agent *a)
{
    struct fleet_told *t;
    int64_t before = 0;

    STAILQ_FOREACH(t, &a->told, link)
    {
        send(a, t, before);
        before = t->event.id;
    }
}

/* Of a server that knows more of us than we do, we count on from there. */
void fleet_on_event_stored(struct fleet_agent *a, int64_t id)
{
    if (id > a->event_id && id < INT64_MAX / 2)
        a->event_id = id;
    while (!STAILQ_EMPTY(&a->told) && STAILQ_FIRST(&a->told)->event.id <= id) {
        drop_first(a);
        a->world->counts.events_stored++;
    }
}

void fleet_told_done(struct fleet_agent *a)
{
    while (!STAILQ_EMPTY(&a->told))
        drop_first(a);
}
