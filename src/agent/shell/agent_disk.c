/* SPDX-License-Identifier: MIT */
/* agent_disk.c - see agent_disk.h. The records are those of the core, the boot id they belong to,
 * and the digest of .proc.
 *
 * Durable records are synced by another thread; records that arrive during a sync share the next
 * one. After a failure the file may not contain what the core assumes. So nothing more is written
 * to it, and a compaction creates a new file with all live records. Until the compaction succeeds
 * no mark is reported, so commands that wait for a mark are neither accepted nor run. */
#include "agent/shell/agent_disk.h"

#include <stdlib.h>
#include <string.h>

#include "agent/persist/record.h"
#include "agent/shell/agent_base.h"
#include "agent/shell/agent_effect.h"
#include "agent/shell/agent_proc.h"
#include "agent/shell/job_thread.h"
#include "agent/supervise/core.h"
#include "base/io/log.h"
#include "base/io/loop.h"
#include "base/mem/buf.h"
#include "base/mem/mem.h"

enum {
    COMPACT_BYTES = 4 << 20,
    COMPACT_TIMES = 4,
    BUSY_BYTES = 16 << 20,
    RETRY_MS = 1000,
    RETRY_MAX_MS = 30 * 1000
};

/* ---- writing */

static void break_off(struct disk *d, const struct err *err)
{
    struct agent_base *a = d->agent;

    d->is_broken = true;
    d->wants_sync = false;
    d->retry_ms = RETRY_MS;
    timer_set(a->loop, &d->retry, d->retry_ms);
    LOG(a->log, LOG_ERROR,
        "the journal can not be written: commands wait until it can, hosted processes are kept "
        "alive; make room on the disk",
        log_err(err));
}

uint64_t disk_journal(void *disk, unsigned type, const struct shape *s, const void *record,
                      bool durable)
{
    struct disk *d = disk;
    struct buf body = { 0 };

    shape_write(s, record, &body);
    if (body.len > RECORD_BODY_MAX)
        LOG(d->agent->log, LOG_ERROR, "a record too large for the journal was left out",
            log_str("record", s->name), log_int("bytes", (int64_t)body.len));
    else if (d->writer)
        journal_put(d->writer, (uint8_t)type, buf_data(&body), body.len);
    else if (!d->is_broken)
        (void)journal_append(d->journal, (uint8_t)type, buf_data(&body), body.len);
    buf_free(&body);
    if (d->writer)
        return d->records;
    d->wants_sync |= durable && !d->is_broken;
    return ++d->records;
}

int disk_flush(struct disk *d)
{
    struct err err;

    if (d->is_broken)
        return -1;
    if (!journal_flush(d->journal, &err))
        return 0;
    break_off(d, &err);
    return -1;
}

/* ---- compaction */

static void put_live(void *disk, struct journal_writer *w)
{
    struct disk *d = disk;
    struct agent_base *a = d->agent;

    journal_put(w, RECORD_BOOT, a->boot_id, strlen(a->boot_id));
    d->writer = w;
    core_compact(a->core);
    proc_journal(d->proc);
    d->writer = NULL;
}

static int compact(struct disk *d, struct err *err)
{
    struct agent_base *a = d->agent;

    (void)proc_begin(d->proc, true); /* with `true` it does not delay */
    if (journal_compact(d->journal, put_live, d, err))
        return -1;
    d->live_bytes = journal_size_bytes(d->journal);
    d->wants_sync = false;
    proc_end(d->proc);
    core_on_durable(a->core, d->records, agent_now_ms(a));
    agent_wake(a);
    return 0;
}

static void on_retry(void *disk)
{
    struct disk *d = disk;
    struct agent_base *a = d->agent;
    struct err err;

    if (d->is_syncing || compact(d, &err)) {
        d->retry_ms = 2 * d->retry_ms < RETRY_MAX_MS ? 2 * d->retry_ms : RETRY_MAX_MS;
        timer_set(a->loop, &d->retry, d->retry_ms);
        return;
    }
    d->is_broken = false;
    LOG(a->log, LOG_INFO, "the journal can be written again");
}

/* A busy agent may let the journal grow a while longer: a compaction would delay the work, and
 * would write records that are obsolete when it ends. */
static bool is_large(const struct disk *d)
{
    uint64_t most = COMPACT_TIMES * d->live_bytes;

    most = most > COMPACT_BYTES ? most : COMPACT_BYTES;
    return journal_size_bytes(d->journal) > most + (effects_are_busy(d->effects) ? BUSY_BYTES : 0);
}

static void compact_if_large(struct disk *d)
{
    struct agent_base *a = d->agent;
    struct err err;

    if (d->is_broken || d->is_syncing || loop_now_ms(a->loop) < d->compact_ms || !is_large(d))
        return;
    if (!compact(d, &err))
        return;
    d->compact_ms = loop_now_ms(a->loop) + RETRY_MAX_MS;
    LOG(a->log, LOG_WARN,
        "the journal can not be made smaller, and grows on; make room on the disk", log_err(&err));
}

