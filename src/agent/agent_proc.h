/* SPDX-License-Identifier: MIT */
/* agent_proc.h - the file `.proc` (procfile.h) of the agent, for its own sources.
 *
 * It is written beside its place before a sync, together with a record of its digest,
 * and renamed when that record is on the disk and before any result that the sync covers
 * is told: who has been told that a process is hosted finds it in the file.  Several
 * changes go into one file: the larger it is, the longer the next one waits (about a
 * fiftieth of a second for 1,000 processes).
 *
 * A file that can not be written holds up no result.  That is logged once, and tried again
 * after 1 s, 2 s, up to 30 s.
 *
 * A renamed file is on the disk only some time later, so a loss of power may bring an older
 * one back.  Until then the journal calls it loose: after another boot one that it does not
 * know is then nobody's edit, but kept as `.proc.bad` and written anew.
 *
 * At the start a file whose digest the journal does not know was edited by somebody, and
 * what he has added, changed and taken out is done.  Nothing is taken out if the agent has
 * never written a file in this place (it is an older agent's: all its processes are hosted
 * from now on), or if a record can not be read.  A file that is gone says nothing, and is
 * written anew; one that is not such a file at all is kept as `.proc.bad`. */
#ifndef AGENT_AGENT_PROC_H
#define AGENT_AGENT_PROC_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/procfile.h"
#include "base/timers.h"
#include "wire/digest.h"

struct agent;

struct proc_file {
    char *path;
    uint64_t changes;            /* of the core's list, that the file is of */
    char seen[DIGEST_TEXT_SIZE]; /* of the file as it is; "": not known */
    char now[DIGEST_TEXT_SIZE];  /* in the journal: of the file as it shall be, */
    char was[DIGEST_TEXT_SIZE];  /* and as it was, until it is replaced */
    char *journal_path;          /* which file those are of */
    bool is_loose;               /* in the journal, too: `now` may not be on the disk yet */
    struct timer loose;          /* until it is */
    struct procfile_new beside;  /* to be renamed */
    int64_t not_before_ms;       /* the next one is not written */
    int64_t retry_ms;            /* not 0: it could not be written */
    struct timer timer;          /* for both */
    char edited[480];            /* what somebody has done to it, to be told */
};

void proc_init(struct agent *a);
int proc_replay(struct agent *a, const char *json, size_t n, struct err *err);
void proc_start(struct agent *a);   /* before core_start() */
void proc_started(struct agent *a); /* after it */
void proc_done(struct agent *a);

/* Before a sync, or a compaction, which `now` says it can not wait for; false: in a moment. */
bool proc_begin(struct agent *a, bool now);
void proc_end(struct agent *a);  /* it is on the disk */
void proc_stop(struct agent *a); /* the same, for the last time */
void proc_book(struct agent *a); /* what is to be in the journal */

/* Another place.  Where there is a file already it is left for the next start to read. */
void proc_set_path(struct agent *a, const char *path);

#endif
