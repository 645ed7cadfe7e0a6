/* SPDX-License-Identifier: MIT */
/* store_business.h - businesses and business sets: verbs of store.h. */
#ifndef STORE_STORE_BUSINESS_H
#define STORE_STORE_BUSINESS_H

#include "store/store.h"

struct business_row {
    int64_t id;
    const char *name;
    const char *businesses; /* ids of a set's businesses: "1 2 3"; "" for a business */
};

struct business_ask {
    int64_t id;
};

struct business_page {
    int64_t after, limit;
};

extern const struct store_verb store_business_put;  /* business_row; nothing */
extern const struct store_verb store_business_del;  /* business_ask; list of deleted rows */
extern const struct store_verb store_business_list; /* business_page; list of business_row by id */

extern const struct store_verb store_business_set_put; /* the same for sets */
extern const struct store_verb store_business_set_del;
extern const struct store_verb store_business_set_list;

#endif
