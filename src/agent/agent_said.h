/* SPDX-License-Identifier: MIT */
/* agent_said.h - what processes say, for the agent's own sources: their last words, answers
 * to those who ask (agent_said.c), and bounds for what is kept (agent_trim.c).
 *
 * Last words are looked for when whoever died has been started anew: nobody waits for
 * them.  They are the last lines between its start, if we saw it, and its end, that is what
 * was in its file when we heard of it.
 *
 * What grows is told by inotify, once a second however much is written; so those who are
 * silent cost nothing, and one that floods has a second of its flood more than the bound.
 * Where there is no inotify all files are looked at with every tick. */
#ifndef AGENT_AGENT_SAID_H
#define AGENT_AGENT_SAID_H

#include "agent/outlog.h"
#include "link/output.h"

struct agent;
struct held;

/* The file of a process, which its start and restart commands write to, or of another
 * command of it ("stop"). */
void said_name(const char *space, const char *name, const char *what, char to[OUTLOG_NAME_SIZE]);

bool said_is_own(const char *what); /* "start", "restart": the process itself comes of it */

struct said *said_new(struct agent *a);
void said_free(struct said *s); /* NULL is fine */
void said_on_tick(struct said *s);

/* Before the core hears of it: afterwards it does not know whose process that was. */
void said_on_exit(struct agent *a, const struct held *h, int status);

/* The answer, its text in *output or *err: at most max_bytes are read for it; and sent. */
void said_read(struct agent *a, const struct message_log_ask *ask, struct buf *output,
               struct message_log *ret, struct err *err);
void said_answer(struct agent *a, const struct message_log_ask *ask);

struct trims *trims_new(struct agent *a);
void trims_free(struct trims *t); /* NULL is fine */
void trims_on_tick(struct trims *t);

/* The bound of a process (0: that of all) and its other commands; by the file's name. */
void trims_set_max(struct trims *t, const char *file, int64_t max_bytes);
uint64_t trims_max(const struct trims *t, const char *file);

#endif
