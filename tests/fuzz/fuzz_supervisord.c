/* SPDX-License-Identifier: MIT */
/* fuzz_supervisord.c - any bytes as a supervisord.conf: what is read of it becomes specs that are
 * YAML, and notes with lines of the file. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/from_supervisord.h"
#include "cli/ini_file.h"
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
    if (!ini_read("f", (const char *)data, size, &w.arena, &settings, &err)) {
        (void)from_supervisord_settings(&w.plan, &settings, "/etc",
                                        &err); /* a limit: what was made before counts */
        plan_check_twins(&w.plan);
        check(&w);
    } else if (!strchr(err.text, ':')) {
        abort();
    }
    plans_done(&w);
    return 0;
}
