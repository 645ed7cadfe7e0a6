/* SPDX-License-Identifier: MIT */
/* walk.h - safe resolution of a path that may have been prepared by an attacker. The path is
 * resolved component by component with O_PATH only, until the type of the file is known. A symbolic
 * link is followed only if root owns it and it is in a folder that root owns and others can not
 * write to (for example Debian's /var/run), anywhere in the path. */
#ifndef AGENT_IDENTIFY_WALK_H
#define AGENT_IDENTIFY_WALK_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/text/err.h"

enum { WALK_SHOWN_MAX = 256 };

/* The rest of the path, and the current position: `at` is an O_PATH descriptor. Initial value: all
 * zero except `what`, and `at` -1. The caller closes `at`. */
struct walk {
    const char *what;           /* for texts: "pid file" */
    char shown[WALK_SHOWN_MAX]; /* shortened path for texts */
    char rest[PATH_MAX];
    int at;
    struct stat at_stat, st;
    int links;
    bool is_straight; /* the path has no links; `rest` is the path then */
};

/* ERR_NOT_FOUND: there is no such file; any other code: the text gives the reason. */
int walk_to_end(struct walk *w, const char *path, struct err *err);

/* Checks for a regular file that root or the user owns, of at most max_bytes ("expected WHAT"). */
int walk_check_file(const struct walk *w, uid_t uid, size_t max_bytes, const char *expected,
                    struct err *err);

/* Opens exactly the resolved file, even if its name was replaced; the caller closes the fd.
 * ERR_UNAVAILABLE with O_NONBLOCK if a lease on the file would block the caller. */
int walk_open(const struct walk *w, int flags, int *ret_fd, struct err *err);

/* Its path without links, from the kernel. */
int walk_real_path(const struct walk *w, char to[PATH_MAX], struct err *err);

#endif
