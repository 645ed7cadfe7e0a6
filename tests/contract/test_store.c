/* SPDX-License-Identifier: MIT */
/* The promises of the store for each verb, with any database. */
#include "tests/lib/store_rig.h"

#include "store/store_apps.h"
#include "store/store_hosts.h"
#include "store/store_items.h"
#include "store/store_procs.h"

/* ---- Apps. */

static void same_app(const struct app_row *l, const struct app_row *r)
{
    assert_string_equal(l->code, r->code);
    assert_string_equal(l->secret_1, r->secret_1);
    assert_string_equal(l->secret_2, r->secret_2);
    if (r->permissions)
        assert_string_equal(l->permissions, r->permissions);
    else
        assert_null(l->permissions);
    assert_int_equal(l->created_ms, r->created_ms);
    assert_string_equal(l->sealed_1, r->sealed_1 ? r->sealed_1 : "");
    assert_string_equal(l->sealed_2, r->sealed_2 ? r->sealed_2 : "");
}

static struct list find_app(struct store_rig *r, const char *code)
{
    struct list rows;

    store_rig_do(r, &store_app_find, &(struct app_find_ask){ code }, &rows);
    return rows;
}

static void an_app_is_found_as_it_was_put(void **state)
{
    struct app_row app = { "bk_gsekit",   "aa11",  "bb22", "{\"ops\":[0,1]}",
                           1234567890123, "v1:cc", "v1:dd" };

    assert_int_equal(find_app(*state, "bk_gsekit").n, 0);
    store_rig_do(*state, &store_app_put, &app, NULL);
    assert_int_equal(find_app(*state, "bk_gsekit").n, 1);
    assert_int_equal(find_app(*state, "bk_gse").n, 0);
    same_app(find_app(*state, "bk_gsekit").items, &app);
}

static void an_app_put_again_is_another_made_when_it_was(void **state)
{
    struct app_row app = { "a", "1", "2", "{}", 5 };

    store_rig_do(*state, &store_app_put, &app, NULL);
    app = (struct app_row){ "a", "3", "", NULL, 99 };
    store_rig_do(*state, &store_app_put, &app, NULL);
    app.created_ms = 5;
    same_app(find_app(*state, "a").items, &app);
}

static void an_app_that_is_gone_is_gone_alone(void **state)
{
    const struct app_row one = { "a", "1", "2", "{}", 5 }, other = { "ab", "1", "2", "{}", 5 };

    store_rig_do(*state, &store_app_put, &one, NULL);
    store_rig_do(*state, &store_app_put, &other, NULL);
    for (int i = 0; i < 2; i++) { /* a repetition does not fail */
        store_rig_do(*state, &store_app_del, &(struct app_find_ask){ "a" }, NULL);
        assert_int_equal(find_app(*state, "a").n, 0);
        assert_int_equal(find_app(*state, "ab").n, 1);
    }
}

/* ---- Join tokens. */

static const struct token_row token = { "hash", 7, 2, 1000, 2, "for the new racks" };

static void take(struct store_rig *r, const char *hash, int64_t now_ms, int64_t left)
{
    struct token_take_ask ask = { hash, now_ms };
    struct list rows;

    if (left < 0) {
        store_rig_refused(r, &store_token_take, &ask, ERR_CONFLICT);
        return;
    }
    store_rig_do(r, &store_token_take, &ask, &rows);
    assert_int_equal(rows.n, 1);
    assert_int_equal(ROW(token_row, rows, 0)->uses_left, left);
    assert_int_equal(ROW(token_row, rows, 0)->cloud_id, 7);
    assert_int_equal(ROW(token_row, rows, 0)->biz_id, 2);
    assert_int_equal(ROW(token_row, rows, 0)->expires_ms, 1000);
    assert_string_equal(ROW(token_row, rows, 0)->note, "for the new racks");
}

