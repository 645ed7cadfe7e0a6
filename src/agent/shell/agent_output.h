/* SPDX-License-Identifier: MIT */
/* agent_output.h - reads output of processes: last lines of ended processes, and answers to log
 * requests.
 *
 * The last lines are read after the restart of the process, so that they do not delay it. They are
 * the last lines between its start, if this agent saw it, and its end, which is the size of the
 * file when the exit was noticed. */
#ifndef AGENT_SHELL_AGENT_OUTPUT_H
#define AGENT_SHELL_AGENT_OUTPUT_H

#include "agent/supervise/core_effects.h"
#include "link/message.h"

struct agent_base;
struct effects;
struct output_reader;

struct output_reader *output_reader_new(struct agent_base *a, const struct effects *effects);
void output_reader_free(struct output_reader *s); /* NULL is allowed */
void output_reader_on_tick(struct output_reader *s);

/* Called before the core learns of the exit: afterwards the core no longer knows the owner of that
 * pid. */
struct output_exit {
    struct core_ident ident;
    const char *output; /* name of its file; NULL: the core knows whose process it is */
    uint64_t out_from;  /* offset in that file where its output begins */
    int status;
    bool is_killed; /* by the agent */
};
/* False: there is nothing to read, and core_on_output() is not called. */
bool output_reader_on_exit(struct output_reader *s, const struct output_exit *e);

/* Reads max_bytes at most and calls fn: at once or, if the file is being trimmed, within 200 ms,
 * without blocking the loop. After output_reader_forget() fn is not called any more for this arg.
 */
typedef void output_answer_fn(void *arg, const struct message_log *answer);
void output_reader_ask(struct output_reader *s, const struct message_log_ask *ask,
                       output_answer_fn *fn, void *arg);
void output_reader_forget(struct output_reader *s, const void *arg); /* NULL is allowed */

#endif
