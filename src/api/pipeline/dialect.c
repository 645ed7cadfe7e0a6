/* SPDX-License-Identifier: MIT */
/* dialect.c - see dialect.h. */
#include "api/pipeline/dialect.h"

#include <assert.h>
#include <string.h>

#include "model/code.h"
#include "model/translate.h"

const struct method methods_known[METHODS] = {
    { "GET", "get" },
    { "POST", "post" },
    { "PUT", "put" },
    { "DELETE", "delete" },
};

const char *method_name(unsigned methods)
{
    unsigned one = methods & METHOD_POST ? METHOD_POST : methods;

    return methods_known[__builtin_ctz(one)].name;
}

/* Envelope codes.  GSE's own are GSE_BASE plus the code of a target. */
enum {
    GSE_BASE = 1000000,
    ESB_COMMON = 1306000,
    GATEWAY_ARGS = 1640001,
    JOB_GSE_DOWN = 1210001,
    JOB_FIRST = 1200000, /* codes from here on are not offset by GSE_BASE */
    JOB_INVALID = 1241002,
    JOB_DENIED = 9900403,
};

/* The text of a refusal as a JSON string. */
static void quote_refusal(struct buf *out, const char *text, const char *about)
{
    struct buf said = { 0 };

    refusal_fill(&said, text, about);
    buf_quote(out, buf_data(&said), said.len);
    buf_free(&said);
}

/* CODE_OFFLINE and CODE_DEADLINE are failures of an agent. */
bool dialect_is_ours(const struct err *err)
{
    return code_get(err->code)->http_status >= 500 && err->code != CODE_OFFLINE &&
           err->code != CODE_DEADLINE;
}

/* The text of a failure for the caller.  For a failure of the server it has only the request id, to
 * be found in the server's log. */
static void put_failure(struct buf *out, const struct err *err, const char *before,
                        const struct answer_context *t)
{
    const char *own = code_get(err->code)->text[t->lang];
    struct buf text = { 0 };

    if (dialect_is_ours(err) && t->lang == LANG_ZH)
        buf_printf(&text, "%s；服务端日志中有请求 %s 的详情", own, t->request_id);
    else if (dialect_is_ours(err))
        buf_printf(&text, "%s; the server's log says more about request %s", own, t->request_id);
    else {
        buf_puts(&text, before);
        translate_put(&text, err_msg(err), t->lang);
    }
    buf_quote(out, buf_data(&text), text.len);
    buf_free(&text);
}

/* ---- shared by ESB, the gateway and Job */

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

static void close_failure(struct buf *out, const struct answer_context *t)
{
    buf_puts(out, ",\"data\":null");
    close_envelope(t->request_id, out);
}

static bool is_param(const struct err *err)
{
    return err->code == ERR_INVALID || err->code == ERR_LIMIT;
}

/* GSE's code of a failure in the backend.  A code that is an envelope code already stays as it
 * is. */
static int gse_code(const struct err *err)
{
    if (is_param(err))
        return GSE_BASE + CODE_PARAM;
    if (err->code >= JOB_FIRST)
        return err->code;
    if (err->code >= ERR_BASE_CODES && code_get(err->code)->number == err->code)
        return GSE_BASE + err->code;
    return GSE_BASE + CODE_SYSTEM;
}

static const char *const param_prefix[LANGS] = { "Parameters error, ", "参数错误，" };

static int gse_fail(const struct err *err, const struct answer_context *t, struct buf *out)
{
    int code = gse_code(err);

    open_failure(out, code, NULL);
    put_failure(out, err, code == GSE_BASE + CODE_PARAM ? param_prefix[t->lang] : "", t);
    close_failure(out, t);
    return 200;
}

/* ---- ESB */

static void esb_open(struct buf *out)
{
    buf_puts(out, "{\"result\":true,\"code\":0,\"message\":\"success\",\"data\":");
}

static const char *const malformed_prefix[LANGS] = {
    "Request JSON string is wrong in format, which cannot be analyzed. ",
    "请求的 JSON 格式错误，无法解析。",
};

