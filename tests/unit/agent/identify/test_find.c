/* SPDX-License-Identifier: MIT */
#include "agent/identify/find.h"

#include <sched.h>
#include <sys/mount.h>

#include "tests/lib/agent_world.h"
#include "tests/lib/readable.h"
#include "tests/lib/wide_text.h"

static struct find_want want(struct world *w, const struct user *user, const char *name)
{
    static char pid_path[96];

    snprintf(pid_path, sizeof(pid_path), "%s/x.pid", w->dir);
    return (struct find_want){
        .pid_path = pid_path, .proc_name = name, .setup_path = w->dir, .user = user
    };
}

static struct find_result find(struct world *w, const struct find_want *f)
{
    struct find_result r = { .pidfd = -1 };
    struct err err = { 0 };

    if (find_process(f, w->boot_id, &r, &err))
        fail_msg("%s", err.text);
    close(r.pidfd);
    snprintf(r.text, sizeof(r.text), "%s", english(r.text));
    return r;
}

static void what_does_not_fit_is_said_in_chinese(void **state)
{
    struct world *w = *state;
    struct find_want f = want(w, w->nobody, "zookeeper");
    struct spawn_result started = world_start(w, w->nobody, "./victim");
    struct find_result r = { .pidfd = -1 };
    struct err err = { 0 };
    char chinese[1024];

    WAIT_UNTIL(world_read(w->out)[0]); /* it is the victim by now */
    assert_int_equal(find_process(&f, w->boot_id, &r, &err), 0);
    readable(chinese, sizeof(chinese), r.text, LANG_ZH);
    assert_string_equal(chinese,
                        world_text("没有 PID 文件 %s，且 %s 下没有程序文件符合 zookeeper 的进程",
                                   f.pid_path, w->dir));
    world_write(f.pid_path, world_text("%lld\n", (long long)started.id.pid));
    assert_int_equal(find_process(&f, w->boot_id, &r, &err), 0);
    readable(chinese, sizeof(chinese), r.text, LANG_ZH);
    assert_string_equal(chinese,
                        world_text("PID 文件 %s 指向 %lld，其程序是 victim，应为 zookeeper",
                                   f.pid_path, (long long)started.id.pid));
    world_write(f.pid_path, "many\n");
    assert_int_equal(find_process(&f, w->boot_id, &r, &err), 0);
    readable(chinese, sizeof(chinese), r.text, LANG_ZH);
    assert_string_equal(chinese, world_text("PID 文件 %s 中没有数字，应为 PID", f.pid_path));
}

static void names(const char *text, struct procfs_names *to)
{
    *to = (struct procfs_names){ 0 };
    sscanf(text, "%63[^,],%255[^,],%255[^,],%255s", to->comm, to->exe, to->argv0, to->script);
}

static void a_name_fits_whole_or_not_at_all(void **state)
{
    static const struct {
        const char *names, *proc_name;
        bool fits;
    } cases[] = {
        { "zookeeper,java,java", "zookeeper", true },
        { "x,zookeeper,java", "zookeeper", true },
        { "x,java,zookeeper", "zookeeper", true },
        { "x,python3,python3,zookeeper", "zookeeper", true },
        { "zookeepe,zookeepers,azookeeper,zookeeper.sh", "zookeeper", false },
        { "zookeeper-serve,java,java", "zookeeper-server-a", false }, /* cut at 15 */
        { "x,java,java", "", false },
        { "Zookeeper,java,java", "zookeeper", false },
    };
    struct procfs_names n;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        names(cases[i].names, &n);
        if (find_name_fits(&n, cases[i].proc_name) != cases[i].fits)
            fail_msg("%s, %s", cases[i].names, cases[i].proc_name);
    }
}

