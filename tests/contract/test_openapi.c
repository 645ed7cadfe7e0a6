/* SPDX-License-Identifier: MIT */
/* /openapi.json: it has every row of the table, and follows the rules of OpenAPI 3.1 as far as they
 * are checked here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "api/describe/openapi.h"
#include "api/pipeline/routes.h"
#include "base/mem/map.h"
#include "base/mem/mem.h"

static json_t *document;

static int setup(void **state)
{
    struct buf text = { 0 };
    json_error_t error;

    (void)state;
    openapi_write("1.2.3", &text);
    document = json_loadb(buf_data(&text), text.len, JSON_REJECT_DUPLICATES, &error);
    buf_free(&text);
    if (!document)
        fail_msg("byte %d: %s", error.position, error.text);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    json_decref(document);
    return 0;
}

static json_t *get(const json_t *o, const char *key, const char *where)
{
    json_t *value = json_object_get(o, key);

    if (!value)
        fail_msg("%s: no %s", where, key);
    return value;
}

static void every_row_is_in_it(void **state)
{
    json_t *paths = get(document, "paths", "it");
    struct buf path = { 0 };

    (void)state;
    for (const struct place *p = route_places; p->root; p++) {
        for (const struct route *r = routes; r->path; r++) {
            json_t *of_path;

            if (!p->is_usual || !(r->served & p->served))
                continue;
            buf_truncate(&path, 0);
            route_path_write(r, p, &path);
            of_path = get(paths, buf_text(&path), "paths");
            for (size_t i = 0; i < METHODS; i++) {
                if (r->methods & dialects[p->dialect].methods & 1U << i)
                    get(of_path, methods_known[i].lower, buf_text(&path));
            }
        }
    }
    buf_free(&path);
}

/* And nothing else: the server finds each of its paths, with that method. */
static void every_path_is_a_row(void **state)
{
    const char *path;
    json_t *of_path;

    (void)state;
    json_object_foreach(get(document, "paths", "it"), path, of_path)
    {
        char real[256];
        char *hole;

        snprintf(real, sizeof(real), "%s", path);
        hole = strstr(real, "{id}");
        if (hole)
            memmove(hole + 1, hole + 4, strlen(hole + 4) + 1), *hole = 'x';
        for (size_t i = 0; i < METHODS; i++) {
            struct route_found found;

            route_find(real, 1U << i, &found);
            if (found.route && !hole && strchr(found.route->path, '*'))
                found.route = NULL; /* a name that is also a segment of another path */
            if (!!found.route != !!json_object_get(of_path, methods_known[i].lower))
                fail_msg("%s %s", methods_known[i].lower, path);
        }
    }
}

/* ---- the rules */

static void check_text(const json_t *o, const char *key, const char *where)
{
    const char *text = json_string_value(get(o, key, where));

    if (!text || !*text)
        fail_msg("%s.%s: must be a text", where, key);
}

static void the_head_is_as_it_must_be(void **state)
{
    const json_t *info = get(document, "info", "it");

    (void)state;
    assert_string_equal(json_string_value(json_object_get(document, "openapi")), "3.1.0");
    check_text(info, "title", "info");
    assert_string_equal(json_string_value(json_object_get(info, "version")), "1.2.3");
}

/* "#/components/schemas/x": its target. */
static const json_t *follow(const char *ref)
{
    const json_t *at = document;
    char part[128];

    if (strncmp(ref, "#/", 2) != 0)
        return NULL;
    for (const char *p = ref + 2; p && at; p = strchr(p, '/') ? strchr(p, '/') + 1 : NULL) {
        snprintf(part, sizeof(part), "%.*s", (int)strcspn(p, "/"), p);
        at = json_object_get(at, part);
    }
    return at;
}

static void check_refs(const json_t *o)
{
    const char *key;
    json_t *value;
    size_t i;

    if (json_is_array(o)) {
        json_array_foreach(o, i, value) check_refs(value);
        return;
    }
    json_object_foreach((json_t *)o, key, value)
    {
        if (strcmp(key, "$ref") != 0)
            check_refs(value);
        else if (!follow(json_string_value(value)))
            fail_msg("%s points nowhere", json_string_value(value));
    }
}

static void every_reference_leads_somewhere(void **state)
{
    (void)state;
    check_refs(document);
}

static void check_parameters(const json_t *operation, const char *path)
{
    bool has_id = false;
    json_t *p;
    size_t i;

    json_array_foreach(get(operation, "parameters", path), i, p)
    {
        const json_t *ref = json_object_get(p, "$ref");
        const json_t *real = ref ? follow(json_string_value(ref)) : p;
        const char *in = json_string_value(get(real, "in", path));

        check_text(real, "name", path);
        if (!json_object_get(real, "schema") == !json_object_get(real, "content"))
            fail_msg("%s: a parameter has a schema or a content", path);
        if (!strcmp(in, "path")) {
            has_id = true;
            assert_true(json_is_true(json_object_get(real, "required")));
        } else if (strcmp(in, "query") != 0 && strcmp(in, "header") != 0) {
            fail_msg("%s: a parameter in %s", path, in);
        }
    }
    assert_int_equal(has_id, strstr(path, "{id}") != NULL);
}

