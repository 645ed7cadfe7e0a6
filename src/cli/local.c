/* SPDX-License-Identifier: MIT */
/* local.c - see local.h. */
#include "cli/local.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem/mem.h"
#include "base/os/sys.h"
#include "cli/args.h"
#include "cli/ask.h"
#include "cli/local_link.h"
#include "model/host.h"
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

static const char *host_name(struct arena *a)
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
static const char *readable(struct cli *cli, const char *text)
{
    return translate_own(text, cli->lang, &cli->arena);
}

static void make_view_readable(struct cli *cli, struct proc_view *v)
{
    v->cause.failed_text = readable(cli, v->cause.failed_text);
    v->cause.limit_text = readable(cli, v->cause.limit_text);
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
        make_view_readable(cli, &p.view);
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
    const struct local_ask question = { *word ? "" : ask->space, ask->name };
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
        p[i].ip = host_name(&cli->arena);
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

int local_get_facts(struct cli *cli, struct local_facts *ret, struct err *err)
{
    const struct local_ask question = { "", "" };
    struct local_fact *fact;
    const void *answer;

    if (ask_one(cli, &cli->arena, LOCAL_FACTS, &local_ask_shape, &question, LOCAL_FACTS_ARE,
                &answer, err))
        return -1;
    *ret = *(const struct local_facts *)answer;
    ret->trouble = readable(cli, ret->trouble);
    fact = ret->facts.items;
    for (size_t i = 0; i < ret->facts.n; i++) {
        fact[i].why = readable(cli, fact[i].why);
        fact[i].instead = readable(cli, fact[i].instead);
    }
    return 0;
}

/* ---- operations ---- */

struct asked {
    struct local_link link;
    bool is_open;
};

static int begin_one(struct cli *cli, const char *word, struct asked *to,
                     struct task_item_view *item, struct err *err)
{
    struct args one = cli->args;
    struct operation_ask ask;
    struct local_operate m;

    one.words[0] = word;
    if (ask_operation(&one, cli->lang, &cli->arena, &ask, err)) {
        cli->refused_status = CLI_USAGE; /* the agent has not seen it */
        return -1;
    }
    m = (struct local_operate){ ask.op, { ask.space, ask.name, { 0 } }, ask.spec, ask.signal };
    *item = (struct task_item_view){ .agent_id = "",
                                     .ip = "",
                                     .space = ask.space,
                                     .name = ask.name,
                                     .op = ask.op,
                                     .code = CODE_WAITING,
                                     .text = "" };
    item->key = arena_printf(&cli->arena, "%s:%s:%s", host_name(&cli->arena), ask.space, ask.name);
    shape_defaults(&proc_view_shape, &item->view);
    if (local_link_open(cli, &cli->arena, LOCAL_OPERATE, &local_operate_shape, &m, &to->link, err))
        return -1;
    to->is_open = true;
    return 0;
}

static void take_result(struct cli *cli, struct watch *w, struct task_item_view *item,
                        const struct message_result *r)
{
    item->done = true;
    item->code = r->code;
    item->text = readable(cli, r->text);
    item->view = r->view;
    make_view_readable(cli, &item->view);
    w->task.left--;
    w->task.failed += r->code != 0;
}

/* "local:USER:NUMBER" */
static void note_task(struct cli *cli, struct watch *w, const char *task)
{
    const char *user = strchr(task, ':');

    w->task_id = w->task.task_id = task;
    if (user)
        w->task.user = arena_memdup(&cli->arena, user + 1, strcspn(user + 1, ":"));
}

/* With --no-wait, it is enough that the operation has begun. */
static enum local_came local_wait_for(struct cli *cli, struct watch *w, struct asked *one,
                                      struct task_item_view *item, int64_t until_ms,
                                      struct err *err)
{
    for (;;) {
        const void *message = NULL;
        unsigned type = 0;
        enum local_came came = local_link_next(&one->link, until_ms, &type, &message, err);
        const struct message_ref *taken = message;

        if (came != LOCAL_CAME)
            return came;
        if (type == MESSAGE_TAKEN && !*w->task_id)
            note_task(cli, w, taken->task);
        if (type == MESSAGE_TAKEN && cli->args.no_wait)
            return LOCAL_CAME;
        if (type != MESSAGE_RESULT)
            continue;
        take_result(cli, w, item, message);
        return LOCAL_CAME;
    }
}

static int wait_for_all(struct cli *cli, struct watch *w, struct asked *all, struct err *err)
{
    struct task_item_view *items = w->task.items.items;
    int64_t until_ms = w->timeout_ms < 0 ? INT64_MAX : clock_mono_ms(cli->clock) + w->timeout_ms;

    for (size_t i = 0; i < w->task.items.n; i++) {
        enum local_came came = local_wait_for(cli, w, &all[i], &items[i], until_ms, err);

        if (came == LOCAL_FAILED)
            return -1;
        if (came != LOCAL_CAME) {
            w->end = came == LOCAL_LATE ? WATCH_TIMEOUT : WATCH_SIGNAL;
            return 0;
        }
    }
    w->end = WATCH_DONE;
    return 0;
}

static int operate_on_all(struct cli *cli, struct watch *w, struct asked *all, struct err *err)
{
    struct task_item_view *items = w->task.items.items;

    for (size_t i = 0; i < w->task.items.n; i++) {
        if (begin_one(cli, cli->args.words[i], &all[i], &items[i], err))
            return -1;
    }
    return wait_for_all(cli, w, all, err);
}

int local_operate(struct cli *cli, struct watch *w, struct err *err)
{
    size_t n = args_processes(&cli->args);
    struct asked *all = xalloc(n * sizeof(*all));
    int64_t began_ms = clock_mono_ms(cli->clock);
    const struct timespec no_time = { 0 };
    sigset_t signals, old;
    int bad;

    w->task_id = "";
    w->task = (struct task_view){ .task_id = "",
                                  .app = "",
                                  .user = "",
                                  .created_ms = clock_wall_ms(cli->clock),
                                  .total = (int64_t)n,
                                  .left = (int64_t)n };
    w->task.items = (struct list){ arena_alloc(&cli->arena, n * sizeof(struct task_item_view)), n };
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigprocmask(SIG_BLOCK, &signals, &old); /* of this thread; cannot fail */
    bad = operate_on_all(cli, w, all, err);
    if (w->end == WATCH_SIGNAL)
        w->signal = sigtimedwait(&signals, NULL, &no_time);
    sigprocmask(SIG_SETMASK, &old, NULL);
    w->elapsed_ms = clock_mono_ms(cli->clock) - began_ms;
    for (size_t i = 0; i < n; i++) {
        if (all[i].is_open)
            local_link_close(&all[i].link);
    }
    free(all);
    return bad;
}
