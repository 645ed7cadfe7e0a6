/* SPDX-License-Identifier: MIT */
/* width.c - see width.h. */
#include "cli/width.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/mem/mem.h"
#include "base/text/utf8.h"

struct range {
    uint32_t first, last;
};

/* Unicode 15: East Asian wide and full width, and emoji with picture presentation. */
static const struct range wide[] = {
    { 0x1100, 0x115F },   { 0x231A, 0x231B },   { 0x2329, 0x232A },   { 0x23E9, 0x23EC },
    { 0x2614, 0x2615 },   { 0x26A1, 0x26A1 },   { 0x2705, 0x2705 },   { 0x274C, 0x274C },
    { 0x2E80, 0x303E },   { 0x3041, 0x33FF },   { 0x3400, 0x4DBF },   { 0x4E00, 0xA4CF },
    { 0xA960, 0xA97C },   { 0xAC00, 0xD7A3 },   { 0xF900, 0xFAFF },   { 0xFE10, 0xFE19 },
    { 0xFE30, 0xFE6F },   { 0xFF01, 0xFF60 },   { 0xFFE0, 0xFFE6 },   { 0x16FE0, 0x18CD5 },
    { 0x1B000, 0x1B2FB }, { 0x1F300, 0x1F64F }, { 0x1F680, 0x1F6FC }, { 0x1F900, 0x1FAF8 },
    { 0x20000, 0x3FFFD },
};

static const struct range none[] = {
    { 0x0300, 0x036F }, { 0x0483, 0x0489 }, { 0x0591, 0x05BD }, { 0x064B, 0x065F },
    { 0x0E31, 0x0E31 }, { 0x0E34, 0x0E3A }, { 0x0E47, 0x0E4E }, { 0x1AB0, 0x1AFF },
    { 0x1DC0, 0x1DFF }, { 0x200B, 0x200D }, { 0x20D0, 0x20FF }, { 0x302A, 0x302D },
    { 0x3099, 0x309A }, { 0xFE00, 0xFE0F }, { 0xFE20, 0xFE2F }, { 0xE0100, 0xE01EF },
};

/* Control characters, and characters that change the direction of writing.  Output of a program
 * may contain them, a table must not. */
static const struct range unfit[] = {
    { 0x00, 0x1F },     { 0x7F, 0x9F },     { 0x061C, 0x061C }, { 0x200E, 0x200F },
    { 0x2028, 0x202E }, { 0x2060, 0x206F }, { 0xFEFF, 0xFEFF },
};

static bool is_in(const struct range *ranges, size_t n, uint32_t c)
{
    for (size_t i = 0; i < n; i++) {
        if (c >= ranges[i].first && c <= ranges[i].last)
            return true;
    }
    return false;
}

/* The character at p and its bytes; one byte if it is not valid. */
static size_t width_take(const char *p, uint32_t *ret)
{
    static const unsigned char lead_bits[] = { 0, 0x7F, 0x1F, 0x0F, 0x07 };
    size_t n = utf8_char(p, strlen(p));

    *ret = n ? (unsigned char)p[0] & lead_bits[n] : 0;
    for (size_t i = 1; i < n; i++)
        *ret = *ret << 6 | ((unsigned char)p[i] & 0x3F);
    return n ? n : 1;
}

static size_t width_char(uint32_t c)
{
    if (is_in(none, ARRAY_LEN(none), c))
        return 0;
    return is_in(wide, ARRAY_LEN(wide), c) ? 2 : 1;
}

size_t width_text(const char *text)
{
    size_t columns = 0;
    uint32_t c;

    while (*text) {
        text += width_take(text, &c);
        columns += width_char(c);
    }
    return columns;
}

size_t width_cut(const char *text, size_t columns)
{
    size_t at = 0, n;
    uint32_t c;

    while (text[at]) {
        n = width_take(text + at, &c);
        if (width_char(c) > columns)
            break;
        columns -= width_char(c);
        at += n;
    }
    return at;
}

/* Chinese punctuation: a line does not begin with one kind, nor end with the other. */
static bool is_closing(uint32_t c)
{
    static const struct range closing[] = {
        { 0x3001, 0x3002 }, { 0x300B, 0x300B }, { 0x300D, 0x300D },
        { 0x300F, 0x300F }, { 0xFF01, 0xFF01 }, { 0xFF09, 0xFF09 },
        { 0xFF0C, 0xFF0C }, { 0xFF1A, 0xFF1B }, { 0xFF1F, 0xFF1F },
    };

    return is_in(closing, ARRAY_LEN(closing), c);
}

static bool is_opening(uint32_t c)
{
    return c == 0xFF08 || c == 0x300A || c == 0x300C || c == 0x300E;
}

static bool may_end_between(uint32_t before, uint32_t after)
{
    if (after == ' ')
        return true;
    return (width_char(before) == 2 || width_char(after) == 2) && width_char(after) &&
           !is_closing(after) && !is_opening(before);
}

size_t width_line(const char *text, size_t columns)
{
    size_t fits = width_cut(text, columns), end = 0, at = 0;
    uint32_t c, before = ' ';

    if (!text[fits])
        return fits;
    while (at <= fits) {
        size_t n = width_take(text + at, &c);

        if (at && before != ' ' && may_end_between(before, c))
            end = at;
        before = c;
        at += n;
    }
    return end ? end : fits ? fits : width_take(text, &c);
}

const char *width_clean(struct arena *a, const char *text)
{
    char *copy = arena_bytes(a, strlen(text) + 1), *to = copy;
    uint32_t c;

    while (*text) {
        size_t n = width_take(text, &c);

        if (*text == '\n' || *text == '\t' || *text == '\r') {
            *to++ = ' ';
        } else if (is_in(unfit, ARRAY_LEN(unfit), c)) {
            *to++ = '?';
        } else {
            memcpy(to, text, n);
            to += n;
        }
        text += n;
    }
    *to = '\0';
    return copy;
}

void width_show(struct buf *to, const char *text)
{
    uint32_t c;

    while (*text) {
        size_t n = width_take(text, &c);

        if (!utf8_char(text, n))
            buf_printf(to, "\\x%02X", (unsigned char)*text);
        else if (*text == '\n' || *text == '\t' || !is_in(unfit, ARRAY_LEN(unfit), c))
            buf_add(to, text, n);
        else
            buf_printf(to, c < 0x100 ? "\\x%02X" : "\\u%04X", (unsigned)c);
        text += n;
    }
}
