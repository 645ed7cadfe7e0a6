/* SPDX-License-Identifier: MIT */
/* agent_run.h - start and end of commands: user, environment, output file.
 *
 * A worker starts a command, because a path of its user may block. What happens to a start that
 * takes long is described in agent_effect.h. */
#ifndef AGENT_SHELL_AGENT_RUN_H
#define AGENT_SHELL_AGENT_RUN_H

#include "agent/supervise/core_effects.h"

struct agent_base;
struct agent_policy;
struct disk;
struct effect;
struct effects;
struct notices;
struct runs;
struct trims;
struct watches;

/* What commands need; all of it must live longer. */
struct run_parts {
    struct agent_base *agent;
    struct effects *effects;
    struct disk *disk;
    struct trims *trims;
    const struct notices *notices;
    const struct agent_policy *policy;
    struct watches *watches;
};

struct runs *runs_new(const struct run_parts *parts);
void runs_free(struct runs *r); /* no worker searches for a command any more; NULL is allowed */

/* Effects of the core: see core_effects.h. */
void runs_add(struct runs *r, const struct core_run *run);
void runs_adopt(struct runs *r, const struct core_adopt *adopt);
enum core_begun runs_find(struct runs *r, const struct core_run *run, struct core_ident *ret);
void runs_end(struct runs *r, uint64_t id);

enum run_fate { RUN_WAITS, RUN_HAS_NO_ROOM, RUN_IS_STARTING, RUN_DONE };
enum run_fate run_carry_out(struct effect *effect, bool is_alone);
void runs_watch(struct runs *r); /* starts that take long or time out */
void runs_kill(struct runs *r);  /* at shutdown: kills children that have not reached exec */
void runs_tell(struct runs *r, int64_t now_ms); /* sends changed states to the server */

#endif
