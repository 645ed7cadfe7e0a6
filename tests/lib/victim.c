/* SPDX-License-Identifier: MIT */
/* victim.c - a daemon that misbehaves as it is told, for tests of what looks after
 * daemons.  It ends by itself after --life-ms (60,000) whatever else it does, and so
 * do all it forks, so that a test that dies leaves nothing behind. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { FORKS_MAX = 10000, HUGE_BYTES = 1 << 20 };

static struct {
    int64_t life_ms, start_ms, crash_ms, pid_late_ms, flood_bytes, grow_bytes;
    int exit_code, crash_signal, children, forks, storm, port;
    const char *pid_file, *pid_kind, *name, *print, *slot, *usr1_name, *usr1_exec, *lease;
    bool has_exit, daemonize, ignore_term, orphans, notify, flood, stop_self, no_reap, burn, brief;
} opt = { .life_ms = 60000, .crash_ms = -1, .pid_kind = "good" };

static int64_t born_ms; /* of the first of us; the children count from there too */

/* clang-format off */
static const struct option options[] = {
    { "help", 0, NULL, 'h' },
    { "life-ms", 1, NULL, 'l' },       /* ends by itself, with 0 */
    { "exit", 1, NULL, 'e' },          /* ends at once with this code (after --start-ms) */
    { "crash-signal", 1, NULL, 's' },  /* dies of it after --crash-ms */
    { "crash-ms", 1, NULL, 'c' },
    { "ignore-term", 0, NULL, 't' },
    { "daemonize", 0, NULL, 'd' },     /* double fork; the first one ends with 0 */
    { "start-ms", 1, NULL, 'w' },      /* sleeps before anything else */
    { "pid-file", 1, NULL, 'p' },
    { "pid-kind", 1, NULL, 'k' },      /* good, one, self-parent, empty, huge, binary, NUMBER */
    { "pid-late-ms", 1, NULL, 'P' },
    { "flood", 2, NULL, 'f' },         /* output without end, or so many bytes */
    { "lease", 1, NULL, 'E' },         /* leases its output whenever it can; floods when this file is there */
    { "print", 1, NULL, 'o' },         /* one line on output, one on errors */
    { "children", 1, NULL, 'C' },      /* that do nothing */
    { "orphans", 0, NULL, 'O' },       /* ends and leaves them */
    { "forks", 1, NULL, 'F' },         /* each child forks the next, up to so many */
    { "name", 1, NULL, 'n' },          /* renames itself */
    { "notify", 0, NULL, 'N' },        /* READY=1 to $NOTIFY_SOCKET */
    { "stop-self", 0, NULL, 'S' },     /* SIGSTOP */
    { "slot", 1, NULL, 'L' },          /* a file: notes its beginning there, and whether it is alone */
    { "storm", 1, NULL, 'M' },         /* all of them fork as long as the user has not so many processes */
    { "no-reap", 0, NULL, 'R' },       /* lives as a child of one that never waits for it */
    { "burn", 0, NULL, 'B' },          /* it and its children use all the processor they get */
    { "brief", 0, NULL, 'b' },         /* one child after the other does, each for a moment */
    { "grow", 1, NULL, 'g' },          /* uses so many bytes of memory */
    { "listen", 1, NULL, 'T' },        /* on this TCP port of 127.0.0.1; accepts nothing */
    { "usr1-name", 1, NULL, 'u' },     /* renames itself when it is told to */
    { "usr1-exec", 1, NULL, 'x' },     /* becomes this program when it is told to */
    { 0 },
};
/* clang-format on */

static int64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void nap_ms(int64_t ms)
{
    struct timespec t = { ms / 1000, ms % 1000 * 1000000 };

    while (nanosleep(&t, &t) && errno == EINTR)
        ;
}

static int64_t left_ms(void)
{
    int64_t left = born_ms + opt.life_ms - now_ms();

    return left > 0 ? left : 0;
}

static void die(const char *what)
{
    perror(what);
    exit(99);
}

static int64_t number(const char *text)
{
    char *end;
    int64_t n = strtoll(text, &end, 10);

    if (*end || end == text) {
        fprintf(stderr, "victim: %s is no number\n", text);
        exit(98);
    }
    return n;
}

static void usage(void)
{
    puts("victim: a daemon that misbehaves as it is told");
    for (const struct option *o = options; o->name; o++)
        printf("  --%s%s\n", o->name, o->has_arg ? " X" : "");
    exit(0);
}

