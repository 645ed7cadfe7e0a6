/* SPDX-License-Identifier: MIT */
/* outlog_in.h - what outlog.c (files) and outlog_read.c (their text) share. */
#ifndef AGENT_OUTLOG_IN_H
#define AGENT_OUTLOG_IN_H

#include <dirent.h>
#include <sys/stat.h>

#include "agent/outlog.h"
#include "base/map.h"

enum { OUTLOG_OLD_SIZE = OUTLOG_NAME_SIZE + 8 };

/* The first line of NAME.1: one length, so that it can be written again. */
#define OUTLOG_HEAD "[what was said before byte %020llu]\n"
enum { OUTLOG_HEAD_SIZE = sizeof("[what was said before byte 12345678901234567890]\n") - 1 };

/* A file that has been trimmed.  NAME.1 holds `older` bytes, up to `base`. */
struct trimmed {
    char name[OUTLOG_NAME_SIZE];
    uint64_t base, older;
};

struct outlog {
    char *path;
    int dir;
    struct map trimmed; /* by name; of the others nothing is kept */
    DIR *walk;          /* open while a walk is on its way */
};

/* 0 and 0 for one that was never trimmed. */
struct trimmed outlog_trimmed(const struct outlog *o, const char *name);

/* ERR_SYSTEM with ENOENT, or what else is wrong, with the file's path. */
int outlog_open_file(const struct outlog *o, const char *name, int flags, int *ret_fd,
                     struct stat *ret_st, struct err *err);
int outlog_trouble(const struct outlog *o, const char *name, const char *what, struct err *err);
bool outlog_is_missing(const struct err *err);
void outlog_old_name(const char *name, const char *end, char to[OUTLOG_OLD_SIZE]);

#endif
