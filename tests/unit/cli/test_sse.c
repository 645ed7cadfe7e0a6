/* SPDX-License-Identifier: MIT */
#include "cli/sse.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem/mem.h"

static struct buf got;
static int left; /* how many events to accept */

static bool on_event(void *arg, const char *name, const char *data)
{
    const struct sse *s = arg;

    buf_printf(&got, "%s|%s|%s\n", s->id, name, data);
    return --left > 0;
}

static void begin(struct sse *s)
{
    sse_init(s, on_event, s);
    buf_truncate(&got, 0);
    left = 1000;
}

static const char text[] = "retry: 2000\nid: 4\n\n"
                           ":\n\n"
                           "id: 5\ndata: {\"a\":1}\n\n"
                           "event: gap\nid: 9\ndata: one\ndata: two\n\n"
                           "data:bare\nunknown: x\nnothing\n\n"
                           "id: 12\n\n"
                           "data: crlf\r\n\r\n";
static const char wanted[] = "5||{\"a\":1}\n9|gap|one\ntwo\n9||bare\n12||crlf\n";

static void events_are_read_however_they_are_cut(void **state)
{
    struct sse s;

    (void)state;
    for (size_t step = 1; step <= sizeof(text); step++) {
        begin(&s);
        for (size_t at = 0; at < sizeof(text) - 1; at += step) {
            size_t n = sizeof(text) - 1 - at;

            assert_true(sse_read(&s, text + at, n < step ? n : step));
        }
        assert_string_equal(buf_text(&got), wanted);
        assert_string_equal(s.id, "12");
        sse_done(&s);
    }
}

static void an_id_counts_when_its_event_is_whole(void **state)
{
    struct sse s;

    (void)state;
    begin(&s);
    assert_true(sse_read(&s, "id: 5\n\nid: 6\ndata: x\n", 21));
    assert_string_equal(s.id, "5");
    sse_again(&s); /* the connection broke: the incomplete event is sent again */
    assert_true(sse_read(&s, "data: y\n\n", 9));
    assert_string_equal(buf_text(&got), "5||y\n");
    sse_done(&s);
}

static void the_reader_may_end_it(void **state)
{
    struct sse s;

    (void)state;
    begin(&s);
    left = 2;
    assert_false(sse_read(&s, text, sizeof(text) - 1));
    assert_string_equal(buf_text(&got), "5||{\"a\":1}\n9|gap|one\ntwo\n");
    sse_done(&s);
}

static void what_has_no_end_is_ended(void **state)
{
    enum { STEP = 4096 };
    char line[STEP];
    struct sse s;
    size_t n = 0;

    (void)state;
    begin(&s);
    memset(line, 'x', sizeof(line));
    while (n < 2 * SSE_EVENT_MAX && sse_read(&s, line, sizeof(line)))
        n += sizeof(line);
    assert_in_range(n, SSE_EVENT_MAX - STEP, SSE_EVENT_MAX);
    sse_done(&s);
    begin(&s);
    memcpy(line, "data: ", 6);
    line[STEP - 1] = '\n';
    for (n = 0; n < 2 * SSE_EVENT_MAX && sse_read(&s, line, sizeof(line));)
        n += sizeof(line);
    assert_in_range(n, SSE_EVENT_MAX - STEP, SSE_EVENT_MAX + 2 * STEP);
    sse_done(&s);
    buf_free(&got);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_are_read_however_they_are_cut),
        cmocka_unit_test(an_id_counts_when_its_event_is_whole),
        cmocka_unit_test(the_reader_may_end_it),
        cmocka_unit_test(what_has_no_end_is_ended),
    };

    return cmocka_run_group_tests_name("cli/sse", tests, NULL, NULL);
}