static void take(int letter, const char *arg)
{
    switch (letter) {
    case 'l': opt.life_ms = number(arg); break;
    case 'e': opt.has_exit = true, opt.exit_code = (int)number(arg); break;
    case 's': opt.crash_signal = (int)number(arg); break;
    case 'c': opt.crash_ms = number(arg); break;
    case 't': opt.ignore_term = true; break;
    case 'T': opt.port = (int)number(arg); break;
    case 'd': opt.daemonize = true; break;
    case 'w': opt.start_ms = number(arg); break;
    case 'p': opt.pid_file = arg; break;
    case 'k': opt.pid_kind = arg; break;
    case 'P': opt.pid_late_ms = number(arg); break;
    case 'f': opt.flood = true, opt.flood_bytes = arg ? number(arg) : INT64_MAX; break;
    case 'E': opt.lease = arg; break;
    case 'o': opt.print = arg; break;
    case 'C': opt.children = (int)number(arg); break;
    case 'O': opt.orphans = true; break;
    case 'F': opt.forks = (int)number(arg); break;
    case 'n': opt.name = arg; break;
    case 'N': opt.notify = true; break;
    case 'S': opt.stop_self = true; break;
    case 'L': opt.slot = arg; break;
    case 'M': opt.storm = (int)number(arg); break;
    case 'R': opt.no_reap = true; break;
    case 'B': opt.burn = true; break;
    case 'b': opt.brief = true; break;
    case 'g': opt.grow_bytes = number(arg); break;
    case 'u': opt.usr1_name = arg; break;
    case 'x': opt.usr1_exec = arg; break;
    case 'h': usage(); break;
    default: exit(98);
    }
}

/* For the second process of a double fork: the process that waits for the first may go on. */
static void go_behind(void)
{
    pid_t pid = fork();

    if (pid < 0)
        die("fork");
    if (pid > 0)
        _exit(0);
    if (setsid() < 0)
        die("setsid");
    pid = fork();
    if (pid < 0)
        die("fork");
    if (pid > 0)
        _exit(0);
}

static void fill_huge(int fd)
{
    static char block[4096];

    memset(block, '7', sizeof(block));
    for (int done = 0; done < HUGE_BYTES; done += (int)sizeof(block)) {
        if (write(fd, block, sizeof(block)) < 0)
            die("write");
    }
}

static void write_pid_file(void)
{
    int fd = open(opt.pid_file, O_WRONLY | O_CREAT | O_TRUNC, 0644);

    if (fd < 0)
        die(opt.pid_file);
    if (!strcmp(opt.pid_kind, "good"))
        dprintf(fd, "%d\n", (int)getpid());
    else if (!strcmp(opt.pid_kind, "one"))
        dprintf(fd, "1\n");
    else if (!strcmp(opt.pid_kind, "self-parent"))
        dprintf(fd, "%d\n", (int)getppid());
    else if (!strcmp(opt.pid_kind, "huge"))
        fill_huge(fd);
    else if (!strcmp(opt.pid_kind, "binary"))
        dprintf(fd, "\x7f%c%d", 0, (int)getpid());
    else if (strcmp(opt.pid_kind, "empty") != 0)
        dprintf(fd, "%d\n", (int)number(opt.pid_kind));
    close(fd);
}

static void tell_ready(void)
{
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un to = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
    size_t n = path ? strlen(path) : 0;

    if (!n || n >= sizeof(to.sun_path)) {
        fprintf(stderr, "victim: NOTIFY_SOCKET is not set, or too long\n");
        exit(97);
    }
    memcpy(to.sun_path, path, n);
    if (to.sun_path[0] == '@')
        to.sun_path[0] = '\0';
    if (sendto(fd, "READY=1", 7, 0, (struct sockaddr *)&to,
               (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n)) < 0)
        die("notify");
    close(fd);
}

/* The holder of the lock is alone; the kernel releases the lock before the end is reported. */
static void take_slot(void)
{
    struct flock lock = { .l_type = F_WRLCK };
    int fd = open(opt.slot, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);

    if (fd < 0)
        die(opt.slot);
    dprintf(fd, "%s %d\n", fcntl(fd, F_SETLK, &lock) ? "double" : "begun", (int)getpid());
}

/* The one that stays behind can not be told from a daemon that forgets its children. */
static void leave_parent(void)
{
    pid_t pid = fork();

    if (pid < 0)
        die("fork");
    if (pid > 0) {
        nap_ms(left_ms());
        _exit(0);
    }
}

static void on_usr1(int number)
{
    (void)number;
    if (opt.usr1_name)
        prctl(PR_SET_NAME, opt.usr1_name);
    if (opt.usr1_exec)
        execl(opt.usr1_exec, opt.usr1_exec, "--life-ms", "120000", NULL);
}

/* Until then, or the end of its life. */
static void burn_for(int64_t ms)
{
    for (int64_t end_ms = now_ms() + ms; now_ms() < end_ms && left_ms() > 0;)
        ;
}

static void burn_briefly(void)
{
    while (left_ms() > 0) {
        pid_t pid = fork();

        if (pid < 0)
            die("fork");
        if (pid == 0) {
            burn_for(20);
            _exit(0);
        }
        waitpid(pid, NULL, 0);
    }
}

