/* SPDX-License-Identifier: MIT */
/* What processes say, in the whole agent with real processes: agent_output.c, agent_trim.c. */
#include <pwd.h>
#include <sched.h>
#include <sys/mount.h>
#include <time.h>
#include <utime.h>

#include "agent/exec/outlog.h"
#include "agent/shell/agent_parts.h"
#include "link/message.h"
#include "tests/lib/part.h"
#include "tests/lib/whole_agent.h"

enum { MAX_BYTES = 256 * 1024 };

static struct rig {
    bool has_result, is_running, is_oom, is_perhaps_oom;
    int64_t code, pid;
    char text[4096], chinese[4096];
    char output[2048]; /* of the last process that was told of, why */
    struct message_log log;
    char said[LOG_MAX_BYTES * 3];
} rig;

static void take_log(const struct message_log *m)
{
    rig.log = *m;
    snprintf(rig.said, sizeof(rig.said), "%s", m->output);
    readable(rig.text, sizeof(rig.text), m->text, LANG_EN);
    readable(rig.chinese, sizeof(rig.chinese), m->text, LANG_ZH);
}

static void take_result(const struct message_result *m)
{
    rig.has_result = true;
    rig.code = m->code;
    rig.pid = m->view.pid;
    readable(rig.text, sizeof(rig.text), m->text, LANG_EN);
}

static void on_send(void *arg, unsigned type, const struct shape *s, const void *message)
{
    const struct message_processes *p = message;

    (void)arg, (void)s;
    if (type == MESSAGE_LOG)
        take_log(message);
    if (type == MESSAGE_RESULT)
        take_result(message);
    if (type == MESSAGE_PROCESSES && p->list.n) {
        const struct proc_view *v = (const struct proc_view *)p->list.items + p->list.n - 1;

        rig.pid = v->pid;
        rig.is_running = v->status == PROC_RUNNING;
        rig.is_oom = v->cause.exit_oom;
        rig.is_perhaps_oom = v->cause.exit_oom_perhaps;
        snprintf(rig.output, sizeof(rig.output), "%s", v->cause.output ? v->cause.output : "");
    }
}

static void start_agent_without(const char *facility)
{
    const struct agent_options o = {
        .dir = whole.data, .output_max_bytes = MAX_BYTES, .without = facility, .send = on_send
    };

    whole_start(&o);
}

static void start_agent(void)
{
    start_agent_without("");
}

static void operate(int64_t op, const char *name, const struct proc_spec *spec, int code)
{
    rig.has_result = false;
    whole_command(op, name, spec);
    TURN_UNTIL(rig.has_result);
    if (rig.code != code)
        fail_msg("operation %d on %s: %d %s", (int)op, name, (int)rig.code, rig.text);
}

static int64_t send_ask(const char *name, const char *what, int64_t lines, int64_t at)
{
    const struct message_log_ask m = { .id = ++whole.item,
                                       .space = "space",
                                       .name = name,
                                       .what = what,
                                       .lines = lines,
                                       .at = at,
                                       .max_bytes = LOG_MAX_BYTES };

    agent_on_message(whole.agent, MESSAGE_LOG_ASK, &m);
    return m.id;
}

/* The answer is there at once, unless the file is being trimmed. */
static const char *ask(const char *name, const char *what, int64_t lines, int64_t at)
{
    int64_t id = send_ask(name, what, lines, at);

    TURN_UNTIL(rig.log.id == id);
    return rig.said;
}

static int set_up(void **state)
{
    (void)state;
    memset(&rig, 0, sizeof(rig));
    whole_set_up();
    return 0;
}

/* ---- last words */

static void last_words_are_those_of_the_one_that_died(void **state)
{
    struct proc_spec s =
        whole_spec("fore", "echo a; echo b; echo c; echo I am $$; exec ./victim > /dev/null");
    char words[64];
    int64_t pid;

    (void)state;
    start_agent();
    operate(PROC_OP_START, "fore", &s, CODE_OK);
    pid = rig.pid;
    snprintf(words, sizeof(words), "b\nc\nI am %lld", (long long)pid);
    world_kill(pid);
    TURN_UNTIL(rig.is_running && rig.pid != pid && !strncmp(rig.output, words, strlen(words)));
    assert_int_equal(rig.log.id, 0);
    assert_non_null(strstr(ask("fore", "", 0, -1), words)); /* and the next one said its own */
    assert_non_null(strstr(rig.said, world_text("I am %lld\n", (long long)rig.pid)));
}

