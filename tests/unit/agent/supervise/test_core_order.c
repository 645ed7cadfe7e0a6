/* SPDX-License-Identifier: MIT */
/* The order of starts. */
#include "agent/supervise/core_order.h"

#include "tests/lib/core_rig.h"

/* ---- hosted processes */

static struct message_command spec_of(const char *name, int64_t priority, const char *after)
{
    struct message_command m = rig_command(PROC_OP_START, name);
    struct proc_word *words = arena_alloc(&rig.arena, 4 * sizeof(*words));
    size_t n = 0;

    m.spec.extra.priority = priority;
    for (const char *p = after; *p; p += strspn(p, " ")) {
        size_t len = strcspn(p, " ");

        words[n++].text = arena_memdup(&rig.arena, p, len);
        p += len;
    }
    m.spec.extra.after = (struct list){ words, n };
    return m;
}

static void host(const char *name, int64_t priority, const char *after)
{
    struct message_command m = spec_of(name, priority, after);

    rig_tell(&m);
    rig_pass(6000);
    assert_int_equal(rig_code(m.item), CODE_OK);
}

static void assert_begun(const char *names)
{
    struct buf b = { 0 };

    for (size_t i = 0; i < rig.n_order; i++)
        buf_printf(&b, "%s%s", i ? " " : "", rig.order[i]);
    if (strcmp(buf_text(&b), names) != 0)
        fail_msg("begun: %s; expected: %s", buf_text(&b), names);
    buf_free(&b);
}

static void reboot(void)
{
    rig.n_order = 0;
    rig.n_events = 0;
    rig_crash(false);
    rig_pass(RIG_STEP_MS);
}

/* All of them at once. */
static void kill_all(void)
{
    rig.n_order = 0;
    rig.n_events = 0;
    for (size_t i = 0; i < rig.n_procs; i++)
        rig_die(&rig.procs[i], 1);
    rig_pass(RIG_STEP_MS);
}

/* ---- priorities */

static void a_host_comes_up_by_priority(void **state)
{
    (void)state;
    host("last", 5, "");
    host("one", 0, "");
    host("first", -3, "");
    host("other", 0, "");
    reboot();
    assert_begun("first");
    assert_string_equal(rig_cause("one")->waits_for, "space:first");
    assert_string_equal(rig_cause("last")->waits_for, "space:first");
    assert_string_equal(rig_cause("first")->waits_for, "");
    rig_pass(5500); /* it must live for five seconds */
    assert_begun("first one other");
    assert_string_equal(rig_cause("last")->waits_for, "space:one");
    rig_pass(5500);
    assert_begun("first one other last");
    rig_pass(6000);
    assert_string_equal(rig_cause("last")->waits_for, "");
    assert_int_equal(rig_count_events("process_restart_success"), 4);
    assert_int_equal(rig_count_events("process_order_passed"), 0);
    rig_pass(301 * 1000);
    rig_die(rig_proc("last"), 1); /* by now it is like any other day */
    rig_die(rig_proc("first"), 1);
    rig_pass(RIG_STEP_MS);
    assert_int_equal(rig_proc("first")->runs, 3);
}

static void nobody_waits_longer_for_one_that_has_failed(void **state)
{
    (void)state;
    host("bad", 0, "");
    host("good", 1, "");
    rig_proc("bad")->status = 1;
    reboot();
    rig_pass(RIG_STEP_MS);
    assert_begun("bad good");
    rig_pass(60 * 1000); /* it is tried again, as ever */
    assert_true(rig_proc("bad")->runs > 3);
}

static void nor_for_one_whose_command_took_too_long(void **state)
{
    (void)state;
    host("slow", 0, "");
    host("next", 1, "");
    rig_proc("slow")->hangs = true;
    reboot();
    rig_pass(59 * 1000);
    assert_begun("slow");
    rig_pass(1500);
    assert_begun("slow next");
}

