/* SPDX-License-Identifier: MIT */
/* unit_file.h - reads the text of a systemd unit: sections, `Key=Value`, lines that end with a
 * backslash and go on in the next one, comments in a line of their own.  Nothing is expanded.
 * A section may be there several times, and so may a key: systemd adds their values. */
#ifndef CLI_UNIT_FILE_H
#define CLI_UNIT_FILE_H

#include "cli/setting.h"

/* *ret is a list of struct setting, in the order of the file; none has the key "". */
int unit_read(const char *file, const char *text, size_t n, struct arena *a, struct list *ret,
              struct err *err);

#endif
