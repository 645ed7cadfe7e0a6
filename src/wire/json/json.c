/* SPDX-License-Identifier: MIT */
/* json.c - see json.h.
 *
 * Numbers are read with strtod(), which obeys LC_NUMERIC: our programs do not set that category
 * when they set a locale. */
#include "wire/json/json.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/msg.h"
#include "base/text/utf8.h"

static const char *const kind_names[JSON_KINDS] = {
    [JSON_KIND_NULL] = "null",
    [JSON_KIND_BOOL] = MSG("a boolean"),
    [JSON_KIND_NUMBER] = MSG("a number"),
    [JSON_KIND_STRING] = MSG("a string"),
    [JSON_KIND_LIST] = MSG("a list"),
    [JSON_KIND_OBJECT] = MSG("an object"),
};

const char *json_kind_name(enum json_kind kind)
{
    return kind_names[kind];
}

void json_init(struct json *j, const char *text, size_t n, struct arena *arena, struct err *err)
{
    if (!text)
        text = ""; /* an empty buf has no text */
    *j = (struct json){ .start = text, .p = text, .end = text + n, .arena = arena, .err = err };
}

void json_done(struct json *j)
{
    json_keys_free(&j->keys);
}

int json_fail(struct json *j, const char *at, const char *fmt, ...)
{
    char why[256];
    va_list ap;

    va_start(ap, fmt);
    msg_vprintf(why, sizeof(why), fmt, ap);
    va_end(ap);
    j->p = at;
    return err_set(j->err, ERR_MALFORMED, "byte %zu: %s", (size_t)(at - j->start), why);
}

/* Describes the unexpected byte: as it is if it is printable, else in hex. */
static int unexpected(struct json *j, const char *expected)
{
    unsigned char c;

    if (j->p == j->end)
        return json_fail(j, j->p, "the text ends where %s should be", expected);
    c = (unsigned char)*j->p;
    if (c > 32 && c < 127)
        return json_fail(j, j->p, "'%c' where %s should be", c, expected);
    return json_fail(j, j->p, "0x%02x where %s should be", c, expected);
}