static void the_process_in_the_pid_file_is_found(void **state)
{
    static const char *const flags[] = { "", "--daemonize", "--pid-late-ms 50" };
    struct world *w = *state;
    const struct user *users[] = { w->root, w->nobody };

    for (size_t i = 0; i < ARRAY_LEN(flags) * 2; i++) {
        const struct user *u = users[i % 2];
        struct find_want f = want(w, u, "victim");
        struct find_result r;
        struct err err;
        size_t n;

        assert_int_equal(chown(w->dir, u->uid, u->gid), 0);
        world_start(w, u, world_text("./victim %s --pid-file %s", flags[i / 2], f.pid_path));
        WAIT_UNTIL(strtol(world_read(f.pid_path), NULL, 10) > 1);
        r = find(w, &f);
        if (r.kind != FIND_FOUND)
            fail_msg("%s: %s", flags[i / 2], r.text);
        assert_int_equal(r.id.pid, strtol(world_read(f.pid_path), NULL, 10));
        assert_string_equal(r.id.boot_id, w->boot_id);
        assert_int_equal(tree_kill(&r.id, false, NULL, &n, &err), 0);
        assert_int_equal(unlink(f.pid_path), 0);
    }
}

static void what_does_not_fit_is_said(void **state)
{
    struct world *w = *state;
    struct find_want f = want(w, w->nobody, "zookeeper");
    struct spawn_result r = world_start(w, w->nobody, "./victim");
    long long pid = r.id.pid;
    struct find_result got;

    WAIT_UNTIL(world_read(w->out)[0]); /* it is the victim by now */
    world_write(f.pid_path, world_text("%lld\n", pid));
    got = find(w, &f);
    assert_int_equal(got.kind, FIND_MISMATCH);
    assert_int_equal(got.pidfd, -1);
    assert_string_equal(got.text,
                        world_text("pid file %s names %lld whose exe is victim, expected zookeeper",
                                   f.pid_path, pid));
    assert_string_equal(got.program, "victim");
    assert_string_equal(got.script, "");
    f.proc_name = "victim";
    got = find(w, &f);
    assert_int_equal(got.kind, FIND_FOUND);
    assert_string_equal(got.program, "");
    r = world_start(w, w->root, "./victim");
    WAIT_UNTIL(strstr(world_read(w->out), world_text("%lld", (long long)r.id.pid)));
    world_write(f.pid_path, world_text("%lld\n", (long long)r.id.pid));
    got = find(w, &f);
    assert_int_equal(got.kind, FIND_MISMATCH);
    assert_string_equal(got.text, world_text("pid file %s names %lld, a victim of uid 0, expected "
                                             "uid 65534 (nobody)",
                                             f.pid_path, (long long)r.id.pid));
    f.user = w->root; /* root may keep any user's */
    assert_int_equal(find(w, &f).kind, FIND_FOUND);
}

static void a_path_with_the_name_in_it_does_not_fit(void **state)
{
    struct world *w = *state;
    struct find_want f = want(w, w->root, "zookeeper");
    struct spawn_result r;

    mkdir(world_text("%s/zookeeper", w->dir), 0755);
    r = world_start(w, w->root, "./victim --print zookeeper --pid-file zookeeper/pid");
    WAIT_UNTIL(world_read(world_text("%s/zookeeper/pid", w->dir))[0]);
    world_write(f.pid_path, world_text("%lld\n", (long long)r.id.pid));
    assert_int_equal(find(w, &f).kind, FIND_MISMATCH);
}

/* No process has this pid: those that the kernel gives are lower. */
static int64_t pid_max(void)
{
    return strtoll(world_read("/proc/sys/kernel/pid_max"), NULL, 10);
}

