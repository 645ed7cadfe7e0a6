/* SPDX-License-Identifier: MIT */
/* message.h - the messages between agent and server, one shape each; a message is the body of a
 * frame (wire/net/frame.h) of its type.
 *
 * Delivery.  Each side repeats what the other has not acknowledged: a command until it is in the
 * agent's journal, a result or an event until it is in the server's store.  Every message may come
 * twice, late, or out of order; (task, item), or the id of an event, identifies a repetition.
 *
 * Time.  `server_ms` is the server's monotonic clock.  The agent learns the offset to its own clock
 * from welcome and ping, so a deadline means the same on both sides whatever the wall clocks
 * say. */
#ifndef LINK_MESSAGE_H
#define LINK_MESSAGE_H

#include <stdint.h>

#include "model/proc.h"
#include "model/view.h"
#include "wire/json/shape.h"

enum { LINK_VERSION = 1 };

enum message_type {
    MESSAGE_HELLO = 1,    /* agent: opens a session */
    MESSAGE_WELCOME,      /* server: accepts the session */
    MESSAGE_PING,         /* server, at a fixed interval */
    MESSAGE_PONG,         /* agent: answers a ping */
    MESSAGE_COMMAND,      /* server: operate a process */
    MESSAGE_TAKEN,        /* agent: the command is in the journal */
    MESSAGE_RESULT,       /* agent: outcome of a command */
    MESSAGE_STORED,       /* server: the result is in the store */
    MESSAGE_PROCESSES,    /* agent: changed processes, or a page of all of them */
    MESSAGE_EVENT,        /* agent: something happened to a process */
    MESSAGE_ERROR,        /* either: a message is malformed or refused */
    MESSAGE_JOIN,         /* agent without a certificate: asks for one */
    MESSAGE_JOINED,       /* server: the certificate; answers join and renew */
    MESSAGE_RENEW,        /* agent: asks for a new certificate */
    MESSAGE_EVENT_STORED, /* server: this event and all earlier ones are in the store */
    MESSAGE_LOG_ASK,      /* server: asks for output of a process */
    MESSAGE_LOG,          /* agent: answers log_ask */
    MESSAGE_GROUP,        /* server: shared limits of a namespace */
    MESSAGE_GROUP_TAKEN,  /* agent: the limits are in the journal */
    MESSAGE_CANCEL,       /* server: do not start a command -> taken, and the result */
};

struct message_hello {
    int64_t version_min, version_max;
    const char *agent_id, *agent_version, *hostname, *boot_id;
    struct list addresses; /* struct message_text */
    const char *digest; /* of all processes; if the server has the same digest they are not sent */
    int64_t agent_ms;
    const char *os, *arch;              /* of the host: "linux", "x86_64"; "": not given */
    int64_t cpus, mem_bytes, started_s; /* of the host; when the agent started; 0: not given */
};

struct message_text {
    const char *text;
};

struct message_welcome {
    int64_t version, epoch, ping_ms;
    int64_t agent_ms, server_ms; /* agent_ms of hello; when this was sent */
    bool wants_processes;        /* the digests differ: send all processes */
};

struct message_ping {
    int64_t server_ms, agent_ms; /* pong repeats server_ms and sets agent_ms */
};

/* Figures of an agent, sent with each pong; the server sums them over the fleet.  An older agent
 * sends none, so all are 0; rss_bytes of any other agent is not 0. */
struct message_agent_stats {
    int64_t rss_bytes, cpu_ms; /* of the agent; cpu_ms and restarts since its start */
    int64_t journal_bytes;
    int64_t processes, running; /* processes that it has, and how many of them run */
    int64_t restarts;           /* of processes, by the agent itself */
    int64_t operations;         /* in progress or queued */
    int64_t events;             /* not acknowledged by the server yet */
    int64_t unexpected;         /* events that its life-cycle tables do not have: its own faults */
};

struct message_pong { /* starts like struct message_ping */
    int64_t server_ms, agent_ms;
    struct message_agent_stats agent_stats;
};

