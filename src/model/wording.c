/* SPDX-License-Identifier: MIT */
/* wording.c - see wording.h. */
#include "model/wording.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

enum {
    PLACES = 6,
    PLACE_SIZE = 3, /* bytes of "{0}" */
    DEPTH_MAX = 4,  /* sentences within sentences */
    COLONS_MAX = 4, /* behind which one may begin: a path may have some of its own */
    FRONT_MAX_BYTES = 1024,
};

struct piece {
    const char *p;
    size_t n;
};

/* What stands between two places, or up to the end. */
static size_t literal_bytes(const char *pattern)
{
    const char *next = strchr(pattern, '{');

    return next ? (size_t)(next - pattern) : strlen(pattern);
}

/* Behind what comes before the first place.  The end is looked at first: it decides most.  What
 * an agent sends can be long, but no name in front of a sentence is. */
static bool fits_places(const char *pattern, bool is_in_front, const char *text, const char *end,
                        struct piece places[PLACES])
{
    const char *tail = strrchr(pattern, '}') + 1;
    size_t n = strlen(tail);

    if ((size_t)(end - text) < n || memcmp(end - n, tail, n) != 0 ||
        (is_in_front && !n && (size_t)(end - text) > FRONT_MAX_BYTES))
        return false;
    for (end -= n; (pattern += PLACE_SIZE) != tail; places++, pattern += n) {
        const char *at;

        n = literal_bytes(pattern);
        at = memmem(text, (size_t)(end - text), pattern, n);
        if (!at)
            return false;
        *places = (struct piece){ text, (size_t)(at - text) };
        text = at + n;
    }
    *places = (struct piece){ text, (size_t)(end - text) };
    return true;
}

/* Of most rows the first byte tells. */
static bool fits(const char *pattern, const char *text, const char *end,
                 struct piece places[PLACES])
{
    const char *begin = pattern;

    for (; *pattern == *text && *pattern != '{'; pattern++, text++) {
        if (!*pattern)
            return true;
    }
    return *pattern == '{' && fits_places(pattern, pattern == begin, text, end, places);
}

struct match {
    const struct wording *row; /* NULL: none */
    struct piece places[PLACES];
};

/* "host: 1.2.3.4 is ..." is a path and a sentence rather than one that begins with a name: the
 * row for the latter is the second. */
static void choose(const char *english, struct match *first, struct match *second)
{
    const char *end = english + strlen(english);
    struct match m = { 0 };

    first->row = second->row = NULL;
    for (const struct wording *w = wordings; w->text[LANG_EN]; w++) {
        if (!fits(w->text[LANG_EN], english, end, m.places))
            continue;
        m.row = w;
        if (*w->text[LANG_EN] != '{' || !memmem(m.places[0].p, m.places[0].n, ": ", 2)) {
            *first = m;
            return;
        }
        if (!second->row)
            *second = m;
    }
}

static const char *code_words(const char *english, enum lang lang)
{
    for (const struct code_info *c = code_table; c->name; c++) {
        if (!strcmp(c->text[LANG_EN], english))
            return c->text[lang];
    }
    return NULL;
}

static bool put_words(struct buf *to, const char *english, enum lang lang, int depth);

static void put_piece(struct buf *to, const struct piece *piece, bool is_ours, enum lang lang,
                      int depth)
{
    struct arena a = { 0 };

    if (!is_ours || !put_words(to, arena_memdup(&a, piece->p, piece->n), lang, depth - 1))
        buf_add(to, piece->p, piece->n);
    arena_free(&a);
}

static void fill(struct buf *to, const char *phrase, const struct piece places[PLACES],
                 enum lang lang, int depth)
{
    for (const char *p = phrase; *p; p++) {
        bool is_ours = p[0] == '<' && isdigit((unsigned char)p[1]) && p[2] == '>';

        if (is_ours || (p[0] == '{' && isdigit((unsigned char)p[1]) && p[2] == '}')) {
            put_piece(to, &places[p[1] - '0'], is_ours, lang, depth);
            p += PLACE_SIZE - 1;
        } else {
            buf_addc(to, *p);
        }
    }
}

/* The text of a code, or a row; false: neither is there, and nothing was appended. */
static bool put_row(struct buf *to, const char *english, struct match *second, enum lang lang,
                    int depth)
{
    const char *words = code_words(english, lang);
    struct match m = { 0 };

    if (words)
        buf_puts(to, words);
    else
        choose(english, &m, second);
    if (m.row)
        fill(to, m.row->text[lang], m.places, lang, depth);
    return words || m.row;
}

/* "PATH: SENTENCE". */
static bool put_behind_path(struct buf *to, const char *english, enum lang lang, int depth)
{
    const char *at = strstr(english, ": ");
    struct match ignored;

    for (int i = 0; at && i < COLONS_MAX; i++, at = strstr(at + 2, ": ")) {
        size_t before = to->len;

        buf_add(to, english, (size_t)(at - english));
        buf_puts(to, "：");
        if (put_row(to, at + 2, &ignored, lang, depth))
            return true;
        buf_truncate(to, before);
    }
    return false;
}

/* Appends the words for it; false: it has none, and nothing was appended. */
static bool put_words(struct buf *to, const char *english, enum lang lang, int depth)
{
    struct match second;

    if (!depth)
        return false;
    if (put_row(to, english, &second, lang, depth) || put_behind_path(to, english, lang, depth))
        return true;
    if (second.row)
        fill(to, second.row->text[lang], second.places, lang, depth);
    return second.row;
}

void wording_put(struct buf *to, const char *english, enum lang lang)
{
    if (lang == LANG_EN || !put_words(to, english, lang, DEPTH_MAX))
        buf_puts(to, english);
}

const char *wording_in(const char *english, enum lang lang, struct arena *a)
{
    struct buf b = { 0 };
    const char *words = english;

    if (lang != LANG_EN && put_words(&b, english, lang, DEPTH_MAX))
        words = arena_strdup(a, buf_text(&b));
    buf_free(&b);
    return words;
}

const char *wording_again(struct wording_memo *m, const char *english, enum lang lang,
                          struct arena *a)
{
    size_t i = 0;

    if (lang == LANG_EN)
        return english;
    while (i < WORDING_MEMO && m->english[i] && strcmp(m->english[i], english) != 0)
        i++;
    if (i == WORDING_MEMO)
        i = m->oldest++ % WORDING_MEMO;
    else if (m->english[i])
        return m->words[i];
    m->english[i] = english;
    m->words[i] = wording_in(english, lang, a);
    return m->words[i];
}
