/* SPDX-License-Identifier: MIT */
/* gate.c - see gate.h. */
#include "api/gate.h"

#include "api/access.h"
#include "api/api_in.h"
#include "api/login.h"
#include "api/routes.h"
#include "api/shown.h"

/* ---- the head */

static bool is_known(const struct call *c)
{
    struct shown s;
    enum refusal why;
    const struct app *app;

    if (c->is_admin)
        return true;
    if (shown_in_head(c, &s, &why) != SHOWN_THERE || !s.code)
        return false;
    app = apps_peek(c->api->apps, s.code);
    return app && (s.is_trusted || (s.secret && app_has_secret(app, s.secret)));
}

void gate_head(struct call *c)
{
    const struct http_head *h = &c->req->head;
    size_t max = c->route->body_max, bytes;
    bool known = is_known(c);

    if (!known && !shown_has_header(c) && max > GATE_STRANGE_BODY_MAX)
        max = GATE_STRANGE_BODY_MAX;
    c->req->body_max = max;
    if (h->length > (int64_t)max) {
        call_refuse(c, max < c->route->body_max ? REFUSAL_STRANGE_LARGE : REFUSAL_TOO_LARGE,
                    arena_printf(c->arena, "%zu", max));
        return;
    }
    if (known)
        return;
    bytes = h->chunked ? max : (size_t)h->length;
    if (bytes > GATE_STRANGE_BYTES_MAX - c->api->strange_bytes) {
        call_refuse(c, REFUSAL_BUSY, "");
        return;
    }
    c->held_bytes = bytes;
    c->api->strange_bytes += bytes;
}

/* ---- its way in; all of it is in the call's arena, and gone with the call */

struct passing {
    struct call *call;
    struct shown shown;
    void (*in)(struct call *c);
};

static bool is_there(const char *text)
{
    return text && *text;
}

/* What is missing; REFUSALS: nothing.  ESB looks for a secret first, the gateway for a code. */
static enum refusal judge(const struct call *c, const struct shown *s)
{
    bool is_gateway = c->dialect->kind == DIALECT_GATEWAY;

    if (is_there(s->access_token))
        return REFUSAL_ACCESS_TOKEN;
    if (s->is_trusted)
        return REFUSALS;
    if (is_gateway && !is_there(s->code))
        return REFUSAL_NO_CODE;
    if (!s->signature.given && !s->secret)
        return REFUSAL_NO_CREDENTIALS;
    if (!is_there(s->code))
        return REFUSAL_NO_CODE;
    return s->signature.given || *s->secret ? REFUSALS : REFUSAL_NO_SECRET;
}

/* How often.  The bucket is the app's, as long as it is remembered. */
static void pass_rate(struct passing *p)
{
    struct call *c = p->call;
    int64_t wait_ms =
        app_take_rate(c->app, access_rate(c->api->parts.access), loop_now_ms(c->api->parts.loop));

    if (wait_ms) {
        c->retry_s = (wait_ms + 999) / 1000;
        call_refuse(c, REFUSAL_RATE, c->app->code);
        return;
    }
    call_settle(c);
    p->in(c);
}

static void pass_right(struct passing *p)
{
    struct call *c = p->call;

    if (app_rights(&c->app->permissions) & c->route->right)
        pass_rate(p);
    else
        call_refuse(c, REFUSAL_RIGHT,
                    c->dialect->kind == DIALECT_V1 ? app_right_name(c->route->right)
                                                   : c->route->path);
}

/* ---- the user */

static void on_login(void *arg, enum login_answer answer, const char *user)
{
    struct passing *p = arg;
    struct call *c = p->call;

    switch (answer) {
    case LOGIN_KNOWN:
        c->user = arena_strdup(c->arena, user);
        c->user_is_proven = true;
        pass_right(p);
        return;
    case LOGIN_REFUSED: call_refuse(c, REFUSAL_TOKEN, ""); return;
    case LOGIN_AWAY: call_refuse(c, REFUSAL_LOGIN, ""); return;
    }
}

static void pass_user(struct passing *p)
{
    struct call *c = p->call;
    struct login *login = c->api->parts.login;
    enum dialect_kind kind = c->dialect->kind;
    bool is_asked_for = kind == DIALECT_ESB || kind == DIALECT_JOB;

    c->user = p->shown.user ? p->shown.user : "";
    c->user_is_proven = p->shown.is_trusted && *c->user;
    if (login && is_there(p->shown.token) && (is_asked_for || kind == DIALECT_GATEWAY)) {
        login_ask(login, p->shown.token, on_login, p);
        return;
    }
    if (login && is_asked_for &&
        !(*c->user && access_skips_user(c->api->parts.access, c->app->code)))
        call_refuse(c, REFUSAL_NO_USER, "");
    else
        pass_right(p);
}

/* ---- the app */

static enum refusal judge_proof(const struct passing *p, const struct app *app)
{
    const struct call *c = p->call;
    const struct shown *s = &p->shown;
    const char *const secrets[] = { app->plain_1, app->plain_2 };
    enum refusal why;

    if (s->is_trusted)
        return REFUSALS;
    if (!s->signature.given)
        return app_has_secret(app, s->secret) ? REFUSALS : REFUSAL_WRONG_SECRET;
    why = signature_judge(&s->signature, clock_wall_ms(loop_clock(c->api->parts.loop)) / 1000);
    if (why != REFUSALS)
        return why;
    return signature_fits(&s->signature, c->req, secrets, c->arena) ? REFUSALS : REFUSAL_SIGNATURE;
}

static void on_app(void *arg, const struct app *app, const struct err *failure)
{
    struct passing *p = arg;
    struct call *c = p->call;
    enum refusal why;

    if (failure || c->api->is_stopping) { /* then there is no login service to ask */
        call_fail(c, failure ? failure : &call_stopping);
        return;
    }
    why = app ? judge_proof(p, app) : REFUSAL_UNKNOWN_APP;
    if (why != REFUSALS) {
        call_refuse(c, why, p->shown.code);
        return;
    }
    c->app = app_hold(app);
    pass_user(p);
}

void gate_pass(struct call *c, void (*in)(struct call *c))
{
    struct passing *p;
    enum refusal why;

    if (c->is_admin) {
        c->app = &app_admin;
        c->user = "";
        in(c);
        return;
    }
    p = arena_alloc(c->arena, sizeof(*p));
    p->call = c;
    p->in = in;
    if (!shown_read(c, &p->shown))
        return;
    why = judge(c, &p->shown);
    if (why == REFUSALS)
        apps_find(c->api->apps, p->shown.code, on_app, p);
    else
        call_refuse(c, why, "");
}
