/* SPDX-License-Identifier: MIT */
#include "agent/identify/family.h"

#include <sys/prctl.h>
#include <sys/wait.h>

#include "agent/confine/cgroup.h"
#include "agent/exec/outlog.h"
#include "agent/identify/program.h"
#include "tests/lib/agent_world.h"
#include "tests/lib/own_pids.h"
#include "tests/lib/readable.h"

/* A family that is looked for, and what was found last. */
struct rig {
    struct world *w;
    struct spawn_result start;
    struct family_want want;
    struct family_cgroup cgroup;
    struct arena arena;
    struct family got;
    const char *siblings, *kin;

    struct cgroups *groups; /* NULL: none */
    struct facilities facilities;
    char name[OUTLOG_NAME_SIZE], folder[512];
    int kills;              /* how often cgroup.kill was used */
    bool is_dropped;        /* after the first look at the group */
    int64_t joins;          /* enters the group after that; 0: none */
    int lists;              /* of the group */
    struct ident others[4]; /* main processes of other specs */
};

static bool is_others(void *arg, const struct ident *id)
{
    const struct rig *r = arg;

    for (size_t i = 0; i < ARRAY_LEN(r->others); i++) {
        if (ident_equal(&r->others[i], id))
            return true;
    }
    return false;
}

static int list_group(void *arg, int64_t **ret, size_t *ret_n, struct err *err)
{
    struct rig *r = arg;

    if (++r->lists == 2 && r->joins)
        world_write(arena_printf(&r->arena, "%s/cgroup.procs", r->folder),
                    arena_printf(&r->arena, "%lld", (long long)r->joins));
    return cgroup_list(r->folder, ret, ret_n, err);
}

static bool is_dropped(void *arg)
{
    const struct rig *r = arg;

    return r->is_dropped;
}

static int kill_group(void *arg, struct err *err)
{
    struct rig *r = arg;

    r->kills++;
    cgroup_note_killed(r->groups, r->name);
    return cgroup_end(r->folder, err);
}

static struct rig *rig_of(void **state)
{
    return *state;
}

static int set_up(void **state)
{
    struct rig *r = xalloc(sizeof(*r));

    prctl(PR_SET_CHILD_SUBREAPER, 1);
    r->w = world_new();
    r->want = (struct family_want){ .ended_ticks = INT64_MAX,
                                    .boot_id = r->w->boot_id,
                                    .siblings = "",
                                    .proc_name = "victim",
                                    .is_others = is_others,
                                    .arg = r };
    *state = r;
    return 0;
}

static void end_group(struct rig *r)
{
    struct err err = { 0 };
    int64_t *pids;
    size_t n = 1;

    if (!r->groups)
        return;
    while (n > 0) {
        assert_int_equal(cgroup_kill(r->groups, r->name, r->w->boot_id, &err), 0);
        assert_int_equal(cgroup_list(r->folder, &pids, &n, &err), 0);
        free(pids);
        poll(NULL, 0, 1);
    }
    cgroups_close(r->groups);
}

static int tear_down(void **state)
{
    struct rig *r = *state;

    sys_fault("any", 0, 0);
    for (size_t i = 0; i < ARRAY_LEN(r->others); i++) {
        if (r->others[i].pid)
            kill((pid_t)r->others[i].pid, SIGKILL);
    }
    end_group(r);
    arena_free(&r->arena);
    world_free(r->w);
    prctl(PR_SET_CHILD_SUBREAPER, 0);
    free(r);
    return 0;
}

/* False: no cgroups here. */
static bool use_group(struct rig *r)
{
    facilities_probe(&r->facilities, "");
    r->groups = cgroups_open(r->w->dir, CGROUPS_ALL, NULL, NULL, &r->facilities);
    outlog_name("space:family", "", r->name);
    if (!r->facilities.has[HAS_CGROUP]) {
        print_message("no cgroups here: %s\n", english(r->facilities.why[HAS_CGROUP]));
        return false;
    }
    assert_true(cgroup_folder(r->groups, r->name, r->folder, sizeof(r->folder)));
    r->cgroup = (struct family_cgroup){ list_group, kill_group, r };
    r->want.cgroup = &r->cgroup;
    return true;
}

