/* SPDX-License-Identifier: MIT */
/* task_join.c - see task_join.h. */
#include "server/task_join.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/task.h"
#include "server/task_coming.h"
#include "server/task_in.h"

/* Agents that a process is coming to. */
struct coming {
    TAILQ_HEAD(, join_key) keys; /* in the order in which it was asked for; never empty */
    size_t n, len;
    char text[]; /* namespace and name, as a key ends */
};

/* A process of an agent, while an open task is about it. */
struct join_key {
    struct live *last;     /* the latest task; the ones before it are overtaken */
    struct coming *coming; /* NULL: no task of these makes it known */
    TAILQ_ENTRY(join_key) link;
    size_t refs, len;
    char text[]; /* the agent comes first */
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

static void write_key(struct buf *to, const char *agent, const char *space, const char *name)
{
    buf_truncate(to, 0);
    add_text(to, agent);
    add_text(to, space);
    add_text(to, name);
}

/* ---- what tasks are to make known */

static void come(struct tasks *t, struct join_key *k)
{
    size_t skip = strlen(k->text) + 1, len = k->len - skip;

    k->coming = map_find(&t->coming, k->text + skip, len);
    if (!k->coming) {
        k->coming = xalloc(sizeof(*k->coming) + len);
        TAILQ_INIT(&k->coming->keys);
        k->coming->len = len;
        memcpy(k->coming->text, k->text + skip, len);
        map_put(&t->coming, k->coming->text, len, k->coming);
    }
    TAILQ_INSERT_TAIL(&k->coming->keys, k, link);
    k->coming->n++;
}

static void come_no_more(struct tasks *t, struct join_key *k)
{
    struct coming *c = k->coming;

    TAILQ_REMOVE(&c->keys, k, link);
    if (--c->n)
        return;
    map_del(&t->coming, c->text, c->len);
    free(c);
}

/* One that was refused is not, nor one of no agent. */
static bool is_to_come(const struct task_item_row *row)
{
    return *row->agent_id && row->state != STORE_ITEM_DONE && task_makes_known(row->op);
}

bool tasks_is_coming(const struct tasks *t, const char *agent, const char *space, const char *name)
{
    const struct join_key *k;
    struct buf text = { 0 };

    write_key(&text, agent, space, name);
    k = map_find(&t->keys, buf_data(&text), text.len);
    buf_free(&text);
    return k && k->coming;
}

size_t tasks_coming(const struct tasks *t, const char *space, const char *name, struct arena *a,
                    const char ***ret)
{
    const struct coming *c;
    const struct join_key *k;
    struct buf text = { 0 };
    size_t n = 0;

    add_text(&text, space);
    add_text(&text, name);
    c = map_find(&t->coming, buf_data(&text), text.len);
    buf_free(&text);
    *ret = arena_alloc(a, (c ? c->n : 0) * sizeof(**ret));
    for (k = c ? TAILQ_FIRST(&c->keys) : NULL; k; k = TAILQ_NEXT(k, link))
        (*ret)[n++] = k->text;
    return n;
}

/* ---- from the ask to the end */

void join_add(struct live *live, const struct list *rows)
{
    const struct task_item_row *row = rows->items;
    struct buf text = { 0 };

    for (size_t i = 0; i < rows->n; i++) {
        write_key(&text, *row[i].agent_id ? row[i].agent_id : row[i].key, row[i].space,
                  row[i].name);
        overtake(live, &live->items[i], &text);
        if (!live->items[i].key->coming && is_to_come(&row[i]))
            come(live->tasks, live->items[i].key);
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
    if (k->coming)
        come_no_more(live->tasks, k);
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
