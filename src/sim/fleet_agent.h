/* SPDX-License-Identifier: MIT */
/* fleet_agent.h - one simulated agent: a real link (link/client.h), processes that are only
 * numbers (sim/fleet_procs.h), and a way to behave (sim/fleet_plan.h).
 *
 * It says what a real agent says: hello, its processes when they are wanted, taken and a
 * result for each command, events, output, pongs.  A result is kept until the server has
 * stored it; a command that comes again is answered from memory.  There is no journal: a
 * fleet that is started anew has forgotten what it was asked. */
#ifndef SIM_FLEET_AGENT_H
#define SIM_FLEET_AGENT_H

#include <sys/queue.h>

#include "base/loop.h"
#include "link/cancel.h"
#include "link/client.h"
#include "sim/fleet_counts.h"
#include "sim/fleet_plan.h"
#include "sim/fleet_procs.h"

/* What the agents of one process share. */
struct fleet_world {
    struct loop *loop;
    const struct fleet_settings *s;
    const struct fleet_plan *plan;
    const char *token;
    struct fleet_names names;
    struct fleet_counts counts;
    int64_t started_s;                                     /* wall time */
    struct err last_error;                                 /* of a link; code 0: none yet */
    char name[FLEET_NAME_SIZE], digest[FLEET_DIGEST_SIZE]; /* of the hello at hand */
};

struct fleet_deed;
struct fleet_told;
struct fleet_return;

struct fleet_agent {
    struct fleet_world *world;
    int64_t number;
    enum fleet_kind kind;
    struct client *client; /* NULL: not begun, or over */
    struct fleet_procs procs;
    struct timer timer; /* of what its kind does now and then */
    uint64_t random;
    uint64_t greeted;  /* the digest of the last hello */
    int64_t server_ms; /* the server's clock less ours */
    int64_t event_id;  /* of the last */
    size_t n_told;
    unsigned lie;                       /* the next one */
    bool is_settled, is_reached, is_up; /* the first two: once, for good */
    LIST_HEAD(, fleet_deed) deeds;
    STAILQ_HEAD(, fleet_told) told;
    LIST_HEAD(, fleet_return) returns;
};

/* In place; nothing is opened before fleet_agent_begin(), which reads or makes its identity. */
void fleet_agent_init(struct fleet_agent *a, struct fleet_world *w, int64_t number);
int fleet_agent_begin(struct fleet_agent *a, struct err *err);
void fleet_agent_done(struct fleet_agent *a); /* says goodbye */

/* A process dies, is told of, and is back after back_ms (-1: never).  False: it did not
 * run, or there is none of that number. */
bool fleet_agent_die(struct fleet_agent *a, size_t proc, int64_t back_ms);
bool fleet_agent_drop(struct fleet_agent *a); /* its session; false: it had none */

/* ---- among the files of fleet_agent */

void fleet_send(struct fleet_agent *a, unsigned type, const struct shape *s, const void *message);
void fleet_push(struct fleet_agent *a, const struct fleet_dummy *proc); /* it has changed */
int64_t fleet_wall_s(const struct fleet_agent *a);

/* fleet_deed.c: commands, and what came of them. */
void fleet_on_command(struct fleet_agent *a, const struct message_command *m);
void fleet_on_cancel(struct fleet_agent *a, const struct message_cancel *m);
void fleet_on_stored(struct fleet_agent *a, const struct message_ref *m);
void fleet_deeds_again(struct fleet_agent *a);         /* a new session: what is not stored yet */
int64_t fleet_deeds_open(const struct fleet_agent *a); /* how many are in work */
void fleet_deeds_done(struct fleet_agent *a);

/* fleet_told.c: events, in order, until they are stored. */
void fleet_tell(struct fleet_agent *a, const char *name, const char *text,
                const struct fleet_dummy *proc);
void fleet_on_event_stored(struct fleet_agent *a, int64_t id);
void fleet_told_again(struct fleet_agent *a);
void fleet_told_done(struct fleet_agent *a);

/* fleet_lies.c: what a liar says, one after the other; about the commands of others when it
 * is given one; and about its own, when it has told the truth. */
void fleet_lie(struct fleet_agent *a);
void fleet_lie_about(struct fleet_agent *a, const struct message_command *m);
void fleet_lie_again(struct fleet_agent *a, const struct message_command *m);

#endif
