/* SPDX-License-Identifier: MIT */
#include "wire/tls/ticket.h"

#include <errno.h>

#include "base/mem/mem.h"
#include "base/os/sys.h"
#include "tests/lib/folder.h"

static const int64_t day_ms = 24 * 3600 * 1000, start_ms = 1700000000000;

struct world {
    struct folder folder;
    char path[64];
};

static int setup(void **state)
{
    struct world *w = xalloc(sizeof(*w));

    folder_init(&w->folder);
    snprintf(w->path, sizeof(w->path), "%s/tickets", w->folder.path);
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;

    sys_fault("any", 0, 0);
    folder_done(&w->folder);
    free(w);
    return 0;
}

static struct tickets keep(const struct world *w, int64_t now_ms)
{
    struct tickets t = { 0 };
    struct err err = { 0 };

    if (tickets_keep(w->path, now_ms, &t, &err))
        fail_msg("%s", err.text);
    return t;
}

static bool same_key(const struct ticket_key *a, const struct ticket_key *b)
{
    return a->made_ms == b->made_ms && !memcmp(a->bytes, b->bytes, sizeof(a->bytes));
}

static void keys_survive_a_restart(void **state)
{
    struct world *w = *state;
    struct tickets a = keep(w, start_ms), b = keep(w, start_ms + day_ms - 1);

    assert_int_equal(a.n, 1);
    assert_int_equal(a.keys[0].made_ms, start_ms);
    assert_int_equal(b.n, 1);
    assert_true(same_key(&a.keys[0], &b.keys[0]));
    assert_int_equal(folder_mode(w->path), 0600);
}

/* Each key is kept until the last ticket that it encrypted has expired: a day of encrypting and
 * seven days of a ticket's life. */
static void a_key_is_new_each_day_and_opens_for_eight(void **state)
{
    struct world *w = *state;
    struct tickets last = keep(w, start_ms);

    for (int day = 1; day <= 20; day++) {
        struct tickets t = keep(w, start_ms + day * day_ms);

        assert_int_equal(t.n, day < 8 ? day + 1 : 9);
        assert_int_equal(t.keys[0].made_ms, start_ms + day * day_ms);
        for (size_t i = 1; i < t.n; i++)
            assert_true(same_key(&t.keys[i], &last.keys[i - 1]));
        assert_memory_not_equal(t.keys[0].bytes, last.keys[0].bytes, sizeof(t.keys[0].bytes));
        last = t;
    }
    last = keep(w, start_ms + 100 * day_ms); /* the server was down for a long time */
    assert_int_equal(last.n, 2);
}

static void a_clock_set_back_makes_a_key_and_no_trouble(void **state)
{
    struct world *w = *state;
    struct tickets t;

    keep(w, start_ms);
    t = keep(w, start_ms - 10 * day_ms);
    assert_int_equal(t.n, 2);
    assert_int_equal(t.keys[0].made_ms, start_ms - 10 * day_ms);
    t = keep(w, start_ms - 10 * day_ms + 1);
    assert_int_equal(t.n, 2);
}

/* The file is replaced: a new server has new keys, and finds them again after a restart. */
static void assert_new_keys(const struct world *w, const struct tickets *old, int code)
{
    struct tickets t = { 0 }, again;
    struct err err = { 0 };

    assert_int_equal(tickets_keep(w->path, start_ms + 1, &t, &err), -1);
    assert_int_equal(err.code, code);
    assert_non_null(strstr(err.text, w->path));
    assert_int_equal(t.n, 1);
    assert_int_equal(t.keys[0].made_ms, start_ms + 1);
    for (size_t i = 0; i < old->n; i++)
        assert_false(same_key(&t.keys[0], &old->keys[i]));
    again = keep(w, start_ms + 2);
    assert_int_equal(again.n, 1);
    assert_true(same_key(&t.keys[0], &again.keys[0]));
    assert_int_equal(folder_mode(w->path), 0600);
}

