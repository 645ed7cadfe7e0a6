/* SPDX-License-Identifier: MIT */
/* openapi.c - see openapi.h. */
#include "api/describe/openapi.h"

#include <string.h>

#include "api/describe/example.h"
#include "api/describe/schema.h"
#include "api/pipeline/routes.h"
#include "base/mem/map.h"
#include "base/mem/mem.h"
#include "model/code.h"

#define TYPE_JSON "application/json"

struct book {
    struct schemas schemas;
    struct buf *out;
};

static void openapi_put_text(struct buf *out, const char *text)
{
    buf_quote(out, text, strlen(text));
}

/* ---- places */

static const struct {
    unsigned served;
    const char *tag, *about;
} tags[] = {
    { SERVED_GSE, "ESB gse", "BlueKing's ESB, system gse." },
    { SERVED_JOB, "ESB job", "BlueKing's ESB, systems job and jobv3." },
    { SERVED_PROC, "gateway proc", "The API gateway of GSE: processes." },
    { SERVED_CLUSTER, "gateway cluster", "The API gateway of GSE: agents." },
    { SERVED_TASK, "gateway task", "The API gateway of GSE: tasks." },
    { SERVED_JOB_SYSTEM, "gateway job", "The API gateway of Job." },
    { SERVED_BACKEND, "back end", "What a real ESB asks of GSE." },
    { SERVED_V1, "v1", "Holdfast's own." },
};

static const char *tag_of(const struct place *p)
{
    for (size_t i = 0; i < ARRAY_LEN(tags); i++) {
        if (tags[i].served & p->served)
            return tags[i].tag;
    }
    return "";
}

/* ---- requests */

static void openapi_put_query(struct book *b, const struct field *f)
{
    bool is_plain = schema_is_plain(f);

    buf_puts(b->out, ",{\"name\":");
    openapi_put_text(b->out, f->name);
    buf_printf(b->out, ",\"in\":\"query\",\"required\":%s,",
               f->flags & FIELD_REQUIRED ? "true" : "false");
    if (f->type == FIELD_LIST && is_plain)
        buf_puts(b->out, "\"style\":\"form\",\"explode\":false,");
    buf_puts(b->out, is_plain ? "\"schema\":" : "\"content\":{\"" TYPE_JSON "\":{\"schema\":");
    schemas_field(&b->schemas, f, b->out);
    buf_puts(b->out, is_plain ? "}" : "}}}");
}

static void put_parameters(struct book *b, const struct route *r, const struct place *p,
                           unsigned method)
{
    bool has_query = method == METHOD_GET && p->dialect != DIALECT_BACKEND && r->in;

    buf_puts(b->out, ",\"parameters\":[{\"$ref\":\"#/components/parameters/language\"}");
    if (strchr(r->path, '*'))
        buf_puts(b->out, ",{\"$ref\":\"#/components/parameters/id\"}");
    if (p->dialect == DIALECT_V1 && method != METHOD_GET)
        buf_puts(b->out, ",{\"$ref\":\"#/components/parameters/idempotency_key\"}");
    for (const struct field *f = r->in ? r->in->fields : NULL; has_query && f->name; f++)
        openapi_put_query(b, f);
    buf_addc(b->out, ']');
}

/* ESB's clients have their credentials in the body. */
static void put_body(struct book *b, const struct route *r, const struct place *p, unsigned method)
{
    bool has_credentials = p->dialect == DIALECT_ESB || p->dialect == DIALECT_JOB;

    if (!r->in || (method == METHOD_GET && p->dialect != DIALECT_BACKEND))
        return;
    buf_printf(b->out, ",\"requestBody\":{\"required\":true,\"x-max-bytes\":%zu,\"content\":{",
               r->body_max);
    buf_puts(b->out, "\"" TYPE_JSON "\":{\"schema\":");
    if (has_credentials)
        buf_puts(b->out, "{\"allOf\":[{\"$ref\":\"#/components/schemas/credentials\"},");
    schemas_ref(&b->schemas, r->in, b->out);
    if (has_credentials)
        buf_puts(b->out, "]}");
    buf_puts(b->out, ",\"example\":");
    example_write(r->in, b->out);
    buf_puts(b->out, "}}}");
}

