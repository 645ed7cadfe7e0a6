/* SPDX-License-Identifier: MIT */
/* Promises of cli/spec_plan.h: which step each pair of a described and a known process gives. */
#include "cli/spec_plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/mem/mem.h"

#define FOLDER "/etc/holdfast/processes.d"

static struct proc_spec spec_of(const char *command, const char *source)
{
    struct proc_spec s;

    shape_defaults(&proc_spec_shape, &s);
    s.control.start_cmd = command;
    s.has_control = PRESENCE_GIVEN;
    s.extra.source = source;
    return s;
}

static struct spec_process described(const char *name, const char *command)
{
    return (struct spec_process){ { "shop", name, { 0 } }, spec_of(command, FOLDER), "web.yaml" };
}

static struct local_spec known(const char *name, const char *command, const char *source,
                               bool hosted)
{
    return (struct local_spec){ { "shop", name, { 0 } }, spec_of(command, source), hosted, hosted };
}

static void every_pair_has_its_step(void **state)
{
    struct spec_process files[] = { described("a", "x"), described("b", "x"), described("c", "x"),
                                    described("d", "x"), described("e", "x") };
    struct local_spec agents[] = {
        known("z", "x", "", true),      known("e", "y", FOLDER, false),
        known("d", "x", "", true),      known("y", "x", FOLDER, true),
        known("c", "y", FOLDER, true),  known("b", "x", FOLDER, true),
        known("0", "x", FOLDER, false), known("x", "x", "/other", true)
    };
    static const struct {
        const char *name;
        enum plan_action action;
        const char *changes;
    } steps[] = {
        { "0", PLAN_REMOVED, "" },
        { "a", PLAN_NEW, "" },
        { "b", PLAN_SAME, "" },
        { "c", PLAN_CHANGED, "control.start_cmd" },
        { "d", PLAN_CHANGED, "holdfast.source" },
        { "e", PLAN_STOPPED, "control.start_cmd" },
        { "y", PLAN_REMOVED, "" },
    };
    struct list processes = { files, ARRAY_LEN(files) }, specs = { agents, ARRAY_LEN(agents) };
    struct arena a = { 0 };
    const struct plan_step *got;
    struct plan plan;

    (void)state;
    plan_make(FOLDER, &processes, &specs, &a, &plan);
    assert_int_equal(plan.steps.n, ARRAY_LEN(steps));
    got = plan.steps.items;
    for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
        assert_string_equal(got[i].meta.name, steps[i].name);
        assert_int_equal(got[i].action, steps[i].action);
        assert_string_equal(got[i].changes, steps[i].changes);
    }
    assert_true(got[3].running);
    assert_false(got[4].running); /* only its source is another: it is not restarted */
    assert_int_equal(plan.n[PLAN_REMOVED], 2);
    assert_int_equal(plan.n[PLAN_CHANGED], 2);
    arena_free(&a);
}

static void nothing_gives_no_steps(void **state)
{
    struct list none = { 0 }, nothing = { 0 };
    struct arena a = { 0 };
    struct plan plan;

    (void)state;
    plan_make(FOLDER, &none, &nothing, &a, &plan);
    assert_int_equal(plan.steps.n, 0);
    arena_free(&a);
}

static void differences_have_full_paths(void **state)
{
    struct proc_spec was = spec_of("x", ""), now = spec_of("x", "");
    struct arena a = { 0 };

    (void)state;
    assert_string_equal(plan_changes(&proc_spec_shape, &was, &now, &a), "");
    now.extra.ready.port = 80;
    now.extra.nice = 3;
    now.identity.user = "web";
    now.has_identity = PRESENCE_GIVEN;
    assert_string_equal(plan_changes(&proc_spec_shape, &was, &now, &a),
                        "identity.user, holdfast.ready.port, holdfast.nice");
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pair_has_its_step),
        cmocka_unit_test(nothing_gives_no_steps),
        cmocka_unit_test(differences_have_full_paths),
    };

    return cmocka_run_group_tests_name("spec_plan", tests, NULL, NULL);
}
