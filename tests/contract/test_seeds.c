/* SPDX-License-Identifier: MIT */
/* The example requests of the published API documents, byte for byte: each is
 * read by its shape, and every value arrives where it belongs.  Run from the
 * root of the project. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem/arena.h"
#include "base/mem/buf.h"
#include "model/job.h"
#include "model/proc.h"
#include "wire/json/json_scan.h"

struct request {
    struct buf json;
    struct arena arena;
};

static void load(struct request *r, const char *name)
{
    char path[128];
    FILE *f;
    size_t n;

    *r = (struct request){ 0 };
    snprintf(path, sizeof(path), "tests/contract/seeds/%s.json", name);
    f = fopen(path, "rb");
    assert_non_null(f);
    while ((n = fread(buf_reserve(&r->json, 4096), 1, 4096, f)) > 0)
        r->json.len += n;
    assert_int_equal(fclose(f), 0);
}

static void read_as(struct request *r, const struct shape *s, void *out)
{
    struct err err;

    if (shape_read(s, buf_data(&r->json), r->json.len, 0, &r->arena, out, &err))
        fail_msg("%s", err.text);
}

static void done(struct request *r)
{
    buf_free(&r->json);
    arena_free(&r->arena);
}

static void check_meta(const struct proc_meta *meta)
{
    const struct proc_label *label = meta->labels.items;

    assert_string_equal(meta->space, "gse");
    assert_string_equal(meta->name, "proc-test");
    assert_int_equal(meta->labels.n, 1);
    assert_string_equal(label->key, "proc_name");
    assert_int_equal(label->value.kind, SCALAR_TEXT);
    assert_string_equal(label->value.text, "proc-test");
}

static void check_host(const struct list *hosts, int64_t cloud_id, int64_t supplier_id)
{
    const struct host_ref *host = hosts->items;

    assert_int_equal(hosts->n, 1);
    assert_string_equal(host->ip, "10.0.0.1");
    assert_int_equal(host->cloud_id, cloud_id);
    assert_int_equal(host->supplier_id, supplier_id);
}

static void check_policy(const struct proc_policy *p)
{
    assert_int_equal(p->kind, PROC_RESIDENT);
    assert_int_equal(p->has_kind, PRESENCE_GIVEN);
    assert_int_equal(p->start_check_s, 5);
    assert_int_equal(p->stop_check_s, 5);
    assert_int_equal(p->start_retries, 3);
    assert_int_equal(p->start_interval_s, 20);
    assert_string_equal(p->cron_rule, "");
    assert_int_equal(p->has_cron, PRESENCE_GIVEN); /* "crotab_rule": the documents' own spelling */
    assert_int_equal(p->op_timeout_s, 60);
    assert_int_equal(p->has_timeout, PRESENCE_ABSENT);
}

/* What both requests of the process API say alike. */
static void check_spec(const struct proc_spec *s)
{
    const struct proc_config_file *file = s->config_files.items;

    assert_string_equal(s->identity.index_key, "");
    assert_string_equal(s->identity.proc_name, "proc-test");
    assert_string_equal(s->identity.setup_path, "/data/gsetest/");
    assert_string_equal(s->identity.pid_path, "/data/gsetest/proc-test.pid");
    assert_string_equal(s->identity.config_path, "/data/gsetest/proc-test.conf");
    assert_string_equal(s->identity.log_path, "/data/gsetest/logs/");
    assert_string_equal(s->identity.user, "root");
    assert_string_equal(s->control.start_cmd, "./start.sh");
    assert_string_equal(s->control.stop_cmd, "./stop.sh");
    assert_string_equal(s->control.restart_cmd, "./restart.sh");
    assert_string_equal(s->control.reload_cmd, "./reload.sh");
    assert_string_equal(s->control.kill_cmd, "./kill.sh");
    assert_string_equal(s->control.version_cmd, "./version.sh");
    assert_string_equal(s->control.health_cmd, "./health.sh");
    assert_int_equal(s->has_identity, PRESENCE_GIVEN);
    assert_int_equal(s->has_control, PRESENCE_GIVEN);
    assert_int_equal(s->has_warn, PRESENCE_GIVEN);
    assert_int_equal(s->warn.report_id, 0);
    assert_int_equal(s->config_files.n, 1);
    assert_string_equal(file->path, "");
    assert_string_equal(file->md5, "");
}

