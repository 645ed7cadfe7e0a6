/* SPDX-License-Identifier: MIT */
/* Control from the host itself, in the whole agent: agent_local.c. */
#include "agent/shell/agent_local.h"

#include <grp.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/mem/arena.h"
#include "link/local.h"
#include "tests/lib/part.h"
#include "tests/lib/whole_agent.h"
#include "wire/net/frame.h"

enum { GUESTS_OF_ONE = 32, STRANGER = 54321 };

static struct {
    int64_t code; /* of the server's last operation; -1: none yet */
    int events;
    bool is_up;
} seen;

static void on_send(void *arg, unsigned type, const struct shape *s, const void *message)
{
    const struct message_result *r = message;
    const struct message_event *e = message;

    (void)arg, (void)s;
    if (type == MESSAGE_RESULT && r->item == whole.item) /* those before it are told again */
        seen.code = r->code;
    if (type == MESSAGE_EVENT && !strcmp(e->name, "process_local_operation"))
        seen.events++;
}

static void fill_link(void *arg, struct agent_link *ret)
{
    (void)arg;
    *ret = (struct agent_link){ "a:1, b:2", "agent-7", seen.is_up };
}

static struct agent_options options(void)
{
    return (struct agent_options){ .dir = whole.data,
                                   .output_max_bytes = 256 * 1024,
                                   .local_socket = "",
                                   .local_group = "",
                                   .send = on_send,
                                   .link = fill_link };
}

static const char *socket_path(void)
{
    return world_text("%s/control.sock", whole.data);
}

/* The system's, which a test may put forward. */
static int64_t ahead_ms;

static int64_t mono_ms(const struct clock *c)
{
    (void)c;
    return clock_mono_ms(&clock_system) + ahead_ms;
}

static int64_t wall_ms(const struct clock *c)
{
    (void)c;
    return clock_wall_ms(&clock_system) + ahead_ms;
}

static void start(const struct agent_options *o)
{
    static const struct clock our_clock = { mono_ms, wall_ms };
    struct err err = { 0 };

    if (whole_try(&our_clock, o, &err))
        fail_msg("%s", err.text);
}

static int set_up(void **state)
{
    const struct agent_options o = (whole_set_up(), options());

    (void)state;
    memset(&seen, 0, sizeof(seen));
    seen.code = -1;
    ahead_ms = 0;
    start(&o);
    return 0;
}

/* ---- a client */

static int dial(const char *path)
{
    struct sockaddr_un at = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    assert_true(fd >= 0);
    snprintf(at.sun_path, sizeof(at.sun_path), "%s", path);
    if (connect(fd, (struct sockaddr *)&at, sizeof(at))) {
        close(fd);
        return -1;
    }
    return fd;
}

static struct {
    int fd;
    struct buf in;
    struct arena arena;
    unsigned type; /* of the last message; 0: the agent has closed */
    const void *message;
} client;

static void begin(int fd)
{
    buf_free(&client.in);
    arena_free(&client.arena);
    client.fd = fd;
}

static void finish(void)
{
    close(client.fd);
    buf_free(&client.in);
    arena_free(&client.arena);
}

/* A client that is refused when it connects can not send a question: false. */
static bool try_ask(unsigned type, uint64_t number, const struct shape *s, const void *question)
{
    struct buf out = { 0 };
    struct err err;
    size_t mark = frame_begin(&out, (uint8_t)type, 0, number);
    bool is_sent;

    shape_write(s, question, &out);
    is_sent = !frame_end(&out, mark, &err) &&
              send(client.fd, buf_data(&out), out.len, MSG_NOSIGNAL) == (ssize_t)out.len;
    buf_free(&out);
    return is_sent;
}

static void ask(unsigned type, uint64_t number, const struct shape *s, const void *question)
{
    assert_true(try_ask(type, number, s, question));
}

