/* SPDX-License-Identifier: MIT */
/* gate.c - see gate.h. */
#include "api/pipeline/gate.h"

#include <stddef.h>
#include <stdlib.h>

#include "api/auth/access.h"
#include "api/auth/login.h"
#include "api/pipeline/api_state.h"
#include "api/pipeline/call.h"
#include "api/pipeline/credentials.h"
#include "api/pipeline/replay.h"
#include "api/pipeline/routes.h"
#include "base/mem/mem.h"

/* ---- the head */

/* The call that contains this holder of strange_bodies. */
static struct call *call_of(struct body_holder *h)
{
    return (struct call *)(void *)((char *)h - offsetof(struct call, body));
}

static void evict(struct body_holder *h)
{
    call_refuse(call_of(h), REFUSAL_BUSY, "");
}

void gate_init(struct api *api)
{
    int64_t total = api->parts.body_bytes_total;
    bool is_less = total && total / 4 < GATE_STRANGE_BYTES_MAX;

    api->strange_bodies =
        (struct body_quota){ .max = is_less ? (size_t)total / 4 : GATE_STRANGE_BYTES_MAX,
                             .small = GATE_SMALL_BODY,
                             .evict = evict };
}

static bool is_proof(const struct credentials *s, const struct app *app)
{
    return app && (s->is_trusted || (s->secret && app_has_secret(app, s->secret)));
}

/* False: the call was ended. */
static bool admit_head(struct call *c, bool is_known)
{
    const struct http_head *h = &c->req->head;
    size_t max = c->route->body_max;

    if (!is_known && !credentials_has_header(c) && max > GATE_STRANGE_BODY_MAX)
        max = GATE_STRANGE_BODY_MAX;
    c->req->body_max = max;
    if (h->length > (int64_t)max) {
        call_refuse(c, max < c->route->body_max ? REFUSAL_STRANGE_LARGE : REFUSAL_TOO_LARGE,
                    arena_printf(c->arena, "%zu", max));
        return false;
    }
    if (!is_known)
        body_quota_enter(&c->api->strange_bodies, &c->body, c->req->net);
    return true;
}

/* A lookup of the app named in the header, before the body is read. */
struct gate_lookup {
    struct call *call; /* NULL: the call has ended */
    struct credentials credentials;
    bool is_held; /* the body is held back until the lookup is done */
    bool is_done, is_known;
};

static void on_looked_up(void *arg, const struct app *app, const struct err *failure)
{
    struct gate_lookup *lookup = arg;
    struct call *c = lookup->call;

    lookup->is_done = true;
    lookup->is_known = c && !failure && is_proof(&lookup->credentials, app);
    if (!lookup->is_held)
        return;
    if (c) {
        c->lookup = NULL;
        if (admit_head(c, lookup->is_known))
            http_read_body(c->req);
    }
    free(lookup);
}

static void look_up_app(struct call *c, const struct credentials *s)
{
    struct gate_lookup *lookup = xalloc(sizeof(*lookup));

    *lookup = (struct gate_lookup){ .call = c, .credentials = *s };
    apps_find(c->api->apps, s->code, on_looked_up, lookup);
    if (lookup->is_done) {
        (void)admit_head(c, lookup->is_known);
        free(lookup);
        return;
    }
    lookup->is_held = true;
    c->lookup = lookup;
    http_hold_body(c->req);
}

void gate_forget(struct call *c)
{
    if (c->lookup)
        c->lookup->call = NULL;
    c->lookup = NULL;
}

void gate_head(struct call *c)
{
    const struct http_head *h = &c->req->head;
    bool has_body = h->chunked || h->length > 0;
    struct credentials s = { 0 };
    enum refusal why;

    if (c->is_admin || credentials_in_head(c, &s, &why) != CREDENTIALS_THERE || !s.code)
        (void)admit_head(c, c->is_admin);
    else if (is_proof(&s, apps_peek(c->api->apps, s.code)))
        (void)admit_head(c, true);
    else if (!has_body || h->length > (int64_t)c->route->body_max || (!s.secret && !s.is_trusted))
        (void)admit_head(c, false);
    else
        look_up_app(c, &s);
}

