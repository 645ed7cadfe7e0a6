/* SPDX-License-Identifier: MIT */
/* code_page.h - every code a client may see, as a page for people: of targets, of requests
 * that could not be done, and of those that were not looked at; in both languages, by each
 * dialect, with what to do.  Numbers and texts are asked of the tables (model/code.h,
 * refusal.h) and of the dialects themselves. */
#ifndef API_CODE_PAGE_H
#define API_CODE_PAGE_H

#include "base/buf.h"

void code_page_write(struct buf *out);

/* What to do about a code of code_table, or about a refusal; NULL: nobody has written it. */
const char *code_page_advice(int code);
const char *code_page_refusal_advice(int refusal);

#endif
