/* SPDX-License-Identifier: MIT */
/* shapes.c - see shapes.h.  A new exported shape is one line here. */
#include "model/shapes.h"

#include <stddef.h>

#include "model/job.h"
#include "model/proc.h"

const struct shape *const model_shapes[] = {
    &host_ref_shape,     &job_operate_shape,   &proc_meta_shape, &proc_operate_batch_shape,
    &proc_operate_shape, &proc_register_shape, &proc_spec_shape, NULL,
};