/* ---- syncs */

struct sync_job {
    struct job job;
    struct disk *disk;
    struct journal_sync sync;
};

static void run_sync(struct job *job)
{
    journal_sync_run(&((struct sync_job *)job)->sync);
}

/* While the journal is broken, records appended after this mark are lost: only this mark is
 * durable. */
static void end_sync(struct disk *d, const struct journal_sync *s)
{
    struct agent_base *a = d->agent;
    struct err err;

    d->is_syncing = false;
    if (journal_sync_end(d->journal, s, &err)) {
        if (!d->is_broken)
            break_off(d, &err);
        return;
    }
    if (a->is_closing)
        return;
    proc_end(d->proc);
    core_on_durable(a->core, d->sync_mark, agent_now_ms(a));
    agent_wake(a);
}

static void on_sync(struct job *job)
{
    struct sync_job *s = (struct sync_job *)job;

    end_sync(s->disk, &s->sync);
    free(s);
}

void disk_settle(struct disk *d)
{
    struct sync_job *job;
    struct err err;

    compact_if_large(d);
    if (disk_flush(d) || d->is_syncing || !proc_begin(d->proc, false) || !d->wants_sync)
        return;
    job = xalloc(sizeof(*job));
    *job = (struct sync_job){ { .work = run_sync, .done = on_sync }, d };
    d->wants_sync = false;
    if (journal_sync_begin(d->journal, &job->sync, &err)) {
        free(job);
        break_off(d, &err);
        return;
    }
    d->is_syncing = true;
    d->sync_mark = d->records;
    (void)job_thread_do(d->syncs, &job->job); /* there is always room for the only sync */
}

int disk_sync(struct disk *d)
{
    struct err ignored; /* retried until the journal is written or time is up */

    return disk_flush(d) || journal_sync(d->journal, INT64_MAX, &ignored) ? -1 : 0;
}

bool disk_is_waiting(const struct disk *d)
{
    return d->is_broken || d->is_syncing;
}

int64_t disk_size_bytes(const struct disk *d)
{
    return d->journal ? (int64_t)journal_size_bytes(d->journal) : 0;
}

/* ---- start */

static int on_record(void *disk, uint8_t type, const char *body, size_t n, struct err *err)
{
    struct disk *d = disk;

    if (type == RECORD_PROC_FILE)
        return proc_replay(d->proc, body, n, err);
    if (type != RECORD_BOOT)
        return core_replay(d->agent->core, type, body, n, err);
    n = n < BOOT_ID_SIZE ? n : BOOT_ID_SIZE - 1;
    memcpy(d->boot_id, body, n);
    d->boot_id[n] = '\0';
    return 0;
}

void disk_init(struct disk *d, struct agent_base *a, const struct effects *effects,
               struct proc_file *proc)
{
    d->agent = a;
    d->effects = effects;
    d->proc = proc;
    timer_init(&d->retry, on_retry, d);
}

int disk_open(struct disk *d, struct err *err)
{
    char *path = xprintf("%s/journal", d->agent->dir);
    struct journal_report report;
    int result;

    result = journal_open(path, on_record, d, &d->journal, &report, err);
    if (result && err->code == ERR_MALFORMED)
        err_set(err, ERR_MALFORMED,
                "%s; nothing was changed: put back a good copy, or move the file away and begin "
                "anew, not knowing what is hosted here",
                err_msg(err));
    if (!result && report.torn_bytes)
        LOG(d->agent->log, LOG_WARN, "the journal's end, torn by a crash, was cut off",
            log_str("file", path), log_int("at", (int64_t)report.torn_at),
            log_int("bytes", (int64_t)report.torn_bytes));
    free(path);
    return result;
}

/* A journal of another boot names processes of that boot. It is replaced atomically by one with the
 * current boot id. */
void disk_start(struct disk *d, bool same_boot)
{
    struct err err;

    d->live_bytes = COMPACT_BYTES / COMPACT_TIMES;
    d->is_started = true;
    if (!same_boot && compact(d, &err))
        break_off(d, &err);
}

void disk_close(struct disk *d)
{
    struct agent_base *a = d->agent;
    struct err err;

    if (d->is_started)
        (void)proc_begin(d->proc,
                         true); /* so that an editor of the file finds all processes in it */
    if (d->journal && !d->is_broken && !disk_flush(d)) {
        if (journal_sync(d->journal, INT64_MAX, &err))
            LOG(a->log, LOG_ERROR, "the journal's end may be lost", log_err(&err));
        else
            proc_stop(d->proc);
        (void)disk_flush(d); /* records of the rename of .proc */
    }
    timer_stop(a->loop, &d->retry);
    journal_close(d->journal);
}
