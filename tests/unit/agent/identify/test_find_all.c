/* SPDX-License-Identifier: MIT */
/* Where several processes are expected: all that fit, and the eldest of them. */
#include "agent/identify/find.h"
#include "tests/lib/agent_world.h"
#include "tests/lib/readable.h"

static struct find_want want(struct world *w)
{
    return (struct find_want){
        .pid_path = "", .proc_name = "victim", .setup_path = w->dir, .user = w->root
    };
}

static bool is_it(void *arg, const struct ident *id)
{
    return id->pid == *(const int64_t *)arg;
}

static void all_that_fit_are_found_but_others_are_not(void **state)
{
    struct world *w = *state;
    struct find_want f = want(w);
    struct spawn_result r[3];
    struct ident *all;
    struct err err;
    size_t n, seen = 0;

    for (size_t i = 0; i < ARRAY_LEN(r); i++) {
        r[i] = world_start(w, w->root, "./victim");
        WAIT_UNTIL(strstr(world_read(w->out), world_text("%lld", (long long)r[i].id.pid)));
    }
    assert_int_equal(find_all(&f, w->boot_id, &all, &n, &err), 0);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < ARRAY_LEN(r); j++)
            seen += all[i].pid == r[j].id.pid && all[i].start_ticks == r[j].id.start_ticks;
    }
    assert_int_equal(n, ARRAY_LEN(r));
    assert_int_equal(seen, ARRAY_LEN(r));
    free(all);
    f.is_others = is_it;
    f.arg = &r[1].id.pid;
    assert_int_equal(find_all(&f, w->boot_id, &all, &n, &err), 0);
    assert_int_equal(n, ARRAY_LEN(r) - 1);
    free(all);
    f.setup_path = "/there/is/no/such/folder";
    assert_int_equal(find_all(&f, w->boot_id, &all, &n, &err), 0);
    assert_int_equal(n, 0);
    free(all);
}

static void of_several_the_eldest_is_meant_where_several_are_expected(void **state)
{
    struct world *w = *state;
    struct find_want f = want(w);
    struct spawn_result r[2];
    struct find_result got;
    struct err err;

    for (size_t i = 0; i < ARRAY_LEN(r); i++) {
        r[i] = world_start(w, w->root, "./victim");
        WAIT_UNTIL(strstr(world_read(w->out), world_text("%lld", (long long)r[i].id.pid)));
    }
    assert_int_equal(find_process(&f, w->boot_id, &got, &err), 0);
    assert_int_equal(got.kind, FIND_UNSURE); /* which of them? */
    f.is_of_many = true;
    assert_int_equal(find_process(&f, w->boot_id, &got, &err), 0);
    assert_int_equal(got.kind, FIND_FOUND);
    assert_int_equal(got.id.start_ticks, r[0].id.start_ticks);
    sys_close(got.pidfd);
}

static void a_command_is_its_only_topmost_match(void **state)
{
    static const struct {
        const char *command;
        enum find_kind kind;
        const char *exe; /* of what is found */
    } cases[] = {
        { "./victim", FIND_FOUND, "victim" },
        { "./victim --children 3", FIND_FOUND, "victim" },
        { "./victim | cat; true", FIND_FOUND, "victim" }, /* as `java | tee` */
        { "sh -c 'sh -c \"./victim --children 2; true\"; true'; true", FIND_FOUND, "victim" },
        { "sleep 60 & ./victim & wait", FIND_FOUND, "victim" },
        { "./victim & ./victim & wait", FIND_MISMATCH, NULL },
        { "sh -c './victim & wait' & ./victim & wait", FIND_MISMATCH, NULL },
        { "sleep 60; true", FIND_MISMATCH, NULL },
    };
    struct world *w = *state;
    const struct find_want f = want(w);

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct spawn_result r = world_start(w, w->root, cases[i].command);
        struct find_result got = { .pidfd = -1 };
        char exe[PROCFS_PATH_SIZE] = "", name[PROCFS_NAME_SIZE];
        struct err err = { 0 };
        bool is_as_said = false;

        for (int tries = 0; tries < 2000 && !is_as_said; tries++) {
            poll(NULL, 0, 1);
            assert_int_equal(find_by_command(&f, r.id.pid, w->boot_id, &got, &err), 0);
            is_as_said =
                got.kind == cases[i].kind &&
                (got.kind == FIND_FOUND || i == 7 ||
                 strstr(english(got.text), "several processes of the command fit victim ("));
            if (got.kind == FIND_FOUND && is_as_said)
                assert_int_equal(procfs_exe((pid_t)got.id.pid, exe, &err), 0);
            sys_close(got.pidfd);
        }
        if (!is_as_said)
            fail_msg("%s: %d, %s", cases[i].command, got.kind, got.text);
        procfs_base_name(exe, name);
        if (cases[i].exe)
            assert_string_equal(name, cases[i].exe);
    }
}

