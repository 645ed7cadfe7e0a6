/* SPDX-License-Identifier: MIT */
/* local.h - what somebody on the host itself asks of its agent over a unix socket; frames
 * like those of the link.
 *
 * One connection, one question.  The answer is one message or, of a list, several up to one
 * that is the last; an operation is first said to be taken.  MESSAGE_ERROR in place of an
 * answer says why there is none.  Who asked then closes. */
#ifndef LINK_LOCAL_H
#define LINK_LOCAL_H

#include "link/message.h"
#include "link/output.h"

/* After those of enum message_type, of which MESSAGE_LOG_ASK is a question, too. */
enum local_type {
    LOCAL_OPERATE = 64, /* struct local_operate -> MESSAGE_TAKEN, MESSAGE_RESULT */
    LOCAL_LIST,         /* struct local_ask -> LOCAL_PROCESSES */
    LOCAL_FACTS,        /* struct local_ask, empty -> LOCAL_FACTS_ARE */
    LOCAL_PROCESSES,    /* struct local_processes */
    LOCAL_FACTS_ARE,    /* struct local_facts */
};

struct local_operate {
    int64_t op;
    struct proc_meta meta;
    struct proc_spec spec; /* nothing in it: the one that is known */
};

struct local_ask {
    const char *space, *name; /* "": all */
};

struct local_processes {
    const char *agent_id; /* "": it has never joined a server */
    bool is_last;
    struct list list; /* struct proc_view */
};

/* What this host has, and what the agent does without what it has not. */
struct local_fact {
    const char *name, *why; /* "pidfd"; not used: the reason, */
    const char *instead;    /* and what is done in its place */
    bool used;
};

struct local_facts {
    const char *agent_version, *agent_id, *data_dir, *boot_id;
    const char *servers; /* "host:port, host:port"; "": it has none */
    bool is_linked;
    int64_t pid, processes, running, hosted;
    int64_t operations; /* that act now */
    int64_t events;     /* that wait for the server */
    struct list facts;  /* struct local_fact */
};

extern const struct shape local_operate_shape, local_ask_shape, local_processes_shape,
    local_facts_shape;

/* By type, of questions and answers; NULL where there is none. */
const struct shape *local_shape(unsigned type);

#endif
