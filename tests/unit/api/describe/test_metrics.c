/* SPDX-License-Identifier: MIT */
/* Promises of /metrics: api/pipeline/metrics.c, api/describe/metrics_*.c and
 * api/pipeline/call_counts.c. */
#include "api/pipeline/metrics.h"

#include "tests/unit/api/server_world.h"

#include "api/pipeline/api_state.h"
#include "api/pipeline/dialect.h"
#include "api/pipeline/routes.h"
#include "base/mem/hist.h"
#include "link/conn.h"
#include "model/event.h"
#include "model/operation.h"
#include "model/task.h"
#include "server/dispatch/task_counts.h"
#include "server/events/events.h"

#define SCRAPER                                                                                    \
    "Authorization: Basic cHJvbTphLXNlY3JldC1vZi1kZW1v\r\n" /* prom:a-secret-of-demo               \
                                                             */
#define DEMO_BASIC "Authorization: Basic ZGVtbzphLXNlY3JldC1vZi1kZW1v\r\n"

static int setup(void **state)
{
    struct server_world *v;

    server_world_setup(state);
    v = *state;
    world_put_app(&v->w, "prom", "{\"rights\":[\"metrics\"]}");
    metrics_watch(v->w.api, &(struct metrics_parts){ .http = v->w.servers[0] });
    return 0;
}

#define METRICS_TEST(f) cmocka_unit_test_setup_teardown(f, setup, server_world_teardown)

/* The number after a name with labels, as written; -1: absent. */
static double number_of(struct server_world *v, const char *sample)
{
    size_t n = strlen(sample);

    world_ask(&v->w, "GET", "/metrics", SCRAPER, NULL);
    assert_int_equal(v->w.status, 200);
    for (const char *line = v->w.body; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (!strncmp(line, sample, n) && line[n] == ' ')
            return strtod(line + n + 1, NULL);
    }
    return -1;
}

static void expect(struct server_world *v, const char *sample, double number)
{
    double is = number_of(v, sample);

    if (is != number)
        fail_msg("%s is %g, not %g:\n%s", sample, is, number, v->w.body);
}

/* ---- the table */

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);

    return n >= m && !strcmp(text + n - m, end);
}

static void every_row_says_all_it_must(void **state)
{
    (void)state;
    for (const struct metric *m = metrics; m->name; m++) {
        if (strncmp(m->name, "holdfast_", 9) != 0 && strncmp(m->name, "process_", 8) != 0)
            fail_msg("%s: whose is it?", m->name);
        if (strspn(m->name, "abcdefghijklmnopqrstuvwxyz_") != strlen(m->name))
            fail_msg("%s: small letters", m->name);
        if (ends_with(m->name, "_total") != (m->type == METRIC_COUNTER))
            fail_msg("%s: what counts ends with _total, and nothing else does", m->name);
        if (m->type == METRIC_HISTOGRAM && !ends_with(m->name, "_seconds"))
            fail_msg("%s: a duration is in seconds", m->name);
        if (!m->help || !ends_with(m->help, ".") || strpbrk(m->help, "|\n"))
            fail_msg("%s: needs a sentence, one that may stand in a table", m->name);
        for (const struct metric *before = metrics; before < m; before++) {
            if (!strcmp(before->name, m->name))
                fail_msg("%s: twice", m->name);
        }
    }
}

/* Numbers counted by the index of another table have room for all its rows. */
static void there_is_room_for_all_that_is_counted(void **state)
{
    size_t n = 0;

    (void)state;
    for (unsigned type = CONN_TYPES; type < 256; type++)
        assert_null(message_name(type));
    while (event_kinds[n].name)
        n++;
    assert_true(n < EVENT_KINDS_MAX - 1);
    for (n = 0; code_table[n].name; n++)
        assert_true(n < TASK_CODES);
    for (const struct enum_name *e = operation_names; e->name; e++)
        assert_in_range(e->value, 0, TASK_OPS - 1);
}

static unsigned dialects_of(const struct route *r)
{
    unsigned bits = 0;

    for (const struct place *p = route_places; p->root; p++)
        bits |= p->served & r->served ? 1U << p->dialect : 0;
    return bits;
}

