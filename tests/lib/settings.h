/* SPDX-License-Identifier: MIT */
/* settings.h - a shape with a setting of every kind, for the tests of yaml and
 * config and for their fuzz target. */
#ifndef TESTS_LIB_SETTINGS_H
#define TESTS_LIB_SETTINGS_H

#include "wire/json/shape.h"

struct word {
    const char *text;
};

struct test_settings {
    const char *name;
    int64_t port;
    double share;
    bool fast;
    int64_t level;
    struct list words;  /* struct word */
    struct list labels; /* struct test_label */
    struct {
        const char *file;
        int64_t keep_days;
        int64_t lines; /* without effect */
        enum presence has_lines;
    } log;
};

struct test_label {
    const char *key;
    struct scalar value;
};

#define AT_SETTING(member) .offset = offsetof(struct test_settings, member)

static const struct field test_word_fields[] = {
    { "word", .type = FIELD_STR, .offset = offsetof(struct word, text), .max = 16 },
    { 0 },
};
static const struct shape test_word_shape = { "word", sizeof(struct word), test_word_fields,
                                              .bare = true };

static const struct field test_label_fields[] = {
    { "key", .type = FIELD_STR, .offset = offsetof(struct test_label, key), .max = 16 },
    { "value", .type = FIELD_SCALAR, .offset = offsetof(struct test_label, value), .max = 16 },
    { 0 },
};
static const struct shape test_label_shape = { "label", sizeof(struct test_label),
                                               test_label_fields };

static const struct field test_log_fields[] = {
    { "file", .type = FIELD_STR,
      .offset = offsetof(struct test_settings, log.file) - offsetof(struct test_settings, log),
      .max = 64, .doc = "where to" },
    { "keep_days", .type = FIELD_INT,
      .offset = offsetof(struct test_settings, log.keep_days) - offsetof(struct test_settings, log),
      .min = 1, .max = 365, .fallback = 7, .doc = "how long" },
    { "lines", .type = FIELD_INT, .flags = FIELD_NO_EFFECT,
      .offset = offsetof(struct test_settings, log.lines) - offsetof(struct test_settings, log),
      .has = offsetof(struct test_settings, log.has_lines) - offsetof(struct test_settings, log),
      .max = 9 },
    { 0 },
};
static const struct shape test_log_shape = { "log", sizeof(((struct test_settings *)0)->log),
                                             test_log_fields };

static const struct enum_name test_level_names[] = { { 0, "low" }, { 1, "high" }, { 0 } };

static const struct field test_settings_fields[] = {
    { "name", .type = FIELD_STR, AT_SETTING(name), .flags = FIELD_REQUIRED, .min = 1, .max = 32,
      .doc = "what it is called" },
    { "port", .type = FIELD_INT, AT_SETTING(port), .min = 1, .max = 65535, .fallback = 7020,
      .doc = "its port" },
    { "share", .type = FIELD_FLOAT, AT_SETTING(share), .max = 100, .doc = "percent" },
    { "fast", .type = FIELD_BOOL, AT_SETTING(fast), .doc = "hurry" },
    { "level", .type = FIELD_ENUM, AT_SETTING(level), .names = test_level_names, .fallback = 1,
      .doc = "how much" },
    { "words", .type = FIELD_LIST, AT_SETTING(words), .max = 4, .sub = &test_word_shape,
      .doc = "some words" },
    { "labels", .type = FIELD_MAP, AT_SETTING(labels), .max = 4, .sub = &test_label_shape,
      .doc = "anything" },
    { "log", .type = FIELD_OBJ, AT_SETTING(log), .sub = &test_log_shape, .doc = "the log" },
    { 0 },
};
static const struct shape test_settings_shape = { "settings", sizeof(struct test_settings),
                                                  test_settings_fields };

#endif
