/* SPDX-License-Identifier: MIT */
/* http_parse.c - see http_parse.h.
 *
 * While the head arrives, only offsets into it are recorded.  Once it is complete it is copied
 * to the arena in one piece, and its parts are NUL-terminated in place of a colon, a space or a
 * CR.  Bytes beyond HTTP_HEAD_MAX are never read, so the result does not depend on how the bytes
 * were split. */
#include "wire/http/http_parse.h"

#include <string.h>
#include <strings.h>

#include "base/mem/mem.h"
#include "base/text/msg.h"
#include "base/text/utf8.h"
#include "wire/http/http_chars.h"
#include "wire/http/http_uri.h"

/* Used as: return refuse(h, 400, err_set(...)). */
static int http_parse_refuse(struct http_head *h, int status, int failed)
{
    h->status = status;
    return failed;
}

static int bad_line(struct http_head *h, const char *what, struct err *err)
{
    return http_parse_refuse(h, 400, err_set(err, ERR_INVALID, "request line: %s", what));
}

/* The current header is not counted in n_fields yet. */
static int bad_field(struct http_head *h, int status, const char *what, struct err *err)
{
    return http_parse_refuse(h, status,
                             err_set(err, ERR_INVALID, "header %zu: %s", h->n_fields + 1, what));
}

static bool same(const char *text, size_t n, const char *word)
{
    return strlen(word) == n && !strncasecmp(text, word, n);
}

/* ---- the request line ---- */

static int check_version(struct http_head *h, const char *v, size_t n, struct err *err)
{
    if (n != 8 || memcmp(v, "HTTP/", 5) != 0 || !http_char_is(v[5], HTTP_DIGIT) || v[6] != '.' ||
        !http_char_is(v[7], HTTP_DIGIT))
        return bad_line(h, MSG("no HTTP version"), err);
    if (v[5] != '1' || v[7] > '1')
        return http_parse_refuse(
            h, 505, err_set(err, ERR_INVALID, "request line: HTTP version is not 1.0 or 1.1"));
    h->minor = v[7] - '0';
    return 0;
}

/* Sets h->target to the part behind "http://host", which may be empty. */
static int split_url(struct http_head *h, const char *bytes, struct err *err)
{
    struct http_place *t = &h->target, *a = &h->absolute_host;
    const char *url = bytes + t->value;
    size_t skip = 0, len;

    if (t->value_len > 7 && same(url, 7, "http://"))
        skip = 7;
    else if (t->value_len > 8 && same(url, 8, "https://"))
        skip = 8;
    else
        return bad_line(h, MSG("target is no path and no URL"), err);
    len = http_run(url + skip, t->value_len - skip, HTTP_HOST);
    if (len == 0)
        return bad_line(h, MSG("target has no host"), err);
    a->value = (uint16_t)(t->value + skip);
    a->value_len = (uint16_t)len;
    t->value = (uint16_t)(a->value + len);
    t->value_len = (uint16_t)(t->value_len - skip - len);
    if (t->value_len && url[skip + len] != '/' && url[skip + len] != '?')
        return bad_line(h, MSG("target's host has a wrong character"), err);
    return 0;
}

static int check_target(struct http_head *h, const char *bytes, bool is_options, struct err *err)
{
    const struct http_place *t = &h->target;
    const char *target = bytes + t->value;

    if (t->value_len == 0)
        return bad_line(h, MSG("no target"), err);
    if (http_run(target, t->value_len, HTTP_TARGET) != t->value_len)
        return bad_line(h, MSG("target has a wrong character"), err);
    if (target[0] == '/')
        return 0;
    if (t->value_len == 1 && target[0] == '*')
        return is_options ? 0 : bad_line(h, MSG("target * is for OPTIONS"), err);
    return split_url(h, bytes, err);
}

