/* SPDX-License-Identifier: MIT */
/* shown.c - see shown.h. */
#include "api/shown.h"

#include <string.h>
#include <strings.h>

#include "api/access.h"
#include "api/api_in.h"
#include "api/params.h"
#include "base/base64.h"
#include "base/mem.h"

static const char auth_header[] = "X-Bkapi-Authorization";

/* Longer ones are cut off by nobody: they are refused where they are read. */
enum { TEXT_SIZE = 256 + 1, TOKEN_SIZE = 2048 + 1 };

/* The older name counts where the newer one is not there. */
static const char *pick(struct arena *a, const struct json_want *newer,
                        const struct json_want *older)
{
    const struct json_want *w = newer->found ? newer : older;

    return w->found ? arena_strdup(a, w->to) : NULL;
}

/* The last one, access_token, is a header's. */
static int scan(const struct params *p, bool is_header, struct shown *s, struct arena *arena,
                struct err *err)
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
    s->code = pick(arena, &w[0], &w[1]);
    s->secret = pick(arena, &w[2], &w[3]);
    s->user = pick(arena, &w[4], &w[5]);
    s->token = pick(arena, &w[6], &w[6]);
    s->access_token = pick(arena, &w[7], &w[7]);
    return 0;
}

/* ---- the head */

/* The one header of that name; NULL if there is none or it is empty.  False: there are two,
 * and nobody can say which one counts. */
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

/* Basic is written in the other alphabet, with padding. */
static bool read_basic(const char *value, struct shown *s, struct arena *a)
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

/* Only behind an ESB, and only of one that the settings name.  A user's name is kept in the
 * audit log, so it is no longer here than elsewhere. */
static enum shown_where read_esb(const struct call *c, struct shown *s)
{
    const struct http_head *h = &c->req->head;
    const char *code, *user;

    if (c->dialect->kind != DIALECT_BACKEND || !access_trusts(c->api->parts.access, c->req->peer) ||
        !find_header(h, "Bk-App-Code", &code) || !code || !find_header(h, "Bk-Username", &user) ||
        (user && strlen(user) >= TEXT_SIZE))
        return SHOWN_NOWHERE;
    s->code = code;
    s->user = user;
    s->is_trusted = true;
    return SHOWN_THERE;
}

enum shown_where shown_in_head(const struct call *c, struct shown *ret, enum refusal *ret_why)
{
    const struct http_head *h = &c->req->head;
    const char *value;
    struct err err;

    *ret = (struct shown){ 0 };
    if (read_esb(c, ret) == SHOWN_THERE)
        return SHOWN_THERE;
    *ret_why = REFUSAL_HEADER;
    if (!find_header(h, auth_header, &value))
        return SHOWN_WRONG;
    if (value) {
        const struct params p = { true, value, strlen(value) };

        return scan(&p, true, ret, c->arena, &err) ? SHOWN_WRONG : SHOWN_THERE;
    }
    if (c->dialect->kind != DIALECT_V1)
        return SHOWN_NOWHERE;
    *ret_why = REFUSAL_BASIC;
    if (!find_header(h, "Authorization", &value))
        return SHOWN_WRONG;
    if (!value)
        return SHOWN_NOWHERE;
    return read_basic(value, ret, c->arena) ? SHOWN_THERE : SHOWN_WRONG;
}

/* An empty one is none. */
static bool has(const struct call *c, const char *header)
{
    const char *value = http_head_find(&c->req->head, header);

    return value && *value;
}

bool shown_has_header(const struct call *c)
{
    return has(c, auth_header) || (c->dialect->kind == DIALECT_V1 && has(c, "Authorization"));
}

/* ---- the rest */

/* The gateway looks into the query of a POST too, and first. */
static int scan_params(const struct call *c, struct shown *s, struct err *err)
{
    const struct params query = params_of_query(c->req), params = call_params(c);

    if (c->dialect->kind == DIALECT_GATEWAY) {
        if (scan(&query, false, s, c->arena, err))
            return -1;
        if (s->code || s->secret)
            return 0;
    }
    return scan(&params, false, s, c->arena, err);
}

/* Behind an ESB a GET has a body, which no signature covers: there is none there. */
static bool may_be_signed(const struct call *c)
{
    enum dialect_kind kind = c->dialect->kind;

    return (kind == DIALECT_ESB || kind == DIALECT_JOB || kind == DIALECT_GATEWAY) &&
           strstr(c->req->head.query, "signature=");
}

/* Who signs a POST may say in the query, which is signed too, who it is. */
static int read_signature(const struct call *c, struct shown *s, struct err *err)
{
    const struct params query = params_of_query(c->req);
    struct shown in_query = { 0 };

    if (!may_be_signed(c))
        return 0;
    if (signature_read(c->req->head.query, c->arena, &s->signature, err))
        return -1;
    if (!s->signature.given || s->code)
        return 0;
    if (scan(&query, false, &in_query, c->arena, err))
        return -1;
    s->code = in_query.code;
    return 0;
}

bool shown_read(struct call *c, struct shown *ret)
{
    enum refusal why;
    enum shown_where where = shown_in_head(c, ret, &why);
    struct err err;

    if (where == SHOWN_WRONG) {
        call_refuse(c, why, "");
        return false;
    }
    if (c->dialect->kind == DIALECT_V1 || ret->is_trusted)
        return true;
    if ((where == SHOWN_NOWHERE && scan_params(c, ret, &err)) || read_signature(c, ret, &err)) {
        call_fail(c, &err);
        return false;
    }
    return true;
}
