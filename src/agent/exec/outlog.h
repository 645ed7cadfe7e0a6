/* SPDX-License-Identifier: MIT */
/* outlog.h - output of processes in files of bounded size.
 *
 * A process gets the file itself, open for appending, not a pipe. So it can write whether the agent
 * runs or not. When the file has grown, outlog_trim() (outlog_trim.h) moves old data to NAME.1 and
 * removes it from the front of the file, while the process keeps writing. Where the file system
 * supports it (ext4, XFS) nothing is lost by that; elsewhere data written in the microseconds
 * between copy and truncation is lost.
 *
 * Positions count every byte ever written, so they only grow and stay valid over trimming and
 * restarts of the agent: the first line of NAME.1 has the position of the first byte of NAME. An
 * agent killed while trimming may leave them some bytes ahead, so that a reader gets some data
 * twice; data is never skipped.
 *
 * The files belong to the user, so that a process can reopen /dev/stdout. The user can truncate
 * them, too, and so can log rotation, which may also move them away: positions then go on from the
 * largest size that was seen (outlog_note_size()). Only the agent can write to the folder, so other
 * users can not replace the files. Names are made by outlog_name() or by the
 * agent, never taken unchanged from outside.
 *
 * A file stays open from the first outlog_append() on as long as it exists, so that the process can
 * not take a lease on it, which would prevent trimming. At most a quarter of the agent's
 * descriptors is used for that.
 *
 * This header has the files and the positions in them. outlog_append.h gives a file to a process,
 * outlog_read.h reads them, outlog_trim.h limits their size.
 *
 * Usable from any thread; only one thread may walk. */
#ifndef AGENT_EXEC_OUTLOG_H
#define AGENT_EXEC_OUTLOG_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>

#include "agent/exec/outlog_folder.h"
#include "base/text/err.h"

struct outlog; /* the folder */

/* Creates the folder if needed. Refuses a folder that others own or can write to. */
int outlog_open(const char *path, struct outlog **ret, struct err *err);
void outlog_close(struct outlog *o); /* NULL is allowed */

/* Position of the file's first byte. */
uint64_t outlog_base(const struct outlog *o, const char *name);

/* The agent's own descriptor of a file, which the caller closes: kept open from the start of its
 * writer on, and when the file is replaced. */
int outlog_hold(struct outlog *o, const char *name, int *ret_fd, struct err *err);

void outlog_keep_open(struct outlog *o, const char *name);
void outlog_let_go(struct outlog *o, const char *name);

/* At start: opens all existing files and keeps them open. Removes leases taken while no agent was
 * running. */
void outlog_keep_all_open(struct outlog *o);

/* Whether a thread searches for a lease. A process can make it hang in the kernel (lease.h). */
bool outlog_is_searching(const struct outlog *o);

/* Disk usage of a file; all 0 if it does not exist. */
struct outlog_space outlog_space(const struct outlog *o, const char *name);

uint64_t outlog_size(const struct outlog *o, const char *name); /* 0: empty or missing */

/* A file can not be read while it is being trimmed. The loop must not wait for that, and the file
 * of a process that writes fast is trimmed all the time. */
enum outlog_wait {
    OUTLOG_NO_WAIT,  /* one attempt */
    OUTLOG_MAY_WAIT, /* some 2 s at most: less than the server waits for an answer */
};

/* Position of the next byte; 0: there is no such file, or an error. An estimate while the file is
 * being trimmed. */
uint64_t outlog_end(const struct outlog *o, const char *name, enum outlog_wait wait);
/* One attempt. False: the file is being trimmed, and *ret is an estimate that may be too low. */
bool outlog_try_end(const struct outlog *o, const char *name, uint64_t *ret);

/* The file was just looked at because it may have been written to, and has this end
 * (outlog_times.h).
 */
void outlog_note_time(struct outlog *o, const char *name, uint64_t end);
/* The position before which everything is older than that; 0: not known. */
uint64_t outlog_since(const struct outlog *o, const char *name, int64_t age_ms);

int outlog_remove(struct outlog *o, const char *name, struct err *err); /* also NAME.1 */

/* Continues a walk through the folder, some files per call. each() gets a file name, the name of
 * the process's file (without ~WHAT) and the time of the last write, since 1970; it may remove the
 * file. False: the walk is complete. */
