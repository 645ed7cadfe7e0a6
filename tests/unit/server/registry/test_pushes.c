/* SPDX-License-Identifier: MIT */
#include "server/registry/pushes.h"

#include "tests/lib/wide_text.h"
#include "tests/unit/server/task_world.h"

struct push_world {
    struct world w; /* first */
    struct pushes *pushes;
    int64_t epoch; /* of agent-a */
    size_t n_commands, n_stored;
    char task[64], start_cmd[32];
    int64_t op;
    bool only_if_hosted, forgets;
};

static void on_send(void *arg, const char *agent, int64_t epoch, unsigned type,
                    const struct shape *s, const void *message)
{
    struct push_world *p = arg;
    const struct message_command *m = message;

    (void)s;
    assert_string_equal(agent, "agent-a");
    assert_int_equal(epoch, p->epoch);
    if (type == MESSAGE_STORED) {
        p->n_stored++;
        return;
    }
    assert_int_equal(type, MESSAGE_COMMAND);
    p->n_commands++;
    p->op = m->op;
    p->only_if_hosted = m->only_if_hosted;
    p->forgets = m->forgets;
    assert_string_equal(m->meta.space, "s");
    assert_int_equal(*m->meta.name, 'p');
    assert_true(m->deadline_ms > p->w.clock.mono);
    snprintf(p->task, sizeof(p->task), "%s", m->task);
    snprintf(p->start_cmd, sizeof(p->start_cmd), "%s", m->spec.control.start_cmd);
}

static void connect_agent(struct push_world *p)
{
    p->epoch++;
    fleet_set_session(p->w.fleet, "agent-a", p->epoch, p->w.clock.wall);
    world_settle(&p->w);
}

static void disconnect_agent(struct push_world *p)
{
    fleet_set_session(p->w.fleet, "agent-a", 0, p->w.clock.wall);
}

static int setup(void **state)
{
    struct push_world *p = xalloc(sizeof(*p));

    store_rig_place(&p->w.rig);
    clock_fake_init(&p->w.clock, 1000, START_WALL_MS * INT64_C(1000));
    world_open(&p->w);
    world_add_host(&p->w, "agent-a", "10.0.0.1");
    p->pushes = pushes_new(p->w.loop, NULL, p->w.fleet, on_send, p);
    connect_agent(p);
    *state = p;
    return 0;
}

static int teardown(void **state)
{
    struct push_world *p = *state;

    pushes_free(p->pushes);
    world_close(&p->w);
    store_rig_remove(&p->w.rig);
    free(p);
    return 0;
}

static void on_registered(void *arg, const struct err *failure)
{
    assert_null(failure);
    ++*(int *)arg;
}

static void do_register(struct push_world *p, enum registering_kind kind, const char *start_cmd)
{
    struct registering_target target = { "agent-a", 0, "" };
    struct proc_spec spec;
    struct registering r = { kind, { "s", "p", { 0 } }, &spec, &target, 1 };
    int n = 0;

    world_spec(&spec);
    spec.control.start_cmd = start_cmd;
    p->w.clock.wall++;
    fleet_register(p->w.fleet, &r, on_registered, &n);
    world_settle(&p->w);
    assert_int_equal(n, 1);
    assert_int_equal(target.code, 0);
}

/* The agent hosts it, or does not. */
static void tell(struct push_world *p, bool hosted)
{
    struct proc_view v;
    const struct message_processes m = { .list = { &v, 1 }, .digest = "d" };
    struct err err;

    shape_defaults(&proc_view_shape, &v);
    v.space = "s";
    v.name = "p";
    v.status = v.wanted = PROC_RUNNING;
    v.hosted = hosted;
    v.why = "it runs";
    assert_int_equal(fleet_on_processes(p->w.fleet, "agent-a", &m, &err), 0);
}

static const struct fleet_proc *proc_of(struct push_world *p)
{
    return fleet_proc(fleet_find(p->w.fleet, "agent-a"), "s", "p");
}

