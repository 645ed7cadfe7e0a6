/* SPDX-License-Identifier: MIT */
/* task_join.c - see task_join.h. */
#include "server/dispatch/task_join.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem/mem.h"
#include "model/operation.h"
#include "model/task.h"
#include "server/dispatch/task_coming.h"
#include "server/dispatch/task_in.h"
#include "server/dispatch/task_rows.h"

/* Agents that a process is coming to. */
struct coming {
    TAILQ_HEAD(, join_key) keys; /* in the order of the requests; never empty */
    size_t n, len;
    char text[]; /* namespace and name: the end of a join_key's text */
};

/* A process of an agent, while an unfinished task has it. */
struct join_key {
    struct active_task *last; /* the latest task; earlier ones are overtaken */
    struct coming *coming;    /* NULL: no task makes it known */
    TAILQ_ENTRY(join_key) link;
    size_t refs, len;
    char text[]; /* agent, namespace and name, each with its NUL */
};

static void task_join_add_text(struct buf *b, const char *text)
{
    buf_add(b, text, strlen(text) + 1);
}

static void add_number(struct buf *b, int64_t number)
{
    buf_add(b, &number, sizeof(number));
}

typedef unsigned char spec_digest[DIGEST_SIZE];

static spec_digest *digest_specs(const struct list *rows)
{
    const struct task_spec_row *specs = rows->items;
    spec_digest *digests = xalloc(rows->n * sizeof(*digests) + 1);

    for (size_t i = 0; i < rows->n; i++)
        digest_sha256(specs[i].spec, task_rows_digest_len(specs[i].spec), digests[i]);
    return digests;
}

void join_digest(const struct task_create_ask *rows, char to[DIGEST_TEXT_SIZE])
{
    const struct task_item_row *items = rows->items.items;
    spec_digest *specs = digest_specs(&rows->specs);
    struct buf b = { 0 };

    task_join_add_text(&b, rows->task.app);
    add_number(&b, rows->task.form);
    add_number(&b, rows->task.idempotent);
    for (size_t i = 0; i < rows->items.n; i++) {
        task_join_add_text(&b, items[i].agent_id);
        task_join_add_text(&b, items[i].key);
        task_join_add_text(&b, items[i].space);
        task_join_add_text(&b, items[i].name);
        add_number(&b, items[i].op);
        buf_add(&b, specs[items[i].spec_n], DIGEST_SIZE);
    }
    digest_sha256_text(buf_data(&b), b.len, to);
    buf_free(&b);
    free(specs);
}

struct active_task *join_find(struct tasks *t, const char *digest)
{
    struct active_task *active_task = map_find_str(&t->by_digest, digest);

    return active_task && !active_task->is_overtaken ? active_task : NULL;
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

static void overtake(struct active_task *active_task, struct active_item *item,
                     const struct buf *text)
{
    item->key = get_key(active_task->tasks, text);
    if (item->key->last && item->key->last != active_task)
        item->key->last->is_overtaken = true;
    item->key->last = active_task;
}

static void write_key(struct buf *to, const char *agent, const char *space, const char *name)
{
    buf_truncate(to, 0);
    task_join_add_text(to, agent);
    task_join_add_text(to, space);
    task_join_add_text(to, name);
}

/* ---- processes that tasks will make known */

static void coming_add(struct tasks *t, struct join_key *k)
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

static void coming_remove(struct tasks *t, struct join_key *k)
{
    struct coming *c = k->coming;

    TAILQ_REMOVE(&c->keys, k, link);
    if (--c->n)
        return;
    map_del(&t->coming, c->text, c->len);
    free(c);
}

/* Not a refused item, and not one without an agent. */
static bool makes_known(const struct task_item_row *row)
{
    return *row->agent_id && row->state != STORE_ITEM_DONE && operation_registers(row->op);
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

    task_join_add_text(&text, space);
    task_join_add_text(&text, name);
    c = map_find(&t->coming, buf_data(&text), text.len);
    buf_free(&text);
    *ret = arena_alloc(a, (c ? c->n : 0) * sizeof(**ret));
    for (k = c ? TAILQ_FIRST(&c->keys) : NULL; k; k = TAILQ_NEXT(k, link))
        (*ret)[n++] = k->text;
    return n;
}

/* ---- adding and dropping tasks */

void join_add(struct active_task *active_task, const struct list *rows)
{
    const struct task_item_row *row = rows->items;
    struct buf text = { 0 };

    for (size_t i = 0; i < rows->n; i++) {
        write_key(&text, *row[i].agent_id ? row[i].agent_id : row[i].key, row[i].space,
                  row[i].name);
        overtake(active_task, &active_task->items[i], &text);
        if (!active_task->items[i].key->coming && makes_known(&row[i]))
            coming_add(active_task->tasks, active_task->items[i].key);
    }
    buf_free(&text);
    map_put_str(&active_task->tasks->by_digest, active_task->digest, active_task);
}

static void put_key(struct active_task *active_task, struct join_key *k)
{
    if (k->last == active_task)
        k->last = NULL;
    if (--k->refs)
        return;
    if (k->coming)
        coming_remove(active_task->tasks, k);
    map_del(&active_task->tasks->keys, k->text, k->len);
    free(k);
}

void join_drop(struct active_task *active_task)
{
    struct map *by_digest = &active_task->tasks->by_digest;

    if (map_find_str(by_digest, active_task->digest) == active_task)
        map_del_str(by_digest, active_task->digest);
    for (size_t i = 0; i < active_task->n; i++) {
        if (active_task->items[i].key)
            put_key(active_task, active_task->items[i].key);
        active_task->items[i].key = NULL;
    }
}