static void grow(void)
{
    char *bytes = malloc((size_t)opt.grow_bytes);

    if (!bytes)
        die("malloc");
    memset(bytes, 1, (size_t)opt.grow_bytes);
    __asm__ volatile("" : : "r"(bytes) : "memory"); /* they are wanted */
}

static void fork_children(void)
{
    for (int i = 0; i < opt.children && i < FORKS_MAX; i++) {
        pid_t pid = fork();

        if (pid < 0)
            die("fork");
        if (pid == 0) {
            if (opt.burn)
                burn_for(left_ms());
            nap_ms(left_ms());
            _exit(0);
        }
    }
}

/* A line of ancestors, the last of which are still forking while the first is killed. */
static void fork_without_end(void)
{
    int left = opt.forks < FORKS_MAX ? opt.forks : FORKS_MAX;

    while (left-- > 0 && left_ms() > 0) {
        pid_t pid = fork();

        if (pid < 0)
            die("fork");
        if (pid > 0)
            return;
    }
}

/* Each of them, and again when others of them have been killed. */
static void fork_a_storm(void)
{
    const struct rlimit most = { (rlim_t)opt.storm, (rlim_t)opt.storm };

    if (opt.storm > FORKS_MAX || setrlimit(RLIMIT_NPROC, &most))
        die("RLIMIT_NPROC");
    if (!getuid()) {
        fprintf(stderr, "victim: nothing bounds a storm of root's\n");
        exit(97);
    }
    while (left_ms() > 0) {
        if (fork() < 0)
            nap_ms(1);
    }
}

static void lease_output(void)
{
    (void)fcntl(1, F_SETLEASE, F_WRLCK); /* it may have one, or there may be none for it now */
}

static void wait_to_flood(void)
{
    signal(SIGIO, SIG_IGN); /* by that the kernel asks for the lease back */
    while (access(opt.lease, F_OK) && left_ms() > 0) {
        lease_output();
        nap_ms(1);
    }
}

static void flood_output(void)
{
    static char line[4096];
    int64_t left = opt.flood_bytes;

    if (opt.lease)
        wait_to_flood();
    memset(line, 'x', sizeof(line));
    line[sizeof(line) - 1] = '\n';
    while (left > 0 && left_ms() > 0) {
        ssize_t put = write(1, line, left < (int64_t)sizeof(line) ? (size_t)left : sizeof(line));

        if (put < 0)
            die("write");
        left -= put;
        if (opt.lease)
            lease_output();
    }
}

static void live(void)
{
    int64_t left = left_ms();

    if (opt.crash_ms >= 0 && opt.crash_ms < left) {
        nap_ms(opt.crash_ms);
        signal(opt.crash_signal, SIG_DFL);
        raise(opt.crash_signal);
        left = left_ms();
    }
    nap_ms(left);
}

/* The kernel accepts connections until its queue is full. */
static void listen_on_port(void)
{
    const struct sockaddr_in at = { .sin_family = AF_INET,
                                    .sin_port = htons((uint16_t)opt.port),
                                    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;

    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (bind(fd, (const struct sockaddr *)&at, sizeof(at)) || listen(fd, 4096))
        exit(99);
}

static void set_up(void)
{
    if (opt.start_ms > 0)
        nap_ms(opt.start_ms < opt.life_ms ? opt.start_ms : opt.life_ms);
    if (opt.ignore_term)
        signal(SIGTERM, SIG_IGN);
    if (opt.name)
        prctl(PR_SET_NAME, opt.name);
    if (opt.print) {
        dprintf(1, "%s\n", opt.print);
        dprintf(2, "%s\n", opt.print);
    }
    if (opt.daemonize)
        go_behind();
    if (opt.no_reap)
        leave_parent();
    if (opt.usr1_name || opt.usr1_exec)
        signal(SIGUSR1, on_usr1);
    if (opt.port)
        listen_on_port();
    nap_ms(opt.pid_late_ms);
    if (opt.pid_file && strcmp(opt.pid_kind, "never") != 0)
        write_pid_file();
    if (opt.slot)
        take_slot();
}

int main(int argc, char **argv)
{
    int letter;

    while ((letter = getopt_long(argc, argv, "h", options, NULL)) >= 0)
        take(letter, optarg);
    born_ms = now_ms();
    set_up();
    if (opt.has_exit)
        return opt.exit_code;
    if (!opt.print && !opt.flood)
        dprintf(1, "%d\n", (int)getpid());
    if (opt.notify)
        tell_ready();
    fork_children();
    fork_without_end();
    if (opt.storm)
        fork_a_storm();
    if (opt.flood)
        flood_output();
    if (opt.grow_bytes)
        grow();
    if (opt.burn)
        burn_for(left_ms());
    if (opt.brief)
        burn_briefly();
    if (opt.stop_self)
        raise(SIGSTOP);
    if (!opt.orphans)
        live();
    return 0;
}
