/* SPDX-License-Identifier: MIT */
/* The format of BlueKing, as the contract has it. */
#include "server/events/event_line.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem/mem.h"
#include "base/os/time.h"

static const struct event_row restarted = {
    .seq = 17,
    .agent_id = "",
    .ip = "127.0.0.1",
    .name = "process_restart_success",
    .message = "check bkmonitorbeat not running, and restart it success",
    .space = "nodeman",
    .proc = "bkmonitorbeat",
    .proc_name = "bkmonitorbeat",
    .wall_ms = 1618382611690,
};

static const struct event_row lost = {
    .seq = 1,
    .agent_id = "0:10.0.0.1",
    .ip = "10.0.0.1",
    .name = "agent_lost",
    .message = "gone",
    .space = "",
    .proc = "",
    .proc_name = "",
    .wall_ms = INT64_C(1519875942) * 1000 + 123, /* 2018-03-01 03:45:42 UTC */
};

static json_t *written(const struct event_row *row)
{
    struct buf line = { 0 };
    json_t *json;

    event_line_write(row, &line);
    assert_null(memchr(buf_data(&line), '\n', line.len));
    json = json_loadb(buf_data(&line), line.len, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(json);
    buf_free(&line);
    return json;
}

static void assert_written(const struct event_row *row, const char *wanted)
{
    json_t *a = json_loads(wanted, 0, NULL), *b = written(row);

    assert_non_null(a);
    if (!json_equal(a, b))
        fail_msg("%s", json_dumps(b, 0));
    json_decref(a);
    json_decref(b);
}

/* A member of the only event of a line. */
static const json_t *part(const json_t *line, const char *name)
{
    const json_t *data = json_object_get(line, "data");

    assert_int_equal(json_array_size(data), 1);
    return json_object_get(json_array_get(data, 0), name);
}

static void an_event_looks_as_the_contract_has_it(void **state)
{
    (void)state;
    assert_written(
        &restarted,
        "{\"data_id\": 1100008, \"data\": [{"
        "  \"event_name\": \"process_restart_success\","
        "  \"event\": {\"content\": \"check bkmonitorbeat not running, and restart it success\"},"
        "  \"target\": \"127.0.0.1|0\", \"timestamp\": 1618382611690,"
        "  \"dimension\": {\"bk_target_cloud_id\": \"0\", \"bk_target_ip\": \"127.0.0.1\","
        "                \"process_group_id\": \"nodeman\","
        "                \"process_index\": \"nodeman:bkmonitorbeat\","
        "                \"process_name\": \"bkmonitorbeat\"}}]}");
}

static void a_lost_agent_looks_as_the_contract_has_it(void **state)
{
    struct event_row other = lost;

    (void)state;
    setenv("TZ", "CST-8", 1);
    time_zone_read();
    assert_written(
        &lost, "{\"server\": \"\", \"time\": \"2018-03-01 11:45:42\", \"timezone\": 8,"
               " \"utctime\": \"2018-03-01 11:45:42\", \"utctime2\": \"2018-03-01 03:45:42\","
               " \"value\": [{\"event_desc\": \"\", \"event_raw_id\": 1,"
               "   \"event_time\": \"2018-03-01 03:45:42\", \"event_source_system\": \"\","
               "   \"event_title\": \"\", \"event_type\": \"gse_basic_alarm_type\","
               "   \"extra\": {\"type\": 2, \"count\": 1, \"host\": [{\"bizid\": 0, \"cloudid\": 0,"
               "     \"ip\": \"10.0.0.1\", \"agent_id\": \"0:10.0.0.1\"}]}}]}");
    other.agent_id = "hf-1"; /* an id of its own, and no address */
    other.biz_id = 2;
    other.cloud_id = 7;
    assert_written(
        &other,
        "{\"server\": \"\", \"time\": \"2018-03-01 11:45:42\", \"timezone\": 8,"
        " \"utctime\": \"2018-03-01 11:45:42\", \"utctime2\": \"2018-03-01 03:45:42\","
        " \"value\": [{\"event_desc\": \"\", \"event_raw_id\": 1,"
        "   \"event_time\": \"2018-03-01 03:45:42\", \"event_source_system\": \"\","
        "   \"event_title\": \"\", \"event_type\": \"gse_basic_alarm_type\","
        "   \"extra\": {\"type\": 2, \"count\": 1, \"host\": [{\"bizid\": 2, \"cloudid\": 7,"
        "     \"agent_id\": \"hf-1\"}]}}]}");
}

static void a_report_id_is_the_data_id(void **state)
{
    static const struct {
        int64_t report_id, data_id;
    } cases[] = { { 0, 1100008 }, { -1, 1100008 }, { 1, 1 }, { 1500001, 1500001 } };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct event_row e = restarted;
        json_t *line;

        e.report_id = cases[i].report_id;
        line = written(&e);
        assert_int_equal(json_integer_value(json_object_get(line, "data_id")), cases[i].data_id);
        json_decref(line);
    }
}

