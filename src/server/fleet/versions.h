/* SPDX-License-Identifier: MIT */
/* versions.h - the number of connected agents by version.  Agents choose the name of their version,
 * so only a few names are counted separately; all others count as "other". */
#ifndef SERVER_FLEET_VERSIONS_H
#define SERVER_FLEET_VERSIONS_H

#include <stdint.h>

enum { VERSIONS_MAX = 32, VERSION_SIZE = 32 };

struct version {
    int64_t n; /* 0: unused */
    char text[VERSION_SIZE];
};

struct versions {                     /* all zeroes: empty */
    struct version all[VERSIONS_MAX]; /* the first is "other" */
};

/* Returns the index that counts it, for versions_leave(). */
int versions_add(struct versions *v, const char *text);
void versions_del(struct versions *v, int at);

#endif