/* ESB refuses unreadable bodies itself, for all systems. */
static void put_malformed(const struct err *err, const struct answer_context *t, struct buf *out)
{
    open_failure(out, ESB_COMMON, NULL);
    put_failure(out, err, malformed_prefix[t->lang], t);
}

static struct dialect_code esb_code(const struct err *err)
{
    return (struct dialect_code){ err->code == ERR_MALFORMED ? ESB_COMMON : gse_code(err), "" };
}

static int esb_fail(const struct err *err, const struct answer_context *t, struct buf *out)
{
    if (err->code != ERR_MALFORMED)
        return gse_fail(err, t, out);
    put_malformed(err, t, out);
    close_failure(out, t);
    return 200;
}

static int esb_refuse(enum refusal why, const char *about, const struct answer_context *t,
                      struct buf *out)
{
    const struct refusal_answer s = refusal_answer(why, DIALECT_ESB);

    assert(s.text[LANG_EN]);
    if (why == REFUSAL_PATH) {
        /* ESB's front end sends this one, without the other fields. */
        buf_puts(out, "{\"result\":false,\"data\":null,\"message\":");
        quote_refusal(out, s.text[t->lang], about);
        buf_puts(out, "}\n");
        return s.status;
    }
    open_failure(out, s.code, NULL);
    quote_refusal(out, s.text[t->lang], about);
    close_failure(out, t);
    return s.status;
}

/* ---- the gateway */

static void gateway_open(struct buf *out)
{
    buf_puts(out, "{\"result\":true,\"code\":0,\"message\":\"OK\",\"data\":");
}

static const char *const gateway_malformed[LANGS] = {
    "Parameters error [reason=\"request body is not a valid JSON: {}\"]",
    "参数错误，请求体不是合法的 JSON：{}",
};

static const char gateway_args_name[] = "INVALID_ARGS";

static struct dialect_code gateway_code(const struct err *err)
{
    if (err->code == ERR_MALFORMED)
        return (struct dialect_code){ GATEWAY_ARGS, gateway_args_name };
    return esb_code(err);
}

static int gateway_fail(const struct err *err, const struct answer_context *t, struct buf *out)
{
    struct buf reason = { 0 };

    if (err->code != ERR_MALFORMED)
        return gse_fail(err, t, out);
    open_failure(out, GATEWAY_ARGS, gateway_args_name);
    translate_put(&reason, err_msg(err), t->lang);
    quote_refusal(out, gateway_malformed[t->lang], buf_text(&reason));
    buf_free(&reason);
    close_failure(out, t);
    return 400;
}

static int gateway_refuse(enum refusal why, const char *about, const struct answer_context *t,
                          struct buf *out)
{
    const struct refusal_answer s = refusal_answer(why, DIALECT_GATEWAY);

    assert(s.text[LANG_EN]);
    open_failure(out, s.code, s.name);
    quote_refusal(out, s.text[t->lang], about);
    close_failure(out, t);
    return s.status;
}

/* ---- Job */

static void job_open(struct buf *out)
{
    buf_puts(out, "{\"result\":true,\"code\":0,\"message\":\"\",\"data\":");
}

static void job_close_with(const char *request_id, struct buf *out)
{
    buf_printf(out, ",\"job_request_id\":\"%s\"", request_id);
    close_envelope(request_id, out);
}

static void job_close(const char *request_id, struct buf *out)
{
    buf_puts(out, ",\"permission\":null");
    job_close_with(request_id, out);
}

/* The permission to apply for, in the format of BlueKing's access management. */
static void put_permission(struct buf *out, const struct answer_context *t, const char *what)
{
    const char *id = t->action ? t->action : "access";
    struct buf name = { 0 };

    translate_put(&name, what, t->lang);
    buf_puts(out, ",\"data\":null,\"permission\":{\"system_id\":\"holdfast\",\"system_name\":"
                  "\"Holdfast\",\"actions\":[{\"id\":");
    buf_quote(out, id, strlen(id));
    buf_puts(out, ",\"name\":");
    buf_quote(out, buf_data(&name), name.len);
    buf_puts(out, ",\"related_resource_types\":[]}]}");
    buf_free(&name);
}