static void lies_in_a_pid_file_do_no_harm(void **state)
{
    static const struct {
        const char *content;
        enum find_kind kind;
        const char *text;
    } cases[] = {
        { "1\n", FIND_MISMATCH, "names pid 1" },  { "%self\n", FIND_MISMATCH, "the agent itself" },
        { "", FIND_MISMATCH, "is empty" },        { "%dead\n", FIND_NONE, "there is no process" },
        { "%zombie\n", FIND_NONE, "zombie" },     { "-5\n", FIND_MISMATCH, "negative" },
        { "text\n", FIND_MISMATCH, "no number" }, { "2\n", FIND_MISMATCH, "expected victim" },
    };
    struct world *w = *state;
    struct find_want f = want(w, w->root, "victim");
    struct spawn_result zombie = world_start(w, w->root, "./victim --exit 0");
    int64_t never = pid_max();

    WAIT_UNTIL(world_ended(zombie.pidfd));
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *c = cases[i].content;
        int64_t pid = strstr(c, "self") ? getpid() : strstr(c, "dead") ? never : zombie.id.pid;
        struct find_result got;

        if (!strcmp(c, "2\n") && (kill(2, 0) || getpid() == 2))
            continue; /* no kernel thread to be seen here */
        world_write(f.pid_path, c[0] == '%' ? world_text("%lld\n", (long long)pid) : c);
        got = find(w, &f);
        if (got.kind != cases[i].kind || !strstr(got.text, cases[i].text))
            fail_msg("%s: %d %s", c, (int)got.kind, got.text);
    }
}

/* With the uid of another, but from our own start: a helper that changes users. */
static void what_our_own_start_made_is_ours(void **state)
{
    struct world *w = *state;
    struct find_want f = want(w, w->nobody, "victim");
    struct spawn_result shell = world_start(w, w->root, "./victim --children 1 & wait");
    struct find_result got;
    int64_t pid;

    WAIT_UNTIL((pid = strtol(world_read(w->out), NULL, 10)) > 1);
    world_write(f.pid_path, world_text("%lld\n", (long long)pid));
    assert_int_equal(find(w, &f).kind, FIND_MISMATCH);
    f.start.id = shell.id;
    assert_int_equal(find(w, &f).kind, FIND_FOUND);
    f.start.id.start_ticks--; /* another process with that pid, or one after it */
    assert_int_equal(find(w, &f).kind, FIND_MISMATCH);
    f.start = (struct find_start){ .cgroup = "/holdfast/not/this" };
    assert_int_equal(find(w, &f).kind, FIND_MISMATCH);
    /* The shell is gone, its session is not. */
    world_kill(shell.id.pid);
    world_end(&shell);
    f.start = (struct find_start){ .id = shell.id };
    got = find(w, &f);
    assert_int_equal(got.kind, FIND_FOUND);
    assert_int_equal(got.id.pid, pid);
}

static void without_a_pid_file_the_exe_is_searched_for(void **state)
{
    struct world *w = *state;
    struct find_want f = want(w, w->nobody, "zk");
    struct spawn_result first, second;
    struct find_result got;

    world_copy_victim(world_text("%s/zk", w->dir));
    got = find(w, &f);
    assert_int_equal(got.kind, FIND_NONE);
    assert_string_equal(got.text, world_text("there is no pid file %s, and no process of a file "
                                             "under %s fits zk",
                                             f.pid_path, w->dir));
    world_start(w, w->root, "./zk");                        /* another user's */
    world_start(w, w->nobody, "./victim");                  /* another name's */
    first = world_start(w, w->nobody, "./zk --children 3"); /* a family */
    WAIT_UNTIL(strstr(world_read(w->out), world_text("%lld", (long long)first.id.pid)));
    got = find(w, &f);
    assert_int_equal(got.kind, FIND_FOUND);
    assert_int_equal(got.id.pid, first.id.pid);
    f.pid_path = ""; /* none is named at all */
    assert_int_equal(find(w, &f).kind, FIND_FOUND);
    second = world_start(w, w->nobody, "./zk");
    WAIT_UNTIL(strstr(world_read(w->out), world_text("%lld", (long long)second.id.pid)));
    got = find(w, &f);
    assert_int_equal(got.kind, FIND_UNSURE);
    assert_non_null(strstr(got.text, "2 processes of user nobody fit zk under /tmp/"));
    f.pid_path = world_text("%s/none.pid", w->dir); /* it would say which, were it there */
    got = find(w, &f);
    assert_int_equal(got.kind, FIND_MISMATCH);
    assert_non_null(strstr(got.text, "several processes"));
    f.setup_path = "/";
    assert_int_equal(find(w, &f).kind, FIND_NONE);
    f.pid_path = "";
    f.setup_path = "/nowhere";
    assert_int_equal(find(w, &f).kind, FIND_NONE);
    f.setup_path = world_text("%s/z", w->dir); /* the begin of a name, not of a path */
    assert_int_equal(mkdir(f.setup_path, 0755), 0);
    assert_int_equal(find(w, &f).kind, FIND_NONE);
}

