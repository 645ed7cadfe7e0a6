/* SPDX-License-Identifier: MIT */
/* fleet_procs.h - the processes of one simulated agent: what operations make of them, and
 * how they look to the server.
 *
 * Nothing runs.  A process is a few numbers, so that a million of them fit; the codes and
 * views are those of a real agent whose commands all succeed.  No clock is read and nothing
 * is sent: time is an argument. */
#ifndef SIM_FLEET_PROCS_H
#define SIM_FLEET_PROCS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/proc.h"
#include "model/view.h"

enum { FLEET_PROCS_ROOM = 5000, FLEET_DIGEST_SIZE = 17 };

struct fleet_dummy {
    const char *space, *name; /* shared by all, or its own */
    uint64_t hash;            /* of its facts, as they are in the digest; 0: not in it */
    uint32_t last_start_s, register_s, exit_s;
    int32_t pid; /* 0: it does not run */
    int32_t restarts, exit_pid;
    uint8_t wanted;      /* enum proc_status */
    uint8_t exit_signal; /* 0: it ended in order, or never did */
    bool hosted, is_own; /* its name is */
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
    int64_t restarts; /* since it began, of all of them */
    int32_t next_pid;
};

/* All of them hosted and running since start_s. */
void fleet_procs_init(struct fleet_procs *p, const struct fleet_names *names, int64_t start_s);
void fleet_procs_done(struct fleet_procs *p);

struct fleet_dummy *fleet_procs_find(const struct fleet_procs *p, const char *space,
                                     const char *name); /* NULL if none */

/* What came of an operation.  The names in `proc` are the process's own, or the command's. */
struct fleet_outcome {
    int code;
    const char *text;          /* one that never goes away */
    struct fleet_dummy proc;   /* as it was then */
    struct fleet_dummy *moved; /* the one that has changed; NULL: none has */
    bool owes_start;           /* it is hosted and does not run: the agent starts it by itself */
};
void fleet_procs_operate(struct fleet_procs *p, const struct proc_meta *meta, int64_t op,
                         bool only_if_hosted, int64_t now_s, struct fleet_outcome *ret);

/* It dies by a signal; it is pulled up again, which is what makes a restart.  False: it
 * does not run, or it runs, or nobody wants it to. */
bool fleet_dummy_die(struct fleet_procs *p, struct fleet_dummy *proc, int number, int64_t now_s);
bool fleet_dummy_revive(struct fleet_procs *p, struct fleet_dummy *proc, int64_t now_s);

/* As the server is told; `detailed` as an agent answers operation 2.  Texts are good as long
 * as the process. */
void fleet_dummy_view(const struct fleet_dummy *proc, bool detailed, int64_t now_s,
                      struct proc_view *ret);

/* Of all of them, as they are now. */
void fleet_procs_digest(const struct fleet_procs *p, char to[FLEET_DIGEST_SIZE]);

#endif
