/* SPDX-License-Identifier: MIT */
/* gate.c - see gate.h. */
#include "api/gate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/api_in.h"
#include "api/params.h"
#include "api/routes.h"
#include "base/base64.h"
#include "base/mem.h"
#include "model/rules.h"

static const char auth_header[] = "X-Bkapi-Authorization";

/* Longer ones are cut off by nobody: they are refused where they are read. */
enum { TEXT_SIZE = 256 + 1 };

struct shown {
    char code[TEXT_SIZE], secret[TEXT_SIZE], user[TEXT_SIZE];
    bool has_code, has_secret;
    char signature[TEXT_SIZE], nonce[TEXT_SIZE], time[TEXT_SIZE];
    bool has_signature, has_nonce, has_time;
};

/* ---- where credentials are */

/* The older name counts where the newer one is not there. */
static bool pick(char to[TEXT_SIZE], const struct json_want *newer, const struct json_want *older)
{
    const struct json_want *w = newer->found ? newer : older;

    if (!w->found)
        return false;
    memcpy(to, w->to, w->size);
    return true;
}

static int scan(const struct params *p, struct shown *s, struct arena *arena, struct err *err)
{
    char text[6][TEXT_SIZE];
    struct json_want w[] = {
        { "bk_app_code", text[0], TEXT_SIZE, false },   { "app_code", text[1], TEXT_SIZE, false },
        { "bk_app_secret", text[2], TEXT_SIZE, false }, { "app_secret", text[3], TEXT_SIZE, false },
        { "bk_username", text[4], TEXT_SIZE, false },   { "username", text[5], TEXT_SIZE, false },
    };

    memset(text, 0, sizeof(text));
    if (params_scan(p, w, ARRAY_LEN(w), arena, err))
        return -1;
    s->has_code = pick(s->code, &w[0], &w[1]);
    s->has_secret = pick(s->secret, &w[2], &w[3]);
    (void)pick(s->user, &w[4], &w[5]); /* nobody has to be there */
    return 0;
}

static int scan_signature(const struct call *c, struct shown *s, struct err *err)
{
    char text[2][TEXT_SIZE] = { 0 };
    const struct params query = params_of_query(c->req);
    struct json_want w[] = {
        { "bk_signature", text[0], TEXT_SIZE, false },
        { "signature", text[1], TEXT_SIZE, false },
        { "bk_nonce", s->nonce, TEXT_SIZE, false },
        { "bk_timestamp", s->time, TEXT_SIZE, false },
    };

    if (params_scan(&query, w, ARRAY_LEN(w), c->arena, err))
        return -1;
    s->has_signature = pick(s->signature, &w[0], &w[1]) && *s->signature;
    s->has_nonce = w[2].found;
    s->has_time = w[3].found;
    return 0;
}

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
static bool read_basic(const char *value, struct shown *s)
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
    memcpy(s->code, pair, (size_t)(colon - pair));
    memcpy(s->secret, colon + 1, strlen(colon + 1));
    s->has_code = s->has_secret = true;
    return true;
}

enum look { LOOK_NONE, LOOK_FOUND, LOOK_REFUSED };

/* What the head alone says. */
static enum look look_at_head(const struct call *c, struct shown *s, enum refusal *ret_why)
{
    const struct http_head *h = &c->req->head;
    const char *value;
    struct err err;

    *ret_why = REFUSAL_HEADER;
    if (!find_header(h, auth_header, &value))
        return LOOK_REFUSED;
    if (value) {
        const struct params p = { true, value, strlen(value) };

        return scan(&p, s, c->arena, &err) ? LOOK_REFUSED : LOOK_FOUND;
    }
    if (c->dialect->kind != DIALECT_V1)
        return LOOK_NONE;
    *ret_why = REFUSAL_BASIC;
    if (!find_header(h, "Authorization", &value))
        return LOOK_REFUSED;
    if (!value)
        return LOOK_NONE;
    return read_basic(value, s) ? LOOK_FOUND : LOOK_REFUSED;
}

/* ---- the head */

static bool is_known(const struct call *c)
{
    struct shown s = { 0 };
    enum refusal why;
    const struct app *app;

    if (c->is_admin)
        return true;
    if (look_at_head(c, &s, &why) != LOOK_FOUND)
        return false;
    app = apps_peek(c->api->apps, s.code);
    return app && app_has_secret(app, s.secret);
}

/* An empty one is none. */
static bool shows(const struct call *c, const char *header)
{
    const char *value = http_head_find(&c->req->head, header);

    return value && *value;
}

static bool has_header(const struct call *c)
{
    return shows(c, auth_header) || (c->dialect->kind == DIALECT_V1 && shows(c, "Authorization"));
}