/* Otherwise two series had the same name, and Prometheus would reject the page. */
static void no_two_routes_are_counted_under_one_name(void **state)
{
    (void)state;
    for (const struct route *r = routes; r->path; r++) {
        for (const struct route *before = routes; before < r; before++) {
            if (!strcmp(before->path, r->path) && before->methods == r->methods &&
                (dialects_of(before) & dialects_of(r)))
                fail_msg("%s", r->path);
        }
    }
}

static void texts_are_escaped(void **state)
{
    struct buf out = { 0 };

    (void)state;
    metrics_escape("a\\b\"c\nd", true, &out);
    assert_string_equal(buf_text(&out), "a\\\\b\\\"c\\nd");
    buf_truncate(&out, 0);
    metrics_escape("a\\b\"c\nd", false, &out);
    assert_string_equal(buf_text(&out), "a\\\\b\"c\\nd");
    buf_free(&out);
}

/* ---- permission */

static void metrics_require_the_right_metrics(void **state)
{
    struct server_world *v = *state;

    world_ask(&v->w, "GET", "/metrics", "", NULL);
    assert_int_equal(v->w.status, 401);
    assert_non_null(strstr(buf_text(&v->w.got), "WWW-Authenticate: Basic"));
    world_ask(&v->w, "GET", "/metrics", DEMO_BASIC, NULL);
    assert_int_equal(v->w.status, 403);
    assert_non_null(strstr(v->w.body, "it takes the right metrics"));
    world_ask(&v->w, "GET", "/metrics", SCRAPER, NULL);
    assert_int_equal(v->w.status, 200);
    assert_non_null(
        strstr(buf_text(&v->w.got), "Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"));
    world_ask(&v->w, "GET", "/v1/hosts", SCRAPER, NULL);
    assert_int_equal(v->w.status, 403); /* the right allows nothing else */
    world_admin(&v->w, "GET", "/metrics", NULL);
    assert_int_equal(v->w.status, 200);
    world_ask(&v->w, "POST", "/metrics", SCRAPER, "");
    assert_int_equal(v->w.status, 405);
    world_ask(&v->w, "GET", "/metrics/more", SCRAPER, NULL);
    assert_int_equal(v->w.status, 404);
}

/* ---- counters */

#define CALLS(route, method, outcome)                                                              \
    "holdfast_api_requests_total{dialect=\"v1\",route=\"" route "\",method=\"" method              \
    "\",outcome=\"" outcome "\"}"

static void calls_are_counted_by_what_came_of_them(void **state)
{
    struct server_world *v = *state;

    for (int i = 0; i < 3; i++)
        server_world_get(v, "/v1/hosts");
    server_world_ask(v, "GET", "/v1/hosts?limit=x", DEMO_AUTH, NULL, 400);
    server_world_ask(v, "GET", "/v1/hosts", "", NULL, 401);
    server_world_ask(v, "PUT", "/v1/hosts", DEMO_AUTH, "{}", 403);
    server_world_ask(v, "GET", "/v1/nothing", DEMO_AUTH, NULL, 404);
    expect(v, CALLS("/v1/hosts", "GET", "ok"), 3);
    expect(v, CALLS("/v1/hosts", "GET", "failed"), 1);
    expect(v, CALLS("/v1/hosts", "GET", "refused"), 1);
    expect(v, CALLS("/v1/hosts", "PUT", "refused"), 1);
    expect(v, CALLS("none", "any", "refused"), 1);
    expect(v, CALLS("/v1/hosts", "GET", "error"), -1);
    expect(v, CALLS("/metrics", "GET", "ok"), 6); /* without this request */
    expect(v, "holdfast_api_request_duration_seconds_count{dialect=\"v1\"}", 7 + 7);
    expect(v, "holdfast_api_request_duration_seconds_count{dialect=\"job\"}", 0);
}

static void a_client_that_goes_is_counted_too(void **state)
{
    struct server_world *v = *state;
    struct buf out = { 0 };
    int fd = world_connect(&v->w, 0);

    world_head(&out, "POST", "/v1/operations", DEMO_AUTH);
    buf_puts(&out, "Content-Length: 100\r\n\r\n{");
    world_send(&v->w, fd, &out);
    rig_turns(&v->w.rig, 5);
    close(fd);
    buf_free(&out);
    TURN_UNTIL(&v->w.rig, http_server_counters(v->w.servers[0])->connections == 0);
    expect(v, CALLS("/v1/operations", "POST", "gone"), 1);
}

