/* SPDX-License-Identifier: MIT */
/* http_uri.c - see http_uri.h. */
#include "wire/http/http_uri.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "base/text/utf8.h"
#include "wire/http/http_chars.h"

/* Decodes n bytes; `to` may be `from`.  Refuses a broken escape, NUL, and bytes that are not
 * UTF-8. */
static int decode(const char *from, size_t n, bool plus_is_space, char *to, size_t *ret_n,
                  struct err *err)
{
    size_t out = 0;

    for (size_t i = 0; i < n; i++) {
        size_t at = i + 1;
        char c = from[i];

        if (c == '%') {
            if (n - i < 3 || http_run(from + i + 1, 2, HTTP_HEX) != 2)
                return err_set(err, ERR_INVALID, "invalid %% escape at byte %zu", at);
            c = (char)(http_hex(from[i + 1]) << 4 | http_hex(from[i + 2]));
            i += 2;
        } else if (c == '+' && plus_is_space) {
            c = ' ';
        }
        if (c == '\0')
            return err_set(err, ERR_INVALID, "NUL at byte %zu", at);
        to[out++] = c;
    }
    if (utf8_valid(to, out) != out)
        return err_set(err, ERR_INVALID, "not UTF-8");
    *ret_n = out;
    return 0;
}

static bool has_control(const char *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if ((unsigned char)p[i] < 0x20 || p[i] == 0x7F)
            return true;
    }
    return false;
}

static bool is_dots(const char *p, size_t n)
{
    return (n == 1 && p[0] == '.') || (n == 2 && p[0] == '.' && p[1] == '.');
}

static bool has_dot_segment(const char *path, size_t n)
{
    size_t start = 0;

    for (size_t i = 0; i <= n; i++) {
        if (i < n && path[i] != '/')
            continue;
        if (is_dots(path + start, i - start))
            return true;
        start = i + 1;
    }
    return false;
}

int http_path_decode(char *path, size_t n, size_t *ret_n, struct err *err)
{
    size_t out;

    if (decode(path, n, false, path, &out, err))
        return err_wrap(err, "path");
    if (has_control(path, out))
        return err_set(err, ERR_INVALID, "path: control character");
    if (has_dot_segment(path, out))
        return err_set(err, ERR_INVALID, "path: dot segment");
    *ret_n = out;
    return 0;
}

void http_escape(struct buf *to, const char *text)
{
    for (; *text; text++) {
        if (isalnum((unsigned char)*text) || strchr("-._~", *text))
            buf_addc(to, *text);
        else
            buf_printf(to, "%%%02X", (unsigned char)*text);
    }
}

void http_pairs_init(struct http_pairs *p, const char *bytes, size_t n)
{
    *p = (struct http_pairs){ .at = bytes, .end = n ? bytes + n : bytes };
}

static int decode_text(const char *from, size_t n, struct arena *arena, const char **ret,
                       struct err *err)
{
    char *to = arena_bytes(arena, n + 1);
    size_t out;

    if (decode(from, n, true, to, &out, err))
        return -1;
    to[out] = '\0';
    *ret = to;
    return 0;
}

int http_pairs_next(struct http_pairs *p, struct arena *arena, struct http_pair *ret,
                    struct err *err)
{
    struct http_pair pair = { 0 };
    const char *start, *stop, *equals;

    while (p->at < p->end && *p->at == '&')
        p->at++;
    if (p->at == p->end) {
        *ret = pair;
        return 0;
    }
    start = p->at;
    stop = memchr(start, '&', (size_t)(p->end - start));
    p->at = stop = stop ? stop : p->end;
    p->number++;
    equals = memchr(start, '=', (size_t)(stop - start));
    if (decode_text(start, (size_t)((equals ? equals : stop) - start), arena, &pair.key, err))
        return err_wrap(err, "pair %zu: key", p->number);
    pair.value = "";
    if (equals && decode_text(equals + 1, (size_t)(stop - equals - 1), arena, &pair.value, err))
        return err_wrap(err, "pair %zu: value", p->number);
    *ret = pair;
    return 0;
}
