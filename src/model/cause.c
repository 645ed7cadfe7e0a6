/* SPDX-License-Identifier: MIT */
/* cause.c - see cause.h. */
#include "model/cause.h"

#include "model/operation.h"

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
#define RUN_AT(member) .offset = offsetof(struct proc_run, member)
static const struct field run_fields[] = {
    { "begun_s", .type = FIELD_INT, RUN_AT(begun_s), WHY_NUMBER_RANGE, .doc = "when it started" },
    { "duration_ms", .type = FIELD_INT, RUN_AT(duration_ms), WHY_NUMBER_RANGE, .doc = "how long it took" },
    { "code", .type = FIELD_INT, RUN_AT(code), WHY_NUMBER_RANGE, .doc = "0, or why it failed" },
    { "exit_code", .type = FIELD_INT, RUN_AT(exit_code), .min = -1, .max = 255, .fallback = -1,
      .doc = "its exit code; -1: ended by a signal, or not known" },
    { "exit_signal", .type = FIELD_INT, RUN_AT(exit_signal), WHY_NUMBER_RANGE, .flags = FIELD_OMIT_EMPTY,
      .doc = "the signal that ended it" },
    { "output", .type = FIELD_STR, RUN_AT(output), .max = 3 * WHY_OUTPUT_BYTES, .flags = FIELD_OMIT_EMPTY | FIELD_ENGLISH,
      .doc = "its last lines" },
    { 0 },
};
const struct shape proc_run_shape = { "run", sizeof(struct proc_run), run_fields,
                                      .doc = "A run of a periodic process." };

