/* SPDX-License-Identifier: MIT */
/* Promises of server/events/events.h, with its file: a real store, a real file. */
#include "tests/lib/events_rig.h"

#include <fcntl.h>
#include <sys/stat.h>

/* ---- the way of an event ---- */

static void an_event_is_stored_then_written_told_and_acknowledged(void **state)
{
    struct world *w = *state;
    struct event_page_got got;

    world_say(w, "a1", 5, 0);
    assert_int_equal(w->stored.len, 0);
    assert_int_equal(world_lines(w->path, "up again"), 0);
    TURN_UNTIL(&w->rig, w->stored.len);
    assert_string_equal(buf_text(&w->stored), "a1:5 ");
    assert_string_equal(buf_text(&w->told), "1 a1 process_restart_success\n");
    assert_int_equal(world_lines(w->path, "up again"), 1);
    got = world_rows(w);
    assert_int_equal(got.rows.n, 1);
    assert_int_equal(ROW(event_row, got.rows, 0)->agent_event, 5);
    assert_int_equal(ROW(event_row, got.rows, 0)->wall_ms, 1005);
    assert_int_equal(ROW(event_row, got.rows, 0)->taken_ms, w->rig.clock.wall);
    assert_int_equal(ROW(event_row, got.rows, 0)->biz_id, 2);
    assert_int_equal(events_last(w->events), 1);
}

/* Those that come while a batch is at the store go together, in order. */
static void many_go_in_few_transactions(void **state)
{
    struct world *w = *state;
    int64_t commits = store_counters(w->db.store)->commits;
    struct event_page_got got;

    for (int64_t i = 1; i <= 1500; i++) {
        world_say(w, "a1", 10 + i, i == 1 ? 0 : 9 + i);
        world_say(w, "a2", 20 + i, i == 1 ? 0 : 19 + i);
    }
    TURN_UNTIL(&w->rig, w->n_told == 3000);
    assert_in_range(store_counters(w->db.store)->commits - commits, 1, 12);
    got = world_rows(w);
    assert_int_equal(got.rows.n, 3000);
    for (size_t i = 0; i < got.rows.n; i++) {
        assert_int_equal(ROW(event_row, got.rows, i)->seq, i + 1);
        assert_int_equal(ROW(event_row, got.rows, i)->agent_event, (i % 2 ? 21 : 11) + i / 2);
    }
    assert_non_null(strstr(buf_text(&w->stored), "a1:1510 "));
    assert_non_null(strstr(buf_text(&w->stored), "a2:1520 "));
    assert_int_equal(world_lines(w->path, "\n"), 3000);
}

static void say_restart(struct world *w, int64_t id)
{
    const struct message_event m = { .id = id,
                                     .after = id - 1,
                                     .name = "process_restart_success",
                                     .text = "up again",
                                     .space = "gse",
                                     .proc = "web",
                                     .proc_name = "httpd",
                                     .wall_ms = 1000 };
    size_t before = w->n_told;

    events_on_message(w->events, fleet_find(w->fleet, "a1"), "a1", &m);
    TURN_UNTIL(&w->rig, w->n_told == before + 1);
}

static void a_process_that_restarts_again_and_again_has_few_lines(void **state)
{
    struct world *w = *state;

    for (int64_t i = 1; i <= 14; i++)
        say_restart(w, i);
    assert_int_equal(world_lines(w->path, "\n"), 10);
    w->rig.clock.wall += 60 * 1000;
    say_restart(w, 15);
    assert_int_equal(world_lines(w->path, "\n"), 11);
    assert_int_equal(world_lines(w->path, "up again (5 times since the line before)"), 1);
    assert_int_equal(world_rows(w).rows.n, 15); /* all are stored */
}

static void an_event_is_taken_once_and_in_its_turn(void **state)
{
    struct world *w = *state;

    world_say(w, "a1", 5, 0);
    world_say(w, "a1", 5, 0); /* while it is on its way */
    world_say(w, "a1", 7, 6); /* early */
    TURN_UNTIL(&w->rig, w->stored.len);
    assert_string_equal(buf_text(&w->stored), "a1:5 ");
    world_say(w, "a1", 5, 0); /* it did not hear that we have it */
    assert_string_equal(buf_text(&w->stored), "a1:5 a1:5 ");
    world_say(w, "a1", 3, 0); /* it counts anew, and hears where to go on */
    assert_string_equal(buf_text(&w->stored), "a1:5 a1:5 a1:5 ");
    TURN_UNTIL(&w->rig, world_is_idle(w));
    assert_int_equal(world_lines(w->path, "\n"), 1);
}

