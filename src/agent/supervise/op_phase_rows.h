/* SPDX-License-Identifier: MIT */
/* op_phase_rows.h - the phases of an operation, and its events; included where a table is made of
 * them.  The includer defines PHASE_ROW(id, text) or EVENT_ROW(id, text); both are undefined at the
 * end.  The text says what holds in the phase, or what the event is; docs/lifecycle.md is made of
 * it. */
#ifndef PHASE_ROW
#define PHASE_ROW(...)
#endif
#ifndef EVENT_ROW
#define EVENT_ROW(...)
#endif

/* clang-format off */
PHASE_ROW(JOURNAL, "accepted; waits until its record is durable, and for earlier operations on its process")
PHASE_ROW(QUEUE,   "waits for a slot; the first half of a restart may be done")
PHASE_ROW(LOOK,    "a probe asks which process runs; nothing has been done to it")
PHASE_ROW(ASK,     "a query: version_cmd and health_cmd run")
PHASE_ROW(FIND,    "a previous agent was about to start its command: it is being looked for")
PHASE_ROW(PREPARE, "its pre-start command is being started, or runs")
PHASE_ROW(RUN,     "its command is being started, or runs")
PHASE_ROW(LATE,    "its command ran too long and is being killed")
PHASE_ROW(SETTLE,  "its command has ended; the process gets time to start or to exit")
PHASE_ROW(CHECK,   "a probe asks which process runs now: the outcome")
PHASE_ROW(CLEAR,   "the process has ended; what is left of its family is being ended")
PHASE_ROW(DYING,   "a signal was sent to the process, which has not ended")
PHASE_ROW(SYNC,    "it has ended; waits until its result is durable")

EVENT_ROW(DURABLE,    "the record that it waits for is durable")
EVENT_ROW(TURN,       "no operation on its process is before it")
EVENT_ROW(SLOT,       "it has a slot")
EVENT_ROW(PROBED,     "the answer to its last probe")
EVENT_ROW(BEGAN,      "its command has started, or could not be started")
EVENT_ROW(ENDED,      "its command has ended")
EVENT_ROW(EXITED,     "the process has ended")
EVENT_ROW(READY,      "the process says that it is ready, or a check of its readiness succeeded")
EVENT_ROW(READY_TIME, "time to check the readiness again, or it has passed")
EVENT_ROW(FAMILY,     "the processes that are left of the family")
EVENT_ROW(ASKED,      "version_cmd and health_cmd of a query have answered")
EVENT_ROW(CANCELLED,  "the server cancels it")
EVENT_ROW(TIMER,      "the timer of its phase")
/* clang-format on */

#undef PHASE_ROW
#undef EVENT_ROW
