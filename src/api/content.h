/* SPDX-License-Identifier: MIT */
/* content.h - one result as GSE's clients read it.
 *
 * Four of them parse `content`, two of those with strict types: an integer is never written
 * as 0.0, what is a string stays one, a process that does not run has pid -1, and there is
 * exactly one element wherever there is a list (but of `instance`, where several processes
 * are expected: the first is the process itself). */
#ifndef API_CONTENT_H
#define API_CONTENT_H

#include "base/arena.h"
#include "base/buf.h"
#include "model/wording.h"
#include "server/tasks.h"

/* GSE has JSON as a string; Job has the object itself, or "" where there is none. */
enum content_kind { CONTENT_TEXT, CONTENT_OBJECT };

/* Appends {"error_code":...,"error_msg":...,"content":...}.  `ip` is the host's, "" if it
 * is not known; `scratch` is the caller's, and is overwritten. */
void result_write(const struct task_item *item, int64_t form, const char *ip,
                  enum content_kind kind, struct buf *scratch, struct buf *out);

/* Appends the content alone, not yet as a string; nothing while the item is waiting. */
void content_write(const struct task_item *item, int64_t form, const char *ip, struct buf *out);

/* What error_msg says, and the same for who reads another language. */
const char *result_text(const struct task_item *item);
const char *result_words(const struct task_item *item, enum lang lang, struct wording_memo *memo,
                         struct arena *a);

/* The item as one of n that are shown together.  All their texts together have a limit, since
 * each may be 8 KiB of a command's output and who waits for them asks again and again; of a
 * text that is longer than its share the beginning is left.  The same holds for other pids. */
struct task_item result_share(const struct task_item *item, size_t n, struct arena *a);

#endif
