/* SPDX-License-Identifier: MIT */
/* store_inventory.c - see store_inventory.h: the table expected_host, and the columns of host that
 * operators set.  Wishes are checked one by one, then against each other, and only then applied. */
#include "store/store_inventory.h"

#include <string.h>

#include "base/mem/map.h"
#include "store/verb.h"

/* ---- expected hosts */

#define EXPECTED_COLUMNS "cloud_id, ip, biz_id, host_id, note"

static const struct field expected_fields[] = {
    DB_NUMBER(expected_row, cloud_id), DB_TEXT(expected_row, ip),   DB_NUMBER(expected_row, biz_id),
    DB_NUMBER(expected_row, host_id),  DB_TEXT(expected_row, note), { 0 },
};
static const struct shape expected_shape = DB_SHAPE(expected_row, expected_fields);

static const struct field at_fields[] = {
    DB_NUMBER(host_find_at_ask, cloud_id),
    DB_TEXT(host_find_at_ask, ip),
    { 0 },
};
static const struct shape at_shape = DB_SHAPE(host_find_at_ask, at_fields);

static const struct field page_fields[] = {
    DB_NUMBER(expected_page, after_cloud_id),
    DB_TEXT(expected_page, after_ip),
    DB_NUMBER(expected_page, limit),
    { 0 },
};
static const struct shape page_shape = DB_SHAPE(expected_page, page_fields);

static const struct query expected_list = {
    "SELECT " EXPECTED_COLUMNS " FROM expected_host WHERE (cloud_id, ip) > ($1, $2)"
    " ORDER BY cloud_id, ip LIMIT $3",
    .in = &page_shape,
    .out = &expected_shape,
};

static const struct query expected_find = {
    "SELECT " EXPECTED_COLUMNS " FROM expected_host WHERE cloud_id = $1 AND ip = $2",
    .in = &at_shape,
    .out = &expected_shape,
};

static const struct query expected_del = {
    "DELETE FROM expected_host WHERE cloud_id = $1 AND ip = $2 RETURNING " EXPECTED_COLUMNS,
    .in = &at_shape,
    .out = &expected_shape,
};

static const struct query expected_put = {
    "INSERT INTO expected_host (" EXPECTED_COLUMNS ") VALUES ($1, $2, $3, $4, $5)"
    " ON CONFLICT (cloud_id, ip) DO UPDATE SET biz_id = excluded.biz_id,"
    " host_id = excluded.host_id, note = excluded.note",
    .in = &expected_shape,
};

static const struct field business_ask_fields[] = {
    DB_NUMBER(expected_business_ask, after),
    { 0 },
};
static const struct shape business_ask_shape = DB_SHAPE(expected_business_ask, business_ask_fields);
static const struct field business_row_fields[] = {
    DB_NUMBER(expected_business_row, biz_id),
    DB_NUMBER(expected_business_row, n),
    { 0 },
};
static const struct shape business_row_shape = DB_SHAPE(expected_business_row, business_row_fields);

static const struct query expected_businesses = {
    "SELECT biz_id, COUNT(*) FROM expected_host WHERE biz_id > $1 GROUP BY biz_id ORDER BY biz_id",
    .in = &business_ask_shape,
    .out = &business_row_shape,
};

const struct store_verb store_expected_businesses =
    VERB_QUERY("expected_businesses", DB_READ, &expected_businesses);
const struct store_verb store_expected_list = VERB_QUERY("expected_list", DB_READ, &expected_list);
const struct store_verb store_expected_find = VERB_QUERY("expected_find", DB_READ, &expected_find);
const struct store_verb store_expected_del = VERB_QUERY("expected_del", DB_WRITE, &expected_del);

/* ---- changes of hosts */

struct facts {
    const char *agent_id;
    int64_t biz_id, host_id;
    const char *note;
};

static const struct field facts_fields[] = {
    DB_TEXT(facts, agent_id),
    DB_NUMBER(facts, biz_id),
    DB_NUMBER(facts, host_id),
    DB_TEXT(facts, note),
    { 0 },
};
static const struct shape facts_shape = DB_SHAPE(facts, facts_fields);

static const struct query facts_put = {
    "UPDATE host SET biz_id = $2, host_id = $3, note = $4 WHERE agent_id = $1",
    .in = &facts_shape,
};

struct number {
    int64_t host_id;
};
struct owner {
    const char *key; /* by key_of() */
};
static const struct field number_fields[] = { DB_NUMBER(number, host_id), { 0 } };
static const struct shape number_shape = DB_SHAPE(number, number_fields);
static const struct field owner_fields[] = { DB_TEXT(owner, key), { 0 } };
static const struct shape owner_shape = DB_SHAPE(owner, owner_fields);

