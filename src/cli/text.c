/* SPDX-License-Identifier: MIT */
/* text.c - see text.h; the rows are in text_rows.h. */
#include "cli/text.h"

#include "model/phrase.h"

static const char *const texts[TEXTS][LANGS] = {
#define TEXT(name, en, zh) [TEXT_##name] = { en, zh },
#include "cli/text_rows.h"
#undef TEXT
};

const char *text_get(enum lang lang, enum text id)
{
    return texts[id][lang];
}

void text_put(struct buf *b, enum lang lang, enum text id, const char *const *args)
{
    phrase_put(b, text_get(lang, id), args);
}

int text_err(struct err *err, int code, enum lang lang, enum text id, const char *const *args)
{
    struct buf b = { 0 };

    text_put(&b, lang, id, args);
    (void)err_set(err, code, "%s", buf_text(&b)); /* -1, as below */
    buf_free(&b);
    return -1;
}
