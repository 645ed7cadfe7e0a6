/* SPDX-License-Identifier: MIT */
/* test_op_table.c - every cell of the table of an operation's life: each event in each phase, on a
 * real operation that came into the phase through the inputs of the core.
 *
 * An event that can happen leads to a phase that its cell names, and the operation ends in the end.
 * One that cannot is counted, once, and ends the operation with CODE_SYSTEM. */
#include "agent/supervise/op_table.h"
#include "tests/lib/core_rig.h"

enum { INPUTS_MAX = 2000, HOUR_MS = 3600 * 1000, NEVER = -1 };

/* What can happen: a letter for each event, in the order of op_phase_rows.h. */
/* clang-format off */
static const char letters[] =    "dtspbexrRfacT";
static const char *const can_happen[PHASES] = {
    [PHASE_JOURNAL] =            "dt....x....cT",
    [PHASE_QUEUE]   =            "..s...x....cT",
    [PHASE_LOOK]    =            "...p..x....cT",
    [PHASE_ASK]     =            "......x...acT",
    [PHASE_FIND]    =            "......x....cT",
    [PHASE_RUN]     =            "...pbexrR..cT",
    [PHASE_PREPARE] =            "....bex....cT",
    [PHASE_LATE]    =            "...pbexrR..cT",
    [PHASE_SETTLE]  =            "...p..xrR..cT",
    [PHASE_CHECK]   =            "...p..xrR..cT",
    [PHASE_CLEAR]   =            "...p..x..f.cT",
    [PHASE_DYING]   =            "......x....cT",
    [PHASE_SYNC]    =            "d..pbexr.fac.",
};
/* clang-format on */

static struct {
    int64_t item;   /* of the operation that is walked */
    uint64_t mark;  /* durable so far */
    char text[160]; /* where the walk is */
} walk;

static void check(bool is_so, const char *what)
{
    if (!is_so)
        fail_msg("%s: %s (last unexpected: %s in %s)", walk.text, what, rig.unexpected_event,
                 rig.unexpected_state);
}

static struct op *walked(void)
{
    char key[32];

    snprintf(key, sizeof(key), "T#%lld", (long long)walk.item);
    return map_find_str(&rig.core->commands, key);
}

static bool is_first(const struct op *op)
{
    return TAILQ_FIRST(&op->proc->ops) == op;
}

/* ---- one input at a time */

static void pass_until(int64_t now_ms)
{
    rig.wall_ms += now_ms - rig.now_ms;
    rig.now_ms = now_ms;
    core_on_time(rig.core, rig.now_ms, rig.wall_ms);
}

static void make_durable(void)
{
    walk.mark = rig.mark;
    core_on_durable(rig.core, walk.mark, rig.now_ms);
}

static void pass_next(void)
{
    check(core_next_ms(rig.core) < INT64_MAX, "nothing is left to wait for");
    pass_until(core_next_ms(rig.core));
}

static void drive_once(void)
{
    if (walk.mark != rig.mark)
        make_durable();
    else if (rig.n_asks)
        rig_answer();
    else
        pass_next();
    rig_check();
}

/* Answers come before the result is durable, even those that no operation waits for. */
static void drive_to_end(bool is_sound)
{
    struct rig_proc *p = rig_proc("p");
    const struct op *op;

    for (int i = 0; (op = walked()); i++) {
        check(i < INPUTS_MAX, "does not end");
        if (rig.n_asks)
            rig_answer();
        else if (op->phase == PHASE_SYNC && p->run == op->id)
            rig_end(p, 0);
        else if (walk.mark != rig.mark)
            make_durable();
        else
            pass_next();
        check(!is_sound || !core_find_fault(rig.core), "a fault later");
    }
    check(rig_result(walk.item) != NULL, "has no result");
}

/* ---- ways into a phase */

static struct message_command command(int64_t op)
{
    return rig_command(op, "p");
}

static void tell(const struct message_command *m)
{
    walk.item = m->item;
    rig_tell(m);
}

/* It runs, and what happens to it starts no restart. */
static void bring_up(const char *name)
{
    rig_operate(PROC_OP_START, name);
    rig_pass(10000);
    rig_operate(PROC_OP_UNHOST, name);
    rig_pass(1000);
    assert_int_not_equal(rig_proc(name)->pid, 0);
}

