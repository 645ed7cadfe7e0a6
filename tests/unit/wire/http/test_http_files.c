/* SPDX-License-Identifier: MIT */
/* Promises of wire/http/http_files.h. */
#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>

#include "base/os/sys.h"
#include "tests/unit/wire/http_world.h"
#include "wire/http/http_files.h"

enum { MODIFIED = 1700000000 }; /* Tue, 14 Nov 2023 22:13:20 GMT */

struct site {
    char dir[64];
    struct http_files *files;
    struct world w; /* the loop and the server, with an owner of our own */
};

static void write_file(const char *dir, const char *name, const char *text)
{
    struct timespec when[2] = { { MODIFIED, 0 }, { MODIFIED, 0 } };
    char path[256];
    int fd;

    snprintf(path, sizeof(path), "%s/%s", dir, name);
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    assert_int_equal(futimens(fd, when), 0);
    close(fd);
}

static void make_dir(const char *dir, const char *name)
{
    char path[256];

    snprintf(path, sizeof(path), "%s/%s", dir, name);
    assert_int_equal(mkdir(path, 0755), 0);
}

static void make_link(const char *dir, const char *name, const char *to)
{
    char path[256];

    snprintf(path, sizeof(path), "%s/%s", dir, name);
    assert_int_equal(symlink(to, path), 0);
}

static void make_fifo(const char *dir, const char *name)
{
    char path[256];

    snprintf(path, sizeof(path), "%s/%s", dir, name);
    assert_int_equal(mkfifo(path, 0644), 0);
}

static const char *const assets[] = {
    "app-BxY12_-z.js",      "app-BxY12_-z.js.map", "a-b-C3d4e5f6.css", "short-C3d4e5f.js",
    "tdesign-vue-next.css", "-C3d4e5f6.js",        "plain.js",
};

static void fill_site(const char *dir)
{
    write_file(dir, "index.html", "<html>");
    write_file(dir, "empty.txt", "");
    write_file(dir, ".hidden", "secret");
    write_file(dir, "other.bin", "\x01");
    make_dir(dir, "assets");
    make_dir(dir, "docs");
    make_dir(dir, ".git");
    write_file(dir, ".git/config", "secret");
    write_file(dir, "docs/index.html", "<docs>");
    write_file(dir, "docs/\xE4\xB8\xAD.txt", "zhong");
    write_file(dir, "docs/app-BxY12_-z.js", "x");
    make_link(dir, "passwd", "/etc/passwd");
    make_link(dir, "etc", "/etc");
    make_link(dir, "docs/inside.html", "index.html");
    make_fifo(dir, "fifo.txt"); /* a FIFO without a writer */
    for (size_t i = 0; i < ARRAY_LEN(assets); i++) {
        char name[64];

        snprintf(name, sizeof(name), "assets/%s", assets[i]);
        write_file(dir, name, "x");
    }
}

static int forget(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st;
    (void)type;
    (void)at;
    return remove(path);
}

static void make_site_dir(char dir[64])
{
    snprintf(dir, 64, "/tmp/holdfast-files-XXXXXX");
    assert_non_null(mkdtemp(dir));
}

static void remove_site_dir(const char *dir)
{
    assert_int_equal(nftw(dir, forget, 8, FTW_DEPTH | FTW_PHYS), 0);
}

static void take_head(void *arg, struct http_req *req)
{
    (void)arg;
    req->body_max = 100;
}

static void serve(void *arg, struct http_req *req)
{
    struct site *s = arg;

    if (!http_files_answer(s->files, req))
        http_answer(req, 404, NULL, NULL, NULL);
}

static const struct http_owner owner = { take_head, serve, NULL, NULL };

static struct site *site_new(bool is_app)
{
    struct site *s = xalloc(sizeof(*s));
    struct http_files_config config = { .dir = s->dir, .is_app = is_app };
    struct address any;
    struct err err = { 0 };

