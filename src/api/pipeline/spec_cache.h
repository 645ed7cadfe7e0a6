/* SPDX-License-Identifier: MIT */
/* spec_cache.h - specs and labels of the fleet's processes, parsed from JSON.  Processes with equal
 * texts share one parsed copy, and a task then stores one spec for all of them. */
#ifndef API_PIPELINE_SPEC_CACHE_H
#define API_PIPELINE_SPEC_CACHE_H

#include "base/mem/map.h"
#include "model/proc.h"
#include "server/fleet/fleet.h"

struct cached_spec {
    struct proc_spec spec;
    struct list labels; /* set together with the spec, by registration or operation */
};

struct spec_cache {
    struct arena *arena;
    struct map by_text; /* key: the addresses of labels and spec; the fleet has each text once */
};

void spec_cache_init(struct spec_cache *k, struct arena *a);
void spec_cache_done(struct spec_cache *k); /* parsed specs stay in the arena */

/* A text may be NULL: no labels, or an empty spec.  Returns NULL if the stored text can not be
 * parsed (CODE_SYSTEM). */
const struct cached_spec *spec_cache_read(struct spec_cache *k, const char *labels,
                                          const char *spec, struct err *err);

/* Returns NULL if p is NULL or has no spec (CODE_NOT_REGISTERED), or the stored text can not be
 * parsed (CODE_SYSTEM). */
const struct cached_spec *spec_cache_of(struct spec_cache *k, const struct fleet_proc *p,
                                        struct err *err);

#endif
