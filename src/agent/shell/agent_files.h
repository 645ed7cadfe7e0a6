/* SPDX-License-Identifier: MIT */
/* agent_files.h - content of configmap files, reported whenever it changes.
 *
 * The folder of a file is watched with inotify, so replacing, removing and creating a file is
 * noticed. Workers read the content, because a user can make the read block (workers.h,
 * config_file.h). These reads have a job owner of their own: they delay neither reads of other
 * users nor commands of the same user. Where inotify does not work (no watches left, the folder
 * does not exist, the file is a link to another folder) the file is polled once a minute. */
#ifndef AGENT_SHELL_AGENT_FILES_H
#define AGENT_SHELL_AGENT_FILES_H

#include "model/proc.h"

struct agent_base;
struct files;

struct files *files_new(struct agent_base *a);
void files_free(struct files *f); /* NULL is allowed */

/* The files of a process; an empty list: none. */
void files_set(struct files *f, const char *space, const char *name, const char *user,
               const struct list *files);

/* Reads the files of this process again, also those that seem unchanged. */
void files_again(struct files *f, const char *space, const char *name);

#endif
