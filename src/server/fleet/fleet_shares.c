/* SPDX-License-Identifier: MIT */
/* fleet_shares.c - see fleet_shares.h. */
#include "server/fleet/fleet_shares.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem/mem.h"

struct space *space_find(const struct fleet *f, const char *name)
{
    return map_find_str(&f->spaces, name);
}

static struct space *space_get(struct fleet *f, const char *name)
{
    struct space *s = space_find(f, name);
    size_t size = strlen(name) + 1;

    if (s)
        return s;
    s = xalloc(sizeof(*s) + size);
    memcpy(s->name, name, size);
    map_put_str(&f->spaces, s->name, s);
    return s;
}

struct share *share_find(const struct fleet *f, struct space *s, int64_t biz_id)
{
    const struct share_key key = { s, biz_id };

    return map_find(&f->shares, (const char *)&key, sizeof(key));
}

static struct share *share_get(struct fleet *f, struct space *s, int64_t biz_id)
{
    struct share *share = share_find(f, s, biz_id);

    if (share)
        return share;
    share = xalloc(sizeof(*share));
    share->key = (struct share_key){ s, biz_id };
    map_put(&f->shares, (const char *)&share->key, sizeof(share->key), share);
    return share;
}

struct share *share_enter(struct host *h, const char *space)
{
    struct space *s = space_get(h->fleet, space);
    struct share *share = share_get(h->fleet, s, h->pub.biz_id);

    host_index_add(&s->host_index, &h->pub, 1);
    host_index_add(&share->host_index, &h->pub, 1);
    return share;
}

static void share_free(struct fleet *f, struct share *share)
{
    map_del(&f->shares, (const char *)&share->key, sizeof(share->key));
    host_index_free(&share->host_index);
    free(share);
}

void share_leave(struct host *h, struct share *share)
{
    struct space *s = share->key.space;

    host_index_sub(&s->host_index, &h->pub, 1);
    host_index_sub(&share->host_index, &h->pub, 1);
    if (!share->host_index.total)
        share_free(h->fleet, share);
    if (s->host_index.total)
        return;
    map_del_str(&h->fleet->spaces, s->name);
    host_index_free(&s->host_index);
    free(s);
}