/* h->target.name is the place of the method. */
static int read_request_line(struct http_head *h, const char *bytes, size_t end, struct err *err)
{
    struct http_place *t = &h->target;
    const char *line = bytes + h->line, *sp1, *sp2;
    size_t n = end - h->line;

    sp1 = memchr(line, ' ', n);
    sp2 = memrchr(line, ' ', n);
    if (!sp1 || http_run(line, (size_t)(sp1 - line), HTTP_TOKEN) != (size_t)(sp1 - line))
        return bad_line(h, MSG("no method"), err);
    if (sp1 == sp2)
        return bad_line(h, MSG("no HTTP version"), err);
    if (check_version(h, sp2 + 1, (size_t)(line + n - sp2 - 1), err))
        return -1;
    t->name = (uint16_t)h->line;
    t->name_len = (uint16_t)(sp1 - line);
    t->value = (uint16_t)(sp1 + 1 - bytes);
    t->value_len = (uint16_t)(sp2 - sp1 - 1);
    if (check_target(h, bytes, t->name_len == 7 && !memcmp(line, "OPTIONS", 7), err))
        return -1;
    h->has_request_line = true;
    return 0;
}

/* ---- headers that affect the framing ---- */

static int http_parse_read_host(struct http_head *h, const char *v, size_t n, struct err *err)
{
    if (h->has_host)
        return bad_field(h, 400, MSG("Host is repeated"), err);
    if (http_run(v, n, HTTP_HOST) != n)
        return bad_field(h, 400, MSG("Host has a wrong character"), err);
    h->has_host = true;
    return 0;
}

static int read_length(struct http_head *h, const char *v, size_t n, struct err *err)
{
    int64_t length = 0;

    if (h->has_length)
        return bad_field(h, 400, MSG("Content-Length is repeated"), err);
    if (n == 0 || http_run(v, n, HTTP_DIGIT) != n)
        return bad_field(h, 400, MSG("Content-Length is not a number"), err);
    for (size_t i = 0; i < n; i++) {
        if (length > (INT64_MAX - 9) / 10)
            return bad_field(h, 400, MSG("Content-Length is too large"), err);
        length = length * 10 + (v[i] - '0');
    }
    h->length = length;
    h->has_length = true;
    return 0;
}

/* The next element of a comma-separated list, trimmed; false at its end.  *at starts at 0. */
static bool next_element(const char *v, size_t n, size_t *at, const char **ret, size_t *ret_n)
{
    const char *comma;
    size_t end;

    if (*at > n)
        return false;
    comma = memchr(v + *at, ',', n - *at);
    end = comma ? (size_t)(comma - v) : n;
    *ret = v + *at;
    *ret_n = end - *at;
    *at = end + 1;
    while (*ret_n && (**ret == ' ' || **ret == '\t')) {
        ++*ret;
        --*ret_n;
    }
    while (*ret_n && ((*ret)[*ret_n - 1] == ' ' || (*ret)[*ret_n - 1] == '\t'))
        --*ret_n;
    return true;
}

/* Accepts only a single "chunked".  A list of nothing but chunked is malformed (400); any other
 * coding is not supported (501). */
static int read_coding(struct http_head *h, const char *v, size_t n, struct err *err)
{
    size_t at = 0, len;
    const char *word;

    if (h->chunked)
        return bad_field(h, 400, MSG("Transfer-Encoding is repeated"), err);
    if (n == 0)
        return bad_field(h, 400, MSG("Transfer-Encoding is empty"), err);
    h->chunked = true;
    if (same(v, n, "chunked"))
        return 0;
    while (next_element(v, n, &at, &word, &len)) {
        if (!same(word, len, "chunked"))
            return bad_field(h, 501, MSG("Transfer-Encoding is not chunked"), err);
    }
    return bad_field(h, 400, MSG("Transfer-Encoding is repeated"), err);
}

static int read_connection(struct http_head *h, const char *v, size_t n, struct err *err)
{
    size_t at = 0, len;
    const char *word;

    while (next_element(v, n, &at, &word, &len)) {
        if (http_run(word, len, HTTP_TOKEN) != len)
            return bad_field(h, 400, MSG("Connection has a wrong character"), err);
        h->wants_close |= same(word, len, "close");
        h->wants_keep |= same(word, len, "keep-alive");
    }
    return 0;
}

static int read_expect(struct http_head *h, const char *v, size_t n, struct err *err)
{
    if (!same(v, n, "100-continue"))
        return bad_field(h, 417, MSG("Expect is not 100-continue"), err);
    h->expects_continue = true;
    return 0;
}