static const char *why_of(struct push_world *p)
{
    static char text[2048];

    return msg_english(text, sizeof(text), proc_of(p)->view.why);
}

static bool say(struct push_world *p, unsigned type, int64_t code, const char *text)
{
    struct message_result result = { .task = p->task, .code = code, .text = text };
    const struct message_ref ref = { p->task, 0 };
    bool ours = pushes_on_message(p->pushes, "agent-a", p->epoch, type,
                                  type == MESSAGE_RESULT ? (const void *)&result : &ref);

    world_settle(&p->w);
    return ours;
}

static void host_and_update(struct push_world *p)
{
    do_register(p, REGISTERING_NEW, "./one.sh");
    tell(p, true);
    assert_int_equal(p->n_commands, 0);
    do_register(p, REGISTERING_UPDATE, "./two.sh");
}

static void a_new_spec_is_pushed_to_an_agent_that_hosts_the_process(void **state)
{
    struct push_world *p = *state;

    host_and_update(p);
    assert_int_equal(p->n_commands, 1);
    assert_int_equal(p->op, PROC_OP_HOST);
    assert_true(p->only_if_hosted);
    assert_string_equal(p->start_cmd, "./two.sh");
    assert_true(say(p, MESSAGE_TAKEN, 0, ""));
    assert_true(proc_of(p)->needs_push);
    assert_true(say(p, MESSAGE_RESULT, CODE_OK, "success"));
    assert_false(proc_of(p)->needs_push);
    assert_int_equal(p->n_stored, 1);
    world_pass(&p->w, 60 * 1000);
    assert_int_equal(p->n_commands, 1);
}

/* It waited at the agent behind a start that was asked for later. */
static void an_older_spec_that_an_agent_takes_after_a_newer_one_is_replaced(void **state)
{
    struct push_world *p = *state;
    const struct proc_meta meta = { "s", "p", { 0 } };
    struct proc_spec spec;

    host_and_update(p);
    say(p, MESSAGE_TAKEN, 0, "");
    world_spec(&spec);
    spec.control.start_cmd = "./three.sh";
    fleet_put_spec(p->w.fleet, "agent-a", &meta, &spec, fleet_draw_seq(p->w.fleet));
    assert_false(proc_of(p)->needs_push);
    say(p, MESSAGE_RESULT, CODE_OK, "success"); /* of ./two.sh, after that */
    assert_int_equal(p->n_commands, 2);
    assert_string_equal(p->start_cmd, "./three.sh");
    say(p, MESSAGE_RESULT, CODE_OK, "success");
    assert_false(proc_of(p)->needs_push);
    world_pass(&p->w, 60 * 1000);
    assert_int_equal(p->n_commands, 2);
}

static void it_is_said_again_until_it_is_taken(void **state)
{
    struct push_world *p = *state;
    char first[64];

    host_and_update(p);
    snprintf(first, sizeof(first), "%s", p->task);
    world_pass(&p->w, 5000);
    assert_int_equal(p->n_commands, 2);
    assert_string_equal(p->task, first); /* so that the agent knows it again */
    say(p, MESSAGE_TAKEN, 0, "");
    world_pass(&p->w, 60 * 1000);
    assert_int_equal(p->n_commands, 2);
}

static void an_agent_that_was_away_hears_of_it_when_it_is_back(void **state)
{
    struct push_world *p = *state;

    do_register(p, REGISTERING_NEW, "./one.sh");
    tell(p, true);
    disconnect_agent(p);
    do_register(p, REGISTERING_UPDATE, "./two.sh");
    do_register(p, REGISTERING_UPDATE, "./three.sh");
    world_pass(&p->w, 60 * 1000);
    assert_int_equal(p->n_commands, 0);
    connect_agent(p);
    assert_int_equal(p->n_commands, 1);
    assert_string_equal(p->start_cmd, "./three.sh");
    say(p, MESSAGE_TAKEN, 0, "");
    disconnect_agent(p); /* and is away again before it says more */
    connect_agent(p);
    assert_int_equal(p->n_commands, 2);
    say(p, MESSAGE_RESULT, CODE_OK, "success");
    assert_false(proc_of(p)->needs_push);
}

