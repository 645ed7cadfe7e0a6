/* SPDX-License-Identifier: MIT */
/* short_spec.h - a spec as people write it.  Required are a name and a command:
 *
 *     name: shop/web
 *     command: /opt/web/bin/web --port 8080
 *     user: www-data
 *
 * The short form has one level: words of its own for the commands and the identity, and the fields
 * of the policy and of the block `holdfast` by their names.  It is read into this struct and
 * becomes a struct proc_spec; nothing else knows it.  The blocks of the long form (`identity`,
 * `control` and so on) may stand in the same file, but a block and short words for the same thing
 * exclude each other.  BlueKing's calls take only the long form. */
#ifndef MODEL_SHORT_SPEC_H
#define MODEL_SHORT_SPEC_H

#include "model/proc.h"

enum short_restart {
    RESTART_UNSET,
    RESTART_ALWAYS,     /* keep_trying */
    RESTART_ON_FAILURE, /* keep_trying, and exit code 0 is an end as expected */
    RESTART_NEVER,      /* start_retries 0 */
};

struct short_limits {
    const char *cpu, *memory; /* "50%"; memory also "512M" */
};

struct short_spec {
    struct proc_spec spec;    /* the blocks of the long form */
    const char *name, *space; /* name: "NAME" or "NAMESPACE/NAME" */
    struct list labels;       /* struct proc_label */
    struct proc_control control;
    const char *user, *program, *directory, *pid_file;
    int64_t restart; /* enum short_restart */
    const char *schedule;
    struct short_limits limits;
    struct proc_policy policy;
    struct proc_extra extra;
};

struct short_spec_list {
    struct list processes; /* struct short_spec */
};

/* What the text does not say. */
struct short_context {
    const char *space, *name; /* of the command line or the request; "": the text has to say it */
    const char *user;         /* the default; "": the text has to say it */
    const char *pid_dir;      /* for pid files that the agent keeps */
};

#define SHORT_SPACE   "default" /* the namespace of a name without one */
#define SHORT_PID_DIR "/run/holdfast"

/* Sets *ret_meta and *ret, whose texts are in the arena or in *s.  On failure the error begins with
 * the field. */
int short_spec_expand(const struct short_spec *s, const struct short_context *context,
                      struct arena *a, struct proc_meta *ret_meta, struct proc_spec *ret,
                      struct err *err);

/* The program that a command line begins with, as it is written there; "": not known, because the
 * line is the shell's. */
const char *short_spec_program(const char *command, struct arena *a);

extern const struct shape short_spec_shape, short_spec_list_shape;

#endif
