/* SPDX-License-Identifier: MIT */
/* find.h - which process is it?
 *
 * The pid file is a hint: the process it names counts only if its name fits and its
 * user does.  A name fits if it equals the process's comm, the file name of its exe
 * or of argv[0], or, for an interpreter, that of its script; no other part of a
 * path and no part of a name counts.  With user root any uid fits; with another, the
 * real uid is his, or the process is of a start of ours for this very key.
 *
 * Without a pid file the host is searched for processes whose exe lies under
 * setup_path and that fit; of a family that fits, the eldest is meant.  Those that are
 * somebody else's (two instances of one program, say) are passed over. */
#ifndef AGENT_FIND_H
#define AGENT_FIND_H

#include <stdbool.h>

#include "agent/exes.h"
#include "agent/ident.h"
#include "agent/user.h"
#include "base/err.h"

/* The last start for this key; zeroes where nothing is known.  What descends from its
 * command, is in the session that made, or in its cgroup, is ours whatever its uid. */
struct find_start {
    struct ident id;
    const char *cgroup; /* "/a/b", for this key alone; NULL: none */
};

struct find_want {
    const char *pid_path; /* NULL or "": search at once */
    const char *proc_name, *setup_path;
    const struct user *user;
    struct find_start start;
    bool is_doubtful; /* a pid file that names nobody may be too old: search then too */
    bool (*is_others)(void *arg, const struct ident *id);     /* for the search; may be NULL */
    const struct ident *(*find_held)(void *arg, int64_t pid); /* that lives; NULL: look at it */
    bool (*has_ended)(void *arg, int64_t pid); /* known to have, and not reaped yet; may be NULL */
    void *arg;
    bool is_of_many; /* several are expected: of those that fit the eldest is meant */
    const struct pidfiles *pidfiles; /* may be NULL */
    struct exes *exes;               /* where to look first for who runs what; NULL: nowhere */
    struct exes_question asked;
};

enum find_kind {
    FIND_FOUND,
    FIND_NONE,     /* nothing runs; the text says what was looked for */
    FIND_MISMATCH, /* there is something, but not what is wanted; the text says both */
};

struct find_result {
    enum find_kind kind;
    struct ident id; /* of what was found */
    int pidfd;       /* the caller's to close; -1 unless found, and where it is held */
    char text[512];  /* why not; "" when found */
};

/* Fails only where the system does not answer (no descriptors left, say).  Reads a
 * few files; a search reads one link of every process on the host. */
int find_process(const struct find_want *w, const char *boot_id, struct find_result *ret,
                 struct err *err);

/* The same questions for one pid, whoever named it: `source` ("pid file /x", "start
 * command") begins the text.  `pid` may be anything. */
int find_check(const struct find_want *w, const char *source, int64_t pid, const char *boot_id,
               struct find_result *ret, struct err *err);

/* All that a search finds, free() them: those that are somebody else's are not among them. */
int find_all(const struct find_want *w, const char *boot_id, struct ident **ret, size_t *ret_n,
             struct err *err);

bool find_name_fits(const struct procfs_names *names, const char *proc_name);

#endif
