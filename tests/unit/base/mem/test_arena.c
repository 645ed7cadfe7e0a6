/* SPDX-License-Identifier: MIT */
#include "base/mem/arena.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem/mem.h"
#include "tests/lib/random.h"

enum { LARGE = 256 * 1024 }; /* the largest ordinary block */

static bool all(const char *p, size_t n, char byte)
{
    for (size_t i = 0; i < n; i++) {
        if (p[i] != byte)
            return false;
    }
    return true;
}

static void pieces_are_aligned_and_zeroed(void **state)
{
    struct arena a = { 0 };

    (void)state;
    for (size_t n = 1; n < 3000; n++) {
        char *odd = arena_bytes(&a, n % 7 + 1), *p = arena_alloc(&a, n);

        memset(odd, 'o', n % 7 + 1);
        assert_int_equal((uintptr_t)p % _Alignof(max_align_t), 0);
        assert_true(all(p, n, 0));
        memset(p, 'x', n);
    }
    arena_free(&a);
}

static void a_piece_of_nothing_is_a_place_all_the_same(void **state)
{
    struct arena a = { 0 }, b = { 0 };

    (void)state;
    assert_non_null(arena_alloc(&a, 0));
    assert_non_null(arena_bytes(&b, 0));
    assert_string_equal(arena_memdup(&a, NULL, 0), "");
    arena_free(&a);
    arena_free(&b);
}

/* How often a small allocation is not adjacent to the previous one. */
static int jumps(struct arena *a, int pieces)
{
    char *last = arena_alloc(a, 16);
    int n = 0;

    for (int i = 1; i < pieces; i++) {
        char *p = arena_alloc(a, 16);

        n += p != last + 16;
        last = p;
    }
    return n;
}

/* Small allocations share blocks, whatever was allocated first. */
static void small_pieces_share_blocks(void **state)
{
    static const size_t first[] = { 1,      2047,      2048,          2049,    65535,  100001,
                                    131071, 131072,    131073,        140000,  200002, LARGE - 1,
                                    LARGE,  LARGE + 1, 2 * LARGE + 1, 10 << 20 };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(first); i++) {
        for (int before = 0; before < 2; before++) {
            struct arena a = { 0 };

            if (before)
                arena_alloc(&a, 1);
            memset(arena_alloc(&a, first[i]), 'x', first[i]);
            assert_in_range(jumps(&a, 100000), 0, 14);
            arena_free(&a);
        }
    }
}

/* The sanitizer reports an allocation that is larger than its block. */
static void a_small_beginning_grows_like_any_other(void **state)
{
    static const size_t first[] = { 0, 1, 63, 256, LARGE, 10 << 20 };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(first); i++) {
        struct arena a = { 0 };

        arena_init(&a, first[i]);
        assert_true((size_t)(a.end - a.free) <= LARGE);
        if (first[i] == 256)
            assert_int_equal(a.end - a.free, 256);
        memset(arena_alloc(&a, 100), 'x', 100);
        assert_in_range(jumps(&a, 100000), 0, 18);
        arena_reset(&a);
        assert_true(all(arena_alloc(&a, 200), 200, 0));
        arena_free(&a);
        assert_string_equal(arena_strdup(&a, "again"), "again");
        arena_free(&a);
    }
}

static void memory_that_was_given_is_used_first_and_stays_the_givers(void **state)
{
    static _Alignas(16) char memory[512];
    struct arena a = { 0 };

    (void)state;
    for (int i = 0; i < 2; i++) {
        char *p;

        arena_init_in(&a, memory, sizeof(memory));
        p = arena_alloc(&a, 300);
        assert_true(p > memory && p + 300 <= memory + sizeof(memory));
        assert_true(jumps(&a, 1000) > 0);
        if (i)
            arena_reset(&a);
        arena_strdup(&a, "text");
        arena_free(&a);
    }
}

static void a_large_piece_leaves_the_block_in_use(void **state)
{
    struct arena a = { 0 };
    char *before = arena_alloc(&a, 16), *large = arena_alloc(&a, LARGE + 1), *after;

    (void)state;
    memset(large, 'x', LARGE + 1);
    after = arena_alloc(&a, 16);
    assert_ptr_equal(after, before + 16);
    large = arena_bytes(&a, 3 * LARGE);
    memset(large, 'y', 3 * LARGE);
    assert_ptr_equal(arena_alloc(&a, 16), after + 16);
    assert_true(all(before, 16, 0));
    assert_true(all(after, 16, 0));
    arena_free(&a);
}

