/* SPDX-License-Identifier: MIT */
/* agent_local.h - control by those on the host itself, over a unix socket, also with no
 * server in sight (link/local.h has what is said).  For the agent's own sources.
 *
 * Who may: root, the agent's own user, and members of the group of the settings.  First the
 * file says so: mode 0600, with a group 0660 and that group's.  Then, whatever has become
 * of the file's mode, the kernel is asked on every connection who is at the other end:
 * SO_PEERCRED, and SO_PEERGROUPS for the other groups he had when he connected.  That
 * asks no directory and so blocks nobody; where a kernel does not tell groups (before 4.13)
 * the file's mode decides.  Others get an error and are closed.
 *
 * Bounded: connections at once, of all and of each user, the size of a question, the time
 * for it, what waits to be read.  Whoever stalls or floods costs others nothing.
 *
 * A socket's file that an agent before us left is replaced; data_dir's lock keeps a second
 * agent away.  Where the socket can not be made, that is logged, and all else goes on. */
#ifndef AGENT_AGENT_LOCAL_H
#define AGENT_AGENT_LOCAL_H

#include <stdbool.h>
#include <sys/types.h>

#include "agent/user.h"
#include "wire/shape.h"

struct agent;
struct local;

/* Whose name is looked up, by agent_help.h's thread. */
struct local_name {
    uid_t uid;
    char text[USER_NAME_SIZE];
};

struct local *local_new(struct agent *a); /* as the options say; never NULL */
void local_free(struct local *l);         /* NULL is fine */
void local_set(struct local *l);          /* the options may have changed */

/* Whether it is about an operation of somebody on the host, and so not for a server. */
bool local_send(struct local *l, unsigned type, const struct shape *s, const void *message);
void local_on_name(struct local *l, const struct local_name *name);

#endif
