/* SPDX-License-Identifier: MIT */
#include "server/dispatch/tasks.h"

#include "server/dispatch/task_coming.h"
#include "tests/unit/server/task_world.h"

enum { BUDGET_MS = (60 + 5 + 5 + 30) * 1000 };

static void a_fan_out_of_a_thousand_comes_back(void **state)
{
    enum { N = 1000 };
    struct world *w = *state;
    struct task_target *targets = arena_alloc(&w->rig.arena, N * sizeof(*targets));
    const struct task_item *items;
    struct proc_spec spec;
    uint64_t calls;

    world_spec(&spec);
    world_connect(w, "agent-a");
    world_connect(w, "agent-b");
    for (int i = 0; i < N; i++)
        targets[i] =
            world_target(i % 2 ? "agent-b" : "agent-a", arena_printf(&w->rig.arena, "key-%d", i),
                         PROC_OP_START, arena_printf(&w->rig.arena, "p%d", i / 2), &spec);
    world_operate(w, targets, N);
    assert_int_equal(world_count(w, 0, MESSAGE_COMMAND), N);
    items = world_read(w, w->id);
    assert_int_equal(w->info.n, N);
    assert_int_equal(w->info.n_left, N);
    for (int i = 0; i < N; i++) {
        assert_string_equal(items[i].key, targets[i].key);
        assert_int_equal(items[i].code, CODE_WAITING);
    }
    calls = store_counters(w->rig.store)->calls;
    assert_int_equal(world_answer(w, 0, CODE_OK), N);
    assert_true(store_counters(w->rig.store)->calls - calls < 10); /* they go together */
    items = world_read(w, w->id);
    assert_int_equal(w->info.n_left, 0);
    for (int i = 0; i < N; i++) {
        assert_int_equal(items[i].code, CODE_OK);
        assert_int_equal(items[i].view.pid, 4711);
        assert_string_equal(items[i].setup_path, "/opt/victim");
    }
    assert_int_equal(world_count(w, 0, MESSAGE_STORED), N);
    assert_int_equal(tasks_open(w->tasks), 0);
}

/* Be it the very same, or another that says the same. */
static void the_shared_spec_is_stored_once(void **state)
{
    struct world *w = *state;
    struct proc_spec one, same, other;
    struct task_target targets[4];
    struct task_read_ask ask = { .after_n = -1, .limit = 10 };
    struct task_read_got got;
    static const int64_t numbers[] = { 0, 0, 0, 1 };

    world_spec(&one);
    world_spec(&same);
    world_spec(&other);
    other.identity.setup_path = "/opt/other";
    targets[0] = world_target("agent-a", "a", PROC_OP_START, "p", &one);
    targets[1] = world_target("agent-b", "b", PROC_OP_START, "p", &one);
    targets[2] = world_target("agent-b", "b", PROC_OP_START, "p", &same);
    targets[3] = world_target("agent-b", "b", PROC_OP_START, "p", &other);
    world_operate(w, targets, 4);
    ask.id = w->id;
    store_rig_do(&w->rig, &store_task_read, &ask, &got);
    assert_int_equal(got.specs.n, 2);
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
        assert_int_equal(ROW(task_item_row, got.items, i)->spec_n, numbers[i]);
}

static void a_task_has_the_id_clients_expect(void **state)
{
    struct world *w = *state;
    struct proc_spec spec;
    struct task_target target;
    static const char begin[] = "GSETASK:S:20261115"; /* the world's day */

    world_spec(&spec);
    target = world_target("agent-a", "a", PROC_OP_QUERY, "p", &spec);
    world_operate(w, &target, 1);
    assert_memory_equal(w->id, begin, sizeof(begin) - 1);
    assert_int_equal(strspn(w->id + 10, "0123456789"), 24);
    assert_string_equal(w->id + 34, ":1");
}

