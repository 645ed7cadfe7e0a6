/* SPDX-License-Identifier: MIT */
/* test_agent_ready.c - a whole agent with real processes that are ready, or say so. */
#include <fcntl.h>
#include <netinet/in.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "agent/shell/agent_notify.h"
#include "agent/shell/agent_parts.h"
#include "tests/lib/part.h"
#include "tests/lib/whole_agent.h"

/* Were it judged by its life, it would take an hour. */
static struct proc_spec spec_of(const char *start, enum proc_ready_kind kind)
{
    struct proc_spec s = whole_spec("p", start);

    s.policy.start_check_s = 3600;
    s.extra.ready.kind = kind;
    s.extra.ready.timeout_s = 50;
    return s;
}

static void assert_ends_with(int64_t item, int64_t code)
{
    TURN_UNTIL(whole_answers[item].has_come);
    if (whole_answers[item].code != code)
        fail_msg("%lld: %s", (long long)whole_answers[item].code, whole_answers[item].text);
}

static void turn_a_while(void)
{
    for (int i = 0; i < 25; i++)
        whole_turn();
}

/* ---- READY=1 */

static void who_says_it_is_ready(void **state)
{
    static const char *const starts[] = {
        "./victim --notify",                                             /* itself */
        "exec ./victim --notify",                                        /* out of a shell */
        "./victim --notify & wait",                                      /* a child of it */
        "./victim --notify --daemonize --pid-file p.pid",                /* no child any more */
        "./victim --pid-file p.pid & ./victim --notify --life-ms 20000", /* its launcher */
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(starts); i++) {
        const struct proc_spec spec = spec_of(starts[i], READY_NOTIFY);

        assert_ends_with(whole_command(PROC_OP_START, "p", &spec), CODE_OK);
        assert_ends_with(whole_command(PROC_OP_KILL, "p", &spec), CODE_OK);
        unlink(spec.identity.pid_path);
    }
}

static void say(const char *text)
{
    const char *name = notices_socket(whole.agent->notices);
    struct sockaddr_un to = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    memcpy(to.sun_path, name, strlen(name));
    to.sun_path[0] = '\0';
    if (sendto(fd, text, strlen(text), 0, (struct sockaddr *)&to,
               (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name))) < 0)
        _exit(1);
    close(fd);
}

/* Another process, because messages of the agent itself are ignored; it stays alive, so that the
 * sender can be identified. */
static pid_t let_a_stranger_say(const char *const *texts, size_t n, int times)
{
    bool has_said = false;
    char byte;
    int pipes[2];
    pid_t pid;

    assert_int_equal(pipe2(pipes, O_CLOEXEC | O_NONBLOCK), 0);
    pid = fork();
    if (pid == 0) {
        for (int i = 0; i < times; i++)
            say(texts[(size_t)i % n]);
        while (write(pipes[1], "x", 1) == 1)
            pause();
        _exit(1);
    }
    assert_true(pid > 1);
    TURN_UNTIL(has_said || (has_said = read(pipes[0], &byte, 1) == 1));
    close(pipes[0]);
    close(pipes[1]);
    return pid;
}

static void a_stranger_says_nothing(void **state)
{
    static const char *const texts[] = { "READY=1", "READY=1\nMAINPID=1",
                                         "MAINPID=99999999999999999999\nREADY=1\nSTATUS=x",
                                         "READY=10", "" };
    const struct proc_spec spec = spec_of("./victim", READY_NOTIFY);
    int64_t item = whole_command(PROC_OP_START, "p", &spec);
    pid_t pid;

    (void)state;
    turn_a_while();
    pid = let_a_stranger_say(texts, ARRAY_LEN(texts), ARRAY_LEN(texts));
    turn_a_while();
    assert_false(whole_answers[item].has_come);
    world_kill(pid);
}

/* The message of the awaited process arrives, however many other processes send. */
static void a_flood_of_words_drowns_nobody(void **state)
{
    static const char *const texts[] = { "READY=1" };
    const struct proc_spec spec =
        spec_of("while ! test -e go; do sleep 0.05; done; exec ./victim --notify", READY_NOTIFY);
    int64_t item = whole_command(PROC_OP_START, "p", &spec);
    pid_t pid;

    (void)state;
    turn_a_while();
    pid = let_a_stranger_say(texts, 1, 200);
    assert_false(whole_answers[item].has_come);
    world_write(world_text("%s/go", whole.dir), "");
    assert_ends_with(item, CODE_OK);
    world_kill(pid);
}

