/* SPDX-License-Identifier: MIT */
/* why_judge.h - what the facts of cause.h mean; why_write.c puts it into words. */
#ifndef MODEL_WHY_JUDGE_H
#define MODEL_WHY_JUDGE_H

#include <stdbool.h>

#include "model/view.h"

/* An operation that changes the process is in progress. */
bool why_is_in_work(const struct proc_cause *c);

/* Whether the last operation failed, and whether that failure is newer than the last start or
 * exit. */
bool why_has_failed(const struct proc_cause *c);
bool why_failure_stands(const struct proc_view *v);

bool why_is_forbidden(const struct proc_view *v);
bool why_is_finished(const struct proc_view *v);
bool why_is_periodic(const struct proc_view *v);
bool why_misses_instances(const struct proc_view *v);

bool why_is_used_up(const struct proc_cause *c); /* all restarts are used up */

/* It was restarted WHY_FLAPPING times or more in 10 minutes, and the last time is not 10 minutes
 * ago. The agent sets recent_restarts to 0 then, but may not have said so yet. */
enum { WHY_FLAPPING = 5, WHY_FLAPPING_S = 600 };
bool why_is_flapping(const struct proc_cause *c, int64_t now_s);

/* Whether an operator should look at it: the status is not as wanted, or a failure still
 * matters. */
bool why_is_trouble(const struct proc_view *v);

#endif
