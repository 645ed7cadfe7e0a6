/* SPDX-License-Identifier: MIT */
/* inventory.c - the shapes of inventory.h. */
#include "model/inventory.h"

#include "model/rules.h"

#define AT(type, member)  .offset = offsetof(struct type, member)
#define HAS(type, member) .has = offsetof(struct type, member)

enum { NOTE_MAX_BYTES = 1024, PAGE_MAX = 1000, MEMBERS_MAX = 10000, CURSOR_MAX_BYTES = 32 };

/* clang-format off */
static const struct field set_fields[] = {
    { "host", .type = FIELD_STR, AT(host_set_ask, host), .max = ID_MAX_BYTES, .check = rule_line,
      .doc = "an agent id, `cloud:ip`, or an address of the cloud area `cloud_id`; required, or `agent_id` or `ip`" },
    { "agent_id", "bk_agent_id", FIELD_STR, AT(host_set_ask, agent_id), .max = ID_MAX_BYTES, .check = rule_line,
      .doc = "in place of `host`" },
    { "cloud_id", "bk_cloud_id", FIELD_INT, AT(host_set_ask, cloud_id), .max = INT32_MAX,
      .doc = "the cloud area of the address" },
    { "ip", "bk_host_innerip inner_ip", FIELD_STR, AT(host_set_ask, ip), .max = ID_MAX_BYTES, .check = rule_line,
      .doc = "in place of `host`; a host that has not joined is expected there" },
    { "biz_id", "bk_biz_id business", FIELD_INT, AT(host_set_ask, biz_id), HAS(host_set_ask, has_biz_id),
      .max = INT32_MAX, .doc = "the business it belongs to; 0: none" },
    { "host_id", "bk_host_id", FIELD_INT, AT(host_set_ask, host_id), HAS(host_set_ask, has_host_id),
      .max = INT64_MAX, .doc = "its number in the CMDB, which no other host has; 0: none" },
    { "note", "bk_comment", FIELD_STR, AT(host_set_ask, note), HAS(host_set_ask, has_note), .max = NOTE_MAX_BYTES,
      .check = rule_line, .doc = "for people" },
    { 0 },
};
const struct shape host_set_ask_shape = { "host_set_ask", sizeof(struct host_set_ask), set_fields,
                                          .doc = "The wanted facts of a host. A fact that is left out stays as it is." };

static const struct field import_fields[] = {
    { "hosts", .type = FIELD_LIST, AT(host_import_ask, hosts), .flags = FIELD_REQUIRED, .min = 1, .max = IMPORT_MAX,
      .sub = &host_set_ask_shape, .doc = "each host once" },
    { "dry_run", .type = FIELD_BOOL, AT(host_import_ask, dry_run), .doc = "only shows what would change" },
    { 0 },
};
const struct shape host_import_ask_shape = { "host_import_ask", sizeof(struct host_import_ask), import_fields };

static const struct field facts_fields[] = {
    { "biz_id", .type = FIELD_INT, AT(host_facts, biz_id), .doc = "its business; 0: none" },
    { "host_id", .type = FIELD_INT, AT(host_facts, host_id), .doc = "its number in the CMDB; 0: none" },
    { "note", .type = FIELD_STR, AT(host_facts, note), .max = NOTE_MAX_BYTES, .doc = "for people" },
    { 0 },
};
static const struct shape facts_shape = { "host_facts", sizeof(struct host_facts), facts_fields };

static const struct enum_name result_names[] = {
    { HOST_RESULT_UNCHANGED, "unchanged" }, { HOST_RESULT_CHANGED, "changed" },
    { HOST_RESULT_EXPECTED, "expected" },   { HOST_RESULT_BAD, "bad" },
    { 0 },
};
static const struct field set_view_fields[] = {
    { "result", .type = FIELD_ENUM, AT(host_set_view, result), .names = result_names, .flags = FIELD_BY_NAME,
      .doc = "`unchanged`, `changed`, `expected`: it has not joined, and gets this when it does; `bad`: see `error`" },
    { "error", .type = FIELD_STR, AT(host_set_view, error), .max = 512, .doc = "what is wrong; empty: nothing" },
    { "agent_id", .type = FIELD_STR, AT(host_set_view, agent_id), .max = ID_MAX_BYTES,
      .doc = "empty: it has not joined" },
    { "cloud_id", .type = FIELD_INT, AT(host_set_view, cloud_id), .doc = "the cloud area it is in" },
    { "ip", .type = FIELD_STR, AT(host_set_view, ip), .max = ID_MAX_BYTES, .doc = "its address there" },
    { "hostname", .type = FIELD_STR, AT(host_set_view, hostname), .max = NAME_MAX_BYTES, .doc = "its host name" },
    { "before", .type = FIELD_OBJ, AT(host_set_view, before), .sub = &facts_shape, .doc = "before the change" },
    { "after", .type = FIELD_OBJ, AT(host_set_view, after), .sub = &facts_shape, .doc = "after the change, or as it would be" },
    { 0 },
};
const struct shape host_set_view_shape = { "host_set_view", sizeof(struct host_set_view), set_view_fields,
                                           .doc = "The result for one host of an import." };

