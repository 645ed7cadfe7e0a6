/* SPDX-License-Identifier: MIT */
#include "agent/confine/cgroup.h"

#include <dirent.h>

#include "agent/exec/outlog.h"
#include "base/os/sys_old.h"
#include "model/code.h"
#include "tests/lib/agent_world.h"
#include "tests/lib/readable.h"

static const struct proc_caps none;

static struct facilities all_of_them(void)
{
    struct facilities f = { 0 };

    for (int i = 0; i < FACILITIES; i++)
        f.has[i] = true;
    return f;
}

static void name_of(const char *key, char to[OUTLOG_NAME_SIZE])
{
    outlog_name(key, "", to);
}

/* The folder of a world's groups, in any hierarchy; good until the next one. */
static const char *groups_of(const struct world *w, const char *top)
{
    static char path[1024];
    char name[OUTLOG_NAME_SIZE];

    name_of(w->dir, name);
    snprintf(path, sizeof(path), "%s/holdfast-%s", top, name);
    return path;
}

/* ---- a tree that only looks like one: what is made where */

struct fake {
    char top[128], mounts[1024];
    struct facilities f;
    struct cgroups *c;
};

static void fake_open(struct world *w, struct fake *k, enum cgroup_use use)
{
    snprintf(k->top, sizeof(k->top), "%s/cg", w->dir);
    mkdir(k->top, 0755);
    mkdir(world_text("%s/memory", k->top), 0755);
    mkdir(world_text("%s/memory/own", k->top), 0755);
    snprintf(k->mounts, sizeof(k->mounts), "1 2 0:3 / %s/memory rw - cgroup cgroup rw,memory\n",
             k->top);
    k->f = all_of_them();
    k->c = cgroups_open(w->dir, use, k->mounts, "4:memory:/own\n", &k->f);
}

static void what_is_not_mounted_is_said(void **state)
{
    struct world *w = *state;
    struct proc_caps caps = { .processes = 5 };
    struct fake k;
    struct err err = { 0 };

    fake_open(w, &k, CGROUPS_ALL);
    assert_false(k.f.has[HAS_CGROUP] || k.f.has[HAS_CGROUP_KILL] || k.f.has[HAS_CGROUP_CAPS]);
    assert_string_equal(english(k.f.why[HAS_CGROUP]), "version 2 is not mounted");
    assert_string_equal(english(k.f.why[HAS_CGROUP_KILL]), "no cgroup of version 2");
    assert_string_equal(english(k.f.why[HAS_CGROUP_CAPS]),
                        "there is no controller cpu here; there is no controller pids here");
    assert_false(cgroup_is_wanted(k.c, &none));
    assert_true(cgroup_is_wanted(k.c, &caps));
    assert_int_equal(cgroups_prepare(k.c, &caps, &err), -1);
    assert_int_equal(err.code, CODE_SYSTEM);
    assert_string_equal(err.text,
                        "spec.holdfast.caps.processes: not possible on this host, there is no "
                        "controller pids here; take it out of the spec, or give the agent a cgroup "
                        "it can write to");
    assert_null(cgroup_path(k.c, "x", NULL));
    assert_false(cgroup_has(k.c, "x", getpid()));
    assert_int_equal(cgroup_kill(k.c, "x", w->boot_id, &err), 0);
    cgroups_close(k.c);
    fake_open(w, &k, CGROUPS_OFF);
    assert_string_equal(english(k.f.why[HAS_CGROUP]), "the setting cgroups says off");
    assert_string_equal(english(k.f.why[HAS_CGROUP_CAPS]), "the setting cgroups says off");
    caps = (struct proc_caps){ .mem_bytes = 1 };
    assert_int_equal(cgroups_prepare(k.c, &caps, &err), -1);
    assert_non_null(strstr(err.text, "spec.holdfast.caps.mem_bytes: not possible on this host, "
                                     "the setting cgroups says off"));
    cgroups_close(k.c);
}

