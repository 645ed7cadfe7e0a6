/* SPDX-License-Identifier: MIT */
/* What each operation does to a process, by the contract's table; the worlds of
 * tests/sim/lib ask the same core whether it holds up. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "agent/supervise/core.h"
#include "agent/supervise/core_list.h"
#include "agent/supervise/core_local.h"
#include "base/mem/buf.h"
#include "base/mem/mem.h"
#include "model/code.h"
#include "tests/lib/readable.h"

/* A host with one process, whose hands do at once what they are asked for, when
 * turn() lets them. */
static struct {
    struct core *core;
    int64_t now_ms, pid, pid_watched;
    uint64_t adopted;
    uint64_t mark, run, probe;
    char line[64];
    int status; /* of the next command */
    bool has_run, has_probe, ignores_term, stays, is_late, is_blind, has_no_disk, is_immortal;
    int signals, runs;
    struct {
        int64_t code, pid;
        char text[256];
        bool hosted;
        int64_t wanted;
        int n;
    } result;
    char event[64];
    int64_t event_id; /* the last that came */
    struct {
        int n, events, lost;
        size_t most, processes;
        bool was_last;
        char digest[DIGEST_TEXT_SIZE];
        int64_t status, restarts, pid;
    } told;
    struct {
        unsigned type;
        struct buf json;
    } proc[64]; /* the journal, while it is wanted */
    size_t kept_n;
    bool keeps;
    struct core_look look; /* the last; its texts are gone */
} host;

static uint64_t effects_journal(void *arg, unsigned type, const struct shape *s, const void *record,
                                bool durable)
{
    (void)arg;
    (void)durable;
    if (host.keeps) {
        assert_true(host.kept_n < ARRAY_LEN(host.proc));
        host.proc[host.kept_n].type = type;
        shape_write(s, record, &host.proc[host.kept_n++].json);
    }
    return ++host.mark;
}

static void take_processes(const struct message_processes *m)
{
    host.told.n++;
    host.told.processes += m->list.n;
    host.told.most = m->list.n > host.told.most ? m->list.n : host.told.most;
    host.told.was_last = m->is_snapshot && m->is_last;
    snprintf(host.told.digest, sizeof(host.told.digest), "%s", m->digest);
    if (m->list.n) {
        host.told.status = ((const struct proc_view *)m->list.items)->status;
        host.told.restarts = ((const struct proc_view *)m->list.items)->restarts;
        host.told.pid = ((const struct proc_view *)m->list.items)->pid;
    }
}

static void take_event(const struct message_event *e)
{
    snprintf(host.event, sizeof(host.event), "%s", e->name);
    host.event_id = e->id;
    host.told.events++;
    host.told.lost += !strcmp(e->name, "agent_events_lost");
}

static void effects_send(void *arg, unsigned type, const struct shape *s, const void *message)
{
    const struct message_result *r = message;

    (void)arg;
    (void)s;
    if (type == MESSAGE_EVENT)
        take_event(message);
    if (type == MESSAGE_PROCESSES)
        take_processes(message);
    if (type != MESSAGE_RESULT)
        return;
    host.result.n++;
    host.result.code = r->code;
    host.result.pid = r->view.pid;
    host.result.hosted = r->view.hosted;
    host.result.wanted = r->view.wanted;
    readable(host.result.text, sizeof(host.result.text), r->text, LANG_EN);
}

static void effects_run(void *arg, const struct core_run *run)
{
    (void)arg;
    host.run = run->id;
    host.has_run = true;
    host.runs++;
    snprintf(host.line, sizeof(host.line), "%s", run->line);
}

static void effects_end_run(void *arg, uint64_t id)
{
    (void)arg;
    assert_int_equal(id, host.run);
    host.is_late = true;
}

static void effects_probe(void *arg, const struct core_look *look)
{
    (void)arg;
    host.look = *look;
    host.probe = look->id;
    host.has_probe = true;
}

static void effects_watch(void *arg, struct core_ident ident)
{
    (void)arg;
    host.pid_watched = ident.pid;
}

static void effects_signal(void *arg, struct core_ident ident, int number, bool with_children)
{
    (void)arg;
    (void)with_children;
    assert_int_equal(ident.pid, host.pid);
    host.signals++;
    if (number == SIGKILL || !host.ignores_term)
        host.pid = 0;
}

static void effects_adopt(void *arg, const struct core_adopt *a)
{
    (void)arg;
    host.pid_watched = a->ident.pid;
    host.adopted = a->id;
}

static const struct core_effects effects = { effects_journal, effects_send,    effects_run,
                                             effects_adopt,   effects_end_run, effects_probe,
                                             effects_watch,   effects_signal };

