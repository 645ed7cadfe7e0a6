/* SPDX-License-Identifier: MIT */
/* agent_disk.h - the agent's journal. */
#ifndef AGENT_SHELL_AGENT_DISK_H
#define AGENT_SHELL_AGENT_DISK_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/identify/procfs.h"
#include "agent/persist/journal.h"
#include "base/io/timers.h"
#include "wire/json/shape.h"

struct agent_base;
struct effects;
struct job_thread;
struct proc_file;

/* Record type beside those of the core and of agent_proc.h: the boot id. */
enum { RECORD_BOOT = 255 };

/* Only disk_*() write to it; the owner sets `syncs` before disk_start(). */
struct disk {
    struct agent_base *agent;
    const struct effects *effects;
    struct proc_file *proc;
    struct job_thread *syncs; /* separate from look-ups, which may take long */
    struct journal *journal;
    struct journal_writer *writer; /* not NULL: a compaction is in progress */
    char boot_id[BOOT_ID_SIZE];    /* boot in which the journal was written */
    uint64_t records;              /* appended so far; the core uses this number as its mark */
    uint64_t sync_mark;            /* mark of the sync in progress */
    uint64_t live_bytes;           /* size after the last compaction */
    bool is_started, wants_sync, is_syncing, is_broken;
    int64_t retry_ms, compact_ms; /* after failures; compact_ms: of compaction */
    struct timer retry;
};

void disk_init(struct disk *d, struct agent_base *a, const struct effects *effects,
               struct proc_file *proc);
int disk_open(struct disk *d, struct err *err);  /* reads the journal into the core */
void disk_start(struct disk *d, bool same_boot); /* called after core_start() */
int disk_flush(struct disk *d);                  /* -1: the journal is broken; this is logged */
void disk_settle(struct disk *d);
void disk_close(struct disk *d);
int disk_sync(struct disk *d);              /* waits; -1: not synced, and retried later */
bool disk_is_waiting(const struct disk *d); /* it is broken, or a sync is in progress */
int64_t disk_size_bytes(const struct disk *d);

/* Appends a record; returns its mark. See core_effects.h. */
uint64_t disk_journal(void *disk, unsigned type, const struct shape *s, const void *record,
                      bool durable);

#endif
