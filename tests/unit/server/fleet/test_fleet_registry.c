/* SPDX-License-Identifier: MIT */
#include "server/fleet/fleet_registry.h"

#include "server/fleet/fleet_store.h"
#include "store/store_registry.h"
#include "tests/unit/server/task_world.h"

struct answer {
    int n;
    bool failed;
};

static void on_registered(void *arg, const struct err *failure)
{
    struct answer *a = arg;

    a->n++;
    a->failed = failure != NULL;
}

/* What comes of it on each of the two agents; 0 and 0 if `code` is not given. */
static void do_register(struct world *w, enum registering_kind kind, const char *name,
                        const char *start_cmd, int64_t code_a, int64_t code_b)
{
    struct registering_target targets[] = { { "agent-a", 0, "" }, { "agent-b", 0, "" } };
    struct proc_label label = { "id", { SCALAR_NUMBER, "7" } };
    struct proc_spec spec;
    struct registering r = { kind, { "s", name, { &label, 1 } }, &spec, targets, 2 };
    struct answer a = { 0 };

    world_spec(&spec);
    spec.control.start_cmd = start_cmd;
    fleet_register(w->fleet, &r, on_registered, &a);
    world_settle(w);
    assert_int_equal(a.n, 1);
    assert_false(a.failed);
    assert_int_equal(targets[0].code, code_a);
    assert_int_equal(targets[1].code, code_b);
    w->clock.wall++;
}

#define REGISTER(w, cmd) do_register(w, REGISTERING_NEW, "p", cmd, 0, 0)
#define UPDATE(w, cmd)   do_register(w, REGISTERING_UPDATE, "p", cmd, 0, 0)
#define UNREGISTER(w)    do_register(w, REGISTERING_END, "p", "", 0, 0)

static const struct fleet_proc *proc_of(struct world *w, const char *agent)
{
    return fleet_proc(fleet_find(w->fleet, agent), "s", "p");
}

/* What the agent tells of p: all that it has, or one change. */
static void tell(struct world *w, bool is_snapshot, size_t n, int64_t status, bool hosted)
{
    struct proc_view v;
    struct message_processes m = { .is_snapshot = is_snapshot, .is_last = true, .digest = "d" };
    struct err err;

    shape_defaults(&proc_view_shape, &v);
    v.space = "s";
    v.name = "p";
    v.status = v.wanted = status;
    v.hosted = hosted;
    v.why = "as its agent says";
    v.register_s = 5;
    m.list = (struct list){ &v, n };
    assert_int_equal(fleet_on_processes(w->fleet, "agent-a", &m, &err), 0);
}

static void put_spec(struct world *w, const char *start_cmd, int64_t asked_ms)
{
    const struct proc_meta meta = { "s", "p", { 0 } };
    struct proc_spec spec;

    world_spec(&spec);
    spec.control.start_cmd = start_cmd;
    fleet_put_spec(w->fleet, "agent-a", &meta, &spec, asked_ms);
}

static void what_is_registered_is_there_though_no_agent_was_ever_here(void **state)
{
    struct world *w = *state;
    const struct fleet_proc *p;
    int64_t wall_s = w->clock.wall / 1000;

    REGISTER(w, "./start.sh");
    for (int i = 0; i < 2; i++) {
        p = proc_of(w, "agent-b");
        assert_int_equal(p->registry, FLEET_REGISTERED);
        assert_int_equal(p->view.wanted, PROC_STOPPED);
        assert_int_equal(p->view.status, PROC_STOPPED);
        assert_false(p->view.hosted);
        assert_int_equal(p->view.pid, -1);
        assert_int_equal(p->view.register_s, wall_s);
        /* A number that is in the store from before is text when it is loaded. */
        assert_string_equal(p->labels, i ? "{\"id\":\"7\"}" : "{\"id\":7}");
        assert_non_null(strstr(p->spec, "\"start_cmd\":\"./start.sh\""));
        world_restart(w); /* at once: what is answered is on the disk */
    }
}