static void an_offline_host_is_117_in_the_first_poll(void **state)
{
    struct world *w = *state;
    struct proc_spec spec;
    struct task_target targets[2];
    const struct task_item *items;

    world_spec(&spec);
    targets[0] = world_target("agent-a", "a", PROC_OP_START, "p", &spec);
    targets[1] = world_target(NULL, "unknown", PROC_OP_START, "p", &spec);
    world_pass(w, HUB_GRACE_MS + 1);
    world_ask(w, "app", targets, 2);
    while (!w->n_accepted)
        world_turn(w, 1000);
    tasks_read(w->tasks, w->id, world_on_read, w); /* before the loop turns again */
    items = w->info.items;
    assert_int_equal(w->info.n_left, 0);
    assert_int_equal(items[0].code, CODE_OFFLINE);
    assert_string_equal(items[0].text, "the agent is not connected");
    assert_string_equal(items[0].view.name, "p");
    assert_int_equal(items[0].view.pid, -1);
    assert_int_equal(items[1].code, CODE_OFFLINE);
    assert_string_equal(items[1].text, "no such host");
    assert_string_equal(items[1].agent, "");
    assert_int_equal(tasks_open(w->tasks), 0);
    assert_int_equal(w->n_sent, 0);
}

static void after_a_start_agents_have_time_to_come_back(void **state)
{
    struct world *w = *state;
    struct proc_spec spec;
    struct task_target targets[2];

    world_spec(&spec);
    targets[0] = world_target("agent-a", "a", PROC_OP_START, "p", &spec);
    targets[1] = world_target("agent-b", "b", PROC_OP_START, "p", &spec);
    world_operate(w, targets, 2);
    world_pass(w, HUB_GRACE_MS - 1000);
    assert_int_equal(world_read(w, w->id)[0].code, CODE_WAITING);
    world_connect(w, "agent-b");
    world_pass(w, 1001);
    assert_int_equal(world_read(w, w->id)[0].code, CODE_OFFLINE);
    assert_int_equal(w->info.items[1].code, CODE_WAITING);
    assert_int_equal(world_answer(w, 0, CODE_OK), 1);
    assert_int_equal(world_read(w, w->id)[1].code, CODE_OK);
}

static void one_that_left_a_moment_ago_is_waited_for(void **state)
{
    struct world *w = *state;
    struct proc_spec spec;
    struct task_target target;
    int64_t epoch = world_connect(w, "agent-a");

    world_spec(&spec);
    target = world_target("agent-a", "a", PROC_OP_START, "p", &spec);
    world_pass(w, HUB_GRACE_MS + 1);
    world_disconnect(w, "agent-a", epoch);
    world_operate(w, &target, 1);
    world_pass(w, HUB_OFFLINE_MS - 1000);
    assert_int_equal(world_read(w, w->id)[0].code, CODE_WAITING);
    world_pass(w, 1001);
    assert_int_equal(world_read(w, w->id)[0].code, CODE_OFFLINE);
}

/* Its claim is not on the disk yet, but it is there. */
static void one_that_has_just_come_is_not_offline(void **state)
{
    struct world *w = *state;
    struct proc_spec spec;
    struct task_target target;
    int64_t epoch;

    world_spec(&spec);
    target = world_target("agent-a", "a", PROC_OP_START, "p", &spec);
    world_pass(w, HUB_GRACE_MS + 1);
    epoch = world_open_session(w, "agent-a");
    tasks_on_session(w->tasks, "agent-a", epoch);
    world_operate(w, &target, 1);
    assert_int_equal(world_answer(w, 0, CODE_OK), 1);
    assert_int_equal(world_read(w, w->id)[0].code, CODE_OK);
}

