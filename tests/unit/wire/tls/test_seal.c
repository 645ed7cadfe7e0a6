/* SPDX-License-Identifier: MIT */
#include "wire/tls/seal.h"

#include <errno.h>

#include "base/mem/mem.h"
#include "base/os/sys.h"
#include "tests/lib/folder.h"

struct world {
    struct folder folder;
    char path[64];
    struct seal *seal;
    struct arena arena;
    struct err err;
};

static int setup(void **state)
{
    struct world *w = xalloc(sizeof(*w));

    folder_init(&w->folder);
    snprintf(w->path, sizeof(w->path), "%s/seal.key", w->folder.path);
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;

    sys_fault("any", 0, 0);
    seal_free(w->seal);
    arena_free(&w->arena);
    folder_done(&w->folder);
    free(w);
    return 0;
}

static void open_seal(struct world *w)
{
    seal_free(w->seal);
    w->seal = NULL;
    if (seal_open(w->folder.path, &w->seal, &w->err))
        fail_msg("%s", w->err.text);
}

static const char *read_text(struct world *w, const char *about, const char *sealed)
{
    char *text;

    return seal_read(w->seal, about, sealed, &w->arena, &text, &w->err) ? NULL : text;
}

static void a_sealed_text_is_opened_with_the_key(void **state)
{
    struct world *w = *state;
    const char *one, *two;

    open_seal(w);
    assert_int_equal(folder_mode(w->path), 0600);
    one = seal_text(w->seal, "demo", "the-secret", &w->arena);
    two = seal_text(w->seal, "demo", "the-secret", &w->arena);
    assert_string_not_equal(one, two);
    assert_null(strstr(one, "secret"));
    open_seal(w); /* as after a restart */
    assert_string_equal(read_text(w, "demo", one), "the-secret");
    assert_string_equal(read_text(w, "demo", two), "the-secret");
    one = seal_text(w->seal, "demo", "", &w->arena);
    assert_string_equal(read_text(w, "demo", one), "");
}

static void another_key_or_purpose_does_not_open_it(void **state)
{
    struct world *w = *state;
    const char *sealed;

    open_seal(w);
    sealed = seal_text(w->seal, "demo", "the-secret", &w->arena);
    assert_null(read_text(w, "other", sealed)); /* another app cannot open it */
    assert_string_equal(w->err.text,
                        "sealed with another key, or for another; was seal.key replaced?");
    unlink(w->path);
    open_seal(w);
    assert_null(read_text(w, "demo", sealed)); /* another key cannot open it */
}

static void a_changed_text_is_not_read(void **state)
{
    struct world *w = *state;
    char *sealed;

    open_seal(w);
    sealed = arena_strdup(&w->arena, seal_text(w->seal, "demo", "the-secret", &w->arena));
    for (size_t i = 0; sealed[i]; i++) {
        char was = sealed[i];

        sealed[i] = was == 'A' ? 'B' : 'A';
        assert_null(read_text(w, "demo", sealed));
        sealed[i] = was;
    }
    sealed[strlen(sealed) - 1] = '\0';
    assert_null(read_text(w, "demo", sealed));
    assert_null(read_text(w, "demo", "v1:"));
    assert_null(read_text(w, "demo", "v1:AAAA"));
    assert_null(read_text(w, "demo", ""));
    assert_null(read_text(w, "demo", "v2:AAAA"));
}

static void a_key_that_is_none_is_an_error_and_stays(void **state)
{
    static const char *const cases[] = { "", "key", "AAAA\n" };
    struct world *w = *state;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char *left;

        folder_put(w->path, 0600, cases[i], strlen(cases[i]));
        assert_int_equal(seal_open(w->folder.path, &w->seal, &w->err), -1);
        assert_non_null(strstr(w->err.text, "seal.key: not a key of ours"));
        left = folder_text(w->path);
        assert_string_equal(left, cases[i]);
        free(left);
    }
    folder_put(w->path, 0644, "AAAA", 4); /* readable by others */
    assert_int_equal(seal_open(w->folder.path, &w->seal, &w->err), -1);
    assert_int_equal(w->err.code, ERR_DENIED);
}

static void a_key_that_can_not_be_written_is_an_error(void **state)
{
    struct world *w = *state;

    sys_fault("write", 1, ENOSPC);
    assert_int_equal(seal_open(w->folder.path, &w->seal, &w->err), -1);
    assert_int_equal(w->err.sys, ENOSPC);
    sys_fault("any", 0, 0);
    open_seal(w); /* the file can be created again */
}

#define SEAL_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SEAL_TEST(a_sealed_text_is_opened_with_the_key),
        SEAL_TEST(another_key_or_purpose_does_not_open_it),
        SEAL_TEST(a_changed_text_is_not_read),
        SEAL_TEST(a_key_that_is_none_is_an_error_and_stays),
        SEAL_TEST(a_key_that_can_not_be_written_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
