/* SPDX-License-Identifier: MIT */
/* http_reply.c - see http_reply.h. */
#include "wire/http/http_reply.h"

#include <string.h>
#include <strings.h>

#include "wire/http/http_parse.h"

enum { STATUS_LINE_MIN = 12 }; /* "HTTP/1.1 200" */

/* ---- the body */

static bool contains(const char *bytes, size_t n, const char *text)
{
    return n >= strlen(text) && memmem(bytes, n, text, strlen(text));
}

/* The text may begin in what came before. */
static bool is_across(const struct http_reply *r, const char *bytes, size_t n)
{
    char both[2 * HTTP_REPLY_TEXT];
    size_t more = strlen(r->text) - 1 < n ? strlen(r->text) - 1 : n;

    memcpy(both, r->tail, r->tail_n);
    memcpy(both + r->tail_n, bytes, more);
    return contains(both, r->tail_n + more, r->text);
}

/* The last bytes, one less than the text has. */
static void keep_tail(struct http_reply *r, const char *bytes, size_t n)
{
    size_t most = strlen(r->text) - 1, old;

    if (n >= most) {
        memcpy(r->tail, bytes + n - most, most);
        r->tail_n = most;
        return;
    }
    old = r->tail_n + n > most ? most - n : r->tail_n;
    memmove(r->tail, r->tail + r->tail_n - old, old);
    memcpy(r->tail + old, bytes, n);
    r->tail_n = old + n;
}

static void search(struct http_reply *r, const char *bytes, size_t n)
{
    if (n > HTTP_REPLY_BODY_MAX - r->body_n)
        n = HTTP_REPLY_BODY_MAX - r->body_n;
    r->body_n += n;
    r->has_text = contains(bytes, n, r->text) || is_across(r, bytes, n);
    keep_tail(r, bytes, n);
    if (r->has_text || r->body_n == HTTP_REPLY_BODY_MAX)
        r->state = REPLY_DONE;
}

static int read_chunks(struct http_reply *r, const char *bytes, size_t n, struct err *err)
{
    struct http_span body;
    size_t taken;

    for (size_t at = 0; at < n && r->state == REPLY_CHUNKS; at += taken) {
        if (http_chunks_read(&r->chunks, bytes + at, n - at, &taken, &body, err))
            return -1;
        if (body.n)
            search(r, body.bytes, body.n);
        if (r->chunks.state == CHUNK_DONE)
            r->state = REPLY_DONE;
    }
    return 0;
}

static int read_body(struct http_reply *r, const char *bytes, size_t n, struct err *err)
{
    if (r->state == REPLY_CHUNKS)
        return read_chunks(r, bytes, n, err);
    if (r->state == REPLY_LENGTH && n > r->left)
        n = (size_t)r->left;
    if (r->state == REPLY_LENGTH)
        r->left -= n;
    search(r, bytes, n);
    if (r->state == REPLY_LENGTH && !r->left)
        r->state = REPLY_DONE;
    return 0;
}

/* ---- the head */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static int read_status(struct http_reply *r, struct err *err)
{
    const char *line = r->line;

    if (r->line_n < STATUS_LINE_MIN || strncmp(line, "HTTP/1.", 7) != 0 || !is_digit(line[7]) ||
        line[8] != ' ' || line[9] < '1' || line[9] > '5' || !is_digit(line[10]) ||
        !is_digit(line[11]) || (r->line_n > STATUS_LINE_MIN && line[12] != ' '))
        return err_set(err, ERR_INVALID, "the answer is not HTTP");
    r->status = (line[9] - '0') * 100 + (line[10] - '0') * 10 + line[11] - '0';
    r->state = REPLY_HEADERS;
    return 0;
}

/* The value of a header with this name, without blanks; NULL: it has another name. */
static const char *value_of(const char *line, const char *name)
{
    size_t n = strlen(name);

    if (strncasecmp(line, name, n) != 0 || line[n] != ':')
        return NULL;
    return line + n + 1 + strspn(line + n + 1, " \t");
}