static void refused_targets_are_born_done_and_others_run(void **state)
{
    struct world *w = *state;
    struct proc_spec spec;
    struct task_target targets[2];
    const struct task_item *items;

    world_spec(&spec);
    world_connect(w, "agent-a");
    targets[0] = world_target("agent-a", "a", PROC_OP_START, "p", &spec);
    targets[0].code = CODE_DENIED;
    targets[0].text = "the host is of another business";
    targets[1] = world_target("agent-a", "b", PROC_OP_START, "q", &spec);
    world_operate(w, targets, 2);
    items = world_read(w, w->id);
    assert_int_equal(items[0].code, CODE_DENIED);
    assert_string_equal(items[0].text, "the host is of another business");
    assert_string_equal(items[0].view.name, "p");
    assert_int_equal(items[0].done_ms, w->clock.wall);
    assert_int_equal(w->info.n_left, 1);
    assert_int_equal(world_count(w, 0, MESSAGE_COMMAND), 1);
    assert_string_equal(w->sent[0].name, "q");
    world_answer(w, 0, CODE_OK);
    assert_int_equal(w->info.n_left, 1);
    world_read(w, w->id);
    assert_int_equal(w->info.n_left, 0);
}

/* Each of these is within its field's limits; as JSON they are too much for a frame. */
static void a_spec_that_no_frame_can_carry_is_refused(void **state)
{
    struct world *w = *state;
    struct proc_spec large, spec;
    struct task_target targets[2];
    struct proc_config_file files[64];
    char path[4096] = "/", command[16384] = "";

    memset(path + 1, '"', sizeof(path) - 2);
    memset(command, '\1', sizeof(command) - 1);
    for (size_t i = 0; i < ARRAY_LEN(files); i++)
        files[i] = (struct proc_config_file){ .path = path, .md5 = "" };
    world_spec(&spec);
    large = spec;
    large.config_files = (struct list){ files, ARRAY_LEN(files) };
    large.control =
        (struct proc_control){ command, command, command, command, command, command, command };
    world_connect(w, "agent-a");
    targets[0] = world_target("agent-a", "a", PROC_OP_START, "p", &large);
    targets[1] = world_target("agent-a", "b", PROC_OP_START, "q", &spec);
    world_operate(w, targets, 2);
    assert_int_equal(world_read(w, w->id)[0].code, CODE_PARAM);
    assert_non_null(strstr(w->info.items[0].text, "spec: 12"));
    assert_int_equal(w->info.items[1].code, CODE_WAITING);
    assert_int_equal(world_count(w, 0, MESSAGE_COMMAND), 1);
    assert_string_equal(w->sent[0].name, "q");
}

static void one_agent_named_twice_runs_once_and_answers_both(void **state)
{
    struct world *w = *state;
    struct proc_spec spec;
    struct task_target targets[2];
    const struct task_item *items;

    world_spec(&spec);
    world_connect(w, "agent-a");
    targets[0] = world_target("agent-a", "agent-a:space:p", PROC_OP_START, "p", &spec);
    targets[1] = world_target("agent-a", "0:10.0.0.1:space:p", PROC_OP_START, "p", &spec);
    world_operate(w, targets, 2);
    assert_int_equal(world_count(w, 0, MESSAGE_COMMAND), 1);
    world_answer(w, 0, CODE_RUNNING);
    items = world_read(w, w->id);
    assert_int_equal(w->info.n_left, 0);
    for (int i = 0; i < 2; i++) {
        assert_string_equal(items[i].key, targets[i].key);
        assert_int_equal(items[i].code, CODE_RUNNING);
        assert_int_equal(items[i].view.pid, 4711);
    }
    assert_int_equal(world_count(w, 0, MESSAGE_STORED), 1);
}

