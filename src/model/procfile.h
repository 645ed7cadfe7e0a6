/* SPDX-License-Identifier: MIT */
/* procfile.h - the list of hosted processes in GSE's format, {"proc":[{...}]}, for tools that read
 * or edit a file `.proc`. It is a copy of the journal's state, never authoritative.
 *
 * The file has a record for each hosted process and no others. Texts are those that were sent; a
 * command that was not sent is "". The contact is the namespace, or the owner if Job sent it.
 * Settings without a field in the format (retries, paths of logs, `holdfast`) are left out; reading
 * a record does not change them. */
#ifndef MODEL_PROCFILE_H
#define MODEL_PROCFILE_H

#include "model/proc.h"

enum { PROCFILE_MAX_BYTES = 64 << 20, PROCFILE_MAX_RECORDS = 100000 };

struct proc_record {
    const char *proc_name, *setup_path, *pid_path, *contact;
    const char *start_cmd, *stop_cmd, *restart_cmd, *reload_cmd, *kill_cmd, *version_cmd,
        *health_cmd;
    int64_t kind; /* enum proc_kind */
    double cpu_percent, mem_percent;
    const char *user, *password, *user_pwd; /* never contain a password */
    const char *value_key;
    int64_t start_check_s, end_check_s, op_timeout_s; /* end_check_s: Job's start_check_end_time,
                                                       * otherwise stop_check_secs; 0: not given */
    int64_t op, when_s; /* last operation on the record, and its time */
};

/* Texts are those of meta and spec, or in the arena. */
void procfile_record(const struct proc_meta *meta, const struct proc_spec *spec, int64_t op,
                     int64_t when_s, struct arena *a, struct proc_record *ret);

/* The reverse. `spec` has the previous or the default values; afterwards its texts are those of the
 * record. ERR_INVALID: it names no process. */
int procfile_meta(const struct proc_record *r, struct arena *a, struct proc_meta *ret,
                  struct err *err);
void procfile_spec(const struct proc_record *r, const struct proc_meta *meta,
                   struct proc_spec *spec);

/* Whether both describe the process in the same way; author and time are ignored. */
bool procfile_same(const struct proc_record *a, const struct proc_record *b);

void procfile_write(const struct proc_record *records, size_t n, struct buf *out);

struct procfile {
    struct list records; /* struct proc_record: the valid records */
    size_t bad_n;        /* number of invalid records; `bad` has the error of the first */
    struct err bad;
};

/* -1: not a file of this format. */
int procfile_read(const char *text, size_t n, struct arena *a, struct procfile *ret,
                  struct err *err);

#endif
