/* SPDX-License-Identifier: MIT */
/* find.h - search for the process of a spec.
 *
 * The pid file is a hint: the process it names counts only if its name and user match. A name
 * matches if it equals the process's comm, the file name of its exe or of argv[0], or, for an
 * interpreter, that of its script; no other part of a path and no part of a name counts. The user
 * matches if the real uid is the user's, or if a start by the agent for this key created the
 * process. With user root any uid matches if a pid_path is given. A pid file that other users can
 * write to or replace proves nothing: a process it names counts only if a start by the agent
 * created it. With user root a pid file of another owner may name that owner's processes. A kernel
 * thread never matches.
 *
 * Without the pid file the host is searched for matching processes whose exe is under setup_path;
 * of a matching process and its descendants the topmost is chosen. Processes of other specs (for
 * example two instances of one program) are skipped. Without a pid_path a process created by a
 * start of the agent is chosen, otherwise the only one with that name and user; without setup_path,
 * too, the whole host is searched. */
#ifndef AGENT_IDENTIFY_FIND_H
#define AGENT_IDENTIFY_FIND_H

#include <stdbool.h>

#include "agent/identify/exes.h"
#include "agent/identify/ident.h"
#include "agent/identify/procfs.h"
#include "agent/identify/user.h"
#include "base/text/err.h"

/* The last start for this key; all zero: unknown. Descendants of its command, members of the
 * session that it created and members of its cgroup belong to the agent whatever their uid. */
struct find_start {
    struct ident id;
    const char *cgroup; /* "/a/b", used by this key only; NULL: none */
};

struct find_want {
    const char *pid_path;               /* NULL or "", or the path of a folder: search without it */
    const char *proc_name, *setup_path; /* setup_path "": none */
    const struct user *user;
    struct find_start start;
    bool is_untrusted; /* the caller may only view: with user root, only processes of root */
    bool is_doubtful;  /* the pid file may be stale if it names no process: search then, too */
    bool is_of_start;  /* the previous process has ended: only a process of `start` counts */
    bool is_leader;    /* a search finds only processes that lead their session */
    bool (*is_others)(void *arg, const struct ident *id); /* true: skip; may be NULL */
    void *arg;
    bool is_of_many;           /* several are expected: the oldest match is chosen */
    struct pidfiles *pidfiles; /* may be NULL */
    struct exes *exes;         /* cache of executables; NULL: none */
    struct exes_question asked;
};

enum find_kind {
    FIND_FOUND,
    FIND_NONE,     /* not running; the text says what was searched for */
    FIND_MISMATCH, /* a process was found but does not match; the text describes both */
    FIND_UNSURE,   /* can not be told from other processes; the text gives reason and remedy */
};

enum { FIND_TEXT_SIZE = 1024 };

struct find_result {
    enum find_kind kind;
    struct ident id;           /* of the found process */
    int pidfd;                 /* the caller closes it; -1 unless found and kept open */
    bool is_searched;          /* found by a search, not by its pid file */
    bool is_named;             /* FIND_MISMATCH: the name matches, the user does not */
    char text[FIND_TEXT_SIZE]; /* reason; "" if found */
    /* FIND_MISMATCH by its name: the executable, and the script that it interprets; or "". */
    char program[PROCFS_NAME_SIZE], script[PROCFS_NAME_SIZE];
};

/* Fails only on system errors (for example no descriptors left). Reads a few files; a search reads
 * one link of every process on the host. */
int find_process(const struct find_want *w, const char *boot_id, struct find_result *ret,
                 struct err *err);

/* The same with the pid file only, without a search. */
int find_by_pid_file(const struct find_want *w, const char *boot_id, struct find_result *ret,
                     struct err *err);

/* The same checks for one pid from any source: `source` ("pid file /x", "start command") begins the
 * text. `pid` may have any value. */
int find_check(const struct find_want *w, const char *source, int64_t pid, const char *boot_id,
               struct find_result *ret, struct err *err);

/* A running command of the agent: it is the process itself, or exactly one of its topmost matching
 * descendants is (start.sh that calls run.sh that calls java; a shell that runs `java | tee`).
 * Children of a matching process do not count as further ones. */
int find_by_command(const struct find_want *w, int64_t command, const char *boot_id,
                    struct find_result *ret, struct err *err);

/* Whether it descends from this process, or a start by the agent created it. */
bool find_follows(const struct find_want *w, const struct ident *from, const struct ident *id);

/* All matches of a search, without processes of other specs; the caller frees the array. */
int find_all(const struct find_want *w, const char *boot_id, struct ident **ret, size_t *ret_n,
             struct err *err);

bool find_name_fits(const struct procfs_names *names, const char *proc_name);

#endif