void gate_head(struct call *c)
{
    const struct http_head *h = &c->req->head;
    size_t max = c->route->body_max, bytes;

    if (!has_header(c) && !c->is_admin && max > GATE_STRANGE_BODY_MAX)
        max = GATE_STRANGE_BODY_MAX;
    c->req->body_max = max;
    if (h->length > (int64_t)max) {
        call_refuse(c, max < c->route->body_max ? REFUSAL_STRANGE_LARGE : REFUSAL_TOO_LARGE,
                    arena_printf(c->arena, "%zu", max));
        return;
    }
    if (is_known(c))
        return;
    bytes = h->chunked ? max : (size_t)h->length;
    if (bytes > GATE_STRANGE_BYTES_MAX - c->api->strange_bytes) {
        call_refuse(c, REFUSAL_BUSY, "");
        return;
    }
    c->held_bytes = bytes;
    c->api->strange_bytes += bytes;
}

/* ---- who it is */

struct passing {
    struct call *call;
    struct shown shown;
    void (*in)(struct call *c);
};

static bool to_number(const char *text, int64_t *ret)
{
    char *end;

    errno = 0;
    *ret = strtoll(text, &end, 10);
    return *text && !*end && errno == 0;
}

/* A signature is of no use to us; what is wrong around it is told as ESB would. */
static enum refusal judge_signature(const struct call *c, const struct shown *s)
{
    int64_t wall_s = clock_wall_ms(loop_clock(c->api->parts.loop)) / 1000;
    int64_t nonce, time;

    if (c->dialect->kind == DIALECT_GATEWAY)
        return REFUSAL_SIGNATURE;
    if (!s->has_code || !*s->code)
        return REFUSAL_NO_CODE;
    if (!s->has_nonce)
        return REFUSAL_NONCE_NONE;
    if (!to_number(s->nonce, &nonce))
        return REFUSAL_NONCE_ILLEGAL;
    if (nonce <= 0)
        return REFUSAL_NONCE_NEGATIVE;
    if (!s->has_time)
        return REFUSAL_TIME_NONE;
    if (!to_number(s->time, &time))
        return REFUSAL_TIME_ILLEGAL;
    if (time < wall_s - GATE_SIGNATURE_MS / 1000)
        return REFUSAL_TIME_EXPIRED;
    return REFUSAL_SIGNATURE;
}

/* What is missing; REFUSALS: nothing.  ESB looks for a secret first, the gateway for a code. */
static enum refusal judge(const struct call *c, const struct shown *s)
{
    bool is_gateway = c->dialect->kind == DIALECT_GATEWAY;

    if (s->has_signature)
        return judge_signature(c, s);
    if (is_gateway && (!s->has_code || !*s->code))
        return REFUSAL_NO_CODE;
    if (!s->has_secret)
        return REFUSAL_NO_CREDENTIALS;
    if (!s->has_code || !*s->code)
        return REFUSAL_NO_CODE;
    return *s->secret ? REFUSALS : REFUSAL_NO_SECRET;
}

static void on_app(void *arg, const struct app *app, const struct err *failure)
{
    struct passing *p = arg;
    struct call *c = p->call;

    if (failure) {
        call_fail(c, failure);
    } else if (!app) {
        call_refuse(c, REFUSAL_UNKNOWN_APP, p->shown.code);
    } else if (!app_has_secret(app, p->shown.secret)) {
        call_refuse(c, REFUSAL_WRONG_SECRET, p->shown.code);
    } else if (!(app_rights(&app->permissions) & c->route->right)) {
        call_refuse(c, REFUSAL_RIGHT, c->route->path);
    } else {
        c->app = app_hold(app);
        c->user = arena_strdup(c->arena, p->shown.user);
        call_settle(c);
        p->in(c);
    }
    free(p);
}

/* The gateway looks into the query of a POST too, and first. */
static int scan_params(const struct call *c, struct shown *s, struct err *err)
{
    const struct params query = params_of_query(c->req), params = call_params(c);

    if (c->dialect->kind == DIALECT_GATEWAY) {
        if (scan(&query, s, c->arena, err))
            return -1;
        if (s->has_code || s->has_secret)
            return 0;
    }
    return scan(&params, s, c->arena, err);
}

/* Header first; else the parameters, but never those of /v1.  False: the call was ended. */
static bool read_shown(struct call *c, struct shown *s)
{
    enum refusal why;
    enum look look = look_at_head(c, s, &why);
    struct err err;

    if (look == LOOK_REFUSED) {
        call_refuse(c, why, "");
        return false;
    }
    if (c->dialect->kind == DIALECT_V1)
        return true;
    if ((look == LOOK_NONE && scan_params(c, s, &err)) ||
        (!s->has_secret && scan_signature(c, s, &err))) {
        call_fail(c, &err);
        return false;
    }
    return true;
}

void gate_pass(struct call *c, void (*in)(struct call *c))
{
    struct shown shown = { 0 };
    enum refusal why;
    struct passing *p;

    if (c->is_admin) {
        c->app = &app_admin;
        c->user = "";
        in(c);
        return;
    }
    if (!read_shown(c, &shown))
        return;
    why = judge(c, &shown);
    if (why != REFUSALS) {
        call_refuse(c, why, "");
        return;
    }
    p = xalloc(sizeof(*p));
    *p = (struct passing){ c, shown, in };
    apps_find(c->api->apps, p->shown.code, on_app, p);
}
