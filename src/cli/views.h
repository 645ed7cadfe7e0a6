/* SPDX-License-Identifier: MIT */
/* views.h - tables of processes and results. */
#ifndef CLI_VIEWS_H
#define CLI_VIEWS_H

#include "cli/table.h"
#include "model/host.h"
#include "model/task.h"

/* A host as it is named on the command line: its address, with its cloud area unless that is 0;
 * the agent's id if there is no address. */
const char *views_host(struct arena *a, const char *agent_id, int64_t cloud_id, const char *ip);

/* Tables of processes, which the caller fills row by row and puts. */
void views_processes_init(struct table *t, bool is_local);

/* CPU is in percent of the machine, memory as "512K", "1.5M", "12G". */
bool views_has_use(const struct process_view *p);
const char *views_bytes(struct arena *a, int64_t bytes);

void views_process_add(struct table *t, enum lang lang, const struct process_view *p,
                       int64_t now_s);

/* The same for processes in a wrong state: fewer columns, to leave room for the explanation. */
void views_wrong_init(struct table *t);
void views_wrong_add(struct table *t, enum lang lang, const struct process_view *p, int64_t now_s);

/* The explanation of a process's state: the server's sentence, or ours if there is none. */
const char *views_why(struct arena *a, enum lang lang, const struct process_view *p, int64_t now_s);
enum text views_status(int64_t status);

/* A periodic process may be between two runs.  For a process on an offline host the state is
 * unknown, whatever was reported last: its sentence says so. */
enum text views_state(const struct process_view *p);

/* The wanted state, "" if it is unknown. */
const char *views_wanted(enum lang lang, const struct proc_view *v);

/* Tables of results. */
void views_items_init(struct table *t);
void views_item_add(struct table *t, enum lang lang, const struct task_item_view *item);
const char *views_item_host(struct arena *a, const struct task_item_view *item);
bool views_has_remark(
    const struct task_item_view *item); /* the operation succeeded, and its text is worth showing */

#endif
