/* SPDX-License-Identifier: MIT */
/* world.h - the API behind two real HTTP servers on unix sockets, with a real store: the public
 * door and the admin door.  The test provides fleet and tasks. */
#ifndef TESTS_API_WORLD_H
#define TESTS_API_WORLD_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "api/auth/access.h"
#include "api/auth/login.h"
#include "api/pipeline/api.h"
#include "base/mem/mem.h"
#include "store/store_apps.h"
#include "tests/lib/rig.h"
#include "tests/lib/store_rig.h"
#include "wire/tls/seal.h"
#include "wire/tls/secret.h"

enum { WALL_MS = 1700000000 };
#define WORLD_SECRET "a-secret-of-demo"

struct world {
    struct rig rig;
    struct store_rig store;
    struct watch *store_watch;
    struct seal *seal;
    struct access *access; /* access and login: the test's own, or NULL */
    struct login *login;
    struct scopes *scopes;
    struct events *events; /* the test's own, or NULL */
    struct api *api;
    struct api_door public, admin;
    struct http_server *servers[2]; /* public, admin */
    struct address at[2];
    struct buf got; /* the last answer, complete */
    int status;
    const char *body;
};

static inline void world_listen(struct world *w, size_t i, struct api_door *door)
{
    struct address real;
    struct err err;
    char text[128];

    w->servers[i] = http_server_new(w->rig.loop, NULL, &api_owner, door);
    snprintf(text, sizeof(text), "unix:%s/door%zu", w->store.dir, i);
    assert_int_equal(address_parse(text, &w->at[i], &err), 0);
    assert_int_equal(http_server_listen(w->servers[i], &w->at[i], NULL, &real, &err), 0);
}

/* An app "demo" that may read and operate, or has these `permissions`. */
static inline void world_put_app(struct world *w, const char *code, const char *permissions)
{
    char hash[SECRET_HASH_SIZE], other[SECRET_HASH_SIZE];
    struct app_row row = { code, hash, other, permissions, 1000 };
    struct arena a = { 0 };

    secret_hash(WORLD_SECRET, hash);
    secret_hash("the-second", other);
    if (permissions && strstr(permissions, "\"signatures\":true")) {
        row.sealed_1 = seal_text(w->seal, code, WORLD_SECRET, &a);
        row.sealed_2 = seal_text(w->seal, code, "the-second", &a);
    }
    store_rig_do(&w->store, &store_app_put, &row, NULL);
    arena_free(&a);
}

static inline void world_init(struct world *w)
{
    struct err err;

    memset(w, 0, sizeof(*w));
    rig_init(&w->rig);
    w->rig.clock.wall = (int64_t)WALL_MS * 1000;
    store_rig_place(&w->store);
    store_rig_open(&w->store);
    assert_int_equal(watch_new(w->rig.loop, store_fd(w->store.store), store_on_ready,
                               w->store.store, &w->store_watch, &err),
                     0);
    assert_int_equal(watch_want(w->store_watch, WATCH_READ, &err), 0);
    world_put_app(w, "demo", NULL);
    assert_int_equal(seal_open(w->store.dir, &w->seal, &err), 0);
}

static inline void world_open(struct world *w, struct fleet *fleet, struct tasks *tasks)
{
    w->scopes = scopes_new(fleet);

    const struct api_parts parts = {
        .loop = w->rig.loop,
        .store = w->store.store,
        .fleet = fleet,
        .tasks = tasks,
        .scopes = w->scopes,
        .events = w->events,
        .access = w->access,
        .login = w->login,
        .seal = w->seal,
        .ca_fingerprint = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff",
        .version = "1.2.3",
    };

    w->api = api_new(&parts);
    w->public = (struct api_door){ w->api, false };
    w->admin = (struct api_door){ w->api, true };
    world_listen(w, 0, &w->public);
    world_listen(w, 1, &w->admin);
}

/* Tasks, if they are real, are freed between the two. */
static inline void world_close_doors(struct world *w)
{
    http_server_free(w->servers[0]);
    http_server_free(w->servers[1]);
}