static void hang_elsewhere(void)
{
    core_set_at_once(rig.core, 1);
    rig_proc("q")->hangs = true;
    rig_operate(PROC_OP_START, "q");
    rig_pass(1000);
}

static void start_it(void)
{
    const struct message_command m = command(PROC_OP_START);

    tell(&m);
}

static void start_unchecked(void)
{
    rig.is_policy_slow = true;
    start_it();
}

static void start_what_hangs(void)
{
    rig_proc("p")->hangs = true;
    start_it();
}

static void start_idly(void)
{
    rig_proc("p")->is_idle = true;
    start_it();
}

static void start_patiently(void)
{
    struct message_command m = command(PROC_OP_START);

    rig_proc("p")->is_idle = true;
    m.spec.extra.has_job = PRESENCE_GIVEN;
    m.spec.extra.job = (struct proc_job){ "tom", "", "", 60 };
    tell(&m);
}

static void start_when(enum proc_ready_kind kind)
{
    struct message_command m = command(PROC_OP_START);

    m.spec.extra.ready = (struct proc_ready){ .kind = kind, .timeout_s = 20 };
    tell(&m);
}

static void start_until_ready(void)
{
    start_when(READY_NOTIFY);
}

static void start_until_pid_file(void)
{
    start_when(READY_PID_FILE);
}

static void start_and_cancel(void)
{
    struct message_cancel m = { .task = "T", .meta = { "space", "p", { 0 } } };

    start_it();
    m.item = walk.item;
    core_on_message(rig.core, MESSAGE_CANCEL, &m, rig.now_ms);
}

static void start_prepared(void)
{
    struct message_command m = command(PROC_OP_START);

    rig_proc("p")->pre_hangs = true;
    m.spec.extra.pre_start = "prepare";
    tell(&m);
}

static void start_itself(void)
{
    rig_proc("p")->is_foreground = true;
    start_it();
}

static void start_what_hangs_until_ready(void)
{
    rig_proc("p")->hangs = true;
    start_until_ready();
}

static void start_what_runs(void)
{
    bring_up("p");
    start_it();
}

static void start_second(void)
{
    rig_operate(PROC_OP_QUERY, "p");
    start_it();
}

static void start_without_slot(void)
{
    hang_elsewhere();
    start_it();
}

static void stop_with(const char *line)
{
    struct message_command m = command(PROC_OP_STOP);

    bring_up("p");
    rig_proc("p")->is_idle = rig_proc("p")->ignores_term = true;
    m.spec.control.stop_cmd = line;
    tell(&m);
}

static void stop_by_signal(void)
{
    stop_with("");
}

static void stop_by_command(void)
{
    stop_with("stop");
}

static void kill_it(void)
{
    const struct message_command m = command(PROC_OP_KILL);

    bring_up("p");
    tell(&m);
}

static void reload_it(void)
{
    struct message_command m = command(PROC_OP_RELOAD);

    bring_up("p");
    m.spec.control.reload_cmd = "reload";
    tell(&m);
}

static void drive_to_run(void)
{
    while (!rig_proc("p")->run_pid)
        drive_once();
}

static void restart_with(const char *stop_line)
{
    struct message_command m = command(PROC_OP_RESTART);

    bring_up("p");
    rig_proc("p")->is_idle = rig_proc("p")->ignores_term = true;
    m.spec.control.stop_cmd = stop_line;
    tell(&m);
}

static void restart_by_signal(void)
{
    restart_with("");
}

static void restart_by_command(void)
{
    restart_with("stop");
}

/* Its process is down, and the slots are taken: one by a restart, which goes first as well. */
static void lose_slot_in(void (*restart)(void))
{
    rig_operate(PROC_OP_START, "q");
    rig_pass(10000);
    core_set_at_once(rig.core, 1);
    restart();
    while (walked()->phase != PHASE_DYING)
        drive_once();
    rig_proc("q")->hangs = true;
    rig_die(rig_proc("q"), 1);
    while (!rig_proc("q")->run)
        drive_once();
    rig_die(rig_proc("p"), 0);
}

