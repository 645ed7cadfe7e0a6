/* SPDX-License-Identifier: MIT */
/* Every row of model/operation.h is known to the folders that derive something of it: the command
 * line, the API's description and metrics, and the simulated agents.  The agent's own test is
 * tests/unit/agent/supervise/test_core_table.c. */
#include "model/operation.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
/* cmocka.h needs those before it. */
#include <cmocka.h>

#include <jansson.h>

#include "api/describe/openapi.h"
#include "base/mem/mem.h"
#include "cli/audit_what.h"
#include "cli/commands.h"
#include "fleetsim/fleet_procs.h"
#include "model/proc.h"
#include "model/view.h"
#include "server/dispatch/task_counts.h"

enum { NOW = 1700000000 };

static void each_row(void (*check)(const struct operation *o))
{
    size_t n = 0;

    for (const struct enum_name *e = operation_names; e->name; e++, n++)
        check(operation_find(e->value));
    assert_true(n >= 8);
}

/* ---- the command line */

static void check_command(const struct operation *o)
{
    const struct command *c = command_find(o->name);

    assert_non_null(c);
    assert_int_equal(c->op, o->number);
    assert_string_equal(c->name, o->name);
    assert_non_null(c->run);
    assert_true(*text_get(LANG_EN, c->help) && *text_get(LANG_ZH, c->help));
    if (o->alias)
        assert_ptr_equal(command_find(o->alias), c);
}

static void each_is_a_command(void **state)
{
    (void)state;
    each_row(check_command);
}

/* Those that act, then hosting, then those that look, without others between. */
static void help_lists_them_by_kind(void **state)
{
    const struct command *c = cli_commands;
    int last = ACTS_ON_PROCESS;

    (void)state;
    while (c->op < 0)
        c++;
    for (const struct enum_name *e = operation_names; e->name; e++, c++) {
        assert_true(c->op >= 0);
        assert_true((int)operation_find(c->op)->kind <= last);
        last = (int)operation_find(c->op)->kind;
    }
    for (; c->name; c++)
        assert_int_equal(c->op, -1);
}

static void check_audited(const struct operation *o)
{
    struct buf json = { 0 }, text = { 0 };

    for (int lang = 0; lang < LANGS; lang++) {
        buf_truncate(&json, 0);
        buf_printf(&json, "{\"op_type\":%d}", (int)o->number);
        buf_truncate(&text, 0);
        audit_what_put(&text, "operate_proc_v2", buf_text(&json), lang);
        assert_string_equal(buf_text(&text), o->verb[lang]);
        buf_truncate(&json, 0);
        buf_printf(&json, "{\"operation\":\"%s\"}", o->name);
        buf_truncate(&text, 0);
        audit_what_put(&text, "/v1/operations", buf_text(&json), lang);
        assert_string_equal(buf_text(&text), o->verb[lang]);
        if (!o->manage_number)
            continue;
        buf_truncate(&json, 0);
        buf_printf(&json, "{\"op_type\":%d}", (int)o->manage_number);
        buf_truncate(&text, 0);
        audit_what_put(&text, "manage_proc", buf_text(&json), lang);
        assert_string_equal(buf_text(&text), o->verb[lang]);
    }
    buf_free(&json);
    buf_free(&text);
}

static void the_audit_log_has_words_for_each(void **state)
{
    (void)state;
    each_row(check_audited);
}

/* ---- the API */

static json_t *describe(void)
{
    struct buf text = { 0 };
    json_t *document;

    openapi_write("1.2.3", &text);
    document = json_loadb(buf_data(&text), text.len, 0, NULL);
    buf_free(&text);
    assert_non_null(document);
    return document;
}

static size_t count_in(const json_t *list, const char *text)
{
    const json_t *item;
    size_t i, n = 0;

    json_array_foreach(list, i, item) n +=
        text ? json_is_string(item) && !strcmp(json_string_value(item), text)
             : json_is_string(item);
    return n;
}

static void openapi_has_each_by_name(void **state)
{
    json_t *document = describe();
    const json_t *schemas, *ask, *operation, *names;
    size_t n = 0;

    (void)state;
    schemas = json_object_get(json_object_get(document, "components"), "schemas");
    ask = json_object_get(schemas, "operation_ask");
    operation = json_object_get(json_object_get(ask, "properties"), "operation");
    names = json_object_get(operation, "enum");
    for (const struct enum_name *e = operation_names; e->name; e++, n++)
        assert_int_equal(count_in(names, e->name), 1);
    assert_int_equal(count_in(names, NULL), n);
    json_decref(document);
}

static void check_counted(const struct operation *o)
{
    assert_in_range(o->number, 0, TASK_OPS - 1);
}

static void metrics_have_room_for_each(void **state)
{
    (void)state;
    each_row(check_counted);
}

/* ---- simulated agents */

static struct fleet_outcome operate(const struct operation *o, bool runs)
{
    struct fleet_names names;
    struct fleet_procs procs;
    struct fleet_outcome ret;
    struct proc_meta meta = { .space = "sim", .name = "proc-00" };

    fleet_names_init(&names, "sim", 1);
    fleet_procs_init(&procs, &names, NOW);
    if (!runs)
        assert_true(fleet_dummy_die(&procs, &procs.list[0], 9, NOW + 1));
    fleet_procs_operate(&procs, &meta, o->number, false, NOW + 5, &ret);
    fleet_procs_done(&procs);
    fleet_names_done(&names);
    return ret;
}

static void check_simulated(const struct operation *o)
{
    for (int runs = 0; runs <= 1; runs++) {
        struct fleet_outcome got = operate(o, runs);
        int expected = runs ? o->if_running : o->if_stopped;

        assert_int_equal(got.code, expected);
        if (expected)
            continue;
        assert_int_equal(got.proc.hosted, o->hosting != HOSTING_ENDS); /* as it was before */
        assert_int_equal(got.proc.wanted, o->wanted ? o->wanted : PROC_RUNNING);
        assert_int_equal(got.proc.pid != 0, o->outcome == MAKES_RUN    ? true
                                            : o->outcome == MAKES_STOP ? false
                                                                       : runs);
    }
}

static void simulated_agents_do_what_the_row_says(void **state)
{
    (void)state;
    each_row(check_simulated);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_is_a_command),
        cmocka_unit_test(help_lists_them_by_kind),
        cmocka_unit_test(the_audit_log_has_words_for_each),
        cmocka_unit_test(openapi_has_each_by_name),
        cmocka_unit_test(metrics_have_room_for_each),
        cmocka_unit_test(simulated_agents_do_what_the_row_says),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
