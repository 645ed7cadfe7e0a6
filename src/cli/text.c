/* SPDX-License-Identifier: MIT */
/* text.c - see text.h; the rows are in text_rows.h. */
#include "cli/text.h"

#include <ctype.h>

static const char *const texts[TEXTS][LANGS] = {
#define TEXT(name, en, zh) [TEXT_##name] = { en, zh },
#include "cli/text_rows.h"
#undef TEXT
};

const char *text_get(enum lang lang, enum text id)
{
    return texts[id][lang];
}

/* The argument that the place at p ("{1}") is for; NULL where none is. */
static const char *place(const char *p, const char *const *args)
{
    if (p[0] != '{' || !isdigit((unsigned char)p[1]) || p[2] != '}')
        return NULL;
    for (int i = 0; args && args[i]; i++) {
        if (i == p[1] - '0')
            return args[i];
    }
    return NULL;
}

void text_put(struct buf *b, enum lang lang, enum text id, const char *const *args)
{
    for (const char *p = text_get(lang, id); *p; p++) {
        const char *arg = place(p, args);

        if (!arg) {
            buf_addc(b, *p);
            continue;
        }
        buf_puts(b, arg);
        p += 2;
    }
}

int text_err(struct err *err, int code, enum lang lang, enum text id, const char *const *args)
{
    struct buf b = { 0 };

    text_put(&b, lang, id, args);
    (void)err_set(err, code, "%s", buf_text(&b)); /* -1, as below */
    buf_free(&b);
    return -1;
}
