/* SPDX-License-Identifier: MIT */
/* store_events.c - the tables event, event_head, event_mark and agent_lost.
 *
 * The last seq is in event_head rather than in the events, which may all be deleted.  A transaction
 * that raises it holds the row until its commit, so even with several nodes a higher seq is a later
 * commit. */
#include "store/store_events.h"

#include "store/verb.h"

/* How many rows one page examines if no index selects the matching ones. */
enum { WINDOW = 50000 };

#define EVENT_COLUMNS                                                                              \
    "seq, taken_ms, wall_ms, agent_id, agent_event, cloud_id, ip, biz_id, name, message, space,"   \
    " proc, proc_name, report_id"

static const struct field event_fields[] = {
    DB_NUMBER(event_row, seq),
    DB_NUMBER(event_row, taken_ms),
    DB_NUMBER(event_row, wall_ms),
    DB_TEXT(event_row, agent_id),
    DB_NUMBER(event_row, agent_event),
    DB_NUMBER(event_row, cloud_id),
    DB_TEXT(event_row, ip),
    DB_NUMBER(event_row, biz_id),
    DB_TEXT(event_row, name),
    DB_TEXT(event_row, message),
    DB_TEXT(event_row, space),
    DB_TEXT(event_row, proc),
    DB_TEXT(event_row, proc_name),
    DB_NUMBER(event_row, report_id),
    { 0 },
};
static const struct shape event_shape = DB_SHAPE(event_row, event_fields);

struct number {
    int64_t number;
};
static const struct field number_fields[] = { DB_NUMBER(number, number), { 0 } };
static const struct shape number_shape = DB_SHAPE(number, number_fields);

static const struct field lost_fields[] = {
    DB_TEXT(lost_row, agent_id),
    DB_NUMBER(lost_row, since_ms),
    { 0 },
};
static const struct shape lost_shape = DB_SHAPE(lost_row, lost_fields);

static const struct field back_fields[] = { DB_TEXT(lost_row, agent_id), { 0 } };
static const struct shape back_shape = DB_SHAPE(lost_row, back_fields);

static int run_number(struct db *db, const struct query *q, const void *in, int64_t *ret,
                      struct err *err)
{
    struct arena a = { 0 };
    struct list rows;
    int bad = db_run(db, q, in, &a, &rows, err);

    if (!bad && rows.n)
        *ret = ((const struct number *)rows.items)->number;
    arena_free(&a);
    return bad;
}

/* ---- Putting. */

static const struct query head_take = {
    "UPDATE event_head SET last_seq = last_seq + $1 WHERE id = 1 RETURNING last_seq",
    .in = &number_shape,
    .out = &number_shape,
};

static const struct query event_insert = {
    "INSERT INTO event (" EVENT_COLUMNS ") VALUES (CAST($1 AS BIGINT) + CAST($2 AS BIGINT),"
    " $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)",
    .in = &number_shape,
    .each = &event_shape,
};

static const struct query lost_put = {
    "INSERT INTO agent_lost (agent_id, since_ms) VALUES ($1, $2)"
    " ON CONFLICT (agent_id) DO UPDATE SET since_ms = excluded.since_ms",
    .each = &lost_shape,
};

static const struct query lost_del = {
    "DELETE FROM agent_lost WHERE agent_id = $1",
    .each = &back_shape,
};

static int put_events(struct db *db, const void *in, struct arena *a, void *out, struct err *err)
{
    const struct event_put_ask *ask = in;
    struct event_put_got *got = out;
    struct number first = { 0 };

    (void)a;
    if (run_number(db, &head_take, &(struct number){ (int64_t)ask->rows.n }, &first.number, err))
        return -1;
    first.number -= (int64_t)ask->rows.n - 1;
    if (db_run_each(db, &event_insert, &first, &ask->rows, NULL, NULL, err) ||
        db_run_each(db, &lost_put, NULL, &ask->lost, NULL, NULL, err) ||
        db_run_each(db, &lost_del, NULL, &ask->back, NULL, NULL, err))
        return -1;
    got->first = first.number;
    return 0;
}

const struct store_verb store_event_put =
    VERB_RUN("event_put", DB_WRITE, put_events, sizeof(struct event_put_got));

/* ---- Pages. */

