/* SPDX-License-Identifier: MIT */
/* tls_reason.h - OpenSSL's error queue as text.  The queue belongs to the thread: it is cleared
 * before an operation, and read only right after one. */
#ifndef WIRE_TLS_TLS_REASON_H
#define WIRE_TLS_TLS_REASON_H

/* Text of an error of the queue; 0: no error. */
const char *tls_reason(unsigned long e);

/* Text of the oldest error in the queue, which is the cause; later ones are consequences. */
const char *tls_first_reason(void);

/* A passphrase callback that refuses encrypted keys.  Without it OpenSSL would prompt on the
 * terminal, and the daemon would hang. */
int tls_no_passphrase(char *to, int size, int writing, void *arg);

#endif