static const struct field fields[] = {
    NUMBER("since_s", since_s, "when it last started or ended"),
    { "doing", .type = FIELD_INT, AT(doing), .min = -1, .max = PROC_OP_END - 1, .fallback = -1,
      .doc = "op_type of the operation in progress; -1: none" },
    { "instead", .type = FIELD_STR, AT(instead), .max = 3 * WHY_TEXT_BYTES, .flags = FIELD_OMIT_EMPTY,
      .doc = "of a start in progress: its command runs, but as another program than expected" },
    { "instead_msg", .type = FIELD_STR, AT(instead), .max = 6 * WHY_TEXT_BYTES, .flags = FIELD_MSG,
      .doc = "`instead` with its format and arguments apart, for other languages; absent if it has none" },
    NUMBER("exit_s", exit_s, "when it ended last; absent: never"),
    NUMBER("exit_pid", exit_pid, "the pid it had"),
    { "exit_code", .type = FIELD_INT, AT(exit_code), .min = -1, .max = 255, .fallback = -1,
      .doc = "its exit code; -1: ended by a signal, or not known" },
    NUMBER("exit_signal", exit_signal, "the signal that ended it"),
    FLAG("exit_core", exit_core, "it left a core"),
    FLAG("exit_oom", exit_oom, "the kernel killed it because memory ran out"),
    FLAG("exit_oom_perhaps", exit_oom_perhaps,
         "it was killed by SIGKILL right after the kernel killed a process because memory ran out: perhaps this one"),
    { "output", .type = FIELD_STR, AT(output), .max = 3 * WHY_OUTPUT_BYTES, .flags = FIELD_OMIT_EMPTY,
      .doc = "last lines of output of the process, or of the command that failed" },
    NUMBER("failed_s", failed_s, "when an operation, or a restart, failed last"),
    NUMBER("failed_op", failed_op, "its op_type"),
    NUMBER("failed_code", failed_code, "its code"),
    { "failed_text", .type = FIELD_STR, AT(failed_text), .max = 3 * WHY_TEXT_BYTES, .flags = FIELD_OMIT_EMPTY,
      .doc = "what went wrong: what was found, what was expected" },
    { "failed_text_msg", .type = FIELD_STR, AT(failed_text), .max = 6 * WHY_TEXT_BYTES, .flags = FIELD_MSG,
      .doc = "`failed_text` with its format and arguments apart, for other languages; absent if it has none" },
    NUMBER("tries", tries, "automatic restarts in a row"),
    { "tries_max", .type = FIELD_INT, AT(tries_max), .min = -1, .max = WHY_NUMBER_MAX, .flags = FIELD_OMIT_EMPTY,
      .doc = "automatic restarts before it is given up; -1: unlimited" },
    NUMBER("next_try_s", next_try_s, "when the next restart is"),
    NUMBER("recent_restarts", recent_restarts, "automatic restarts in the 10 minutes before the last one, which counts too"),
    NUMBER("recent_s", recent_s, "when it was last restarted automatically"),
    FLAG("has_old_spec", has_old_spec, "its spec was changed while it ran: it runs with the previous one until its next start"),
    FLAG("has_given_up", has_given_up, "restarts were given up, so it is no longer hosted"),
    FLAG("has_finished", has_finished,
         "it ended as expected: a process that runs once, or one that ended with one of its `exit_codes`"),
    NUMBER("instances", instances, "matching processes, if several are expected"),
    NUMBER("instances_wanted", instances_wanted, "how many are expected"),
    FLAG("is_periodic", is_periodic, "it runs by a schedule, or on request"),
    NUMBER("next_run_s", next_run_s, "when a periodic process runs next"),
    { "runs", .type = FIELD_LIST, AT(runs), .max = WHY_RUNS, .sub = &proc_run_shape, .flags = FIELD_OMIT_EMPTY,
      .doc = "the last runs of a periodic process, newest first" },
    { "waits_for", .type = FIELD_STR, AT(waits_for), .max = 3 * WHY_TEXT_BYTES, .flags = FIELD_OMIT_EMPTY,
      .doc = "the process that has to be up first" },
    NUMBER("limit_s", limit_s, "when it was last stopped for exceeding a limit"),
    { "limit_text", .type = FIELD_STR, AT(limit_text), .max = 3 * WHY_TEXT_BYTES, .flags = FIELD_OMIT_EMPTY,
      .doc = "its usage, and the limit" },
    { "limit_text_msg", .type = FIELD_STR, AT(limit_text), .max = 6 * WHY_TEXT_BYTES, .flags = FIELD_MSG,
      .doc = "`limit_text` with its format and arguments apart, for other languages; absent if it has none" },
    NUMBER("changed_s", changed_s, "when it was last restarted because a file had changed"),
    { "changed_file", .type = FIELD_STR, AT(changed_file), .max = 3 * WHY_TEXT_BYTES, .flags = FIELD_OMIT_EMPTY,
      .doc = "this file" },
    NUMBER("unhealthy_s", unhealthy_s, "health_cmd has failed since then"),
    { "left", .type = FIELD_STR, AT(left), .max = 3 * WHY_TEXT_BYTES, .flags = FIELD_OMIT_EMPTY,
      .doc = "processes that belong to it, and still run although it has ended: name and pid" },
    { "drift", .type = FIELD_STR, AT(drift), .max = 3 * WHY_TEXT_BYTES, .flags = FIELD_OMIT_EMPTY,
      .doc = "files of its configmap with other content than expected" },
    { 0 },
};
/* clang-format on */
const struct shape proc_cause_shape = { "cause", sizeof(struct proc_cause), fields,
                                        .doc = "The facts that explain a process's state." };

static void keep_runs(struct list *runs, struct arena *a)
{
    const struct proc_run *from = runs->items;
    struct proc_run *to = runs->n ? arena_alloc(a, runs->n * sizeof(*to)) : NULL;

    for (size_t i = 0; i < runs->n; i++) {
        to[i] = from[i];
        to[i].output = arena_strdup(a, from[i].output ? from[i].output : "");
    }
    runs->items = to;
}

void proc_cause_keep(struct proc_cause *c, struct arena *a)
{
    keep_runs(&c->runs, a);
    for (const struct field *f = fields; f->name; f++) {
        const char **text = (const char **)(void *)((char *)c + f->offset);

        if (f->type == FIELD_STR && !(f->flags & FIELD_MSG))
            *text = arena_strdup(a, *text ? *text : "");
    }
}
