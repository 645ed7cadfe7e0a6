/* SPDX-License-Identifier: MIT */
/* known.c - see known.h. */
#include "api/known.h"

#include <string.h>

#include "model/code.h"

void knowns_init(struct knowns *k, struct arena *a)
{
    *k = (struct knowns){ .arena = a };
}

void knowns_done(struct knowns *k)
{
    map_free(&k->by_text);
}

static int read_labels(const struct knowns *k, const char *labels, struct list *ret,
                       struct err *err)
{
    struct proc_meta meta;
    struct buf json = { 0 };
    int failed;

    buf_printf(&json, "{\"namespace\":\"n\",\"name\":\"n\",\"labels\":%s}", labels);
    failed = shape_read(&proc_meta_shape, buf_data(&json), json.len, 0, k->arena, &meta, err);
    buf_free(&json);
    if (!failed)
        *ret = meta.labels;
    return failed;
}

static int read_one(const struct knowns *k, const char *labels, const char *spec, struct known *ret,
                    struct err *err)
{
    if (read_labels(k, labels, &ret->labels, err) ||
        shape_read(&proc_spec_shape, spec, strlen(spec), 0, k->arena, &ret->spec, err)) {
        err_wrap(err, "what the host runs it by");
        err->code = CODE_SYSTEM;
        return -1;
    }
    return 0;
}

const struct known *known_read(struct knowns *k, const char *labels, const char *spec,
                               struct err *err)
{
    const char *texts[2] = { labels, spec };
    struct known *one = map_find(&k->by_text, (const char *)texts, sizeof(texts));

    if (one)
        return one;
    one = arena_alloc(k->arena, sizeof(*one));
    if (read_one(k, labels ? labels : "{}", spec ? spec : "{}", one, err))
        return NULL;
    map_put(&k->by_text, arena_memdup(k->arena, (const char *)texts, sizeof(texts)), sizeof(texts),
            one);
    return one;
}

const struct known *known_of(struct knowns *k, const struct fleet_proc *p, struct err *err)
{
    if (p && p->spec)
        return known_read(k, p->labels, p->spec, err);
    err_set(err, CODE_NOT_REGISTERED, "process info not registered");
    return NULL;
}
