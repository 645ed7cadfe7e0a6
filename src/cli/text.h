/* SPDX-License-Identifier: MIT */
/* text.h - every word the command line says to people, in English and Chinese.
 *
 * A text may have places for others, {0} to {9}; by number, because the two
 * languages put them in different order.  What programs read (--json) does not
 * come from here. */
#ifndef CLI_TEXT_H
#define CLI_TEXT_H

#include "base/buf.h"
#include "base/err.h"
#include "model/code.h"

/* One row a text: TEXT_NAME, English, Chinese. */
enum text {
#define TEXT(name, en, zh) TEXT_##name,
#include "cli/text_rows.h"
#undef TEXT
    TEXTS
};

enum { TEXT_ARGS_MAX = 10 };
#define TEXT_ARGS(...) ((const char *const[]){ __VA_ARGS__, NULL })

const char *text_get(enum lang lang, enum text id);

/* Appends the text with its places filled; args end with NULL and may be NULL. */
void text_put(struct buf *b, enum lang lang, enum text id, const char *const *args);

/* An err of that text; returns -1. */
int text_err(struct err *err, int code, enum lang lang, enum text id, const char *const *args);

#endif