/* ---- answers */

static const char *const envelopes[DIALECTS] = {
    [DIALECT_ESB] = "answer_esb",
    [DIALECT_BACKEND] = "answer_esb",
    [DIALECT_GATEWAY] = "answer_gateway",
    [DIALECT_JOB] = "answer_job",
};

static void put_data(struct book *b, const struct route *r)
{
    static const char *const around[] = {
        [GIVES_ONE] = "",
        [GIVES_MAP] = "{\"type\":\"object\",\"additionalProperties\":",
        [GIVES_LIST] = "{\"type\":\"array\",\"items\":",
    };

    if (r->gives == GIVES_TEXT) {
        buf_puts(b->out, "{\"type\":\"string\"}");
        return;
    }
    if (!r->out) {
        buf_puts(b->out, "{\"type\":\"object\",\"additionalProperties\":true}");
        return;
    }
    buf_puts(b->out, around[r->gives]);
    schemas_ref(&b->schemas, r->out, b->out);
    buf_puts(b->out, r->gives == GIVES_ONE ? "" : "}");
}

static void openapi_put_wrapped(struct book *b, const struct route *r, const char *envelope)
{
    buf_printf(b->out, "{\"allOf\":[{\"$ref\":\"#/components/schemas/%s\"},", envelope);
    buf_puts(b->out, "{\"type\":\"object\",\"properties\":{\"data\":{\"anyOf\":[");
    put_data(b, r);
    buf_puts(b->out, ",{\"type\":\"null\"}]}}}]}");
}

static void put_responses(struct book *b, const struct route *r, const struct place *p)
{
    const char *envelope = envelopes[p->dialect];

    buf_printf(b->out, ",\"responses\":{\"200\":{\"description\":\"%s\",\"content\":{\"%s\":",
               envelope ? "Done, or refused: see `result` and `code`." : "Done.",
               r->is_stream             ? "text/event-stream"
               : r->gives == GIVES_TEXT ? "text/plain"
                                        : TYPE_JSON);
    buf_puts(b->out, "{\"schema\":");
    if (envelope)
        openapi_put_wrapped(b, r, envelope);
    else
        put_data(b, r);
    buf_puts(b->out, "}}}");
    if (p->dialect == DIALECT_V1)
        buf_puts(b->out, ",\"4XX\":{\"$ref\":\"#/components/responses/refused\"},"
                         "\"5XX\":{\"$ref\":\"#/components/responses/failed\"}");
    if (p->dialect == DIALECT_GATEWAY)
        buf_puts(b->out, ",\"4XX\":{\"$ref\":\"#/components/responses/gateway_refused\"}");
    buf_addc(b->out, '}');
}

/* ---- an operation */

static void put_id(const char *method, const char *path, struct buf *out)
{
    buf_printf(out, "\"operationId\":\"%s", method);
    for (const char *p = path; *p; p++) {
        bool is_word = (*p >= 'a' && *p <= 'z') || (*p >= '0' && *p <= '9') || *p == '_';

        if (is_word)
            buf_addc(out, *p);
        else if (p[1] && *p != '{' && *p != '}')
            buf_addc(out, '_');
    }
    buf_addc(out, '"');
}

static void put_operation(struct book *b, const struct route *r, const struct place *p,
                          const char *path, size_t method)
{
    buf_printf(b->out, "\"%s\":{", methods_known[method].lower);
    put_id(methods_known[method].lower, path, b->out);
    buf_puts(b->out, ",\"tags\":[");
    openapi_put_text(b->out, tag_of(p));
    buf_puts(b->out, "],\"summary\":");
    openapi_put_text(b->out, r->doc);
    buf_printf(b->out, ",\"x-right\":\"%s\",\"security\":[{\"app\":[]}%s]",
               app_right_name(r->right),
               p->dialect == DIALECT_V1        ? ",{\"basic\":[]}"
               : p->dialect == DIALECT_GATEWAY ? ""
                                               : ",{}");
    put_parameters(b, r, p, 1U << method);
    put_body(b, r, p, 1U << method);
    put_responses(b, r, p);
    buf_addc(b->out, '}');
}

