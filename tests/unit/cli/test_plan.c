/* SPDX-License-Identifier: MIT */
#include "cli/plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h needs the headers above. */
#include <cmocka.h>

#include "cli/from_supervisord.h"
#include "cli/from_systemd.h"
#include "cli/ini_file.h"
#include "cli/unit_file.h"
#include "tests/lib/plan_yaml.h"
#include "tests/lib/plans.h"

static const struct setting here = { "f", 7, "s", "key", "" };

static void a_name_is_given_once(void **state)
{
    struct plans w;
    struct err err;

    (void)state;
    plans_init(&w);
    assert_non_null(plan_add(&w.plan, "", "a", &here, &err));
    assert_non_null(plan_add(&w.plan, "shop", "a", &here, &err));
    assert_null(plan_add(&w.plan, "", "a", &here, &err));
    assert_string_equal(err.text, "a process a is made of f:7 already");
    assert_null(plan_add(&w.plan, "", "", &here, &err));
    assert_string_equal(err.text, "name: must have 1 to 256 bytes");
    assert_null(plan_add(&w.plan, "", "a/b", &here, &err));
    assert_null(plan_add(&w.plan, "a:b", "c", &here, &err));
    assert_int_equal(plan_count(&w.plan), 2);
    assert_string_equal(plan_find(&w.plan, "shop", "a")->space, "shop");
    plans_done(&w);
}

/* What importers write is read by the reader of specs, whatever the texts hold. */
static void specs_are_read_as_specs(void **state)
{
    static const char conf[] = "[program:all]\n"
                               "command=/srv/all/all 'a: b' \"#c\" \\\\ {x} \xe4\xb8\xad\n"
                               "directory=/srv/all\n"
                               "autorestart=unexpected\n"
                               "exitcodes=0,2\n"
                               "environment=A=\"yes\",B=\"~\",YES=\"1\"\n"
                               "stdout_logfile_maxbytes=1MB\n"
                               "priority=5\n"
                               "killasgroup=false\n"
                               "stopsignal=QUIT\n"
                               "[program:retries]\n"
                               "command=/opt/r\n"
                               "startretries=7\n"
                               "autorestart=true\n";
    static const char unit[] =
        "[Service]\nType=notify\nExecStart=/opt/u ${A}\nExecReload=/bin/kill -HUP $MAINPID\n"
        "Restart=on-failure\nSuccessExitStatus=3\nLimitNOFILE=10\nLimitCORE=infinity\n"
        "CPUQuota=33%\nMemoryMax=1G\nTasksMax=10\nNice=-5\nKillMode=process\n"
        "TimeoutSec=90\nRestartSec=2\nEnvironmentFile=/etc/u\n";
    static const char timer[] = "[Timer]\nOnUnitActiveSec=90\n";
    static const char once[] = "[Service]\nType=oneshot\nExecStart=/opt/o\n";
    struct plans w;
    struct list list, second;
    struct err err = { 0 };

    (void)state;
    plans_init(&w);
    if (ini_read("c", conf, strlen(conf), &w.arena, &list, &err) ||
        from_supervisord_settings(&w.plan, &list, "/etc", &err) ||
        unit_read("u.service", unit, strlen(unit), &w.arena, &list, &err) ||
        from_systemd_settings(&w.plan, "u.service", &list, NULL, &err) ||
        unit_read("o.service", once, strlen(once), &w.arena, &list, &err) ||
        from_systemd_settings(&w.plan, "o.service", &list, NULL, &err) ||
        unit_read("t.timer", timer, strlen(timer), &w.arena, &second, &err) ||
        from_systemd_settings(&w.plan, "t.service", &list, &second, &err))
        fail_msg("%s", err.text);
    plan_check_specs(&w.plan);
    assert_null(plan_yaml_wrong(&w.plan, &w.arena));
    plans_write(&w);
    assert_string_equal(
        buf_text(&w.notes),
        "9 CPUQuota? percent of one core; `caps.cpu` is of all 4 cores of this host\n");
    assert_int_equal(plan_count(&w.plan), 5);
    plans_done(&w);
}

static void a_spec_that_is_not_valid_is_noted(void **state)
{
    static const char conf[] = "[program:x]\ncommand=/opt/x\nenvironment=A=1\ndirectory=srv\n";
    struct plans w;
    struct list list;
    struct err err = { 0 };

    (void)state;
    plans_init(&w);
    if (ini_read("c", conf, strlen(conf), &w.arena, &list, &err) ||
        from_supervisord_settings(&w.plan, &list, "/etc", &err))
        fail_msg("%s", err.text);
    draft_number(&plan_at(&w.plan, 0)->draft, "stop_wait", -1);
    plan_check_specs(&w.plan);
    plans_write(&w);
    assert_non_null(strstr(buf_text(&w.notes), "stop_wait"));
    assert_int_equal(plan_count_left_out(&w.plan), 1);
    plans_done(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_is_given_once),
        cmocka_unit_test(specs_are_read_as_specs),
        cmocka_unit_test(a_spec_that_is_not_valid_is_noted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