/* Any user can have a program of that name, and run it. */
static pid_t run_as(uid_t uid, const char *life_ms)
{
    const char *name = notices_socket(whole.agent->notices);
    char *env[] = { (char *)(uintptr_t)world_text("NOTIFY_SOCKET=%s", name), NULL };
    const char *victim = world_text("%s/victim", whole.dir);
    pid_t pid = fork();

    if (pid == 0) {
        if (uid != geteuid() && (setgid(uid) || setuid(uid)))
            _exit(1);
        execle(victim, victim, "--notify", "--life-ms", life_ms, NULL, env);
        _exit(1);
    }
    return pid;
}

static void a_program_of_another_user_says_nothing(void **state)
{
    const struct proc_spec spec = spec_of("exec ./victim", READY_NOTIFY);
    int64_t item;
    pid_t pid;

    (void)state;
    if (geteuid() != 0)
        skip();
    item = whole_command(PROC_OP_START, "p", &spec);
    turn_a_while();
    pid = run_as(65534, "1500");
    assert_true(pid > 1);
    TURN_UNTIL(kill(pid, 0)); /* it has said it, and is gone */
    assert_false(whole_answers[item].has_come);
}

/* It descends from no start of ours: its name and its user tell. */
static void a_program_of_the_same_user_and_name_says_it(void **state)
{
    const struct proc_spec spec = spec_of("exec ./victim", READY_NOTIFY);
    int64_t item = whole_command(PROC_OP_START, "p", &spec);
    pid_t pid;

    (void)state;
    turn_a_while();
    assert_false(whole_answers[item].has_come);
    pid = run_as(geteuid(), "60000");
    assert_true(pid > 1);
    assert_ends_with(item, CODE_OK);
    world_kill(pid);
}

static void what_is_not_ready_in_time_is_told_and_left(void **state)
{
    struct proc_spec spec = spec_of("./victim", READY_NOTIFY);
    int64_t item;

    (void)state;
    spec.extra.ready.timeout_s = 1;
    item = whole_command(PROC_OP_START, "p", &spec);
    assert_ends_with(item, CODE_CHECK);
    assert_non_null(strstr(whole_answers[item].text, "it has not sent READY=1"));
    assert_true(whole_answers[item].pid > 1);
    item = whole_command(PROC_OP_QUERY, "p", &spec);
    assert_ends_with(item, CODE_OK);
    assert_true(whole_answers[item].pid > 1);
}

static void what_dies_meanwhile_fails_at_once(void **state)
{
    const struct proc_spec spec = spec_of(
        "./victim --daemonize --pid-file p.pid --crash-signal 11 --crash-ms 2500", READY_NOTIFY);
    int64_t item = whole_command(PROC_OP_START, "p", &spec);

    (void)state;
    assert_ends_with(item, CODE_CHECK);
    assert_non_null(strstr(whole_answers[item].text, "it ended before it was ready"));
}

/* ---- the others */

static int listen_on(int family, int64_t *ret_port)
{
    struct sockaddr_in6 six = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT };
    struct sockaddr_in four = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    struct sockaddr *to = family == AF_INET ? (void *)&four : (void *)&six;
    socklen_t n = family == AF_INET ? sizeof(four) : sizeof(six);
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0 || bind(fd, to, n)) {
        close(fd);
        return -1;
    }
    assert_int_equal(getsockname(fd, to, &n), 0);
    *ret_port = ntohs(family == AF_INET ? four.sin_port : six.sin6_port);
    return fd;
}

/* By the setting it is the port that counts, and not whose it is. */
static void it_is_ready_when_its_port_is(void **state)
{
    static const int families[] = { AF_INET, AF_INET6 };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(families); i++) {
        struct proc_spec spec = spec_of("./victim", READY_PORT);
        int fd = listen_on(families[i], &spec.extra.ready.port);
        int64_t item;

        if (fd < 0)
            continue; /* a host without IPv6 */
        spec.extra.ready.any_owner = true;
        item = whole_command(PROC_OP_START, "p", &spec);
        turn_a_while();
        assert_false(whole_answers[item].has_come); /* no process listens */
        assert_int_equal(listen(fd, 8), 0);
        assert_ends_with(item, CODE_OK);
        assert_ends_with(whole_command(PROC_OP_KILL, "p", &spec), CODE_OK);
        close(fd);
        unlink(spec.identity.pid_path);
    }
}

