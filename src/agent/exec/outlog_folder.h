/* SPDX-License-Identifier: MIT */
/* outlog_folder.h - the folder of the output files, and files of it by name: the system calls that
 * outlog.h is made of. Names are made by outlog_name() or by the agent, never taken unchanged from
 * outside. Usable from any thread. */
#ifndef AGENT_EXEC_OUTLOG_FOLDER_H
#define AGENT_EXEC_OUTLOG_FOLDER_H

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/text/err.h"

enum {
    OUTLOG_NAME_SIZE = 220,
    OUTLOG_WHAT_MAX = 16,
    OUTLOG_OLD_SIZE = OUTLOG_NAME_SIZE + 8,
};

/* Does not change between open and close. */
struct outlog_folder {
    char *path;
    int dir;
};

/* Creates the folder if needed. Refuses a folder that others own or can write to. Close it in any
 * case. */
int outlog_folder_open(struct outlog_folder *f, const char *path, struct err *err);
void outlog_folder_close(struct outlog_folder *f);

/* Makes a file name from any text: letters, digits, "_" and "-" stay, every other byte becomes %XX;
 * a long text is truncated and ends with a hash of the whole text. A `what` that is not "" (a
 * constant of the agent, at most OUTLOG_WHAT_MAX bytes) is appended: TEXT~WHAT. */
void outlog_name(const char *text, const char *what, char to[OUTLOG_NAME_SIZE]);
void outlog_old_name(const char *name, const char *end, char to[OUTLOG_OLD_SIZE]);

/* ERR_SYSTEM with ENOENT or another errno; the text has the file's path. */
int outlog_open_file(const struct outlog_folder *f, const char *name, int flags, int *ret_fd,
                     struct stat *ret_st, struct err *err);
int outlog_trouble(const struct outlog_folder *f, const char *name, const char *fmt,
                   struct err *err) MSG_FORMAT(3, 0);
bool outlog_is_missing(const struct err *err);

DIR *outlog_open_dir(const struct outlog_folder *f); /* NULL with errno set */

/* Disk usage of a file; all 0 if it does not exist. A process can reserve blocks behind the end of
 * its output (fallocate() with FALLOC_FL_KEEP_SIZE), which its size does not show. */
struct outlog_space {
    uint64_t size, reserved;
};
struct outlog_space outlog_space_of(const struct stat *st);

/* Whether that exceeds a limit of max_bytes. Twice the limit and 4 MB may be reserved: XFS reserves
 * up to twice the size of a growing file, and tmpfs allocates whole huge pages. */
bool outlog_is_over(const struct outlog_space *s, uint64_t max_bytes);

#endif
