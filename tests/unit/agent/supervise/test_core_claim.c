/* SPDX-License-Identifier: MIT */
/* Two names that identify one running process: what each operation does under the second name while
 * the process is hosted under the first. */
#include "model/app.h"
#include "tests/lib/core_rig.h"

/* Hosts `a`, and lets `b` be the same process. */
static void share(void)
{
    struct rig_proc *a, *b;
    int64_t item;

    rig.has_one_pid_file = true;
    a = rig_proc("a");
    b = rig_proc("b");
    item = rig_operate(PROC_OP_START, "a");
    rig_pass(7000);
    assert_int_equal(rig_code(item), CODE_OK);
    b->pid = a->pid;
    a->pid = 0; /* in this rig it dies as `b`; the core knows it as `a` */
    b->has_pid_file = true;
}

static int64_t operate(const struct message_command *m)
{
    rig_tell(m);
    rig_pass(7000);
    assert_true(rig_result(m->item));
    return rig_code(m->item);
}

static void operations_are_not_refused_because_of_another_name(void **state)
{
    static const struct {
        int64_t op, code;
        bool is_hosted; /* `a`, afterwards */
    } rows[] = {
        { PROC_OP_START, CODE_RUNNING, true }, { PROC_OP_STOP, CODE_OK, true },
        { PROC_OP_QUERY, CODE_OK, true },      { PROC_OP_UNHOST, CODE_OK, true },
        { PROC_OP_RELOAD, CODE_OK, true },     { PROC_OP_KILL, CODE_OK, true },
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        for (int64_t may_host = MAY_HOST_NONE; may_host <= MAY_HOST_ALL; may_host++) {
            struct message_command m;

            rig_set_up(state);
            share();
            m = rig_command(rows[i].op, "b");
            m.may_host = may_host;
            m.spec.control.reload_cmd = "reload";
            rig_tell(&m);
            rig_pass(7000);
            assert_int_equal(rig_code(m.item), rows[i].code);
            assert_int_equal(rig_proc("a")->view.hosted, rows[i].is_hosted);
            assert_int_equal(rig_count_events("process_hosting_moved"), 0);
            rig_tear_down(state);
        }
    }
}

static void hosting_moves_to_a_name_that_is_the_same(void **state)
{
    static const int64_t ops[] = { PROC_OP_HOST, PROC_OP_RESTART };

    for (size_t i = 0; i < ARRAY_LEN(ops); i++) {
        for (int64_t may_host = MAY_HOST_SPACE; may_host <= MAY_HOST_ALL; may_host++) {
            struct message_command m;

            rig_set_up(state);
            share();
            m = rig_command(ops[i], "b");
            m.may_host = may_host;
            rig_tell(&m);
            rig_pass(7000);
            assert_int_equal(rig_code(m.item), CODE_OK);
            assert_false(rig_proc("a")->view.hosted);
            assert_true(rig_proc("b")->view.hosted);
            assert_int_equal(rig_proc("b")->view.status, PROC_RUNNING);
            assert_int_equal(rig_count_events("process_hosting_moved"), 1);
            assert_int_equal(rig_proc("a")->runs, 1); /* it was not started under both */
            assert_int_equal(rig_proc("b")->runs, ops[i] == PROC_OP_RESTART);
            rig_tear_down(state);
        }
    }
}

/* Perhaps its pid_path was forgotten in a copied spec: nothing moves, and the owner is named. */
static void a_start_of_what_is_hosted_as_another_names_it(void **state)
{
    static const struct {
        int64_t may_host;
        bool is_named;
    } rows[] = { { MAY_HOST_SPACE, true }, { MAY_HOST_ALL, true }, { 0, false } };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct message_command m;

        rig_set_up(state);
        share();
        m = rig_command(PROC_OP_START, "b");
        m.may_host = rows[i].may_host;
        m.hosts_running = m.stores_spec = true;
        assert_int_equal(operate(&m), CODE_RUNNING);
        assert_int_equal(strstr(rig_result(m.item)->text, "which is hosted as space:a") != NULL,
                         rows[i].is_named);
        assert_true(rig_proc("a")->view.hosted);
        assert_false(rig_proc("b")->view.hosted);
        assert_int_equal(rig_count_events("process_hosting_moved"), 0);
        rig_tear_down(state);
    }
}

static void the_event_names_the_new_name(void **state)
{
    struct message_command m;

    (void)state;
    share();
    m = rig_command(PROC_OP_HOST, "b");
    m.may_host = MAY_HOST_ALL;
    assert_int_equal(operate(&m), CODE_OK);
    assert_non_null(strstr(rig.event, "a is no longer hosted"));
    assert_non_null(strstr(rig.event, "is hosted as b from now on"));
    assert_true(rig.event_is_message);
    assert_non_null(strstr(rig.event_chinese, "b"));
}