/* What the command's line does to the process. */
static void carry_out(void)
{
    if (host.status == 0 && (!strcmp(host.line, "start") || !strcmp(host.line, "restart")))
        host.pid = host.stays ? 0 : host.pid + 1000;
    if (host.status == 0 && (!strcmp(host.line, "stop") || !strcmp(host.line, "kill")) &&
        !host.stays)
        host.pid = 0;
}

static void answer_probe(void)
{
    struct core_probe probe = { .found = host.pid ? FOUND_IT : FOUND_NOTHING,
                                .ident = { host.pid, 1 },
                                .why = "the pid file is not there" };

    host.has_probe = false;
    shape_defaults(&proc_view_shape, &probe.view);
    core_on_probe(host.core, host.probe, &probe, host.now_ms);
}

static void answer_run(void)
{
    host.has_run = false;
    core_on_run(host.core, host.run, &(struct core_began){ .ident = { 77, 1 } }, NULL, host.now_ms);
    if (host.status == -2)
        return; /* it hangs */
    carry_out();
    core_on_run_end(host.core, host.run, host.status, "said", host.now_ms);
}

/* Lets everything happen that is asked for, and then time pass, until a result
 * is there or `until_ms` is. */
static void turn(int64_t until_ms)
{
    while (host.now_ms < until_ms && !host.result.n) {
        if (!host.has_no_disk)
            core_on_durable(host.core, host.mark, host.now_ms);
        core_tell_now(host.core);
        core_on_message(host.core, MESSAGE_EVENT_STORED,
                        &(struct message_event_ref){ host.event_id }, host.now_ms);
        if (host.has_probe && !host.is_blind) {
            answer_probe();
        } else if (host.has_run) {
            answer_run();
        } else if (host.is_late && !host.is_immortal) {
            host.is_late = false;
            core_on_run_end(host.core, host.run, CORE_SIGNALED + SIGKILL, "said", host.now_ms);
        } else if (host.pid_watched && host.pid_watched != host.pid) {
            struct core_ident gone = { host.pid_watched, 1 };

            host.pid_watched = 0;
            core_on_exit(host.core, gone, 3, host.now_ms);
        } else if (!host.result.n) {
            host.now_ms += 100;
            core_on_time(host.core, host.now_ms, host.now_ms);
        }
    }
}

static void ask(int64_t op, const char *start, const char *stop, const char *restart,
                const char *reload)
{
    static int64_t item;
    struct message_command m = { .task = "T",
                                 .item = ++item,
                                 .op = op,
                                 .deadline_ms = INT64_MAX / 2,
                                 .meta = { "space", "p", { 0 } } };

    shape_defaults(&proc_spec_shape, &m.spec);
    m.spec.has_identity = PRESENCE_GIVEN;
    m.spec.identity = (struct proc_identity){ "", "d", "/srv", "/srv/pid", "", "", "root" };
    m.spec.has_control = PRESENCE_GIVEN;
    m.spec.control.start_cmd = start;
    m.spec.control.stop_cmd = stop;
    m.spec.control.restart_cmd = restart;
    m.spec.control.reload_cmd = reload;
    host.result.n = 0;
    core_on_message(host.core, MESSAGE_COMMAND, &m, host.now_ms);
    turn(host.now_ms + 200 * 1000);
    core_on_message(host.core, MESSAGE_STORED, &(struct message_ref){ m.task, m.item },
                    host.now_ms);
}

static int set_up(void **state)
{
    const struct message_welcome welcome = { .version = 1, .epoch = 1 };

    (void)state;
    memset(&host, 0, sizeof(host));
    host.core = core_new(&effects, NULL, 0, 0);
    core_start(host.core, true, 0, 0);
    core_on_message(host.core, MESSAGE_WELCOME, &welcome, 0);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    core_free(host.core);
    for (size_t i = 0; i < host.kept_n; i++)
        buf_free(&host.proc[i].json);
    return 0;
}