    make_site_dir(s->dir);
    fill_site(s->dir);
    if (http_files_load(&config, &s->files, &err))
        fail_msg("%s", err.text);
    remove_site_dir(s->dir); /* everything is in memory */
    clock_fake_init(&s->w.clock, 1000, 1800000000000);
    assert_int_equal(loop_new(&s->w.clock.clock, &s->w.loop, &err), 0);
    s->w.server = http_server_new(s->w.loop, NULL, &owner, s);
    assert_int_equal(address_parse("127.0.0.1:0", &any, &err), 0);
    assert_int_equal(http_server_listen(s->w.server, &any, NULL, &s->w.at, &err), 0);
    return s;
}

static void site_free(struct site *s)
{
    http_server_free(s->w.server);
    pass_time(&s->w, 3600 * 1000);
    loop_free(s->w.loop);
    http_files_free(s->files);
    free(s);
}

/* The whole answer to one request. */
static void get(struct site *s, const char *method, const char *path, const char *header,
                struct buf *ret)
{
    struct client c = client_open(&s->w);
    char text[512];

    snprintf(text, sizeof(text), "%s %s HTTP/1.1\r\nHost: a\r\nConnection: close\r\n%s\r\n", method,
             path, header);
    buf_free(ret);
    buf_puts(ret, ask(&s->w, &c, text, ""));
    client_close(&c);
}

static void expect(struct site *s, const char *path, const char *part, const char *also)
{
    struct buf got = { 0 };

    get(s, "GET", path, "", &got);
    if (!has(buf_text(&got), part) || !has(buf_text(&got), also))
        fail_msg("%s: no '%s' and '%s' in '%s'", path, part, also, buf_text(&got));
    buf_free(&got);
}

static void a_file_is_served_with_all_its_headers(void **state)
{
    struct site *s = site_new(false);
    struct buf got = { 0 };
    char *tag;

    (void)state;
    get(s, "GET", "/index.html", "", &got);
    tag = strstr(buf_text(&got), "ETag: \"");
    assert_non_null(tag);
    assert_int_equal(strspn(tag + 7, "0123456789abcdef"), 32);
    memset(tag + 7, 'x', 32);
    assert_string_equal(buf_text(&got),
                        "HTTP/1.1 200 OK\r\nDate: Fri, 15 Jan 2027 08:00:00 GMT\r\n"
                        "Content-Type: text/html; charset=utf-8\r\nContent-Length: 6\r\n"
                        "Connection: close\r\n"
                        "ETag: \"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"\r\n"
                        "Last-Modified: Tue, 14 Nov 2023 22:13:20 GMT\r\n"
                        "Cache-Control: no-cache\r\nX-Content-Type-Options: nosniff\r\n\r\n<html>");
    get(s, "HEAD", "/index.html", "", &got);
    assert_true(has(buf_text(&got), "Content-Length: 6\r\n") && !has(buf_text(&got), "<html>"));
    buf_free(&got);
    site_free(s);
}

static const struct {
    const char *path, *part, *also;
} lookups[] = {
    { "/", " 200 ", "<html>" },
    { "/docs/", " 200 ", "<docs>" },
    { "/docs/index.html", " 200 ", "<docs>" },
    { "/empty.txt", " 200 ", "Content-Length: 0\r\n" },
    { "/empty.txt?x=y", " 200 ", "text/plain; charset=utf-8" },
    { "/docs/%E4%B8%AD.txt", " 200 ", "zhong" },
    { "/other.bin", " 200 ", "application/octet-stream" },
    { "/docs", " 404 ", "" },
    { "/nothing", " 404 ", "" },
    { "/INDEX.HTML", " 404 ", "" },
    { "//index.html", " 404 ", "" },
    { "/.hidden", " 404 ", "" },
    { "/.git/config", " 404 ", "" },
    { "/passwd", " 404 ", "" },
    { "/etc/passwd", " 404 ", "" },
    { "/docs/inside.html", " 404 ", "" },
    { "/fifo.txt", " 404 ", "" },
    { "/docs/../index.html", " 400 ", "dot segment" },
    { "/%2e%2e/etc/passwd", " 400 ", "dot segment" },
};

