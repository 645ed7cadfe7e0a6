/* SPDX-License-Identifier: MIT */
/* shape_place.c - see shape_place.h. */
#include "wire/json/shape_place.h"

#include <stdbool.h>

static bool is_odd(const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if ((unsigned char)text[i] < 32 || text[i] == 127)
            return true;
    }
    return n == 0;
}

void shape_show(const char *text, size_t n, struct buf *to)
{
    if (is_odd(text, n))
        buf_quote(to, text, n);
    else
        buf_add(to, text, n);
}

void shape_place_print(const struct shape_place *p, struct buf *to)
{
    if (!p)
        return;
    shape_place_print(p->up, to);
    if (!p->name) {
        buf_printf(to, "[%zu]", p->n);
        return;
    }
    if (to->len)
        buf_addc(to, '.');
    shape_show(p->name, p->n, to);
}
