/* SPDX-License-Identifier: MIT */
#include "fleetsim/fleet_procs.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h needs the headers above. */
#include <cmocka.h>

#include "base/mem/mem.h"
#include "model/code.h"

enum { NOW = 1700000000 };

struct world {
    struct fleet_names names;
    struct fleet_procs procs;
};

static int set_up(void **state)
{
    struct world *w = xalloc(sizeof(*w));

    fleet_names_init(&w->names, "sim", 3);
    fleet_procs_init(&w->procs, &w->names, NOW);
    *state = w;
    return 0;
}

static int tear_down(void **state)
{
    struct world *w = *state;

    fleet_procs_done(&w->procs);
    fleet_names_done(&w->names);
    free(w);
    return 0;
}

static struct fleet_outcome operate(struct world *w, const char *name, int64_t op)
{
    const struct proc_meta meta = { .space = "sim", .name = name };
    struct fleet_outcome o;

    fleet_procs_operate(&w->procs, &meta, op, false, NOW + 5, &o);
    return o;
}

static struct proc_view view_of(const struct fleet_dummy *proc)
{
    struct proc_view v;

    fleet_dummy_view(proc, false, NOW + 9, &v);
    return v;
}

static void check_running(const struct fleet_procs *p)
{
    size_t running = 0;

    for (size_t i = 0; i < p->n; i++)
        running += p->list[i].pid != 0;
    assert_int_equal(p->running, running);
}

/* The outcome of an operation on a running, a stopped and an unknown process. */
static void operations_give_what_an_agent_gives(void **state)
{
    static const struct {
        int64_t op;
        int running, stopped, unknown;
        bool runs_then, is_made; /* the running one still runs; an unknown one is added */
    } cases[] = {
        /* clang-format off */
        { PROC_OP_START,   CODE_RUNNING, CODE_OK,          CODE_OK,          true,  true },
        { PROC_OP_STOP,    CODE_OK,      CODE_NOT_RUNNING, CODE_NOT_RUNNING, false, false },
        { PROC_OP_QUERY,   CODE_OK,      CODE_OK,          CODE_OK,          true,  false },
        { PROC_OP_HOST,    CODE_OK,      CODE_OK,          CODE_OK,          true,  true },
        { PROC_OP_UNHOST,  CODE_OK,      CODE_OK,          CODE_OK,          true,  false },
        { PROC_OP_RESTART, CODE_OK,      CODE_OK,          CODE_OK,          true,  true },
        { PROC_OP_RELOAD,  CODE_OK,      CODE_NOT_RUNNING, CODE_NOT_RUNNING, true,  false },
        { PROC_OP_KILL,    CODE_OK,      CODE_NOT_RUNNING, CODE_NOT_RUNNING, false, false },
        { 5,               CODE_UNKNOWN_OP, CODE_UNKNOWN_OP, CODE_UNKNOWN_OP, true, false },
        /* clang-format on */
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct fleet_outcome o;
        struct world *w;

        tear_down(state);
        set_up(state);
        w = *state;
        assert_int_equal(operate(w, "proc-01", PROC_OP_STOP).code, CODE_OK);
        o = operate(w, "proc-00", cases[i].op);
        assert_int_equal(o.code, cases[i].running);
        assert_int_equal(o.proc.pid != 0, cases[i].runs_then);
        assert_int_equal(operate(w, "proc-01", cases[i].op).code, cases[i].stopped);
        assert_int_equal(operate(w, "other", cases[i].op).code, cases[i].unknown);
        assert_int_equal(fleet_procs_find(&w->procs, "sim", "other") != NULL, cases[i].is_made);
        check_running(&w->procs);
    }
}

static void wanted_hosted_and_actual_move_apart(void **state)
{
    struct world *w = *state;
    struct fleet_outcome o = operate(w, "proc-00", PROC_OP_STOP);
    struct proc_view v = view_of(&o.proc);

    assert_int_equal(v.status, PROC_STOPPED);
    assert_int_equal(v.wanted, PROC_STOPPED);
    assert_int_equal(v.pid, -1);
    assert_false(v.hosted);
    assert_int_equal(v.cause.exit_signal, SIGTERM);
    o = operate(w, "proc-00", PROC_OP_HOST);
    v = view_of(&o.proc);
    assert_true(v.hosted && o.owes_start);
    assert_int_equal(v.status, PROC_STOPPED);
    assert_true(fleet_dummy_revive(&w->procs, o.moved, NOW + 6));
    o = operate(w, "proc-00", PROC_OP_UNHOST);
    v = view_of(&o.proc);
    assert_false(v.hosted || o.owes_start);
    assert_int_equal(v.status, PROC_RUNNING);
}