static void only_what_was_loaded_is_served(void **state)
{
    struct site *s = site_new(false);

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(lookups); i++)
        expect(s, lookups[i].path, lookups[i].part, lookups[i].also);
    site_free(s);
}

static const struct {
    const char *path;
    bool is_immutable;
} caching[] = {
    { "/assets/app-BxY12_-z.js", true },
    { "/assets/app-BxY12_-z.js.map", true },
    { "/assets/a-b-C3d4e5f6.css", true },
    { "/assets/short-C3d4e5f.js", false },
    { "/assets/tdesign-vue-next.css", false },
    { "/assets/-C3d4e5f6.js", false },
    { "/assets/plain.js", false },
    { "/docs/app-BxY12_-z.js", false },
};

static void only_names_with_a_hash_are_kept_for_ever(void **state)
{
    struct site *s = site_new(false);

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(caching); i++)
        expect(s, caching[i].path,
               caching[i].is_immutable ? "Cache-Control: public, max-age=31536000, immutable\r\n"
                                       : "Cache-Control: no-cache\r\n",
               " 200 ");
    site_free(s);
}

static void an_app_answers_for_its_own_paths(void **state)
{
    struct site *s = site_new(true);
    struct buf got = { 0 };

    (void)state;
    expect(s, "/hosts/17", " 200 ", "<html>");
    expect(s, "/docs/", " 200 ", "<docs>");
    expect(s, "/hosts.d/17", " 200 ", "<html>");
    expect(s, "/missing.js", " 404 ", "");
    get(s, "POST", "/hosts/17", "", &got);
    assert_true(has(buf_text(&got), " 404 "));
    get(s, "POST", "/index.html", "", &got);
    assert_true(has(buf_text(&got), " 405 ") && has(buf_text(&got), "Allow: GET, HEAD\r\n"));
    buf_free(&got);
    site_free(s);
}

static const struct {
    const char *header;
    bool is_304;
} conditions[] = {
    { "If-None-Match: %s\r\n", true },
    { "If-None-Match: \"a\", W/%s\r\n", true },
    { "If-None-Match: *\r\n", true },
    { "If-None-Match: \"a\"\r\n", false },
    { "If-None-Match: \"a\"\r\nIf-Modified-Since: Wed, 15 Nov 2023 22:13:20 GMT\r\n", false },
    { "If-Modified-Since: Tue, 14 Nov 2023 22:13:20 GMT\r\n", true },
    { "If-Modified-Since: Wed, 15 Nov 2023 00:00:00 GMT\r\n", true },
    { "If-Modified-Since: Tue, 14 Nov 2023 22:13:19 GMT\r\n", false },
    { "If-Modified-Since: yesterday\r\n", false },
    { "If-Modified-Since: Wed, 15 Nov 2023 00:00:00 GMT+1\r\n", false },
};

static void what_a_client_has_is_not_sent_again(void **state)
{
    struct site *s = site_new(false);
    struct buf got = { 0 };
    char tag[64], header[256];

    (void)state;
    get(s, "GET", "/", "", &got);
    assert_int_equal(sscanf(strstr(buf_text(&got), "ETag: "), "ETag: %63s", tag), 1);
    for (size_t i = 0; i < ARRAY_LEN(conditions); i++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        snprintf(header, sizeof(header), conditions[i].header, tag);
#pragma GCC diagnostic pop
        get(s, "GET", "/", header, &got);
        if (has(buf_text(&got), " 304 ") != conditions[i].is_304)
            fail_msg("%s: %s", header, buf_text(&got));
        assert_true(has(buf_text(&got), tag) && has(buf_text(&got), "Cache-Control: no-cache"));
        assert_int_equal(has(buf_text(&got), "<html>"), !conditions[i].is_304);
    }
    buf_free(&got);
    site_free(s);
}

