/* SPDX-License-Identifier: MIT */
/* Tests for agent/supervise/core_pong.c: what an agent says of itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "agent/supervise/core.h"
#include "base/mem/arena.h"
#include "link/message.h"

static struct {
    struct message_pong pong;
    int n;
    struct buf text;
} told;

static void on_send(void *arg, unsigned type, const struct shape *s, const void *message)
{
    (void)arg;
    assert_int_equal(type, MESSAGE_PONG);
    assert_ptr_equal(s, message_shape(MESSAGE_PONG));
    told.pong = *(const struct message_pong *)message;
    told.n++;
    buf_truncate(&told.text, 0);
    shape_write(s, message, &told.text);
}

static uint64_t on_journal(void *arg, unsigned type, const struct shape *s, const void *record,
                           bool durable)
{
    (void)arg;
    (void)type;
    (void)s;
    (void)record;
    (void)durable;
    return 1;
}

static void on_figures(void *arg, struct message_agent_stats *to)
{
    (void)arg;
    to->rss_bytes = 4 << 20;
    to->cpu_ms = 120;
    to->journal_bytes = 9000;
}

static void ping(const struct core_effects *effects)
{
    const struct message_ping m = { .server_ms = 77 };
    struct core *c = core_new(effects, NULL, 1000, 5000);

    memset(&told.pong, 0, sizeof(told.pong));
    told.n = 0;
    core_start(c, true, 1000, 5000);
    core_on_message(c, MESSAGE_PING, &m, 1234);
    core_free(c);
}

static void a_ping_is_answered_with_figures(void **state)
{
    static const struct core_effects effects = { .journal = on_journal,
                                                 .send = on_send,
                                                 .agent_stats = on_figures };

    (void)state;
    ping(&effects);
    assert_int_equal(told.n, 1);
    assert_int_equal(told.pong.server_ms, 77);
    assert_int_equal(told.pong.agent_ms, 1234);
    assert_int_equal(told.pong.agent_stats.rss_bytes, 4 << 20);
    assert_int_equal(told.pong.agent_stats.journal_bytes, 9000);
    assert_string_equal(buf_text(&told.text),
                        "{\"server_ms\":77,\"agent_ms\":1234,\"figures\":{\"rss_bytes\":4194304,"
                        "\"cpu_ms\":120,\"journal_bytes\":9000}}");
}

/* In a simulated host there is nothing to say; and an older server reads what it knows. */
static void without_them_it_is_answered_too(void **state)
{
    static const struct core_effects effects = { .journal = on_journal, .send = on_send };
    struct message_ping old;
    struct arena a = { 0 };
    struct err err;

    (void)state;
    ping(&effects);
    assert_int_equal(told.n, 1);
    assert_int_equal(told.pong.agent_stats.rss_bytes, 0);
    assert_int_equal(
        shape_read(&message_ping_shape, buf_text(&told.text), told.text.len, 0, &a, &old, &err), 0);
    assert_int_equal(old.server_ms, 77);
    arena_free(&a);
}

/* An older agent says none. */
static void a_pong_without_figures_is_read(void **state)
{
    static const char text[] = "{\"server_ms\":1,\"agent_ms\":2}";
    struct message_pong m;
    struct arena a = { 0 };
    struct err err;

    (void)state;
    assert_int_equal(shape_read(&message_pong_shape, text, strlen(text), 0, &a, &m, &err), 0);
    assert_int_equal(m.agent_ms, 2);
    assert_int_equal(m.agent_stats.rss_bytes, 0);
    arena_free(&a);
}

static int end(void **state)
{
    (void)state;
    buf_free(&told.text);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ping_is_answered_with_figures),
        cmocka_unit_test(without_them_it_is_answered_too),
        cmocka_unit_test(a_pong_without_figures_is_read),
    };

    return cmocka_run_group_tests_name("core_pong", tests, NULL, end);
}
