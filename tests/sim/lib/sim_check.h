/* SPDX-License-Identifier: MIT */
/* sim_check.h - the simulator's record of tasks: requested, stored, shown and run; and the checks
 * on it. */
#ifndef TESTS_SIM_LIB_SIM_CHECK_H
#define TESTS_SIM_LIB_SIM_CHECK_H

#include <sys/queue.h>

#include "agent/supervise/core_effects.h"
#include "server/dispatch/hub.h"

struct host;
struct sim;

enum { SAID_MAX = 4 };

struct sim_item {
    int host, key; /* host -1: an unknown host */
    int64_t op, deadline_ms;
    int64_t code, shown;    /* in the store; in the last poll */
    bool was_sent, has_run; /* was_sent is stored, like a claim */
    unsigned ran;           /* bits of the commands that ran */
    uint64_t order;         /* order of arrival at its host */
    uint64_t ended_life;    /* life of the server that has ended it; the store may not know yet */
    int64_t said[SAID_MAX]; /* the last results that its agent sent, and their number */
    int n_said;
    int task;             /* index of its task */
    bool is_owed;         /* see sim_results.h */
    uint64_t result_mark; /* the agent's journal record with its result; 0: of an earlier life */
    uint64_t told_link;   /* session in which it was last sent */
    LIST_ENTRY(sim_item) owed;
};

struct sim_task {
    char id[24];
    struct sim_item *items;
    int n;
    bool is_stored, is_accepted;
    bool is_cancelled; /* and the cancel is stored */
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