/* The start command of the process; it is the main process, unless a test says otherwise. */
static void start(struct rig *r, const char *command)
{
    struct spawn_request request = { .command = command,
                                     .setup_path = r->w->dir,
                                     .user = r->w->root,
                                     .out_fd = r->w->out_fd,
                                     .cgroup_fd = -1 };
    struct cgroup_way way = { .born = -1 };
    struct err err = { 0 };

    if (r->groups && cgroup_enter(r->groups, r->name, &(struct proc_caps){ 0 }, &way, &err))
        fail_msg("%s", err.text);
    request.cgroup_fd = way.born;
    request.join = way.join;
    request.n_join = way.n_join;
    if (spawn(r->w->spawner, &request, &r->start, &err))
        fail_msg("%s", err.text);
    cgroup_leave(&way);
    r->w->started[r->w->n++] = r->start;
    r->want.start = r->want.main = r->start.id;
}

static struct ident ident_of_pid(const struct rig *r, int64_t pid)
{
    struct ident id = { 0 };
    struct err err = { 0 };
    int fd;

    if (ident_of(pid, r->w->boot_id, &id, &fd, &err))
        fail_msg("%s", err.text);
    close(fd);
    return id;
}

/* Of a command that writes its pid to this file in the folder. */
static struct ident ident_in(const struct rig *r, const char *file)
{
    const char *path = world_text("%s/%s", r->w->dir, file);

    WAIT_UNTIL(strchr(world_read(path), '\n') != NULL);
    return ident_of_pid(r, strtoll(world_read(path), NULL, 10));
}

static bool lives(const struct rig *r, const struct ident *id)
{
    struct err err;
    int fd;

    if (ident_open(id, r->w->boot_id, &fd, &err))
        return false;
    close(fd);
    return true;
}

static size_t look(struct rig *r, int number)
{
    struct err err = { 0 };

    if (family_find(&r->want, number, &r->arena, &r->got, &err))
        fail_msg("%s", err.text);
    return r->got.n;
}

static const char *siblings(struct rig *r)
{
    struct err err = { 0 };

    if (family_siblings(&r->want, &r->arena, &r->siblings, &r->kin, &err))
        fail_msg("%s", err.text);
    return r->siblings;
}

/* In the unit of start_ticks, rounded up. */
static int64_t ticks_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_BOOTTIME, &t);
    return t.tv_sec * 100 + t.tv_nsec / 10000000 + 1;
}

static void end_main(struct rig *r)
{
    world_kill(r->want.main.pid);
    WAIT_UNTIL(!lives(r, &r->want.main));
    r->want.ended_ticks = ticks_now();
}

/* "name (pid)" is in the text. */
static bool has(const char *text, const struct ident *id)
{
    return strstr(english(text), world_text("(%lld)", (long long)id->pid)) != NULL;
}

/* ---- its members; each with a cgroup and without */

static void left_workers_are_ended(struct rig *r)
{
    start(r, "./victim --children 3");
    WAIT_UNTIL(look(r, 0) == 3);
    assert_true(r->got.may_be_main);
    end_main(r);
    assert_int_equal(look(r, 0), 3);
    assert_non_null(strstr(r->got.names, "victim ("));
    assert_string_equal(r->got.others, "");
    assert_int_equal(look(r, SIGTERM), 3);
    WAIT_UNTIL(look(r, 0) == 0);
    assert_string_equal(r->got.names, "");
}

static void those_that_ignore_sigterm_are_killed(struct rig *r)
{
    start(r, "./victim --ignore-term --children 3");
    WAIT_UNTIL(look(r, 0) == 3);
    end_main(r);
    assert_int_equal(look(r, SIGTERM), 3);
    assert_int_equal(look(r, SIGKILL), 3);
    assert_int_equal(look(r, 0), 0);
}

static void a_start_command_that_still_runs_belongs_to_it(struct rig *r)
{
    start(r, "sh -c './victim & echo $! >main; wait; exec sleep 60' & wait; ./victim");
    r->want.main = ident_in(r, "main");
    WAIT_UNTIL(look(r, 0) == 2); /* two shells */
    assert_true(has(r->got.names, &r->want.start));
    assert_false(r->got.may_be_main);
    end_main(r);
    WAIT_UNTIL(look(r, 0) == 2 && strstr(r->got.names, "sleep"));
    assert_int_equal(look(r, SIGKILL), 2);
    assert_int_equal(look(r, 0), 0);
}

