/* SPDX-License-Identifier: MIT */
#include "cli/from_supervisord.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
/* cmocka.h needs the headers above. */
#include <cmocka.h>

#include "cli/ini_file.h"
#include "tests/lib/plans.h"

static void expect(const char *text, const char *specs, const char *notes)
{
    struct plans w;
    struct list list;
    struct err err = { 0 };

    plans_init(&w);
    if (ini_read("s.conf", text, strlen(text), &w.arena, &list, &err) ||
        from_supervisord_settings(&w.plan, &list, "/etc/supervisor", &err))
        fail_msg("%s", err.text);
    plan_check_twins(&w.plan);
    plans_write(&w);
    assert_string_equal(buf_text(&w.specs), specs);
    assert_string_equal(buf_text(&w.notes), notes);
    plans_done(&w);
}

static void a_program_becomes_a_spec(void **state)
{
    (void)state;
    expect("[program:web]\n"
           "command=/srv/web/bin/web --port %(ENV_PORT)s --conf %(here)s/web.conf\n"
           "directory=/srv/web\n"
           "user=app\n"
           "autostart=true\n"
           "autorestart=true\n"
           "startsecs=3\n"
           "stopsignal=SIGINT\n"
           "stopwaitsecs=20\n"
           "stopasgroup=true\n"
           "killasgroup=true\n"
           "priority=10\n"
           "environment=MODE=\"a,b\",N='1'\n"
           "redirect_stderr=true\n"
           "stdout_logfile=AUTO\n"
           "stdout_logfile_maxbytes=1MB\n",
           "name: web\n"
           "command: /srv/web/bin/web --port 8080 --conf /etc/supervisor/web.conf\n"
           "user: app\n"
           "program: web\n"
           "directory: /srv/web\n"
           "restart: always\n"
           "start_check_secs: 3\n"
           "stop_signal: INT\n"
           "stop_wait: 20\n"
           "environment:\n"
           "  MODE: a,b\n"
           "  \"N\": \"1\"\n"
           "log_max_bytes: 1048576\n"
           "priority: 10\n",
           "");
}

