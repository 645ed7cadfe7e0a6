/* SPDX-License-Identifier: MIT */
/* sim_in.h - what the simulator's sources share.  Not for others.
 *
 *   sim.c         time, chance, the run
 *   sim_world.h   what kind of world it is
 *   sim_fault.c   what goes wrong
 *   sim_client.c  who asks, polls and cancels
 *   sim_server.h  the server: sessions, the hub's hands, its store; the network
 *   sim_check.h   what is known of tasks, and must hold
 *   sim_host.h    a host: processes, journal, the agent's hands
 *   sim_more.h    what its processes use
 *   sim_events.h  what becomes of events
 *   sim_results.h what becomes of results
 *   sim_wanted.h  what clients want of processes */
#ifndef SIM_SIM_IN_H
#define SIM_SIM_IN_H

#include "agent/core.h"
#include "base/buf.h"
#include "base/pool.h"
#include "base/timers.h"
#include "server/hub.h"
#include "sim/sim.h"
#include "sim/sim_check.h"
#include "sim/sim_events.h"
#include "sim/sim_host.h"
#include "sim/sim_more.h"
#include "sim/sim_results.h"
#include "sim/sim_server.h"
#include "sim/sim_wanted.h"
#include "sim/sim_world.h"

/* Something that will happen. */
struct event {
    struct timer timer;
    struct sim *sim;
    int host;      /* -1: the server */
    uint64_t life; /* of the agent or server it is for; 0: of nobody's, it always happens */
    int64_t a, b, c;
    struct core_look look; /* its texts are gone by then */
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
    int64_t away_ms[AGENTS_MAX];  /* from then on it is offline; INT64_MAX: it is here */
    int64_t sessions[AGENTS_MAX]; /* the server's; 0: none */
    int64_t store_down_ms;        /* until then it refuses */
    struct timer server_wake;
    struct sim_task *tasks;
    int n_tasks, n_over; /* so many, from the first on, have ended for good */
    bool is_calm /* no more faults */, has_failed;
    struct err *err;
};

/* sim.c */
uint64_t sim_below(struct sim *s, uint64_t n);    /* 0 to n - 1 */
bool sim_chance(struct sim *s, unsigned percent); /* never when it is calm */
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
void client_ask_all(struct sim *s); /* to start every process; check_end() looks at it */

#endif