/* What an agent began last before it was killed is unknown. */
static void where_there_is_doubt_an_old_pid_file_is_not_the_end(void **state)
{
    struct world *w = *state;
    struct find_want f = want(w, w->nobody, "victim");
    struct spawn_result old = world_start(w, w->nobody, "./victim --exit 0"), now, other;

    world_end(&old);
    now = world_start(w, w->nobody, "./victim");
    WAIT_UNTIL(world_read(w->out)[0]);
    world_write(f.pid_path, world_text("%lld\n", (long long)old.id.pid));
    assert_int_equal(find(w, &f).kind, FIND_NONE);
    f.is_doubtful = true;
    assert_int_equal(find(w, &f).id.pid, now.id.pid);
    other = world_start(w, w->nobody, "exec sleep 60");
    WAIT_UNTIL(strstr(world_read(world_text("/proc/%lld/comm", (long long)other.id.pid)), "sleep"));
    world_write(f.pid_path, world_text("%lld\n", (long long)other.id.pid)); /* its pid, again */
    assert_int_equal(find(w, &f).id.pid, now.id.pid);
    world_kill(now.id.pid);
    world_end(&now);
    assert_int_equal(find(w, &f).kind, FIND_MISMATCH); /* what the file said is the answer */
    assert_non_null(strstr(find(w, &f).text, "whose exe is"));
}

static void setup_path_may_be_a_link(void **state)
{
    struct world *w = *state;
    struct find_want f = want(w, w->nobody, "victim");
    char link[96];

    snprintf(link, sizeof(link), "%s-link", w->dir);
    assert_int_equal(symlink(w->dir, link), 0);
    world_start(w, w->nobody, "./victim");
    WAIT_UNTIL(world_read(w->out)[0]);
    f.setup_path = link;
    assert_int_equal(find(w, &f).kind, FIND_FOUND);
    assert_int_equal(unlink(link), 0);
}

/* The kernel's word for a folder is one of many. */
static void setup_path_may_be_written_otherwise(void **state)
{
    static const struct {
        const char *before, *behind;
    } ways[] = { { "", "" }, { "", "/" }, { "", "//" }, { "", "/." }, { "/", "" }, { "/./", "" } };
    struct world *w = *state;
    struct find_want f = want(w, w->nobody, "victim");
    char path[256];

    world_start(w, w->nobody, "./victim");
    WAIT_UNTIL(world_read(w->out)[0]);
    for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
        snprintf(path, sizeof(path), "%s%s%s", ways[i].before, w->dir, ways[i].behind);
        f.setup_path = path;
        assert_int_equal(find(w, &f).kind, FIND_FOUND);
        sys_fault("openat2", 1, ENOSYS); /* a kernel that can not say that there are no links */
        assert_int_equal(find(w, &f).kind, FIND_FOUND);
        sys_fault("openat2", 0, 0);
    }
}

/* Its exe has the right path, but in a mount namespace of its own, where another file
 * stands there. */
static void a_process_in_a_container_is_not_meant(void **state)
{
    struct world *w = *state;
    struct find_want f = want(w, w->root, "victim");
    struct find_result got;
    int status, ready[2];
    pid_t pid;

    assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
    pid = fork();
    if (pid == 0) {
        if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
            mount("none", w->dir, "tmpfs", 0, NULL))
            _exit(77);
        world_copy_victim(w->victim);
        execl(w->victim, "victim", NULL);
        _exit(78);
    }
    close(ready[1]);
    assert_int_equal(read(ready[0], &status, 1), 0); /* at its exec, or its end */
    close(ready[0]);
    got = find(w, &f);
    world_kill(pid);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        skip(); /* not allowed here */
    assert_true(WIFSIGNALED(status));
    assert_int_equal(got.kind, FIND_NONE);
}

