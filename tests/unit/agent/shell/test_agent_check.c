/* SPDX-License-Identifier: MIT */
/* test_agent_check.c - checks by a whole agent, of web servers that behave badly. */
#include "agent/shell/agent_check.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "agent/shell/agent_base.h"
#include "agent/shell/agent_effect.h"
#include "agent/shell/agent_family.h"
#include "agent/supervise/core.h"
#include "agent/supervise/core_checks.h"
#include "agent/supervise/core_net.h"
#include "tests/lib/part.h"
#include "tests/lib/whole_agent.h"

/* How the server treats a connection whose request it has read. */
enum manner { SILENT, DRIPS, WELL, FLOODS_HEAD, FLOODS_BODY, GARBAGE, HANGS_UP, RESETS, CUTS };

static void nap_ms(long ms)
{
    nanosleep(&(struct timespec){ ms / 1000, ms % 1000 * 1000000 }, NULL);
}

static void flood(int fd, const char *begin, const char *more)
{
    if (send(fd, begin, strlen(begin), MSG_NOSIGNAL) < 0)
        return;
    while (send(fd, more, strlen(more), MSG_NOSIGNAL) > 0)
        ;
}

static void put(int fd, const char *text)
{
    (void)!send(fd, text, strlen(text), MSG_NOSIGNAL);
}

static void drip(int fd)
{
    put(fd, "HTTP/1.1 200 OK\r\nA: ");
    while (send(fd, "a", 1, MSG_NOSIGNAL) > 0)
        nap_ms(20);
}

static void treat(int fd, enum manner manner)
{
    const struct linger at_once = { 1, 0 };

    switch (manner) {
    case WELL: put(fd, "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfine"); break;
    case SILENT: nap_ms(20 * 1000); break;
    case DRIPS: drip(fd); break;
    case FLOODS_HEAD:
        flood(fd, "HTTP/1.1 200 OK\r\n", "A: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n");
        break;
    case FLOODS_BODY: flood(fd, "HTTP/1.1 200 OK\r\n\r\n", "bbbbbbbbbbbbbbbbbbbbbbbbbbbb"); break;
    case GARBAGE: put(fd, "\x16\x03\x01 what is it?"); break;
    case HANGS_UP: break;
    case RESETS: setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once)); break;
    case CUTS: put(fd, "HTTP/1.1 200 OK\r\nContent-Length: 400\r\n\r\nno"); break;
    }
    close(fd);
}

/* A process of its own; ret_url is in the world's memory. */
static pid_t serve(enum manner manner, const char **ret_url)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t n = sizeof(at);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    pid_t child;

    assert_int_equal(bind(fd, (const struct sockaddr *)&at, n), 0);
    assert_int_equal(listen(fd, 8), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &n), 0);
    child = fork();
    while (!child) {
        char request[1024];
        int one = accept(fd, NULL, NULL);

        if (recv(one, request, sizeof(request), 0) > 0)
            treat(one, manner);
        else
            close(one);
    }
    close(fd);
    *ret_url = world_text("http://127.0.0.1:%d/health?x=1", ntohs(at.sin_port));
    return child;
}

static struct proc_spec spec_of(const struct proc_check *check, int64_t timeout_s)
{
    struct proc_spec spec = whole_spec("p", "./victim");

    spec.extra.ready = (struct proc_ready){ .kind = READY_HEALTH, .timeout_s = timeout_s };
    spec.extra.checks = (struct list){ (void *)(uintptr_t)check, 1 };
    return spec;
}

static struct proc_check http_check(const char *url)
{
    struct proc_check c;

    shape_defaults(&proc_check_shape, &c);
    c.http = url;
    c.timeout_s = 1;
    return c;
}

static void assert_ends_with(int64_t item, int64_t code, const char *text)
{
    TURN_UNTIL(whole_answers[item].has_come);
    if (whole_answers[item].code != code || !strstr(whole_answers[item].text, text))
        fail_msg("%lld: %s", (long long)whole_answers[item].code, whole_answers[item].text);
}

/* A start that waits for this check. */
static void assert_check_ends_with(const struct proc_check *check, int64_t timeout_s, int64_t code,
                                   const char *text)
{
    const struct proc_spec spec = spec_of(check, timeout_s);

    assert_ends_with(whole_command(PROC_OP_START, "p", &spec), code, text);
    assert_ends_with(whole_command(PROC_OP_KILL, "p", &spec), CODE_OK, "");
}

