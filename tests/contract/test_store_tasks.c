/* SPDX-License-Identifier: MIT */
/* The promises of the store for tasks and their items, with any database. */
#include "tests/lib/store_rig.h"

#include "store/store_hosts.h"
#include "store/store_items.h"

enum { DEADLINE_MS = 50000 };

static struct task_item_row item_of(int64_t n, const char *agent)
{
    return (struct task_item_row){
        .n = n,
        .agent_id = agent,
        .key = "0:10.0.0.1:gse:p",
        .space = "gse",
        .name = "p",
        .op = 7,
    };
}

static struct task_create_ask ask_of(const char *id, struct task_item_row *items, size_t n)
{
    static struct task_spec_row specs[] = { { 0, "{\"spec\":0}" }, { 1, "{\"spec\":1}" } };

    return (struct task_create_ask){
        .task = { .id = id,
                  .app = "bk_gsekit",
                  .user = "admin",
                  .form = 2,
                  .created_ms = 1000,
                  .deadline_ms = DEADLINE_MS },
        .specs = LIST(specs),
        .items = { items, n },
    };
}

static int64_t create(struct store_rig *r, const char *id, struct task_item_row *items, size_t n)
{
    struct task_create_ask ask = ask_of(id, items, n);
    struct task_left_row made;

    store_rig_do(r, &store_task_create, &ask, &made);
    assert_true(made.task_no > 0);
    return made.task_no;
}

/* A task with one queued item per agent. */
static int64_t create_for(struct store_rig *r, const char *id, const char *const *agents, size_t n)
{
    struct task_item_row items[8];

    assert_in_range(n, 1, ARRAY_LEN(items));
    for (size_t i = 0; i < n; i++)
        items[i] = item_of((int64_t)i, agents[i]);
    return create(r, id, items, n);
}

static struct task_read_got read_page(struct store_rig *r, const char *id, int64_t after,
                                      int64_t limit)
{
    struct task_read_got got;

    store_rig_do(r, &store_task_read, &(struct task_read_ask){ id, after, limit }, &got);
    return got;
}

static struct task_row get_task(struct store_rig *r, const char *id)
{
    struct list rows;

    store_rig_do(r, &store_task_find, &(struct task_find_ask){ id }, &rows);
    assert_int_equal(rows.n, 1);
    return *ROW(task_row, rows, 0);
}

static struct task_item_row get_item(struct store_rig *r, const char *id, int64_t n)
{
    struct task_read_got got = read_page(r, id, n - 1, 1);

    assert_int_equal(got.items.n, 1);
    assert_int_equal(ROW(task_item_row, got.items, 0)->n, n);
    return *ROW(task_item_row, got.items, 0);
}

static void check_item(const struct task_item_row *l, const struct task_item_row *r,
                       int64_t task_no)
{
    assert_int_equal(l->task_no, task_no);
    assert_int_equal(l->n, r->n);
    assert_string_equal(l->agent_id, r->agent_id);
    assert_string_equal(l->key, r->key);
    assert_string_equal(l->space, r->space);
    assert_string_equal(l->name, r->name);
    assert_int_equal(l->op, r->op);
    assert_int_equal(l->spec_n, r->spec_n);
    assert_int_equal(l->state, r->state);
    assert_int_equal(l->epoch, r->epoch);
    assert_int_equal(l->code, r->code);
    assert_string_equal(l->message, r->message ? r->message : "");
    assert_string_equal(l->content, r->content ? r->content : "");
    assert_int_equal(l->done_ms, r->done_ms);
}

static size_t count(struct store_rig *r, const char *id)
{
    struct list rows;

    store_rig_do(r, &store_task_find, &(struct task_find_ask){ id }, &rows);
    return rows.n;
}

/* ---- Creating and reading. */

