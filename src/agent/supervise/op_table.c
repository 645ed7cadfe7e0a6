/* SPDX-License-Identifier: MIT */
/* op_table.c - see op_table.h. */
#include "agent/supervise/op_table.h"

#include "agent/supervise/core_ready.h"
#include "agent/supervise/core_step.h"

static void op_ignore(struct op *op, const struct op_input *in)
{
    (void)op;
    (void)in;
}

#define TO(id) (1u << PHASE_##id)

/* clang-format off */
#define LATE_ANSWER  { op_ignore, 0, "-" }                       /* decides nothing any more */
#define OTHER_EXIT   { op_ignore, 0, "-" }                       /* the next probe sees it */
#define TOO_LATE     { op_on_cancel_late, 0, "says that it has begun" }

static const struct op_cell table[PHASES][OP_EVENTS] = {
    [PHASE_JOURNAL] = {
        [OP_DURABLE]   = { op_on_accepted, TO(SYNC), "waits for its turn, or ends if it was refused or cancelled" },
        [OP_TURN]      = { op_on_turn, TO(QUEUE) | TO(LOOK) | TO(FIND) | TO(PREPARE) | TO(RUN) | TO(SETTLE) | TO(DYING) | TO(SYNC),
                           "checks what it needs, then begins; what a previous agent began is resumed" },
        [OP_EXITED]    = OTHER_EXIT,
        [OP_CANCELLED] = { op_on_cancel, TO(SYNC), "ends, if nothing has begun" },
        [OP_TIMER]     = { op_on_deadline, TO(SYNC), "ends: its deadline has passed" },
    },
    [PHASE_QUEUE] = {
        [OP_SLOT]      = { op_on_slot, TO(LOOK) | TO(CLEAR) | TO(PREPARE) | TO(RUN) | TO(DYING) | TO(SYNC), "probes, or goes on with the second half of a restart" },
        [OP_EXITED]    = OTHER_EXIT,
        [OP_CANCELLED] = { op_on_cancel, TO(SYNC), "ends, if nothing has begun" },
        [OP_TIMER]     = { op_on_deadline, TO(SYNC), "ends: its deadline has passed" },
    },
    [PHASE_LOOK] = {
        [OP_PROBED]    = { op_on_looked, TO(CLEAR) | TO(ASK) | TO(PREPARE) | TO(RUN) | TO(DYING) | TO(SYNC), "ends if there is nothing to do, else begins its command or sends its signal" },
        [OP_EXITED]    = OTHER_EXIT,
        [OP_CANCELLED] = TOO_LATE,
        [OP_TIMER]     = { op_on_look_timer, TO(SYNC), "ends: no answer within its deadline" },
    },
    [PHASE_ASK] = {
        [OP_EXITED]    = OTHER_EXIT,
        [OP_ASKED]     = { op_on_asked, TO(SYNC), "ends with the answers" },
        [OP_CANCELLED] = TOO_LATE,
        [OP_TIMER]     = { op_on_asked, TO(SYNC), "ends with the answers so far" },
    },
    [PHASE_FIND] = {
        [OP_EXITED]    = OTHER_EXIT,
        [OP_CANCELLED] = TOO_LATE,
        [OP_TIMER]     = { op_on_find_timer, TO(LOOK) | TO(PREPARE) | TO(RUN) | TO(SETTLE) | TO(DYING) | TO(SYNC), "looks again" },
    },
    [PHASE_PREPARE] = {
        [OP_BEGAN]     = { op_on_began, TO(SYNC), "records it, or ends if it could not be started" },
        [OP_ENDED]     = { op_on_prepared, TO(RUN) | TO(SYNC), "begins the start command, or ends if it failed" },
        [OP_EXITED]    = OTHER_EXIT,
        [OP_CANCELLED] = TOO_LATE,
        [OP_TIMER]     = { op_on_prepare_timer, TO(LATE), "kills it: it ran too long" },
    },
    [PHASE_RUN] = {
        [OP_PROBED]    = { op_on_run_probed, TO(SYNC), "ends if the command is the process" },
        [OP_BEGAN]     = { op_on_began, TO(SYNC), "records it, or ends if it could not be started" },
        [OP_ENDED]     = { op_on_ended, TO(CLEAR) | TO(QUEUE) | TO(LOOK) | TO(SETTLE) | TO(DYING) | TO(SYNC), "waits for its effect, or ends if it failed" },
        [OP_EXITED]    = { op_on_run_exited, 0, "asks whether the command is the process, if readiness is awaited" },
        [OP_READY]     = { ready_on_reported, 0, "asks whether the command is the process" },
        [OP_READY_TIME] = { ready_on_time, 0, "checks the readiness" },
        [OP_CANCELLED] = TOO_LATE,
        [OP_TIMER]     = { op_on_run_timer, TO(LATE), "asks whether the command is the process; kills it after its timeout" },
    },
    [PHASE_LATE] = {
        [OP_PROBED]    = LATE_ANSWER,
        [OP_BEGAN]     = { op_on_began, TO(SYNC), "records it: it is killed as soon as it has begun" },
        [OP_ENDED]     = { op_on_late_ended, TO(SYNC), "ends: it ran too long" },
        [OP_EXITED]    = OTHER_EXIT,
        [OP_READY]     = LATE_ANSWER,
        [OP_READY_TIME] = LATE_ANSWER,
        [OP_CANCELLED] = TOO_LATE,
        [OP_TIMER]     = { op_on_late_timer, TO(SYNC), "ends: the command can not be killed" },
    },
    [PHASE_SETTLE] = {
        [OP_PROBED]    = { op_on_settle_probed, TO(SYNC), "shows a process that is found" },
        [OP_EXITED]    = { op_on_settle_exited, TO(CLEAR) | TO(CHECK) | TO(QUEUE) | TO(SYNC), "ends a stop; asks at once if readiness is awaited" },
        [OP_READY]     = { ready_on_reported, TO(CHECK), "probes" },
        [OP_READY_TIME] = { ready_on_time, TO(CHECK), "checks the readiness" },
        [OP_CANCELLED] = TOO_LATE,
        [OP_TIMER]     = { op_on_settle_timer, TO(CHECK), "probes for display; when its time is over, probes for the outcome" },
    },
    [PHASE_CHECK] = {
        [OP_PROBED]    = { op_on_checked, TO(CLEAR) | TO(SETTLE) | TO(QUEUE) | TO(SYNC), "ends, or waits longer if the request allows it" },
        [OP_EXITED]    = OTHER_EXIT,
        [OP_READY]     = { ready_on_reported, 0, "is noted" },
        [OP_READY_TIME] = { ready_on_time, 0, "is noted" },
        [OP_CANCELLED] = TOO_LATE,
        [OP_TIMER]     = { op_on_check_timer, TO(SYNC), "ends: no answer in time" },
    },
    [PHASE_CLEAR] = {
        [OP_PROBED]    = { op_on_clear_probed, TO(SYNC), "ends if there is a new main process" },
        [OP_EXITED]    = OTHER_EXIT,
        [OP_FAMILY]    = { op_on_family, TO(QUEUE) | TO(SYNC), "looks again while any are left; ends, or goes on to its command" },
        [OP_CANCELLED] = TOO_LATE,
        [OP_TIMER]     = { op_on_clear_timer, TO(QUEUE) | TO(SYNC), "looks again; sends SIGKILL after the time for the stop signal; goes on without an answer" },
    },
    [PHASE_DYING] = {
        [OP_EXITED]    = { op_on_died, TO(CLEAR) | TO(QUEUE) | TO(SYNC), "ends, or goes on with the second half of a restart" },
        [OP_CANCELLED] = TOO_LATE,
        [OP_TIMER]     = { op_on_dying_timer, TO(CHECK), "sends SIGKILL after the time for the first signal; then probes" },
    },
    [PHASE_SYNC] = {
        [OP_DURABLE]   = { op_on_result_durable, 0, "sends the result, and is forgotten" },
        [OP_PROBED]    = LATE_ANSWER,
        [OP_BEGAN]     = LATE_ANSWER,
        [OP_ENDED]     = LATE_ANSWER,
        [OP_EXITED]    = OTHER_EXIT,
        [OP_READY]     = LATE_ANSWER,
        [OP_FAMILY]    = LATE_ANSWER,
        [OP_ASKED]     = LATE_ANSWER,
        [OP_CANCELLED] = TOO_LATE,
    },
};
/* clang-format on */

