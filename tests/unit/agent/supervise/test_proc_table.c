/* SPDX-License-Identifier: MIT */
/* test_proc_table.c - every cell of the table of a process's life: each event in each state, on a
 * process that came into the state through the inputs of the core.
 *
 * proc_enter() counts a change that the cell does not name, so after an event that can happen
 * nothing is counted.  One that cannot is counted once, and leaves the process in a state that its
 * facts allow. */
#include "agent/supervise/proc_table.h"

#include "agent/supervise/core_op.h"
#include "tests/lib/core_rig.h"

enum { OTHER_PID = 4711 };

/* What can happen: a letter for each event, in the order of proc_state_rows.h. */
/* clang-format off */
static const char letters[] =     "febct";
static const char *const can_happen[PROC_STATES] = {
    [ACTUAL_DOWN]     =           "f.bc.",
    [ACTUAL_WAITING]  =           "f.bc.",
    [ACTUAL_BACKOFF]  =           "f.bct",
    [ACTUAL_STARTING] =           "febc.",
    [ACTUAL_YOUNG]    =           "febct",
    [ACTUAL_UP]       =           "febc.",
    [ACTUAL_STOPPING] =           "febc.",
    [ACTUAL_FINISHED] =           "f.bc.",
    [ACTUAL_DENIED]   =           "f.bc.",
    [ACTUAL_GIVEN_UP] =           "f.bc.",
};
/* clang-format on */

static struct {
    struct proc *k;
    struct rig_proc *p;
    char text[160]; /* where the walk is */
} walk;

static void check(bool is_so, const char *what)
{
    if (!is_so)
        fail_msg("%s: %s (now %s; last unexpected: %s in %s)", walk.text, what,
                 proc_state_name(walk.k->actual), rig.unexpected_event, rig.unexpected_state);
}

/* ---- ways into the states */

static struct message_command command(void)
{
    struct message_command m = rig_command(PROC_OP_START, "p");

    m.spec.has_policy = m.spec.policy.has_retries = PRESENCE_GIVEN;
    m.spec.policy.start_retries = 4;
    return m;
}

static void start(const struct message_command *m)
{
    rig_tell(m);
    rig_pass(7000);
    assert_int_equal(rig_code(m->item), CODE_OK);
    walk.k = core_proc(rig.core, "space", "p");
    walk.p = rig_proc("p");
}

static void start_up(void)
{
    const struct message_command m = command();

    start(&m);
}

static void die(void)
{
    rig_die(walk.p, 1);
    rig_settle();
}

static void be_down(void)
{
    start_up();
    rig_operate(PROC_OP_UNHOST, "p");
    rig_settle();
    die();
}

static void be_stopped(void)
{
    start_up();
    rig_operate(PROC_OP_STOP, "p");
    rig_settle();
}

static void wait_for_another(void)
{
    static struct proc_word after = { "db" };
    struct message_command m = command(), db = rig_command(PROC_OP_START, "db");

    rig_tell(&db);
    rig_pass(7000);
    m.spec.extra.after = (struct list){ &after, 1 };
    start(&m);
    rig_proc("db")->hangs = true;
    rig_die(rig_proc("db"), 1);
    rig_settle();
    die();
}

static void wait_for_a_slot(void)
{
    struct message_command other = rig_command(PROC_OP_START, "other");

    rig_tell(&other);
    rig_pass(7000);
    start_up();
    core_set_at_once(rig.core, 1);
    rig_proc("other")->hangs = true;
    rig_die(rig_proc("other"), 1);
    rig_settle();
    die();
}

static void back_off(void)
{
    start_up();
    walk.p->status = 1;
    die();
    rig_pass(7000);
}

static void be_started(void)
{
    start_up();
    walk.p->hangs = true;
    die();
}

static void be_started_on_request(void)
{
    be_stopped();
    walk.p->hangs = true;
    rig_operate(PROC_OP_START, "p");
    rig_settle();
}

static void be_started_and_seen(void)
{
    start_up();
    die();
    rig_pass(1500);
    assert_true(walk.k->ident.pid);
}

static void be_young(void)
{
    struct message_command m = command();

    m.spec.policy.has_start_check = PRESENCE_GIVEN;
    m.spec.policy.start_check_s = 60;
    m.spec.extra.ready = (struct proc_ready){ .kind = READY_PORT, .port = 80, .timeout_s = 20 };
    rig.port_is_open = true;
    start(&m);
}

static void be_stopping(void)
{
    start_up();
    walk.p->ignores_term = true;
    rig_operate(PROC_OP_STOP, "p");
    rig_settle();
}