static void restart_without_slot(void)
{
    lose_slot_in(restart_by_signal);
}

static void restart_prepared(void)
{
    struct message_command m = command(PROC_OP_RESTART);

    bring_up("p");
    rig_proc("p")->ignores_term = true;
    m.spec.extra.pre_start = "prepare";
    tell(&m);
}

static void restart_prepared_without_slot(void)
{
    lose_slot_in(restart_prepared);
}

/* The process is down, and the command that stops it still runs. */
static void restart_by_slow_command(void)
{
    restart_by_command();
    rig_proc("p")->hangs = true;
    drive_to_run();
    rig_die(rig_proc("p"), 0);
}

/* Some of the family of the process are left when it has ended. */
static void stop_leaving(void)
{
    stop_by_signal();
    rig_proc("p")->left = 1;
}

static void stop_by_command_leaving(void)
{
    stop_by_command();
    rig_proc("p")->left = 1;
}

static void stop_by_command_that_works(void)
{
    stop_by_command_leaving();
    rig_proc("p")->is_idle = false;
}

static void stop_by_slow_command_leaving(void)
{
    stop_by_command();
    rig_proc("p")->hangs = true;
    drive_to_run();
    rig_die(rig_proc("p"), 0);
    rig_proc("p")->left = 1;
}

static void restart_leaving(void)
{
    restart_by_signal();
    rig_proc("p")->left = 1;
}

/* Its stop command leaves some, which are ended before the second half. */
static void restart_leaving_without_slot(void)
{
    rig_operate(PROC_OP_START, "q");
    rig_pass(10000);
    core_set_at_once(rig.core, 1);
    restart_by_command();
    rig_proc("p")->is_idle = false;
    rig_proc("p")->left = 1;
    while (walked()->phase != PHASE_CLEAR)
        drive_once();
    rig_proc("q")->hangs = true;
    rig_die(rig_proc("q"), 1);
    while (!rig_proc("q")->run)
        drive_once();
}

static void start_what_left(void)
{
    struct message_command m = command(PROC_OP_START);

    bring_up("p");
    rig_die(rig_proc("p"), 1);
    rig_pass(1000);
    rig_proc("p")->left = 1;
    tell(&m);
}

static void query_it(void)
{
    struct message_command m = command(PROC_OP_QUERY);

    m.spec.control.health_cmd = "health";
    tell(&m);
}

/* The agent is killed while the command runs. */
static void resume_start(void)
{
    start_what_hangs();
    drive_to_run();
    drive_once();
    rig_crash(true);
}

/* The agent is killed before it has recorded that the command has begun; it cannot be found out at
 * once whether it has. */
static void resume_unrecorded(void (*begin)(void), bool has_begun)
{
    begin();
    rig_proc("p")->is_unheard = rig_proc("p")->hangs = true;
    drive_to_run();
    rig.is_begun_unknown = true;
    rig_crash(true);
    if (!has_begun)
        rig_proc("p")->run_pid = 0;
}

static void resume_unrecorded_start(void)
{
    resume_unrecorded(start_it, true);
}

static void resume_prepared(void)
{
    start_prepared();
    drive_to_run();
    drive_once();
    rig_crash(true);
}

static void resume_unrecorded_prepared(void)
{
    resume_unrecorded(start_prepared, true);
}

static void resume_start_not_begun(void)
{
    resume_unrecorded(start_it, false);
}

static void resume_reload(void)
{
    resume_unrecorded(reload_it, false);
}

static void resume_start_not_begun_at_once(void)
{
    resume_start_not_begun();
    rig.is_begun_unknown = false;
}

static void resume_stop(void)
{
    stop_by_signal();
    while (walked()->phase != PHASE_DYING)
        drive_once();
    make_durable();
    rig_crash(true);
}

static bool op_is_durable(const struct op *op)
{
    return op->is_durable && TAILQ_FIRST(&op->proc->ops)->phase == PHASE_SYNC;
}

static bool has_begun(const struct op *op)
{
    return op->run.pid > 0;
}

static bool is_seen(const struct op *op)
{
    return op->proc->ident.pid > 0;
}

