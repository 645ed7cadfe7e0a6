/* SPDX-License-Identifier: MIT */
/* proc_state_rows.h - what a process actually does, and its events; included where a table is made
 * of them.  The includer defines PROC_STATE_ROW(id, text) or PROC_EVENT_ROW(id, text); both are
 * undefined at the end.  The text says what holds in the state, or what the event is;
 * docs/lifecycle.md is made of it. */
#ifndef PROC_STATE_ROW
#define PROC_STATE_ROW(...)
#endif
#ifndef PROC_EVENT_ROW
#define PROC_EVENT_ROW(...)
#endif

/* clang-format off */
PROC_STATE_ROW(DOWN,     "does not run, and is not to be restarted: it is not hosted, is not meant to stay, or was stopped")
PROC_STATE_ROW(WAITING,  "hosted and down: it waits for an operation in progress, or for processes that come before it")
PROC_STATE_ROW(BACKOFF,  "hosted and down: the timer says when the next start is tried")
PROC_STATE_ROW(STARTING, "an operation runs its start or restart command, or waits for the effect")
PROC_STATE_ROW(YOUNG,    "runs; the timer says when it has run long enough to be up")
PROC_STATE_ROW(UP,       "runs, and has run long enough; it is proven: its failures so far are forgotten")
PROC_STATE_ROW(STOPPING, "an operation runs its stop or kill command, or has sent a signal")
PROC_STATE_ROW(FINISHED, "has ended as its spec allows, and stays hosted: it is not restarted")
PROC_STATE_ROW(DENIED,   "hosted and down: the policy of the host forbids to start it; a new policy is awaited")
PROC_STATE_ROW(GIVEN_UP, "down: no try was left, so its hosting has ended")

PROC_EVENT_ROW(FOUND,    "a process was found or adopted")
PROC_EVENT_ROW(ENDED,    "its main process has ended")
PROC_EVENT_ROW(BEGUN,    "an operation begins to start or to stop it")
PROC_EVENT_ROW(CHANGED,  "an operation is over, or hosting, spec, order or policy have changed")
PROC_EVENT_ROW(TIMER,    "the timer of its state")
/* clang-format on */

#undef PROC_STATE_ROW
#undef PROC_EVENT_ROW
