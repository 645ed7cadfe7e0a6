/* SPDX-License-Identifier: MIT */
/* Commands work for agents without a server too. */
#include "fleetsim/fleet_crowd.h"

#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h needs the headers above. */
#include <cmocka.h>

#include "base/mem/mem.h"
#include "tests/lib/folder.h"

struct world {
    struct folder folder;
    struct fleet_settings s;
    struct fleet_plan plan;
    struct clock_fake clock;
    struct loop *loop;
    struct fleet_crowd *crowd;
};

/* The second of two processes: of five agents it has the numbers 1 and 3. */
static int set_up(void **state)
{
    struct world *w = xalloc(sizeof(*w));
    struct err err = { 0 };

    folder_init(&w->folder);
    shape_defaults(fleet_config.shape, &w->s);
    w->s.agents = 5;
    w->s.procs = 2;
    w->s.processes = 2;
    w->s.dir = w->folder.path;
    w->s.server = "127.0.0.1:1";
    w->s.shares[FLEET_OFFLINE] = "5";
    clock_fake_init(&w->clock, 1000, INT64_C(1700000000000));
    assert_int_equal(fleet_plan_init(&w->plan, &w->s, &err), 0);
    assert_int_equal(loop_new(&w->clock.clock, &w->loop, &err), 0);
    w->crowd = fleet_crowd_new(w->loop, &w->s, &w->plan, "", 1);
    *state = w;
    return 0;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st;
    (void)kind;
    (void)at;
    return remove(path);
}

static int tear_down(void **state)
{
    struct world *w = *state;

    fleet_crowd_free(w->crowd);
    loop_free(w->loop);
    fleet_plan_done(&w->plan);
    assert_int_equal(nftw(w->folder.path, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
    free(w);
    return 0;
}

static struct fleet_counts pass(struct world *w, int64_t ms)
{
    struct fleet_counts counts;
    struct err err = { 0 };

    w->clock.mono += ms;
    assert_int_equal(loop_turn(w->loop, 0, &err), 0);
    fleet_crowd_counts(w->crowd, &counts);
    return counts;
}

static struct fleet_answer ask(struct world *w, const char *line)
{
    struct fleet_answer answer;

    fleet_crowd_do(w->crowd, line, &answer);
    return answer;
}

static void a_process_has_its_share_of_the_agents(void **state)
{
    struct fleet_counts counts = pass(*state, 0);

    assert_int_equal(counts.agents, 2);
    assert_int_equal(counts.expected, 0); /* all are to be offline */
    assert_int_equal(counts.procs, 4);
    assert_int_equal(counts.running, 4);
}

static void processes_die_and_come_back(void **state)
{
    struct world *w = *state;

    assert_int_equal(ask(w, "die 3 1").done, 1);
    assert_int_equal(ask(w, "die 3 1").done, 0); /* it is dead already */
    assert_int_equal(ask(w, "die 2 1").done, 0); /* of the other process */
    assert_int_equal(ask(w, "die 3 2").done, 0); /* no such process */
    assert_int_equal(ask(w, "die 1 0 -1").done, 1);
    assert_int_equal(pass(w, w->s.back_ms - 1).running, 2);
    assert_int_equal(pass(w, 1).running, 3);
    assert_int_equal(pass(w, 1000 * 1000).running, 3); /* that one stays dead */
}

static void an_agent_without_a_session_drops_nothing(void **state)
{
    assert_int_equal(ask(*state, "drop all").done, 0);
    assert_int_equal(ask(*state, "drop 3").done, 0);
    assert_string_equal(ask(*state, "drop 3").error, "");
}

static void only_connected_agents_report_changes(void **state)
{
    struct world *w = *state;

    assert_int_equal(ask(w, "rate 1000").done, 2);
    assert_int_equal(pass(w, 500).deaths, 0);
    assert_int_equal(ask(w, "rate 0").done, 2);
}

static void an_unknown_command_is_refused(void **state)
{
    static const struct {
        const char *line, *error;
    } cases[] = {
        { "dance", "no such command" },
        { "", "no such command" },
        { "di 1 1", "no such command" },
        { "die", "die AGENT PROC" },
        { "die 1", "die AGENT PROC" },
        { "die one 1", "die AGENT PROC" },
        { "die 1 -1", "die AGENT PROC" },
        { "die 1 1 soon", "die AGENT PROC" },
        { "die 1 1 5 5", "die AGENT PROC" },
        { "drop", "drop AGENT" },
        { "drop every", "drop AGENT" },
        { "drop 1x", "drop AGENT" },
        { "rate", "rate N" },
        { "rate -1", "rate N" },
        { "rate 1000001", "rate N" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct fleet_answer answer = ask(*state, cases[i].line);

        if (!strstr(answer.error, cases[i].error) || answer.done)
            fail_msg("'%s': %s", cases[i].line, answer.error);
    }
}

static void without_a_token_no_agent_joins(void **state)
{
    struct world *w = *state;

    assert_int_equal(pass(w, 0).refused, 2);
    assert_non_null(strstr(fleet_crowd_error(w->crowd)->text, "no join token"));
    assert_non_null(strstr(fleet_crowd_error(w->crowd)->text, "agent sim-00003"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_process_has_its_share_of_the_agents, set_up, tear_down),
        cmocka_unit_test_setup_teardown(processes_die_and_come_back, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_agent_without_a_session_drops_nothing, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(only_connected_agents_report_changes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_unknown_command_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(without_a_token_no_agent_joins, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
