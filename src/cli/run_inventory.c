/* SPDX-License-Identifier: MIT */
/* run_inventory.c - the host commands: hosts, and the data that people assign to them. */
#include <stdlib.h>
#include <string.h>

#include "base/mem/mem.h"
#include "cli/args.h"
#include "cli/confirm.h"
#include "cli/import.h"
#include "cli/run.h"
#include "cli/views.h"
#include "cli/width.h"
#include "model/translate.h"

/* The value of an option that may be given once; NULL: absent. */
static int one_of(struct cli *cli, const struct list *words, const char *option, const char **ret,
                  struct err *err)
{
    const struct word *word = words->items;

    if (words->n > 1)
        return text_err(err, ERR_INVALID, cli->lang, TEXT_TWICE, TEXT_ARGS(option));
    *ret = words->n ? word->text : NULL;
    return 0;
}

/* ---- host list ---- */

static const struct column host_columns[] = {
    { TEXT_HOST, false },
    { TEXT_NAME, false },
    { TEXT_STATE, false },
    { TEXT_SINCE, true },
    { TEXT_BIZ, true },
    { TEXT_RUNNING_OF, true },
    { TEXT_AGENT, false, .goes = 1 },
    { TEXT_VERSION, false, .goes = 2 },
};

static void add_state(struct cli *cli, struct table *t, const struct host_view *h)
{
    if (h->state == HOST_AWAITED)
        table_add_text(t, STYLE_DIM, cli->lang, TEXT_EXPECTED);
    else if (h->state == HOST_SILENT)
        table_add_text(t, STYLE_BAD, cli->lang, TEXT_SILENT);
    else
        table_add_text(t, h->online ? STYLE_GOOD : STYLE_BAD, cli->lang,
                       h->online ? TEXT_ONLINE : TEXT_OFFLINE);
}

/* Columns of data that people assign, shown if any host has it. */
struct host_extra {
    bool has_number, has_note;
};

static struct host_extra find_extra(const struct list *hosts)
{
    const struct host_view *h = hosts->items;
    struct host_extra e = { 0 };

    for (size_t i = 0; i < hosts->n; i++) {
        e.has_number = e.has_number || h[i].host_id;
        e.has_note = e.has_note || *h[i].note;
    }
    return e;
}

static void run_inventory_add_host(struct cli *cli, struct table *t, const struct host_view *h,
                                   const struct host_extra *e)
{
    int64_t now_s = clock_wall_ms(cli->clock) / 1000;
    int64_t since_s = h->state == HOST_SILENT ? h->silent_since_s : h->since_s;

    table_add(t, STYLE_PLAIN, views_host(&t->arena, h->agent_id, h->cloud_id, h->ip));
    table_add(t, STYLE_PLAIN, h->hostname);
    add_state(cli, t, h);
    table_add(t, STYLE_PLAIN, since_s > 0 ? cli_duration(cli, (now_s - since_s) * 1000) : "");
    table_add_number(t, h->biz_id);
    table_add(t, STYLE_PLAIN,
              arena_printf(&t->arena, "%lld/%lld", (long long)h->running, (long long)h->processes));
    table_add(t, STYLE_PLAIN, h->agent_id);
    table_add(t, STYLE_PLAIN, h->version);
    if (e->has_number && h->host_id)
        table_add_number(t, h->host_id);
    else if (e->has_number)
        table_add(t, STYLE_PLAIN, "");
    if (e->has_note)
        table_add(t, STYLE_PLAIN, h->note);
}

static void put_hosts(struct cli *cli, const struct list *hosts)
{
    const struct host_view *h = hosts->items;
    struct column columns[ARRAY_LEN(host_columns) + 2];
    struct host_extra e = find_extra(hosts);
    size_t n = ARRAY_LEN(host_columns);
    struct table t;

    memcpy(columns, host_columns, sizeof(host_columns));
    if (e.has_number)
        columns[n++] = (struct column){ TEXT_HOST_ID, true };
    if (e.has_note)
        columns[n++] = (struct column){ TEXT_NOTE, false, .wraps = true };
    table_init(&t, columns, n);
    for (size_t i = 0; i < hosts->n; i++)
        run_inventory_add_host(cli, &t, &h[i], &e);
    table_put(&t, &cli->out);
    table_done(&t);
}

static int get_hosts(struct cli *cli, struct list *ret, struct err *err)
{
    const char *biz = NULL,
               *cloud = args_has(&cli->args, OPTION_CLOUD) ? cli_count(cli, cli->args.cloud) : NULL;

    if (one_of(cli, &cli->args.businesses, "biz", &biz, err))
        return -1;

    struct client_pair query[] = {
        { "business", biz },
        { "cloud", cloud },
        { "state", cli->args.state },
        { "text", cli->args.text },
        { "limit", "1000" },
        { "after", NULL },
        { 0 },
    };
    return cli_get_all(cli, "/v1/hosts", query, &host_page_shape, ret, err);
}

