/* SPDX-License-Identifier: MIT */
/* agent_disk.h - the agent's journal, for the agent's own sources. */
#ifndef AGENT_AGENT_DISK_H
#define AGENT_AGENT_DISK_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/journal.h"
#include "agent/procfs.h"
#include "base/timers.h"
#include "wire/shape.h"

struct agent;

/* Beside the core's own types: the text of the boot id; agent_proc.c's. */
enum { RECORD_BOOT = 255, RECORD_PROC_FILE = 254 };

struct disk {
    struct journal *journal;
    struct journal_writer *writer; /* not NULL: a compaction is going on */
    char boot_id[BOOT_ID_SIZE];    /* that the journal was written in */
    uint64_t records;              /* so far: the core's marks */
    uint64_t sync_mark;            /* of the sync that is going on */
    uint64_t live_bytes;           /* after the last compaction */
    bool is_started, wants_sync, is_syncing, is_broken, is_closing;
    int64_t retry_ms;
    struct timer retry;
};

int disk_open(struct agent *a, struct err *err);  /* reads it into the core */
void disk_start(struct agent *a, bool same_boot); /* after core_start() */
int disk_flush(struct agent *a);                  /* -1: it is broken, and logged */
void disk_settle(struct agent *a);
void disk_on_sync(struct agent *a, const struct journal_sync *s);
void disk_close(struct agent *a);
uint64_t hand_journal(void *agent, unsigned type, const struct shape *s, const void *record,
                      bool durable);

#endif