/* Rows with the same path are operations of one path item. */
static void put_path(struct book *b, const struct route *first, const struct place *p,
                     const char *path)
{
    const char *between = "";

    openapi_put_text(b->out, path);
    buf_puts(b->out, ":{");
    for (const struct route *r = first; r->path; r++) {
        if (!(r->served & p->served) || strcmp(r->path, first->path) != 0)
            continue;
        for (size_t m = 0; m < METHODS; m++) {
            if (!(r->methods & dialects[p->dialect].methods & 1U << m))
                continue;
            buf_puts(b->out, between);
            put_operation(b, r, p, path, m);
            between = ",";
        }
    }
    buf_addc(b->out, '}');
}

static bool is_first(const struct route *r, const struct place *p)
{
    for (const struct route *before = routes; before < r; before++) {
        if ((before->served & p->served) && !strcmp(before->path, r->path))
            return false;
    }
    return true;
}

static void put_paths(struct book *b)
{
    const char *between = "";
    struct buf path = { 0 };

    for (const struct place *p = route_places; p->root; p++) {
        for (const struct route *r = routes; p->is_usual && r->path; r++) {
            if (!(r->served & p->served) || !is_first(r, p))
                continue;
            buf_truncate(&path, 0);
            route_path_write(r, p, &path);
            buf_puts(b->out, between);
            put_path(b, r, p, buf_text(&path));
            between = ",";
        }
    }
    buf_free(&path);
}

/* ---- shared parts */

static const char security[] =
    "\"securitySchemes\":{"
    "\"app\":{\"type\":\"apiKey\",\"in\":\"header\",\"name\":\"X-Bkapi-Authorization\","
    "\"description\":\"A JSON object: bk_app_code, bk_app_secret, and bk_token or bk_username.\"},"
    "\"basic\":{\"type\":\"http\",\"scheme\":\"basic\","
    "\"description\":\"The app's code and its secret.\"}}";

static const char parameters[] =
    "\"parameters\":{"
    "\"language\":{\"name\":\"Blueking-Language\",\"in\":\"header\",\"required\":false,"
    "\"schema\":{\"type\":\"string\",\"examples\":[\"en\",\"zh-hans\"]},"
    "\"description\":\"The language of messages for people.\"},"
    "\"id\":{\"name\":\"id\",\"in\":\"path\",\"required\":true,\"schema\":{\"type\":\"string\"},"
    "\"description\":\"Which one.\"},"
    "\"idempotency_key\":{\"name\":\"Idempotency-Key\",\"in\":\"header\",\"required\":false,"
    "\"schema\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":255},"
    "\"description\":\"The same request with the same key is done once and answered alike for 24 "
    "hours; another request with it is refused with 409.\"}}";

#define ENVELOPE                                                                                   \
    "{\"type\":\"object\",\"required\":[\"result\",\"code\",\"message\",\"data\"],"                \
    "\"properties\":{\"result\":{\"type\":\"boolean\"},\"code\":{\"type\":\"integer\","            \
    "\"description\":\"0, or what went wrong: 1000000 and a code of x-codes, or one of ESB's, "    \
    "the "                                                                                         \
    "gateway's or Job's\"},\"message\":{\"type\":\"string\"},\"data\":{\"description\":\"null "    \
    "where result is false\"},\"request_id\":{\"type\":\"string\"}"

