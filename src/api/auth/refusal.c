/* SPDX-License-Identifier: MIT */
/* refusal.c - see refusal.h.  A new reason needs one row in each of the two tables. */
#include "api/auth/refusal.h"

#include <string.h>

/* Envelope codes. */
enum {
    ESB_COMMON = 1306000,
    ESB_THIRD = 1306201,
    ESB_DENIED = 1306403,
    ESB_ARGUMENT = 1306406,
    ESB_RATE = 1306429,
    GATEWAY_ARGS = 1640001,
    GATEWAY_DENIED = 1640301,
    GATEWAY_NOT_FOUND = 1640401,
    GATEWAY_SIZE = 1641301,
    GATEWAY_RATE = 1642902,
    GATEWAY_CONCURRENCY = 1642904,
    GATEWAY_BEHIND = 1650201,
    JOB_DENIED = 9900403,
};

struct refusal_row {
    int status, code;
    const char *name, *text;
};

/* clang-format off */
#define BAD_ARGS(reason) { 400, GATEWAY_ARGS, "INVALID_ARGS", "Parameters error [reason=\"" reason "\"]" }
#define V1_AUTH(text) { 401, ERR_DENIED, "UNAUTHORIZED", text }
#define ESB_AUTH(text) { 200, ESB_COMMON, NULL, text }
#define ESB_SIGN(text) ESB_AUTH(text), BAD_ARGS(text)

#define PEER_TEXT "the kernel does not report the caller's identity; a process in another user or pid namespace may not use the admin socket"

enum { TEXT_DIALECTS = DIALECT_V1 + 1 };

/* Refusals of signatures and users have no text for /v1, which uses neither. */
static const struct refusal_row refusals[REFUSALS][TEXT_DIALECTS] = {
    [REFUSAL_PATH] = {
        { 404, 0, NULL, "The content does not exist" },
        { 404, GATEWAY_NOT_FOUND, "API_NOT_FOUND", "API not found [{}]" },
        { 404, ERR_NOT_FOUND, "NOT_FOUND", "there is no such path [{}]" } },
    [REFUSAL_METHOD] = {
        { 405, ESB_ARGUMENT, NULL, "Parameters error, this method is not allowed here [{}]" },
        { 405, GATEWAY_NOT_FOUND, "API_NOT_FOUND", "API not found with this method [{}]" },
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
        V1_AUTH("header X-Bkapi-Authorization: must be one JSON object") },
    [REFUSAL_BASIC] = {
        [DIALECT_V1] = V1_AUTH("header Authorization: must be Basic and base64 of code:secret, once") },
    [REFUSAL_NO_CREDENTIALS] = {
        ESB_AUTH("Signature [bk_signature] and APP Secret [bk_app_secret] cannot be empty at the same time"),
        BAD_ARGS("please provide bk_app_secret or bk_signature to verify app"),
        V1_AUTH("no credentials: send code and secret of an app by HTTP Basic or X-Bkapi-Authorization") },
    [REFUSAL_NO_CODE] = {
        ESB_AUTH("APP Code [bk_app_code] cannot be empty"),
        BAD_ARGS("app code cannot be empty"),
        V1_AUTH("the app's code is missing") },
    [REFUSAL_NO_SECRET] = {
        ESB_AUTH("APP Secret [bk_app_secret] cannot be empty"),
        BAD_ARGS("please provide bk_app_secret or bk_signature to verify app"),
        V1_AUTH("the app's secret is missing") },
    [REFUSAL_ACCESS_TOKEN] = {
        ESB_AUTH("access_token cannot be verified here, please provide bk_app_code and bk_app_secret"),
        BAD_ARGS("access_token cannot be verified here, please provide bk_app_code and bk_app_secret"),
        V1_AUTH("access_token can not be checked here; send code and secret of an app") },
    [REFUSAL_UNKNOWN_APP] = {
        ESB_AUTH("Invalid APP Code [bk_app_code={}], please confirm if the APP Code has been registered"),
        BAD_ARGS("bk_app_code or bk_app_secret is incorrect"),
        V1_AUTH("app code or secret is wrong") },
    [REFUSAL_WRONG_SECRET] = {
        ESB_AUTH("APP Secret verification failed, pelase confirm if the APP Secret and APP Code "
                 "[bk_app_code={}] match"), /* ESB's spelling */
        BAD_ARGS("bk_app_code or bk_app_secret is incorrect"),
        V1_AUTH("app code or secret is wrong") },
    [REFUSAL_SIGNATURE] = {
        ESB_AUTH("Signature [bk_signature] verification failed, please provide valid parameters and signature"),
        BAD_ARGS("bk_signature is incorrect") },
    [REFUSAL_NONCE_NONE] = { ESB_SIGN("Parameter bk_nonce does not exist") },
    [REFUSAL_NONCE_ILLEGAL] = { ESB_SIGN("Parameter bk_nonce is illegal") },
    [REFUSAL_NONCE_NEGATIVE] = { ESB_SIGN("Parameter bk_nonce is illegal, it must be a positive integer") },
    [REFUSAL_TIME_NONE] = { ESB_SIGN("Parameter bk_timestamp does not exist") },
    [REFUSAL_TIME_ILLEGAL] = { ESB_SIGN("Parameter bk_timestamp is illegal, due to non-time format") },
    [REFUSAL_TIME_EXPIRED] = { ESB_SIGN("Parameter bk_timestamp is illegal, because it has expired") },
    [REFUSAL_TOKEN] = {
        ESB_AUTH("User authentication failed, please check if the bk_token is valid"),
        BAD_ARGS("user authentication failed, the bk_token is not valid") },
    [REFUSAL_LOGIN] = {
        { 200, ESB_THIRD, NULL, "Component request third-party system [BK_LOGIN] interface [is_login] error: no answer, "
          "please try again later or contact component developer to handle this" },
        { 502, GATEWAY_BEHIND, "REQUEST_BACKEND_ERROR", "the login service does not answer, try again" } },
    [REFUSAL_NO_USER] = {
        ESB_AUTH("User authentication failed, please provide a valid user identity, such as bk_token, bk_username"),
        BAD_ARGS("user authentication failed, please provide a valid user identity, such as bk_username, bk_token") },
    [REFUSAL_RATE] = {
        { 200, ESB_RATE, NULL, "Request frequency of APP [bk_app_code={}] exceeds its limit, try again later" },
        { 429, GATEWAY_RATE, "RATE_LIMIT_RESTRICTION", "Request rate limit exceeds [bk_app_code=\"{}\"]" },
        { 429, ERR_LIMIT, "RATE", "app {} asks more often than it may, try again later" } },
    [REFUSAL_RIGHT] = {
        { 200, ESB_DENIED, NULL, "APP permission is insufficient, APP has no permission to access the component "
          "({}) of the system (GSE)" },
        { 403, GATEWAY_DENIED, "APP_NO_PERMISSION", "App has no permission to the resource" },
        { 403, ERR_DENIED, "FORBIDDEN", "the app may not do this: it takes the right {}" } },
    [REFUSAL_PEER] = {
        { 403, ESB_DENIED, NULL, PEER_TEXT },
        { 403, GATEWAY_DENIED, "APP_NO_PERMISSION", PEER_TEXT },
        { 403, ERR_DENIED, "FORBIDDEN", PEER_TEXT } },
    [REFUSAL_FORM] = { { 200, ESB_COMMON, NULL, "{}" } },
};

