/* SPDX-License-Identifier: MIT */
/* The messages that a service manager receives. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
/* cmocka.h needs the headers above. */
#include <cmocka.h>

#include "base/io/notify.h"
#include "base/os/sys.h"

static struct {
    char dir[64], path[96];
    int fd;
} manager;

static int start_manager(void **state)
{
    struct sockaddr_un at = { .sun_family = AF_UNIX };

    (void)state;
    snprintf(manager.dir, sizeof(manager.dir), "/tmp/holdfast-notify-XXXXXX");
    assert_non_null(mkdtemp(manager.dir));
    snprintf(manager.path, sizeof(manager.path), "%s/s", manager.dir);
    memcpy(at.sun_path, manager.path, strlen(manager.path));
    manager.fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
    assert_int_equal(bind(manager.fd, (struct sockaddr *)&at, sizeof(at)), 0);
    return 0;
}

static int end_manager(void **state)
{
    (void)state;
    close(manager.fd);
    unlink(manager.path);
    rmdir(manager.dir);
    return 0;
}

static void the_manager_gets_the_text(void **state)
{
    char got[64] = { 0 };
    struct err err;

    (void)state;
    assert_int_equal(notify(manager.path, "READY=1\nSTATUS=all is well", &err), 0);
    assert_int_equal(recv(manager.fd, got, sizeof(got) - 1, 0), 26);
    assert_string_equal(got, "READY=1\nSTATUS=all is well");
}

static void without_a_manager_nothing_happens(void **state)
{
    struct err err;

    (void)state;
    assert_int_equal(notify(NULL, "READY=1", &err), 0);
    assert_int_equal(notify("", "READY=1", &err), 0);
}

static void a_name_that_is_none_is_said(void **state)
{
    static const char *const names[] = { "relative", "/", "@" };
    char longest[256];
    struct err err;

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        assert_int_equal(notify(names[i], "READY=1", &err), -1);
        assert_int_equal(err.code, ERR_INVALID);
        assert_non_null(strstr(err.text, "NOTIFY_SOCKET: "));
    }
    memset(longest, 'x', sizeof(longest) - 1);
    longest[0] = '/';
    longest[sizeof(longest) - 1] = '\0';
    assert_int_equal(notify(longest, "READY=1", &err), -1);
    assert_int_equal(notify("/nobody/is/here", "READY=1", &err), -1);
    assert_int_equal(err.code, ERR_SYSTEM);
}

static void every_call_may_fail(void **state)
{
    static const char *const calls[] = { "socket", "connect", "send" };
    struct err err;

    (void)state;
    for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
        sys_fault(calls[i], 1, EIO);
        assert_int_equal(notify(manager.path, "READY=1", &err), -1);
        assert_true(sys_fault_hit());
        assert_int_equal(err.sys, EIO);
    }
    sys_fault("any", 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_manager_gets_the_text),
        cmocka_unit_test(without_a_manager_nothing_happens),
        cmocka_unit_test(a_name_that_is_none_is_said),
        cmocka_unit_test(every_call_may_fail),
    };

    return cmocka_run_group_tests(tests, start_manager, end_manager);
}
