/* SPDX-License-Identifier: MIT */
/* setting.h - settings read from a file of another supervisor: where each is and what it says.
 *
 * A file is text in UTF-8 without zero bytes, in lines of at most SETTING_LINE_MAX bytes.  Errors
 * begin with "FILE:LINE: ". */
#ifndef CLI_SETTING_H
#define CLI_SETTING_H

#include "base/mem/arena.h"
#include "base/mem/buf.h"
#include "base/text/err.h"
#include "wire/json/field.h"

enum {
    SETTING_FILE_MAX = 1 << 20,
    SETTING_LINE_MAX = 64 << 10,
    SETTINGS_MAX = 20000,        /* of one file, sections included */
    SETTING_SECTIONS_MAX = 2000, /* of one file */
    SETTING_KEYS_MAX = 1000,     /* of one section */
};

struct setting {
    const char *file;
    size_t line;
    const char *section, *key, *value; /* key "": the line begins the section */
};

/* ---- for readers */

struct setting_lines {
    const char *file, *at, *end;
    size_t line; /* of the line that was read last, from 1 */
};

void setting_lines_begin(struct setting_lines *l, const char *file, const char *text, size_t n);

/* 1: a line without its end, trimmed at the right; 0: there are no more; -1: an error. */
int setting_lines_next(struct setting_lines *l, const char **ret, size_t *ret_n, struct err *err);

/* "FILE:LINE: why"; returns -1. */
int setting_fail(const char *file, size_t line, const char *why, struct err *err);

/* Adds a setting to an array of them; fails if there are too many. */
int setting_add(struct buf *all, const struct setting *s, struct err *err);

/* The array in the arena, as a list of struct setting; frees the buffer. */
void setting_list(struct buf *all, struct arena *a, struct list *ret);

/* The last setting with that key in a section; NULL: none. */
const struct setting *setting_find(const struct list *all, const char *section, const char *key);

#endif