static int job_code(const struct err *err)
{
    if (is_param(err))
        return JOB_INVALID;
    if (err->code == CODE_DENIED || err->code == ERR_DENIED)
        return JOB_DENIED;
    return dialect_is_ours(err) ? JOB_GSE_DOWN : gse_code(err);
}

static const char *const job_prefix[LANGS] = { "Invalid request parameters: ", "请求参数不合法：" };

static struct dialect_code job_told(const struct err *err)
{
    return err->code == ERR_MALFORMED ? esb_code(err) : (struct dialect_code){ job_code(err), "" };
}

static int job_fail(const struct err *err, const struct answer_context *t, struct buf *out)
{
    int code = job_code(err);

    if (err->code == ERR_MALFORMED) {
        put_malformed(err, t, out);
    } else {
        open_failure(out, code, NULL);
        put_failure(out, err, code == JOB_INVALID ? job_prefix[t->lang] : "", t);
    }
    if (code == JOB_DENIED)
        put_permission(out, t, err_msg(err));
    else
        buf_puts(out, ",\"data\":null,\"permission\":null");
    job_close_with(t->request_id, out);
    return 200;
}

/* Job itself answers only missing permissions; ESB, in front of it, answers the rest. */
static int job_refuse(enum refusal why, const char *about, const struct answer_context *t,
                      struct buf *out)
{
    const struct refusal_answer s = refusal_answer(why, DIALECT_JOB);

    if (why != REFUSAL_RIGHT)
        return esb_refuse(why, about, t, out);
    open_failure(out, s.code, NULL);
    quote_refusal(out, s.text[t->lang], about);
    put_permission(out, t, about);
    job_close_with(t->request_id, out);
    return 200;
}

/* ---- /v1 */

static void v1_open(struct buf *out)
{
    (void)out;
}

static void v1_close(const char *request_id, struct buf *out)
{
    (void)request_id; /* /v1 has it in a header */
    buf_addc(out, '\n');
}

static void v1_open_error(struct buf *out, const char *name, int number)
{
    buf_printf(out, "{\"error\":{\"code\":\"%s\",\"number\":%d,\"message\":", name, number);
}

static void v1_close_error(struct buf *out, const struct answer_context *t)
{
    buf_printf(out, ",\"request_id\":\"%s\"}}\n", t->request_id);
}

static struct dialect_code v1_code(const struct err *err)
{
    const struct code_info *info = code_get(err->code);

    return (struct dialect_code){ info->number, info->name };
}

static int v1_fail(const struct err *err, const struct answer_context *t, struct buf *out)
{
    const struct code_info *info = code_get(err->code);

    v1_open_error(out, info->name, info->number);
    put_failure(out, err, "", t);
    v1_close_error(out, t);
    return info->http_status;
}

static int v1_refuse(enum refusal why, const char *about, const struct answer_context *t,
                     struct buf *out)
{
    const struct refusal_answer s = refusal_answer(why, DIALECT_V1);

    assert(s.text[LANG_EN]);
    v1_open_error(out, s.name, s.code);
    quote_refusal(out, s.text[t->lang], about);
    v1_close_error(out, t);
    return s.status;
}

/* clang-format off */
#define ALL (METHOD_GET | METHOD_POST | METHOD_PUT | METHOD_DELETE)
const struct dialect dialects[DIALECTS] = {
    [DIALECT_ESB] = { DIALECT_ESB, METHOD_GET | METHOD_POST, esb_open, close_envelope, esb_fail, esb_refuse, esb_code },
    [DIALECT_GATEWAY] = { DIALECT_GATEWAY, METHOD_POST, gateway_open, close_envelope, gateway_fail, gateway_refuse, gateway_code },
    [DIALECT_V1] = { DIALECT_V1, ALL, v1_open, v1_close, v1_fail, v1_refuse, v1_code },
    [DIALECT_JOB] = { DIALECT_JOB, METHOD_GET | METHOD_POST, job_open, job_close, job_fail, job_refuse, job_told },
    [DIALECT_BACKEND] = { DIALECT_BACKEND, ALL, esb_open, close_envelope, esb_fail, esb_refuse, esb_code },
};
/* clang-format on */