bool gate_body(struct call *c, size_t n)
{
    if (!c->body.address || body_quota_add(&c->api->strange_bodies, &c->body, n))
        return true;
    call_refuse(c, REFUSAL_BUSY, "");
    return false;
}

/* ---- authentication; all state is in the call's arena and freed with the call */

struct passing {
    struct call *call;
    struct credentials credentials;
    void (*in)(struct call *c);
};

static bool is_there(const char *text)
{
    return text && *text;
}

/* What is missing; REFUSALS: nothing.  ESB checks for a secret first, the gateway for a code. */
static enum refusal find_missing(const struct call *c, const struct credentials *s)
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

/* The rate limit.  The bucket belongs to the cached app. */
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
    replay_pass(c, p->in);
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

    c->user = p->credentials.user ? p->credentials.user : "";
    c->user_is_proven = p->credentials.is_trusted && *c->user;
    if (login && is_there(p->credentials.token) && (is_asked_for || kind == DIALECT_GATEWAY)) {
        login_ask(login, p->credentials.token, on_login, p);
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
    const struct credentials *s = &p->credentials;
    const char *const secrets[] = { app->plain_1, app->plain_2 };
    enum refusal why;

    if (s->is_trusted)
        return REFUSALS;
    if (!s->signature.given)
        return app_has_secret(app, s->secret) ? REFUSALS : REFUSAL_WRONG_SECRET;
    why = signature_judge(&s->signature, clock_wall_ms(loop_clock(c->api->parts.loop)) / 1000);
    if (why != REFUSALS)
        return why;
    if (!signature_fits(&s->signature, c->req, secrets, c->arena))
        return REFUSAL_SIGNATURE;
    return replay_enter(p->call, app->code, &s->signature);
}

static void on_app(void *arg, const struct app *app, const struct err *failure)
{
    struct passing *p = arg;
    struct call *c = p->call;
    enum refusal why;

    if (failure || c->api->is_stopping) { /* the login service is freed then */
        call_fail(c, failure ? failure : &call_stopping);
        return;
    }
    why = app ? judge_proof(p, app) : REFUSAL_UNKNOWN_APP;
    if (why != REFUSALS) {
        call_refuse(c, why, p->credentials.code);
        return;
    }
    c->app = app_hold(app);
    call_settle(c);
    pass_user(p);
}

/* ---- the admin socket */

static void on_admin(void *arg, const char *name)
{
    struct passing *p = arg;
    struct call *c = p->call;

    c->app = &app_admin;
    c->user = arena_printf(c->arena, "%s (uid %u)", name, (unsigned)c->req->peer_uid);
    c->user_is_proven = true;
    p->in(c);
}

static void pass_admin(struct passing *p)
{
    struct call *c = p->call;

    if (c->req->is_peer_told) {
        user_names_find(c->api->names, c->req->peer_uid, on_admin, p);
        return;
    }
    LOG(c->api->parts.log, LOG_WARN,
        "admin socket: the kernel does not report the caller's identity",
        log_str("request_id", c->request_id));
    call_refuse(c, REFUSAL_PEER, "");
}

void gate_pass(struct call *c, void (*in)(struct call *c))
{
    struct passing *p = arena_alloc(c->arena, sizeof(*p));
    enum refusal why;

    c->body.is_read = true;
    p->call = c;
    p->in = in;
    if (c->is_admin) {
        pass_admin(p);
        return;
    }
    if (!credentials_read(c, &p->credentials))
        return;
    why = find_missing(c, &p->credentials);
    if (why == REFUSALS)
        apps_find(c->api->apps, p->credentials.code, on_app, p);
    else
        call_refuse(c, why, "");
}