static void a_second_registration_is_refused_and_the_first_stays(void **state)
{
    struct world *w = *state;
    struct registering_target one[] = { { "agent-a", 0, "" } };
    struct registering_target both[] = { { "agent-b", 0, "" }, { "agent-a", 0, "" } };
    struct proc_spec spec;
    struct registering first = { REGISTERING_NEW, { "s", "p", { 0 } }, &spec, one, 1 };
    struct registering second = { REGISTERING_NEW, { "s", "p", { 0 } }, &spec, both, 2 };
    struct answer a = { 0 };

    world_spec(&spec);
    fleet_register(w->fleet, &first, on_registered, &a); /* at the same time */
    fleet_register(w->fleet, &second, on_registered, &a);
    world_settle(w);
    assert_int_equal(a.n, 2);
    assert_int_equal(one[0].code, 0);
    assert_int_equal(both[0].code, 0);
    assert_int_equal(both[1].code, CODE_REGISTERED);
    do_register(w, REGISTERING_NEW, "p", "./other.sh", CODE_REGISTERED, CODE_REGISTERED);
    assert_non_null(strstr(proc_of(w, "agent-a")->spec, "./start.sh"));
    assert_non_null(strstr(proc_of(w, "agent-b")->spec, "./start.sh"));
}

/* By an operation is as good as by a registration. */
static void registering_a_known_process_is_refused(void **state)
{
    struct world *w = *state;

    put_spec(w, "./known.sh", w->clock.wall);
    do_register(w, REGISTERING_NEW, "p", "./other.sh", CODE_REGISTERED, 0);
    assert_non_null(strstr(proc_of(w, "agent-a")->spec, "./known.sh"));
}

static void an_update_makes_it_or_changes_it_and_it_is_registered_since_the_first(void **state)
{
    struct world *w = *state;
    int64_t since_ms = w->clock.wall;

    UPDATE(w, "./one.sh");
    world_pass(w, 60 * 1000);
    UPDATE(w, "./two.sh");
    assert_non_null(strstr(proc_of(w, "agent-a")->spec, "./two.sh"));
    assert_int_equal(proc_of(w, "agent-a")->registered_ms, since_ms);
    world_restart(w);
    assert_non_null(strstr(proc_of(w, "agent-a")->spec, "./two.sh"));
    assert_int_equal(proc_of(w, "agent-a")->registered_ms, since_ms);
}

static void a_snapshot_does_not_end_it_and_says_what_it_does(void **state)
{
    struct world *w = *state;
    int64_t wall_s = w->clock.wall / 1000;

    REGISTER(w, "./start.sh");
    for (int i = 0; i < 2; i++) {
        tell(w, true, 0, 0, false); /* it has nothing */
        assert_int_equal(proc_of(w, "agent-a")->view.status, PROC_STOPPED);
        assert_int_equal(proc_of(w, "agent-a")->view.wanted, PROC_STOPPED);
        tell(w, true, 1, PROC_RUNNING, true);
        assert_int_equal(fleet_find(w->fleet, "agent-a")->n_procs, 1);
        assert_int_equal(proc_of(w, "agent-a")->view.status, PROC_RUNNING);
        assert_int_equal(proc_of(w, "agent-a")->view.register_s, wall_s);
        assert_non_null(strstr(proc_of(w, "agent-a")->spec, "./start.sh"));
    }
    tell(w, false, 1, PROC_UNREGISTERED, false); /* it only knows the name */
    assert_int_equal(proc_of(w, "agent-a")->view.status, PROC_STOPPED);
    assert_int_equal(proc_of(w, "agent-a")->view.wanted, PROC_STOPPED);
    world_pass(w, 1000);
    world_restart(w);
    assert_int_equal(proc_of(w, "agent-a")->registry, FLEET_REGISTERED);
    assert_int_equal(fleet_totals(w->fleet)->procs, 2);
}

