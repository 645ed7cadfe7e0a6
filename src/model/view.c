/* SPDX-License-Identifier: MIT */
/* view.c - the shape of view.h. */
#include "model/view.h"

#include "model/rules.h"

#define AT(member) .offset = offsetof(struct proc_view, member)

/* clang-format off */
static const struct enum_name status_names[] = {
    { PROC_UNREGISTERED, "unregistered" }, { PROC_RUNNING, "running" }, { PROC_STOPPED, "stopped" }, { 0 },
};

static const struct field fields[] = {
    { "namespace", .type = FIELD_STR, AT(space), .flags = FIELD_REQUIRED, .min = 1, .max = NAME_MAX_BYTES,
      .check = rule_space, .doc = "with `name`: which process" },
    { "name", .type = FIELD_STR, AT(name), .flags = FIELD_REQUIRED, .min = 1, .max = NAME_MAX_BYTES,
      .check = rule_line, .doc = "unique within its namespace on a host" },
    { "wanted", .type = FIELD_ENUM, AT(wanted), .names = status_names, .doc = "what it should be" },
    { "status", .type = FIELD_ENUM, AT(status), .names = status_names, .doc = "what it is" },
    { "hosted", .type = FIELD_BOOL, AT(hosted), .doc = "the agent keeps it alive" },
    { "pid", .type = FIELD_INT, AT(pid), .fallback = -1, .doc = "-1: not running" },
    { "restarts", .type = FIELD_INT, AT(restarts), WHY_NUMBER_RANGE, .doc = "since the last requested start" },
    { "why", .type = FIELD_STR, AT(why), .max = 1024, .flags = FIELD_OMIT_EMPTY | FIELD_ENGLISH,
      .doc = "one sentence: its state, and the reason" },
    { "cause", .type = FIELD_OBJ, AT(cause), .sub = &proc_cause_shape, .doc = "the facts behind `why`" },
    { "others", .type = FIELD_STR, AT(others), .max = 1024, .flags = FIELD_OMIT_EMPTY,
      .doc = "pids of further instances, if several are expected" },
    { "cmdline", .type = FIELD_STR, AT(cmdline), .max = 4096, .flags = FIELD_OMIT_EMPTY, .doc = "its command line" },
    { "version", .type = FIELD_STR, AT(version), .max = 1024, .flags = FIELD_OMIT_EMPTY,
      .doc = "output of version_cmd" },
    { "health", .type = FIELD_STR, AT(health), .max = 8192, .flags = FIELD_OMIT_EMPTY | FIELD_ENGLISH,
      .doc = "output of health_cmd" },
    { "checks", .type = FIELD_LIST, AT(checks), .max = CHECKS_MAX, .sub = &proc_check_view_shape,
      .flags = FIELD_OMIT_EMPTY, .doc = "its checks, if it has any" },
    { "stat", .type = FIELD_STR, AT(stat), .max = 16, .flags = FIELD_OMIT_EMPTY, .doc = "the kernel's one-letter process state" },
    { "start_time", .type = FIELD_STR, AT(start_time), .max = 64, .flags = FIELD_OMIT_EMPTY,
      .doc = "when the process started, local time" },
    { "utime", .type = FIELD_STR, AT(utime), .max = 32, .flags = FIELD_OMIT_EMPTY, .doc = "seconds in its own code" },
    { "stime", .type = FIELD_STR, AT(stime), .max = 32, .flags = FIELD_OMIT_EMPTY, .doc = "seconds in the kernel" },
    { "cpu", .type = FIELD_FLOAT, AT(cpu_percent), .flags = FIELD_OMIT_EMPTY,
      .doc = "percent of the machine; absent or 0 also: not measured yet" },
    { "cpu_avg", .type = FIELD_FLOAT, AT(cpu_percent_avg), .flags = FIELD_OMIT_EMPTY,
      .doc = "percent since its start" },
    { "mem", .type = FIELD_FLOAT, AT(mem_percent), .flags = FIELD_OMIT_EMPTY, .doc = "percent of the memory; the same" },
    { "mem_bytes", .type = FIELD_INT, AT(mem_bytes), .flags = FIELD_OMIT_EMPTY, .doc = "resident memory" },
    { "threads", .type = FIELD_INT, AT(threads), .flags = FIELD_OMIT_EMPTY, .doc = "how many it has" },
    { "elapsed_s", .type = FIELD_INT, AT(elapsed_s), WHY_NUMBER_RANGE, .flags = FIELD_OMIT_EMPTY,
      .doc = "seconds since its start" },
    { "register_s", .type = FIELD_INT, AT(register_s), WHY_NUMBER_RANGE, .flags = FIELD_OMIT_EMPTY, .doc = "known since" },
    { "last_start_s", .type = FIELD_INT, AT(last_start_s), WHY_NUMBER_RANGE, .flags = FIELD_OMIT_EMPTY,
      .doc = "last started at" },
    { "report_s", .type = FIELD_INT, AT(report_s), WHY_NUMBER_RANGE, .flags = FIELD_OMIT_EMPTY, .doc = "seen at" },
    { 0 },
};
/* clang-format on */
const struct shape proc_view_shape = { "process", sizeof(struct proc_view), fields,
                                       .doc = "A process as its agent sees it." };