static bool read_one(void)
{
    char bytes[4096];
    struct frame f;
    struct err err;
    size_t used;
    ssize_t n;
    void *message;

    while ((n = recv(client.fd, bytes, sizeof(bytes), 0)) > 0)
        buf_add(&client.in, bytes, (size_t)n);
    client.type = 0;
    if (frame_read(buf_data(&client.in), client.in.len, &f, &used, &err) != FRAME_READY)
        return n == 0 || errno == ECONNRESET;
    client.type = f.type;
    assert_non_null(local_shape(f.type));
    client.message = message = arena_alloc(&client.arena, local_shape(f.type)->size);
    if (shape_read(local_shape(f.type), f.body, f.body_n, 0, &client.arena, message, &err))
        fail_msg("%s", err.text);
    buf_drop(&client.in, used);
    return true;
}

static unsigned next_message(void)
{
    bool has_come = false;

    TURN_UNTIL(has_come || (has_come = read_one()));
    return client.type;
}

static const struct message_error *refused(void)
{
    assert_int_equal(next_message(), MESSAGE_ERROR);
    return client.message;
}

static const struct local_ask everything = { "", "" };

static int64_t local_operation(int64_t op, const char *name, const struct proc_spec *spec)
{
    const struct local_operate m = { op, { "space", name, { 0 } }, *spec };
    const struct message_result *r;
    int64_t code;

    begin(dial(socket_path()));
    ask(LOCAL_OPERATE, 1, &local_operate_shape, &m);
    assert_int_equal(next_message(), MESSAGE_TAKEN);
    assert_int_equal(next_message(), MESSAGE_RESULT);
    r = client.message;
    code = r->code;
    finish();
    return code;
}

/* ---- what it promises */

static void an_operation_is_done_answered_and_told_to_the_server(void **state)
{
    struct proc_spec s = whole_spec("p", "exec ./victim"), none;

    (void)state;
    shape_defaults(&proc_spec_shape, &none);
    agent_on_down(whole.agent);
    assert_int_equal(local_operation(PROC_OP_STOP, "p", &none), CODE_NOT_REGISTERED);
    assert_int_equal(local_operation(PROC_OP_START, "p", &s), CODE_OK);
    assert_int_equal(local_operation(PROC_OP_START, "p", &none), CODE_RUNNING);
    assert_int_equal(local_operation(PROC_OP_QUERY, "p", &none), CODE_OK);
    assert_int_equal(local_operation(PROC_OP_KILL, "p", &none), CODE_OK);
    assert_int_equal(seen.code, -1);
    assert_int_equal(seen.events, 0);
    agent_on_up(whole.agent, &(struct message_welcome){ .version = 1, .epoch = 2 });
    TURN_UNTIL(seen.events == 4);
}

static void what_is_there_is_listed(void **state)
{
    struct proc_spec s = whole_spec("p", "exec ./victim");
    const struct local_processes *page;
    const struct proc_view *v;

    (void)state;
    assert_int_equal(local_operation(PROC_OP_START, "p", &s), CODE_OK);
    begin(dial(socket_path()));
    ask(LOCAL_LIST, 1, &local_ask_shape, &everything);
    assert_int_equal(next_message(), LOCAL_PROCESSES);
    page = client.message;
    v = page->list.items;
    assert_true(page->is_last);
    assert_string_equal(page->agent_id, "agent-7");
    assert_int_equal(page->list.n, 1);
    assert_string_equal(v->name, "p");
    assert_int_equal(v->status, PROC_RUNNING);
    assert_true(v->pid > 1);
    finish();
}

static void a_long_list_comes_in_pages(void **state)
{
    struct proc_spec s = whole_spec("p", "exec ./victim");
    const struct local_processes *page;
    char name[8];
    size_t n = 0;

    (void)state;
    for (int i = 0; i < 10; i++) {
        snprintf(name, sizeof(name), "p%d", i);
        seen.code = -1;
        (void)whole_command(PROC_OP_HOST, name, &s);
        TURN_UNTIL(seen.code == CODE_OK);
        seen.code = -1;
        (void)whole_command(PROC_OP_UNHOST, name, &s);
        TURN_UNTIL(seen.code == CODE_OK);
    }
    begin(dial(socket_path()));
    ask(LOCAL_LIST, 1, &local_ask_shape, &everything);
    do {
        assert_int_equal(next_message(), LOCAL_PROCESSES);
        page = client.message;
        n += page->list.n;
    } while (!page->is_last);
    assert_int_equal(n, 10);
    finish();
}

