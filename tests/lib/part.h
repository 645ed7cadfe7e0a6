/* SPDX-License-Identifier: MIT */
/* part.h - tests that mostly wait, in several processes side by side: with HOLDFAST_TEST_PART
 * "2/3" a program runs each third of its tests, from the second on; without it, all. */
#ifndef TESTS_LIB_PART_H
#define TESTS_LIB_PART_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "base/mem/mem.h"

static inline int part_run(const char *name, const struct CMUnitTest *tests, size_t n)
{
    const char *part = getenv("HOLDFAST_TEST_PART");
    size_t first = 1, of = 1, n_mine = 0;
    struct CMUnitTest *mine;
    int failed;

    if (part && (sscanf(part, "%zu/%zu", &first, &of) != 2 || !first || first > of || of > n)) {
        fprintf(stderr, "HOLDFAST_TEST_PART=%s: not a part of %zu tests\n", part, n);
        return 1;
    }
    mine = xalloc(n * sizeof(*mine));
    for (size_t i = first - 1; i < n; i += of)
        mine[n_mine++] = tests[i];
    failed = _cmocka_run_group_tests(name, mine, n_mine, NULL, NULL);
    free(mine);
    return failed;
}

#define PART_RUN(name, tests) part_run(name, tests, ARRAY_LEN(tests))

#endif
