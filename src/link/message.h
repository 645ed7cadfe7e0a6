/* SPDX-License-Identifier: MIT */
/* message.h - what agent and server say to each other, one shape a message; a
 * message is the body of a frame (wire/frame.h) of its type.
 *
 * Delivery.  Each side keeps what the other has not acknowledged and says it again: a
 * command until the agent has it in its journal, a result or an event until the server has
 * written it.  All may come twice, late, or in another order; (task, item), or an event's
 * id, says whether one has been there before.
 *
 * Time.  `server_ms` is the server's monotonic clock.  The agent learns the offset to its own
 * from welcome and pong: a deadline means the same on both, whatever their wall clocks say. */
#ifndef LINK_MESSAGE_H
#define LINK_MESSAGE_H

#include <stdint.h>

#include "model/proc.h"
#include "model/view.h"
#include "wire/shape.h"

enum { LINK_VERSION = 1 };

enum message_type {
    MESSAGE_HELLO = 1,    /* agent: here I am */
    MESSAGE_WELCOME,      /* server: this is how we talk */
    MESSAGE_PING,         /* server, in turn */
    MESSAGE_PONG,         /* agent */
    MESSAGE_COMMAND,      /* server: do this */
    MESSAGE_TAKEN,        /* agent: the command is in my journal */
    MESSAGE_RESULT,       /* agent: this came of it */
    MESSAGE_STORED,       /* server: the result is in my store */
    MESSAGE_PROCESSES,    /* agent: these have changed, or a page of all of them */
    MESSAGE_EVENT,        /* agent: this happened */
    MESSAGE_ERROR,        /* either: what you said makes no sense, or is refused */
    MESSAGE_JOIN,         /* agent without a certificate: let me in */
    MESSAGE_JOINED,       /* server: here it is; in answer to renew too */
    MESSAGE_RENEW,        /* agent: mine ends soon */
    MESSAGE_EVENT_STORED, /* server: I have this event and all before it */
    MESSAGE_LOG_ASK,      /* server: what has this process said? */
    MESSAGE_LOG,          /* agent: this */
    MESSAGE_GROUP,        /* server: this is what a namespace may use */
    MESSAGE_GROUP_TAKEN,  /* agent: it is in my journal */
    MESSAGE_CANCEL,       /* server: do not begin this -> taken, and the result */
};

struct message_hello {
    int64_t version_min, version_max;
    const char *agent_id, *agent_version, *hostname, *boot_id;
    struct list addresses; /* struct message_text */
    const char *digest;    /* of all its processes, to find out whether to send them */
    int64_t agent_ms;
    const char *os, *arch;              /* of the host: "linux", "x86_64"; "": not said */
    int64_t cpus, mem_bytes, started_s; /* of the host, and when the agent began; 0: not said */
};

struct message_text {
    const char *text;
};

struct message_welcome {
    int64_t version, epoch, ping_ms;
    int64_t agent_ms, server_ms; /* what hello said; when this was sent */
    bool wants_processes;        /* the digests differ */
};

struct message_ping {
    int64_t server_ms, agent_ms; /* pong: the same back, and the agent's clock */
};

struct message_command {
    const char *task;
    int64_t item, op, deadline_ms; /* in server_ms */
    struct proc_meta meta;
    struct proc_spec spec;
    bool only_if_hosted, forgets; /* of op 3, else CODE_NOT_REGISTERED; of op 4, if it is down */
};

struct message_ref { /* taken and stored */
    const char *task;
    int64_t item;
};

struct message_result {
    const char *task;
    int64_t item, code;
    const char *text;
    struct proc_view view;
};

struct message_processes {
    bool is_snapshot, is_last; /* a snapshot's last page carries the mark */
    struct list list;          /* struct proc_view */
    const char *digest;        /* of all, after these */
};

struct message_event {
    int64_t id, after; /* counts up on an agent; the one before it that is kept, too */
    const char *name, *text, *space, *proc, *proc_name;
    int64_t wall_ms, report_id;
};

struct message_event_ref {
    int64_t id;
};

struct message_error {
    int64_t type, code; /* of the message it is about; of model/code.h */
    const char *text;
    int64_t retry_ms; /* try again after this time; -1: it will not do as it is */
};

/* By type; NULL where there is none. */
const struct shape *message_shape(unsigned type);
const char *message_name(unsigned type);

extern const struct shape message_hello_shape, message_welcome_shape, message_ping_shape,
    message_command_shape, message_ref_shape, message_result_shape, message_processes_shape,
    message_event_shape, message_event_ref_shape, message_error_shape;

#endif
