/* SPDX-License-Identifier: MIT */
/* sim_host.h - a host of the simulator: its processes, its journal, its agent. */
#ifndef TESTS_SIM_LIB_SIM_HOST_H
#define TESTS_SIM_LIB_SIM_HOST_H

#include <sys/queue.h>

#include "agent/supervise/core.h"
#include "base/io/timers.h"
#include "base/mem/arena.h"
#include "tests/sim/lib/sim_restart.h"

enum { AGENTS_MAX = 8, KEYS = 3, PROCS_MAX = 128 };

struct sim;
struct sim_item;

struct process {
    int64_t pid, ticks;
    int key;
    bool is_alive, is_daemon, is_watched, is_strange; /* is_strange: its exit cannot be observed */
    bool is_worker;                                   /* see sim_family.h */
    bool is_step;         /* a start command in two steps: it is in the cgroup of the process */
    int64_t helps;        /* the start command that it helps; 0: it is no helper */
    bool is_zombie;       /* it ended while its parent was being replaced */
    int status;           /* exit status, which the parent can still read */
    uint64_t run;         /* of a command: the agent's number of the run */
    uint64_t run_life;    /* and the life of that agent */
    uint64_t unjournaled; /* not 0: life of the agent that could not journal its start */
};

/* A copy of a journal record, as JSON. */
struct record {
    unsigned type;
    const struct shape *shape;
    void *value;
    int64_t event;         /* id, if it is an event */
    struct sim_item *item; /* item whose result it is about; NULL: none */
};

/* The journal.  After a failure nothing is written until a new file with all live records exists,
 * as in agent_disk.c. */
struct sim_disk {
    struct record *records;
    struct arena arena;   /* owns the values */
    size_t n, durable;    /* durable: how many survive a power loss */
    size_t live;          /* number after the last compaction */
    uint64_t marks, file; /* marks: records in this life of the agent; file: number of the file */
    uint64_t durable_mark;
    uint64_t boot;      /* in which its processes ran */
    bool is_compacting; /* records that are written now are not new */
    bool is_broken;
    int64_t unwritten; /* first event that is not in it; 0: none */
    int64_t full_until_ms;
};

struct host {
    struct sim *sim;
    int n;
    char id[16];
    struct core *core;   /* NULL: the agent is down */
    uint64_t life, link; /* link: epoch of its session; 0: none */
    struct process procs[PROCS_MAX];
    size_t n_procs;
    int64_t pid_file[KEYS], next_pid; /* for a foreground process the agent writes the file */
    struct sim_disk disk;
    int64_t hole_until_ms, slow_until_ms; /* of its link */
    int64_t wall_jump_ms;
    uint64_t boot;
    bool is_unwanted[KEYS]; /* see sim_wanted.h */
    struct sim_restarts restarts[KEYS];
    uint64_t orders, last_order[KEYS];
    LIST_HEAD(, sim_item) owed; /* see sim_results.h */
    bool is_parent; /* the agent replaced another in place and is the parent of its children */
    struct timer wake;
};

/* sim_host.c */
void host_start(struct host *h);
void host_kill(struct host *h, bool power_loss);
void host_upgrade(struct host *h); /* execve() in place; host_start() follows soon */
void host_free(struct host *h);
void host_deliver(struct host *h, unsigned type, const char *json); /* a frame arrives */
void host_connect(struct host *h);
void host_disconnect(struct host *h);
void host_wake(struct host *h); /* sets the timer for the core's next deadline */

/* sim_process.c: processes of the host. */
struct process *process_find(struct host *h, int64_t pid);
struct process *process_new(struct host *h, int key);
struct process *process_daemon(struct host *h, int key); /* a live one; NULL: none */
void process_die(struct host *h, struct process *p, int status);
void process_die_later(struct host *h, const struct process *p, int64_t in_ms, int status);
void process_tell_exit(struct host *h, const struct process *p, int status);
void process_tell_run_end(struct host *h, uint64_t run, int status);
void process_carry_out(struct host *h, struct process *command, const char *line);
void process_kill_some(struct host *h);                      /* a random daemon dies */
uint64_t process_unjournaled(const struct host *h, int key); /* for a process that starts */
bool process_is_hidden(struct host *h, int key); /* it runs, but its agent cannot know */

/* sim_disk.c */
uint64_t disk_put(void *host, unsigned type, const struct shape *shape, const void *record,
                  bool durable);
void disk_replay(struct host *h);
void disk_start(struct host *h);                /* the core has started */
void disk_end(struct host *h, bool power_loss); /* the agent ends */

#endif