static void equal_content_has_an_equal_tag_and_other_content_another(void **state)
{
    struct site *s = site_new(false);
    struct buf a = { 0 }, b = { 0 }, c = { 0 };

    (void)state;
    get(s, "GET", "/assets/plain.js", "", &a);
    get(s, "GET", "/docs/app-BxY12_-z.js", "", &b);
    get(s, "GET", "/docs/index.html", "", &c);
    assert_memory_equal(strstr(buf_text(&a), "ETag"), strstr(buf_text(&b), "ETag"), 40);
    assert_memory_not_equal(strstr(buf_text(&a), "ETag"), strstr(buf_text(&c), "ETag"), 40);
    buf_free(&a);
    buf_free(&b);
    buf_free(&c);
    site_free(s);
}

static void load_fails(const struct http_files_config *config, int code, const char *part)
{
    struct http_files *files = NULL;
    struct err err;

    assert_int_equal(http_files_load(config, &files, &err), -1);
    assert_null(files);
    assert_int_equal(err.code, code);
    if (!has(err.text, part))
        fail_msg("no '%s' in '%s'", part, err.text);
}

static void loading_is_bounded(void **state)
{
    struct http_files_config config = { 0 };
    char dir[64];

    (void)state;
    make_site_dir(dir);
    fill_site(dir);
    config = (struct http_files_config){ .dir = dir, .count_max = 5 };
    load_fails(&config, ERR_LIMIT, ": more than 5 files");
    config = (struct http_files_config){ .dir = dir, .bytes_max = 10 };
    load_fails(&config, ERR_LIMIT, ": more than 10 bytes in all");
    remove_site_dir(dir);
    config = (struct http_files_config){ .dir = dir };
    load_fails(&config, ERR_SYSTEM, "open /tmp/holdfast-files-");
}

static void a_tree_without_end_is_refused(void **state)
{
    char dir[64], at[256];
    struct http_files_config config = { .dir = dir };

    (void)state;
    make_site_dir(dir);
    snprintf(at, sizeof(at), "d");
    for (int i = 0; i < 17; i++) {
        make_dir(dir, at);
        snprintf(at + strlen(at), sizeof(at) - strlen(at), "/d");
    }
    load_fails(&config, ERR_LIMIT, "/d/d: more than 16 levels");
    remove_site_dir(dir);
}

#ifdef HOLDFAST_FAULT
static int lowest_free_fd(void)
{
    int fd = open("/dev/null", O_RDONLY);

    close(fd);
    return fd;
}

/* Each call that fails while files are loaded is reported, and nothing leaks. */
static void every_failing_call_is_told(void **state)
{
    static const char *const calls[] = { "open", "openat", "fdopendir", "fstat", "read" };
    struct http_files *files = NULL;
    int fd = lowest_free_fd();
    char dir[64];
    struct http_files_config config = { .dir = dir };
    struct err err;

    (void)state;
    make_site_dir(dir);
    fill_site(dir);
    for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
        int n = 0;

        do {
            sys_fault(calls[i], ++n, EIO);
            if (http_files_load(&config, &files, &err) == 0)
                http_files_free(files);
            else
                assert_int_equal(err.sys, EIO);
        } while (sys_fault_hit());
        assert_true(n > 1);
        assert_int_equal(lowest_free_fd(), fd);
    }
    sys_fault("open", 0, EIO);
    remove_site_dir(dir);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_served_with_all_its_headers),
        cmocka_unit_test(only_what_was_loaded_is_served),
        cmocka_unit_test(only_names_with_a_hash_are_kept_for_ever),
        cmocka_unit_test(an_app_answers_for_its_own_paths),
        cmocka_unit_test(what_a_client_has_is_not_sent_again),
        cmocka_unit_test(equal_content_has_an_equal_tag_and_other_content_another),
        cmocka_unit_test(loading_is_bounded),
        cmocka_unit_test(a_tree_without_end_is_refused),
#ifdef HOLDFAST_FAULT
        cmocka_unit_test(every_failing_call_is_told),
#endif
    };

    return cmocka_run_group_tests_name("wire/http_files", tests, NULL, NULL);
}
