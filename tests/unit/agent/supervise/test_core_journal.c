/* SPDX-License-Identifier: MIT */
/* What is in the journal and in memory is no more than is needed, and enough to go on
 * after a crash; what has changed is told once. */
#include "agent/supervise/core_journal.h"

#include "tests/unit/agent/core_world.h"

static struct message_command command_of(int64_t op, const char *name, int64_t item)
{
    struct message_command m = { .task = "T#1",
                                 .item = item,
                                 .op = op,
                                 .deadline_ms = 3600 * 1000,
                                 .meta = { "space", name, { 0 } } };

    shape_defaults(&proc_spec_shape, &m.spec);
    m.spec.has_identity = m.spec.has_control = PRESENCE_GIVEN;
    m.spec.identity = (struct proc_identity){ "", "d", "/srv", "/srv/pid", "", "", "root" };
    m.spec.control.start_cmd = "a line that makes the spec longer than it would be else";
    return m;
}

static void all_is_durable(void)
{
    for (int i = 0; i < 3; i++)
        core_on_durable(world.core, world.n_records, world.now_ms);
}

/* One that runs, and whose hosting nothing is owed to. */
static struct proc *host(const char *name, int64_t item)
{
    struct message_command m = command_of(PROC_OP_HOST, name, item);
    struct proc *k = core_proc(world.core, "space", name);
    char pid_path[64];

    snprintf(pid_path, sizeof(pid_path), "/srv/%s.pid", name); /* one process has one hosted name */
    m.spec.identity.proc_name = name;
    m.spec.identity.pid_path = pid_path;
    core_set_ident(k, (struct core_ident){ 1000 + item, 1 });
    core_on_message(world.core, MESSAGE_COMMAND, &m, world.now_ms);
    all_is_durable();
    return k;
}

static void stored(int64_t item)
{
    core_on_message(world.core, MESSAGE_STORED, &(struct message_ref){ "T#1", item }, world.now_ms);
}

static size_t count(unsigned type, size_t from)
{
    size_t n = 0;

    for (size_t i = from; i < world.n_records; i++)
        n += world.records[i].type == type;
    return n;
}

static size_t bytes(size_t from)
{
    size_t n = 0;

    for (size_t i = from; i < world.n_records; i++)
        n += world.records[i].json.len;
    return n;
}

/* ---- processes */

static void a_spec_is_written_when_it_changes_and_no_more(void **state)
{
    struct proc *k = host("p", 1);
    size_t from = world.n_records, spec_bytes;

    (void)state;
    assert_int_equal(count(RECORD_PROCESS, 0), 1);
    for (int i = 0; i < 10; i++)
        journal_note_process(k);
    assert_int_equal(count(RECORD_STATE, from), 10);
    assert_true(bytes(from) / 10 < 300);
    from = world.n_records;
    host("p", 2);
    assert_int_equal(count(RECORD_PROCESS, from), 1);
    from = world.n_records;
    core_compact(world.core);
    assert_int_equal(count(RECORD_PROCESS, from), 1);
    spec_bytes = bytes(from);
    from = world.n_records;
    journal_note_process(k);
    assert_int_equal(count(RECORD_STATE, from), 1);
    assert_true(2 * bytes(from) < spec_bytes);
}