static void be_restarting(void)
{
    start_up();
    walk.p->ignores_term = true;
    rig_operate(PROC_OP_RESTART, "p");
    rig_settle();
}

static void be_finished(void)
{
    static struct proc_number code = { 1 };
    struct message_command m = command();

    m.spec.extra.exit_codes = (struct list){ &code, 1 };
    start(&m);
    die();
}

static void be_denied(void)
{
    start_up();
    rig.forbids = "start";
    die();
}

static void be_given_up(void)
{
    struct message_command m = command();

    m.spec.policy.start_retries = 0;
    start(&m);
    die();
}

static const struct way {
    const char *name;
    enum proc_actual state;
    void (*begin)(void);
} ways[] = {
    { "not hosted", ACTUAL_DOWN, be_down },
    { "stopped", ACTUAL_DOWN, be_stopped },
    { "for another", ACTUAL_WAITING, wait_for_another },
    { "for a slot", ACTUAL_WAITING, wait_for_a_slot },
    { "failed", ACTUAL_BACKOFF, back_off },
    { "by us", ACTUAL_STARTING, be_started },
    { "requested", ACTUAL_STARTING, be_started_on_request },
    { "and seen", ACTUAL_STARTING, be_started_and_seen },
    { "ready", ACTUAL_YOUNG, be_young },
    { "started", ACTUAL_UP, start_up },
    { "stop", ACTUAL_STOPPING, be_stopping },
    { "restart", ACTUAL_STOPPING, be_restarting },
    { "completed", ACTUAL_FINISHED, be_finished },
    { "forbidden", ACTUAL_DENIED, be_denied },
    { "given up", ACTUAL_GIVEN_UP, be_given_up },
};

/* ---- events */

static void deliver_found(int variant)
{
    (void)variant;
    rig_come_up(walk.p, OTHER_PID);
    core_set_ident(walk.k, (struct core_ident){ OTHER_PID, 1 });
}

static void deliver_ended(int variant)
{
    (void)variant;
    if (walk.k->ident.pid)
        rig_die(walk.p, 1);
    else
        proc_step(walk.k, PROC_EVENT_ENDED);
}

/* Of an operation that acts already, it is the other half. */
static void deliver_begun(int variant)
{
    static const int64_t ops[] = { PROC_OP_START, PROC_OP_RESTART, PROC_OP_KILL };
    struct op *op = TAILQ_FIRST(&walk.k->ops);

    if (op && op_is_acting(op)) {
        op->half = walk.k->actual == ACTUAL_STARTING ? HALF_STOP : HALF_START;
        proc_step(walk.k, PROC_EVENT_BEGUN);
        return;
    }
    rig.forbids = NULL;
    core_set_at_once(rig.core, 100);
    rig_operate(ops[variant], "p");
    rig_settle();
}

static void deliver_changed(int variant)
{
    struct message_command m = command();

    m.op = variant == 1 ? PROC_OP_HOST : PROC_OP_UNHOST;
    if (variant == 0)
        restart_evaluate(walk.k);
    else if (variant <= 2)
        rig_tell(&m);
    else
        core_on_policy(rig.core, rig.now_ms);
}

static void deliver_timer(int variant)
{
    (void)variant;
    if (walk.k->timer.place)
        rig_pass(walk.k->timer.due_ms - rig.now_ms);
    else
        proc_step(walk.k, PROC_EVENT_TIMER);
}

static const struct {
    void (*deliver)(int variant);
    int variants;
} inputs[PROC_EVENTS] = {
    [PROC_EVENT_FOUND] = { deliver_found, 1 }, [PROC_EVENT_ENDED] = { deliver_ended, 1 },
    [PROC_EVENT_BEGUN] = { deliver_begun, 3 }, [PROC_EVENT_CHANGED] = { deliver_changed, 4 },
    [PROC_EVENT_TIMER] = { deliver_timer, 1 },
};

/* ---- the walk */