static void a_task_is_read_as_it_was_made(void **state)
{
    struct task_item_row items[] = { item_of(0, "a"), item_of(1, "b"), item_of(2, "c") };
    struct task_row task;
    struct task_read_got got;
    int64_t no;

    items[1].spec_n = 1;
    items[1].state = STORE_ITEM_DONE;
    items[1].code = 117;
    items[1].message = "offline";
    items[1].content = "{}";
    items[1].done_ms = 1000;
    items[2].state = STORE_ITEM_CLAIMED;
    items[2].epoch = 4;
    no = create(*state, "GSETASK:1", items, 3);
    task = get_task(*state, "GSETASK:1");
    assert_int_equal(task.task_no, no);
    assert_string_equal(task.app, "bk_gsekit");
    assert_string_equal(task.user, "admin");
    assert_int_equal(task.form, 2);
    assert_int_equal(task.created_ms, 1000);
    assert_int_equal(task.deadline_ms, DEADLINE_MS);
    assert_int_equal(task.n_items, 3);
    assert_int_equal(task.n_left, 2);
    assert_int_equal(task.finished_ms, 0);
    got = read_page(*state, "GSETASK:1", -1, 100);
    assert_int_equal(got.tasks.n, 1);
    assert_int_equal(got.specs.n, 2);
    assert_string_equal(ROW(task_spec_row, got.specs, 1)->spec, "{\"spec\":1}");
    assert_int_equal(got.items.n, 3);
    for (size_t i = 0; i < 3; i++)
        check_item(ROW(task_item_row, got.items, i), &items[i], no);
}

static void items_are_read_in_pages(void **state)
{
    static const char *const agents[] = { "a", "b", "c", "d", "e" };
    int64_t after = -1;

    create_for(*state, "T", agents, 5);
    for (size_t page = 0; page < 3; page++) {
        struct task_read_got got = read_page(*state, "T", after, 2);

        assert_int_equal(got.items.n, page < 2 ? 2 : 1);
        assert_int_equal(ROW(task_item_row, got.items, 0)->n, after + 1);
        after += (int64_t)got.items.n;
    }
    assert_int_equal(read_page(*state, "T", after, 2).items.n, 0);
    assert_int_equal(read_page(*state, "no such task", -1, 2).tasks.n, 0);
}

static void a_task_that_can_not_be_made_leaves_nothing(void **state)
{
    struct task_item_row items[] = { item_of(0, "a"), item_of(1, "a"), item_of(1, "b") };
    struct task_spec_row specs[] = { { 3, "{}" }, { 3, "{}" } };
    struct task_create_ask ask = ask_of("T", items, 3);
    struct list rows;

    store_rig_refused(*state, &store_task_create, &ask, ERR_CONFLICT);
    assert_int_equal(count(*state, "T"), 0);
    ask.items.n = 2;
    ask.specs = LIST(specs);
    store_rig_refused(*state, &store_task_create, &ask, ERR_CONFLICT);
    assert_int_equal(count(*state, "T"), 0);
    store_rig_do(*state, &store_task_open, &(struct task_open_ask){ 0, 10 }, &rows);
    assert_int_equal(rows.n, 0);
    create(*state, "T", items, 2);
    ask = ask_of("T", items, 1);
    store_rig_refused(*state, &store_task_create, &ask, ERR_CONFLICT);
    assert_int_equal(get_task(*state, "T").n_items, 2);
}

static void a_task_with_nothing_to_do_is_finished(void **state)
{
    struct task_item_row item = item_of(0, "a");

    item.state = STORE_ITEM_DONE;
    create(*state, "T", &item, 1);
    create(*state, "empty", NULL, 0);
    assert_int_equal(get_task(*state, "T").n_left, 0);
    assert_int_equal(get_task(*state, "T").finished_ms, 1000);
    assert_int_equal(get_task(*state, "empty").finished_ms, 1000);
}

static void numbers_rise_though_the_clock_goes_back(void **state)
{
    static const int64_t times_ms[] = { 5000, 5000, 5001, 4000, 1790000000000, 10, 1790000000000 };
    int64_t last = 0;

    for (size_t i = 0; i < ARRAY_LEN(times_ms); i++) {
        struct task_create_ask ask = ask_of("", NULL, 0);
        struct task_left_row made;
        char id[8];

        snprintf(id, sizeof(id), "T%zu", i);
        ask.task.id = id;
        ask.task.created_ms = times_ms[i];
        store_rig_do(*state, &store_task_create, &ask, &made);
        assert_true(made.task_no > last);
        last = made.task_no;
    }
}

