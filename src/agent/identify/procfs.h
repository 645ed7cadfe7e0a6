/* SPDX-License-Identifier: MIT */
/* procfs.h - reads and parses the files of /proc/PID. A process chooses its own name, arguments and
 * executable, so all text here is hostile: names may contain spaces, parentheses, newlines and
 * invalid UTF-8, and long ones are truncated. The parsers are pure functions over bytes. During
 * exec, for some microseconds, the names are a mix of both programs, or empty; spawn() returns
 * within that time.
 *
 * Data read by pid may belong to another process a moment later. Code that acts on it opens a pidfd
 * first and compares the start ticks afterwards (ident.h). */
#ifndef AGENT_IDENTIFY_PROCFS_H
#define AGENT_IDENTIFY_PROCFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/text/err.h"

enum {
    PROCFS_COMM_SIZE = 64, /* up to 63 bytes for kernel threads, 15 for others */
    PROCFS_NAME_SIZE = 256,
    PROCFS_PATH_SIZE = 4096,
    PROCFS_STAT_SIZE = 1024,
};

struct procfs_stat {
    int64_t pid, ppid, group, session;
    char state; /* letter as in ps */
    char comm[PROCFS_COMM_SIZE];
    int64_t user_ticks, system_ticks, threads;
    int64_t waited_user_ticks, waited_system_ticks; /* of children it has waited for */
    int64_t start_ticks;                            /* since boot */
    int64_t rss_pages;
    bool is_kernel_thread;
};

/* Names that identify a process; "": unknown. */
struct procfs_names {
    char comm[PROCFS_COMM_SIZE];
    char exe[PROCFS_NAME_SIZE];    /* file name of its executable */
    char argv0[PROCFS_NAME_SIZE];  /* last component of argv[0] */
    char script[PROCFS_NAME_SIZE]; /* interpreters: file name of the script */
};

int procfs_parse_stat(const char *text, size_t n, struct procfs_stat *ret, struct err *err);
int procfs_parse_uid(const char *text, size_t n, uid_t *ret_real, struct err *err); /* "status" */

/* Sets argv0 and script from "cmdline" (strings, each terminated by NUL). exe must be set before,
 * because it tells whether there is a script. */
void procfs_parse_names(const char *cmdline, size_t n, struct procfs_names *names);

/* Last component of a path, without the " (deleted)" that the kernel appends for a removed file. */
void procfs_base_name(const char *path, char to[PROCFS_NAME_SIZE]);

/* A process chooses its own names: bytes that are not text become '?'. */
void procfs_clean(char *text);

/* All return ERR_NOT_FOUND if the process does not exist (any more). */
int procfs_stat(pid_t pid, struct procfs_stat *ret, struct err *err);
int procfs_uid(pid_t pid, uid_t *ret_real, struct err *err);
int procfs_names(pid_t pid, struct procfs_names *ret, struct err *err);
int procfs_exe(pid_t pid, char to[PROCFS_PATH_SIZE], struct err *err);
int procfs_cgroup(pid_t pid, char to[PROCFS_PATH_SIZE], struct err *err); /* cgroup v2, as "/a/b" */

/* Calls fn for each pid; `fn` returns false to stop. Processes that start or end meanwhile may be
 * missed. */
typedef bool procfs_fn(void *arg, pid_t pid);
int procfs_each(procfs_fn *fn, void *arg, struct err *err);

/* Children of all threads of a process. The cost depends on their number where the kernel lists
 * children (CONFIG_PROC_CHILDREN); otherwise all processes are read. */
int procfs_each_child(pid_t pid, procfs_fn *fn, void *arg, struct err *err);

/* The boot id; it changes with every boot. */
enum { BOOT_ID_SIZE = 37 };
int procfs_boot_id(char to[BOOT_ID_SIZE], struct err *err);

#endif
