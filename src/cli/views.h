/* SPDX-License-Identifier: MIT */
/* views.h - processes and results as rows of tables. */
#ifndef CLI_VIEWS_H
#define CLI_VIEWS_H

#include "cli/table.h"
#include "model/host.h"
#include "model/task.h"

/* A host as it is named on the command line: its address, and its cloud area unless
 * that is 0; its agent's id if there is no address. */
const char *views_host(struct arena *a, const char *agent_id, int64_t cloud_id, const char *ip);

/* Tables of processes, which the caller fills row by row and puts. */
void views_processes_init(struct table *t);
void views_process_add(struct table *t, enum lang lang, const struct process_view *p,
                       int64_t now_s);

/* The same of those that are not as wanted: fewer columns, to leave room for why. */
void views_wrong_init(struct table *t);
void views_wrong_add(struct table *t, enum lang lang, const struct process_view *p, int64_t now_s);

/* What is said of one: the server's sentence, or ours where there is none. */
const char *views_why(struct arena *a, enum lang lang, const struct process_view *p, int64_t now_s);
enum text views_status(int64_t status);

/* A periodic one may be between two runs; of one whose host is away nobody knows, whatever was
 * heard of it last: that is said by its sentence. */
enum text views_state(const struct process_view *p);

/* Tables of results. */
void views_items_init(struct table *t);
void views_item_add(struct table *t, enum lang lang, const struct task_item_view *item);
const char *views_item_host(struct arena *a, const struct task_item_view *item);

#endif
