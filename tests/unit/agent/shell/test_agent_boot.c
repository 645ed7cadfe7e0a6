/* SPDX-License-Identifier: MIT */
/* test_agent_boot.c - a whole agent with real processes on a host that has come up again. */
#include "agent/persist/journal.h"
#include "base/io/file.h"
#include "tests/lib/whole_agent.h"

static void start_agent(void)
{
    const struct agent_options o = { .output_max_bytes = 1 << 20,
                                     .send = whole_on_send,
                                     .dir = whole.data };

    whole_start(&o);
}

/* As if what the journal tells of had been before the host went down. */
static void boot_again(void)
{
    enum { RECORD_BOOT = 255 };
    struct journal_report report;
    struct journal *journal;
    struct err err = { 0 };

    assert_int_equal(journal_open(world_text("%s/journal", whole.data), whole_pass_over, NULL,
                                  &journal, &report, &err),
                     0);
    journal_append(journal, RECORD_BOOT, "another", strlen("another"));
    assert_int_equal(journal_flush(journal, &err), 0);
    journal_close(journal);
}

/* Each writes its name down when it begins. */
static struct proc_spec spec_of(const char *name, int64_t priority, const char *after)
{
    static struct proc_word words[4];
    static size_t n;
    struct proc_spec s =
        whole_spec(name, world_text("echo %s >> order; exec ./victim --slot slot", name));

    s.extra.priority = priority;
    if (after) {
        words[n].text = after;
        s.extra.after = (struct list){ &words[n++], 1 };
    }
    return s;
}

static void start(const char *name, const struct proc_spec *spec)
{
    int64_t item = whole_command(PROC_OP_START, name, spec);

    TURN_UNTIL(whole_answers[item].has_come);
    assert_int_equal(whole_answers[item].code, CODE_OK);
}

static const char *order_now(struct buf *to)
{
    struct err err;

    buf_free(to);
    (void)file_read(world_text("%s/order", whole.dir), 4096, to, &err);
    return buf_text(to);
}

/* By priority, smaller ones first; but a process that names another starts after it. */
static void processes_come_up_in_their_order(void **state)
{
    const struct proc_spec app = spec_of("app", 0, "db"), db = spec_of("db", 2, NULL),
                           web = spec_of("web", 1, NULL);
    struct buf seen = { 0 };

    (void)state;
    start_agent();
    start("app", &app);
    start("db", &db);
    start("web", &web);
    assert_string_equal(order_now(&seen), "app\ndb\nweb\n");
    whole_stop();
    for (int64_t i = 1; i <= whole.item; i++) {
        world_kill((pid_t)whole_answers[i].pid);
        waitpid((pid_t)whole_answers[i].pid, NULL, 0);
    }
    assert_int_equal(unlink(world_text("%s/order", whole.dir)), 0);
    boot_again();
    start_agent();
    TURN_UNTIL(strlen(order_now(&seen)) >= strlen("web\ndb\napp\n"));
    assert_string_equal(buf_text(&seen), "web\ndb\napp\n");
    buf_free(&seen);
}

static int set_up(void **state)
{
    (void)state;
    whole_set_up();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(processes_come_up_in_their_order, set_up, whole_tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