static void a_hostile_name_leaves_a_clean_text(void **state)
{
    struct world *w = *state;
    struct find_want f = want(w, w->root, "zk");
    struct find_result got;

    world_copy_victim(world_text("%s/\xFF\n\x1B[2J", w->dir));
    world_start(w, w->root, "exec \"./$(printf '\\377\\n\\033[2J')\"");
    WAIT_UNTIL(strtol(world_read(w->out), NULL, 10) > 1);
    world_write(f.pid_path, world_read(w->out));
    got = find(w, &f);
    assert_int_equal(got.kind, FIND_MISMATCH);
    assert_non_null(strstr(got.text, "exe is ???[2J, expected zk"));
}

/* What cannot be shown is a '?': there is none of them. */
static void a_path_that_is_too_long_is_shown_with_whole_characters(void **state)
{
    struct world *w = *state;
    struct spawn_result r = world_start(w, w->nobody, "./victim");

    WAIT_UNTIL(world_read(w->out)[0]);
    for (size_t i = 0; i < WIDE_TEXTS; i++) {
        struct find_want f = want(w, w->nobody, "zookeeper");
        char name[240], folder[320], path[600];
        struct find_result got;

        utf8_printf(name, sizeof(name), "%s", wide_text(i));
        snprintf(folder, sizeof(folder), "%s/%s", w->dir, name);
        snprintf(path, sizeof(path), "%s/%s", folder, name);
        assert_int_equal(mkdir(folder, 0755), 0);
        world_write(path, world_text("%lld\n", (long long)r.id.pid));
        f.pid_path = path;
        got = find(w, &f);
        assert_int_equal(got.kind, FIND_MISMATCH);
        assert_non_null(strstr(got.text, "whose exe is victim, expected zookeeper"));
        assert_whole_text(got.text);
        assert_null(strchr(got.text, '?'));
        unlink(path);
        rmdir(folder);
    }
}

/* ---- a pid file that others can write to */

static struct spawn_result start_victim(struct world *w, const struct user *user)
{
    struct spawn_result r = world_start(w, user, "./victim");

    WAIT_UNTIL(strstr(world_read(w->out), world_text("%lld", (long long)r.id.pid)));
    return r;
}

static void a_pid_file_that_others_can_write_to_finds_nobody(void **state)
{
    static const struct {
        mode_t folder, file;
        bool is_safe;
    } cases[] = {
        { 0755, 0644, true },  { 0755, 0666, false },  { 0777, 0644, false },
        { 01777, 0644, true }, { 01777, 0666, false }, { 0755, 0664, false },
    };
    struct world *w = *state;
    const struct user *users[] = { w->root, w->nobody };

    for (size_t i = 0; i < 2 * ARRAY_LEN(cases); i++) {
        const struct user *user = users[i % 2];
        struct spawn_result r = start_victim(w, user);
        struct find_want f = want(w, user, "victim");
        struct find_result got;

        world_write(f.pid_path, world_text("%lld\n", (long long)r.id.pid));
        assert_int_equal(chown(f.pid_path, user->uid, 1), 0);
        assert_int_equal(chmod(f.pid_path, cases[i / 2].file), 0);
        assert_int_equal(chmod(w->dir, cases[i / 2].folder), 0);
        got = find(w, &f);
        if (got.kind != (cases[i / 2].is_safe ? FIND_FOUND : FIND_UNSURE))
            fail_msg("%s, %zu: %d %s", user->name, i / 2, (int)got.kind, got.text);
        if (!cases[i / 2].is_safe)
            assert_non_null(strstr(got.text, "x.pid is not used: "));
        f.start.id = r.id; /* it is of our own start: nothing rests on the file */
        got = find(w, &f);
        if (got.kind != FIND_FOUND || got.id.pid != r.id.pid)
            fail_msg("%s, %zu: %d %s", user->name, i / 2, (int)got.kind, got.text);
        f.start = (struct find_start){ 0 };
        f.is_of_start = true; /* which has ended: this one is not it */
        assert_int_equal(find(w, &f).kind, cases[i / 2].is_safe ? FIND_FOUND : FIND_NONE);
    }
    assert_int_equal(chmod(w->dir, 0755), 0);
}

