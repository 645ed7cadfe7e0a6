/* SPDX-License-Identifier: MIT */
/* event_file.h - the file of events: one JSON object a line (event_line.h), opened again on
 * SIGHUP like the log.
 *
 * It follows the store.  What was stored is written at once while the file is in step; when
 * a line can not be written, or the server died before it was, the file is behind, and the
 * rest is read from the store again from where it was.  How far it is, is stored a moment
 * after it was written: so after a crash a line may be there twice, and none is missing. */
#ifndef SERVER_EVENT_FILE_H
#define SERVER_EVENT_FILE_H

#include "base/log.h"
#include "base/loop.h"
#include "store/store.h"
#include "store/store_events.h"

struct event_file;

/* `path` "": there is none, and nothing of the below does anything. */
int event_file_new(struct loop *loop, struct log *log, struct store *store, const char *path,
                   const char *node, struct event_file **ret, struct err *err);
void event_file_free(struct event_file *f); /* stopped, or the store closed; NULL is fine */
int event_file_reopen(struct event_file *f, struct err *err);

const char *event_file_reader(const struct event_file *f); /* what its mark is called */

/* Where it was at our start (-1: it is new), and the last event there is. */
void event_file_start(struct event_file *f, int64_t mark, int64_t last);

/* These were stored; they follow those of the call before. */
void event_file_put(struct event_file *f, const struct event_row *rows, size_t n);

/* The end: nothing new is begun, and where it is is stored, now, which blocks.  False: a call
 * is still on its way to the store; ask again when it has come back. */
bool event_file_stop(struct event_file *f);

#endif