static bool asks_for_itself(const struct op *op)
{
    return op->asked == ASK_SELF;
}

static bool asks_for_pid_file(const struct op *op)
{
    return op->asked == ASK_PID_FILE;
}

#define E(id)        (1u << OP_##id)
#define READY_EVENTS (E(READY) | E(READY_TIME))

/* `until` not NULL: what must hold too.  `without`: events that are left to the other ways into the
 * phase, because this way the operation is not what they need. */
static const struct way {
    const char *name;
    enum op_phase phase;
    void (*begin)(void);
    bool (*until)(const struct op *op);
    unsigned without;
} ways[] = {
    { "told", PHASE_JOURNAL, start_it, NULL, E(TURN) | E(TIMER) },
    { "cancelled", PHASE_JOURNAL, start_and_cancel, NULL, ~E(DURABLE) },
    { "resumed", PHASE_JOURNAL, resume_start, NULL, ~E(DURABLE) },
    { "resumed stop", PHASE_JOURNAL, resume_stop, NULL, ~E(DURABLE) },
    { "resumed, not found at once", PHASE_JOURNAL, resume_start_not_begun, NULL, ~E(DURABLE) },
    { "resumed, not begun", PHASE_JOURNAL, resume_start_not_begun_at_once, NULL, ~E(DURABLE) },
    { "behind another", PHASE_JOURNAL, start_second, op_is_durable, E(DURABLE) },
    { "no slot", PHASE_QUEUE, start_without_slot, NULL, 0 },
    { "no slot for the second half", PHASE_QUEUE, restart_without_slot, NULL, E(TIMER) },
    { "start", PHASE_LOOK, start_it, NULL, 0 },
    { "start, unchecked", PHASE_LOOK, start_unchecked, NULL, 0 },
    { "start of what runs", PHASE_LOOK, start_what_runs, NULL, 0 },
    { "stop", PHASE_LOOK, stop_by_signal, NULL, 0 },
    { "query", PHASE_LOOK, query_it, NULL, 0 },
    { "query", PHASE_ASK, query_it, NULL, 0 },
    { "resumed", PHASE_FIND, resume_unrecorded_start, NULL, 0 },
    { "resumed, not begun", PHASE_FIND, resume_start_not_begun, NULL, 0 },
    { "resumed reload", PHASE_FIND, resume_reload, NULL, 0 },
    { "about to prepare", PHASE_PREPARE, start_prepared, NULL, 0 },
    { "prepares", PHASE_PREPARE, start_prepared, has_begun, 0 },
    { "resumed while it prepares", PHASE_PREPARE, resume_prepared, NULL, 0 },
    { "resumed while it prepared", PHASE_FIND, resume_unrecorded_prepared, NULL, 0 },
    { "about to begin", PHASE_RUN, start_it, NULL, READY_EVENTS },
    { "begun", PHASE_RUN, start_what_hangs, has_begun, READY_EVENTS },
    { "until ready", PHASE_RUN, start_what_hangs_until_ready, has_begun, 0 },
    { "stop command", PHASE_RUN, stop_by_command, NULL, READY_EVENTS },
    { "restart by a stop command", PHASE_RUN, restart_by_command, NULL, READY_EVENTS },
    { "restart, and it is down", PHASE_RUN, restart_by_slow_command, NULL, READY_EVENTS },
    { "the process itself", PHASE_RUN, start_itself, asks_for_itself, READY_EVENTS },
    { "start", PHASE_LATE, start_what_hangs, NULL, 0 },
    { "prepares", PHASE_LATE, start_prepared, NULL, 0 },
    { "resumed while it prepares", PHASE_JOURNAL, resume_prepared, NULL, ~E(DURABLE) },
    { "about to prepare", PHASE_LOOK, start_prepared, NULL, 0 },
    { "about to prepare the second half", PHASE_QUEUE, restart_prepared_without_slot, NULL,
      E(TIMER) },
    { "until ready", PHASE_LATE, start_what_hangs_until_ready, NULL, 0 },
    { "start", PHASE_SETTLE, start_it, NULL, READY_EVENTS },
    { "until ready", PHASE_SETTLE, start_until_ready, NULL, 0 },
    { "until ready, and seen", PHASE_SETTLE, start_until_ready, is_seen, 0 },
    { "until its pid file", PHASE_SETTLE, start_until_pid_file, asks_for_pid_file, E(READY) },
    { "stop command", PHASE_SETTLE, stop_by_command, NULL, READY_EVENTS },
    { "reload", PHASE_SETTLE, reload_it, NULL, READY_EVENTS },
    { "restart by a stop command", PHASE_SETTLE, restart_by_command, NULL, READY_EVENTS },
    { "start", PHASE_CHECK, start_idly, NULL, READY_EVENTS },
    { "start with more time", PHASE_CHECK, start_patiently, NULL, READY_EVENTS },
    { "until ready", PHASE_CHECK, start_until_ready, NULL, 0 },
    { "stop command", PHASE_CHECK, stop_by_command, NULL, READY_EVENTS },
    { "restart by a stop command", PHASE_CHECK, restart_by_command, NULL, READY_EVENTS },
    { "stop", PHASE_DYING, stop_by_signal, NULL, 0 },
    { "kill", PHASE_DYING, kill_it, NULL, 0 },
    { "restart", PHASE_DYING, restart_by_signal, NULL, 0 },
    { "stop", PHASE_CLEAR, stop_leaving, NULL, 0 },
    { "stop command", PHASE_CLEAR, stop_by_command_that_works, NULL, 0 },
    { "restart", PHASE_CLEAR, restart_leaving, NULL, 0 },
    { "start", PHASE_CLEAR, start_what_left, NULL, 0 },
    { "second half of a restart that left some", PHASE_QUEUE, restart_leaving_without_slot, NULL,
      0 },
    { "start of what left some", PHASE_LOOK, start_what_left, NULL, 0 },
    { "stop, and some are left", PHASE_DYING, stop_leaving, NULL, 0 },
    { "stop command, and some are left", PHASE_RUN, stop_by_slow_command_leaving, NULL,
      READY_EVENTS },
    { "stop command, and some are left", PHASE_SETTLE, stop_by_command_leaving, NULL,
      READY_EVENTS },
    { "stop command, and some are left", PHASE_CHECK, stop_by_command_leaving, NULL, READY_EVENTS },
    { "nothing to do", PHASE_SYNC, start_what_runs, NULL, 0 },
    { "query", PHASE_SYNC, query_it, NULL, 0 },
};

