/* SPDX-License-Identifier: MIT */
/* A server that is killed while it writes events to its file, at each line: what it has
 * acknowledged is stored; after the next start every event that is stored is in the file, none
 * more than twice; and an agent that says all of them again changes nothing. */
#include "tests/lib/events_rig.h"

#include <signal.h>
#include <sys/wait.h>

enum { AT_ONCE = 3, LINES = 10 };

/* ---- the child; it never ends by itself */

static void on_stored(void *arg, const char *agent_id, int64_t id)
{
    const int *pipe_fd = arg;

    (void)agent_id;
    if (write(*pipe_fd, &id, sizeof(id)) != sizeof(id))
        _exit(8);
}

static void run_child(struct world *w, int kill_at, int pipe_fd)
{
    int64_t id = 0;

    world_begin(w);
    events_set_stored(w->events, on_stored, &pipe_fd);
    sys_fault("write", kill_at, 0);
    for (;;) {
        for (int i = 0; i < AT_ONCE; i++, id++)
            world_say(w, "a1", id + 1, id);
        for (int i = 0; i < AT_ONCE; i++)
            rig_turn(&w->rig);
    }
}

/* The last that it acknowledged before it was killed. */
static int64_t run_until_killed(struct world *w, int kill_at)
{
    int64_t id, last = 0;
    int pipe_fds[2], status;
    pid_t child;

    assert_int_equal(pipe(pipe_fds), 0);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        close(pipe_fds[0]);
        run_child(w, kill_at, pipe_fds[1]);
    }
    close(pipe_fds[1]);
    while (read(pipe_fds[0], &id, sizeof(id)) == sizeof(id))
        last = id;
    close(pipe_fds[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    return last;
}

/* ---- afterwards */

static int lines_with(const struct world *w, int64_t id)
{
    char text[64];

    snprintf(text, sizeof(text), "\"timestamp\":%lld,", (long long)(1000 + id));
    return world_lines(w->path, text);
}

static void check_all(struct world *w, int64_t acknowledged)
{
    size_t n = world_rows(w).rows.n;

    assert_true((int64_t)n >= acknowledged);
    TURN_UNTIL(&w->rig, lines_with(w, (int64_t)n) > 0);
    TURN_UNTIL(&w->rig, world_is_idle(w));
    for (int64_t id = 1; id <= (int64_t)n; id++)
        assert_in_range(lines_with(w, id), 1, 2);
    for (int64_t id = 1; id <= (int64_t)n; id++)
        world_say(w, "a1", id, 0);
    TURN_UNTIL(&w->rig, world_is_idle(w));
    assert_int_equal(world_rows(w).rows.n, n);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(ROW(event_row, world_rows(w).rows, i)->agent_event, i + 1);
}

static void no_event_is_lost_whichever_line_the_server_dies_at(void **state)
{
    (void)state;
    for (int line = 1; line <= LINES; line++) {
        struct world *w = world_place();
        int64_t acknowledged = run_until_killed(w, line);

        world_begin(w);
        check_all(w, acknowledged);
        world_teardown((void **)&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_event_is_lost_whichever_line_the_server_dies_at),
    };

    return cmocka_run_group_tests_name("fault/event_kill", tests, NULL, NULL);
}
