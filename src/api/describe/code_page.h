/* SPDX-License-Identifier: MIT */
/* code_page.h - the reference page of all codes a client can get: of targets, of failed requests
 * and of refused requests; in both languages and each dialect, with advice.  Numbers and texts come
 * from the tables (model/code.h, refusal.h) and from the dialects. */
#ifndef API_DESCRIBE_CODE_PAGE_H
#define API_DESCRIBE_CODE_PAGE_H

#include "base/mem/buf.h"

void code_page_write(struct buf *out);

/* Advice for a code of code_table, or for a refusal; NULL: it is missing. */
const char *code_page_advice(int code);
const char *code_page_refusal_advice(int refusal);

#endif