static struct op *enter(const struct way *w)
{
    struct op *op;

    walk.mark = 0;
    snprintf(walk.text, sizeof(walk.text), "%s (%s)", op_phase_name(w->phase), w->name);
    w->begin();
    for (int i = 0; (op = walked()) && (op->phase != w->phase || (w->until && !w->until(op)));
         i++) {
        check(i < INPUTS_MAX, "is not reached");
        drive_once();
    }
    check(op != NULL, "has ended before");
    return op;
}

/* ---- events */

static void drop_asks(uint64_t id, bool is_run)
{
    size_t n = 0;

    for (size_t i = 0; i < rig.n_asks; i++) {
        if (rig.asks[i].id != id || rig.asks[i].is_run != is_run)
            rig.asks[n++] = rig.asks[i];
    }
    rig.n_asks = n;
}

static void deliver_probed(struct op *op, int variant)
{
    struct core_probe probe = { .question = op->questions, .found = variant, .why = "why" };

    if (probe.found == FOUND_IT)
        probe.ident = (struct core_ident){ rig_proc("p")->pid ? rig_proc("p")->pid : 4242, 1 };
    shape_defaults(&proc_view_shape, &probe.view);
    drop_asks(op->id, false);
    core_on_probe(rig.core, op->id, &probe, rig.now_ms);
}

static void deliver_began(struct op *op, int variant)
{
    const struct core_began began = { .ident = { 5000, 1 }, .fits = variant == 1 };
    struct err failure;

    drop_asks(op->id, true);
    err_set(&failure, CODE_USER, "user ghost: there is no such user");
    core_on_run(rig.core, op->id, &began, variant == 2 ? &failure : NULL, rig.now_ms);
}

