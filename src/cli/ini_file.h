/* SPDX-License-Identifier: MIT */
/* ini_file.h - reads the text of a supervisord.conf as supervisord does: sections, `key = value` or
 * `key: value`, values that go on in indented lines, comments in a line of their own and behind a
 * blank.  Nothing is expanded.  Keys are in lower case.
 *
 * Unlike in supervisord, a section or a key that is there twice is an error: the second would
 * silently replace the first. */
#ifndef CLI_INI_FILE_H
#define CLI_INI_FILE_H

#include "cli/setting.h"

/* *ret is a list of struct setting; each section begins with a setting whose key is "". */
int ini_read(const char *file, const char *text, size_t n, struct arena *a, struct list *ret,
             struct err *err);

#endif
