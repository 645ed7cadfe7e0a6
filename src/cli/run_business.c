/* SPDX-License-Identifier: MIT */
/* run_business.c - the business and business-set commands. */
#include "base/mem/mem.h"
#include "cli/args.h"
#include "cli/run.h"
#include "cli/table.h"
#include "model/inventory.h"

static int run_business_read_id(struct cli *cli, const char *text, int64_t *ret, struct err *err)
{
    if (args_number(text, ret))
        return text_err(err, ERR_INVALID, cli->lang, TEXT_NOT_AN_ID, TEXT_ARGS(text));
    return 0;
}

static const char *path_of(struct cli *cli, const char *root, int64_t id)
{
    return arena_printf(&cli->arena, "%s/%lld", root, (long long)id);
}

/* ---- businesses ---- */

static const struct column business_columns[] = {
    { TEXT_ID, true },
    { TEXT_CALLED, false },
    { TEXT_HOSTS, true },
    { TEXT_EXPECTED_HOSTS, true },
};

static int get_businesses(struct cli *cli, struct list *ret, struct err *err)
{
    struct client_pair query[] = { { "limit", "1000" }, { "after", NULL }, { 0 } };

    return cli_get_all(cli, "/v1/businesses", query, &business_page_view_shape, ret, err);
}

static void put_businesses(struct cli *cli, const struct list *businesses)
{
    const struct business_view *v = businesses->items;
    bool has_expected = false;
    struct table t;

    for (size_t i = 0; i < businesses->n; i++)
        has_expected = has_expected || v[i].expected;
    table_init(&t, business_columns, ARRAY_LEN(business_columns) - !has_expected);
    for (size_t i = 0; i < businesses->n; i++) {
        table_add_number(&t, v[i].id);
        table_add(&t, STYLE_PLAIN, v[i].name);
        table_add_number(&t, v[i].hosts);
        if (has_expected)
            table_add_number(&t, v[i].expected);
    }
    table_put(&t, &cli->out);
    table_done(&t);
}

int run_business_list(struct cli *cli, struct err *err)
{
    struct business_page_view page = { .next = "" };

    if (get_businesses(cli, &page.businesses, err))
        return -1;
    if (cli->settings.json) {
        cli_json(cli, &business_page_view_shape, &page);
        return CLI_OK;
    }
    if (page.businesses.n)
        put_businesses(cli, &page.businesses);
    else if (!cli->settings.quiet)
        out_line(&cli->out, TEXT_NO_BUSINESSES, NULL);
    return CLI_OK;
}

static void put_business(struct cli *cli, const struct business_view *v, enum text id)
{
    if (cli->settings.json)
        cli_json(cli, &business_view_shape, v);
    else if (!cli->settings.quiet)
        out_line(&cli->out, id, TEXT_ARGS(cli_count(cli, v->id), v->name));
}

int run_business_set(struct cli *cli, struct err *err)
{
    struct business_put_ask ask = { .name = cli->args.words[1] };
    struct business_view view;

    if (run_business_read_id(cli, cli->args.words[0], &ask.id, err) ||
        cli_send(cli, "PUT", "/v1/businesses", NULL, &business_put_ask_shape, &ask,
                 &business_view_shape, &view, err))
        return -1;
    put_business(cli, &view, TEXT_BUSINESS_SET);
    return CLI_OK;
}

int run_business_remove(struct cli *cli, struct err *err)
{
    struct business_view view;
    int64_t id;

    if (run_business_read_id(cli, cli->args.words[0], &id, err) ||
        cli_send(cli, "DELETE", path_of(cli, "/v1/businesses", id), NULL, NULL, NULL,
                 &business_view_shape, &view, err))
        return -1;
    put_business(cli, &view, TEXT_BUSINESS_REMOVED);
    return CLI_OK;
}

/* ---- sets ---- */

static const struct column set_columns[] = {
    { TEXT_ID, true },
    { TEXT_CALLED, false },
    { TEXT_BUSINESSES, false },
};