static void skip_blanks(struct json *j)
{
    const char *p = j->p;

    while (p < j->end && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t'))
        p++;
    j->p = p;
}

int json_peek(struct json *j, enum json_kind *ret)
{
    skip_blanks(j);
    if (j->p == j->end)
        return unexpected(j, MSG("a value"));
    switch (*j->p) {
    case '"': *ret = JSON_KIND_STRING; return 0;
    case '{': *ret = JSON_KIND_OBJECT; return 0;
    case '[': *ret = JSON_KIND_LIST; return 0;
    case 't':
    case 'f': *ret = JSON_KIND_BOOL; return 0;
    case 'n': *ret = JSON_KIND_NULL; return 0;
    default: break;
    }
    if (*j->p != '-' && (*j->p < '0' || *j->p > '9'))
        return unexpected(j, MSG("a value"));
    *ret = JSON_KIND_NUMBER;
    return 0;
}

static bool take_word(struct json *j, const char *word, size_t n)
{
    if ((size_t)(j->end - j->p) < n || memcmp(j->p, word, n) != 0)
        return false;
    j->p += n;
    return true;
}

int json_read_null(struct json *j)
{
    return take_word(j, "null", 4) ? 0 : unexpected(j, MSG("null"));
}

int json_read_bool(struct json *j, bool *ret)
{
    bool yes = take_word(j, "true", 4);

    if (!yes && !take_word(j, "false", 5))
        return unexpected(j, MSG("true or false"));
    *ret = yes;
    return 0;
}

static int hex4(const char *p, const char *end, unsigned *ret)
{
    unsigned value = 0;

    if (end - p < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        unsigned char c = (unsigned char)p[i];

        if (c >= '0' && c <= '9')
            value = value * 16 + (c - '0');
        else if ((c | 32) >= 'a' && (c | 32) <= 'f')
            value = value * 16 + ((c | 32) - 'a' + 10);
        else
            return -1;
    }
    *ret = value;
    return 0;
}

/* Length of the \u escape (or surrogate pair) at p; 0 if it is not valid. */
static size_t unicode_escape(const char *p, const char *end, uint32_t *ret)
{
    unsigned first, second;

    if (hex4(p + 2, end, &first) || first == 0 || (first >= 0xDC00 && first <= 0xDFFF))
        return 0;
    *ret = first;
    if (first < 0xD800 || first > 0xDBFF)
        return 6;
    if (end - p < 12 || p[6] != '\\' || p[7] != 'u' || hex4(p + 8, end, &second) ||
        second < 0xDC00 || second > 0xDFFF)
        return 0;
    *ret = 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
    return 12;
}

/* The character of a one-letter escape; 0 if there is no such escape. */
static char simple_escape(char letter)
{
    switch (letter) {
    case '"':
    case '\\':
    case '/': return letter;
    case 'b': return '\b';
    case 'f': return '\f';
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    default: return 0;
    }
}

static int check_escape(struct json *j, const char *p, size_t *ret_n)
{
    uint32_t c;

    *ret_n = 2;
    if (j->end - p < 2)
        return json_fail(j, p, "the text ends inside a string");
    if (simple_escape(p[1]))
        return 0;
    if (p[1] != 'u')
        return json_fail(j, p, "no such escape in a string");
    *ret_n = unicode_escape(p, j->end, &c);
    return *ret_n ? 0
                  : json_fail(j, p,
                              "a \\u escape that is no character: four hex digits, not 0000, "
                              "surrogates in pairs");
}

int json_read_string(struct json *j, struct json_text *ret)
{
    const char *start = j->p + 1, *p = start;
    bool escaped = false;

    for (;;) {
        size_t n;

        p += buf_plain(p, (size_t)(j->end - p));
        if (p == j->end)
            return json_fail(j, p, "the text ends inside a string");
        if (*p == '"')
            break;
        if (*p == '\\') {
            escaped = true;
            if (check_escape(j, p, &n))
                return -1;
        } else if ((unsigned char)*p < 32) {
            return json_fail(j, p, "control character 0x%02x in a string", (unsigned char)*p);
        } else {
            n = utf8_char(p, (size_t)(j->end - p));
            if (n == 0)
                return json_fail(j, p, "invalid UTF-8");
        }
        p += n;
    }
    *ret = (struct json_text){ start, (size_t)(p - start), escaped };
    j->p = p + 1;
    return 0;
}

/* Moves *p behind the escape there and writes its character to `to`; returns how many bytes that
 * is, at most 4. */
static size_t take_escape(const char **p, const char *end, char *to)
{
    uint32_t c;

    if ((*p)[1] == 'u') {
        *p += unicode_escape(*p, end, &c);
        return utf8_put(to, c);
    }
    *to = simple_escape((*p)[1]);
    *p += 2;
    return 1;
}

/* The end of the bytes that need no unescaping. */
static const char *plain_end(const char *p, const char *end)
{
    const char *slash = memchr(p, '\\', (size_t)(end - p));

    return slash ? slash : end;
}

size_t json_unescape(const struct json_text *t, char *to)
{
    const char *p = t->p, *end = t->p + t->n;
    char *w = to;

    while (p < end) {
        size_t run = (size_t)(plain_end(p, end) - p);

        memmove(w, p, run);
        w += run;
        p += run;
        if (p < end)
            w += take_escape(&p, end, w);
    }
    return (size_t)(w - to);
}

size_t json_text_len(const struct json_text *t)
{
    const char *p = t->p, *end = t->p + t->n;
    size_t n = 0;
    char c[4];

    while (p < end) {
        size_t run = (size_t)(plain_end(p, end) - p);

        n += run;
        p += run;
        if (p < end)
            n += take_escape(&p, end, c);
    }
    return n;
}

const char *json_text_copy(const struct json_text *t, struct arena *a, size_t *ret_n)
{
    char *copy;

    if (!t->escaped) {
        *ret_n = t->n;
        return arena_memdup(a, t->p, t->n);
    }
    copy = arena_bytes(a, t->n + 1);
    *ret_n = json_unescape(t, copy);
    copy[*ret_n] = '\0';
    return copy;
}

/* Compares piece by piece, so that a word of any length can match. */
bool json_text_is(const struct json_text *t, const char *word)
{
    const char *p = t->p, *end = t->p + t->n;

    if (!t->escaped)
        return strlen(word) == t->n && memcmp(p, word, t->n) == 0;
    while (p < end) {
        char c[4] = { *p };
        size_t n = 1;

        if (*p == '\\')
            n = take_escape(&p, end, c);
        else
            p++;
        if (strncmp(word, c, n) != 0)
            return false;
        word += n;
    }
    return *word == '\0';
}

static const char *digits(const char *p, const char *end)
{
    while (p < end && *p >= '0' && *p <= '9')
        p++;
    return p;
}

/* The end of the number at j->p by JSON's grammar; NULL (with the error set) if it is not a
 * number. */
static const char *number_end(struct json *j, bool *ret_is_int)
{
    const char *p = j->p + (*j->p == '-'), *q = digits(p, j->end);

    *ret_is_int = true;
    if (q == p || (*p == '0' && q - p > 1)) {
        json_fail(j, p, q == p ? "a number without digits" : "a number with a leading zero");
        return NULL;
    }
    if (q < j->end && *q == '.') {
        *ret_is_int = false;
        p = q + 1;
        q = digits(p, j->end);
    }
    if (q != p && q < j->end && (*q | 32) == 'e') {
        *ret_is_int = false;
        p = q + 1;
        if (p < j->end && (*p == '+' || *p == '-'))
            p++;
        q = digits(p, j->end);
    }
    if (q == p) {
        json_fail(j, p, "a number without digits");
        return NULL;
    }
    return q;
}

/* ERR_LIMIT, because the number is valid JSON: a caller that knows the field can give its range. */
static int too_large(struct json *j, const char *why)
{
    json_fail(j, j->p, "%s", why);
    j->err->code = ERR_LIMIT;
    return -1;
}

enum { LONG_INT = 18 }; /* so many digits always fit into an int64_t */

static int read_int(struct json *j, const char *end, int64_t *ret)
{
    bool negative = *j->p == '-', is_long = end - j->p > LONG_INT;
    uint64_t value = 0, most = (uint64_t)INT64_MAX + negative;

    for (const char *p = j->p + negative; p < end; p++) {
        unsigned digit = (unsigned)(*p - '0');

        if (is_long && value > (most - digit) / 10)
            return too_large(j, MSG("an integer too large for 64 bits"));
        value = value * 10 + digit;
    }
    *ret = negative ? (int64_t)-value : (int64_t)value;
    return 0;
}

/* strtod() needs a NUL behind the number, which the text does not have. */
static int read_double(struct json *j, const char *end, double *ret)
{
    char copy[JSON_NUMBER_MAX + 1];
    size_t n = (size_t)(end - j->p);
    double d;

    memcpy(copy, j->p, n);
    copy[n] = '\0';
    d = strtod(copy, NULL);
    if (!isfinite(d))
        return too_large(j, MSG("a number too large for a double"));
    *ret = d;
    return 0;
}

int json_read_number(struct json *j, struct json_number *ret)
{
    struct json_number number = { .p = j->p };
    const char *end = number_end(j, &number.is_int);

    if (!end)
        return -1;
    number.n = (size_t)(end - j->p);
    if (number.n > JSON_NUMBER_MAX)
        return json_fail(j, j->p, "a number of more than %d bytes", JSON_NUMBER_MAX);
    if (number.is_int ? read_int(j, end, &number.i) : read_double(j, end, &number.d))
        return -1;
    if (number.is_int)
        number.d = (double)number.i;
    *ret = number;
    j->p = end;
    return 0;
}

int json_enter(struct json *j, enum json_kind kind, struct json_walk *ret)
{
    if (j->depth == JSON_DEPTH_MAX)
        return json_fail(j, j->p, "nested deeper than %d", JSON_DEPTH_MAX);
    *ret = (struct json_walk){ .kind = kind };
    ret->mark = j->keys.n;
    j->p++;
    j->depth++;
    return 0;
}

enum { SHOWN_BYTES = 100 }; /* bytes of a key shown in an error */

int json_note_key(struct json *j, const struct json_walk *w)
{
    const char *key = w->key.p;
    size_t n = w->key.n;
    struct buf shown = { 0 };

    if (!j->arena)
        return 0;
    if (j->keys.n - w->mark >= JSON_KEYS_MAX) {
        json_fail(j, w->key.p - 1, "more than %d keys in one object", JSON_KEYS_MAX);
        j->err->code = ERR_LIMIT;
        return -1;
    }
    if (w->key.escaped)
        key = json_text_copy(&w->key, j->arena, &n);
    if (json_keys_push(&j->keys, w->mark, key, n))
        return 0;
    buf_quote(&shown, key, utf8_whole(key, n < SHOWN_BYTES ? n : SHOWN_BYTES));
    if (shown.len >
        SHOWN_BYTES +
            20) { /* if all bytes are escaped, cut again, so that the rest of the message fits */
        buf_drop(&shown, shown.len);
        buf_quote(&shown, key, utf8_whole(key, SHOWN_BYTES / 6));
    }
    json_fail(j, w->key.p - 1, "the key %s stands twice in one object", buf_text(&shown));
    buf_free(&shown);
    return -1;
}

static int read_key(struct json *j, struct json_walk *w)
{
    if (j->p == j->end || *j->p != '"')
        return unexpected(j, MSG("a key in quotes"));
    if (json_read_string(j, &w->key))
        return -1;
    skip_blanks(j);
    if (j->p == j->end || *j->p != ':')
        return unexpected(j, MSG("':'"));
    j->p++;
    return 0;
}

int json_next(struct json *j, struct json_walk *w, bool *ret_more)
{
    const char close = w->kind == JSON_KIND_OBJECT ? '}' : ']';

    skip_blanks(j);
    if (j->p < j->end && *j->p == close) {
        j->p++;
        j->depth--;
        json_keys_pop(&j->keys, w->mark);
        *ret_more = false;
        return 0;
    }
    if (w->begun) {
        if (j->p == j->end || *j->p != ',')
            return unexpected(j,
                              w->kind == JSON_KIND_OBJECT ? MSG("',' or '}'") : MSG("',' or ']'"));
        j->p++;
        skip_blanks(j);
    }
    if (w->kind == JSON_KIND_OBJECT && read_key(j, w))
        return -1;
    w->begun = true;
    *ret_more = true;
    return 0;
}

static int skip_many(struct json *j, enum json_kind kind)
{
    struct json_walk w;
    bool more;

    if (json_enter(j, kind, &w))
        return -1;
    for (;;) {
        if (json_next(j, &w, &more))
            return -1;
        if (!more)
            return 0;
        if ((kind == JSON_KIND_OBJECT && json_note_key(j, &w)) || json_skip(j))
            return -1;
    }
}

int json_skip(struct json *j)
{
    enum json_kind kind;
    struct json_number number;
    struct json_text text;
    bool yes;

    if (json_peek(j, &kind))
        return -1;
    switch (kind) {
    case JSON_KIND_NULL: return json_read_null(j);
    case JSON_KIND_BOOL: return json_read_bool(j, &yes);
    case JSON_KIND_NUMBER: return json_read_number(j, &number);
    case JSON_KIND_STRING: return json_read_string(j, &text);
    case JSON_KIND_LIST:
    case JSON_KIND_OBJECT: return skip_many(j, kind);
    case JSON_KINDS: break;
    }
    abort();
}

int json_finish(struct json *j)
{
    skip_blanks(j);
    return j->p == j->end ? 0 : unexpected(j, MSG("the end"));
}

/* Writes a number with up to four decimals, such as a percentage, without printf(), which would
 * take longer than the rest of an answer.  The nearest double to n / 10000 reads back as the
 * same number. */
static bool put_short(struct buf *b, double d)
{
    enum { SCALE = 10000, DIGITS = 4 };
    double scaled = floor(fabs(d) * SCALE + 0.5);
    char digits[DIGITS];
    int64_t n;
    size_t keep = 0;

    if (scaled >= 1e15 || scaled / SCALE != fabs(d))
        return false;
    n = (int64_t)scaled;
    if (d < 0)
        buf_addc(b, '-');
    buf_put_int(b, n / SCALE);
    for (int i = DIGITS - 1, rest = (int)(n % SCALE); i >= 0; i--, rest /= 10) {
        digits[i] = (char)('0' + rest % 10);
        if (!keep && rest % 10)
            keep = (size_t)i + 1;
    }
    if (keep) {
        buf_addc(b, '.');
        buf_add(b, digits, keep);
    }
    return true;
}

void json_put_double(struct buf *b, double d)
{
    char text[40];

    if (!isfinite(d)) {
        buf_puts(b, "null");
        return;
    }
    if (d == floor(d) && fabs(d) < 1e15) {
        buf_put_int(b, (int64_t)d);
        return;
    }
    if (put_short(b, d))
        return;
    for (int precision = 15; precision <= 17; precision++) {
        snprintf(text, sizeof(text), "%.*g", precision, d);
        if (strtod(text, NULL) == d)
            break;
    }
    buf_puts(b, text);
}
