/* SPDX-License-Identifier: MIT */
/* seeds.c - runs worlds of tests/sim/lib, one per seed.
 *
 *     seeds FIRST COUNT           fails at the first broken invariant
 *     seeds FIRST COUNT all       continues after one
 *     seeds SEED 1 trace          prints every step
 *     seeds kept                  seeds that have found a defect
 *
 * The first seed is run twice: the same seed must give the same world. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem/mem.h"
#include "tests/sim/lib/sim.h"

/* The defects that these seeds found are fixed; a change may bring them back.  A seed gives another
 * world after a change of tests/sim/lib, so each defect also has a unit test where possible. */
/* clang-format off */
static const struct {
    uint64_t seed;
    const char *found;
} kept[] = {
    { 1083, "an agent could end one of two items that are one" },
    { 1249, "the same, of four items" },
    { 7439, "an event had the number of one that a life with a full disk had sent" },
    { 9673, "the same, on another host" },
    { 2328694, "an event was lost that the server took for old, and the agent for stored" },
    { 25260, "the same, with an event of the next life sent behind it" },
    { 2003844, "the simulator: a store that kept silent four times was called late" },
    { 2010702, "the simulator: what an agent with a full disk began was thought known to the next" },
    { 2011013, "the same, on another host" },
    { 278270, "the same, by way of a command that had begun meanwhile" },
    { 864814, "the simulator: a claim took long though all was calm" },
    { 2380872, "the simulator: the last start found such a process in its way" },
};
/* clang-format on */

static int run(uint64_t seed, FILE *trace, bool wants_digest, struct sim_report *ret)
{
    const struct sim_options o = { .seed = seed, .trace = trace, .wants_digest = wants_digest };
    struct err err = { 0 };

    if (!sim_run(&o, ret, &err))
        return 0;
    printf("%s\nthe same again: build/gcc/tests/sim/seeds %" PRIu64 " 1 trace\n", err.text, seed);
    fflush(stdout); /* shows the progress of long runs */
    return -1;
}

static int run_twice(uint64_t seed)
{
    struct sim_report once, again;

    if (run(seed, NULL, true, &once) || run(seed, NULL, true, &again))
        return -1;
    if (once.digest == again.digest)
        return 0;
    printf("seed %" PRIu64 " was another world the second time\n", seed);
    return -1;
}

static int run_kept(void)
{
    struct sim_report r;

    for (size_t i = 0; i < ARRAY_LEN(kept); i++) {
        if (run(kept[i].seed, NULL, false, &r)) {
            printf("it had found before: %s\n", kept[i].found);
            return 1;
        }
    }
    printf("%zu kept seeds\n", ARRAY_LEN(kept));
    return 0;
}

static void print(uint64_t seeds, const struct sim_report *all)
{
    printf("%" PRIu64 " seeds", seeds);
    for (int i = 0; i < SIM_COUNTS; i++)
        printf("%s %ld %s", i ? "," : ":", all->counts[i], sim_count_texts[i]);
    printf("\n");
}

int main(int argc, char **argv)
{
    uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    uint64_t count = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    FILE *trace = argc > 3 && !strcmp(argv[3], "trace") ? stdout : NULL;
    bool goes_on = argc > 3 && !strcmp(argv[3], "all");
    struct sim_report r, all = { 0 };
    int failed = 0;

    if (argc > 1 && !strcmp(argv[1], "kept"))
        return run_kept();
    if (!trace && !goes_on && run_twice(first))
        return 1;
    for (uint64_t seed = first; seed < first + count; seed++) {
        failed |= run(seed, trace, false, &r);
        if (failed && !goes_on)
            return 1;
        for (int i = 0; i < SIM_COUNTS; i++)
            all.counts[i] += r.counts[i];
    }
    print(count, &all);
    return failed ? 1 : 0;
}