static void register_proc_info_is_read(void **state)
{
    struct request r;
    struct proc_register out;

    (void)state;
    load(&r, "register_proc_info");
    read_as(&r, &proc_register_shape, &out);
    check_meta(&out.meta);
    check_host(&out.hosts, 1, 2);
    check_spec(&out.spec);
    assert_true(out.spec.resource.cpu_percent == 10 && out.spec.resource.mem_percent == 10);
    assert_int_equal(out.spec.resource.fd, 10000);
    assert_int_equal(out.spec.resource.disk, 100);
    assert_int_equal(out.spec.resource.net, 0);
    check_policy(&out.spec.policy);
    assert_int_equal(out.spec.has_policy, PRESENCE_GIVEN);
    assert_int_equal(out.spec.has_alive_policy, PRESENCE_ABSENT);
    done(&r);
}

static void operate_proc_v2_is_read(void **state)
{
    struct request r;
    struct proc_operate out;

    (void)state;
    load(&r, "operate_proc_v2");
    read_as(&r, &proc_operate_shape, &out);
    check_meta(&out.meta);
    assert_int_equal(out.op, PROC_OP_START);
    check_host(&out.hosts, 1, 0);
    assert_int_equal(out.agents.n, 0);
    check_spec(&out.spec);
    check_policy(&out.spec.alive_policy);
    assert_int_equal(out.spec.has_alive_policy, PRESENCE_GIVEN);
    assert_int_equal(out.spec.has_policy, PRESENCE_ABSENT);
    assert_int_equal(out.spec.has_resource, PRESENCE_ABSENT);
    done(&r);
}

/* All three Job requests carry these. */
static void check_credentials(const struct request *r)
{
    char app[32], secret[32], token[32], name[32];
    struct json_want wants[] = {
        { "bk_app_code", app, sizeof(app), false },
        { "bk_app_secret", secret, sizeof(secret), false },
        { "bk_token", token, sizeof(token), false },
        { "bk_username", name, sizeof(name), false },
    };
    struct err err;

    assert_int_equal(json_scan(buf_data(&r->json), r->json.len, wants, 4, &err), 0);
    assert_true(wants[0].found && wants[1].found && wants[2].found && !wants[3].found);
    assert_string_equal(app, "esb_test");
    assert_string_equal(secret, "xxx");
    assert_string_equal(token, "xxx");
}

static void check_nginx(const struct list *processes)
{
    const struct job_process *p = processes->items;

    assert_int_equal(processes->n, 1);
    assert_string_equal(p->proc_name, "nginx");
    assert_string_equal(p->owner, "root");
    assert_string_equal(p->user, "root");
    assert_string_equal(p->setup_path, "/data/home/nginx/bin/");
    assert_string_equal(p->config_path, "/data/etc/nginx.conf");
    assert_string_equal(p->log_path, "/data/logs/nginx/");
    assert_string_equal(p->pid_path, "/data/var/run/nginx/");
    assert_string_equal(p->control.start_cmd, "echo start");
    assert_string_equal(p->control.stop_cmd, "echo stop");
    assert_string_equal(p->control.restart_cmd, "echo restart");
    assert_string_equal(p->control.reload_cmd, "echo reload");
    assert_string_equal(p->control.kill_cmd, "echo kill");
    assert_string_equal(p->func_id, "");
    assert_string_equal(p->instance_id, "");
    assert_string_equal(p->value_key, "key_test");
    assert_int_equal(p->kind, PROC_RUN_ONCE);
    assert_int_equal(p->cpu_limit, 20);
    assert_int_equal(p->mem_limit, 30);
    assert_int_equal(p->cycle_s, 10);
    assert_int_equal(p->instances, 2);
    assert_int_equal(p->check_begin_s, 5);
    assert_int_equal(p->check_end_s, 5);
    assert_int_equal(p->op_timeout_s, 5);
    check_host(&p->hosts, 0, 0);
}

static void manage_proc_by_scope_is_read(void **state)
{
    struct request r;
    struct job_operate out;

    (void)state;
    load(&r, "manage_proc_scope");
    read_as(&r, &job_manage_shape, &out);
    assert_string_equal(out.scope.type, "biz");
    assert_string_equal(out.scope.id, "1");
    assert_int_equal(out.scope.biz_id, 0);
    assert_int_equal(out.op, 1);
    check_nginx(&out.processes);
    check_credentials(&r);
    done(&r);
}

