/* SPDX-License-Identifier: MIT */
#include "link/local.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
/* cmocka.h needs the headers above. */
#include <cmocka.h>

#include "base/mem/mem.h"

static void each_question_and_answer_has_its_shape(void **state)
{
    static const struct {
        unsigned type;
        const struct shape *shape;
    } cases[] = {
        { LOCAL_OPERATE, &local_operate_shape },
        { LOCAL_LIST, &local_ask_shape },
        { LOCAL_FACTS, &local_ask_shape },
        { LOCAL_PROCESSES, &local_processes_shape },
        { LOCAL_FACTS_ARE, &local_facts_shape },
        { LOCAL_FORGET, &local_ask_shape },
        { LOCAL_EVENTS, &local_events_ask_shape },
        { LOCAL_EVENTS_ARE, &local_events_shape },
        { MESSAGE_LOG_ASK, &message_log_ask_shape },
        { MESSAGE_LOG, &message_log_shape },
        { MESSAGE_TAKEN, &message_ref_shape },
        { MESSAGE_RESULT, &message_result_shape },
        { MESSAGE_ERROR, &message_error_shape },
        { MESSAGE_COMMAND, NULL }, /* only between server and agent */
        { MESSAGE_HELLO, NULL },
        { 0, NULL },
        { 255, NULL },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_ptr_equal(local_shape(cases[i].type), cases[i].shape);
    for (unsigned type = LOCAL_OPERATE; type <= LOCAL_EVENTS_ARE; type++)
        assert_null(message_shape(type)); /* the link has no such type */
}

static void a_written_message_can_be_read(void **state)
{
    struct local_fact facts[] = { { "pidfd", "", "looks", true },
                                  { "cgroup", "off", "scans", false } };
    const struct local_facts from = { .agent_version = "1",
                                      .agent_id = "a",
                                      .data_dir = "/d",
                                      .boot_id = "b",
                                      .servers = "h:1",
                                      .is_linked = true,
                                      .pid = 7,
                                      .processes = 3,
                                      .facts = { facts, 2 } };
    const struct local_fact *read;
    struct local_facts to;
    struct arena a = { 0 };
    struct buf json = { 0 };
    struct err err = { 0 };

    (void)state;
    shape_write(&local_facts_shape, &from, &json);
    if (shape_read(&local_facts_shape, buf_data(&json), json.len, 0, &a, &to, &err))
        fail_msg("%s", err.text);
    read = to.facts.items;
    assert_int_equal(to.facts.n, 2);
    assert_true(read[0].used && !read[1].used && to.is_linked);
    assert_string_equal(read[1].instead, "scans");
    assert_string_equal(to.servers, "h:1");
    assert_int_equal(to.processes, 3);
    buf_free(&json);
    arena_free(&a);
}

/* Without a spec the agent uses its own. */
static void an_operation_needs_no_spec_but_a_process(void **state)
{
    static const char good[] = "{\"op\":1,\"meta\":{\"namespace\":\"n\",\"name\":\"p\"}}";
    static const char bad[] = "{\"op\":1}";
    struct local_operate m;
    struct arena a = { 0 };
    struct err err = { 0 };

    (void)state;
    assert_int_equal(shape_read(&local_operate_shape, good, strlen(good), 0, &a, &m, &err), 0);
    assert_int_equal(m.spec.has_identity, PRESENCE_ABSENT);
    assert_string_equal(m.spec.identity.proc_name, "");
    assert_int_equal(shape_read(&local_operate_shape, bad, strlen(bad), 0, &a, &m, &err), -1);
    assert_string_equal(err.text, "meta: required");
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_question_and_answer_has_its_shape),
        cmocka_unit_test(a_written_message_can_be_read),
        cmocka_unit_test(an_operation_needs_no_spec_but_a_process),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
