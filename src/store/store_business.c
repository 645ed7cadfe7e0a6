/* SPDX-License-Identifier: MIT */
/* store_business.c - the tables business and business_set. */
#include "store/store_business.h"

#include "store/verb.h"

static const struct field business_fields[] = {
    DB_NUMBER(business_row, id),
    DB_TEXT(business_row, name),
    DB_TEXT(business_row, businesses),
    { 0 },
};
static const struct shape business_shape = DB_SHAPE(business_row, business_fields);

static const struct field ask_fields[] = { DB_NUMBER(business_ask, id), { 0 } };
static const struct shape ask_shape = DB_SHAPE(business_ask, ask_fields);

static const struct field page_fields[] = {
    DB_NUMBER(business_page, after),
    DB_NUMBER(business_page, limit),
    { 0 },
};
static const struct shape page_shape = DB_SHAPE(business_page, page_fields);

/* Both tables have the same columns; `businesses` is empty for a business. */
#define COLUMNS "id, name, businesses"
#define PUT(table)                                                                                 \
    {                                                                                              \
        "INSERT INTO " table " (" COLUMNS ") VALUES ($1, $2, $3) ON CONFLICT (id) DO UPDATE"       \
        " SET name = excluded.name, businesses = excluded.businesses",                             \
            .in = &business_shape                                                                  \
    }
#define DEL(table)                                                                                 \
    {                                                                                              \
        "DELETE FROM " table " WHERE id = $1 RETURNING " COLUMNS, .in = &ask_shape,                \
                                                                  .out = &business_shape           \
    }
#define LIST(table)                                                                                \
    {                                                                                              \
        "SELECT " COLUMNS " FROM " table " WHERE id > $1 ORDER BY id LIMIT $2",                    \
            .in = &page_shape, .out = &business_shape                                              \
    }

static const struct query business_put = PUT("business"), business_del = DEL("business"),
                          business_list = LIST("business"), set_put = PUT("business_set"),
                          set_del = DEL("business_set"), set_list = LIST("business_set");

const struct store_verb store_business_put = VERB_QUERY("business_put", DB_WRITE, &business_put);
const struct store_verb store_business_del = VERB_QUERY("business_del", DB_WRITE, &business_del);
const struct store_verb store_business_list = VERB_QUERY("business_list", DB_READ, &business_list);
const struct store_verb store_business_set_put = VERB_QUERY("business_set_put", DB_WRITE, &set_put);
const struct store_verb store_business_set_del = VERB_QUERY("business_set_del", DB_WRITE, &set_del);
const struct store_verb store_business_set_list =
    VERB_QUERY("business_set_list", DB_READ, &set_list);
