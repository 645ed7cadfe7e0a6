/* SPDX-License-Identifier: MIT */
/* credentials.c - see credentials.h. */
#include "api/pipeline/credentials.h"

#include <string.h>
#include <strings.h>

#include "api/auth/access.h"
#include "api/pipeline/api_state.h"
#include "api/pipeline/call.h"
#include "api/pipeline/params.h"
#include "base/mem/mem.h"
#include "base/text/base64.h"

static const char auth_header[] = "X-Bkapi-Authorization";

/* Longer values are refused by the reader, not truncated. */
enum { TEXT_SIZE = 256 + 1, TOKEN_SIZE = 2048 + 1 };

/* The first that is not empty, as in ESB; NULL: none. */
static const char *first_given(struct arena *a, const struct json_want *newer,
                               const struct json_want *older)
{
    if (newer->found && *newer->to)
        return arena_strdup(a, newer->to);
    return older->found && *older->to ? arena_strdup(a, older->to) : NULL;
}

/* The last, access_token, is read only from a header. */
static int scan_credentials(const struct params *p, bool is_header, struct credentials *s,
                            struct arena *arena, struct err *err)
{
    char text[6][TEXT_SIZE], token[2][TOKEN_SIZE];
    struct json_want w[] = {
        { "bk_app_code", text[0], TEXT_SIZE, false },
        { "app_code", text[1], TEXT_SIZE, false },
        { "bk_app_secret", text[2], TEXT_SIZE, false },
        { "app_secret", text[3], TEXT_SIZE, false },
        { "bk_username", text[4], TEXT_SIZE, false },
        { "username", text[5], TEXT_SIZE, false },
        { "bk_token", token[0], TOKEN_SIZE, false },
        { "access_token", token[1], TOKEN_SIZE, false },
    };

    if (params_scan(p, w, is_header ? ARRAY_LEN(w) : ARRAY_LEN(w) - 1, arena, err))
        return -1;
    s->code = first_given(arena, &w[0], &w[1]);
    s->secret = first_given(arena, &w[2], &w[3]);
    s->user = first_given(arena, &w[4], &w[5]);
    s->token = first_given(arena, &w[6], &w[6]);
    s->access_token = first_given(arena, &w[7], &w[7]);
    return 0;
}

/* ---- the head */

/* The only header of that name; *ret NULL: absent or empty.  False: there are two, so it is
 * ambiguous. */
static bool find_header(const struct http_head *h, const char *name, const char **ret)
{
    const char *found = NULL;

    for (size_t i = 0; i < h->n_fields; i++) {
        if (strcasecmp(http_head_name(h, i), name) != 0)
            continue;
        if (found)
            return false;
        found = http_head_value(h, i);
    }
    *ret = found && *found ? found : NULL;
    return true;
}

/* Basic uses standard base64 with padding; base64_read() takes the URL alphabet without it. */
static bool read_basic(const char *value, struct credentials *s, struct arena *a)
{
    char text[BASE64_SIZE(2 * TEXT_SIZE)], pair[2 * TEXT_SIZE] = { 0 };
    size_t n, bytes;
    char *colon;

    if (strncasecmp(value, "Basic ", 6) != 0)
        return false;
    value += 6 + strspn(value + 6, " ");
    n = strcspn(value, "=");
    bytes = n * 3 / 4;
    if (n >= sizeof(text) || bytes >= sizeof(pair) || strspn(value + n, "=") != strlen(value + n))
        return false;
    for (size_t i = 0; i <= n; i++)
        text[i] = value[i] == '+' ? '-' : value[i] == '/' ? '_' : value[i];
    text[n] = '\0';
    if (!base64_read(text, pair, bytes) || memchr(pair, '\0', bytes))
        return false;
    colon = strchr(pair, ':');
    if (!colon || (size_t)(colon - pair) >= TEXT_SIZE || strlen(colon + 1) >= TEXT_SIZE)
        return false;
    s->code = arena_memdup(a, pair, (size_t)(colon - pair));
    s->secret = arena_strdup(a, colon + 1);
    return true;
}

/* Only in the backend dialect, and only from an ESB that the settings name.  The user's name is
 * recorded in the audit log, so it has the same length limit as elsewhere. */