static void restarts_are_those_of_supervisord(void **state)
{
    static const char *const cases[][2] = {
        { "", "restart: on-failure\nstart_check_secs: 1\nstop_wait: 10\n" },
        { "autorestart=true\n", "restart: always\nstart_check_secs: 1\nstop_wait: 10\n" },
        { "autorestart=false\n", "restart: never\nstart_check_secs: 1\nstop_wait: 10\n" },
        { "autorestart=unexpected\nexitcodes=0,2\n",
          "keep_trying: true\nstart_check_secs: 1\nexit_codes: [0, 2]\nstop_wait: 10\n" },
        { "startretries=5\n",
          "start_check_secs: 1\nstart_retries: 5\nexit_codes: [0]\nstop_wait: 10\n" },
        { "autorestart=true\nstartretries=5\n",
          "start_check_secs: 1\nstart_retries: 5\nstop_wait: 10\n" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[256], specs[512];

        snprintf(text, sizeof(text), "[program:x]\ncommand=/opt/x\n%s", cases[i][0]);
        snprintf(specs, sizeof(specs),
                 "name: x\ncommand: /opt/x\nuser: root\nprogram: x\ndirectory: /opt\n%s",
                 cases[i][1]);
        expect(text, specs, "");
    }
}

static void a_program_outside_its_folder_is_found_where_it_is(void **state)
{
    (void)state;
    expect("[program:app]\n"
           "command=/usr/bin/python3 -u app.py \"a b\"\n"
           "directory=/srv/my app\n"
           "[program:shell]\n"
           "command=/bin/sh -c 'exec ./x'\n"
           "[program:proxy]\n"
           "command=/usr/bin/pidproxy /run/db.pid /opt/db/bin/start.sh\n",
           "name: app\n"
           "command: \"cd '/srv/my app' && exec /usr/bin/python3 -u app.py 'a b'\"\n"
           "user: root\n"
           "program: app.py\n"
           "directory: /usr\n"
           "restart: on-failure\n"
           "start_check_secs: 1\n"
           "stop_wait: 10\n"
           "name: shell\n"
           "command: \"exec /bin/sh -c 'exec ./x'\"\n"
           "user: root\n"
           "program: sh\n"
           "directory: /bin\n"
           "restart: on-failure\n"
           "start_check_secs: 1\n"
           "stop_wait: 10\n"
           "name: proxy\n"
           "command: /opt/db/bin/start.sh\n"
           "user: root\n"
           "program: start.sh\n"
           "directory: /usr\n"
           "pid_file: /run/db.pid\n"
           "restart: on-failure\n"
           "start_check_secs: 1\n"
           "stop_wait: 10\n",
           "5 command? the program that runs in the end is not known: it is taken to be sh; set "
           "`program` if ps shows "
           "another name\n");
}

static void numprocs_makes_several_in_the_group_of_the_program(void **state)
{
    (void)state;
    expect("[group:shop]\n"
           "programs=worker, gone\n"
           "priority=5\n"
           "[program:worker]\n"
           "command=/opt/w %(process_num)d\n"
           "process_name=%(program_name)s_%(process_num)02d\n"
           "numprocs=2\n"
           "numprocs_start=8\n",
           "name: worker_08\n"
           "namespace: shop\n"
           "command: /opt/w 8\n"
           "user: root\n"
           "program: w\n"
           "directory: /opt\n"
           "restart: on-failure\n"
           "start_check_secs: 1\n"
           "stop_wait: 10\n"
           "name: worker_09\n"
           "namespace: shop\n"
           "command: /opt/w 9\n"
           "user: root\n"
           "program: w\n"
           "directory: /opt\n"
           "restart: on-failure\n"
           "start_check_secs: 1\n"
           "stop_wait: 10\n",
           "4 [program:worker]? several processes run w as root: those that run now cannot be told "
           "apart; set a "
           "`pid_file` that has the pid before you host it, or restart it\n"
           "4 [program:worker]? several processes run w as root: those that run now cannot be told "
           "apart; set a "
           "`pid_file` that has the pid before you host it, or restart it\n"
           "2 programs! a program that is not there\n"
           "3 priority! processes have priorities, namespaces have none\n");
}

static void what_cannot_be_said_is_named_by_its_line(void **state)
{
    (void)state;
    expect("[supervisord]\n"
           "nodaemon=true\n"
           "[eventlistener:mail]\n"
           "command=/opt/mail\n"
           "[fcgi-program:php]\n"
           "command=/opt/php\n"
           "[program:none]\n"
           "priority=1\n"
           "[program:open]\n"
           "command=/opt/x 'a\n"
           "[program:gone]\n"
           "command=/opt/x %(ENV_NO)s\n"
           "[program:x]\n"
           "command=/opt/x\n"
           "autostart=false\n"
           "stderr_logfile=/var/log/x\n"
           "user=1000\n"
           "umask=077\n"
           "startsecs=0\n"
           "color=red\n"
           "environment=A=1,B\n"
           "[odd]\n",
           "name: x\n"
           "command: /opt/x\n"
           "user: root\n"
           "program: x\n"
           "directory: /opt\n"
           "restart: on-failure\n"
           "start_check_secs: 1\n"
           "stop_wait: 10\n"
           "environment:\n"
           "  A: \"1\"\n",
           "15 autostart! a hosted process is always started; unhost it to leave it down\n"
           "16 stderr_logfile! the agent keeps the output: holdfast logs\n"
           "17 user! a number; `user` is the name of an account\n"
           "18 umask! the umask is 022; set another one in the command\n"
           "19 startsecs! out of the range that a spec can have\n"
           "20 color! the importer does not know this setting\n"
           "21 environment! expected KEY=VALUE, and quotes that are closed\n"
           "3 [eventlistener:mail]! an event listener of supervisord; events are read with "
           "holdfast events or from the server\n"
           "5 [fcgi-program:php]! supervisord itself opens the socket of this program, which the "
           "agent does not\n"
           "7 [program:none]! there is no command\n"
           "9 [program:open]! a quote that is not closed\n"
           "11 [program:gone]! the variable ENV_NO is not known here\n"
           "22 [odd]! the importer does not know this section\n");
}

static void put_file(const char *folder, const char *name, const char *text)
{
    char path[256];
    FILE *f;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void expect_files(const char *folder, size_t n, const char *notes, const char *error)
{
    char path[256];
    struct plans w;
    struct err err = { 0 };
    int bad;

    plans_init(&w);
    snprintf(path, sizeof(path), "%s/main.conf", folder);
    bad = from_supervisord(&w.plan, path, &err);
    assert_int_equal(bad, error ? -1 : 0);
    if (error && !strstr(err.text, error))
        fail_msg("%s", err.text);
    plans_write(&w);
    if (!error)
        assert_int_equal(plan_count(&w.plan), n);
    assert_string_equal(buf_text(&w.notes), notes);
    plans_done(&w);
}

static void files_are_included_once(void **state)
{
    char folder[] = "/tmp/holdfast-from-XXXXXX", path[256];
    static const char *const names[] = { "main.conf", "a.conf", "b.ini" };

    (void)state;
    assert_non_null(mkdtemp(folder));
    put_file(folder, "main.conf", "[include]\nfiles = %(here)s/a*.conf *.ini none/*.conf\n");
    put_file(folder, "a.conf", "[program:a]\ncommand=/opt/a\n");
    put_file(folder, "b.ini", "[program:b]\ncommand=/opt/b\n[include]\nfiles=main.conf\n");
    expect_files(folder, 2, "4 files! supervisord ignores [include] in an included file\n", NULL);
    put_file(folder, "main.conf", "[include]\nfiles = *.conf\n");
    expect_files(folder, 0, "", "main.conf: included twice");
    put_file(folder, "main.conf", "[include]\nfiles = *.ini\n[program:b]\ncommand=/opt/b\n");
    expect_files(folder, 0, "", "b.ini:1: [program:b] is in ");
    put_file(folder, "b.ini", "[program:b\n");
    expect_files(folder, 0, "", "b.ini:1: a section is written [NAME]");
    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
        unlink(path);
    }
    expect_files(folder, 0, "", "main.conf");
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_becomes_a_spec),
        cmocka_unit_test(restarts_are_those_of_supervisord),
        cmocka_unit_test(a_program_outside_its_folder_is_found_where_it_is),
        cmocka_unit_test(numprocs_makes_several_in_the_group_of_the_program),
        cmocka_unit_test(what_cannot_be_said_is_named_by_its_line),
        cmocka_unit_test(files_are_included_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
