/* SPDX-License-Identifier: MIT */
/* docs.c - holdfast-docs: writes the reference from the tables, and the pages beside it that are
 * made of tables, or checks that those in the tree match them.
 *
 *     holdfast-docs docs/reference
 *     holdfast-docs --check docs/reference */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/shell/settings.h"
#include "api/describe/code_page.h"
#include "api/describe/example.h"
#include "api/pipeline/metrics.h"
#include "api/pipeline/routes.h"
#include "base/mem/arena.h"
#include "base/mem/buf.h"
#include "base/mem/mem.h"
#include "base/os/sys.h"
#include "base/text/err.h"
#include "bin/lifecycle_page.h"
#include "fleetsim/fleet_plan.h"
#include "link/message.h"
#include "model/shapes.h"
#include "server/sessions/settings.h"
#include "wire/json/config.h"
#include "wire/json/shape.h"

enum { SHAPES_MAX = 512 };

static void put_config(const struct config_spec *spec, struct buf *out)
{
    buf_printf(out, "# %s: settings\n\n", spec->program);
    buf_printf(
        out,
        "Read from `%s` (another file: `--config FILE` or `%s_CONFIG`), the environment and the "
        "command line; the later wins. Unknown settings are refused.\n\n",
        spec->default_file, spec->env_prefix);
    config_doc(spec, out);
}

static void put_server_config(struct buf *out)
{
    put_config(&server_config, out);
}

static void put_agent_config(struct buf *out)
{
    put_config(&agent_config, out);
}

static void put_sim_config(struct buf *out)
{
    put_config(&fleet_config, out);
}

/* Collects a shape and its nested shapes, each once, in order of appearance. */
static void collect(const struct shape *s, const struct shape **all, size_t *n)
{
    for (size_t i = 0; i < *n; i++) {
        if (all[i] == s)
            return;
    }
    if (s->bare || *n == SHAPES_MAX)
        return;
    all[(*n)++] = s;
    for (const struct field *f = s->fields; f->name; f++) {
        if (f->sub)
            collect(f->sub, all, n);
    }
}

static void put_objects(struct buf *out)
{
    const struct shape *all[SHAPES_MAX];
    size_t n = 0;

    buf_puts(out, "# Objects\n\nWhat requests and messages are made of. In a request an "
                  "unknown field is ignored by BlueKing's calls and refused by `/v1`; null is the "
                  "same as absent; every failure names the field by its full path.\n\n");
    for (size_t i = 0; model_shapes[i]; i++)
        collect(model_shapes[i], all, &n);
    for (unsigned type = 1; message_shape(type); type++) {
        for (const struct field *f = message_shape(type)->fields; f->name; f++) {
            if (f->sub)
                collect(f->sub, all, &n);
        }
    }
    for (size_t i = 0; i < n; i++)
        shape_doc(all[i], "", out);
}

static void put_messages(struct buf *out)
{
    buf_puts(out, "# Messages\n\nWhat agent and server say to each other, by the type of the "
                  "frame ([docs/protocol.md](../protocol.md) tells when). Objects inside are "
                  "those of [objects.md](objects.md).\n\n");
    buf_puts(out, "| type | message | body |\n|---|---|---|\n");
    for (unsigned type = 1; message_shape(type); type++)
        buf_printf(out, "| %u | %s | [%s](#%s) |\n", type, message_name(type),
                   message_shape(type)->name, message_shape(type)->name);
    buf_puts(out, "\n");
    for (unsigned type = 1; message_shape(type); type++) {
        unsigned first = 1;

        while (message_shape(first) != message_shape(type))
            first++;
        if (first == type)
            shape_doc(message_shape(type), "objects.md", out);
    }
}

/* The URLs of a route, as a client writes them. */
static void put_paths(const struct route *r, struct buf *out)
{
    const char *between = "";

    for (const struct place *p = route_places; p->root; p++) {
        bool is_esb = *p->root && *p->root != '/';

        if (!(r->served & p->served) || !p->is_usual)
            continue;
        buf_printf(out, "%s`%s%s%s%s`", between, is_esb ? "/api/c/compapi/v2/" : "", p->root,
                   r->path, is_esb ? "/" : "");
        between = ", ";
    }
}

static void put_methods(unsigned methods, struct buf *out)
{
    const char *between = " | ";

    for (size_t i = 0; i < METHODS; i++) {
        if (!(methods >> i & 1))
            continue;
        buf_printf(out, "%s%s", between, methods_known[i].name);
        between = ", ";
    }
}

static void put_shape_link(const char *before, const struct shape *s, const char *none,
                           struct buf *out)
{
    if (s)
        buf_printf(out, " | %s[%s](objects.md#%s)", before, s->name, s->name);
    else
        buf_printf(out, " | %s", none);
}

/* An example for a shell; credentials in a body are left out. */
static void put_example(const struct route *r, struct buf *out)
{
    enum dialect_kind dialect;
    struct example e;

    example_init(&e, r, &dialect);
    buf_printf(out, "### %s %s\n\n%s\n\n```sh\n", e.method, buf_text(&e.path), r->doc);
    buf_puts(out, dialect == DIALECT_V1 ? "curl -u APP:SECRET"
                                        : "curl -H \"X-Bkapi-Authorization: $CREDENTIALS\"");
    if (strcmp(e.method, e.body.len ? "POST" : "GET") != 0)
        buf_printf(out, " -X %s", e.method);
    buf_printf(out, " \"$SERVER%s\"", buf_text(&e.path));
    if (e.body.len)
        buf_printf(out, " -d '%s'", buf_text(&e.body));
    buf_puts(out, "\n```\n\n");
    example_done(&e);
}

