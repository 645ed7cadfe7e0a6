/* SPDX-License-Identifier: MIT */
#include "model/procfile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h needs those before it. */
#include <cmocka.h>

#include "base/mem/mem.h"

static const char spec_json[] =
    "{\"identity\":{\"proc_name\":\"nginx\",\"setup_path\":\"/usr/sbin\",\"pid_path\":\"/run/"
    "n.pid\","
    "\"log_path\":\"/var/log/n\",\"user\":\"root\"},\"control\":{\"start_cmd\":\"./nginx "
    "\\\"-c\\\" "
    "\xe4\xb8\xad\",\"stop_cmd\":\"./nginx -s stop\"},\"resource\":{\"cpu\":30.5,\"mem\":10},"
    "\"monitor_policy\":{\"auto_type\":1,\"start_check_secs\":9,\"start_retries\":7},"
    "\"alive_monitor_policy\":{\"op_timeout\":10,\"stop_check_secs\":null}}";

static void read_spec(struct arena *a, const char *json, struct proc_spec *ret)
{
    struct err err = { 0 };

    if (shape_read(&proc_spec_shape, json, strlen(json), 0, a, ret, &err))
        fail_msg("%s", err.text);
}

static void read_file(struct arena *a, const char *json, struct procfile *ret)
{
    struct err err = { 0 };

    if (procfile_read(json, strlen(json), a, ret, &err))
        fail_msg("%s", err.text);
}

static void it_is_written_as_gse_does(void **state)
{
    const struct proc_meta meta = { .space = "GSEKIT_BIZ_1", .name = "nginx_1" };
    struct arena a = { 0 };
    struct proc_spec spec;
    struct proc_record r;
    struct buf text = { 0 };

    (void)state;
    read_spec(&a, spec_json, &spec);
    procfile_record(&meta, &spec, 7, 1782360282, &a, &r);
    procfile_write(&r, 1, &text);
    assert_string_equal(
        buf_text(&text),
        "{\"proc\":[{\"procName\":\"nginx\",\"setupPath\":\"/usr/sbin\",\"pidPath\":\"/run/n.pid\","
        "\"contact\":\"GSEKIT_BIZ_1\",\"startCmd\":\"./nginx \\\"-c\\\" \xe4\xb8\xad\","
        "\"stopCmd\":\"./nginx -s stop\",\"restartCmd\":\"\",\"reloadCmd\":\"\",\"killCmd\":\"\","
        "\"versionCmd\":\"\",\"healthCmd\":\"\",\"type\":1,\"cpulmt\":30.5,\"memlmt\":10,"
        "\"user\":\"root\",\"password\":\"\",\"userPwd\":\":::root@@@\","
        "\"valuekey\":\"GSEKIT_BIZ_1:nginx_1\",\"startCheckBeginTime\":9,\"startCheckEndTime\":0,"
        "\"opTimeOut\":10,\"operateType\":7,\"timestamp\":1782360282}]}");
    buf_truncate(&text, 0);
    procfile_write(NULL, 0, &text);
    assert_string_equal(buf_text(&text), "{\"proc\":[]}");
    buf_free(&text);
    arena_free(&a);
}