static void a_server_that_behaves_badly_fails_in_time(void **state)
{
    static const struct {
        enum manner manner;
        const char *body, *why;
    } cases[] = {
        { SILENT, "", "no complete answer within 1 s" },
        { DRIPS, "", "no complete answer within 1 s" },
        { FLOODS_HEAD, "", "the head of the answer has more than 16384 bytes" },
        { FLOODS_BODY, "fine", "its answer does not contain \"fine\"" },
        { GARBAGE, "", "the answer is not HTTP" },
        { HANGS_UP, "", "the connection was closed without an answer" },
        { RESETS, "", "the connection was " },
        { CUTS, "fine", "the connection was closed within the answer" },
        { WELL, "well", "its answer does not contain \"well\"" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *url;
        pid_t server = serve(cases[i].manner, &url);
        struct proc_check check = http_check(url);

        check.body = cases[i].body;
        assert_check_ends_with(&check, cases[i].manner <= DRIPS ? 3 : 1, CODE_CHECK, cases[i].why);
        kill(server, SIGKILL);
        waitpid(server, NULL, 0);
    }
}

static void a_server_that_behaves_well_passes(void **state)
{
    const char *url;
    pid_t server = serve(WELL, &url);
    struct proc_check check = http_check(url);

    (void)state;
    check.body = "fine";
    check.status = 200;
    assert_check_ends_with(&check, 20, CODE_OK, "");
    kill(server, SIGKILL);
    waitpid(server, NULL, 0);
}

static void another_status_fails(void **state)
{
    const char *url;
    pid_t server = serve(WELL, &url);
    struct proc_check check = http_check(url);

    (void)state;
    check.status = 204;
    assert_check_ends_with(&check, 1, CODE_CHECK, "it answers with status 200, not 204");
    kill(server, SIGKILL);
    waitpid(server, NULL, 0);
}

/* ---- a checker alone, and servers that accept connections and never answer */

static struct {
    struct agent_base base;
    struct effects effects; /* none is carried out: no owner is found */
    struct families *families;
    struct checker *checker;
    uint64_t last_id;
    int fds[512];
    size_t n_fds;
} bench;

static void bench_on_settle(void *arg)
{
    (void)arg;
}

static void bench_on_check(void *arg, const struct core_check *check)
{
    (void)arg;
    bench.last_id = check->id;
    checker_add(bench.checker, check);
}

static int bench_set_up(void **state)
{
    static const struct core_effects effects = { .check = bench_on_check };
    struct err err;

    (void)state;
    memset(&bench, 0, sizeof(bench));
    memset(&whole, 0, sizeof(whole));
    assert_int_equal(loop_new(&clock_system, &whole.loop, &err), 0);
    bench.base.loop = whole.loop;
    bench.base.core = core_new(&effects, NULL, clock_mono_ms(&clock_system), 0);
    timer_init(&bench.base.settle, bench_on_settle, NULL);
    effects_init(&bench.effects, &bench.base);
    bench.families =
        families_new(&(struct family_parts){ .agent = &bench.base, .effects = &bench.effects });
    bench.checker = checker_new(&bench.base, bench.families);
    return 0;
}

static int bench_tear_down(void **state)
{
    (void)state;
    checker_free(bench.checker);
    while (!TAILQ_EMPTY(&bench.effects.waiting))
        effect_free(TAILQ_FIRST(&bench.effects.waiting));
    effects_done(&bench.effects);
    families_free(bench.families);
    core_free(bench.base.core);
    timer_stop(whole.loop, &bench.base.settle);
    loop_free(whole.loop);
    for (size_t i = 0; i < bench.n_fds; i++)
        close(bench.fds[i]);
    return 0;
}

static int bench_listen(int *ret_port)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t n = sizeof(at);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    assert_int_equal(bind(fd, (const struct sockaddr *)&at, n), 0);
    assert_int_equal(listen(fd, 256), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &n), 0);
    *ret_port = ntohs(at.sin_port);
    return bench.fds[bench.n_fds++] = fd;
}

static uint64_t bench_add(int port, const char *name, int64_t timeout_ms, bool is_urgent)
{
    struct proc_check check = http_check(world_text("http://127.0.0.1:%d/", port));
    const struct proc_spec spec = {
        .identity = { .proc_name = "", .setup_path = "", .pid_path = "", .user = "" }
    };
    const struct core_check ask = {
        .id = ++bench.last_id,
        .check = &check,
        .timeout_ms = timeout_ms,
        .is_urgent = is_urgent,
        .family = { .space = "space", .name = name, .spec = &spec, .siblings = "" }
    };

    checker_add(bench.checker, &ask);
    return ask.id;
}

/* How many connections have come. */
static int bench_accept(int fd)
{
    int n = 0, one;

    while ((one = accept(fd, NULL, NULL)) >= 0) {
        bench.fds[bench.n_fds++] = one;
        n++;
    }
    return n;
}