static void unfinished_tasks_are_listed_oldest_first(void **state)
{
    static const char *const agents[] = { "a" };
    struct task_item_row done = item_of(0, "a");
    struct task_open_ask ask = { 0, 2 };
    struct list rows;

    done.state = STORE_ITEM_DONE;
    create_for(*state, "T1", agents, 1);
    create(*state, "finished", &done, 1);
    create_for(*state, "T2", agents, 1);
    create_for(*state, "T3", agents, 1);
    store_rig_do(*state, &store_task_open, &ask, &rows);
    assert_int_equal(rows.n, 2);
    assert_string_equal(ROW(task_row, rows, 0)->id, "T1");
    assert_string_equal(ROW(task_row, rows, 1)->id, "T2");
    ask.task_no = ROW(task_row, rows, 1)->task_no;
    store_rig_do(*state, &store_task_open, &ask, &rows);
    assert_int_equal(rows.n, 1);
    assert_string_equal(ROW(task_row, rows, 0)->id, "T3");
}

static void a_large_task_is_whole(void **state)
{
    enum { MANY = 5000 };
    struct task_item_row *items = xalloc(MANY * sizeof(*items));
    struct task_read_got got;

    for (int64_t i = 0; i < MANY; i++)
        items[i] = item_of(i, i % 2 ? "odd" : "even");
    create(*state, "T", items, MANY);
    got = read_page(*state, "T", -1, 2 * MANY);
    assert_int_equal(got.items.n, MANY);
    for (int64_t i = 0; i < MANY; i++) {
        assert_int_equal(ROW(task_item_row, got.items, i)->n, i);
        assert_string_equal(ROW(task_item_row, got.items, i)->agent_id, items[i].agent_id);
    }
    free(items);
}

/* ---- Claiming. */

static int64_t open_session(struct store_rig *r, const char *agent)
{
    struct list rows;

    store_rig_do(r, &store_session_open, &(struct session_open_ask){ agent, "n", 1 }, &rows);
    return ROW(session_row, rows, 0)->epoch;
}

static struct list claim(struct store_rig *r, const char *agent, int64_t epoch)
{
    struct claim_row row = { agent, epoch };
    struct list rows;

    store_rig_do(r, &store_task_claim, &(struct task_claim_ask){ { &row, 1 } }, &rows);
    return rows;
}

static void a_claim_takes_what_waits_for_the_agent_in_order(void **state)
{
    struct task_item_row items[] = { item_of(3, "b"), item_of(0, "b"), item_of(1, "a"),
                                     item_of(2, "b") };
    int64_t epoch = open_session(*state, "b"), first, second;
    struct list rows;

    first = create(*state, "T1", items, 4);
    second = create(*state, "T2", items, 4);
    rows = claim(*state, "b", epoch);
    assert_int_equal(rows.n, 6);
    for (size_t i = 0; i < rows.n; i++) {
        static const int64_t n[] = { 0, 2, 3 };
        struct task_item_row expected = item_of(n[i % 3], "b");

        expected.state = STORE_ITEM_CLAIMED;
        expected.epoch = epoch;
        check_item(ROW(task_item_row, rows, i), &expected, i < 3 ? first : second);
    }
    assert_int_equal(claim(*state, "b", epoch).n, 0);
    assert_int_equal(get_item(*state, "T1", 1).state, STORE_ITEM_QUEUED);
    assert_int_equal(get_task(*state, "T1").n_left, 4);
}

static void several_agents_are_claimed_for_at_once(void **state)
{
    static const char *const agents[] = { "a", "b", "c", "a" };
    struct claim_row claims[] = { { "b", open_session(*state, "b") },
                                  { "none", 1 },
                                  { "a", open_session(*state, "a") } };
    struct list rows;

    create_for(*state, "T", agents, 4);
    store_rig_do(*state, &store_task_claim, &(struct task_claim_ask){ LIST(claims) }, &rows);
    assert_int_equal(rows.n, 3);
    assert_int_equal(ROW(task_item_row, rows, 0)->n, 1);
    assert_int_equal(ROW(task_item_row, rows, 1)->n, 0);
    assert_int_equal(ROW(task_item_row, rows, 2)->n, 3);
}

static void only_the_session_that_is_open_claims(void **state)
{
    static const char *const agents[] = { "a" };
    int64_t old = open_session(*state, "a"), new = open_session(*state, "a");
    struct list rows;

    create_for(*state, "T", agents, 1);
    assert_int_equal(claim(*state, "a", old).n, 0);
    assert_int_equal(claim(*state, "a", new + 1).n, 0);
    assert_int_equal(claim(*state, "a", 0).n, 0);
    store_rig_do(*state, &store_session_close, &(struct session_close_ask){ "a", new, 5 }, &rows);
    assert_int_equal(claim(*state, "a", new).n, 0);
    assert_int_equal(get_item(*state, "T", 0).state, STORE_ITEM_QUEUED);
    assert_int_equal(claim(*state, "a", open_session(*state, "a")).n, 1);
}

