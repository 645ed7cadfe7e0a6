/* SPDX-License-Identifier: MIT */
/* What is left of the processes of a whole agent, with cgroups and without: agent_family.c. */
#include "agent/shell/agent_family.h"

#include "agent/confine/cgroup.h"
#include "agent/identify/procfs.h"
#include "agent/shell/agent_parts.h"
#include "agent/shell/agent_trim.h"
#include "agent/shell/agent_watch.h"
#include "tests/lib/folder.h"
#include "tests/lib/whole_agent.h"

enum { CHILDREN = 3 };

static const struct proc_word by_name[] = { { "other" }, { "victim" } };

static void start_agent(enum cgroup_use cgroups, const struct list *scope_by_name)
{
    const struct agent_options o = { .dir = whole.data,
                                     .output_max_bytes = 1 << 20,
                                     .cgroups = cgroups,
                                     .scope_by_name = scope_by_name,
                                     .send = whole_on_send };

    whole_start(&o);
}

static int set_up(void **state)
{
    (void)state;
    whole_set_up();
    return 0;
}

static const struct whole_answer *answer_to(int64_t op, const struct proc_spec *spec)
{
    const struct whole_answer *a = &whole_answers[whole_command(op, "one", spec)];

    TURN_UNTIL(a->has_come);
    return a;
}

static struct core_ident ident_now(int64_t pid)
{
    struct procfs_stat st;
    struct err err;

    assert_int_equal(procfs_stat((pid_t)pid, &st, &err), 0);
    return (struct core_ident){ pid, st.start_ticks };
}

/* Starts it; it is its own start command, and not restarted when it ends. */
static struct core_family start_one(const struct proc_spec *spec)
{
    const struct whole_answer *a = answer_to(PROC_OP_START, spec);
    struct core_ident main;

    if (a->code)
        fail_msg("%s", a->text);
    main = ident_now(a->pid);
    assert_int_equal(answer_to(PROC_OP_UNHOST, spec)->code, 0);
    return (struct core_family){
        .space = "space", .name = "one", .spec = spec, .main = main, .start = main, .siblings = ""
    };
}

static struct core_ident children[CHILDREN];
static size_t n_children;

static bool note_child(void *arg, pid_t pid)
{
    (void)arg;
    children[n_children++] = ident_now(pid);
    return n_children < CHILDREN;
}

static void note_children(int64_t pid)
{
    struct err err;

    for (n_children = 0; n_children < CHILDREN; poll(NULL, 0, 1)) {
        n_children = 0;
        assert_int_equal(procfs_each_child((pid_t)pid, note_child, NULL, &err), 0);
    }
}

static size_t living_children(void)
{
    size_t n = 0;

    for (size_t i = 0; i < n_children; i++)
        n += watch_lives(whole.agent->watches, children[i]);
    return n;
}

static void end_main(const struct core_family *f)
{
    world_kill(f->main.pid);
    TURN_UNTIL(!watch_lives(whole.agent->watches, f->main));
}

static bool has_family(const struct core_family *f)
{
    return families_has(whole.agent->families, f);
}

/* It is hosted again, so the core ends what is left before it starts the next. */
static void what_a_dead_process_leaves_is_ended(enum cgroup_use use)
{
    const struct proc_spec spec = whole_spec("one", "./victim --children 3");
    struct core_family f;

    start_agent(use, NULL);
    f = start_one(&spec);
    note_children(f.main.pid);
    assert_true(has_family(&f));
    assert_int_equal(answer_to(PROC_OP_HOST, &spec)->code, 0);
    end_main(&f);
    TURN_UNTIL(!living_children());
    whole_stop();
}

static void with_cgroups(void **state)
{
    (void)state;
    what_a_dead_process_leaves_is_ended(CGROUPS_ALL);
}

static void without_cgroups(void **state)
{
    (void)state;
    what_a_dead_process_leaves_is_ended(CGROUPS_OFF);
}

/* So the next start need not wait for anything, not even for the dead one to be reaped. */
static void one_that_leaves_nobody_has_no_family_at_once(void **state)
{
    static const enum cgroup_use uses[] = { CGROUPS_ALL, CGROUPS_OFF };
    const struct proc_spec spec = whole_spec("one", "./victim");

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(uses); i++) {
        struct core_family f;

        start_agent(uses[i], NULL);
        f = start_one(&spec);
        end_main(&f);
        TURN_UNTIL(!has_family(&f)); /* the agent may have yet to hear of the end */
        whole_stop();
    }
}

