/* SPDX-License-Identifier: MIT */
/* Operations of local users: ordered with the server's, answered whether
 * there is a server or not, told to it afterwards. */
#include "agent/supervise/core_local.h"

#include "tests/lib/core_rig.h"

enum { IN_MS = 60 * 1000 };

static char task[CORE_LOCAL_TASK_SIZE];

static struct message_command local_command(int64_t op, const char *name)
{
    struct message_command m = rig_command(op, name);

    core_local_task("ada", (uint64_t)m.item, task);
    m.task = task;
    m.deadline_ms = -1; /* does not count */
    return m;
}

static int64_t operate(int64_t op, const char *name)
{
    struct message_command m = local_command(op, name);

    assert_true(core_operate(rig.core, &m, IN_MS, rig.now_ms));
    return m.item;
}

static void go_offline(void)
{
    core_on_link(rig.core, false, rig.now_ms);
}

/* The last event in the journal; "" if there is none. */
static const char *event_text(void)
{
    for (size_t i = rig.n_records; i-- > 0;) {
        if (strstr(rig.records[i].json, "process_local_operation"))
            return rig.records[i].json;
    }
    return "";
}

static void a_task_names_its_user_and_no_other_task_is_taken_for_one(void **state)
{
    (void)state;
    core_local_task("ada", 255, task);
    assert_string_equal(task, "local:ada:00000000000000ff");
    core_local_task("a-name-of-more-than-thirty-two-bytes-in-all", UINT64_MAX, task);
    assert_string_equal(task, "local:a-name-of-more-than-thirty-two-b:ffffffffffffffff");
    assert_true(core_is_local(task));
    assert_false(core_is_local("T"));
    assert_false(core_is_local(""));
}

struct shown {
    size_t n;
    int64_t doing;
};

static void on_shown(void *arg, const struct proc_view *v)
{
    struct shown *s = arg;

    s->n++;
    s->doing = v->cause.doing;
}

static struct shown show(const char *name)
{
    struct shown s = { 0 };

    core_each_view(rig.core, "", name, on_shown, &s);
    return s;
}

static void a_first_start_is_shown_and_told_while_it_is_in_work(void **state)
{
    const struct rig_proc *p = rig_proc("p");

    (void)state;
    rig_operate(PROC_OP_QUERY, "p"); /* a name that was asked about is nothing to show */
    rig_pass(1000);
    assert_int_equal(show("p").n, 0);
    assert_false(p->has_view);
    rig_operate(PROC_OP_START, "p");
    rig_pass(1);
    assert_int_equal(p->runs, 1);
    assert_int_equal(show("p").n, 1);
    assert_int_equal(show("p").doing, PROC_OP_START);
    assert_true(p->has_view);
    assert_int_equal(p->view.cause.doing, PROC_OP_START);
    rig_pass(60 * 1000);
    assert_int_equal(show("p").n, 1);
    assert_int_equal(show("p").doing, -1);
    assert_int_equal(p->view.status, PROC_RUNNING);
}

static void it_is_done_and_answered_with_no_server(void **state)
{
    int64_t start, stop;

    (void)state;
    go_offline();
    start = operate(PROC_OP_START, "p");
    rig_pass(6000);
    assert_int_equal(rig_code(start), CODE_OK);
    assert_true(rig_proc("p")->pid > 0);
    stop = operate(PROC_OP_STOP, "p");
    rig_pass(6000);
    assert_int_equal(rig_code(stop), CODE_OK);
    assert_int_equal(rig_proc("p")->pid, 0);
    assert_int_equal(rig.n_results, 2);
}

static void the_server_hears_of_it_afterwards_with_the_users_name(void **state)
{
    (void)state;
    go_offline();
    operate(PROC_OP_START, "p");
    rig_pass(6000);
    assert_int_equal(rig_count_events("process_local_operation"), 0);
    assert_non_null(strstr(event_text(), "ada asked on the host itself to start space:p: success"));
    operate(PROC_OP_RELOAD, "p");
    rig_pass(6000);
    assert_non_null(strstr(event_text(), "ada asked on the host itself to reload space:p: failed, "
                                         "code 827: spec.control.reload_cmd: required"));
    rig_crash(true);
    rig_pass(100);
    assert_int_equal(rig_count_events("process_local_operation"), 2);
}

static void a_question_is_no_event(void **state)
{
    int64_t query;

    (void)state;
    query = operate(PROC_OP_QUERY, "p");
    rig_pass(1000);
    assert_int_equal(rig_code(query), CODE_OK);
    assert_string_equal(event_text(), "");
}

/* The connection of the client has ended with the agent. */
static void a_result_is_not_kept_for_anybody(void **state)
{
    size_t results;

    (void)state;
    operate(PROC_OP_START, "p");
    rig_pass(6000);
    results = rig.n_results;
    rig_pass(30 * 1000);
    rig_crash(true);
    rig_pass(30 * 1000);
    assert_int_equal(rig.n_results, results);
}