static void of_a_host_that_is_not_known_it_is_only_logged(void **state)
{
    struct world *w = *state;

    world_say(w, "gone", 5, 0);
    assert_string_equal(buf_text(&w->stored), "gone:5 "); /* it need not be sent again */
    TURN_UNTIL(&w->rig, world_is_idle(w));
    assert_int_equal(world_lines(w->path, "\n"), 0);
    assert_int_equal(world_lines(w->log_path, "an event of a host that is not known"), 1);
    events_forget_gone(w->events);
}

/* ---- a store that fails ---- */

static void what_can_not_be_stored_waits_and_is_not_acknowledged(void **state)
{
    struct world *w = *state;

    atomic_store(&disk_fails, 1);
    world_say(w, "a1", 5, 0);
    world_say(w, "a2", 9, 0);
    TURN_UNTIL(&w->rig, world_lines(w->log_path, "events can not be stored") == 1);
    world_say(w, "a1", 6, 5);
    rig_turns(&w->rig, 20);
    assert_int_equal(w->stored.len + w->n_told, 0);
    assert_int_equal(world_lines(w->path, "\n"), 0);
    w->rig.clock.wall += 12 * 1000;
    atomic_store(&disk_fails, 0);
    PASS_UNTIL(&w->rig, w->n_told == 4); /* without the agent sending them again */
    assert_string_equal(buf_text(&w->told), "1 a1 process_restart_success\n"
                                            "2 a2 process_restart_success\n"
                                            "3 a1 process_restart_success\n"
                                            "4  server_store_failed\n");
    assert_int_equal(world_lines(w->path, "\n"), 3); /* BlueKing has no word for the last */
    assert_int_equal(world_lines(w->log_path, "events are stored again"), 1);
}

static void what_waits_is_bounded(void **state)
{
    enum { LARGE = 16000 };
    struct world *w = *state;
    char *text = xalloc(LARGE + 1);
    struct message_event m = {
        .name = "x", .space = "", .proc = "", .proc_name = "", .text = text
    };
    int64_t id;

    w->settings.host_burst = 1000000;
    world_close(w);
    world_open(w);
    memset(text, 'x', LARGE);
    atomic_store(&disk_fails, 1);
    for (id = 1; id <= 4000; id++) {
        m.id = id;
        m.after = id - 1;
        events_on_message(w->events, fleet_find(w->fleet, "a1"), "a1", &m);
    }
    events_tell(w->events, fleet_find(w->fleet, "a2"), EVENT_LOST, "that is not said again");
    atomic_store(&disk_fails, 0);
    PASS_UNTIL(&w->rig, w->n_told > 2000 && world_is_idle(w));
    assert_in_range(w->n_told, 2000, 2200); /* 32 MiB; the agent keeps the others */
    assert_non_null(strstr(buf_text(&w->told), " a2 agent_lost\n"));
    free(text);
}

/* ---- the file ---- */

static void a_file_that_can_not_be_written_catches_up(void **state)
{
    struct world *w = *state;

    sys_fault("write", 1, ENOSPC);
    world_say(w, "a1", 5, 0);
    TURN_UNTIL(&w->rig, w->stored.len); /* it is kept: that is enough to say so */
    sys_fault("any", 0, 0);
    assert_int_equal(world_lines(w->path, "\n"), 0);
    assert_int_equal(world_lines(w->log_path, "they wait in the store"), 1);
    world_say(w, "a1", 6, 5);
    world_say(w, "a2", 7, 0);
    PASS_UNTIL(&w->rig, world_lines(w->path, "\n") == 3);
    assert_int_equal(world_lines(w->log_path, "written to their file again"), 1);
    TURN_UNTIL(&w->rig, world_is_idle(w));
    world_say(w, "a1", 8, 6);
    TURN_UNTIL(&w->rig, world_lines(w->path, "\n") == 4);
    assert_int_equal(world_lines(w->path, "\"timestamp\":1005"), 1);
    assert_int_equal(world_lines(w->path, "\"timestamp\":1008"), 1);
}

