/* SPDX-License-Identifier: MIT */
/* db.c - conversion between structs and cells; see db.h. */
#include "store/db.h"

#include <assert.h>
#include <string.h>

#include "base/mem/mem.h"

static const struct db_driver *const drivers[] = { &db_sqlite };

int db_open(const char *url, enum db_mode mode, struct db **ret, struct err *err)
{
    for (size_t i = 0; i < ARRAY_LEN(drivers); i++) {
        if (!strncmp(url, drivers[i]->scheme, strlen(drivers[i]->scheme)))
            return drivers[i]->open(url, mode, ret, err);
    }
    return err_set(err, ERR_INVALID, "no database '%s': write sqlite:/path/to/file.db", url);
}

void db_close(struct db *db)
{
    if (db)
        db->driver->close(db);
}

int db_begin(struct db *db, enum db_mode mode, struct err *err)
{
    return db->driver->begin(db, mode, err);
}

int db_commit(struct db *db, struct err *err)
{
    return db->driver->commit(db, err);
}

void db_rollback(struct db *db)
{
    db->driver->rollback(db);
}

bool db_is_in(const struct db *db)
{
    return db->driver->is_in(db);
}

int db_room(struct db *db, struct err *err)
{
    return db->driver->room(db, err);
}

void db_rest(struct db *db)
{
    db->driver->rest(db);
}

static const struct query part_begin = { "SAVEPOINT part" };
static const struct query part_keep = { "RELEASE SAVEPOINT part" };
static const struct query part_undo = { "ROLLBACK TO SAVEPOINT part" };

int db_part_begin(struct db *db, struct err *err)
{
    return db_run(db, &part_begin, NULL, NULL, NULL, err);
}

int db_part_keep(struct db *db, struct err *err)
{
    return db_run(db, &part_keep, NULL, NULL, NULL, err);
}

int db_part_undo(struct db *db, struct err *err)
{
    return db_run(db, &part_undo, NULL, NULL, NULL, err) ? -1 : db_part_keep(db, err);
}

/* ---- Structs to cells. */

static struct cell text_cell(const char *text)
{
    return (struct cell){ .text = text ? text : "" };
}

static size_t to_cells(const struct shape *s, const void *obj, struct cell *cells)
{
    size_t n = 0;

    for (const struct field *f = s->fields; f->name; f++) {
        const void *at = (const char *)obj + f->offset;

        if (f->type == FIELD_OBJ)
            n += to_cells(f->sub, at, cells + n);
        else if (f->type == FIELD_STR || f->type == FIELD_RAW)
            cells[n++] = text_cell(*(const char *const *)at);
        else if (f->type == FIELD_BOOL)
            cells[n++] = (struct cell){ .number = *(const bool *)at };
        else
            cells[n++] = (struct cell){ .number = *(const int64_t *)at };
    }
    return n;
}

static size_t count_cells(const struct shape *s)
{
    size_t n = 0;

    if (!s)
        return 0;
    for (const struct field *f = s->fields; f->name; f++)
        n += f->type == FIELD_OBJ ? count_cells(f->sub) : 1;
    return n;
}

/* ---- Cells to structs. */

struct collect {
    const struct shape *shape;
    struct arena *arena;
    struct list rows;
    size_t room;
};

static void db_put_text(const struct field *f, const char *text, struct arena *a, void *at)
{
    bool absent = f->type == FIELD_RAW && !*text;

    *(const char **)at = absent ? NULL : arena_strdup(a, text);
}

/* Returns how many cells it took; 0 if a cell does not have the type of its field. */
static size_t from_cells(const struct shape *s, const struct cell *cells, struct arena *a,
                         void *obj)
{
    size_t n = 0, took;

    for (const struct field *f = s->fields; f->name; f++, n += took) {
        void *at = (char *)obj + f->offset;
        bool is_text = f->type == FIELD_STR || f->type == FIELD_RAW;

        took = f->type == FIELD_OBJ ? from_cells(f->sub, cells + n, a, at) : 1;
        if (took == 0 || (f->type != FIELD_OBJ && is_text != !!cells[n].text))
            return 0;
        if (is_text)
            db_put_text(f, cells[n].text, a, at);
        else if (f->type == FIELD_BOOL)
            *(bool *)at = cells[n].number != 0;
        else if (f->type != FIELD_OBJ)
            *(int64_t *)at = cells[n].number;
    }
    return n;
}

