/* SPDX-License-Identifier: MIT */
/* Every operation in every situation: its code, its message, and whether the process is
 * hosted and wanted afterwards, row by row as the contract has it. */
#include "model/operation.h"
#include "tests/lib/core_rig.h"

/* What the operation's command does. */
enum does { WORKS, FAILS, HANGS, IDLE, NO_USER, NO_DIR };

/* How the operation is commanded: by its own command, or by what stands for an empty one. */
enum by { CMD, EMPTY };

enum { U = PROC_UNREGISTERED, R = PROC_RUNNING, S = PROC_STOPPED };

#define NOT_ALIVE "failed, for post-check status not alive, please refer to agent log for details"
#define ALIVE     "failed, for post-check status alive, please refer to agent log for details"
#define SCRIPT    "Script exit code non-zero. Error msessage: [said]"
#define LATE      "the command ran longer than 60 s and was ended; its output: [said]"
#define LATE_UP                                                                                    \
    "the command ran longer than 60 s and was ended: there is no pid file; its output: [said]"
#define NOBODY   "user ghost: there is no such user"
#define FOLDER   "/srv: No such file or directory"
#define RUNS     "process (p) is already running with pid "
#define RUNS_NOT "process (p) is not running: there is no pid file"

struct row {
    int64_t op;
    enum by by;
    bool runs, hosted;
    enum does does;
    int64_t code;
    const char *text;
    bool hosted_after;
    int64_t wanted_after;
    bool runs_after;
};