static int read_length(struct http_reply *r, const char *value, struct err *err)
{
    size_t n = strspn(value, "0123456789");
    uint64_t length = 0;

    if (n == 0 || n > 18 || value[n + strspn(value + n, " \t")])
        return err_set(err, ERR_INVALID, "the answer has a wrong Content-Length");
    for (size_t i = 0; i < n; i++)
        length = length * 10 + (uint64_t)(value[i] - '0');
    if (r->has_length && r->left != length)
        return err_set(err, ERR_INVALID, "the answer has a wrong Content-Length");
    r->has_length = true;
    r->left = length;
    return 0;
}

static int read_header(struct http_reply *r, struct err *err)
{
    const char *length = value_of(r->line, "content-length");
    const char *coding = value_of(r->line, "transfer-encoding");

    if (length)
        return read_length(r, length, err);
    if (coding && strncasecmp(coding, "chunked", strlen("chunked")) != 0)
        return err_set(err, ERR_INVALID, "the answer has a Transfer-Encoding other than chunked");
    r->is_chunked |= coding != NULL;
    return 0;
}

/* An interim answer is followed by the answer itself. */
static void end_head(struct http_reply *r)
{
    bool is_interim = r->status < 200 && r->status != 101;
    bool is_empty = r->status == 204 || r->status == 304 || r->status == 101;

    if (is_interim) {
        r->state = REPLY_STATUS;
        r->has_length = r->is_chunked = false;
        r->left = 0;
    } else if (!r->text || is_empty || (!r->is_chunked && r->has_length && !r->left)) {
        r->state = REPLY_DONE;
    } else {
        r->state = r->is_chunked ? REPLY_CHUNKS : r->has_length ? REPLY_LENGTH : REPLY_UNTIL_END;
    }
}

static int on_line(struct http_reply *r, struct err *err)
{
    if (r->line_n && r->line[r->line_n - 1] == '\r')
        r->line_n--;
    r->line[r->line_n] = '\0';
    if (r->state == REPLY_STATUS)
        return read_status(r, err);
    if (r->line_n)
        return read_header(r, err);
    end_head(r);
    return 0;
}

/* Of a line that is too long only the begin matters; of a status line that is too much. */
static int read_head(struct http_reply *r, char byte, struct err *err)
{
    int result;

    if (++r->head_n > HTTP_HEAD_MAX)
        return err_set(err, ERR_LIMIT, "the head of the answer has more than %d bytes",
                       HTTP_HEAD_MAX);
    if (byte == '\0')
        return err_set(err, ERR_INVALID, "the answer is not HTTP");
    if (byte != '\n') {
        if (r->line_n < sizeof(r->line) - 1)
            r->line[r->line_n++] = byte;
        /* Refused early: a server of another protocol may say no more. */
        if (r->state == REPLY_STATUS && r->line_n <= 7 && byte != "HTTP/1."[r->line_n - 1])
            return err_set(err, ERR_INVALID, "the answer is not HTTP");
        return 0;
    }
    result = on_line(r, err);
    r->line_n = 0;
    return result;
}

int http_reply_read(struct http_reply *r, const char *bytes, size_t n, struct err *err)
{
    size_t i = 0;

    for (; i < n && r->state <= REPLY_HEADERS; i++) {
        if (read_head(r, bytes[i], err))
            return -1;
    }
    if (i == n || r->state == REPLY_DONE)
        return 0;
    return read_body(r, bytes + i, n - i, err);
}

int http_reply_end(struct http_reply *r, struct err *err)
{
    if (r->state == REPLY_UNTIL_END)
        r->state = REPLY_DONE;
    if (r->state == REPLY_DONE)
        return 0;
    return err_set(err, ERR_UNAVAILABLE,
                   r->head_n ? "the connection was closed within the answer"
                             : "the connection was closed without an answer");
}