static void a_newer_one_takes_the_place_of_an_older(void **state)
{
    struct push_world *p = *state;
    char first[64];

    host_and_update(p);
    snprintf(first, sizeof(first), "%s", p->task);
    do_register(p, REGISTERING_UPDATE, "./three.sh");
    assert_int_equal(p->n_commands, 2);
    assert_string_not_equal(p->task, first);
    assert_string_equal(p->start_cmd, "./three.sh");
    snprintf(p->task, sizeof(p->task), "%s", first);
    assert_true(say(p, MESSAGE_RESULT, CODE_OK, "success")); /* of the older: it is forgotten */
    assert_true(proc_of(p)->needs_push);
    assert_int_equal(p->n_stored, 1);
}

static void the_end_of_hosting_goes_to_the_agent_too(void **state)
{
    struct push_world *p = *state;

    host_and_update(p);
    say(p, MESSAGE_RESULT, CODE_OK, "success");
    do_register(p, REGISTERING_END, "");
    assert_int_equal(p->n_commands, 2);
    assert_int_equal(p->op, PROC_OP_UNHOST);
    assert_false(p->only_if_hosted);
    say(p, MESSAGE_RESULT, CODE_OK, "success");
    assert_false(proc_of(p)->needs_push);
    disconnect_agent(p);
    connect_agent(p);
    assert_int_equal(p->n_commands, 2);
}

static void what_its_agent_has_forgotten_is_forgotten(void **state)
{
    struct push_world *p = *state;
    struct message_result result = { .code = CODE_OK, .text = "success" };

    host_and_update(p);
    say(p, MESSAGE_RESULT, CODE_OK, "success");
    do_register(p, REGISTERING_END, "");
    assert_true(p->forgets);
    result.task = p->task;
    shape_defaults(&proc_view_shape, &result.view);
    result.view.space = "s";
    result.view.name = "p";
    result.view.status = PROC_STOPPED;
    pushes_on_message(p->pushes, "agent-a", p->epoch, MESSAGE_RESULT, &result);
    world_settle(&p->w);
    assert_null(proc_of(p));
    disconnect_agent(p);
    connect_agent(p);
    assert_int_equal(p->n_commands, 2);
}

static void what_is_refused_for_now_is_tried_again_and_what_for_good_is_said(void **state)
{
    struct push_world *p = *state;
    char first[64];

    host_and_update(p);
    snprintf(first, sizeof(first), "%s", p->task);
    say(p, MESSAGE_RESULT, CODE_LOCKED, "the queue is full");
    assert_int_equal(p->n_commands, 1);
    world_pass(&p->w, 30 * 1000);
    assert_int_equal(p->n_commands, 2);
    assert_string_not_equal(p->task, first); /* the agent has done the first */
    say(p, MESSAGE_RESULT, CODE_DENIED, "its user may not be root");
    assert_false(proc_of(p)->needs_push);
    assert_string_equal(
        why_of(p), "its host does not take what was registered: 823, its user may not be root");
    world_pass(&p->w, 60 * 1000);
    assert_int_equal(p->n_commands, 2);
}

/* What an agent says may be longer than is kept of it. */
static void what_an_agent_says_is_kept_in_whole_characters(void **state)
{
    struct push_world *p = *state;

    host_and_update(p);
    for (size_t i = 0; i < WIDE_TEXTS; i++) {
        do_register(p, REGISTERING_UPDATE, i % 2 ? "./odd.sh" : "./even.sh");
        say(p, MESSAGE_RESULT, CODE_DENIED, wide_text(i));
        assert_false(proc_of(p)->needs_push);
        assert_true(strlen(why_of(p)) < 600);
        assert_whole_text(why_of(p));
    }
}

