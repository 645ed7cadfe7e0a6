/* SPDX-License-Identifier: MIT */
#include "agent/confine/facility.h"

#include <sys/inotify.h>

#include "base/os/sys_old.h"
#include "tests/lib/agent_world.h"
#include "tests/lib/readable.h"

static void what_is_left_out_is_not_there(void **state)
{
    struct facilities all, f;

    (void)state;
    facilities_probe(&all, "");
    for (int i = 0; i < FACILITIES; i++) {
        facilities_probe(&f, facility_rows[i].name);
        assert_false(f.has[i]);
        assert_string_equal(english(f.why[i]), "the setting without says so");
        for (int k = 0; k < FACILITIES; k++) {
            if (k != i && !(i == HAS_PIDFD && k == HAS_PIDFD_INFO))
                assert_int_equal(f.has[k], all.has[k]);
        }
    }
    facilities_probe(&f, "inotify, cgroup\tpidfd_info");
    assert_false(f.has[HAS_INOTIFY] || f.has[HAS_CGROUP] || f.has[HAS_PIDFD_INFO]);
    facilities_probe(&f, "");
    assert_memory_equal(&f, &all, sizeof(f));
}

static void unknown_names_are_refused(void **state)
{
    (void)state;
    assert_null(facilities_check(""));
    assert_null(facilities_check(" pidfd,cgroup  inotify "));
    assert_non_null(facilities_check("pidfds"));
    assert_non_null(facilities_check("pidfd cgrou"));
    for (int i = 0; i < FACILITIES; i++) {
        assert_null(facilities_check(facility_rows[i].name));
        assert_non_null(strstr(facilities_check("x"), facility_rows[i].name));
    }
}

static void the_first_reason_stays(void **state)
{
    struct facilities f;

    (void)state;
    facilities_probe(&f, "cgroup");
    facility_lacks(&f, HAS_CGROUP, "another");
    assert_string_equal(english(f.why[HAS_CGROUP]), "the setting without says so");
    facility_lacks(&f, HAS_CGROUP_CAPS, "read only");
    assert_false(f.has[HAS_CGROUP_CAPS]);
    assert_string_equal(f.why[HAS_CGROUP_CAPS], "read only");
}

/* A kernel with half of it is one without. */
static void a_call_that_fails_is_a_facility_that_is_missing(void **state)
{
    static const struct {
        const char *call;
        enum facility which;
    } cases[] = {
        { "pidfd_send_signal", HAS_PIDFD },
        { "waitid", HAS_PIDFD },
        { "clone3", HAS_PIDFD },
        { "pidfd_open", HAS_PIDFD },
        { "inotify", HAS_INOTIFY },
        { "open", HAS_CHILDREN_FILE },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct facilities f;

        sys_fault(cases[i].call, 1, EACCES);
        facilities_probe(&f, "");
        assert_true(sys_fault_hit());
        assert_false(f.has[cases[i].which]);
        assert_non_null(strstr(f.why[cases[i].which], "Permission denied"));
        if (cases[i].which == HAS_PIDFD) {
            assert_false(f.has[HAS_PIDFD_INFO]);
            assert_true(sys_lacks(SYS_PIDFD));
        }
    }
}

static void what_is_short_for_a_moment_is_not_missing(void **state)
{
    static const int errors[] = { EAGAIN, ENOMEM, EMFILE };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(errors); i++) {
        struct facilities f;

        sys_fault("clone3", 1, errors[i]);
        facilities_probe(&f, "");
        assert_true(sys_fault_hit());
        assert_true(f.has[HAS_PIDFD]);
        assert_false(sys_lacks(SYS_PIDFD));
    }
}

static int undo(void **state)
{
    (void)state;
    sys_fault("any", 0, 0);
    sys_do_without(0);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(what_is_left_out_is_not_there, undo),
        cmocka_unit_test_teardown(unknown_names_are_refused, undo),
        cmocka_unit_test_teardown(the_first_reason_stays, undo),
        cmocka_unit_test_teardown(a_call_that_fails_is_a_facility_that_is_missing, undo),
        cmocka_unit_test_teardown(what_is_short_for_a_moment_is_not_missing, undo),
    };

    return cmocka_run_group_tests_name("facility", tests, NULL, NULL);
}