static const struct field page_fields[] = {
    DB_NUMBER(event_page_ask, above),  DB_NUMBER(event_page_ask, below),
    DB_TEXT(event_page_ask, agent_id), DB_TEXT(event_page_ask, space),
    DB_TEXT(event_page_ask, proc),     DB_TEXT(event_page_ask, name),
    DB_NUMBER(event_page_ask, limit),  { 0 },
};
static const struct shape page_shape = DB_SHAPE(event_page_ask, page_fields);

#define PAGE(agent, order)                                                                         \
    "SELECT " EVENT_COLUMNS " FROM event WHERE seq > $1 AND seq < $2 AND " agent                   \
    " AND ($4 = '' OR space = $4) AND ($5 = '' OR proc = $5) AND ($6 = '' OR name = $6)"           \
    " ORDER BY seq " order " LIMIT $7"
#define ANY_AGENT "$3 = ''"
#define ONE_AGENT "agent_id = $3"

/* By whether an agent is given, and whether the newest come first. */
static const struct query page[2][2] = {
    { { PAGE(ANY_AGENT, "ASC"), .in = &page_shape, .out = &event_shape },
      { PAGE(ANY_AGENT, "DESC"), .in = &page_shape, .out = &event_shape } },
    { { PAGE(ONE_AGENT, "ASC"), .in = &page_shape, .out = &event_shape },
      { PAGE(ONE_AGENT, "DESC"), .in = &page_shape, .out = &event_shape } },
};

static const struct query head = {
    "SELECT last_seq FROM event_head WHERE id = 1",
    .out = &number_shape,
};
static const struct query oldest = {
    "SELECT seq FROM event ORDER BY seq LIMIT 1",
    .out = &number_shape,
};
static const struct query taken_at = {
    "SELECT taken_ms FROM event WHERE seq >= $1 ORDER BY seq LIMIT 1",
    .in = &number_shape,
    .out = &number_shape,
};

/* The first seq from `low` on that was stored at since_ms or later.  Seqs are in the order of time
 * unless the clock was set back. */
static int find_since(struct db *db, int64_t since_ms, int64_t low, int64_t high, int64_t *ret,
                      struct err *err)
{
    while (low < high) {
        int64_t middle = low + (high - low) / 2, taken_ms = INT64_MAX;

        if (run_number(db, &taken_at, &(struct number){ middle }, &taken_ms, err))
            return -1;
        if (taken_ms >= since_ms)
            high = middle;
        else
            low = middle + 1;
    }
    *ret = low;
    return 0;
}

/* Limits the range to existing events. */
static int clamp_range(struct db *db, struct event_page_ask *ask, struct event_page_got *got,
                       struct err *err)
{
    int64_t since;

    if (run_number(db, &head, NULL, &got->last, err))
        return -1;
    got->oldest = got->last + 1;
    if (run_number(db, &oldest, NULL, &got->oldest, err))
        return -1;
    if (ask->above < got->oldest - 1)
        ask->above = got->oldest - 1;
    if (ask->below > got->last + 1)
        ask->below = got->last + 1;
    if (ask->since_ms <= 0)
        return 0;
    if (find_since(db, ask->since_ms, got->oldest, got->last + 1, &since, err))
        return -1;
    if (ask->above < since - 1)
        ask->above = since - 1;
    return 0;
}

/* Limits the number of rows that are examined, unless an agent is given and the index is used. */
static void narrow_range(struct event_page_ask *ask)
{
    if (*ask->agent_id || ask->below - ask->above - 1 <= WINDOW)
        return;
    if (ask->is_newest_first)
        ask->above = ask->below - 1 - WINDOW;
    else
        ask->below = ask->above + 1 + WINDOW;
}

static int page_events(struct db *db, const void *in, struct arena *a, void *out, struct err *err)
{
    struct event_page_ask all = *(const struct event_page_ask *)in, some;
    struct event_page_got *got = out;
    const struct event_row *rows;

    if (clamp_range(db, &all, got, err))
        return -1;
    some = all;
    narrow_range(&some);
    if (db_run(db, &page[*all.agent_id != '\0'][all.is_newest_first], &some, a, &got->rows, err))
        return -1;
    rows = got->rows.items;
    if (got->rows.n && got->rows.n == (size_t)all.limit)
        got->reached = rows[got->rows.n - 1].seq;
    else
        got->reached = all.is_newest_first ? some.above + 1 : some.below - 1;
    got->is_end =
        all.is_newest_first ? got->reached <= all.above + 1 : got->reached >= all.below - 1;
    return 0;
}

const struct store_verb store_event_page =
    VERB_RUN("event_page", DB_READ, page_events, sizeof(struct event_page_got));

