/* SPDX-License-Identifier: MIT */
#include "cli/import.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
/* cmocka.h needs the headers above. */
#include <cmocka.h>

#include "base/mem/mem.h"
#include "model/translate.h"

struct world {
    char dir[64], path[128];
    struct arena arena;
    struct import_file file;
    struct err err;
};

static int setup(void **state)
{
    struct world *w = xalloc(sizeof(*w));

    snprintf(w->dir, sizeof(w->dir), "/tmp/holdfast-import-XXXXXX");
    assert_non_null(mkdtemp(w->dir));
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;

    unlink(w->path);
    rmdir(w->dir);
    arena_free(&w->arena);
    free(w);
    return 0;
}

static int read_text(struct world *w, const char *name, const char *text, enum lang lang)
{
    FILE *f;

    unlink(w->path);
    snprintf(w->path, sizeof(w->path), "%s/%s", w->dir, name);
    f = fopen(w->path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    return import_read(w->path, lang, &w->arena, &w->file, &w->err);
}

static const struct host_set_ask *host(const struct world *w, size_t i)
{
    assert_true(i < w->file.ask.hosts.n);
    return &((const struct host_set_ask *)w->file.ask.hosts.items)[i];
}

static void a_table_becomes_hosts(void **state)
{
    struct world *w = *state;

    assert_int_equal(read_text(w, "hosts.csv",
                               "\xef\xbb\xbf"
                               "ip,bk_cloud_id,bk_biz_id,host_id,note\r\n"
                               "10.0.0.1,0,2,17,\"rack 4, left\"\r\n"
                               "\r\n"
                               ",,,,\r\n"
                               "10.0.0.2,3,,,\r\n",
                               LANG_EN),
                     0);
    assert_int_equal(w->file.ask.hosts.n, 2);
    assert_string_equal(host(w, 0)->ip, "10.0.0.1");
    assert_int_equal(host(w, 0)->biz_id, 2);
    assert_int_equal(host(w, 0)->has_biz_id, PRESENCE_GIVEN);
    assert_int_equal(host(w, 0)->host_id, 17);
    assert_string_equal(host(w, 0)->note, "rack 4, left");
    assert_int_equal(host(w, 1)->cloud_id, 3);
    assert_int_equal(host(w, 1)->has_biz_id, PRESENCE_ABSENT); /* an empty cell counts as absent */
    assert_int_equal(host(w, 1)->has_note, PRESENCE_ABSENT);
    assert_int_equal(w->file.lines[0], 2);
    assert_int_equal(w->file.lines[1], 5);
}

static void json_becomes_hosts(void **state)
{
    static const char *const texts[] = {
        "[{\"ip\":\"10.0.0.1\",\"biz_id\":2}]",
        " {\"hosts\":[{\"bk_host_innerip\":\"10.0.0.1\",\"bk_biz_id\":2}]}",
    };
    struct world *w = *state;

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        assert_int_equal(read_text(w, "hosts.json", texts[i], LANG_EN), 0);
        assert_int_equal(w->file.ask.hosts.n, 1);
        assert_string_equal(host(w, 0)->ip, "10.0.0.1");
        assert_int_equal(host(w, 0)->biz_id, 2);
        assert_null(w->file.lines);
    }
}

static void what_is_wrong_is_told_by_its_place(void **state)
{
    static const struct {
        const char *name, *text, *error;
        enum lang lang;
    } cases[] = {
        { "a.csv", "", "a.csv: contains no hosts", LANG_EN },
        { "a.csv", "ip,biz_id\n", "a.csv: contains no hosts", LANG_EN },
        { "a.csv", "ip,business_name\n", "a.csv:1:4: unknown field business_name; ", LANG_EN },
        { "a.csv", "ip,business_name\n", "a.csv:1:4：没有字段 business_name：", LANG_ZH },
        { "a.csv", "biz_id,bk_biz_id\n", "a.csv:1:8: field biz_id is given twice", LANG_EN },
        { "a.csv", "ip,biz_id\n10.0.0.1,two\n", "a.csv:2:10: biz_id: ", LANG_EN },
        { "a.csv", "ip,biz_id\n10.0.0.1,2\n10.0.0.2,-1\n", "a.csv:3:10: biz_id: ", LANG_EN },
        { "a.csv", "ip\n10.0.0.1,2\n", "a.csv:2:10: more fields than ", LANG_EN },
        { "a.csv", "ip\n\"10.0.0.1\n", "a.csv:2:1: a quote that is not closed", LANG_EN },
        { "a.csv", "ip\n\"10.0.0.1\n", "a.csv:2:1：引号没有闭合", LANG_ZH },
        { "a.csv", "ip,biz_id\n10.0.0.1,two\n", "a.csv:2:10：biz_id：必须是", LANG_ZH },
        { "a.json", "[]", "a.json：hosts：必须是", LANG_ZH },
        { "a.json", "[{\"ip\":\"10.0.0.1\",\"biz\":2}]", "a.json: hosts[0].biz", LANG_EN },
        { "a.json", "[{\"ip\":]", "a.json: byte ", LANG_EN },
        { "a.json", "[]", "a.json: hosts: ", LANG_EN },
        { "a.json", "", "a.json: ", LANG_EN },
    };
    struct world *w = *state;
    const char *text;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        assert_int_equal(read_text(w, cases[i].name, cases[i].text, cases[i].lang), -1);
        text = translate(err_msg(&w->err), cases[i].lang, &w->arena);
        if (!strstr(text, cases[i].error))
            fail_msg("%zu: %s", i, text);
    }
    assert_int_equal(import_read("/nowhere/hosts.csv", LANG_EN, &w->arena, &w->file, &w->err), -1);
    assert_non_null(strstr(w->err.text, "/nowhere/hosts.csv"));
}

static void all_lines_that_are_wrong_are_told(void **state)
{
    static const char *const wants[] = { ":2:10: biz_id: ", ":4:10: biz_id: ", ":5:1: a quote" };
    struct world *w = *state;

    assert_int_equal(read_text(w, "a.csv",
                               "ip,biz_id\n10.0.0.1,two\n10.0.0.2,2\n10.0.0.3,-1\n\"10.0.0.4\n",
                               LANG_EN),
                     -1);
    assert_int_equal(w->file.n_wrong, 3);
    for (size_t i = 0; i < ARRAY_LEN(wants); i++)
        assert_non_null(strstr(w->file.wrong[i], wants[i]));
    assert_string_equal(w->err.text, w->file.wrong[2]);
}

static void there_is_a_limit(void **state)
{
    struct world *w = *state;
    struct buf text = { 0 };

    buf_puts(&text, "ip\n");
    for (int i = 0; i <= IMPORT_MAX; i++)
        buf_printf(&text, "10.0.%d.%d\n", i / 256, i % 256);
    assert_int_equal(read_text(w, "a.csv", buf_text(&text), LANG_EN), -1);
    assert_non_null(strstr(w->err.text, "a.csv:10002:1: more than 10000 hosts"));
    buf_free(&text);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_table_becomes_hosts),
        TEST(json_becomes_hosts),
        TEST(what_is_wrong_is_told_by_its_place),
        TEST(all_lines_that_are_wrong_are_told),
        TEST(there_is_a_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
