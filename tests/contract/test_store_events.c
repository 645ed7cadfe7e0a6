/* SPDX-License-Identifier: MIT */
/* The promises of the store for events, with any database. */
#include "tests/lib/store_rig.h"

#include "store/store_events.h"
#include "store/store_hosts.h"

static struct event_row row_of(int64_t n, const char *agent, const char *space)
{
    return (struct event_row){
        .seq = n,
        .taken_ms = 1000 + n,
        .wall_ms = 900 + n,
        .agent_id = agent,
        .agent_event = 70 + n,
        .cloud_id = 3,
        .ip = "10.0.0.1",
        .biz_id = 2,
        .name = "process_restart_success",
        .message = "up again",
        .space = space,
        .proc = "web",
        .proc_name = "httpd",
        .report_id = 5,
    };
}

/* n events of one agent, with times from `from_ms` on; returns the seq of the first. */
static int64_t put(struct store_rig *r, size_t n, const char *agent, int64_t from_ms)
{
    struct event_row *rows = arena_alloc(&r->arena, n * sizeof(*rows));
    const struct event_put_ask ask = { .rows = { rows, n } };
    struct event_put_got got;

    for (size_t i = 0; i < n; i++) {
        rows[i] = row_of((int64_t)i, agent, "gse");
        rows[i].taken_ms = from_ms + (int64_t)i;
    }
    store_rig_do(r, &store_event_put, &ask, &got);
    return got.first;
}

static struct event_page_ask all(bool is_newest_first, int64_t limit)
{
    return (struct event_page_ask){ .is_newest_first = is_newest_first,
                                    .below = INT64_MAX,
                                    .agent_id = "",
                                    .space = "",
                                    .proc = "",
                                    .name = "",
                                    .limit = limit };
}

static struct event_page_got page(struct store_rig *r, const struct event_page_ask *ask)
{
    struct event_page_got got;

    store_rig_do(r, &store_event_page, ask, &got);
    return got;
}

static void assert_seqs(const struct event_page_got *got, int64_t first, int64_t step, size_t n)
{
    assert_int_equal(got->rows.n, n);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(ROW(event_row, got->rows, i)->seq, first + step * (int64_t)i);
}

static void what_is_put_is_read_as_it_was(void **state)
{
    struct store_rig *r = *state;
    struct event_row rows[] = { row_of(0, "a1", "gse"), row_of(1, "a2", "") };
    const struct event_put_ask ask = { .rows = LIST(rows) };
    struct event_page_ask asked = all(false, 10);
    struct event_put_got put_got;
    struct event_page_got got;
    const struct event_row *e;

    store_rig_do(r, &store_event_put, &ask, &put_got);
    assert_int_equal(put_got.first, 1);
    got = page(r, &asked);
    assert_seqs(&got, 1, 1, 2);
    e = ROW(event_row, got.rows, 0);
    assert_string_equal(e->agent_id, "a1");
    assert_int_equal(e->agent_event, 70);
    assert_int_equal(e->taken_ms, 1000);
    assert_int_equal(e->wall_ms, 900);
    assert_int_equal(e->cloud_id, 3);
    assert_string_equal(e->ip, "10.0.0.1");
    assert_int_equal(e->biz_id, 2);
    assert_string_equal(e->name, "process_restart_success");
    assert_string_equal(e->message, "up again");
    assert_string_equal(e->space, "gse");
    assert_string_equal(e->proc, "web");
    assert_string_equal(e->proc_name, "httpd");
    assert_int_equal(e->report_id, 5);
    assert_true(got.is_end);
    assert_int_equal(got.oldest, 1);
    assert_int_equal(got.last, 2);
}

static void pages_follow_each_other_in_both_directions(void **state)
{
    struct store_rig *r = *state;
    struct event_page_ask ask = all(true, 4);
    struct event_page_got got;

    put(r, 10, "a1", 1000);
    got = page(r, &ask);
    assert_seqs(&got, 10, -1, 4);
    assert_false(got.is_end);
    put(r, 5, "a1", 2000); /* new events do not move the page */
    ask.below = got.reached;
    got = page(r, &ask);
    assert_seqs(&got, 6, -1, 4);
    ask.below = got.reached;
    got = page(r, &ask);
    assert_seqs(&got, 2, -1, 2);
    assert_true(got.is_end);
    ask = all(false, 10);
    got = page(r, &ask);
    assert_seqs(&got, 1, 1, 10);
    assert_false(got.is_end);
    ask.above = got.reached;
    got = page(r, &ask);
    assert_seqs(&got, 11, 1, 5);
    assert_true(got.is_end);
    ask.above = got.reached;
    got = page(r, &ask);
    assert_seqs(&got, 0, 1, 0);
    assert_true(got.is_end);
    assert_int_equal(got.reached, 15);
}

