/* SPDX-License-Identifier: MIT */
/* thread.h - starts threads with all signals blocked: signals are delivered to the loop's
 * thread. */
#ifndef BASE_IO_THREAD_H
#define BASE_IO_THREAD_H

#include <pthread.h>

#include "base/text/err.h"

/* The caller must join the thread. */
int thread_start(void *(*run)(void *arg), void *arg, pthread_t *ret, struct err *err);

/* The thread cannot be joined. */
int thread_start_detached(void *(*run)(void *arg), void *arg, struct err *err);

/* For a thread that may wait in the kernel for longer than it should, in the close of a socket,
 * say: from then on thread_interrupt() ends waits of the calling thread that a signal can end.
 * SIGURG is used for it; its handler does nothing. */
void thread_allow_interrupts(void);
void thread_interrupt(pthread_t thread); /* it must not have ended */

#endif