static void add_set(struct table *t, const struct business_set_view *v)
{
    const struct business_id *ids = v->businesses.items;
    struct buf b = { 0 };

    for (size_t i = 0; i < v->businesses.n; i++) {
        buf_puts(&b, i ? " " : "");
        buf_put_int(&b, ids[i].id);
    }
    table_add_number(t, v->id);
    table_add(t, STYLE_PLAIN, v->name);
    table_add(t, STYLE_PLAIN, buf_text(&b));
    buf_free(&b);
}

int run_business_set_list(struct cli *cli, struct err *err)
{
    struct client_pair query[] = { { "limit", "1000" }, { "after", NULL }, { 0 } };
    struct business_set_page page = { .next = "" };
    const struct business_set_view *v;
    struct table t;

    if (cli_get_all(cli, "/v1/business_sets", query, &business_set_page_shape, &page.sets, err))
        return -1;
    if (cli->settings.json) {
        cli_json(cli, &business_set_page_shape, &page);
        return CLI_OK;
    }
    if (!page.sets.n && !cli->settings.quiet)
        out_line(&cli->out, TEXT_NO_BUSINESS_SETS, NULL);
    v = page.sets.items;
    table_init(&t, set_columns, ARRAY_LEN(set_columns));
    for (size_t i = 0; i < page.sets.n; i++)
        add_set(&t, &v[i]);
    if (page.sets.n)
        table_put(&t, &cli->out);
    table_done(&t);
    return CLI_OK;
}

static void put_set(struct cli *cli, const struct business_set_view *v, enum text id)
{
    if (cli->settings.json)
        cli_json(cli, &business_set_view_shape, v);
    else if (!cli->settings.quiet)
        out_line(
            &cli->out, id,
            TEXT_ARGS(cli_count(cli, v->id), v->name, cli_count(cli, (int64_t)v->businesses.n)));
}

static bool is_there(const struct list *businesses, int64_t id)
{
    const struct business_view *v = businesses->items;

    for (size_t i = 0; i < businesses->n; i++) {
        if (v[i].id == id)
            return true;
    }
    return false;
}

/* A set may be created before its businesses; but the number may also be a typing error. */
static void warn_of_unknown(struct cli *cli, const struct business_set_view *v)
{
    const struct business_id *ids = v->businesses.items;
    struct list businesses;
    struct err ignored;

    if (cli->settings.quiet || get_businesses(cli, &businesses, &ignored))
        return; /* the command itself has succeeded */
    for (size_t i = 0; i < v->businesses.n; i++) {
        if (!is_there(&businesses, ids[i].id))
            out_line(&cli->side, TEXT_BUSINESS_UNKNOWN, TEXT_ARGS(cli_count(cli, ids[i].id)));
    }
    /* A failure to write to standard error cannot be reported. */
    (void)out_flush(&cli->side, &ignored);
}

int run_business_set_set(struct cli *cli, struct err *err)
{
    const struct word *words = cli->args.businesses.items;
    size_t n = cli->args.businesses.n;
    struct business_id *ids = arena_alloc(&cli->arena, (n + 1) * sizeof(*ids));
    struct business_set_view ask = { .name = cli->args.words[1], .businesses = { ids, n } };
    struct business_set_view view;

    for (size_t i = 0; i < n; i++) {
        if (run_business_read_id(cli, words[i].text, &ids[i].id, err))
            return -1;
    }
    if (run_business_read_id(cli, cli->args.words[0], &ask.id, err) ||
        cli_send(cli, "PUT", "/v1/business_sets", NULL, &business_set_view_shape, &ask,
                 &business_set_view_shape, &view, err))
        return -1;
    put_set(cli, &view, TEXT_BUSINESS_SET_SET);
    warn_of_unknown(cli, &view);
    return CLI_OK;
}

int run_business_set_remove(struct cli *cli, struct err *err)
{
    struct business_set_view view;
    int64_t id;

    if (run_business_read_id(cli, cli->args.words[0], &id, err) ||
        cli_send(cli, "DELETE", path_of(cli, "/v1/business_sets", id), NULL, NULL, NULL,
                 &business_set_view_shape, &view, err))
        return -1;
    put_set(cli, &view, TEXT_BUSINESS_SET_REMOVED);
    return CLI_OK;
}
