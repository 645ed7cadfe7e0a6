/* SPDX-License-Identifier: MIT */
/* agents_nets.h - the networks that strangers come from.
 *
 * An accepted connection waits as a bare socket until its ClientHello is complete
 * (wire/net/hello.h).  So a silent connection costs a descriptor and no place in a queue.  When
 * descriptors run out, the oldest silent connection of the network that has most of them is closed.
 *
 * A relay has thousands of agents behind one address, and an attacker may use one address too.  So
 * at most NET_MAX connections of a network are strangers at one time.  The others wait, oldest
 * first; networks take turns, so one network does not block the others.  Handshakes that stall
 * while others wait are dropped (peers_squeeze()). */
#ifndef SERVER_SESSIONS_AGENTS_NETS_H
#define SERVER_SESSIONS_AGENTS_NETS_H

#include "server/sessions/agents_state.h"

struct net *net_get(struct agents *a, const struct address *peer);
void net_drop_idle(struct agents *a, struct net *n); /* may free the net */
void net_note_failure(struct agents *a, struct net *n);
bool net_check_blocked(struct agents *a, struct net *n);
/* Waits for its ClientHello; then on_queued() is called, and it waits for its handshake.  False:
 * there is no room; the caller closes the socket. */
typedef void net_queued_fn(struct agents *a);
bool net_park(struct agents *a, struct net *n, int fd, const struct address *from,
              net_queued_fn *on_queued);
bool net_is_full(const struct net *n); /* its sockets wait until one of its strangers is gone */

/* Takes the next socket that may have its handshake, networks in turn.  The caller owns the
 * descriptor.  False: none. */
bool nets_take(struct agents *a, int *ret_fd, struct address *ret_from, struct net **ret_net);

void nets_sweep(struct agents *a); /* drops idle networks, and connections that waited too long */
void nets_free(struct agents *a);

#endif