static void one_that_is_hosted_no_more_is_left_alone_until_it_is(void **state)
{
    struct push_world *p = *state;

    host_and_update(p);
    say(p, MESSAGE_RESULT, CODE_NOT_REGISTERED, "not hosted");
    tell(p, false);
    world_pass(&p->w, 60 * 1000);
    assert_int_equal(p->n_commands, 1);
    assert_true(proc_of(p)->needs_push);
    assert_string_equal(proc_of(p)->view.why, "it runs");
}

static void what_is_old_by_now_is_not_said_again(void **state)
{
    struct push_world *p = *state;

    host_and_update(p);
    tell(p, false); /* so that there is nothing to say of the next one */
    do_register(p, REGISTERING_UPDATE, "./three.sh");
    world_pass(&p->w, 60 * 1000);
    assert_int_equal(p->n_commands, 1);
}

static void what_is_not_ours_is_left_to_others(void **state)
{
    struct push_world *p = *state;

    snprintf(p->task, sizeof(p->task), "GSETASK:S:1:1");
    assert_false(say(p, MESSAGE_TAKEN, 0, ""));
    assert_false(say(p, MESSAGE_RESULT, 0, ""));
    assert_int_equal(p->n_stored, 0);
    snprintf(p->task, sizeof(p->task), "PUSH:of-before:1"); /* the agent is to forget it */
    assert_true(say(p, MESSAGE_RESULT, 0, ""));
    assert_int_equal(p->n_stored, 1);
}

static void a_host_that_is_removed_is_told_nothing(void **state)
{
    struct push_world *p = *state;

    host_and_update(p);
    fleet_del_host(p->w.fleet, "agent-a");
    world_pass(&p->w, 60 * 1000);
    assert_int_equal(p->n_commands, 1);
}

/* What is registered for many is not told to all of them at once. */
static void others_come_in_between(void **state)
{
    enum { MANY = 100 };
    struct push_world *p = *state;
    struct registering_target target = { "agent-a", 0, "" };
    struct proc_view views[MANY];
    const struct message_processes m = { .list = { views, MANY }, .digest = "d" };
    char names[MANY][8];
    struct proc_spec spec;
    struct err err;
    int n = 0;

    world_spec(&spec);
    for (size_t i = 0; i < MANY; i++) {
        struct registering r = { REGISTERING_NEW, { "s", names[i], { 0 } }, &spec, &target, 1 };

        snprintf(names[i], sizeof(names[i]), "p%zu", i);
        shape_defaults(&proc_view_shape, &views[i]);
        views[i].space = "s";
        views[i].name = names[i];
        views[i].hosted = true;
        fleet_register(p->w.fleet, &r, on_registered, &n);
        world_settle(&p->w);
    }
    assert_int_equal(fleet_on_processes(p->w.fleet, "agent-a", &m, &err), 0);
    connect_agent(p);
    assert_int_equal(p->n_commands, 20);
    world_pass(&p->w, 5);
    assert_int_equal(p->n_commands, MANY);
}

#define PUSH_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        PUSH_TEST(a_new_spec_is_pushed_to_an_agent_that_hosts_the_process),
        PUSH_TEST(an_older_spec_that_an_agent_takes_after_a_newer_one_is_replaced),
        PUSH_TEST(it_is_said_again_until_it_is_taken),
        PUSH_TEST(an_agent_that_was_away_hears_of_it_when_it_is_back),
        PUSH_TEST(a_newer_one_takes_the_place_of_an_older),
        PUSH_TEST(the_end_of_hosting_goes_to_the_agent_too),
        PUSH_TEST(what_its_agent_has_forgotten_is_forgotten),
        PUSH_TEST(what_is_refused_for_now_is_tried_again_and_what_for_good_is_said),
        PUSH_TEST(what_an_agent_says_is_kept_in_whole_characters),
        PUSH_TEST(one_that_is_hosted_no_more_is_left_alone_until_it_is),
        PUSH_TEST(what_is_old_by_now_is_not_said_again),
        PUSH_TEST(what_is_not_ours_is_left_to_others),
        PUSH_TEST(a_host_that_is_removed_is_told_nothing),
        PUSH_TEST(others_come_in_between),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
