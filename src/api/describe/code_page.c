/* SPDX-License-Identifier: MIT */
/* code_page.c - see code_page.h.  A new code or refusal needs a row here. */
#include "api/describe/code_page.h"

#include <stdio.h>
#include <string.h>

#include "api/pipeline/dialect.h"
#include "base/mem/mem.h"
#include "model/code.h"
#include "model/operation.h"

/* clang-format off */
static const struct {
    int code;
    const char *todo;
} advice[] = {
    { CODE_OK, "nothing" },
    { ERR_INVALID, "correct the field that the message names" },
    { ERR_MALFORMED, "send one JSON object; the message names the byte where it stops being one" },
    { ERR_NOT_FOUND, "check the name or number in the request" },
    { ERR_CONFLICT, "the message names the conflict; resolve it, or change the request" },
    { ERR_DENIED, "have the app given the right: [access.md](access.md)" },
    { ERR_LIMIT, "request less at once; the message has the limit" },
    { ERR_TIMEOUT, "try again" },
    { ERR_UNAVAILABLE, "try again in a moment; the same `Idempotency-Key` makes that safe" },
    { ERR_SYSTEM, "look in the server's log for the request id" },
    { CODE_SYSTEM, "look in the log for the request id; for a target: in the log of its agent" },
    { CODE_WAITING, "poll the result, at most once a second" },
    { CODE_OFFLINE, "check that the host has joined (`holdfast host list`), and that its agent runs and reaches the server" },
    { CODE_DEADLINE, "it may have been done: query it (`op_type` 2) before you repeat it" },
    { CODE_USER, "create the account on the host, or name another in `identity.user`" },
    { CODE_SPACE, "free disk space on the host; nothing was done" },
    { CODE_NOT_REGISTERED, "register the process on this host, or send its spec (`operate_proc_v2`)" },
    { CODE_NO_TASK, "check the id; tasks are kept for 7 days, and an app with limits finds only its own" },
    { CODE_MATCH, "correct what the message names: the mode or owner of a pid file that other users can write to, or several processes that fit where no `pid_path` tells them apart" },
    { CODE_PARAM, "correct the field that the message names" },
    { CODE_TIMEOUT, "correct the command, or raise `op_timeout`; `holdfast logs` shows its output" },
    { CODE_DENIED, "have the app given the namespace, operation or business, or check the host's policy: the message says which" },
    { CODE_CANCELLED, "nothing was done; repeat it if it should be" },
    { CODE_NO_COMMAND, "send the command that the message names" },
    { CODE_RUNNING, "nothing, if it should run; otherwise restart it (`op_type` 7)" },
    { CODE_NOT_RUNNING, "nothing, if it should not run; otherwise start it" },
    { CODE_LOCKED, "wait for the previous operations, then try again" },
    { CODE_UNKNOWN_OP, "send a valid `op_type`: {}" },
    { CODE_CHECK, "find the cause with `holdfast why` and `holdfast logs`; or give it more time (`start_check_secs`)" },
    { CODE_REGISTERED, "nothing, or `update_proc_info` to change it" },
    { CODE_COMMAND, "the message has the exit status and the output; correct the command" },
    { CODE_NO_BUSINESS, "list the business or put a host in it: [inventory.md](inventory.md)" },
    { CODE_NO_SCOPE, "create the business set: [inventory.md](inventory.md)" },
};