static void siblings_and_what_descends_from_them_stay(struct rig *r)
{
    struct ident main, sibling, child;
    const char *kin;

    start(r, "sh -c './victim & echo $! >child; wait' & echo $! >sibling; "
             "./victim --children 2 & echo $! >main");
    main = ident_in(r, "main");
    sibling = ident_in(r, "sibling");
    child = ident_in(r, "child");
    r->want.main = main;
    WAIT_UNTIL(!lives(r, &r->want.start));
    WAIT_UNTIL(look(r, 0) == 4); /* not yet recorded */
    WAIT_UNTIL(strlen(siblings(r)) > 10);
    r->want.siblings = arena_strdup(&r->arena, r->siblings);
    assert_non_null(strstr(r->siblings, world_text("%lld:%lld", (long long)sibling.pid,
                                                   (long long)sibling.start_ticks)));
    assert_null(strstr(r->siblings, world_text("%lld:", (long long)main.pid)));
    assert_int_equal(look(r, 0), 2);
    assert_false(has(r->got.names, &sibling) || has(r->got.names, &child));
    kin = arena_strdup(&r->arena, r->got.kin);
    assert_string_equal(kin, r->kin);
    assert_int_equal(strchr(kin, ' ') != NULL, 1);
    r->want.scope = SCOPE_START;
    assert_int_equal(look(r, 0), 4);
    r->want.scope = SCOPE_PROCESS;
    assert_int_equal(look(r, SIGKILL), 0);
    r->want.scope = SCOPE_FAMILY;
    end_main(r); /* its children are orphans now, as a child of a dead sibling would be */
    assert_int_equal(look(r, SIGKILL), 0);
    assert_false(has(r->got.others, &sibling) || has(r->got.others, &child));
    assert_int_equal(strchr(r->got.others, ',') != NULL, 1); /* both are named */
    assert_true(lives(r, &sibling) && lives(r, &child));
    r->want.kin = kin; /* they were seen while it lived */
    assert_int_equal(look(r, SIGKILL), 2);
    assert_int_equal(look(r, 0), 0);
    assert_true(lives(r, &sibling) && lives(r, &child));
}

static void a_session_of_the_main_process_is_its_own(struct rig *r)
{
    start(r, "./victim & exec setsid sh -c 'echo $$ >main; exec ./victim --children 2'");
    r->want.main = ident_in(r, "main");
    WAIT_UNTIL(look(r, 0) >= 2);
    WAIT_UNTIL(strlen(siblings(r)) > 5); /* the first victim */
    r->want.siblings = arena_strdup(&r->arena, r->siblings);
    WAIT_UNTIL(look(r, 0) == 2);
    end_main(r);
    assert_int_equal(look(r, SIGKILL), 2);
    assert_int_equal(look(r, 0), 0);
}

static void processes_of_other_specs_stay(struct rig *r)
{
    struct ident child;

    start(r, "sh -c 'echo $$ >other; ./victim & echo $! >child; wait' & echo $$ >main; "
             "./victim --children 1 & wait");
    r->others[0] = ident_in(r, "other");
    child = ident_in(r, "child");
    WAIT_UNTIL(look(r, 0) == 2);
    assert_false(has(r->got.names, &r->others[0]) || has(r->got.names, &child));
    end_main(r);
    assert_int_equal(look(r, SIGKILL), 2);
    assert_int_equal(look(r, 0), 0);
    assert_true(lives(r, &r->others[0]) && lives(r, &child));
    kill((pid_t)child.pid, SIGKILL);
}

static void after_a_crash_a_session_with_another_program_is_named(struct rig *r)
{
    struct ident tool;

    start(r, "./victim & setsid sh -c 'echo $$ >tool; exec sleep 60' & "
             "exec ./victim --children 1");
    tool = ident_in(r, "tool");
    WAIT_UNTIL(look(r, 0) == 3);
    r->want.program = program_of(r->start.id.pid);
    end_main(r);
    r->want.has_crashed = true;
    if (r->want.cgroup) {
        assert_int_equal(look(r, 0), 2);
        assert_true(has(r->got.others, &tool));
        assert_int_equal(look(r, SIGKILL), 2);
        assert_true(lives(r, &tool));
    }
    r->want.has_crashed = false;
    look(r, SIGKILL);
    assert_int_equal(look(r, 0), 0);
    assert_int_equal(lives(r, &tool), !r->want.cgroup); /* nothing but a cgroup ties it */
    kill((pid_t)tool.pid, SIGKILL);
}

