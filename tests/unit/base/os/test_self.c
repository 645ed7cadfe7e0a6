/* SPDX-License-Identifier: MIT */
/* Tests for base/os/self.c. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "base/os/self.h"
#include "base/os/sys.h"

static void it_uses_memory_and_time(void **state)
{
    struct self_use before, after;

    (void)state;
    self_use(&before);
    assert_true(before.rss_bytes > 100 * 1024);
    assert_true(before.size_bytes > before.rss_bytes);
    do {
        self_use(&after); /* reading usage takes CPU time itself */
    } while (after.cpu_us == before.cpu_us);
    assert_true(after.cpu_us > before.cpu_us);
}

static void what_the_kernel_does_not_say_is_nothing(void **state)
{
    struct self_use use;

    (void)state;
    sys_fault("open", 1, EMFILE);
    self_use(&use);
    assert_true(sys_fault_hit());
    assert_int_equal(use.rss_bytes, 0);
    sys_fault("read", 1, EIO);
    self_use(&use);
    assert_true(sys_fault_hit());
    assert_int_equal(use.rss_bytes, 0);
    sys_fault("prlimit", 1, EPERM);
    assert_int_equal(self_fds_max(), 0);
    sys_fault("any", 0, 0);
}

/* Both by the number that newer kernels give and by counting. */
static void descriptors_are_counted(void **state)
{
    int64_t before = self_fds(), counted;
    int fds[3];

    (void)state;
    sys_fault("stat", 1, ENOENT);
    counted = self_fds();
    assert_true(sys_fault_hit());
    assert_int_equal(counted, before);
    for (int i = 0; i < 3; i++)
        fds[i] = sys_open("/dev/null", O_RDONLY, 0);
    assert_int_equal(self_fds(), before + 3);
    for (int i = 0; i < 3; i++)
        sys_close(fds[i]);
    assert_int_equal(self_fds(), before);
}

static void as_many_may_be_open_as_the_limit_says(void **state)
{
    struct rlimit limit;

    (void)state;
    assert_int_equal(sys_prlimit(RLIMIT_NOFILE, NULL, &limit), 0);
    assert_int_equal(self_fds_max(), limit.rlim_cur == RLIM_INFINITY ? 0 : (int64_t)limit.rlim_cur);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_uses_memory_and_time),
        cmocka_unit_test(what_the_kernel_does_not_say_is_nothing),
        cmocka_unit_test(descriptors_are_counted),
        cmocka_unit_test(as_many_may_be_open_as_the_limit_says),
    };

    return cmocka_run_group_tests_name("self", tests, NULL, NULL);
}
