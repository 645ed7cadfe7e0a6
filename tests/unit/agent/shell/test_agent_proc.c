/* SPDX-License-Identifier: MIT */
/* The agent and its file .proc: whose word counts after the host went down, and of several
 * with the same key. */
#include "agent/shell/agent_proc.h"

#include "agent/persist/journal.h"
#include "agent/shell/agent_disk.h"
#include "agent/shell/agent_parts.h"
#include "tests/lib/folder.h"
#include "tests/lib/whole_agent.h"
#include "tests/lib/wide_text.h"

static struct rig {
    char proc[128], bad[128], journal[128];
} rig;

static void on_send(void *arg, unsigned type, const struct shape *s, const void *message)
{
    (void)arg;
    (void)type;
    (void)s;
    (void)message;
}

static void start_agent(void)
{
    const struct agent_options o = { .dir = whole.data,
                                     .output_max_bytes = 1 << 20,
                                     .send = on_send };

    whole_start(&o);
}

static int set_up(void **state)
{
    (void)state;
    whole_set_up();
    snprintf(rig.proc, sizeof(rig.proc), "%s/.proc", whole.data);
    snprintf(rig.bad, sizeof(rig.bad), "%s/.proc.bad", whole.data);
    snprintf(rig.journal, sizeof(rig.journal), "%s/journal", whole.data);
    start_agent();
    return 0;
}

/* ---- what is asked for, and what comes of it */

static void host(const char *name, const char *index_key)
{
    struct proc_spec s = whole_spec(name, world_text("true for %s", name));

    s.identity.index_key = index_key;
    s.identity.proc_name = "nobody-is-called-so";
    whole_command(PROC_OP_HOST, name, &s);
}

static bool is_listed(const char *name)
{
    char *text = folder_text(rig.proc);
    bool is = strstr(text, world_text("\"startCmd\":\"true for %s\"", name)) != NULL;

    free(text);
    return is;
}

static void put_into_another_boot(void)
{
    struct journal_report report;
    struct journal *journal;
    struct err err = { 0 };

    if (journal_open(rig.journal, whole_pass_over, NULL, &journal, &report, &err))
        fail_msg("%s", err.text);
    journal_append(journal, RECORD_BOOT, "another", strlen("another"));
    assert_int_equal(journal_flush(journal, &err), 0);
    journal_close(journal);
}

/* ---- the host went down */

/* The journal was on the disk, that the file was renamed was not. */
static void an_older_list_that_a_loss_of_power_brings_back_says_nothing(void **state)
{
    struct buf journal = { 0 };
    struct err err = { 0 };
    char *older, *bad;

    (void)state;
    host("first", "");
    TURN_UNTIL(is_listed("first"));
    older = folder_text(rig.proc);
    host("second", "");
    TURN_UNTIL(is_listed("second"));
    assert_int_equal(file_read(rig.journal, 1 << 20, &journal, &err), 0);
    whole_stop();
    folder_put(rig.journal, 0600, buf_data(&journal), journal.len);
    folder_put(rig.proc, 0600, older, strlen(older));
    put_into_another_boot();
    start_agent();
    TURN_UNTIL(is_listed("first") && is_listed("second"));
    bad = folder_text(rig.bad);
    assert_string_equal(bad, older);
    free(bad);
    free(older);
    buf_free(&journal);
}

/* An edit is applied that was made while the host was down, or before. */
static void after_a_clean_end_one_put_back_is_an_edit(void **state)
{
    char *older;

    (void)state;
    host("first", "");
    TURN_UNTIL(is_listed("first"));
    older = folder_text(rig.proc);
    host("second", "");
    TURN_UNTIL(is_listed("second"));
    whole_stop();
    folder_put(rig.proc, 0600, older, strlen(older));
    put_into_another_boot();
    start_agent();
    host("third", "");
    TURN_UNTIL(is_listed("third"));
    assert_true(is_listed("first"));
    assert_false(is_listed("second"));
    assert_int_equal(access(rig.bad, F_OK), -1);
    free(older);
}

static void unhost(const char *name)
{
    struct proc_spec s = whole_spec(name, world_text("true for %s", name));

    whole_command(PROC_OP_UNHOST, name, &s);
}

/* One is taken out and one is added, with names so long that not all of it can be told. */
static void an_edit_is_told_in_whole_characters(void **state)
{
    (void)state;
    for (size_t i = 1; i < WIDE_TEXTS; i += 3) { /* characters of 3 bytes, at each place */
        char added[240], taken[240], *older;

        utf8_printf(added, sizeof(added), "a%s", wide_text(i));
        utf8_printf(taken, sizeof(taken), "b%s", wide_text(i));
        host(added, "");
        TURN_UNTIL(is_listed(added));
        older = folder_text(rig.proc);
        unhost(added);
        host(taken, "");
        TURN_UNTIL(is_listed(taken) && !is_listed(added));
        whole_stop();
        folder_put(rig.proc, 0600, older, strlen(older));
        start_agent();
        TURN_UNTIL(is_listed(added) && !is_listed(taken));
        assert_true(strlen(whole.agent->proc.edited) > sizeof(whole.agent->proc.edited) - 5);
        assert_whole_text(whole.agent->proc.edited);
        free(older);
    }
}

/* ---- one key */

/* The file with one record removed. */
static void take_out(const char *value_key)
{
    struct arena a = { 0 };
    struct buf text = { 0 };
    struct procfile file;
    struct proc_record *records;
    struct err err = { 0 };
    size_t n = 0;

    assert_int_equal(procfile_load(rig.proc, &text, &err), 0);
    assert_int_equal(procfile_read(buf_data(&text), text.len, &a, &file, &err), 0);
    records = file.records.items;
    for (size_t i = 0; i < file.records.n; i++) {
        if (strcmp(records[i].value_key, value_key) != 0)
            records[n++] = records[i];
    }
    assert_int_equal(n, file.records.n - 1);
    buf_truncate(&text, 0);
    procfile_write(records, n, &text);
    folder_put(rig.proc, 0600, buf_data(&text), text.len);
    buf_free(&text);
    arena_free(&a);
}

static void processes_with_the_same_key_are_not_taken_for_one(void **state)
{
    (void)state;
    host("first", "key");
    host("second", "key");
    host("key", "");
    host("other", "space:key");
    host("goes", "");
    TURN_UNTIL(is_listed("first") && is_listed("second") && is_listed("goes") && is_listed("key") &&
               is_listed("other"));
    whole_stop();
    take_out("space:goes");
    start_agent();
    host("last", "");
    TURN_UNTIL(is_listed("last"));
    assert_true(is_listed("first") && is_listed("second") && is_listed("key") &&
                is_listed("other"));
    assert_false(is_listed("goes"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, whole_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_older_list_that_a_loss_of_power_brings_back_says_nothing),
        TEST(after_a_clean_end_one_put_back_is_an_edit),
        TEST(an_edit_is_told_in_whole_characters),
        TEST(processes_with_the_same_key_are_not_taken_for_one),
    };

    return cmocka_run_group_tests_name("agent_proc", tests, NULL, NULL);
}
