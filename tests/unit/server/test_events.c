/* SPDX-License-Identifier: MIT */
#include "server/events.h"

#include <errno.h>
#include <jansson.h>

#include "base/mem.h"
#include "base/sys.h"
#include "tests/lib/folder.h"

struct world {
    struct folder folder;
    struct clock_fake clock;
    struct log *log;
    struct events *events;
    char path[64], log_path[64];
    struct err err;
};

static const struct fleet_host host = { .agent_id = "", .ip = "127.0.0.1" };
static const struct message_event restarted = {
    .id = 1,
    .name = "process_restart_success",
    .text = "check bkmonitorbeat not running, and restart it success",
    .space = "nodeman",
    .proc = "bkmonitorbeat",
    .proc_name = "bkmonitorbeat",
    .wall_ms = 1618382611690,
};

static int setup(void **state)
{
    struct world *w = xalloc(sizeof(*w));

    folder_init(&w->folder);
    clock_fake_init(&w->clock, 0, 0);
    snprintf(w->path, sizeof(w->path), "%s/events", w->folder.path);
    snprintf(w->log_path, sizeof(w->log_path), "%s/log", w->folder.path);
    if (log_new(w->log_path, LOG_DEBUG, &w->clock.clock, &w->log, &w->err) ||
        events_new(w->path, w->log, &w->events, &w->err))
        fail_msg("%s", w->err.text);
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;

    sys_fault("any", 0, 0);
    events_free(w->events);
    log_free(w->log);
    folder_done(&w->folder);
    free(w);
    return 0;
}

static json_t *written(const struct fleet_host *h, const struct message_event *e)
{
    struct buf line = { 0 };
    json_t *json;

    events_write(h, e, &line);
    assert_null(memchr(buf_data(&line), '\n', line.len));
    json = json_loadb(buf_data(&line), line.len, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(json);
    buf_free(&line);
    return json;
}

/* A member of the only event of a line. */
static const json_t *part(const json_t *line, const char *name)
{
    const json_t *data = json_object_get(line, "data");

    assert_int_equal(json_array_size(data), 1);
    return json_object_get(json_array_get(data, 0), name);
}

static int lines_of(const char *path, const char *text)
{
    char *all = folder_text(path);
    int n = 0;

    for (const char *p = all; (p = strstr(p, text)); p++)
        n++;
    free(all);
    return n;
}

/* ---- the format ---- */

static void an_event_looks_as_the_contract_has_it(void **state)
{
    static const char example[] =
        "{\"data_id\": 1100008, \"data\": [{"
        "  \"event_name\": \"process_restart_success\","
        "  \"event\": {\"content\": \"check bkmonitorbeat not running, and restart it success\"},"
        "  \"target\": \"127.0.0.1|0\", \"timestamp\": 1618382611690,"
        "  \"dimension\": {\"bk_target_cloud_id\": \"0\", \"bk_target_ip\": \"127.0.0.1\","
        "                \"process_group_id\": \"nodeman\","
        "                \"process_index\": \"nodeman:bkmonitorbeat\","
        "                \"process_name\": \"bkmonitorbeat\"}}]}";
    json_t *wanted = json_loads(example, 0, NULL), *line = written(&host, &restarted);

    (void)state;
    assert_non_null(wanted);
    assert_true(json_equal(wanted, line));
    json_decref(wanted);
    json_decref(line);
}

static void a_report_id_is_the_data_id(void **state)
{
    static const struct {
        int64_t report_id, data_id;
    } cases[] = { { 0, 1100008 }, { -1, 1100008 }, { 1, 1 }, { 1500001, 1500001 } };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct message_event e = restarted;
        json_t *line;

        e.report_id = cases[i].report_id;
        line = written(&host, &e);
        assert_int_equal(json_integer_value(json_object_get(line, "data_id")), cases[i].data_id);
        json_decref(line);
    }
}

