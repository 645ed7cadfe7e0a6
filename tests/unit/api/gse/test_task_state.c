/* SPDX-License-Identifier: MIT */
/* Promises of get_task_state: api/gse/task_state.c. */
#include <jansson.h>

#include "tests/unit/api/fake_server.h"
#include "tests/unit/api/world.h"

#define PATH "/api/bk-gse/prod/api/v2/task/get_task_state"

struct state_world {
    struct world w;
    struct fleet fleet;
    struct tasks tasks;
};

static int setup(void **state)
{
    struct state_world *s = xalloc(sizeof(*s));

    world_init(&s->w);
    s->fleet.hosts[0] = (struct fleet_host){ .agent_id = "a1", .ip = "10.0.0.1" };
    s->fleet.hosts[1] = (struct fleet_host){ .agent_id = "a2", .ip = "10.0.0.2" };
    s->fleet.n = 2;
    s->tasks.info = (struct task_info){ .id = "GSETASK:S:1:1", .app = "demo", .user = "" };
    world_open(&s->w, &s->fleet, &s->tasks);
    *state = s;
    return 0;
}

static int teardown(void **state)
{
    struct state_world *s = *state;

    world_close_doors(&s->w);
    world_done(&s->w);
    buf_free(&s->tasks.asked);
    free(s);
    return 0;
}

static void put_item(struct state_world *s, const char *agent, const char *key, int64_t code)
{
    struct task_info *t = &s->tasks.info;

    s->tasks.items[t->n++] = (struct task_item){
        .agent = agent, .key = key, .space = "gse", .name = "p", .code = code, .text = ""
    };
    t->items = s->tasks.items;
    t->n_left += code == CODE_WAITING;
}

static void put_text(struct buf *to, const json_t *list)
{
    assert_true(json_is_array(list));
    for (size_t i = 0; i < json_array_size(list); i++)
        buf_printf(to, "%s%s", i ? "," : "", json_string_value(json_array_get(list, i)));
    buf_addc(to, ' ');
}

/* "state successed timeout failed pending offline restarted", names with commas. */
static const char *ask(struct state_world *s, const char *body, struct buf *to)
{
    static const char *const lists[] = { "successed_agents", "timeout_agents", "failed_agents",
                                         "pending_agents",   "offline_agents", "restarted_agents" };
    json_error_t where;
    json_t *answer, *result;

    world_ask(&s->w, "POST", PATH, DEMO_AUTH, body);
    answer = json_loads(s->w.body, 0, &where);
    result = json_object_get(json_object_get(answer, "data"), "result");
    if (!result)
        fail_msg("%s", s->w.body);
    assert_int_equal(json_object_size(result), ARRAY_LEN(lists) + 1);
    buf_truncate(to, 0);
    buf_printf(to, "%s ", json_string_value(json_object_get(result, "state")));
    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        buf_printf(to, "%c:", lists[i][0]);
        put_text(to, json_object_get(result, lists[i]));
    }
    json_decref(answer);
    return buf_text(to);
}

#define ALL "{\"task_id\":\"GSETASK:S:1:1\"}"

/* The codes of two agents, and the state of the task. */
static const struct {
    int64_t codes[2];
    const char *said;
} verdicts[] = {
    { { CODE_WAITING, CODE_WAITING }, "pending s: t: f: p:a1,a2 o: r: " },
    { { CODE_WAITING, CODE_OK }, "executing s:a2 t: f: p:a1 o: r: " },
    { { CODE_WAITING, CODE_COMMAND }, "executing s: t: f:a2 p:a1 o: r: " },
    { { CODE_OK, CODE_OK }, "successed s:a1,a2 t: f: p: o: r: " },
    { { CODE_OK, CODE_TIMEOUT }, "timeout s:a1 t:a2 f: p: o: r: " },
    { { CODE_DEADLINE, CODE_OK }, "timeout s:a2 t:a1 f: p: o: r: " },
    { { CODE_OFFLINE, CODE_OK }, "failed s:a2 t: f: p: o:a1 r: " },
    { { CODE_TIMEOUT, CODE_CHECK }, "failed s: t:a1 f:a2 p: o: r: " },
    { { CODE_NOT_RUNNING, CODE_CANCELLED }, "failed s: t: f:a1,a2 p: o: r: " },
};