static void what_changes_is_known_after_a_crash(void **state)
{
    struct proc *k = host("p", 1);

    (void)state;
    k->tries = 2;
    k->restarts = 7;
    k->last_start_s = 99;
    k->ident.start_ticks = 7; /* it began after its start command */
    k->start = (struct core_ident){ 55, 6 };
    k->start_from = 1234;
    k->begun_ms = 77;
    k->cause.exit_s = 12;
    k->cause.exit_signal = 11;
    k->register_s = 3; /* not in it */
    journal_note_process(k);
    world_begin(true);
    k = core_proc(world.core, "space", "p");
    assert_true(k->hosted && k->has_spec);
    assert_int_equal(k->wanted, PROC_RUNNING);
    assert_int_equal(k->ident.pid, 1001);
    assert_int_equal(k->start.start_ticks, 6);
    assert_int_equal(k->start_from, 1234);
    assert_int_equal(k->begun_ms, 77);
    assert_int_equal(k->tries, 2);
    assert_int_equal(k->restarts, 7);
    assert_int_equal(k->last_start_s, 99);
    assert_int_equal(k->register_s, 5);
    assert_int_equal(k->cause.exit_s, 12);
    assert_int_equal(k->cause.exit_signal, 11);
    assert_string_equal(k->spec.identity.setup_path, "/srv");
}

/* A core that has read a compacted journal, and writes another one. */
static void compaction_writes_what_a_compaction_had_written(void **state)
{
    struct message_command m = command_of(PROC_OP_START, "q", 7);
    size_t n;

    (void)state;
    world_welcome();
    for (int i = 1; i < 4; i++)
        host(i == 1 ? "a" : i == 2 ? "b" : "c", i);
    stored(2);
    core_on_exit(world.core, (struct core_ident){ 1001, 1 }, CORE_DUMPED + 11, world.now_ms);
    core_on_output(world.core, (struct core_ident){ 1001, 1 }, "oh\nno\n", PROC_OOM_YES,
                   world.now_ms);
    core_tell_event(core_proc(world.core, "space", "a"), "process_restart_failed", "an event");
    core_on_message(world.core, MESSAGE_COMMAND, &m, world.now_ms);
    all_is_durable();
    core_on_probe(world.core, world.probe, &(struct core_probe){ .why = "" }, world.now_ms);
    core_on_run(world.core, world.run, &(struct core_began){ { 99, 4 }, 17, false }, NULL,
                world.now_ms);
    world_compact();
    n = world.n_records;
    assert_int_equal(count(RECORD_RUN, 0), 1);
    world_replay();
    core_compact(world.core);
    assert_int_equal(world.n_records, 2 * n);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(world.records[n + i].type, world.records[i].type);
        assert_string_equal(buf_text(&world.records[n + i].json), buf_text(&world.records[i].json));
    }
}

static void where_the_output_of_a_start_begins_is_known_also_after_a_crash(void **state)
{
    struct message_command m = command_of(PROC_OP_START, "p", 1);
    struct core_whose whose;

    (void)state;
    core_on_message(world.core, MESSAGE_COMMAND, &m, world.now_ms);
    all_is_durable();
    core_on_probe(world.core, world.probe, &(struct core_probe){ .why = "" }, world.now_ms);
    core_on_run(world.core, world.run, &(struct core_began){ { 99, 4 }, 17, false }, NULL,
                world.now_ms);
    for (int life = 0; life < 3; life++) {
        core_set_ident(core_proc(world.core, "space", "p"), (struct core_ident){ 100, 5 });
        assert_true(core_find_whose(world.core, (struct core_ident){ 100, 5 }, &whose));
        assert_int_equal(whose.out_from, 17);
        if (life == 1)
            world_compact();
        world_begin(true);
    }
}

static void a_state_of_nobody_does_no_harm(void **state)
{
    static const char json[] = "{\"meta\":{\"namespace\":\"space\",\"name\":\"q\"},\"pid\":9}";
    struct err err;

    (void)state;
    core_free(world.core);
    world.core = core_new(&world_effects, NULL, 0, 0);
    assert_int_equal(core_replay(world.core, RECORD_STATE, json, strlen(json), &err), 0);
    assert_int_equal(world.core->proc.n, 0);
    assert_int_equal(core_replay(world.core, RECORD_STATE, "{}", 2, &err), -1);
    assert_non_null(strstr(err.text, "state record"));
    assert_int_equal(core_replay(world.core, 200, "{}", 2, &err), -1);
    core_start(world.core, true, 0, 0);
}

