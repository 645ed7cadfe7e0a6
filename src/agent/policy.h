/* SPDX-License-Identifier: MIT */
/* policy.h - what may be done on this host, whatever a server says.
 *
 * Users a process may have; folders that setup_path, pid_path and env_file must lie in; and
 * with `commands: under_prefix` also every program that is run, as plain words without a
 * shell, and no variable that makes a program run something else.  Only the latter holds
 * against a server that was broken into: a shell line can do anything that its user can.
 *
 * Paths count as they are once every symlink is followed (place.h), so that `..` and links
 * lead nowhere.  Looks at the disk, and may block as long as that does. */
#ifndef AGENT_POLICY_H
#define AGENT_POLICY_H

#include "base/arena.h"
#include "base/err.h"
#include "model/proc.h"

enum policy_commands { COMMANDS_ANY, COMMANDS_UNDER_PREFIX };

struct policy {
    struct list users; /* struct proc_word; none: all */
    struct list paths; /* struct proc_word: absolute; none: all */
    int64_t commands;  /* enum policy_commands */
};

extern const struct shape policy_settings_shape;

/* Whether it makes sense: ERR_INVALID, by the names of the settings. */
int policy_check(const struct policy *p, struct err *err);
void policy_copy(const struct policy *from, struct arena *a, struct policy *ret);

/* CODE_DENIED, and what is refused, by which setting.  `line` "": the process itself, its
 * user, paths and environment; else that command of it, and nothing else. */
int policy_allow(const struct policy *p, const struct proc_spec *spec, const char *line,
                 struct err *err);

/* A variable that a command shall have; `where`: what it stands in. */
int policy_allow_variable(const struct policy *p, const char *name, const char *where,
                          struct err *err);

#endif
