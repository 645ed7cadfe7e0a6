/* SPDX-License-Identifier: MIT */
/* test_agent_files.c - a whole agent hears of every change of a configmap's file. */
#include <sys/stat.h>

#include "tests/lib/whole_agent.h"

#define ABC       "900150983cd24fb0d6963f7d28e17f72"
#define MINUTE_MS (60 * 1000)

static char drift[1600], path[128];
static int64_t skipped_ms; /* time that we did not wait for */
static struct proc_config_file files[1];

static int64_t skipping_mono_ms(const struct clock *c)
{
    (void)c;
    return clock_mono_ms(&clock_system) + skipped_ms;
}

static int64_t real_wall_ms(const struct clock *c)
{
    (void)c;
    return clock_wall_ms(&clock_system);
}

static const struct clock skipping = { skipping_mono_ms, real_wall_ms };

static void on_send(void *arg, unsigned type, const struct shape *s, const void *message)
{
    const struct message_processes *p = message;

    (void)arg;
    (void)s;
    for (size_t i = 0; type == MESSAGE_PROCESSES && i < p->list.n; i++)
        snprintf(drift, sizeof(drift), "%s",
                 ((const struct proc_view *)p->list.items)[i].cause.drift);
}

static void start_agent(const char *without)
{
    const struct agent_options o = {
        .dir = whole.data, .output_max_bytes = 1 << 20, .send = on_send, .without = without
    };
    struct err err = { 0 };

    if (whole_try(&skipping, &o, &err))
        fail_msg("%s", err.text);
}

static void host(void)
{
    struct proc_spec spec = whole_spec("p", "./victim");

    files[0] = (struct proc_config_file){ path, ABC };
    spec.config_files = (struct list){ files, 1 };
    spec.policy.kind = PROC_RUN_ONCE; /* so that nothing is started */
    spec.policy.has_kind = PRESENCE_GIVEN;
    whole_command(PROC_OP_HOST, "p", &spec);
}

/* "": as it should be. */
static bool is_told(const char *text)
{
    return *text ? strstr(drift, text) != NULL : !*drift;
}

#define WAIT_FOR(text) TURN_UNTIL(is_told(text))

static void change_it_in_every_way(void)
{
    WAIT_FOR("md5 d41d8cd98f00b204e9800998ecf8427e, expected " ABC);
    world_write(path, "abc");
    WAIT_FOR("");
    assert_int_equal(unlink(path), 0);
    WAIT_FOR("is not there");
    assert_int_equal(mkdir(path, 0700), 0);
    WAIT_FOR("is a folder");
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    WAIT_FOR("is not a regular file");
    world_write(world_text("%s.new", path), "abc");
    assert_int_equal(rename(world_text("%s.new", path), path), 0);
    WAIT_FOR("");
}

static void every_change_is_heard_of(void **state)
{
    (void)state;
    world_write(path, "");
    start_agent("");
    host();
    change_it_in_every_way();
}

static void a_folder_may_come_and_go(void **state)
{
    (void)state;
    snprintf(path, sizeof(path), "%s/etc/x", whole.dir);
    start_agent("");
    host();
    WAIT_FOR("is not there");
    assert_int_equal(mkdir(world_text("%s/etc", whole.dir), 0755), 0);
    world_write(path, "abc");
    skipped_ms += MINUTE_MS; /* its change is not reported */
    WAIT_FOR("");
    world_write(path, "");
    WAIT_FOR("md5 d41d8");
    assert_int_equal(rename(world_text("%s/etc", whole.dir), world_text("%s/old", whole.dir)), 0);
    WAIT_FOR("is not there");
    assert_int_equal(rename(world_text("%s/old", whole.dir), world_text("%s/etc", whole.dir)), 0);
    skipped_ms += MINUTE_MS;
    WAIT_FOR("md5 d41d8");
}

static void a_link_is_looked_at_once_a_minute(void **state)
{
    (void)state;
    world_write(world_text("%s/real", whole.dir), "abc");
    assert_int_equal(mkdir(world_text("%s/etc", whole.dir), 0755), 0);
    snprintf(path, sizeof(path), "%s/etc/x", whole.dir);
    assert_int_equal(symlink("../real", path), 0);
    start_agent("");
    host();
    world_write(world_text("%s/etc/y", whole.dir), ""); /* another one, of no interest */
    for (int i = 0; i < 20; i++)
        whole_turn();
    WAIT_FOR("");
    world_write(world_text("%s/real", whole.dir), "other");
    skipped_ms += MINUTE_MS;
    WAIT_FOR("expected " ABC);
}

static void without_inotify_it_is_looked_at_once_a_minute(void **state)
{
    (void)state;
    world_write(path, "");
    start_agent("inotify");
    host();
    WAIT_FOR("md5 d41d8");
    world_write(path, "abc");
    skipped_ms += MINUTE_MS;
    WAIT_FOR("");
}

static void what_is_not_wanted_any_more_is_forgotten(void **state)
{
    struct proc_spec spec = whole_spec("p", "./victim");

    (void)state;
    world_write(path, "");
    start_agent("");
    host();
    WAIT_FOR("md5 d41d8");
    spec.policy.kind = PROC_RUN_ONCE;
    spec.policy.has_kind = PRESENCE_GIVEN;
    whole_command(PROC_OP_HOST, "p", &spec);
    WAIT_FOR("");
    world_write(path, "other");
    for (int i = 0; i < 30; i++)
        whole_turn();
    assert_string_equal(drift, "");
}

static int set_up(void **state)
{
    (void)state;
    whole_set_up();
    snprintf(path, sizeof(path), "%s/x", whole.dir);
    snprintf(drift, sizeof(drift), "nothing was told");
    skipped_ms = 0;
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, whole_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_change_is_heard_of),
        TEST(a_folder_may_come_and_go),
        TEST(a_link_is_looked_at_once_a_minute),
        TEST(without_inotify_it_is_looked_at_once_a_minute),
        TEST(what_is_not_wanted_any_more_is_forgotten),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
