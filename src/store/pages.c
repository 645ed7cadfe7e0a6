/* SPDX-License-Identifier: MIT */
/* pages.c - see pages.h. */
#include "store/pages.h"

#include "store/db.h"
#include "store/store.h"

static const struct field page_fields[] = {
    DB_TEXT(store_page, after),
    DB_NUMBER(store_page, limit),
    { 0 },
};
const struct shape store_page_shape = DB_SHAPE(store_page, page_fields);
