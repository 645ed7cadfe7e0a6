/* SPDX-License-Identifier: MIT */
/* local.h - messages between a program on the host and its agent over a unix socket, in frames as
 * on the link.
 *
 * One connection carries one request.  The answer is one message; for a list it is several, the
 * last of which has is_last set.  An operation is first acknowledged with MESSAGE_TAKEN.
 * MESSAGE_ERROR in place of an answer says why there is none.  The client closes the connection. */
#ifndef LINK_LOCAL_H
#define LINK_LOCAL_H

#include "link/message.h"

/* Numbers follow those of enum message_type, of which MESSAGE_LOG_ASK is a request here too. */
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
    struct proc_spec spec; /* empty: the spec that the agent has */
    const char *signal;    /* as in struct message_command */
};

struct local_ask {
    const char *space, *name; /* "": any */
};

struct local_processes {
    const char *agent_id; /* "": the agent has never joined a server */
    bool is_last;
    struct list list; /* struct proc_view */
};

/* A facility of the kernel, and what the agent does where it is missing. */
struct local_fact {
    const char *name, *why; /* name, "pidfd" say; why it is not used */
    const char *instead;    /* what is done in its place */
    bool used;
};

struct local_facts {
    const char *agent_version, *agent_id, *data_dir, *boot_id;
    const char *pid_dir; /* folder of the pid files that the agent keeps */
    const char *servers; /* "host:port, host:port"; "": none */
    bool is_linked;
    const char *trouble; /* why there is no session; "": not known */
    int64_t again_s;     /* seconds until the next attempt */
    int64_t pid, processes, running, hosted;
    int64_t operations; /* in progress */
    int64_t events;     /* not acknowledged by the server yet */
    struct list facts;  /* struct local_fact */
};

extern const struct shape local_operate_shape, local_ask_shape, local_processes_shape,
    local_facts_shape;

/* The shape of a request or answer; NULL for an unknown type. */
const struct shape *local_shape(unsigned type);

#endif
