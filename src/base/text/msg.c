/* SPDX-License-Identifier: MIT */
/* msg.c - see msg.h. */
#include "base/text/msg.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/text/utf8.h"

enum { END_OF_FORMAT = '\x02', NUMBER_SIZE = 400, LONGEST_BYTES = 1 << 20 };

/* Text that is counted beyond its end. */
struct room {
    char *to;
    size_t size, n;
};

static void put(struct room *r, const char *text, size_t n)
{
    if (r->n < r->size)
        memcpy(r->to + r->n, text, n < r->size - r->n ? n : r->size - r->n);
    r->n += n;
}

/* Terminates the text, without a character that does not fit as a whole. */
static size_t end(struct room *r)
{
    size_t n = r->n;

    if (!r->size)
        return 0;
    if (n >= r->size)
        n = utf8_whole(r->to, r->size - 1);
    r->to[n] = '\0';
    return n;
}

/* ---- reading */

struct piece {
    const char *p;
    size_t n;
};

struct parsed {
    struct piece fmt, args[MSG_ARGS_MAX];
    size_t n_args;
};

/* One conversion of a format: "%-5.*lld", "%2$s". */
struct conversion {
    const char *p; /* at the '%' */
    size_t n;
    int place;   /* of its argument, from 1; 0: the next one */
    int stars;   /* arguments for width and precision */
    int longs;   /* 'l' in its length; 'z', 'j' and 't' count as two */
    char letter; /* '\0': the format is cut off */
};

static struct conversion conversion_at(const char *p, const char *end_of)
{
    struct conversion c = { .p = p };
    const char *digits;

    for (digits = ++p; p < end_of && isdigit((unsigned char)*p); p++)
        c.place = 10 * c.place + *p - '0';
    if (p < end_of && p > digits && *p == '$')
        p++;
    else
        c.place = 0;
    for (; p < end_of && strchr("-+ #0123456789.*hlzjt", *p); p++) {
        c.stars += *p == '*';
        c.longs += *p == 'l' ? 1 : strchr("zjt", *p) ? 2 : 0;
    }
    if (p < end_of)
        c.letter = *p++;
    c.n = (size_t)(p - c.p);
    return c;
}

/* The number of arguments that a format takes, or -1. */
static int arguments_of(const char *fmt, size_t n)
{
    int count = 0;

    for (const char *p = fmt; (p = memchr(p, '%', (size_t)(fmt + n - p)));) {
        struct conversion c = conversion_at(p, fmt + n);

        if (!c.letter)
            return -1;
        count += c.letter != '%';
        p += c.n;
    }
    return count <= MSG_ARGS_MAX ? count : -1;
}

static bool parse_argument(const char **p, const char *end_of, struct piece *ret)
{
    size_t n = 0;

    if (*p == end_of || !isdigit((unsigned char)**p))
        return false;
    for (; *p < end_of && isdigit((unsigned char)**p); (*p)++) {
        n = 10 * n + (size_t)(**p - '0');
        if (n > LONGEST_BYTES)
            return false;
    }
    if (*p == end_of || **p != ':' || n > (size_t)(end_of - *p - 1))
        return false;
    *ret = (struct piece){ *p + 1, n };
    *p += n + 1;
    return true;
}

static bool parse(const char *text, size_t n, struct parsed *ret)
{
    const char *end_of = text + n, *p;
    int count;

    if (!n || *text != MSG_BEGIN)
        return false;
    p = memchr(text, END_OF_FORMAT, n < MSG_FORMAT_MAX ? n : MSG_FORMAT_MAX);
    if (!p)
        return false;
    ret->fmt = (struct piece){ text + 1, (size_t)(p - text - 1) };
    count = arguments_of(ret->fmt.p, ret->fmt.n);
    if (count < 0 || !ret->fmt.n)
        return false;
    p++;
    for (ret->n_args = 0; ret->n_args < (size_t)count; ret->n_args++) {
        if (!parse_argument(&p, end_of, &ret->args[ret->n_args]))
            return false;
    }
    return p == end_of;
}