static void a_folder_is_made_when_it_is_needed_and_no_name_leads_out_of_it(void **state)
{
    struct world *w = *state;
    struct proc_caps caps = { .mem_bytes = 4096 };
    char name[OUTLOG_NAME_SIZE];
    struct cgroup_way way;
    struct fake k;
    struct err err = { 0 };
    struct stat st;
    const char *groups;

    fake_open(w, &k, CGROUPS_WHEN_NEEDED);
    groups = groups_of(w, world_text("%s/memory/own", k.top));
    assert_int_equal(stat(groups, &st), -1);
    assert_false(cgroups_are_used(k.c));
    assert_int_equal(cgroups_prepare(k.c, &caps, &err), 0);
    assert_int_equal(stat(groups, &st), 0);
    assert_true(cgroups_are_used(k.c));
    name_of("../../a:..", name);
    assert_int_equal(cgroup_enter(k.c, name, &caps, &way, &err), -1); /* no such file there */
    assert_int_equal(err.code, CODE_SYSTEM);
    assert_non_null(strstr(err.text, "spec.holdfast.caps.mem_bytes: the kernel does not take 4096 "
                                     "for memory.limit_in_bytes"));
    assert_int_equal(stat(world_text("%s/%s", groups, name), &st), 0);
    cgroup_ended(k.c, name);
    cgroup_ended(k.c, name);
    cgroups_tidy(k.c);
    assert_int_equal(stat(world_text("%s/%s", groups, name), &st), -1);
    cgroups_close(k.c);
    assert_int_equal(stat(groups, &st), -1);
}

static void what_an_agent_before_us_left_empty_is_removed(void **state)
{
    struct world *w = *state;
    const char *groups;
    struct fake k;
    struct stat st;

    fake_open(w, &k, CGROUPS_WHEN_NEEDED);
    cgroups_close(k.c);
    groups = groups_of(w, world_text("%s/memory/own", k.top));
    assert_int_equal(mkdir(groups, 0755), 0);
    assert_int_equal(mkdir(world_text("%s/empty", groups), 0755), 0);
    assert_int_equal(mkdir(world_text("%s/empty/below", groups), 0755), 0);
    assert_int_equal(mkdir(world_text("%s/memory/own/holdfast-others", k.top), 0755), 0);
    fake_open(w, &k, CGROUPS_WHEN_NEEDED);
    assert_int_equal(stat(groups, &st), -1);
    assert_int_equal(stat(world_text("%s/memory/own/holdfast-others", k.top), &st), 0);
    assert_false(cgroups_are_used(k.c));
    cgroups_close(k.c);
    assert_int_equal(mkdir(groups, 0755), 0);
    assert_int_equal(mkdir(world_text("%s/held", groups), 0755), 0);
    world_write(world_text("%s/held/somebody", groups), "");
    fake_open(w, &k, CGROUPS_WHEN_NEEDED);
    assert_int_equal(stat(world_text("%s/held", groups), &st), 0);
    assert_true(cgroups_are_used(k.c));
    cgroups_close(k.c);
}

/* Files as version 2 has them, in a folder that is none of the kernel's. */
static void fake_group(const char *path)
{
    static const char *const files[] = { "cgroup.procs", "cpu.max", "memory.max", "pids.max" };

    mkdir(path, 0755);
    for (size_t i = 0; i < ARRAY_LEN(files); i++)
        world_write(world_text("%s/%s", path, files[i]), "");
}

static const char *read_in(const char *path, const char *file)
{
    return world_read(world_text("%s/%s", path, file));
}

