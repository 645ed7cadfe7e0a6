/* SPDX-License-Identifier: MIT */
/* procfs.h - what the kernel says of a process under /proc.
 *
 * A process chooses its own name, arguments and the file it runs, so all text here
 * is hostile: names may hold spaces, parentheses, newlines and bytes that are no
 * UTF-8, and what is too long is cut.  The parsers are pure functions over bytes.
 *
 * While a process becomes another program, for some microseconds its names are those
 * of both, or empty; spawn() returns inside of that.
 *
 * Everything read by pid may be of another process a moment later.  Who acts on
 * what was read holds a pidfd first and looks at the start ticks after (ident.h). */
#ifndef AGENT_PROCFS_H
#define AGENT_PROCFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

enum {
    PROCFS_COMM_SIZE = 64, /* kernel threads have names of up to 63 bytes, others of 15 */
    PROCFS_NAME_SIZE = 256,
    PROCFS_PATH_SIZE = 4096,
    PROCFS_STAT_SIZE = 1024,
};

struct procfs_stat {
    int64_t pid, ppid, session;
    char state; /* as ps shows it */
    char comm[PROCFS_COMM_SIZE];
    int64_t user_ticks, system_ticks, threads;
    int64_t waited_user_ticks, waited_system_ticks; /* of children it has waited for */
    int64_t start_ticks;                            /* since boot */
    int64_t rss_pages;
};

/* The names that say what a process is; those that are not known are "". */
struct procfs_names {
    char comm[PROCFS_COMM_SIZE];
    char exe[PROCFS_NAME_SIZE];   /* last part of the path of the file it runs */
    char argv0[PROCFS_NAME_SIZE]; /* last part of the name it was called by */
    char
        script[PROCFS_NAME_SIZE]; /* of a shell, Python, Perl ...: last part of its script's path */
};

int procfs_parse_stat(const char *text, size_t n, struct procfs_stat *ret, struct err *err);
int procfs_parse_uid(const char *text, size_t n, uid_t *ret_real, struct err *err); /* "status" */

/* argv0 and script out of "cmdline" (strings with a NUL behind each); exe must be
 * there already, for it tells whether there is a script. */
void procfs_parse_names(const char *cmdline, size_t n, struct procfs_names *names);

/* The last part of a path; without " (deleted)", which the kernel puts behind the
 * name of a file that is gone. */
void procfs_base_name(const char *path, char to[PROCFS_NAME_SIZE]);

/* All give ERR_NOT_FOUND if there is no such process (any more). */
int procfs_stat(pid_t pid, struct procfs_stat *ret, struct err *err);
int procfs_uid(pid_t pid, uid_t *ret_real, struct err *err);
int procfs_names(pid_t pid, struct procfs_names *ret, struct err *err);
int procfs_exe(pid_t pid, char to[PROCFS_PATH_SIZE], struct err *err);
int procfs_cgroup(pid_t pid, char to[PROCFS_PATH_SIZE], struct err *err); /* v2, as "/a/b" */

/* Pids, one after the other; `fn` ends the walk by returning false.  Those that
 * come or go meanwhile may be met or not. */
typedef bool procfs_fn(void *arg, pid_t pid);
int procfs_each(procfs_fn *fn, void *arg, struct err *err);

/* The children of all threads of a process, in time that grows with their number
 * alone where the kernel lists them (CONFIG_PROC_CHILDREN), else by a walk. */
int procfs_each_child(pid_t pid, procfs_fn *fn, void *arg, struct err *err);

/* The name of this boot, another one after each start of the machine. */
enum { BOOT_ID_SIZE = 37 };
int procfs_boot_id(char to[BOOT_ID_SIZE], struct err *err);

#endif