static void deliver_ended(struct op *op, int variant)
{
    static const int statuses[] = { 0, 1, CORE_SIGNALED + SIGKILL, CORE_STATUS_UNKNOWN };

    drop_asks(op->id, true);
    rig_proc("p")->run = 0;
    core_on_run_end(rig.core, op->id, statuses[variant], "said", rig.now_ms);
}

/* By the input if the core knows that the process runs. */
static void deliver_exited(struct op *op, int variant)
{
    const struct core_ident ident = op->proc->ident;

    if (!ident.pid || !is_first(op)) {
        op_step(op, OP_EXITED, NULL);
        return;
    }
    rig_proc("p")->pid = 0;
    core_on_exit(rig.core, ident, variant, rig.now_ms);
}

static void deliver_ready(struct op *op, int variant)
{
    const struct core_ident main = { variant ? 4242 : 0, 1 };

    if (op->ready && is_first(op))
        core_on_ready(rig.core, "space", "p", main, rig.now_ms);
    else
        op_step(op, OP_READY, NULL);
}

static void deliver_ready_time(struct op *op, int variant)
{
    rig.core->now_ms = rig.now_ms += variant ? HOUR_MS : 100;
    op_step(op, OP_READY_TIME, NULL);
}

static void deliver_family(struct op *op, int variant)
{
    const struct core_members m = {
        .question = op->questions, .n = (size_t)variant, .names = "d (12)", .others = ""
    };

    drop_asks(op->id, false);
    core_on_family(rig.core, op->id, &m, rig.now_ms);
}

static void deliver_cancelled(struct op *op, int variant)
{
    const struct message_cancel m = {
        .task = "T", .item = walk.item, .deadline_ms = op->deadline_ms, .meta = op->command.meta
    };

    (void)variant;
    core_on_message(rig.core, MESSAGE_CANCEL, &m, rig.now_ms);
}

/* By time alone if its timer is the next one. */
static void deliver_timer(struct op *op, int variant)
{
    int64_t due_ms = op->timer.place ? op->timer.due_ms : rig.now_ms;

    rig.is_begun_unknown &= !variant;
    if (variant < 2 && op->timer.place && core_next_ms(rig.core) == due_ms) {
        pass_until(due_ms);
        return;
    }
    rig.core->now_ms = rig.now_ms = due_ms + (variant == 2 ? HOUR_MS : 0);
    op_step(op, OP_TIMER, NULL);
}

static void deliver_durable(struct op *op, int variant)
{
    (void)variant;
    if (op->phase == PHASE_JOURNAL || op->phase == PHASE_SYNC)
        make_durable();
    else
        op_step(op, OP_DURABLE, NULL);
}

/* The operation before it ends. */
static void deliver_turn(struct op *op, int variant)
{
    (void)variant;
    if (op->phase == PHASE_JOURNAL)
        make_durable();
    else
        op_step(op, OP_TURN, NULL);
}

static void deliver_slot(struct op *op, int variant)
{
    (void)variant;
    if (op->phase == PHASE_QUEUE)
        core_set_at_once(rig.core, 20);
    else
        op_step(op, OP_SLOT, NULL);
}

static void deliver_asked(struct op *op, int variant)
{
    (void)variant;
    if (op->phase != PHASE_ASK)
        op_step(op, OP_ASKED, NULL);
    while (op->phase == PHASE_ASK && rig.n_asks)
        rig_answer();
}

static const struct {
    void (*deliver)(struct op *op, int variant);
    int variants;
} inputs[OP_EVENTS] = {
    [OP_DURABLE] = { deliver_durable, 1 },
    [OP_TURN] = { deliver_turn, 1 },
    [OP_SLOT] = { deliver_slot, 1 },
    [OP_PROBED] = { deliver_probed, FOUND_DENIED + 1 },
    [OP_BEGAN] = { deliver_began, 3 },
    [OP_ENDED] = { deliver_ended, 4 },
    [OP_EXITED] = { deliver_exited, 2 },
    [OP_READY] = { deliver_ready, 2 },
    [OP_READY_TIME] = { deliver_ready_time, 2 },
    [OP_FAMILY] = { deliver_family, 2 },
    [OP_ASKED] = { deliver_asked, 1 },
    [OP_CANCELLED] = { deliver_cancelled, 1 },
    [OP_TIMER] = { deliver_timer, 3 },
};

