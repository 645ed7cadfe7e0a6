/* SPDX-License-Identifier: MIT */
/* store_inventory.h - facts about hosts that operators enter: business, CMDB number, note; verbs of
 * store.h.
 *
 * For a host that has not joined they are stored as an expected host, by cloud area and address,
 * and move to the host when it joins (store_join.h). */
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
    int64_t after_cloud_id; /* -1: first page */
    const char *after_ip;
    int64_t limit;
};

extern const struct store_verb store_expected_list; /* expected_page; list of expected_row */
/* The businesses of expected hosts by id, and how many hosts each has; business 0 is none. */
struct expected_business_row {
    int64_t biz_id, n;
};
struct expected_business_ask {
    int64_t after;
};
extern const struct store_verb store_expected_businesses;

extern const struct store_verb store_expected_find; /* host_find_at_ask; the same, at most one */
extern const struct store_verb store_expected_del;  /* host_find_at_ask; deleted rows */

/* The wanted facts of one host, identified by agent id or by cloud area and address.  A fact that
 * is not given stays as it is, or is 0 and "" for a new host. */
struct host_wish {
    const char *agent_id, *ip; /* "": not given; if both are, they must agree */
    int64_t cloud_id;
    bool has_biz_id, has_host_id, has_note;
    int64_t biz_id, host_id;
    const char *note;
    const char *error; /* message: the wish is invalid for this reason; NULL: valid */
};

enum host_change {
    HOST_UNCHANGED,
    HOST_CHANGED,
    HOST_EXPECTED, /* has not joined; its facts are stored as an expected host, new or changed */
    HOST_BAD,
};

struct host_wished {
    enum host_change change;
    const char *error;      /* message: why the wish is bad; the members below are then unset */
    struct host_row before; /* agent_id "": not joined; only place and facts are set */
    struct host_row after;
};

struct host_wishes {
    struct list wishes; /* struct host_wish */
};

struct host_wishes_done {
    struct list hosts; /* struct host_wished, one per wish */
    bool is_bad;       /* a wish is bad, so nothing was changed */
};

/* All or none: host_wishes; host_wishes_done. */
extern const struct store_verb store_hosts_set;

/* A dry run of it. */
extern const struct store_verb store_hosts_plan;

#endif
