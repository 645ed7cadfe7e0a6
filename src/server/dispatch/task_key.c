/* SPDX-License-Identifier: MIT */
/* task_key.c - see task_key.h. */
#include "server/dispatch/task_key.h"

#include <string.h>

#define ESCAPE     '\x10' /* DLE, data link escape */
#define ESCAPED_LF 'n'
#define TO_ESCAPE  "\n\x10"

const char *task_key_line(const char *name, struct arena *a)
{
    size_t plain = strcspn(name, TO_ESCAPE);
    char *line, *to;

    if (!name[plain])
        return name;
    line = to = arena_bytes(a, 2 * strlen(name) + 1);
    for (; *name; name++) {
        if (*name == '\n' || *name == ESCAPE)
            *to++ = ESCAPE;
        *to++ = *name == '\n' ? ESCAPED_LF : *name;
    }
    *to = '\0';
    return line;
}

static void unescape(struct task_name *name, struct arena *a)
{
    const char *from = name->text, *end = from + name->n;
    char *text = arena_bytes(a, name->n), *to = text;

    while (from < end) {
        bool is_escaped = *from == ESCAPE && from + 1 < end;

        from += is_escaped;
        *to++ = is_escaped && *from == ESCAPED_LF ? '\n' : *from;
        from++;
    }
    *name = (struct task_name){ text, (size_t)(to - text) };
}

bool task_key_next(const char **at, struct arena *a, struct task_name *ret)
{
    size_t n;

    if (!*at)
        return false;
    n = strcspn(*at, "\n");
    *ret = (struct task_name){ *at, n };
    *at = (*at)[n] ? *at + n + 1 : NULL;
    if (memchr(ret->text, ESCAPE, n))
        unescape(ret, a);
    return true;
}

const char *task_key_first(const char *key, struct arena *a)
{
    struct task_name name;

    task_key_next(&key, a, &name);
    return arena_memdup(a, name.text, name.n);
}