static void put_examples(struct buf *out)
{
    buf_puts(out, "\n## Examples\n\nEach with no more than it needs to be accepted, made up from "
                  "the tables; Job's need the "
                  "business 2, with the host in it ([inventory.md](../inventory.md)). "
                  "`$SERVER` is `http://127.0.0.1:7020`, say, and `$CREDENTIALS` is "
                  "`{\"bk_app_code\":\"APP\",\"bk_app_secret\":\"SECRET\",\"bk_username\":"
                  "\"admin\"}`. A server "
                  "tells all of this as OpenAPI 3.1, too: `/openapi.json`.\n\n");
    for (const struct route *r = routes; r->path; r++)
        put_example(r, out);
}

static void put_routes(struct buf *out)
{
    static const char *const gives[] = {
        [GIVES_ONE] = "",
        [GIVES_MAP] = "map of ",
        [GIVES_LIST] = "list of ",
        [GIVES_TEXT] = "",
    };

    buf_puts(out, "# Endpoints\n\nEvery endpoint, written from the table that serves them. ESB "
                  "paths are served without `/api` and without `/v2` too; a slash at the end "
                  "never matters. What may come of a call: [codes](../codes.md).\n\n| path | "
                  "methods | right | takes | gives | what |\n"
                  "|---|---|---|---|---|---|\n");
    for (const struct route *r = routes; r->path; r++) {
        buf_puts(out, "| ");
        put_paths(r, out);
        put_methods(r->methods, out);
        buf_printf(out, " | %s", app_right_name(r->right));
        put_shape_link("", r->in, "nothing", out);
        put_shape_link(gives[r->gives], r->out,
                       r->gives == GIVES_TEXT ? "text" : "a map, see the document", out);
        buf_printf(out, " | %s |\n", r->doc);
    }
    put_examples(out);
}

static const struct {
    const char *file;
    void (*put)(struct buf *out);
} pages[] = {
    { "server-settings.md", put_server_config },
    { "agent-settings.md", put_agent_config },
    { "sim-settings.md", put_sim_config },
    { "endpoints.md", put_routes },
    { "messages.md", put_messages },
    { "objects.md", put_objects },
    { "metrics.md", metrics_page_write },
    { "../codes.md", code_page_write },
    { "../lifecycle.md", lifecycle_page_write },
};

static int docs_read_file(const char *path, struct buf *to, struct err *err)
{
    int fd = sys_open(path, O_RDONLY, 0);
    ssize_t got;

    if (fd < 0)
        return err_sys(err, "%s", path);
    while ((got = sys_read(fd, buf_reserve(to, 65536), 65536)) > 0)
        to->len += (size_t)got;
    sys_close(fd);
    return got < 0 ? err_sys(err, "%s", path) : 0;
}

static int write_file(const char *path, const struct buf *page, struct err *err)
{
    int fd = sys_open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    ssize_t put;

    if (fd < 0)
        return err_sys(err, "%s", path);
    put = sys_write(fd, buf_data(page), page->len);
    sys_close(fd);
    return put == (ssize_t)page->len ? 0 : err_sys(err, "%s", path);
}

static int check_file(const char *path, const struct buf *page, const char *program,
                      const char *dir, struct err *err)
{
    struct buf old = { 0 };
    bool same;

    if (docs_read_file(path, &old, err)) {
        buf_free(&old);
        return -1;
    }
    same = old.len == page->len && memcmp(buf_data(&old), buf_data(page), page->len) == 0;
    buf_free(&old);
    return same ? 0
                : err_set(err, ERR_CONFLICT, "%s is not what the tables say; to renew it: %s %s",
                          path, program, dir);
}

int main(int argc, char **argv)
{
    bool check = argc == 3 && !strcmp(argv[1], "--check");
    const char *dir = argv[argc - 1];
    int failed = 0;

    if (argc != 2 + check || dir[0] == '-') {
        fprintf(stderr, "usage: holdfast-docs [--check] DIRECTORY\n");
        return 2;
    }
    for (size_t i = 0; i < ARRAY_LEN(pages); i++) {
        struct arena a = { 0 };
        struct buf page = { 0 };
        struct err err = { 0 };
        const char *path = arena_printf(&a, "%s/%s", dir, pages[i].file);

        buf_puts(&page, "<!-- Written by holdfast-docs from the tables in src/. -->\n");
        pages[i].put(&page);
        while (page.len && buf_data(&page)[page.len - 1] == '\n')
            buf_truncate(&page, page.len - 1);
        buf_addc(&page, '\n');
        if (check ? check_file(path, &page, argv[0], dir, &err) : write_file(path, &page, &err)) {
            fprintf(stderr, "%s\n", err.text);
            failed = 1;
        }
        buf_free(&page);
        arena_free(&a);
    }
    return failed;
}
