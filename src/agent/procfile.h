/* SPDX-License-Identifier: MIT */
/* procfile.h - the hosted processes in GSE's format, {"proc":[{...}]}, for tools that
 * read them in a file `.proc`, and for those that edit it.
 *
 * It is a copy of what the journal says, never the truth itself.  A record is there if
 * and only if the process is hosted; texts are as they were sent, a command that was not
 * is "".  The contact is the namespace, or the owner where Job sent it.  What the format has
 * no word for (retries, paths of logs, `holdfast`) is not in it; a record that is read leaves
 * those as they are.
 *
 * The file is written beside the old one and renamed.  Its folder must belong to us or
 * to root and be writable to nobody else, and so must the file; a symbolic link in its
 * place is followed only if root owns it in a folder that only root can write to. */
#ifndef AGENT_PROCFILE_H
#define AGENT_PROCFILE_H

#include "model/proc.h"

enum { PROCFILE_MAX_BYTES = 64 << 20, PROCFILE_MAX_RECORDS = 100000 };

struct proc_record {
    const char *proc_name, *setup_path, *pid_path, *contact;
    const char *start_cmd, *stop_cmd, *restart_cmd, *reload_cmd, *kill_cmd, *version_cmd,
        *health_cmd;
    int64_t kind; /* enum proc_kind */
    double cpu_percent, mem_percent;
    const char *user, *password, *user_pwd; /* never a password */
    const char *value_key;
    int64_t start_check_s, end_check_s, op_timeout_s; /* end_check_s: Job's start_check_end_time,
                                                       * else stop_check_secs; 0: not given */
    int64_t op, when_s;                               /* that made it what it is */
};

/* Texts are those of meta and spec, or in the arena. */
void procfile_record(const struct proc_meta *meta, const struct proc_spec *spec, int64_t op,
                     int64_t when_s, struct arena *a, struct proc_record *ret);

/* The other way.  `spec` is as it was, or as the defaults are; its texts are then the
 * record's.  ERR_INVALID if it names no process. */
int procfile_meta(const struct proc_record *r, struct arena *a, struct proc_meta *ret,
                  struct err *err);
void procfile_spec(const struct proc_record *r, const struct proc_meta *meta,
                   struct proc_spec *spec);

/* Whether both say the same of a process; who wrote it, and when, does not matter. */
bool procfile_same(const struct proc_record *a, const struct proc_record *b);

void procfile_write(const struct proc_record *records, size_t n, struct buf *out);

struct procfile {
    struct list records; /* struct proc_record: those that can be read */
    size_t bad_n;        /* those that can not; why the first can not is in `bad` */
    struct err bad;
};

/* -1 if it is no such file at all. */
int procfile_read(const char *text, size_t n, struct arena *a, struct procfile *ret,
                  struct err *err);

/* ---- the file */

/* ERR_NOT_FOUND if there is none, ERR_DENIED if it is not for us to use. */
int procfile_load(const char *path, struct buf *ret, struct err *err);

/* Written, not renamed yet; dir -1: nothing. */
struct procfile_new {
    int dir;
    char *name;
};
int procfile_begin(const char *path, const struct buf *text, struct procfile_new *ret,
                   struct err *err);
int procfile_end(struct procfile_new *f, struct err *err); /* nothing is left to do then */
void procfile_drop(struct procfile_new *f);
int procfile_sync(const char *path, struct err *err); /* that it was renamed is on the disk */

/* Gives what is there the name PATH.bad. */
int procfile_set_aside(const char *path, struct err *err);

#endif
