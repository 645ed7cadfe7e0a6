/* SPDX-License-Identifier: MIT */
/* shapes.c - see shapes.h.  A new exported shape is one line here. */
#include "model/shapes.h"

#include <stddef.h>

#include "model/app.h"
#include "model/group.h"
#include "model/host.h"
#include "model/job.h"
#include "model/log.h"
#include "model/proc.h"
#include "model/task.h"

/* clang-format off */
const struct shape *const model_shapes[] = {
    &app_ask_shape,
    &app_page_shape,
    &app_permissions_shape,
    &app_view_shape,
    &host_page_shape,
    &host_ref_shape,
    &host_remove_ask_shape,
    &host_view_shape,
    &job_operate_shape,
    &log_ask_shape,
    &log_view_shape,
    &operation_ask_shape,
    &operation_view_shape,
    &page_ask_shape,
    &proc_group_shape,
    &proc_meta_shape,
    &proc_operate_batch_shape,
    &proc_operate_shape,
    &proc_register_shape,
    &proc_spec_shape,
    &process_ask_shape,
    &process_page_shape,
    &process_view_shape,
    &status_view_shape,
    &task_item_view_shape,
    &task_ref_shape,
    &task_view_shape,
    &token_ask_shape,
    &token_view_shape,
    NULL,
};
/* clang-format on */
