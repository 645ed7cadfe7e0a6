/* SPDX-License-Identifier: MIT */
/* dialect.c - see dialect.h. */
#include "api/dialect.h"

#include <assert.h>
#include <string.h>

#include "model/code.h"

/* Envelope codes.  GSE's own are its per-target codes and this. */
enum {
    GSE_BASE = 1000000,
    ESB_COMMON = 1306000,
    ESB_DENIED = 1306403,
    ESB_ARGUMENT = 1306406,
    ESB_RATE = 1306429,
    GATEWAY_ARGS = 1640001,
    GATEWAY_DENIED = 1640301,
    GATEWAY_NOT_FOUND = 1640401,
    GATEWAY_SIZE = 1641301,
    GATEWAY_CONCURRENCY = 1642904,
};

/* What one dialect says to one refusal; "{}" in the text is what it is about. */
struct says {
    int status, code;
    const char *name, *text;
};

/* clang-format off */
#define BAD_ARGS(reason) { 400, GATEWAY_ARGS, "INVALID_ARGS", "Parameters error [reason=\"" reason "\"]" }
#define WHO(text) { 401, ERR_DENIED, "UNAUTHORIZED", text }
#define ESB_AUTH(text) { 200, ESB_COMMON, NULL, text }

/* Rows about signatures are ESB's alone: the other dialects do not look so closely. */
static const struct says refusals[REFUSALS][DIALECTS] = {
    [REFUSAL_PATH] = {
        { 404, 0, NULL, "The content does not exist" },
        { 404, GATEWAY_NOT_FOUND, "API_NOT_FOUND", "API not found [{}]" },
        { 404, ERR_NOT_FOUND, "NOT_FOUND", "there is no such path [{}]" } },
    [REFUSAL_METHOD] = {
        { 405, ESB_ARGUMENT, NULL, "Parameters error, this method is not allowed here [{}]" },
        { 404, GATEWAY_NOT_FOUND, "API_NOT_FOUND", "API not found [{}]" },
        { 405, ERR_INVALID, "METHOD", "this method is not allowed here [{}]" } },
    [REFUSAL_TOO_LARGE] = {
        { 413, ESB_ARGUMENT, NULL, "Parameters error, body: larger than the {} bytes allowed here" },
        { 413, GATEWAY_SIZE, "BODY_SIZE_LIMIT_EXCEED", "Request body size exceeds [limit=\"{}\"]" },
        { 413, ERR_LIMIT, "LIMIT", "body: larger than the {} bytes allowed here" } },
    [REFUSAL_STRANGE_LARGE] = {
        { 413, ESB_ARGUMENT, NULL, "Parameters error, body: larger than the {} bytes allowed without credentials in "
          "the header X-Bkapi-Authorization" },
        { 413, GATEWAY_SIZE, "BODY_SIZE_LIMIT_EXCEED", "Request body size exceeds [limit=\"{}\" reason=\"no "
          "credentials in the header X-Bkapi-Authorization\"]" },
        { 413, ERR_LIMIT, "LIMIT", "body: larger than the {} bytes allowed without credentials in the header" } },
    [REFUSAL_BUSY] = {
        { 200, ESB_RATE, NULL, "too many requests without credentials in their header, try again" },
        { 429, GATEWAY_CONCURRENCY, "CONCURRENCY_LIMIT_RESTRICTION", "Request concurrency exceeds" },
        { 503, ERR_UNAVAILABLE, "UNAVAILABLE", "too many requests of callers not known yet, try again" } },
    [REFUSAL_HEADER] = {
        { 200, ESB_ARGUMENT, NULL, "Parameters error, request header X-Bkapi-Authorization is not a valid JSON "
          "format string" },
        BAD_ARGS("request header X-Bkapi-Authorization is not a valid JSON"),
        WHO("header X-Bkapi-Authorization: must be one JSON object") },
    [REFUSAL_BASIC] = {
        [DIALECT_V1] = WHO("header Authorization: must be Basic and base64 of code:secret, once") },
    [REFUSAL_NO_CREDENTIALS] = {
        ESB_AUTH("Signature [bk_signature] and APP Secret [bk_app_secret] cannot be empty at the same time"),
        BAD_ARGS("please provide bk_app_secret or bk_signature to verify app"),
        WHO("who are you? send code and secret of an app by HTTP Basic or X-Bkapi-Authorization") },
    [REFUSAL_NO_CODE] = {
        ESB_AUTH("APP Code [bk_app_code] cannot be empty"),
        BAD_ARGS("app code cannot be empty"),
        WHO("the app's code is missing") },
    [REFUSAL_NO_SECRET] = {
        ESB_AUTH("APP Secret [bk_app_secret] cannot be empty"),
        BAD_ARGS("please provide bk_app_secret or bk_signature to verify app"),
        WHO("the app's secret is missing") },
    [REFUSAL_UNKNOWN_APP] = {
        ESB_AUTH("Invalid APP Code [bk_app_code={}], please confirm if the APP Code has been registered"),
        BAD_ARGS("bk_app_code or bk_app_secret is incorrect"),
        WHO("app code or secret is wrong") },
    [REFUSAL_WRONG_SECRET] = {
        ESB_AUTH("APP Secret verification failed, pelase confirm if the APP Secret and APP Code "
                 "[bk_app_code={}] match"), /* their spelling */
        BAD_ARGS("bk_app_code or bk_app_secret is incorrect"),
        WHO("app code or secret is wrong") },
    [REFUSAL_SIGNATURE] = {
        ESB_AUTH("Signature [bk_signature] verification failed, please provide valid parameters and signature"),
        BAD_ARGS("bk_signature is incorrect") },
    [REFUSAL_NONCE_NONE] = { ESB_AUTH("Parameter bk_nonce does not exist") },
    [REFUSAL_NONCE_ILLEGAL] = { ESB_AUTH("Parameter bk_nonce is illegal") },
    [REFUSAL_NONCE_NEGATIVE] = { ESB_AUTH("Parameter bk_nonce is illegal, it must be a positive integer") },
    [REFUSAL_TIME_NONE] = { ESB_AUTH("Parameter bk_timestamp does not exist") },
    [REFUSAL_TIME_ILLEGAL] = { ESB_AUTH("Parameter bk_timestamp is illegal, due to non-time format") },
    [REFUSAL_TIME_EXPIRED] = { ESB_AUTH("Parameter bk_timestamp is illegal, because it has expired") },
    [REFUSAL_RIGHT] = {
        { 200, ESB_DENIED, NULL, "APP permission is insufficient, APP has no permission to access the component "
          "({}) of the system (GSE)" },
        { 403, GATEWAY_DENIED, "APP_NO_PERMISSION", "App has no permission to the resource" },
        { 403, ERR_DENIED, "FORBIDDEN", "the app has no right to do this: {}" } },
};
/* clang-format on */

