/* SPDX-License-Identifier: MIT */
#include "agent/identify/orphans.h"

#include <sys/prctl.h>

#include "agent/identify/program.h"
#include "tests/lib/agent_world.h"
#include "tests/lib/readable.h"

struct rig {
    struct world *w;
    struct orphans_want want;
    struct ident other; /* of another spec */
    struct arena arena;
    const char *names;
};

static bool is_others(void *arg, const struct ident *id)
{
    const struct rig *r = arg;

    return ident_equal(&r->other, id);
}

static int set_up(void **state)
{
    struct rig *r = xalloc(sizeof(*r));

    prctl(PR_SET_CHILD_SUBREAPER, 1);
    r->w = world_new();
    r->want = (struct orphans_want){
        .boot_id = r->w->boot_id, .uid = r->w->root->uid, .is_others = is_others, .arg = r
    };
    *state = r;
    return 0;
}

static int tear_down(void **state)
{
    struct rig *r = *state;

    arena_free(&r->arena);
    world_free(r->w);
    prctl(PR_SET_CHILD_SUBREAPER, 0);
    free(r);
    return 0;
}

static int64_t pid_in(const struct rig *r, const char *file)
{
    const char *path = world_text("%s/%s", r->w->dir, file);

    WAIT_UNTIL(strchr(world_read(path), '\n') != NULL);
    return strtoll(world_read(path), NULL, 10);
}

/* A daemon: its parent has ended, and it leads a session of its own. */
static int64_t start_orphan(struct rig *r, const char *file)
{
    struct spawn_result s =
        world_start(r->w, r->w->root, world_text("./victim --daemonize --pid-file %s", file));

    WAIT_UNTIL(world_ended(s.pidfd));
    return pid_in(r, file);
}

static bool is_named(struct rig *r, int64_t pid)
{
    char text[32];
    struct err err;

    if (orphans_name(&r->want, &r->arena, &r->names, &err))
        fail_msg("%s", err.text);
    snprintf(text, sizeof(text), "victim (%lld)", (long long)pid);
    return strstr(r->names, text) != NULL;
}

static struct ident ident_of_pid(const struct rig *r, int64_t pid)
{
    struct ident id = { 0 };
    struct err err;
    int fd;

    assert_int_equal(ident_of(pid, r->w->boot_id, &id, &fd, &err), 0);
    close(fd);
    return id;
}

static void an_orphan_of_the_same_program_and_user_is_named(void **state)
{
    struct rig *r = *state;
    int64_t first = start_orphan(r, "first"), second = start_orphan(r, "second");

    r->want.program = program_of(first);
    assert_true(is_named(r, first));
    assert_true(is_named(r, second));
    world_kill(first);
    WAIT_UNTIL(!is_named(r, first)); /* also if it is not reaped */
    world_kill(second);
}

static void nobody_else_is(void **state)
{
    struct rig *r = *state;
    struct spawn_result parent =
        world_start(r->w, r->w->root, "./victim --children 1 --pid-file p");
    int64_t orphan = start_orphan(r, "orphan");

    pid_in(r, "p");
    r->want.program = program_of(orphan);
    assert_true(is_named(r, orphan));
    r->other = parent.id; /* whose child is no orphan */
    assert_true(is_named(r, orphan));
    assert_null(strchr(r->names, ','));
    r->want.uid++;
    assert_false(is_named(r, orphan));
    r->want.uid--;
    r->want.program++;
    assert_false(is_named(r, orphan));
    r->want.program = 0; /* unknown */
    assert_false(is_named(r, orphan));
    r->want.program = program_of(orphan);
    r->other = ident_of_pid(r, orphan);
    assert_false(is_named(r, orphan));
    world_kill(orphan);
}

static void of_many_ten_are_named_and_all_are_counted(void **state)
{
    struct rig *r = *state;
    int64_t pids[ORPHANS_NAMED_MAX + 2];

    for (size_t i = 0; i < ARRAY_LEN(pids); i++)
        pids[i] = start_orphan(r, world_text("o%zu", i));
    r->want.program = program_of(pids[0]);
    (void)is_named(r, pids[0]);
    assert_non_null(strstr(english(r->names), "and 2 more"));
    for (size_t i = 0; i < ARRAY_LEN(pids); i++)
        world_kill(pids[i]);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_orphan_of_the_same_program_and_user_is_named),
        TEST(nobody_else_is),
        TEST(of_many_ten_are_named_and_all_are_counted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
