/* SPDX-License-Identifier: MIT */
/* hub_copy.c - see hub_copy.h. */
#include "server/hub_copy.h"

#include <stdlib.h>

void hub_item_copy(struct hub_item *to, const struct hub_item *from, struct map *specs,
                   struct arena *a)
{
    void *spec = map_find(specs, (const char *)&from->spec, sizeof(from->spec));

    if (!spec) {
        spec = arena_alloc(a, sizeof(struct proc_spec));
        proc_spec_copy(from->spec, a, spec);
        map_put(specs, (const char *)&from->spec, sizeof(from->spec), spec);
    }
    *to = *from;
    to->spec = spec;
    to->key = arena_strdup(a, from->key);
    to->agent = from->agent ? arena_strdup(a, from->agent) : NULL;
    to->text = arena_strdup(a, from->text ? from->text : "");
    to->meta.space = arena_strdup(a, from->meta.space);
    to->meta.name = arena_strdup(a, from->meta.name);
    to->meta.labels = (struct list){ 0 }; /* the store keeps them; an agent has no use for them */
    if (from->code != CODE_WAITING) {
        proc_view_keep(&to->view, a);
        return;
    }
    shape_defaults(&proc_view_shape, &to->view);
    to->view.space = to->meta.space;
    to->view.name = to->meta.name;
}