static void put_text(struct buf *out, const char *text)
{
    buf_quote(out, text, strlen(text));
}

/* The text of a refusal as a JSON string. */
static void put_said(struct buf *out, const char *text, const char *about)
{
    const char *hole = strstr(text, "{}");
    struct buf said = { 0 };

    if (hole) {
        buf_add(&said, text, (size_t)(hole - text));
        buf_puts(&said, about);
        buf_puts(&said, hole + 2);
    } else {
        buf_puts(&said, text);
    }
    buf_quote(out, buf_data(&said), said.len);
    buf_free(&said);
}

/* An agent that is away, or does not answer, is not. */
bool dialect_is_ours(const struct err *err)
{
    return code_get(err->code)->http_status >= 500 && err->code != CODE_OFFLINE &&
           err->code != CODE_DEADLINE;
}

/* What a caller is told of a failure.  Of our own troubles it needs to know only how to
 * speak to us about them. */
static void put_failure(struct buf *out, const struct err *err, const char *before,
                        const char *request_id)
{
    struct buf text = { 0 };

    if (dialect_is_ours(err))
        buf_printf(&text, "%s; the server's log says more about request %s",
                   code_get(err->code)->text[LANG_EN], request_id);
    else
        buf_printf(&text, "%s%s", before, err->text);
    buf_quote(out, buf_data(&text), text.len);
    buf_free(&text);
}

/* ---- what ESB and the gateway have in common */

static void close_envelope(const char *request_id, struct buf *out)
{
    buf_printf(out, ",\"request_id\":\"%s\"}\n", request_id);
}

static void open_failure(struct buf *out, int code, const char *name)
{
    buf_printf(out, "{\"result\":false,\"code\":%d,", code);
    if (name)
        buf_printf(out, "\"code_name\":\"%s\",", name);
    buf_puts(out, "\"message\":");
}

static void close_failure(struct buf *out, const char *request_id)
{
    buf_puts(out, ",\"data\":null");
    close_envelope(request_id, out);
}

