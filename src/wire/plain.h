/* SPDX-License-Identifier: MIT */
/* plain.h - a socket without TLS, in the terms of tls.h. */
#ifndef WIRE_PLAIN_H
#define WIRE_PLAIN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "wire/tls.h"

enum tls_status plain_read(int fd, void *to, size_t n, size_t *ret_got, struct err *err);
enum tls_status plain_write(int fd, const void *from, size_t n, size_t *ret_put, struct err *err);

/* Reads and throws away, `max` bytes or little more; adds how many they were. */
enum tls_status plain_discard(int fd, size_t max, size_t *sum);

/* Whether the peer of an accepted socket has ended or broken it by now. */
bool plain_is_gone(int fd);

/* What has come of a connect() that was under way. */
int plain_connected(int fd, struct err *err);

#endif