/* One that was delegated to it: the agent moves aside, then come controllers. */
static void in_a_delegated_cgroup_the_agent_moves_aside(void **state)
{
    struct world *w = *state;
    struct proc_caps caps = { .cpu_percent = 50, .mem_bytes = 32 << 20, .processes = 9 };
    char own[128], groups[512], name[OUTLOG_NAME_SIZE], mounts[512];
    struct facilities f = all_of_them();
    struct cgroup_way way;
    struct cgroups *c;
    struct err err = { 0 };

    snprintf(own, sizeof(own), "%s/agent", w->dir);
    snprintf(mounts, sizeof(mounts), "1 2 0:3 / %s rw - cgroup2 cgroup2 rw\n", w->dir);
    name_of("space:capped", name);
    fake_group(own);
    fake_group(world_text("%s/holdfast-agent", own));
    world_write(world_text("%s/cgroup.controllers", own), "cpuset cpu io memory pids\n");
    world_write(world_text("%s/cgroup.subtree_control", own), "");
    snprintf(groups, sizeof(groups), "%s", groups_of(w, own));
    fake_group(groups);
    world_write(world_text("%s/cgroup.subtree_control", groups), "");
    fake_group(world_text("%s/trial", groups));
    fake_group(world_text("%s/%s", groups, name));
    c = cgroups_open(w->dir, CGROUPS_WHEN_NEEDED, mounts, "0::/agent\n", &f);
    assert_true(f.has[HAS_CGROUP] && f.has[HAS_CGROUP_CAPS]);
    assert_false(f.has[HAS_CGROUP_KILL]);
    sys_fault("write", 1, EBUSY); /* as long as a process is in it */
    if (cgroups_prepare(c, &caps, &err))
        fail_msg("%s", err.text);
    assert_true(sys_fault_hit());
    assert_int_equal(
        strtol(read_in(world_text("%s/holdfast-agent", own), "cgroup.procs"), NULL, 10), getpid());
    assert_int_equal(strncmp(read_in(own, "cgroup.subtree_control"), "+pids", 5), 0);
    assert_int_equal(strncmp(read_in(groups, "cgroup.subtree_control"), "+pids", 5), 0);
    assert_int_equal(cgroup_enter(c, name, &caps, &way, &err), 0);
    assert_int_equal(way.born, -1);
    assert_int_equal(way.n_join, 1);
    cgroup_leave(&way);
    assert_string_equal(read_in(world_text("%s/%s", groups, name), "memory.max"), "33554432");
    assert_string_equal(read_in(world_text("%s/%s", groups, name), "pids.max"), "9");
    assert_string_equal(read_in(world_text("%s/%s", groups, name), "cpu.max"),
                        world_text("%ld 100000", sysconf(_SC_NPROCESSORS_ONLN) * 50000));
    sys_fault("write", 1, EBUSY);
    world_write(world_text("%s/cgroup.subtree_control", own), "");
    assert_int_equal(unlink(world_text("%s/holdfast-agent/cgroup.procs", own)), 0);
    assert_int_equal(cgroups_prepare(c, &caps, &err), -1); /* others are there, too */
    assert_non_null(strstr(err.text, "spec.holdfast.caps.cpu: the controller cpu can not be used"));
    cgroups_close(c);
    c = cgroups_open(w->dir, CGROUPS_WHEN_NEEDED, mounts, "0::/agent/holdfast-agent\n", &f);
    assert_true(cgroups_are_used(c)); /* found again from where the agent is now */
    cgroups_close(c);
}

/* systemd could not start it again. */
static void a_service_stays_where_it_was_put(void **state)
{
    struct world *w = *state;
    struct proc_caps caps = { .mem_bytes = 1 };
    char own[128], groups[512], mounts[512];
    struct facilities f = all_of_them();
    struct err err = { 0 };
    struct cgroups *c;
    struct stat st;

    snprintf(own, sizeof(own), "%s/agent.service", w->dir);
    snprintf(mounts, sizeof(mounts), "1 2 0:3 / %s rw - cgroup2 cgroup2 rw\n", w->dir);
    fake_group(own);
    world_write(world_text("%s/cgroup.controllers", own), "memory\n");
    world_write(world_text("%s/cgroup.subtree_control", own), "");
    snprintf(groups, sizeof(groups), "%s", groups_of(w, own));
    mkdir(groups, 0755);
    fake_group(world_text("%s/trial", groups));
    c = cgroups_open(w->dir, CGROUPS_WHEN_NEEDED, mounts, "0::/agent.service\n", &f);
    sys_fault("write", 1, EBUSY);
    assert_int_equal(cgroups_prepare(c, &caps, &err), -1);
    assert_true(sys_fault_hit());
    assert_non_null(strstr(err.text, "set DelegateSubgroup=holdfast-agent in its unit"));
    assert_int_equal(stat(world_text("%s/holdfast-agent", own), &st), -1);
    cgroups_close(c);
}

/* ---- the kernel's own */

struct real {
    struct facilities f;
    struct cgroups *c;
};

/* False: not here; the reason is printed. */
static bool real_open_as(struct world *w, struct real *r, const char *without, enum cgroup_use use)
{
    facilities_probe(&r->f, without);
    r->c = cgroups_open(w->dir, use, NULL, NULL, &r->f);
    if (r->f.has[HAS_CGROUP])
        return true;
    print_message("no cgroups here: %s\n", english(r->f.why[HAS_CGROUP]));
    cgroups_close(r->c);
    return false;
}

static bool real_open(struct world *w, struct real *r, const char *without)
{
    return real_open_as(w, r, without, CGROUPS_ALL);
}

