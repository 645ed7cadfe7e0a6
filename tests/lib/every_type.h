/* SPDX-License-Identifier: MIT */
/* every_type.h - a shape with a field of every type and flag, for tests. */
#ifndef TESTS_LIB_EVERY_TYPE_H
#define TESTS_LIB_EVERY_TYPE_H

#include <string.h>

#include "wire/json/shape.h"

struct every_sub {
    const char *user;
    int64_t level;
    enum presence has_level;
};

struct every_item {
    const char *name;
    int64_t size;
    struct every_sub owner;
};

struct every_text {
    const char *text;
};

struct every_number {
    int64_t number;
};

struct every_scalar {
    struct scalar value;
};

struct every_label {
    const char *key;
    struct scalar value;
};

struct every_variable {
    const char *key, *value;
};

struct every_group {
    const char *key;
    struct every_sub value;
};

struct every {
    const char *text, *word, *secret, *note, *maybe;
    int64_t count, port, tries;
    double ratio, scale;
    bool on, flag;
    int64_t kind, mode;
    struct every_sub sub, spare;
    struct list items;   /* struct every_item */
    struct list names;   /* struct every_text */
    struct list numbers; /* struct every_number */
    struct list mixed;   /* struct every_scalar */
    struct list labels;  /* struct every_label */
    struct list env;     /* struct every_variable */
    struct list groups;  /* struct every_group */
    struct scalar any;
    const char *raw, *extra;
    enum presence has_maybe, has_tries, has_spare, has_extra;
};

static const char *every_no_blank(const char *text)
{
    return strchr(text, ' ') ? "must not have blanks" : NULL;
}

#define EVERY_AT(type, member)  .offset = offsetof(struct type, member)
#define EVERY_HAS(type, member) .has = offsetof(struct type, member)

/* clang-format off */
static const struct field every_sub_fields[] = {
    { "user", "owner account", .type = FIELD_STR, EVERY_AT(every_sub, user), .max = 8 },
    { "level", .type = FIELD_INT, EVERY_AT(every_sub, level), EVERY_HAS(every_sub, has_level), .min = -9, .max = 9 },
    { 0 },
};
static const struct shape every_sub_shape = { "sub", sizeof(struct every_sub), every_sub_fields };

static const struct field every_item_fields[] = {
    { "name", .type = FIELD_STR, EVERY_AT(every_item, name), .flags = FIELD_REQUIRED, .min = 1, .max = 8 },
    { "size", .type = FIELD_INT, EVERY_AT(every_item, size), .max = 10, .fallback = 4 },
    { "owner", .type = FIELD_OBJ, EVERY_AT(every_item, owner), .sub = &every_sub_shape },
    { 0 },
};
static const struct shape every_item_shape = { "item", sizeof(struct every_item), every_item_fields };

static const struct field every_text_fields[] = {
    { "text", .type = FIELD_STR, EVERY_AT(every_text, text), .min = 1, .max = 8 }, { 0 },
};
static const struct shape every_text_shape = { "text", sizeof(struct every_text), every_text_fields, .bare = true };

static const struct field every_number_fields[] = {
    { "number", .type = FIELD_INT, EVERY_AT(every_number, number), .min = 1, .max = 9 }, { 0 },
};
static const struct shape every_number_shape = { "number", sizeof(struct every_number), every_number_fields, .bare = true };

static const struct field every_scalar_fields[] = {
    { "value", .type = FIELD_SCALAR, EVERY_AT(every_scalar, value), .max = 8 }, { 0 },
};
static const struct shape every_scalar_shape = { "scalar", sizeof(struct every_scalar), every_scalar_fields, .bare = true };

static const struct field every_label_fields[] = {
    { "key", .type = FIELD_STR, EVERY_AT(every_label, key), .max = 300 },
    { "value", .type = FIELD_SCALAR, EVERY_AT(every_label, value), .max = 8 },
    { 0 },
};
static const struct shape every_label_shape = { "label", sizeof(struct every_label), every_label_fields };

static const struct field every_variable_fields[] = {
    { "key", .type = FIELD_STR, EVERY_AT(every_variable, key), .min = 1, .max = 8, .check = every_no_blank },
    { "value", .type = FIELD_STR, EVERY_AT(every_variable, value), .max = 8 },
    { 0 },
};
static const struct shape every_variable_shape = { "variable", sizeof(struct every_variable), every_variable_fields };

