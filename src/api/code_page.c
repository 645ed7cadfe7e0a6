/* SPDX-License-Identifier: MIT */
/* code_page.c - see code_page.h.  A new code or refusal needs a row here. */
#include "api/code_page.h"

#include <stdio.h>
#include <string.h>

#include "api/dialect.h"
#include "base/mem.h"
#include "model/code.h"

/* clang-format off */
static const struct {
    int code;
    const char *todo;
} advice[] = {
    { CODE_OK, "nothing" },
    { ERR_INVALID, "mend the field that the message names" },
    { ERR_MALFORMED, "send one JSON object; the message names the byte where it stops being one" },
    { ERR_NOT_FOUND, "look at the name or number in the request" },
    { ERR_CONFLICT, "the message says what is in the way; change that, or the request" },
    { ERR_DENIED, "have the app given the right: [access.md](access.md)" },
    { ERR_LIMIT, "ask for less at once; the message has the limit" },
    { ERR_TIMEOUT, "ask again" },
    { ERR_UNAVAILABLE, "ask again in a moment; the same `Idempotency-Key` makes that safe" },
    { ERR_SYSTEM, "look in the server's log for the request id" },
    { CODE_SYSTEM, "look in the log for the request id; of a target: in the log of its agent" },
    { CODE_WAITING, "ask for the result again, once a second or less often" },
    { CODE_OFFLINE, "see that the host has joined (`holdfast host list`), that its agent runs and reaches the server" },
    { CODE_DEADLINE, "it may have been done: query it (`op_type` 2) before you ask again" },
    { CODE_USER, "make the account on the host, or name another in `identity.user`" },
    { CODE_SPACE, "make room on the host; nothing was done" },
    { CODE_NOT_REGISTERED, "register the process on this host, or send its spec (`operate_proc_v2`)" },
    { CODE_NO_TASK, "look at the id; tasks are kept for 7 days, and an app with limits finds its own alone" },
    { CODE_MATCH, "the pid file names a process that is not `identity.proc_name`: mend one of them" },
    { CODE_PARAM, "mend the field that the message names" },
    { CODE_TIMEOUT, "mend the command, or raise `op_timeout`; `holdfast logs` has what it said" },
    { CODE_DENIED, "have the app given the namespace, operation or business, or look at the host's policy: the message says which" },
    { CODE_CANCELLED, "nothing was done; ask again if it should be" },
    { CODE_NO_COMMAND, "send the command that the message names" },
    { CODE_RUNNING, "nothing, if it should run; to begin anew, restart it (`op_type` 7)" },
    { CODE_NOT_RUNNING, "nothing, if it should not run; else start it" },
    { CODE_LOCKED, "wait for the operations of before, then ask again" },
    { CODE_UNKNOWN_OP, "send an `op_type` that there is: 0, 1, 2, 3, 4, 7, 8, 9" },
    { CODE_CHECK, "see why it is not as it should be: `holdfast why`, `holdfast logs`; or give it more time (`start_check_secs`)" },
    { CODE_REGISTERED, "nothing, or `update_proc_info` to change it" },
    { CODE_COMMAND, "the message has its end and what it said; mend the command" },
    { CODE_NO_BUSINESS, "list the business or put a host in it: [inventory.md](inventory.md)" },
    { CODE_NO_SCOPE, "make the business set: [inventory.md](inventory.md)" },
};

