/* SPDX-License-Identifier: MIT */
/* plain.h - a socket without TLS, with the interface of tls.h. */
#ifndef WIRE_NET_PLAIN_H
#define WIRE_NET_PLAIN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text/err.h"
#include "wire/tls/tls.h"

enum tls_status plain_read(int fd, void *to, size_t n, size_t *ret_got, struct err *err);
enum tls_status plain_write(int fd, const void *from, size_t n, size_t *ret_put, struct err *err);

/* Reads and discards about `max` bytes; adds their number to *sum. */
enum tls_status plain_discard(int fd, size_t max, size_t *sum);

/* Whether the peer has closed or reset an accepted socket. */
bool plain_is_gone(int fd);

/* The result of a connect() in progress. */
int plain_connected(int fd, struct err *err);

#endif