static void each_operation_does_what_the_contract_says(void **state)
{
    static const struct {
        int64_t op;
        bool runs, stays;
        int status;
        const char *start, *stop, *restart, *reload;
        int code;
        bool hosted;
        int64_t wanted;
        bool runs_after;
        const char *text;
    } cases[] = {
        { 0, false, false, 0, "start", "", "", "", CODE_OK, true, PROC_RUNNING, true, "success" },
        { 0, true, false, 0, "start", "", "", "", CODE_RUNNING, false, PROC_UNREGISTERED, true,
          "process (p) is already" },
        { 0, false, true, 0, "start", "", "", "", CODE_CHECK, false, PROC_UNREGISTERED, false,
          "start process (p) failed, for post-check status not alive, please refer to agent log" },
        { 0, false, false, 7, "start", "", "", "", CODE_COMMAND, false, PROC_UNREGISTERED, false,
          "Script exit code non-zero. Error msessage: [said]" },
        { 0, false, false, -2, "start", "", "", "", CODE_TIMEOUT, false, PROC_UNREGISTERED, false,
          "the command ran longer than 60 s" },
        { 0, false, false, 0, "", "", "", "", CODE_NO_COMMAND, false, PROC_UNREGISTERED, false,
          "spec.control.start_cmd: required" },
        { 1, true, false, 0, "", "stop", "", "", CODE_OK, false, PROC_STOPPED, false, "success" },
        { 1, true, false, 0, "", "", "", "", CODE_OK, false, PROC_STOPPED, false, "success" },
        { 1, false, false, 0, "", "stop", "", "", CODE_NOT_RUNNING, false, PROC_STOPPED, false,
          "process (p) is not running" },
        { 1, true, true, 0, "", "stop", "", "", CODE_CHECK, false, PROC_UNREGISTERED, true,
          "stop process (p) failed, for post-check status alive, please refer to agent log" },
        { 2, true, false, 0, "", "", "", "", CODE_OK, false, PROC_UNREGISTERED, true, "success" },
        { 2, false, false, 0, "", "", "", "", CODE_OK, false, PROC_UNREGISTERED, false, "success" },
        { 3, true, false, 0, "start", "", "", "", CODE_OK, true, PROC_RUNNING, true, "success" },
        { 3, true, false, 0, "", "", "", "", CODE_NO_COMMAND, false, PROC_UNREGISTERED, true,
          "spec.control.start_cmd" },
        { 4, true, false, 0, "", "", "", "", CODE_OK, false, PROC_UNREGISTERED, true, "success" },
        { 7, true, false, 0, "", "", "restart", "", CODE_OK, true, PROC_RUNNING, true, "success" },
        { 7, true, false, 0, "start", "stop", "", "", CODE_OK, true, PROC_RUNNING, true,
          "success" },
        { 7, false, false, 0, "start", "", "", "", CODE_OK, true, PROC_RUNNING, true, "success" },
        { 7, true, false, 0, "", "", "", "", CODE_NO_COMMAND, false, PROC_UNREGISTERED, true,
          "spec.control.restart_cmd" },
        { 8, true, false, 0, "", "", "", "reload", CODE_OK, false, PROC_UNREGISTERED, true,
          "success" },
        { 8, false, false, 0, "", "", "", "reload", CODE_NOT_RUNNING, false, PROC_UNREGISTERED,
          false, "process (p) is not" },
        { 8, true, false, 0, "", "", "", "", CODE_NO_COMMAND, false, PROC_UNREGISTERED, true,
          "spec.control.reload_cmd" },
        { 9, true, false, 0, "", "", "", "", CODE_OK, false, PROC_STOPPED, false, "success" },
        { 9, false, false, 0, "", "", "", "", CODE_NOT_RUNNING, false, PROC_STOPPED, false,
          "process (p) is not running" },
        { 5, true, false, 0, "", "", "", "", CODE_UNKNOWN_OP, false, PROC_UNREGISTERED, true,
          "op_type 5: no such operation" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        set_up(state);
        host.pid = cases[i].runs ? 1000 : 0;
        host.stays = cases[i].stays;
        host.status = cases[i].status;
        ask(cases[i].op, cases[i].start, cases[i].stop, cases[i].restart, cases[i].reload);
        if (!host.result.n || host.result.code != cases[i].code ||
            host.result.hosted != cases[i].hosted || host.result.wanted != cases[i].wanted ||
            (host.pid != 0) != cases[i].runs_after ||
            strncmp(host.result.text, cases[i].text, strlen(cases[i].text)) != 0)
            fail_msg("case %zu: %d results, code %d, hosted %d, wanted %d, pid %d: %s", i,
                     host.result.n, (int)host.result.code, host.result.hosted,
                     (int)host.result.wanted, (int)host.pid, host.result.text);
        tear_down(state);
    }
}

static void one_that_ignores_sigterm_is_killed_after_its_time(void **state)
{
    (void)state;
    host.pid = 1000;
    host.ignores_term = true;
    ask(1, "", "", "", "");
    assert_int_equal(host.result.code, CODE_OK);
    assert_int_equal(host.signals, 2);
    assert_true(host.now_ms >= 60 * 1000);
}

static void what_is_hosted_and_dies_is_started_again_then_given_up(void **state)
{
    (void)state;
    ask(0, "start", "", "", "");
    assert_true(host.result.hosted);
    host.result.n = 0;
    host.pid = 0; /* it dies */
    core_on_exit(host.core, (struct core_ident){ 1000, 1 }, 3, host.now_ms);
    turn(host.now_ms + 10 * 1000);
    assert_int_equal(host.pid, 1000);
    assert_string_equal(host.event, "process_restart_success");
    host.stays = true; /* from now on it does not come up */
    host.pid = 0;
    core_on_exit(host.core, (struct core_ident){ 1000, 1 }, 3, host.now_ms);
    turn(host.now_ms + 590 * 1000);
    assert_string_equal(host.event, "process_restart_failed");
    turn(host.now_ms + 30 * 1000); /* it was up, so it is tried for ten minutes */
    assert_string_equal(host.event, "process_cancel_restart");
    host.stays = false;
    turn(host.now_ms + 120 * 1000);
    assert_int_equal(host.pid, 0);
}

static void a_command_that_comes_again_is_answered_and_not_run(void **state)
{
    struct message_command m = { .task = "T",
                                 .item = -1,
                                 .op = 0,
                                 .deadline_ms = INT64_MAX / 2,
                                 .meta = { "space", "p", { 0 } } };

    (void)state;
    shape_defaults(&proc_spec_shape, &m.spec);
    m.spec.has_identity = PRESENCE_GIVEN;
    m.spec.identity = (struct proc_identity){ "", "d", "/srv", "/srv/pid", "", "", "root" };
    m.spec.has_control = PRESENCE_GIVEN;
    m.spec.control.start_cmd = "start";
    core_on_message(host.core, MESSAGE_COMMAND, &m, host.now_ms);
    turn(host.now_ms + 100 * 1000);
    assert_int_equal(host.result.code, CODE_OK);
    host.line[0] = '\0';
    core_on_message(host.core, MESSAGE_COMMAND, &m, host.now_ms);
    assert_int_equal(host.result.n, 2);
    assert_string_equal(host.line, "");
}

static void a_command_past_its_deadline_is_refused(void **state)
{
    struct message_command m = {
        .task = "T", .item = -2, .op = 0, .deadline_ms = 0, .meta = { "space", "p", { 0 } }
    };

    (void)state;
    shape_defaults(&proc_spec_shape, &m.spec);
    m.spec.has_identity = PRESENCE_GIVEN;
    m.spec.identity = (struct proc_identity){ "", "d", "/srv", "/srv/pid", "", "", "root" };
    m.spec.has_control = PRESENCE_GIVEN;
    m.spec.control.start_cmd = "start";
    core_on_message(host.core, MESSAGE_COMMAND, &m, host.now_ms);
    turn(host.now_ms + 10 * 1000);
    assert_int_equal(host.result.code, CODE_TIMEOUT);
    assert_string_equal(host.line, "");
}

/* ---- what is told */

static void tell_host(const char *name)
{
    char path[32];
    struct message_command m = { .task = name,
                                 .item = 1,
                                 .op = PROC_OP_HOST,
                                 .deadline_ms = INT64_MAX / 2,
                                 .meta = { "space", name, { 0 } } };

    snprintf(path, sizeof(path), "/srv/%s.pid", name);
    shape_defaults(&proc_spec_shape, &m.spec);
    m.spec.has_identity = m.spec.has_control = PRESENCE_GIVEN;
    m.spec.identity = (struct proc_identity){ "", "d", "/srv", path, "", "", "root" };
    m.spec.control.start_cmd = "start";
    core_on_message(host.core, MESSAGE_COMMAND, &m, host.now_ms);
    core_on_durable(host.core, host.mark, host.now_ms); /* the command, */
    core_on_durable(host.core, host.mark, host.now_ms); /* its result */
}

static void welcome(bool wants_processes)
{
    const struct message_welcome m = { .version = 1, .wants_processes = wants_processes };

    core_on_message(host.core, MESSAGE_WELCOME, &m, host.now_ms);
}

static void all_processes_are_told_in_pages_when_they_are_wanted(void **state)
{
    char name[16], digest[DIGEST_TEXT_SIZE];

    (void)state;
    memset(&host.told, 0, sizeof(host.told));
    welcome(true); /* even if there are none */
    assert_int_equal(host.told.n, 1);
    assert_int_equal(host.told.processes, 0);
    assert_true(host.told.was_last);
    for (int i = 0; i < 250; i++) {
        snprintf(name, sizeof(name), "p%d", i);
        tell_host(name);
    }
    core_on_link(host.core, false, host.now_ms);
    core_digest(host.core, digest);
    memset(&host.told, 0, sizeof(host.told));
    welcome(true);
    assert_int_equal(host.told.n, 3);
    assert_int_equal(host.told.most, 100);
    assert_int_equal(host.told.processes, 250);
    assert_true(host.told.was_last);
    assert_string_equal(host.told.digest, digest);
    memset(&host.told, 0, sizeof(host.told));
    core_digest(host.core, digest);
    welcome(false);
    assert_int_equal(host.told.n, 0);
}

static void what_changes_between_hello_and_welcome_is_not_missed(void **state)
{
    char digest[DIGEST_TEXT_SIZE];

    (void)state;
    ask(0, "start", "", "", "");
    core_on_link(host.core, false, host.now_ms);
    core_digest(host.core, digest);
    core_on_exit(host.core, (struct core_ident){ 1000, 1 }, 3, host.now_ms);
    memset(&host.told, 0, sizeof(host.told));
    welcome(false);
    assert_int_equal(host.told.n, 1);
    assert_int_equal(host.told.status, PROC_STOPPED);
    assert_string_not_equal(host.told.digest, digest);
}

static void the_digest_follows_each_change(void **state)
{
    char none[DIGEST_TEXT_SIZE], stopped[DIGEST_TEXT_SIZE], now[DIGEST_TEXT_SIZE];

    (void)state;
    core_digest(host.core, none);
    ask(2, "", "", "", ""); /* one that is only asked about is none of ours */
    core_digest(host.core, now);
    assert_string_equal(now, none);
    host.pid = 1000;
    ask(1, "", "", "", "");
    assert_int_equal(host.told.status, PROC_STOPPED);
    core_digest(host.core, stopped);
    assert_string_equal(host.told.digest, stopped);
    ask(0, "start", "", "", "");
    core_digest(host.core, now);
    assert_string_not_equal(now, stopped);
    assert_string_equal(host.told.digest, now);
    ask(1, "", "", "", "");
    core_digest(host.core, now);
    assert_string_not_equal(now, stopped); /* it has ended once more since */
    assert_string_equal(host.told.digest, now);
    host.now_ms += 60 * 1000;
    core_on_time(host.core, host.now_ms, host.now_ms);
    core_digest(host.core, stopped);
    assert_string_equal(now, stopped); /* time alone changes no facts */
}

/* ---- what the contract adds */

static void one_that_is_found_running_uses_up_no_try(void **state)
{
    (void)state;
    host.pid = 1000;
    ask(3, "start", "", "", "");
    host.result.n = 0;
    turn(host.now_ms + 5000); /* it is looked for, and is there */
    host.pid = 0;
    core_on_exit(host.core, (struct core_ident){ 1000, 1 }, 3, host.now_ms);
    turn(host.now_ms + 7000); /* so the first restart comes at once */
    assert_int_equal(host.pid, 1000);
    assert_string_equal(host.event, "process_restart_success");
    assert_int_equal(host.told.restarts, 1);
    ask(7, "start", "", "", "");
    assert_int_equal(host.told.restarts, 0);
}

static void who_is_known_is_looked_for_by_identity(void **state)
{
    (void)state;
    ask(0, "start", "", "", "");
    assert_int_equal(host.look.known.pid, 0);
    ask(2, "", "", "", "");
    assert_int_equal(host.look.known.pid, 1000);
    assert_int_equal(host.look.start.pid, 77);
    assert_false(host.look.is_renewed);
    ask(7, "", "", "restart", "");
    assert_true(host.look.is_renewed);
}

static void an_exit_during_an_unknown_operation_does_no_harm(void **state)
{
    struct message_command m = { .task = "T",
                                 .item = -3,
                                 .op = 6,
                                 .deadline_ms = INT64_MAX / 2,
                                 .meta = { "space", "p", { 0 } } };

    (void)state;
    ask(0, "start", "", "", "");
    shape_defaults(&proc_spec_shape, &m.spec);
    core_on_message(host.core, MESSAGE_COMMAND, &m, host.now_ms);
    core_on_exit(host.core, (struct core_ident){ 1000, 1 }, 3, host.now_ms);
    host.result.n = 0;
    turn(host.now_ms + 1000);
    assert_int_equal(host.result.code, CODE_UNKNOWN_OP);
}

/* ---- what must not be lost */

static struct message_command command_of(int64_t op, const char *name, int64_t item)
{
    struct message_command m = { .task = "T",
                                 .item = item,
                                 .op = op,
                                 .deadline_ms = host.now_ms + 100 * 1000,
                                 .meta = { "space", name, { 0 } } };

    shape_defaults(&proc_spec_shape, &m.spec);
    m.spec.has_identity = m.spec.has_control = PRESENCE_GIVEN;
    m.spec.identity = (struct proc_identity){ "", "d", "/srv", "/srv/pid", "", "", "root" };
    m.spec.control.start_cmd = "start";
    return m;
}

static void tell(int64_t op, const char *name, int64_t item)
{
    struct message_command m = command_of(op, name, item);

    host.result.n = 0;
    core_on_message(host.core, MESSAGE_COMMAND, &m, host.now_ms);
}

static void process_dies(void)
{
    struct core_ident gone = { host.pid, 1 };

    host.pid = host.pid_watched = 0;
    core_on_exit(host.core, gone, 3, host.now_ms);
    core_tell_now(host.core);
}

static void who_asks_by_another_name_does_not_end_hosting(void **state)
{
    (void)state;
    ask(0, "start", "", "", "");
    tell(PROC_OP_QUERY, "alias", -10);
    turn(host.now_ms + 1000);
    assert_int_equal(host.result.pid, host.pid);
    core_on_message(host.core, MESSAGE_STORED, &(struct message_ref){ "T", -10 }, host.now_ms);
    host.result.n = 0;
    process_dies();
    turn(host.now_ms + 7000);
    assert_int_equal(host.pid, 1000);
    assert_string_equal(host.event, "process_restart_success");
}

/* The .proc file may say so; operations host it under one name. */
static void two_names_of_one_process_both_learn_of_its_end(void **state)
{
    const struct message_command m = command_of(PROC_OP_HOST, "alias", -10);

    (void)state;
    ask(0, "start", "", "", "");
    core_host(host.core, &(struct core_hosted){ m.meta, &m.spec, PROC_OP_HOST, 1 });
    turn(host.now_ms + 1000);
    host.result.n = 0;
    turn(host.now_ms + 1000); /* it is looked for, and is there */
    memset(&host.told, 0, sizeof(host.told));
    process_dies();
    assert_int_equal(host.told.processes, 2);
    assert_int_equal(host.told.status, PROC_STOPPED);
}

static void a_full_disk_does_not_end_hosting(void **state)
{
    (void)state;
    ask(0, "start", "", "", "");
    host.has_no_disk = true;
    tell(PROC_OP_QUERY, "p", -10);
    host.result.n = 0;
    process_dies();
    turn(host.now_ms + 7000);
    assert_int_equal(host.pid, 1000);
    host.has_no_disk = false;
    turn(host.now_ms + 1000);
    assert_int_equal(host.result.n, 1); /* and the question is answered when it can be */
    assert_int_equal(host.result.pid, 1000);
}

static void nothing_is_begun_after_its_deadline(void **state)
{
    (void)state;
    host.is_blind = true; /* no probe is answered */
    tell(PROC_OP_START, "p", -10);
    turn(host.now_ms + 99 * 1000);
    assert_int_equal(host.result.n, 0);
    turn(host.now_ms + 2000);
    assert_int_equal(host.result.code, CODE_TIMEOUT);
    host.is_blind = false;
    host.result.n = 0;
    turn(host.now_ms + 1000);
    assert_int_equal(host.runs, 0);
}

static void a_command_that_can_not_be_killed_holds_up_nobody(void **state)
{
    (void)state;
    host.status = -2;
    host.is_immortal = true;
    ask(0, "start", "", "", "");
    assert_int_equal(host.result.code, CODE_TIMEOUT);
    assert_non_null(strstr(host.result.text, "can not be ended"));
    host.status = 0;
    host.is_immortal = host.is_late = false; /* the first command never ends */
    ask(0, "start", "", "", "");
    assert_int_equal(host.result.code, CODE_OK);
}

static void more_than_may_wait_are_refused_at_once(void **state)
{
    enum { MAX = 16, MORE = 40 };

    (void)state;
    host.is_blind = true; /* the first one takes its time */
    for (int64_t i = 0; i < MAX + MORE; i++)
        tell(PROC_OP_QUERY, "p", -10 - i);
    core_on_durable(host.core, host.mark, host.now_ms); /* the commands, */
    core_on_durable(host.core, host.mark, host.now_ms); /* and what was refused */
    assert_int_equal(host.result.n, MORE);
    assert_int_equal(host.result.code, CODE_LOCKED);
}

static void the_number_of_commands_has_an_end(void **state)
{
    char name[16];
    uint64_t before = host.mark;

    (void)state;
    host.has_no_disk = true;
    for (int64_t i = 0; i < 9000; i++) {
        snprintf(name, sizeof(name), "p%d", (int)i);
        tell(PROC_OP_QUERY, name, -10 - i);
    }
    assert_int_equal(host.mark - before, 8192);
}

/* More of one process than may wait: each is refused, which is a result. */
static int results_of(int64_t item)
{
    tell(PROC_OP_QUERY, "p", item);
    core_on_durable(host.core, host.mark, host.now_ms); /* the command, */
    core_on_durable(host.core, host.mark, host.now_ms); /* and what came of it */
    return host.result.n;
}

/* A server that never acknowledges results does not fill the memory, and local operations work. */
static void results_that_nobody_stores_have_an_end(void **state)
{
    enum { WAITING = 16, MAX = 8192, MORE = 500 };
    struct message_command m = command_of(PROC_OP_QUERY, "other", 1);
    int n = 0;

    (void)state;
    host.is_blind = true;
    for (int64_t i = 0; i < MAX + MORE; i++)
        n += results_of(-10 - i);
    assert_int_equal(n, MAX - WAITING);
    m.task = "local:root:1";
    assert_true(core_operate(host.core, &m, 1000, host.now_ms));
    core_on_message(host.core, MESSAGE_STORED, &(struct message_ref){ "T", -10 - WAITING },
                    host.now_ms);
    core_on_message(host.core, MESSAGE_STORED, &(struct message_ref){ "T", -10 - WAITING - 1 },
                    host.now_ms);
    n = 0;
    for (int64_t i = 0; i < MORE; i++)
        n += results_of(-20000 - i);
    assert_int_equal(n, 1); /* the other one's place is the local one's */
}

/* ---- what is seen meanwhile */

/* Not at the check alone, which comes start_check_secs after. */
static void a_restarted_process_is_told_of_when_it_is_seen(void **state)
{
    static const int statuses[] = { 0, -2 }; /* its command ends; is the process itself */

    for (size_t i = 0; i < ARRAY_LEN(statuses); i++) {
        set_up(state);
        ask(0, "start", "", "", "");
        host.result.n = 0;
        host.status = statuses[i];
        process_dies();
        assert_int_equal(host.told.status, PROC_STOPPED);
        turn(host.now_ms + 500);
        assert_int_equal(host.runs, 2);
        host.pid = host.pid ? host.pid : 5000;
        turn(host.now_ms + 1500);
        assert_int_equal(host.told.status, PROC_RUNNING);
        assert_int_equal(host.told.pid, host.pid);
        assert_string_equal(host.event, ""); /* the check has not been */
        tear_down(state);
    }
}

static void one_that_dies_before_the_check_is_not_up(void **state)
{
    (void)state;
    ask(0, "start", "", "", "");
    host.result.n = 0;
    process_dies();
    turn(host.now_ms + 1000);
    assert_int_equal(host.told.status, PROC_RUNNING);
    process_dies();
    assert_int_equal(host.told.status, PROC_STOPPED);
    turn(host.now_ms + 5000);
    assert_string_equal(host.event, "process_restart_failed");
}

/* A process that was seen meanwhile may be a launcher: the check probes again. */
static void the_check_of_a_start_does_not_rest_on_what_was_seen(void **state)
{
    (void)state;
    ask(0, "start", "", "", "");
    assert_false(host.look.is_peek);
    assert_true(host.look.is_renewed);
    assert_int_equal(host.look.known.pid, 0);
}

/* ---- after a crash */

static void begin_life(void)
{
    const struct message_welcome m = { .version = 1, .epoch = 1 };
    struct err err;

    core_free(host.core);
    host.core = core_new(&effects, NULL, host.now_ms, host.now_ms);
    host.keeps = host.has_probe = host.has_run = false;
    for (size_t i = 0; i < host.kept_n; i++) {
        if (core_replay(host.core, host.proc[i].type, buf_data(&host.proc[i].json),
                        host.proc[i].json.len, &err))
            fail_msg("%s", err.text);
    }
    core_start(host.core, true, host.now_ms, host.now_ms);
    core_on_message(host.core, MESSAGE_WELCOME, &m, host.now_ms);
    host.keeps = true;
}

/* The agent is killed while its restart runs, and once more: it is not begun again. */
static void a_restart_in_work_is_known_to_the_second_agent_after_it(void **state)
{
    (void)state;
    host.keeps = true;
    ask(0, "start", "", "", "");
    host.result.n = 0;
    host.status = -2; /* it takes its time */
    process_dies();
    turn(host.now_ms + 500);
    assert_int_equal(host.runs, 2);
    for (int life = 0; life < 2; life++) {
        begin_life();
        for (size_t i = 0; i < host.kept_n; i++)
            buf_free(&host.proc[i].json);
        host.kept_n = 0;
        core_compact(host.core);
        host.pid_watched = 0; /* the command still runs */
        turn(host.now_ms + 15 * 1000);
        assert_int_equal(host.runs, 2);
    }
}

static void a_command_is_remembered_till_its_deadline_compaction_or_not(void **state)
{
    struct message_command m = command_of(PROC_OP_HOST, "p", -10);

    (void)state;
    host.pid = 1000;
    m.deadline_ms = 3600 * 1000;
    core_on_message(host.core, MESSAGE_COMMAND, &m, host.now_ms);
    turn(host.now_ms + 1000);
    assert_int_equal(host.result.n, 1);
    core_on_message(host.core, MESSAGE_STORED, &(struct message_ref){ m.task, m.item },
                    host.now_ms);
    host.keeps = true;
    core_compact(host.core);
    begin_life();
    host.now_ms += 600 * 1000;
    core_on_time(host.core, host.now_ms, host.now_ms);
    host.mark = 0;
    core_on_message(host.core, MESSAGE_COMMAND, &m, host.now_ms);
    assert_int_equal(host.mark, 0); /* not taken for a new one */
}

/* A stop that was begun has its time, and is not called a failure at once. */
static void a_stop_in_work_is_given_time_by_the_next_agent(void **state)
{
    (void)state;
    host.keeps = true;
    ask(0, "start", "", "", "");
    host.ignores_term = true;
    tell(PROC_OP_STOP, "p", -10);
    turn(host.now_ms + 500);
    assert_int_equal(host.signals, 1);
    begin_life();
    turn(host.now_ms + 1000);
    assert_int_equal(host.result.n, 0);
    host.keeps = false;
    process_dies();
    turn(host.now_ms + 1000);
    assert_int_equal(host.result.code, CODE_OK);
    assert_false(host.result.hosted);
}

static void numbers_of_a_server_that_is_out_of_its_mind_do_no_harm(void **state)
{
    struct message_command m = command_of(PROC_OP_QUERY, "p", -10);
    const struct message_ping ping = { .server_ms = INT64_MIN };

    (void)state;
    host.now_ms = 1000;
    core_on_message(host.core, MESSAGE_PING, &ping, host.now_ms);
    m.deadline_ms = INT64_MAX;
    core_on_message(host.core, MESSAGE_COMMAND, &m, host.now_ms);
    turn(host.now_ms + 1000);
    assert_int_equal(host.result.code, CODE_OK);
    core_on_message(host.core, MESSAGE_STORED, &(struct message_ref){ m.task, m.item },
                    host.now_ms);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_operation_does_what_the_contract_says),
        TEST(one_that_ignores_sigterm_is_killed_after_its_time),
        TEST(what_is_hosted_and_dies_is_started_again_then_given_up),
        TEST(a_command_that_comes_again_is_answered_and_not_run),
        TEST(a_command_past_its_deadline_is_refused),
        TEST(all_processes_are_told_in_pages_when_they_are_wanted),
        TEST(what_changes_between_hello_and_welcome_is_not_missed),
        TEST(the_digest_follows_each_change),
        TEST(one_that_is_found_running_uses_up_no_try),
        TEST(who_is_known_is_looked_for_by_identity),
        TEST(an_exit_during_an_unknown_operation_does_no_harm),
        TEST(who_asks_by_another_name_does_not_end_hosting),
        TEST(two_names_of_one_process_both_learn_of_its_end),
        TEST(a_full_disk_does_not_end_hosting),
        TEST(nothing_is_begun_after_its_deadline),
        TEST(a_command_that_can_not_be_killed_holds_up_nobody),
        TEST(more_than_may_wait_are_refused_at_once),
        TEST(the_number_of_commands_has_an_end),
        TEST(results_that_nobody_stores_have_an_end),
        cmocka_unit_test(a_restarted_process_is_told_of_when_it_is_seen),
        TEST(one_that_dies_before_the_check_is_not_up),
        TEST(the_check_of_a_start_does_not_rest_on_what_was_seen),
        TEST(a_restart_in_work_is_known_to_the_second_agent_after_it),
        TEST(a_command_is_remembered_till_its_deadline_compaction_or_not),
        TEST(a_stop_in_work_is_given_time_by_the_next_agent),
        TEST(numbers_of_a_server_that_is_out_of_its_mind_do_no_harm),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