static void with_user_root_an_owner_can_name_only_processes_of_its_own(void **state)
{
    struct world *w = *state;
    struct find_want f = want(w, w->root, "victim");
    struct spawn_result own = start_victim(w, w->nobody), roots = start_victim(w, w->root);
    struct find_result got;

    world_write(f.pid_path, world_text("%lld\n", (long long)own.id.pid));
    assert_int_equal(chown(f.pid_path, w->nobody->uid, 0), 0);
    assert_int_equal(find(w, &f).kind, FIND_FOUND);
    assert_int_equal(chown(w->dir, w->nobody->uid, 0), 0);
    assert_int_equal(find(w, &f).kind, FIND_FOUND);
    world_write(f.pid_path, world_text("%lld\n", (long long)roots.id.pid));
    got = find(w, &f);
    assert_int_equal(got.kind, FIND_UNSURE);
    assert_string_equal(
        got.text, world_text("pid file %s is not used: it belongs to uid 65534, but process %lld "
                             "that it names runs as uid 0; change its owner to root",
                             f.pid_path, (long long)roots.id.pid));
    assert_int_equal(chown(f.pid_path, 0, 0), 0); /* root's, where no other user can replace it */
    assert_int_equal(find(w, &f).kind, FIND_UNSURE);
    assert_int_equal(chown(w->dir, 0, 0), 0);
    assert_int_equal(find(w, &f).kind, FIND_FOUND);
}

/* A user that may read a file may put a lease on it, and an open would wait for that. */
static void a_lease_on_the_pid_file_is_an_answer_at_once(void **state)
{
    struct world *w = *state;
    struct find_want f = want(w, w->root, "victim");
    struct spawn_result r = start_victim(w, w->root);
    struct find_result got;
    int fd;

    world_write(f.pid_path, world_text("%lld\n", (long long)r.id.pid));
    signal(SIGIO, SIG_IGN);
    fd = open(f.pid_path, O_RDWR | O_CLOEXEC);
    assert_int_equal(fcntl(fd, F_SETLEASE, F_WRLCK), 0);
    got = find(w, &f);
    assert_int_equal(got.kind, FIND_UNSURE);
    assert_string_equal(
        got.text, world_text("pid file %s can not be opened now: it has a lease", f.pid_path));
    close(fd);
    assert_int_equal(find(w, &f).kind, FIND_FOUND);
}

static bool find_kernel_thread(void *arg, pid_t pid)
{
    struct procfs_stat st, *ret = arg;
    struct err err;

    if (procfs_stat(pid, &st, &err) || !st.is_kernel_thread)
        return true;
    *ret = st;
    return false;
}

static void a_kernel_thread_is_never_a_match(void **state)
{
    struct world *w = *state;
    struct procfs_stat thread = { 0 };
    struct find_want f;
    struct find_result got;
    struct err err;

    assert_int_equal(procfs_each(find_kernel_thread, &thread, &err), 0);
    if (!thread.pid)
        skip(); /* in a pid namespace there is none to be seen */
    f = want(w, w->root, thread.comm);
    world_write(f.pid_path, world_text("%lld\n", (long long)thread.pid));
    got = find(w, &f);
    assert_int_equal(got.kind, FIND_MISMATCH);
    assert_non_null(strstr(got.text, "a kernel thread"));
    f.pid_path = f.setup_path = "";
    assert_int_equal(find(w, &f).kind, FIND_NONE);
}

/* ---- without a pid_path, and without a setup_path */

static struct spawn_result start_named(struct world *w, const struct user *user, const char *name)
{
    struct spawn_result r = world_start(w, user, world_text("./%s", name));

    WAIT_UNTIL(strstr(world_read(w->out), world_text("%lld", (long long)r.id.pid)));
    return r;
}

