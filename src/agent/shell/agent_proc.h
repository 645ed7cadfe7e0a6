/* SPDX-License-Identifier: MIT */
/* agent_proc.h - the file `.proc` (procfile.h) of the agent.
 *
 * A new version is written to a temporary file before a sync, together with a journal record of its
 * digest. It is renamed when that record is durable and before any result covered by the sync is
 * reported. So a client that got the result "hosted" finds the process in the file. Several changes
 * share one write: the larger the file, the longer the delay of the next write (about 20 ms for
 * 1,000 processes). A failed write delays no result; it is logged once and retried after 1 s, 2 s,
 * up to 30 s.
 *
 * A renamed file is durable only some time later, so a power loss may restore an older version.
 * Until then the journal marks it as loose. After a reboot an unknown version is then not treated
 * as an edit, but moved to `.proc.bad` and written again.
 *
 * At start a file with a digest unknown to the journal has been edited, and its additions, changes
 * and removals are applied. Removals are not applied if the agent has never written a file at this
 * path (the file is from an older agent: all its processes become hosted), or if a record can not
 * be parsed. A missing file is written again; a file that is no such file at all is moved to
 * `.proc.bad`. */
#ifndef AGENT_SHELL_AGENT_PROC_H
#define AGENT_SHELL_AGENT_PROC_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/persist/procfile_disk.h"
#include "base/io/timers.h"
#include "model/procfile.h"
#include "wire/json/shape.h"
#include "wire/tls/digest.h"

struct agent_base;

/* Type of its journal record, beside those of the core and of agent_disk.h. */
enum { RECORD_PROC_FILE = 254 };

/* Appends a record to the journal (disk_journal()). */
typedef uint64_t proc_journal_fn(void *arg, unsigned type, const struct shape *s,
                                 const void *record, bool durable);

struct proc_file {
    struct agent_base *agent;
    proc_journal_fn *journal;
    void *arg;
    char *path;
    uint64_t changes;            /* change counter of the core's list that the file represents */
    char seen[DIGEST_TEXT_SIZE]; /* digest of the current file; "": unknown */
    char now[DIGEST_TEXT_SIZE];  /* in the journal: digest of the new file */
    char was[DIGEST_TEXT_SIZE];  /* and of the previous one, until it is replaced */
    char *journal_path;          /* path of the file with these digests */
    bool is_loose;               /* in the journal, too: `now` may not be durable yet */
    struct timer loose;          /* clears is_loose */
    struct procfile_new beside;  /* temporary file to be renamed */
    int64_t not_before_ms;       /* earliest time of the next write */
    int64_t retry_ms;            /* not 0: the last write failed */
    struct timer timer;          /* for both times */
    char edited[480];            /* summary of the edits of the file, to be reported */
};

/* `path` NULL or "": `.proc` in the data folder. */
void proc_init(struct proc_file *p, struct agent_base *a, const char *path,
               proc_journal_fn *journal, void *arg);
int proc_replay(struct proc_file *p, const char *json, size_t n, struct err *err);
void proc_start(struct proc_file *p, bool same_boot); /* called before core_start() */
void proc_started(struct proc_file *p);               /* called after core_start() */
void proc_done(struct proc_file *p);

/* Called before a sync or a compaction; `now`: do not delay. False: delayed. */
bool proc_begin(struct proc_file *p, bool now);
void proc_end(struct proc_file *p);     /* called when the record is durable */
void proc_stop(struct proc_file *p);    /* final write at shutdown */
void proc_journal(struct proc_file *p); /* adds its record to the journal */

/* Changes the path. A file that exists there is read at the next start. */
void proc_set_path(struct proc_file *p, const char *path);

#endif