static void a_token_is_taken_as_often_as_it_says(void **state)
{
    static const struct {
        const char *hash;
        int64_t now_ms, left; /* -1: refused */
    } cases[] = {
        { "other", 1, -1 },   { "hash", 1000, -1 }, { "hash", 999, 1 },
        { "hash", 2000, -1 }, { "hash", 1, 0 },     { "hash", 1, -1 },
    };

    store_rig_do(*state, &store_token_put, &token, NULL);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        take(*state, cases[i].hash, cases[i].now_ms, cases[i].left);
    store_rig_do(*state, &store_token_put, &token, NULL);
    take(*state, "hash", 1, 1);
}

/* ---- Hosts. */

static struct host_row host_of(const char *agent, int64_t cloud, const char *ip)
{
    return (struct host_row){ agent, cloud, ip, 2, "web-1", "0.1.0", "0a0b", "ffee", 77 };
}

static void same_host(const struct host_row *l, const struct host_row *r)
{
    assert_string_equal(l->agent_id, r->agent_id);
    assert_int_equal(l->cloud_id, r->cloud_id);
    assert_string_equal(l->ip, r->ip);
    assert_int_equal(l->biz_id, r->biz_id);
    assert_string_equal(l->hostname, r->hostname);
    assert_string_equal(l->version, r->version);
    assert_string_equal(l->cert_serial, r->cert_serial);
    assert_string_equal(l->cert_fingerprint, r->cert_fingerprint);
    assert_int_equal(l->joined_ms, r->joined_ms);
}

/* The host at the address; NULL: none. */
static const struct host_row *host_at(struct store_rig *r, int64_t cloud, const char *ip)
{
    struct list rows;

    store_rig_do(r, &store_host_find_at, &(struct host_find_at_ask){ cloud, ip }, &rows);
    return rows.n ? rows.items : NULL;
}

static void put_host(struct store_rig *r, const char *agent, int64_t cloud, const char *ip)
{
    struct host_row host = host_of(agent, cloud, ip);

    store_rig_do(r, &store_host_put, &host, NULL);
}

static void a_host_is_found_by_agent_and_by_address(void **state)
{
    struct host_row host = host_of("agent-1", 3, "10.0.0.1");
    struct list rows;

    store_rig_do(*state, &store_host_put, &host, NULL);
    store_rig_do(*state, &store_host_find, &(struct host_ask){ "agent-1" }, &rows);
    assert_int_equal(rows.n, 1);
    same_host(rows.items, &host);
    same_host(host_at(*state, 3, "10.0.0.1"), &host);
    assert_null(host_at(*state, 0, "10.0.0.1"));
    assert_null(host_at(*state, 3, "10.0.0.2"));
}

static void an_address_has_one_agent(void **state)
{
    struct host_row second = host_of("agent-2", 0, "10.0.0.1");

    put_host(*state, "agent-1", 0, "10.0.0.1");
    store_rig_refused(*state, &store_host_put, &second, ERR_CONFLICT);
    assert_non_null(strstr(((struct store_rig *)*state)->err.text, "another agent"));
    assert_string_equal(host_at(*state, 0, "10.0.0.1")->agent_id, "agent-1");
    second.cloud_id = 1; /* the same address in another cloud area is another host */
    store_rig_do(*state, &store_host_put, &second, NULL);
    put_host(*state, "agent-1", 0, "10.0.0.9"); /* a host may move */
    assert_null(host_at(*state, 0, "10.0.0.1"));
    second.cloud_id = 0;
    store_rig_do(*state, &store_host_put, &second, NULL);
}

/* ---- Sessions. */

static struct session_row open_session(struct store_rig *r, const char *agent, const char *node)
{
    struct list rows;

    store_rig_do(r, &store_session_open, &(struct session_open_ask){ agent, node, 100 }, &rows);
    assert_int_equal(rows.n, 1);
    assert_string_equal(ROW(session_row, rows, 0)->agent_id, agent);
    assert_string_equal(ROW(session_row, rows, 0)->node, node);
    assert_true(ROW(session_row, rows, 0)->is_open);
    assert_int_equal(ROW(session_row, rows, 0)->since_ms, 100);
    return *ROW(session_row, rows, 0);
}