static void check_responses(const json_t *operation, const char *path)
{
    const json_t *responses = get(operation, "responses", path);
    const char *status;
    json_t *r;

    get(responses, "200", path);
    json_object_foreach((json_t *)responses, status, r)
    {
        const json_t *ref = json_object_get(r, "$ref");

        check_text(ref ? follow(json_string_value(ref)) : r, "description", path);
    }
}

static void check_security(const json_t *operation, const char *path)
{
    const json_t *schemes = follow("#/components/securitySchemes");
    const char *name;
    json_t *s, *scopes;
    size_t i;

    json_array_foreach(get(operation, "security", path), i, s)
    {
        json_object_foreach(s, name, scopes)
        {
            get(schemes, name, path);
            assert_true(json_is_array(scopes));
        }
    }
    assert_true(i > 0);
}

static void every_operation_is_as_it_must_be(void **state)
{
    struct map ids = { 0 };
    const char *path, *method;
    json_t *of_path, *operation;

    (void)state;
    json_object_foreach(get(document, "paths", "it"), path, of_path)
    {
        assert_int_equal(path[0], '/');
        json_object_foreach(of_path, method, operation)
        {
            const char *id = json_string_value(get(operation, "operationId", path));

            if (map_put_str(&ids, id, operation))
                fail_msg("%s: another has the id %s", path, id);
            check_text(operation, "summary", path);
            check_parameters(operation, path);
            check_responses(operation, path);
            check_security(operation, path);
        }
    }
    map_free(&ids);
}

static void check_type(const json_t *schema, const char *where)
{
    static const char *const types[] = { "string", "integer", "number", "boolean",
                                         "object", "array",   "null" };
    const json_t *type = json_object_get(schema, "type");
    size_t i = 0;

    if (!type || json_is_array(type))
        return;
    while (i < ARRAY_LEN(types) && strcmp(types[i], json_string_value(type)) != 0)
        i++;
    if (i == ARRAY_LEN(types))
        fail_msg("%s: type %s", where, json_string_value(type));
    if (!strcmp(types[i], "array"))
        get(schema, "items", where);
}

static void check_range(const json_t *schema, const char *where)
{
    const json_t *min = json_object_get(schema, "minimum"),
                 *max = json_object_get(schema, "maximum"),
                 *usual = json_object_get(schema, "default");

    if (min && max && json_integer_value(min) > json_integer_value(max))
        fail_msg("%s: %lld to %lld", where, (long long)json_integer_value(min),
                 (long long)json_integer_value(max));
    if (json_is_integer(usual) && ((min && json_integer_value(usual) < json_integer_value(min)) ||
                                   (max && json_integer_value(usual) > json_integer_value(max))))
        fail_msg("%s: its default is out of range", where);
}

static void every_schema_is_as_it_must_be(void **state)
{
    const char *name, *field;
    json_t *schema, *property, *word;
    size_t i;

    (void)state;
    json_object_foreach((json_t *)follow("#/components/schemas"), name, schema)
    {
        json_t *properties = get(schema, "properties", name);

        assert_int_equal(strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                      "0123456789._-"),
                         strlen(name));
        json_object_foreach(properties, field, property)
        {
            check_type(property, field);
            check_range(property, field);
        }
        json_array_foreach(json_object_get(schema, "required"), i, word)
            get(properties, json_string_value(word), name);
    }
}

/* Example requests have all required fields. */
static void examples_have_what_must_be_there(void **state)
{
    const char *path, *method;
    json_t *of_path, *operation;

    (void)state;
    json_object_foreach(get(document, "paths", "it"), path, of_path)
    {
        json_object_foreach(of_path, method, operation)
        {
            json_t *body = json_object_get(operation, "requestBody"), *media;

            if (!body)
                continue;
            media = get(get(body, "content", path), "application/json", path);
            assert_true(json_is_object(get(media, "example", path)));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_is_in_it),
        cmocka_unit_test(every_path_is_a_row),
        cmocka_unit_test(the_head_is_as_it_must_be),
        cmocka_unit_test(every_reference_leads_somewhere),
        cmocka_unit_test(every_operation_is_as_it_must_be),
        cmocka_unit_test(every_schema_is_as_it_must_be),
        cmocka_unit_test(examples_have_what_must_be_there),
    };

    return cmocka_run_group_tests_name("openapi", tests, setup, teardown);
}
