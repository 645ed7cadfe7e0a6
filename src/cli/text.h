/* SPDX-License-Identifier: MIT */
/* text.h - all texts of the command line for people, in English and Chinese.
 *
 * A text may have placeholders {0} to {9}; they are numbered, because the two languages use them
 * in different order.  Output for programs (--json) does not come from here. */
#ifndef CLI_TEXT_H
#define CLI_TEXT_H

#include "base/mem/buf.h"
#include "base/text/err.h"
#include "model/code.h"

/* One row per text: TEXT_NAME, English, Chinese. */
enum text {
#define TEXT(name, en, zh) TEXT_##name,
#include "cli/text_rows.h"
#undef TEXT
    TEXTS
};

enum { TEXT_ARGS_MAX = 10 };
#define TEXT_ARGS(...) ((const char *const[]){ __VA_ARGS__, NULL })

const char *text_get(enum lang lang, enum text id);

/* Appends the text with its placeholders filled; args are terminated by NULL and may be NULL.  An
 * argument that is a message (base/text/msg.h) is put in the same language. */
void text_put(struct buf *b, enum lang lang, enum text id, const char *const *args);

/* Sets err to that text; returns -1. */
int text_err(struct err *err, int code, enum lang lang, enum text id, const char *const *args);

#endif
