/* SPDX-License-Identifier: MIT */
/* login_service.h - a scripted login service on the test's loop. */
#ifndef TESTS_API_LOGIN_SERVICE_H
#define TESTS_API_LOGIN_SERVICE_H

#include <stdio.h>
#include <string.h>

#include "api/auth/login.h"
#include "base/mem/mem.h"
#include "tests/lib/rig.h"
#include "wire/http/http.h"

struct service {
    struct http_server *server;
    struct address at;
    int status;
    const char *says; /* NULL: it does not answer */
    size_t n_asked;
    struct buf asked;      /* the last request */
    struct http_req *held; /* a request that was not answered */
};

static inline void service_on_request(void *arg, struct http_req *req)
{
    struct service *s = arg;
    const char *code = http_head_find(&req->head, "X-APP-CODE");
    const char *token = http_head_find(&req->head, "X-APP-TOKEN");
    struct buf body = { 0 };

    s->n_asked++;
    buf_truncate(&s->asked, 0);
    buf_printf(&s->asked, "%s %s?%s %s %s", req->head.method, req->head.path, req->head.query,
               code ? code : "-", token ? token : "-");
    if (!s->says) {
        s->held = req;
        return;
    }
    buf_puts(&body, s->says);
    http_answer(req, s->status, NULL, "application/json", &body);
}

static inline void service_on_head(void *arg, struct http_req *req)
{
    (void)arg;
    req->body_max = 0;
}

static inline void service_init(struct service *s, struct rig *r)
{
    static const struct http_owner owner = { service_on_head, service_on_request, NULL, NULL };
    struct address any;
    struct err err;

    memset(s, 0, sizeof(*s));
    s->status = 200;
    s->says = "{\"result\":true,\"code\":\"00\",\"data\":{\"username\":\"tom\"}}";
    s->server = http_server_new(r->loop, NULL, &owner, s);
    assert_int_equal(address_parse("127.0.0.1:0", &any, &err), 0);
    assert_int_equal(http_server_listen(s->server, &any, NULL, &s->at, &err), 0);
}

static inline void service_done(struct service *s)
{
    http_server_free(s->server);
    if (s->held)
        http_answer(s->held, 200, NULL, NULL, NULL); /* frees it */
    buf_free(&s->asked);
}

static inline struct login *service_login(struct service *s, struct rig *r, const char *path,
                                          const char *token)
{
    char at[ADDRESS_TEXT_SIZE], url[256];
    struct login *l;
    struct err err;

    address_print(&s->at, at);
    snprintf(url, sizeof(url), "http://%s%s", at, path);
    if (login_new(r->loop, NULL, &(struct login_config){ url, "esb", token, "", 60000 }, &l, &err))
        fail_msg("%s", err.text);
    return l;
}

#endif
