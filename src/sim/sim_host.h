/* SPDX-License-Identifier: MIT */
/* sim_host.h - a host of the simulator: its processes, its journal, the agent on it. */
#ifndef SIM_SIM_HOST_H
#define SIM_SIM_HOST_H

#include "agent/core.h"
#include "base/timers.h"

enum { KEYS = 3, PROCS_MAX = 512 };

struct process {
    int64_t pid, ticks;
    int key;
    bool is_alive, is_daemon, is_watched, is_strange; /* strange: nobody hears how it ends */
    bool is_zombie;    /* it ended while its parent was being replaced, */
    int status;        /* which can still ask how */
    uint64_t run;      /* of a command: the agent's number for it */
    uint64_t run_life; /* and of which agent */
};

struct record {
    unsigned type;
    int64_t event; /* its id, if it is one */
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
    int64_t pid_file[KEYS], next_pid; /* one in the foreground writes none: the agent does */
    struct record *journal;
    size_t records, durable; /* durable: how many survive a power loss */
    int64_t wall_jump_ms;
    bool same_boot;
    bool is_compacting;     /* what it writes is not new */
    bool is_unwanted[KEYS]; /* sim_wanted.h */
    bool is_parent;         /* the agent took the place of the one before: what that began is its */
    struct timer wake;
};

void host_start(struct host *h);
void host_kill(struct host *h, bool power_loss);
void host_upgrade(struct host *h); /* execve() in place: host_start() is to follow soon */
void host_free(struct host *h);
void host_deliver(struct host *h, unsigned type, const char *json); /* a frame has come */
void host_connect(struct host *h);
void host_disconnect(struct host *h);
void host_wake(struct host *h);         /* sets the timer for the core's next moment */
void host_kill_process(struct host *h); /* some daemon dies by itself */

#endif
