/* SPDX-License-Identifier: MIT */
/* outlog_read.c - see outlog_read.h. */
#include "agent/exec/outlog_read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem/mem.h"
#include "base/os/sys.h"
#include "base/text/utf8.h"

/* A file being read: positions of its first byte, of the content of NAME.1, and of its end. */
struct reading {
    const struct outlog *o;
    const char *name;
    int fd; /* -1: the file does not exist */
    uint64_t first, base, end;
    struct trimmed trimmed;
};

static int outlog_read_begin(const struct outlog *o, const char *name, enum outlog_wait wait,
                             struct reading *ret, struct err *err)
{
    struct trimmed t = outlog_steady(o, name, wait);
    struct stat st = { .st_size = 0 };
    struct err why;
    int fd = -1;

    if (outlog_open_file(outlog_folder(o), name, O_RDONLY, &fd, &st, &why) &&
        !outlog_is_missing(&why)) {
        *err = why;
        return -1;
    }
    outlog_note_size(o, name, &t, fd < 0 ? 0 : (uint64_t)st.st_size);
    *ret = (struct reading){ o, name, fd, t.base - t.older, t.base, t.base, t };
    if (fd >= 0)
        ret->end += (uint64_t)st.st_size;
    else
        ret->first = ret->base; /* NAME.1 of a removed file is ignored */
    return 0;
}

/* False: the file was trimmed meanwhile, so the data may be from another position. */
static bool done(struct reading *r)
{
    sys_close(r->fd);
    return outlog_is_steady(r->o, r->name, &r->trimmed);
}

