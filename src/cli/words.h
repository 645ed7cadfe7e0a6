/* SPDX-License-Identifier: MIT */
/* words.h - command lines of other supervisors, which run no shell: split into words, and written
 * again as a shell line that means the same. */
#ifndef CLI_WORDS_H
#define CLI_WORDS_H

#include <stdbool.h>

#include "base/mem/arena.h"
#include "base/mem/buf.h"
#include "base/text/err.h"
#include "wire/json/field.h"

enum words_kind {
    WORDS_SHLEX,   /* supervisord: quotes and backslashes as in a POSIX shell */
    WORDS_SYSTEMD, /* escapes of C and \s in a word; a backslash before anything else stays */
};

enum { WORDS_MAX = 1000 };

/* *ret is a list of struct word (options.h).  Fails if a quote is not closed. */
int words_split(const char *text, enum words_kind kind, struct arena *a, struct list *ret,
                struct err *err);

/* The word, in quotes where a shell would take it for more than a word.  `has_variables`: $X and
 * ${X} are variables as in systemd, and $$ is a dollar sign. */
void words_put(struct buf *b, const char *word, bool has_variables);

/* Whether words_put() changes nothing. */
bool words_is_plain(const char *word);

#endif
