/* SPDX-License-Identifier: MIT */
/* rules.h - limits and checks of text fields that several tables share. */
#ifndef MODEL_RULES_H
#define MODEL_RULES_H

enum {
    NAME_MAX_BYTES = 256,
    PATH_MAX_BYTES = 4096,
    COMMAND_MAX_BYTES = 16384,
    ID_MAX_BYTES = 64,
    ID_ASKED_MAX_BYTES = 65536, /* of a requested id, which may be no id at all */
    KEY_MAX_BYTES = ID_ASKED_MAX_BYTES + 2 * NAME_MAX_BYTES + 64, /* host, namespace and name */
    TARGETS_MAX = 50000,                                          /* of one request */
    INSTANCES_MAX = 10000,                                        /* of one process */
    HOUR_S = 3600,
    DAY_S = 86400,
};

/* Each returns NULL, or what is wrong ("must be an absolute path"). */
const char *rule_line(const char *text);  /* no control characters */
const char *rule_space(const char *text); /* a namespace */
const char *rule_path(const char *text);  /* absolute, or empty */

#endif
