/* SPDX-License-Identifier: MIT */
/* local.c - see local.h. */
#include "cli/local.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem/mem.h"
#include "base/os/sys.h"
#include "cli/args.h"
#include "cli/ask.h"
#include "cli/local_link.h"
#include "model/event.h"
#include "model/host.h"
#include "model/short_spec.h"
#include "model/translate.h"
#include "model/why_write.h"

const char *local_path(const struct args *args, const struct cli_settings *s)
{
    struct stat st;

    if (*args->local)
        return args->local;
    if (args_has(args, OPTION_SOCKET))
        return s->socket;
    if (*s->local_socket)
        return s->local_socket;
    return sys_lstat(AT_FDCWD, LOCAL_RUN_PATH, &st) ? LOCAL_DATA_PATH : LOCAL_RUN_PATH;
}

const char *local_host(struct arena *a)
{
    char name[256] = "";

    return gethostname(name, sizeof(name) - 1) || !*name ? "localhost" : arena_strdup(a, name);
}

static int no_answer(const struct cli *cli, struct err *err)
{
    return text_err(err, ERR_UNAVAILABLE, cli->lang, TEXT_LOCAL_SLOW, TEXT_ARGS(cli->local));
}

/* Sends a request and reads one answer of the given type. */
static int ask_one(struct cli *cli, struct arena *a, unsigned type, const struct shape *s,
                   const void *question, unsigned wanted, const void **ret, struct err *err)
{
    struct local_link l;
    unsigned got = 0;
    enum local_came came;

    if (local_link_open(cli, a, type, s, question, &l, err))
        return -1;
    came = local_link_next(&l, clock_mono_ms(cli->clock) + CLI_GET_MS, &got, ret, err);
    local_link_close(&l);
    if (came == LOCAL_FAILED)
        return -1;
    return came == LOCAL_CAME && got == wanted ? 0 : no_answer(cli, err);
}

/* ---- texts ---- */

/* The agent's texts, in the reader's language; one that is no message stays as it is. */
const char *local_readable(struct cli *cli, const char *text)
{
    return translate_own(text, cli->lang, &cli->arena);
}

void local_make_readable(struct cli *cli, struct proc_view *v)
{
    v->cause.failed_text = local_readable(cli, v->cause.failed_text);
    v->cause.limit_text = local_readable(cli, v->cause.limit_text);
    v->cause.instead = local_readable(cli, v->cause.instead);
    v->checks = proc_view_checks_in(v, cli->lang, &cli->arena, translate_own);
}

/* ---- processes ---- */

static void add_views(struct cli *cli, const struct local_processes *page, const char *word,
                      struct buf *to)
{
    const struct proc_view *views = page->list.items;
    int64_t now_s = clock_wall_ms(cli->clock) / 1000;

    for (size_t i = 0; i < page->list.n; i++) {
        struct process_view p = { .agent_id = page->agent_id, .ip = "", .online = true };
        struct buf why = { 0 };

        if (*word && strcmp(word, views[i].space) != 0 && strcmp(word, views[i].name) != 0)
            continue;
        p.view = views[i];
        local_make_readable(cli, &p.view);
        why_write(&p.view, cli->lang, now_s, &why);
        p.view.why = arena_strdup(&cli->arena, buf_text(&why));
        buf_free(&why);
        buf_add(to, &p, sizeof(p));
    }
}

static int by_name(const void *a, const void *b)
{
    const struct process_view *p = a, *q = b;
    int spaces = strcmp(p->view.space, q->view.space);

    return spaces ? spaces : strcmp(p->view.name, q->view.name);
}

static int read_pages(struct cli *cli, struct local_link *l, const char *word, struct buf *to,
                      struct err *err)
{
    int64_t until_ms = clock_mono_ms(cli->clock) + CLI_GET_MS;
    const struct local_processes *page;

    do {
        const void *message = NULL;
        unsigned type = 0;
        enum local_came came = local_link_next(l, until_ms, &type, &message, err);

        if (came == LOCAL_FAILED)
            return -1;
        if (came != LOCAL_CAME || type != LOCAL_PROCESSES)
            return no_answer(cli, err);
        page = message;
        add_views(cli, page, word, to);
    } while (!page->is_last);
    return 0;
}