static void a_spec_takes_no_more_memory_than_it_needs(void **state)
{
    struct proc *k = host("p", 1);
    size_t used = arena_used(&k->arena);

    (void)state;
    assert_in_range(used, 1, 512);
    assert_in_range(k->arena.end - k->arena.free, 0, 64);
    host("p", 2);
    assert_int_equal(arena_used(&k->arena), used);
}

/* ---- results */

static struct done *done_of(const char *key)
{
    return map_find_str(&world.core->done, key);
}

static void a_result_is_kept_until_it_is_stored_and_its_command_until_its_deadline(void **state)
{
    struct message_command m = command_of(PROC_OP_HOST, "p", 1);
    size_t from;

    (void)state;
    world_welcome();
    host("p", 1);
    assert_int_equal(world.results, 1);
    assert_non_null(done_of("T#1#1")->result);
    core_on_message(world.core, MESSAGE_COMMAND, &m, world.now_ms);
    assert_int_equal(world.results, 2);
    stored(1);
    assert_null(done_of("T#1#1")->result);
    core_on_message(world.core, MESSAGE_COMMAND, &m, world.now_ms);
    assert_int_equal(world.results, 2);
    for (int life = 0; life < 3; life++) {
        if (life == 1) {
            world_compact();
            assert_int_equal(count(RECORD_RESULT, 0), 0);
            assert_int_equal(count(RECORD_DONE, 0), 1);
        }
        world_begin(true);
        world_welcome();
        assert_null(done_of("T#1#1")->result);
        from = world.n_records;
        core_on_message(world.core, MESSAGE_COMMAND, &m, world.now_ms);
        assert_int_equal(count(RECORD_COMMAND, from), 0);
    }
    world_pass_ms(3600 * 1000 + 61 * 1000);
    assert_null(done_of("T#1#1"));
    world_compact();
    assert_int_equal(count(RECORD_DONE, 0), 0);
}

static void a_result_that_is_not_stored_outlives_the_agent(void **state)
{
    (void)state;
    host("p", 1);
    for (int life = 0; life < 4; life++) {
        if (life == 1)
            world_compact();
        world_begin(life != 3);
        world.results = 0;
        world_welcome();
        assert_int_equal(world.results, 1);
    }
    world_pass_ms(6 * 1000);
    assert_int_equal(world.results, 2);
    stored(1);
    world_pass_ms(6 * 1000);
    assert_int_equal(world.results, 2);
    world_pass_ms(60 * 1000); /* its deadline was of another boot */
    assert_null(done_of("T#1#1"));
}

/* ---- what is told */

static void several_changes_in_one_turn_are_told_once(void **state)
{
    char name[16], digest[DIGEST_TEXT_SIZE];
    struct proc *k[250];

    (void)state;
    for (int i = 0; i < 250; i++) {
        snprintf(name, sizeof(name), "p%d", i);
        k[i] = host(name, i);
    }
    core_digest(world.core, digest);
    world_welcome();
    core_tell_now(world.core);
    world.pages = 0;
    world.views = 0;
    for (int i = 0; i < 3; i++) {
        k[0]->restarts++;
        core_tell_process(k[0]);
        core_tell_change(k[0]);
        core_tell_change(k[1]); /* as it was */
    }
    core_tell_now(world.core);
    core_tell_now(world.core);
    assert_int_equal(world.pages, 1);
    assert_int_equal(world.views, 1);
    for (int i = 0; i < 250; i++) {
        k[i]->restarts++;
        core_tell_change(k[i]);
    }
    core_tell_now(world.core);
    assert_int_equal(world.pages, 4); /* 100, 100, 50 */
    assert_int_equal(world.views, 251);
    core_digest(world.core, digest);
    assert_string_equal(world.digest, digest);
}