static const char *const refusal_advice[REFUSALS] = {
    [REFUSAL_PATH] = "look the path up: [endpoints](reference/endpoints.md)",
    [REFUSAL_METHOD] = "use one of the methods in `allowed`, which the header `Allow` has too",
    [REFUSAL_TOO_LARGE] = "send fewer targets at once",
    [REFUSAL_STRANGE_LARGE] = "put the credentials in the header `X-Bkapi-Authorization`",
    [REFUSAL_BUSY] = "put the credentials in the header, or try again in a moment",
    [REFUSAL_HEADER] = "send the header once, as one JSON object",
    [REFUSAL_BASIC] = "`curl -u CODE:SECRET`, or no such header",
    [REFUSAL_NO_CREDENTIALS] = "send `bk_app_code` and `bk_app_secret`, or sign: [access.md](access.md)",
    [REFUSAL_NO_CODE] = "send `bk_app_code`",
    [REFUSAL_NO_SECRET] = "send `bk_app_secret`",
    [REFUSAL_ACCESS_TOKEN] = "send code and secret instead",
    [REFUSAL_UNKNOWN_APP] = "create the app: `holdfast app create`",
    [REFUSAL_WRONG_SECRET] = "check the secret; replace a lost one with `holdfast app rotate`",
    [REFUSAL_SIGNATURE] = "sign as [access.md](access.md) says; the app must be allowed to sign",
    [REFUSAL_NONCE_NONE] = "put `bk_nonce` in the query",
    [REFUSAL_NONCE_ILLEGAL] = "it must be a whole number",
    [REFUSAL_NONCE_NEGATIVE] = "it must be more than 0",
    [REFUSAL_TIME_NONE] = "put `bk_timestamp` in the query",
    [REFUSAL_TIME_ILLEGAL] = "it must be seconds since 1970",
    [REFUSAL_TIME_EXPIRED] = "set the clock: it may differ by at most 300 s",
    [REFUSAL_TOKEN] = "have the user log in again",
    [REFUSAL_LOGIN] = "check that `login.url` answers, then try again",
    [REFUSAL_NO_USER] = "send `bk_token`; or put the app in `skip_user_auth_apps` and send `bk_username`",
    [REFUSAL_RATE] = "send fewer requests, or have the app's `--rate` raised",
    [REFUSAL_RIGHT] = "have the app given the right: [access.md](access.md)",
    [REFUSAL_PEER] = "call from the user and pid namespace that the server is in",
    [REFUSAL_FORM] = "correct the field that the message names",
};
/* clang-format on */

const char *code_page_advice(int code)
{
    for (size_t i = 0; i < ARRAY_LEN(advice); i++) {
        if (advice[i].code == code)
            return advice[i].todo;
    }
    return NULL;
}

const char *code_page_refusal_advice(int refusal)
{
    return refusal_advice[refusal];
}

/* {} in an advice stands for the numbers of BlueKing's operations. */
static void put_advice(struct buf *out, int code)
{
    struct buf numbers = { 0 };

    for (int64_t n = 0; n <= OPERATION_BLUEKING_MAX; n++) {
        if (operation_is_bluekings(n))
            buf_printf(&numbers, "%s%lld", numbers.len ? ", " : "", (long long)n);
    }
    refusal_fill(out, code_page_advice(code), buf_text(&numbers));
    buf_free(&numbers);
}

/* ---- targets */

/* Smaller codes are of requests only, larger ones of Job. */
static bool is_of_target(const struct code_info *c)
{
    return c->number == CODE_OK || (c->number >= ERR_BASE_CODES && c->number <= CODE_COMMAND);
}

static void put_targets(struct buf *out)
{
    buf_puts(out, "## Targets\n\n`error_code` of the result calls, `code` of an item of "
                  "`/v1/tasks`.\n\n| code | name | means | 含义 | what to do |\n"
                  "|---|---|---|---|---|\n");
    for (const struct code_info *c = code_table; c->name; c++) {
        if (!is_of_target(c))
            continue;
        buf_printf(out, "| %d | `%s` | %s | %s | ", c->number, c->name, c->text[LANG_EN],
                   c->text[LANG_ZH]);
        put_advice(out, c->number);
        buf_puts(out, " |\n");
    }
}

/* ---- failed requests */

/* The number that the dialect itself writes. */
static int told_as(enum dialect_kind kind, int number)
{
    static const struct answer_context no_request = { "", LANG_EN };
    struct err err = { .code = number };
    struct buf answer = { 0 };
    const char *code;
    int told = 0;

    dialects[kind].put_err(&err, &no_request, &answer);
    code = strstr(buf_text(&answer), "\"code\":");
    if (code)
        (void)sscanf(code, "\"code\":%d", &told); /* stays 0 on failure, which no code is */
    buf_free(&answer);
    return told;
}