static bool is_filtered(const struct args *args)
{
    return args->businesses.n || args_has(args, OPTION_CLOUD) || args->state || args->text;
}

int run_host_list(struct cli *cli, struct err *err)
{
    struct host_page page = { .next = "" };

    if (get_hosts(cli, &page.hosts, err))
        return -1;
    if (cli->settings.json) {
        cli_json(cli, &host_page_shape, &page);
        return CLI_OK;
    }
    if (!page.hosts.n) {
        if (!cli->settings.quiet)
            out_line(&cli->out, is_filtered(&cli->args) ? TEXT_NO_HOST_FITS : TEXT_NO_HOSTS, NULL);
        return CLI_OK;
    }
    put_hosts(cli, &page.hosts);
    return CLI_OK;
}

static int remove_host(struct cli *cli, const char *word, struct err *err)
{
    const struct host_remove_ask ask = { word };
    struct host_view host;
    const char *name;

    if (cli_post(cli, "/v1/hosts/remove", NULL, &host_remove_ask_shape, &ask, &host_view_shape,
                 &host, err))
        return -1;
    name = views_host(&cli->arena, host.agent_id, host.cloud_id, host.ip);
    if (cli->settings.json)
        cli_json(cli, &host_view_shape, &host);
    else if (!cli->settings.quiet && host.state == HOST_AWAITED)
        out_line(&cli->out, TEXT_HOST_UNEXPECTED, TEXT_ARGS(name));
    else if (!cli->settings.quiet)
        out_line(&cli->out, TEXT_HOST_REMOVED, TEXT_ARGS(name, host.agent_id));
    return 0;
}

/* One host after the other, up to the first failure: hosts before it stay removed. */
int run_host_remove(struct cli *cli, struct err *err)
{
    const char *n = cli_hosts(cli, (int64_t)cli->args.n_words);

    if (confirm_check(cli, err))
        return -1;
    if (!confirm(cli, TEXT_REMOVE_SURE, TEXT_ARGS(n)))
        return CLI_USAGE;
    for (size_t i = 0; i < cli->args.n_words; i++) {
        if (remove_host(cli, cli->args.words[i], err))
            return -1;
    }
    return CLI_OK;
}

/* ---- host set ---- */

static const struct column change_columns[] = {
    { TEXT_HOST, false }, { TEXT_NAME, false },    { TEXT_STATE, false },
    { TEXT_BIZ, false },  { TEXT_HOST_ID, false }, { TEXT_NOTE, false },
};

static const char *shift(struct arena *a, int64_t before, int64_t after)
{
    if (before == after)
        return arena_printf(a, "%lld", (long long)after);
    return arena_printf(a, "%lld -> %lld", (long long)before, (long long)after);
}

static void add_change(struct cli *cli, struct table *t, const struct host_set_view *v)
{
    const struct host_facts *was = &v->before, *is = &v->after;

    table_add(t, STYLE_PLAIN, views_host(&t->arena, v->agent_id, v->cloud_id, v->ip));
    table_add(t, STYLE_PLAIN, v->hostname);
    table_add_text(t, STYLE_PLAIN, cli->lang,
                   v->result == HOST_RESULT_EXPECTED ? TEXT_EXPECTED : TEXT_CHANGED);
    table_add(t, STYLE_PLAIN, shift(&t->arena, was->biz_id, is->biz_id));
    table_add(t, STYLE_PLAIN, shift(&t->arena, was->host_id, is->host_id));
    table_add(t, STYLE_PLAIN,
              strcmp(was->note, is->note)
                  ? arena_printf(&t->arena, "\"%s\" -> \"%s\"", was->note, is->note)
                  : is->note);
}

static void put_changes(struct cli *cli, const struct list *hosts)
{
    const struct host_set_view *v = hosts->items;
    struct table t;

    table_init(&t, change_columns, ARRAY_LEN(change_columns));
    for (size_t i = 0; i < hosts->n; i++) {
        if (v[i].result == HOST_RESULT_CHANGED || v[i].result == HOST_RESULT_EXPECTED)
            add_change(cli, &t, &v[i]);
    }
    if (t.n_cells)
        table_put(&t, &cli->out);
    table_done(&t);
}

