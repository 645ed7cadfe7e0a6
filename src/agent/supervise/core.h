/* SPDX-License-Identifier: MIT */
/* core.h - the agent's logic without I/O: commands, operations, supervision, restarts, journal
 * contents and messages to the server.
 *
 * The core is pure: it does no I/O and reads no clock.  Every input is a core_on_*() call with
 * the monotonic time.  Every output is a call of struct core_effects.  An effect must not call
 * back into the core; its outcome arrives later as another core_on_*() call.  So the same core
 * runs on a host and in the simulator.
 *
 * Guarantees (design: "executed at most once, and known"):
 *
 *    - A command is durable in the journal before anything is done about it.
 *    - (task, item) is executed at most once.  A repeated command is answered from the known
 *      state; a command past its deadline is refused.
 *    - A result is kept and resent until the server has stored it.
 *    - Operations on one process run one at a time, in order of arrival.  Supervision of that
 *      process pauses meanwhile.
 *    - After a crash a command is never run again: its outcome is observed. */
#ifndef AGENT_SUPERVISE_CORE_H
#define AGENT_SUPERVISE_CORE_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/supervise/core_effects.h"
#include "base/text/err.h"
#include "wire/tls/digest.h"

struct core;

struct core *core_new(const struct core_effects *effects, void *arg, int64_t now_ms,
                      int64_t wall_ms);
void core_free(struct core *c);

/* Replays the journal's records in order; call it first, then core_start().  `same_boot` false:
 * the host has rebooted since the records were written. */
int core_replay(struct core *c, unsigned type, const char *json, size_t n, struct err *err);
void core_start(struct core *c, bool same_boot, int64_t now_ms, int64_t wall_ms);

/* The maximum number of events that wait for the server; default 2,000.  Call before
 * core_replay(). */
void core_set_events_max(struct core *c, size_t max);

/* The maximum number of operations that act at the same time, each on another process; default
 * AT_ONCE.  Others wait in order of arrival. */
void core_set_at_once(struct core *c, int64_t n);
size_t core_in_work(const struct core *c);   /* operations that act now */
uint64_t core_at_rest(const struct core *c); /* operations so far; 0: one is in progress */

/* What is wrong with the state of the core, by the invariants of its tables; NULL: nothing.  Slow:
 * for tests and the simulator, after every input. */
const char *core_find_fault(const struct core *c);

/* Writes the current state as the first records of a new journal. */
void core_compact(struct core *c);

/* Digest over the facts of all processes, for hello.  Changes between hello and welcome are
 * reported after welcome. */
void core_digest(struct core *c, char to[DIGEST_TEXT_SIZE]);

/* Whether `ident` is the main process or the start command of another spec than space:name. */
bool core_is_others(const struct core *c, struct core_ident ident, const char *space,
                    const char *name);

/* Whether `ident` may belong to another spec with the same proc_name and folder. That is so while a
 * start of that spec has not found its process yet: the start command of a daemon ends before. */
bool core_may_be_others(const struct core *c, struct core_ident ident, const char *space,
                        const char *name, const struct proc_identity *identity);

/* Calls `fn` for every known process. */
typedef void core_each_fn(void *arg, const char *space, const char *name,
                          const struct proc_spec *spec);
void core_each(const struct core *c, core_each_fn *fn, void *arg);

/* Calls `fn` for every process that was running at the last probe, and for every command of a start
 * in progress. */
typedef void core_running_fn(void *arg, const char *space, const char *name,
                             struct core_ident ident);
void core_each_running(const struct core *c, core_running_fn *fn, void *arg);

/* A probe or command of this operation takes long.  The operation continues, but gives up its
 * slot. */
void core_on_slow(struct core *c, uint64_t id, int64_t now_ms);

/* Whether an operation still waits for the answer to this question (struct core_look). */
bool core_awaits_probe(const struct core *c, uint64_t id, uint64_t question);

/* Finds the process with this ident; false: it is not a known process.  `out_from` is the offset
 * in its output file where the output since its start begins; 0: unknown. */
struct core_whose {
    const char *space, *name;
    int64_t out_from;
};
bool core_find_whose(const struct core *c, struct core_ident ident, struct core_whose *ret);
/* The process of which this is a command; false: it is not that of an operation in progress. */
bool core_find_run(const struct core *c, uint64_t id, struct core_whose *ret);

/* Calls `fn` for every command of a previous agent for which effect adopt() has not been called
 * yet. */
void core_each_unclaimed(const struct core *c, void (*fn)(void *arg, struct core_ident ident),
                         void *arg);

/* Whether the end of this command is still awaited. */
bool core_has_run(const struct core *c, uint64_t id);

/* Processes that must report readiness and have not yet.  `fn` returns false to stop the
 * iteration. */
struct core_unready {
    const char *space, *name;
    struct core_ident start, ident; /* its start command; the process itself, pid 0: not seen yet */
    const struct proc_identity *identity;
};
typedef bool core_unready_fn(void *arg, const struct core_unready *u);
void core_each_unready(const struct core *c, core_unready_fn *fn, void *arg);

/* Inputs. */
void core_on_link(struct core *c, bool is_up, int64_t now_ms);
void core_on_message(struct core *c, unsigned type, const void *message, int64_t now_ms);
void core_on_durable(struct core *c, uint64_t mark, int64_t now_ms);
/* `failure` not NULL: the command did not start. */
void core_on_run(struct core *c, uint64_t id, const struct core_began *began,
                 const struct err *failure, int64_t now_ms);
void core_on_run_end(struct core *c, uint64_t id, int status, const char *output, int64_t now_ms);
void core_on_probe(struct core *c, uint64_t id, const struct core_probe *probe, int64_t now_ms);
void core_on_exit(struct core *c, struct core_ident ident, int status, int64_t now_ms);
/* How it has ended, which was not known at core_on_exit(). */
void core_on_exit_status(struct core *c, struct core_ident ident, int status, int64_t now_ms);
/* The last output of a process that ended, and whether the kernel's OOM killer ended it.  Both
 * are determined after core_on_exit(), so that core_on_exit() is not delayed. */
void core_on_output(struct core *c, struct core_ident ident, const char *output, enum proc_oom oom,
                    int64_t now_ms);
void core_on_family(struct core *c, uint64_t id, const struct core_members *m, int64_t now_ms);
/* What the start command of the process has started besides its main process: "PID:TICKS ...". */
void core_on_siblings(struct core *c, const char *space, const char *name, struct core_ident main,
                      const char *siblings, int64_t now_ms);
/* `s` NULL: the usage is unknown. */
void core_on_sample(struct core *c, struct core_ident ident, const struct core_sample *s,
                    int64_t now_ms);
/* The state of a watched file.  md5 "": the file cannot be read, and `why` says more. */
void core_on_file(struct core *c, const char *space, const char *name, const char *path,
                  const char *md5, const char *why, int64_t now_ms);
void core_on_check(struct core *c, uint64_t id, const struct core_checked *got, int64_t now_ms);
/* The process has reported readiness, and its main pid (pid 0: not reported). */
void core_on_ready(struct core *c, const char *space, const char *name, struct core_ident main,
                   int64_t now_ms);
void core_on_policy(struct core *c, int64_t now_ms); /* effect allow() may answer differently now */
void core_on_time(struct core *c, int64_t now_ms, int64_t wall_ms);
void core_on_zone(struct core *c); /* the host's time zone may have changed */
/* The current batch of inputs is complete: sends the changes to the server. */
void core_tell_now(struct core *c);
int64_t core_next_ms(const struct core *c); /* when core_on_time() is due; INT64_MAX: never */

#endif