static const char shared_schemas[] =
    "\"credentials\":{\"type\":\"object\",\"description\":\"In the body, where the header has "
    "none.\",\"properties\":{\"bk_app_code\":{\"type\":\"string\",\"maxLength\":32},"
    "\"bk_app_secret\":{\"type\":\"string\",\"maxLength\":128,\"writeOnly\":true},"
    "\"bk_token\":{\"type\":\"string\"},\"bk_username\":{\"type\":\"string\"}}},"
    "\"answer_esb\":" ENVELOPE "}},"
    "\"answer_gateway\":" ENVELOPE ",\"code_name\":{\"type\":\"string\"}}},"
    "\"answer_job\":" ENVELOPE
    ",\"job_request_id\":{\"type\":\"string\"},\"permission\":{\"type\":[\"object\",\"null\"]}}},"
    "\"error\":{\"type\":\"object\",\"required\":[\"error\"],\"properties\":{\"error\":{\"type\":"
    "\"object\",\"required\":[\"code\",\"number\",\"message\",\"request_id\"],\"properties\":{"
    "\"code\":{\"type\":\"string\",\"description\":\"a name of x-codes\"},"
    "\"number\":{\"type\":\"integer\"},\"message\":{\"type\":\"string\"},"
    "\"request_id\":{\"type\":\"string\"}}}}},";

static void put_response(struct buf *out, const char *name, const char *about, const char *schema)
{
    buf_printf(out,
               "\"%s\":{\"description\":\"%s\",\"content\":{\"" TYPE_JSON
               "\":{\"schema\":{\"$ref\":\"#/components/schemas/%s\"}}}}",
               name, about, schema);
}

static void put_components(struct book *b)
{
    buf_printf(b->out, "\"components\":{%s,%s,\"responses\":{", security, parameters);
    put_response(b->out, "refused", "Refused; nothing was done.", "error");
    buf_addc(b->out, ',');
    put_response(b->out, "failed", "Our fault, or try again later.", "error");
    buf_addc(b->out, ',');
    put_response(b->out, "gateway_refused", "Refused; nothing was done.", "answer_gateway");
    buf_printf(b->out, "},\"schemas\":{%s", shared_schemas);
    schemas_write(&b->schemas, b->out);
    buf_puts(b->out, "}}");
}

static void put_codes(struct buf *out)
{
    buf_puts(out, "\"x-codes\":[");
    for (const struct code_info *c = code_table; c->name; c++) {
        buf_printf(out, "%s{\"number\":%d,\"name\":\"%s\",\"text\":", c == code_table ? "" : ",",
                   c->number, c->name);
        openapi_put_text(out, c->text[LANG_EN]);
        buf_addc(out, '}');
    }
    buf_addc(out, ']');
}

static void put_tags(struct buf *out)
{
    buf_puts(out, "\"tags\":[");
    for (size_t i = 0; i < ARRAY_LEN(tags); i++)
        buf_printf(out, "%s{\"name\":\"%s\",\"description\":\"%s\"}", i ? "," : "", tags[i].tag,
                   tags[i].about);
    buf_addc(out, ']');
}

void openapi_write(const char *version, struct buf *out)
{
    struct book b = { .out = out };

    for (const struct route *r = routes; r->path; r++) {
        schemas_add(&b.schemas, r->in);
        schemas_add(&b.schemas, r->out);
    }
    buf_printf(
        out,
        "{\"openapi\":\"3.1.0\",\"info\":{\"title\":\"Holdfast\",\"version\":\"%s\","
        "\"description\":\"Processes on many hosts. In requests null is the same as absent; "
        "fields that are not known are refused by /v1 and passed over elsewhere. Limits of "
        "texts are bytes of UTF-8.\",\"license\":{\"name\":\"MIT\",\"identifier\":\"MIT\"}},",
        version);
    buf_puts(out, "\"servers\":[{\"url\":\"/\"}],");
    put_tags(out);
    buf_puts(out, ",\"paths\":{");
    put_paths(&b);
    buf_puts(out, "},");
    put_components(&b);
    buf_addc(out, ',');
    put_codes(out);
    buf_puts(out, "}\n");
}
