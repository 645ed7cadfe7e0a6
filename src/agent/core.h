/* SPDX-License-Identifier: MIT */
/* core.h - the whole agent but for its hands: commands, operations, hosting,
 * restarts, the journal's contents, what is told to the server.
 *
 * The core is pure: it does no I/O and reads no clock.  What happens is told to
 * it by core_on_*(), with the monotonic time; what it wants done it asks of its
 * hands, which must not call back into it: what comes of a request is another
 * core_on_*() later.  So the same core runs on a host and in the simulator.
 *
 * What it promises (design: "executed at most once, and known"):
 *   - a command is in the journal, durably, before anything is done about it;
 *   - (task, item) is carried out at most once: one that comes again is answered
 *     from what is known, one past its deadline is refused;
 *   - a result is kept, and told again, until the server has stored it;
 *   - operations on one process happen one at a time, in the order they came;
 *     hosting rests meanwhile;
 *   - after a crash a command is never run again: its outcome is observed. */
#ifndef AGENT_CORE_H
#define AGENT_CORE_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/core_hands.h"
#include "base/err.h"
#include "wire/digest.h"

struct core;

struct core *core_new(const struct core_hands *hands, void *arg, int64_t now_ms, int64_t wall_ms);
void core_free(struct core *c);

/* The journal's records, in their order, before anything else; then core_start().
 * `same_boot` false: the host has been started anew since they were written. */
int core_replay(struct core *c, unsigned type, const char *json, size_t n, struct err *err);
void core_start(struct core *c, bool same_boot, int64_t now_ms, int64_t wall_ms);

/* How many events wait for the server at most, before anything is replayed; else 1,000. */
void core_set_events_max(struct core *c, size_t max);

/* How many operations, each on another process, act at the same time; others wait, in the
 * order they came.  AT_ONCE unless told. */
void core_set_at_once(struct core *c, int64_t n);
size_t core_in_work(const struct core *c);   /* operations that act now */
uint64_t core_at_rest(const struct core *c); /* operations so far; 0: there is one now */

/* Every slot is with one that acts, and nobody waits for one that is free.  Slow: for tests
 * and the simulator. */
bool core_has_sound_slots(const struct core *c);

/* Writes what is live, for a new journal to begin with. */
void core_compact(struct core *c);

/* Of the facts of all processes, for hello; what changes until welcome is told then. */
void core_digest(struct core *c, char to[DIGEST_TEXT_SIZE]);

/* Whether this process is known to be another one than space:name. */
bool core_is_others(const struct core *c, struct core_ident ident, const char *space,
                    const char *name);

/* Every process that is known. */
typedef void core_each_fn(void *arg, const char *space, const char *name,
                          const struct proc_spec *spec);
void core_each(const struct core *c, core_each_fn *fn, void *arg);

/* Which one this is, and where in its output what was said since its start begins (0: not
 * known); false: none of ours. */
struct core_whose {
    const char *space, *name;
    int64_t out_from;
};
bool core_find_whose(const struct core *c, struct core_ident ident, struct core_whose *ret);

/* Every command of an agent before us that hand adopt() is still to be asked for. */
void core_each_unclaimed(const struct core *c, void (*fn)(void *arg, struct core_ident ident),
                         void *arg);

/* Whether somebody still waits for this command to end. */
bool core_has_run(const struct core *c, uint64_t id);

/* Processes that are to say that they are ready, and have not; `fn` ends the walk by false. */
struct core_unready {
    const char *space, *name;
    struct core_ident start, ident; /* the command that starts it; it, if it was seen already */
    const struct proc_identity *identity;
};
typedef bool core_unready_fn(void *arg, const struct core_unready *u);
void core_each_unready(const struct core *c, core_unready_fn *fn, void *arg);

/* What happens. */
void core_on_link(struct core *c, bool is_up, int64_t now_ms);
void core_on_message(struct core *c, unsigned type, const void *message, int64_t now_ms);
void core_on_durable(struct core *c, uint64_t mark, int64_t now_ms);
void core_on_run(struct core *c, uint64_t id, const struct core_began *began,
                 const struct err *failure, int64_t now_ms); /* failure not NULL: it did not */
void core_on_run_end(struct core *c, uint64_t id, int status, const char *output, int64_t now_ms);
void core_on_probe(struct core *c, uint64_t id, const struct core_probe *probe, int64_t now_ms);
void core_on_exit(struct core *c, struct core_ident ident, int status, int64_t now_ms);
/* What a process that ended had said last, and whether it was the kernel, out of memory,
 * that ended it: found out after core_on_exit(), which nobody shall wait for. */
void core_on_said(struct core *c, struct core_ident ident, const char *output, bool oom,
                  int64_t now_ms);
/* NULL: it can not be said. */
void core_on_sample(struct core *c, struct core_ident ident, const struct core_sample *s,
                    int64_t now_ms);
/* Of a watched file; md5 "": it can not be read, and `why` says more. */
void core_on_file(struct core *c, const char *space, const char *name, const char *path,
                  const char *md5, const char *why, int64_t now_ms);
void core_on_port(struct core *c, uint64_t id, bool is_open, int64_t now_ms);
/* It has said that it is ready, and who it is (pid 0: nothing of that). */
void core_on_ready(struct core *c, const char *space, const char *name, struct core_ident main,
                   int64_t now_ms);
void core_on_policy(struct core *c, int64_t now_ms); /* hand allow() may say otherwise now */
void core_on_time(struct core *c, int64_t now_ms, int64_t wall_ms);
void core_on_zone(struct core *c); /* the host's time zone may be another */
/* Nothing more happens for now: the server hears of what has changed. */
void core_tell_now(struct core *c);
int64_t core_next_ms(const struct core *c); /* when core_on_time() is due; INT64_MAX: never */

#endif