static const struct {
    const char *name;
    int (*read)(struct http_head *h, const char *v, size_t n, struct err *err);
} meanings[] = {
    { "Host", http_parse_read_host },
    { "Content-Length", read_length },
    { "Transfer-Encoding", read_coding },
    { "Connection", read_connection },
    { "Expect", read_expect },
};

static int read_meaning(struct http_head *h, const char *bytes, const struct http_place *f,
                        struct err *err)
{
    for (size_t i = 0; i < ARRAY_LEN(meanings); i++) {
        if (same(bytes + f->name, f->name_len, meanings[i].name))
            return meanings[i].read(h, bytes + f->value, f->value_len, err);
    }
    return 0;
}

/* ---- any header ---- */

static int check_name(struct http_head *h, const char *line, size_t n, size_t *ret_len,
                      struct err *err)
{
    size_t len = http_run(line, n, HTTP_TOKEN);

    if (len < n && line[len] == ':' && len > 0) {
        *ret_len = len;
        return 0;
    }
    if (len == 0 && (line[0] == ' ' || line[0] == '\t'))
        return bad_field(h, 400, MSG("folded line"), err);
    if (len == 0 && line[0] == ':')
        return bad_field(h, 400, MSG("no name"), err);
    if (len == n)
        return bad_field(h, 400, MSG("no colon"), err);
    if (line[len] == ' ' || line[len] == '\t')
        return bad_field(h, 400, MSG("space before the colon"), err);
    return bad_field(h, 400, MSG("wrong character in the name"), err);
}

static void http_parse_trim(const char *bytes, struct http_place *f)
{
    while (f->value_len && (bytes[f->value] == ' ' || bytes[f->value] == '\t')) {
        f->value++;
        f->value_len--;
    }
    while (f->value_len && (bytes[f->value + f->value_len - 1] == ' ' ||
                            bytes[f->value + f->value_len - 1] == '\t'))
        f->value_len--;
}

static int read_field(struct http_head *h, const char *bytes, size_t end, struct err *err)
{
    struct http_place f = { .name = (uint16_t)h->line };
    const char *line = bytes + h->line;
    size_t n = end - h->line, name_len = 0;

    if (h->n_fields == HTTP_FIELDS_MAX)
        return http_parse_refuse(h, 431,
                                 err_set(err, ERR_LIMIT, "more than %d headers", HTTP_FIELDS_MAX));
    if (check_name(h, line, n, &name_len, err))
        return -1;
    f.name_len = (uint16_t)name_len;
    f.value = (uint16_t)(f.name + name_len + 1);
    f.value_len = (uint16_t)(n - name_len - 1);
    http_parse_trim(bytes, &f);
    if (http_run(bytes + f.value, f.value_len, HTTP_VALUE) != f.value_len)
        return bad_field(h, 400, MSG("control character in the value"), err);
    if (utf8_valid(bytes + f.value, f.value_len) != f.value_len)
        return bad_field(h, 400, MSG("value is not UTF-8"), err);
    if (read_meaning(h, bytes, &f, err))
        return -1;
    h->fields[h->n_fields++] = f;
    return 0;
}

/* ---- the whole head ---- */

static char *terminate(char *text, size_t at, size_t len)
{
    text[at + len] = '\0';
    return text + at;
}

/* The path is decoded in place.  Decoding shortens it, or '?' or the space behind it is the
 * place of its NUL. */
static int finish_target(struct http_head *h, struct err *err)
{
    const struct http_place *t = &h->target;
    char *raw = terminate(h->text, t->value, t->value_len), *mark = strchr(raw, '?');
    size_t n = mark ? (size_t)(mark - raw) : t->value_len;

    h->method = terminate(h->text, t->name, t->name_len);
    if (http_path_decode(raw, n, &n, err))
        return http_parse_refuse(h, 400, -1);
    raw[n] = '\0';
    h->query = mark ? mark + 1 : "";
    h->path = n ? raw : "/";
    return 0;
}

static int check_framing(struct http_head *h, struct err *err)
{
    if (h->minor == 1 && !h->has_host)
        return http_parse_refuse(h, 400, err_set(err, ERR_INVALID, "headers: no Host"));
    if (h->chunked && h->has_length)
        return http_parse_refuse(
            h, 400,
            err_set(err, ERR_INVALID, "headers: Content-Length together with Transfer-Encoding"));
    if (h->chunked && h->minor == 0)
        return http_parse_refuse(
            h, 400, err_set(err, ERR_INVALID, "headers: Transfer-Encoding in HTTP/1.0"));
    return 0;
}

