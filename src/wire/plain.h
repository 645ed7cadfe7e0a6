/* SPDX-License-Identifier: MIT */
/* plain.h - a socket without TLS, in the terms of tls.h. */
#ifndef WIRE_PLAIN_H
#define WIRE_PLAIN_H

#include <stddef.h>

#include "base/err.h"
#include "wire/tls.h"

enum tls_status plain_read(int fd, void *to, size_t n, size_t *ret_got, struct err *err);
enum tls_status plain_write(int fd, const void *from, size_t n, size_t *ret_put, struct err *err);

#endif