static int64_t world_ticks(void)
{
    struct timespec t;

    clock_gettime(CLOCK_BOOTTIME, &t);
    return (int64_t)t.tv_sec * 100 + t.tv_nsec / 10000000;
}

static void without_paths_the_only_one_of_its_name_and_user_is_found(void **state)
{
    struct world *w = *state;
    char name[32];
    struct find_want f = { .pid_path = "", .proc_name = name, .setup_path = "" };
    struct spawn_result first, second;
    struct find_result got;

    snprintf(name, sizeof(name), "lone%d", (int)getpid()); /* the whole host is searched */
    f.user = w->nobody;
    world_copy_victim(world_text("%s/%s", w->dir, name));
    got = find(w, &f);
    assert_int_equal(got.kind, FIND_NONE);
    assert_string_equal(got.text, world_text("no pid file is named, and no process fits %s", name));
    start_named(w, w->root, name);
    assert_int_equal(find(w, &f).kind, FIND_NONE);
    first = start_named(w, w->nobody, name);
    got = find(w, &f);
    assert_int_equal(got.kind, FIND_FOUND);
    assert_int_equal(got.id.pid, first.id.pid);
    WAIT_UNTIL(world_ticks() >
               first.id.start_ticks); /* else both are since the start of the second */
    second = start_named(w, w->nobody, name);
    got = find(w, &f);
    assert_int_equal(got.kind, FIND_UNSURE);
    assert_non_null(strstr(got.text, world_text("2 processes of user nobody fit %s: ", name)));
    assert_non_null(strstr(got.text, world_text("%lld", (long long)first.id.pid)));
    assert_non_null(strstr(got.text, world_text("%lld", (long long)second.id.pid)));
    f.start.id = second.id; /* the one we started */
    assert_int_equal(find(w, &f).id.pid, second.id.pid);
    f.is_of_start = true; /* which has ended: the other is not it */
    world_kill(second.id.pid);
    world_end(&second);
    assert_int_equal(find(w, &f).kind, FIND_NONE);
    f.is_of_start = false;
    assert_int_equal(find(w, &f).id.pid, first.id.pid);
    f.pid_path = "/nowhere/x.pid"; /* it would say which, were it there */
    assert_int_equal(find(w, &f).kind, FIND_NONE);
}

/* Job's calls may name neither path, and their account is root unless they say otherwise. */
static void without_a_pid_path_a_process_of_user_root_is_one_of_root(void **state)
{
    struct world *w = *state;
    char name[32];
    struct find_want f = { .pid_path = "", .proc_name = name, .setup_path = "", .user = w->root };
    struct spawn_result theirs, own, second;
    struct find_result got;

    snprintf(name, sizeof(name), "root%d", (int)getpid());
    world_copy_victim(world_text("%s/%s", w->dir, name));
    theirs = start_named(w, w->nobody, name);
    assert_int_equal(find(w, &f).kind, FIND_NONE);
    f.setup_path = w->dir;
    assert_int_equal(find(w, &f).kind, FIND_NONE);
    f.pid_path = world_text("%s/none.pid", w->dir); /* were it there, it could name that one */
    assert_int_equal(find(w, &f).id.pid, theirs.id.pid);
    f.pid_path = f.setup_path = "";
    f.start.id = theirs.id; /* started by us, as one that has given up its rights */
    assert_int_equal(find(w, &f).id.pid, theirs.id.pid);
    f.start = (struct find_start){ 0 };
    own = start_named(w, w->root, name);
    assert_int_equal(find(w, &f).id.pid, own.id.pid);
    second = start_named(w, w->root, name);
    got = find(w, &f);
    assert_int_equal(got.kind, FIND_UNSURE);
    assert_non_null(strstr(got.text, world_text("2 processes of user root fit %s: ", name)));
    assert_non_null(strstr(got.text, world_text("%lld", (long long)own.id.pid)));
    assert_non_null(strstr(got.text, world_text("%lld", (long long)second.id.pid)));
}