static void a_daemon_has_last_words_too(void **state)
{
    static const char start[] = "echo begun; ./victim --daemonize --print 'I was here' --pid-file "
                                "daemon.pid";
    struct proc_spec s = whole_spec("daemon", start);
    int64_t pid;

    (void)state;
    start_agent();
    operate(PROC_OP_START, "daemon", &s, CODE_OK);
    pid = rig.pid;
    world_kill(pid);
    TURN_UNTIL(strstr(rig.output, "I was here\n"));
    TURN_UNTIL(rig.is_running && rig.pid != pid);
}

static void what_an_earlier_run_said_are_not_its_words(void **state)
{
    struct proc_spec s = whole_spec("p", "test -f loud && echo loud; exec ./victim > /dev/null");
    int64_t pid;

    (void)state;
    world_write(world_text("%s/loud", whole.dir), "");
    start_agent();
    operate(PROC_OP_START, "p", &s, CODE_OK);
    assert_int_equal(unlink(world_text("%s/loud", whole.dir)), 0);
    pid = rig.pid;
    world_kill(pid);
    TURN_UNTIL(rig.is_running && rig.pid != pid && !strncmp(rig.output, "loud", 4));
    pid = rig.pid;
    world_kill(pid);
    TURN_UNTIL(rig.is_running && rig.pid != pid);
    assert_string_equal(rig.output, "");
    assert_string_equal(ask("p", "", 0, -1), "loud\n");
}

/* The kernel's count, as we say it is, in a namespace of our own; false: we may not. */
static bool set_kills(int kills)
{
    const char *path = world_text("%s/vmstat", whole.dir);
    static bool is_ours;

    world_write(path, world_text("nr_free_pages 1\noom_kill %d\nnuma_hit 2\n", kills));
    is_ours =
        is_ours || (!unshare(CLONE_NEWNS) && !mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) &&
                    !mount(path, "/proc/vmstat", NULL, MS_BIND, NULL));
    return is_ours;
}

static void the_kernels_kill_is_told_from_others(void **state)
{
    struct proc_spec s = whole_spec("p", "exec ./victim");
    int64_t pid;

    (void)state;
    if (!set_kills(3))
        skip();
    start_agent();
    operate(PROC_OP_START, "p", &s, CODE_OK);
    assert_true(set_kills(4));
    pid = rig.pid;
    world_kill(pid);
    TURN_UNTIL(rig.is_running && rig.pid != pid && rig.is_perhaps_oom);
    assert_false(rig.is_oom); /* the kernel may have ended another process */
    pid = rig.pid;
    world_kill(pid); /* this one was an administrator's */
    TURN_UNTIL(rig.is_running && rig.pid != pid);
    assert_false(rig.is_oom || rig.is_perhaps_oom);
    assert_true(set_kills(5));
    operate(PROC_OP_KILL, "p", &s, CODE_OK);
    TURN_UNTIL(!rig.is_running && *rig.output); /* its pid, which the victim says */
    assert_false(rig.is_oom || rig.is_perhaps_oom);
}

/* ---- answers */

static void who_asks_gets_what_was_said(void **state)
{
    struct proc_spec s =
        whole_spec("p", "echo one; echo two; echo three; exec ./victim > /dev/null");

    (void)state;
    start_agent();
    ask("p", "", 3, -1);
    assert_int_equal(rig.log.code, ERR_NOT_FOUND);
    assert_non_null(strstr(rig.text, "space:p: no output of it is kept on this host"));
    assert_non_null(strstr(rig.chinese, "space:p：该主机上没有保留其输出"));
    operate(PROC_OP_START, "p", &s, CODE_OK);
    assert_string_equal(ask("p", "", 2, -1), "two\nthree\n");
    assert_int_equal(rig.log.code, 0);
    assert_int_equal(rig.log.next, 14);
    assert_string_equal(ask("p", "", 0, 4), "two\nthree\n");
    assert_string_equal(ask("p", "", 0, 14), "");
    assert_false(rig.log.has_gap);
    assert_string_equal(ask("p", "", 0, 1000), "one\ntwo\nthree\n");
    assert_true(rig.log.has_gap);
    ask("p", "../p", 0, -1);
    assert_int_equal(rig.log.code, CODE_PARAM);
}