static void a_port_of_another_process_makes_it_not_ready(void **state)
{
    struct proc_spec spec = spec_of("./victim", READY_PORT);
    int fd = listen_on(AF_INET, &spec.extra.ready.port);
    int64_t item;

    (void)state;
    assert_int_equal(listen(fd, 8), 0);
    spec.extra.ready.timeout_s = 1;
    item = whole_command(PROC_OP_START, "p", &spec);
    assert_ends_with(item, CODE_CHECK);
    if (!strstr(whole_answers[item].text, "is held by ") ||
        !strstr(whole_answers[item].text, world_text("(%d)", (int)getpid())))
        fail_msg("%s", whole_answers[item].text);
    assert_ends_with(whole_command(PROC_OP_KILL, "p", &spec), CODE_OK);
    close(fd);
}

static void it_is_ready_when_its_pid_file_names_it(void **state)
{
    const struct proc_spec spec =
        spec_of("./victim --pid-file p.pid --pid-late-ms 700", READY_PID_FILE);
    int64_t item;

    (void)state;
    world_write(spec.identity.pid_path, "1"); /* another process */
    item = whole_command(PROC_OP_START, "p", &spec);
    assert_ends_with(item, CODE_OK);
    assert_int_equal(strtoll(world_read(spec.identity.pid_path), NULL, 10),
                     whole_answers[item].pid);
}

static void it_is_ready_when_its_health_command_says_so(void **state)
{
    struct proc_spec spec = spec_of("./victim --pid-file p.pid", READY_HEALTH);
    int64_t item;

    (void)state;
    spec.control.health_cmd = "test -e ready && echo fine";
    item = whole_command(PROC_OP_START, "p", &spec);
    turn_a_while();
    assert_false(whole_answers[item].has_come);
    world_write(world_text("%s/ready", whole.dir), "");
    assert_ends_with(item, CODE_OK);
}

/* ---- version and health */

static void a_query_tells_version_and_health(void **state)
{
    struct proc_spec spec = spec_of("./victim --notify", READY_NOTIFY);
    int64_t item;

    (void)state;
    spec.control.version_cmd = "echo v1.2; echo more >&2";
    spec.control.health_cmd = "echo '  3 clients '; exit 0";
    assert_ends_with(whole_command(PROC_OP_START, "p", &spec), CODE_OK);
    item = whole_command(PROC_OP_QUERY, "p", &spec);
    assert_ends_with(item, CODE_OK);
    assert_string_equal(whole_answers[item].version, "v1.2\nmore");
    assert_string_equal(whole_answers[item].health, "3 clients");
    spec.control.version_cmd = "echo v1.3; exit 1";
    spec.control.health_cmd = "exec sleep 100";
    spec.policy.op_timeout_s = 1;
    spec.policy.has_timeout = PRESENCE_GIVEN;
    item = whole_command(PROC_OP_QUERY, "p", &spec);
    assert_ends_with(item, CODE_OK);
    assert_string_equal(whole_answers[item].version, "");
    assert_string_equal(whole_answers[item].health, "took longer than 1 s and was ended");
}

static int set_up(void **state)
{
    struct agent_options o = { .output_max_bytes = 1 << 20, .send = whole_on_send };

    (void)state;
    whole_set_up();
    o.dir = whole.data;
    whole_start(&o);
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, whole_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(who_says_it_is_ready),
        TEST(a_stranger_says_nothing),
        TEST(a_flood_of_words_drowns_nobody),
        TEST(a_program_of_another_user_says_nothing),
        TEST(a_program_of_the_same_user_and_name_says_it),
        TEST(what_is_not_ready_in_time_is_told_and_left),
        TEST(what_dies_meanwhile_fails_at_once),
        TEST(it_is_ready_when_its_port_is),
        TEST(a_port_of_another_process_makes_it_not_ready),
        TEST(it_is_ready_when_its_pid_file_names_it),
        TEST(it_is_ready_when_its_health_command_says_so),
        TEST(a_query_tells_version_and_health),
    };

    return PART_RUN("agent_ready", tests);
}