static void nor_for_one_that_is_not_hosted_any_more(void **state)
{
    int64_t item;

    (void)state;
    host("gone", 0, "");
    host("next", 1, "");
    rig_proc("gone")->hangs = true;
    reboot();
    assert_begun("gone");
    item = rig_operate(PROC_OP_UNHOST, "gone");
    rig_pass(61 * 1000); /* in its turn, when its start has failed */
    assert_int_equal(rig_code(item), CODE_OK);
    assert_begun("gone next");
}

static void nor_for_ever_for_one_of_whom_nothing_is_known(void **state)
{
    (void)state;
    host("mute", 0, "");
    host("next", 1, "");
    rig.n_order = rig.n_events = 0;
    rig_crash(false);
    rig.is_blind = true;
    rig_pass(ORDER_MAX_MS - 1000);
    assert_int_equal(rig_count_events("process_order_passed"), 0);
    rig_pass(2000);
    assert_int_equal(rig_count_events("process_order_passed"), 1);
    rig.is_blind = false;
    rig_pass(RIG_STEP_MS);
    assert_begun("mute next");
}

static void a_forbidden_one_holds_nobody_up(void **state)
{
    struct message_command m = spec_of("no", 0, "");

    (void)state;
    m.spec.identity.user = "guest";
    rig_tell(&m);
    rig_pass(6000);
    host("next", 1, "no");
    rig.forbids = "guest";
    reboot();
    rig_pass(RIG_STEP_MS);
    assert_begun("next");
}

static void the_agent_alone_coming_up_is_no_boot(void **state)
{
    (void)state;
    host("one", 5, "");
    host("two", 0, "");
    rig.n_order = 0;
    rig_die(rig_proc("one"), 1);
    rig_die(rig_proc("two"), 1);
    rig_crash(true);
    rig_pass(RIG_STEP_MS);
    assert_int_equal(rig.n_order, 2);
}

static void what_is_asked_for_does_not_wait(void **state)
{
    struct message_command m;

    (void)state;
    host("slow", 0, "");
    host("next", 1, "slow");
    rig_proc("slow")->hangs = true;
    reboot();
    m = spec_of("next", 1, "slow");
    rig_tell(&m);
    rig_pass(6000);
    assert_int_equal(rig_code(m.item), CODE_OK);
    assert_begun("slow next");
}

/* ---- after */

static void what_comes_after_another_waits_until_that_is_up(void **state)
{
    (void)state;
    host("db", 0, "");
    host("web", 0, "db");
    kill_all();
    assert_begun("db");
    assert_string_equal(rig_cause("web")->waits_for, "space:db");
    rig_pass(4500); /* it is seen, but not up yet */
    assert_begun("db");
    rig_pass(1000);
    assert_begun("db web");
    rig_pass(6000);
    assert_string_equal(rig_cause("web")->waits_for, "");
    assert_true(rig_proc("web")->pid > 0);
    rig_die(rig_proc("web"), 1);
    rig_pass(11 * 1000);
    assert_begun("db web web"); /* nothing to wait for */
}

static void names_of_other_namespaces_are_known(void **state)
{
    struct message_command db = spec_of("db", 0, "");

    (void)state;
    db.meta.space = "store";
    rig_tell(&db);
    rig_pass(6000);
    host("web", 0, "store:db");
    host("app", 0, "db"); /* there is none in its own */
    kill_all();
    assert_begun("db app");
    assert_string_equal(rig_cause("web")->waits_for, "store:db");
    rig_pass(6000);
    assert_begun("db app web");
}

static void only_what_is_hosted_counts(void **state)
{
    (void)state;
    host("db", 0, "");
    host("web", 0, "db nobody");
    rig_operate(PROC_OP_STOP, "db");
    rig_pass(6000);
    kill_all();
    assert_begun("web");
}

static void one_that_is_given_up_is_not_waited_for(void **state)
{
    struct message_command m = spec_of("db", 0, "");

    (void)state;
    m.spec.has_policy = m.spec.policy.has_retries = PRESENCE_GIVEN;
    m.spec.policy.start_retries = 4;
    rig_tell(&m);
    rig_pass(6000);
    host("web", 0, "db");
    rig_proc("db")->status = 1;
    kill_all();
    rig_pass(44 * 1000); /* six tries at once, and four that are ten seconds apart */
    assert_int_equal(rig_proc("web")->runs, 1);
    rig_pass(2000);
    assert_false(rig_proc("db")->view.hosted);
    assert_int_equal(rig_proc("web")->runs, 2);
    assert_int_equal(rig_count_events("process_order_passed"), 0);
}