static void a_host_is_named_by_all_its_names(void **state)
{
    const struct fleet_host other = { .agent_id = "hf-1", .ip = "::1", .cloud_id = 7 };
    json_t *line = written(&other, &restarted);
    const json_t *d = part(line, "dimension");

    (void)state;
    assert_string_equal(json_string_value(part(line, "target")), "::1|7");
    assert_string_equal(json_string_value(json_object_get(d, "bk_target_cloud_id")), "7");
    assert_string_equal(json_string_value(json_object_get(d, "bk_agent_id")), "hf-1");
    json_decref(line);
}

static void an_event_of_the_host_itself_names_no_process(void **state)
{
    const struct message_event e = {
        .name = "agent_clone", .text = "a\n\"b\"", .space = "", .proc = "", .proc_name = ""
    };
    json_t *line = written(&host, &e);
    const json_t *d = part(line, "dimension");

    (void)state;
    assert_int_equal(json_object_size(d), 2);
    assert_string_equal(json_string_value(json_object_get(part(line, "event"), "content")),
                        "a\n\"b\"");
    json_decref(line);
}

/* ---- the file ---- */

static void each_event_is_a_line(void **state)
{
    struct world *w = *state;
    struct events *again;

    events_put(w->events, &host, &restarted);
    events_put(w->events, &host, &restarted);
    assert_int_equal(lines_of(w->path, "\n"), 2);
    assert_int_equal(events_new(w->path, w->log, &again, &w->err), 0);
    events_put(again, &host, &restarted); /* behind what is there */
    events_free(again);
    assert_int_equal(lines_of(w->path, "}]}\n"), 3);
    assert_int_equal(folder_mode(w->path) & 0007, 0);
}

static void without_a_path_or_a_host_nothing_is_written(void **state)
{
    struct world *w = *state;
    struct events *nowhere;

    assert_int_equal(events_new("", w->log, &nowhere, &w->err), 0);
    assert_true(events_put(nowhere, &host, &restarted)); /* nobody need say it again */
    assert_int_equal(events_reopen(nowhere, &w->err), 0);
    events_free(nowhere);
    assert_int_equal(lines_of(w->log_path, "\n"), 0);
    assert_true(events_put(w->events, NULL, &restarted));
    assert_int_equal(lines_of(w->path, "\n"), 0);
    assert_int_equal(lines_of(w->log_path, "restart it success"), 1);
    events_free(NULL);
}

static void a_file_that_was_moved_is_opened_again(void **state)
{
    struct world *w = *state;
    char moved[64];

    snprintf(moved, sizeof(moved), "%s/events.1", w->folder.path);
    events_put(w->events, &host, &restarted);
    assert_int_equal(rename(w->path, moved), 0);
    sys_fault("open", 1, EMFILE);
    assert_int_equal(events_reopen(w->events, &w->err), -1);
    assert_non_null(strstr(w->err.text, w->path));
    events_put(w->events, &host, &restarted); /* the old one stays */
    assert_int_equal(lines_of(moved, "\n"), 2);
    assert_int_equal(events_reopen(w->events, &w->err), 0);
    events_put(w->events, &host, &restarted);
    assert_int_equal(lines_of(moved, "\n"), 2);
    assert_int_equal(lines_of(w->path, "\n"), 1);
}

static void a_file_that_cannot_be_opened_is_said(void **state)
{
    struct world *w = *state;
    struct events *e;
    char path[64];

    snprintf(path, sizeof(path), "%s/no/such", w->folder.path);
    assert_int_equal(events_new(path, w->log, &e, &w->err), -1);
    assert_int_equal(w->err.sys, ENOENT);
    assert_non_null(strstr(w->err.text, path));
}

static void what_can_not_be_written_is_counted_and_said_now_and_then(void **state)
{
    struct world *w = *state;

    for (int i = 0; i < 10; i++) {
        sys_fault("write", 1, ENOSPC); /* the log's own comes after it */
        assert_false(events_put(w->events, &host, &restarted));
        assert_true(sys_fault_hit());
    }
    sys_fault("any", 0, 0);
    assert_int_equal(lines_of(w->log_path, "an event can not be written"), 4); /* 1, 2, 4, 8 */
    assert_int_equal(lines_of(w->log_path, w->path), 4);
    assert_true(events_put(w->events, &host, &restarted));
    assert_int_equal(lines_of(w->log_path, "events are written again"), 1);
    assert_int_equal(lines_of(w->log_path, "\"failed\":10"), 1);
    assert_int_equal(lines_of(w->path, "\n"), 1);
}

