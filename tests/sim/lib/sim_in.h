/* SPDX-License-Identifier: MIT */
/* sim_in.h - shared by the simulator's sources, not for others.
 *
 *   sim.c         time, random numbers, the run
 *   sim_world.h   the kind of world
 *   sim_fault.c   faults
 *   sim_client.c  a client that requests, polls and cancels
 *   sim_server.h  the server: sessions, effects of the hub, its store; the network
 *   sim_check.h   the record of tasks, and checks on it
 *   sim_host.h    a host: processes, journal, effects of the agent's core
 *   sim_family.h  workers, starts in two steps
 *   sim_more.h    resource usage of processes
 *   sim_events.h  the record of events
 *   sim_results.h the record of results
 *   sim_wanted.h  the wanted state of processes
 *   sim_restart.h how often and how soon they are restarted */
#ifndef TESTS_SIM_LIB_SIM_IN_H
#define TESTS_SIM_LIB_SIM_IN_H

#include "agent/supervise/core.h"
#include "base/io/timers.h"
#include "base/mem/buf.h"
#include "base/mem/pool.h"
#include "server/dispatch/hub.h"
#include "tests/sim/lib/sim.h"
#include "tests/sim/lib/sim_check.h"
#include "tests/sim/lib/sim_events.h"
#include "tests/sim/lib/sim_family.h"
#include "tests/sim/lib/sim_host.h"
#include "tests/sim/lib/sim_more.h"
#include "tests/sim/lib/sim_restart.h"
#include "tests/sim/lib/sim_results.h"
#include "tests/sim/lib/sim_server.h"
#include "tests/sim/lib/sim_wanted.h"
#include "tests/sim/lib/sim_world.h"

/* A future event. */
struct event {
    struct timer timer;
    struct sim *sim;
    int host;      /* -1: the server */
    uint64_t life; /* life of the agent or server that it is for; 0: always delivered */
    int64_t a, b, c;
    struct core_look look; /* without texts, which are freed by then */
    char *json;
    unsigned type;
    void (*fn)(struct event *e);
};

struct sim {
    const struct sim_options *o;
    struct sim_world world;
    struct sim_report report;
    uint64_t rng;
    int64_t now_ms;
    struct timers timers;
    struct pool pool; /* struct event */
    struct buf scratch;
    struct host hosts[AGENTS_MAX];
    struct proc_spec specs[AGENTS_MAX][KEYS];
    struct sim_events events[AGENTS_MAX];
    struct hub *hub; /* NULL: the server is down */
    uint64_t server_life;
    int64_t server_up_ms;
    int64_t epochs[AGENTS_MAX];
    int64_t away_ms[AGENTS_MAX];  /* when it counts as offline; INT64_MAX: it is connected */
    int64_t sessions[AGENTS_MAX]; /* epochs on the server; 0: none */
    int64_t store_down_ms;        /* the store refuses until then */
    struct timer server_wake;
    struct sim_task *tasks;
    int n_tasks, n_over; /* n_over: tasks from the first on that have ended for good */
    bool is_calm /* no more faults */, has_failed;
    struct err *err;
};

/* sim.c */
uint64_t sim_below(struct sim *s, uint64_t n);    /* 0 to n - 1 */
bool sim_chance(struct sim *s, unsigned percent); /* never when the world is calm */
void sim_trace(struct sim *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void sim_fail(struct sim *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
struct event *sim_later(struct sim *s, int64_t in_ms, int host, uint64_t life,
                        void (*fn)(struct event *e));
char *sim_json(struct sim *s, const struct shape *shape, const void *value);

/* sim_fault.c */
void sim_hurt(struct sim *s);
void sim_heal(struct sim *s);
void sim_kill_agent(struct host *h, bool power_loss); /* it comes back */

/* sim_client.c */
void client_specs(struct sim *s);
void client_request(struct sim *s);
void client_ask_all(struct sim *s); /* starts every process; check_end() checks the results */

#endif
