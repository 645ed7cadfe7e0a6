/* SPDX-License-Identifier: MIT */
/* job_thread.h - a thread for blocking jobs: syncs of the journal, and user look-ups, which may use
 * the network. A job belongs to the thread from job_thread_do() until done(), which the loop calls
 * and which frees it. */
#ifndef AGENT_SHELL_JOB_THREAD_H
#define AGENT_SHELL_JOB_THREAD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/io/loop.h"
#include "base/io/queue.h"
#include "base/text/err.h"

struct job_thread;

/* The first member of the caller's struct. */
struct job {
    struct queue_node node;
    void (*work)(struct job *job); /* on the thread */
    void (*done)(struct job *job); /* on the loop */
};

int job_thread_new(struct loop *loop, struct job_thread **ret, struct err *err);
/* Like job_thread_free(), but after this time a thread that hangs (a dead disk) is abandoned
 * together with the data it uses. NULL is allowed. */
void job_thread_leave(struct job_thread *h, int64_t wait_ms);
/* Waits for the queued jobs and returns them. NULL is allowed. */
void job_thread_free(struct job_thread *h);
/* False: the queue is full; the job stays with the caller. */
bool job_thread_do(struct job_thread *h, struct job *job);

#endif