static struct spawn_result start_in(struct world *w, const struct cgroups *c, const char *name,
                                    const struct proc_caps *caps, const char *command)
{
    struct cgroup_way way;
    struct spawn_request request = {
        .command = command, .setup_path = w->dir, .user = w->root, .out_fd = w->out_fd
    };
    struct spawn_result r = { 0 };
    struct err err = { 0 };

    if (cgroup_enter(c, name, caps, &way, &err))
        fail_msg("%s", err.text);
    request.cgroup_fd = way.born;
    request.join = way.join;
    request.n_join = way.n_join;
    if (spawn(w->spawner, &request, &r, &err))
        fail_msg("%s", err.text);
    cgroup_leave(&way);
    w->started[w->n++] = r;
    return r;
}

static size_t members(const struct cgroups *c, const char *name)
{
    struct err err = { 0 };
    int64_t *pids;
    size_t n;

    if (cgroup_members(c, name, &pids, &n, &err))
        fail_msg("%s", err.text);
    free(pids);
    return n;
}

/* Children that have left their parent and its session are of the group still. */
static void nobody_leaves_a_group(void **state)
{
    static const char *const ways[] = { "", "cgroup_kill", "pidfd" };
    struct world *w = *state;
    char name[OUTLOG_NAME_SIZE];
    struct err err = { 0 };

    name_of("space:a/b", name);
    for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
        struct spawn_result r;
        struct arena a = { 0 };
        struct real real;
        bool is_over = false;

        if (!real_open(w, &real, ways[i]))
            skip();
        r = start_in(w, real.c, name, &none,
                     "./victim --print x & setsid setsid ./victim --daemonize & wait");
        assert_true(cgroup_has(real.c, name, r.id.pid));
        assert_false(cgroup_has(real.c, "another", r.id.pid));
        assert_false(cgroup_has(real.c, name, getpid()));
        WAIT_UNTIL(members(real.c, name) >= 3);
        assert_non_null(strstr(cgroup_path(real.c, name, &a), name));
        cgroup_ended(real.c, name); /* not so: it is not empty */
        cgroups_tidy(real.c);
        assert_true(members(real.c, name) >= 3);
        assert_int_equal(cgroup_kill(real.c, name, w->boot_id, &err), 0);
        WAIT_UNTIL(members(real.c, name) == 0);
        WAIT_UNTIL(!ident_check_ended(r.pidfd, &is_over, &err) && is_over);
        arena_free(&a);
        cgroups_close(real.c);
        sys_do_without(0);
    }
}

static void groups_that_somebody_is_in_stay_for_the_next_agent(void **state)
{
    struct world *w = *state;
    char name[OUTLOG_NAME_SIZE];
    struct spawn_result r;
    struct real real;
    struct err err = { 0 };

    if (!real_open(w, &real, ""))
        skip();
    name_of("space:stays", name);
    r = start_in(w, real.c, name, &none, "./victim");
    cgroups_close(real.c);
    assert_true(real_open(w, &real, ""));
    assert_true(cgroups_are_used(real.c));
    assert_true(cgroup_has(real.c, name, r.id.pid));
    assert_int_equal(members(real.c, name), 1);
    assert_int_equal(cgroup_kill(real.c, name, w->boot_id, &err), 0);
    assert_int_equal(cgroup_kill(real.c, "nobody", w->boot_id, &err), 0);
    assert_int_equal(world_end(&r).code, SIGKILL);
    assert_int_equal(members(real.c, "nobody"), 0);
    cgroups_close(real.c);
    assert_true(real_open(w, &real, ""));
    assert_int_equal(members(real.c, name), 0);
    cgroups_close(real.c);
}

static bool is_there(const struct cgroups *c, const char *name)
{
    char path[512];

    assert_true(cgroup_folder(c, name, path, sizeof(path)));
    return !access(path, F_OK);
}

/* The one that was started has ended, and a child of it lives on for a while. */
static void a_group_is_removed_when_the_last_one_in_it_has_ended(void **state)
{
    struct world *w = *state;
    char name[OUTLOG_NAME_SIZE];
    struct spawn_result r;
    struct real real;
    struct err err = { 0 };

    if (!real_open(w, &real, ""))
        skip();
    name_of("space:late", name);
    r = start_in(w, real.c, name, &none, "setsid ./victim & exit 0");
    assert_int_equal(world_end(&r).code, 0);
    WAIT_UNTIL(members(real.c, name) == 1);
    cgroup_ended(real.c, name);
    for (int i = 0; i < 5; i++)
        cgroups_tidy(real.c);
    assert_true(is_there(real.c, name));
    assert_int_equal(cgroup_kill(real.c, name, w->boot_id, &err), 0);
    WAIT_UNTIL(members(real.c, name) == 0);
    for (int i = 0; i < 16; i++)
        cgroups_tidy(real.c); /* its end is not reported */
    assert_false(is_there(real.c, name));
    cgroups_close(real.c);
}