/* The reader merges them: the last one wins. */
static void two_elements_with_one_key_run_in_order(void **state)
{
    struct world *w = *state;
    struct proc_spec one, two;
    struct task_target targets[2];

    world_spec(&one);
    world_spec(&two);
    world_connect(w, "agent-a");
    targets[0] = world_target("agent-a", "a", PROC_OP_START, "p", &one);
    targets[1] = world_target("agent-a", "a", PROC_OP_START, "p", &two);
    world_operate(w, targets, 2);
    assert_int_equal(world_count(w, 0, MESSAGE_COMMAND), 2);
    assert_int_equal(w->sent[0].item, 0);
    assert_int_equal(w->sent[1].item, 1);
    world_answer_item(w, "agent-a", w->sent[0].epoch, w->id, 0, CODE_OK);
    world_answer_item(w, "agent-a", w->sent[0].epoch, w->id, 1, CODE_RUNNING);
    world_settle(w);
    assert_int_equal(world_read(w, w->id)[0].code, CODE_OK);
    assert_int_equal(w->info.items[1].code, CODE_RUNNING);
}

static void a_deadline_follows_spec_and_operation(void **state)
{
    static const struct {
        int64_t op, timeout_s;
        const char *restart_cmd;
        int64_t budget_s;
        struct proc_ready ready;
    } cases[] = {
        { PROC_OP_START, 60, "", 100 },
        { PROC_OP_STOP, 60, "", 100 },
        { PROC_OP_QUERY, 7, "", 47 },
        { PROC_OP_RESTART, 60, "./restart.sh", 100 },
        { PROC_OP_RESTART, 60, "", 160 },
        { PROC_OP_RELOAD, 3600, "", 3640 },
        { PROC_OP_RESTART, 10, "", 60 },
        { PROC_OP_START, 60, "", 700, { .kind = READY_PORT, .port = 80, .timeout_s = 600 } },
        { PROC_OP_START, 60, "", 160, { .kind = READY_NOTIFY } }, /* as long as its command */
        { PROC_OP_START, 60, "", 100, { .kind = READY_ALIVE, .timeout_s = 600 } },
    };
    struct world *w = *state;

    world_connect(w, "agent-a");
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct proc_spec spec;
        struct task_target target;

        world_spec(&spec);
        spec.control.restart_cmd = cases[i].restart_cmd;
        spec.extra.ready = cases[i].ready;
        spec.alive_policy.op_timeout_s = cases[i].timeout_s;
        spec.alive_policy.has_timeout = PRESENCE_GIVEN;
        spec.has_alive_policy = PRESENCE_GIVEN;
        target = world_target("agent-a", "a", cases[i].op, "p", &spec);
        w->n_sent = 0;
        world_operate(w, &target, 1);
        assert_int_equal(w->sent[0].deadline_ms, w->clock.mono + cases[i].budget_s * 1000);
        world_read(w, w->id);
        assert_int_equal(w->info.deadline_ms, w->clock.wall + cases[i].budget_s * 1000);
    }
}

static void what_is_not_answered_ends_at_its_deadline(void **state)
{
    struct world *w = *state;
    struct proc_spec spec;
    struct task_target target;
    const struct task_item *items;

    world_spec(&spec);
    world_connect(w, "agent-a");
    target = world_target("agent-a", "a", PROC_OP_START, "p", &spec);
    world_operate(w, &target, 1);
    world_pass(w, BUDGET_MS - 1);
    assert_int_equal(world_read(w, w->id)[0].code, CODE_WAITING);
    world_pass(w, 1);
    items = world_read(w, w->id);
    assert_int_equal(items[0].code, CODE_DEADLINE);
    assert_int_equal(items[0].done_ms, w->clock.wall);
    world_answer(w, 0, CODE_OK); /* too late */
    assert_int_equal(world_read(w, w->id)[0].code, CODE_DEADLINE);
}

/* ---- The same request again. */