/* What the format has no word for is kept; all else comes from the record. */
static void what_is_written_is_read_back(void **state)
{
    const struct proc_meta meta = { .space = "a", .name = "b:c" };
    struct arena a = { 0 };
    struct proc_spec spec, other;
    struct proc_record first, again;
    struct proc_meta got;
    struct procfile file;
    struct buf text = { 0 };
    struct err err;

    (void)state;
    read_spec(&a, spec_json, &spec);
    procfile_record(&meta, &spec, 0, 5, &a, &first);
    procfile_write(&first, 1, &text);
    read_file(&a, buf_text(&text), &file);
    assert_int_equal(file.records.n, 1);
    assert_int_equal(file.bad_n, 0);
    assert_true(procfile_same(&first, file.records.items));
    assert_int_equal(procfile_meta(file.records.items, &a, &got, &err), 0);
    assert_string_equal(got.space, "a");
    assert_string_equal(got.name, "b:c");
    other = spec;
    procfile_spec(file.records.items, &got, &other);
    assert_string_equal(other.identity.log_path, "/var/log/n");
    assert_string_equal(other.identity.index_key, "");
    assert_int_equal(proc_policy_of(&other).start_retries, 7);
    assert_int_equal(proc_policy_of(&other).stop_check_s, 5);
    procfile_record(&got, &other, 3, 99, &a, &again);
    assert_true(procfile_same(&first, &again)); /* its writer and its time do not matter */
    again.start_cmd = "./nginx";
    assert_false(procfile_same(&first, &again));
    buf_free(&text);
    arena_free(&a);
}

