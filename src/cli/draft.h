/* SPDX-License-Identifier: MIT */
/* draft.h - a spec in the short form while it is being made of a file of another supervisor, and
 * its text in YAML.
 *
 * A draft holds values by key.  A value is a text, a number, or one part of a list or of a map.
 * The keys and their order in the text are those of draft_keys. */
#ifndef CLI_DRAFT_H
#define CLI_DRAFT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mem/buf.h"

extern const char *const draft_keys[]; /* NULL-terminated */

struct draft {
    struct buf entries; /* struct draft_entry; the texts live elsewhere */
};

/* Each replaces a value with the same key and, in a map, the same part. */
void draft_text(struct draft *d, const char *key, const char *text);
void draft_number(struct draft *d, const char *key, int64_t number);
void draft_yes(struct draft *d, const char *key);
void draft_part(struct draft *d, const char *key, const char *part, const char *text);
void draft_part_number(struct draft *d, const char *key, const char *part, int64_t number);
void draft_part_float(struct draft *d, const char *key, const char *part, double number);

void draft_item(struct draft *d, const char *key, const char *text); /* adds to a list */
void draft_item_number(struct draft *d, const char *key, int64_t number);

void draft_drop(struct draft *d, const char *key);
const char *draft_find(const struct draft *d, const char *key); /* of a text; NULL: not there */

/* A mapping in YAML.  `first` and `indent` begin its first and its other lines. */
void draft_write(const struct draft *d, const char *first, const char *indent, struct buf *out);
void draft_free(struct draft *d);

/* A text as a scalar of YAML, in one line and in quotes where it needs them. */
void draft_quote(struct buf *out, const char *text);

#endif