static enum store_verdict finish(struct store_rig *r, int64_t task_no, int64_t n, int64_t epoch,
                                 int64_t code)
{
    struct result_row row = { task_no, n, epoch, code, "message", "content", 2000 };
    struct task_result_got got;

    store_rig_do(r, &store_task_result, &(struct task_result_ask){ { &row, 1 } }, &got);
    assert_int_equal(got.verdicts.n, 1);
    assert_int_equal(ROW(verdict_row, got.verdicts, 0)->task_no, task_no);
    assert_int_equal(ROW(verdict_row, got.verdicts, 0)->n, n);
    assert_int_equal(got.tasks.n, ROW(verdict_row, got.verdicts, 0)->verdict == STORE_WRITTEN);
    return (enum store_verdict)ROW(verdict_row, got.verdicts, 0)->verdict;
}

static void a_new_session_takes_over_what_is_not_done(void **state)
{
    static const char *const agents[] = { "a", "a", "a" };
    int64_t old = open_session(*state, "a"), new, no;
    struct list rows;

    no = create_for(*state, "T", agents, 3);
    assert_int_equal(claim(*state, "a", old).n, 3);
    assert_int_equal(finish(*state, no, 1, old, 0), STORE_WRITTEN);
    new = open_session(*state, "a");
    rows = claim(*state, "a", new);
    assert_int_equal(rows.n, 2);
    assert_int_equal(ROW(task_item_row, rows, 0)->n, 0);
    assert_int_equal(ROW(task_item_row, rows, 1)->n, 2);
    assert_int_equal(ROW(task_item_row, rows, 1)->epoch, new);
    assert_int_equal(finish(*state, no, 0, old, 5), STORE_STALE);
    assert_int_equal(finish(*state, no, 0, new, 6), STORE_WRITTEN);
    assert_int_equal(get_item(*state, "T", 0).code, 6);
    assert_int_equal(get_item(*state, "T", 1).epoch, old);
}

/* ---- Results: every state of an item against every kind of result. */

static void a_result_is_written_only_for_its_epoch(void **state)
{
    enum { MINE = 3, OTHERS = 2 };
    static const struct {
        int64_t state, item_epoch, epoch;
        enum store_verdict verdict;
    } cases[] = {
        { STORE_ITEM_QUEUED, 0, 0, STORE_WRITTEN },
        { STORE_ITEM_QUEUED, 0, MINE, STORE_STALE },
        { STORE_ITEM_CLAIMED, MINE, 0, STORE_STALE },
        { STORE_ITEM_CLAIMED, MINE, MINE, STORE_WRITTEN },
        { STORE_ITEM_CLAIMED, MINE, OTHERS, STORE_STALE },
        { STORE_ITEM_CLAIMED, MINE, MINE + 1, STORE_STALE },
        { STORE_ITEM_DONE, 0, 0, STORE_REPEATED },
        { STORE_ITEM_DONE, MINE, 0, STORE_REPEATED },
        { STORE_ITEM_DONE, MINE, MINE, STORE_REPEATED },
        { STORE_ITEM_DONE, MINE, OTHERS, STORE_REPEATED },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct task_item_row items[] = { item_of(0, "a"), item_of(1, "a") }, after;
        bool written = cases[i].verdict == STORE_WRITTEN;
        char id[8];
        int64_t no;

        snprintf(id, sizeof(id), "T%zu", i);
        items[0].state = cases[i].state;
        items[0].epoch = cases[i].item_epoch;
        items[0].code = 99;
        no = create(*state, id, items, 2);
        if (finish(*state, no, 0, cases[i].epoch, 836) != cases[i].verdict)
            fail_msg("case %zu", i);
        after = get_item(*state, id, 0);
        assert_int_equal(after.state, written ? STORE_ITEM_DONE : cases[i].state);
        assert_int_equal(after.code, written ? 836 : 99);
        assert_string_equal(after.message, written ? "message" : "");
        assert_string_equal(after.content, written ? "content" : "");
        assert_int_equal(after.done_ms, written ? 2000 : 0);
        assert_int_equal(after.epoch, cases[i].item_epoch);
        assert_int_equal(get_task(*state, id).n_left,
                         2 - written - (cases[i].state == STORE_ITEM_DONE));
    }
    assert_int_equal(finish(*state, 12345, 0, 0, 0), STORE_UNKNOWN);
}

