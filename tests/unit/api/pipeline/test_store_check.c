/* SPDX-License-Identifier: MIT */
/* Promises of api/pipeline/store_check.h, by GET /v1/status. */
#include "tests/lib/bad_disk.h"
#include "tests/unit/api/fake_server.h"
#include "tests/unit/api/world.h"

struct check_world {
    struct world w;
    struct fleet *fleet;
    struct tasks tasks;
};

static int setup(void **state)
{
    struct check_world *v = xalloc(sizeof(*v));

    v->fleet = xalloc(sizeof(*v->fleet));
    world_init(&v->w);
    world_open(&v->w, v->fleet, &v->tasks);
    *state = v;
    return 0;
}

static int teardown(void **state)
{
    struct check_world *v = *state;

    atomic_store(&disk_hangs, 0);
    world_close_doors(&v->w);
    api_stop(v->w.api);
    free(v->fleet); /* a closing store still completes its calls */
    world_done(&v->w);
    free(v);
    return 0;
}

static int64_t commits(struct check_world *v)
{
    return store_counters(v->w.store.store)->commits;
}

static int64_t on_their_way(struct check_world *v)
{
    return store_counters(v->w.store.store)->on_their_way;
}

static void must_say(struct check_world *v, const char *text)
{
    if (v->w.status != 200 || !strstr(v->w.body, text))
        fail_msg("%s", v->w.body);
}

#define LATE                                                                                       \
    "\"wrong\":[{\"kind\":\"store\",\"text\":\"the store does not answer: a write has waited for "

static void a_store_that_hangs_is_told_of(void **state)
{
    struct check_world *v = *state;

    atomic_store(&disk_hangs, 1);
    world_admin(&v->w, "GET", "/v1/status", NULL); /* a turn is a millisecond */
    must_say(v, LATE "2 s\"}]");
    rig_pass_ms(&v->w.rig, 60 * 1000);
    world_admin(&v->w, "GET", "/v1/status", NULL);
    must_say(v, LATE "62 s\"}]");
    assert_int_equal(on_their_way(v), 1);
    atomic_store(&disk_hangs, 0);
    TURN_UNTIL(&v->w.rig, on_their_way(v) == 0);
    world_admin(&v->w, "GET", "/v1/status", NULL);
    must_say(v, "\"wrong\":[]");
}

static void a_check_serves_all_that_ask_within_a_second(void **state)
{
    struct check_world *v = *state;
    int64_t before;

    world_admin(&v->w, "GET", "/v1/status", NULL); /* so that earlier commits are counted */
    rig_pass_ms(&v->w.rig, 1000);
    before = commits(v);
    for (int i = 0; i < 3; i++) {
        world_admin(&v->w, "GET", "/v1/status", NULL);
        must_say(v, "\"wrong\":[]");
    }
    assert_int_equal(commits(v), before + 1);
    rig_pass_ms(&v->w.rig, 1000);
    world_admin(&v->w, "GET", "/v1/status", NULL);
    assert_int_equal(commits(v), before + 2);
}

/* The request has arrived and is unanswered. */
static int begin(struct check_world *v)
{
    struct buf out = { 0 };
    int fd = world_connect(&v->w, 1);

    world_head(&out, "GET", "/v1/status", "\r\n");
    world_send(&v->w, fd, &out);
    buf_free(&out);
    return fd;
}

static void callers_during_a_check_wait_for_it(void **state)
{
    struct check_world *v = *state;
    int64_t before;
    int fds[3];

    world_admin(&v->w, "GET", "/v1/status", NULL);
    rig_pass_ms(&v->w.rig, 1000);
    before = commits(v);
    atomic_store(&disk_hangs, 1);
    for (size_t i = 0; i < ARRAY_LEN(fds); i++)
        fds[i] = begin(v);
    TURN_UNTIL(&v->w.rig, on_their_way(v) == 1);
    close(fds[0]); /* its client does not wait */
    rig_turns(&v->w.rig, 20);
    assert_int_equal(on_their_way(v), 1);
    atomic_store(&disk_hangs, 0);
    for (size_t i = 1; i < ARRAY_LEN(fds); i++) {
        buf_truncate(&v->w.got, 0);
        TURN_UNTIL(&v->w.rig, world_take(&v->w, fds[i]));
        assert_non_null(strstr(buf_text(&v->w.got), "\"wrong\":[]"));
        close(fds[i]);
    }
    assert_int_equal(commits(v), before + 1);
}

static void waiting_callers_are_freed_at_the_stop(void **state)
{
    struct check_world *v = *state;

    atomic_store(&disk_hangs, 1);
    close(begin(v));
    TURN_UNTIL(&v->w.rig, on_their_way(v) == 1);
}

#define CHECK_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_TEST(a_store_that_hangs_is_told_of),
        CHECK_TEST(a_check_serves_all_that_ask_within_a_second),
        CHECK_TEST(callers_during_a_check_wait_for_it),
        CHECK_TEST(waiting_callers_are_freed_at_the_stop),
    };

    return cmocka_run_group_tests_name("store_check", tests, NULL, NULL);
}