static const char *const refusal_advice[REFUSALS] = {
    [REFUSAL_PATH] = "look the path up: [endpoints](reference/endpoints.md)",
    [REFUSAL_METHOD] = "send it by one of the methods in `allowed`, which `Allow` names too",
    [REFUSAL_TOO_LARGE] = "send fewer targets at once",
    [REFUSAL_STRANGE_LARGE] = "put the credentials in the header `X-Bkapi-Authorization`",
    [REFUSAL_BUSY] = "put the credentials in the header, or ask again in a moment",
    [REFUSAL_HEADER] = "the header must be one JSON object, and be there once",
    [REFUSAL_BASIC] = "`curl -u CODE:SECRET`, or no such header",
    [REFUSAL_NO_CREDENTIALS] = "send `bk_app_code` and `bk_app_secret`, or sign: [access.md](access.md)",
    [REFUSAL_NO_CODE] = "send `bk_app_code`",
    [REFUSAL_NO_SECRET] = "send `bk_app_secret`",
    [REFUSAL_ACCESS_TOKEN] = "send code and secret instead",
    [REFUSAL_UNKNOWN_APP] = "make the app: `holdfast app create`",
    [REFUSAL_WRONG_SECRET] = "look at the secret; a lost one is replaced by `holdfast app rotate`",
    [REFUSAL_SIGNATURE] = "sign as [access.md](access.md) says; the app must be one with signatures",
    [REFUSAL_NONCE_NONE] = "put `bk_nonce` in the query",
    [REFUSAL_NONCE_ILLEGAL] = "it must be a whole number",
    [REFUSAL_NONCE_NEGATIVE] = "it must be more than 0",
    [REFUSAL_TIME_NONE] = "put `bk_timestamp` in the query",
    [REFUSAL_TIME_ILLEGAL] = "it must be seconds since 1970",
    [REFUSAL_TIME_EXPIRED] = "set the clock: it may differ by 300 s",
    [REFUSAL_TOKEN] = "have the user log in again",
    [REFUSAL_LOGIN] = "see that `login.url` answers, then ask again",
    [REFUSAL_NO_USER] = "send `bk_token`; or put the app in `skip_user_auth_apps` and send `bk_username`",
    [REFUSAL_RATE] = "ask less often, or have the app's `--rate` raised",
    [REFUSAL_RIGHT] = "have the app given the right: [access.md](access.md)",
    [REFUSAL_FORM] = "mend the field that the message names",
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

/* ---- of targets */

/* Below are those of requests alone, above those of Job's. */
static bool is_of_target(const struct code_info *c)
{
    return c->number == CODE_OK || (c->number >= ERR_BASE_CODES && c->number <= CODE_COMMAND);
}

static void put_targets(struct buf *out)
{
    buf_puts(out, "## Of one target\n\n`error_code` of the result calls, `code` of an item of "
                  "`/v1/tasks`.\n\n| code | name | means | 含义 | what to do |\n"
                  "|---|---|---|---|---|\n");
    for (const struct code_info *c = code_table; c->name; c++) {
        if (is_of_target(c))
            buf_printf(out, "| %d | `%s` | %s | %s | %s |\n", c->number, c->name, c->text[LANG_EN],
                       c->text[LANG_ZH], code_page_advice(c->number));
    }
}

/* ---- of requests that could not be done */

/* What a dialect makes of it, from its own mouth. */
static int told_as(enum dialect_kind kind, int number)
{
    static const struct teller nobody = { "", LANG_EN };
    struct err err = { .code = number };
    struct buf answer = { 0 };
    const char *code;
    int told = 0;

    dialects[kind].put_err(&err, &nobody, &answer);
    code = strstr(buf_text(&answer), "\"code\":");
    if (code)
        (void)sscanf(code, "\"code\":%d", &told); /* none is told as 0, which it never is */
    buf_free(&answer);
    return told;
}

/* Job's own are of its calls alone. */
static void put_told(enum dialect_kind kind, int number, struct buf *out)
{
    if (kind != DIALECT_JOB && number > CODE_COMMAND)
        buf_puts(out, " | -");
    else
        buf_printf(out, " | %d", told_as(kind, number));
}

static void put_failures(struct buf *out)
{
    buf_puts(out, "\n## Of a request that could not be done\n\n`code` of the envelope by ESB "
                  "(`/procapi` too), the gateway and Job, whose HTTP status is 200 but where a "
                  "gateway can not read the body (400); `error.code` and the HTTP status of "
                  "`/v1`, whose `error.number` is in the first column. GSE's are 1000000 and that "
                  "number.\n\n| number | `/v1` | HTTP | ESB | gateway | Job | means | 含义 | "
                  "what to do |\n|---|---|---|---|---|---|---|---|---|\n");
    for (const struct code_info *c = code_table + 1; c->name; c++) {
        buf_printf(out, "| %d | `%s` | %d", c->number, c->name, c->http_status);
        put_told(DIALECT_ESB, c->number, out);
        put_told(DIALECT_GATEWAY, c->number, out);
        put_told(DIALECT_JOB, c->number, out);
        buf_printf(out, " | %s | %s | %s |\n", c->text[LANG_EN], c->text[LANG_ZH],
                   code_page_advice(c->number));
    }
}

/* ---- of requests that were not looked at */

static void put_said(enum refusal why, enum dialect_kind kind, struct buf *out)
{
    const struct said s = refusal_said(why, kind);

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

/* ESB's words, or where it has none, ours. */
static const char *text_of(enum refusal why)
{
    const char *text = refusal_said(why, DIALECT_ESB).text[LANG_EN];

    return text ? text : refusal_said(why, DIALECT_V1).text[LANG_EN];
}

static void put_refusals(struct buf *out)
{
    buf_puts(out, "\n## Of a request that was not looked at\n\nBefore anything of it is done: who "
                  "asks, and how. The text is ESB's, `...` what it is about; Job is behind ESB, "
                  "and says of itself only that an app has no right, 9900403.\n\n"
                  "| text | 中文 | ESB, Job | gateway | `/v1` | what to do |\n"
                  "|---|---|---|---|---|---|\n");
    for (int why = 0; why < REFUSALS; why++) {
        buf_puts(out, "| ");
        refusal_fill(out, text_of((enum refusal)why), "...");
        buf_puts(out, " | ");
        refusal_fill(out, refusal_said((enum refusal)why, DIALECT_ESB).text[LANG_ZH], "...");
        put_said((enum refusal)why, DIALECT_ESB, out);
        put_said((enum refusal)why, DIALECT_GATEWAY, out);
        put_said((enum refusal)why, DIALECT_V1, out);
        buf_printf(out, " | %s |\n", code_page_refusal_advice(why));
    }
}

void code_page_write(struct buf *out)
{
    buf_puts(out, "# Codes\n\nEvery code a client may see. Messages are English, or Chinese with "
                  "the header `Blueking-Language: zh-hans`. An accepted operation has its own code "
                  "for each target; one target that fails does not make the request fail.\n\n");
    put_targets(out);
    put_failures(out);
    put_refusals(out);
}
