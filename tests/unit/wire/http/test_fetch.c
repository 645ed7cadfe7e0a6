/* SPDX-License-Identifier: MIT */
#include "wire/http/fetch.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem/mem.h"
#include "tests/lib/folder.h"
#include "tests/lib/pki.h"
#include "tests/lib/rig.h"
#include "wire/http/http.h"

/* Requests go to a server of ours on the same loop. */
struct world {
    struct rig rig;
    struct http_server *server;
    struct address at;
    struct fetch *fetch;
    struct http_req *held[8]; /* requests of "/never" */
    size_t n_held;
    struct buf seen; /* the requests received, one per line */
    size_t n_told;
    struct fetch_answer told; /* the last answer; we own its body */
    struct err err;
};

static void on_head(void *arg, struct http_req *req)
{
    (void)arg;
    req->body_max = 4096;
}

static void on_request(void *arg, struct http_req *req)
{
    static const struct http_field moved[] = { { "Location", "/else" }, { 0 } };
    struct world *w = arg;
    const char *token = http_head_find(&req->head, "X-Token");
    struct buf body = { 0 };

    buf_printf(&w->seen, "%s %s?%s %s %.*s\n", req->head.method, req->head.path, req->head.query,
               token ? token : "-", (int)req->body.len, req->body.len ? buf_data(&req->body) : "");
    if (!strcmp(req->head.path, "/never")) {
        w->held[w->n_held++] = req;
    } else if (!strcmp(req->head.path, "/moved")) {
        http_answer(req, 302, moved, NULL, NULL);
    } else {
        for (int i = 0; i < (strcmp(req->head.path, "/large") ? 1 : 1000); i++)
            buf_puts(&body, "hello");
        http_answer(req, strcmp(req->head.path, "/missing") ? 200 : 404, NULL, "text/plain", &body);
    }
}

static const struct http_owner owner = { on_head, on_request, NULL, NULL };

static int setup(void **state)
{
    struct world *w = xalloc(sizeof(*w));
    struct address any;

    rig_init(&w->rig);
    w->server = http_server_new(w->rig.loop, NULL, &owner, w);
    assert_int_equal(address_parse("127.0.0.1:0", &any, &w->err), 0);
    assert_int_equal(http_server_listen(w->server, &any, NULL, &w->at, &w->err), 0);
    assert_int_equal(fetch_new(w->rig.loop, "", &w->fetch, &w->err), 0);
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;

    fetch_free(w->fetch);
    http_server_free(w->server);
    for (size_t i = 0; i < w->n_held; i++)
        http_answer(w->held[i], 200, NULL, NULL, NULL); /* the client is gone */
    rig_done(&w->rig);
    buf_free(&w->seen);
    buf_free(&w->told.body);
    free(w);
    return 0;
}

static void on_told(void *arg, struct fetch_answer *answer)
{
    struct world *w = arg;

    w->n_told++;
    buf_free(&w->told.body);
    w->told = *answer;
    answer->body = (struct buf){ 0 };
}

static void start(struct world *w, const char *path, const char *body, int64_t timeout_ms)
{
    static const struct http_field headers[] = { { "X-Token", "t" }, { 0 } };
    char at[ADDRESS_TEXT_SIZE], url[256];

    address_print(&w->at, at);
    snprintf(url, sizeof(url), "http://%s%s", at, path);
    assert_int_equal(fetch_start(w->fetch,
                                 &(struct fetch_ask){ url, headers, body, timeout_ms, 1000 },
                                 on_told, w, &w->err),
                     0);
}

static void ask(struct world *w, const char *path, const char *body)
{
    size_t before = w->n_told;

    start(w, path, body, 60000);
    assert_int_equal(w->n_told, before); /* fn is never called by fetch_start() itself */
    TURN_UNTIL(&w->rig, w->n_told > before);
}

static void it_asks_and_is_told(void **state)
{
    struct world *w = *state;

    ask(w, "/a?bk_token=%2B", NULL);
    assert_int_equal(w->told.status, 200);
    assert_string_equal(buf_text(&w->told.body), "hello");
    ask(w, "/missing", "{\"a\":1}");
    assert_int_equal(w->told.status, 404); /* a 404 is an answer, not a failure */
    assert_string_equal(buf_text(&w->seen), "GET /a?bk_token=%2B t \nPOST /missing? t {\"a\":1}\n");
}

static void an_answer_may_be_so_large(void **state)
{
    struct world *w = *state;

    ask(w, "/large?secret=x", NULL);
    assert_int_equal(w->told.status, 0);
    assert_int_equal(w->told.err.code, ERR_LIMIT);
    assert_non_null(strstr(w->told.err.text, "/large: the answer is larger"));
    assert_null(strstr(w->told.err.text, "secret"));
}

static void it_is_not_sent_elsewhere(void **state)
{
    struct world *w = *state;

    ask(w, "/moved", NULL);
    assert_int_equal(w->told.status, 302);
    assert_null(strstr(buf_text(&w->seen), "/else"));
}

static void a_server_that_is_away_is_a_failure(void **state)
{
    struct world *w = *state;

    http_server_free(w->server);
    w->server = NULL;
    ask(w, "/a", NULL);
    assert_int_equal(w->told.status, 0);
    assert_int_equal(w->told.err.code, ERR_UNAVAILABLE);
}