static void one_that_is_let_go_is_not_waited_for(void **state)
{
    (void)state;
    host("db", 0, "");
    host("web", 0, "db");
    rig_proc("db")->status = 1;
    kill_all();
    rig_operate(PROC_OP_UNHOST, "db");
    rig_pass(RIG_STEP_MS);
    assert_begun("db web");
}

static void nobody_waits_for_ever(void **state)
{
    struct message_command m = spec_of("db", 0, "");

    (void)state;
    m.spec.extra.keep_trying = true;
    rig_tell(&m);
    rig_pass(6000);
    host("web", 0, "db");
    rig_proc("db")->status = 1;
    kill_all();
    rig_pass(ORDER_MAX_MS - 1000);
    assert_int_equal(rig_proc("web")->runs, 1);
    assert_int_equal(rig_count_events("process_order_passed"), 0);
    rig_pass(2000);
    assert_int_equal(rig_proc("web")->runs, 2);
    assert_int_equal(rig_count_events("process_order_passed"), 1);
    rig_pass(6000);
    assert_true(rig_proc("web")->pid > 0);
    assert_string_equal(rig_cause("web")->waits_for, "");
}

static void it_waits_for_several_one_after_the_other(void **state)
{
    (void)state;
    host("a", 0, "");
    host("b", 0, "");
    host("c", 0, "a b");
    rig_proc("b")->hangs = true; /* for a while */
    kill_all();
    rig_pass(6000);
    assert_begun("a b");
    assert_string_equal(rig_cause("c")->waits_for, "space:b");
    rig_proc("b")->hangs = false;
    rig_come_up(rig_proc("b"), ++rig.next_pid);
    rig_end(rig_proc("b"), 0);
    rig_pass(6000);
    assert_begun("a b c");
}

/* It would be an hour if each waited for the other's turn. */
static void one_that_comes_after_a_later_priority_holds_nobody_up(void **state)
{
    (void)state;
    host("late", 9, "");
    host("middle", 0, "late");
    host("early", 0, "middle");
    reboot();
    rig_pass(2 * RIG_STEP_MS);
    assert_begun("late");
    rig_pass(6000);
    assert_begun("late middle");
    rig_pass(6000);
    assert_begun("late middle early");
    assert_int_equal(rig_count_events("process_order_passed"), 0);
}

/* Four levels of a minute each take longer than one waits for another at most. */
static void one_that_waits_for_a_later_level_is_not_let_go_before_that_has_begun(void **state)
{
    char name[16];

    (void)state;
    host("db", 9, "");
    host("web", 0, "db");
    for (int i = 0; i < 4; i++) {
        snprintf(name, sizeof(name), "slow%d", i);
        host(name, i, "");
        rig_proc(name)->hangs = true;
    }
    reboot();
    rig_pass(ORDER_MAX_MS + 2000);
    assert_int_equal(rig_proc("web")->runs, 1); /* before the boot */
    assert_int_equal(rig_count_events("process_order_passed"), 0);
    assert_string_equal(rig_cause("web")->waits_for, "space:db");
    for (int i = 0; i < 400 && rig_proc("db")->runs < 2; i++)
        rig_pass(1000);
    assert_int_equal(rig_proc("db")->runs, 2);
    assert_int_equal(rig_proc("web")->runs, 1);
    rig_pass(6000);
    assert_int_equal(rig_proc("web")->runs, 2);
    assert_int_equal(rig_count_events("process_order_passed"), 0);
}

/* ---- circles */