static size_t close_session(struct store_rig *r, const char *agent, int64_t epoch)
{
    struct list rows;

    store_rig_do(r, &store_session_close, &(struct session_close_ask){ agent, epoch, 200 }, &rows);
    if (rows.n) {
        assert_false(ROW(session_row, rows, 0)->is_open);
        assert_int_equal(ROW(session_row, rows, 0)->since_ms, 200);
        assert_int_equal(ROW(session_row, rows, 0)->epoch, epoch);
    }
    return rows.n;
}

static void an_epoch_rises_and_only_its_own_session_closes(void **state)
{
    assert_int_equal(open_session(*state, "a", "n1").epoch, 1);
    assert_int_equal(open_session(*state, "a", "n2").epoch, 2);
    assert_int_equal(open_session(*state, "b", "n1").epoch, 1);
    assert_int_equal(close_session(*state, "a", 1), 0);
    assert_int_equal(close_session(*state, "a", 3), 0);
    assert_int_equal(close_session(*state, "c", 1), 0);
    assert_int_equal(close_session(*state, "a", 2), 1);
    assert_int_equal(close_session(*state, "a", 2), 0);
    assert_int_equal(open_session(*state, "a", "n1").epoch, 3);
}

static void a_dead_nodes_sessions_are_closed_at_once(void **state)
{
    struct list rows;

    open_session(*state, "a", "n1");
    open_session(*state, "b", "n2");
    open_session(*state, "c", "n1");
    close_session(*state, "c", 1);
    store_rig_do(*state, &store_session_end, &(struct session_end_ask){ "n1", 300 }, &rows);
    assert_int_equal(rows.n, 1);
    assert_string_equal(ROW(session_row, rows, 0)->agent_id, "a");
    assert_int_equal(ROW(session_row, rows, 0)->since_ms, 300);
    assert_int_equal(close_session(*state, "b", 1), 1);
}

/* ---- Processes. */

static struct proc_row proc_of(const char *agent, const char *space, const char *name)
{
    return (struct proc_row){ agent,
                              space,
                              name,
                              "{\"k\":1}",
                              "{\"identity\":{}}",
                              1,
                              2,
                              true,
                              42,
                              1000007,
                              "1.2",
                              "running",
                              11,
                              12,
                              13,
                              3,
                              "{\"exit_code\":1}" };
}

static void same_proc(const struct proc_row *l, const struct proc_row *r)
{
    assert_string_equal(l->agent_id, r->agent_id);
    assert_string_equal(l->space, r->space);
    assert_string_equal(l->name, r->name);
    assert_string_equal(l->labels, r->labels);
    assert_string_equal(l->spec, r->spec);
    assert_int_equal(l->wanted, r->wanted);
    assert_int_equal(l->status, r->status);
    assert_int_equal(l->hosted, r->hosted);
    assert_int_equal(l->pid, r->pid);
    assert_int_equal(l->start_ms, r->start_ms);
    assert_string_equal(l->version, r->version);
    assert_string_equal(l->message, r->message);
    assert_int_equal(l->register_ms, r->register_ms);
    assert_int_equal(l->last_start_ms, r->last_start_ms);
    assert_int_equal(l->report_ms, r->report_ms);
    assert_int_equal(l->restarts, r->restarts);
    assert_string_equal(l->cause ? l->cause : "", r->cause ? r->cause : "");
}

static void put_proc(struct store_rig *r, const char *agent, const char *space, const char *name)
{
    struct proc_row proc = proc_of(agent, space, name);

    put_host(r, agent, 0, agent);
    store_rig_do(r, &store_proc_put, &proc, NULL);
}

static struct list procs_of(struct store_rig *r, const char *agent)
{
    struct list rows;