/* Applies the filters that a server would apply; the agent returns everything. */
static bool local_is_wanted(const struct process_ask *ask, const struct proc_view *v)
{
    return (!ask->has_status || ask->status == (int64_t)process_state_of(v, false)) &&
           (!ask->has_hosted || ask->hosted == v->hosted) &&
           (!ask->text || strcasestr(v->space, ask->text) || strcasestr(v->name, ask->text));
}

static void leave_out(const struct process_ask *ask, struct list *processes)
{
    struct process_view *p = processes->items;
    size_t n = 0;

    for (size_t i = 0; i < processes->n; i++) {
        if (local_is_wanted(ask, &p[i].view))
            p[n++] = p[i];
    }
    processes->n = n;
}

int local_get_processes(struct cli *cli, const struct process_ask *ask, struct list *ret,
                        struct err *err)
{
    const char *word = *ask->name ? "" : ask->space; /* a namespace or a name */
    const struct local_ask question = { *word ? "" : ask->space, ask->name, cli->wants_use };
    struct local_link l;
    struct buf all = { 0 };
    int bad;

    if (local_link_open(cli, &cli->arena, LOCAL_LIST, &local_ask_shape, &question, &l, err))
        return -1;
    bad = read_pages(cli, &l, word, &all, err);
    local_link_close(&l);
    ret->n = all.len / sizeof(struct process_view);
    ret->items = arena_alloc(&cli->arena, all.len + 1);
    if (all.len)
        memcpy(ret->items, buf_data(&all), all.len);
    buf_free(&all);
    leave_out(ask, ret);
    if (!bad)
        qsort(ret->items, ret->n, sizeof(struct process_view), by_name);
    return bad;
}

void local_name_hosts(struct cli *cli, const struct list *processes)
{
    struct process_view *p = processes->items;

    for (size_t i = 0; cli->local && i < processes->n; i++)
        p[i].ip = local_host(&cli->arena);
}

static const char *state_name(int64_t state)
{
    const struct enum_name *n = process_state_names;

    while (n->name && n->value != state)
        n++;
    return n->name;
}

int cli_get_processes(struct cli *cli, const struct process_ask *ask, struct list *ret,
                      struct err *err)
{
    struct client_pair query[] = {
        { "namespace", ask->space },
        { "name", ask->name },
        { "host", ask->host },
        { "business", ask->has_biz_id ? cli_count(cli, ask->biz_id) : NULL },
        { "status", ask->has_status ? state_name(ask->status) : NULL },
        { "hosted", !ask->has_hosted ? NULL
                    : ask->hosted    ? "true"
                                     : "false" },
        { "text", ask->text },
        { "limit", "1000" },
        { "after", ask->after },
        { 0 },
    };

    if (cli->local)
        return local_get_processes(cli, ask, ret, err);
    return cli_get_all(cli, "/v1/processes", query, &process_page_shape, ret, err);
}

/* ---- specs ---- */

static int read_specs(struct cli *cli, struct local_link *l, struct buf *to, struct err *err)
{
    int64_t until_ms = clock_mono_ms(cli->clock) + CLI_GET_MS;
    const struct local_specs *page;

    do {
        const void *message = NULL;
        unsigned type = 0;
        enum local_came came = local_link_next(l, until_ms, &type, &message, err);

        if (came == LOCAL_FAILED)
            return -1;
        if (came != LOCAL_CAME || type != LOCAL_SPECS_ARE)
            return no_answer(cli, err);
        page = message;
        if (page->list.n)
            buf_add(to, page->list.items, page->list.n * sizeof(struct local_spec));
    } while (!page->is_last);
    return 0;
}

int local_get_specs(struct cli *cli, const char *space, const char *name, struct list *ret,
                    struct err *err)
{
    const struct local_ask question = { space, name, false };
    struct local_link l;
    struct buf all = { 0 };
    int bad;

    if (local_link_open(cli, &cli->arena, LOCAL_SPECS, &local_ask_shape, &question, &l, err))
        return -1;
    bad = read_specs(cli, &l, &all, err);
    local_link_close(&l);
    *ret =
        (struct list){ arena_alloc(&cli->arena, all.len + 1), all.len / sizeof(struct local_spec) };
    if (all.len)
        memcpy(ret->items, buf_data(&all), all.len);
    buf_free(&all);
    return bad;
}

