/* SPDX-License-Identifier: MIT */
/* from_proc.h - maps the list of hosted processes of GSE's agent, `.proc`, to specs. */
#ifndef CLI_FROM_PROC_H
#define CLI_FROM_PROC_H

#include "cli/plan.h"

/* Adds its processes.  Fails if the file cannot be read, or is not a file of this kind. */
int from_proc(struct plan *p, const char *path, struct err *err);

/* The same of a text. */
int from_proc_text(struct plan *p, const char *path, const char *text, size_t n, struct err *err);

#endif