bool msg_is(const char *text)
{
    return *text == MSG_BEGIN;
}

bool msg_is_whole(const char *text)
{
    struct parsed m;

    return !msg_is(text) || parse(text, strlen(text), &m);
}

/* ---- readable */

static void put_readable(struct room *r, struct piece text, msg_row_of *row_of, int lang, int depth)
{
    struct parsed m;
    const char *row, *p, *end_of;
    size_t next = 0;

    if (!parse(text.p, text.n, &m)) {
        put(r, text.p, text.n);
        return;
    }
    if (!depth) { /* nested deeper than any of ours */
        put(r, m.fmt.p, m.fmt.n);
        return;
    }
    row = row_of ? row_of(m.fmt.p, m.fmt.n, lang) : NULL;
    p = row ? row : m.fmt.p;
    end_of = row ? row + strlen(row) : m.fmt.p + m.fmt.n;
    while (p < end_of) {
        const char *percent = memchr(p, '%', (size_t)(end_of - p));
        struct conversion c;
        size_t at;

        put(r, p, (size_t)((percent ? percent : end_of) - p));
        if (!percent)
            break;
        c = conversion_at(percent, end_of);
        p = percent + c.n;
        if (c.letter == '%') {
            put(r, "%", 1);
            continue;
        }
        at = c.place ? (size_t)c.place - 1 : next++;
        if (at < m.n_args)
            put_readable(r, m.args[at], row_of, lang, c.letter == 's' ? depth - 1 : 0);
    }
}

size_t msg_put(char *to, size_t size, const char *text, msg_row_of *row_of, int lang)
{
    struct room r = { to, size, 0 };

    put_readable(&r, (struct piece){ text, strlen(text) }, row_of, lang, MSG_DEPTH_MAX);
    (void)end(&r);
    return r.n;
}

const char *msg_english(char *to, size_t size, const char *text)
{
    if (!msg_is(text))
        return text;
    msg_put(to, size, text, NULL, 0);
    return to;
}

size_t msg_copy(char *to, size_t size, const char *text)
{
    struct room r = { to, size, 0 };
    size_t n = strlen(text);

    if (n >= size && msg_is(text))
        put_readable(&r, (struct piece){ text, n }, NULL, 0, MSG_DEPTH_MAX);
    else
        put(&r, text, n);
    return end(&r);
}

/* ---- writing */

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

/* Prints a number as its conversion says; the length is known to fit. */
static int print_number(char to[NUMBER_SIZE], const struct conversion *c, va_list *ap)
{
    char fmt[32];

    if (c->n >= sizeof(fmt) || c->stars)
        return -1;
    memcpy(fmt, c->p, c->n);
    fmt[c->n] = '\0';
    if (strchr("eEfFgG", c->letter))
        return snprintf(to, NUMBER_SIZE, fmt, va_arg(*ap, double));
    if (c->letter == 'p')
        return snprintf(to, NUMBER_SIZE, fmt, va_arg(*ap, void *));
    if (c->longs >= 2)
        return snprintf(to, NUMBER_SIZE, fmt, va_arg(*ap, long long));
    if (c->longs)
        return snprintf(to, NUMBER_SIZE, fmt, va_arg(*ap, long));
    return snprintf(to, NUMBER_SIZE, fmt, va_arg(*ap, int));
}

#pragma GCC diagnostic pop

_Static_assert(sizeof(long long) == sizeof(size_t) && sizeof(long long) == sizeof(intmax_t),
               "%zu and %jd are printed as %lld");

/* "%s" and "%.*s".  The bytes behind a precision need no NUL. */
static struct piece text_argument(const struct conversion *c, va_list *ap)
{
    const char *dot = memchr(c->p, '.', c->n), *text;
    int max = -1;

    if (c->stars)
        max = va_arg(*ap, int);
    else if (dot)
        for (max = 0, dot++; isdigit((unsigned char)*dot); dot++)
            max = 10 * max + *dot - '0';
    text = va_arg(*ap, const char *);
    if (!text)
        text = "(null)";
    return (struct piece){ text, max < 0 ? strlen(text) : strnlen(text, (size_t)max) };
}