typedef void outlog_fn(void *arg, const char *name, const char *process, int64_t wall_s);
bool outlog_walk(struct outlog *o, size_t n, outlog_fn *each, void *arg);

/* ---- for outlog_trim.h and outlog_read.h */

/* First line of NAME.1, of fixed length, so that it can be overwritten. */
#define OUTLOG_HEAD "[what was said before byte %020llu]\n"
enum { OUTLOG_HEAD_SIZE = sizeof("[what was said before byte 12345678901234567890]\n") - 1 };

/* Second line, if output was dropped (outlog_drop()): "[", the number of bytes, and this. */
#define OUTLOG_DROPPED                                                                             \
    " bytes of output are missing before this line: they were written faster than they can be "    \
    "kept]\n"

enum { OUTLOG_LINE_SIZE = 160 };

/* State of a trimmed file. NAME.1 has `older` bytes, up to position `base`. `changes` is odd while
 * base, NAME and NAME.1 are inconsistent, and has a new value afterwards. */
struct trimmed {
    char name[OUTLOG_NAME_SIZE];
    uint64_t base, older;
    uint64_t dropped; /* by outlog_drop(), since the last outlog_trim() */
    unsigned changes;
    bool is_busy; /* a thread is trimming it */
    int readers;  /* readers that the next trim waits for */
};

const struct outlog_folder *outlog_folder(const struct outlog *o);

/* All 0 for a file that was never trimmed. */
struct trimmed outlog_trimmed(const struct outlog *o, const char *name);

/* Only one thread at a time trims a file; others wait for it. It also waits for readers, but not
 * for long: the file of a process that writes fast is trimmed every few milliseconds. At the end it
 * takes turns of others (below): on a busy host a reader gets no time to read in between. */
enum { OUTLOG_READER_MS = 10 };
void outlog_begin_trim(struct outlog *o, const char *name);
void outlog_end_trim(struct outlog *o, const char *name);

/* Between these calls a reader reads, perhaps again: the next trim waits for it. */
void outlog_begin_read(const struct outlog *o, const char *name);
void outlog_end_read(const struct outlog *o, const char *name);

/* Work on a file that is trimmed all the time: the thread that trims it calls run() at the end of
 * the next trim, when no other thread changes the file. One thread puts a turn, looks whether it is
 * done and drops it, before outlog_close(); free() is called then, or after run() if that runs just
 * now. */
enum outlog_turn_state {
    OUTLOG_TURN_WAITS,
    OUTLOG_TURN_RUNS,
    OUTLOG_TURN_DONE,
    OUTLOG_TURN_DROPPED
};
struct outlog_turn {
    TAILQ_ENTRY(outlog_turn) link; /* only while it waits */
    const char *name;
    void (*run)(struct outlog_turn *t);
    void (*free)(struct outlog_turn *t);
    enum outlog_turn_state state; /* of outlog.c */
};
void outlog_turn_put(struct outlog *o, struct outlog_turn *t);
bool outlog_turn_is_done(struct outlog *o, const struct outlog_turn *t);
void outlog_turn_drop(struct outlog *o, struct outlog_turn *t);

/* A thread changes the files between outlog_change() and one of the other two functions, which set
 * new positions or restore the old ones. */
void outlog_change(struct outlog *o, const char *name);
void outlog_set_trimmed(struct outlog *o, const char *name, uint64_t base, uint64_t older,
                        uint64_t dropped);
void outlog_keep_trimmed(struct outlog *o, const char *name);

/* A reader gets the positions, reads, and repeats if they have changed meanwhile.
 * outlog_steady() waits until no trim is in progress, OUTLOG_TRY_MS at most: the disk may hang. */
enum { OUTLOG_TRY_MS = 20, OUTLOG_ROUNDS = 100 };
struct trimmed outlog_steady(const struct outlog *o, const char *name, enum outlog_wait wait);
bool outlog_is_steady(const struct outlog *o, const char *name, const struct trimmed *t);

/* The file has this size, looked at after *t was taken. If it was larger before and was not trimmed
 * since, it was truncated or replaced from outside: what it had keeps its positions, what is
 * written from now on comes after it, NAME.1 is ignored, and *t is renewed. A file that outgrows
 * that size again before the next look, some 10 ms later, is taken for the same one. */
void outlog_note_size(const struct outlog *o, const char *name, struct trimmed *t, uint64_t size);
int outlog_rounds(enum outlog_wait wait); /* number of attempts */

#endif