static void after_a_move_one_name_restarts_it(void **state)
{
    struct message_command m;
    struct rig_proc *a, *b;

    (void)state;
    share();
    a = rig_proc("a");
    b = rig_proc("b");
    m = rig_command(PROC_OP_HOST, "b");
    m.may_host = MAY_HOST_ALL;
    assert_int_equal(operate(&m), CODE_OK);
    rig_die(b, 1);
    rig_pass(30 * 1000);
    assert_int_equal(a->runs, 1);
    assert_int_equal(b->runs, 1);
    assert_true(b->view.hosted);
}

static void a_move_survives_a_crash_of_the_agent(void **state)
{
    struct message_command m;

    (void)state;
    share();
    m = rig_command(PROC_OP_HOST, "b");
    m.may_host = MAY_HOST_ALL;
    assert_int_equal(operate(&m), CODE_OK);
    rig_crash(true);
    rig_pass(1000);
    assert_false(rig_proc("a")->view.hosted);
    assert_true(rig_proc("b")->view.hosted);
}

static void a_restart_that_fails_leaves_it_hosted_under_one_name(void **state)
{
    struct message_command m;

    (void)state;
    share();
    rig_proc("b")->status = 3;
    m = rig_command(PROC_OP_RESTART, "b");
    m.spec.control.restart_cmd = "restart";
    m.may_host = MAY_HOST_ALL;
    rig_tell(&m);
    rig_settle();
    assert_int_equal(rig_code(m.item), CODE_COMMAND);
    assert_false(rig_proc("a")->view.hosted);
    assert_true(rig_proc("b")->view.hosted);
}

static void anything_else_is_refused_and_changes_nothing(void **state)
{
    static const int64_t ops[] = { PROC_OP_HOST, PROC_OP_RESTART };
    static const struct {
        int64_t may_host;
        const char *space, *proc_name, *pid_path, *user, *text;
    } rows[] = {
        { MAY_HOST_NONE, "space", "d", "/srv/one.pid", "root", "hosted under another name" },
        { MAY_HOST_SPACE, "elsewhere", "d", "/srv/one.pid", "root", "hosted under another name" },
        { MAY_HOST_ALL, "space", "e", "/srv/one.pid", "root", "hosted as space:a" },
        { MAY_HOST_ALL, "space", "d", "/srv/link", "root", "hosted as space:a" },
        { MAY_HOST_ALL, "elsewhere", "d", "/srv/one.pid", "app", "hosted as space:a" },
        { MAY_HOST_NONE, "space", "d", "/srv/one.pid", "app", "hosted under another name" },
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        for (size_t j = 0; j < ARRAY_LEN(ops); j++) {
            struct message_command m;

            rig_set_up(state);
            share();
            m = rig_command(ops[j], "b");
            m.meta.space = rows[i].space;
            m.spec.identity.proc_name = rows[i].proc_name;
            m.spec.identity.pid_path = rows[i].pid_path;
            m.spec.identity.user = rows[i].user;
            m.may_host = rows[i].may_host;
            assert_int_equal(operate(&m), CODE_MATCH);
            assert_non_null(strstr(rig_result(m.item)->text, rows[i].text));
            assert_true(!strstr(rows[i].text, "another name") ||
                        !strstr(rig_result(m.item)->text, "space:a"));
            assert_true(rig_proc("a")->view.hosted);
            assert_false(rig_result(m.item)->hosted);
            assert_int_equal(rig_proc("b")->runs + rig_proc("b")->signals, 0);
            assert_int_equal(rig_count_events("process_hosting_moved"), 0);
            rig_tear_down(state);
        }
    }
}

/* Of our own API; it is not hosted twice. */
static void a_start_that_hosts_what_runs_leaves_that_to_the_other_name(void **state)
{
    struct message_command m;

    (void)state;
    share();
    m = rig_command(PROC_OP_START, "b");
    m.hosts_running = true;
    assert_int_equal(operate(&m), CODE_RUNNING);
    assert_true(rig_proc("a")->view.hosted);
    assert_false(rig_result(m.item)->hosted);
}

static void the_name_of_another_that_is_not_hosted_is_no_claim(void **state)
{
    struct message_command m;

    (void)state;
    share();
    rig_operate(PROC_OP_UNHOST, "a");
    rig_pass(1000);
    m = rig_command(PROC_OP_HOST, "b");
    assert_int_equal(operate(&m), CODE_OK);
    assert_true(rig_proc("b")->view.hosted);
    assert_int_equal(rig_count_events("process_hosting_moved"), 0);
}