static const struct proc_check_view *failing_check(const struct proc_view *v)
{
    const struct proc_check_view *checks = v->checks.items;

    for (size_t i = 0; i < v->checks.n; i++) {
        if (checks[i].state == CHECK_FAILING)
            return &checks[i];
    }
    return NULL;
}

const char *proc_view_failing(const struct proc_view *v)
{
    const struct proc_check_view *check = failing_check(v);

    if (check)
        return check->name;
    return v->cause.unhealthy_s > 0 && !v->checks.n ? "health_cmd" : NULL;
}

bool proc_view_is_healthy(const struct proc_view *v)
{
    const struct proc_check_view *checks = v->checks.items;

    for (size_t i = 0; i < v->checks.n; i++) {
        if (checks[i].state != CHECK_PASSING)
            return false;
    }
    return v->cause.unhealthy_s <= 0;
}

const char *proc_view_complaint(const struct proc_view *v)
{
    const struct proc_check_view *check = failing_check(v);

    if (check)
        return check->text ? check->text : "";
    return v->health ? v->health : "";
}

struct list proc_view_checks_in(const struct proc_view *v, enum lang lang, struct arena *a,
                                const char *(*fn)(const char *text, enum lang lang,
                                                  struct arena *a))
{
    const struct proc_check_view *from = v->checks.items;
    struct proc_check_view *to = arena_alloc(a, (v->checks.n + 1) * sizeof(*to));

    for (size_t i = 0; i < v->checks.n; i++) {
        to[i] = from[i];
        to[i].text = from[i].text ? fn(from[i].text, lang, a) : "";
    }
    return (struct list){ to, v->checks.n };
}

static void keep_checks(struct list *checks, struct arena *a)
{
    const struct proc_check_view *from = checks->items;
    struct proc_check_view *to = checks->n ? arena_alloc(a, checks->n * sizeof(*to)) : NULL;

    for (size_t i = 0; i < checks->n; i++) {
        to[i] = from[i];
        to[i].name = arena_strdup(a, from[i].name ? from[i].name : "");
        to[i].text = arena_strdup(a, from[i].text ? from[i].text : "");
    }
    checks->items = to;
}

void proc_view_keep(struct proc_view *v, struct arena *a)
{
    for (const struct field *f = fields; f->name; f++) {
        const char **text = (const char **)(void *)((char *)v + f->offset);

        if (f->type == FIELD_STR && !(f->flags & FIELD_MSG))
            *text = arena_strdup(a, *text ? *text : "");
    }
    keep_checks(&v->checks, a);
    proc_cause_keep(&v->cause, a);
}
