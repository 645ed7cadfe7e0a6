/* SPDX-License-Identifier: MIT */
/* ticket.h - the keys under which a server seals its session tickets, in a file,
 * so that clients resume after a restart and need no full handshake.
 *
 * Who has a key can forge a ticket, and with it be any client: the file is for
 * its owner only.  A new key is made each day and seals from then on; the older
 * ones still open, until every ticket of theirs has run out. */
#ifndef WIRE_TICKET_H
#define WIRE_TICKET_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum {
    TICKET_NAME_SIZE = 16,        /* stands open in the ticket */
    TICKET_SECRET_SIZE = 32,      /* of the MAC's key, and of the cipher's */
    TICKET_KEYS_MAX = 9,          /* the one of today and of 8 days before */
    TICKET_LIFE_S = 7 * 24 * 3600 /* of a ticket; TLS allows no more */
};

struct ticket_key {
    int64_t made_ms;
    unsigned char bytes[TICKET_NAME_SIZE + 2 * TICKET_SECRET_SIZE]; /* name, MAC, cipher */
};

struct tickets {
    size_t n;                                /* at least 1 */
    struct ticket_key keys[TICKET_KEYS_MAX]; /* newest first */
};

/* Reads the file, or makes it; when the newest key is a day old, adds another
 * and writes the file.  Call it at start and now and then.  A damaged file is an
 * error: whoever removes it costs each client one full handshake, no more. */
int tickets_keep(const char *path, int64_t now_ms, struct tickets *ret, struct err *err);

#endif
