/* SPDX-License-Identifier: MIT */
/* Every row of the operations is whole, and whatever the model derives from the rows knows it.
 * What other folders derive is in tests/contract/test_operations.c and test_core_table.c. */
#include "model/operation.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
/* cmocka.h needs those before it. */
#include <cmocka.h>

#include "base/mem/arena.h"
#include "base/mem/mem.h"
#include "model/app.h"
#include "model/job.h"
#include "model/log.h"
#include "model/task.h"
#include "model/view.h"
#include "model/why_write.h"

/* Calls it with every row; there are some. */
static void each_row(void (*check)(const struct operation *o))
{
    size_t n = 0;

    for (int64_t number = -2; number <= PROC_OP_END + 2; number++) {
        const struct operation *o = operation_find(number);

        if (!o)
            continue;
        assert_int_equal(o->number, number);
        check(o);
        n++;
    }
    assert_true(n >= 8);
}

/* ---- whole */

static void check_names(const struct operation *o)
{
    assert_ptr_equal(operation_find_name(o->name), o);
    assert_string_equal(operation_name(o->number), o->name);
    for (int64_t other = 0; other < PROC_OP_END; other++)
        assert_true(other == o->number || !operation_find(other) ||
                    strcmp(operation_name(other), o->name) != 0);
}

static void names_and_numbers_are_one_to_one(void **state)
{
    (void)state;
    each_row(check_names);
    assert_null(operation_find(5)); /* BlueKing has no public operation of these */
    assert_null(operation_find(6));
    assert_null(operation_find(INT64_MIN));
    assert_non_null(operation_find(PROC_OP_SIGNAL)); /* not BlueKing's */
    assert_null(operation_find_gse(PROC_OP_SIGNAL));
    assert_null(operation_find_gse(5));
    assert_null(operation_find_gse(-1));
    for (int64_t number = 0; number < 10; number++)
        assert_ptr_equal(operation_find_gse(number), operation_find(number));
    assert_null(strstr(OPERATIONS_DOC, "signal"));
    assert_null(operation_find_name(""));
    assert_null(operation_name(-1));
}

static void check_words(const struct operation *o)
{
    for (int lang = 0; lang < LANGS; lang++) {
        assert_true(o->verb[lang] && *o->verb[lang]);
        assert_string_equal(why_op_name(o->number, lang), o->verb[lang]);
        assert_int_equal(o->doing[lang] && *o->doing[lang], o->kind == ACTS_ON_PROCESS);
    }
}

static void each_has_its_words_in_both_languages(void **state)
{
    (void)state;
    each_row(check_words);
}

static bool is_code(int number)
{
    return code_get(number)->number == number;
}

static void check_codes(const struct operation *o)
{
    assert_true(is_code(o->if_running) && is_code(o->if_stopped));
    assert_false(o->outcome == MAKES_STOP && o->if_running); /* or it could never be done */
    assert_false(o->outcome == MAKES_RUN && o->if_stopped);
    assert_false(operation_was_done(o->number, CODE_OK));
    assert_int_equal(operation_was_done(o->number, CODE_RUNNING),
                     o->outcome == MAKES_RUN && o->if_running == CODE_RUNNING);
    assert_int_equal(operation_was_done(o->number, CODE_NOT_RUNNING),
                     o->outcome == MAKES_STOP && o->if_stopped == CODE_NOT_RUNNING);
}

static void codes_are_in_the_table_of_codes(void **state)
{
    (void)state;
    each_row(check_codes);
    assert_false(operation_was_done(5, CODE_RUNNING));
}

/* What acts has something to act with: a command that it requires, or a signal for none. */
static void check_means(const struct operation *o)
{
    bool acts = o->kind == ACTS_ON_PROCESS;

    assert_int_equal(o->command.name || o->takes_signal, acts);
    assert_int_equal(o->required.name || o->signal || o->takes_signal,
                     acts || o->hosting == HOSTING_BEGINS);
    assert_true(!acts || o->needs != NEEDS_NOTHING);
    assert_false(o->or_required.name && !o->required.name);
    assert_true(o->outcome == LEAVES_AS_IS || acts);
    assert_true(o->kind != CHANGES_HOSTING || o->hosting != HOSTING_STAYS);
    assert_true(o->kind != ONLY_LOOKS || (o->hosting == HOSTING_STAYS && !o->wanted));
    if (o->hosting == HOSTING_BEGINS)
        assert_int_equal(o->wanted, PROC_RUNNING);
}

static void each_has_what_it_acts_with(void **state)
{
    (void)state;
    each_row(check_means);
}

static void lines_come_from_the_spec(void **state)
{
    const struct proc_control control = { .start_cmd = "a", .kill_cmd = "b", .reload_cmd = "" };

    (void)state;
    assert_string_equal(operation_line(&operation_find(PROC_OP_START)->command, &control), "a");
    assert_string_equal(operation_line(&operation_find(PROC_OP_KILL)->command, &control), "b");
    assert_string_equal(operation_line(&operation_find(PROC_OP_RELOAD)->command, &control), "");
    assert_string_equal(operation_line(&operation_find(PROC_OP_QUERY)->command, &control), "");
}

/* ---- known */

