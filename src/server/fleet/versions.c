/* SPDX-License-Identifier: MIT */
/* versions.c - see versions.h. */
#include "server/fleet/versions.h"

#include <stdio.h>
#include <string.h>

static const char other[] = "other";

/* Its index, or a free one; 0: none is free.  A version named like the catch-all counts there:
 * Prometheus rejects a scrape with two series of one name. */
static int versions_find(const struct versions *v, const char *text)
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
    int at = versions_find(v, text);

    if (!v->all[at].n)
        snprintf(v->all[at].text, VERSION_SIZE, "%s", at ? text : other);
    v->all[at].n++;
    return at;
}

void versions_del(struct versions *v, int at)
{
    v->all[at].n--;
}