static inline void world_done(struct world *w)
{
    login_free(w->login);
    watch_free(w->store_watch);
    store_rig_close(&w->store);
    api_free(w->api);
    scopes_free(w->scopes);
    access_free(w->access);
    seal_free(w->seal);
    rig_done(&w->rig);
    buf_free(&w->got);
    store_rig_remove(&w->store);
}

/* ---- clients */

static inline int world_connect(struct world *w, size_t door)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    assert_true(fd >= 0);
    assert_int_equal(connect(fd, &w->at[door].u.any, w->at[door].len), 0);
    return fd;
}

static inline void world_send(struct world *w, int fd, const struct buf *out)
{
    for (size_t sent = 0; sent < out->len;) {
        ssize_t n = send(fd, buf_data(out) + sent, out->len - sent, MSG_NOSIGNAL);

        if (n > 0)
            sent += (size_t)n;
        else if (errno != EAGAIN)
            return; /* the server answers before it has read everything */
        rig_turn_in(&w->rig, 0, 0);
    }
}

static inline bool world_take(struct world *w, int fd)
{
    ssize_t n = recv(fd, buf_reserve(&w->got, 65536), 65536, 0);

    if (n > 0)
        w->got.len += (size_t)n;
    return n == 0;
}

static inline void world_head(struct buf *to, const char *method, const char *path,
                              const char *headers)
{
    buf_printf(to, "%s %s HTTP/1.1\r\nHost: a\r\nConnection: close\r\n%s", method, path, headers);
}

/* Texts leave the server readable: none is a message (base/text/msg.h). */
static inline void world_read_answer(struct world *w)
{
    const char *begin;

    w->body = strstr(buf_text(&w->got), "\r\n\r\n");
    assert_non_null(w->body);
    w->body += 4;
    assert_int_equal(sscanf(buf_text(&w->got), "HTTP/1.1 %d", &w->status), 1);
    begin = strstr(w->body, "\\u0001"); /* alone it is a caller's own text */
    if (strchr(w->body, '\x01') || (begin && strstr(begin, "\\u0002")))
        fail_msg("a message in an answer: %s", w->body);
}

/* Sends a request and reads the answer until the connection is closed. */
static inline const char *world_ask_door(struct world *w, size_t door, const char *method,
                                         const char *path, const char *headers, const char *body)
{
    struct buf out = { 0 };
    int fd = world_connect(w, door);

    world_head(&out, method, path, headers);
    if (body)
        buf_printf(&out, "Content-Length: %zu\r\n", strlen(body));
    buf_printf(&out, "\r\n%s", body ? body : "");
    buf_truncate(&w->got, 0);
    world_send(w, fd, &out);
    TURN_UNTIL(&w->rig, world_take(w, fd));
    close(fd);
    buf_free(&out);
    world_read_answer(w);
    return w->body;
}

#define DEMO_AUTH                                                                                  \
    "X-Bkapi-Authorization: {\"bk_app_code\":\"demo\",\"bk_app_secret\":\"" WORLD_SECRET           \
    "\",\"bk_username\":\"tom\"}\r\n"

static inline const char *world_ask(struct world *w, const char *method, const char *path,
                                    const char *headers, const char *body)
{
    return world_ask_door(w, 0, method, path, headers, body);
}

static inline const char *world_admin(struct world *w, const char *method, const char *path,
                                      const char *body)
{
    return world_ask_door(w, 1, method, path, "", body);
}

/* The answer with "ID" in place of its request id, which must be present. */
static inline const char *world_blank_id(struct world *w)
{
    char *id = strstr(w->body, "\"request_id\":\"");

    if (!id)
        return w->body;
    id += strlen("\"request_id\":\"");
    assert_int_equal(strspn(id, "0123456789abcdef"), 32);
    memcpy(id, "ID", 2);
    memmove(id + 2, id + 32, strlen(id + 32) + 1);
    return w->body;
}

#endif