/* Agents say it every minute. */
static void what_is_said_again_is_not_stored_again(void **state)
{
    struct world *w = *state;
    uint64_t calls;

    REGISTER(w, "./start.sh");
    tell(w, false, 1, PROC_RUNNING, true);
    world_pass(w, 1000);
    calls = store_counters(w->rig.store)->calls;
    tell(w, false, 1, PROC_RUNNING, true);
    world_pass(w, 1000);
    assert_int_equal(store_counters(w->rig.store)->calls, calls);
}

static void what_is_not_registered_can_not_be_unregistered(void **state)
{
    struct world *w = *state;

    do_register(w, REGISTERING_END, "p", "", CODE_NOT_RUNNING, CODE_NOT_RUNNING);
    tell(w, false, 1, PROC_RUNNING, true); /* the agent's alone */
    do_register(w, REGISTERING_END, "p", "", CODE_NOT_RUNNING, CODE_NOT_RUNNING);
    put_spec(w, "./known.sh", w->clock.wall); /* by an operation: that is as good */
    do_register(w, REGISTERING_END, "p", "", 0, CODE_NOT_RUNNING);
}

/* As a start that failed leaves it. */
static void what_neither_runs_nor_is_hosted_can_be_unregistered(void **state)
{
    struct world *w = *state;

    tell(w, false, 1, PROC_STOPPED, true);
    do_register(w, REGISTERING_END, "p", "", CODE_NOT_RUNNING, CODE_NOT_RUNNING);
    tell(w, false, 1, PROC_STOPPED, false);
    do_register(w, REGISTERING_END, "p", "", 0, CODE_NOT_RUNNING);
    assert_true(proc_of(w, "agent-a")->needs_push);
    do_register(w, REGISTERING_END, "p", "", CODE_NOT_RUNNING, CODE_NOT_RUNNING); /* it is, now */
    fleet_forget(w->fleet, "agent-a", "s", "p", proc_of(w, "agent-a")->spec_seq - 1);
    assert_non_null(proc_of(w, "agent-a")); /* that was about something older */
    fleet_forget(w->fleet, "agent-a", "s", "p", proc_of(w, "agent-a")->spec_seq);
    assert_null(proc_of(w, "agent-a"));
    fleet_forget(w->fleet, "agent-a", "s", "p", 0);
    fleet_forget(w->fleet, "unknown", "s", "p", 0);
    world_pass(w, 1000);
    world_restart(w);
    assert_null(proc_of(w, "agent-a"));
    REGISTER(w, "./again.sh");
}

static void unregistered_is_said_whatever_the_agent_says(void **state)
{
    struct world *w = *state;

    REGISTER(w, "./start.sh");
    tell(w, false, 1, PROC_RUNNING, true);
    UNREGISTER(w);
    for (int i = 0; i < 2; i++) {
        const struct fleet_proc *p = proc_of(w, "agent-a");

        assert_int_equal(p->registry, FLEET_UNREGISTERED);
        assert_null(p->spec);
        assert_null(p->labels);
        assert_int_equal(p->view.wanted, PROC_UNREGISTERED);
        assert_int_equal(p->view.status, PROC_RUNNING); /* it is left alone */
        assert_true(p->needs_push);
        tell(w, true, 1, PROC_RUNNING, true);
        world_pass(w, 1000);
        world_restart(w);
    }
    assert_null(proc_of(w, "agent-b")); /* no agent has it */
    tell(w, true, 0, 0, false);
    assert_null(proc_of(w, "agent-a"));
    REGISTER(w, "./again.sh");
    assert_int_equal(proc_of(w, "agent-a")->registry, FLEET_REGISTERED);
}