static void the_same_request_joins_the_task_it_has(void **state)
{
    struct world *w = *state;
    struct proc_spec spec, same;
    struct task_target target, again;
    char first[64];

    world_spec(&spec);
    world_spec(&same);
    world_connect(w, "agent-a");
    target = world_target("agent-a", "a", PROC_OP_START, "p", &spec);
    again = world_target("agent-a", "a", PROC_OP_START, "p", &same);
    world_ask(w, "app", &target, 1);
    world_ask(w, "app", &again, 1); /* before the first is stored */
    world_settle(w);
    assert_int_equal(w->n_accepted, 2);
    snprintf(first, sizeof(first), "%s", w->id);
    world_operate(w, &again, 1);
    assert_string_equal(w->id, first);
    assert_int_equal(world_count(w, 0, MESSAGE_COMMAND), 1);
    assert_int_equal(tasks_open(w->tasks), 1);

    world_restart(w);
    world_connect(w, "agent-a");
    world_operate(w, &again, 1);
    assert_string_equal(w->id, first);
    world_answer(w, 0, CODE_OK);
    world_operate(w, &again, 1); /* it has ended: this is a new one */
    assert_string_not_equal(w->id, first);
}

static void a_request_with_a_key_creates_a_task_of_its_own(void **state)
{
    struct world *w = *state;
    struct proc_spec spec;
    struct task_target target;
    struct task_ask ask = { "app", "admin", TASK_FORM_V2, { &target, 1 }, .request_key = "k1" };
    char first[64];

    world_spec(&spec);
    world_connect(w, "agent-a");
    target = world_target("agent-a", "a", PROC_OP_RESTART, "p", &spec);
    world_operate(w, &target, 1);
    snprintf(first, sizeof(first), "%s", w->id);
    tasks_operate(w->tasks, &ask, world_accepted, w);
    world_settle(w);
    assert_int_equal(w->n_accepted, 2);
    assert_string_not_equal(w->id, first);
    assert_int_equal(tasks_open(w->tasks), 2);
}

static void a_request_that_only_joins_creates_no_task(void **state)
{
    struct world *w = *state;
    struct proc_spec spec;
    struct task_target target;
    struct task_ask ask = { "app", "admin", TASK_FORM_V2, { &target, 1 }, .joins_only = true };
    char id[64];

    world_spec(&spec);
    world_connect(w, "agent-a");
    target = world_target("agent-a", "a", PROC_OP_START, "p", &spec);
    tasks_operate(w->tasks, &ask, world_accepted, w);
    assert_int_equal(w->n_failed, 1);
    assert_int_equal(w->failure.code, ERR_CONFLICT);
    world_operate(w, &target, 1);
    snprintf(id, sizeof(id), "%s", w->id);
    tasks_operate(w->tasks, &ask, world_accepted, w);
    world_settle(w);
    assert_int_equal(w->n_accepted, 2);
    assert_string_equal(w->id, id);
    world_answer(w, 0, CODE_OK);
    tasks_operate(w->tasks, &ask, world_accepted, w);
    world_settle(w);
    assert_int_equal(w->n_failed, 2);
    assert_int_equal(tasks_open(w->tasks), 0);
}

static void what_is_not_the_same_does_not_join(void **state)
{
    struct world *w = *state;
    struct proc_spec spec, other;
    struct task_target base, t;
    char first[64];

    world_spec(&spec);
    world_spec(&other);
    other.control.stop_cmd = "./stop.sh";
    world_connect(w, "agent-a");
    base = world_target("agent-a", "a", PROC_OP_START, "p", &spec);
    world_operate(w, &base, 1);
    snprintf(first, sizeof(first), "%s", w->id);
    for (int i = 0; i < 6; i++) {
        t = base;
        if (i == 0)
            t.op = PROC_OP_STOP;
        else if (i == 1)
            t.key = "b";
        else if (i == 2)
            t.meta.name = "q";
        else if (i == 3)
            t.spec = &other;
        else if (i == 4)
            t.agent = "agent-b";
        world_ask(w, i == 5 ? "another" : "app", &t, 1);
        world_settle(w);
        assert_string_not_equal(w->id, first);
    }
}

