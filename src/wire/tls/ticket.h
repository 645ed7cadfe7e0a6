/* SPDX-License-Identifier: MIT */
/* ticket.h - the keys that encrypt a server's TLS session tickets, stored in a file, so that
 * clients can resume sessions after a restart of the server.
 *
 * With a key one can forge a ticket and impersonate any client: only the owner may read the
 * file.  A new key is made each day and encrypts from then on; older ones still decrypt, until
 * all their tickets have expired. */
#ifndef WIRE_TLS_TICKET_H
#define WIRE_TLS_TICKET_H

#include <stddef.h>
#include <stdint.h>

#include "base/text/err.h"

enum {
    TICKET_NAME_SIZE = 16,        /* in the ticket, in plain text */
    TICKET_SECRET_SIZE = 32,      /* of the MAC's key, and of the cipher's key */
    TICKET_KEYS_MAX = 9,          /* today's key and those of the 8 days before */
    TICKET_LIFE_S = 7 * 24 * 3600 /* lifetime of a ticket; TLS allows no more */
};

struct ticket_key {
    int64_t made_ms;
    unsigned char bytes[TICKET_NAME_SIZE + 2 * TICKET_SECRET_SIZE]; /* name, MAC key, cipher key */
};

struct tickets {
    size_t n;                                /* at least 1 */
    struct ticket_key keys[TICKET_KEYS_MAX]; /* newest first */
};

/* Reads the file, or creates it.  If the newest key is a day old, adds another and writes the
 * file.  Call it at start and then periodically, with `t` all zeroes at first.  A file that
 * cannot be read (damaged, of another format, a folder, no permission, readable by others) is
 * replaced by the keys in `t`, or by new ones if there are none, which costs each client one
 * full handshake.  If the file cannot be written, the keys stay in memory.  In both cases the
 * result is -1 and *err says why; `t` is valid in any case. */
int tickets_keep(const char *path, int64_t now_ms, struct tickets *t, struct err *err);

#endif
