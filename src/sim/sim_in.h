/* SPDX-License-Identifier: MIT */
/* sim_in.h - what the simulator's sources share.  Not for others.
 *
 *   sim.c         time, chance, faults, the client, the verdict
 *   sim_host.c    a host: processes, journal, the agent's hands
 *   sim_server.c  the server: store, sessions, the hub's hands */
#ifndef SIM_SIM_IN_H
#define SIM_SIM_IN_H

#include "agent/core.h"
#include "base/buf.h"
#include "base/timers.h"
#include "server/hub.h"
#include "sim/sim.h"

enum { KEYS = 3, PROCS_MAX = 512, AGENTS_MAX = 8, TASKS_MAX = 4096, ITEMS_MAX = 3 };

struct sim;
/* Something that will happen. */
struct event {
    struct timer timer;
    struct sim *sim;
    int host;      /* -1: the server */
    uint64_t life; /* of the agent or server it is for; 0: of nobody's, it always happens */
    int64_t a, b, c;
    char *json;
    unsigned type;
    void (*fn)(struct event *e);
};

struct process {
    int64_t pid, ticks;
    int key;
    bool is_alive, is_daemon, is_watched, is_strange; /* strange: nobody hears how it ends */
    uint64_t run;                                     /* of a command: the agent's number for it */
    uint64_t run_life;                                /* and of which agent */
};

struct record {
    unsigned type;
    char *json;
};
struct host {
    struct sim *sim;
    int n;
    char id[16];
    struct core *core;   /* NULL: the agent is down */
    uint64_t life, link; /* link: epoch of its session, 0: none */
    struct process procs[PROCS_MAX];
    size_t n_procs;
    int64_t pid_file[KEYS], next_pid;
    struct record *journal;
    size_t records, durable; /* durable: how many survive a power loss */
    int64_t wall_jump_ms;
    bool same_boot;
    struct timer wake;
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
};

struct sim {
    const struct sim_options *o;
    struct sim_report report;
    uint64_t rng;
    int64_t now_ms;
    struct timers timers;
    struct host hosts[AGENTS_MAX];
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
void sim_note_run(struct sim *s, int host, const struct core_run *run);

/* sim_host.c */
void host_start(struct host *h);
void host_kill(struct host *h, bool power_loss);
void host_free(struct host *h);
void host_deliver(struct host *h, unsigned type, const char *json); /* a frame has come */
void host_connect(struct host *h);
void host_disconnect(struct host *h);
void host_wake(struct host *h);         /* sets the timer for the core's next moment */
void host_kill_process(struct host *h); /* some daemon dies by itself */

/* sim_server.c */
void server_start(struct sim *s);
void server_kill(struct sim *s);
void server_operate(struct sim *s);
void server_deliver(struct sim *s, int host, int64_t epoch, unsigned type, const char *json);
void server_note_run(struct sim *s, const struct core_run *run);
void server_session(struct sim *s, int host, int64_t epoch);
void server_session_end(struct sim *s, int host, int64_t epoch);
void server_wake(struct sim *s);
#endif