static void an_empty_store_has_a_page_too(void **state)
{
    struct store_rig *r = *state;

    for (int newest = 0; newest < 2; newest++) {
        struct event_page_ask ask = all(newest, 4);
        struct event_page_got got = page(r, &ask);

        assert_int_equal(got.rows.n, 0);
        assert_true(got.is_end);
        assert_int_equal(got.last, 0);
        assert_int_equal(got.oldest, 1);
    }
}

static void a_page_has_what_fits(void **state)
{
    static const struct {
        const char *agent, *space, *proc, *name;
        int64_t since_ms;
        size_t n;
    } cases[] = {
        { "", "", "", "", 0, 4 },           { "a1", "", "", "", 0, 2 },
        { "a1", "web", "", "", 0, 1 },      { "nobody", "", "", "", 0, 0 },
        { "", "gse", "", "", 0, 2 },        { "", "", "web", "", 0, 3 },
        { "", "", "", "agent_lost", 0, 1 }, { "a2", "", "", "agent_lost", 0, 1 },
        { "", "", "", "", 1002, 2 },        { "", "gse", "", "", 1001, 1 },
        { "a1", "", "", "", 9999, 0 },
    };
    struct store_rig *r = *state;
    struct event_row rows[] = { row_of(0, "a1", "gse"), row_of(1, "a1", "web"),
                                row_of(2, "a2", "gse"), row_of(3, "a2", "") };
    const struct event_put_ask put_ask = { .rows = LIST(rows) };
    struct event_put_got put_got;

    rows[3].name = "agent_lost";
    rows[3].proc = "";
    store_rig_do(r, &store_event_put, &put_ask, &put_got);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        for (int newest = 0; newest < 2; newest++) {
            struct event_page_ask ask = all(newest, 10);
            struct event_page_got got;

            ask.agent_id = cases[i].agent;
            ask.space = cases[i].space;
            ask.proc = cases[i].proc;
            ask.name = cases[i].name;
            ask.since_ms = cases[i].since_ms;
            got = page(r, &ask);
            if (got.rows.n != cases[i].n || !got.is_end)
                fail_msg("case %zu: %zu rows", i, got.rows.n);
        }
    }
}

/* One call examines a limited number and returns how far it got. */
static void a_page_that_looks_far_says_how_far(void **state)
{
    enum { MANY = 50100 };
    struct store_rig *r = *state;
    struct event_page_ask ask = all(true, 10);
    struct event_page_got got;

    put(r, 1, "rare", 1000);
    put(r, MANY, "a1", 1000);
    put(r, 1, "rare", 1000);
    ask.space = "none";
    got = page(r, &ask);
    assert_int_equal(got.rows.n, 0);
    assert_false(got.is_end);
    ask.below = got.reached;
    got = page(r, &ask);
    assert_true(got.is_end);
    ask = all(false, 10);
    ask.space = "none";
    got = page(r, &ask);
    assert_false(got.is_end);
    ask.above = got.reached;
    got = page(r, &ask);
    assert_true(got.is_end);
    ask = all(true, 10);
    ask.agent_id = "rare"; /* its events are found by an index */
    got = page(r, &ask);
    assert_int_equal(got.rows.n, 2);
    assert_true(got.is_end);
}

static void the_oldest_are_forgotten_a_few_at_a_time(void **state)
{
    struct store_rig *r = *state;
    struct event_page_ask ask = all(true, 100);
    struct event_prune_got got;
    struct event_page_got left;

    put(r, 20, "a1", 1000);
    store_rig_do(r, &store_event_prune, &(struct event_prune_ask){ 5, 1010, 1000 }, &got);
    assert_int_equal(got.gone, 5);
    store_rig_do(r, &store_event_prune, &(struct event_prune_ask){ 8, 1010, 1000 }, &got);
    assert_int_equal(got.gone, 5); /* the remaining ones that are too old */
    store_rig_do(r, &store_event_prune, &(struct event_prune_ask){ 100, 0, 4 }, &got);
    assert_int_equal(got.gone, 6);
    left = page(r, &ask);
    assert_seqs(&left, 20, -1, 4);
    assert_int_equal(left.oldest, 17);
    store_rig_do(r, &store_event_prune, &(struct event_prune_ask){ 100, INT64_MAX, 4 }, &got);
    assert_int_equal(got.gone, 4);
    left = page(r, &ask);
    assert_int_equal(left.rows.n, 0);
    assert_int_equal(left.last, 20);
    assert_int_equal(put(r, 1, "a1", 2000), 21); /* a number is never reused */
}