static void a_slow_request_delays_no_other(void **state)
{
    struct world *w = *state;

    start(w, "/never", NULL, 60000);
    TURN_UNTIL(&w->rig, w->n_held == 1);
    ask(w, "/a", NULL);
    assert_int_equal(w->told.status, 200);
    http_answer(w->held[0], 204, NULL, NULL, NULL);
    w->n_held = 0;
    TURN_UNTIL(&w->rig, w->n_told == 2);
    assert_int_equal(w->told.status, 204);
}

static void it_waits_so_long_and_no_longer(void **state)
{
    struct world *w = *state;

    start(w, "/never?secret=x", NULL, 50);
    TURN_UNTIL(&w->rig, w->n_told == 1);
    assert_int_equal(w->told.status, 0);
    assert_int_equal(w->told.err.code, ERR_UNAVAILABLE);
    assert_null(strstr(w->told.err.text, "secret"));
}

static void those_in_work_are_told_at_the_end(void **state)
{
    struct world *w = *state;

    for (int i = 0; i < 3; i++)
        start(w, "/never", NULL, 60000);
    TURN_UNTIL(&w->rig, w->n_held >= 1);
    fetch_free(w->fetch);
    w->fetch = NULL;
    assert_int_equal(w->n_told, 3);
    assert_int_equal(w->told.status, 0);
    assert_non_null(strstr(w->told.err.text, "given up, the program stops"));
}

static void more_than_so_many_are_refused(void **state)
{
    struct world *w = *state;
    const struct fetch_ask one = { "http://127.0.0.1:1/", NULL, NULL, 60000, 10 };
    size_t taken = 0;

    while (taken <= FETCH_MAX && !fetch_start(w->fetch, &one, on_told, w, &w->err))
        taken++;
    assert_int_equal(taken, FETCH_MAX);
    assert_int_equal(w->err.code, ERR_UNAVAILABLE);
    TURN_UNTIL(&w->rig, w->n_told == FETCH_MAX);
    ask(w, "/a", NULL);
    assert_int_equal(w->told.status, 200);
}

/* Sends a request to 127.0.0.1, where the server has a certificate for `host`; the file `ca` has
 * the trusted CAs. */
static int ask_tls(struct world *w, struct pki *by, const char *host, const char *ca)
{
    char *pem = pki_issue(&(struct pki_wish){ CERT_SERVER, "s", by, NULL, -1, 1, host });
    struct tls *tls;
    struct address any, at;
    char text[ADDRESS_TEXT_SIZE], url[256];
    size_t before = w->n_told;

    assert_int_equal(tls_server_new(&(struct tls_config){ .own_pem = pem }, &tls, &w->err), 0);
    assert_int_equal(address_parse("127.0.0.1:0", &any, &w->err), 0);
    assert_int_equal(http_server_listen(w->server, &any, tls, &at, &w->err), 0);
    fetch_free(w->fetch);
    assert_int_equal(fetch_new(w->rig.loop, ca, &w->fetch, &w->err), 0);
    address_print(&at, text);
    snprintf(url, sizeof(url), "https://%s/a", text);
    assert_int_equal(fetch_start(w->fetch, &(struct fetch_ask){ url, NULL, NULL, 60000, 1000 },
                                 on_told, w, &w->err),
                     0);
    TURN_UNTIL(&w->rig, w->n_told > before);
    http_server_free(w->server);
    w->server = http_server_new(w->rig.loop, NULL, &owner, w);
    tls_free(tls);
    free(pem);
    return w->told.status;
}

static void https_verifies_the_ca_and_the_host_name(void **state)
{
    struct world *w = *state;
    struct folder folder;
    struct pki ours, other;
    char path[64];

    folder_init(&folder);
    snprintf(path, sizeof(path), "%s/ca.pem", folder.path);
    pki_init(&ours, "ours");
    pki_init(&other, "other");
    folder_put(path, 0600, buf_data(&ours.pem), ours.pem.len);
    assert_int_equal(ask_tls(w, &ours, "127.0.0.1", path), 200);
    /* The certificate is for another host. */
    assert_int_equal(ask_tls(w, &ours, "127.0.0.2", path), 0);
    assert_int_equal(ask_tls(w, &other, "127.0.0.1", path), 0);
    assert_int_equal(ask_tls(w, &ours, "127.0.0.1", ""), 0); /* the system does not trust our CA */
    /* Nothing was sent to the other servers. */
    assert_string_equal(buf_text(&w->seen), "GET /a? - \n");
    pki_done(&ours);
    pki_done(&other);
    folder_done(&folder);
}

static void urls_are_checked(void **state)
{
    static const char *const good[] = { "http://a", "https://a.b:8443/x?y=1", "http://[::1]:80/" };
    static const char *const bad[] = {
        "", "a", "ftp://a", "http://", "https:///x", "http://u:p@a/", "http://a/ b", "http://a\n"
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(good); i++)
        assert_null(fetch_check_url(good[i]));
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_non_null(fetch_check_url(bad[i]));
}

#define FETCH_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FETCH_TEST(it_asks_and_is_told),
        FETCH_TEST(an_answer_may_be_so_large),
        FETCH_TEST(it_is_not_sent_elsewhere),
        FETCH_TEST(a_server_that_is_away_is_a_failure),
        FETCH_TEST(a_slow_request_delays_no_other),
        FETCH_TEST(it_waits_so_long_and_no_longer),
        FETCH_TEST(those_in_work_are_told_at_the_end),
        FETCH_TEST(more_than_so_many_are_refused),
        FETCH_TEST(https_verifies_the_ca_and_the_host_name),
        FETCH_TEST(urls_are_checked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
