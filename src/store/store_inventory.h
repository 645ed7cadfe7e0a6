/* SPDX-License-Identifier: MIT */
/* store_inventory.h - what people say of hosts: business, number in the CMDB, note; verbs of
 * store.h.
 *
 * Of a host that has not joined yet it is kept as an expected one, by cloud area and address,
 * and becomes the host's when it joins (store_join.h). */
#ifndef STORE_STORE_INVENTORY_H
#define STORE_STORE_INVENTORY_H

#include "store/store_hosts.h"

struct expected_row {
    int64_t cloud_id;
    const char *ip;
    int64_t biz_id, host_id;
    const char *note;
};

struct expected_page {
    int64_t after_cloud_id; /* -1: the first of all */
    const char *after_ip;
    int64_t limit;
};

extern const struct store_verb store_expected_list; /* expected_page; list of expected_row */
/* Which businesses they are in, by number, and how many of each; business 0 is none. */
struct expected_business_row {
    int64_t biz_id, n;
};
struct expected_business_ask {
    int64_t after;
};
extern const struct store_verb store_expected_businesses;

extern const struct store_verb store_expected_find; /* host_find_at_ask; the same, at most one */
extern const struct store_verb store_expected_del;  /* host_find_at_ask; what was there */

/* What is to be so of one host, that is named by its agent id or by cloud area and address;
 * what is not given stays, or is 0 and "". */
struct host_wish {
    const char *agent_id, *ip; /* "": not named by it; both: they must agree */
    int64_t cloud_id;
    bool has_biz_id, has_host_id, has_note;
    int64_t biz_id, host_id;
    const char *note;
    const char *error; /* it is bad already, and this is why; NULL: it is not */
};

enum host_change {
    HOST_UNCHANGED,
    HOST_CHANGED,
    HOST_EXPECTED, /* has not joined: what is said of it waits, and is new or has changed */
    HOST_BAD,
};

struct host_wished {
    enum host_change change;
    const char *error;      /* of a bad one, and what is below is of no meaning */
    struct host_row before; /* agent_id "": it has not joined, and has three facts and a place */
    struct host_row after;
};

struct host_wishes {
    struct list wishes; /* struct host_wish */
};

struct host_wishes_done {
    struct list hosts; /* struct host_wished, one a wish */
    bool is_bad;       /* one of them, so nothing was changed */
};

/* All of them or none: host_wishes; host_wishes_done. */
extern const struct store_verb store_hosts_set;

/* The same without changing anything: what would be. */
extern const struct store_verb store_hosts_plan;

#endif
