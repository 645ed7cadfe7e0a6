/* SPDX-License-Identifier: MIT */
/* inventory.h - facts about hosts that operators enter, and businesses, as /v1 takes and shows
 * them. */
#ifndef MODEL_INVENTORY_H
#define MODEL_INVENTORY_H

#include <stdint.h>

#include "wire/json/shape.h"

enum {
    IMPORT_MAX = 10000, /* hosts of one import */
    BIZ_SET_FIRST = 8000000,
    BIZ_SET_LAST = 9999999, /* highest id that clients of Job take for a set, where a business or a
                               set may be meant */
};

/* One host: PUT /v1/hosts, and each of an import.  A field that is not given stays as it is. */
struct host_set_ask {
    const char *host;     /* an agent id, "cloud:ip", or an address of the cloud area */
    const char *agent_id; /* alternative to `host` */
    const char *ip;
    int64_t cloud_id, biz_id, host_id;
    const char *note;
    enum presence has_biz_id, has_host_id, has_note;
};

/* POST /v1/hosts/import */
struct host_import_ask {
    struct list hosts; /* struct host_set_ask */
    bool dry_run;
};

enum host_result {
    HOST_RESULT_UNCHANGED,
    HOST_RESULT_CHANGED,
    HOST_RESULT_EXPECTED,
    HOST_RESULT_BAD
};

struct host_facts {
    int64_t biz_id, host_id;
    const char *note;
};

struct host_set_view {
    int64_t result; /* enum host_result */
    const char *error;
    const char *agent_id, *ip, *hostname; /* agent_id "": it has not joined yet */
    int64_t cloud_id;
    struct host_facts before, after;
};

struct host_import_view {
    bool applied; /* all were changed; false: none was */
    int64_t unchanged, changed, expected, bad;
    struct list hosts; /* struct host_set_view, in the order of the request */
};

struct business_id {
    int64_t id;
};

/* PUT /v1/businesses */
struct business_put_ask {
    int64_t id;
    const char *name;
};

struct business_view {
    int64_t id;
    const char *name; /* "": not listed, but hosts belong to it */
    int64_t hosts, expected;
};

struct business_page_view {
    struct list businesses; /* struct business_view, by id */
    const char *next;
};

/* PUT /v1/business_sets */
struct business_set_view {
    int64_t id;
    const char *name;
    struct list businesses; /* struct business_id */
};

struct business_set_page {
    struct list sets; /* struct business_set_view, by id */
    const char *next;
};

extern const struct shape host_set_ask_shape, host_import_ask_shape, host_import_view_shape,
    host_set_view_shape, business_put_ask_shape, business_view_shape, business_page_view_shape,
    business_set_view_shape, business_set_page_shape;

#endif
