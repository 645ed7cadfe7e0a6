/* SPDX-License-Identifier: MIT */
/* agent_disk.c - the journal: records of the core, and the boot they are of.
 *
 * What is durable is synced by the other thread, all that came meanwhile in one go.
 * After any failure the file can not be trusted to hold what the core believes, so
 * nothing more is written to it, and the way back is a compaction: a new file with
 * all that is live.  Until it succeeds no mark is reported, so no command that waits
 * for one is taken or run. */
#include <stdlib.h>
#include <string.h>

#include "agent/agent_in.h"
#include "base/mem.h"

enum {
    COMPACT_BYTES = 4 << 20,
    COMPACT_TIMES = 4,
    BUSY_BYTES = 16 << 20,
    RETRY_MS = 1000,
    RETRY_MAX_MS = 30 * 1000
};

/* ---- writing */

static void break_off(struct agent *a, const struct err *err)
{
    struct disk *d = &a->disk;

    d->is_broken = true;
    d->wants_sync = false;
    d->retry_ms = RETRY_MS;
    timer_set(a->loop, &d->retry, d->retry_ms);
    LOG(a->log, LOG_ERROR,
        "the journal can not be written: commands wait until it can, hosted processes are kept "
        "alive; make room on the disk",
        log_err(err));
}

uint64_t hand_journal(void *agent, unsigned type, const struct shape *s, const void *record,
                      bool durable)
{
    struct agent *a = agent;
    struct disk *d = &a->disk;
    struct buf body = { 0 };

    shape_write(s, record, &body);
    if (body.len > RECORD_BODY_MAX)
        LOG(a->log, LOG_ERROR, "a record too large for the journal was left out",
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

int disk_flush(struct agent *a)
{
    struct err err;

    if (a->disk.is_broken)
        return -1;
    if (!journal_flush(a->disk.journal, &err))
        return 0;
    break_off(a, &err);
    return -1;
}

/* ---- compaction */

static void put_live(void *agent, struct journal_writer *w)
{
    struct agent *a = agent;

    journal_put(w, RECORD_BOOT, a->boot_id, strlen(a->boot_id));
    a->disk.writer = w;
    core_compact(a->core);
    proc_book(a);
    a->disk.writer = NULL;
}

static int compact(struct agent *a, struct err *err)
{
    struct disk *d = &a->disk;

    (void)proc_begin(a, true); /* it waits for nothing */
    if (journal_compact(d->journal, put_live, a, err))
        return -1;
    d->live_bytes = journal_size_bytes(d->journal);
    d->wants_sync = false;
    proc_end(a);
    core_on_durable(a->core, d->records, agent_now_ms(a));
    agent_wake(a);
    return 0;
}

static void on_retry(void *agent)
{
    struct agent *a = agent;
    struct disk *d = &a->disk;
    struct err err;

    if (d->is_syncing || compact(a, &err)) {
        d->retry_ms = 2 * d->retry_ms < RETRY_MAX_MS ? 2 * d->retry_ms : RETRY_MAX_MS;
        timer_set(a->loop, &d->retry, d->retry_ms);
        return;
    }
    d->is_broken = false;
    LOG(a->log, LOG_INFO, "the journal can be written again");
}

/* While there is much to do it may grow a while longer: a compaction would hold all that up,
 * and write what is live now and is not when it is done. */
static bool is_large(const struct agent *a)
{
    uint64_t most = COMPACT_TIMES * a->disk.live_bytes;

    most = most > COMPACT_BYTES ? most : COMPACT_BYTES;
    return journal_size_bytes(a->disk.journal) > most + (agent_is_busy(a) ? BUSY_BYTES : 0);
}

static void compact_if_large(struct agent *a)
{
    struct disk *d = &a->disk;
    struct err err;

    if (d->is_broken || d->is_syncing || !is_large(a))
        return;
    if (compact(a, &err))
        break_off(a, &err);
}

/* ---- syncs */

void disk_settle(struct agent *a)
{
    struct disk *d = &a->disk;
    struct job *job;
    struct err err;

    compact_if_large(a);
    if (disk_flush(a) || d->is_syncing || !proc_begin(a, false) || !d->wants_sync)
        return;
    job = xalloc(sizeof(*job));
    d->wants_sync = false;
    if (journal_sync_begin(d->journal, &job->sync, &err)) {
        free(job);
        break_off(a, &err);
        return;
    }
    d->is_syncing = true;
    d->sync_mark = d->records;
    (void)help_do(a->syncs, job); /* there is always room for the one sync */
}

/* While it is broken, what was appended since has gone: only this much is sure. */
void disk_on_sync(struct agent *a, const struct journal_sync *s)
{
    struct disk *d = &a->disk;
    struct err err;

    d->is_syncing = false;
    if (journal_sync_end(d->journal, s, &err)) {
        if (!d->is_broken)
            break_off(a, &err);
        return;
    }
    if (d->is_closing)
        return; /* what begins now would not be carried out */
    proc_end(a);
    core_on_durable(a->core, d->sync_mark, agent_now_ms(a));
    agent_wake(a);
}

/* ---- its life */

static int on_record(void *agent, uint8_t type, const char *body, size_t n, struct err *err)
{
    struct agent *a = agent;

    if (type == RECORD_PROC_FILE)
        return proc_replay(a, body, n, err);
    if (type != RECORD_BOOT)
        return core_replay(a->core, type, body, n, err);
    n = n < BOOT_ID_SIZE ? n : BOOT_ID_SIZE - 1;
    memcpy(a->disk.boot_id, body, n);
    a->disk.boot_id[n] = '\0';
    return 0;
}

int disk_open(struct agent *a, struct err *err)
{
    char *path = xprintf("%s/journal", a->o.dir);
    struct journal_report report;
    int result;

    timer_init(&a->disk.retry, on_retry, a);
    result = journal_open(path, on_record, a, &a->disk.journal, &report, err);
    if (result && err->code == ERR_MALFORMED)
        err_set(err, ERR_MALFORMED,
                "%s; nothing was changed: put back a good copy, or move the file away and begin "
                "anew, not knowing what is hosted here",
                err->text);
    if (!result && report.torn_bytes)
        LOG(a->log, LOG_WARN, "the journal's end, torn by a crash, was cut off",
            log_str("file", path), log_int("at", (int64_t)report.torn_at),
            log_int("bytes", (int64_t)report.torn_bytes));
    free(path);
    return result;
}

/* Another boot's journal names processes of that boot, so it is written anew, in one
 * step, with the boot of what is in it. */
void disk_start(struct agent *a, bool same_boot)
{
    struct err err;

    a->disk.live_bytes = COMPACT_BYTES / COMPACT_TIMES;
    a->disk.is_started = true;
    if (!same_boot && compact(a, &err))
        break_off(a, &err);
}

void disk_close(struct agent *a)
{
    struct disk *d = &a->disk;
    struct err err;

    if (d->is_started)
        (void)proc_begin(a, true); /* whoever edits the file now finds all in it */
    if (d->journal && !d->is_broken && !disk_flush(a)) {
        if (journal_sync(d->journal, INT64_MAX, &err))
            LOG(a->log, LOG_ERROR, "the journal's end may be lost", log_err(&err));
        else
            proc_stop(a);
        (void)disk_flush(a); /* that it was renamed; else it was perhaps */
    }
    timer_stop(a->loop, &d->retry);
    journal_close(d->journal);
}