const struct op_cell *op_table_cell(enum op_phase phase, enum op_event event)
{
    return &table[phase][event];
}

#define PHASE_ROW(id, text) { #id, text },
static const struct {
    const char *name, *text;
} phase_rows[PHASES] = {
#include "agent/supervise/op_phase_rows.h"
};

#define EVENT_ROW(id, text) { #id, text },
static const struct {
    const char *name, *text;
} event_rows[OP_EVENTS] = {
#include "agent/supervise/op_phase_rows.h"
};

const char *op_phase_name(enum op_phase phase)
{
    return phase_rows[phase].name;
}

const char *op_phase_text(enum op_phase phase)
{
    return phase_rows[phase].text;
}

const char *op_event_name(enum op_event event)
{
    return event_rows[event].name;
}

const char *op_event_text(enum op_event event)
{
    return event_rows[event].text;
}

void op_enter(struct op *op, enum op_phase phase)
{
    if (phase != op->phase && (!op->cell || !(op->cell->to & 1u << phase)))
        core_unexpected(op->core, op_phase_name(op->phase), op_phase_name(phase));
    timers_stop(&op->core->timers, &op->timer);
    op->phase = phase;
}

void op_step(struct op *op, enum op_event event, const struct op_input *in)
{
    static const struct op_cell gives_up = { NULL, TO(SYNC), "" };
    static const struct op_input none = { 0 };

    op->cell = &table[op->phase][event];
    if (op->cell->fn) {
        op->cell->fn(op, in ? in : &none);
        return;
    }
    core_unexpected(op->core, op_phase_name(op->phase), op_event_name(event));
    if (op->phase == PHASE_SYNC)
        return;
    op->cell = &gives_up;
    op_end(op, CODE_SYSTEM, "internal error: %s can not happen in phase %s", op_event_name(event),
           op_phase_name(op->phase));
}
