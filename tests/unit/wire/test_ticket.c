/* SPDX-License-Identifier: MIT */
#include "wire/ticket.h"

#include <errno.h>

#include "base/mem.h"
#include "base/sys.h"
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
    struct tickets t;
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

/* Each key lasts until the last ticket that it sealed has run out: a day of
 * sealing and seven of a ticket's life. */
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
    last = keep(w, start_ms + 100 * day_ms); /* the server was away for long */
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

static void a_file_for_others_is_refused(void **state)
{
    struct world *w = *state;
    struct tickets t;
    struct err err = { 0 };

    keep(w, start_ms);
    chmod(w->path, 0644);
    assert_int_equal(tickets_keep(w->path, start_ms, &t, &err), -1);
    assert_int_equal(err.code, ERR_DENIED);
}

static void a_damaged_file_is_named_and_left_alone(void **state)
{
    struct world *w = *state;
    char *good, *bad;
    size_t n;

    keep(w, start_ms);
    keep(w, start_ms + day_ms);
    good = folder_text(w->path);
    n = strlen(good);
    for (size_t i = 0; i <= n; i++) {
        struct tickets t;
        struct err err = { 0 };
        char *after;

        bad = xmemdup(good, n);
        if (i < n)
            bad[i] = 'Z'; /* nowhere in a good one */
        else
            bad[n - 1] = '\0'; /* cut off */
        folder_put(w->path, 0600, bad, strlen(bad));
        if (tickets_keep(w->path, start_ms + 9 * day_ms, &t, &err) == 0)
            fail_msg("damaged at %zu", i);
        assert_int_equal(err.code, ERR_MALFORMED);
        assert_non_null(strstr(err.text, w->path));
        after = folder_text(w->path);
        assert_string_equal(after, bad);
        free(after);
        free(bad);
    }
    free(good);
}

static void an_empty_or_huge_file_is_refused(void **state)
{
    struct world *w = *state;
    struct tickets t;
    struct err err = { 0 };
    char *huge = xalloc(100000);

    folder_put(w->path, 0600, "", 0);
    assert_int_equal(tickets_keep(w->path, start_ms, &t, &err), -1);
    assert_int_equal(err.code, ERR_MALFORMED);
    folder_put(w->path, 0600, huge, 100000);
    assert_int_equal(tickets_keep(w->path, start_ms, &t, &err), -1);
    assert_int_equal(err.code, ERR_LIMIT);
    free(huge);
}

static void every_failure_leaves_the_old_keys_or_the_new(void **state)
{
    struct world *w = *state;
    long nth = 1;

    for (;; nth++) {
        struct tickets t = { 0 };
        struct err err = { 0 };
        int bad;

        folder_sweep(&w->folder);
        keep(w, start_ms);
        sys_fault("any", nth, EIO);
        bad = tickets_keep(w->path, start_ms + day_ms, &t, &err);
        if (!sys_fault_hit())
            break;
        sys_fault("any", 0, 0);
        assert_int_equal(bad, -1);
        assert_int_equal(t.n, 0);
        t = keep(w, start_ms + day_ms);
        assert_int_equal(t.n, 2);
        assert_int_equal(t.keys[1].made_ms, start_ms);
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
        TEST(a_file_for_others_is_refused),
        TEST(a_damaged_file_is_named_and_left_alone),
        TEST(an_empty_or_huge_file_is_refused),
        TEST(every_failure_leaves_the_old_keys_or_the_new),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
