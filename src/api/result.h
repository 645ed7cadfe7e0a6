/* SPDX-License-Identifier: MIT */
/* result.h - what became of a task, by key, for the APIs that show it so. */
#ifndef API_RESULT_H
#define API_RESULT_H

#include "api/call.h"
#include "api/content.h"

/* Appends {"KEY":{"error_code":...},...}: every key of the task, once. */
void result_map_write(const struct call *c, const struct task_info *task, enum content_kind kind,
                      struct buf *out);

#endif