static void output_and_facts_are_told(void **state)
{
    struct proc_spec s = whole_spec("p", "echo said; exec ./victim > /dev/null");
    const struct message_log_ask log = {
        .id = 3, .space = "space", .name = "p", .what = "", .lines = 1, .at = -1, .max_bytes = 4096
    };
    const struct message_log *said;
    const struct local_facts *f;

    (void)state;
    assert_int_equal(local_operation(PROC_OP_START, "p", &s), CODE_OK);
    begin(dial(socket_path()));
    ask(MESSAGE_LOG_ASK, 1, &message_log_ask_shape, &log);
    assert_int_equal(next_message(), MESSAGE_LOG);
    said = client.message;
    assert_string_equal(said->output, "said\n");
    finish();
    begin(dial(socket_path()));
    ask(LOCAL_FACTS, 1, &local_ask_shape, &everything);
    assert_int_equal(next_message(), LOCAL_FACTS_ARE);
    f = client.message;
    assert_string_equal(f->servers, "a:1, b:2");
    assert_false(f->is_linked);
    assert_string_equal(f->data_dir, whole.data);
    assert_int_equal(f->pid, getpid());
    assert_int_equal(f->running, 1);
    assert_true(f->facts.n > 0);
    finish();
}

static void nonsense_is_refused_and_the_connection_ends(void **state)
{
    static const char junk[64] = "GET / HTTP/1.1\r\n";
    const struct message_error e = { 0, 0, "", 0 };

    (void)state;
    begin(dial(socket_path()));
    assert_int_equal(send(client.fd, junk, sizeof(junk), MSG_NOSIGNAL), sizeof(junk));
    (void)refused();
    assert_int_equal(next_message(), 0);
    finish();
    begin(dial(socket_path()));
    ask(MESSAGE_ERROR, 1, &message_error_shape, &e);
    assert_int_equal(refused()->code, ERR_INVALID);
    finish();
    begin(dial(socket_path()));
    ask(MESSAGE_HELLO, 1, &local_ask_shape, &everything); /* what only a server hears */
    assert_int_equal(refused()->code, ERR_NOT_FOUND);
    finish();
}

/* A question too large is found out before all of it is in memory. */
static void a_question_is_bounded(void **state)
{
    static char body[8192];
    struct buf out = { 0 };
    ssize_t n;

    (void)state;
    begin(dial(socket_path()));
    (void)frame_begin(&out, LOCAL_LIST, 0, 1);
    buf_data(&out)[1] = 0x0f; /* almost a mebibyte is announced */
    assert_true(send(client.fd, buf_data(&out), out.len, MSG_NOSIGNAL) > 0);
    buf_free(&out);
    for (size_t sent = 0; sent < 512 * 1024; sent += sizeof(body)) {
        n = send(client.fd, body, sizeof(body), MSG_NOSIGNAL);
        if (n < 0 && errno != EAGAIN)
            break;
        whole_turn();
    }
    assert_int_equal(refused()->code, ERR_LIMIT);
    finish();
}

/* One connection, one question: a client that sends another is cut off. */
static void a_flood_of_questions_is_cut_off(void **state)
{
    (void)state;
    begin(dial(socket_path()));
    for (uint64_t i = 1; i <= 100; i++)
        ask(LOCAL_LIST, i, &local_ask_shape, &everything);
    while (next_message())
        assert_int_equal(client.type, LOCAL_PROCESSES);
    finish();
}

/* They hold every place there is; the server's operations go on, and others get theirs when
 * the time for a question is over. */
