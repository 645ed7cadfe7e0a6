/* SPDX-License-Identifier: MIT */
/* versions.h - how many agents of each version are connected.  What a version is called an
 * agent may choose, so there is room for a few; all further ones are one, "other". */
#ifndef SERVER_VERSIONS_H
#define SERVER_VERSIONS_H

#include <stdint.h>

enum { VERSIONS_MAX = 32, VERSION_SIZE = 32 };

struct version {
    int64_t n; /* 0: the place is free */
    char text[VERSION_SIZE];
};

struct versions {                     /* all zeroes is empty */
    struct version all[VERSIONS_MAX]; /* the first stands for all that are not among the others */
};

/* Where it is counted, to be given back. */
int versions_add(struct versions *v, const char *text);
void versions_del(struct versions *v, int at);

#endif