/* The host with a CMDB number; there is at most one in each table. */
static const struct query owner_find = {
    "SELECT agent_id FROM host WHERE host_id = $1 UNION ALL"
    " SELECT cloud_id || ':' || ip FROM expected_host WHERE host_id = $1",
    .in = &number_shape,
    .out = &owner_shape,
};

/* ---- one wish */

struct work {
    struct db *db;
    struct arena *arena;
    const struct host_wish *wishes;
    struct host_wished *hosts;
    size_t n;
    struct map by_key; /* struct host_wished by key */
    bool is_bad;
};

static bool store_inventory_has_joined(const struct host_wished *h)
{
    return *h->before.agent_id;
}

static const char *key_of(const struct work *w, const struct host_row *row)
{
    if (*row->agent_id)
        return row->agent_id;
    return arena_printf(w->arena, "%lld:%s", (long long)row->cloud_id, row->ip);
}

static void put_bad(struct work *w, struct host_wished *h, const char *error)
{
    h->change = HOST_BAD;
    h->error = error;
    w->is_bad = true;
}

static int find_by_id(struct work *w, const struct host_wish *wish, struct host_wished *h,
                      struct err *err)
{
    const struct host_row *row;
    struct list rows;

    if (db_run(w->db, store_host_find.query, &(struct host_ask){ wish->agent_id }, w->arena, &rows,
               err))
        return -1;
    row = rows.items;
    if (!rows.n)
        put_bad(w, h,
                arena_msg(w->arena,
                          "agent_id: %s has not joined; a host is expected by cloud_id and ip",
                          wish->agent_id));
    else if (*wish->ip && (row->cloud_id != wish->cloud_id || strcmp(row->ip, wish->ip) != 0))
        put_bad(w, h,
                arena_msg(w->arena, "ip: host %s is %lld:%s, not %lld:%s", wish->agent_id,
                          (long long)row->cloud_id, row->ip, (long long)wish->cloud_id, wish->ip));
    else
        h->before = *row;
    return 0;
}

static void fill_expected(const struct expected_row *row, struct host_wished *h)
{
    h->before.biz_id = row->biz_id;
    h->before.host_id = row->host_id;
    h->before.note = row->note;
}

static int find_by_place(struct work *w, const struct host_wish *wish, struct host_wished *h,
                         bool *ret_is_new, struct err *err)
{
    const struct host_find_at_ask at = { wish->cloud_id, wish->ip };
    struct list rows, waiting;

    if (db_run(w->db, store_host_find_at.query, &at, w->arena, &rows, err) ||
        db_run(w->db, &expected_find, &at, w->arena, &waiting, err))
        return -1;
    if (rows.n) {
        h->before = *(const struct host_row *)rows.items;
        return 0;
    }
    h->before.cloud_id = wish->cloud_id;
    h->before.ip = wish->ip;
    if (waiting.n)
        fill_expected(waiting.items, h);
    *ret_is_new = !waiting.n;
    return 0;
}

static bool store_inventory_is_same(const struct host_row *a, const struct host_row *b)
{
    return a->biz_id == b->biz_id && a->host_id == b->host_id && !strcmp(a->note, b->note);
}

/* Fills in the state before and after, ignoring the other wishes. */
static int resolve_wish(struct work *w, size_t i, struct err *err)
{
    const struct host_wish *wish = &w->wishes[i];
    struct host_wished *h = &w->hosts[i];
    bool is_new = false;
    int bad;

    h->error = "";
    h->before = (struct host_row){ .agent_id = "", .ip = "", .hostname = "", .note = "" };
    if (wish->error) {
        h->after = h->before;
        put_bad(w, h, wish->error);
        return 0;
    }
    bad = *wish->agent_id ? find_by_id(w, wish, h, err) : find_by_place(w, wish, h, &is_new, err);
    if (bad)
        return -1;
    h->after = h->before;
    if (wish->has_biz_id)
        h->after.biz_id = wish->biz_id;
    if (wish->has_host_id)
        h->after.host_id = wish->host_id;
    if (wish->has_note)
        h->after.note = wish->note;
    if (h->change != HOST_BAD && (is_new || !store_inventory_is_same(&h->before, &h->after)))
        h->change = store_inventory_has_joined(h) ? HOST_CHANGED : HOST_EXPECTED;
    return 0;
}

/* ---- all wishes */

static void mark_duplicates(struct work *w, size_t i)
{
    const char *key = key_of(w, &w->hosts[i].after);
    const struct host_wished *other = map_find_str(&w->by_key, key);

    if (w->hosts[i].change == HOST_BAD)
        return;
    if (other)
        put_bad(w, &w->hosts[i],
                arena_msg(w->arena, "the same host as hosts[%zu]", (size_t)(other - w->hosts)));
    else
        map_put_str(&w->by_key, key, &w->hosts[i]);
}

