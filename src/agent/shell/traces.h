/* SPDX-License-Identifier: MIT */
/* traces.h - what is remembered for a while of main processes that have ended, so that their
 * family can be told from others (family.h). */
#ifndef AGENT_SHELL_TRACES_H
#define AGENT_SHELL_TRACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "agent/supervise/core_effects.h"

struct trace {
    struct core_ident ident;
    pid_t session, group; /* 0: unknown */
    uint64_t program;     /* family.h; 0: unknown */
    const char *kin;      /* family.h; NULL: nothing is known */
};

struct traces;

struct traces *traces_new(void);
void traces_free(struct traces *t); /* NULL is allowed */

/* Copies the texts. */
void traces_put(struct traces *t, const struct trace *trace, const char *space, const char *name,
                int64_t now_ms);
const struct trace *traces_find(const struct traces *t, struct core_ident ident);

/* What the last main process of this name ran, if that is known; 0: it is not. */
uint64_t traces_find_program(const struct traces *t, const char *space, const char *name);

/* Whether a process of another name than space:name was in one of these sessions (0: none). */
bool traces_have(const struct traces *t, const pid_t *sessions, size_t n, const char *space,
                 const char *name);
bool trace_is_among(pid_t session, const pid_t *sessions, size_t n);

void traces_drop_old(struct traces *t, int64_t now_ms);

#endif