/* clang-format off */
static const struct row rows[] = {
    /* op              by     runs   hosted does     code              text                      then: hosted wanted runs */
    { PROC_OP_START,   CMD,   false, false, WORKS,   CODE_OK,          "success",                       true,  R, true },
    { PROC_OP_START,   CMD,   false, false, FAILS,   CODE_COMMAND,     SCRIPT,                          false, U, false },
    { PROC_OP_START,   CMD,   false, false, HANGS,   CODE_TIMEOUT,     LATE_UP,                         false, U, false },
    { PROC_OP_START,   CMD,   false, false, IDLE,    CODE_CHECK,       "start process (p) " NOT_ALIVE,  false, U, false },
    { PROC_OP_START,   CMD,   false, false, NO_USER, CODE_USER,        NOBODY,                          false, U, false },
    { PROC_OP_START,   CMD,   false, false, NO_DIR,  CODE_COMMAND,     FOLDER,                          false, U, false },
    { PROC_OP_START,   CMD,   false, true,  WORKS,   CODE_OK,          "success",                       true,  R, true },
    { PROC_OP_START,   CMD,   false, true,  FAILS,   CODE_COMMAND,     SCRIPT,                          true,  R, false },
    { PROC_OP_START,   CMD,   false, true,  HANGS,   CODE_TIMEOUT,     LATE_UP,                         true,  R, false },
    { PROC_OP_START,   CMD,   false, true,  IDLE,    CODE_CHECK,       "start process (p) " NOT_ALIVE,  true,  R, false },
    { PROC_OP_START,   CMD,   false, true,  NO_USER, CODE_USER,        NOBODY,                          true,  R, false },
    { PROC_OP_START,   CMD,   false, true,  NO_DIR,  CODE_COMMAND,     FOLDER,                          true,  R, false },
    { PROC_OP_START,   CMD,   true,  false, WORKS,   CODE_RUNNING,     RUNS,                            false, U, true },
    { PROC_OP_START,   CMD,   true,  true,  WORKS,   CODE_RUNNING,     RUNS,                            true,  R, true },
    { PROC_OP_START,   EMPTY, false, false, WORKS,   CODE_NO_COMMAND,  "spec.control.start_cmd: ",      false, U, false },
    { PROC_OP_START,   EMPTY, true,  true,  WORKS,   CODE_NO_COMMAND,  "spec.control.start_cmd: ",      true,  R, true },

    { PROC_OP_STOP,    CMD,   true,  false, WORKS,   CODE_OK,          "success",                       false, S, false },
    { PROC_OP_STOP,    CMD,   true,  false, FAILS,   CODE_COMMAND,     SCRIPT,                          false, U, true },
    { PROC_OP_STOP,    CMD,   true,  false, HANGS,   CODE_TIMEOUT,     LATE,                            false, U, true },
    { PROC_OP_STOP,    CMD,   true,  false, IDLE,    CODE_CHECK,       "stop process (p) " ALIVE,       false, U, true },
    { PROC_OP_STOP,    CMD,   true,  false, NO_USER, CODE_USER,        NOBODY,                          false, U, true },
    { PROC_OP_STOP,    CMD,   true,  false, NO_DIR,  CODE_COMMAND,     FOLDER,                          false, U, true },
    { PROC_OP_STOP,    CMD,   true,  true,  WORKS,   CODE_OK,          "success",                       false, S, false },
    { PROC_OP_STOP,    CMD,   true,  true,  FAILS,   CODE_COMMAND,     SCRIPT,                          true,  R, true },
    { PROC_OP_STOP,    CMD,   true,  true,  HANGS,   CODE_TIMEOUT,     LATE,                            true,  R, true },
    { PROC_OP_STOP,    CMD,   true,  true,  IDLE,    CODE_CHECK,       "stop process (p) " ALIVE,       true,  R, true },
    { PROC_OP_STOP,    CMD,   true,  true,  NO_USER, CODE_USER,        NOBODY,                          true,  R, true },
    { PROC_OP_STOP,    CMD,   false, false, WORKS,   CODE_NOT_RUNNING, RUNS_NOT,                        false, S, false },
    { PROC_OP_STOP,    CMD,   false, true,  WORKS,   CODE_NOT_RUNNING, RUNS_NOT,                        false, S, false },
    { PROC_OP_STOP,    EMPTY, true,  false, WORKS,   CODE_OK,          "success",                       false, S, false },
    { PROC_OP_STOP,    EMPTY, true,  true,  WORKS,   CODE_OK,          "success",                       false, S, false },
    { PROC_OP_STOP,    EMPTY, true,  true,  IDLE,    CODE_OK,          "success",                       false, S, false },
    { PROC_OP_STOP,    EMPTY, false, true,  WORKS,   CODE_NOT_RUNNING, RUNS_NOT,                        false, S, false },

    { PROC_OP_QUERY,   CMD,   true,  false, WORKS,   CODE_OK,          "success",                       false, U, true },
    { PROC_OP_QUERY,   CMD,   true,  true,  WORKS,   CODE_OK,          "success",                       true,  R, true },
    { PROC_OP_QUERY,   CMD,   false, false, WORKS,   CODE_OK,          "success",                       false, U, false },
    { PROC_OP_QUERY,   CMD,   false, true,  WORKS,   CODE_OK,          "success",                       true,  R, false },

    { PROC_OP_HOST,    CMD,   true,  false, WORKS,   CODE_OK,          "success",                       true,  R, true },
    { PROC_OP_HOST,    CMD,   true,  true,  WORKS,   CODE_OK,          "success",                       true,  R, true },
    { PROC_OP_HOST,    CMD,   false, false, IDLE,    CODE_OK,          "success",                       true,  R, false },
    { PROC_OP_HOST,    CMD,   false, true,  IDLE,    CODE_OK,          "success",                       true,  R, false },
    { PROC_OP_HOST,    EMPTY, true,  false, WORKS,   CODE_NO_COMMAND,  "spec.control.start_cmd: ",      false, U, true },

    { PROC_OP_UNHOST,  CMD,   true,  false, WORKS,   CODE_OK,          "success",                       false, U, true },
    { PROC_OP_UNHOST,  CMD,   true,  true,  WORKS,   CODE_OK,          "success",                       false, R, true },
    { PROC_OP_UNHOST,  CMD,   false, false, WORKS,   CODE_OK,          "success",                       false, U, false },
    { PROC_OP_UNHOST,  CMD,   false, true,  WORKS,   CODE_OK,          "success",                       false, R, false },

    { PROC_OP_RESTART, CMD,   true,  false, WORKS,   CODE_OK,          "success",                       true,  R, true },
    { PROC_OP_RESTART, CMD,   true,  false, FAILS,   CODE_COMMAND,     SCRIPT,                          false, U, true },
    { PROC_OP_RESTART, CMD,   true,  false, HANGS,   CODE_TIMEOUT,     LATE_UP,                         false, U, true },
    { PROC_OP_RESTART, CMD,   true,  false, IDLE,    CODE_OK,          "success",                       true,  R, true },
    { PROC_OP_RESTART, CMD,   true,  true,  WORKS,   CODE_OK,          "success",                       true,  R, true },
    { PROC_OP_RESTART, CMD,   true,  true,  FAILS,   CODE_COMMAND,     SCRIPT,                          true,  R, true },
    { PROC_OP_RESTART, CMD,   true,  true,  NO_USER, CODE_USER,        NOBODY,                          true,  R, true },
    { PROC_OP_RESTART, CMD,   false, false, WORKS,   CODE_OK,          "success",                       true,  R, true },
    { PROC_OP_RESTART, CMD,   false, false, FAILS,   CODE_COMMAND,     SCRIPT,                          false, U, false },
    { PROC_OP_RESTART, CMD,   false, false, HANGS,   CODE_TIMEOUT,     LATE_UP,                         false, U, false },
    { PROC_OP_RESTART, CMD,   false, false, IDLE,    CODE_CHECK,       "restart process (p) " NOT_ALIVE, false, U, false },
    { PROC_OP_RESTART, CMD,   false, true,  IDLE,    CODE_CHECK,       "restart process (p) " NOT_ALIVE, true, R, false },
    { PROC_OP_RESTART, CMD,   false, false, NO_DIR,  CODE_COMMAND,     FOLDER,                          false, U, false },
    { PROC_OP_RESTART, EMPTY, true,  false, WORKS,   CODE_OK,          "success",                       true,  R, true },
    { PROC_OP_RESTART, EMPTY, true,  false, FAILS,   CODE_COMMAND,     SCRIPT,                          false, U, true },
    { PROC_OP_RESTART, EMPTY, true,  false, HANGS,   CODE_TIMEOUT,     LATE,                            false, U, true },
    { PROC_OP_RESTART, EMPTY, true,  false, IDLE,    CODE_CHECK,       "stop process (p) " ALIVE,       false, U, true },
    { PROC_OP_RESTART, EMPTY, true,  true,  WORKS,   CODE_OK,          "success",                       true,  R, true },
    { PROC_OP_RESTART, EMPTY, true,  true,  IDLE,    CODE_CHECK,       "stop process (p) " ALIVE,       true,  R, true },
    { PROC_OP_RESTART, EMPTY, false, false, WORKS,   CODE_OK,          "success",                       true,  R, true },
    { PROC_OP_RESTART, EMPTY, false, false, IDLE,    CODE_CHECK,       "restart process (p) " NOT_ALIVE, false, U, false },
    { PROC_OP_RESTART, EMPTY, false, true,  WORKS,   CODE_OK,          "success",                       true,  R, true },

    { PROC_OP_RELOAD,  CMD,   true,  false, WORKS,   CODE_OK,          "success",                       false, U, true },
    { PROC_OP_RELOAD,  CMD,   true,  true,  WORKS,   CODE_OK,          "success",                       true,  R, true },
    { PROC_OP_RELOAD,  CMD,   true,  false, FAILS,   CODE_COMMAND,     SCRIPT,                          false, U, true },
    { PROC_OP_RELOAD,  CMD,   true,  true,  FAILS,   CODE_COMMAND,     SCRIPT,                          true,  R, true },
    { PROC_OP_RELOAD,  CMD,   true,  true,  HANGS,   CODE_TIMEOUT,     LATE,                            true,  R, true },
    { PROC_OP_RELOAD,  CMD,   true,  true,  NO_USER, CODE_USER,        NOBODY,                          true,  R, true },
    { PROC_OP_RELOAD,  CMD,   true,  true,  NO_DIR,  CODE_COMMAND,     FOLDER,                          true,  R, true },
    { PROC_OP_RELOAD,  CMD,   false, false, WORKS,   CODE_NOT_RUNNING, RUNS_NOT,                        false, U, false },
    { PROC_OP_RELOAD,  CMD,   false, true,  WORKS,   CODE_NOT_RUNNING, RUNS_NOT,                        true,  R, false },
    { PROC_OP_RELOAD,  EMPTY, true,  true,  WORKS,   CODE_NO_COMMAND,  "spec.control.reload_cmd: ",     true,  R, true },

    { PROC_OP_KILL,    CMD,   true,  false, WORKS,   CODE_OK,          "success",                       false, S, false },
    { PROC_OP_KILL,    CMD,   true,  true,  WORKS,   CODE_OK,          "success",                       false, S, false },
    { PROC_OP_KILL,    CMD,   true,  true,  FAILS,   CODE_COMMAND,     SCRIPT,                          true,  R, true },
    { PROC_OP_KILL,    CMD,   true,  true,  HANGS,   CODE_TIMEOUT,     LATE,                            true,  R, true },
    { PROC_OP_KILL,    CMD,   true,  true,  IDLE,    CODE_CHECK,       "kill process (p) " ALIVE,       true,  R, true },
    { PROC_OP_KILL,    CMD,   true,  true,  NO_USER, CODE_USER,        NOBODY,                          true,  R, true },
    { PROC_OP_KILL,    CMD,   false, false, WORKS,   CODE_NOT_RUNNING, RUNS_NOT,                        false, S, false },
    { PROC_OP_KILL,    CMD,   false, true,  WORKS,   CODE_NOT_RUNNING, RUNS_NOT,                        false, S, false },
    { PROC_OP_KILL,    EMPTY, true,  false, WORKS,   CODE_OK,          "success",                       false, S, false },
    { PROC_OP_KILL,    EMPTY, true,  true,  IDLE,    CODE_OK,          "success",                       false, S, false },

    { PROC_OP_SIGNAL,  CMD,   true,  false, WORKS,   CODE_OK,          "success",                       false, U, true },
    { PROC_OP_SIGNAL,  CMD,   true,  true,  WORKS,   CODE_OK,          "success",                       true,  R, true },
    { PROC_OP_SIGNAL,  CMD,   false, false, WORKS,   CODE_NOT_RUNNING, RUNS_NOT,                        false, U, false },
    { PROC_OP_SIGNAL,  CMD,   false, true,  WORKS,   CODE_NOT_RUNNING, RUNS_NOT,                        true,  R, false },

    { 5,               CMD,   true,  true,  WORKS,   CODE_UNKNOWN_OP,  "op_type 5: no such operation",  true,  R, true },
    { 6,               CMD,   false, false, WORKS,   CODE_UNKNOWN_OP,  "op_type 6: no such operation",  false, U, false },
};
/* clang-format on */