static const struct field *find_field(const struct shape *s, const char *name)
{
    for (const struct field *f = s->fields; f->name; f++) {
        if (!strcmp(f->name, name))
            return f;
    }
    fail_msg("%s has no field %s", s->name, name);
    return NULL;
}

/* By its name, and as the number that BlueKing has for it. */
static void check_read(const struct operation *o)
{
    char json[128];
    struct operation_ask ask;
    struct arena a = { 0 };
    struct err err;
    int n = snprintf(json, sizeof(json),
                     "{\"operation\":\"%s\",\"namespace\":\"s\",\"name\":\"n\"}", o->name);

    assert_int_equal(shape_read(&operation_ask_shape, json, (size_t)n, 0, &a, &ask, &err), 0);
    assert_int_equal(ask.op, o->number);
    arena_free(&a);
}

static void each_can_be_asked_for(void **state)
{
    (void)state;
    each_row(check_read);
}

/* `sentence` has the number and, before it, the name. */
static bool is_named(const char *sentence, const struct operation *o)
{
    char number[24];
    const char *at = strchr(sentence, '(');

    snprintf(number, sizeof(number), "%d", (int)o->number);
    return at && strstr(at, number) && strstr(sentence, o->name);
}

/* Prose of the reference, which is written by hand. */
static void check_reference(const struct operation *o)
{
    const struct field *identity = find_field(&proc_spec_shape, "identity");
    const char *needed = find_field(identity->sub, "pid_path")->doc;
    const char *list = find_field(&proc_operate_shape, "op_type")->doc;
    char number[24];

    snprintf(number, sizeof(number), "%d ", (int)o->number);
    assert_int_equal(strstr(list, number) != NULL, operation_find_gse(o->number) != NULL);
    assert_int_equal(is_named(needed, o), o->needs == NEEDS_PID_PATH);
}

static void the_reference_names_each(void **state)
{
    (void)state;
    assert_memory_equal(find_field(&proc_operate_shape, "op_type")->doc, "0 start, ", 9);
    each_row(check_reference);
}

/* ---- rights */

static void check_right(const struct operation *o)
{
    struct app_number only = { o->number };
    const struct app_permissions p = { .operations = { &only, 1 } };

    for (int64_t other = 0; other < PROC_OP_END; other++)
        assert_int_equal(app_may_op(&p, other), other == o->number);
    assert_int_equal(app_may_bring_spec(&p), o->brings_spec);
    assert_true(!o->brings_spec || o->hosting == HOSTING_BEGINS);
}

static void each_is_a_right_of_its_own(void **state)
{
    (void)state;
    each_row(check_right);
    assert_true(app_may_bring_spec(&(struct app_permissions){ 0 }));
}

/* ---- the rest of the model */

static void check_output(const struct operation *o)
{
    bool is_own = o->outcome == MAKES_RUN;

    assert_int_equal(operation_is_output(o->name), o->command.name != NULL);
    assert_int_equal(operation_is_own_output(o->name), is_own);
    assert_int_equal(log_is_what(o->name), o->command.name && !is_own);
    if (log_is_what(o->name))
        assert_non_null(strstr(find_field(&log_ask_shape, "what")->doc, o->name));
}

static void output_is_kept_of_what_runs_a_command(void **state)
{
    (void)state;
    each_row(check_output);
    assert_true(log_is_what("") && log_is_what("version") && log_is_what("health"));
    assert_false(log_is_what("manage") || operation_is_output(""));
}

static void check_doing(const struct operation *o)
{
    struct proc_view v;
    struct buf text = { 0 };

    shape_defaults(&proc_view_shape, &v);
    v.cause.doing = o->number;
    why_write(&v, LANG_EN, 1000, &text);
    if (o->kind == ACTS_ON_PROCESS)
        assert_non_null(strstr(buf_text(&text), o->doing[LANG_EN]));
    else
        assert_null(strstr(buf_text(&text), "being"));
    buf_free(&text);
}

static void what_acts_is_told_of_while_it_does(void **state)
{
    (void)state;
    each_row(check_doing);
}

/* manage_proc has numbers of its own, all of them. */
static void job_manages_by_its_own_numbers(void **state)
{
    (void)state;
    assert_int_equal(operation_find_managed(JOB_HOST)->number, PROC_OP_HOST);
    assert_int_equal(operation_find_managed(JOB_UNHOST)->number, PROC_OP_UNHOST);
    assert_null(operation_find_managed(0));
    assert_null(operation_find_managed(JOB_UNHOST + 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_and_numbers_are_one_to_one),
        cmocka_unit_test(each_has_its_words_in_both_languages),
        cmocka_unit_test(codes_are_in_the_table_of_codes),
        cmocka_unit_test(each_has_what_it_acts_with),
        cmocka_unit_test(lines_come_from_the_spec),
        cmocka_unit_test(each_can_be_asked_for),
        cmocka_unit_test(the_reference_names_each),
        cmocka_unit_test(each_is_a_right_of_its_own),
        cmocka_unit_test(output_is_kept_of_what_runs_a_command),
        cmocka_unit_test(what_acts_is_told_of_while_it_does),
        cmocka_unit_test(job_manages_by_its_own_numbers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