static void another_operation_on_a_key_ends_joining(void **state)
{
    struct world *w = *state;
    struct proc_spec spec;
    struct task_target both[2], stop;
    char first[64], second[64];

    world_spec(&spec);
    world_connect(w, "agent-a");
    both[0] = world_target("agent-a", "a", PROC_OP_START, "p", &spec);
    both[1] = world_target("agent-a", "b", PROC_OP_START, "q", &spec);
    stop = world_target("agent-a", "b", PROC_OP_STOP, "q", &spec);
    world_operate(w, both, 2);
    snprintf(first, sizeof(first), "%s", w->id);
    world_operate(w, &stop, 1);
    world_operate(w, both, 2);
    snprintf(second, sizeof(second), "%s", w->id);
    assert_string_not_equal(second, first);
    world_operate(w, both, 2); /* nothing came between these two */
    assert_string_equal(w->id, second);
}

/* ---- What is coming. */

static void expect_coming(const struct world *w, const char *name, const char *agents)
{
    struct arena a = { 0 };
    struct buf got = { 0 };
    const char **found;
    size_t n = tasks_coming(w->tasks, "space", name, &a, &found);

    for (size_t i = 0; i < n; i++) {
        buf_printf(&got, "%s ", found[i]);
        assert_true(tasks_is_coming(w->tasks, found[i], "space", name));
    }
    assert_string_equal(buf_text(&got), agents);
    buf_free(&got);
    arena_free(&a);
}

/* By the ops that make a process known, of those that were not refused, while the task is open. */
static void what_tasks_are_to_make_known_is_told(void **state)
{
    struct world *w = *state;
    struct proc_spec spec;
    struct task_target targets[5];

    world_spec(&spec);
    world_connect(w, "agent-a");
    world_connect(w, "agent-b");
    targets[0] = world_target("agent-b", "1", PROC_OP_START, "p", &spec);
    targets[1] = world_target("agent-a", "2", PROC_OP_HOST, "p", &spec);
    targets[2] = world_target("agent-a", "3", PROC_OP_START, "q", &spec);
    targets[2].code = CODE_NOT_REGISTERED;
    targets[2].text = "send a spec";
    targets[3] = world_target("agent-b", "4", PROC_OP_STOP, "q", &spec);
    targets[4] = world_target(NULL, "agent-a", PROC_OP_START, "q", &spec);
    targets[4].code = CODE_OFFLINE;
    targets[4].text = "no such host";
    world_operate(w, targets, ARRAY_LEN(targets));
    expect_coming(w, "p", "agent-b agent-a ");
    expect_coming(w, "q", "");
    assert_false(tasks_is_coming(w->tasks, "agent-b", "space", "q"));
    world_operate(w, &targets[0], 1); /* a second task for the same */
    expect_coming(w, "p", "agent-b agent-a ");
    world_restart(w);
    expect_coming(w, "p", "agent-b agent-a ");
    world_connect(w, "agent-a");
    world_connect(w, "agent-b");
    world_settle(w);
    world_pass(w, 3600 * 1000); /* all have ended */
    expect_coming(w, "p", "");
}

/* ---- What is left of tasks. */

/* Whatever came of it: it was accepted. */
static void an_operation_that_ends_at_once_ends_joining_too(void **state)
{
    struct world *w = *state;
    struct proc_spec spec;
    struct task_target targets[2], other;
    char id[64];

    world_spec(&spec);
    targets[0] = world_target("agent-a", "a:space:p", PROC_OP_START, "p", &spec);
    targets[1] = world_target(NULL, "unknown:space:p", PROC_OP_START, "p", &spec);
    targets[1].code = CODE_OFFLINE;
    targets[1].text = "no such host";
    world_connect(w, "agent-a");
    world_operate(w, targets, 2);
    snprintf(id, sizeof(id), "%s", w->id);
    other = world_target(NULL, "another:space:p", PROC_OP_STOP, "p", &spec);
    other.code = CODE_OFFLINE;
    other.text = "no such host";
    world_operate(w, &other, 1); /* another key */
    world_operate(w, targets, 2);
    assert_string_equal(w->id, id);
    other.key = "unknown:space:p";
    world_operate(w, &other, 1); /* one of its keys */
    world_operate(w, targets, 2);
    assert_string_not_equal(w->id, id);
}