static void the_newest_word_counts(void **state)
{
    struct world *w = *state;
    int64_t before_ms = w->clock.wall - 1;

    REGISTER(w, "./registered.sh");
    put_spec(w, "./newer.sh", w->clock.wall);
    assert_false(proc_of(w, "agent-a")->needs_push);
    assert_non_null(strstr(proc_of(w, "agent-a")->spec, "./newer.sh"));
    UPDATE(w, "./updated.sh");
    put_spec(w, "./older.sh", before_ms); /* an operation that was asked for before ends now */
    for (int i = 0; i < 2; i++) {
        assert_true(proc_of(w, "agent-a")->needs_push);
        assert_non_null(strstr(proc_of(w, "agent-a")->spec, "./updated.sh"));
        fleet_settle(w->fleet, "agent-a", "s", "p", proc_of(w, "agent-a")->spec_seq, NULL);
        put_spec(w, "./older.sh", before_ms);
        world_pass(w, 1000);
        world_restart(w);
    }
    UNREGISTER(w);
    put_spec(w, "./older.sh", before_ms);
    assert_null(proc_of(w, "agent-a")->spec);
    put_spec(w, "./known.sh", w->clock.wall);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(proc_of(w, "agent-a")->registry, FLEET_KNOWN);
        assert_non_null(strstr(proc_of(w, "agent-a")->spec, "./known.sh"));
        world_pass(w, 1000);
        world_restart(w);
    }
}

static void what_the_agent_wants_is_shown_again_when_it_is_known_again(void **state)
{
    struct world *w = *state;

    REGISTER(w, "./start.sh");
    tell(w, false, 1, PROC_RUNNING, true);
    UNREGISTER(w);
    world_pass(w, 1000);
    world_restart(w);
    assert_int_equal(proc_of(w, "agent-a")->view.wanted, PROC_UNREGISTERED);
    put_spec(w, "./known.sh", w->clock.wall);
    assert_int_equal(proc_of(w, "agent-a")->view.wanted, PROC_RUNNING);
}

static void one_that_is_hosted_can_not_lose_its_start_command(void **state)
{
    struct world *w = *state;

    REGISTER(w, "./start.sh");
    do_register(w, REGISTERING_UPDATE, "p", "", 0, 0);
    tell(w, false, 1, PROC_RUNNING, true);
    do_register(w, REGISTERING_UPDATE, "p", "", CODE_NO_COMMAND, 0);
}

/* ---- what agents have to be told */

struct told {
    int n;
    char agent[16];
    int64_t spec_seq;
};

static void on_needs_push(void *arg, const struct fleet_host *h, const struct fleet_proc *p)
{
    struct told *t = arg;

    t->n++;
    t->spec_seq = p->spec_seq;
    snprintf(t->agent, sizeof(t->agent), "%s", h->agent_id);
}

static void an_agent_has_to_be_told_of_what_it_hosts(void **state)
{
    struct world *w = *state;
    struct told t = { 0 };

    fleet_on_needs_push(w->fleet, on_needs_push, &t);
    REGISTER(w, "./start.sh");
    UPDATE(w, "./update.sh");
    fleet_set_session(w->fleet, "agent-a", 5, w->clock.wall);
    tell(w, false, 1, PROC_RUNNING, true); /* what makes it hosted brings a spec along */
    assert_int_equal(t.n, 0);
    UPDATE(w, "./other.sh");
    assert_int_equal(t.n, 1);
    assert_string_equal(t.agent, "agent-a");
    fleet_set_session(w->fleet, "agent-a", 0, w->clock.wall);
    fleet_set_session(w->fleet, "agent-a", 6, w->clock.wall);
    assert_int_equal(t.n, 2);
    fleet_settle(w->fleet, "agent-a", "s", "p", t.spec_seq - 1, NULL); /* of something else */
    assert_true(proc_of(w, "agent-a")->needs_push);
    fleet_settle(w->fleet, "agent-a", "s", "p", t.spec_seq, NULL);
    fleet_set_session(w->fleet, "agent-a", 7, w->clock.wall);
    assert_int_equal(t.n, 2);
    world_pass(w, 1000);
    world_restart(w);
    assert_false(proc_of(w, "agent-a")->needs_push);
    assert_true(proc_of(w, "agent-b")->needs_push);
}