static void a_task_is_as_its_agents_are(void **state)
{
    struct state_world *s = *state;
    struct buf text = { 0 };

    for (size_t i = 0; i < ARRAY_LEN(verdicts); i++) {
        s->tasks.info.n = s->tasks.info.n_left = 0;
        put_item(s, "a1", "a1:gse:p", verdicts[i].codes[0]);
        put_item(s, "a2", "a2:gse:p", verdicts[i].codes[1]);
        assert_string_equal(ask(s, ALL, &text), verdicts[i].said);
    }
    buf_free(&text);
}

static void an_agent_is_as_the_worst_of_its_items(void **state)
{
    struct state_world *s = *state;
    struct buf text = { 0 };

    put_item(s, "a1", "a1:gse:p", CODE_OK);
    put_item(s, "a1", "a1:gse:p", CODE_TIMEOUT);
    put_item(s, "a2", "a2:gse:p", CODE_OK);
    assert_string_equal(ask(s, ALL, &text), "timeout s:a2 t:a1 f: p: o: r: ");
    put_item(s, "a2", "a2:gse:p", CODE_WAITING);
    assert_string_equal(ask(s, ALL, &text), "executing s: t:a1 f: p:a2 o: r: ");
    buf_free(&text);
}

static void agents_are_named_as_they_are_asked_for(void **state)
{
    static const struct {
        const char *body, *said;
    } cases[] = {
        { "{\"task_id\":\"GSETASK:S:1:1\",\"agent_id_list\":[\"0:10.0.0.2\",\"gone\",\"a1\",\"a1\"]"
          "}",
          "failed s:0:10.0.0.2,a1 t: f: p: o:gone r: " },
        { "{\"task_id\":\"GSETASK:S:1:1\",\"agent_id_list\":[\"a2\"]}",
          "successed s:a2 t: f: p: o: r: " },
        { "{\"task_id\":\"GSETASK:S:1:1\",\"agent_id_list\":[\"not-in-it\"]}",
          "failed s: t: f:not-in-it p: o: r: " },
        { "{\"task_id\":\"GSETASK:S:1:1\",\"agent_id_list\":[]}",
          "failed s:a1,a2 t: f: p: o:gone r: " },
    };
    struct state_world *s = *state;
    struct buf text = { 0 };

    put_item(s, "a1", "a1:gse:p", CODE_OK);
    put_item(s, "a2", "0:10.0.0.2:gse:p\na2:gse:p", CODE_OK);
    put_item(s, "", "gone:gse:p", CODE_OFFLINE);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_string_equal(ask(s, cases[i].body, &text), cases[i].said);
    buf_free(&text);
}

static void what_can_be_no_id_is_named_as_it_was_asked_for(void **state)
{
    struct state_world *s = *state;
    struct buf text = { 0 };

    put_item(s, "", "a\x10nb:gse:p", CODE_OFFLINE);
    assert_string_equal(ask(s, ALL, &text), "failed s: t: f: p: o:a\nb r: ");
    assert_string_equal(
        ask(s, "{\"task_id\":\"GSETASK:S:1:1\",\"agent_id_list\":[\"a\\nb\",\"\\t\"]}", &text),
        "failed s: t: f:\t p: o:a\nb r: ");
    buf_free(&text);
}

static void a_task_that_is_not_there_is_told_of(void **state)
{
    static const struct {
        const char *body, *said;
    } cases[] = {
        { "{\"task_id\":\"GSETASK:S:9:9\"}",
          "\"code\":1000806,\"message\":\"task GSETASK:S:9:9: " },
        { "{}", "\"code\":1000811,\"message\":\"Parameters error, task_id: required\"" },
        { "{\"task_id\":1}", "\"code\":1000811,\"message\":\"Parameters error, task_id: " },
        { "{\"task_id\":\"x\",\"agent_id_list\":\"a1\"}",
          "\"code\":1000811,\"message\":\"Parameters error, agent_id_list: " },
    };
    struct state_world *s = *state;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        world_ask(&s->w, "POST", PATH, DEMO_AUTH, cases[i].body);
        if (!strstr(s->w.body, cases[i].said) || !strstr(s->w.body, "\"data\":null"))
            fail_msg("%s: %s", cases[i].body, s->w.body);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_task_is_as_its_agents_are, setup, teardown),
        cmocka_unit_test_setup_teardown(an_agent_is_as_the_worst_of_its_items, setup, teardown),
        cmocka_unit_test_setup_teardown(agents_are_named_as_they_are_asked_for, setup, teardown),
        cmocka_unit_test_setup_teardown(what_can_be_no_id_is_named_as_it_was_asked_for, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_task_that_is_not_there_is_told_of, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
