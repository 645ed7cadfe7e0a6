/* SPDX-License-Identifier: MIT */
/* agent_parts.h - struct agent: the parts of the agent. Only agent.c includes this, and tests that
 * look into a part. */
#ifndef AGENT_SHELL_AGENT_PARTS_H
#define AGENT_SHELL_AGENT_PARTS_H

#include "agent/shell/agent_base.h"
#include "agent/shell/agent_disk.h"
#include "agent/shell/agent_effect.h"
#include "agent/shell/agent_hello.h"
#include "agent/shell/agent_policy.h"
#include "agent/shell/agent_proc.h"

struct agent {
    struct agent_base base;
    struct agent_options *o;
    struct effects effects;
    struct proc_file proc;
    struct disk disk;
    struct agent_policy policy;
    struct job_thread *syncs,
        *lookups; /* separate, so that a directory service that does not answer delays no sync */
    struct spawner *spawner;
    struct trims *trims;
    struct output_reader *output_reader;
    struct files *files;
    struct checker *checker;
    struct samples *samples;
    struct notices *notices;
    struct watches *watches;
    struct probes *probes;
    struct runs *runs;
    struct families *families;
    struct local *local;
    struct upgrades *upgrades;
    struct agent_hello hello;
    struct timer tick;
    uint64_t ops_then; /* number of operations when memory was last returned */
    int64_t reap_ms;   /* strays are not reaped before this time */
};

#endif