static void who_stalls_holds_up_nobody(void **state)
{
    struct proc_spec s = whole_spec("p", "exec ./victim");
    int fds[GUESTS_OF_ONE];

    (void)state;
    for (int i = 0; i < GUESTS_OF_ONE; i++) {
        fds[i] = dial(socket_path());
        assert_true(fds[i] >= 0);
        whole_turn();
    }
    begin(dial(socket_path()));
    assert_int_equal(refused()->code, ERR_LIMIT);
    finish();
    (void)whole_command(PROC_OP_START, "p", &s);
    TURN_UNTIL(seen.code == CODE_OK);
    ahead_ms += 60 * 1000; /* their time is over */
    for (int i = 0; i < GUESTS_OF_ONE; i++) {
        begin(fds[i]);
        assert_int_equal(next_message(), 0);
        finish();
    }
    assert_int_equal(local_operation(PROC_OP_KILL, "p", &s), CODE_OK);
}

/* The client may disconnect: its operation is carried out. */
static void an_operation_outlives_its_client(void **state)
{
    const struct local_operate m = { PROC_OP_START,
                                     { "space", "p", { 0 } },
                                     whole_spec("p", "exec ./victim") };

    (void)state;
    begin(dial(socket_path()));
    ask(LOCAL_OPERATE, 1, &local_operate_shape, &m);
    assert_int_equal(next_message(), MESSAGE_TAKEN);
    finish();
    TURN_UNTIL(seen.events == 1);
}

/* ---- the door */

static mode_t mode_of(const char *path, gid_t *ret_gid)
{
    struct stat st;

    assert_int_equal(stat(path, &st), 0);
    *ret_gid = st.st_gid;
    return st.st_mode & 0777;
}

/* Asks as the current user: 0 if there is an answer, else the number of the failed step. */
static int ask_facts(const char *path)
{
    struct pollfd p = { .fd = dial(path), .events = POLLIN };
    char bytes[4096];

    if (p.fd < 0)
        return errno;
    begin(p.fd);
    (void)try_ask(LOCAL_FACTS, 1, &local_ask_shape, &everything); /* the answer tells */
    if (poll(&p, 1, WHOLE_PATIENCE_MS) != 1 || recv(p.fd, bytes, sizeof(bytes), 0) < 6)
        return ERR_TIMEOUT;
    return bytes[5] == LOCAL_FACTS_ARE ? 0 : bytes[5] == MESSAGE_ERROR ? ERR_DENIED : ERR_MALFORMED;
}

/* In another process, because the user that connects counts. */
static int ask_as(const char *path, uid_t uid, gid_t gid, gid_t other)
{
    int pair[2];
    pid_t pid;
    char code = 0;
    bool has_said = false;

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    pid = fork();
    if (pid == 0) {
        if (setgroups(1, &other) || setresgid(gid, gid, gid) || setresuid(uid, uid, uid))
            _exit(9);
        code = (char)ask_facts(path);
        _exit(write(pair[1], &code, 1) != 1);
    }
    close(pair[1]);
    assert_int_equal(fcntl(pair[0], F_SETFL, O_NONBLOCK), 0);
    TURN_UNTIL(has_said || (has_said = recv(pair[0], &code, 1, 0) == 1));
    close(pair[0]);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    return code;
}

static void strangers_are_kept_out(void **state)
{
    gid_t gid;

    (void)state;
    if (geteuid() != 0)
        skip();
    assert_int_equal(mode_of(socket_path(), &gid), 0600);
    assert_int_equal(ask_as(socket_path(), STRANGER, STRANGER, STRANGER), EACCES);
    assert_int_equal(chmod(whole.data, 0755), 0); /* open to all users */
    assert_int_equal(chmod(socket_path(), 0666), 0);
    assert_int_equal(ask_as(socket_path(), STRANGER, STRANGER, STRANGER), ERR_DENIED);
    assert_int_equal(ask_as(socket_path(), 0, 0, 0), 0);
}