static void by_its_name_or_its_scope_a_process_ends_alone(void **state)
{
    const struct list names = { (void *)(uintptr_t)by_name, ARRAY_LEN(by_name) };
    struct proc_spec spec = whole_spec("one", "./victim --children 3");
    struct core_family f;

    (void)state;
    spec.extra.scope = SCOPE_PROCESS;
    start_agent(CGROUPS_ALL, &names);
    f = start_one(&spec);
    note_children(f.main.pid);
    assert_false(has_family(&f));
    spec.extra.scope = SCOPE_DEFAULT;
    assert_false(has_family(&f));
    spec.extra.scope = SCOPE_FAMILY; /* the spec comes first */
    assert_true(has_family(&f));
    spec.extra.scope = SCOPE_DEFAULT;
    families_set(whole.agent->families, NULL);
    assert_true(has_family(&f));
    spec.identity.proc_name = "sshd";
    assert_false(has_family(&f));
    spec.identity.proc_name = "victim";
    assert_int_equal(answer_to(PROC_OP_STOP, &spec)->code, 0);
    assert_false(watch_lives(whole.agent->watches, f.main));
    assert_int_equal(living_children(), CHILDREN);
    whole_stop();
}

static bool has_groups(void)
{
    return whole.agent->base.facilities.has[HAS_CGROUP];
}

static void a_reload_command_runs_where_its_process_does(void **state)
{
    struct proc_spec spec = whole_spec("one", "./victim");
    char group[OUTLOG_NAME_SIZE], *text;

    (void)state;
    output_name("space", "one", "start", group);
    spec.control.reload_cmd = "cat /proc/self/cgroup >reloaded; sleep 0.01";
    spec.control.stop_cmd = "cat /proc/self/cgroup >stopped; kill $(cat one.pid)";
    start_agent(CGROUPS_ALL, NULL);
    if (!has_groups())
        skip();
    start_one(&spec);
    assert_int_equal(answer_to(PROC_OP_RELOAD, &spec)->code, 0);
    text = folder_text(world_text("%s/reloaded", whole.dir));
    assert_non_null(strstr(text, group));
    free(text);
    assert_int_equal(answer_to(PROC_OP_STOP, &spec)->code, 0);
    text = folder_text(world_text("%s/stopped", whole.dir));
    assert_null(strstr(text, group));
    free(text);
    whole_stop();
}

static void scope_start_is_refused_without_cgroups(void **state)
{
    struct proc_spec spec = whole_spec("one", "./victim");
    const struct whole_answer *a;

    (void)state;
    spec.extra.scope = SCOPE_START;
    start_agent(CGROUPS_OFF, NULL);
    a = answer_to(PROC_OP_START, &spec);
    assert_int_equal(a->code, CODE_SYSTEM);
    assert_non_null(strstr(a->text, "spec.holdfast.scope: start is not possible on this host, the "
                                    "setting cgroups says off"));
    whole_stop();
    start_agent(CGROUPS_WHEN_NEEDED, NULL);
    if (has_groups()) {
        assert_false(cgroups_are_used(whole.agent->base.cgroups));
        start_one(&spec);
        assert_true(cgroups_are_used(whole.agent->base.cgroups));
    }
    whole_stop();
}

static void a_group_that_another_has_killed_is_used_again(void **state)
{
    const struct proc_spec spec = whole_spec("one", "./victim");
    char group[OUTLOG_NAME_SIZE], folder[512];
    struct core_family f;
    struct err err;

    (void)state;
    output_name("space", "one", "start", group);
    start_agent(CGROUPS_ALL, NULL);
    if (!has_groups())
        skip();
    for (int i = 0; i < 3; i++) {
        f = start_one(&spec);
        assert_true(cgroup_has(whole.agent->base.cgroups, group, f.main.pid));
        assert_true(cgroup_folder(whole.agent->base.cgroups, group, folder, sizeof(folder)));
        assert_int_equal(cgroup_end(folder, &err), 0);
        TURN_UNTIL(!watch_lives(whole.agent->watches, f.main));
    }
    whole_stop();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, whole_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(with_cgroups),
        TEST(without_cgroups),
        TEST(one_that_leaves_nobody_has_no_family_at_once),
        TEST(by_its_name_or_its_scope_a_process_ends_alone),
        TEST(a_reload_command_runs_where_its_process_does),
        TEST(scope_start_is_refused_without_cgroups),
        TEST(a_group_that_another_has_killed_is_used_again),
    };

    if (geteuid())
        return WORLD_SKIPPED;
    return cmocka_run_group_tests_name("agent_family", tests, NULL, NULL);
}