enum { LONG_MS = 50 * 1000 };

/* Returns the id of the first. */
static uint64_t take_all_slots(int fd, int port)
{
    uint64_t first = bench.last_id + 1;

    for (int i = 0; i < CHECKER_AT_ONCE; i++)
        bench_add(port, world_text("p%d", i / CHECKER_PER_PROCESS), LONG_MS, false);
    assert_int_equal(bench_accept(fd), CHECKER_AT_ONCE);
    return first;
}

static void a_process_has_only_its_share(void **state)
{
    int port, fd = bench_listen(&port);
    uint64_t first = bench.last_id + 1;

    (void)state;
    for (int i = 0; i < 2 * CHECKER_PER_PROCESS; i++)
        bench_add(port, "p", LONG_MS, false);
    assert_int_equal(bench_accept(fd), CHECKER_PER_PROCESS);
    bench_add(port, "q", LONG_MS, false); /* it does not wait for those of p */
    assert_int_equal(bench_accept(fd), 1);
    checker_drop(bench.checker, first);
    assert_int_equal(bench_accept(fd), 1);
}

static void what_is_dropped_makes_room(void **state)
{
    int port, other_port, fd = bench_listen(&port), other = bench_listen(&other_port);
    uint64_t first = take_all_slots(fd, port), waits;

    (void)state;
    waits = bench_add(other_port, "q", LONG_MS, false);
    bench_add(port, "q", LONG_MS, false);
    checker_drop(bench.checker, waits);
    checker_drop(bench.checker, first);
    assert_int_equal(bench_accept(other), 0);
    assert_int_equal(bench_accept(fd), 1);
}

static void a_port_that_a_start_waits_for_has_its_own_slots(void **state)
{
    int port, other_port, fd = bench_listen(&port), other = bench_listen(&other_port);

    (void)state;
    take_all_slots(fd, port);
    bench_add(other_port, "q", LONG_MS, false);
    assert_int_equal(bench_accept(other), 0);
    bench_add(other_port, "q", LONG_MS, true);
    assert_int_equal(bench_accept(other), 1);
}

static void what_waits_too_long_is_not_tried(void **state)
{
    int port, other_port, fd = bench_listen(&port), other = bench_listen(&other_port);
    uint64_t first = take_all_slots(fd, port);
    int64_t end_ms = clock_mono_ms(&clock_system) + 200;

    (void)state;
    bench_add(other_port, "q", 10, false);
    while (clock_mono_ms(&clock_system) < end_ms)
        whole_turn();
    checker_drop(bench.checker, first);
    assert_int_equal(bench_accept(other), 0);
}

static void count_results(void *arg, const struct proc_check_view *check, enum proc_check_state was)
{
    int *n = arg;

    (void)check;
    (void)was;
    (*n)++;
}

/* Of a start: what it gets says nothing, so that the port is tried again. */
static void a_start_does_not_count_a_port_whose_owner_is_not_found(void **state)
{
    int port, results = 0;
    struct proc k = { .core = bench.base.core, .meta = { "space", "p", { 0 } } };
    struct proc_spec spec;
    struct proc_check check;
    struct checks *all;

    (void)state;
    bench_listen(&port);
    shape_defaults(&proc_spec_shape, &spec);
    shape_defaults(&proc_check_shape, &check);
    check.tcp = world_text("127.0.0.1:%d", port);
    spec.extra.checks = (struct list){ &check, 1 };
    all = checks_new(&k, &spec, count_results, &results);
    checks_try(all, k.ident, k.start);
    TURN_UNTIL(
        !map_find(&bench.base.core->checks, (const char *)&bench.last_id, sizeof(bench.last_id)));
    assert_int_equal(results, 0);
    assert_false(checks_pass(all));
    checks_free(all);
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

#define TEST(name)       cmocka_unit_test_setup_teardown(name, set_up, whole_tear_down)
#define BENCH_TEST(name) cmocka_unit_test_setup_teardown(name, bench_set_up, bench_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_server_that_behaves_badly_fails_in_time),
        TEST(a_server_that_behaves_well_passes),
        TEST(another_status_fails),
        BENCH_TEST(a_process_has_only_its_share),
        BENCH_TEST(what_is_dropped_makes_room),
        BENCH_TEST(a_port_that_a_start_waits_for_has_its_own_slots),
        BENCH_TEST(what_waits_too_long_is_not_tried),
        BENCH_TEST(a_start_does_not_count_a_port_whose_owner_is_not_found),
    };

    return PART_RUN("agent_check", tests);
}
