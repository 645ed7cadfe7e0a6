/* SPDX-License-Identifier: MIT */
/* agent_files.h - files of configmaps, for the agent's own sources: what is in them, told
 * whenever it has changed.
 *
 * The folder of a file is watched, so one that is replaced, removed or made is seen.  What is
 * in it is read by a thread of its own, since a disk may be slow or dead (config_file.h).
 *
 * Where the kernel tells nothing of it (there are no watches left, the folder is not there,
 * the file is a link to one elsewhere) it is looked at once a minute. */
#ifndef AGENT_AGENT_FILES_H
#define AGENT_AGENT_FILES_H

#include "model/proc.h"

struct agent;
struct files;

struct files *files_new(struct agent *a);
void files_free(struct files *f); /* NULL is fine */

void hand_files(void *agent, const char *space, const char *name, const struct list *files);

#endif
