/* SPDX-License-Identifier: MIT */
/* plan_yaml.h - for tests: whether the specs of a plan are YAML that a reader takes. */
#ifndef TESTS_LIB_PLAN_YAML_H
#define TESTS_LIB_PLAN_YAML_H

#include "cli/plan.h"
#include "wire/json/yaml.h"

/* NULL: they are; else why they are not, in the arena. */
static inline const char *plan_yaml_wrong(const struct plan *p, struct arena *a)
{
    struct raw {
        const char *json;
    };
    static const struct field raw_fields[] = {
        { "process", .type = FIELD_RAW, .offset = offsetof(struct raw, json) },
        { 0 },
    };
    static const struct shape raw_shape = { "process", sizeof(struct raw), raw_fields,
                                            .bare = true };
    static const struct field fields[] = {
        { "processes", .type = FIELD_LIST, .max = PLAN_PROCESSES_MAX, .sub = &raw_shape },
        { 0 },
    };
    static const struct shape shape = { "specs", sizeof(struct list), fields };
    struct list list = { 0 };
    struct buf text = { 0 };
    struct err err = { 0 };
    int bad = 0;

    buf_puts(&text, "processes:\n");
    for (size_t i = 0; i < plan_count(p); i++)
        draft_write(&plan_at(p, i)->draft, "  - ", "    ", &text);
    if (plan_count(p) && text.len <= YAML_SIZE_MAX)
        bad = yaml_read(&shape, "specs", buf_data(&text), text.len, a, &list, &err) ||
              list.n != plan_count(p);
    buf_free(&text);
    return bad ? arena_printf(a, "%zu of %zu: %s", list.n, plan_count(p), err.text) : NULL;
}

#endif
