/* SPDX-License-Identifier: MIT */
#include <signal.h>
#include <sys/resource.h>

#include "server/dispatch/task_in.h"
#include "tests/unit/server/task_world.h"

/* Tasks when the server restarts, the store fails, or another server has an agent. */

static int64_t ask_one(struct world *w, struct proc_spec *spec)
{
    struct task_target target;

    world_spec(spec);
    target = world_target("agent-a", "a", PROC_OP_START, "p", spec);
    world_operate(w, &target, 1);
    return w->n_sent ? w->sent[w->n_sent - 1].epoch : 0;
}

static struct task_item_row *stored_item(struct world *w, int64_t n)
{
    const struct task_read_ask ask = { w->id, n - 1, 1 };
    struct task_read_got got;

    store_rig_do(&w->rig, &store_task_read, &ask, &got);
    assert_int_equal(got.items.n, 1);
    return got.items.items;
}

/* ---- Restarts. */

static void a_restart_loses_nothing_and_keeps_the_deadline(void **state)
{
    struct world *w = *state;
    struct proc_spec spec;
    struct task_target targets[3];
    const struct task_item *items;
    char id[64];

    world_spec(&spec);
    world_connect(w, "agent-a");
    targets[0] = world_target("agent-a", "a", PROC_OP_START, "p", &spec);
    targets[1] = world_target("agent-a", "b", PROC_OP_START, "q", &spec);
    targets[2] = world_target("agent-b", "c", PROC_OP_START, "p", &spec);
    world_operate(w, targets, 3);
    snprintf(id, sizeof(id), "%s", w->id);
    world_answer_item(w, "agent-a", w->sent[0].epoch, id, 0, CODE_RUNNING);
    world_settle(w);
    w->clock.wall += 10000;
    world_restart(w);
    assert_int_equal(tasks_open(w->tasks), 1);
    items = world_read(w, id);
    assert_int_equal(w->info.n_left, 2);
    assert_int_equal(items[0].code, CODE_RUNNING);
    assert_string_equal(items[0].text, "done");
    assert_int_equal(items[0].view.pid, 4711);
    assert_int_equal(items[1].code, CODE_WAITING);

    world_connect(w, "agent-a");
    assert_int_equal(w->n_sent, 1); /* what had ended is not said again */
    assert_int_equal(w->sent[0].item, 1);
    assert_int_equal(w->sent[0].deadline_ms, w->clock.mono + 100 * 1000 - 10000);
    assert_string_equal(w->sent[0].name, "q");
    world_answer(w, 0, CODE_OK);
    assert_int_equal(world_read(w, id)[1].code, CODE_OK);
    world_pass(w, HUB_GRACE_MS); /* the other never comes */
    assert_int_equal(world_read(w, id)[2].code, CODE_OFFLINE);
    assert_int_equal(tasks_open(w->tasks), 0);
}

static void a_deadline_that_passed_while_we_were_down_has_passed(void **state)
{
    struct world *w = *state;
    struct proc_spec spec;

    world_connect(w, "agent-a");
    ask_one(w, &spec);
    w->clock.wall += 100 * 1000;
    world_restart(w);
    world_settle(w);
    assert_int_equal(world_read(w, w->id)[0].code, CODE_DEADLINE);
    assert_int_equal(stored_item(w, 0)->code, CODE_DEADLINE);
}

static void a_clock_that_went_back_does_not_make_a_deadline_longer(void **state)
{
    struct world *w = *state;
    struct proc_spec spec;

    world_connect(w, "agent-a");
    ask_one(w, &spec);
    w->clock.wall -= 3600 * 1000;
    world_restart(w);
    world_connect(w, "agent-a");
    assert_int_equal(w->sent[0].deadline_ms, w->clock.mono + 100 * 1000);
}

