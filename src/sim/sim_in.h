/* SPDX-License-Identifier: MIT */
/* sim_in.h - what the simulator's sources share.  Not for others.
 *
 *   sim.c         time, chance, faults, the client, the verdict
 *   sim_host.h    a host: processes, journal, the agent's hands
 *   sim_more.h    what its processes use
 *   sim_events.h  what becomes of events
 *   sim_wanted.h  what clients want of processes
 *   sim_server.c  the server: store, sessions, the hub's hands */
#ifndef SIM_SIM_IN_H
#define SIM_SIM_IN_H

#include "agent/core.h"
#include "base/buf.h"
#include "base/timers.h"
#include "server/hub.h"
#include "sim/sim.h"
#include "sim/sim_events.h"
#include "sim/sim_host.h"
#include "sim/sim_more.h"
#include "sim/sim_wanted.h"

enum { AGENTS_MAX = 8, TASKS_MAX = 4096, ITEMS_MAX = 3 };

struct sim;
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

struct sim_item {
    int host, key;
    int64_t op, deadline_ms, code;
    bool was_sent, has_run; /* ever; sent is stored, as a claim for a session is */
};

struct sim_task {
    char id[32];
    struct sim_item items[ITEMS_MAX];
    int n;
    bool is_stored, is_accepted;
    bool is_cancelled; /* and that is stored */
};

struct sim {
    const struct sim_options *o;
    struct sim_report report;
    uint64_t rng;
    int64_t now_ms;
    struct timers timers;
    struct host hosts[AGENTS_MAX];
    struct sim_events events[AGENTS_MAX];
    struct hub *hub; /* NULL: the server is down */
    uint64_t server_life;
    int64_t epochs[AGENTS_MAX];
    struct timer server_wake;
    struct sim_task tasks[TASKS_MAX];
    int n_tasks;
    struct map *ran; /* "host task#item part" -> anything */
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
char *sim_json(const struct shape *s, const void *value);
void sim_spec(int host, int key, struct proc_spec *ret);
void sim_kill_agent(struct host *h, bool power_loss); /* it comes back */
void sim_note_run(struct sim *s, int host, const struct core_run *run);

/* sim_server.c */
void server_start(struct sim *s);
void server_kill(struct sim *s);
void server_operate(struct sim *s);
void server_cancel(struct sim *s); /* one of the last tasks, if there is one */
void server_deliver(struct sim *s, int host, int64_t epoch, unsigned type, const char *json);
void server_note_run(struct sim *s, const struct core_run *run);
void server_session(struct sim *s, int host, int64_t epoch);
void server_session_end(struct sim *s, int host, int64_t epoch);
void server_wake(struct sim *s);
#endif