static void with_the_last_group_their_folder_goes_unless_all_have_groups(void **state)
{
    static const enum cgroup_use uses[] = { CGROUPS_WHEN_NEEDED, CGROUPS_ALL };
    const struct proc_caps caps = { .processes = 100 };
    struct world *w = *state;
    char name[OUTLOG_NAME_SIZE];
    struct err err = { 0 };

    name_of("space:last", name);
    for (size_t i = 0; i < ARRAY_LEN(uses); i++) {
        struct cgroup_way way;
        struct real real;

        if (!real_open_as(w, &real, "", uses[i]))
            skip();
        for (int again = 0; again < 2; again++) {
            if (cgroups_prepare(real.c, &caps, &err) ||
                cgroup_enter(real.c, name, &caps, &way, &err))
                fail_msg("%s", err.text);
            cgroup_leave(&way);
            assert_true(is_there(real.c, name));
            cgroup_ended(real.c, name); /* it could not be started */
            cgroups_tidy(real.c);
            assert_false(is_there(real.c, name));
            assert_int_equal(is_there(real.c, "."), uses[i] == CGROUPS_ALL);
        }
        cgroups_close(real.c);
    }
}

/* Some kernels kill a process that is created in a group that was killed before. */
static void a_group_that_was_ended_can_be_entered_again(void **state)
{
    struct world *w = *state;
    char name[OUTLOG_NAME_SIZE];
    struct spawn_result r, second;
    struct real real;
    struct err err = { 0 };

    if (!real_open(w, &real, ""))
        skip();
    name_of("space:again", name);
    for (int i = 0; i < 3; i++) {
        r = start_in(w, real.c, name, &none, "./victim");
        second = start_in(w, real.c, name, &none, "./victim"); /* while a process is in it */
        assert_true(cgroup_has(real.c, name, r.id.pid));
        assert_true(cgroup_has(real.c, name, second.id.pid));
        assert_int_equal(cgroup_kill(real.c, name, w->boot_id, &err), 0);
        assert_int_equal(world_end(&r).code, SIGKILL);
        assert_int_equal(world_end(&second).code, SIGKILL);
    }
    cgroups_close(real.c);
}

/* By hand, say: then there is no sign of it but that the next child is killed, on such a kernel. */
static void a_group_that_another_has_killed_is_entered_at_the_second_try(void **state)
{
    struct world *w = *state;
    struct spawn_request request = {
        .command = "./victim", .setup_path = w->dir, .user = w->root, .out_fd = w->out_fd
    };
    char name[OUTLOG_NAME_SIZE], folder[512];
    struct spawn_result r;
    struct cgroup_way way;
    struct real real;
    struct err err = { 0 };

    if (!real_open(w, &real, ""))
        skip();
    name_of("space:by hand", name);
    assert_true(cgroup_folder(real.c, name, folder, sizeof(folder)));
    start_in(w, real.c, name, &none, "./victim");
    assert_int_equal(cgroup_end(folder, &err), 0);
    WAIT_UNTIL(members(real.c, name) == 0);
    assert_int_equal(cgroup_enter(real.c, name, &none, &way, &err), 0);
    request.cgroup_fd = way.born;
    if (spawn(w->spawner, &request, &r, &err)) {
        assert_true(way.may_be_dead);
        assert_true(err.code == ERR_SYSTEM && !err.sys);
        cgroup_leave(&way);
        assert_int_equal(cgroup_enter_dead(real.c, name, &none, &way, &err), 0);
        request.cgroup_fd = way.born;
        if (spawn(w->spawner, &request, &r, &err))
            fail_msg("%s", err.text);
    }
    cgroup_leave(&way);
    w->started[w->n++] = r;
    assert_true(cgroup_has(real.c, name, r.id.pid));
    assert_int_equal(cgroup_kill(real.c, name, w->boot_id, &err), 0);
    WAIT_UNTIL(members(real.c, name) == 0);
    cgroups_close(real.c);
}