static void a_circle_is_refused(void **state)
{
    static const struct {
        const char *names, *after, *text;
    } cases[] = {
        { "a", "a", "spec.holdfast.after: a -> a is a circle" },
        { "a", "space:a", "spec.holdfast.after: a -> a is a circle" },
        { "ab", "a", "spec.holdfast.after: b -> a -> b is a circle" },
        { "abcde", "a", "spec.holdfast.after: e -> a -> b -> c -> d -> e is a circle" },
        { "abcde", "nobody c", "spec.holdfast.after: e -> c -> d -> e is a circle" },
    };
    static const int64_t ops[] = { PROC_OP_START, PROC_OP_HOST, PROC_OP_RESTART };

    for (size_t i = 0; i < ARRAY_LEN(cases) * ARRAY_LEN(ops); i++) {
        const char *names = cases[i / ARRAY_LEN(ops)].names;
        struct message_command m;
        char name[2] = "", next[2] = "";

        rig_set_up(state);
        for (; names[1]; names++) { /* each after the next one, which may not be there yet */
            name[0] = names[0];
            next[0] = names[1];
            host(name, 0, next);
        }
        m = spec_of(names, 0, cases[i / ARRAY_LEN(ops)].after);
        m.op = ops[i % ARRAY_LEN(ops)];
        rig_tell(&m);
        rig_pass(6000);
        assert_int_equal(rig_code(m.item), CODE_PARAM);
        assert_string_equal(rig_result(m.item)->text, cases[i / ARRAY_LEN(ops)].text);
        assert_int_equal(rig_proc(names)->runs, 0);
        assert_false(rig_result(m.item)->hosted);
        arena_free(&rig.arena);
        rig_tear_down(state);
    }
}

static void host_anew(const char *name, const char *after)
{
    struct message_command m = spec_of(name, 0, after);

    m.op = PROC_OP_HOST;
    rig_tell(&m);
    rig_pass(6000);
    assert_int_equal(rig_code(m.item), CODE_OK);
}

static void what_is_no_circle_is_not_refused(void **state)
{
    (void)state;
    host("a", 0, "b c");
    host("b", 0, "d");
    host("c", 0, "d");
    host("d", 0, "e");
    host_anew("d", ""); /* another spec in its place */
    host("e", 0, "a");
    rig_operate(PROC_OP_UNHOST, "a");
    rig_settle();
    host_anew("d", "e"); /* a is not in it any more */
}

/* ---- many */

enum { MANY = 5000 };

/* A core whose processes come up as soon as they are started, and live. */
static struct {
    struct core *core;
    int64_t now_ms, next_pid;
    uint64_t mark;
    struct {
        bool is_run;
        uint64_t id;
        int number;
    } asks[2 * MANY];
    size_t n_asks;
    int64_t pids[MANY];
    int begun[MANY];
    size_t n_begun;
} many;

static uint64_t many_journal(void *arg, unsigned type, const struct shape *s, const void *record,
                             bool durable)
{
    (void)arg;
    (void)type;
    (void)s;
    (void)record;
    (void)durable;
    return ++many.mark;
}

static void many_send(void *arg, unsigned type, const struct shape *s, const void *message)
{
    (void)arg;
    (void)type;
    (void)s;
    (void)message;
}

static void many_ask(bool is_run, uint64_t id, const char *name)
{
    assert_true(many.n_asks < ARRAY_LEN(many.asks));
    many.asks[many.n_asks].is_run = is_run;
    many.asks[many.n_asks].id = id;
    many.asks[many.n_asks++].number = (int)strtol(name + 1, NULL, 10);
}

static void many_run(void *arg, const struct core_run *run)
{
    (void)arg;
    many_ask(true, run->id, run->name);
}

static void many_probe(void *arg, const struct core_look *look)
{
    (void)arg;
    many_ask(false, look->id, look->name);
}

static void many_adopt(void *arg, const struct core_adopt *a)
{
    (void)arg;
    (void)a;
}

static void many_end_run(void *arg, uint64_t id)
{
    (void)arg;
    (void)id;
}

static void many_watch(void *arg, struct core_ident ident)
{
    (void)arg;
    (void)ident;
}

static void many_signal(void *arg, struct core_ident ident, int number, bool with_children)
{
    (void)arg;
    (void)ident;
    (void)number;
    (void)with_children;
}