static void our_own_kinds_never_go_to_the_data_id_of_blueking(void **state)
{
    static const char *const own[] = {
        "process_exited",       "process_flapping",        "process_unhealthy",
        "process_healthy",      "process_run_failed",      "process_config_changed",
        "process_order_passed", "process_local_operation", "agent_clone",
        "agent_events_lost",    "agent_proc_file_edited",  "agent_address_taken"
    };
    static const char *const theirs[] = { "process_restart_success", "process_restart_failed",
                                          "process_cancel_restart", "process_resource_limit_exceed",
                                          "process_group_resource_limit_exceed" };
    static const int64_t ids[][2] = { { 0, 0 }, { 1100008, 0 }, { 77, 77 } };

    (void)state;
    for (size_t i = 0; i < (ARRAY_LEN(own) + ARRAY_LEN(theirs)) * ARRAY_LEN(ids); i++) {
        size_t n = i / ARRAY_LEN(ids);
        const int64_t *id = ids[i % ARRAY_LEN(ids)];
        bool is_own = n < ARRAY_LEN(own);
        struct event_row e = restarted;
        int64_t want = id[0] == 77 || is_own ? id[1] : 1100008;
        json_t *line;

        e.name = is_own ? own[n] : theirs[n - ARRAY_LEN(own)];
        e.report_id = id[0];
        line = written(&e);
        assert_int_equal(json_integer_value(json_object_get(line, "data_id")), want);
        json_decref(line);
    }
}

static void a_host_is_named_by_all_its_names(void **state)
{
    struct event_row e = restarted;
    const json_t *d;
    json_t *line;

    (void)state;
    e.agent_id = "hf-1";
    e.ip = "::1";
    e.cloud_id = 7;
    line = written(&e);
    d = part(line, "dimension");
    assert_string_equal(json_string_value(part(line, "target")), "::1|7");
    assert_string_equal(json_string_value(json_object_get(d, "bk_target_cloud_id")), "7");
    assert_string_equal(json_string_value(json_object_get(d, "bk_agent_id")), "hf-1");
    json_decref(line);
}

static void an_event_of_the_host_itself_names_no_process(void **state)
{
    struct event_row e = restarted;
    json_t *line;

    (void)state;
    e.name = "agent_clone";
    e.message = "a\n\"b\"";
    e.space = e.proc = e.proc_name = "";
    line = written(&e);
    assert_int_equal(json_object_size(part(line, "dimension")), 2);
    assert_string_equal(json_string_value(json_object_get(part(line, "event"), "content")),
                        "a\n\"b\"");
    json_decref(line);
}

static void what_blueking_has_no_word_for_has_no_line(void **state)
{
    struct event_row e = lost;

    (void)state;
    assert_true(event_line_has(&e));
    e.name = "agent_back";
    assert_false(event_line_has(&e));
    e.name = "server_store_failed";
    assert_true(event_line_has(&e));
    e.agent_id = ""; /* of no host */
    assert_false(event_line_has(&e));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_event_looks_as_the_contract_has_it),
        cmocka_unit_test(a_lost_agent_looks_as_the_contract_has_it),
        cmocka_unit_test(a_report_id_is_the_data_id),
        cmocka_unit_test(our_own_kinds_never_go_to_the_data_id_of_blueking),
        cmocka_unit_test(a_host_is_named_by_all_its_names),
        cmocka_unit_test(an_event_of_the_host_itself_names_no_process),
        cmocka_unit_test(what_blueking_has_no_word_for_has_no_line),
    };

    return cmocka_run_group_tests_name("server/event_line", tests, NULL, NULL);
}