/* All dialects have the same Chinese text. */
static const char *const chinese[REFUSALS] = {
    [REFUSAL_PATH] = "请求的内容不存在 [{}]",
    [REFUSAL_METHOD] = "此处不支持该请求方法 [{}]",
    [REFUSAL_TOO_LARGE] = "参数错误，请求体超过此处允许的 {} 字节",
    [REFUSAL_STRANGE_LARGE] = "参数错误，请求头 X-Bkapi-Authorization 中没有凭据时，请求体不能超过 {} 字节",
    [REFUSAL_BUSY] = "请求头中没有凭据的请求过多，请重试",
    [REFUSAL_HEADER] = "参数错误，请求头 X-Bkapi-Authorization 不是合法的 JSON 对象",
    [REFUSAL_BASIC] = "请求头 Authorization 必须是 Basic 加 base64(code:secret)，且只出现一次",
    [REFUSAL_NO_CREDENTIALS] = "签名 [bk_signature] 和应用密钥 [bk_app_secret] 不能同时为空",
    [REFUSAL_NO_CODE] = "应用编码 [bk_app_code] 不能为空",
    [REFUSAL_NO_SECRET] = "应用密钥 [bk_app_secret] 不能为空",
    [REFUSAL_ACCESS_TOKEN] = "此处无法校验 access_token，请提供 bk_app_code 和 bk_app_secret",
    [REFUSAL_UNKNOWN_APP] = "无效的应用编码 [bk_app_code={}]，请确认该应用已注册",
    [REFUSAL_WRONG_SECRET] = "应用密钥校验失败，请确认密钥与应用编码 [bk_app_code={}] 匹配",
    [REFUSAL_SIGNATURE] = "签名 [bk_signature] 校验失败，请提供正确的参数和签名",
    [REFUSAL_NONCE_NONE] = "参数 bk_nonce 不存在",
    [REFUSAL_NONCE_ILLEGAL] = "参数 bk_nonce 不合法",
    [REFUSAL_NONCE_NEGATIVE] = "参数 bk_nonce 不合法，必须为正整数",
    [REFUSAL_TIME_NONE] = "参数 bk_timestamp 不存在",
    [REFUSAL_TIME_ILLEGAL] = "参数 bk_timestamp 不合法，不是时间格式",
    [REFUSAL_TIME_EXPIRED] = "参数 bk_timestamp 不合法，已过期",
    [REFUSAL_TOKEN] = "用户认证失败，请检查 bk_token 是否有效",
    [REFUSAL_LOGIN] = "登录服务暂时无法访问，请稍后重试",
    [REFUSAL_NO_USER] = "用户认证失败，请提供有效的用户身份，如 bk_token、bk_username",
    [REFUSAL_RATE] = "应用 [bk_app_code={}] 的请求频率超过限制，请稍后重试",
    [REFUSAL_RIGHT] = "应用权限不足，需要 {} 权限",
    [REFUSAL_PEER] = "内核未提供连接者的身份；其他用户或进程命名空间中的进程不能使用管理套接字",
    [REFUSAL_FORM] = "{}",
};
/* clang-format on */

struct refusal_answer refusal_answer(enum refusal why, enum dialect_kind kind)
{
    const struct refusal_row *s =
        &refusals[why][(int)kind < TEXT_DIALECTS ? (int)kind : DIALECT_ESB];

    int code = kind == DIALECT_JOB && why == REFUSAL_RIGHT ? JOB_DENIED : s->code;

    return (struct refusal_answer){ s->status, code, s->name, { s->text, chinese[why] } };
}

void refusal_fill(struct buf *to, const char *text, const char *about)
{
    const char *hole = strstr(text, "{}");
    size_t before = hole ? (size_t)(hole - text) : strlen(text);

    buf_add(to, text, before);
    if (hole)
        buf_printf(to, "%s%s", about, hole + 2);
}
