/* SPDX-License-Identifier: MIT */
/* tls_reason.h - why OpenSSL has failed, for those that use it.  Its queue of
 * errors belongs to the thread: it is cleared before an operation, and read only
 * right after one. */
#ifndef WIRE_TLS_REASON_H
#define WIRE_TLS_REASON_H

/* In words, of an error of the queue; 0 is none. */
const char *tls_reason(unsigned long e);

/* The oldest error in the queue is the cause; later ones are its consequences. */
const char *tls_first_reason(void);

/* A passphrase callback.  A key under a passphrase is refused; without this
 * OpenSSL would ask for it on the terminal, and the daemon would hang. */
int tls_no_passphrase(char *to, int size, int writing, void *arg);

#endif