/* A pipe that is full but for a few bytes takes a part of a line. */
static void a_line_that_was_cut_short_stays_alone(void **state)
{
    struct world *w = *state;
    struct events *e;
    char pipe_path[64], bytes[65536];
    ssize_t n;
    int fd;

    snprintf(pipe_path, sizeof(pipe_path), "%s/pipe", w->folder.path);
    assert_int_equal(mkfifo(pipe_path, 0600), 0);
    fd = open(pipe_path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    assert_int_equal(fcntl(fd, F_SETPIPE_SZ, 4096), 4096);
    assert_int_equal(events_new(pipe_path, w->log, &e, &w->err), 0);
    for (int i = 0; i < 100 && lines_of(w->log_path, "an event can not be written") == 0; i++) {
        struct message_event large = restarted;

        memset(bytes, 'x', 5000); /* more than the pipe has room for */
        bytes[5000] = '\0';
        large.text = bytes;
        events_put(e, &host, &large);
    }
    assert_int_equal(lines_of(w->log_path, "room for a part only"), 1);
    n = read(fd, bytes, sizeof(bytes));
    assert_true(n > 0 && bytes[n - 1] != '\n');
    events_put(e, &host, &restarted);
    n = read(fd, bytes, sizeof(bytes));
    assert_true(n > 1 && bytes[0] == '\n' && bytes[1] == '{' && bytes[n - 1] == '\n');
    events_put(e, &host, &restarted);
    n = read(fd, bytes, sizeof(bytes));
    assert_true(n > 0 && bytes[0] == '{');
    events_free(e);
    close(fd);
}

/* ---- their order ---- */

static void an_event_is_taken_once_and_in_its_turn(void **state)
{
    static const struct {
        int64_t last, id, after;
        enum events_place place;
    } cases[] = {
        { 0, 7, 0, EVENTS_NEXT },  /* nothing is known of the agent, */
        { 0, 7, 6, EVENTS_EARLY }, /* but it has more */
        { 7, 7, 0, EVENTS_KNOWN }, /* our answer did not reach it */
        { 7, 6, 5, EVENTS_KNOWN }, /* late */
        { 7, 8, 7, EVENTS_NEXT },
        { 7, 9, 8, EVENTS_EARLY }, /* 8 is lost, or could not be written */
        { 7, 90, 0, EVENTS_NEXT }, /* numbers may be left out */
        { 7, 90, 6, EVENTS_NEXT }, /* those before it are all known */
        { 7, 3, -1, EVENTS_NEXT }, /* an agent that waits for no answer says each once */
        { INT64_MAX, INT64_MAX, 0, EVENTS_KNOWN },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct message_event e = { .id = cases[i].id, .after = cases[i].after };

        if (events_place(cases[i].last, &e) != cases[i].place)
            fail_msg("case %zu: %d", i, (int)events_place(cases[i].last, &e));
    }
}

int main(void)
{
#define EVENTS_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        EVENTS_TEST(an_event_looks_as_the_contract_has_it),
        EVENTS_TEST(a_report_id_is_the_data_id),
        EVENTS_TEST(a_host_is_named_by_all_its_names),
        EVENTS_TEST(an_event_of_the_host_itself_names_no_process),
        EVENTS_TEST(each_event_is_a_line),
        EVENTS_TEST(without_a_path_or_a_host_nothing_is_written),
        EVENTS_TEST(a_file_that_was_moved_is_opened_again),
        EVENTS_TEST(a_file_that_cannot_be_opened_is_said),
        EVENTS_TEST(what_can_not_be_written_is_counted_and_said_now_and_then),
        EVENTS_TEST(a_line_that_was_cut_short_stays_alone),
        cmocka_unit_test(an_event_is_taken_once_and_in_its_turn),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