static void where_two_were_in_one_session_orphans_are_named(struct rig *r)
{
    start(r, "./victim --children 2");
    WAIT_UNTIL(look(r, 0) == 2);
    end_main(r);
    r->want.is_session_shared = true;
    assert_int_equal(look(r, SIGKILL), 0);
    assert_int_equal(strchr(r->got.others, ',') != NULL, 1);
    r->want.is_session_shared = false;
    assert_int_equal(look(r, SIGKILL), 2);
}

static void a_process_that_no_agent_started_has_what_descends_from_it(struct rig *r)
{
    start(r, "./victim & ./victim --children 2 & echo $! >main; wait");
    r->want.main = ident_in(r, "main");
    r->want.start = (struct ident){ 0 };
    r->want.cgroup = NULL;
    WAIT_UNTIL(look(r, 0) == 2);
    end_main(r);
    assert_int_equal(look(r, SIGKILL), 0);
    assert_string_equal(r->got.others, "");
    r->want.main = r->start.id; /* that one leads its session */
    assert_int_equal(look(r, 0), 3);
    end_main(r);
    assert_int_equal(look(r, SIGKILL), 3);
    assert_int_equal(look(r, 0), 0);
}

static void the_session_of_a_dead_leader_is_remembered(struct rig *r)
{
    const char *daemon = "setsid sh -c './victim --children 2 & echo $! >main' & exit 0";

    start(r, daemon);
    r->want.main = ident_in(r, "main");
    WAIT_UNTIL(!lives(r, &r->want.start));
    WAIT_UNTIL(look(r, 0) == 2);
    r->want.session = getsid((pid_t)r->want.main.pid);
    r->want.group = getpgid((pid_t)r->want.main.pid);
    assert_true(r->want.session != r->want.main.pid && r->want.session != r->want.start.pid);
    end_main(r);
    assert_int_equal(look(r, SIGKILL), 2);
    assert_int_equal(look(r, 0), 0);
}

static void one_that_forks_without_end_is_ended(struct rig *r)
{
    start(r, "./victim & exec ./victim --forks 300");
    WAIT_UNTIL(look(r, 0) > 10);
    end_main(r);
    assert_true(look(r, SIGKILL) > 10);
    assert_int_equal(look(r, 0), 0);
}

/* The next process gets this pid. */
static void want_pid(int64_t pid)
{
    FILE *f = fopen("/proc/sys/kernel/ns_last_pid", "w");

    assert_non_null(f);
    fprintf(f, "%lld", (long long)pid - 1);
    fclose(f);
}

/* A daemon of another program, in a session whose leader had this pid; 0: the pid was not to be
 * had.
 */
static pid_t start_stranger(int64_t pid)
{
    pid_t leader, daemon = 0;
    int fds[2];

    assert_int_equal(pipe(fds), 0);
    want_pid(pid);
    leader = fork();
    if (!leader) {
        setsid();
        daemon = fork();
        if (!daemon) {
            close(fds[0]);
            close(fds[1]);
            for (;;)
                pause();
        }
        (void)!write(fds[1], &daemon, sizeof(daemon));
        _exit(0);
    }
    assert_int_equal(read(fds[0], &daemon, sizeof(daemon)), sizeof(daemon));
    assert_int_equal(waitpid(leader, NULL, 0), leader);
    close(fds[0]);
    close(fds[1]);
    if (leader == pid)
        return daemon;
    kill(daemon, SIGKILL);
    waitpid(daemon, NULL, 0);
    return 0;
}

static pid_t start_stranger_as(int64_t pid)
{
    pid_t daemon = 0;

    for (int tries = 0; tries < 50 && !daemon; tries++)
        daemon = start_stranger(pid);
    return daemon;
}

