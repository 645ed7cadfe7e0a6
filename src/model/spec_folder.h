/* SPDX-License-Identifier: MIT */
/* spec_folder.h - a folder of spec files: all processes of its *.yaml, *.yml and *.json files.
 *
 * What is in it runs as any user, so folder and files must belong to root (or to us) and be
 * writable by their owner alone.  A file that is wrong, or a name that two files have, makes the
 * whole folder unreadable: half a folder would look like processes that were removed. */
#ifndef MODEL_SPEC_FOLDER_H
#define MODEL_SPEC_FOLDER_H

#include "model/spec_file.h"

#define SPEC_FOLDER "/etc/holdfast/processes.d"

/* The path in its one form: without slashes that stand twice or at the end. */
const char *spec_folder_path(const char *path, struct arena *a);

/* Returns struct spec_process sorted by namespace and name, each with spec.extra.source set to
 * `path`, which must be absolute and in its one form.  A missing folder is ERR_SYSTEM with ENOENT.
 */
int spec_folder_read(const char *path, const struct short_context *context, struct arena *a,
                     struct list *ret, struct err *err);

#endif
