/* SPDX-License-Identifier: MIT */
#include "cli/from_systemd.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
/* cmocka.h needs the headers above. */
#include <cmocka.h>

#include "cli/unit_file.h"
#include "tests/lib/plans.h"

static void add(struct plans *w, const char *path, const char *text, const char *timer_text)
{
    struct list list, timer;
    struct err err = { 0 };

    if (unit_read(path, text, strlen(text), &w->arena, &list, &err) ||
        (timer_text &&
         unit_read("t.timer", timer_text, strlen(timer_text), &w->arena, &timer, &err)) ||
        from_systemd_settings(&w->plan, path, &list, timer_text ? &timer : NULL, &err))
        fail_msg("%s", err.text);
}

static void finish(struct plans *w, const char *specs, const char *notes)
{
    from_systemd_finish(&w->plan);
    plans_write(w);
    assert_string_equal(buf_text(&w->specs), specs);
    assert_string_equal(buf_text(&w->notes), notes);
    plans_done(w);
}

static void expect(const char *path, const char *text, const char *timer, const char *specs,
                   const char *notes)
{
    struct plans w;

    plans_init(&w);
    add(&w, path, text, timer);
    finish(&w, specs, notes);
}

static void a_service_becomes_a_spec(void **state)
{
    (void)state;
    expect("/etc/systemd/system/api@eu.service",
           "[Unit]\n"
           "Description=the API\n"
           "After=network.target\n"
           "[Service]\n"
           "Type=notify\n"
           "User=app\n"
           "Group=app\n"
           "WorkingDirectory=/srv/api\n"
           "Environment=MODE=prod \"TEXT=a b\"\n"
           "EnvironmentFile=/etc/api.env\n"
           "ExecStartPre=-/bin/rm -f /run/api/lock\n"
           "ExecStartPre=/srv/api/bin/check\n"
           "ExecStart=/srv/api/bin/api --region %i \\\n"
           "  --port ${PORT} $EXTRA\n"
           "ExecReload=/bin/kill -HUP $MAINPID\n"
           "Restart=on-failure\n"
           "RestartSec=1500ms\n"
           "SuccessExitStatus=0 143\n"
           "TimeoutStartSec=1min\n"
           "TimeoutStopSec=20\n"
           "KillSignal=SIGINT\n"
           "KillMode=process\n"
           "LimitNOFILE=65536\n"
           "LimitCORE=infinity\n"
           "Nice=5\n"
           "MemoryMax=512M\n"
           "CPUQuota=50%\n"
           "TasksMax=100\n"
           "[Install]\n"
           "WantedBy=multi-user.target\n",
           NULL,
           "name: api@eu\n"
           "command: \"exec /srv/api/bin/api --region eu --port \\\"${PORT}\\\" $EXTRA\"\n"
           "pre_start: \"{ /bin/rm -f /run/api/lock || :; } && /srv/api/bin/check\"\n"
           "reload_command: /bin/kill -HUP $(cat /run/api@eu.pid)\n"
           "user: app\n"
           "program: api\n"
           "directory: /srv/api\n"
           "pid_file: /run/api@eu.pid\n"
           "restart: on-failure\n"
           "start_interval: 2\n"
           "op_timeout: 60\n"
           "exit_codes: [0, 143]\n"
           "stop_signal: INT\n"
           "stop_wait: 20\n"
           "ready:\n"
           "  when: notify\n"
           "environment:\n"
           "  MODE: prod\n"
           "  TEXT: a b\n"
           "env_file: /etc/api.env\n"
           "caps:\n"
           "  mem_bytes: 536870912\n"
           "  cpu: 12.5\n"
           "  processes: 100\n"
           "nice: 5\n"
           "rlimits:\n"
           "  nofile: 65536\n"
           "  core: -1\n"
           "scope: process\n",
           "27 CPUQuota? percent of one core; `caps.cpu` is of all 4 cores of this host\n");
}

static void a_daemon_is_known_by_its_pid_file(void **state)
{
    (void)state;
    expect("db.service",
           "[Service]\nType=forking\nPIDFile=db/db.pid\nExecStart=/usr/sbin/db "
           "-d\nExecStop=/usr/sbin/db stop\n"
           "Restart=always\n",
           NULL,
           "name: db\n"
           "command: /usr/sbin/db -d\n"
           "stop_command: /usr/sbin/db stop\n"
           "user: root\n"
           "program: db\n"
           "directory: /usr\n"
           "pid_file: /run/db/db.pid\n"
           "restart: always\n"
           "ready:\n"
           "  when: pid_file\n",
           "");
}