/* Else an app that may only look could see those of any user, by asking for user root. */
static void whoever_may_only_look_sees_processes_of_the_user_alone(void **state)
{
    struct world *w = *state;
    struct find_want f = want(w, w->root, "victim");
    struct spawn_result theirs = world_start(w, w->nobody, "./victim"), own;

    WAIT_UNTIL(strstr(world_read(w->out), world_text("%lld", (long long)theirs.id.pid)));
    for (int has_file = 0; has_file < 2; has_file++) {
        if (has_file)
            world_write(f.pid_path, world_text("%lld\n", (long long)theirs.id.pid));
        f.is_untrusted = true;
        assert_int_equal(find(w, &f).kind, has_file ? FIND_MISMATCH : FIND_NONE);
        f.is_untrusted = false;
        assert_int_equal(find(w, &f).id.pid, theirs.id.pid);
    }
    own = world_start(w, w->root, "./victim");
    WAIT_UNTIL(strstr(world_read(w->out), world_text("%lld", (long long)own.id.pid)));
    world_write(f.pid_path, world_text("%lld\n", (long long)own.id.pid));
    f.is_untrusted = true;
    assert_int_equal(find(w, &f).id.pid, own.id.pid);
}

static void fail_every_call(struct world *w, const char *command, const char *name, int at_least)
{
    struct find_want f = want(w, w->nobody, name);
    struct find_result got;
    struct err err;
    int errors = 0, fd;

    assert_int_equal(truncate(w->out, 0), 0);
    world_start(w, w->nobody, command);
    WAIT_UNTIL(world_read(w->out)[0]);
    world_write(f.pid_path, world_read(w->out));
    for (int nth = 1;; nth++) {
        int result;

        fd = dup(0);
        close(fd);
        sys_fault("any", nth, EMFILE);
        result = find_process(&f, w->boot_id, &got, &err);
        if (result) {
            errors++;
            assert_int_equal(err.sys, EMFILE);
        } else if (got.kind == FIND_FOUND) {
            close(got.pidfd);
        } else {
            fail_msg("call %d: %s", nth, got.text); /* trouble of ours is no answer */
        }
        assert_int_equal(dup(0), fd);
        close(fd);
        if (!sys_fault_hit())
            break;
    }
    assert_true(errors >= at_least);
}

/* By the name of the file it runs, and by another of its names. */
static void every_call_that_fails_is_an_error_or_said(void **state)
{
    struct world *w = *state;

    fail_every_call(w, "./victim", "victim", 10);
    fail_every_call(w, "bash -c 'exec -a alias ./victim'", "alias", 15);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_fits_whole_or_not_at_all),
        TEST(the_process_in_the_pid_file_is_found),
        TEST(what_does_not_fit_is_said),
        TEST(what_does_not_fit_is_said_in_chinese),
        TEST(a_path_with_the_name_in_it_does_not_fit),
        TEST(lies_in_a_pid_file_do_no_harm),
        TEST(what_our_own_start_made_is_ours),
        TEST(without_a_pid_file_the_exe_is_searched_for),
        TEST(where_there_is_doubt_an_old_pid_file_is_not_the_end),
        TEST(setup_path_may_be_a_link),
        TEST(setup_path_may_be_written_otherwise),
        TEST(a_process_in_a_container_is_not_meant),
        TEST(a_hostile_name_leaves_a_clean_text),
        TEST(a_path_that_is_too_long_is_shown_with_whole_characters),
        TEST(every_call_that_fails_is_an_error_or_said),
        TEST(a_pid_file_that_others_can_write_to_finds_nobody),
        TEST(with_user_root_an_owner_can_name_only_processes_of_its_own),
        TEST(a_lease_on_the_pid_file_is_an_answer_at_once),
        TEST(a_kernel_thread_is_never_a_match),
        TEST(without_paths_the_only_one_of_its_name_and_user_is_found),
        TEST(without_a_pid_path_a_process_of_user_root_is_one_of_root),
        TEST(whoever_may_only_look_sees_processes_of_the_user_alone),
    };

    if (geteuid())
        return WORLD_SKIPPED;
    return cmocka_run_group_tests_name("find", tests, NULL, NULL);
}