int run_host_set(struct cli *cli, struct err *err)
{
    struct host_set_ask ask = { .host = cli->args.words[0], .agent_id = "", .ip = "" };
    struct host_set_view view;
    const char *biz = NULL;

    if (one_of(cli, &cli->args.businesses, "biz", &biz, err))
        return -1;
    if (biz && args_number(biz, &ask.biz_id))
        return text_err(err, ERR_INVALID, cli->lang, TEXT_NOT_A_NUMBER, TEXT_ARGS("biz", biz));
    ask.has_biz_id = biz ? PRESENCE_GIVEN : PRESENCE_ABSENT;
    ask.has_host_id = args_has(&cli->args, OPTION_HOST_ID) ? PRESENCE_GIVEN : PRESENCE_ABSENT;
    ask.has_note = args_has(&cli->args, OPTION_NOTE) ? PRESENCE_GIVEN : PRESENCE_ABSENT;
    ask.host_id = cli->args.host_id;
    ask.note = cli->args.note;
    if (!ask.has_biz_id && !ask.has_host_id && !ask.has_note)
        return text_err(err, ERR_INVALID, cli->lang, TEXT_NOTHING_TO_SET, NULL);
    if (cli_send(cli, "PUT", "/v1/hosts", NULL, &host_set_ask_shape, &ask, &host_set_view_shape,
                 &view, err))
        return -1;
    if (cli->settings.json)
        cli_json(cli, &host_set_view_shape, &view);
    else if (!cli->settings.quiet && view.result == HOST_RESULT_UNCHANGED)
        out_line(&cli->out, TEXT_HOST_UNCHANGED, TEXT_ARGS(ask.host));
    else if (!cli->settings.quiet)
        put_changes(cli, &(struct list){ &view, 1 });
    return CLI_OK;
}

/* ---- host import ---- */

/* The server counts hosts; the author of a table counts lines. */
static const char *by_line(struct cli *cli, const struct import_file *file, const char *error)
{
    const char *at = strstr(error, "hosts["), *text;
    size_t i = at ? strtoul(at + strlen("hosts["), NULL, 10) : 0;
    const char *same = arena_msg(&cli->arena, "the same host as hosts[%zu]", i);
    struct buf b = { 0 };

    if (!file->lines || i >= file->ask.hosts.n ||
        strcmp(error, translate(same, cli->lang, &cli->arena)) != 0)
        return error;
    text_put(&b, cli->lang, TEXT_IMPORT_SAME, TEXT_ARGS(cli_count(cli, (int64_t)file->lines[i])));
    text = arena_strdup(&cli->arena, buf_text(&b));
    buf_free(&b);
    return text;
}

/* By the line of the file, if it has lines. */
static void complain(struct cli *cli, const struct import_file *file,
                     const struct host_import_view *v)
{
    const struct host_set_view *hosts = v->hosts.items;

    for (size_t i = 0; i < v->hosts.n; i++) {
        const char *place = file->lines ? arena_printf(&cli->arena, "%zu", file->lines[i])
                                        : arena_printf(&cli->arena, "hosts[%zu]", i);

        if (hosts[i].result == HOST_RESULT_BAD)
            out_line(&cli->side, TEXT_IMPORT_ROW,
                     TEXT_ARGS(cli->args.words[0], place, by_line(cli, file, hosts[i].error)));
    }
    out_line(&cli->side, TEXT_IMPORT_NONE, TEXT_ARGS(cli_count(cli, v->bad)));
}

static void put_import(struct cli *cli, const struct import_file *file,
                       const struct host_import_view *v)
{
    if (v->bad) {
        complain(cli, file, v);
        return;
    }
    if (cli->settings.quiet)
        return;
    put_changes(cli, &v->hosts);
    out_line(&cli->out, v->applied ? TEXT_IMPORTED : TEXT_IMPORT_DRY,
             TEXT_ARGS(cli_count(cli, v->changed), cli_count(cli, v->expected),
                       cli_count(cli, v->unchanged)));
}

/* All wrong lines except the last one, which is the error. */
static void put_wrong(struct cli *cli, const struct import_file *file, struct err *err)
{
    for (size_t i = 0; i + 1 < file->n_wrong; i++) {
        out_puts(&cli->side, width_clean(&cli->arena, file->wrong[i]));
        out_puts(&cli->side, "\n");
    }
    if (file->n_wrong)
        err_set(err, ERR_INVALID, "%s", file->wrong[file->n_wrong - 1]);
}

int run_host_import(struct cli *cli, struct err *err)
{
    struct host_import_view view;
    struct import_file file;
    struct err ignored;

    if (import_read(cli->args.words[0], cli->lang, &cli->arena, &file, err)) {
        put_wrong(cli, &file, err);
        return -1;
    }
    file.ask.dry_run = file.ask.dry_run || cli->args.dry_run;
    if (cli_post(cli, "/v1/hosts/import", NULL, &host_import_ask_shape, &file.ask,
                 &host_import_view_shape, &view, err))
        return -1;
    if (cli->settings.json)
        cli_json(cli, &host_import_view_shape, &view);
    else
        put_import(cli, &file, &view);
    /* A failure to write to standard error cannot be reported. */
    (void)out_flush(&cli->side, &ignored);
    return view.bad ? CLI_SOME_FAILED : CLI_OK;
}