/* A page that does not arrive must be missed: each carries the digest of what was told. */
static void a_page_has_the_digest_of_what_was_told_with_it(void **state)
{
    char name[16], first[DIGEST_TEXT_SIZE];
    struct proc *k;

    (void)state;
    world_welcome();
    for (int i = 0; i < 101; i++) {
        snprintf(name, sizeof(name), "p%d", i);
        k = core_proc(world.core, "space", name);
        k->wanted = PROC_STOPPED;
        if (i < 100)
            core_tell_change(k);
    }
    core_tell_now(world.core);
    memcpy(first, world.digest, sizeof(first));
    for (int i = 0; i < 100; i++) {
        snprintf(name, sizeof(name), "p%d", i);
        core_tell_process(core_proc(world.core, "space", name));
    }
    core_tell_change(core_proc(world.core, "space", "p100"));
    world.pages = 0;
    core_tell_now(world.core);
    assert_int_equal(world.pages, 2);
    assert_string_not_equal(world.digest, first);
    core_digest(world.core, first);
    assert_string_equal(world.digest, first);
}

static void a_result_comes_after_what_it_has_done_to_the_process(void **state)
{
    (void)state;
    world_welcome();
    memset(world.order, 0, sizeof(world.order));
    host("p", 1);
    assert_string_equal(world.order, "PR");
}

static void one_that_goes_is_not_told_of(void **state)
{
    struct proc *k = core_proc(world.core, "space", "p");

    (void)state;
    world_welcome();
    world.pages = 0;
    k->wanted = PROC_STOPPED;
    core_tell_process(k);
    core_forget(k);
    core_tell_now(world.core);
    assert_int_equal(world.pages, 0);
    k = core_proc(world.core, "space", "p");
    k->wanted = PROC_STOPPED;
    core_on_link(world.core, false, world.now_ms);
    core_tell_process(k);
    core_tell_now(world.core);
    assert_int_equal(world.pages, 0);
    world_welcome(); /* the digest has changed since hello */
    assert_int_equal(world.pages, 1);
    core_tell_now(world.core);
    assert_int_equal(world.pages, 1);
}

/* ---- a cause is a change too */

static void what_clients_see_of_the_cause_is_in_the_digest(void **state)
{
    struct proc *k = host("p", 1);
    int64_t *const facts[] = { &k->cause.exit_s, &k->cause.failed_s, &k->tries };
    char before[DIGEST_TEXT_SIZE], after[DIGEST_TEXT_SIZE];

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(facts); i++) {
        core_digest(world.core, before);
        ++*facts[i];
        core_digest(world.core, after);
        assert_string_not_equal(before, after);
    }
    core_digest(world.core, before);
    k->cause.has_given_up = true;
    core_digest(world.core, after);
    assert_string_not_equal(before, after);
    k->actual = ACTUAL_BACKOFF; /* otherwise there is no next try */
    core_digest(world.core, before);
    k->cause.next_try_s = 77;
    core_digest(world.core, after);
    assert_string_not_equal(before, after);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WORLD_TEST(a_spec_is_written_when_it_changes_and_no_more),
        WORLD_TEST(what_changes_is_known_after_a_crash),
        WORLD_TEST(compaction_writes_what_a_compaction_had_written),
        WORLD_TEST(where_the_output_of_a_start_begins_is_known_also_after_a_crash),
        WORLD_TEST(a_state_of_nobody_does_no_harm),
        WORLD_TEST(a_spec_takes_no_more_memory_than_it_needs),
        WORLD_TEST(a_result_is_kept_until_it_is_stored_and_its_command_until_its_deadline),
        WORLD_TEST(a_result_that_is_not_stored_outlives_the_agent),
        WORLD_TEST(several_changes_in_one_turn_are_told_once),
        WORLD_TEST(a_page_has_the_digest_of_what_was_told_with_it),
        WORLD_TEST(a_result_comes_after_what_it_has_done_to_the_process),
        WORLD_TEST(one_that_goes_is_not_told_of),
        WORLD_TEST(what_clients_see_of_the_cause_is_in_the_digest),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