static void what_an_agent_will_not_take_is_said(void **state)
{
    struct world *w = *state;

    REGISTER(w, "./start.sh");
    tell(w, false, 1, PROC_RUNNING, true);
    UPDATE(w, "./other.sh");
    fleet_settle(w->fleet, "agent-a", "s", "p", proc_of(w, "agent-a")->spec_seq, "no, never");
    for (int i = 0; i < 2; i++) {
        assert_string_equal(proc_of(w, "agent-a")->view.why, "no, never");
        tell(w, false, 1, PROC_RUNNING, true);
        world_pass(w, 1000);
        world_restart(w);
    }
    UPDATE(w, "./better.sh");
    assert_string_equal(proc_of(w, "agent-a")->view.why, "");
    tell(w, false, 1, PROC_RUNNING, true);
    assert_string_equal(proc_of(w, "agent-a")->view.why, "as its agent says");
}

/* ---- limits and failures */

static void a_store_that_fails_is_told_and_nothing_is_registered(void **state)
{
    struct world *w = *state;
    struct registering_target targets[] = { { "agent-a", 0, "" } };
    struct proc_spec spec;
    struct registering r = { REGISTERING_NEW, { "s", "p", { 0 } }, &spec, targets, 1 };
    struct answer a = { 0 };

    world_spec(&spec);
    world_close(w);
    w->rig.options.calls_max = 1;
    world_open(w);
    for (int i = 0; i < 3; i++)
        fleet_register(w->fleet, &r, on_registered, &a);
    assert_int_equal(a.n, 2);
    assert_true(a.failed);
    world_settle(w);
    assert_int_equal(a.n, 3);
    assert_false(a.failed);
}

static void unknown_and_refused_targets_are_skipped(void **state)
{
    struct world *w = *state;
    struct registering_target targets[] = { { "unknown", 0, "" },
                                            { "agent-a", CODE_DENIED, "not yours" } };
    struct proc_spec spec;
    struct registering r = { REGISTERING_UPDATE, { "s", "p", { 0 } }, &spec, targets, 2 };
    struct answer a = { 0 };

    world_spec(&spec);
    fleet_register(w->fleet, &r, on_registered, &a);
    assert_int_equal(a.n, 1); /* at once: there is nothing to do */
    assert_int_equal(targets[0].code, CODE_OFFLINE);
    assert_int_equal(targets[1].code, CODE_DENIED);
    assert_null(proc_of(w, "agent-a"));
}

static void a_host_that_is_removed_takes_it_along(void **state)
{
    struct world *w = *state;
    const struct agent_row agent = { "agent-a" };
    struct list rows;

    REGISTER(w, "./start.sh");
    store_rig_do(&w->rig, &store_host_del, &agent, &rows);
    fleet_del_host(w->fleet, "agent-a");
    store_rig_do(&w->rig, &store_registry_of, &agent, &rows);
    assert_int_equal(rows.n, 0);
    do_register(w, REGISTERING_UPDATE, "p", "./x.sh", CODE_OFFLINE, 0);
}

/* What is written a while later must not be written over what was answered since. */
static void an_update_is_not_undone_by_what_was_still_to_be_written(void **state)
{
    struct world *w = *state;
    struct registering_target target = { "agent-a", 0, "" };
    struct proc_spec spec;
    struct registering r = { REGISTERING_UPDATE, { "s", "p", { 0 } }, &spec, &target, 1 };
    struct answer a = { 0 };

    world_spec(&spec);
    spec.control.start_cmd = "./two.sh";
    UPDATE(w, "./one.sh");
    tell(w, false, 1, PROC_RUNNING, true);
    fleet_settle(w->fleet, "agent-a", "s", "p", proc_of(w, "agent-a")->spec_seq, NULL);
    fleet_register(w->fleet, &r, on_registered, &a);
    fleet_flush(w->fleet); /* of what was settled: the store has it after the update */
    world_settle(w);
    assert_int_equal(a.n, 1);
    world_pass(w, 1000);
    world_restart(w);
    assert_non_null(strstr(proc_of(w, "agent-a")->spec, "./two.sh"));
    assert_true(proc_of(w, "agent-a")->needs_push);
}

