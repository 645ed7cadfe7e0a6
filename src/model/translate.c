/* SPDX-License-Identifier: MIT */
/* translate.c - see translate.h. */
#include "model/translate.h"

#include <pthread.h>
#include <stdint.h>
#include <string.h>

#include "base/mem/mem.h"

/* clang-format off */
const struct translation translations[] = {
#include "model/translations/gse.h"
#include "model/translations/system.h"
#include "model/translations/base.h"
#include "model/translations/wire.h"
#include "model/translations/model.h"
#include "model/translations/link.h"
#include "model/translations/agent.h"
#include "model/translations/store.h"
#include "model/translations/server.h"
#include "model/translations/api.h"
#include "model/translations/cli.h"
#include "model/translations/bin.h"
#include "model/translations/fleetsim.h"
    { { NULL } },
};
/* clang-format on */

/* A hash table with open addressing: 1 + the number of a row, or 0. */
enum { SLOTS = 4096 };
static uint16_t slots[SLOTS];
static pthread_once_t is_indexed = PTHREAD_ONCE_INIT;

_Static_assert(ARRAY_LEN(translations) < SLOTS / 2, "SLOTS must be at least twice the rows");

/* FNV-1a */
static uint32_t hash(const char *text, size_t n)
{
    uint32_t h = 2166136261u;

    for (size_t i = 0; i < n; i++)
        h = (h ^ (unsigned char)text[i]) * 16777619u;
    return h;
}

static bool is_row(const struct translation *t, const char *text, size_t n)
{
    return !strncmp(t->text[LANG_EN], text, n) && !t->text[LANG_EN][n];
}

/* The slot of a format, or the empty one where it belongs. */
static uint16_t *translate_slot_of(const char *text, size_t n)
{
    uint32_t at = hash(text, n) % SLOTS;

    while (slots[at] && !is_row(&translations[slots[at] - 1], text, n))
        at = (at + 1) % SLOTS;
    return &slots[at];
}

static void index_rows(void)
{
    for (size_t i = 0; translations[i].text[LANG_EN]; i++) {
        const char *text = translations[i].text[LANG_EN];

        *translate_slot_of(text, strlen(text)) = (uint16_t)(i + 1);
    }
}

static const struct translation *find_row(const char *fmt, size_t n)
{
    uint16_t slot;

    pthread_once(&is_indexed, index_rows);
    slot = *translate_slot_of(fmt, n);
    return slot ? &translations[slot - 1] : NULL;
}

static const char *row_of(const char *fmt, size_t n, int lang)
{
    const struct translation *row = lang == LANG_EN ? NULL : find_row(fmt, n);

    return row ? row->text[lang] : NULL;
}

static const char *own_row_of(const char *fmt, size_t n, int lang)
{
    const struct translation *row = find_row(fmt, n);

    return row && row->own[lang] ? row->own[lang] : row_of(fmt, n, lang);
}

void translate_put(struct buf *to, const char *text, enum lang lang)
{
    buf_put_msg(to, text, row_of, lang);
}

static const char *translate_by(msg_row_of *rows, const char *text, enum lang lang, struct arena *a)
{
    size_t n;
    char *to;

    if (!msg_is(text))
        return text;
    n = msg_put(NULL, 0, text, rows, lang) + 1;
    to = arena_bytes(a, n);
    msg_put(to, n, text, rows, lang);
    return to;
}

const char *translate(const char *text, enum lang lang, struct arena *a)
{
    return translate_by(row_of, text, lang, a);
}

const char *translate_own(const char *text, enum lang lang, struct arena *a)
{
    return translate_by(own_row_of, text, lang, a);
}
