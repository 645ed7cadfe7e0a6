/* SPDX-License-Identifier: MIT */
/* result.h - the results of a task by key. */
#ifndef API_GSE_RESULT_H
#define API_GSE_RESULT_H

#include "api/gse/content.h"
#include "api/pipeline/call.h"

/* Appends {"KEY":{"error_code":...},...} with every key of the task once. */
void result_map_write(const struct call *c, const struct task_info *task, enum content_kind kind,
                      struct buf *out);

#endif