    store_rig_do(r, &store_proc_of, &(struct agent_row){ agent }, &rows);
    return rows;
}

static void a_process_is_found_as_it_was_put_last(void **state)
{
    struct proc_row proc = proc_of("a", "gse", "p");
    struct list rows;

    put_host(*state, "a", 0, "a");
    store_rig_do(*state, &store_proc_put, &proc, NULL);
    rows = procs_of(*state, "a");
    assert_int_equal(rows.n, 1);
    same_proc(rows.items, &proc);
    proc =
        (struct proc_row){ "a", "gse", "p", "{}", "[]", 2, 0, false, -1, 5, "", "gone", 6, 7, 8 };
    store_rig_do(*state, &store_proc_put, &proc, NULL);
    rows = procs_of(*state, "a");
    assert_int_equal(rows.n, 1);
    same_proc(rows.items, &proc);
}

static void a_deleted_process_is_gone_and_no_other(void **state)
{
    struct proc_ref_row ref = { "a", "gse", "p" };
    struct list rows;

    put_proc(*state, "a", "gse", "p");
    put_proc(*state, "a", "gse", "q");
    put_proc(*state, "b", "gse", "p");
    store_rig_do(*state, &store_proc_del, &ref, &rows);
    assert_int_equal(rows.n, 1);
    store_rig_do(*state, &store_proc_del, &ref, &rows);
    assert_int_equal(rows.n, 0);
    assert_int_equal(procs_of(*state, "a").n, 1);
    assert_int_equal(procs_of(*state, "b").n, 1);
}

static void one_process_is_listed_for_the_hosts_that_have_it(void **state)
{
    struct agent_row agents[] = { { "c" }, { "nobody" }, { "a" }, { "b" } };
    struct proc_list_ask ask = { "gse", "p", LIST(agents) };
    struct list rows;

    put_proc(*state, "a", "gse", "p");
    put_proc(*state, "b", "gse", "q");
    put_proc(*state, "b", "other", "p");
    put_proc(*state, "c", "gse", "p");
    store_rig_do(*state, &store_proc_list, &ask, &rows);
    assert_int_equal(rows.n, 2);
    assert_string_equal(ROW(proc_row, rows, 0)->agent_id, "c");
    assert_string_equal(ROW(proc_row, rows, 1)->agent_id, "a");
}

static void check_page(const struct proc_page_got *got, const char *agent, const char *name)
{
    const struct proc_row *row = got->procs.items;

    if (!agent) {
        assert_int_equal(got->procs.n, 0);
        return;
    }
    assert_int_equal(got->procs.n, 1);
    assert_string_equal(row->agent_id, agent);
    assert_string_equal(row->name, name);
}

static void pages_of_a_namespace_are_in_order_and_complete(void **state)
{
    static const char *const order[][2] = {
        { "a", "p" }, { "a", "q" }, { "b", "p" }, { NULL, NULL }
    };
    struct proc_page_ask skipping = { .space = "gse", .limit = 1, .counts = true },
                         keyed = skipping;
    struct proc_page_got got;

    put_proc(*state, "b", "gse", "p");
    put_proc(*state, "a", "gse", "q");
    put_proc(*state, "a", "gse", "p");
    put_proc(*state, "a", "gsf", "p");
    keyed.counts = false;
    for (size_t i = 0; i < ARRAY_LEN(order); i++) {
        skipping.skip = (int64_t)i;
        store_rig_do(*state, &store_proc_page, &skipping, &got);
        assert_int_equal(got.count, 3);
        check_page(&got, order[i][0], order[i][1]);
        store_rig_do(*state, &store_proc_page, &keyed, &got);
        assert_int_equal(got.count, 0);
        check_page(&got, order[i][0], order[i][1]);
        keyed.after_agent = order[i][0];
        keyed.after_name = order[i][1];
    }
}

