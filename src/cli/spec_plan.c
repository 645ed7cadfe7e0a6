/* SPDX-License-Identifier: MIT */
/* spec_plan.c - see spec_plan.h. */
#include "cli/spec_plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem/mem.h"
#include "model/rules.h"

#define AT(member) .offset = offsetof(struct plan_step, member)

enum { STEPS_MAX = 100000, CHANGES_MAX = 65536 };

/* clang-format off */
static const struct enum_name action_names[] = {
    { PLAN_SAME, "unchanged" }, { PLAN_NEW, "new" }, { PLAN_CHANGED, "changed" }, { PLAN_STOPPED, "stopped" },
    { PLAN_REMOVED, "removed" }, { 0 },
};

static const struct field step_fields[] = {
    { "namespace", .type = FIELD_STR, AT(meta.space), .max = NAME_MAX_BYTES, .doc = "of the process" },
    { "name", .type = FIELD_STR, AT(meta.name), .max = NAME_MAX_BYTES, .doc = "of the process" },
    { "action", .type = FIELD_ENUM, AT(action), .names = action_names, .flags = FIELD_BY_NAME, .doc = "what is done" },
    { "file", .type = FIELD_STR, AT(path), .max = PATH_MAX_BYTES, .doc = "where it is described" },
    { "changes", .type = FIELD_STR, AT(changes), .max = CHANGES_MAX, .doc = "fields that differ" },
    { "code", .type = FIELD_INT, AT(code), .doc = "result; 0: success, or nothing was done" },
    { "text", .type = FIELD_STR, AT(text), .max = CHANGES_MAX, .doc = "why" },
    { 0 },
};
static const struct shape step_shape = { "plan_step", sizeof(struct plan_step), step_fields };

static const struct field plan_fields[] = {
    { "processes", .type = FIELD_LIST, .offset = offsetof(struct plan, steps), .max = STEPS_MAX, .sub = &step_shape,
      .doc = "one step for each process" },
    { 0 },
};
const struct shape plan_shape = { "plan", sizeof(struct plan), plan_fields };
/* clang-format on */

/* ---- differences */

/* Whether the member is written alike: as in a message, absent and default are the same. */
static bool is_alike(const struct field *f, const void *was, const void *now)
{
    const struct field fields[] = { *f, { 0 } };
    const struct shape one = { "one", SIZE_MAX, fields };
    struct buf a = { 0 }, b = { 0 };
    bool alike;

    shape_write(&one, was, &a);
    shape_write(&one, now, &b);
    alike = a.len == b.len && !memcmp(buf_data(&a), buf_data(&b), a.len);
    buf_free(&a);
    buf_free(&b);
    return alike;
}

static void put_changes(const struct shape *s, const void *was, const void *now, const char *path,
                        struct buf *to, struct arena *a)
{
    for (const struct field *f = s->fields; f->name; f++) {
        const char *name = *path ? arena_printf(a, "%s.%s", path, f->name) : f->name;

        if (is_alike(f, was, now))
            continue;
        if (f->type == FIELD_OBJ) {
            put_changes(f->sub, (const char *)was + f->offset, (const char *)now + f->offset, name,
                        to, a);
            continue;
        }
        buf_puts(to, to->len ? ", " : "");
        buf_puts(to, name);
    }
}

const char *plan_changes(const struct shape *s, const void *was, const void *now, struct arena *a)
{
    struct buf text = { 0 };
    const char *ret;

    put_changes(s, was, now, "", &text, a);
    ret = arena_strdup(a, buf_text(&text));
    buf_free(&text);
    return ret;
}

/* ---- the plan */

static int compare_names(const struct proc_meta *a, const struct proc_meta *b)
{
    int spaces = strcmp(a->space, b->space);

    return spaces ? spaces : strcmp(a->name, b->name);
}

static int plan_by_name(const void *a, const void *b)
{
    const struct local_spec *p = a, *q = b;

    return compare_names(&p->meta, &q->meta);
}

static struct plan_step step_for(const struct spec_process *p, const struct local_spec *known,
                                 struct arena *a)
{
    struct plan_step step = {
        .meta = p->meta, .spec = &p->spec, .path = p->path, .changes = "", .text = ""
    };

    if (!known) {
        step.action = PLAN_NEW;
        return step;
    }
    step.changes = plan_changes(&proc_spec_shape, &known->spec, &p->spec, a);
    /* Where it comes from is no reason to restart it. */
    step.running = known->running && strcmp(step.changes, "holdfast.source") != 0;
    if (!*step.changes)
        step.action = PLAN_SAME;
    else
        step.action = known->hosted ? PLAN_CHANGED : PLAN_STOPPED;
    return step;
}

static void plan_add(struct plan *plan, struct plan_step step)
{
    struct plan_step *steps = plan->steps.items;

    steps[plan->steps.n++] = step;
    plan->n[step.action]++;
}

static void add_unlisted(struct plan *plan, const struct local_spec *s, const char *folder)
{
    struct plan_step step = {
        .action = PLAN_REMOVED, .meta = s->meta, .path = "", .changes = "", .text = ""
    };

    step.running = s->running;
    if (!strcmp(s->spec.extra.source, folder))
        plan_add(plan, step);
}

/* Both lists are sorted: walks them side by side. */
void plan_make(const char *folder, const struct list *processes, struct list *specs,
               struct arena *a, struct plan *ret)
{
    const struct spec_process *p = processes->items;
    const struct local_spec *s = specs->items;
    size_t i = 0, j = 0;

    if (specs->n)
        qsort(specs->items, specs->n, sizeof(*s), plan_by_name);
    *ret = (struct plan){ 0 };
    ret->steps.items = arena_alloc(a, (processes->n + specs->n + 1) * sizeof(struct plan_step));
    while (i < processes->n || j < specs->n) {
        int order = i == processes->n ? 1
                    : j == specs->n   ? -1
                                      : compare_names(&p[i].meta, &s[j].meta);

        if (order > 0) {
            add_unlisted(ret, &s[j++], folder);
            continue;
        }
        plan_add(ret, step_for(&p[i++], order ? NULL : &s[j], a));
        j += !order;
    }
}
