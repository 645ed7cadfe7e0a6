/* SPDX-License-Identifier: MIT */
#include "cli/from_proc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
/* cmocka.h needs the headers above. */
#include <cmocka.h>

#include "tests/lib/plans.h"

static void records_become_specs(void **state)
{
    static const char text[] =
        "{\"proc\":[\n"
        "{\"procName\":\"nginx\",\"setupPath\":\"/srv/nginx\",\"pidPath\":\"/srv/nginx/"
        "pid\",\"contact\":\"prod\",\n"
        "\"startCmd\":\"./nginx\",\"stopCmd\":\"./nginx -s "
        "stop\",\"healthCmd\":\"./ok\",\"type\":1,\"cpulmt\":60,\"memlmt\":12.5,\n"
        "\"user\":\"app\",\"password\":\"x\",\"valuekey\":\"prod:web\",\"startCheckBeginTime\":3,"
        "\"startCheckEndTime\":4,\n"
        "\"opTimeOut\":30},\n"
        "{\"procName\":\"job\",\"startCmd\":\"./job\",\"type\":2,\"valuekey\":\"prod:job\"},\n"
        "{\"procName\":\"bad\",\"valuekey\":\"bad\"},{\"valuekey\":7}]}";
    struct plans w;
    struct err err = { 0 };

    (void)state;
    plans_init(&w);
    if (from_proc_text(&w.plan, "a/.proc", text, strlen(text), &err))
        fail_msg("%s", err.text);
    plans_write(&w);
    assert_string_equal(
        buf_text(&w.specs),
        "name: web\nnamespace: prod\ncommand: ./nginx\nstop_command: ./nginx -s stop\n"
        "health_command: ./ok\nuser: app\nprogram: nginx\ndirectory: /srv/nginx\n"
        "pid_file: /srv/nginx/pid\nstart_check_secs: 3\nstop_check_secs: 4\nop_timeout: 30\n"
        "limits:\n  cpu: 60\n  memory: \"12.5%\"\n"
        "name: job\nnamespace: prod\ncommand: ./job\nuser: root\nprogram: job\nauto_type: "
        "run_once\n");
    assert_string_equal(
        buf_text(&w.notes),
        "4 prod:web! the agent needs no password\n"
        "7 bad! valuekey: 'bad' names no process: must be "
        "`namespace:name`, or contact must be given\n"
        "1 proc! proc[3].valuekey: must be a string of 1 to 513 bytes, not a number\n");
    plans_done(&w);
}

static void what_is_no_such_file_is_an_error(void **state)
{
    struct plans w;
    struct err err = { 0 };

    (void)state;
    plans_init(&w);
    assert_int_equal(from_proc_text(&w.plan, "a/.proc", "[]", 2, &err), -1);
    assert_non_null(strstr(err.text, "a/.proc: "));
    assert_int_equal(from_proc(&w.plan, "/no/such/.proc", &err), -1);
    assert_non_null(strstr(err.text, "/no/such/.proc"));
    plans_done(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_become_specs),
        cmocka_unit_test(what_is_no_such_file_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
