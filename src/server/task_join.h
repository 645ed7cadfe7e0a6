/* SPDX-License-Identifier: MIT */
/* task_join.h - a client that got no answer asks again, word for word: it is given the
 * task it already has, as long as that has not ended and nobody has asked for something
 * else of one of its processes since.  Not one that asks with a key: that never joins.  Not for
 * others than the sources of tasks.h. */
#ifndef SERVER_TASK_JOIN_H
#define SERVER_TASK_JOIN_H

#include "store/store_tasks.h"
#include "wire/digest.h"

struct live;
struct tasks;

/* Of what was asked, not of what came of it: so it is the same for a task that was
 * loaded. */
void join_digest(const struct task_create_ask *rows, char to[DIGEST_TEXT_SIZE]);
struct live *join_find(struct tasks *t, const char *digest); /* NULL if there is none */

/* From when it is asked for to its end.  `rows`: its items, struct task_item_row.  What they are
 * to make known is found by task_coming.h. */
void join_add(struct live *live, const struct list *rows);
void join_drop(struct live *live); /* again is fine */

#endif
