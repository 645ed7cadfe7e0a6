/* SPDX-License-Identifier: MIT */
#include "cli/csv.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
/* cmocka.h needs the headers above. */
#include <cmocka.h>

#include "base/mem/buf.h"
#include "base/mem/mem.h"

/* All rows, with "|" between cells and "\n" behind each row; or the error. */
static const char *read_all(const char *text, size_t n, struct buf *to)
{
    struct arena a = { 0 };
    struct csv_row row;
    struct err err;
    struct csv csv;
    int more;

    buf_truncate(to, 0);
    csv_begin(&csv, text, n);
    while ((more = csv_next(&csv, &a, &row, &err)) > 0) {
        for (size_t i = 0; i < row.n; i++)
            buf_printf(to, "%s%s", i ? "|" : "", row.cells[i].text);
        buf_addc(to, '\n');
    }
    if (more < 0)
        buf_puts(to, err.text);
    arena_free(&a);
    return buf_text(to);
}

static void what_people_write_is_read(void **state)
{
    static const struct {
        const char *text, *rows;
    } cases[] = {
        { "", "" },
        { "\n\r\n\n", "" },
        { "a", "a\n" },
        { "a,b\n1,2\n", "a|b\n1|2\n" },
        { "a,b\r\n1,2\r\n", "a|b\n1|2\n" },
        { "a,b\r1,2", "a|b\n1|2\n" },
        { "\xef\xbb\xbf"
          "a,b\n1,2",
          "a|b\n1|2\n" },
        { "a;b\n1,5;2\n", "a|b\n1,5|2\n" },
        { "a\tb\n1\t2\n", "a|b\n1|2\n" },
        { "\"a;x\",b\n", "a;x|b\n" },
        { "a,b\n\n\n1,2\n", "a|b\n1|2\n" },
        { "a,,\n,,b\n", "a||\n||b\n" },
        { "a, b ,c\n", "a|b|c\n" },
        { "\"a\",\"b c\",\" d \"\n", "a|b c| d \n" },
        { "\"a \"\"b\"\"\",c\n", "a \"b\"|c\n" },
        { "\"two\nlines\",x\n3,4\n", "two\nlines|x\n3|4\n" },
        { "\"\",\"\"\n", "|\n" },
        { "业务,主机\n一,二\n", "业务|主机\n一|二\n" },
        { "\"last\"", "last\n" },
    };
    struct buf b = { 0 };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_string_equal(read_all(cases[i].text, strlen(cases[i].text), &b), cases[i].rows);
    buf_free(&b);
}

static void what_is_wrong_is_told_by_line_and_column(void **state)
{
    static const struct {
        const char *text;
        size_t n;
        const char *error;
    } cases[] = {
        { "a\n\"b", 0, "a\n2:1: a quote that is not closed" },
        { "a,\"b\nc\nd", 0, "1:3: a quote that is not closed" },
        { "a\n1,\"b\"c\n", 0,
          "a\n2:6: text behind a closing quote; a quote inside is written twice" },
        { "a\nx\"y\"\n", 0, "a\n2:2: a quote inside of a field that does not begin with one" },
        { "a\n\"x\ny\"z", 0,
          "a\n3:3: text behind a closing quote; a quote inside is written twice" },
        { "a,b\0c\n", 6, "1:3: a byte of zero" },
        { "a\nb,\xff\xfe\n", 0, "a\n2:3: not UTF-8; save the file as UTF-8" },
    };
    struct buf b = { 0 };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_string_equal(
            read_all(cases[i].text, cases[i].n ? cases[i].n : strlen(cases[i].text), &b),
            cases[i].error);
    buf_free(&b);
}

static void a_cell_knows_where_it_stands(void **state)
{
    static const char text[] = "a,b\n\"x\ny\",\"z\"\n1,2\n";
    struct arena a = { 0 };
    struct csv_row row;
    struct err err;
    struct csv csv;

    (void)state;
    csv_begin(&csv, text, strlen(text));
    assert_int_equal(csv_next(&csv, &a, &row, &err), 1);
    assert_int_equal(csv_next(&csv, &a, &row, &err), 1);
    assert_int_equal(row.cells[0].line, 2);
    assert_int_equal(row.cells[0].column, 1);
    assert_int_equal(row.cells[1].line, 3);
    assert_int_equal(row.cells[1].column, 4);
    assert_int_equal(csv_next(&csv, &a, &row, &err), 1);
    assert_int_equal(row.cells[1].line, 4);
    assert_int_equal(row.cells[1].column, 3);
    assert_int_equal(csv_next(&csv, &a, &row, &err), 0);
    arena_free(&a);
}

static void a_row_has_an_end(void **state)
{
    struct buf text = { 0 }, b = { 0 };

    (void)state;
    for (size_t i = 0; i < CSV_CELLS_MAX; i++)
        buf_puts(&text, i ? ",x" : "x");
    assert_non_null(strchr(read_all(buf_data(&text), text.len, &b), '\n'));
    buf_puts(&text, ",x");
    assert_string_equal(read_all(buf_data(&text), text.len, &b), "1:129: more than 64 fields");
    buf_free(&text);
    buf_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_people_write_is_read),
        cmocka_unit_test(what_is_wrong_is_told_by_line_and_column),
        cmocka_unit_test(a_cell_knows_where_it_stands),
        cmocka_unit_test(a_row_has_an_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