static struct message_command command_for(const struct row *row)
{
    struct message_command m = rig_command(row->op, "p");
    struct proc_control *c = &m.spec.control;
    bool has_it = row->by == CMD;

    c->start_cmd = (row->op == PROC_OP_START || row->op == PROC_OP_HOST) && !has_it ? "" : "start";
    c->stop_cmd = (row->op == PROC_OP_STOP && has_it) || row->op == PROC_OP_RESTART ? "stop" : "";
    c->restart_cmd = row->op == PROC_OP_RESTART && has_it ? "restart" : "";
    c->reload_cmd = row->op == PROC_OP_RELOAD && has_it ? "reload" : "";
    c->kill_cmd = row->op == PROC_OP_KILL && has_it ? "kill" : "";
    return m;
}

/* Hosted, and so running: or down, and not to be tried again for a day. */
static void bring_about(const struct row *row)
{
    struct rig_proc *p = rig_proc("p");
    struct message_command m = rig_command(PROC_OP_START, "p");

    if (!row->hosted) {
        rig_come_up(p, row->runs ? 900 : 0);
        return;
    }
    m.spec.has_policy = m.spec.policy.has_interval = PRESENCE_GIVEN;
    m.spec.policy.start_interval_s = 86400;
    rig_tell(&m);
    rig_pass(6000);
    assert_int_equal(rig_code(m.item), CODE_OK);
    if (row->runs)
        return;
    p->status = 1;
    rig_die(p, 1);
    rig_pass(6000); /* the tries that come at once */
    p->status = 0;
}