static void labels_and_specs_outlive_a_restart(void **state)
{
    struct proc_label label = { "tier", { SCALAR_NUMBER, "7" } };
    struct world *w = *state;
    struct proc_spec spec;
    struct task_target target;
    const struct fleet_proc *p;

    world_spec(&spec);
    target = world_target("agent-a", "a", PROC_OP_HOST, "p", &spec);
    target.meta.labels = (struct list){ &label, 1 };
    world_operate(w, &target, 1);
    world_restart(w);
    world_connect(w, "agent-a");
    world_answer(w, 0, CODE_OK);
    world_pass(w, 1000);
    world_restart(w);
    p = fleet_proc(fleet_find(w->fleet, "agent-a"), "space", "p");
    assert_non_null(p);
    assert_string_equal(p->labels, "{\"tier\":\"7\"}"); /* stored as a number by an older version */
    assert_non_null(strstr(p->spec, "/opt/victim"));
}

/* The same spec, named by hosts and by agent id. */
static void how_a_target_was_named_outlives_a_restart(void **state)
{
    struct world *w = *state;
    struct proc_spec spec;
    struct task_target targets[2];

    world_spec(&spec);
    targets[0] = world_target("agent-a", "a", PROC_OP_HOST, "p", &spec);
    targets[1] = world_target("agent-a", "b", PROC_OP_HOST, "q", &spec);
    targets[1].by_agent_id = true;
    world_operate(w, targets, 2);
    for (int i = 0; i < 2; i++) {
        const struct task_item *items = world_read(w, w->id);

        assert_false(items[0].by_agent_id);
        assert_true(items[1].by_agent_id);
        world_restart(w);
    }
}

/* The server restarts; meanwhile its database is changed. */
static void restart_with(struct world *w, const char *sql)
{
    struct err *err = &w->rig.err;
    struct db *db;

    world_close(w);
    if (db_open(w->rig.url, DB_WRITE, &db, err) ||
        db_run(db, &(struct query){ sql }, NULL, NULL, NULL, err))
        fail_msg("%s", err->text);
    db_close(db);
    w->clock.mono = 5000;
    w->n_sent = 0;
    world_open(w);
}

/* That version kept labels as they were given, and did not say how targets are named. */
#define STORE_AS_BEFORE                                                                            \
    "UPDATE task_spec SET spec = replace(replace(replace(spec, ',\"by_agent_id\":true', ''),"      \
    " '\"tier\":\"7\"', '\"tier\":7'), '\"note\":\"\"', '\"note\":null')"

static void what_an_older_version_has_stored_is_joined(void **state)
{
    struct proc_label labels[] = { { "tier", { SCALAR_TEXT, "7" } },
                                   { "note", { SCALAR_TEXT, "" } } };
    struct world *w = *state;
    struct proc_spec spec;
    struct task_target targets[2];
    char first[64];

    world_spec(&spec);
    targets[0] = world_target("agent-a", "a", PROC_OP_HOST, "p", &spec);
    targets[1] = world_target("agent-b", "b", PROC_OP_HOST, "p", &spec);
    targets[0].meta.labels = targets[1].meta.labels = (struct list){ labels, ARRAY_LEN(labels) };
    targets[1].by_agent_id = true;
    world_operate(w, targets, 2);
    memcpy(first, w->id, sizeof(first));
    restart_with(w, STORE_AS_BEFORE);
    world_operate(w, targets, 2);
    assert_string_equal(w->id, first);
    labels[0].value.text = "8";
    world_operate(w, targets, 2);
    assert_string_not_equal(w->id, first);
}

static void twins_are_twins_after_a_restart(void **state)
{
    struct world *w = *state;
    struct proc_spec spec;
    struct task_target targets[2];

    world_spec(&spec);
    targets[0] = world_target("agent-a", "a", PROC_OP_START, "p", &spec);
    targets[1] = world_target("agent-a", "b", PROC_OP_START, "p", &spec);
    world_operate(w, targets, 2);
    world_restart(w);
    world_connect(w, "agent-a");
    assert_int_equal(world_count(w, 0, MESSAGE_COMMAND), 1);
    world_answer(w, 0, CODE_OK);
    assert_int_equal(world_read(w, w->id)[0].code, CODE_OK);
    assert_int_equal(w->info.items[1].code, CODE_OK);
}

