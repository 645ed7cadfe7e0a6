/* SPDX-License-Identifier: MIT */
/* sim_events.h - the simulator's book of events: what the agent of a host said it would
 * tell, and what the server wrote down.
 *
 * Each that was told is written, in order, and once in a life of the server; or an event
 * in its place says how many are missing.  Only what had not reached the disk when the
 * power went, or the agent while the disk was full, is nobody's loss. */
#ifndef SIM_SIM_EVENTS_H
#define SIM_SIM_EVENTS_H

#include "link/message.h"

struct sim;

struct sim_event {
    int64_t id;
    bool is_void; /* lost with the power, or the agent */
    bool is_written;
};

struct sim_events {
    struct sim_event *told;
    size_t n, cap;
    int64_t last;         /* that was told, and is not lost */
    int64_t lost;         /* those that were said to be */
    int64_t taken, gap;   /* the last id that was written; the last that says so */
    int64_t epoch;        /* of the session that may be heard */
    uint64_t server_life; /* and in which life of the server */
    int64_t anew;         /* so many are to be told anew, now */
};

void sim_events_told(struct sim *s, int host, int64_t id, bool is_new);
/* With the power, or with an agent that could not write them. */
void sim_events_lost(struct sim *s, int host, int64_t from, int64_t to);
void sim_events_acked(struct sim *s, int host, int64_t id); /* by the agent's own journal */
void sim_events_gap(struct sim *s, int host, int64_t lost); /* and so many it has given up */
void sim_events_told_anew(struct sim *s, int host);         /* what was to be */
void sim_events_session(struct sim *s, int host, int64_t epoch);

/* The server hears of one.  Whether it answers, and with which id. */
bool sim_events_heard(struct sim *s, int host, int64_t epoch, const struct message_event *e,
                      int64_t *ret_id);
void sim_events_check(struct sim *s, int host); /* at the end */

#endif
