/* SPDX-License-Identifier: MIT */
/* Promises of api/pipeline/dialect.h: the answers of each dialect, byte by byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>
#include <string.h>

#include "api/pipeline/dialect.h"
#include "base/mem/mem.h"
#include "model/code.h"

static const char id[] = "0123456789abcdef0123456789abcdef";
static const struct answer_context english = { id, LANG_EN }, chinese = { id, LANG_ZH };

static const char *success(enum dialect_kind kind, struct buf *out)
{
    buf_truncate(out, 0);
    dialects[kind].open(out);
    buf_puts(out, "{\"a\":1}");
    dialects[kind].close(id, out);
    return buf_text(out);
}

static void a_success_has_its_envelope(void **state)
{
    struct buf out = { 0 };

    (void)state;
    assert_string_equal(success(DIALECT_ESB, &out),
                        "{\"result\":true,\"code\":0,\"message\":\"success\",\"data\":{\"a\":1},"
                        "\"request_id\":\"0123456789abcdef0123456789abcdef\"}\n");
    assert_string_equal(success(DIALECT_GATEWAY, &out),
                        "{\"result\":true,\"code\":0,\"message\":\"OK\",\"data\":{\"a\":1},"
                        "\"request_id\":\"0123456789abcdef0123456789abcdef\"}\n");
    assert_string_equal(success(DIALECT_V1, &out), "{\"a\":1}\n");
    assert_string_equal(
        success(DIALECT_JOB, &out),
        "{\"result\":true,\"code\":0,\"message\":\"\",\"data\":{\"a\":1},\"permission\":null,"
        "\"job_request_id\":\"0123456789abcdef0123456789abcdef\","
        "\"request_id\":\"0123456789abcdef0123456789abcdef\"}\n");
    buf_free(&out);
}

struct fail_case {
    enum dialect_kind kind;
    int code;
    const char *text;
    int status;
    const char *says; /* the beginning of the answer */
};

/* clang-format off */
#define LOG_HINT "; the server's log says more about request 0123456789abcdef0123456789abcdef\""
static const struct fail_case fails[] = {
    { DIALECT_ESB, ERR_INVALID, "a.b: required", 200,
      "{\"result\":false,\"code\":1000811,\"message\":\"Parameters error, a.b: required\",\"data\":null,\"request_id\":\"" },
    { DIALECT_GATEWAY, ERR_INVALID, "a.b: required", 200,
      "{\"result\":false,\"code\":1000811,\"message\":\"Parameters error, a.b: required\",\"data\":null,\"request_id\":\"" },
    { DIALECT_JOB, ERR_INVALID, "a.b: required", 200,
      "{\"result\":false,\"code\":1241002,\"message\":\"Invalid request parameters: a.b: required\",\"data\":null,"
      "\"permission\":null,\"job_request_id\":\"" },
    { DIALECT_JOB, ERR_MALFORMED, "byte 3: no", 200,
      "{\"result\":false,\"code\":1306000,\"message\":\"Request JSON string is wrong" },
    { DIALECT_JOB, CODE_NO_TASK, "task x: no", 200, "{\"result\":false,\"code\":1000806,\"message\":\"task x: no\"," },
    { DIALECT_JOB, CODE_DENIED, "namespace n", 200,
      "{\"result\":false,\"code\":9900403,\"message\":\"namespace n\",\"data\":null,\"permission\":{\"system_id\":" },
    { DIALECT_BACKEND, ERR_INVALID, "a.b: required", 200,
      "{\"result\":false,\"code\":1000811,\"message\":\"Parameters error, a.b: required\"," },
    { DIALECT_V1, ERR_INVALID, "a.b: required", 400,
      "{\"error\":{\"code\":\"INVALID\",\"number\":1,\"message\":\"a.b: required\",\"request_id\":\"" },
    { DIALECT_ESB, ERR_MALFORMED, "byte 3: no", 200,
      "{\"result\":false,\"code\":1306000,\"message\":\"Request JSON string is wrong in format, which cannot be "
      "analyzed. byte 3: no\",\"data\":null," },
    { DIALECT_GATEWAY, ERR_MALFORMED, "byte 3: no", 400,
      "{\"result\":false,\"code\":1640001,\"code_name\":\"INVALID_ARGS\",\"message\":\"Parameters error "
      "[reason=\\\"request body is not a valid JSON: byte 3: no\\\"]\",\"data\":null," },
    { DIALECT_V1, ERR_MALFORMED, "byte 3: no", 400, "{\"error\":{\"code\":\"MALFORMED\"," },
    { DIALECT_ESB, CODE_NO_TASK, "task x: no", 200, "{\"result\":false,\"code\":1000806,\"message\":\"task x: no\",\"data\":null," },
    { DIALECT_V1, CODE_NO_TASK, "task x: no", 404, "{\"error\":{\"code\":\"NO_TASK\",\"number\":806," },
    { DIALECT_GATEWAY, CODE_DENIED, "namespace n", 200, "{\"result\":false,\"code\":1000823,\"message\":\"namespace n\",\"data\":null," },
    { DIALECT_V1, CODE_DENIED, "namespace n", 403, "{\"error\":{\"code\":\"DENIED\",\"number\":823," },
    { DIALECT_V1, ERR_CONFLICT, "app a: is there", 409, "{\"error\":{\"code\":\"CONFLICT\",\"number\":4,\"message\":\"app a: is there\"," },
    /* Failures of the server are not described in detail. */
    { DIALECT_ESB, ERR_SYSTEM, "/var/secret: EIO", 200,
      "{\"result\":false,\"code\":1000101,\"message\":\"the system refused" LOG_HINT },
    { DIALECT_GATEWAY, ERR_UNAVAILABLE, "x", 200,
      "{\"result\":false,\"code\":1000101,\"message\":\"not available now, try again" LOG_HINT },
    { DIALECT_V1, ERR_UNAVAILABLE, "x", 503,
      "{\"error\":{\"code\":\"UNAVAILABLE\",\"number\":8,\"message\":\"not available now, try again" LOG_HINT },
    /* Job's codes are complete in every dialect. */
    { DIALECT_JOB, CODE_NO_BUSINESS, "none", 200, "{\"result\":false,\"code\":1243049," },
    { DIALECT_ESB, CODE_NO_BUSINESS, "none", 200, "{\"result\":false,\"code\":1243049," },
    { DIALECT_GATEWAY, CODE_NO_BUSINESS, "none", 200, "{\"result\":false,\"code\":1243049," },
    { DIALECT_ESB, 4711, "no such code", 200, "{\"result\":false,\"code\":1000101," },
    { DIALECT_ESB, ERR_NOT_FOUND, "nothing", 200, "{\"result\":false,\"code\":1000101,\"message\":\"nothing\"" },
};
/* clang-format on */

