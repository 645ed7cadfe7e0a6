/* SPDX-License-Identifier: MIT */
/* agent.h - the agent of this host: its core (core.h) joined with its hands.
 *
 * In its folder: `journal` (the only truth), `output/` (what processes say).  One
 * agent has a folder at a time.  Processes do not notice whether it is there: it may
 * end, or be killed, and the next one in the same folder takes up where it was.
 *
 * Whoever owns it carries messages: what the server says comes in by agent_on_*(),
 * what it is told goes out by send(), which must not call back.
 *
 * A journal that can not be written (a full disk) is logged and tried again: until
 * then commands are neither taken nor run, but hosted processes are kept alive. */
#ifndef AGENT_AGENT_H
#define AGENT_AGENT_H

#include <stdint.h>

#include "base/log.h"
#include "base/loop.h"
#include "link/message.h"

struct agent;
struct policy;

/* How it stands with the server, for those on the host. */
struct agent_link {
    const char *servers, *agent_id; /* "" where there is none */
    bool is_up;
};

struct agent_options {
    const char *dir;
    int64_t output_max_bytes;                  /* of each process */
    int64_t at_once;                           /* operations; 0: as many as usual */
    int64_t limit_interval_ms, limit_grace_ms; /* core_use.h; an interval of 0: both as usual */
    const struct policy *policy;               /* policy.h, copied; NULL: all is allowed */
    const char *proc_file;                     /* agent_proc.h; NULL or "": `.proc` in the folder */
    /* agent_local.h.  NULL: no control from the host itself; "": where it is expected.  These
     * two live until agent_set() names others. */
    const char *local_socket, *local_group;
    const char *without; /* facility.h; NULL: nothing */
    int64_t cgroups;     /* enum cgroup_use */
    void (*send)(void *arg, unsigned type, const struct shape *s, const void *message);
    void (*link)(void *arg, struct agent_link *ret); /* NULL: there is none */
    void *arg;
};

/* Reads the journal and adopts what is there; makes this process child subreaper and
 * may catch SIGCHLD on the loop, whose next run must be after this and whose last before
 * agent_free().  ERR_MALFORMED, with file and offset, if the journal is damaged, and
 * ERR_CONFLICT if another agent has the folder: nothing has been changed then. */
int agent_new(struct loop *loop, struct log *log, const struct agent_options *o, struct agent **ret,
              struct err *err);
void agent_free(struct agent *a); /* the journal is on the disk then; NULL is fine */

/* From now on; the folder and send() stay as they were. */
void agent_set(struct agent *a, const struct agent_options *o);

/* Texts live until the next call, or the agent's end. */
void agent_fill_hello(struct agent *a, struct message_hello *hello);
void agent_on_up(struct agent *a, const struct message_welcome *welcome);
void agent_on_message(struct agent *a, unsigned type, const void *message);
void agent_on_down(struct agent *a);

#endif
