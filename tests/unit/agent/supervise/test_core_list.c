/* SPDX-License-Identifier: MIT */
#include "agent/supervise/core_list.h"

#include "tests/unit/agent/core_world.h"

static struct proc_spec spec_of(const char *start)
{
    struct proc_spec spec;

    shape_defaults(&proc_spec_shape, &spec);
    spec.identity = (struct proc_identity){ "", "p", "/s", "/s/p.pid", "", "", "root" };
    spec.control.start_cmd = start;
    spec.has_identity = spec.has_control = PRESENCE_GIVEN;
    return spec;
}

/* Every probe finds the process. */
static void command(int64_t op, const char *task, const char *name, const char *start)
{
    const struct core_probe it = { .found = FOUND_IT, .ident = { 100 + *name, 7 }, .why = "" };
    const struct message_command m = { .task = task,
                                       .op = op,
                                       .deadline_ms = world.now_ms + 100000,
                                       .meta = { "s", name, { 0 } },
                                       .spec = spec_of(start) };

    core_on_message(world.core, MESSAGE_COMMAND, &m, world.now_ms);
    core_on_durable(world.core, world.n_records, world.now_ms);
    core_on_probe(world.core, world.probe, &it, world.now_ms);
    core_on_durable(world.core, world.n_records, world.now_ms);
    core_on_probe(world.core, world.probe, &it, world.now_ms);
}

static void write_one(void *arg, const struct core_hosted *h)
{
    buf_printf(arg, "%s:%s %s op %lld at %lld;", h->meta.space, h->meta.name,
               h->spec->control.start_cmd, (long long)h->op, (long long)h->since_s);
}

static void expect(const char *list)
{
    struct buf b = { 0 };

    core_each_hosted(world.core, write_one, &b);
    assert_string_equal(buf_text(&b), list);
    buf_free(&b);
}

static void only_the_list_changes_the_number(void **state)
{
    uint64_t changes = core_list_changes(world.core);

    (void)state;
    world_welcome();
    command(PROC_OP_HOST, "t1", "a", "./a");
    expect("s:a ./a op 3 at 5;");
    assert_true(core_list_changes(world.core) > changes);
    changes = core_list_changes(world.core);
    command(PROC_OP_QUERY, "t2", "a", "./a");
    world_pass_ms(3000);
    assert_int_equal(core_list_changes(world.core), changes);
    command(PROC_OP_HOST, "t3", "a", "./a --more");
    assert_true(core_list_changes(world.core) > changes);
    expect("s:a ./a --more op 3 at 8;");
    changes = core_list_changes(world.core);
    command(PROC_OP_UNHOST, "t4", "a", "");
    assert_true(core_list_changes(world.core) > changes);
    expect("");
    changes = core_list_changes(world.core);
    command(PROC_OP_UNHOST, "t5", "a", "");
    assert_int_equal(core_list_changes(world.core), changes);
}

static void it_is_the_same_in_the_next_life(void **state)
{
    (void)state;
    command(PROC_OP_HOST, "t1", "a", "./a");
    world_pass_ms(60000);
    command(PROC_OP_HOST, "t2", "b", "./b");
    expect("s:a ./a op 3 at 5;s:b ./b op 3 at 65;");
    for (int i = 0; i < 2; i++) {
        world.wall_ms += 3600 * 1000;
        world_begin(true);
        expect("s:a ./a op 3 at 5;s:b ./b op 3 at 65;");
        world_compact();
    }
}

/* Between the journal and the start. */
static void begin_with(void (*edit)(void))
{
    struct err err;

    core_free(world.core);
    world.core = core_new(&world_effects, NULL, world.now_ms, world.wall_ms);
    for (size_t i = 0, n = world.n_records; i < n; i++) {
        const struct buf *json = &world.records[i].json;

        assert_int_equal(
            core_replay(world.core, world.records[i].type, buf_data(json), json->len, &err), 0);
    }
    edit();
    core_start(world.core, true, world.now_ms, world.wall_ms);
}

static void edit_all(void)
{
    const struct proc_meta a = { "s", "a", { 0 } };
    const struct proc_spec spec = spec_of("./new"), other = spec_of("./other");

    core_unhost(world.core, &a);
    core_host(world.core, &(struct core_hosted){ { "s", "b", { 0 } }, &other, 7, 70 });
    core_host(world.core, &(struct core_hosted){ { "s", "c", { 0 } }, &spec, 0, 80 });
}

static void what_is_edited_stays_so(void **state)
{
    (void)state;
    command(PROC_OP_HOST, "t1", "a", "./a");
    command(PROC_OP_HOST, "t2", "b", "./b");
    world.probe = 0;
    begin_with(edit_all);
    expect("s:b ./other op 7 at 70;s:c ./new op 0 at 80;");
    assert_true(world.probe != 0); /* it is looked for, and started if it is not there */
    core_tell_edited(world.core, "x");
    world_welcome();
    assert_string_equal(world.sent[0].text, "x");
    world_begin(true);
    expect("s:b ./other op 7 at 70;s:c ./new op 0 at 80;");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WORLD_TEST(only_the_list_changes_the_number),
        WORLD_TEST(it_is_the_same_in_the_next_life),
        WORLD_TEST(what_is_edited_stays_so),
    };

    return cmocka_run_group_tests_name("core_list", tests, NULL, NULL);
}