/* Only one of them was written: the other is not run for that. */
static void a_twin_ends_with_the_one_that_had_ended(void **state)
{
    struct world *w = *state;
    struct proc_spec spec;
    struct task_target targets[2];
    struct result_row row = { .code = CODE_RUNNING, .message = "m", .content = "", .done_ms = 1 };
    struct task_result_ask ask = { { &row, 1 } };

    world_spec(&spec);
    targets[0] = world_target("agent-a", "a", PROC_OP_START, "p", &spec);
    targets[1] = world_target("agent-a", "b", PROC_OP_START, "p", &spec);
    world_operate(w, targets, 2);
    row.task_no = stored_item(w, 0)->task_no;
    store_rig_do(&w->rig, &store_task_result, &ask, NULL);
    world_restart(w);
    world_connect(w, "agent-a");
    assert_int_equal(world_count(w, 0, MESSAGE_COMMAND), 0);
    assert_int_equal(world_read(w, w->id)[1].code, CODE_RUNNING);
    assert_string_equal(w->info.items[1].text, "m");
    assert_int_equal(tasks_open(w->tasks), 0);
}

static void a_task_that_can_not_be_read_is_reported(void **state)
{
    struct world *w = *state;
    struct task_spec_row spec = { 0, "{\"spec\":{\"identity\":7}}" };
    struct task_item_row item = {
        .agent_id = "agent-a", .key = "a", .space = "s", .name = "n", .message = "", .content = ""
    };
    struct task_create_ask ask = { .task = { .id = "GSETASK:S:bad", .app = "", .user = "" },
                                   .specs = { &spec, 1 },
                                   .items = { &item, 1 } };
    struct tasks *t;

    store_rig_do(&w->rig, &store_task_create, &ask, NULL);
    t = tasks_new(w->loop, NULL, w->rig.store, w->fleet, &world_effects, w);
    assert_int_equal(tasks_load(t, &w->rig.err), -1);
    assert_non_null(strstr(w->rig.err.text, "GSETASK:S:bad"));
    assert_non_null(strstr(w->rig.err.text, "identity"));
    tasks_free(t);
    assert_int_equal(world_read(w, "GSETASK:S:bad")[0].code,
                     CODE_WAITING); /* what can be shown is */
    assert_string_equal(w->info.items[0].proc_name, "");
}

/* ---- Epochs. */

static void items_are_claimed_for_the_session_that_has_them(void **state)
{
    struct world *w = *state;
    struct proc_spec spec;
    int64_t epoch;

    ask_one(w, &spec);
    assert_int_equal(stored_item(w, 0)->state, STORE_ITEM_QUEUED);
    epoch = world_connect(w, "agent-a");
    assert_int_equal(stored_item(w, 0)->state, STORE_ITEM_CLAIMED);
    assert_int_equal(stored_item(w, 0)->epoch, epoch);
    world_disconnect(w, "agent-a", epoch);
    epoch = world_connect(w, "agent-a");
    assert_int_equal(stored_item(w, 0)->epoch, epoch);
    assert_int_equal(world_count(w, 0, MESSAGE_COMMAND), 2);
    assert_int_equal(w->sent[1].epoch, epoch);
}

