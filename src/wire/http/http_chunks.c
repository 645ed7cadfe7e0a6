/* SPDX-License-Identifier: MIT */
/* http_chunks.c - see http_chunks.h.  There is one function per state: it takes a byte and
 * returns the next state, or refuses. */
#include "wire/http/http_chunks.h"

#include "base/text/msg.h"
#include "wire/http/http_chars.h"
#include "wire/http/http_parse.h"

static int bad_chunk(struct http_chunks *c, const char *what, struct err *err)
{
    c->status = 400;
    return err_set(err, ERR_INVALID, "chunk %llu: %s", (unsigned long long)c->number + 1, what);
}

static int bad_trailer(struct http_chunks *c, int status, const char *what, struct err *err)
{
    c->status = status;
    return err_set(err, status == 431 ? ERR_LIMIT : ERR_INVALID, "trailer %u: %s", c->trailers,
                   what);
}

static int move(struct http_chunks *c, enum http_chunk_state to)
{
    c->state = to;
    return 0;
}

static int on_size(struct http_chunks *c, char byte, struct err *err)
{
    if (http_char_is(byte, HTTP_HEX)) {
        if (++c->digits > 16)
            return bad_chunk(c, MSG("size has more than 16 digits"), err);
        c->left = c->left << 4 | http_hex(byte);
        return 0;
    }
    if (c->digits == 0)
        return bad_chunk(c, MSG("no size"), err);
    if (c->left > INT64_MAX)
        return bad_chunk(c, MSG("size is too large"), err);
    if (byte == '\r')
        return move(c, CHUNK_SIZE_LF);
    if (byte == ';')
        return move(c, CHUNK_EXTENSION);
    return bad_chunk(c, MSG("wrong character in the size"), err);
}

static int on_extension(struct http_chunks *c, char byte, struct err *err)
{
    if (byte == '\r')
        return move(c, CHUNK_SIZE_LF);
    if (byte == '\t' || !http_char_is(byte, HTTP_VALUE))
        return bad_chunk(c, MSG("control character in the extension"), err);
    if (++c->extension > HTTP_EXTENSION_MAX)
        return bad_chunk(c, MSG("extension is too long"), err);
    return 0;
}

static int on_size_lf(struct http_chunks *c, char byte, struct err *err)
{
    if (byte != '\n')
        return bad_chunk(c, MSG("CR without LF"), err);
    c->digits = c->extension = 0;
    return move(c, c->left ? CHUNK_DATA : CHUNK_TRAILER);
}

static int on_data_cr(struct http_chunks *c, char byte, struct err *err)
{
    if (byte != '\r')
        return bad_chunk(c, MSG("data is longer than its size"), err);
    return move(c, CHUNK_DATA_LF);
}

static int on_data_lf(struct http_chunks *c, char byte, struct err *err)
{
    if (byte != '\n')
        return bad_chunk(c, MSG("CR without LF"), err);
    c->number++;
    return move(c, CHUNK_SIZE);
}

static int on_trailer(struct http_chunks *c, char byte, struct err *err)
{
    if (byte == '\r')
        return move(c, CHUNK_LAST_LF);
    if (++c->trailers > HTTP_FIELDS_MAX)
        return bad_trailer(c, 431, MSG("too many"), err);
    if (!http_char_is(byte, HTTP_TOKEN))
        return bad_trailer(c, 400, MSG("no name"), err);
    return move(c, CHUNK_TRAILER_NAME);
}

static int on_trailer_name(struct http_chunks *c, char byte, struct err *err)
{
    if (byte == ':')
        return move(c, CHUNK_TRAILER_VALUE);
    if (!http_char_is(byte, HTTP_TOKEN))
        return bad_trailer(c, 400, MSG("wrong character in the name"), err);
    return 0;
}

static int on_trailer_value(struct http_chunks *c, char byte, struct err *err)
{
    if (byte == '\r')
        return move(c, CHUNK_TRAILER_LF);
    if (!http_char_is(byte, HTTP_VALUE))
        return bad_trailer(c, 400, MSG("control character in the value"), err);
    return 0;
}

static int on_trailer_lf(struct http_chunks *c, char byte, struct err *err)
{
    if (byte != '\n')
        return bad_trailer(c, 400, MSG("CR without LF"), err);
    return move(c, CHUNK_TRAILER);
}

static int on_last_lf(struct http_chunks *c, char byte, struct err *err)
{
    if (byte != '\n')
        return bad_trailer(c, 400, MSG("CR without LF"), err);
    return move(c, CHUNK_DONE);
}

static int (*const steps[CHUNK_DONE])(struct http_chunks *c, char byte, struct err *err) = {
    [CHUNK_SIZE] = on_size,
    [CHUNK_EXTENSION] = on_extension,
    [CHUNK_SIZE_LF] = on_size_lf,
    [CHUNK_DATA_CR] = on_data_cr,
    [CHUNK_DATA_LF] = on_data_lf,
    [CHUNK_TRAILER] = on_trailer,
    [CHUNK_TRAILER_NAME] = on_trailer_name,
    [CHUNK_TRAILER_VALUE] = on_trailer_value,
    [CHUNK_TRAILER_LF] = on_trailer_lf,
    [CHUNK_LAST_LF] = on_last_lf,
};

static int step(struct http_chunks *c, char byte, struct err *err)
{
    if (c->state >= CHUNK_TRAILER && ++c->trailer_bytes > HTTP_HEAD_MAX)
        return bad_trailer(c, 431, MSG("trailers are too long"), err);
    return steps[c->state](c, byte, err);
}

int http_chunks_read(struct http_chunks *c, const char *bytes, size_t n, size_t *ret_taken,
                     struct http_span *ret_body, struct err *err)
{
    struct http_span body = { 0 };
    size_t i = 0;

    while (i < n && c->state != CHUNK_DONE && c->state != CHUNK_DATA) {
        if (step(c, bytes[i++], err))
            return -1;
    }
    if (c->state == CHUNK_DATA) {
        body.bytes = bytes + i;
        body.n = n - i < c->left ? n - i : (size_t)c->left;
        i += body.n;
        c->left -= body.n;
        if (c->left == 0)
            c->state = CHUNK_DATA_CR;
    }
    *ret_taken = i;
    *ret_body = body;
    return 0;
}
