/* SPDX-License-Identifier: MIT */
/* code.h - the table of all result codes: number, name, kind of failure, and text in English and
 * Chinese.
 *
 * A struct err carries one of these numbers.  Numbers below 100 are those of base/text/err.h; the
 * others are BlueKing's per-target codes, as GSE publishes them; an envelope carries 1000000 +
 * n. */
#ifndef MODEL_CODE_H
#define MODEL_CODE_H

#include "base/text/err.h"

enum code {
    CODE_OK = 0,
    CODE_SYSTEM = 101,
    CODE_WAITING = 115, /* not finished: ask again */
    CODE_OFFLINE = 117,
    CODE_DEADLINE = 120,
    CODE_USER = 122,
    CODE_SPACE = 125,
    CODE_NOT_REGISTERED = 801,
    CODE_NO_TASK = 806,
    CODE_MATCH = 807,
    CODE_PARAM = 811,
    CODE_TIMEOUT = 822,
    CODE_DENIED = 823,
    CODE_CANCELLED = 826,
    CODE_NO_COMMAND = 827,
    CODE_RUNNING = 828,
    CODE_NOT_RUNNING = 829,
    CODE_LOCKED = 830,
    CODE_UNKNOWN_OP = 832,
    CODE_CHECK = 836,
    CODE_REGISTERED = 850,
    CODE_COMMAND = 65535,
    CODE_NO_BUSINESS = 1243049, /* in Job's envelopes only, never of a target */
    CODE_NO_SCOPE = 1243051,
};

enum lang { LANG_EN, LANG_ZH, LANGS };

struct code_info {
    int number;
    const char *name;        /* "NOT_RUNNING" */
    int http_status;         /* where an answer needs one */
    const char *text[LANGS]; /* what it means */
};

extern const struct code_info code_table[]; /* ends with a NULL name */

/* The row of a number; the row of CODE_SYSTEM for an unknown number. */
const struct code_info *code_get(int number);

#endif
