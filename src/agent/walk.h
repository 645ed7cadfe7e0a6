/* SPDX-License-Identifier: MIT */
/* walk.h - the way to a file that somebody may have laid to harm us.
 *
 * The path is walked part by part and nothing is opened but for its path alone, until it is
 * known what it is.  A symbolic link is followed only if root owns it in a folder that root
 * owns and nobody else can write to (as Debian's /var/run), wherever it stands in the path. */
#ifndef AGENT_WALK_H
#define AGENT_WALK_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/err.h"

enum { WALK_SHOWN_MAX = 256 };

/* What is still to be walked, and where we are: `at` is open for its path alone.  All
 * zeroes but for `what` and an `at` of -1 is where to begin; `at` is the caller's to
 * close. */
struct walk {
    const char *what;           /* for texts: "pid file" */
    char shown[WALK_SHOWN_MAX]; /* the path, for texts, which are short */
    char rest[PATH_MAX];
    int at;
    struct stat at_stat, st;
    int links;
    bool is_straight; /* there is no link in the path, which is `rest` then */
};

/* ERR_NOT_FOUND if there is no such file; any other code: the text says what is wrong. */
int walk_to_end(struct walk *w, const char *path, struct err *err);

/* It is a regular file of root's or the user's, of at most max_bytes ("expected WHAT"). */
int walk_check_file(const struct walk *w, uid_t uid, size_t max_bytes, const char *expected,
                    struct err *err);

/* What was walked to, and nothing that may have taken its place; the fd is the caller's. */
int walk_open(const struct walk *w, int flags, int *ret_fd, struct err *err);

#endif