/* How a query is done. */
enum command_look {
    LOOK_FULL,      /* runs version_cmd and health_cmd */
    LOOK_ONLY,      /* runs no command */
    LOOK_UNCHECKED, /* runs no command, and the identity comes from an app that may neither start
                       nor host: the agent's own spec is used where there is one */
};

struct message_command {
    const char *task;
    int64_t item, op, deadline_ms; /* deadline in server_ms */
    struct proc_meta meta;
    struct proc_spec spec;
    bool only_if_hosted, forgets, stores_spec, hosts_running, ends_tries; /* see message.c */
    int64_t look;       /* for PROC_OP_QUERY: enum command_look */
    int64_t may_host;   /* enum app_may_host */
    const char *signal; /* for PROC_OP_SIGNAL: model/signal.h; NULL or "": none */
};

/* An agent that has not started the command ends it with code 826; otherwise it answers `taken`.
 * The result comes as for any command.  deadline_ms and meta let the agent refuse a command that
 * arrives after its cancel. */
struct message_cancel {
    const char *task;
    int64_t item, deadline_ms; /* as in the command */
    struct proc_meta meta;
};

struct message_ref { /* of taken and stored */
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
    bool is_snapshot, is_last; /* is_last: the last page of a snapshot */
    struct list list;          /* struct proc_view */
    const char *digest;        /* of all processes, after these changes */
};

struct message_event {
    int64_t id, after; /* id rises on an agent; `after` is the previous event that it still has */
    const char *name, *text, *space, *proc, *proc_name;
    int64_t wall_ms, report_id;
};

struct message_event_ref {
    int64_t id;
};

/* Limit of the output in one answer: even with every byte escaped as \u00XX it fits into a
 * frame. */
enum { LOG_MAX_BYTES = 128 * 1024 };

struct message_log_ask {
    int64_t id; /* repeated in the answer */
    const char *space, *name;
    const char *what; /* output of this command ("stop"); "": of the process */
    int64_t lines;    /* at most so many, from the end; 0: as many as fit */
    int64_t at;       /* start at this `next` of an earlier answer; -1: at the last `lines` */
    int64_t max_bytes;
    int64_t age_s; /* of the last lines only those that are not older, as far as known; 0: any */
};

struct message_log {
    int64_t id, code; /* 0, or why there is no output */
    const char *text; /* explanation if code is not 0 */
    const char *output;
    int64_t next;      /* position for the next request */
    bool has_gap;      /* the requested position is gone; this follows the gap */
    int64_t gap_bytes; /* size of the gap; 0: not known */
};

struct message_error {
    int64_t type, code; /* type of the refused message; a code of model/code.h */
    const char *text;
    int64_t retry_ms; /* when to try again; 0: at any time; -1: refused permanently */
};

struct message_join {
    int64_t version_min, version_max;
    const char *secret;   /* of the join token */
    const char *request;  /* certificate signing request, PEM */
    const char *ip;       /* "": the address that the connection comes from */
    const char *agent_id; /* the id asked for; "": any */
    const char *hostname, *agent_version;
};

struct message_joined {
    const char *agent_id, *cert, *ca; /* cert and ca are PEM */
    int64_t cloud_id, biz_id;
    const char *ip; /* the address that the server has stored */
};

struct message_renew {
    const char *request; /* certificate signing request, PEM */
};

/* Shape and name of a type; NULL for an unknown type. */
const struct shape *message_shape(unsigned type);
const char *message_name(unsigned type);
extern const struct shape message_hello_shape, message_welcome_shape, message_ping_shape,
    message_command_shape, message_ref_shape, message_result_shape, message_processes_shape,
    message_event_shape, message_event_ref_shape, message_error_shape, message_pong_shape,
    message_figures_shape, message_cancel_shape, message_log_ask_shape, message_log_shape,
    message_join_shape, message_joined_shape, message_renew_shape;

#endif
