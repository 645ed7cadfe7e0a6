/* SPDX-License-Identifier: MIT */
#include "server/fleet/host_index.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem/mem.h"
#include "tests/lib/random.h"

enum { HOSTS = 2000 }; /* many blocks of them */

struct model {
    char ids[HOSTS][8];
    struct fleet_host hosts[HOSTS]; /* in the order of their ids */
    size_t counts[HOSTS], total;
    struct host_index host_index;
};

static int setup(void **state)
{
    struct model *m = xalloc(sizeof(*m));

    for (int i = 0; i < HOSTS; i++) {
        snprintf(m->ids[i], sizeof(m->ids[i]), "h%05d", i);
        m->hosts[i].agent_id = m->ids[i];
    }
    *state = m;
    return 0;
}

static int teardown(void **state)
{
    struct model *m = *state;

    host_index_free(&m->host_index);
    free(m);
    return 0;
}

static void add(struct model *m, size_t i, size_t n)
{
    host_index_add(&m->host_index, &m->hosts[i], n);
    m->counts[i] += n;
    m->total += n;
}

static void sub(struct model *m, size_t i, size_t n)
{
    host_index_sub(&m->host_index, &m->hosts[i], n);
    m->counts[i] -= n;
    m->total -= n;
}

/* From an id on, to the end. */
static void compare_from(const struct model *m, const char *after)
{
    struct host_index_place p = host_index_after(&m->host_index, after);
    size_t i = 0;

    for (const struct host_index_entry *e; (e = host_index_at(&m->host_index, p));
         p = host_index_next(&m->host_index, p), i++) {
        while (i < HOSTS && (!m->counts[i] || strcmp(m->ids[i], after) <= 0))
            i++;
        assert_true(i < HOSTS);
        assert_ptr_equal(e->host, &m->hosts[i]);
        assert_int_equal(e->count, m->counts[i]);
    }
    while (i < HOSTS && (!m->counts[i] || strcmp(m->ids[i], after) <= 0))
        i++;
    assert_int_equal(i, HOSTS);
}

static void compare_nth(const struct model *m, size_t n)
{
    size_t skip, i = 0, left = n;
    struct host_index_place p = host_index_find(&m->host_index, n, &skip);

    for (; left >= m->counts[i]; i++)
        left -= m->counts[i];
    assert_ptr_equal(host_index_at(&m->host_index, p)->host, &m->hosts[i]);
    assert_int_equal(skip, left);
}

static void compare(const struct model *m, uint64_t *seed)
{
    assert_int_equal(m->host_index.total, m->total);
    compare_from(m, "");
    compare_from(m, m->ids[random_below(seed, HOSTS)]);
    compare_from(m, "h00500a");
    compare_from(m, "i");
    for (int i = 0; i < 20 && m->total; i++)
        compare_nth(m, random_below(seed, m->total));
    if (m->total)
        compare_nth(m, m->total - 1);
    for (size_t i = 0; i < m->host_index.n; i++) {
        assert_in_range(m->host_index.slots[i].block->n, 1, HOST_INDEX_BLOCK);
        assert_true(m->host_index.slots[i].block->cap <= HOST_INDEX_BLOCK);
    }
}

static void it_is_a_list_in_order(void **state)
{
    struct model *m = *state;
    uint64_t seed = 11;

    for (int i = 0; i < 40000; i++) {
        size_t host = random_below(&seed, HOSTS), n = m->counts[host];
        bool is_shrinking = i / 8000 % 2; /* it fills, empties, and fills again */

        if (n && random_below(&seed, 4) < (is_shrinking ? 3 : 1))
            sub(m, host, random_below(&seed, 2) ? n : 1 + random_below(&seed, n));
        else if (!is_shrinking || !random_below(&seed, 8))
            add(m, host, 1 + random_below(&seed, 3));
        if (i % 500 == 0)
            compare(m, &seed);
    }
}

static void those_that_come_in_order_fill_their_blocks(void **state)
{
    struct model *m = *state;
    uint64_t seed = 3;

    for (size_t i = 0; i < HOSTS; i++)
        add(m, i, 2);
    assert_int_equal(m->host_index.n, (HOSTS + HOST_INDEX_BLOCK - 1) / HOST_INDEX_BLOCK);
    compare(m, &seed);
    for (size_t i = 0; i < HOSTS; i++)
        sub(m, i, 2);
    assert_int_equal(m->host_index.n, 0);
    compare(m, &seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(it_is_a_list_in_order, setup, teardown),
        cmocka_unit_test_setup_teardown(those_that_come_in_order_fill_their_blocks, setup,
                                        teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