/* The disk was full for so long that the store has forgotten the first of them. */
static void what_is_forgotten_before_it_is_written_is_said(void **state)
{
    struct world *w = *state;
    struct event_prune_got gone;

    world_close(w);
    assert_int_equal(unlink(w->path), 0);
    assert_int_equal(symlink("/dev/full", w->path), 0);
    world_open(w);
    for (int64_t i = 1; i <= 5; i++)
        world_say(w, "a1", i, i - 1);
    TURN_UNTIL(&w->rig, w->n_told == 5);
    store_rig_do(&w->db, &store_event_prune, &(struct event_prune_ask){ 100, 0, 2 }, &gone);
    assert_int_equal(unlink(w->path), 0);
    assert_int_equal(events_reopen(w->events, &w->err), 0);
    TURN_UNTIL(&w->rig, world_lines(w->path, "\n") == 2);
    assert_int_equal(world_lines(w->log_path, "were forgotten before"), 1);
    assert_int_equal(world_lines(w->log_path, "\"number\":3"), 1);
}

/* The store has them, the file does not: as after a crash between the two. */
static void what_was_stored_before_a_crash_is_written_after_it(void **state)
{
    struct world *w = *state;
    struct event_put_got got;
    struct event_row row = { .agent_id = "a1",
                             .ip = "10.0.0.1",
                             .name = "process_restart_failed",
                             .message = "no",
                             .space = "gse",
                             .proc = "web",
                             .proc_name = "httpd",
                             .agent_event = 6 };
    const struct event_put_ask ask = { .rows = { &row, 1 } };

    world_say(w, "a1", 5, 0);
    TURN_UNTIL(&w->rig, w->stored.len);
    world_close(w);
    store_rig_do(&w->db, &store_event_put, &ask, &got);
    world_open(w);
    TURN_UNTIL(&w->rig, world_lines(w->path, "\n") == 2);
    assert_int_equal(world_lines(w->path, "process_restart_failed"), 1);
    buf_truncate(&w->stored, 0);
    world_say(w, "a1", 6, 0); /* the agent does not know of it */
    assert_string_equal(buf_text(&w->stored), "a1:6 ");
    TURN_UNTIL(&w->rig, world_is_idle(w));
    assert_int_equal(world_rows(w).rows.n, 2);
    assert_int_equal(world_lines(w->path, "\n"), 2);
}

/* The mark is stored a moment after the line: a crash between the two doubles it. */
static void a_line_may_stand_there_twice_and_none_is_missing(void **state)
{
    struct world *w = *state;

    world_say(w, "a1", 5, 0);
    TURN_UNTIL(&w->rig, w->stored.len);
    world_close(w);
    store_rig_do(&w->db, &store_event_mark, &(struct event_mark_row){ "file:main", 0 }, NULL);
    world_open(w);
    TURN_UNTIL(&w->rig, world_lines(w->path, "\n") == 2);
    TURN_UNTIL(&w->rig, world_is_idle(w));
    assert_int_equal(world_lines(w->path, "\n"), 2);
}

static void an_orderly_end_writes_nothing_twice(void **state)
{
    struct world *w = *state;

    for (int64_t i = 1; i < 5; i++) {
        world_say(w, "a1", i, i - 1); /* and it ends before that is stored */
        world_close(w);
        world_open(w);
    }
    rig_turns(&w->rig, 10);
    TURN_UNTIL(&w->rig, world_is_idle(w));
    assert_int_equal(world_lines(w->path, "\n"), 4);
}

static void a_new_file_begins_with_what_happens_now(void **state)
{
    struct world *w = *state;

    world_say(w, "a1", 5, 0);
    TURN_UNTIL(&w->rig, w->stored.len);
    world_close(w);
    w->settings.file = "";
    world_open(w);
    world_say(w, "a1", 6, 5);
    TURN_UNTIL(&w->rig, w->n_told == 2);
    assert_int_equal(events_reopen(w->events, &w->err), 0);
    TURN_UNTIL(&w->rig, world_is_idle(w));
    world_close(w);
    w->settings.file = w->path;
    world_open(w);
    world_say(w, "a1", 7, 6);
    TURN_UNTIL(&w->rig, w->n_told == 3);
    TURN_UNTIL(&w->rig, world_is_idle(w));
    assert_int_equal(world_lines(w->path, "\n"), 2); /* the first and the last */
    assert_int_equal(folder_mode(w->path) & 0007, 0);
}

