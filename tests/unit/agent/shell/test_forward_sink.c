/* SPDX-License-Identifier: MIT */
#include "agent/shell/forward_sink.h"

#include "tests/lib/agent_world.h"

static void a_line_for_syslog_is_that_of_rfc_3164(void **state)
{
    const struct forward_source from = { "ns.web", "ns/web", 17 }, unknown = { "ns.web", "", 0 };
    struct buf b = { 0 };

    (void)state;
    setenv("TZ", "UTC", 1);
    tzset();
    forward_write(OUTPUT_SYSLOG, &from, 1750000000, "hello\nx", 5, &b);
    assert_string_equal(buf_text(&b), "<30>Jun 15 15:06:40 ns.web[17]: hello");
    forward_write(OUTPUT_SYSLOG, &unknown, 1746000000, "a", 1, &b);
    assert_string_equal(buf_text(&b), "<30>Apr 30 08:00:00 ns.web: a");
    buf_free(&b);
}

static void a_line_for_the_journal_has_its_fields(void **state)
{
    const struct forward_source from = { "ns.web", "ns/web", 17 };
    struct buf b = { 0 };

    (void)state;
    forward_write(OUTPUT_JOURNAL, &from, 0, "hello", 5, &b);
    assert_string_equal(buf_text(&b),
                        "PRIORITY=6\nSYSLOG_IDENTIFIER=ns.web\nHOLDFAST_PROCESS=ns/web\n"
                        "SYSLOG_PID=17\nMESSAGE=hello\n");
    buf_free(&b);
}

static void an_identifier_can_not_end_early(void **state)
{
    char *tag = forward_tag("a b", "c:[d]\n");

    (void)state;
    assert_string_equal(tag, "a_b.c__d__");
    free(tag);
}

static void a_path_that_is_too_long_is_as_a_missing_socket(void **state)
{
    char path[200];
    struct forward_sink s = { .path = path, .fd = -1 };
    struct buf b = { 0 };

    (void)state;
    memset(path, 'x', sizeof(path) - 1);
    path[0] = '/';
    path[sizeof(path) - 1] = '\0';
    buf_puts(&b, "x");
    assert_int_equal(forward_sink_send(&s, &b, 1000), FORWARD_LATER);
    assert_int_equal(forward_sink_send(&s, &b, 9000), FORWARD_LATER);
    buf_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_for_syslog_is_that_of_rfc_3164),
        cmocka_unit_test(a_line_for_the_journal_has_its_fields),
        cmocka_unit_test(an_identifier_can_not_end_early),
        cmocka_unit_test(a_path_that_is_too_long_is_as_a_missing_socket),
    };

    return cmocka_run_group_tests_name("forward_sink", tests, NULL, NULL);
}
