/* SPDX-License-Identifier: MIT */
#include "base/mem/pool.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem/mem.h"

enum { MANY = 1000 };

static bool all(const unsigned char *bytes, size_t n, unsigned char value)
{
    for (size_t i = 0; i < n; i++) {
        if (bytes[i] != value)
            return false;
    }
    return true;
}

static void change(struct pool *p, size_t size, unsigned char **thing, size_t i)
{
    if (*thing) {
        assert_true(all(*thing, size, (unsigned char)i));
        pool_put(p, *thing);
        *thing = NULL;
        return;
    }
    *thing = pool_get(p);
    assert_int_equal((uintptr_t)*thing % 16, 0);
    assert_true(all(*thing, size, 0));
    memset(*thing, (int)i, size);
}

/* Every object is zeroed and overlaps no other, in any order of get and put. */
static void each_has_its_own_place(void **state)
{
    static const size_t sizes[] = { 1, 16, 100, 4080, 100000 };
    static unsigned char *things[MANY];
    unsigned seed = 7;

    (void)state;
    for (size_t s = 0; s < ARRAY_LEN(sizes); s++) {
        size_t n = sizes[s] > 10000 ? 20 : MANY, in_use = 0;
        struct pool p;

        pool_init(&p, sizes[s]);
        for (size_t step = 0; step < 10 * n; step++) {
            size_t i = (size_t)rand_r(&seed) % n;

            in_use += things[i] ? (size_t)-1 : 1;
            change(&p, sizes[s], &things[i], i);
            assert_int_equal(p.in_use, in_use);
        }
        for (size_t i = 0; i < n; i++) {
            if (things[i])
                change(&p, sizes[s], &things[i], i);
        }
        pool_done(&p);
    }
}

/* The leak checker reports a slab that is not freed. */
static void nothing_is_left_of_what_was_put_back(void **state)
{
    static void *things[MANY];
    struct pool p;

    (void)state;
    pool_init(&p, 4080);
    for (int i = 0; i < MANY; i++)
        things[i] = pool_get(&p);
    for (int i = 0; i < MANY; i++)
        pool_put(&p, things[(i * 7) % MANY]);
    assert_int_equal(p.in_use, 0);
    pool_done(&p);
    pool_init(&p, 1);
    pool_done(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_has_its_own_place),
        cmocka_unit_test(nothing_is_left_of_what_was_put_back),
    };

    return cmocka_run_group_tests_name("pool", tests, NULL, NULL);
}