static void a_group_says_whether_anybody_is_in_it(void **state)
{
    struct world *w = *state;
    char name[OUTLOG_NAME_SIZE], folder[512];
    struct spawn_result r;
    struct real real;
    struct err err = { 0 };
    int64_t *pids;
    size_t n;

    if (!real_open(w, &real, ""))
        skip();
    name_of("space:looked at", name);
    assert_true(cgroup_folder(real.c, name, folder, sizeof(folder)));
    assert_false(cgroup_look(real.c, name).exists);
    r = start_in(w, real.c, name, &none, "./victim");
    assert_true(cgroup_look(real.c, name).is_populated);
    assert_int_equal(mkdir(world_text("%s/below", folder), 0755), 0); /* as a process may do */
    world_write(world_text("%s/below/cgroup.procs", folder),
                world_text("%lld", (long long)r.id.pid));
    assert_int_equal(members(real.c, name), 0);
    assert_int_equal(cgroup_list(folder, &pids, &n, &err), 0);
    assert_int_equal(n, 1);
    assert_int_equal(pids[0], r.id.pid);
    free(pids);
    assert_true(cgroup_look(real.c, name).is_populated);
    kill((pid_t)r.id.pid, SIGKILL);
    assert_int_equal(world_end(&r).code, SIGKILL);
    WAIT_UNTIL(!cgroup_look(real.c, name).is_populated);
    assert_true(cgroup_look(real.c, name).exists);
    cgroups_close(real.c);
}

static void caps_hold(void **state)
{
    struct world *w = *state;
    struct proc_caps caps = { .processes = 8 };
    char name[OUTLOG_NAME_SIZE];
    struct spawn_result r;
    struct real real;
    struct err err = { 0 };

    facilities_probe(&real.f, "");
    real.c = cgroups_open(w->dir, CGROUPS_WHEN_NEEDED, NULL, NULL, &real.f);
    if (cgroups_prepare(real.c, &caps, &err)) {
        print_message("%s\n", err.text);
        cgroups_close(real.c);
        skip();
    }
    name_of("space:bounded", name);
    r = start_in(w, real.c, name, &caps,
                 "for i in 1 2 3 4 5 6 7 8 9 10 11 12; do ./victim --life-ms 5000 & done; wait");
    WAIT_UNTIL(strstr(world_read(w->out), "ork") != NULL); /* "Cannot fork" */
    world_kill(r.id.pid);
    caps.processes = 0; /* and without, at the next start */
    assert_int_equal(truncate(w->out, 0), 0);
    world_free(w);
    *state = w = world_new();
    r = start_in(w, real.c, name, &caps,
                 "for i in 1 2 3 4 5 6 7 8 9 10 11 12; do ./victim --exit 0 & done; wait; exit 7");
    assert_int_equal(world_end(&r).code, 7);
    cgroups_close(real.c);
}

static void every_call_that_fails_is_told(void **state)
{
    struct world *w = *state;
    char name[OUTLOG_NAME_SIZE];
    struct cgroup_way way;
    struct real real;
    struct err err = { 0 };

    for (int nth = 1;; nth++) { /* whatever fails while looking is a reason, not an end */
        sys_fault("any", nth, EIO);
        real_open(w, &real, "pidfd_info children_file inotify") ? cgroups_close(real.c) : (void)0;
        if (!sys_fault_hit())
            break;
        assert_true(nth < 500);
    }
    if (!real_open(w, &real, ""))
        skip();
    name_of("space:fails", name);
    for (int nth = 1;; nth++) {
        sys_fault("any", nth, EMFILE);
        if (!cgroup_enter(real.c, name, &none, &way, &err))
            break;
        assert_non_null(strstr(err.text, "Too many open files"));
        assert_true(nth < 20);
    }
    sys_fault("any", 0, 0);
    cgroup_leave(&way);
    cgroups_close(real.c);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_is_not_mounted_is_said),
        TEST(a_folder_is_made_when_it_is_needed_and_no_name_leads_out_of_it),
        TEST(what_an_agent_before_us_left_empty_is_removed),
        TEST(in_a_delegated_cgroup_the_agent_moves_aside),
        TEST(a_service_stays_where_it_was_put),
        TEST(nobody_leaves_a_group),
        TEST(groups_that_somebody_is_in_stay_for_the_next_agent),
        TEST(a_group_is_removed_when_the_last_one_in_it_has_ended),
        TEST(with_the_last_group_their_folder_goes_unless_all_have_groups),
        TEST(a_group_that_was_ended_can_be_entered_again),
        TEST(a_group_that_another_has_killed_is_entered_at_the_second_try),
        TEST(a_group_says_whether_anybody_is_in_it),
        TEST(caps_hold),
        TEST(every_call_that_fails_is_told),
    };

    if (geteuid())
        return WORLD_SKIPPED;
    return cmocka_run_group_tests_name("cgroup", tests, NULL, NULL);
}