/* It was born claimed, and its session ended before it was sent. */
static void what_was_claimed_and_never_sent_can_end_as_ours(void **state)
{
    struct world *w = *state;
    struct proc_spec spec;
    struct task_target target;
    int64_t epoch = world_connect(w, "agent-a");

    world_spec(&spec);
    target = world_target("agent-a", "a", PROC_OP_START, "p", &spec);
    world_pass(w, HUB_GRACE_MS + 1);
    world_ask(w, "app", &target, 1);
    world_disconnect(w, "agent-a", epoch);
    world_settle(w);
    assert_int_equal(stored_item(w, 0)->epoch, epoch);
    world_pass(w, HUB_OFFLINE_MS);
    assert_int_equal(world_read(w, w->id)[0].code, CODE_OFFLINE);
    assert_int_equal(w->n_sent, 0);
}

static void a_result_of_a_stale_claim_waits_for_the_session(void **state)
{
    struct world *w = *state;
    struct proc_spec spec;
    struct claim_row claim = { "agent-a", 0 };
    struct task_claim_ask ask = { { &claim, 1 } };
    int64_t old = world_connect(w, "agent-a");

    assert_int_equal(ask_one(w, &spec), old);
    claim.epoch = world_open_session(w, "agent-a"); /* by another server, it seems */
    store_rig_do(&w->rig, &store_task_claim, &ask, NULL);
    world_answer(w, 0, CODE_OK);
    world_pass(w, 2000);
    assert_int_equal(world_read(w, w->id)[0].code, CODE_WAITING);
    assert_int_equal(stored_item(w, 0)->state, STORE_ITEM_CLAIMED);

    tasks_on_session(w->tasks, "agent-a", claim.epoch); /* it was ours */
    world_pass(w, 1000);
    assert_int_equal(world_read(w, w->id)[0].code, CODE_OK);
    assert_int_equal(stored_item(w, 0)->code, CODE_OK);
}

/* Another writer has stored a result, and the first result counts. */
static void what_the_store_has_is_what_is_shown(void **state)
{
    struct world *w = *state;
    struct proc_spec spec;
    struct task_expire_ask ask = { .code = CODE_DEADLINE, .message = "too late" };

    world_connect(w, "agent-a");
    ask_one(w, &spec);
    ask.now_ms = w->clock.wall + 24 * 3600 * 1000;
    store_rig_do(&w->rig, &store_task_expire, &ask, NULL);
    world_answer(w, 0, CODE_OK);
    assert_int_equal(world_read(w, w->id)[0].code, CODE_DEADLINE);
    assert_string_equal(w->info.items[0].text, "too late");
    assert_int_equal(w->info.items[0].done_ms, ask.now_ms);
    assert_int_equal(world_count(w, 0, MESSAGE_STORED), 1);
}

/* ---- A store that fails. */