static void walk_cell(const struct way *w, enum proc_event event, int variant)
{
    bool can = can_happen[w->state][event] != '.';

    rig_set_up(NULL);
    snprintf(walk.text, sizeof(walk.text), "%s (%s)", proc_state_name(w->state), w->name);
    w->begin();
    check(walk.k->actual == w->state, "is not reached");
    check(rig.unexpected == 0, "was unexpected on the way");
    snprintf(walk.text, sizeof(walk.text), "%s, variant %d, in %s (%s)", proc_event_name(event),
             variant, proc_state_name(w->state), w->name);
    inputs[event].deliver(variant);
    check(rig.unexpected == !can, can ? "was unexpected" : "is not counted once");
    check(!proc_find_fault(walk.k), "leaves a fault");
    if (!can)
        check(!strcmp(rig.unexpected_state, proc_state_name(w->state)) &&
                  !strcmp(rig.unexpected_event, proc_event_name(event)),
              "is counted as another pair");
    walk.p->hangs = walk.p->ignores_term = false;
    walk.p->status = 0;
    rig.unexpected = 0;
    rig.core->unexpected = 0;
    rig_pass(200 * 1000); /* rig_settle() looks for faults */
    check(rig.unexpected == 0, "was unexpected later");
    check(!walk.k->hosted || walk.k->actual == ACTUAL_UP || walk.k->actual == ACTUAL_DENIED ||
              walk.k->actual == ACTUAL_FINISHED || walk.k->actual == ACTUAL_WAITING,
          "does not run in the end");
    rig_tear_down(NULL);
}

static void every_event_in_every_state(void **state)
{
    unsigned walked = 0;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
        walked |= 1u << ways[i].state;
        for (int event = 0; event < PROC_EVENTS; event++) {
            for (int variant = 0; variant < inputs[event].variants; variant++)
                walk_cell(&ways[i], event, variant);
        }
    }
    assert_int_equal(walked, (1u << PROC_STATES) - 1);
}

/* ---- the table itself */

static void the_table_has_what_can_happen(void **state)
{
    (void)state;
    assert_int_equal(strlen(letters), PROC_EVENTS);
    for (int s = 0; s < PROC_STATES; s++) {
        assert_non_null(can_happen[s]);
        assert_int_equal(strlen(can_happen[s]), PROC_EVENTS);
        for (int e = 0; e < PROC_EVENTS; e++) {
            const struct proc_cell *cell = proc_table_cell(s, e);
            bool can = can_happen[s][e] == letters[e];

            if ((cell->fn != NULL) != can || (cell->text != NULL) != can || (!can && cell->to) ||
                cell->to >> PROC_STATES)
                fail_msg("%s in %s", proc_event_name(e), proc_state_name(s));
        }
    }
}

static void every_state_is_reached_and_left(void **state)
{
    unsigned reached = 1u << ACTUAL_DOWN;

    (void)state;
    for (int s = 0; s < PROC_STATES; s++) {
        unsigned to = 0;

        for (int e = 0; e < PROC_EVENTS; e++)
            to |= proc_table_cell(s, e)->to;
        assert_true(to & ~(1u << s));
        reached |= to;
    }
    assert_int_equal(reached, (1u << PROC_STATES) - 1);
}

/* ---- what is wrong with a process */

static void a_fault_is_found(void **state)
{
    struct proc *k;

    (void)state;
    start_up();
    k = walk.k;
    assert_null(proc_find_fault(k));
    k->actual = ACTUAL_DOWN;
    assert_string_equal(proc_find_fault(k), "a process that does not run has a pid");
    k->actual = ACTUAL_YOUNG;
    assert_string_equal(proc_find_fault(k), "the timer of a process is not set");
    k->actual = ACTUAL_UP;
    timers_set(&rig.core->timers, &k->timer, rig.now_ms + 1000);
    assert_string_equal(proc_find_fault(k), "a process has a timer too many");
    timers_stop(&rig.core->timers, &k->timer);
    die();
    rig_pass(7000);
    assert_null(proc_find_fault(k));
    rig_operate(PROC_OP_STOP, "p");
    rig_settle();
    assert_int_equal(k->actual, ACTUAL_DOWN);
    k->actual = ACTUAL_UP;
    assert_string_equal(proc_find_fault(k), "a process that runs has no pid");
    k->actual = ACTUAL_BACKOFF;
    timers_set(&rig.core->timers, &k->timer, rig.now_ms + 1000);
    assert_string_equal(proc_find_fault(k),
                        "a process that is not hosted is about to be restarted");
    timers_stop(&rig.core->timers, &k->timer);
    k->actual = ACTUAL_GIVEN_UP;
    k->hosted = true;
    assert_string_equal(proc_find_fault(k), "a process that was given up is hosted");
    k->hosted = false;
    k->actual = ACTUAL_DOWN;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_has_what_can_happen),
        cmocka_unit_test(every_state_is_reached_and_left),
        cmocka_unit_test(every_event_in_every_state),
        RIG_TEST(a_fault_is_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