/* ---- output and facts ---- */

int local_get_log(struct cli *cli, const struct log_ask *ask, struct arena *a, struct log_view *ret,
                  struct err *err)
{
    const struct message_log_ask question = { .id = 1,
                                              .space = ask->space,
                                              .name = ask->name,
                                              .what = ask->what,
                                              .lines = ask->lines,
                                              .at = ask->at,
                                              .age_s = ask->age_s,
                                              .max_bytes = LOG_MAX_BYTES };
    const struct message_log *m;
    const void *answer;

    if (ask_one(cli, a, MESSAGE_LOG_ASK, &message_log_ask_shape, &question, MESSAGE_LOG, &answer,
                err))
        return -1;
    m = answer;
    if (m->code)
        return local_refused(cli, (int)m->code, m->text, err);
    *ret = (struct log_view){ "", m->output, m->next, m->has_gap, m->gap_bytes };
    return 0;
}

static bool take_event_page(struct cli *cli, const struct local_events *page, struct buf *to)
{
    const struct message_event *e = page->list.items;

    for (size_t i = 0; i < page->list.n; i++) {
        const struct event_view v = { .id = e[i].id,
                                      .time_ms = e[i].wall_ms,
                                      .taken_ms = e[i].wall_ms,
                                      .event = e[i].name,
                                      .text = local_readable(cli, e[i].text),
                                      .agent_id = page->agent_id,
                                      .ip = "",
                                      .space = e[i].space,
                                      .name = e[i].proc,
                                      .proc_name = e[i].proc_name };

        buf_add(to, &v, sizeof(v));
    }
    return page->is_last;
}

static int read_events(struct cli *cli, struct local_link *l, struct buf *to, struct err *err)
{
    int64_t until_ms = clock_mono_ms(cli->clock) + CLI_GET_MS;
    const void *message = NULL;
    unsigned type = 0;

    do {
        enum local_came came = local_link_next(l, until_ms, &type, &message, err);

        if (came == LOCAL_FAILED)
            return -1;
        if (came != LOCAL_CAME || type != LOCAL_EVENTS_ARE)
            return no_answer(cli, err);
    } while (!take_event_page(cli, message, to));
    return 0;
}

int local_get_events(struct cli *cli, int64_t after, struct list *ret, struct err *err)
{
    const struct local_events_ask question = { after };
    struct local_link l;
    struct buf all = { 0 };
    int bad;

    if (local_link_open(cli, &cli->arena, LOCAL_EVENTS, &local_events_ask_shape, &question, &l,
                        err))
        return -1;
    bad = read_events(cli, &l, &all, err);
    local_link_close(&l);
    ret->n = all.len / sizeof(struct event_view);
    ret->items = arena_alloc(&cli->arena, all.len + 1);
    if (all.len)
        memcpy(ret->items, buf_data(&all), all.len);
    buf_free(&all);
    return bad;
}

int local_get_facts(struct cli *cli, struct local_facts *ret, struct err *err)
{
    const struct local_ask question = { "", "", false };
    struct local_fact *fact;
    const void *answer;

    if (ask_one(cli, &cli->arena, LOCAL_FACTS, &local_ask_shape, &question, LOCAL_FACTS_ARE,
                &answer, err))
        return -1;
    *ret = *(const struct local_facts *)answer;
    ret->trouble = local_readable(cli, ret->trouble);
    fact = ret->facts.items;
    for (size_t i = 0; i < ret->facts.n; i++) {
        fact[i].why = local_readable(cli, fact[i].why);
        fact[i].instead = local_readable(cli, fact[i].instead);
    }
    return 0;
}

/* An agent of an older version does not tell. */
int local_get_pid_dir(struct cli *cli, const char **ret, struct err *err)
{
    struct local_facts facts;

    if (local_get_facts(cli, &facts, err))
        return -1;
    *ret = *facts.pid_dir ? facts.pid_dir : SHORT_PID_DIR;
    return 0;
}
