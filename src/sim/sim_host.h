/* SPDX-License-Identifier: MIT */
/* sim_host.h - a host of the simulator: its processes, its journal, the agent on it. */
#ifndef SIM_SIM_HOST_H
#define SIM_SIM_HOST_H

#include <sys/queue.h>

#include "agent/core.h"
#include "base/arena.h"
#include "base/timers.h"

enum { AGENTS_MAX = 8, KEYS = 3, PROCS_MAX = 128 };

struct sim;
struct sim_item;

struct process {
    int64_t pid, ticks;
    int key;
    bool is_alive, is_daemon, is_watched, is_strange; /* strange: nobody hears how it ends */
    bool is_zombie;    /* it ended while its parent was being replaced, */
    int status;        /* which can still ask how */
    uint64_t run;      /* of a command: the agent's number for it */
    uint64_t run_life; /* and of which agent */
    uint64_t unbooked; /* not 0: that agent could not write down that it began this one */
};

/* A copy of what was written; it is JSON when somebody reads it. */
struct record {
    unsigned type;
    const struct shape *shape;
    void *value;
    int64_t event;         /* its id, if it is one */
    struct sim_item *item; /* whose result it says something of; NULL: nobody's */
};

/* The journal.  After a failure nothing more is written to it until there is a new one with
 * all that is live, as in agent_disk.c. */
struct sim_disk {
    struct record *records;
    struct arena arena;   /* their values */
    size_t n, durable;    /* durable: how many survive a power loss */
    size_t live;          /* after the last compaction */
    uint64_t marks, file; /* records in this life of the agent; which file it is */
    uint64_t durable_mark;
    uint64_t boot;      /* in which its processes ran */
    bool is_compacting; /* what it writes is not new */
    bool is_broken;
    int64_t unwritten; /* the first event that is not in it; 0: all are */
    int64_t full_until_ms;
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
    struct sim_disk disk;
    int64_t hole_until_ms, slow_until_ms; /* of its link */
    int64_t wall_jump_ms;
    uint64_t boot;
    bool is_unwanted[KEYS]; /* sim_wanted.h */
    uint64_t orders, last_order[KEYS];
    LIST_HEAD(, sim_item) owed; /* sim_results.h */
    bool is_parent; /* the agent took the place of the one before: what that began is its */
    struct timer wake;
};

/* sim_host.c */
void host_start(struct host *h);
void host_kill(struct host *h, bool power_loss);
void host_upgrade(struct host *h); /* execve() in place: host_start() is to follow soon */
void host_free(struct host *h);
void host_deliver(struct host *h, unsigned type, const char *json); /* a frame has come */
void host_connect(struct host *h);
void host_disconnect(struct host *h);
void host_wake(struct host *h); /* sets the timer for the core's next moment */

/* sim_process.c: what runs on it. */
struct process *process_find(struct host *h, int64_t pid);
struct process *process_new(struct host *h, int key);
struct process *process_daemon(struct host *h, int key); /* that lives; NULL: none */
void process_die(struct host *h, struct process *p, int status);
void process_die_later(struct host *h, const struct process *p, int64_t in_ms, int status);
void process_tell_exit(struct host *h, const struct process *p, int status);
void process_tell_run_end(struct host *h, uint64_t run, int status);
void process_carry_out(struct host *h, struct process *command, const char *line);
void process_kill_some(struct host *h);                   /* some daemon dies by itself */
uint64_t process_unbooked(const struct host *h, int key); /* of one that begins */
bool process_is_hidden(struct host *h, int key);          /* it lives, and its agent can not know */

/* sim_disk.c */
uint64_t disk_put(void *host, unsigned type, const struct shape *shape, const void *record,
                  bool durable);
void disk_replay(struct host *h);
void disk_start(struct host *h);                /* the core is started */
void disk_end(struct host *h, bool power_loss); /* the agent ends */

#endif
