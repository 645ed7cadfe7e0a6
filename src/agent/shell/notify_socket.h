/* SPDX-License-Identifier: MIT */
/* notify_socket.h - the socket for READY=1 messages, read by its own threads.
 *
 * Its name is abstract, so every user of the host can send to it, descriptors included. The kernel
 * closes these in the thread that receives the message, and the close can block as long as the
 * sender likes: a TCP socket with SO_LINGER and unread data, a file on a network disk that does not
 * answer. So the loop neither receives from this socket nor closes it.
 *
 * Kernels since 6.16 can refuse descriptors (SO_PASSRIGHTS). On older ones one thread receives and
 * a second one guards it. After NOTIFY_SOCKET_SLOW_MS the guard interrupts the close by a signal,
 * which ends the wait of a TCP socket. A receiver that has not returned after
 * NOTIFY_SOCKET_STUCK_MS is replaced, up to NOTIFY_SOCKET_RECEIVERS threads. When all of them hang,
 * which takes descriptors whose close no signal interrupts, no readiness is received until one
 * returns; everything else works.
 *
 * Messages with descriptors are ignored, as on newer kernels, where they never arrive. Otherwise a
 * sender could delay its message until its pid is reused. */
#ifndef AGENT_SHELL_NOTIFY_SOCKET_H
#define AGENT_SHELL_NOTIFY_SOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/io/loop.h"
#include "base/text/err.h"

enum {
    NOTIFY_SOCKET_SLOW_MS = 10, /* a message normally takes some microseconds */
    NOTIFY_SOCKET_STUCK_MS = 50,
    NOTIFY_SOCKET_RECEIVERS = 8,
};

struct notify_socket;

/* Called on the loop when a process reports that it is ready; main_pid 0: no MAINPID=. */
typedef void notify_socket_fn(void *arg, pid_t pid, int64_t main_pid);

/* The name is derived from `dir`, so it stays the same over restarts of the agent: a process may
 * send while the agent restarts. If another program uses the name, a new one is chosen. */
int notify_socket_new(struct loop *loop, const char *dir, notify_socket_fn *fn, void *arg,
                      struct notify_socket **ret, struct err *err);

/* Waits wait_ms at most. False: a thread hangs, and its memory is not freed. Messages not passed on
 * are lost. NULL is allowed. */
bool notify_socket_free(struct notify_socket *s, int64_t wait_ms);

const char *notify_socket_name(const struct notify_socket *s); /* "@name" */

/* Parses READY=1 and MAINPID= in lines NAME=value; modifies the text. False: no READY=1. */
bool notify_socket_parse(char *text, int64_t *ret_main_pid);

#endif