/* Job's codes occur only in its own calls. */
static void put_told(enum dialect_kind kind, int number, struct buf *out)
{
    if (kind != DIALECT_JOB && number > CODE_COMMAND)
        buf_puts(out, " | -");
    else
        buf_printf(out, " | %d", told_as(kind, number));
}

static void put_failures(struct buf *out)
{
    buf_puts(out, "\n## Failed requests\n\n`code` in the envelope of ESB (also `/procapi`), "
                  "the gateway and Job; their HTTP status is 200, or 400 if the gateway can not "
                  "read the body. `error.code` and HTTP status of `/v1`; its `error.number` is in "
                  "the first column. GSE's codes are 1000000 plus that number.\n\n| number | `/v1` "
                  "| HTTP | ESB | gateway | Job | means | 含义 | "
                  "what to do |\n|---|---|---|---|---|---|---|---|---|\n");
    for (const struct code_info *c = code_table + 1; c->name; c++) {
        buf_printf(out, "| %d | `%s` | %d", c->number, c->name, c->http_status);
        put_told(DIALECT_ESB, c->number, out);
        put_told(DIALECT_GATEWAY, c->number, out);
        put_told(DIALECT_JOB, c->number, out);
        buf_printf(out, " | %s | %s | ", c->text[LANG_EN], c->text[LANG_ZH]);
        put_advice(out, c->number);
        buf_puts(out, " |\n");
    }
}

/* ---- refused requests */

static void put_refusal_codes(enum refusal why, enum dialect_kind kind, struct buf *out)
{
    const struct refusal_answer s = refusal_answer(why, kind);

    if (!s.text[LANG_EN])
        buf_puts(out, " | -");
    else if (kind == DIALECT_V1)
        buf_printf(out, " | %d `%s`", s.status, s.name);
    else if (kind == DIALECT_GATEWAY)
        buf_printf(out, " | %d `%s`, HTTP %d", s.code, s.name, s.status);
    else if (!s.code)
        buf_printf(out, " | none, HTTP %d", s.status);
    else if (s.status != 200)
        buf_printf(out, " | %d, HTTP %d", s.code, s.status);
    else
        buf_printf(out, " | %d", s.code);
}

/* ESB's text; if it has none, that of /v1. */
static const char *text_of(enum refusal why)
{
    const char *text = refusal_answer(why, DIALECT_ESB).text[LANG_EN];

    return text ? text : refusal_answer(why, DIALECT_V1).text[LANG_EN];
}

static void put_refusals(struct buf *out)
{
    buf_puts(out,
             "\n## Refused requests\n\nRefused before the parameters are read. The text is "
             "ESB's; `...` is a detail of the request. ESB answers for Job too, except 9900403: "
             "the app has no permission.\n\n"
             "| text | 中文 | ESB, Job | gateway | `/v1` | what to do |\n"
             "|---|---|---|---|---|---|\n");
    for (int why = 0; why < REFUSALS; why++) {
        buf_puts(out, "| ");
        refusal_fill(out, text_of((enum refusal)why), "...");
        buf_puts(out, " | ");
        refusal_fill(out, refusal_answer((enum refusal)why, DIALECT_ESB).text[LANG_ZH], "...");
        put_refusal_codes((enum refusal)why, DIALECT_ESB, out);
        put_refusal_codes((enum refusal)why, DIALECT_GATEWAY, out);
        put_refusal_codes((enum refusal)why, DIALECT_V1, out);
        buf_printf(out, " | %s |\n", code_page_refusal_advice(why));
    }
}

void code_page_write(struct buf *out)
{
    buf_puts(out, "# Codes\n\nEvery code a client can get. Messages are English, or Chinese with "
                  "the header `Blueking-Language: zh-hans`. An accepted operation has its own code "
                  "for each target; one target that fails does not make the request fail.\n\n");
    put_targets(out);
    put_failures(out);
    put_refusals(out);
}