static void a_file_for_others_is_replaced(void **state)
{
    struct world *w = *state;
    struct tickets old = keep(w, start_ms);

    chmod(w->path, 0644);
    assert_new_keys(w, &old, ERR_DENIED);
}

static void a_damaged_file_is_replaced(void **state)
{
    struct world *w = *state;
    struct tickets old;
    char *good;
    size_t n;

    keep(w, start_ms - day_ms);
    old = keep(w, start_ms);
    good = folder_text(w->path);
    n = strlen(good);
    for (size_t i = 0; i <= n; i++) {
        char *bad = xmemdup(good, n);

        if (i < n)
            bad[i] = 'Z'; /* a character that no valid file contains */
        else
            bad[n - 1] = '\0'; /* truncated */
        folder_put(w->path, 0600, bad, strlen(bad));
        assert_new_keys(w, &old, ERR_MALFORMED);
        free(bad);
    }
    free(good);
}

static void an_empty_torn_huge_or_newer_file_is_replaced(void **state)
{
    static const char newer[] = "holdfast-tickets 2\n{\"keys\":[]}\n";
    struct world *w = *state;
    struct tickets old = keep(w, start_ms);
    char *good = folder_text(w->path), *huge = xalloc(100000);

    folder_put(w->path, 0600, "", 0);
    assert_new_keys(w, &old, ERR_MALFORMED);
    folder_put(w->path, 0600, good, strlen(good) / 2);
    assert_new_keys(w, &old, ERR_MALFORMED);
    folder_put(w->path, 0600, newer, strlen(newer));
    assert_new_keys(w, &old, ERR_MALFORMED);
    folder_put(w->path, 0600, huge, 100000);
    assert_new_keys(w, &old, ERR_LIMIT);
    free(good);
    free(huge);
}

/* The file cannot be written, so the keys stay in memory and do not change. */
static void a_folder_in_its_place_leaves_the_keys_in_memory(void **state)
{
    struct world *w = *state;
    struct tickets t = { 0 }, first;
    struct err err = { 0 };

    assert_int_equal(mkdir(w->path, 0700), 0);
    assert_int_equal(tickets_keep(w->path, start_ms, &t, &err), -1);
    assert_int_equal(err.code, ERR_SYSTEM);
    assert_int_equal(t.n, 1);
    first = t;
    assert_int_equal(tickets_keep(w->path, start_ms + 1, &t, &err), -1);
    assert_int_equal(t.n, 1);
    assert_true(same_key(&t.keys[0], &first.keys[0]));
    rmdir(w->path);
    assert_int_equal(tickets_keep(w->path, start_ms + 2, &t, &err), 0);
    assert_true(same_key(&t.keys[0], &first.keys[0]));
}

static void every_failure_leaves_good_keys(void **state)
{
    struct world *w = *state;
    long nth = 1;

    for (;; nth++) {
        struct tickets t = { 0 };
        struct err err = { 0 };

        folder_sweep(&w->folder);
        keep(w, start_ms);
        sys_fault("any", nth, EIO);
        (void)tickets_keep(w->path, start_ms + day_ms, &t, &err);
        if (!sys_fault_hit())
            break;
        sys_fault("any", 0, 0);
        assert_in_range(t.n, 1, 2);
        assert_int_equal(t.keys[0].made_ms, start_ms + day_ms);
        assert_int_equal(tickets_keep(w->path, start_ms + day_ms, &t, &err), 0);
        assert_int_equal(t.keys[0].made_ms, start_ms + day_ms);
    }
    assert_true(nth > 8);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(keys_survive_a_restart),
        TEST(a_key_is_new_each_day_and_opens_for_eight),
        TEST(a_clock_set_back_makes_a_key_and_no_trouble),
        TEST(a_file_for_others_is_replaced),
        TEST(a_damaged_file_is_replaced),
        TEST(an_empty_torn_huge_or_newer_file_is_replaced),
        TEST(a_folder_in_its_place_leaves_the_keys_in_memory),
        TEST(every_failure_leaves_good_keys),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