/* Two in one millisecond, or after the clock was set back a little. */
static void what_was_said_has_a_number_of_its_own(void **state)
{
    struct world *w = *state;
    int64_t spec_seq;

    UPDATE(w, "./one.sh");
    for (int i = 1; i <= 2; i++) {
        spec_seq = proc_of(w, "agent-a")->spec_seq;
        w->clock.wall -= i;
        UPDATE(w, "./two.sh");
        assert_true(proc_of(w, "agent-a")->spec_seq > spec_seq);
        fleet_settle(w->fleet, "agent-a", "s", "p", spec_seq, NULL); /* the agent has the first */
        assert_true(proc_of(w, "agent-a")->needs_push);
    }
    w->clock.wall -= 3600 * 1000; /* what is asked for from now on is newer all the same */
    UPDATE(w, "./three.sh");
    put_spec(w, "./four.sh", fleet_draw_seq(w->fleet));
    assert_non_null(strstr(proc_of(w, "agent-a")->spec, "./four.sh"));
}

/* ---- the clock is set back */

enum { HOUR_MS = 3600 * 1000 };

/* Asks for a start of p with this command; the agent's answer is world_answer()'s. */
static void ask_start(struct world *w, const char *start_cmd)
{
    struct task_target t = { .agent = "agent-a", .key = "k", .meta = { "s", "p", { 0 } } };
    struct proc_spec spec;

    world_spec(&spec);
    spec.control.start_cmd = start_cmd;
    t.spec = &spec;
    world_operate(w, &t, 1);
}

static void expect_spec(struct world *w, const char *start_cmd, bool needs_push)
{
    assert_non_null(strstr(proc_of(w, "agent-a")->spec, start_cmd));
    assert_int_equal(proc_of(w, "agent-a")->needs_push, needs_push);
}

static void a_start_after_an_update_is_newer_though_the_clock_was_set_back(void **state)
{
    struct world *w = *state;

    for (int restarts = 0; restarts < 2; restarts++) {
        UPDATE(w, "./old.sh");
        w->clock.wall -= HOUR_MS;
        if (restarts)
            world_restart(w);
        world_connect(w, "agent-a");
        w->n_sent = 0;
        ask_start(w, "./new.sh");
        assert_int_equal(world_answer(w, 0, CODE_OK), 1);
        expect_spec(w, "./new.sh", false);
        world_pass(w, 2000); /* it is stored */
        world_restart(w);
        expect_spec(w, "./new.sh", false);
    }
}

/* Also where the server was restarted between the two, or before the start has ended. */
static void an_update_after_a_start_is_newer_though_the_clock_was_set_back(void **state)
{
    struct world *w = *state;

    REGISTER(w, "./first.sh");
    for (int restarts = 0; restarts < 3; restarts++) {
        world_connect(w, "agent-a");
        w->n_sent = 0;
        ask_start(w, "./old.sh");
        w->clock.wall -= HOUR_MS;
        if (restarts == 1) {
            world_restart(w);
            world_connect(w, "agent-a");
        }
        UPDATE(w, "./new.sh");
        if (restarts == 2) {
            world_restart(w);
            world_connect(w, "agent-a");
        }
        assert_true(world_answer(w, 0, CODE_OK) > 0);
        expect_spec(w, "./new.sh", true);
    }
}

static void since_when_it_is_registered_is_said_by_the_clock(void **state)
{
    struct world *w = *state;

    UPDATE(w, "./a.sh");
    w->clock.wall -= HOUR_MS;
    do_register(w, REGISTERING_UPDATE, "q", "./b.sh", 0, 0);
    assert_int_equal(fleet_proc(fleet_find(w->fleet, "agent-a"), "s", "q")->view.register_s,
                     (w->clock.wall - 1) / 1000);
}