static void a_file_that_was_moved_is_opened_again(void **state)
{
    struct world *w = *state;
    char moved[64];

    snprintf(moved, sizeof(moved), "%s/events.1", w->folder.path);
    assert_int_equal(rename(w->path, moved), 0);
    sys_fault("open", 1, EMFILE);
    assert_int_equal(events_reopen(w->events, &w->err), -1);
    assert_non_null(strstr(w->err.text, w->path));
    world_say(w, "a1", 1, 0); /* the old one stays */
    TURN_UNTIL(&w->rig, world_lines(moved, "\n") == 1);
    assert_int_equal(events_reopen(w->events, &w->err), 0);
    world_say(w, "a1", 2, 1);
    TURN_UNTIL(&w->rig, world_lines(w->path, "\n") == 1);
    assert_int_equal(world_lines(moved, "\n"), 1);
}

static void a_file_that_cannot_be_opened_is_said(void **state)
{
    struct world *w = *state;
    struct events *e;
    char path[64];
    const struct events_settings o = { .file = path, .node = "main" };

    snprintf(path, sizeof(path), "%s/no/such", w->folder.path);
    assert_int_equal(events_new(w->rig.loop, w->log, w->db.store, &o, &e, &w->err), -1);
    assert_int_equal(w->err.sys, ENOENT);
    assert_non_null(strstr(w->err.text, path));
}

/* A pipe that is full but for a few bytes takes a part of a line. */
static void a_line_that_was_cut_short_stays_alone(void **state)
{
    struct world *w = *state;
    char pipe_path[64], bytes[65536];
    struct message_event large = {
        .id = 1, .name = "x", .space = "", .proc = "", .proc_name = "", .text = bytes
    };
    ssize_t n;
    int fd;

    snprintf(pipe_path, sizeof(pipe_path), "%s/pipe", w->folder.path);
    assert_int_equal(mkfifo(pipe_path, 0600), 0);
    fd = open(pipe_path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    assert_int_equal(fcntl(fd, F_SETPIPE_SZ, 4096), 4096);
    world_close(w);
    w->settings.file = pipe_path;
    world_open(w);
    memset(bytes, 'x', 5000); /* more than the pipe has room for */
    bytes[5000] = '\0';
    events_on_message(w->events, fleet_find(w->fleet, "a1"), "a1", &large);
    TURN_UNTIL(&w->rig, world_lines(w->log_path, "room for a part only") == 1);
    n = read(fd, bytes, sizeof(bytes));
    assert_true(n > 0 && bytes[n - 1] != '\n');
    assert_int_equal(fcntl(fd, F_SETPIPE_SZ, 65536), 65536);
    PASS_UNTIL(&w->rig, (n = read(fd, bytes, sizeof(bytes))) > 0);
    assert_true(bytes[0] == '\n' && bytes[1] == '{' && bytes[n - 1] == '\n');
    world_say(w, "a2", 3, 0);
    TURN_UNTIL(&w->rig, (n = read(fd, bytes, sizeof(bytes))) > 0);
    assert_true(bytes[0] == '{' && bytes[n - 1] == '\n');
    close(fd);
}

/* The writer was killed: opening the file finds that it ends inside a line. */
static void a_file_that_ends_inside_a_line_goes_on_behind_it(void **state)
{
    struct world *w = *state;

    for (int64_t i = 1; i < 3; i++) {
        char *text;

        world_close(w);
        folder_put(w->path, 0640, "{\"half", 6);
        world_open(w);
        if (i == 2)
            assert_int_equal(events_reopen(w->events, &w->err), 0);
        world_say(w, "a1", i, i - 1);
        TURN_UNTIL(&w->rig, world_lines(w->path, "\n") == 2);
        text = folder_text(w->path);
        assert_int_equal(strncmp(text, "{\"half\n{\"data_id\"", 17), 0);
        free(text);
        assert_int_equal(events_reopen(w->events, &w->err), 0);
    }
}

/* No date, no sum that overflows. */
static void an_agent_does_not_name_events_as_it_likes(void **state)
{
    static const struct {
        const char *told, *stored;
    } cases[] = { { "process_unhealthy", "process_unhealthy" },
                  { "agent_proc_file_edited", "agent_proc_file_edited" },
                  { "<script>alert(1)</script>", "agent_unknown_event" },
                  { "process_restart_success2", "agent_unknown_event" },
                  { "agent_lost", "agent_unknown_event" }, /* the server's to tell */
                  { "server_store_failed", "agent_unknown_event" },
                  { "agent_clone", "agent_unknown_event" } };
    struct world *w = *state;
    struct event_page_got got;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct message_event m = { .id = (int64_t)i + 1,
                                         .after = (int64_t)i,
                                         .name = cases[i].told,
                                         .text = "",
                                         .space = "",
                                         .proc = "",
                                         .proc_name = "" };

        events_on_message(w->events, fleet_find(w->fleet, "a1"), "a1", &m);
    }
    TURN_UNTIL(&w->rig, w->n_told == ARRAY_LEN(cases));
    got = world_rows(w);
    assert_int_equal(got.rows.n, ARRAY_LEN(cases));
    for (size_t i = 0; i < got.rows.n; i++)
        assert_string_equal(ROW(event_row, got.rows, i)->name, cases[i].stored);
}

