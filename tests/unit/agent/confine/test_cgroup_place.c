/* SPDX-License-Identifier: MIT */
#include "agent/confine/cgroup_place.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
/* cmocka.h needs those before it. */
#include <cmocka.h>

#include "base/mem/mem.h"

/* A host with version 1 and, for its members alone, version 2. */
static const char both[] =
    "23 1 0:22 / /sys rw,nosuid - sysfs sysfs rw\n"
    "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n"
    "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:4 - cgroup cgroup rw,cpu,cpuacct\n"
    "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:5 master:1 - cgroup cgroup rw,memory\n"
    "40 31 0:37 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,xattr,name=systemd\n"
    "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw,nsdelegate\n";
static const char both_ours[] = "9:name=systemd:/system.slice/a.service\n"
                                "4:memory:/mem/b\n"
                                "2:cpuacct,cpu:/\n"
                                "0::/system.slice/a.service\n";

/* One with version 2 alone. */
static const char new_one[] = "25 22 0:22 / /sys/fs/cgroup ro,nosuid - cgroup2 cgroup2 rw\n";

static void the_folder_of_each_hierarchy_is_found(void **state)
{
    static const struct {
        const char *mounts, *ours, *controller, *folder, *inside;
    } cases[] = {
        { both, both_ours, "", "/sys/fs/cgroup/unified/system.slice/a.service",
          "/system.slice/a.service" },
        { both, both_ours, "memory", "/sys/fs/cgroup/memory/mem/b", "/mem/b" },
        { both, both_ours, "cpu", "/sys/fs/cgroup/cpu,cpuacct", "" },
        { new_one, "0::/user.slice/x", "", "/sys/fs/cgroup/user.slice/x", "/user.slice/x" },
        { new_one, "0::/\n", "", "/sys/fs/cgroup", "" },
        /* A container that sees a part of it, under the names of the whole. */
        { "1 2 0:3 /docker/7f /cg rw - cgroup2 none rw", "0::/docker/7f\n", "", "/cg",
          "/docker/7f" },
        { "1 2 0:3 /docker/7f /cg rw - cgroup2 none rw", "0::/docker/7f/in\n", "", "/cg/in",
          "/docker/7f/in" },
        /* Blanks in a path. */
        { "1 2 0:3 / /a\\040b rw - cgroup2 none rw\n", "0::/c d\n", "", "/a b/c d", "/c d" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct cgroup_place p;

        if (!cgroup_find_place(cases[i].mounts, cases[i].ours, cases[i].controller, &p))
            fail_msg("case %zu: not found", i);
        assert_string_equal(p.folder, cases[i].folder);
        assert_string_equal(p.inside, cases[i].inside);
    }
}

static void what_is_not_there_or_not_within_reach_is_not_found(void **state)
{
    static const struct {
        const char *mounts, *ours, *controller;
    } cases[] = {
        { "", "", "" },
        { "", both_ours, "" },
        { both, "", "" },
        { both, both_ours, "pids" },
        { both, "4:memory2:/x\n", "memory" },
        { new_one, "0::/x\n", "memory" },
        { "35 31 0:32 / /m rw - cgroup cgroup rw,memory\n", "4:memory:/\n", "" },
        /* Paths that lead out of what is mounted. */
        { new_one, "0::/../x\n", "" },
        { new_one, "0::/x/..\n", "" },
        { new_one, "0::x\n", "" },
        { "1 2 0:3 /docker/7f /cg rw - cgroup2 none rw", "0::/docker/7g\n", "" },
        { "1 2 0:3 /docker/7f /cg rw - cgroup2 none rw", "0::/docker/7fe\n", "" },
        { "1 2 0:3 /docker/7f /cg rw - cgroup2 none rw", "0::/\n", "" },
        /* Lines that end too soon. */
        { "1 2 0:3", "0::/\n", "" },
        { "1 2 0:3 / /cg rw -", "0::/\n", "" },
        { "1 2 0:3 / /cg rw - cgroup2", "0:", "" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct cgroup_place p;

        if (cgroup_find_place(cases[i].mounts, cases[i].ours, cases[i].controller, &p))
            fail_msg("case %zu: %s", i, p.folder);
    }
}

static void a_path_that_is_too_long_is_not_cut(void **state)
{
    static char ours[CGROUP_PATH_SIZE + 64];
    struct cgroup_place p;

    (void)state;
    memset(ours, 'a', sizeof(ours) - 1);
    memcpy(ours, "0::/", 4);
    assert_false(cgroup_find_place(new_one, ours, "", &p));
    ours[CGROUP_PATH_SIZE - 1] = '\0'; /* fits, but not behind the folder */
    assert_false(cgroup_find_place(new_one, ours, "", &p));
    ours[CGROUP_PATH_SIZE - 32] = '\0';
    assert_true(cgroup_find_place(new_one, ours, "", &p));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_folder_of_each_hierarchy_is_found),
        cmocka_unit_test(what_is_not_there_or_not_within_reach_is_not_found),
        cmocka_unit_test(a_path_that_is_too_long_is_not_cut),
    };

    return cmocka_run_group_tests_name("cgroup_place", tests, NULL, NULL);
}