static void one_that_an_agent_before_us_began_ends_and_is_told_of(void **state)
{
    int64_t start;

    (void)state;
    rig_proc("p")->is_foreground = true;
    start = operate(PROC_OP_START, "p");
    rig_pass(1000);
    assert_int_equal(rig_code(start), CODE_WAITING);
    rig_crash(true);
    rig_pass(10 * 1000);
    assert_int_equal(rig_code(start), CODE_OK);
    assert_int_equal(rig_proc("p")->runs, 1);
    assert_int_equal(rig_count_events("process_local_operation"), 1);
}

static void local_and_server_operations_of_a_process_are_done_in_their_order(void **state)
{
    int64_t first, second, third;

    (void)state;
    first = rig_operate(PROC_OP_START, "p");
    second = operate(PROC_OP_STOP, "p");
    third = rig_operate(PROC_OP_START, "p");
    rig_pass(2000);
    assert_int_equal(rig_code(first), CODE_WAITING);
    assert_int_equal(rig_code(second), CODE_WAITING);
    rig_pass(30 * 1000);
    assert_int_equal(rig_code(first), CODE_OK);
    assert_int_equal(rig_code(second), CODE_OK);
    assert_int_equal(rig_code(third), CODE_OK);
    assert_int_equal(rig.results[0].item, first);
    assert_int_equal(rig.results[1].item, second);
    assert_int_equal(rig.results[2].item, third);
    assert_int_equal(rig_proc("p")->runs, 2);
}

static void it_is_not_begun_late_whatever_the_servers_clock_says(void **state)
{
    const struct message_welcome m = { .version = 1, .epoch = 2, .server_ms = INT64_MAX };
    int64_t start;

    (void)state;
    core_on_message(rig.core, MESSAGE_WELCOME, &m, rig.now_ms);
    rig.is_blind = true;
    start = operate(PROC_OP_START, "p");
    rig_pass(IN_MS - 1000);
    assert_int_equal(rig_code(start), CODE_WAITING);
    rig_pass(2000);
    assert_int_equal(rig_code(start), CODE_TIMEOUT);
    assert_int_equal(rig_proc("p")->runs, 0);
}

static void too_many_for_one_process_are_refused(void **state)
{
    int64_t last = 0;

    (void)state;
    rig.is_blind = true;
    for (int i = 0; i < 17; i++)
        last = operate(PROC_OP_START, "p");
    rig_pass(1000);
    assert_int_equal(rig_code(last), CODE_LOCKED);
}

static void count_view(void *n, const struct proc_view *v)
{
    assert_non_null(v->space);
    ++*(int *)n;
}

static int views(const char *space, const char *name)
{
    int n = 0;

    core_each_view(rig.core, space, name, count_view, &n);
    return n;
}

static void what_is_known_is_shown_and_counted(void **state)
{
    struct core_counts counts;

    (void)state;
    operate(PROC_OP_START, "p");
    operate(PROC_OP_START, "q");
    operate(PROC_OP_QUERY, "never-heard-of");
    core_count(rig.core, &counts);
    assert_int_equal(counts.processes, 0);
    rig_pass(6000);
    operate(PROC_OP_STOP, "q");
    rig_pass(6000);
    assert_int_equal(views("", ""), 2);
    assert_int_equal(views("space", ""), 2);
    assert_int_equal(views("other", ""), 0);
    assert_int_equal(views("space", "q"), 1);
    core_count(rig.core, &counts);
    assert_int_equal(counts.processes, 2);
    assert_int_equal(counts.running, 1);
    assert_int_equal(counts.hosted, 1);
    assert_int_equal(counts.operations, 0);
}

static void a_server_can_not_speak_for_somebody_on_the_host(void **state)
{
    struct message_command m = local_command(PROC_OP_START, "p");
    size_t before = rig.n_records;

    (void)state;
    m.deadline_ms = rig.now_ms + IN_MS;
    core_on_message(rig.core, MESSAGE_COMMAND, &m, rig.now_ms);
    rig_pass(6000);
    assert_int_equal(rig.n_records, before);
    assert_int_equal(views("", ""), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(a_task_names_its_user_and_no_other_task_is_taken_for_one),
        RIG_TEST(a_first_start_is_shown_and_told_while_it_is_in_work),
        RIG_TEST(it_is_done_and_answered_with_no_server),
        RIG_TEST(the_server_hears_of_it_afterwards_with_the_users_name),
        RIG_TEST(a_question_is_no_event),
        RIG_TEST(a_result_is_not_kept_for_anybody),
        RIG_TEST(one_that_an_agent_before_us_began_ends_and_is_told_of),
        RIG_TEST(local_and_server_operations_of_a_process_are_done_in_their_order),
        RIG_TEST(it_is_not_begun_late_whatever_the_servers_clock_says),
        RIG_TEST(too_many_for_one_process_are_refused),
        RIG_TEST(what_is_known_is_shown_and_counted),
        RIG_TEST(a_server_can_not_speak_for_somebody_on_the_host),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
