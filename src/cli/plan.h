/* SPDX-License-Identifier: MIT */
/* plan.h - what `holdfast import` makes of files of other supervisors: processes with their specs,
 * and a note for each setting that no spec can express.
 *
 * The formats are read by ini_file.h, unit_file.h and model/procfile.h, and mapped by
 * from_supervisord.h, from_systemd.h and from_proc.h.  Nothing here asks a server, an agent or the
 * processes of the host. */
#ifndef CLI_PLAN_H
#define CLI_PLAN_H

#include "base/mem/arena.h"
#include "cli/draft.h"
#include "cli/setting.h"
#include "cli/text.h"

enum { PLAN_PROCESSES_MAX = 10000, PLAN_FILES_MAX = 1000, PLAN_INSTANCES_MAX = 1000 };

/* What a file may refer to besides itself. */
struct plan_host {
    char *const *env; /* of this process; for %(ENV_X)s */
    const char *name; /* of the host */
    int64_t cores;
    const char *user; /* of processes whose file names none */
    const char
        *space; /* namespace of processes whose file names none; "": that of the spec's reader */
};

enum plan_note_kind {
    PLAN_LEFT_OUT, /* a setting that is not expressed */
    PLAN_REMARK,   /* something to know before the process is hosted */
};

struct plan_note {
    enum plan_note_kind kind;
    const struct setting *at; /* its value is shown, too, if it has one */
    const char *why;          /* readable */
};

/* As a reason why a setting is left out: it is not. */
#define PLAN_FINE TEXT_ABOUT

struct plan_process {
    const char *space, *name; /* space "": none */
    struct setting at;        /* where it is defined; the key is what it is called there */
    struct draft draft;
    struct buf notes; /* struct plan_note */
};

/* A process that another one waits for. */
struct plan_after {
    struct plan_process *process;
    const struct setting *at;
    const char *name;
};

struct plan {
    struct arena *arena;
    enum lang lang;
    const struct plan_host *host;
    struct buf processes; /* struct plan_process * */
    struct buf notes;     /* struct plan_note: of what is no process */
    struct buf afters;    /* struct plan_after: not looked for yet */
    struct buf files;     /* const char *: paths read so far */
};

void plan_free(struct plan *p);

size_t plan_count(const struct plan *p);
struct plan_process *plan_at(const struct plan *p, size_t i);
struct plan_process *plan_find(const struct plan *p, const char *space, const char *name);

/* A new process; NULL and an err if there is one of that name, or there are too many. */
struct plan_process *plan_add(struct plan *p, const char *space, const char *name,
                              const struct setting *at, struct err *err);
void plan_drop_last(struct plan *p); /* of which plan_add() has added last; its notes stay */

/* Notes; `process` NULL: of no process. */
void plan_left_out(struct plan *p, struct plan_process *process, const struct setting *at,
                   enum text why);
void plan_left_out_err(struct plan *p, struct plan_process *process, const struct setting *at,
                       const struct err *why);
void plan_remark(struct plan *p, struct plan_process *process, const struct setting *at,
                 enum text what, const char *const *args);
size_t plan_notes(const struct buf *notes, const struct plan_note **ret);
size_t plan_count_left_out(const struct plan *p);

/* Reads a file in whole; ERR_SYSTEM with ENOENT: there is none.  1: it was read before. */
int plan_read(struct plan *p, const char *path, size_t max, struct buf *ret, struct err *err);

/* Sets `command`, `program` and `directory` such that the agent finds the process that runs now:
 * the folder is the working directory if the program is in it, else one that the program is in.
 * `words` is a list of struct word; `directory` "": none is given. */
void plan_command(struct plan *p, struct plan_process *process, const struct setting *at,
                  const struct list *words, const char *directory, bool has_variables);

/* Adds a remark to processes that a search could not tell apart. */
void plan_check_twins(struct plan *p);

/* Reads each spec as an agent's user would, and notes one that is not valid: a command that is too
 * long, a path that is not absolute. */
void plan_check_specs(struct plan *p);

/* An integer in decimal, all of the text. */
bool plan_number(const char *text, int64_t *ret);

#endif
