/* SPDX-License-Identifier: MIT */
/* why.c - see why.h. */
#include "model/why.h"

#include "model/view.h"

#define AT(member) .offset = offsetof(struct proc_cause, member)
#define NUMBER(field_name, member, text)                                                           \
    {                                                                                              \
        field_name, .type = FIELD_INT, AT(member), WHY_NUMBER_RANGE, .flags = FIELD_OMIT_EMPTY,    \
                    .doc = text                                                                    \
    }
#define FLAG(field_name, member, text)                                                             \
    {                                                                                              \
        field_name, .type = FIELD_BOOL, AT(member), .flags = FIELD_OMIT_EMPTY, .doc = text         \
    }

/* clang-format off */
static const struct field fields[] = {
    NUMBER("since_s", since_s, "it has been running, or not, since then"),
    { "doing", .type = FIELD_INT, AT(doing), .min = -1, .max = 9, .fallback = -1,
      .doc = "op_type of the operation in work; -1: none" },
    NUMBER("exit_s", exit_s, "when it ended last; absent: never"),
    NUMBER("exit_pid", exit_pid, "the pid it had"),
    { "exit_code", .type = FIELD_INT, AT(exit_code), .min = -1, .max = 255, .fallback = -1,
      .doc = "its exit code; -1: ended otherwise, or nobody knows" },
    NUMBER("exit_signal", exit_signal, "the signal that ended it"),
    FLAG("exit_core", exit_core, "it left a core"),
    FLAG("exit_oom", exit_oom, "the kernel ended it because memory ran out"),
    { "output", .type = FIELD_STR, AT(output), .max = 3 * WHY_OUTPUT_BYTES, .flags = FIELD_OMIT_EMPTY,
      .doc = "the last lines it, or the command that failed, had said" },
    NUMBER("failed_s", failed_s, "when an operation, or a restart, failed last"),
    NUMBER("failed_op", failed_op, "its op_type"),
    NUMBER("failed_code", failed_code, "its code"),
    { "failed_text", .type = FIELD_STR, AT(failed_text), .max = 3 * WHY_TEXT_BYTES, .flags = FIELD_OMIT_EMPTY,
      .doc = "what went wrong: what was found, what was expected" },
    NUMBER("tries", tries, "to pull it up, in a row"),
    { "tries_max", .type = FIELD_INT, AT(tries_max), .min = -1, .max = WHY_NUMBER_MAX, .flags = FIELD_OMIT_EMPTY,
      .doc = "before it is given up; -1: never" },
    NUMBER("next_try_s", next_try_s, "when the next try is"),
    FLAG("has_given_up", has_given_up, "so it is hosted no more"),
    FLAG("has_finished", has_finished, "a run-once process that did what it was to do"),
    NUMBER("instances", instances, "processes that fit, where several are expected"),
    NUMBER("instances_wanted", instances_wanted, "how many are expected"),
    { 0 },
};
/* clang-format on */
const struct shape proc_cause_shape = { "cause", sizeof(struct proc_cause), fields,
                                        .doc = "Why a process is as it is." };

void proc_cause_keep(struct proc_cause *c, struct arena *a)
{
    for (const struct field *f = fields; f->name; f++) {
        const char **text = (const char **)(void *)((char *)c + f->offset);

        if (f->type == FIELD_STR)
            *text = arena_strdup(a, *text ? *text : "");
    }
}