/* One target on an existing host, and one on none, which is finished with the answer. */
static void operations_are_counted_when_they_end(void **state)
{
    static const char body[] = "{\"operation\":\"query\",\"namespace\":\"gse\",\"name\":\"p\","
                               "\"hosts\":[\"a1\",\"nobody\"]}";
    struct server_world *v = *state;
    struct message_result r = { .code = CODE_NOT_RUNNING, .text = "no" };

    server_world_post(v, "/v1/operations", body);
    expect(v, "holdfast_tasks_accepted_total", 1);
    expect(v, "holdfast_tasks_open", 1);
    expect(v, "holdfast_targets_open", 1);
    expect(v, "holdfast_operation_results_total{operation=\"query\",code=\"117\"}", 1);
    assert_int_equal(v->n_sent, 1);
    v->w.rig.clock.wall += 1500;
    shape_defaults(&proc_view_shape, &r.view);
    r.task = v->sent[0].task;
    r.item = v->sent[0].item;
    tasks_on_message(v->tasks, "a1", v->epoch, MESSAGE_RESULT, &r);
    TURN_UNTIL(&v->w.rig, tasks_open(v->tasks) == 0);
    expect(v, "holdfast_operation_results_total{operation=\"query\",code=\"829\"}", 1);
    expect(v, "holdfast_targets_open", 0);
    expect(v, "holdfast_tasks_in_memory", 1);
    expect(v, "holdfast_operation_duration_seconds_count{operation=\"query\"}", 2);
    expect(v, "holdfast_operation_duration_seconds_sum{operation=\"query\"}", 1.5);
    expect(v, "holdfast_operation_duration_seconds_bucket{operation=\"query\",le=\"0.000025\"}", 1);
    expect(v, "holdfast_operation_duration_seconds_bucket{operation=\"query\",le=\"1\"}", 1);
    expect(v, "holdfast_operation_duration_seconds_bucket{operation=\"query\",le=\"2.5\"}", 2);
    expect(v, "holdfast_operation_duration_seconds_bucket{operation=\"query\",le=\"+Inf\"}", 2);
}

static void parts_that_are_there_are_told(void **state)
{
    struct server_world *v = *state;

    expect(v, "holdfast_build_info{version=\"1.2.3\"}", 1);
    expect(v, "process_start_time_seconds", WALL_MS);
    expect(v, "holdfast_agents_known", 3);
    expect(v, "holdfast_processes_known", 3);
    assert_true(number_of(v, "process_cpu_seconds_total") > 0);
    assert_true(number_of(v, "holdfast_store_calls_total{mode=\"read\"}") >= 1); /* the app */
    assert_true(number_of(v, "holdfast_http_requests_total") >= 6);
    expect(v, "holdfast_http_refused_total{reason=\"bad_head\"}", 0);
    expect(v, "holdfast_link_connections", -1); /* there is no link */
}

static void the_page_has_every_row(void **state)
{
    struct buf out = { 0 };

    (void)state;
    metrics_page_write(&out);
    for (const struct metric *m = metrics; m->name; m++) {
        if (!strstr(buf_text(&out), m->name))
            fail_msg("%s", m->name);
    }
    buf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_says_all_it_must),
        cmocka_unit_test(there_is_room_for_all_that_is_counted),
        cmocka_unit_test(no_two_routes_are_counted_under_one_name),
        cmocka_unit_test(texts_are_escaped),
        cmocka_unit_test(the_page_has_every_row),
        METRICS_TEST(metrics_require_the_right_metrics),
        METRICS_TEST(calls_are_counted_by_what_came_of_them),
        METRICS_TEST(a_client_that_goes_is_counted_too),
        METRICS_TEST(operations_are_counted_when_they_end),
        METRICS_TEST(parts_that_are_there_are_told),
    };

    return cmocka_run_group_tests_name("metrics", tests, NULL, NULL);
}