/* Whether a host keeps a number that another wish wants; false if it gives it up in the same
 * call. */
static bool keeps_number(const struct work *w, const char *key, int64_t host_id)
{
    const struct host_wished *h = map_find_str(&w->by_key, key);

    return !h || h->after.host_id == host_id;
}

static int check_number(struct work *w, struct host_wished *h, struct err *err)
{
    const struct number number = { h->after.host_id };
    const char *key = key_of(w, &h->after);
    const struct owner *owner;
    struct list rows;

    if (h->change == HOST_BAD || !number.host_id || number.host_id == h->before.host_id)
        return 0;
    if (db_run(w->db, &owner_find, &number, w->arena, &rows, err))
        return -1;
    owner = rows.items;
    for (size_t i = 0; i < rows.n && h->change != HOST_BAD; i++) {
        if (strcmp(owner[i].key, key) != 0 && keeps_number(w, owner[i].key, number.host_id))
            put_bad(w, h,
                    arena_msg(w->arena, "host_id: %lld is that of %s", (long long)number.host_id,
                              owner[i].key));
    }
    return 0;
}

/* Finds two wishes in this call that want the same number. */
static void mark_rivals(struct work *w)
{
    struct map by_number = { 0 };

    for (size_t i = 0; i < w->n; i++) {
        struct host_wished *h = &w->hosts[i], *other;
        const char *key = (const char *)&h->after.host_id;

        if (h->change == HOST_BAD || !h->after.host_id)
            continue;
        other = map_find(&by_number, key, sizeof(h->after.host_id));
        if (other)
            put_bad(w, h,
                    arena_msg(w->arena, "host_id: %lld is that of hosts[%zu] too",
                              (long long)h->after.host_id, (size_t)(other - w->hosts)));
        else
            map_put(&by_number, key, sizeof(h->after.host_id), h);
    }
    map_free(&by_number);
}

static int check_wishes(struct work *w, struct err *err)
{
    for (size_t i = 0; i < w->n; i++) {
        if (resolve_wish(w, i, err))
            return -1;
        mark_duplicates(w, i);
    }
    for (size_t i = 0; i < w->n; i++) {
        if (check_number(w, &w->hosts[i], err))
            return -1;
    }
    mark_rivals(w);
    return 0;
}

static int put_facts(struct work *w, const struct host_wished *h, int64_t host_id, struct err *err)
{
    const struct host_row *to = &h->after;

    if (store_inventory_has_joined(h))
        return db_run(w->db, &facts_put,
                      &(struct facts){ to->agent_id, to->biz_id, host_id, to->note }, NULL, NULL,
                      err);
    return db_run(w->db, &expected_put,
                  &(struct expected_row){ to->cloud_id, to->ip, to->biz_id, host_id, to->note },
                  NULL, NULL, err);
}

/* Numbers are released first, so that two hosts can swap theirs. */
static int apply_wishes(struct work *w, struct err *err)
{
    for (int step = 0; step < 2; step++) {
        for (size_t i = 0; i < w->n; i++) {
            const struct host_wished *h = &w->hosts[i];
            bool moves = h->after.host_id != h->before.host_id;

            if (h->change == HOST_UNCHANGED || (step == 0 && !moves))
                continue;
            if (put_facts(w, h, step == 0 ? 0 : h->after.host_id, err))
                return err_wrap(err, "hosts[%zu]", i);
        }
    }
    return 0;
}

static int run_wishes(struct db *db, const struct host_wishes *ask, bool is_real, struct arena *a,
                      struct host_wishes_done *ret, struct err *err)
{
    struct work w = {
        .db = db,
        .arena = a,
        .wishes = ask->wishes.items,
        .hosts = arena_alloc(a, ask->wishes.n * sizeof(*w.hosts)),
        .n = ask->wishes.n,
    };
    int bad = check_wishes(&w, err);

    if (!bad && is_real && !w.is_bad)
        bad = apply_wishes(&w, err);
    map_free(&w.by_key);
    *ret = (struct host_wishes_done){ { w.hosts, w.n }, w.is_bad };
    return bad;
}

static int set_hosts(struct db *db, const void *in, struct arena *a, void *out, struct err *err)
{
    return run_wishes(db, in, true, a, out, err);
}

static int plan_hosts(struct db *db, const void *in, struct arena *a, void *out, struct err *err)
{
    return run_wishes(db, in, false, a, out, err);
}

const struct store_verb store_hosts_set =
    VERB_RUN("hosts_set", DB_WRITE, set_hosts, sizeof(struct host_wishes_done));
const struct store_verb store_hosts_plan =
    VERB_RUN("hosts_plan", DB_READ, plan_hosts, sizeof(struct host_wishes_done));