/* A push of a registered spec is no request to host the process under this name. */
static void a_spec_that_is_renewed_moves_nothing(void **state)
{
    struct message_command m;

    (void)state;
    share();
    m = rig_command(PROC_OP_HOST, "b");
    m.only_if_hosted = true;
    m.may_host = MAY_HOST_ALL;
    assert_int_equal(operate(&m), CODE_NOT_REGISTERED);
    assert_true(rig_proc("a")->view.hosted);
}

/* Both would start it. */
static void hosting_moves_also_while_it_is_down(void **state)
{
    static const struct {
        int64_t may_host, code;
    } rows[] = { { MAY_HOST_NONE, CODE_MATCH },
                 { MAY_HOST_SPACE, CODE_OK },
                 { MAY_HOST_ALL, CODE_OK } };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        bool moves = rows[i].code == CODE_OK;
        struct message_command a, b;

        rig_set_up(state);
        rig.has_one_pid_file = true;
        a = rig_command(PROC_OP_HOST, "a");
        b = rig_command(PROC_OP_HOST, "b");
        b.may_host = rows[i].may_host;
        rig.is_blind = true; /* the first start of `a` has not begun */
        rig_tell(&a);
        rig_settle();
        rig.is_blind = false;
        rig_tell(&b);
        rig_pass(7000);
        assert_int_equal(rig_code(a.item), CODE_OK);
        assert_int_equal(rig_code(b.item), rows[i].code);
        assert_int_equal(rig_proc("a")->view.hosted, !moves);
        assert_int_equal(rig_count_events("process_hosting_moved"), moves);
        rig_tear_down(state);
    }
}

/* Of several, each in a namespace of its own but the first, which is the caller's. */
static void hosting_of_all_that_are_down_moves_or_none(void **state)
{
    static const char *const spaces[] = { "space", "other1", "other2", "other3" };
    static const struct {
        int64_t may_host, code;
        size_t n; /* of the names that are hosted before */
    } rows[] = { { MAY_HOST_SPACE, CODE_MATCH, 4 },
                 { MAY_HOST_SPACE, CODE_MATCH, 2 },
                 { MAY_HOST_SPACE, CODE_OK, 1 },
                 { MAY_HOST_ALL, CODE_OK, 4 } };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        bool moves = rows[i].code == CODE_OK;
        struct message_command b;
        char name[8];

        rig_set_up(state);
        rig.has_one_pid_file = true;
        for (size_t j = 0; j < rows[i].n; j++) {
            struct message_command m;

            snprintf(name, sizeof(name), "d%zu", j);
            m = rig_command(PROC_OP_START, name);
            m.meta.space = spaces[j];
            assert_int_equal(operate(&m), CODE_OK);
        }
        for (size_t j = 0; j < rows[i].n; j++) {
            snprintf(name, sizeof(name), "d%zu", j);
            rig_proc(name)->is_idle = true; /* they stay down */
            rig_die(rig_proc(name), 1);
        }
        b = rig_command(PROC_OP_HOST, "b");
        b.may_host = rows[i].may_host;
        rig_tell(&b);
        rig_pass(7000);
        assert_int_equal(rig_code(b.item), rows[i].code);
        assert_int_equal(rig_count_events("process_hosting_moved"), moves ? rows[i].n : 0);
        for (size_t j = 0; j < rows[i].n; j++) {
            snprintf(name, sizeof(name), "d%zu", j);
            assert_int_equal(rig_proc(name)->view.hosted, !moves);
        }
        rig_tear_down(state);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hosting_moves_also_while_it_is_down),
        cmocka_unit_test(hosting_of_all_that_are_down_moves_or_none),
        cmocka_unit_test(operations_are_not_refused_because_of_another_name),
        cmocka_unit_test(hosting_moves_to_a_name_that_is_the_same),
        cmocka_unit_test(a_start_of_what_is_hosted_as_another_names_it),
        RIG_TEST(the_event_names_the_new_name),
        RIG_TEST(after_a_move_one_name_restarts_it),
        RIG_TEST(a_move_survives_a_crash_of_the_agent),
        RIG_TEST(a_restart_that_fails_leaves_it_hosted_under_one_name),
        cmocka_unit_test(anything_else_is_refused_and_changes_nothing),
        RIG_TEST(a_start_that_hosts_what_runs_leaves_that_to_the_other_name),
        RIG_TEST(the_name_of_another_that_is_not_hosted_is_no_claim),
        RIG_TEST(a_spec_that_is_renewed_moves_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
