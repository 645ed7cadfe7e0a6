/* SPDX-License-Identifier: MIT */
/* rules.c - see rules.h. */
#include "model/rules.h"

#include <stddef.h>

#include "base/text/msg.h"

const char *rule_line(const char *text)
{
    for (; *text; text++) {
        if ((unsigned char)*text < 32 || *text == 127)
            return MSG("must not have control characters");
    }
    return NULL;
}

/* Result keys are host:namespace:name, and clients split them at the colons. */
const char *rule_space(const char *text)
{
    for (const char *p = text; *p; p++) {
        if (*p == ':')
            return MSG("must not have a colon");
    }
    return rule_line(text);
}

const char *rule_path(const char *text)
{
    return *text && *text != '/' ? MSG("must be an absolute path") : rule_line(text);
}
