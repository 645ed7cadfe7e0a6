/* SPDX-License-Identifier: MIT */
/* extra.h - the block `holdfast` of a spec: what BlueKing's documents have no word
 * for.  All of it is optional; others ignore it. */
#ifndef MODEL_EXTRA_H
#define MODEL_EXTRA_H

#include <stdint.h>

#include "wire/shape.h"

struct proc_env {
    const char *key, *value;
};

struct proc_extra {
    int64_t stop_signal; /* where stop_cmd is empty */
    struct list env;     /* struct proc_env: for every command of the process */
    bool keep_trying;    /* start_retries does not count: it is pulled up for ever */
    int64_t instances;   /* how many processes are expected; 0 or 1: one */
};

extern const struct shape proc_extra_shape;

#endif