/* GSE's code for what went wrong behind ESB or gateway. */
static int gse_code(const struct err *err)
{
    if (err->code == ERR_INVALID || err->code == ERR_LIMIT)
        return GSE_BASE + CODE_PARAM;
    if (err->code >= ERR_BASE_CODES && code_get(err->code)->number == err->code)
        return GSE_BASE + err->code;
    return GSE_BASE + CODE_SYSTEM;
}

static int gse_fail(const struct err *err, const char *request_id, struct buf *out)
{
    int code = gse_code(err);

    open_failure(out, code, NULL);
    put_failure(out, err, code == GSE_BASE + CODE_PARAM ? "Parameters error, " : "", request_id);
    close_failure(out, request_id);
    return 200;
}

/* ---- ESB */

static void esb_open(struct buf *out)
{
    buf_puts(out, "{\"result\":true,\"code\":0,\"message\":\"success\",\"data\":");
}

static int esb_fail(const struct err *err, const char *request_id, struct buf *out)
{
    if (err->code != ERR_MALFORMED)
        return gse_fail(err, request_id, out);
    open_failure(out, ESB_COMMON, NULL);
    put_failure(out, err, "Request JSON string is wrong in format, which cannot be analyzed. ",
                request_id);
    close_failure(out, request_id);
    return 200;
}

static int esb_refuse(enum refusal why, const char *about, const char *request_id, struct buf *out)
{
    const struct says *s = &refusals[why][DIALECT_ESB];

    assert(s->text);
    if (why == REFUSAL_PATH) {
        /* Of all its answers this one comes from in front of ESB, and has no more. */
        buf_puts(out, "{\"result\":false,\"data\":null,\"message\":");
        put_text(out, s->text);
        buf_puts(out, "}\n");
        return s->status;
    }
    open_failure(out, s->code, NULL);
    put_said(out, s->text, about);
    close_failure(out, request_id);
    return s->status;
}

/* ---- the gateway */

static void gateway_open(struct buf *out)
{
    buf_puts(out, "{\"result\":true,\"code\":0,\"message\":\"OK\",\"data\":");
}

static int gateway_fail(const struct err *err, const char *request_id, struct buf *out)
{
    const struct says *s = &refusals[REFUSAL_HEADER][DIALECT_GATEWAY];
    struct buf reason = { 0 };

    if (err->code != ERR_MALFORMED)
        return gse_fail(err, request_id, out);
    buf_printf(&reason, "Parameters error [reason=\"request body is not a valid JSON: %s\"]",
               err->text);
    open_failure(out, s->code, s->name);
    buf_quote(out, buf_data(&reason), reason.len);
    close_failure(out, request_id);
    buf_free(&reason);
    return s->status;
}

static int gateway_refuse(enum refusal why, const char *about, const char *request_id,
                          struct buf *out)
{
    const struct says *s = &refusals[why][DIALECT_GATEWAY];

    assert(s->text);
    open_failure(out, s->code, s->name);
    put_said(out, s->text, about);
    close_failure(out, request_id);
    return s->status;
}

/* ---- /v1 */

static void v1_open(struct buf *out)
{
    (void)out;
}

static void v1_close(const char *request_id, struct buf *out)
{
    (void)request_id; /* it is in the header */
    buf_addc(out, '\n');
}

static void v1_open_error(struct buf *out, const char *name, int number)
{
    buf_printf(out, "{\"error\":{\"code\":\"%s\",\"number\":%d,\"message\":", name, number);
}

static void v1_close_error(struct buf *out, const char *request_id)
{
    buf_printf(out, ",\"request_id\":\"%s\"}}\n", request_id);
}

static int v1_fail(const struct err *err, const char *request_id, struct buf *out)
{
    const struct code_info *info = code_get(err->code);

    v1_open_error(out, info->name, info->number);
    put_failure(out, err, "", request_id);
    v1_close_error(out, request_id);
    return info->http_status;
}

static int v1_refuse(enum refusal why, const char *about, const char *request_id, struct buf *out)
{
    const struct says *s = &refusals[why][DIALECT_V1];

    assert(s->text);
    v1_open_error(out, s->name, s->code);
    put_said(out, s->text, about);
    v1_close_error(out, request_id);
    return s->status;
}

/* clang-format off */
const struct dialect dialects[DIALECTS] = {
    { DIALECT_ESB, METHOD_GET | METHOD_POST, esb_open, close_envelope, esb_fail, esb_refuse },
    { DIALECT_GATEWAY, METHOD_POST, gateway_open, close_envelope, gateway_fail, gateway_refuse },
    { DIALECT_V1, METHOD_GET | METHOD_POST, v1_open, v1_close, v1_fail, v1_refuse },
};
/* clang-format on */