/* The numbers of our session and of that of the main process are free once both have ended. */
static void a_number_that_was_used_again_ties_nobody(struct rig *r)
{
    int64_t numbers[2];

    start(r, "setsid sh -c './victim & echo $! >main' & exit 0");
    r->want.main = ident_in(r, "main");
    r->want.session = getsid((pid_t)r->want.main.pid);
    r->want.group = getpgid((pid_t)r->want.main.pid);
    WAIT_UNTIL(!lives(r, &r->want.start));
    (void)waitpid((pid_t)r->want.start.pid, NULL, 0);
    numbers[0] = r->want.start.pid;
    numbers[1] = r->want.session;
    end_main(r);
    WAIT_UNTIL(look(r, 0) == 0);
    r->want.ended_ticks -= 2; /* it was rounded up, and a tick is long here */
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
        pid_t stranger = start_stranger_as(numbers[i]);

        if (!stranger)
            continue; /* another process has it */
        assert_int_equal(look(r, SIGKILL), 0);
        assert_int_equal(kill(stranger, 0), 0);
        assert_int_equal(waitpid(stranger, NULL, WNOHANG), 0);
        kill(stranger, SIGKILL);
        waitpid(stranger, NULL, 0);
    }
}

static void a_start_command_that_is_another_s_main_process_stays(struct rig *r)
{
    start(r, "exec sh -c './victim & echo $! >main; wait'");
    r->want.main = ident_in(r, "main");
    r->others[0] = r->want.start;
    assert_int_equal(look(r, 0), 0);
}

static void a_command_of_the_agent_does_not_belong_to_it(struct rig *r)
{
    struct spawn_result command;

    start(r, "./victim --children 1");
    command = world_start(r->w, r->w->root, "./victim --children 1");
    WAIT_UNTIL(look(r, 0) == 1);
    assert_int_equal(look(r, SIGKILL), 1);
    assert_true(lives(r, &command.id));
    assert_true(lives(r, &r->want.main)); /* the main process itself is not ended here */
}

typedef void rig_fn(struct rig *r);
static rig_fn *const both[] = {
    left_workers_are_ended,
    those_that_ignore_sigterm_are_killed,
    a_start_command_that_still_runs_belongs_to_it,
    siblings_and_what_descends_from_them_stay,
    a_session_of_the_main_process_is_its_own,
    processes_of_other_specs_stay,
    after_a_crash_a_session_with_another_program_is_named,
    where_two_were_in_one_session_orphans_are_named,
    a_process_that_no_agent_started_has_what_descends_from_it,
    the_session_of_a_dead_leader_is_remembered,
    one_that_forks_without_end_is_ended,
    a_command_of_the_agent_does_not_belong_to_it,
    a_number_that_was_used_again_ties_nobody,
    a_start_command_that_is_another_s_main_process_stays,
};

static void run_both(void **state, bool has_group)
{
    for (size_t i = 0; i < ARRAY_LEN(both); i++) {
        struct rig *r = rig_of(state);

        if (has_group && !use_group(r))
            skip();
        both[i](r);
        tear_down(state);
        set_up(state);
    }
}

static void without_a_cgroup(void **state)
{
    run_both(state, false);
}

static void with_a_cgroup(void **state)
{
    run_both(state, true);
}

/* ---- what only a cgroup shows */

static void nobody_leaves_the_cgroup(void **state)
{
    struct rig *r = rig_of(state);

    if (!use_group(r))
        skip();
    start(r, "setsid setsid ./victim --daemonize --pid-file $PWD/daemon & exec ./victim");
    (void)ident_in(r, "daemon");
    WAIT_UNTIL(look(r, 0) == 1);
    end_main(r);
    WAIT_UNTIL(look(r, 0) == 1);
    assert_int_equal(look(r, SIGKILL), 1);
    assert_int_equal(r->kills, 1);
    assert_int_equal(look(r, 0), 0);
}

/* A stranger in the group, say: not all of it may be killed at once. */
static void cgroup_kill_is_used_only_if_everyone_is_to_be_ended(void **state)
{
    struct rig *r = rig_of(state);
    struct ident sibling;

    if (!use_group(r))
        skip();
    start(r, "./victim & echo $! >sibling; exec setsid sh -c 'echo $$ >main; "
             "exec ./victim --children 2'");
    sibling = ident_in(r, "sibling");
    r->want.main = ident_in(r, "main");
    WAIT_UNTIL(*siblings(r));
    r->want.siblings = arena_strdup(&r->arena, r->siblings);
    WAIT_UNTIL(look(r, 0) == 2);
    end_main(r);
    assert_int_equal(look(r, SIGKILL), 2);
    assert_int_equal(r->kills, 0);
    assert_true(lives(r, &sibling));
    assert_int_equal(look(r, 0), 0);
}