static void manage_proc_by_business_is_read(void **state)
{
    struct request r;
    struct job_operate out;

    (void)state;
    load(&r, "manage_proc_biz");
    read_as(&r, &job_manage_shape, &out);
    assert_string_equal(out.scope.type, "");
    assert_string_equal(out.scope.id, "");
    assert_int_equal(out.scope.biz_id, 1);
    assert_int_equal(out.op, 1);
    check_nginx(&out.processes);
    check_credentials(&r);
    done(&r);
}

static void operate_process_is_read(void **state)
{
    struct request r;
    struct job_operate out;
    const struct job_process *p;

    (void)state;
    load(&r, "operate_process");
    read_as(&r, &job_operate_shape, &out);
    assert_int_equal(out.scope.biz_id, 1);
    assert_int_equal(out.op, 1);
    assert_int_equal(out.processes.n, 1);
    p = out.processes.items;
    assert_string_equal(p->setup_path, "/usr/local/xxx");
    assert_string_equal(p->proc_name, "gseagent");
    assert_string_equal(p->pid_path, "/usr/local/xxx");
    assert_string_equal(p->user, "root");
    assert_string_equal(p->owner, "root"); /* given as "contact" */
    assert_int_equal(p->cpu_limit, 50);
    assert_int_equal(p->mem_limit, 30);
    assert_int_equal(p->kind, PROC_PERIODIC);
    assert_string_equal(p->control.start_cmd, "");
    assert_int_equal(p->op_timeout_s, 0);
    check_host(&p->hosts, 0, 0);
    check_credentials(&r);
    done(&r);
}

/* The most targets, and one more. */
static void fifty_thousand_targets_are_the_most(void **state)
{
    struct buf json = { 0 };
    struct arena a = { 0 };
    struct proc_operate out;
    struct err err;

    (void)state;
    for (int more = 0; more < 2; more++) {
        buf_truncate(&json, 0);
        buf_puts(&json, "{\"meta\":{\"namespace\":\"n\",\"name\":\"p\"},\"op_type\":2,\"hosts\":[");
        for (int i = 0; i < 50000 + more; i++)
            buf_printf(&json, "%s{\"ip\":\"10.0.%d.%d\",\"bk_cloud_id\":0}", i ? "," : "", i / 256,
                       i % 256);
        buf_puts(&json, "]}");
        assert_int_equal(
            shape_read(&proc_operate_shape, buf_data(&json), json.len, 0, &a, &out, &err),
            more ? -1 : 0);
    }
    assert_int_equal(out.hosts.n, 50000);
    assert_string_equal(err.text,
                        "hosts: must be a list of at most 50000 items, has at least 50001");
    buf_free(&json);
    arena_free(&a);
}

/* What is wrong far inside a batch is found by its path alone. */
static void an_error_is_found_by_its_path(void **state)
{
    struct buf json = { 0 };
    struct arena a = { 0 };
    struct proc_operate_batch out;
    struct err err;

    (void)state;
    buf_puts(&json, "{\"proc_operate_req\":[");
    for (int i = 0; i < 3; i++)
        buf_printf(&json,
                   "%s{\"meta\":{\"namespace\":\"n\",\"name\":\"p\"},\"op_type\":0,\"spec\":{"
                   "\"identity\":{\"user\":\"%0*d\"}}}",
                   i ? "," : "", i == 2 ? 65 : 64, 0);
    buf_puts(&json, "]}");
    assert_int_equal(
        shape_read(&proc_operate_batch_shape, buf_data(&json), json.len, 0, &a, &out, &err), -1);
    assert_string_equal(err.text, "proc_operate_req[2].spec.identity.user: must be a string of at "
                                  "most 64 bytes, has 65");
    buf_free(&json);
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(register_proc_info_is_read),
        cmocka_unit_test(operate_proc_v2_is_read),
        cmocka_unit_test(manage_proc_by_scope_is_read),
        cmocka_unit_test(manage_proc_by_business_is_read),
        cmocka_unit_test(operate_process_is_read),
        cmocka_unit_test(fifty_thousand_targets_are_the_most),
        cmocka_unit_test(an_error_is_found_by_its_path),
    };

    return cmocka_run_group_tests_name("seeds", tests, NULL, NULL);
}
