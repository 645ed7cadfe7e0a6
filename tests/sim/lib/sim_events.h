/* SPDX-License-Identifier: MIT */
/* sim_events.h - the simulator's record of events: what the agent of a host recorded, and what the
 * server wrote.
 *
 * Each recorded event is written, in order, and once per life of the server; or a gap event says
 * how many are missing.  Only events that were not durable at a power loss, or at the end of an
 * agent with a full disk, may disappear. */
#ifndef TESTS_SIM_LIB_SIM_EVENTS_H
#define TESTS_SIM_LIB_SIM_EVENTS_H

#include "link/message.h"

struct sim;

struct sim_event {
    int64_t id;
    bool is_void; /* lost with the power or the agent */
    bool is_written;
};

struct sim_events {
    struct sim_event *told;
    size_t n, cap;
    int64_t last;         /* last recorded id that is not lost */
    int64_t lost;         /* reported as lost */
    int64_t taken, gap;   /* last id written; last gap event written */
    int64_t epoch;        /* session whose messages count */
    uint64_t server_life; /* life of the server with that session */
    int64_t anew;         /* number of events to be sent again with new ids */
};

void sim_events_told(struct sim *s, int host, int64_t id, bool is_new);
/* Lost with the power, or with an agent that could not write them. */
void sim_events_lost(struct sim *s, int host, int64_t from, int64_t to);
void sim_events_acked(struct sim *s, int host, int64_t id); /* in the agent's journal */
void sim_events_gap(struct sim *s, int host, int64_t lost); /* the agent has dropped so many */
void sim_events_told_anew(struct sim *s, int host);         /* they have been sent again */
void sim_events_session(struct sim *s, int host, int64_t epoch);

/* The server receives an event.  Returns whether it answers, and with which id. */
bool sim_events_heard(struct sim *s, int host, int64_t epoch, const struct message_event *e,
                      int64_t *ret_id);
void sim_events_check(struct sim *s, int host); /* at the end */

#endif