static void set_does(const struct row *row)
{
    struct rig_proc *p = rig_proc("p");

    p->output = "said";
    p->status = row->does == FAILS ? 7 : 0;
    p->hangs = row->does == HANGS;
    p->is_idle = p->ignores_term = row->does == IDLE;
    if (row->does == NO_USER)
        err_set(&p->failure, CODE_USER, NOBODY);
    if (row->does == NO_DIR)
        err_set(&p->failure, ERR_NOT_FOUND, FOLDER);
}

/* Others do not say whether it runs. */
static bool looks(const struct row *row)
{
    return row->op != PROC_OP_HOST && row->op != PROC_OP_UNHOST && row->code != CODE_NO_COMMAND &&
           row->code != CODE_UNKNOWN_OP;
}

static void check_row(size_t i)
{
    const struct row *row = &rows[i];
    struct message_command m;
    const struct rig_result *got;
    bool runs;

    bring_about(row);
    set_does(row);
    m = command_for(row);
    rig_tell(&m);
    for (int s = 0; s < 200 && !rig_result(m.item); s++)
        rig_pass(RIG_STEP_MS * 10);
    got = rig_result(m.item);
    runs = rig_proc("p")->pid != 0;
    if (!got)
        fail_msg("row %zu: no result", i);
    if (got->code != row->code || strncmp(got->text, row->text, strlen(row->text)) != 0 ||
        got->hosted != row->hosted_after || got->wanted != row->wanted_after ||
        runs != row->runs_after || (looks(row) && (got->pid > 0) != row->runs_after))
        fail_msg("row %zu (op %d): code %d, hosted %d, wanted %d, runs %d, pid %d: %s", i,
                 (int)row->op, (int)got->code, got->hosted, (int)got->wanted, runs, (int)got->pid,
                 got->text);
}

