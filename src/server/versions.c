/* SPDX-License-Identifier: MIT */
/* versions.c - see versions.h. */
#include "server/versions.h"

#include <stdio.h>
#include <string.h>

static const char other[] = "other";

/* Its place, or one that it may have; 0: there is none.  One that calls itself what those are
 * called is one of them: of two numbers with one name Prometheus takes neither, nor any other. */
static int find(const struct versions *v, const char *text)
{
    int room = 0;

    if (!*text || strlen(text) >= VERSION_SIZE || !strcmp(text, other))
        return 0;
    for (int i = VERSIONS_MAX - 1; i > 0; i--) {
        if (v->all[i].n > 0 && !strcmp(v->all[i].text, text))
            return i;
        if (!v->all[i].n)
            room = i;
    }
    return room;
}

int versions_add(struct versions *v, const char *text)
{
    int at = find(v, text);

    if (!v->all[at].n)
        snprintf(v->all[at].text, VERSION_SIZE, "%s", at ? text : other);
    v->all[at].n++;
    return at;
}

void versions_del(struct versions *v, int at)
{
    v->all[at].n--;
}