/* It is unfinished while one item is. */
static void a_key_that_has_ended_counts_until_its_task_has(void **state)
{
    struct world *w = *state;
    struct proc_spec spec;
    struct task_target targets[2], other;
    char id[64];
    int64_t epoch;

    world_spec(&spec);
    targets[0] = world_target("agent-a", "a:space:p", PROC_OP_START, "p", &spec);
    targets[1] = world_target("agent-b", "b:space:p", PROC_OP_START, "p", &spec);
    epoch = world_connect(w, "agent-a");
    world_connect(w, "agent-b");
    world_operate(w, targets, 2);
    snprintf(id, sizeof(id), "%s", w->id);
    world_answer_item(w, "agent-a", epoch, id, 0, CODE_OK);
    world_settle(w);
    world_operate(w, targets, 2);
    assert_string_equal(w->id, id);
    other = world_target("agent-a", "a:space:p", PROC_OP_STOP, "p", &spec);
    world_operate(w, &other, 1);
    world_operate(w, targets, 2);
    assert_string_not_equal(w->id, id);
}

static void a_forgotten_task_is_read_from_the_store(void **state)
{
    struct world *w = *state;
    struct proc_spec spec;
    struct task_target targets[2];
    struct task_info before;
    const struct task_item *old, *now;

    world_spec(&spec);
    world_connect(w, "agent-a");
    targets[0] = world_target("agent-a", "a", PROC_OP_START, "p", &spec);
    targets[1] = world_target(NULL, "b", PROC_OP_START, "p", &spec);
    world_operate(w, targets, 2);
    world_answer(w, 0, CODE_RUNNING);
    old = world_read(w, w->id);
    before = w->info;
    world_pass(w, 10 * 60 * 1000);
    tasks_read(w->tasks, w->id, world_on_read, w);
    assert_int_equal(w->n_read, 1); /* not from memory */
    world_settle(w);
    assert_int_equal(w->n_read, 2);
    now = w->info.items;
    assert_int_equal(w->info.n, 2);
    assert_int_equal(w->info.n_left, 0);
    assert_int_equal(w->info.created_ms, before.created_ms);
    assert_int_equal(w->info.deadline_ms, before.deadline_ms);
    for (int i = 0; i < 2; i++) {
        assert_string_equal(now[i].agent, old[i].agent);
        assert_string_equal(now[i].key, old[i].key);
        assert_string_equal(now[i].text, old[i].text);
        assert_string_equal(now[i].setup_path, old[i].setup_path);
        assert_string_equal(now[i].proc_name, old[i].proc_name);
        assert_string_equal(now[i].view.why, old[i].view.why);
        assert_int_equal(now[i].code, old[i].code);
        assert_int_equal(now[i].view.pid, old[i].view.pid);
        assert_int_equal(now[i].done_ms, old[i].done_ms);
    }
}

static void a_task_is_gone_a_week_after_its_end(void **state)
{
    struct world *w = *state;
    struct proc_spec spec;
    struct task_target target;

    world_spec(&spec);
    world_connect(w, "agent-a");
    target = world_target("agent-a", "a", PROC_OP_START, "p", &spec);
    world_operate(w, &target, 1);
    world_answer(w, 0, CODE_OK);
    world_pass(w, 7 * 24 * 3600 * INT64_C(1000) - 120 * 1000);
    assert_non_null(world_read(w, w->id));
    world_pass(w, 121 * 1000);
    world_pass(w, 61 * 1000);
    assert_null(world_read(w, w->id));
    assert_int_equal(w->failure.code, CODE_NO_TASK);
    assert_non_null(strstr(w->failure.text, w->id));
}