/* The host of a URL is copied before anything is terminated: the byte behind it is the first
 * byte of the path. */
static int finish(struct http_head *h, const char *bytes, size_t n, struct arena *arena,
                  struct err *err)
{
    const struct http_place *a = &h->absolute_host;

    if (check_framing(h, err))
        return -1;
    h->text = arena_memdup(arena, bytes, n);
    if (a->value_len)
        h->host = arena_memdup(arena, bytes + a->value, a->value_len);
    for (size_t i = 0; i < h->n_fields; i++) {
        terminate(h->text, h->fields[i].name, h->fields[i].name_len);
        terminate(h->text, h->fields[i].value, h->fields[i].value_len);
    }
    if (finish_target(h, err))
        return -1;
    if (!h->host)
        h->host = h->has_host ? http_head_find(h, "Host") : "";
    h->keep_alive = !h->wants_close && (h->minor == 1 || h->wants_keep);
    if (h->minor == 0)
        h->expects_continue = false; /* RFC 9110, 10.1.1: ignored in HTTP/1.0 */
    return 0;
}

/* `end` is the end of the line without its CRLF. */
static int http_parse_read_line(struct http_head *h, const char *bytes, size_t end, bool *ret_last,
                                struct err *err)
{
    *ret_last = false;
    if (end == h->line) {
        if (!h->has_request_line && h->has_skipped)
            return bad_line(h, MSG("empty"), err);
        *ret_last = h->has_request_line;
        h->has_skipped = true;
        return 0;
    }
    if (h->has_request_line)
        return read_field(h, bytes, end, err);
    return read_request_line(h, bytes, end, err);
}

/* Bare CR and NUL need no check here: no class of bytes in a line contains them. */
static int check_end(struct http_head *h, const char *bytes, size_t lf, struct err *err)
{
    if (lf > h->line && bytes[lf - 1] == '\r')
        return 0;
    if (!h->has_request_line)
        return bad_line(h, MSG("LF without CR"), err);
    return bad_field(h, 400, MSG("LF without CR"), err);
}

/* Other protocols, such as TLS, are refused at their first byte: they might never send an LF. */
static int check_first(struct http_head *h, const char *bytes, size_t n, struct err *err)
{
    if (h->has_request_line || n <= h->line || bytes[h->line] == '\r' || bytes[h->line] == '\n' ||
        http_char_is(bytes[h->line], HTTP_TOKEN))
        return 0;
    return bad_line(h, MSG("no method"), err);
}

int http_head_read(struct http_head *h, const char *bytes, size_t n, struct arena *arena,
                   size_t *ret_taken, struct err *err)
{
    size_t limit = n < HTTP_HEAD_MAX ? n : HTTP_HEAD_MAX;
    bool last = false;

    while (h->scanned < limit && !last) {
        const char *lf = memchr(bytes + h->scanned, '\n', limit - h->scanned);
        size_t at = lf ? (size_t)(lf - bytes) : limit;

        h->scanned = at;
        if (check_first(h, bytes, limit, err))
            return -1;
        if (!lf)
            break;
        if (check_end(h, bytes, at, err) || http_parse_read_line(h, bytes, at - 1, &last, err))
            return -1;
        h->line = h->scanned = at + 1;
    }
    if (!last && n >= HTTP_HEAD_MAX)
        return http_parse_refuse(
            h, 431, err_set(err, ERR_LIMIT, "head: more than %d bytes", HTTP_HEAD_MAX));
    if (last && finish(h, bytes, h->scanned, arena, err))
        return -1;
    *ret_taken = last ? h->scanned : 0;
    return 0;
}

const char *http_head_find(const struct http_head *h, const char *name)
{
    for (size_t i = 0; i < h->n_fields; i++) {
        if (!strcasecmp(http_head_name(h, i), name))
            return http_head_value(h, i);
    }
    return NULL;
}

const char *http_head_name(const struct http_head *h, size_t i)
{
    return h->text + h->fields[i].name;
}

const char *http_head_value(const struct http_head *h, size_t i)
{
    return h->text + h->fields[i].value;
}
