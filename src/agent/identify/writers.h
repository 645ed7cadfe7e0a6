/* SPDX-License-Identifier: MIT */
/* writers.h - checks whether other users can change the target of a path. Trusted are root, one
 * user, members of the user's primary group and, if different, the owner of the file itself. A
 * folder that others can write to is safe only with the sticky bit, because without it they can
 * replace the files and folders in it. An ACL shows in the mode as group write access; it may name
 * any user. */
#ifndef AGENT_IDENTIFY_WRITERS_H
#define AGENT_IDENTIFY_WRITERS_H

#include <sys/stat.h>
#include <sys/types.h>

#include "base/text/err.h"

struct writers {
    uid_t uid;   /* the user */
    gid_t gid;   /* its primary group */
    uid_t owner; /* another uid that may own the file and its folders; otherwise the same as uid */
};

/* ERR_DENIED: others can write; the text continues "pid file /x/y is not used: " and names the
 * path, the problem and the remedy. Any other code: a read failed. */
int writers_check_file(const struct writers *w, const char *path, const struct stat *st,
                       struct err *err);

/* The same for every folder of the path, including "/". */
int writers_check_folders(const struct writers *w, const char *path, struct err *err);

#endif