/* ---- what comes of them */

/* Phases that each cell has led to, a bit for each. */
static unsigned seen[PHASES][OP_EVENTS];

/* The cell's phases, and those of a turn or slot that comes in the same input. */
static unsigned phases_after(enum op_phase phase, enum op_event event)
{
    unsigned to = op_table_cell(phase, event)->to;

    if (phase == PHASE_JOURNAL && event == OP_DURABLE)
        to |= op_table_cell(PHASE_JOURNAL, OP_TURN)->to;
    if (to & 1u << PHASE_QUEUE)
        to |= op_table_cell(PHASE_QUEUE, OP_SLOT)->to;
    return to | 1u << phase;
}

static void note_seen(enum op_phase from, enum op_event event, const struct op *op)
{
    unsigned to = 1u << op->phase;

    if (op->asked_ms != NEVER)
        to |= 1u << PHASE_QUEUE; /* it had a slot at once */
    seen[from][event] |= to;
    if (from == PHASE_JOURNAL && event == OP_DURABLE)
        seen[from][OP_TURN] |= to; /* in the same input */
}

static void check_possible(const struct way *w, enum op_event event)
{
    const struct op *op = walked();

    check(rig.unexpected == 0, "was unexpected");
    check(!core_find_fault(rig.core), "a fault");
    if (!op)
        check(w->phase == PHASE_SYNC && event == OP_DURABLE, "is gone");
    else
        check(phases_after(w->phase, event) & 1u << op->phase, "leads where its cell does not");
    if (op)
        note_seen(w->phase, event, op);
    drive_to_end(true);
}

static void check_impossible(const struct way *w, enum op_event event)
{
    bool is_over = w->phase == PHASE_SYNC;
    const struct op *op = walked();

    check(rig.unexpected == 1, "is not counted once");
    check(!strcmp(rig.unexpected_state, op_phase_name(w->phase)) &&
              !strcmp(rig.unexpected_event, op_event_name(event)),
          "is counted as another pair");
    check(core_find_fault(rig.core) != NULL, "is no fault");
    check(op && op->phase == PHASE_SYNC, "does not end it");
    drive_to_end(false);
    check(is_over || rig_code(walk.item) == CODE_SYSTEM, "ends it with another code");
    check(rig.unexpected == 1, "is counted again");
}

static void walk_cell(const struct way *w, enum op_event event, int variant)
{
    struct op *op;

    rig_set_up(NULL);
    op = enter(w);
    snprintf(walk.text, sizeof(walk.text), "%s, variant %d, in %s (%s)", op_event_name(event),
             variant, op_phase_name(w->phase), w->name);
    op->asked_ms = NEVER;
    inputs[event].deliver(op, variant);
    if (can_happen[w->phase][event] != '.')
        check_possible(w, event);
    else
        check_impossible(w, event);
    rig_tear_down(NULL);
}

static void walk_phase(enum op_phase phase)
{
    unsigned walked_events = 0;

    for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
        if (ways[i].phase != phase)
            continue;
        for (int event = 0; event < OP_EVENTS; event++) {
            if (ways[i].without >> event & 1)
                continue;
            walked_events |= 1u << event;
            for (int variant = 0; variant < inputs[event].variants; variant++)
                walk_cell(&ways[i], event, variant);
        }
    }
    if (walked_events != (1u << OP_EVENTS) - 1)
        fail_msg("%s: not every event was walked: 0x%x", op_phase_name(phase), walked_events);
}

/* What cells allow, and no way here leads to: the functions of the cells are shared with others. */
static const struct {
    enum op_phase phase;
    enum op_event event;
    unsigned to;
} not_seen[] = {
    { PHASE_QUEUE, OP_SLOT, 1u << PHASE_DYING | 1u << PHASE_SYNC },
    { PHASE_FIND, OP_TIMER, 1u << PHASE_LOOK | 1u << PHASE_DYING },
    { PHASE_RUN, OP_ENDED, 1u << PHASE_LOOK | 1u << PHASE_DYING },
};