static void set_file_limit(rlim_t bytes)
{
    struct rlimit limit = { .rlim_cur = bytes, .rlim_max = RLIM_INFINITY };

    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void a_full_disk_refuses_tasks_and_keeps_results(void **state)
{
    struct world *w = *state;
    struct proc_spec spec;
    struct task_target target;

    world_connect(w, "agent-a");
    ask_one(w, &spec);
    target = world_target("agent-a", "b", PROC_OP_START, "q", &spec);
    set_file_limit(1);
    world_ask(w, "app", &target, 1);
    world_settle(w);
    assert_int_equal(w->n_failed, 1);
    assert_int_equal(tasks_open(w->tasks), 1);
    assert_int_equal(tasks_counts(w->tasks)->items, 1); /* what was refused never was */
    world_answer(w, 0, CODE_OK);
    for (int i = 0; i < 5; i++)
        world_pass(w, 5000);
    assert_int_equal(world_read(w, w->id)[0].code, CODE_WAITING);
    assert_int_equal(world_count(w, 0, MESSAGE_STORED), 0);

    set_file_limit(RLIM_INFINITY);
    world_pass(w, 5000);
    assert_int_equal(world_read(w, w->id)[0].code, CODE_OK);
    assert_int_equal(world_count(w, 0, MESSAGE_STORED), 1);
    world_operate(w, &target, 1); /* what was refused does not stand in the way */
}

static void a_claim_that_fails_is_made_later(void **state)
{
    struct world *w = *state;
    struct proc_spec spec;
    int64_t epoch;

    ask_one(w, &spec);
    epoch = world_open_session(w, "agent-a");
    set_file_limit(1);
    tasks_on_session(w->tasks, "agent-a", epoch);
    for (int i = 0; i < 10; i++)
        world_pass(w, 5000);
    assert_int_equal(w->n_sent, 0); /* nothing is sent before that is on the disk, */
    assert_int_equal(world_read(w, w->id)[0].code, CODE_WAITING);
    assert_null(w->tasks->waiting.tqh_first); /* but the agent is here: nothing ends for that */
    set_file_limit(RLIM_INFINITY);
    world_pass(w, 5000);
    assert_int_equal(world_count(w, 0, MESSAGE_COMMAND), 1);
    world_answer(w, 0, CODE_OK);
    assert_int_equal(world_read(w, w->id)[0].code, CODE_OK);
}

static void swallow(void *arg, struct store_call *c)
{
    (void)arg;
    store_call_free(c);
}

/* As many calls as the store takes are on their way. */
static void fill_store(struct world *w, struct store_page *page)
{
    while (store_counters(w->rig.store)->on_their_way < 4096) {
        struct store_call *c = store_call_new(&store_host_list, swallow, NULL);

        c->in = page;
        assert_int_equal(store_submit(w->rig.store, c, &w->rig.err), 0);
    }
}

static void a_busy_store_refuses_tasks_and_keeps_results(void **state)
{
    struct world *w = *state;
    struct store_page page = { "", 1 };
    struct proc_spec spec;
    struct task_target target;
    int64_t epoch;

    world_connect(w, "agent-a");
    epoch = ask_one(w, &spec);
    target = world_target("agent-a", "b", PROC_OP_START, "q", &spec);
    fill_store(w, &page);
    world_ask(w, "app", &target, 1);
    assert_int_equal(w->n_failed, 0);
    tasks_read(w->tasks, "GSETASK:S:old", world_on_read, w);
    assert_int_equal(w->failure.code, ERR_UNAVAILABLE);
    world_answer_item(w, "agent-a", epoch, w->id, 0, CODE_OK);
    world_settle(w);
    assert_int_equal(w->n_failed, 1);
    assert_int_equal(w->failure.code, ERR_UNAVAILABLE);
    world_pass(w, 5000);
    assert_int_equal(world_read(w, w->id)[0].code, CODE_OK);
}

/* Their calls return after the tasks are freed. */
static void tasks_may_be_freed_while_calls_are_out(void **state)
{
    struct world *w = *state;
    struct proc_spec spec;
    struct task_target target;
    int64_t epoch = world_connect(w, "agent-a");

    ask_one(w, &spec);
    target = world_target("agent-a", "b", PROC_OP_START, "q", &spec);
    world_answer_item(w, "agent-a", epoch, w->id, 0, CODE_OK);
    world_turn(w, 0);
    world_ask(w, "app", &target, 1);
    tasks_read(w->tasks, "GSETASK:S:old", world_on_read, w);
    assert_true(store_counters(w->rig.store)->on_their_way >= 2);
    tasks_free(w->tasks);
    w->tasks = NULL;
    world_settle(w);
    assert_int_equal(w->n_accepted, 1);
    assert_int_equal(w->n_read, 0);
    tasks_free(NULL);
}

/* ---- How much of it. */

/* Unknown hosts: the task ends when it is created. */
static void ask_nobody(struct world *w, size_t n, char id[64])
{
    struct task_target targets[8];
    struct proc_spec spec;
    char name[16];

    world_spec(&spec);
    for (size_t i = 0; i < n; i++) {
        snprintf(name, sizeof(name), "p%d", w->n_accepted);
        targets[i] = world_target(NULL, "unknown", PROC_OP_START, name, &spec);
    }
    world_operate(w, targets, n);
    snprintf(id, 64, "%s", w->id);
}

static void the_oldest_that_have_ended_make_room(void **state)
{
    struct world *w = *state;
    char ids[5][64];

    w->tasks->ended_max = 10;
    for (size_t i = 0; i < ARRAY_LEN(ids); i++)
        ask_nobody(w, 4, ids[i]);
    assert_int_equal(w->tasks->n_items, 8);
    assert_int_equal(w->tasks->by_id.n, 2);
    for (size_t i = 0; i < ARRAY_LEN(ids); i++) {
        assert_non_null(world_read(w, ids[i])); /* from there or from the store */
        assert_int_equal(w->info.n, 4);
        assert_int_equal(w->info.n_left, 0);
        assert_int_equal(w->info.items[3].code, CODE_OFFLINE);
    }
    world_pass(w, 11 * 60 * 1000);
    assert_int_equal(w->tasks->n_items, 0);
    assert_int_equal(w->tasks->n_items_ended, 0);
}

static void too_many_that_have_not_ended_are_refused(void **state)
{
    struct world *w = *state;
    struct proc_spec spec;
    struct task_target more;

    w->tasks->open_max = 1;
    world_connect(w, "agent-a");
    ask_one(w, &spec);
    more = world_target("agent-a", "b", PROC_OP_START, "q", &spec);
    world_ask(w, "app", &more, 1);
    world_settle(w);
    assert_int_equal(w->n_failed, 1);
    assert_int_equal(w->failure.code, ERR_UNAVAILABLE);
    assert_non_null(strstr(w->failure.text, "try again later"));
    world_answer(w, 0, CODE_OK);
    world_operate(w, &more, 1);
}

static void agents_that_are_away_and_have_nothing_to_do_are_forgotten(void **state)
{
    struct world *w = *state;
    struct proc_spec spec;
    int64_t epoch = world_connect(w, "agent-a");

    ask_one(w, &spec);
    world_connect(w, "agent-b");
    world_disconnect(w, "agent-a", epoch);
    world_pass(w, 2 * 60 * 1000);
    assert_int_equal(w->tasks->peers.n, 2); /* its item has not ended */
    world_answer(w, 0, CODE_OK);            /* of a session that is over */
    world_pass(w, 24 * 3600 * 1000);
    world_pass(w, 60 * 1000);
    assert_int_equal(world_read(w, w->id)[0].code, CODE_DEADLINE);
    assert_null(map_find_str(&w->tasks->peers, "agent-a"));
    assert_int_equal(w->tasks->peers.n, 1);
    world_connect(w, "agent-a");
    ask_one(w, &spec);
    world_answer(w, 0, CODE_OK);
    assert_int_equal(world_read(w, w->id)[0].code, CODE_OK);
}

/* An agent that sends a message in every loop iteration. */
struct talker {
    struct world *world;
    struct timer timer;
    int64_t epoch;
};

static void on_talk(void *arg)
{
    struct talker *t = arg;
    const struct message_ref nothing = { "nothing", 0 };

    timer_set(t->world->loop, &t->timer, 0); /* first, as with two of them */
    tasks_on_message(t->world->tasks, "agent-b", t->epoch, MESSAGE_TAKEN, &nothing);
}

static void messages_in_every_loop_iteration_do_not_delay_deadlines(void **state)
{
    enum { N = 1000, TURNS = 20 }; /* more than end in one turn */
    struct world *w = *state;
    struct arena *a = &w->rig.arena;
    struct task_target *targets = arena_alloc(a, N * sizeof(*targets));
    struct talker talker = { .world = w };
    struct proc_spec spec;

    world_spec(&spec);
    world_connect(w, "agent-a");
    talker.epoch = world_connect(w, "agent-b");
    for (int i = 0; i < N; i++)
        targets[i] = world_target("agent-a", "a", PROC_OP_START, arena_printf(a, "p%d", i), &spec);
    world_operate(w, targets, N);
    timer_init(&talker.timer, on_talk, &talker);
    timer_set(w->loop, &talker.timer, 0);
    w->clock.mono += 100 * 1000; /* the deadline */
    for (int i = 0; i < TURNS; i++, w->clock.mono++)
        world_turn(w, 0);
    assert_true(hub_next_ms(w->tasks->hub) > loop_now_ms(w->loop));
    timer_stop(w->loop, &talker.timer);
    world_settle(w);
    assert_int_equal(world_read(w, w->id)[N - 1].code, CODE_DEADLINE);
    assert_int_equal(tasks_open(w->tasks), 0);
}

static bool is_known(struct world *w, const char *id)
{
    return world_read(w, id) != NULL;
}

static void the_old_are_forgotten_by_the_time_that_is_believed(void **state)
{
    static const int64_t half_hour_ms = 30 * 60 * 1000, day_ms = 48 * half_hour_ms;
    struct world *w = *state;
    struct retention *r = retention_new(w->loop, NULL, w->rig.store);
    char id[64];

    assert_int_equal(retention_load(r, &w->rig.err), 0);
    tasks_keep(w->tasks, 2, r);
    ask_nobody(w, 4, id);
    world_pass(w, 11 * 60 * 1000);
    w->clock.wall += 1000 * day_ms; /* which may be wrong */
    world_pass(w, 11 * 60 * 1000);
    assert_true(is_known(w, id));
    w->clock.wall -= 1000 * day_ms;
    for (int64_t ms = 0; ms < 2 * day_ms - 4 * half_hour_ms; ms += half_hour_ms)
        world_pass(w, half_hour_ms);
    assert_true(is_known(w, id));
    for (int i = 0; i < 8; i++)
        world_pass(w, half_hour_ms);
    assert_false(is_known(w, id));
    assert_int_equal(w->failure.code, CODE_NO_TASK);
    retention_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WORLD_TEST(a_restart_loses_nothing_and_keeps_the_deadline),
        WORLD_TEST(a_deadline_that_passed_while_we_were_down_has_passed),
        WORLD_TEST(a_clock_that_went_back_does_not_make_a_deadline_longer),
        WORLD_TEST(labels_and_specs_outlive_a_restart),
        WORLD_TEST(how_a_target_was_named_outlives_a_restart),
        WORLD_TEST(what_an_older_version_has_stored_is_joined),
        WORLD_TEST(twins_are_twins_after_a_restart),
        WORLD_TEST(a_twin_ends_with_the_one_that_had_ended),
        WORLD_TEST(a_task_that_can_not_be_read_is_reported),
        WORLD_TEST(items_are_claimed_for_the_session_that_has_them),
        WORLD_TEST(what_was_claimed_and_never_sent_can_end_as_ours),
        WORLD_TEST(a_result_of_a_stale_claim_waits_for_the_session),
        WORLD_TEST(what_the_store_has_is_what_is_shown),
        WORLD_TEST(a_full_disk_refuses_tasks_and_keeps_results),
        WORLD_TEST(a_claim_that_fails_is_made_later),
        WORLD_TEST(a_busy_store_refuses_tasks_and_keeps_results),
        WORLD_TEST(tasks_may_be_freed_while_calls_are_out),
        WORLD_TEST(the_oldest_that_have_ended_make_room),
        WORLD_TEST(too_many_that_have_not_ended_are_refused),
        WORLD_TEST(agents_that_are_away_and_have_nothing_to_do_are_forgotten),
        WORLD_TEST(messages_in_every_loop_iteration_do_not_delay_deadlines),
        WORLD_TEST(the_old_are_forgotten_by_the_time_that_is_believed),
    };

    unsetenv("HOLDFAST_TEST_DB"); /* half of it is about SQLite's disk */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