static void a_reader_is_found_where_it_was(void **state)
{
    struct store_rig *r = *state;
    const struct event_load_ask ask = { "file:main" };
    struct event_load_got got;

    store_rig_do(r, &store_event_load, &ask, &got);
    assert_int_equal(got.mark, -1);
    assert_int_equal(got.last, 0);
    put(r, 3, "a1", 1000);
    store_rig_do(r, &store_event_mark, &(struct event_mark_row){ "file:main", 2 }, NULL);
    store_rig_do(r, &store_event_mark, &(struct event_mark_row){ "file:other", 1 }, NULL);
    store_rig_do(r, &store_event_load, &ask, &got);
    assert_int_equal(got.mark, 2);
    assert_int_equal(got.last, 3);
    store_rig_do(r, &store_event_mark, &(struct event_mark_row){ "file:main", -1 }, NULL);
    store_rig_do(r, &store_event_load, &ask, &got);
    assert_int_equal(got.mark, -1);
}

static void lost_agents_are_lost_until_they_are_back(void **state)
{
    struct store_rig *r = *state;
    struct event_row rows[] = { row_of(0, "a1", "") };
    struct lost_row lost[] = { { "a1", 5 }, { "a2", 6 } }, back[] = { { "a1", 0 } };
    struct event_put_ask ask = { .rows = LIST(rows), .lost = LIST(lost) };
    struct event_put_got put_got;
    struct event_load_got got;

    store_rig_do(r, &store_event_put, &ask, &put_got);
    store_rig_do(r, &store_event_put, &ask, &put_got); /* can be repeated */
    store_rig_do(r, &store_event_load, &(struct event_load_ask){ "x" }, &got);
    assert_int_equal(got.lost.n, 2);
    ask = (struct event_put_ask){ .rows = LIST(rows), .back = LIST(back) };
    store_rig_do(r, &store_event_put, &ask, &put_got);
    store_rig_do(r, &store_event_load, &(struct event_load_ask){ "x" }, &got);
    assert_int_equal(got.lost.n, 1);
    assert_string_equal(ROW(lost_row, got.lost, 0)->agent_id, "a2");
    assert_int_equal(ROW(lost_row, got.lost, 0)->since_ms, 6);
}

static void a_host_that_is_removed_is_not_lost(void **state)
{
    struct lost_row lost[] = { { "a1", 5 }, { "a2", 6 } };
    const struct event_put_ask ask = { .lost = LIST(lost) };
    struct event_put_got put_got;
    struct event_load_got got;
    struct list gone;

    store_rig_do(*state, &store_event_put, &ask, &put_got);
    store_rig_do(*state, &store_host_del, &(struct host_ask){ "a1" }, &gone);
    store_rig_do(*state, &store_event_load, &(struct event_load_ask){ "" }, &got);
    assert_int_equal(got.lost.n, 1);
    assert_string_equal(ROW(lost_row, got.lost, 0)->agent_id, "a2");
}

static void the_last_of_an_agent_is_known(void **state)
{
    struct store_rig *r = *state;
    struct event_row rows[] = { row_of(0, "a1", "gse"), row_of(1, "a2", "gse"),
                                row_of(2, "a1", "gse"), row_of(3, "a1", "") };
    struct event_last_row agents[] = { { "a1", 0 }, { "a2", 0 }, { "a3", 0 } };
    const struct event_put_ask ask = { .rows = LIST(rows) };
    struct event_put_got put_got;
    struct list got;

    rows[3].agent_event = 0; /* an event of the server: does not change the agent's number */
    store_rig_do(r, &store_event_put, &ask, &put_got);
    store_rig_do(r, &store_event_last, &(struct event_last_ask){ LIST(agents) }, &got);
    assert_int_equal(got.n, 2);
    assert_string_equal(ROW(event_last_row, got, 0)->agent_id, "a1");
    assert_int_equal(ROW(event_last_row, got, 0)->agent_event, 72);
    assert_int_equal(ROW(event_last_row, got, 1)->agent_event, 71);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(what_is_put_is_read_as_it_was),
        STORE_TEST(pages_follow_each_other_in_both_directions),
        STORE_TEST(an_empty_store_has_a_page_too),
        STORE_TEST(a_page_has_what_fits),
        STORE_TEST(a_page_that_looks_far_says_how_far),
        STORE_TEST(the_oldest_are_forgotten_a_few_at_a_time),
        STORE_TEST(a_reader_is_found_where_it_was),
        STORE_TEST(lost_agents_are_lost_until_they_are_back),
        STORE_TEST(a_host_that_is_removed_is_not_lost),
        STORE_TEST(the_last_of_an_agent_is_known),
    };

    return cmocka_run_group_tests_name("store/events", tests, NULL, NULL);
}