static const struct field import_view_fields[] = {
    { "applied", .type = FIELD_BOOL, AT(host_import_view, applied),
      .doc = "all of it; false: nothing has changed, because it was a dry run or one of the hosts is `bad`" },
    { "unchanged", .type = FIELD_INT, AT(host_import_view, unchanged), .doc = "hosts that did not change" },
    { "changed", .type = FIELD_INT, AT(host_import_view, changed), .doc = "hosts that have changed" },
    { "expected", .type = FIELD_INT, AT(host_import_view, expected), .doc = "hosts that have not joined" },
    { "bad", .type = FIELD_INT, AT(host_import_view, bad), .doc = "hosts with an error" },
    { "hosts", .type = FIELD_LIST, AT(host_import_view, hosts), .max = IMPORT_MAX, .sub = &host_set_view_shape,
      .doc = "one per host, in the order of the request" },
    { 0 },
};
const struct shape host_import_view_shape = { "host_import_view", sizeof(struct host_import_view),
                                              import_view_fields };

static const struct field put_fields[] = {
    { "id", "bk_biz_id", FIELD_INT, AT(business_put_ask, id), .flags = FIELD_REQUIRED, .min = 1, .max = INT32_MAX,
      .doc = "not from 8000000 to 9999999, which are those of sets" },
    { "name", "bk_biz_name", FIELD_STR, AT(business_put_ask, name), .flags = FIELD_REQUIRED, .min = 1,
      .max = NAME_MAX_BYTES, .check = rule_line, .doc = "for people" },
    { 0 },
};
const struct shape business_put_ask_shape = { "business_put_ask", sizeof(struct business_put_ask), put_fields };

static const struct field business_fields[] = {
    { "id", .type = FIELD_INT, AT(business_view, id), .doc = "its number" },
    { "name", .type = FIELD_STR, AT(business_view, name), .max = NAME_MAX_BYTES,
      .doc = "empty: not listed, but hosts belong to it" },
    { "hosts", .type = FIELD_INT, AT(business_view, hosts), .doc = "in it" },
    { "expected", .type = FIELD_INT, AT(business_view, expected), .flags = FIELD_OMIT_EMPTY,
      .doc = "expected hosts of it, which have not joined; only in the list" },
    { 0 },
};
const struct shape business_view_shape = { "business_view", sizeof(struct business_view), business_fields,
                                           .doc = "A business." };

static const struct field business_page_fields[] = {
    { "businesses", .type = FIELD_LIST, AT(business_page_view, businesses), .max = PAGE_MAX, .sub = &business_view_shape,
      .doc = "by id" },
    { "next", .type = FIELD_STR, AT(business_page_view, next), .max = CURSOR_MAX_BYTES,
      .doc = "`after` of the next page; empty: this is the last" },
    { 0 },
};
const struct shape business_page_view_shape = { "business_page_view", sizeof(struct business_page_view),
                                                business_page_fields };

static const struct field member_fields[] = {
    { "business", .type = FIELD_INT, AT(business_id, id), .min = 1, .max = INT32_MAX },
    { 0 },
};
static const struct shape member_shape = { "business", sizeof(struct business_id), member_fields, .bare = true };

static const struct field set_of_fields[] = {
    { "id", "bk_biz_set_id", FIELD_INT, AT(business_set_view, id), .flags = FIELD_REQUIRED, .min = 1, .max = INT32_MAX,
      .doc = "its number; from 8000000 to 9999999, where clients of Job are to name it as a business" },
    { "name", "bk_biz_set_name", FIELD_STR, AT(business_set_view, name), .flags = FIELD_REQUIRED, .min = 1,
      .max = NAME_MAX_BYTES, .check = rule_line, .doc = "for people" },
    { "businesses", .type = FIELD_LIST, AT(business_set_view, businesses), .max = MEMBERS_MAX, .sub = &member_shape,
      .doc = "its businesses" },
    { 0 },
};
const struct shape business_set_view_shape = { "business_set_view", sizeof(struct business_set_view), set_of_fields,
                                               .doc = "A set of businesses." };

static const struct field set_page_fields[] = {
    { "sets", .type = FIELD_LIST, AT(business_set_page, sets), .max = PAGE_MAX, .sub = &business_set_view_shape,
      .doc = "by id" },
    { "next", .type = FIELD_STR, AT(business_set_page, next), .max = CURSOR_MAX_BYTES,
      .doc = "`after` of the next page; empty: this is the last" },
    { 0 },
};
const struct shape business_set_page_shape = { "business_set_page", sizeof(struct business_set_page),
                                               set_page_fields };
/* clang-format on */