static const struct core_effects many_effects = {
    .journal = many_journal,
    .send = many_send,
    .run = many_run,
    .adopt = many_adopt,
    .end_run = many_end_run,
    .probe = many_probe,
    .watch = many_watch,
    .signal = many_signal,
};

static void many_answer(bool is_run, uint64_t id, int number)
{
    if (is_run) {
        struct core_began began = { .ident = { ++many.next_pid, 1 } };

        many.begun[many.n_begun++] = number;
        many.pids[number] = ++many.next_pid;
        core_on_run(many.core, id, &began, NULL, many.now_ms);
        core_on_run_end(many.core, id, 0, "", many.now_ms);
    } else {
        struct core_probe probe = { .found = many.pids[number] ? FOUND_IT : FOUND_NOTHING,
                                    .ident = { many.pids[number], 1 },
                                    .why = "" };

        shape_defaults(&proc_view_shape, &probe.view);
        core_on_probe(many.core, id, &probe, many.now_ms);
    }
}

static void many_settle(void)
{
    uint64_t mark;

    do {
        mark = many.mark;
        core_on_durable(many.core, mark, many.now_ms);
        for (size_t i = 0; i < many.n_asks; i++)
            many_answer(many.asks[i].is_run, many.asks[i].id, many.asks[i].number);
        many.n_asks = 0;
    } while (mark != many.mark);
}

/* From one moment at which something is due to the next, until so many have begun. */
static void many_pass(size_t begun)
{
    for (int turns = 0; many.n_begun < begun; turns++) {
        int64_t next_ms = core_next_ms(many.core);

        assert_true(turns < 20 * MANY && next_ms != INT64_MAX);
        many.now_ms = next_ms > many.now_ms ? next_ms : many.now_ms;
        core_on_time(many.core, many.now_ms, many.now_ms);
        many_settle();
        core_tell_now(many.core);
    }
}

/* What an agent before us has written of a hosted process. */
static void many_replay(int number, int64_t priority, int after)
{
    struct buf json = { 0 };
    struct err err;

    buf_printf(&json,
               "{\"meta\":{\"namespace\":\"space\",\"name\":\"p%d\"},\"hosted\":true,\"wanted\":1,"
               "\"pid\":%d,\"start_ticks\":1,\"has_spec\":true,\"spec\":{\"identity\":{"
               "\"proc_name\":\"d\",\"setup_path\":\"/srv\",\"pid_path\":\"/srv/%d.pid\",\"user\":"
               "\"root\"},\"control\":{\"start_cmd\":\"start\"},\"holdfast\":{\"priority\":%lld",
               number, number + 2, number, (long long)priority);
    if (after >= 0)
        buf_printf(&json, ",\"after\":[\"p%d\"]", after);
    buf_puts(&json, "}}}");
    if (core_replay(many.core, RECORD_PROCESS, buf_data(&json), json.len, &err))
        fail_msg("%s", err.text);
    buf_free(&json);
}

static void many_set_up(void)
{
    memset(&many, 0, sizeof(many));
    many.now_ms = 1000;
    many.next_pid = 1000 * 1000;
    many.core = core_new(&many_effects, NULL, many.now_ms, many.now_ms);
    core_set_at_once(many.core, 10000);
}

static void many_boot(void)
{
    core_start(many.core, false, many.now_ms, many.now_ms);
    many_settle();
}

static void thousands_come_up_by_priority(void **state)
{
    (void)state;
    many_set_up();
    for (int i = 0; i < MANY; i++)
        many_replay(i, (i * 7) % 50 - 25, -1);
    many_boot();
    assert_int_equal(many.n_begun, MANY / 50); /* and no more */
    many_pass(MANY);
    for (int i = 1; i < MANY; i++)
        assert_true((many.begun[i] * 7) % 50 >= (many.begun[i - 1] * 7) % 50);
    core_free(many.core);
}

/* Each waits for the next one; that takes hours, and none starts before its turn. */
static void a_chain_of_thousands_comes_up_link_by_link(void **state)
{
    (void)state;
    many_set_up();
    for (int i = 0; i < MANY; i++)
        many_replay(i, 0, i + 1);
    many_boot();
    assert_int_equal(many.n_begun, 1);
    many_pass(MANY);
    for (int i = 0; i < MANY; i++)
        assert_int_equal(many.begun[i], MANY - 1 - i);
    core_free(many.core);
}

