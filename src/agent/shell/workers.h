/* SPDX-License-Identifier: MIT */
/* workers.h - threads for work that a managed user can block.
 *
 * A lease on a file, a FUSE or NFS folder that does not answer, a child stopped before exec:
 * opening a path of a user or waiting for one of the user's processes may block as long as that
 * user likes. Such work is a job: a thread does it, and the loop gets it back.
 *
 * Two threads do the work while jobs are quick. A thread whose job takes longer than
 * WORKERS_SLOW_MS is not counted any more, and another thread is started in its place. Every job
 * has an owner, the user whose paths it opens. At most WORKERS_PER_OWNER jobs of an owner run at a
 * time. So an owner whose jobs hang occupies that many threads, and delays the jobs of others by
 * two WORKERS_SLOW_MS at most. A job of an owner without a running job comes before those of other
 * owners, however many of these wait. */
#ifndef AGENT_SHELL_WORKERS_H
#define AGENT_SHELL_WORKERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "agent/exec/spawn.h"
#include "base/io/loop.h"
#include "base/io/queue.h"
#include "base/text/err.h"

enum {
    WORKERS_PER_OWNER = 2,
    WORKERS_MAX = 256,    /* threads; a hanging one costs about 20 KB */
    WORKERS_SLOW_MS = 15, /* a start takes 0.3 ms */
    WORKERS_ROOM = 24,    /* jobs of an owner not returned yet */

    /* workers_put_and_wait(): longest wait per WORKERS_WAIT_EACH_MS, for all owners together. After
     * a job that took longer than WORKERS_SLOW_MS it does not wait for the same owner until
     * WORKERS_NO_WAIT_MS have passed. */
    WORKERS_WAIT_MS = 45,
    WORKERS_WAIT_EACH_MS = 1000,
    WORKERS_NO_WAIT_MS = 60 * 1000,
};

struct worker_owner;
struct workers;

/* Embedded in the caller's struct. The caller sets work, done and arg. */
struct worker_job {
    struct queue_node node; /* in the queue of returned jobs */
    TAILQ_ENTRY(worker_job) link;
    void (*work)(struct worker_job *job, struct spawner *s); /* called on a thread */
    void (*done)(struct worker_job *job); /* called on the loop; may free the job */
    void *arg;
    struct worker_owner *owner;
    int64_t began_ms; /* read it by workers_began_ms() */
    bool is_waited_for, has_ended;
};

/* `s` is copied for every thread and must live as long as the workers. */
int workers_new(struct loop *loop, const struct spawner *s, struct workers **ret, struct err *err);

/* Waits until all jobs have returned, wait_ms at most. False: some hang, and nothing is freed,
 * because the threads still use it; the call may be repeated. NULL is allowed. */
bool workers_free(struct workers *w, int64_t wait_ms);

/* False while WORKERS_ROOM jobs of this owner have not returned: further jobs would only wait. */
bool workers_have_room(const struct workers *w, const char *owner);
void workers_put(struct workers *w, const char *owner, struct worker_job *job);

/* For an answer that is needed at once: the loop waits for it within the limits above, and not at
 * all if the owner has no room or a slow job. True: work() has returned. In any case done() is
 * called later; at once if the job was not even started. */
bool workers_put_and_wait(struct workers *w, const char *owner, struct worker_job *job);

/* Whether a job of this owner is slow at the moment. */
bool workers_are_slow(struct workers *w, const char *owner);

/* Whether any job has not returned: a thread may hang in it. */
bool workers_have_jobs(const struct workers *w);

/* For shutdown: queued jobs are not started. */
void workers_begin_no_more(struct workers *w);

/* True: the job had not started and belongs to the caller again; done() is not called. */
bool workers_take_back(struct workers *w, struct worker_job *job);
int64_t workers_began_ms(struct workers *w, const struct worker_job *job); /* 0: not yet */
void workers_collect(struct workers *w); /* calls done() of all returned jobs */

#endif
