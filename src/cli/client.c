/* SPDX-License-Identifier: MIT */
/* client.c - see client.h. */
#include "cli/client.h"

#include <ctype.h>
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem/mem.h"
#include "base/os/sys.h"
#include "base/os/time.h"
#include "base/text/hex.h"
#include "cli/text.h"
#include "model/duration.h"

struct client {
    CURL *curl;
    struct client_config config;
    const char *address; /* URL or socket, as the user named it */
    char *base;          /* first part of all URLs */
    struct curl_slist *headers;
    struct buf body; /* of the answer */
    bool too_large;
    char why[CURL_ERROR_SIZE];
    const struct client_sink *sink; /* of a stream; NULL: not a stream */
    int64_t heard_ms;               /* time of the last bytes */
    const char *key; /* Idempotency-Key of a request that may be sent twice; NULL: none */
    CURLcode lost;   /* error of the first attempt; 0: there was only one */
};

static long client_status_of(const struct client *c)
{
    long status = 0;

    curl_easy_getinfo(c->curl, CURLINFO_RESPONSE_CODE, &status);
    return status;
}

static size_t client_on_body(char *bytes, size_t one, size_t n, void *arg)
{
    struct client *c = arg;

    if (c->sink && client_status_of(c) == 200) {
        c->heard_ms = clock_mono_ms(&clock_system);
        return c->sink->fn(c->sink->arg, bytes, one * n) ? one * n : 0;
    }
    c->too_large = c->body.len + one * n > CLIENT_BODY_MAX;
    if (c->too_large)
        return 0;
    buf_add(&c->body, bytes, one * n);
    return one * n;
}

static int on_progress(void *arg, curl_off_t a, curl_off_t b, curl_off_t d, curl_off_t e)
{
    struct client *c = arg;

    (void)a, (void)b, (void)d, (void)e;
    if (c->sink && clock_mono_ms(&clock_system) - c->heard_ms > c->sink->silence_ms)
        return 1;
    return c->config.is_over && c->config.is_over();
}

/* http://HOST or https://HOST, followed only by slashes. */
static char *url_base(const char *server)
{
    size_t n = strlen(server), scheme;

    while (n && server[n - 1] == '/')
        n--;
    scheme = !strncmp(server, "http://", 7) ? 7 : !strncmp(server, "https://", 8) ? 8 : 0;
    if (!scheme || n <= scheme || strcspn(server + scheme, "/?#@ ") < n - scheme)
        return NULL;
    return xmemdup(server, n);
}

/* Setting an option does not fail if libcurl was built with it.  libcurl reports a wrong value
 * when the request starts. */
