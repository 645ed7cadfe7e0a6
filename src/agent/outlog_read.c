/* SPDX-License-Identifier: MIT */
/* outlog_read.c - the text of outlog.h's files, by positions. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "agent/outlog_in.h"
#include "base/sys.h"
#include "base/utf8.h"

/* A file that is read: positions of its first byte, of what is in NAME.1, and its end. */
struct reading {
    const struct outlog *o;
    const char *name;
    int fd; /* -1: it is not there, and nothing was said */
    uint64_t first, base, end;
};

static int begin(const struct outlog *o, const char *name, struct reading *ret, struct err *err)
{
    struct trimmed t = outlog_trimmed(o, name);
    struct err why;
    struct stat st;

    *ret = (struct reading){ o, name, -1, t.base - t.older, t.base, t.base };
    if (!outlog_open_file(o, name, O_RDONLY, &ret->fd, &st, &why)) {
        ret->end += (uint64_t)st.st_size;
        return 0;
    }
    if (!outlog_is_missing(&why)) {
        *err = why;
        return -1;
    }
    ret->first = ret->base; /* what is left of one that was removed is nobody's */
    return 0;
}

static void done(struct reading *r)
{
    sys_close(r->fd);
}

static int add_bytes(int fd, uint64_t at, uint64_t n, struct buf *to)
{
    ssize_t got = 1;

    for (; n > 0 && got > 0; at += (uint64_t)got, n -= (uint64_t)got) {
        got = sys_pread(fd, buf_reserve(to, n), n, (off_t)at);
        if (got > 0)
            to->len += (size_t)got;
        if (got <= 0)
            break;
    }
    return got < 0 ? -1 : 0;
}

/* NAME.1 that somebody has taken away is not missed. */
static int add_older(const struct reading *r, uint64_t from, uint64_t until, struct buf *to,
                     struct err *err)
{
    char old[OUTLOG_OLD_SIZE];
    struct err why;
    struct stat st;
    int fd, result;

    outlog_old_name(r->name, ".1", old);
    if (outlog_open_file(r->o, old, O_RDONLY, &fd, &st, &why)) {
        if (outlog_is_missing(&why))
            return 0;
        *err = why;
        return -1;
    }
    result = add_bytes(fd, OUTLOG_HEAD_SIZE + from - r->first, until - from, to);
    if (result)
        outlog_trouble(r->o, old, "read", err);
    sys_close(fd);
    return result;
}

/* The bytes of positions [from, until), both within first and end. */
static int add_range(const struct reading *r, uint64_t from, uint64_t until, struct buf *to,
                     struct err *err)
{
    uint64_t split = until < r->base ? until : r->base;

    if (from < split && add_older(r, from, split, to, err))
        return -1;
    from = from > r->base ? from : r->base;
    if (from < until && add_bytes(r->fd, from - r->base, until - from, to))
        return outlog_trouble(r->o, r->name, "read", err);
    return 0;
}

/* ---- as text */

static bool continues(char c)
{
    return ((unsigned char)c & 0xC0) == 0x80;
}

static void add_clean(struct buf *to, const char *text, size_t n, bool is_cut)
{
    size_t step, at = 0;

    while (is_cut && at < n && at < 3 && continues(text[at])) /* of one that began before */
        at++;
    for (; at < n; at += step ? step : 1) {
        step = text[at] ? utf8_char(text + at, n - at) : 0;
        if (step)
            buf_add(to, text + at, step);
        else
            buf_puts(to, "\xEF\xBF\xBD");
    }
}

int outlog_tail(const struct outlog *o, const char *name, uint64_t from, uint64_t until,
                size_t max_bytes, struct buf *to, struct err *err)
{
    struct buf raw = { 0 };
    struct reading r;
    int result;

    if (begin(o, name, &r, err))
        return -1;
    until = until && until < r.end ? until : r.end;
    from = from > r.end ? r.base : from; /* it has been cut short since */
    from = from > r.first ? from : r.first;
    if (until > max_bytes && from < until - max_bytes)
        from = until - max_bytes;
    result = from < until ? add_range(&r, from, until, &raw, err) : 0;
    if (!result)
        add_clean(to, buf_text(&raw), raw.len, true);
    buf_free(&raw);
    done(&r);
    return result;
}

size_t outlog_last_lines(const char *text, size_t n, size_t lines)
{
    size_t at = n > 0 && text[n - 1] == '\n' ? n - 1 : n;

    if (!lines)
        return n;
    while (at > 0 && !(text[at - 1] == '\n' && --lines == 0))
        at--;
    return at;
}

/* ---- for who follows */

/* Where the first whole line begins; 0 if there is but one. */
static size_t first_line(const char *text, size_t n)
{
    const char *end = memchr(text, '\n', n);

    return end && end + 1 < text + n ? (size_t)(end + 1 - text) : 0;
}

/* Where the last whole line ends; n if there is none. */
static size_t last_line(const char *text, size_t n)
{
    const char *end = memrchr(text, '\n', n);

    return end ? (size_t)(end + 1 - text) : n;
}

/* What is at the end: cut at the front. */
static int read_last(const struct reading *r, const struct outlog_ask *ask, struct buf *to,
                     struct outlog_piece *ret, struct err *err)
{
    uint64_t from = r->end - r->first > ask->max_bytes ? r->end - ask->max_bytes : r->first;
    struct buf raw = { 0 };
    const char *text;
    size_t at, n;

    if (add_range(r, from, r->end, &raw, err)) {
        buf_free(&raw);
        return -1;
    }
    text = buf_text(&raw);
    n = utf8_whole(text, raw.len);
    at = from > r->first ? first_line(text, n) : 0;
    if (ask->lines)
        at += outlog_last_lines(text + at, n - at, ask->lines);
    add_clean(to, text + at, n - at, from > 0 && !at);
    ret->next = r->end - (raw.len - n);
    buf_free(&raw);
    return 0;
}

/* What comes from `at` on: cut at the end. */
static int read_on(const struct reading *r, const struct outlog_ask *ask, struct buf *to,
                   struct outlog_piece *ret, struct err *err)
{
    uint64_t at = (uint64_t)ask->at, from, until;
    struct buf raw = { 0 };
    const char *text;
    size_t n;

    ret->has_gap = at < r->first || at > r->end;
    from = at < r->first ? r->first : at > r->end ? r->base : at;
    until = r->end - from > ask->max_bytes ? from + ask->max_bytes : r->end;
    if (add_range(r, from, until, &raw, err)) {
        buf_free(&raw);
        return -1;
    }
    text = buf_text(&raw);
    n = until < r->end ? last_line(text, raw.len) : raw.len;
    n = utf8_whole(text, n);
    add_clean(to, text, n, ret->has_gap);
    ret->next = until - (raw.len - n);
    buf_free(&raw);
    return 0;
}

int outlog_read(const struct outlog *o, const char *name, const struct outlog_ask *ask,
                struct buf *to, struct outlog_piece *ret, struct err *err)
{
    struct outlog_piece piece = { 0 };
    struct reading r;
    int result;

    if (begin(o, name, &r, err))
        return -1;
    piece.is_there = r.fd >= 0;
    result = ask->at < 0 ? read_last(&r, ask, to, &piece, err) : read_on(&r, ask, to, &piece, err);
    done(&r);
    if (!result)
        *ret = piece;
    return result;
}
