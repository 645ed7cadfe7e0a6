/* SPDX-License-Identifier: MIT */
/* fleet_agent.h - one simulated agent: a real link (link/client.h), processes that are only numbers
 * (fleetsim/fleet_procs.h), and a behaviour (fleetsim/fleet_plan.h).
 *
 * It sends what a real agent sends: hello, its processes when they are wanted, taken and a result
 * for each command, events, output, pongs.  A result is kept until the server has stored it; a
 * repeated command is answered from memory.  There is no journal: a restarted fleet has forgotten
 * its commands. */
#ifndef FLEETSIM_FLEET_AGENT_H
#define FLEETSIM_FLEET_AGENT_H

#include <sys/queue.h>

#include "base/io/loop.h"
#include "fleetsim/fleet_counts.h"
#include "fleetsim/fleet_plan.h"
#include "fleetsim/fleet_procs.h"
#include "link/client.h"
#include "link/message.h"

/* Shared by the agents of one process. */
struct fleet_world {
    struct loop *loop;
    const struct fleet_settings *s;
    const struct fleet_plan *plan;
    const char *token;
    struct fleet_names names;
    struct fleet_counts counts;
    int64_t started_s;                                     /* wall time, seconds */
    struct err last_error;                                 /* last error of a link; code 0: none */
    char name[FLEET_NAME_SIZE], digest[FLEET_DIGEST_SIZE]; /* buffers for fill_hello() */
};

struct fleet_command;
struct fleet_event;
struct fleet_return;

struct fleet_agent {
    struct fleet_world *world;
    int64_t number;
    enum fleet_kind kind;
    struct client *client; /* NULL: not started, or ended */
    struct fleet_procs procs;
    struct timer timer; /* periodic behaviour of its kind */
    uint64_t random;
    uint64_t greeted;  /* hash in the digest of the last hello */
    int64_t server_ms; /* the server's clock minus ours */
    int64_t event_id;  /* id of the last event */
    size_t n_events;
    unsigned lie;                       /* index of the next lie */
    bool is_settled, is_reached, is_up; /* is_settled and is_reached are never reset */
    LIST_HEAD(, fleet_command) commands;
    STAILQ_HEAD(, fleet_event) events;
    LIST_HEAD(, fleet_return) returns;
};

/* Initializes in place; fleet_agent_begin() reads or makes the identity and opens the link. */
void fleet_agent_init(struct fleet_agent *a, struct fleet_world *w, int64_t number);
int fleet_agent_begin(struct fleet_agent *a, struct err *err);
void fleet_agent_done(struct fleet_agent *a); /* sends a goodbye */

/* Kills a process, reports it, and restarts it after back_ms (-1: never).  False: it is not
 * running, or there is none with that index. */
bool fleet_agent_die(struct fleet_agent *a, size_t proc, int64_t back_ms);
bool fleet_agent_drop(struct fleet_agent *a); /* drops its session; false: it has none */

/* ---- shared by the sources of fleet_agent */

void fleet_send(struct fleet_agent *a, unsigned type, const struct shape *s, const void *message);
void fleet_push(struct fleet_agent *a,
                const struct fleet_dummy *proc); /* reports a changed process */
int64_t fleet_wall_s(const struct fleet_agent *a);

/* fleet_command.c: commands and their results. */
void fleet_on_command(struct fleet_agent *a, const struct message_command *m);
void fleet_on_cancel(struct fleet_agent *a, const struct message_cancel *m);
void fleet_on_stored(struct fleet_agent *a, const struct message_ref *m);
void fleet_commands_resend(struct fleet_agent *a); /* new session: repeats unstored results */
int64_t fleet_commands_open(const struct fleet_agent *a); /* number in progress */
void fleet_commands_done(struct fleet_agent *a);

/* fleet_event.c: events, sent in order until they are stored. */
void fleet_event_send(struct fleet_agent *a, const char *name, const char *text,
                      const struct fleet_dummy *proc);
void fleet_on_event_stored(struct fleet_agent *a, int64_t id);
void fleet_events_resend(struct fleet_agent *a);
void fleet_events_done(struct fleet_agent *a);

/* fleet_lies.c: fleet_lie() sends the next false message of a lying agent; fleet_lie_about() sends
 * false results about the commands of other agents; fleet_lie_again() contradicts its own
 * result. */
void fleet_lie(struct fleet_agent *a);
void fleet_lie_about(struct fleet_agent *a, const struct message_command *m);
void fleet_lie_again(struct fleet_agent *a, const struct message_command *m);

#endif
