/* SPDX-License-Identifier: MIT */
/* forwarder.h - a thread that follows output files and sends their whole lines to syslog or
 * journald (forward_sink.h).
 *
 * The file is the buffer: the thread remembers a position, reads on when inotify reports the file,
 * and waits while the socket is missing or full, or the process has used up its lines or bytes of
 * the second. A process that is further behind than lag_max_bytes loses lines; they are counted,
 * and the count is sent as a line of its own. Trimming and log rotation do not matter (outlog.h).
 *
 * The positions are in memory only. The thread exists from the first call of forwarder_follow() on.
 * All functions but new and free can be called from any thread. */
#ifndef AGENT_SHELL_FORWARDER_H
#define AGENT_SHELL_FORWARDER_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/exec/outlog.h"
#include "model/extra.h"

struct forwarder;

struct forward_options {
    const char *syslog, *journal;      /* paths of their sockets */
    uint64_t lines_per_s, bytes_per_s; /* of each process */
    uint64_t lag_max_bytes;            /* that one may be behind */
    uint64_t count_max_bytes;          /* further behind, lost lines are counted as bytes */
};

/* /dev/log and journald, or the sockets that the environment names (HOLDFAST_SYSLOG_SOCKET,
 * HOLDFAST_JOURNAL_SOCKET), with 2,000 lines or 1 MiB in a second. */
struct forward_options forward_defaults(void);

/* `path` is that of the folder. The outlog belongs to the caller, the texts of the options too;
 * they must live until the end. */
struct forwarder *forwarder_new(struct outlog *o, const char *path,
                                const struct forward_options *options);
/* As trimmer_free(). */
bool forwarder_free(struct forwarder *f, int64_t wait_ms);

/* Follows the file of a process from position `at` on, or from where it is if it is followed
 * already; OUTPUT_FILE ends it. Lines wait a moment for forwarder_set_pid(). */
void forwarder_follow(struct forwarder *f, const char *file, const char *space, const char *name,
                      enum proc_output kind, uint64_t at);
bool forwarder_has(struct forwarder *f, const char *file);
bool forwarder_is_idle(struct forwarder *f); /* follows none */

/* Of calls with the same `turn` the first counts. */
void forwarder_set_pid(struct forwarder *f, const char *file, int64_t pid, uint64_t turn);

#endif