static void *next_row(struct collect *c)
{
    size_t size = c->shape->size;

    if (c->rows.n == c->room) {
        void *old = c->rows.items;

        c->room = c->room ? c->room * 2 : 8;
        c->rows.items = arena_alloc(c->arena, c->room * size);
        if (old)
            memcpy(c->rows.items, old, c->rows.n * size);
    }
    return (char *)c->rows.items + c->rows.n * size;
}

static int collect_row(void *ctx, const struct cell *cells, size_t n, struct err *err)
{
    struct collect *c = ctx;

    if (n != count_cells(c->shape))
        return err_set(err, ERR_SYSTEM, "a row has %zu columns, %s another number", n,
                       c->shape->name);
    if (from_cells(c->shape, cells, c->arena, next_row(c)) != n)
        return err_set(err, ERR_SYSTEM, "a row of %s has a value of the wrong type",
                       c->shape->name);
    c->rows.n++;
    return 0;
}

/* ---- Running. */

static int run_sets(struct db *db, const struct query *q, const struct db_args *args,
                    struct collect *c, struct err *err)
{
    db_row_fn *on_row = q->out && c->arena ? collect_row : NULL;

    if (!db->driver->run(db, q->sql, args, on_row, c, err))
        return 0;
    if (err->code == ERR_CONFLICT && q->conflict)
        return err_set(err, ERR_CONFLICT, "%s", q->conflict);
    return -1;
}

/* The arguments that all items share are converted to cells once. */
static int run_items(struct db *db, const struct query *q, const void *in, const struct list *items,
                     struct collect *c, struct err *err)
{
    enum { ROOM = 1024 };
    struct cell fixed[CELLS_MAX], cells[ROOM];
    size_t n_fixed = count_cells(q->in);
    struct db_args args = { .cells = cells, .width = n_fixed + count_cells(q->each) };

    assert(args.width > n_fixed && args.width <= CELLS_MAX);
    if (q->in)
        to_cells(q->in, in, fixed);
    for (size_t i = 0; i < items->n; i++) {
        struct cell *set = cells + args.sets * args.width;

        memcpy(set, fixed, n_fixed * sizeof(*set));
        to_cells(q->each, (const char *)items->items + i * q->each->size, set + n_fixed);
        args.sets++;
        if (i + 1 < items->n && (args.sets + 1) * args.width <= ROOM)
            continue;
        if (run_sets(db, q, &args, c, err))
            return -1;
        args.sets = 0;
    }
    return 0;
}

int db_run_each(struct db *db, const struct query *q, const void *in, const struct list *items,
                struct arena *a, struct list *ret_rows, struct err *err)
{
    struct collect c = { .shape = q->out, .arena = ret_rows ? a : NULL };

    if (run_items(db, q, in, items, &c, err))
        return -1;
    if (ret_rows)
        *ret_rows = c.rows;
    return 0;
}

int db_run(struct db *db, const struct query *q, const void *in, struct arena *a,
           struct list *ret_rows, struct err *err)
{
    struct cell cells[CELLS_MAX];
    struct db_args args = { .cells = cells, .sets = 1 };
    struct collect c = { .shape = q->out, .arena = ret_rows ? a : NULL };

    assert(count_cells(q->in) <= CELLS_MAX);
    args.width = q->in ? to_cells(q->in, in, cells) : 0;
    if (run_sets(db, q, &args, &c, err))
        return -1;
    if (ret_rows)
        *ret_rows = c.rows;
    return 0;
}