static void members_of_the_group_come_in(void **state)
{
    struct agent_options o = options();
    const char *path = world_text("%s/sock", whole.dir);
    gid_t gid;

    (void)state;
    if (geteuid() != 0)
        skip();
    o.local_socket = path;
    o.local_group = "4321";
    agent_set(whole.agent, &o);
    assert_int_equal(dial(socket_path()), -1); /* it is elsewhere now */
    assert_int_equal(mode_of(path, &gid), 0660);
    assert_int_equal(gid, 4321);
    assert_int_equal(ask_as(path, STRANGER, 4321, STRANGER), 0);
    assert_int_equal(ask_as(path, STRANGER, STRANGER, 4321), 0);
    assert_int_equal(ask_as(path, STRANGER, STRANGER, STRANGER), EACCES);
    assert_int_equal(chmod(path, 0666), 0);
    assert_int_equal(ask_as(path, STRANGER, STRANGER, STRANGER), ERR_DENIED);
    assert_int_equal(ask_as(path, STRANGER, STRANGER, 4321), 0);
}

static int dial_as(const char *path, uid_t uid)
{
    int fd;

    assert_int_equal(setegid(4321) | seteuid(uid), 0);
    fd = dial(path);
    assert_int_equal(seteuid(0) | setegid(0), 0);
    return fd;
}

/* They hold every place there is for them. */
static void members_of_the_group_do_not_keep_root_out(void **state)
{
    struct agent_options o = options();
    int fds[2 * GUESTS_OF_ONE];

    (void)state;
    if (geteuid() != 0)
        skip();
    o.local_socket = world_text("%s/sock", whole.dir);
    o.local_group = "4321";
    agent_set(whole.agent, &o);
    for (size_t i = 0; i < ARRAY_LEN(fds); i++) {
        fds[i] = dial_as(o.local_socket, STRANGER - (uid_t)(i % 2));
        assert_true(fds[i] >= 0);
        whole_turn();
    }
    begin(dial_as(o.local_socket, STRANGER - 2));
    assert_int_equal(refused()->code, ERR_LIMIT);
    finish();
    begin(dial(o.local_socket));
    ask(LOCAL_FACTS, 1, &local_ask_shape, &everything);
    assert_int_equal(next_message(), LOCAL_FACTS_ARE);
    finish();
    for (size_t i = 0; i < ARRAY_LEN(fds); i++)
        close(fds[i]);
}

static void a_socket_that_was_left_is_replaced(void **state)
{
    const struct agent_options o = options();
    struct sockaddr_un at = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    (void)state;
    whole_stop();
    assert_int_equal(access(socket_path(), F_OK), -1);
    snprintf(at.sun_path, sizeof(at.sun_path), "%s", socket_path());
    assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
    close(fd);
    start(&o);
    begin(dial(socket_path()));
    ask(LOCAL_FACTS, 1, &local_ask_shape, &everything);
    assert_int_equal(next_message(), LOCAL_FACTS_ARE);
    finish();
}

/* Then there is no control from the host itself, and all else is as ever. */
static void without_a_socket_the_agent_works(void **state)
{
    static const char *const calls[] = { "listen", "chmod" }; /* which no other code makes */
    const struct agent_options o = options();
    struct proc_spec s = whole_spec("p", "exec ./victim");

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
        whole_stop();
        sys_fault(calls[i], 1, EMFILE);
        start(&o);
        assert_true(sys_fault_hit());
        assert_int_equal(dial(socket_path()), -1);
    }
    (void)whole_command(PROC_OP_START, "p", &s);
    TURN_UNTIL(seen.code == CODE_OK);
    agent_set(whole.agent, &o); /* and on SIGHUP it is tried again */
    assert_int_equal(local_operation(PROC_OP_KILL, "p", &s), CODE_OK);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, whole_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_operation_is_done_answered_and_told_to_the_server),
        TEST(what_is_there_is_listed),
        TEST(a_long_list_comes_in_pages),
        TEST(output_and_facts_are_told),
        TEST(nonsense_is_refused_and_the_connection_ends),
        TEST(a_question_is_bounded),
        TEST(a_flood_of_questions_is_cut_off),
        TEST(who_stalls_holds_up_nobody),
        TEST(an_operation_outlives_its_client),
        TEST(strangers_are_kept_out),
        TEST(members_of_the_group_come_in),
        TEST(members_of_the_group_do_not_keep_root_out),
        TEST(a_socket_that_was_left_is_replaced),
        TEST(without_a_socket_the_agent_works),
    };

    return PART_RUN("agent_local", tests);
}