static void a_folder_as_pid_path_is_as_none(void **state)
{
    struct world *w = *state;
    struct find_want f = want(w);
    struct spawn_result r[2];
    struct find_result got;
    char folder[128];
    struct err err;

    snprintf(folder, sizeof(folder), "%s/run", w->dir);
    assert_int_equal(mkdir(folder, 0755), 0);
    f.pid_path = folder;
    for (size_t i = 0; i < ARRAY_LEN(r); i++) {
        poll(NULL, 0, 20); /* a clock tick: they are told apart by it */
        r[i] = world_start(w, w->root, "./victim");
        WAIT_UNTIL(strstr(world_read(w->out), world_text("%lld", (long long)r[i].id.pid)));
        assert_int_equal(find_process(&f, w->boot_id, &got, &err), 0);
        assert_int_equal(got.kind, i == 0 ? FIND_FOUND : FIND_UNSURE); /* not FIND_MISMATCH */
        sys_close(got.pidfd);
    }
    f.start.id = r[1].id; /* of several the one that we started, as without a pid path */
    assert_int_equal(find_process(&f, w->boot_id, &got, &err), 0);
    assert_int_equal(got.kind, FIND_FOUND);
    assert_int_equal(got.id.pid, r[1].id.pid);
    sys_close(got.pidfd);
}

/* nginx that got SIGUSR2 has a child that is to take its place. */
static void what_descends_from_a_process_follows_it(void **state)
{
    struct world *w = *state;
    const struct find_want f = want(w);
    struct spawn_result first = world_start(w, w->root, "./victim & echo $! >child; wait"),
                        other = world_start(w, w->root, "./victim");
    const char *file = world_text("%s/child", w->dir);
    struct ident child;
    struct err err;
    int fd;

    WAIT_UNTIL(strchr(world_read(file), '\n') != NULL);
    assert_int_equal(ident_of(strtoll(world_read(file), NULL, 10), w->boot_id, &child, &fd, &err),
                     0);
    close(fd);
    assert_true(find_follows(&f, &first.id, &child));
    assert_false(find_follows(&f, &other.id, &child));
    assert_false(find_follows(&f, &first.id, &other.id));
}

/* Whatever call fails: an error, or fewer are found; never more, and nothing is left open. */
static void every_call_that_fails_is_an_error_or_hides_one(void **state)
{
    struct world *w = *state;
    struct find_want f = want(w);
    struct spawn_result r = world_start(w, w->root, "./victim");
    int failed = 0;

    WAIT_UNTIL(strstr(world_read(w->out), world_text("%lld", (long long)r.id.pid)));
    for (long nth = 1; nth < 100000; nth++) {
        struct ident *all;
        struct err err;
        size_t n;

        sys_fault("any", nth, EMFILE);
        if (find_all(&f, w->boot_id, &all, &n, &err)) {
            failed++;
        } else {
            assert_true(n <= 1);
            free(all);
        }
        if (!sys_fault_hit())
            break;
    }
    sys_fault("any", 0, 0);
    assert_true(failed > 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(all_that_fit_are_found_but_others_are_not),
        TEST(of_several_the_eldest_is_meant_where_several_are_expected),
        TEST(a_command_is_its_only_topmost_match),
        TEST(a_folder_as_pid_path_is_as_none),
        TEST(what_descends_from_a_process_follows_it),
        TEST(every_call_that_fails_is_an_error_or_hides_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
