/* SPDX-License-Identifier: MIT */
/* rules.h - what may stand in a text field, and how much: the limits and checks
 * that rows of several tables share. */
#ifndef MODEL_RULES_H
#define MODEL_RULES_H

enum {
    NAME_MAX_BYTES = 256,
    PATH_MAX_BYTES = 4096,
    COMMAND_MAX_BYTES = 16384,
    ID_MAX_BYTES = 64,
    TARGETS_MAX = 50000,   /* of one request */
    INSTANCES_MAX = 10000, /* of one process */
    HOUR_S = 3600,
    DAY_S = 86400,
};

/* Each returns NULL, or what is wrong ("must be an absolute path"). */
const char *rule_line(const char *text);  /* no control characters */
const char *rule_space(const char *text); /* a namespace */
const char *rule_path(const char *text);  /* absolute, or empty */

#endif
