/* SPDX-License-Identifier: MIT */
/* lifecycle_page.c - see lifecycle_page.h.
 *
 * A table is copied into a struct lifecycle, whatever its types are, and put_lifecycle() writes it.
 * A further table needs a function like put_operations(), called in lifecycle_page_write(). */
#include "bin/lifecycle_page.h"

#include <assert.h>
#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "agent/supervise/op_table.h"
#include "agent/supervise/proc_table.h"

enum { LIFECYCLE_MAX = 32 }; /* states, and events: a state is a bit of `to` */

struct lifecycle_name {
    const char *name, *text;
};

struct lifecycle_cell {
    bool can_happen;
    unsigned to; /* a bit for each state that it may lead to, besides the current one */
    const char *text;
};

/* The first state is the one that it begins in; it may end in one that no event leaves. */
struct lifecycle {
    const char *of, *state; /* what it is the life of; what its states are called */
    int states, events;
    struct lifecycle_name state_names[LIFECYCLE_MAX], event_names[LIFECYCLE_MAX];
    struct lifecycle_cell cells[LIFECYCLE_MAX][LIFECYCLE_MAX];
};

static void put_names(const char *what, const struct lifecycle_name *names, int n, struct buf *out)
{
    buf_printf(out, "| %s | |\n|---|---|\n", what);
    for (int i = 0; i < n; i++)
        buf_printf(out, "| `%s` | %s |\n", names[i].name, names[i].text);
    buf_puts(out, "\n");
}

/* ---- the diagram */

static unsigned ways_out(const struct lifecycle *l, int state)
{
    unsigned to = 0;

    for (int event = 0; event < l->events; event++)
        to |= l->cells[state][event].to;
    return to;
}

/* One arrow for all events that lead from one state to the other. */
static void put_arrow(const struct lifecycle *l, int from, int to, struct buf *out)
{
    const char *between = " : ";

    buf_printf(out, "    %s --> %s", l->state_names[from].name, l->state_names[to].name);
    for (int event = 0; event < l->events; event++) {
        if (!(l->cells[from][event].to >> to & 1))
            continue;
        buf_printf(out, "%s%s", between, l->event_names[event].name);
        between = ", ";
    }
    buf_puts(out, "\n");
}

static void put_diagram(const struct lifecycle *l, struct buf *out)
{
    buf_printf(out, "```mermaid\nstateDiagram-v2\n    [*] --> %s\n", l->state_names[0].name);
    for (int from = 0; from < l->states; from++) {
        unsigned leads_to = ways_out(l, from);

        for (int to = 0; to < l->states; to++) {
            if (leads_to >> to & 1)
                put_arrow(l, from, to, out);
        }
        if (!leads_to)
            buf_printf(out, "    %s --> [*]\n", l->state_names[from].name);
    }
    buf_puts(out, "```\n\n");
}

/* ---- the cells */

static void put_cell(const struct lifecycle *l, int state, int event, struct buf *out)
{
    const struct lifecycle_cell *cell = &l->cells[state][event];
    const char *between = " ";

    buf_printf(out, "| `%s` | ", l->event_names[event].name);
    if (!cell->can_happen) {
        buf_puts(out, "*cannot happen* | |\n");
        return;
    }
    buf_printf(out, "%s |", strcmp(cell->text, "-") != 0 ? cell->text : "is ignored");
    for (int to = 0; to < l->states; to++) {
        if (!(cell->to >> to & 1))
            continue;
        buf_printf(out, "%s`%s`", between, l->state_names[to].name);
        between = ", ";
    }
    buf_puts(out, " |\n");
}

static void put_state(const struct lifecycle *l, int state, struct buf *out)
{
    const struct lifecycle_name *name = &l->state_names[state];

    buf_printf(out, "#### %s\n\n%c%s.\n\n", name->name, toupper((unsigned char)*name->text),
               name->text + 1);
    buf_puts(out, "| event | what it does | may lead to |\n|---|---|---|\n");
    for (int event = 0; event < l->events; event++)
        put_cell(l, state, event, out);
    buf_puts(out, "\n");
}

static void put_lifecycle(const struct lifecycle *l, struct buf *out)
{
    buf_printf(out, "### Its %ss\n\n", l->state);
    put_names(l->state, l->state_names, l->states, out);
    buf_puts(out, "### Its events\n\n");
    put_names("event", l->event_names, l->events, out);
    buf_printf(out,
               "### From %s to %s\n\nThe names at an arrow are the events that may lead along "
               "it.\n\n",
               l->state, l->state);
    put_diagram(l, out);
    buf_printf(out,
               "### Each event in each %s\n\nThe last column has the %ss that the event may lead "
               "to. An event that names none leaves the %s in its %s, and one that names some may "
               "do so too.\n\n",
               l->state, l->state, l->of, l->state);
    for (int state = 0; state < l->states; state++)
        put_state(l, state, out);
}