static void a_time_that_can_not_be_is_the_servers(void **state)
{
    static const int64_t times[] = { INT64_MIN, -1, 0, INT64_MAX, INT64_C(253402300800000) };
    struct world *w = *state;
    struct event_page_got got;

    for (size_t i = 0; i < ARRAY_LEN(times); i++) {
        const struct message_event m = { .id = (int64_t)i + 1,
                                         .after = (int64_t)i,
                                         .name = "agent_lost",
                                         .text = "",
                                         .space = "",
                                         .proc = "",
                                         .proc_name = "",
                                         .wall_ms = times[i] };

        events_on_message(w->events, fleet_find(w->fleet, "a1"), "a1", &m);
    }
    TURN_UNTIL(&w->rig, w->n_told == ARRAY_LEN(times));
    got = world_rows(w);
    for (size_t i = 0; i < got.rows.n; i++)
        assert_int_equal(ROW(event_row, got.rows, i)->wall_ms,
                         ROW(event_row, got.rows, i)->taken_ms);
}

/* ---- too many ---- */

static void events_of_a_flooding_host_are_dropped_and_reported(void **state)
{
    struct world *w = *state;

    w->settings.host_burst = 10;
    world_close(w);
    world_open(w);
    for (int64_t i = 1; i <= 100; i++)
        world_say(w, "a1", i, i - 1);
    world_say(w, "a2", 1, 0);
    TURN_UNTIL(&w->rig, w->n_told == 11);
    TURN_UNTIL(&w->rig, strstr(buf_text(&w->stored), "a1:100 ")); /* it need not say them again */
    rig_pass_ms(&w->rig, 60 * 1000);
    rig_pass_ms(&w->rig, 10 * 1000);
    TURN_UNTIL(&w->rig, w->n_told == 12);
    assert_non_null(strstr(buf_text(&w->told), "12 a1 agent_events_left_out\n"));
    assert_int_equal(world_lines(w->path, "90 events of this host were left out"), 1);
    assert_int_equal(world_lines(w->path, "\"target\":\"10.0.0.1|0\""), 11);
    world_say(w, "a1", 101, 100);
    TURN_UNTIL(&w->rig, w->n_told == 13);
}

static void how_many_were_left_out_is_said_at_the_end_too(void **state)
{
    struct world *w = *state;

    w->settings.host_burst = 1;
    world_close(w);
    world_open(w);
    world_say(w, "a1", 1, 0);
    world_say(w, "a1", 2, 1);
    world_close(w);
    assert_int_equal(world_lines(w->path, "1 events of this host were left out"), 1);
    world_open(w);
}