/* The loop does not wait for a file that another thread trims, and the answer comes later. */
static void an_answer_waits_for_trimming_but_the_loop_does_not(void **state)
{
    struct proc_spec s = whole_spec("p", "echo one; exec ./victim > /dev/null");
    int64_t id, began_ms;

    (void)state;
    start_agent();
    operate(PROC_OP_START, "p", &s, CODE_OK);
    outlog_change(whole.agent->base.outlog, "space%3Ap");
    id = send_ask("p", "", 0, -1);
    assert_int_not_equal(rig.log.id, id);
    outlog_keep_trimmed(whole.agent->base.outlog, "space%3Ap");
    TURN_UNTIL(rig.log.id == id);
    assert_string_equal(rig.said, "one\n");
    outlog_change(whole.agent->base.outlog, "space%3Ap");
    id = send_ask("p", "", 0, -1);
    assert_int_not_equal(rig.log.id, id);
    TURN_UNTIL(rig.log.id == id); /* it is trimmed for too long */
    assert_int_equal(rig.log.code, ERR_UNAVAILABLE);
    began_ms = clock_mono_ms(&clock_system);
    for (int i = 0; i < 300; i++)
        id = send_ask("p", "", 0, -1);
    assert_true(clock_mono_ms(&clock_system) - began_ms < 300 * 1000 / 4); /* none waits 1 s */
    assert_int_equal(rig.log.id, id); /* too many wait already */
    assert_int_equal(rig.log.code, ERR_UNAVAILABLE);
    outlog_keep_trimmed(whole.agent->base.outlog, "space%3Ap");
    (void)send_ask("p", "", 0, -1);
} /* the others are forgotten at the end */

/* So does what a command said that has failed, and what a process said last. */
static void words_are_told_though_their_file_is_being_trimmed(void **state)
{
    struct proc_spec s = whole_spec("p", "echo my last; exec ./victim > /dev/null");

    (void)state;
    s.control.reload_cmd = "echo not now; exit 3";
    start_agent();
    outlog_change(whole.agent->base.outlog, "space%3Ap~reload");
    operate(PROC_OP_START, "p", &s, CODE_OK);
    operate(PROC_OP_RELOAD, "p", &s, CODE_COMMAND);
    assert_non_null(strstr(rig.text, "[not now\n]"));
    outlog_change(whole.agent->base.outlog, "space%3Ap");
    world_kill(rig.pid);
    TURN_UNTIL(!rig.is_running);
    outlog_keep_trimmed(whole.agent->base.outlog, "space%3Ap");
    TURN_UNTIL(strstr(rig.output, "my last"));
}

static void each_command_has_words_of_its_own(void **state)
{
    struct proc_spec s = whole_spec("p", "echo started; exec ./victim > /dev/null");

    (void)state;
    s.control.reload_cmd = "echo not now; exit 3";
    s.control.stop_cmd = "echo stopping; kill $(cat p.pid)";
    start_agent();
    operate(PROC_OP_START, "p", &s, CODE_OK);
    operate(PROC_OP_RELOAD, "p", &s, CODE_COMMAND);
    assert_non_null(strstr(rig.text, "[not now\n]")); /* its own, and nothing else */
    operate(PROC_OP_RELOAD, "p", &s, CODE_COMMAND);
    assert_non_null(strstr(rig.text, "[not now\n]"));
    operate(PROC_OP_STOP, "p", &s, CODE_OK);
    assert_string_equal(ask("p", "", 0, -1), "started\n");
    assert_string_equal(ask("p", "reload", 0, -1), "not now\nnot now\n");
    assert_string_equal(ask("p", "stop", 0, -1), "stopping\n");
    ask("p", "kill", 0, -1);
    assert_int_equal(rig.log.code, ERR_NOT_FOUND);
}

static void a_file_that_was_swapped_is_not_read(void **state)
{
    const char *path = world_text("%s/output/space%%3Ap", whole.data);
    struct proc_spec s = whole_spec("p", "echo started; exec ./victim > /dev/null");

    (void)state;
    start_agent();
    assert_int_equal(symlink("/etc/passwd", path), 0);
    ask("p", "", 0, -1);
    assert_int_equal(rig.log.code, ERR_SYSTEM);
    assert_string_equal(rig.said, "");
    operate(PROC_OP_START, "p", &s, CODE_COMMAND);
    assert_non_null(strstr(rig.text, "output of space:p"));
}

/* ---- bounds */

static int64_t size_of(const char *name)
{
    struct stat st;

    return stat(world_text("%s/output/%s", whole.data, name), &st) ? -1 : st.st_size;
}

