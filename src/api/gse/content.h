/* SPDX-License-Identifier: MIT */
/* content.h - one result as GSE's clients parse it.
 *
 * Four clients parse `content`, two of them with strict types: an integer is never written as 0.0,
 * a string stays a string, a process that does not run has pid -1 (0: the query failed), and every
 * list has exactly one element (except `instance`, if several processes are expected: the first is
 * the process itself). */
#ifndef API_GSE_CONTENT_H
#define API_GSE_CONTENT_H

#include "base/mem/arena.h"
#include "base/mem/buf.h"
#include "model/code.h"
#include "server/dispatch/tasks.h"

/* GSE has JSON in a string; Job has the object itself, or "" if there is none. */
enum content_kind { CONTENT_TEXT, CONTENT_OBJECT };

/* Appends {"error_code":...,"error_msg":...,"content":...}.  The item's text is the one to be
 * shown; `ip` is the host's, "" if unknown; `scratch` is overwritten.  While an item runs,
 * error_msg is "handling" in every language: clients poll again only then. */
void result_write(const struct task_item *item, int64_t form, const char *ip,
                  enum content_kind kind, struct buf *scratch, struct buf *out);

/* Appends the content as JSON; nothing while the item is waiting. */
void content_write(const struct task_item *item, int64_t form, const char *ip, struct buf *out);

/* The text of error_msg in a language.  Clients compare with "success", so it is not translated. */
const char *result_text(const struct task_item *item, enum lang lang, struct arena *a);

/* A copy of the item to be shown as one of n, in a language.  The texts of all n together are
 * limited, because each may be 8 KiB of a command's output and clients poll: a text that exceeds
 * its share is truncated.  The same applies to the list of other pids. */
struct task_item result_share(const struct task_item *item, size_t n, enum lang lang,
                              struct arena *a);

#endif