/* It is the next run: a name of a member took long to read. */
static void one_that_enters_the_group_meanwhile_is_not_ended(void **state)
{
    struct rig *r = rig_of(state);
    struct spawn_result next;

    if (!use_group(r))
        skip();
    next = world_start(r->w, r->w->root, "exec ./victim");
    start(r, "exec ./victim --children 2");
    WAIT_UNTIL(look(r, 0) == 2);
    end_main(r);
    r->others[0] = next.id;
    r->joins = next.id.pid;
    r->lists = 0;
    assert_int_equal(look(r, SIGKILL), 2);
    assert_int_equal(r->kills, 0);
    r->joins = 0;
    WAIT_UNTIL(look(r, 0) == 0);
    assert_true(lives(r, &next.id));
}

static void nothing_gets_a_signal_once_it_is_dropped(void **state)
{
    static const int numbers[] = { SIGTERM, SIGKILL };
    struct rig *r = rig_of(state);

    (void)use_group(r);
    start(r, "exec ./victim --children 2");
    WAIT_UNTIL(look(r, 0) == 2);
    end_main(r);
    r->want.is_dropped = is_dropped;
    r->is_dropped = true;
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
        assert_int_equal(look(r, numbers[i]), 2);
    assert_int_equal(r->kills, 0);
    r->is_dropped = false;
    assert_int_equal(look(r, SIGKILL), 2); /* they live, and are not stopped for ever */
    WAIT_UNTIL(look(r, 0) == 0);
}

static void too_many_siblings_are_a_star(void **state)
{
    struct rig *r = rig_of(state);

    if (!use_group(r))
        skip();
    start(r, world_text("./victim --children %d & echo $! >a; ./victim & echo $! >main; wait",
                        FAMILY_SIBLINGS_MAX));
    r->want.main = ident_in(r, "main");
    WAIT_UNTIL(!strcmp(siblings(r), "*"));
    r->want.siblings = "*";
    end_main(r);
    assert_int_equal(look(r, 0), 1); /* the command that still runs */
    assert_string_equal(r->got.others, "");
}

#ifdef __SANITIZE_ADDRESS__
enum { MANY = 1500 };
#else
enum { MANY = 10000 };
#endif

static void many_are_counted_a_few_are_named_and_all_are_ended(void **state)
{
    struct rig *r = rig_of(state);

    start(r, world_text("./victim --children %d", MANY));
    WAIT_UNTIL(look(r, 0) == MANY);
    assert_non_null(strstr(english(r->got.names), world_text(" and %d more", MANY - 10)));
    end_main(r);
    assert_int_equal(look(r, SIGKILL), MANY);
    WAIT_UNTIL(look(r, 0) == 0);
}

/* Any call refused: an error, and a second try ends them all; or it was done all the same. */
static void every_call_that_fails_can_be_tried_again(void **state)
{
    struct rig *r = rig_of(state);
    struct err err = { 0 };
    bool hit = true;

    if (!use_group(r))
        r->want.cgroup = NULL;
    for (int nth = 1; hit; nth++) {
        start(r, "./victim --children 2");
        WAIT_UNTIL(look(r, 0) == 2);
        end_main(r);
        r->cgroup.kill = nth % 2 ? kill_group : NULL;
        sys_fault("any", nth, ENFILE);
        (void)family_find(&r->want, SIGKILL, &r->arena, &r->got, &err);
        hit = sys_fault_hit();
        sys_fault("any", 0, 0);
        look(r, SIGKILL);
        WAIT_UNTIL(look(r, 0) == 0);
        world_end(&r->start);
        close(r->start.pidfd);
        r->w->n--;
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

static int all_tests(void)
{
    const struct CMUnitTest tests[] = {
        TEST(without_a_cgroup),
        TEST(with_a_cgroup),
        TEST(nobody_leaves_the_cgroup),
        TEST(cgroup_kill_is_used_only_if_everyone_is_to_be_ended),
        TEST(one_that_enters_the_group_meanwhile_is_not_ended),
        TEST(nothing_gets_a_signal_once_it_is_dropped),
        TEST(too_many_siblings_are_a_star),
        TEST(many_are_counted_a_few_are_named_and_all_are_ended),
        TEST(every_call_that_fails_can_be_tried_again),
    };

    return cmocka_run_group_tests_name("family", tests, NULL, NULL);
}

int main(void)
{
    return geteuid() ? WORLD_SKIPPED : own_pids_run(all_tests);
}