static void check_seen(enum op_phase phase, enum op_event event)
{
    unsigned missing = op_table_cell(phase, event)->to & ~seen[phase][event], allowed = 0;

    for (size_t i = 0; i < ARRAY_LEN(not_seen); i++)
        allowed |= not_seen[i].phase == phase && not_seen[i].event == event ? not_seen[i].to : 0;
    for (int to = 0; to < PHASES; to++) {
        if ((missing ^ allowed) >> to & 1)
            fail_msg("%s in %s has %s led to %s", op_event_name(event), op_phase_name(phase),
                     allowed >> to & 1 ? "(see not_seen)" : "never", op_phase_name(to));
    }
}

static void every_event_in_every_phase(void **state)
{
    (void)state;
    for (int phase = 0; phase < PHASES; phase++)
        walk_phase(phase);
    for (int phase = 0; phase < PHASES; phase++) {
        for (int event = 0; event < OP_EVENTS; event++)
            check_seen(phase, event);
    }
}

/* ---- operations of the agent itself, which have no result */

static void fail_restart_in(enum op_phase phase)
{
    const struct proc *k;
    uint64_t id;

    rig_set_up(NULL);
    snprintf(walk.text, sizeof(walk.text), "SLOT in %s of a restart", op_phase_name(phase));
    walk.mark = 0;
    rig_operate(PROC_OP_START, "p");
    rig_pass(10000);
    k = core_proc(rig.core, "space", "p");
    rig_proc("p")->is_idle = true;
    rig_die(rig_proc("p"), 1);
    while (TAILQ_FIRST(&k->ops)->phase != phase)
        drive_once();
    id = TAILQ_FIRST(&k->ops)->id;
    op_step(TAILQ_FIRST(&k->ops), OP_SLOT, NULL);
    check(rig.unexpected == 1, "is not counted once");
    check(TAILQ_EMPTY(&k->ops) || TAILQ_FIRST(&k->ops)->id != id, "does not end it");
    check(k->hosted, "ends the hosting");
    while (!rig_count_events("process_restart_failed")) {
        if (walk.mark != rig.mark)
            make_durable();
        else if (rig.n_asks)
            rig_answer();
        else
            pass_next();
        core_tell_now(rig.core);
    }
    check(strstr(rig.event, "SLOT can not happen") != NULL, "is not what the event says");
    rig_tear_down(NULL);
}

static void what_can_not_happen_fails_a_restart(void **state)
{
    (void)state;
    fail_restart_in(PHASE_LOOK);
    fail_restart_in(PHASE_RUN);
    fail_restart_in(PHASE_SETTLE);
    fail_restart_in(PHASE_CHECK);
}

/* ---- the table itself */

static void the_table_has_what_can_happen(void **state)
{
    (void)state;
    assert_int_equal(strlen(letters), OP_EVENTS);
    for (int p = 0; p < PHASES; p++) {
        assert_non_null(can_happen[p]);
        assert_int_equal(strlen(can_happen[p]), OP_EVENTS);
        for (int e = 0; e < OP_EVENTS; e++) {
            const struct op_cell *cell = op_table_cell(p, e);
            bool can = can_happen[p][e] == letters[e];

            if ((cell->fn != NULL) != can || (cell->text != NULL) != can || (!can && cell->to) ||
                cell->to >> PHASES || cell->to & 1u << p)
                fail_msg("%s in %s", op_event_name(e), op_phase_name(p));
        }
    }
}

static void every_phase_but_the_last_is_left(void **state)
{
    unsigned reached = 1u << PHASE_JOURNAL;

    (void)state;
    for (int p = 0; p < PHASES; p++) {
        unsigned to = 0;

        for (int e = 0; e < OP_EVENTS; e++)
            to |= op_table_cell(p, e)->to;
        assert_int_equal(to == 0, p == PHASE_SYNC);
        reached |= to;
    }
    assert_int_equal(reached, (1u << PHASES) - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_has_what_can_happen),
        cmocka_unit_test(every_phase_but_the_last_is_left),
        cmocka_unit_test(every_event_in_every_phase),
        cmocka_unit_test(what_can_not_happen_fails_a_restart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