static void only_a_hosted_process_takes_a_new_spec(void **state)
{
    const struct proc_meta meta = { .space = "sim", .name = "other" };
    struct world *w = *state;
    struct fleet_outcome o;

    fleet_procs_operate(&w->procs, &meta, PROC_OP_HOST, true, NOW, &o);
    assert_int_equal(o.code, CODE_NOT_REGISTERED);
    assert_null(fleet_procs_find(&w->procs, "sim", "other"));
}

static void a_dead_process_is_reported_and_restarted(void **state)
{
    struct world *w = *state;
    struct fleet_dummy *proc = &w->procs.list[1];
    struct proc_view v;

    assert_true(fleet_dummy_die(&w->procs, proc, SIGSEGV, NOW + 3));
    assert_false(fleet_dummy_die(&w->procs, proc, SIGSEGV, NOW + 3));
    v = view_of(proc);
    assert_int_equal(v.status, PROC_STOPPED);
    assert_int_equal(v.wanted, PROC_RUNNING);
    assert_int_equal(v.cause.exit_signal, SIGSEGV);
    assert_int_equal(v.cause.since_s, NOW + 3);
    assert_true(fleet_dummy_revive(&w->procs, proc, NOW + 4));
    assert_false(fleet_dummy_revive(&w->procs, proc, NOW + 4));
    v = view_of(proc);
    assert_int_equal(v.status, PROC_RUNNING);
    assert_int_equal(v.restarts, 1);
    assert_int_not_equal(v.pid, v.cause.exit_pid);
    proc->hosted = false;
    assert_true(fleet_dummy_die(&w->procs, proc, SIGKILL, NOW + 5));
    assert_false(fleet_dummy_revive(&w->procs, proc, NOW + 6)); /* not wanted */
    assert_int_equal(w->procs.restarts, 1);
    check_running(&w->procs);
}

static void the_digest_follows_every_change(void **state)
{
    struct world *w = *state;
    char first[FLEET_DIGEST_SIZE], now[FLEET_DIGEST_SIZE];
    struct fleet_procs again;

    fleet_procs_digest(&w->procs, first);
    fleet_procs_init(&again, &w->names, NOW + 100);
    fleet_procs_digest(&again, now);
    assert_string_equal(first, now); /* another run of the same fleet sends no list */
    fleet_procs_done(&again);
    (void)operate(w, "proc-00", PROC_OP_QUERY);
    fleet_procs_digest(&w->procs, now);
    assert_string_equal(first, now);
    (void)operate(w, "proc-00", PROC_OP_RESTART);
    fleet_procs_digest(&w->procs, now);
    assert_string_not_equal(first, now);
    (void)operate(w, "other", PROC_OP_START);
    fleet_procs_digest(&w->procs, first);
    assert_string_not_equal(first, now);
}

static void the_number_of_processes_is_limited(void **state)
{
    struct world *w = *state;
    char name[32];

    for (int i = 0; i < FLEET_PROCS_ROOM - 3; i++) {
        snprintf(name, sizeof(name), "more-%d", i);
        assert_int_equal(operate(w, name, PROC_OP_START).code, CODE_OK);
    }
    assert_int_equal(operate(w, "too-many", PROC_OP_START).code, CODE_SYSTEM);
    assert_int_equal(operate(w, "too-many", PROC_OP_STOP).code, CODE_NOT_RUNNING);
    assert_int_equal(w->procs.n, FLEET_PROCS_ROOM);
}

static void a_question_is_answered_in_detail(void **state)
{
    struct world *w = *state;
    struct proc_view v;

    fleet_dummy_view(&w->procs.list[2], true, NOW + 60, &v);
    assert_string_equal(v.cmdline, "proc-02");
    assert_int_equal(v.elapsed_s, 60);
    assert_true(v.mem_bytes > 0 && v.threads == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(operations_give_what_an_agent_gives, set_up, tear_down),
        cmocka_unit_test_setup_teardown(wanted_hosted_and_actual_move_apart, set_up, tear_down),
        cmocka_unit_test_setup_teardown(only_a_hosted_process_takes_a_new_spec, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_dead_process_is_reported_and_restarted, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(the_digest_follows_every_change, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_number_of_processes_is_limited, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_question_is_answered_in_detail, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
