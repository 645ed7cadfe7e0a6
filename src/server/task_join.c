/* SPDX-License-Identifier: MIT */
/* task_join.c - see task_join.h. */
#include "server/task_join.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "server/task_in.h"

/* A process of an agent, while an open task is about it. */
struct join_key {
    struct live *last; /* the latest task; the ones before it are overtaken */
    size_t refs, len;
    char text[];
};

static void add_text(struct buf *b, const char *text)
{
    buf_add(b, text, strlen(text) + 1);
}

static void add_number(struct buf *b, int64_t number)
{
    buf_add(b, &number, sizeof(number));
}

void join_digest(const struct task_create_ask *rows, char to[DIGEST_TEXT_SIZE])
{
    const struct task_spec_row *specs = rows->specs.items;
    const struct task_item_row *items = rows->items.items;
    struct buf b = { 0 };

    add_text(&b, rows->task.app);
    add_number(&b, rows->task.form);
    add_number(&b, rows->task.idempotent);
    for (size_t i = 0; i < rows->specs.n; i++)
        add_text(&b, specs[i].spec);
    for (size_t i = 0; i < rows->items.n; i++) {
        add_text(&b, items[i].agent_id);
        add_text(&b, items[i].key);
        add_text(&b, items[i].space);
        add_text(&b, items[i].name);
        add_number(&b, items[i].op);
        add_number(&b, items[i].spec_n);
    }
    digest_sha256_text(buf_data(&b), b.len, to);
    buf_free(&b);
}

struct live *join_find(struct tasks *t, const char *digest)
{
    struct live *live = map_find_str(&t->by_digest, digest);

    return live && !live->is_overtaken ? live : NULL;
}

static struct join_key *get_key(struct tasks *t, const struct buf *text)
{
    struct join_key *k = map_find(&t->keys, buf_data(text), text->len);

    if (!k) {
        k = xalloc(sizeof(*k) + text->len);
        k->len = text->len;
        memcpy(k->text, buf_data(text), text->len);
        map_put(&t->keys, k->text, k->len, k);
    }
    k->refs++;
    return k;
}

static void overtake(struct live *live, struct live_item *item, const struct buf *text)
{
    item->key = get_key(live->tasks, text);
    if (item->key->last && item->key->last != live)
        item->key->last->is_overtaken = true;
    item->key->last = live;
}

void join_add(struct live *live, const struct list *rows)
{
    const struct task_item_row *row = rows->items;
    struct buf text = { 0 };

    for (size_t i = 0; i < rows->n; i++) {
        buf_truncate(&text, 0);
        add_text(&text, *row[i].agent_id ? row[i].agent_id : row[i].key);
        add_text(&text, row[i].space);
        add_text(&text, row[i].name);
        overtake(live, &live->items[i], &text);
    }
    buf_free(&text);
    map_put_str(&live->tasks->by_digest, live->digest, live);
}

static void put_key(struct live *live, struct join_key *k)
{
    if (k->last == live)
        k->last = NULL;
    if (--k->refs)
        return;
    map_del(&live->tasks->keys, k->text, k->len);
    free(k);
}

void join_drop(struct live *live)
{
    struct map *by_digest = &live->tasks->by_digest;

    if (map_find_str(by_digest, live->digest) == live)
        map_del_str(by_digest, live->digest);
    for (size_t i = 0; i < live->n; i++) {
        if (live->items[i].key)
            put_key(live, live->items[i].key);
        live->items[i].key = NULL;
    }
}
