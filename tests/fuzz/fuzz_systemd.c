/* SPDX-License-Identifier: MIT */
/* fuzz_systemd.c - any bytes as a unit, with itself as its timer: what is read of it becomes specs
 * that are YAML, and notes with lines of the file. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/from_systemd.h"
#include "cli/unit_file.h"
#include "tests/lib/plan_yaml.h"
#include "tests/lib/plans.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(struct plans *w)
{
    const char *wrong = plan_yaml_wrong(&w->plan, &w->arena);

    plans_write(w);
    if (wrong) {
        fprintf(stderr, "%s\n%s", wrong, buf_text(&w->specs));
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct plans w;
    struct list settings;
    struct err err = { 0 };

    plans_init(&w);
    if (!unit_read("f", (const char *)data, size, &w.arena, &settings, &err)) {
        (void)from_systemd_settings(&w.plan, "a@b.service", &settings, &settings,
                                    &err); /* a limit: what was made before counts */
        plan_check_twins(&w.plan);
        from_systemd_finish(&w.plan);
        check(&w);
    } else if (!strchr(err.text, ':')) {
        abort();
    }
    plans_done(&w);
    return 0;
}