/* Writes an argument: with its length for a message, else readable. */
static void put_argument(struct room *r, struct piece text, bool as_message)
{
    char length[24];

    if (!as_message) {
        put_readable(r, text, NULL, 0, MSG_DEPTH_MAX);
        return;
    }
    put(r, length, (size_t)snprintf(length, sizeof(length), "%zu:", text.n));
    put(r, text.p, text.n);
}

/* Writes the sentence, or as a message all its arguments, which follow the format. */
static void put_arguments(struct room *r, const char *fmt, va_list *ap, bool as_message)
{
    const char *end_of = fmt + strlen(fmt);

    for (const char *p = fmt; p < end_of;) {
        const char *percent = strchrnul(p, '%');
        char number[NUMBER_SIZE];
        struct conversion c;
        int n;

        if (!as_message)
            put(r, p, (size_t)(percent - p));
        if (!*percent)
            break;
        c = conversion_at(percent, end_of);
        p = percent + c.n;
        if (c.letter == '%') {
            if (!as_message)
                put(r, "%", 1);
        } else if (c.letter == 's') {
            put_argument(r, text_argument(&c, ap), as_message);
        } else if (c.letter == 'c') {
            number[0] = (char)va_arg(*ap, int);
            put_argument(r, (struct piece){ number, 1 }, as_message);
        } else {
            n = print_number(number, &c, ap);
            put_argument(r, (struct piece){ number, n > 0 ? (size_t)n : 0 }, as_message);
        }
    }
}

size_t msg_vprintf_english(char *to, size_t size, const char *fmt, va_list ap)
{
    struct room r = { to, size, 0 };
    va_list copy;

    va_copy(copy, ap);
    put_arguments(&r, fmt, &copy, false);
    va_end(copy);
    return end(&r);
}

/* A format that no message can have is a mistake of ours; its text is English then. */
static bool can_be_message(const char *fmt)
{
    size_t n = strlen(fmt);

    return n && n < MSG_FORMAT_MAX - 2 && arguments_of(fmt, n) >= 0;
}

static void put_message(struct room *r, const char *fmt, va_list *ap)
{
    put(r, "\x01", 1);
    put(r, fmt, strlen(fmt));
    put(r, "\x02", 1);
    put_arguments(r, fmt, ap, true);
}

size_t msg_vprintf(char *to, size_t size, const char *fmt, va_list ap)
{
    struct room r = { to, size, 0 };
    va_list copy;

    va_copy(copy, ap);
    if (!strcmp(fmt, "%s"))
        r.n = msg_copy(to, size, va_arg(copy, const char *));
    else if (can_be_message(fmt))
        put_message(&r, fmt, &copy);
    else
        r.n = size;
    va_end(copy);
    return r.n < size ? end(&r) : msg_vprintf_english(to, size, fmt, ap);
}

size_t msg_vsize(const char *fmt, va_list ap)
{
    struct room r = { NULL, 0, 0 };
    va_list copy;

    va_copy(copy, ap);
    if (!strcmp(fmt, "%s"))
        r.n = strlen(va_arg(copy, const char *));
    else if (can_be_message(fmt))
        put_message(&r, fmt, &copy);
    else
        put_arguments(&r, fmt, &copy, false);
    va_end(copy);
    return r.n + 1;
}

size_t msg_printf(char *to, size_t size, const char *fmt, ...)
{
    va_list ap;
    size_t n;

    va_start(ap, fmt);
    n = msg_vprintf(to, size, fmt, ap);
    va_end(ap);
    return n;
}

size_t msg_constant(char *to, size_t size, const char *sentence)
{
    struct room r = { to, size, 0 };

    put(&r, "\x01", 1);
    put(&r, sentence, strlen(sentence));
    put(&r, "\x02", 1);
    return r.n < size && arguments_of(sentence, strlen(sentence)) == 0
               ? end(&r)
               : utf8_printf(to, size, "%s", sentence);
}
