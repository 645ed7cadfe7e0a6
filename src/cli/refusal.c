/* SPDX-License-Identifier: MIT */
/* refusal.c - see refusal.h. */
#include "cli/refusal.h"

#include <stdio.h>
#include <string.h>

#include "base/mem/mem.h"
#include "cli/text.h"
#include "model/translate.h"

#define AT(member) .offset = offsetof(struct refusal_error, member)

/* clang-format off */
static const struct field error_fields[] = {
    { "code", .type = FIELD_STR, AT(code), .max = 128, .doc = "its name" },
    { "number", .type = FIELD_INT, AT(number), .doc = "its number" },
    { "message", .type = FIELD_STR, AT(message), .max = 65536, .doc = "for people" },
    { "request_id", .type = FIELD_STR, AT(request_id), .max = 256, .flags = FIELD_OMIT_EMPTY,
      .doc = "to find it in the server's log" },
    { 0 },
};
static const struct shape error_shape = { "error", sizeof(struct refusal_error), error_fields };
static const struct field fields[] = {
    { "error", .type = FIELD_OBJ, .offset = offsetof(struct refusal, error), .flags = FIELD_REQUIRED,
      .sub = &error_shape, .doc = "what was wrong" },
    { 0 },
};
const struct shape refusal_shape = { "refusal", sizeof(struct refusal), fields };
/* clang-format on */

/* "NOT_FOUND, request 7f3a": to quote in a support request. */
static const char *label(const struct refusal_error *e, int status, enum lang lang, struct arena *a)
{
    const char *code = *e->code ? e->code : arena_printf(a, "HTTP %d", status), *copy;
    struct buf b = { 0 };

    if (!*e->request_id)
        return code;
    text_put(&b, lang, TEXT_REQUEST, TEXT_ARGS(code, e->request_id));
    copy = arena_strdup(a, buf_text(&b));
    buf_free(&b);
    return copy;
}

bool refusal_is_translated(const char *text)
{
    while (*text && !((unsigned char)*text & 0x80))
        text++;
    return *text;
}

/* A message that exists only in English is prefixed with the meaning of its code in Chinese. */
static const char *message(const struct refusal_error *e, enum lang lang, struct arena *a)
{
    const char *known = code_get((int)e->number)->text[lang], *copy;
    struct buf b = { 0 };

    if (lang == LANG_EN || e->number <= 0)
        return *e->message ? e->message : known;
    if (!*e->message)
        return known;
    if (refusal_is_translated(e->message))
        return e->message;
    text_put(&b, lang, TEXT_WITH_DETAIL, TEXT_ARGS(known, e->message));
    copy = arena_strdup(a, buf_text(&b));
    buf_free(&b);
    return copy;
}

/* Whether plain HTTP was sent to a TLS port: the answers of our server and of others. */
static bool is_tls_port(const struct client_answer *answer)
{
    static const char *const said[] = { "this port speaks TLS", "request was sent to HTTPS port" };

    for (size_t i = 0; answer->status == 400 && i < ARRAY_LEN(said); i++) {
        if (memmem(buf_data(&answer->body), answer->body.len, said[i], strlen(said[i])))
            return true;
    }
    return false;
}

static int not_ours(const struct client_answer *answer, const char *address, enum lang lang,
                    struct refusal *ret, struct err *err)
{
    struct err inner = *err;
    char status[16];

    if (is_tls_port(answer)) {
        *ret = (struct refusal){ { code_get(ERR_UNAVAILABLE)->name, "", "", ERR_UNAVAILABLE } };
        return text_err(err, ERR_UNAVAILABLE, lang, TEXT_TLS_PORT, TEXT_ARGS(address));
    }
    snprintf(status, sizeof(status), "%d", answer->status);
    (void)text_err(err, ERR_MALFORMED, lang, TEXT_NOT_OURS,
                   TEXT_ARGS(address, status, err_msg(&inner))); /* -1, returned below */
    *ret = (struct refusal){ { code_get(ERR_MALFORMED)->name, "", "", ERR_MALFORMED } };
    return -1;
}

int refusal_read(const struct client_answer *answer, const char *address, const char *app,
                 enum lang lang, struct arena *a, struct refusal *ret, struct err *err)
{
    const char *text, *name;

    if (shape_read(&refusal_shape, buf_data(&answer->body), answer->body.len, 0, a, ret, err))
        return not_ours(answer, address, lang, ret, err);
    text = message(&ret->error, lang, a);
    name = label(&ret->error, answer->status, lang, a);
    if (answer->status == 401 && !*app)
        return text_err(err, ERR_DENIED, lang, TEXT_WHO_ARE_YOU, TEXT_ARGS(name));
    if (answer->status == 401)
        return text_err(err, ERR_DENIED, lang, TEXT_WRONG_SECRET, TEXT_ARGS(app, text, name));
    if (answer->status == 403)
        return text_err(err, ERR_DENIED, lang, TEXT_NOT_ALLOWED, /* its text explains itself */
                        TEXT_ARGS(*ret->error.message ? ret->error.message : text, name));
    return text_err(err, answer->status == 503 ? ERR_UNAVAILABLE : ERR_CONFLICT, lang, TEXT_REFUSED,
                    TEXT_ARGS(text, name));
}

struct refusal refusal_of(const struct err *err, enum lang lang, struct arena *a)
{
    const char *text = translate(err_msg(err), lang, a);

    return (struct refusal){ { code_get(err->code)->name, text, "", err->code } };
}
