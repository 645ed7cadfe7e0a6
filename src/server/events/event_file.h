/* SPDX-License-Identifier: MIT */
/* event_file.h - the file of events: one JSON object a line (event_line.h), opened again on
 * SIGHUP like the log.
 *
 * The file follows the store.  Stored events are written at once while the file is up to date.
 * When a line cannot be written, or the server died before writing it, the file is behind, and
 * the missing events are read from the store.  The position (mark) is stored a moment after
 * writing: after a crash a line may appear twice, but none is missing. */
#ifndef SERVER_EVENTS_EVENT_FILE_H
#define SERVER_EVENTS_EVENT_FILE_H

#include "base/io/log.h"
#include "base/io/loop.h"
#include "store/store.h"
#include "store/store_events.h"

struct event_file;

/* `path` "": no file; the functions below do nothing. */
int event_file_new(struct loop *loop, struct log *log, struct store *store, const char *path,
                   const char *node, struct event_file **ret, struct err *err);
void event_file_free(
    struct event_file *f); /* after stop, or with the store closed; NULL is allowed */
int event_file_reopen(struct event_file *f, struct err *err);

const char *event_file_reader(const struct event_file *f); /* the name of its mark in the store */

/* The stored mark (-1: new file), and the seq of the last event in the store. */
void event_file_start(struct event_file *f, int64_t mark, int64_t last);

/* These events were stored; they follow those of the previous call. */
void event_file_put(struct event_file *f, const struct event_row *rows, size_t n);

/* Begins nothing new and stores the mark; blocks.  False: a call is still at the store; call again
 * when it has returned. */
bool event_file_stop(struct event_file *f);

#endif
