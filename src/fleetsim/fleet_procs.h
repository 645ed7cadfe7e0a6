/* SPDX-License-Identifier: MIT */
/* fleet_procs.h - the processes of one simulated agent: operations on them, and their views.
 *
 * No process runs.  A process is a few numbers, so that a million of them fit in memory; codes and
 * views are those of a real agent whose commands all succeed.  The module reads no clock and sends
 * nothing: time is an argument. */
#ifndef FLEETSIM_FLEET_PROCS_H
#define FLEETSIM_FLEET_PROCS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/proc.h"
#include "model/view.h"

enum { FLEET_PROCS_ROOM = 5000, FLEET_DIGEST_SIZE = 17 };

struct fleet_dummy {
    const char *space, *name; /* shared by all agents, or its own */
    uint64_t hash;            /* of its facts, as in the digest; 0: not in it */
    uint32_t last_start_s, register_s, exit_s;
    int32_t pid; /* 0: not running */
    int32_t restarts, exit_pid;
    uint8_t wanted;      /* enum proc_status */
    uint8_t exit_signal; /* 0: exited normally, or never */
    bool hosted, is_own; /* is_own: it owns its name */
};

/* Names that all agents of a process share: NAME and NAME's proc-00, proc-01 ... */
struct fleet_names {
    char *space;
    char **procs;
    size_t n;
};
void fleet_names_init(struct fleet_names *names, const char *space, size_t n);
void fleet_names_done(struct fleet_names *names);

struct fleet_procs {
    struct fleet_dummy *list;
    size_t n, running;
    uint64_t digest;
    int64_t restarts; /* of all processes, since the start */
    int32_t next_pid;
};

/* All processes are hosted and running since start_s. */
void fleet_procs_init(struct fleet_procs *p, const struct fleet_names *names, int64_t start_s);
void fleet_procs_done(struct fleet_procs *p);

struct fleet_dummy *fleet_procs_find(const struct fleet_procs *p, const char *space,
                                     const char *name); /* NULL: none */

/* The outcome of an operation.  The names in `proc` are the process's own, or the command's. */
struct fleet_outcome {
    int code;
    const char *text;          /* a constant text */
    struct fleet_dummy proc;   /* state after the operation */
    struct fleet_dummy *moved; /* the process that changed; NULL: none */
    bool owes_start;           /* hosted and not running: the agent restarts it */
};
void fleet_procs_operate(struct fleet_procs *p, const struct proc_meta *meta, int64_t op,
                         bool only_if_hosted, int64_t now_s, struct fleet_outcome *ret);

/* fleet_dummy_die() ends a process by a signal, fleet_dummy_revive() restarts it and counts that.
 * False: it was not running; it is running already, or is not wanted. */
bool fleet_dummy_die(struct fleet_procs *p, struct fleet_dummy *proc, int number, int64_t now_s);
bool fleet_dummy_revive(struct fleet_procs *p, struct fleet_dummy *proc, int64_t now_s);

/* As sent to the server; `detailed` as in the answer to a query.  The texts live as long as the
 * process. */
void fleet_dummy_view(const struct fleet_dummy *proc, bool detailed, int64_t now_s,
                      struct proc_view *ret);

/* The digest of all processes, in their current state. */
void fleet_procs_digest(const struct fleet_procs *p, char to[FLEET_DIGEST_SIZE]);

#endif