static int no_end(const struct outlog *o, const char *name, struct err *err)
{
    return err_set(err, ERR_UNAVAILABLE, "%s/%s is being trimmed all the time: ask again",
                   outlog_folder(o)->path, name);
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

/* A missing NAME.1 is no error. */
static int add_older(const struct reading *r, uint64_t from, uint64_t until, struct buf *to,
                     struct err *err)
{
    char old[OUTLOG_OLD_SIZE];
    struct err why;
    struct stat st;
    int fd, result;

    outlog_old_name(r->name, ".1", old);
    if (outlog_open_file(outlog_folder(r->o), old, O_RDONLY, &fd, &st, &why)) {
        if (outlog_is_missing(&why))
            return 0;
        *err = why;
        return -1;
    }
    result = add_bytes(fd, OUTLOG_HEAD_SIZE + from - r->first, until - from, to);
    if (result)
        outlog_trouble(outlog_folder(r->o), old, "read", err);
    sys_close(fd);
    return result;
}

/* Appends positions [from, until), both between first and end. */
static int add_range(const struct reading *r, uint64_t from, uint64_t until, struct buf *to,
                     struct err *err)
{
    uint64_t split = until < r->base ? until : r->base;

    if (from < split && add_older(r, from, split, to, err))
        return -1;
    from = from > r->base ? from : r->base;
    if (from < until && add_bytes(r->fd, from - r->base, until - from, to))
        return outlog_trouble(outlog_folder(r->o), r->name, "read", err);
    return 0;
}

/* ---- text */

static bool continues(char c)
{
    return ((unsigned char)c & 0xC0) == 0x80;
}

static void add_clean(struct buf *to, const char *text, size_t n, bool is_cut)
{
    size_t step, at = 0;

    while (is_cut && at < n && at < 3 && continues(text[at])) /* cut character */
        at++;
    for (; at < n; at += step ? step : 1) {
        step = text[at] && text[at] != MSG_BEGIN ? utf8_char(text + at, n - at) : 0;
        if (step)
            buf_add(to, text + at, step);
        else
            buf_puts(to, "\xEF\xBF\xBD");
    }
}

/* 1: retry. */
static int try_tail(struct reading *r, uint64_t from, uint64_t until, size_t max_bytes,
                    struct buf *to, struct err *err)
{
    struct buf raw = { 0 };
    int result;

    until = until && until < r->end ? until : r->end;
    from = from > r->end ? r->base : from; /* the file has been truncated since */
    from = from > r->first ? from : r->first;
    if (until > max_bytes && from < until - max_bytes)
        from = until - max_bytes;
    result = from < until ? add_range(r, from, until, &raw, err) : 0;
    if (!done(r))
        result = 1;
    if (!result)
        add_clean(to, buf_text(&raw), raw.len, true);
    buf_free(&raw);
    return result;
}

int outlog_tail(const struct outlog *o, const char *name, uint64_t from, uint64_t until,
                size_t max_bytes, enum outlog_wait wait, struct buf *to, struct err *err)
{
    struct reading r;
    int result = 1;

    outlog_begin_read(o, name);
    for (int i = 0; result == 1 && i < outlog_rounds(wait); i++)
        result = outlog_read_begin(o, name, wait, &r, err)
                     ? -1
                     : try_tail(&r, from, until, max_bytes, to, err);
    outlog_end_read(o, name);
    return result == 1 ? no_end(o, name, err) : result;
}

/* Positions are unreliable now, so NAME.1 is left out. */
static int add_newest(const struct reading *r, uint64_t from, size_t max_bytes, struct buf *to,
                      struct err *err)
{
    uint64_t n = r->end - r->base, at = from > r->base && from <= r->end ? from - r->base : 0;
    struct buf raw = { 0 };
    int result;

    if (n - at > max_bytes)
        at = n - max_bytes;
    result = add_bytes(r->fd, at, n - at, &raw);
    if (result)
        outlog_trouble(outlog_folder(r->o), r->name, "read", err);
    else
        add_clean(to, buf_text(&raw), raw.len, true);
    buf_free(&raw);
    return result;
}

int outlog_newest(const struct outlog *o, const char *name, uint64_t from, size_t max_bytes,
                  struct buf *to, struct err *err)
{
    struct reading r;
    int result;

    if (outlog_read_begin(o, name, OUTLOG_NO_WAIT, &r, err))
        return -1;
    result = try_tail(&r, from, 0, max_bytes, to, err);
    if (result != 1)
        return result;
    if (outlog_read_begin(o, name, OUTLOG_NO_WAIT, &r, err))
        return -1;
    result = r.fd < 0 ? 0 : add_newest(&r, from, max_bytes, to, err);
    (void)done(&r); /* a concurrent trim does not matter */
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

/* ---- followers */

/* Offset of the first whole line; 0: there is only one line. */
static size_t first_line(const char *text, size_t n)
{
    const char *end = memchr(text, '\n', n);

    return end && end + 1 < text + n ? (size_t)(end + 1 - text) : 0;
}

/* Offset of the end of the last whole line; n: there is none. */
static size_t last_line(const char *text, size_t n)
{
    const char *end = memrchr(text, '\n', n);

    return end ? (size_t)(end + 1 - text) : n;
}

/* One byte more in front: if it ends a line, the next line is whole. */
static uint64_t first_of_age(const struct reading *r, int64_t age_ms)
{
    uint64_t at = age_ms ? outlog_since(r->o, r->name, age_ms) : 0;

    if (at >= r->end)
        return r->end;
    return at > r->first ? at - 1 : r->first;
}

/* The last part of the file, cut at the front. */
static int read_last(const struct reading *r, const struct outlog_ask *ask, struct buf *to,
                     struct outlog_piece *ret, struct err *err)
{
    uint64_t from = r->end - r->first > ask->max_bytes ? r->end - ask->max_bytes : r->first;
    uint64_t first = first_of_age(r, ask->age_ms);
    struct buf raw = { 0 };
    const char *text;
    size_t at, n;

    from = from > first ? from : first;
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

/* Length of the line about dropped output in NAME.1; 0: none. */
static size_t dropped_line(const struct reading *r)
{
    uint64_t older = r->base - r->first, n = older < OUTLOG_LINE_SIZE ? older : OUTLOG_LINE_SIZE;
    struct buf b = { 0 };
    struct err ignored; /* the following read reports the error */
    size_t digits, bytes = 0;

    if (n && !add_older(r, r->first, r->first + n, &b, &ignored) && *buf_text(&b) == '[') {
        digits = strspn(buf_text(&b) + 1, "0123456789");
        if (!strncmp(buf_text(&b) + 1 + digits, OUTLOG_DROPPED, strlen(OUTLOG_DROPPED)))
            bytes = 1 + digits + strlen(OUTLOG_DROPPED);
    }
    buf_free(&b);
    return bytes;
}

/* The data from `at` on, cut at the end. */
static int read_on(const struct reading *r, const struct outlog_ask *ask, struct buf *to,
                   struct outlog_piece *ret, struct err *err)
{
    uint64_t at = (uint64_t)ask->at, first = r->first + dropped_line(r), from, until;
    struct buf raw = { 0 };
    const char *text;
    size_t n;

    ret->has_gap = at < first || at > r->end;
    ret->gap_bytes = at < first ? first - at : 0;
    from = at < first ? first : at > r->end ? r->base : at;
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

/* 1: retry. */
static int try_read(struct reading *r, const struct outlog_ask *ask, struct buf *to,
                    struct outlog_piece *ret, struct err *err)
{
    struct outlog_piece piece = { .is_there = r->fd >= 0 };
    size_t before = to->len;
    int result =
        ask->at < 0 ? read_last(r, ask, to, &piece, err) : read_on(r, ask, to, &piece, err);

    if (!done(r)) {
        buf_truncate(to, before);
        return 1;
    }
    if (!result)
        *ret = piece;
    return result;
}

int outlog_read(const struct outlog *o, const char *name, const struct outlog_ask *ask,
                struct buf *to, struct outlog_piece *ret, struct err *err)
{
    struct reading r;
    int result = 1;

    outlog_begin_read(o, name);
    for (int i = 0; result == 1 && i < outlog_rounds(ask->wait); i++)
        result =
            outlog_read_begin(o, name, ask->wait, &r, err) ? -1 : try_read(&r, ask, to, ret, err);
    outlog_end_read(o, name);
    return result == 1 ? no_end(o, name, err) : result;
}

/* ---- waiters */

struct outlog_waiter {
    struct outlog_turn turn; /* its name is `name` */
    struct outlog *o;
    struct outlog_ask ask;
    struct buf text; /* this and the next three are set by run() */
    struct outlog_piece piece;
    struct err err;
    int result;
    char name[];
};

static void run_waiter(struct outlog_turn *turn)
{
    struct outlog_waiter *w = (struct outlog_waiter *)turn;

    w->result = outlog_read(w->o, w->name, &w->ask, &w->text, &w->piece, &w->err);
}

static void free_waiter(struct outlog_turn *turn)
{
    struct outlog_waiter *w = (struct outlog_waiter *)turn;

    buf_free(&w->text);
    free(w);
}

struct outlog_waiter *outlog_waiter_new(struct outlog *o, const char *name,
                                        const struct outlog_ask *ask)
{
    size_t n = strlen(name) + 1;
    struct outlog_waiter *w = xalloc(sizeof(*w) + n);

    memcpy(w->name, name, n);
    w->turn = (struct outlog_turn){ .name = w->name, .run = run_waiter, .free = free_waiter };
    w->o = o;
    w->ask = *ask;
    w->ask.wait = OUTLOG_NO_WAIT; /* no other thread changes the file then */
    outlog_turn_put(o, &w->turn);
    return w;
}

int outlog_waiter_take(struct outlog_waiter *w, struct buf *to, struct outlog_piece *ret,
                       struct err *err)
{
    if (!outlog_turn_is_done(w->o, &w->turn))
        return 1;
    if (w->result) {
        *err = w->err;
        return -1;
    }
    buf_add(to, buf_text(&w->text), w->text.len);
    *ret = w->piece;
    return 0;
}

void outlog_waiter_free(struct outlog_waiter *w)
{
    if (w)
        outlog_turn_drop(w->o, &w->turn);
}
