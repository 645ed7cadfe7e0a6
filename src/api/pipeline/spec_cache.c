/* SPDX-License-Identifier: MIT */
/* spec_cache.c - see spec_cache.h. */
#include "api/pipeline/spec_cache.h"

#include <string.h>

#include "model/code.h"

void spec_cache_init(struct spec_cache *k, struct arena *a)
{
    *k = (struct spec_cache){ .arena = a };
}

void spec_cache_done(struct spec_cache *k)
{
    map_free(&k->by_text);
}

static int parse_spec(const struct spec_cache *k, const char *labels, const char *spec,
                      struct cached_spec *ret, struct err *err)
{
    if (proc_labels_read(labels, k->arena, &ret->labels, err) ||
        shape_read(&proc_spec_shape, spec, strlen(spec), 0, k->arena, &ret->spec, err)) {
        err_wrap(err, "what the host runs it by");
        err->code = CODE_SYSTEM;
        return -1;
    }
    return 0;
}

const struct cached_spec *spec_cache_read(struct spec_cache *k, const char *labels,
                                          const char *spec, struct err *err)
{
    const char *texts[2] = { labels, spec };
    struct cached_spec *one = map_find(&k->by_text, (const char *)texts, sizeof(texts));

    if (one)
        return one;
    one = arena_alloc(k->arena, sizeof(*one));
    if (parse_spec(k, labels ? labels : "{}", spec ? spec : "{}", one, err))
        return NULL;
    map_put(&k->by_text, arena_memdup(k->arena, (const char *)texts, sizeof(texts)), sizeof(texts),
            one);
    return one;
}

const struct cached_spec *spec_cache_of(struct spec_cache *k, const struct fleet_proc *p,
                                        struct err *err)
{
    if (p && p->spec)
        return spec_cache_read(k, p->labels, p->spec, err);
    err_set(err, CODE_NOT_REGISTERED, "process info not registered");
    return NULL;
}