static size_t count_rows(struct world *w, const char *agent_id)
{
    struct list rows;

    store_rig_do(&w->rig, &store_registry_of, &(struct agent_row){ agent_id }, &rows);
    return rows.n;
}

static void an_unregistered_process_that_no_agent_has_is_removed(void **state)
{
    struct world *w = *state;

    REGISTER(w, "./start.sh");
    tell(w, false, 1, PROC_RUNNING, true);
    UNREGISTER(w);
    assert_int_equal(count_rows(w, "agent-a"), 1); /* its agent has it */
    assert_int_equal(count_rows(w, "agent-b"), 0);
    tell(w, true, 0, 0, false);
    world_settle(w);
    assert_int_equal(count_rows(w, "agent-a"), 0);
}

/* The store has removed it before it has the registration. */
static void a_host_that_is_removed_meanwhile_leaves_nothing(void **state)
{
    static const enum registering_kind kinds[] = { REGISTERING_NEW, REGISTERING_UPDATE };
    struct world *w = *state;
    const char *agents[] = { "agent-a", "agent-b" };

    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        struct registering_target target = { agents[i], 0, "" };
        struct proc_spec spec;
        struct registering r = { kinds[i], { "s", "p", { 0 } }, &spec, &target, 1 };
        struct answer a = { 0 };
        struct list rows;

        world_spec(&spec);
        store_rig_do(&w->rig, &store_host_del, &(struct agent_row){ agents[i] }, &rows);
        fleet_register(w->fleet, &r, on_registered, &a);
        fleet_del_host(w->fleet, agents[i]);
        world_settle(w);
        assert_int_equal(a.n, 1);
        assert_int_equal(target.code, CODE_OFFLINE);
        assert_int_equal(count_rows(w, agents[i]), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WORLD_TEST(what_is_registered_is_there_though_no_agent_was_ever_here),
        WORLD_TEST(a_second_registration_is_refused_and_the_first_stays),
        WORLD_TEST(registering_a_known_process_is_refused),
        WORLD_TEST(an_update_makes_it_or_changes_it_and_it_is_registered_since_the_first),
        WORLD_TEST(a_snapshot_does_not_end_it_and_says_what_it_does),
        WORLD_TEST(what_is_said_again_is_not_stored_again),
        WORLD_TEST(what_is_not_registered_can_not_be_unregistered),
        WORLD_TEST(what_neither_runs_nor_is_hosted_can_be_unregistered),
        WORLD_TEST(unregistered_is_said_whatever_the_agent_says),
        WORLD_TEST(the_newest_word_counts),
        WORLD_TEST(what_the_agent_wants_is_shown_again_when_it_is_known_again),
        WORLD_TEST(one_that_is_hosted_can_not_lose_its_start_command),
        WORLD_TEST(an_agent_has_to_be_told_of_what_it_hosts),
        WORLD_TEST(what_an_agent_will_not_take_is_said),
        WORLD_TEST(a_store_that_fails_is_told_and_nothing_is_registered),
        WORLD_TEST(unknown_and_refused_targets_are_skipped),
        WORLD_TEST(a_host_that_is_removed_takes_it_along),
        WORLD_TEST(an_update_is_not_undone_by_what_was_still_to_be_written),
        WORLD_TEST(what_was_said_has_a_number_of_its_own),
        WORLD_TEST(a_start_after_an_update_is_newer_though_the_clock_was_set_back),
        WORLD_TEST(an_update_after_a_start_is_newer_though_the_clock_was_set_back),
        WORLD_TEST(since_when_it_is_registered_is_said_by_the_clock),
        WORLD_TEST(an_unregistered_process_that_no_agent_has_is_removed),
        WORLD_TEST(a_host_that_is_removed_meanwhile_leaves_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