static void a_snapshot_replaces_all_of_one_agent(void **state)
{
    struct proc_row procs[] = { proc_of("ignored", "gse", "q"), proc_of("", "gse", "r") };
    struct proc_replace_ask ask = { "a", LIST(procs) };
    struct list rows;

    put_proc(*state, "a", "gse", "p");
    put_proc(*state, "a", "gse", "q");
    put_proc(*state, "b", "gse", "p");
    store_rig_do(*state, &store_proc_replace, &ask, NULL);
    rows = procs_of(*state, "a");
    assert_int_equal(rows.n, 2);
    assert_string_equal(ROW(proc_row, rows, 0)->name, "q");
    assert_string_equal(ROW(proc_row, rows, 1)->name, "r");
    assert_int_equal(procs_of(*state, "b").n, 1);
    ask.procs.n = 0;
    store_rig_do(*state, &store_proc_replace, &ask, NULL);
    assert_int_equal(procs_of(*state, "a").n, 0);
}

static void a_snapshot_that_is_wrong_changes_nothing(void **state)
{
    struct proc_row procs[] = { proc_of("a", "gse", "q"), proc_of("a", "gse", "q") };
    struct proc_replace_ask ask = { "a", LIST(procs) };

    put_proc(*state, "a", "gse", "p");
    store_rig_refused(*state, &store_proc_replace, &ask, ERR_CONFLICT);
    assert_int_equal(procs_of(*state, "a").n, 1);
    assert_string_equal(ROW(proc_row, procs_of(*state, "a"), 0)->name, "p");
}

static void a_forgotten_host_takes_its_processes_along_and_keeps_its_epoch(void **state)
{
    struct proc_row late = proc_of("a", "gse", "p");
    const struct proc_replace_ask all = { "a", { &late, 1 } };
    struct list rows;

    put_host(*state, "a", 0, "10.0.0.1");
    put_proc(*state, "a", "gse", "p");
    put_proc(*state, "b", "gse", "p");
    open_session(*state, "a", "n1");
    store_rig_do(*state, &store_host_del, &(struct host_ask){ "a" }, &rows);
    assert_int_equal(rows.n, 1);
    store_rig_do(*state, &store_host_del, &(struct host_ask){ "a" }, &rows);
    assert_int_equal(rows.n, 0);
    store_rig_do(*state, &store_proc_put, &late, NULL); /* was submitted before */
    store_rig_do(*state, &store_proc_replace, &all, NULL);
    assert_int_equal(procs_of(*state, "a").n, 0);
    assert_int_equal(procs_of(*state, "b").n, 1);
    assert_int_equal(open_session(*state, "a", "n1").epoch, 2);
}

/* ---- Pages: every list by key goes through them all, once each. */

enum { LISTED = 7 };

static void put_listed(struct store_rig *r, const char *key)
{
    struct app_row app = { .code = key };
    struct token_row t = { .hash = key };

    store_rig_do(r, &store_app_put, &app, NULL);
    store_rig_do(r, &store_token_put, &t, NULL);
    put_host(r, key, 0, key);
    open_session(r, key, "n");
}

/* The key is the first member of each row. */
static void lists_come_in_pages_by_key(void **state)
{
    static const struct {
        const struct store_verb *verb;
        size_t size;
    } lists[] = {
        { &store_app_list, sizeof(struct app_row) },
        { &store_token_list, sizeof(struct token_row) },
        { &store_host_list, sizeof(struct host_row) },
        { &store_session_list, sizeof(struct session_row) },
    };
    static const char *const keys[LISTED] = { "d", "a", "b", "aa", "g", "c", "f" };
    static const char *const sorted[LISTED] = { "a", "aa", "b", "c", "d", "f", "g" };

    for (size_t i = 0; i < LISTED; i++)
        put_listed(*state, keys[i]);
    for (size_t k = 0; k < ARRAY_LEN(lists); k++) {
        struct store_page page = { "", 3 };
        struct list rows;
        size_t n = 0;

        do {
            store_rig_do(*state, lists[k].verb, &page, &rows);
            assert_in_range(rows.n, 0, 3);
            for (size_t i = 0; i < rows.n; i++, n++) {
                page.after = *(const char **)((char *)rows.items + i * lists[k].size);
                assert_in_range(n, 0, LISTED - 1);
                assert_string_equal(page.after, sorted[n]);
            }
        } while (rows.n > 0);
        assert_int_equal(n, LISTED);
    }
}

