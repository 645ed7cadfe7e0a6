/* SPDX-License-Identifier: MIT */
/* scopes.c - see scopes.h. */
#include "server/fleet/scopes.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem/mem.h"
#include "server/fleet/by_id.h"
#include "store/store_business.h"

enum { KINDS = SCOPE_BIZ_SET + 1, PAGE = 1000 };

struct scopes {
    const struct fleet *fleet;
    struct by_id kinds[KINDS]; /* struct scope, one block each, followed by name and businesses */
};

struct scopes *scopes_new(const struct fleet *fleet)
{
    struct scopes *s = xalloc(sizeof(*s));

    s->fleet = fleet;
    return s;
}

void scopes_free(struct scopes *s)
{
    if (!s)
        return;
    for (size_t k = 0; k < KINDS; k++) {
        for (size_t i = 0; i < s->kinds[k].n; i++)
            free(s->kinds[k].items[i]);
        by_id_done(&s->kinds[k]);
    }
    free(s);
}

/* ---- look-up */

const struct scope *scopes_find(const struct scopes *s, enum scope_kind kind, int64_t id)
{
    return by_id_find(&s->kinds[kind], id);
}

const struct scope *scopes_next(const struct scopes *s, enum scope_kind kind, int64_t after)
{
    return by_id_next(&s->kinds[kind], after);
}

static int scopes_compare_ids(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return x < y ? -1 : x > y;
}

static bool has_business(const struct scope *set, int64_t biz_id)
{
    return set->n_businesses &&
           bsearch(&biz_id, set->businesses, set->n_businesses, sizeof(biz_id), scopes_compare_ids);
}

const struct scope *scopes_set_with(const struct scopes *s, int64_t biz_id)
{
    const struct by_id *k = &s->kinds[SCOPE_BIZ_SET];

    for (size_t i = 0; i < k->n; i++) {
        if (has_business(k->items[i], biz_id))
            return k->items[i];
    }
    return NULL;
}

bool scopes_has(const struct scopes *s, enum scope_kind kind, int64_t id)
{
    if (id <= 0)
        return false;
    if (scopes_find(s, kind, id))
        return true;
    return kind == SCOPE_BIZ && s->fleet && fleet_in_business(s->fleet, id);
}

bool scopes_covers(const struct scopes *s, enum scope_kind kind, int64_t id, int64_t biz_id)
{
    const struct scope *set;

    if (kind == SCOPE_BIZ)
        return id == biz_id;
    set = scopes_find(s, kind, id);
    return set && has_business(set, biz_id);
}

/* ---- changes */

static struct scope *copy(const struct scope *from)
{
    size_t numbers = from->n_businesses * sizeof(*from->businesses), name = strlen(from->name) + 1;
    char *block = xalloc(sizeof(struct scope) + numbers + name);
    struct scope *to = (struct scope *)(void *)block;
    int64_t *ids = (int64_t *)(void *)(block + sizeof(*to));

    if (numbers)
        memcpy(ids, from->businesses, numbers);
    if (numbers)
        qsort(ids, from->n_businesses, sizeof(*ids), scopes_compare_ids);
    memcpy(block + sizeof(*to) + numbers, from->name, name);
    *to = (struct scope){ from->id, block + sizeof(*to) + numbers, ids, from->n_businesses };
    return to;
}

void scopes_put(struct scopes *s, enum scope_kind kind, const struct scope *scope)
{
    free(by_id_put(&s->kinds[kind], copy(scope)));
}

void scopes_del(struct scopes *s, enum scope_kind kind, int64_t id)
{
    free(by_id_del(&s->kinds[kind], id));
}

/* ---- loading */

/* "1 2 3", as in store_business.h. */
static size_t read_ids(const char *text, struct arena *a, int64_t **ret)
{
    size_t n = 0, max = strlen(text) / 2 + 1;
    char *end;

    *ret = arena_alloc(a, max * sizeof(**ret));
    for (; *text && n < max; text = end + (*end == ' ')) {
        (*ret)[n] = strtoll(text, &end, 10);
        if (end == text)
            break;
        n++;
    }
    return n;
}

static int load_page(struct scopes *s, struct store *store, enum scope_kind kind, int64_t *after,
                     size_t *ret_n, struct err *err)
{
    const struct business_page page = { *after, PAGE };
    struct arena a = { 0 };
    struct list rows = { 0 };
    const struct business_row *row;
    int64_t *ids;

    if (store_sync(store, kind == SCOPE_BIZ ? &store_business_list : &store_business_set_list,
                   &page, &a, &rows, err))
        return err_wrap(err, kind == SCOPE_BIZ ? "load businesses" : "load business sets");
    row = rows.items;
    for (size_t i = 0; i < rows.n; i++) {
        size_t n = read_ids(row[i].businesses, &a, &ids);

        scopes_put(s, kind, &(struct scope){ row[i].id, row[i].name, ids, n });
        *after = row[i].id;
    }
    *ret_n = rows.n;
    arena_free(&a);
    return 0;
}

int scopes_load(struct scopes *s, struct store *store, struct err *err)
{
    for (size_t k = 0; k < KINDS; k++) {
        int64_t after = 0;
        size_t n = PAGE;

        while (n == PAGE) {
            if (load_page(s, store, (enum scope_kind)k, &after, &n, err))
                return -1;
        }
    }
    return 0;
}