static void a_clone_that_tries_again_and_again_is_told_of_now_and_then(void **state)
{
    struct world *w = *state;
    const struct fleet_host *h = fleet_find(w->fleet, "a1");

    for (int i = 0; i < 30; i++) {
        events_tell(w->events, h, EVENT_CLONE, "two of them");
        rig_pass_ms(&w->rig, 30 * 1000);
    }
    TURN_UNTIL(&w->rig, w->n_told == 2);
    assert_int_equal(world_lines(w->path, "two of them (and 19 times more before)"), 1);
}

/* ---- forgetting ---- */

static int64_t oldest_a_second_later(struct world *w)
{
    const struct event_page_ask ask = {
        .below = INT64_MAX, .agent_id = "", .space = "", .proc = "", .name = "", .limit = 1
    };
    struct event_page_got got;

    rig_pass_ms(&w->rig, 1000);
    store_rig_do(&w->db, &store_event_page, &ask, &got);
    return got.oldest;
}

static void the_oldest_are_forgotten_by_number_and_by_age(void **state)
{
    struct world *w = *state;

    w->settings.rows_max = 1000;
    w->settings.days = 1;
    w->settings.host_burst = 10000;
    world_close(w);
    world_open(w);
    for (int64_t i = 1; i <= 2700; i++)
        world_say(w, "a1", i, i - 1);
    TURN_UNTIL(&w->rig, w->n_told == 2700);
    TURN_UNTIL(&w->rig, oldest_a_second_later(w) == 1701); /* 500 at a time */
    w->rig.clock.wall += INT64_C(25) * 3600 * 1000;
    TURN_UNTIL(&w->rig, oldest_a_second_later(w) == 2701);
    assert_int_equal(world_rows(w).rows.n, 0);
    world_say(w, "a1", 2701, 2700);
    TURN_UNTIL(&w->rig, w->n_told == 2701);
    assert_int_equal(events_last(w->events), 2701);
}

static void every_event_of_ours_has_a_name_for_people(void **state)
{
    (void)state;
    for (size_t i = 0; i < EVENT_OWNS; i++)
        assert_non_null(event_kind_find(event_own_names[i]));
    assert_null(event_kind_find("no such thing"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        EVENTS_TEST(an_event_is_stored_then_written_told_and_acknowledged),
        EVENTS_TEST(many_go_in_few_transactions),
        EVENTS_TEST(a_process_that_restarts_again_and_again_has_few_lines),
        EVENTS_TEST(an_event_is_taken_once_and_in_its_turn),
        EVENTS_TEST(of_a_host_that_is_not_known_it_is_only_logged),
        EVENTS_TEST(what_can_not_be_stored_waits_and_is_not_acknowledged),
        EVENTS_TEST(what_waits_is_bounded),
        EVENTS_TEST(a_file_that_can_not_be_written_catches_up),
        EVENTS_TEST(what_is_forgotten_before_it_is_written_is_said),
        EVENTS_TEST(what_was_stored_before_a_crash_is_written_after_it),
        EVENTS_TEST(a_line_may_stand_there_twice_and_none_is_missing),
        EVENTS_TEST(an_orderly_end_writes_nothing_twice),
        EVENTS_TEST(a_new_file_begins_with_what_happens_now),
        EVENTS_TEST(a_file_that_was_moved_is_opened_again),
        EVENTS_TEST(a_file_that_cannot_be_opened_is_said),
        EVENTS_TEST(a_line_that_was_cut_short_stays_alone),
        EVENTS_TEST(a_file_that_ends_inside_a_line_goes_on_behind_it),
        EVENTS_TEST(a_time_that_can_not_be_is_the_servers),
        EVENTS_TEST(an_agent_does_not_name_events_as_it_likes),
        EVENTS_TEST(events_of_a_flooding_host_are_dropped_and_reported),
        EVENTS_TEST(how_many_were_left_out_is_said_at_the_end_too),
        EVENTS_TEST(a_clone_that_tries_again_and_again_is_told_of_now_and_then),
        EVENTS_TEST(the_oldest_are_forgotten_by_number_and_by_age),
        cmocka_unit_test(every_event_of_ours_has_a_name_for_people),
    };

    return cmocka_run_group_tests_name("server/events", tests, NULL, NULL);
}