static enum credentials_where read_esb(const struct call *c, struct credentials *s)
{
    const struct http_head *h = &c->req->head;
    const char *code, *user;

    if (c->dialect->kind != DIALECT_BACKEND || !access_trusts(c->api->parts.access, c->req->peer) ||
        !find_header(h, "Bk-App-Code", &code) || !code || !find_header(h, "Bk-Username", &user) ||
        (user && strlen(user) >= TEXT_SIZE))
        return CREDENTIALS_NOWHERE;
    s->code = code;
    s->user = user;
    s->is_trusted = true;
    return CREDENTIALS_THERE;
}

enum credentials_where credentials_in_head(const struct call *c, struct credentials *ret,
                                           enum refusal *ret_why)
{
    const struct http_head *h = &c->req->head;
    const char *value;
    struct err err;

    *ret = (struct credentials){ 0 };
    if (read_esb(c, ret) == CREDENTIALS_THERE)
        return CREDENTIALS_THERE;
    *ret_why = REFUSAL_HEADER;
    if (!find_header(h, auth_header, &value))
        return CREDENTIALS_WRONG;
    if (value) {
        const struct params p = { true, value, strlen(value) };

        return scan_credentials(&p, true, ret, c->arena, &err) ? CREDENTIALS_WRONG
                                                               : CREDENTIALS_THERE;
    }
    if (c->dialect->kind != DIALECT_V1)
        return CREDENTIALS_NOWHERE;
    *ret_why = REFUSAL_BASIC;
    if (!find_header(h, "Authorization", &value))
        return CREDENTIALS_WRONG;
    if (!value)
        return CREDENTIALS_NOWHERE;
    return read_basic(value, ret, c->arena) ? CREDENTIALS_THERE : CREDENTIALS_WRONG;
}

/* Present and not empty. */
static bool has_header(const struct call *c, const char *header)
{
    const char *value = http_head_find(&c->req->head, header);

    return value && *value;
}

bool credentials_has_header(const struct call *c)
{
    return has_header(c, auth_header) ||
           (c->dialect->kind == DIALECT_V1 && has_header(c, "Authorization"));
}

/* ---- query and body */

/* The gateway also reads the query of a POST, and before the body. */
static int scan_params(const struct call *c, struct credentials *s, struct err *err)
{
    const struct params query = params_of_query(c->req), params = call_params(c);

    if (c->dialect->kind == DIALECT_GATEWAY) {
        if (scan_credentials(&query, false, s, c->arena, err))
            return -1;
        if (s->code || s->secret)
            return 0;
    }
    return scan_credentials(&params, false, s, c->arena, err);
}

/* In the backend dialect a GET has a body, which no signature covers: signatures are not read
 * there. */
static bool may_be_signed(const struct call *c)
{
    enum dialect_kind kind = c->dialect->kind;

    return (kind == DIALECT_ESB || kind == DIALECT_JOB || kind == DIALECT_GATEWAY) &&
           strstr(c->req->head.query, "signature=");
}

/* A signed POST may have the app's code in the query, which is signed too. */
static int read_signature(const struct call *c, struct credentials *s, struct err *err)
{
    const struct params query = params_of_query(c->req);
    struct credentials in_query = { 0 };

    if (!may_be_signed(c))
        return 0;
    if (signature_read(c->req->head.query, c->arena, &s->signature, err))
        return -1;
    if (!s->signature.given || s->code)
        return 0;
    if (scan_credentials(&query, false, &in_query, c->arena, err))
        return -1;
    s->code = in_query.code;
    return 0;
}

bool credentials_read(struct call *c, struct credentials *ret)
{
    enum refusal why;
    enum credentials_where where = credentials_in_head(c, ret, &why);
    struct err err;

    if (where == CREDENTIALS_WRONG) {
        call_refuse(c, why, "");
        return false;
    }
    if (c->dialect->kind == DIALECT_V1 || ret->is_trusted)
        return true;
    if ((where == CREDENTIALS_NOWHERE && scan_params(c, ret, &err)) ||
        read_signature(c, ret, &err)) {
        call_fail(c, &err);
        return false;
    }
    return true;
}
