/* SPDX-License-Identifier: MIT */
/* hub_copy.c - see hub_copy.h. */
#include "server/dispatch/hub_copy.h"

#include <stdlib.h>

static void keep_names(struct hub_item *item, struct arena *a)
{
    size_t agent = item->agent ? strlen(item->agent) + 1 : 0;
    size_t space = strlen(item->meta.space) + 1, name = strlen(item->meta.name) + 1;
    char *to = arena_alloc(a, agent + space + name);

    if (agent)
        item->agent = memcpy(to, item->agent, agent);
    item->meta.space = memcpy(to + agent, item->meta.space, space);
    item->meta.name = memcpy(to + agent + space, item->meta.name, name);
}

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
    to->text = arena_strdup(a, from->text ? from->text : "");
    to->signal = from->signal ? arena_strdup(a, from->signal) : NULL;
    keep_names(to, a);
    to->meta.labels = (struct list){ 0 }; /* in the store; agents do not need them */
    if (from->code != CODE_WAITING) {
        proc_view_keep(&to->view, a);
        return;
    }
    shape_defaults(&proc_view_shape, &to->view);
    to->view.space = to->meta.space;
    to->view.name = to->meta.name;
}