static void a_timer_becomes_a_schedule(void **state)
{
    static const char unit[] =
        "[Service]\nType=oneshot\nExecStart=/opt/a\nExecStart=-/opt/b 'x y'\n";
    static const char spec[] = "name: b\n"
                               "command: \"/opt/a && { /opt/b 'x y' || :; }\"\n"
                               "user: root\n"
                               "program: a\n"
                               "directory: /opt\n";
    char specs[512];

    (void)state;
    snprintf(specs, sizeof(specs), "%sauto_type: run_once\n", spec);
    expect("b.service", unit, NULL, specs, "");
    snprintf(specs, sizeof(specs), "%sschedule: \"0 2 * * *\"\n", spec);
    expect("b.service", unit, "[Timer]\nOnCalendar=*-*-* 02:00\nPersistent=true\n", specs, "");
    snprintf(specs, sizeof(specs), "%sschedule: every 600s\n", spec);
    expect("b.service", unit, "[Timer]\nOnUnitActiveSec=10min\nOnBootSec=5\nOnCalendar=Mon *-*-1\n",
           specs,
           "3 OnBootSec! only OnCalendar and OnUnitActiveSec can be expressed\n"
           "4 OnCalendar! a process has one schedule; the first one is taken\n");
    snprintf(specs, sizeof(specs), "%sauto_type: periodic\n", spec);
    expect("b.service", unit, "[Timer]\nOnCalendar=Mon *-*-1\n", specs,
           "2 OnCalendar! a rule of cron cannot express it\n");
}

static void units_wait_for_units_that_come_with_them(void **state)
{
    struct plans w;

    (void)state;
    plans_init(&w);
    add(&w, "a.service",
        "[Unit]\nAfter=b.service network.target c.service\n[Service]\nExecStart=/opt/a\n", NULL);
    add(&w, "b.service", "[Service]\nExecStart=/opt/b\n", NULL);
    finish(&w,
           "name: a\ncommand: /opt/a\nuser: root\nprogram: a\ndirectory: /opt\nrestart: "
           "never\nafter: [\"b\"]\n"
           "name: b\ncommand: /opt/b\nuser: root\nprogram: b\ndirectory: /opt\nrestart: never\n",
           "2 After! that unit was not imported with it\n");
}

static void what_cannot_be_said_is_named_by_its_line(void **state)
{
    (void)state;
    expect(
        "x.service",
        "[Unit]\nRequires=y.service\n[Service]\nExecStart=!/opt/"
        "x\nRestart=on-abnormal\nProtectSystem=full\n"
        "WatchdogSec=5\nExecStopPost=/opt/y\nLimitRTPRIO=5\nMemoryMax=10%\nUser=%m\nColor=red\n"
        "LimitNOFILE=1024:4096\nX-Own=1\n[X-Mine]\na=1\n",
        NULL,
        "name: x\ncommand: /opt/x\nuser: root\nprogram: x\ndirectory: /opt\nrestart: on-failure\n"
        "rlimits:\n  nofile: 1024\n",
        "4 ExecStart! the prefix of the command is not expressed; the command is taken without it\n"
        "2 Requires! a process is not stopped with another one; `after` orders their start\n"
        "5 Restart! only no, on-failure and always can be expressed; on-failure is taken\n"
        "6 ProtectSystem! sandboxing has no counterpart; put it into the command\n"
        "7 WatchdogSec! set `health_command`, `health_interval` and `unhealthy_restarts`\n"
        "8 ExecStopPost! only ExecStart, ExecStartPre, ExecStop and ExecReload can be expressed\n"
        "9 LimitRTPRIO! `rlimits` has as, core, cpu, data, fsize, memlock, nofile, nproc, stack\n"
        "10 MemoryMax! not a size in bytes\n"
        "11 User! the specifier %m is not known here\n"
        "12 Color! the importer does not know this setting\n"
        "13 LimitNOFILE! soft and hard limit are the same; the soft one is taken\n");
    expect("x@.service", "[Service]\nExecStart=/opt/x\n", NULL, "",
           "1 x@.service! a template; import a copy with a name: NAME@INSTANCE.service\n");
    expect("x.service", "[Service]\nUser=a\n", NULL, "", "1 x.service! there is no command\n");
    expect("x.service", "[Service]\nExecStart=/opt/x \"a\n", NULL, "",
           "1 x.service! a quote that is not closed\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_service_becomes_a_spec),
        cmocka_unit_test(a_daemon_is_known_by_its_pid_file),
        cmocka_unit_test(a_timer_becomes_a_schedule),
        cmocka_unit_test(units_wait_for_units_that_come_with_them),
        cmocka_unit_test(what_cannot_be_said_is_named_by_its_line),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