static void a_repeated_result_changes_nothing(void **state)
{
    static const char *const agents[] = { "a", "a" };
    int64_t epoch = open_session(*state, "a"), no = create_for(*state, "T", agents, 2);

    claim(*state, "a", epoch);
    assert_int_equal(finish(*state, no, 0, epoch, 828), STORE_WRITTEN);
    assert_int_equal(finish(*state, no, 0, epoch, 0), STORE_REPEATED);
    assert_int_equal(get_item(*state, "T", 0).code, 828);
    assert_int_equal(get_task(*state, "T").n_left, 1);
    assert_int_equal(get_task(*state, "T").finished_ms, 0);
    assert_int_equal(finish(*state, no, 2, epoch, 0), STORE_UNKNOWN);
    assert_int_equal(finish(*state, no, 1, epoch, 0), STORE_WRITTEN);
    assert_int_equal(get_task(*state, "T").n_left, 0);
    assert_int_equal(get_task(*state, "T").finished_ms, 2000);
}

static void results_of_several_tasks_are_counted_each(void **state)
{
    static const char *const agents[] = { "a", "a" };
    int64_t t1 = create_for(*state, "T1", agents, 2), t2 = create_for(*state, "T2", agents, 2);
    struct result_row results[] = {
        { t2, 0, 0, 117, "", "", 10 }, { t1, 0, 0, 117, "", "", 11 }, { t2, 1, 0, 117, "", "", 9 },
        { t2, 1, 0, 117, "", "", 12 }, { t2, 7, 0, 117, "", "", 13 },
    };
    static const enum store_verdict verdicts[] = { STORE_WRITTEN, STORE_WRITTEN, STORE_WRITTEN,
                                                   STORE_REPEATED, STORE_UNKNOWN };
    struct task_result_got got;

    store_rig_do(*state, &store_task_result, &(struct task_result_ask){ LIST(results) }, &got);
    assert_int_equal(got.verdicts.n, ARRAY_LEN(results));
    for (size_t i = 0; i < ARRAY_LEN(results); i++)
        assert_int_equal(ROW(verdict_row, got.verdicts, i)->verdict, verdicts[i]);
    assert_int_equal(got.tasks.n, 2);
    assert_int_equal(ROW(task_left_row, got.tasks, 0)->task_no, t1);
    assert_int_equal(ROW(task_left_row, got.tasks, 0)->n_left, 1);
    assert_int_equal(ROW(task_left_row, got.tasks, 1)->task_no, t2);
    assert_int_equal(ROW(task_left_row, got.tasks, 1)->n_left, 0);
    assert_int_equal(get_task(*state, "T1").finished_ms, 0);
    assert_int_equal(get_task(*state, "T2").finished_ms, 10);
}

/* ---- Deadlines. */

static struct list expire(struct store_rig *r, int64_t now_ms)
{
    struct list rows;

    store_rig_do(r, &store_task_expire, &(struct task_expire_ask){ now_ms, 120, "too late" },
                 &rows);
    return rows;
}

static void what_is_not_done_at_its_deadline_ends(void **state)
{
    static const char *const agents[] = { "a", "b", "c" };
    int64_t epoch = open_session(*state, "a"), no = create_for(*state, "T", agents, 3);
    struct task_item_row late = item_of(0, "d");
    struct task_create_ask ask = ask_of("later", &late, 1);
    struct list rows;

    ask.task.deadline_ms = DEADLINE_MS + 1;
    store_rig_do(*state, &store_task_create, &ask, NULL);
    claim(*state, "a", epoch);
    assert_int_equal(finish(*state, no, 2, 0, 117), STORE_WRITTEN);
    assert_int_equal(expire(*state, DEADLINE_MS - 1).n, 0);
    rows = expire(*state, DEADLINE_MS);
    assert_int_equal(rows.n, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(ROW(task_item_row, rows, i)->task_no, no);
        assert_int_equal(ROW(task_item_row, rows, i)->state, STORE_ITEM_DONE);
        assert_int_equal(ROW(task_item_row, rows, i)->code, 120);
        assert_string_equal(ROW(task_item_row, rows, i)->message, "too late");
        assert_int_equal(ROW(task_item_row, rows, i)->done_ms, DEADLINE_MS);
    }
    assert_int_equal(get_item(*state, "T", 2).code, 117);
    assert_int_equal(get_task(*state, "T").n_left, 0);
    assert_int_equal(get_task(*state, "T").finished_ms, DEADLINE_MS);
    assert_int_equal(get_task(*state, "later").n_left, 1);
    assert_int_equal(expire(*state, DEADLINE_MS).n, 0);
    assert_int_equal(finish(*state, no, 0, epoch, 0), STORE_REPEATED); /* too late */
}

