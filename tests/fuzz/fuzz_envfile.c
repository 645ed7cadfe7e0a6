/* SPDX-License-Identifier: MIT */
/* fuzz_envfile.c - any bytes as an env_file, and as what the kernel says of cgroups: they
 * never harm us, and every pair is one that spawn() can use. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "agent/confine/cgroup_place.h"
#include "agent/exec/envfile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_pairs(const char *text, size_t n)
{
    struct arena a = { 0 };
    const char *const *pairs;
    struct err err;

    if (!envfile_parse(text, n, &a, &pairs, &err)) {
        for (size_t i = 0; pairs[i]; i++) {
            const char *equals = strchr(pairs[i], '=');

            if (i >= ENVFILE_MAX_LINES || !equals || equals == pairs[i] || strchr(pairs[i], '\n'))
                abort();
        }
    }
    arena_free(&a);
}

/* Mounts are what stands before the first NUL, our own groups what is behind it. */
static void check_place(const char *text, size_t n)
{
    static const char *const controllers[] = { "", "memory" };
    char *copy = malloc(n + 2);
    size_t first;

    memcpy(copy, text, n);
    copy[n] = copy[n + 1] = '\0';
    first = strlen(copy);
    for (size_t i = 0; i < 2; i++) {
        struct cgroup_place p;

        if (cgroup_find_place(copy, first < n ? copy + first + 1 : "", controllers[i], &p) &&
            strstr(p.inside, "/../"))
            abort();
    }
    free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    check_pairs((const char *)data, size);
    check_place((const char *)data, size);
    return 0;
}