static void a_flood_is_held(void **state)
{
    struct proc_spec s = whole_spec("p", "exec ./victim --flood");

    (void)state;
    start_agent();
    operate(PROC_OP_START, "p", &s, CODE_OK);
    TURN_UNTIL((ask("p", "", 1, -1), rig.log.next > 16 * MAX_BYTES));
    assert_string_not_equal(rig.said, "");
    operate(PROC_OP_KILL, "p", &s, CODE_OK);
    TURN_UNTIL(size_of("space%3Ap") <= MAX_BYTES);
    assert_in_range(size_of("space%3Ap.1"), 1, MAX_BYTES + 64);
    assert_int_equal(size_of("space%3Ap.2"), -1);
}

static void put_file(const char *name, int days)
{
    const char *path = world_text("%s/output/%s", whole.data, name);
    const time_t at = time(NULL) - days * 24 * 3600;

    world_write(path, "old\n");
    assert_int_equal(utime(path, &(struct utimbuf){ at, at }), 0);
}

/* Where a process has a bound of its own, it and its commands have that one; a new agent
 * knows it, too. */
static void a_process_may_have_its_own_bound(void **state)
{
    struct proc_spec small = whole_spec("small", "exec ./victim --flood=100000");
    struct proc_spec large = whole_spec("large", "exec ./victim --flood=600000");

    (void)state;
    small.extra.log_max_bytes = 1000;
    large.extra.log_max_bytes = 1 << 20;
    start_agent();
    operate(PROC_OP_START, "small", &small, CODE_OK);
    operate(PROC_OP_START, "large", &large, CODE_OK);
    TURN_UNTIL(size_of("space%3Asmall.1") > 0 && size_of("space%3Asmall") <= 1000);
    assert_in_range(size_of("space%3Asmall.1"), 1, 1064);
    TURN_UNTIL(size_of("space%3Alarge") >= 600000);
    whole_stop();
    start_agent();
    put_file("space%3Asmall~stop", 0);
    assert_int_equal(truncate(world_text("%s/output/space%%3Asmall~stop", whole.data), 2000), 0);
    TURN_UNTIL(size_of("space%3Asmall~stop") <= 1000);
    assert_true(size_of("space%3Alarge") >= 600000);
    large.extra.log_max_bytes = 0; /* as for all, from its next start on */
    operate(PROC_OP_KILL, "large", &large, CODE_OK);
    operate(PROC_OP_START, "large", &large, CODE_OK);
    TURN_UNTIL(size_of("space%3Alarge") <= MAX_BYTES);
}

/* Where there is no inotify, at each tick; by then the output of unknown processes is old enough.
 */
static void all_is_looked_at_now_and_then(void **state)
{
    struct proc_spec s = whole_spec("p", "echo begun; exec ./victim --flood=1000000");

    (void)state;
    start_agent_without("inotify");
    operate(PROC_OP_START, "p", &s, CODE_OK);
    put_file("gone%3Ap", 8);
    put_file("gone%3Ap.1", 8);
    put_file("gone%3Ap~stop", 8);
    put_file("gone%3Aq", 6);
    put_file("space%3Ap~stop", 30);
    TURN_UNTIL(size_of("space%3Ap.1") > 0 && size_of("gone%3Ap") < 0);
    TURN_UNTIL(size_of("gone%3Ap.1") < 0 && size_of("gone%3Ap~stop") < 0);
    assert_int_equal(size_of("gone%3Aq"), 4);
    assert_int_equal(size_of("space%3Ap~stop"), 4);
    TURN_UNTIL(size_of("space%3Ap") <=
               MAX_BYTES); /* it may write still when it is first looked at */
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, whole_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(last_words_are_those_of_the_one_that_died),
        TEST(a_daemon_has_last_words_too),
        TEST(what_an_earlier_run_said_are_not_its_words),
        TEST(the_kernels_kill_is_told_from_others),
        TEST(who_asks_gets_what_was_said),
        TEST(an_answer_waits_for_trimming_but_the_loop_does_not),
        TEST(words_are_told_though_their_file_is_being_trimmed),
        TEST(each_command_has_words_of_its_own),
        TEST(a_file_that_was_swapped_is_not_read),
        TEST(a_flood_is_held),
        TEST(a_process_may_have_its_own_bound),
        TEST(all_is_looked_at_now_and_then),
    };

    return PART_RUN("said", tests);
}