static void every_operation_in_every_situation(void **state)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        rig_set_up(state);
        check_row(i);
        rig_tear_down(state);
    }
}

/* ---- the rows of model/operation.h */

/* All that may be asked for it is there, so it ends at once where the row has a code, or succeeds.
 */
static void check_operation(const struct operation *o, bool runs, bool hosted)
{
    const struct row before = { .runs = runs, .hosted = hosted };
    struct message_command m = rig_command(o->number, "p");
    int code = runs ? o->if_running : o->if_stopped;
    const struct rig_result *got;

    m.spec.control = (struct proc_control){ "start", "stop", "restart", "reload", "kill", "", "" };
    bring_about(&before);
    rig_tell(&m);
    for (int s = 0; s < 200 && !rig_result(m.item); s++)
        rig_pass(RIG_STEP_MS * 10);
    got = rig_result(m.item);
    assert_non_null(got);
    assert_int_equal(got->code, code ? code : CODE_OK);
    if (code)
        return;
    assert_int_equal(got->hosted,
                     o->hosting == HOSTING_STAYS ? hosted : o->hosting == HOSTING_BEGINS);
    assert_int_equal(got->wanted, o->wanted ? o->wanted
                                  : hosted  ? PROC_RUNNING
                                            : PROC_UNREGISTERED);
    if (o->outcome != LEAVES_AS_IS)
        assert_int_equal(rig_proc("p")->pid != 0, o->outcome == MAKES_RUN);
}

static void every_operation_does_what_its_row_says(void **state)
{
    for (const struct enum_name *e = operation_names; e->name; e++) {
        for (int i = 0; i < 4; i++) {
            rig_set_up(state);
            check_operation(operation_find(e->value), i & 1, i & 2);
            rig_tear_down(state);
        }
    }
}

/* Without a command that it requires, and with each of those that do. */
static void what_a_row_requires_is_asked_for(void **state)
{
    for (const struct enum_name *e = operation_names; e->name; e++) {
        const struct operation *o = operation_find(e->value);
        struct message_command m;
        char text[128];

        if (!o->required.name)
            continue;
        rig_set_up(state);
        m = rig_command(o->number, "p");
        m.spec.control.start_cmd = "";
        rig_tell(&m);
        rig_settle();
        assert_int_equal(rig_code(m.item), CODE_NO_COMMAND);
        snprintf(text, sizeof(text), "spec.control.%s: required for this operation%s%s",
                 o->required.name, o->or_required.name ? ", or " : "",
                 o->or_required.name ? o->or_required.name : "");
        assert_string_equal(rig_result(m.item)->text, text);
        rig_tear_down(state);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_operation_in_every_situation),
        cmocka_unit_test(every_operation_does_what_its_row_says),
        cmocka_unit_test(what_a_row_requires_is_asked_for),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
