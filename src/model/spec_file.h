/* SPDX-License-Identifier: MIT */
/* spec_file.h - reads files of specs: YAML, or JSON if the name ends in ".json"; one spec, or
 * several in a list `processes`; short form or long. */
#ifndef MODEL_SPEC_FILE_H
#define MODEL_SPEC_FILE_H

#include "model/short_spec.h"

/* A process of a file, as it is sent. */
struct spec_process {
    struct proc_meta meta;
    struct proc_spec spec;
    const char *path; /* of the file */
};

/* The only process of the file.  Errors begin with the path, in YAML also with the line. */
int spec_file_read_one(const char *path, const struct short_context *context, struct arena *a,
                       struct spec_process *ret, struct err *err);

/* All processes of the file, as struct spec_process. */
int spec_file_read_all(const char *path, const struct short_context *context, struct arena *a,
                       struct list *ret, struct err *err);

/* The same for a text that was read already. */
int spec_file_read_text(const char *path, struct buf *text, const struct short_context *context,
                        struct arena *a, struct list *ret, struct err *err);

/* Default of `user` on this host: the caller's account; "" for root, which has to be named. */
const char *spec_file_user(struct arena *a);

#endif