static void text_is_copied_with_its_end(void **state)
{
    struct arena a = { 0 };
    char from[] = "text";
    char *s = arena_strdup(&a, from), *part = arena_memdup(&a, from, 2);
    char *bytes = arena_memdup(&a, "a\0b", 3), *printed = arena_printf(&a, "%s-%06d", from, 42);

    (void)state;
    from[0] = 'x';
    assert_string_equal(s, "text");
    assert_string_equal(part, "te");
    assert_memory_equal(bytes, "a\0b", 4);
    assert_string_equal(printed, "text-000042");
    assert_string_equal(arena_printf(&a, "%s", ""), "");
    assert_int_equal(strlen(arena_printf(&a, "%*d", 3 * LARGE, 1)), 3 * LARGE);
    arena_free(&a);
}

static void reset_gives_the_same_memory_zeroed_again(void **state)
{
    struct arena a = { 0 };
    char *first = arena_alloc(&a, 1000);

    (void)state;
    for (int i = 0; i < 100; i++) {
        memset(first, 'x', 1000);
        memset(arena_bytes(&a, 500), 'y', 500);
        arena_reset(&a);
        assert_ptr_equal(arena_alloc(&a, 1000), first);
        assert_true(all(first, 1000, 0));
    }
    arena_free(&a);
}

/* A reset keeps the newest block: a second round of the same size needs few new blocks. */
static void reset_keeps_one_ordinary_block(void **state)
{
    struct arena a = { 0 };

    (void)state;
    arena_reset(&a); /* an empty arena is allowed */
    assert_null(a.head);
    jumps(&a, 100000);
    arena_alloc(&a, 2 * LARGE);
    arena_reset(&a);
    assert_non_null(a.head);
    assert_int_equal(a.end - a.free, LARGE);
    assert_int_equal(jumps(&a, LARGE / 16), 0);
    arena_free(&a);
    arena_alloc(&a, 2 * LARGE);
    arena_reset(&a);
    assert_null(a.head);
    assert_true(all(arena_alloc(&a, 100), 100, 0));
    arena_free(&a);
}

static void free_leaves_an_empty_arena(void **state)
{
    struct arena a = { 0 };

    (void)state;
    arena_free(&a);
    for (int i = 0; i < 3; i++) {
        assert_string_equal(arena_strdup(&a, "again"), "again");
        arena_free(&a);
        assert_null(a.head);
        arena_free(&a);
    }
}

struct piece {
    char *at, *copy;
    size_t n;
};

static size_t random_size(uint64_t *seed)
{
    static const size_t most[] = { 8, 64, 512, 4096, LARGE / 2, 2 * LARGE };
    uint64_t roll = random_below(seed, 1000);
    size_t kind = roll < 500   ? 0
                  : roll < 800 ? 1
                  : roll < 940 ? 2
                  : roll < 990 ? 3
                  : roll < 997 ? 4
                               : 5;

    return random_below(seed, most[kind]);
}

static void make_piece(struct arena *a, struct piece *p, uint64_t *seed)
{
    p->n = random_size(seed);
    if (random_below(seed, 2)) {
        p->at = arena_bytes(a, p->n);
    } else {
        p->at = arena_alloc(a, p->n);
        assert_true(all(p->at, p->n, 0));
        assert_int_equal((uintptr_t)p->at % 16, 0);
    }
    p->copy = xalloc(p->n);
    for (size_t i = 0; i < p->n; i++)
        p->copy[i] = (char)random_next(seed);
    memcpy(p->at, p->copy, p->n);
}

static void pieces_never_overlap(void **state)
{
    static struct piece pieces[2000];
    struct arena a = { 0 };
    uint64_t seed = 1;

    (void)state;
    for (int round = 0; round < 20; round++) {
        size_t n = random_below(&seed, ARRAY_LEN(pieces));

        for (size_t i = 0; i < n; i++)
            make_piece(&a, &pieces[i], &seed);
        for (size_t i = 0; i < n; i++) {
            assert_memory_equal(pieces[i].at, pieces[i].copy, pieces[i].n);
            free(pieces[i].copy);
        }
        if (random_below(&seed, 4))
            arena_reset(&a);
        else
            arena_free(&a);
    }
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_are_aligned_and_zeroed),
        cmocka_unit_test(a_piece_of_nothing_is_a_place_all_the_same),
        cmocka_unit_test(small_pieces_share_blocks),
        cmocka_unit_test(a_small_beginning_grows_like_any_other),
        cmocka_unit_test(memory_that_was_given_is_used_first_and_stays_the_givers),
        cmocka_unit_test(a_large_piece_leaves_the_block_in_use),
        cmocka_unit_test(text_is_copied_with_its_end),
        cmocka_unit_test(reset_gives_the_same_memory_zeroed_again),
        cmocka_unit_test(reset_keeps_one_ordinary_block),
        cmocka_unit_test(free_leaves_an_empty_arena),
        cmocka_unit_test(pieces_never_overlap),
    };

    return cmocka_run_group_tests_name("arena", tests, NULL, NULL);
}