static void a_failure_is_told_in_the_dialect(void **state)
{
    struct buf out = { 0 };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(fails); i++) {
        const struct fail_case *f = &fails[i];
        struct err err;
        json_t *json;

        err_set(&err, f->code, "%s", f->text);
        buf_truncate(&out, 0);
        assert_int_equal(dialects[f->kind].put_err(&err, &english, &out), f->status);
        if (strncmp(buf_text(&out), f->says, strlen(f->says)) != 0)
            fail_msg("%zu: %s", i, buf_text(&out));
        json = json_loads(buf_text(&out), 0, NULL);
        assert_non_null(json);
        json_decref(json);
    }
    buf_free(&out);
}

static bool has_all(const json_t *json)
{
    return json_is_false(json_object_get(json, "result")) &&
           json_is_integer(json_object_get(json, "code")) &&
           json_is_string(json_object_get(json, "message")) &&
           json_is_null(json_object_get(json, "data")) &&
           json_is_string(json_object_get(json, "request_id"));
}

/* Refusals without a text for a dialect do not occur there: /v1 has no signatures and users, only
 * /v1 has Basic. */
static bool is_said(enum refusal why, enum dialect_kind kind)
{
    bool is_v1 = kind == DIALECT_V1;

    if (why == REFUSAL_BASIC)
        return is_v1;
    if (why == REFUSAL_FORM)
        return !is_v1 && kind != DIALECT_GATEWAY; /* ESB has forms */
    return !is_v1 || why < REFUSAL_SIGNATURE || why > REFUSAL_NO_USER;
}

/* With any detail, a refusal is valid JSON with all members. */
static void check_refusal(enum refusal why, enum dialect_kind kind, const struct answer_context *t)
{
    struct buf out = { 0 };
    json_t *json;

    assert_in_range(dialects[kind].put_refusal(why, "a\"b\\c{}\x01", t, &out), 200, 503);
    json = json_loads(buf_text(&out), 0, NULL);
    assert_non_null(json);
    if (kind == DIALECT_V1)
        assert_true(json_is_object(json_object_get(json, "error")));
    else if (kind == DIALECT_GATEWAY || why != REFUSAL_PATH)
        assert_true(has_all(json));
    json_decref(json);
    buf_free(&out);
}