/* ---- Removing. */

static void finished_tasks_are_forgotten_piece_by_piece(void **state)
{
    static const char *const agents[] = { "a", "b", "c", "d", "e" };
    struct task_prune_ask ask = { DEADLINE_MS + 1, 2 };
    struct task_prune_got got = { .more = true };
    int64_t tasks = 0, items = 0;

    create_for(*state, "T1", agents, 5);
    create_for(*state, "T2", agents, 5);
    expire(*state, DEADLINE_MS);
    create_for(*state, "open", agents, 5);
    while (got.more) {
        store_rig_do(*state, &store_task_prune, &ask, &got);
        assert_in_range(got.items, 0, 2);
        assert_int_equal(count(*state, "T1"), 0); /* never with a part of its items */
        assert_int_equal(count(*state, "T2"), 0);
        tasks += got.tasks;
        items += got.items;
    }
    assert_int_equal(tasks, 2);
    assert_int_equal(items, 10);
    assert_int_equal(read_page(*state, "open", -1, 10).items.n, 5);
    assert_int_equal(get_task(*state, "open").n_left, 5);
    create_for(*state, "T1", agents, 5); /* the id is free again */
}

static void what_is_recent_or_unfinished_stays(void **state)
{
    static const char *const agents[] = { "a" };
    struct task_prune_ask ask = { DEADLINE_MS, 100 };
    struct task_prune_got got;

    create_for(*state, "T", agents, 1);
    store_rig_do(*state, &store_task_prune, &ask, &got);
    assert_int_equal(got.tasks, 0);
    expire(*state, DEADLINE_MS);
    store_rig_do(*state, &store_task_prune, &ask, &got);
    assert_int_equal(got.tasks, 0);
    assert_false(got.more);
    assert_int_equal(read_page(*state, "T", -1, 10).items.n, 1);
}

/* ---- After a restart. */

static void all_of_it_outlives_the_store(void **state)
{
    static const char *const agents[] = { "a", "b" };
    struct store_rig *r = *state;
    int64_t epoch = open_session(r, "a"), no = create_for(r, "T", agents, 2);

    claim(r, "a", epoch);
    finish(r, no, 0, epoch, 829);
    store_rig_close(r);
    store_rig_open(r);
    assert_int_equal(get_task(r, "T").n_left, 1);
    assert_int_equal(get_item(r, "T", 0).code, 829);
    assert_int_equal(get_item(r, "T", 1).state, STORE_ITEM_QUEUED);
    assert_int_equal(open_session(r, "a"), epoch + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(a_task_is_read_as_it_was_made),
        STORE_TEST(items_are_read_in_pages),
        STORE_TEST(a_task_that_can_not_be_made_leaves_nothing),
        STORE_TEST(a_task_with_nothing_to_do_is_finished),
        STORE_TEST(numbers_rise_though_the_clock_goes_back),
        STORE_TEST(unfinished_tasks_are_listed_oldest_first),
        STORE_TEST(a_large_task_is_whole),
        STORE_TEST(a_claim_takes_what_waits_for_the_agent_in_order),
        STORE_TEST(several_agents_are_claimed_for_at_once),
        STORE_TEST(only_the_session_that_is_open_claims),
        STORE_TEST(a_new_session_takes_over_what_is_not_done),
        STORE_TEST(a_result_is_written_only_for_its_epoch),
        STORE_TEST(a_repeated_result_changes_nothing),
        STORE_TEST(results_of_several_tasks_are_counted_each),
        STORE_TEST(what_is_not_done_at_its_deadline_ends),
        STORE_TEST(finished_tasks_are_forgotten_piece_by_piece),
        STORE_TEST(what_is_recent_or_unfinished_stays),
        STORE_TEST(all_of_it_outlives_the_store),
    };

    return cmocka_run_group_tests_name("store_tasks", tests, NULL, NULL);
}