/* ---- the tables */

static void put_operations(struct buf *out)
{
    struct lifecycle l = { "operation", "phase",   PHASES,       OP_EVENTS,
                           { { 0 } },   { { 0 } }, { { { 0 } } } };

    static_assert((int)PHASES <= LIFECYCLE_MAX && (int)OP_EVENTS <= LIFECYCLE_MAX,
                  "struct lifecycle has room");
    for (int e = 0; e < l.events; e++)
        l.event_names[e] = (struct lifecycle_name){ op_event_name(e), op_event_text(e) };
    for (int p = 0; p < l.states; p++) {
        l.state_names[p] = (struct lifecycle_name){ op_phase_name(p), op_phase_text(p) };
        for (int e = 0; e < l.events; e++) {
            const struct op_cell *cell = op_table_cell(p, e);

            l.cells[p][e] = (struct lifecycle_cell){ cell->fn != NULL, cell->to, cell->text };
        }
    }
    buf_puts(out, "## An operation\n\nOne start, stop, query or the like of one process: asked "
                  "for by a client, or by the agent itself, as a restart of a process that has "
                  "exited. One of the agent itself has no record of its own and no result to send: "
                  "it waits for no record, and ends where another one enters `SYNC`. The rows are "
                  "in `src/agent/supervise/op_phase_rows.h`, the cells in `op_table.c`.\n\n");
    put_lifecycle(&l, out);
}

static void put_processes(struct buf *out)
{
    struct lifecycle l = { "process", "state",   PROC_STATES,  PROC_EVENTS,
                           { { 0 } }, { { 0 } }, { { { 0 } } } };

    static_assert((int)PROC_STATES <= LIFECYCLE_MAX && (int)PROC_EVENTS <= LIFECYCLE_MAX,
                  "struct lifecycle has room");
    for (int e = 0; e < l.events; e++)
        l.event_names[e] = (struct lifecycle_name){ proc_event_name(e), proc_event_text(e) };
    for (int s = 0; s < l.states; s++) {
        l.state_names[s] = (struct lifecycle_name){ proc_state_name(s), proc_state_text(s) };
        for (int e = 0; e < l.events; e++) {
            const struct proc_cell *cell = proc_table_cell(s, e);

            l.cells[s][e] = (struct lifecycle_cell){ cell->fn != NULL, cell->to, cell->text };
        }
    }
    buf_puts(out,
             "## A process\n\nWhat a spec describes, `namespace/name`. What was asked for is "
             "not its state: *wanted* (the last operation) and *hosted* (whether the agent "
             "starts it again) are variables of their own. The rule by which a process that is "
             "down is judged is in [agent.md](agent.md#restarts). The rows are in "
             "`src/agent/supervise/proc_state_rows.h`, the cells in `proc_table.c`.\n\n");
    put_lifecycle(&l, out);
}

void lifecycle_page_write(struct buf *out)
{
    buf_puts(
        out,
        "# Life cycles\n\n"
        "The core of the agent (`src/agent/supervise`) is made of tables: one row for each state, "
        "one column for each event, and in each cell what the event does in that state, and the "
        "states that it may lead to. This page is written from the same tables that the agent "
        "runs.\n\n"
        "* Every input is an event: a message of the server, the answer to a probe, the end of a "
        "command or of a process, a timer. There is no other way to change the state.\n"
        "* A cell may lead only to the states that it names. One function changes the state; it "
        "stops the timer of the state that is left.\n"
        "* An empty cell is a pair that *cannot happen*. If it does, that is a fault of the agent: "
        "it logs the pair (`a fault of the agent: this can not happen`, with `state` and `event`), "
        "counts it in the metric `holdfast_agents_unexpected_total` "
        "([metrics](metrics.md)), and ends the operation with code 101, so that the client gets "
        "an answer and the process its next operation. A change to a state that the cell does not "
        "name is counted the same way. The metric is 0 where all is well.\n"
        "* Tests walk every cell (`test_op_table.c` and `test_proc_table.c` in "
        "`tests/unit/agent/supervise`); the simulator "
        "checks after every input what must hold in each state (`core_check.c`).\n\n");
    put_processes(out);
    put_operations(out);
}
