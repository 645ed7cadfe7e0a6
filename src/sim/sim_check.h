/* SPDX-License-Identifier: MIT */
/* sim_check.h - the simulator's book of tasks: what was asked for, what the store has, what
 * was shown, what was run; and what must hold of it. */
#ifndef SIM_SIM_CHECK_H
#define SIM_SIM_CHECK_H

#include <sys/queue.h>

#include "agent/core_hands.h"
#include "server/hub.h"

struct host;
struct sim;

enum { SAID_MAX = 4 };

struct sim_item {
    int host, key; /* host -1: there is no such host */
    int64_t op, deadline_ms;
    int64_t code, shown;    /* in the store; in the last poll */
    bool was_sent, has_run; /* ever; sent is stored, as a claim for a session is */
    unsigned ran;           /* which of its lines */
    uint64_t order;         /* when it came to its host */
    uint64_t ended_life;    /* of the server that has ended it: the store may not know it yet */
    int64_t said[SAID_MAX]; /* the last results that its agent told, and how many there were */
    int n_said;
    int task;             /* whose it is */
    bool is_owed;         /* sim_results.h */
    uint64_t result_mark; /* which record of its agent has its result; 0: one of before */
    uint64_t told_link;   /* the session in which that was last told */
    LIST_ENTRY(sim_item) owed;
};

struct sim_task {
    char id[24];
    struct sim_item *items;
    int n;
    bool is_stored, is_accepted;
    bool is_cancelled; /* and that is stored */
};

struct sim_task *check_find(struct sim *s, const char *id);
void check_task(struct sim *s, const struct sim_task *t, const struct hub_task *asked);
void check_result(struct sim *s, const struct sim_task *t, int64_t item, int64_t code);
void check_turn(struct sim *s, const struct sim_task *t, int64_t item);
void check_unrun(struct sim *s, const struct sim_task *t, int64_t item);
void check_said(struct sim *s, const struct message_result *m);
void check_journaled(struct host *h, const struct message_command *m);
void check_run(struct host *h, const struct core_run *run);
void check_poll(struct sim *s, struct sim_task *t);
void check_end(struct sim *s);

#endif