static void every_refusal_is_whole_in_every_dialect(void **state)
{
    (void)state;
    for (int why = 0; why < REFUSALS; why++) {
        for (int kind = 0; kind < DIALECTS; kind++) {
            const struct refusal_answer s =
                refusal_answer((enum refusal)why, (enum dialect_kind)kind);

            assert_int_equal(s.text[LANG_EN] != NULL,
                             is_said((enum refusal)why, (enum dialect_kind)kind));
            assert_non_null(s.text[LANG_ZH]);
            if (!s.text[LANG_EN])
                continue;
            check_refusal((enum refusal)why, (enum dialect_kind)kind, &english);
            check_refusal((enum refusal)why, (enum dialect_kind)kind, &chinese);
        }
    }
}

static void answers_are_in_chinese_if_requested(void **state)
{
    struct buf out = { 0 };
    struct err err;

    (void)state;
    dialects[DIALECT_ESB].put_refusal(REFUSAL_NO_CODE, "", &chinese, &out);
    assert_non_null(
        strstr(buf_text(&out), "\"code\":1306000,\"message\":\"应用编码 [bk_app_code] 不能为空\""));
    buf_truncate(&out, 0);
    err_set(&err, ERR_INVALID, "%s: %s", "meta.name", MSG("required"));
    dialects[DIALECT_ESB].put_err(&err, &chinese, &out);
    assert_non_null(strstr(buf_text(&out), "\"message\":\"参数错误，meta.name：必填\""));
    buf_truncate(&out, 0);
    err_set(&err, ERR_MALFORMED, "byte %zu: %s", (size_t)3, MSG("invalid UTF-8"));
    dialects[DIALECT_GATEWAY].put_err(&err, &chinese, &out);
    assert_non_null(strstr(buf_text(&out), "JSON：第 3 字节：不是合法的 UTF-8\""));
    buf_truncate(&out, 0);
    err_set(&err, CODE_DENIED, "%s: the app may not use business %lld", "bk_biz_id", 7LL);
    dialects[DIALECT_JOB].put_err(&err, &chinese, &out);
    assert_non_null(strstr(buf_text(&out), "\"message\":\"bk_biz_id：应用无权使用业务 7\""));
    assert_non_null(strstr(buf_text(&out), "\"name\":\"bk_biz_id：应用无权使用业务 7\""));
    buf_truncate(&out, 0);
    err_set(&err, ERR_SYSTEM, "secret");
    dialects[DIALECT_JOB].put_err(&err, &chinese, &out);
    assert_non_null(
        strstr(buf_text(&out), "\"code\":1210001,\"message\":\"系统调用失败；服务端日志中有请求"));
    buf_free(&out);
}

static void an_unknown_path_is_answered_as_the_contract_has_it(void **state)
{
    static const char about[] = "method=\"POST\" path=\"/x\"";
    struct buf out = { 0 };

    (void)state;
    assert_int_equal(dialects[DIALECT_ESB].put_refusal(REFUSAL_PATH, about, &english, &out), 404);
    assert_string_equal(buf_text(&out), "{\"result\":false,\"data\":null,"
                                        "\"message\":\"The content does not exist\"}\n");
    buf_truncate(&out, 0);
    assert_int_equal(dialects[DIALECT_ESB].put_refusal(REFUSAL_PATH, about, &chinese, &out), 404);
    assert_string_equal(buf_text(&out),
                        "{\"result\":false,\"data\":null,\"message\":"
                        "\"请求的内容不存在 [method=\\\"POST\\\" path=\\\"/x\\\"]\"}\n");
    buf_truncate(&out, 0);
    assert_int_equal(dialects[DIALECT_GATEWAY].put_refusal(REFUSAL_PATH, about, &english, &out),
                     404);
    assert_string_equal(buf_text(&out),
                        "{\"result\":false,\"code\":1640401,\"code_name\":\"API_NOT_FOUND\","
                        "\"message\":\"API not found [method=\\\"POST\\\" path=\\\"/x\\\"]\","
                        "\"data\":null,\"request_id\":\"0123456789abcdef0123456789abcdef\"}\n");
    buf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_success_has_its_envelope),
        cmocka_unit_test(a_failure_is_told_in_the_dialect),
        cmocka_unit_test(every_refusal_is_whole_in_every_dialect),
        cmocka_unit_test(answers_are_in_chinese_if_requested),
        cmocka_unit_test(an_unknown_path_is_answered_as_the_contract_has_it),
    };

    return cmocka_run_group_tests_name("dialect", tests, NULL, NULL);
}