static void an_unknown_task_is_said_by_its_id(void **state)
{
    struct world *w = *state;

    assert_null(world_read(w, "GSETASK:S:1"));
    assert_int_equal(w->failure.code, CODE_NO_TASK);
    assert_non_null(strstr(w->failure.text, "GSETASK:S:1"));
}

static void a_start_that_went_well_makes_its_spec_known(void **state)
{
    static const struct {
        int64_t op, code;
        bool is_known;
    } cases[] = {
        { PROC_OP_START, CODE_OK, true },   { PROC_OP_HOST, CODE_OK, true },
        { PROC_OP_RESTART, CODE_OK, true }, { PROC_OP_START, CODE_RUNNING, false },
        { PROC_OP_STOP, CODE_OK, false },   { PROC_OP_QUERY, CODE_OK, false },
        { PROC_OP_UNHOST, CODE_OK, false }, { PROC_OP_RELOAD, CODE_OK, false },
        { PROC_OP_KILL, CODE_OK, false },
    };
    struct proc_label label = { "tier", { SCALAR_TEXT, "db" } };
    struct world *w = *state;

    world_connect(w, "agent-a");
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *name = arena_printf(&w->rig.arena, "p%zu", i);
        const struct fleet_proc *p;
        struct proc_spec spec;
        struct task_target target;

        world_spec(&spec);
        target = world_target("agent-a", "a", cases[i].op, name, &spec);
        target.meta.labels = (struct list){ &label, 1 };
        w->n_sent = 0;
        world_operate(w, &target, 1);
        world_answer(w, 0, cases[i].code);
        p = fleet_proc(fleet_find(w->fleet, "agent-a"), "space", name);
        assert_int_equal(p != NULL, cases[i].is_known);
        if (!p)
            continue;
        assert_non_null(strstr(p->spec, "./start.sh"));
        assert_string_equal(p->labels, "{\"tier\":\"db\"}");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WORLD_TEST(a_fan_out_of_a_thousand_comes_back),
        WORLD_TEST(the_shared_spec_is_stored_once),
        WORLD_TEST(a_task_has_the_id_clients_expect),
        WORLD_TEST(an_offline_host_is_117_in_the_first_poll),
        WORLD_TEST(after_a_start_agents_have_time_to_come_back),
        WORLD_TEST(one_that_left_a_moment_ago_is_waited_for),
        WORLD_TEST(one_that_has_just_come_is_not_offline),
        WORLD_TEST(refused_targets_are_born_done_and_others_run),
        WORLD_TEST(a_spec_that_no_frame_can_carry_is_refused),
        WORLD_TEST(one_agent_named_twice_runs_once_and_answers_both),
        WORLD_TEST(two_elements_with_one_key_run_in_order),
        WORLD_TEST(a_deadline_follows_spec_and_operation),
        WORLD_TEST(what_is_not_answered_ends_at_its_deadline),
        WORLD_TEST(the_same_request_joins_the_task_it_has),
        WORLD_TEST(a_request_with_a_key_creates_a_task_of_its_own),
        WORLD_TEST(a_request_that_only_joins_creates_no_task),
        WORLD_TEST(what_is_not_the_same_does_not_join),
        WORLD_TEST(another_operation_on_a_key_ends_joining),
        WORLD_TEST(what_tasks_are_to_make_known_is_told),
        WORLD_TEST(an_operation_that_ends_at_once_ends_joining_too),
        WORLD_TEST(a_key_that_has_ended_counts_until_its_task_has),
        WORLD_TEST(a_forgotten_task_is_read_from_the_store),
        WORLD_TEST(a_task_is_gone_a_week_after_its_end),
        WORLD_TEST(an_unknown_task_is_said_by_its_id),
        WORLD_TEST(a_start_that_went_well_makes_its_spec_known),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
