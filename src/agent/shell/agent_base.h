/* SPDX-License-Identifier: MIT */
/* agent_base.h - what all parts of the agent stand on, and the timer of the agent's next turn.
 *
 * The struct belongs to agent.c, which alone writes to it; the parts get a pointer that is valid as
 * long as they live. They include what they use of it. Order of the parts, each uses only those
 * before it:
 *
 *    agent_effect.h   effects that wait or are carried out
 *    agent_proc.h     the file .proc
 *    agent_specs.h    the folder of specs
 *    agent_disk.h     the journal
 *    agent_trim.h     names and limits of output files
 *    agent_output.h   reads output
 *    agent_policy.h, agent_files.h, agent_sample.h, agent_notify.h, agent_hello.h
 *    agent_watch.h    processes watched until they end
 *    agent_piddir.h   the agent's folder of pid files
 *    agent_probe.h    identifies processes and reads their kernel state
 *    agent_run.h      start and end of commands
 *    agent_family.h   what is left of a process
 *    agent_check.h    checks over the network
 *    agent_local.h    local control socket
 *    agent_upgrade.h  upgrade in place
 *    agent.h          all of them; events to the core, and the effects it requests
 *
 * The core must not be called from within an effect function. So each request waits as a `struct
 * effect` until the agent's turn, which writes the journal first: no effect is executed before its
 * record is in the file. */
#ifndef AGENT_SHELL_AGENT_BASE_H
#define AGENT_SHELL_AGENT_BASE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "agent/confine/facility.h"
#include "agent/identify/ident.h"
#include "agent/supervise/core_effects.h"
#include "base/io/timers.h"

struct cgroups;
struct core;
struct log;
struct loop;
struct outlog;
struct workers;

enum {
    AGENT_RETRY_MS = 1000,
    AGENT_STUCK_MS = 50, /* a job that takes longer no longer delays other work */
};

struct agent_base {
    struct loop *loop;
    struct log *log;
    struct core *core;
    char *dir;                /* data_dir */
    char *pid_dir;            /* agent_piddir.h */
    pthread_mutex_t pid_lock; /* held while a worker writes or removes a file in pid_dir */
    char boot_id[BOOT_ID_SIZE];
    struct facilities facilities;
    struct cgroups *cgroups;
    struct outlog *outlog;
    struct workers *workers;
    bool is_closing; /* effects that start now would not be executed */
    struct timer settle;
};

int64_t agent_now_ms(struct agent_base *a); /* also passes the wall clock to the core */
void agent_wake(struct agent_base *a);      /* a turn as soon as possible */
void agent_settle_in(struct agent_base *a, int64_t in_ms); /* a turn then or earlier */
void agent_retry(struct agent_base *a);                    /* in AGENT_RETRY_MS */

struct ident agent_ident(const struct agent_base *a, struct core_ident ident); /* of this boot */

#endif