static const struct field every_group_fields[] = {
    { "key", .type = FIELD_STR, EVERY_AT(every_group, key), .max = 300 },
    { "value", .type = FIELD_OBJ, EVERY_AT(every_group, value), .sub = &every_sub_shape },
    { 0 },
};
static const struct shape every_group_shape = { "group", sizeof(struct every_group), every_group_fields };

static const struct enum_name every_kinds[] = { { 0, "zero" }, { 1, "one" }, { 5, "five" }, { -2, "minus two" }, { 0 } };

static const struct field every_fields[] = {
    { "text", .type = FIELD_STR, EVERY_AT(every, text), .max = 16 },
    { "word", "wort mot", .type = FIELD_STR, EVERY_AT(every, word), .min = 1, .max = 8, .fallback_text = "none",
      .check = every_no_blank },
    { "secret", .type = FIELD_STR, EVERY_AT(every, secret), .flags = FIELD_SECRET, .max = 16 },
    { "note", .type = FIELD_STR, EVERY_AT(every, note), .flags = FIELD_OMIT_EMPTY, .max = 16 },
    { "maybe", .type = FIELD_STR, EVERY_AT(every, maybe), EVERY_HAS(every, has_maybe), .max = 16, .fallback_text = "perhaps" },
    { "count", .type = FIELD_INT, EVERY_AT(every, count) },
    { "port", "tcp_port", .type = FIELD_INT, EVERY_AT(every, port), .min = 1, .max = 65535, .fallback = 7020 },
    { "tries", .type = FIELD_INT, EVERY_AT(every, tries), EVERY_HAS(every, has_tries), .flags = FIELD_ZERO_UNSET,
      .min = 1, .max = 10, .fallback = 3 },
    { "ratio", .type = FIELD_FLOAT, EVERY_AT(every, ratio), .max = 100 },
    { "scale", .type = FIELD_FLOAT, EVERY_AT(every, scale), .flags = FIELD_ZERO_UNSET, .fallback = 2 },
    { "on", .type = FIELD_BOOL, EVERY_AT(every, on), .fallback = 1 },
    { "flag", .type = FIELD_BOOL, EVERY_AT(every, flag), .flags = FIELD_OMIT_EMPTY },
    { "kind", .type = FIELD_ENUM, EVERY_AT(every, kind), .names = every_kinds, .fallback = 1 },
    { "mode", .type = FIELD_ENUM, EVERY_AT(every, mode), .names = every_kinds, .flags = FIELD_BY_NAME },
    { "sub", .type = FIELD_OBJ, EVERY_AT(every, sub), .sub = &every_sub_shape },
    { "spare", .type = FIELD_OBJ, EVERY_AT(every, spare), EVERY_HAS(every, has_spare), .sub = &every_sub_shape },
    { "items", .type = FIELD_LIST, EVERY_AT(every, items), .max = 20, .sub = &every_item_shape },
    { "names", .type = FIELD_LIST, EVERY_AT(every, names), .max = 4, .sub = &every_text_shape },
    { "numbers", .type = FIELD_LIST, EVERY_AT(every, numbers), .flags = FIELD_OMIT_EMPTY, .max = 4, .sub = &every_number_shape },
    { "mixed", .type = FIELD_LIST, EVERY_AT(every, mixed), .max = 8, .sub = &every_scalar_shape },
    { "labels", .type = FIELD_MAP, EVERY_AT(every, labels), .max = 20, .sub = &every_label_shape },
    { "env", .type = FIELD_MAP, EVERY_AT(every, env), .flags = FIELD_OMIT_EMPTY, .max = 4, .sub = &every_variable_shape },
    { "groups", .type = FIELD_MAP, EVERY_AT(every, groups), .max = 4, .sub = &every_group_shape },
    { "any", .type = FIELD_SCALAR, EVERY_AT(every, any), .max = 8 },
    { "raw", .type = FIELD_RAW, EVERY_AT(every, raw), .max = 200 },
    { "extra", .type = FIELD_RAW, EVERY_AT(every, extra), EVERY_HAS(every, has_extra), .max = 200, .fallback_text = "{\"x\":1}" },
    { 0 },
};
static const struct shape every_shape = { "every", sizeof(struct every), every_fields };
/* clang-format on */

#endif
