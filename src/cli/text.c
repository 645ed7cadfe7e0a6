/* SPDX-License-Identifier: MIT */
/* text.c - see text.h; the rows are in text_rows.h. */
#include "cli/text.h"

#include "base/mem/mem.h"
#include "model/phrase.h"
#include "model/translate.h"

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
    const char *readable[TEXT_ARGS_MAX + 1] = { 0 };
    struct arena a = { 0 };

    for (size_t i = 0; i < TEXT_ARGS_MAX && args && args[i]; i++)
        readable[i] = msg_is(args[i]) ? translate(args[i], lang, &a) : args[i];
    phrase_put(b, text_get(lang, id), readable);
    arena_free(&a);
}

int text_err(struct err *err, int code, enum lang lang, enum text id, const char *const *args)
{
    struct buf b = { 0 };

    text_put(&b, lang, id, args);
    (void)err_set(err, code, "%s", buf_text(&b)); /* -1, returned below */
    buf_free(&b);
    return -1;
}