static void set_options(struct client *c)
{
    const struct client_config *config = &c->config;

    curl_easy_setopt(c->curl, CURLOPT_ERRORBUFFER, c->why);
    curl_easy_setopt(c->curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(c->curl, CURLOPT_PROXY, "");
    curl_easy_setopt(c->curl, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(c->curl, CURLOPT_CONNECTTIMEOUT_MS, (long)CLIENT_CONNECT_MS);
    curl_easy_setopt(c->curl, CURLOPT_WRITEFUNCTION, client_on_body);
    curl_easy_setopt(c->curl, CURLOPT_WRITEDATA, c);
    curl_easy_setopt(c->curl, CURLOPT_XFERINFOFUNCTION, on_progress);
    curl_easy_setopt(c->curl, CURLOPT_XFERINFODATA, c);
    curl_easy_setopt(c->curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(c->curl, CURLOPT_USERAGENT, "holdfast/" HOLDFAST_VERSION);
    curl_easy_setopt(c->curl, CURLOPT_HTTPHEADER, c->headers);
    curl_easy_setopt(c->curl, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    if (*config->ca)
        curl_easy_setopt(c->curl, CURLOPT_CAINFO, config->ca);
    if (*config->socket) {
        curl_easy_setopt(c->curl, CURLOPT_UNIX_SOCKET_PATH, config->socket);
    } else if (*config->app) {
        curl_easy_setopt(c->curl, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
        curl_easy_setopt(c->curl, CURLOPT_USERNAME, config->app);
        curl_easy_setopt(c->curl, CURLOPT_PASSWORD, config->secret);
    }
}

int client_new(const struct client_config *config, struct client **ret, struct err *err)
{
    char *base = *config->socket ? xstrdup("http://localhost") : url_base(config->server);
    struct client *c;

    if (!base)
        return text_err(err, ERR_INVALID, config->lang, TEXT_BAD_URL, TEXT_ARGS(config->server));
    if (curl_global_init(CURL_GLOBAL_DEFAULT))
        abort(); /* out of memory, or a broken installation */
    c = xalloc(sizeof(*c));
    c->config = *config;
    c->address = *config->socket ? config->socket : config->server;
    c->base = base;
    c->curl = curl_easy_init();
    c->headers = curl_slist_append(NULL, "Content-Type: application/json");
    c->headers = curl_slist_append(c->headers, "Accept: application/json");
    c->headers =
        curl_slist_append(c->headers, config->lang == LANG_ZH ? "Blueking-Language: zh-hans"
                                                              : "Blueking-Language: en");
    c->headers = curl_slist_append(c->headers, "Expect:"); /* no round trip before a large body */
    if (!c->curl || !c->headers)
        abort();
    set_options(c);
    *ret = c;
    return 0;
}

void client_free(struct client *c)
{
    if (!c)
        return;
    curl_easy_cleanup(c->curl);
    curl_slist_free_all(c->headers);
    curl_global_cleanup();
    buf_free(&c->body);
    free(c->base);
    free(c);
}

const char *client_address(const struct client *c)
{
    return c->address;
}

/* ---- failures ---- */

static int fail_slow(const struct client *c, bool post, int64_t timeout_ms, struct err *err)
{
    struct buf time = { 0 };

    duration_put(&time, c->config.lang, timeout_ms);
    (void)text_err(err, ERR_UNAVAILABLE, c->config.lang, post ? TEXT_SLOW_POST : TEXT_SLOW,
                   TEXT_ARGS(c->address, buf_text(&time))); /* -1, returned below */
    buf_free(&time);
    return -1;
}

static bool is_lost(CURLcode code)
{
    return code == CURLE_RECV_ERROR || code == CURLE_SEND_ERROR || code == CURLE_GOT_NOTHING ||
           code == CURLE_PARTIAL_FILE;
}

/* Whether the server may have received the request. */
static bool is_sent(const struct client *c)
{
    curl_off_t sent = 0;

    curl_easy_getinfo(c->curl, CURLINFO_PRETRANSFER_TIME_T, &sent);
    return sent > 0;
}

enum { REASON_SIZE = 128 };

/* libcurl's text, or only that of errno if it suffices, as a message. */
static const char *reason(const struct client *c, CURLcode code, char room[REASON_SIZE])
{
    long number = 0;

    curl_easy_getinfo(c->curl, CURLINFO_OS_ERRNO, &number);
    if (code == CURLE_COULDNT_CONNECT && number) {
        msg_constant(room, REASON_SIZE, strerror((int)number));
        return room;
    }
    return *c->why ? c->why : curl_easy_strerror(code);
}

/* OpenSSL's message for an answer in plain HTTP; libcurl does not pass on its error number. */
static bool is_plain_port(CURLcode code, const char *why)
{
    return code == CURLE_SSL_CONNECT_ERROR &&
           (strstr(why, "wrong version number") || strstr(why, "packet length too long"));
}

/* A TLS alert has no status line, so libcurl takes it for HTTP/0.9. */
static bool is_tls_port(CURLcode code, const char *why)
{
    return code == CURLE_UNSUPPORTED_PROTOCOL && strstr(why, "HTTP/0.9");
}

static int fail_request(const struct client *c, CURLcode code, bool post, int64_t timeout_ms,
                        struct err *err)
{
    char room[REASON_SIZE];
    const char *why = reason(c, code, room);
    enum lang lang = c->config.lang;

    if (c->too_large) {
        char mib[16];

        snprintf(mib, sizeof(mib), "%d", CLIENT_BODY_MAX >> 20);
        return text_err(err, ERR_LIMIT, lang, TEXT_TOO_LARGE, TEXT_ARGS(c->address, mib));
    }
    if (is_plain_port(code, why))
        return text_err(err, ERR_UNAVAILABLE, lang, TEXT_PLAIN_PORT, TEXT_ARGS(c->address, why));
    if (is_tls_port(code, why))
        return text_err(err, ERR_UNAVAILABLE, lang, TEXT_TLS_PORT, TEXT_ARGS(c->address));
    if (code == CURLE_PEER_FAILED_VERIFICATION)
        return text_err(err, ERR_DENIED, lang, TEXT_UNTRUSTED, TEXT_ARGS(c->address, why));
    if (code == CURLE_SSL_CACERT_BADFILE)
        return text_err(err, ERR_INVALID, lang, TEXT_BAD_CA, TEXT_ARGS(c->config.ca, why));
    if (code == CURLE_OPERATION_TIMEDOUT && is_sent(c))
        return fail_slow(c, post, timeout_ms, err);
    if ((is_lost(code) || c->lost) && post)
        return text_err(err, ERR_UNAVAILABLE, lang, TEXT_LOST_POST, TEXT_ARGS(c->address, why));
    return text_err(err, ERR_UNAVAILABLE, lang, *c->config.socket ? TEXT_AWAY_SOCKET : TEXT_AWAY,
                    TEXT_ARGS(c->address, why));
}

/* ---- requests ---- */

void client_escape(struct buf *b, const char *text)
{
    for (; *text; text++) {
        if (isalnum((unsigned char)*text) || strchr("-._~", *text))
            buf_addc(b, *text);
        else
            buf_printf(b, "%%%02X", (unsigned char)*text);
    }
}

static void client_put_query(const struct client_pair *query, struct buf *url)
{
    char between = '?';

    for (; query && query->key; query++) {
        if (!query->value || !*query->value)
            continue;
        buf_printf(url, "%c%s=", between, query->key);
        client_escape(url, query->value);
        between = '&';
    }
}

static CURLcode perform(struct client *c)
{
    buf_truncate(&c->body, 0);
    c->too_large = false;
    c->why[0] = '\0';
    return curl_easy_perform(c->curl);
}

static void set_url(struct client *c, const char *path, const struct client_pair *query,
                    int64_t timeout_ms)
{
    struct buf url = { 0 };

    buf_printf(&url, "%s%s", c->base, path);
    client_put_query(query, &url);
    curl_easy_setopt(c->curl, CURLOPT_URL, buf_text(&url));
    curl_easy_setopt(c->curl, CURLOPT_TIMEOUT_MS, (long)timeout_ms);
    buf_free(&url);
}

static void take_answer(struct client *c, struct client_answer *ret)
{
    *ret = (struct client_answer){ (int)client_status_of(c), c->body };
    c->body = (struct buf){ 0 };
}

static int request(struct client *c, const char *path, const struct client_pair *query, bool post,
                   int64_t timeout_ms, struct client_answer *ret, struct err *err)
{
    CURLcode code;

    set_url(c, path, query, timeout_ms);
    code = perform(c);
    if (is_lost(code) && (!post || c->key) && !c->too_large) {
        c->lost = c->key ? code : CURLE_OK;
        code = perform(c);
    }
    if (code)
        return fail_request(c, code, post, timeout_ms, err);
    take_answer(c, ret);
    return 0;
}

int client_get(struct client *c, const char *path, const struct client_pair *query,
               int64_t timeout_ms, struct client_answer *ret, struct err *err)
{
    curl_easy_setopt(c->curl, CURLOPT_CUSTOMREQUEST, NULL);
    curl_easy_setopt(c->curl, CURLOPT_HTTPGET, 1L);
    curl_easy_setopt(c->curl, CURLOPT_FRESH_CONNECT, 0L);
    return request(c, path, query, false, timeout_ms, ret, err);
}

/* Uses a new connection: a kept one may be dead, and then libcurl would send the request again
 * by itself. */
int client_send(struct client *c, const char *method, const char *path,
                const struct client_pair *query, const struct buf *body, int64_t timeout_ms,
                struct client_answer *ret, struct err *err)
{
    curl_easy_setopt(c->curl, CURLOPT_CUSTOMREQUEST, strcmp(method, "POST") ? method : NULL);
    curl_easy_setopt(c->curl, CURLOPT_POST, 1L);
    curl_easy_setopt(c->curl, CURLOPT_FRESH_CONNECT, 1L);
    curl_easy_setopt(c->curl, CURLOPT_POSTFIELDS, body->len ? buf_data(body) : "");
    curl_easy_setopt(c->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body->len);
    return request(c, path, query, true, timeout_ms, ret, err);
}

/* ---- requests that take effect once ---- */

/* While the server works on the first request, it refuses the second one with 409 for a moment. */
enum { KEY_BYTES = 16, AGAIN_MS = 200, AGAIN_TRIES = 25, IN_WORK = 409 };

static struct curl_slist *key_header(const struct client *c, const char *key)
{
    struct curl_slist *to = NULL;
    struct buf line = { 0 };

    for (const struct curl_slist *from = c->headers; from; from = from->next)
        to = curl_slist_append(to, from->data);
    buf_printf(&line, "Idempotency-Key: %s", key);
    to = curl_slist_append(to, buf_text(&line));
    buf_free(&line);
    if (!to)
        abort();
    return to;
}

static int client_ask_again(struct client *c, const char *path, const struct buf *body,
                            int64_t timeout_ms, struct client_answer *ret, struct err *err)
{
    const struct timespec pause = { 0, AGAIN_MS * 1000000L };

    for (int i = 0; c->lost && ret->status == IN_WORK && i < AGAIN_TRIES; i++) {
        buf_free(&ret->body);
        (void)nanosleep(&pause, NULL); /* a signal only makes the pause shorter */
        if (client_send(c, "POST", path, NULL, body, timeout_ms, ret, err))
            return -1;
    }
    return 0;
}

int client_post_once(struct client *c, const char *path, const struct buf *body, int64_t timeout_ms,
                     struct client_answer *ret, struct err *err)
{
    unsigned char random[KEY_BYTES];
    char key[2 * KEY_BYTES + 1];
    struct curl_slist *headers;
    int bad;

    sys_random(random, sizeof(random));
    hex_write(random, sizeof(random), key);
    headers = key_header(c, key);
    c->key = key;
    curl_easy_setopt(c->curl, CURLOPT_HTTPHEADER, headers);
    bad = client_send(c, "POST", path, NULL, body, timeout_ms, ret, err) ||
          client_ask_again(c, path, body, timeout_ms, ret, err);
    curl_easy_setopt(c->curl, CURLOPT_HTTPHEADER, c->headers);
    curl_slist_free_all(headers);
    c->key = NULL;
    c->lost = CURLE_OK;
    return bad ? -1 : 0;
}

/* ---- streams ---- */

static struct curl_slist *stream_headers(const struct client *c, const char *last_id)
{
    struct curl_slist *to = curl_slist_append(NULL, "Accept: text/event-stream");
    struct buf line = { 0 };

    for (const struct curl_slist *from = c->headers; from; from = from->next) {
        if (strncmp(from->data, "Accept:", 7) != 0)
            to = curl_slist_append(to, from->data);
    }
    if (*last_id) {
        buf_printf(&line, "Last-Event-ID: %s", last_id);
        to = curl_slist_append(to, buf_text(&line));
        buf_free(&line);
    }
    if (!to)
        abort();
    return to;
}

/* Uses a connection of its own, which may stay open for hours. */
int client_stream(struct client *c, const char *path, const struct client_pair *query,
                  const char *last_id, const struct client_sink *sink, struct client_answer *ret,
                  struct err *err)
{
    struct curl_slist *headers = stream_headers(c, last_id);
    CURLcode code;

    curl_easy_setopt(c->curl, CURLOPT_CUSTOMREQUEST, NULL);
    curl_easy_setopt(c->curl, CURLOPT_HTTPGET, 1L);
    curl_easy_setopt(c->curl, CURLOPT_FRESH_CONNECT, 1L);
    curl_easy_setopt(c->curl, CURLOPT_HTTPHEADER, headers);
    set_url(c, path, query, 0);
    c->sink = sink;
    c->heard_ms = clock_mono_ms(&clock_system);
    code = perform(c);
    c->sink = NULL;
    curl_easy_setopt(c->curl, CURLOPT_HTTPHEADER, c->headers);
    curl_slist_free_all(headers);
    if (code && !(code == CURLE_WRITE_ERROR &&
                  client_status_of(c) == 200)) /* the sink has ended the stream */
        return fail_request(c, code, false, sink->silence_ms, err);
    take_answer(c, ret);
    return 0;
}