/* ---- Reader positions, and what a server loads at its start. */

static const struct field mark_fields[] = {
    DB_TEXT(event_mark_row, reader),
    DB_NUMBER(event_mark_row, seq),
    { 0 },
};
static const struct shape mark_shape = DB_SHAPE(event_mark_row, mark_fields);

static const struct field reader_fields[] = { DB_TEXT(event_mark_row, reader), { 0 } };
static const struct shape reader_shape = DB_SHAPE(event_mark_row, reader_fields);

static const struct query mark_put = {
    "INSERT INTO event_mark (reader, seq) VALUES ($1, $2)"
    " ON CONFLICT (reader) DO UPDATE SET seq = excluded.seq",
    .in = &mark_shape,
};
static const struct query mark_del = {
    "DELETE FROM event_mark WHERE reader = $1",
    .in = &reader_shape,
};
static const struct query mark_get = {
    "SELECT seq FROM event_mark WHERE reader = $1",
    .in = &reader_shape,
    .out = &number_shape,
};
static const struct query lost_list = {
    "SELECT agent_id, since_ms FROM agent_lost ORDER BY agent_id",
    .out = &lost_shape,
};

static int set_mark(struct db *db, const void *in, struct arena *a, void *out, struct err *err)
{
    const struct event_mark_row *row = in;

    (void)a, (void)out;
    return db_run(db, row->seq < 0 ? &mark_del : &mark_put, row, NULL, NULL, err);
}

static int load_events(struct db *db, const void *in, struct arena *a, void *out, struct err *err)
{
    const struct event_load_ask *ask = in;
    struct event_load_got *got = out;

    got->mark = -1;
    if (run_number(db, &head, NULL, &got->last, err) ||
        run_number(db, &mark_get, &(struct event_mark_row){ ask->reader, 0 }, &got->mark, err))
        return -1;
    return db_run(db, &lost_list, NULL, a, &got->lost, err);
}

const struct store_verb store_event_mark = VERB_RUN("event_mark", DB_WRITE, set_mark, 0);
const struct store_verb store_event_load =
    VERB_RUN("event_load", DB_READ, load_events, sizeof(struct event_load_got));

/* ---- Last event of each agent. */

static const struct field agent_fields[] = { DB_TEXT(event_last_row, agent_id), { 0 } };
static const struct shape agent_shape = DB_SHAPE(event_last_row, agent_fields);

static const struct field last_fields[] = {
    DB_TEXT(event_last_row, agent_id),
    DB_NUMBER(event_last_row, agent_event),
    { 0 },
};
static const struct shape last_shape = DB_SHAPE(event_last_row, last_fields);

static const struct query last_of = {
    "SELECT agent_id, agent_event FROM event WHERE agent_id = $1 AND agent_event > 0"
    " ORDER BY seq DESC LIMIT 1",
    .each = &agent_shape,
    .out = &last_shape,
};

static int list_last(struct db *db, const void *in, struct arena *a, void *out, struct err *err)
{
    const struct event_last_ask *ask = in;

    return db_run_each(db, &last_of, NULL, &ask->agents, a, out, err);
}

const struct store_verb store_event_last =
    VERB_RUN("event_last", DB_READ, list_last, sizeof(struct list));

/* ---- Deleting. */

static const struct field prune_fields[] = {
    DB_NUMBER(event_prune_ask, limit),
    DB_NUMBER(event_prune_ask, before_ms),
    DB_NUMBER(event_prune_ask, rows_max),
    { 0 },
};
static const struct shape prune_shape = DB_SHAPE(event_prune_ask, prune_fields);

/* Examines only the oldest few rows, however many there are. */
static const struct query prune = {
    "DELETE FROM event WHERE seq IN (SELECT seq FROM event ORDER BY seq LIMIT $1)"
    " AND (taken_ms < $2 OR seq <= (SELECT last_seq FROM event_head WHERE id = 1) - $3)"
    " RETURNING seq",
    .in = &prune_shape,
    .out = &number_shape,
};

static int prune_events(struct db *db, const void *in, struct arena *a, void *out, struct err *err)
{
    struct event_prune_got *got = out;
    struct list rows;

    if (db_run(db, &prune, in, a, &rows, err))
        return -1;
    got->gone = (int64_t)rows.n;
    return 0;
}

const struct store_verb store_event_prune =
    VERB_RUN("event_prune", DB_WRITE, prune_events, sizeof(struct event_prune_got));
