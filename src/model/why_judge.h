/* SPDX-License-Identifier: MIT */
/* why_judge.h - what the facts of why.h mean, before any word is said of them; for
 * why_write.c, which says it. */
#ifndef MODEL_WHY_JUDGE_H
#define MODEL_WHY_JUDGE_H

#include <stdbool.h>

#include "model/view.h"

/* Something is done to it that changes it. */
bool why_is_in_work(const struct proc_cause *c);

/* The last operation, and that counts still: it is not older than how it is now. */
bool why_has_failed(const struct proc_cause *c);
bool why_failure_stands(const struct proc_view *v);

bool why_is_forbidden(const struct proc_view *v);
bool why_is_finished(const struct proc_view *v);
bool why_is_periodic(const struct proc_view *v);
bool why_misses_instances(const struct proc_view *v);

#endif