static void a_key_of_its_own_stays_it(void **state)
{
    static const struct {
        const char *contact, *key, *space, *name, *index_key;
    } cases[] = {
        { "owner", "biz:web", "biz", "web", "" },
        { "biz", "web", "biz", "web", "web" },
        { "biz", ":web", "biz", ":web", ":web" },
        { "biz", "web:", "biz", "web:", "web:" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct proc_record r = { .contact = cases[i].contact, .value_key = cases[i].key }, back;
        struct arena a = { 0 };
        struct proc_meta meta;
        struct proc_spec spec;
        struct err err;

        r.proc_name = r.setup_path = r.pid_path = r.user = "";
        r.start_cmd = r.stop_cmd = r.restart_cmd = r.reload_cmd = r.kill_cmd = r.version_cmd =
            r.health_cmd = "";
        assert_int_equal(procfile_meta(&r, &a, &meta, &err), 0);
        assert_string_equal(meta.space, cases[i].space);
        assert_string_equal(meta.name, cases[i].name);
        shape_defaults(&proc_spec_shape, &spec);
        procfile_spec(&r, &meta, &spec);
        assert_string_equal(spec.identity.index_key, cases[i].index_key);
        procfile_record(&meta, &spec, 0, 0, &a, &back);
        assert_string_equal(back.value_key, cases[i].key);
        arena_free(&a);
    }
}

/* Its owner is the contact, and what the third number of a GSE process says of stops is of
 * starts here. */
static void what_job_hosts_has_its_owner(void **state)
{
    const struct proc_meta meta = { .space = "job.biz.1", .name = "/a/web" };
    struct arena a = { 0 };
    struct proc_spec spec, back;
    struct proc_record r, again;

    (void)state;
    read_spec(&a, spec_json, &spec);
    spec.extra.job = (struct proc_job){ "tom", "f", "i", 30 };
    spec.extra.has_job = PRESENCE_GIVEN;
    procfile_record(&meta, &spec, 3, 5, &a, &r);
    assert_string_equal(r.contact, "tom");
    assert_string_equal(r.value_key, "job.biz.1:/a/web");
    assert_int_equal(r.end_check_s, 30);

    shape_defaults(&proc_spec_shape, &back); /* the journal is gone */
    procfile_spec(&r, &meta, &back);
    assert_int_equal(back.extra.has_job, PRESENCE_GIVEN);
    assert_string_equal(back.extra.job.owner, "tom");
    assert_string_equal(back.extra.job.func_id, "");
    assert_int_equal(back.extra.job.check_end_s, 30);
    assert_int_equal(proc_policy_of(&back).stop_check_s, 5);
    procfile_record(&meta, &back, 3, 5, &a, &again);
    assert_true(procfile_same(&r, &again));

    r.end_check_s = 7; /* the file was edited */
    procfile_spec(&r, &meta, &spec);
    assert_int_equal(spec.extra.job.check_end_s, 7);
    assert_string_equal(spec.extra.job.func_id, "f");
    assert_int_equal(proc_policy_of(&spec).stop_check_s, 5);

    spec.extra.job.owner = ""; /* no owner was named */
    procfile_record(&meta, &spec, 3, 5, &a, &r);
    assert_string_equal(r.contact, "");
    arena_free(&a);
}

static void a_key_that_names_nobody_is_refused(void **state)
{
    const struct proc_record r = { .contact = "", .value_key = "web" };
    struct arena a = { 0 };
    struct proc_meta meta;
    struct err err;

    (void)state;
    assert_int_equal(procfile_meta(&r, &a, &meta, &err), -1);
    assert_non_null(strstr(err.text, "valuekey: 'web' names no process"));
    arena_free(&a);
}

/* As GSE itself wrote it, with blanks, and unknown members. */
static void another_agents_file_is_read(void **state)
{
    static const char text[] =
        "{\"proc\": [\n  {\"procName\": \"x\", \"setupPath\": \"/s\", \"valuekey\": \"n:x\",\n"
        "   \"type\": 2, \"cpulmt\": 1.5, \"startCheckBeginTime\": 30, \"startCheckEndTime\": 4,\n"
        "   \"opTimeOut\": 0, \"who\": {\"knows\": []}}\n], \"more\": 1}\n";
    struct arena a = { 0 };
    struct proc_spec spec;
    struct proc_meta meta;
    struct procfile file;
    struct err err;

    (void)state;
    read_file(&a, text, &file);
    assert_int_equal(file.records.n, 1);
    assert_int_equal(procfile_meta(file.records.items, &a, &meta, &err), 0);
    shape_defaults(&proc_spec_shape, &spec);
    procfile_spec(file.records.items, &meta, &spec);
    assert_int_equal(proc_policy_of(&spec).kind, PROC_RUN_ONCE);
    assert_int_equal(proc_policy_of(&spec).start_check_s, 30);
    assert_int_equal(proc_policy_of(&spec).stop_check_s, 4);
    assert_int_equal(proc_policy_of(&spec).op_timeout_s, 60); /* 0 is the default */
    arena_free(&a);
}

static void one_bad_record_spoils_no_other(void **state)
{
    static const char text[] =
        "{\"proc\":[{\"valuekey\":\"n:a\"},{\"valuekey\":\"n:b\",\"setupPath\":\"relative\"},7,"
        "{\"valuekey\":\"n:c\"}]}";
    struct arena a = { 0 };
    struct procfile file;

    (void)state;
    read_file(&a, text, &file);
    assert_int_equal(file.records.n, 2);
    assert_string_equal(((struct proc_record *)file.records.items)[1].value_key, "n:c");
    assert_int_equal(file.bad_n, 2);
    assert_non_null(strstr(file.bad.text, "proc[1].setupPath: must be an absolute path"));
    arena_free(&a);
}

static void what_is_no_such_file_is_refused(void **state)
{
    static const char *const cases[] = {
        "", "{", "[]", "{}", "{\"proc\":{}}", "{\"proc\":null}", "{\"proc\":[{]}", "{\"proc\":[]} x"
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct arena a = { 0 };
        struct procfile file;
        struct err err = { 0 };

        if (!procfile_read(cases[i], strlen(cases[i]), &a, &file, &err))
            fail_msg("%s was read", cases[i]);
        assert_true(err.text[0] != '\0');
        arena_free(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_written_as_gse_does),
        cmocka_unit_test(what_is_written_is_read_back),
        cmocka_unit_test(a_key_of_its_own_stays_it),
        cmocka_unit_test(what_job_hosts_has_its_owner),
        cmocka_unit_test(a_key_that_names_nobody_is_refused),
        cmocka_unit_test(another_agents_file_is_read),
        cmocka_unit_test(one_bad_record_spoils_no_other),
        cmocka_unit_test(what_is_no_such_file_is_refused),
    };

    return cmocka_run_group_tests_name("procfile", tests, NULL, NULL);
}