/* ---- Texts are data. */

static void any_text_comes_back_as_it_went_in(void **state)
{
    static const char *const texts[] = {
        "",
        "'",
        "''",
        "'; DROP TABLE app; --",
        "\" OR 1=1 --",
        "$1",
        "?1",
        ":name",
        "%s%n",
        "\\",
        "\\'; SELECT 1",
        "NULL",
        "0",
        "1e5",
        " 12 ",
        "0x10",
        "-9223372036854775808",
        "\x01\x7f",
        "line\nline\r\ttab",
        "进程托管",
        "\xf0\x9f\x9a\x80",
        "x') ON CONFLICT DO NOTHING --",
        "/* */",
        ";",
        "--",
        "{\"a\": \"b'\\\"\"}",
    };
    char large[20001];

    memset(large, 'x', sizeof(large) - 1);
    large[sizeof(large) - 1] = '\0';
    for (size_t i = 0; i <= ARRAY_LEN(texts); i++) {
        const char *text = i < ARRAY_LEN(texts) ? texts[i] : large;
        struct app_row app = { text, text, text, *text ? text : NULL, (int64_t)i };
        struct proc_row proc = proc_of(text, text, text);

        store_rig_do(*state, &store_app_put, &app, NULL);
        assert_int_equal(find_app(*state, text).n, 1);
        same_app(find_app(*state, text).items, &app);
        proc.version = proc.message = text;
        put_host(*state, text, 0, text);
        store_rig_do(*state, &store_proc_put, &proc, NULL);
        assert_int_equal(procs_of(*state, text).n, 1);
        same_proc(procs_of(*state, text).items, &proc);
    }
}

static void any_number_comes_back_as_it_went_in(void **state)
{
    static const int64_t numbers[] = { 0, -1, 1, INT64_MAX, INT64_MIN, 1LL << 53, (1LL << 53) + 1 };

    put_host(*state, "a", 0, "a");
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
        struct proc_row proc = proc_of("a", "s", "n");

        proc.pid = proc.report_ms = proc.start_ms = numbers[i];
        store_rig_do(*state, &store_proc_put, &proc, NULL);
        same_proc(procs_of(*state, "a").items, &proc);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(an_app_is_found_as_it_was_put),
        STORE_TEST(an_app_put_again_is_another_made_when_it_was),
        STORE_TEST(an_app_that_is_gone_is_gone_alone),
        STORE_TEST(a_token_is_taken_as_often_as_it_says),
        STORE_TEST(a_host_is_found_by_agent_and_by_address),
        STORE_TEST(an_address_has_one_agent),
        STORE_TEST(an_epoch_rises_and_only_its_own_session_closes),
        STORE_TEST(a_dead_nodes_sessions_are_closed_at_once),
        STORE_TEST(a_process_is_found_as_it_was_put_last),
        STORE_TEST(a_deleted_process_is_gone_and_no_other),
        STORE_TEST(one_process_is_listed_for_the_hosts_that_have_it),
        STORE_TEST(pages_of_a_namespace_are_in_order_and_complete),
        STORE_TEST(a_snapshot_replaces_all_of_one_agent),
        STORE_TEST(a_snapshot_that_is_wrong_changes_nothing),
        STORE_TEST(a_forgotten_host_takes_its_processes_along_and_keeps_its_epoch),
        STORE_TEST(lists_come_in_pages_by_key),
        STORE_TEST(any_text_comes_back_as_it_went_in),
        STORE_TEST(any_number_comes_back_as_it_went_in),
    };

    return cmocka_run_group_tests_name("store", tests, NULL, NULL);
}
