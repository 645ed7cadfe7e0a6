/* SPDX-License-Identifier: MIT */
/* unit_names.c - see unit_names.h. */
#include "cli/unit_names.h"

#include <string.h>

#include "base/mem/buf.h"
#include "base/text/utf8.h"

void unit_names_init(struct unit_names *n, const char *path, const char *host, struct arena *a)
{
    static const char end[] = ".service";
    const char *slash = strrchr(path, '/'), *unit = slash ? slash + 1 : path, *sign;
    size_t length = strlen(unit);

    if (length > sizeof(end) - 1 && !strcmp(unit + length - (sizeof(end) - 1), end))
        length -= sizeof(end) - 1;
    *n = (struct unit_names){ .unit = arena_strdup(a, unit),
                              .name = arena_memdup(a, unit, length),
                              .host = host };
    sign = strchr(n->name, '@');
    n->prefix = sign ? arena_memdup(a, n->name, (size_t)(sign - n->name)) : n->name;
    n->instance = sign && sign[1] ? sign + 1 : NULL;
    n->is_template = sign && !sign[1];
}

/* Of the system's manager, which is root: not of User=. */
static const char *unit_names_value(const struct unit_names *n, char c)
{
    switch (c) {
    case '%': return "%";
    case 'n': return n->unit;
    case 'N': return n->name;
    case 'p': return n->prefix;
    case 'i': return n->instance;
    case 'I': return n->instance && !strpbrk(n->instance, "-\\") ? n->instance : NULL;
    case 'u':
    case 'g': return "root";
    case 'U':
    case 'G': return "0";
    case 'h': return "/root";
    case 'H': return n->host;
    case 't': return "/run";
    case 'S': return "/var/lib";
    case 'C': return "/var/cache";
    case 'L': return "/var/log";
    case 'E': return "/etc";
    case 'T': return "/tmp";
    case 'V': return "/var/tmp";
    }
    return NULL;
}

int unit_names_expand(const struct unit_names *n, struct arena *a, const char *text,
                      const char **ret, struct err *err)
{
    struct buf b = { 0 };
    int bad = 0;

    for (; *text && !bad; text++) {
        const char *value = *text == '%' ? unit_names_value(n, text[1]) : NULL;

        if (*text != '%' || !text[1]) { /* CPUQuota=50% */
            buf_addc(&b, *text);
        } else if (value) {
            buf_puts(&b, value);
            text++;
        } else {
            size_t size = utf8_char(text + 1, strlen(text + 1));

            bad = err_set(err, ERR_INVALID, "the specifier %s is not known here",
                          arena_memdup(a, text, 1 + size));
        }
    }
    if (!bad)
        *ret = arena_memdup(a, buf_data(&b), b.len);
    buf_free(&b);
    return bad;
}
