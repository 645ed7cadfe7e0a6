/* SPDX-License-Identifier: MIT */
/* proc_table.c - see proc_table.h. */
#include "agent/supervise/proc_table.h"

#include "agent/supervise/core_in.h"
#include "agent/supervise/core_restart.h"

static void proc_ignore(struct proc *k)
{
    (void)k;
}

#define TO(id) (1u << ACTUAL_##id)

/* Where a process that does not run may go. */
#define TO_DOWN                                                                                    \
    (TO(DOWN) | TO(WAITING) | TO(BACKOFF) | TO(STARTING) | TO(FINISHED) | TO(DENIED) | TO(GIVEN_UP))
#define TO_RUNS (TO(YOUNG) | TO(UP))

/* clang-format off */
#define OF_OPERATION { proc_ignore, 0, "-" } /* the operation in progress sees to it */

/* All states in which nothing runs and no operation acts. */
#define DOWN_CELLS(...) { \
        [PROC_EVENT_FOUND]   = { restart_on_found, TO_RUNS, "runs: it counts from its own start" }, \
        [PROC_EVENT_BEGUN]   = { restart_on_begun, TO(STARTING) | TO(STOPPING), "is the operation's" }, \
        [PROC_EVENT_CHANGED] = { restart_judge, TO_DOWN, "is judged by the restart rule" }, \
        [PROC_EVENT_TIMER]   = { __VA_ARGS__ }, \
    }

static const struct proc_cell table[PROC_STATES][PROC_EVENTS] = {
    [ACTUAL_DOWN]     = DOWN_CELLS(NULL),
    [ACTUAL_WAITING]  = DOWN_CELLS(NULL),
    [ACTUAL_BACKOFF]  = DOWN_CELLS(restart_try, TO_DOWN, "is started, if it is its turn"),
    [ACTUAL_FINISHED] = DOWN_CELLS(NULL),
    [ACTUAL_DENIED]   = DOWN_CELLS(NULL),
    [ACTUAL_GIVEN_UP] = DOWN_CELLS(NULL),
    [ACTUAL_STARTING] = {
        [PROC_EVENT_FOUND]   = OF_OPERATION,
        [PROC_EVENT_ENDED]   = OF_OPERATION,
        [PROC_EVENT_BEGUN]   = { restart_on_begun, TO(STOPPING), "is the operation's: its other half" },
        [PROC_EVENT_CHANGED] = { restart_settle, TO_RUNS | TO_DOWN, "once the operation is over: runs, or is judged" },
    },
    [ACTUAL_STOPPING] = {
        [PROC_EVENT_FOUND]   = OF_OPERATION,
        [PROC_EVENT_ENDED]   = OF_OPERATION,
        [PROC_EVENT_BEGUN]   = { restart_on_begun, TO(STARTING), "is the operation's: its other half" },
        [PROC_EVENT_CHANGED] = { restart_settle, TO_RUNS | TO_DOWN, "once the operation is over: runs, or is judged" },
    },
    [ACTUAL_YOUNG] = {
        [PROC_EVENT_FOUND]   = { restart_on_found, TO_RUNS, "another main process: it counts from its own start" },
        [PROC_EVENT_ENDED]   = { restart_on_young_end, TO_DOWN, "has failed, and is judged by the restart rule" },
        [PROC_EVENT_BEGUN]   = { restart_on_begun, TO(STARTING) | TO(STOPPING), "is the operation's" },
        [PROC_EVENT_CHANGED] = { proc_ignore, 0, "-" },
        [PROC_EVENT_TIMER]   = { restart_on_up, TO(UP), "is up" },
    },
    [ACTUAL_UP] = {
        [PROC_EVENT_FOUND]   = { restart_on_found, TO_RUNS, "another main process: it counts from its own start" },
        [PROC_EVENT_ENDED]   = { restart_on_up_end, TO_DOWN, "is restarted at once, if the restart rule allows it" },
        [PROC_EVENT_BEGUN]   = { restart_on_begun, TO(STARTING) | TO(STOPPING), "is the operation's" },
        [PROC_EVENT_CHANGED] = { proc_ignore, 0, "-" },
    },
};
/* clang-format on */

const struct proc_cell *proc_table_cell(enum proc_actual state, enum proc_event event)
{
    return &table[state][event];
}

struct proc_row {
    const char *name, *text;
};

#define PROC_STATE_ROW(id, text) { #id, text },
static const struct proc_row state_rows[PROC_STATES] = {
#include "agent/supervise/proc_state_rows.h"
};

#define PROC_EVENT_ROW(id, text) { #id, text },
static const struct proc_row event_rows[PROC_EVENTS] = {
#include "agent/supervise/proc_state_rows.h"
};

const char *proc_state_name(enum proc_actual state)
{
    return state_rows[state].name;
}

const char *proc_state_text(enum proc_actual state)
{
    return state_rows[state].text;
}

const char *proc_event_name(enum proc_event event)
{
    return event_rows[event].name;
}

const char *proc_event_text(enum proc_event event)
{
    return event_rows[event].text;
}

static void tell_at_rest(const struct proc *k)
{
    const struct core *c = k->core;

    if (c->effects->at_rest && k->exited.pid && k->has_spec && *k->spec.identity.pid_path)
        c->effects->at_rest(c->arg, k->spec.identity.pid_path, k->exited.pid);
}

void proc_enter(struct proc *k, enum proc_actual to)
{
    if (to == k->actual)
        return;
    if (!k->cell || !(k->cell->to & 1u << to))
        core_unexpected(k->core, proc_state_name(k->actual), proc_state_name(to));
    timers_stop(&k->core->timers, &k->timer);
    k->actual = to;
    if (to == ACTUAL_DOWN || to == ACTUAL_FINISHED || to == ACTUAL_GIVEN_UP)
        tell_at_rest(k);
}

void proc_step(struct proc *k, enum proc_event event)
{
    static const struct proc_cell any = { restart_settle, TO_RUNS | TO_DOWN, "" };
    const struct proc_cell *outer = k->cell;

    k->cell = &table[k->actual][event];
    if (!k->cell->fn) {
        core_unexpected(k->core, proc_state_name(k->actual), proc_event_name(event));
        k->cell = &any;
    }
    k->cell->fn(k);
    k->cell = outer;
}

const char *proc_find_fault(const struct proc *k)
{
    bool runs = k->actual == ACTUAL_YOUNG || k->actual == ACTUAL_UP;
    bool is_of_operation = k->actual == ACTUAL_STARTING || k->actual == ACTUAL_STOPPING;
    bool has_timer = k->actual == ACTUAL_YOUNG || k->actual == ACTUAL_BACKOFF;

    if (!is_of_operation && runs != (k->ident.pid != 0))
        return runs ? "a process that runs has no pid" : "a process that does not run has a pid";
    if ((k->timer.place != 0) != has_timer)
        return has_timer ? "the timer of a process is not set" : "a process has a timer too many";
    if (k->actual == ACTUAL_BACKOFF && !k->hosted)
        return "a process that is not hosted is about to be restarted";
    if (k->actual == ACTUAL_GIVEN_UP && k->hosted)
        return "a process that was given up is hosted";
    return NULL;
}
