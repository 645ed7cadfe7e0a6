/* SPDX-License-Identifier: MIT */
/* audit_fold.c - see audit_fold.h. */
#include "api/pipeline/audit_fold.h"

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/mem/arena.h"
#include "base/mem/buf.h"
#include "base/mem/map.h"
#include "base/mem/mem.h"
#include "wire/tls/digest.h"

struct fold {
    TAILQ_ENTRY(fold) link; /* oldest first */
    struct arena arena;
    struct audit_row row; /* the first of its kind, with the id and time of the last */
    int64_t begun_ms;
    size_t key_len;
    const char *key;
};

struct audit_folds {
    struct loop *loop;
    audit_fold_fn *fn;
    void *arg;
    struct map by_key;
    TAILQ_HEAD(, fold) all;
    struct timer timer;
};

static void end_fold(struct audit_folds *f, struct fold *one)
{
    TAILQ_REMOVE(&f->all, one, link);
    map_del(&f->by_key, one->key, one->key_len);
    if (one->row.repeats)
        f->fn(f->arg, &one->row);
    arena_free(&one->arena);
    free(one);
}

static void audit_fold_set_timer(struct audit_folds *f)
{
    const struct fold *first = TAILQ_FIRST(&f->all);

    if (first)
        timer_set(f->loop, &f->timer, first->begun_ms + AUDIT_FOLD_MS - loop_now_ms(f->loop));
}

static void audit_fold_on_time(void *arg)
{
    struct audit_folds *f = arg;
    struct fold *first;

    while ((first = TAILQ_FIRST(&f->all)) &&
           first->begun_ms + AUDIT_FOLD_MS <= loop_now_ms(f->loop))
        end_fold(f, first);
    audit_fold_set_timer(f);
}

static void audit_fold_add_text(struct buf *key, const char *text)
{
    buf_add(key, text, strlen(text) + 1);
}

/* The request can be long, and the row has it already. */
static void add_what(struct buf *key, const char *what)
{
    unsigned char digest[DIGEST_SIZE];

    digest_sha256(what, strlen(what), digest);
    buf_add(key, digest, sizeof(digest));
}

/* The port differs with each connection, and a user that is only claimed can differ with each call:
 * both are left out. */
static void write_key(const struct audit_row *row, struct buf *key)
{
    const char *colon = strrchr(row->peer, ':');

    audit_fold_add_text(key, row->app);
    audit_fold_add_text(key, row->is_proven ? row->user : "");
    buf_add(key, row->peer, colon ? (size_t)(colon - row->peer) : strlen(row->peer));
    audit_fold_add_text(key, "");
    audit_fold_add_text(key, row->method);
    audit_fold_add_text(key, row->route);
    audit_fold_add_text(key, row->code_name);
    buf_add(key, &row->code, sizeof(row->code));
    if (row->what)
        add_what(key, row->what);
}

static const char *audit_fold_copy_text(struct fold *one, const char *text)
{
    return arena_strdup(&one->arena, text);
}

static void begin_fold(struct audit_folds *f, const struct audit_row *row, const struct buf *key)
{
    struct fold *one = xalloc(sizeof(*one));

    if (f->by_key.n >= AUDIT_FOLDS_MAX)
        end_fold(f, TAILQ_FIRST(&f->all));
    one->key = arena_memdup(&one->arena, buf_data(key), key->len);
    one->key_len = key->len;
    one->begun_ms = loop_now_ms(f->loop);
    one->row = *row;
    one->row.app = audit_fold_copy_text(one, row->app);
    one->row.user = audit_fold_copy_text(one, row->user);
    one->row.peer = audit_fold_copy_text(one, row->peer);
    one->row.method = audit_fold_copy_text(one, row->method);
    one->row.route = audit_fold_copy_text(one, row->route);
    one->row.what = row->what ? audit_fold_copy_text(one, row->what) : NULL;
    one->row.message = audit_fold_copy_text(one, row->message);
    one->row.task_id = audit_fold_copy_text(one, row->task_id);
    one->row.code_name = audit_fold_copy_text(one, row->code_name);
    one->row.request_id = audit_fold_copy_text(one, row->request_id);
    map_put(&f->by_key, one->key, one->key_len, one);
    TAILQ_INSERT_TAIL(&f->all, one, link);
    if (TAILQ_FIRST(&f->all) == one)
        audit_fold_set_timer(f);
}

/* All request ids have the same length. */
static void count_repeat(struct fold *one, const struct audit_row *row)
{
    one->row.repeats++;
    one->row.at_ms = row->at_ms;
    memcpy((char *)one->row.request_id, row->request_id,
           strnlen(row->request_id, strlen(one->row.request_id)));
}

bool audit_folds_take(struct audit_folds *f, const struct audit_row *row)
{
    struct buf key = { 0 };
    struct fold *one;

    write_key(row, &key);
    one = map_find(&f->by_key, buf_data(&key), key.len);
    if (one)
        count_repeat(one, row);
    else
        begin_fold(f, row, &key);
    buf_free(&key);
    return one != NULL;
}

struct audit_folds *audit_folds_new(struct loop *loop, audit_fold_fn *fn, void *arg)
{
    struct audit_folds *f = xalloc(sizeof(*f));

    *f = (struct audit_folds){ .loop = loop, .fn = fn, .arg = arg };
    TAILQ_INIT(&f->all);
    timer_init(&f->timer, audit_fold_on_time, f);
    return f;
}

void audit_folds_flush(struct audit_folds *f)
{
    while (!TAILQ_EMPTY(&f->all))
        end_fold(f, TAILQ_FIRST(&f->all));
    timer_stop(f->loop, &f->timer);
}

static void ignore_row(void *arg, const struct audit_row *row)
{
    (void)arg, (void)row;
}

void audit_folds_free(struct audit_folds *f)
{
    if (!f)
        return;
    f->fn = ignore_row;
    audit_folds_flush(f);
    map_free(&f->by_key);
    free(f);
}
