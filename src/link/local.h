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
    LOCAL_FORGET,       /* struct local_ask, both set -> MESSAGE_TAKEN, MESSAGE_RESULT */
    LOCAL_EVENTS,       /* struct local_events_ask -> LOCAL_EVENTS_ARE */
    LOCAL_EVENTS_ARE,   /* struct local_events */
    LOCAL_SPECS,        /* struct local_ask -> LOCAL_SPECS_ARE */
    LOCAL_SPECS_ARE,    /* struct local_specs */
};

struct local_operate {
    int64_t op;
    struct proc_meta meta;
    struct proc_spec spec; /* empty: the spec that the agent has */
    bool idempotent;       /* a start with another spec stores it if the process runs already */
    const char *signal;    /* as in struct message_command */
};

struct local_ask {
    const char *space, *name; /* "": any */
    bool wants_use; /* CPU and memory at most some seconds old, also if that takes a while */
};

struct local_processes {
    const char *agent_id; /* "": the agent has never joined a server */
    bool is_last;
    struct list list; /* struct proc_view */
};

/* How the agent runs a process. */
struct local_spec {
    struct proc_meta meta;
    struct proc_spec spec;
    bool hosted, running;
};

struct local_specs {
    bool is_last;
    struct list list; /* struct local_spec */
};

struct local_events_ask {
    int64_t after; /* only events with a greater id */
};

/* Oldest first.  Those that a server has stored are kept until some hundred newer ones are. */
struct local_events {
    const char *agent_id;
    bool is_last;
    struct list list; /* struct message_event */
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
    local_facts_shape, local_specs_shape, local_events_ask_shape, local_events_shape;

/* The shape of a request or answer; NULL for an unknown type. */
const struct shape *local_shape(unsigned type);

#endif
