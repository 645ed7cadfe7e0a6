/* SPDX-License-Identifier: MIT */
/* policy.h - restrictions of this host that apply to every server request: users that a process may
 * have; folders that setup_path, pid_path and env_file must be in; with `commands: under_prefix`
 * also the folders of every program, run as plain words without a shell, and no variable that makes
 * a program run something else. Only the latter protects against a compromised server: a shell line
 * can do anything that its user can. Paths are compared after resolving all symbolic links
 * (place.h), so `..` and links can not bypass the check. Reads the file system and may block. */
#ifndef AGENT_CONFINE_POLICY_H
#define AGENT_CONFINE_POLICY_H

#include "base/mem/arena.h"
#include "base/text/err.h"
#include "model/proc.h"

enum policy_commands { COMMANDS_ANY, COMMANDS_UNDER_PREFIX };

struct policy {
    struct list users;   /* struct proc_word; empty: all */
    struct list paths;   /* struct proc_word: absolute; empty: all */
    int64_t commands;    /* enum policy_commands */
    const char *pid_dir; /* where the agent keeps pid files: paths do not apply to those; or NULL */
};

extern const struct shape policy_settings_shape;

/* Validates the policy: ERR_INVALID, with the name of the setting. */
int policy_check(const struct policy *p, struct err *err);
void policy_copy(const struct policy *from, struct arena *a, struct policy *ret);

/* CODE_DENIED: the text says what is refused and by which setting. `line` "": checks the process
 * itself: user, paths and environment; otherwise only that command of it. */
int policy_allow(const struct policy *p, const struct proc_spec *spec, const char *line,
                 struct err *err);

/* The checks without file system access: user and environment. */
int policy_allow_user(const struct policy *p, const struct proc_spec *spec, struct err *err);

/* A variable of a command; `where`: its source, for the text. */
int policy_allow_variable(const struct policy *p, const char *name, const char *where,
                          struct err *err);

#endif