/* An edit of the journal, say: nothing that an operation can do. */
static void a_circle_that_is_there_all_the_same_is_broken(void **state)
{
    (void)state;
    many_set_up();
    many_replay(0, 0, 1);
    many_replay(1, 0, 2);
    many_replay(2, 0, 0);
    many_boot();
    assert_int_equal(many.n_begun, 0);
    many_pass(3);
    assert_true(many.now_ms <= 1000 + 2 * ORDER_MAX_MS);
    core_free(many.core);
}

static int tear_down(void **state)
{
    arena_free(&rig.arena);
    return rig_tear_down(state);
}

/* The process that it waited for is up, and before its turn comes a query about it arrives: by
 * then it waits for the next one, which comes up as well. */
static void one_that_is_looked_at_in_between_comes_up_once(void **state)
{
    int64_t item;

    (void)state;
    host("a", 0, "");
    host("b", 0, "");
    host("c", 0, "a b");
    kill_all();
    rig_pass(4800);
    assert_begun("a b");
    assert_string_equal(rig_cause("c")->waits_for, "space:a");
    rig.is_blind = true;
    rig_pass(RIG_STEP_MS); /* both are looked at for good, */
    item = rig_operate(PROC_OP_QUERY, "c");
    rig_settle();
    assert_int_equal(rig.n_asks, 3);
    for (int i = 0; i < 3; i++) { /* and c after the first of them that it waits for */
        size_t which = 0;

        while (i < 2 && strcmp(rig.asks[which].proc->name, i ? "c" : "a") != 0)
            which++;
        rig.asks[RIG_ASKS - 1] = rig.asks[0];
        rig.asks[0] = rig.asks[which];
        rig.asks[which] = rig.asks[RIG_ASKS - 1];
        rig_answer();
    }
    rig.is_blind = false;
    rig_pass(RIG_STEP_MS);
    assert_int_equal(rig_code(item), CODE_OK);
    assert_begun("a b c");
    rig_pass(6000);
    assert_int_equal(rig_proc("c")->runs, 2);
    assert_string_equal(rig_cause("c")->waits_for, "");
}

#define ORDER_TEST(name) cmocka_unit_test_setup_teardown(name, rig_set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ORDER_TEST(a_host_comes_up_by_priority),
        ORDER_TEST(nobody_waits_longer_for_one_that_has_failed),
        ORDER_TEST(nor_for_one_whose_command_took_too_long),
        ORDER_TEST(nor_for_one_that_is_not_hosted_any_more),
        ORDER_TEST(nor_for_ever_for_one_of_whom_nothing_is_known),
        ORDER_TEST(a_forbidden_one_holds_nobody_up),
        ORDER_TEST(the_agent_alone_coming_up_is_no_boot),
        ORDER_TEST(what_is_asked_for_does_not_wait),
        ORDER_TEST(what_comes_after_another_waits_until_that_is_up),
        ORDER_TEST(names_of_other_namespaces_are_known),
        ORDER_TEST(only_what_is_hosted_counts),
        ORDER_TEST(one_that_is_given_up_is_not_waited_for),
        ORDER_TEST(one_that_is_let_go_is_not_waited_for),
        ORDER_TEST(nobody_waits_for_ever),
        ORDER_TEST(it_waits_for_several_one_after_the_other),
        ORDER_TEST(one_that_is_looked_at_in_between_comes_up_once),
        ORDER_TEST(one_that_comes_after_a_later_priority_holds_nobody_up),
        ORDER_TEST(one_that_waits_for_a_later_level_is_not_let_go_before_that_has_begun),
        cmocka_unit_test(a_circle_is_refused),
        ORDER_TEST(what_is_no_circle_is_not_refused),
        cmocka_unit_test(thousands_come_up_by_priority),
        cmocka_unit_test(a_chain_of_thousands_comes_up_link_by_link),
        cmocka_unit_test(a_circle_that_is_there_all_the_same_is_broken),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
