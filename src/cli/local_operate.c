/* SPDX-License-Identifier: MIT */
/* local_operate.c - see local_operate.h. */
#include "cli/local_operate.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem/mem.h"
#include "base/os/sys.h"
#include "cli/ask.h"
#include "cli/local.h"
#include "model/operation.h"

/* AT_ONCE: connections; the agent allows a user some more.  SLICE_MS: how often signals are
 * checked. */
enum { AT_ONCE = 16, SLICE_MS = 100 };

struct asked {
    struct local_link link;
    size_t item;
    bool is_open;
};

struct operating {
    struct cli *cli;
    struct watch *w;
    struct task_item_view *items;
    size_t n, n_begun, n_open;
    int64_t until_ms;
    struct asked asked[AT_ONCE];
};

/* ---- requests ---- */

static const char *name_of(const struct cli *cli, size_t i)
{
    return ((const struct word *)cli->names.items)[i].text;
}

/* The agent has not seen a request that is wrong. */
static int read_request(struct cli *cli, size_t i, struct operation_ask *ret, struct err *err)
{
    struct args one = cli->args;
    bool is_forget = cli->args.command->op < 0;
    struct forget_ask f;

    one.words[0] = name_of(cli, i);
    if (is_forget ? ask_forget(&one, cli->lang, &cli->arena, &f, err)
                  : ask_operation(&one, cli->lang, &cli->arena, ret, err)) {
        cli->refused_status = CLI_USAGE;
        return -1;
    }
    if (is_forget)
        *ret = (struct operation_ask){ .op = PROC_OP_UNHOST, .space = f.space, .name = f.name };
    return 0;
}

static bool is_idempotent(const struct cli *cli)
{
    return cli->args.idempotent || cli->has_group;
}

static int send_request(struct cli *cli, const struct operation_ask *ask, struct local_link *l,
                        struct err *err)
{
    const struct local_ask which = { ask->space, ask->name, false };
    const struct local_operate m = { .op = ask->op,
                                     .meta = { ask->space, ask->name, { 0 } },
                                     .spec = ask->spec,
                                     .idempotent = cli->args.idempotent,
                                     .signal = ask->signal };

    if (cli->args.command->op < 0)
        return local_link_open(cli, &cli->arena, LOCAL_FORGET, &local_ask_shape, &which, l, err);
    return local_link_open(cli, &cli->arena, LOCAL_OPERATE, &local_operate_shape, &m, l, err);
}

static int begin_next(struct operating *o, struct asked *to, struct err *err)
{
    struct cli *cli = o->cli;
    struct task_item_view *item = &o->items[o->n_begun];
    struct operation_ask ask;

    if (read_request(cli, o->n_begun, &ask, err))
        return -1;
    item->op = ask.op;
    if (send_request(cli, &ask, &to->link, err))
        return -1;
    to->item = o->n_begun++;
    to->is_open = true;
    o->n_open++;
    return 0;
}

static int begin_more(struct operating *o, struct err *err)
{
    for (size_t i = 0; i < AT_ONCE && o->n_begun < o->n; i++) {
        if (!o->asked[i].is_open && begin_next(o, &o->asked[i], err))
            return -1;
    }
    return 0;
}

static void end_one(struct operating *o, struct asked *one)
{
    local_link_close(&one->link);
    one->is_open = false;
    o->n_open--;
}

/* ---- results ---- */

/* In a group, those that were as asked already are not worth a line. */
static void take_unchanged(struct operating *o, struct task_item_view *item)
{
    item->code = CODE_OK;
    item->changed = false;
    if (o->cli->has_group)
        item->text = "";
    o->w->task.unchanged++;
}

static void take_result(struct operating *o, struct task_item_view *item,
                        const struct message_result *r)
{
    struct cli *cli = o->cli;

    item->done = true;
    item->code = r->code;
    item->text = local_readable(cli, r->text);
    item->view = r->view;
    item->changed = !r->code && !operation_has_kind(item->op, ONLY_LOOKS);
    local_make_readable(cli, &item->view);
    if (is_idempotent(cli) && operation_was_done(item->op, r->code))
        take_unchanged(o, item);
    o->w->task.left--;
    o->w->task.failed += item->code != 0;
}

/* "local:USER:NUMBER" */
static void note_task(struct operating *o, const char *task)
{
    const char *user = strchr(task, ':');

    o->w->task_id = o->w->task.task_id = task;
    if (user)
        o->w->task.user = arena_memdup(&o->cli->arena, user + 1, strcspn(user + 1, ":"));
}

/* With --no-wait, it is enough that the operation has begun.  False: there is more to come. */
static bool take_message(struct operating *o, struct asked *one, unsigned type, const void *message)
{
    const struct message_ref *taken = message;

    if (type == MESSAGE_TAKEN && !*o->w->task_id)
        note_task(o, taken->task);
    if (type == MESSAGE_TAKEN && o->cli->args.no_wait)
        return true;
    if (type != MESSAGE_RESULT)
        return false;
    take_result(o, &o->items[one->item], message);
    return true;
}

static int read_one(struct operating *o, struct asked *one, struct err *err)
{
    int64_t until_ms = clock_mono_ms(o->cli->clock) + 1; /* bytes have come */

    for (;;) {
        const void *message = NULL;
        unsigned type = 0;
        enum local_came came = local_link_next(&one->link, until_ms, &type, &message, err);

        if (came == LOCAL_FAILED)
            return -1;
        if (came != LOCAL_CAME)
            return 0;
        if (take_message(o, one, type, message)) {
            end_one(o, one);
            return 0;
        }
        until_ms = 0;
    }
}

/* Waits for bytes and reads what has come. */
static int read_some(struct operating *o, int64_t wait_ms, struct err *err)
{
    struct pollfd fds[AT_ONCE];

    for (size_t i = 0; i < AT_ONCE; i++)
        fds[i] = (struct pollfd){ o->asked[i].is_open ? o->asked[i].link.fd : -1, POLLIN, 0 };
    if (sys_poll(fds, AT_ONCE, (int)wait_ms) <= 0)
        return 0;
    for (size_t i = 0; i < AT_ONCE; i++) {
        if (fds[i].revents && read_one(o, &o->asked[i], err))
            return -1;
    }
    return 0;
}

static int operate_on_all(struct operating *o, struct err *err)
{
    struct cli *cli = o->cli;

    while (o->n_begun < o->n || o->n_open) {
        int64_t left_ms = o->until_ms - clock_mono_ms(cli->clock);

        if (cli_is_interrupted() || left_ms <= 0) {
            o->w->end = left_ms <= 0 ? WATCH_TIMEOUT : WATCH_SIGNAL;
            return 0;
        }
        if (begin_more(o, err) || read_some(o, left_ms < SLICE_MS ? left_ms : SLICE_MS, err))
            return -1;
    }
    o->w->end = WATCH_DONE;
    return 0;
}

/* ---- items ---- */

static void fill_items(struct operating *o)
{
    struct cli *cli = o->cli;

    for (size_t i = 0; i < o->n; i++) {
        const char *name = name_of(cli, i), *slash = strchr(name, '/');
        const char *space = arena_memdup(&cli->arena, name, (size_t)(slash - name));

        o->items[i] = (struct task_item_view){ .agent_id = "",
                                               .ip = "",
                                               .space = space,
                                               .name = slash + 1,
                                               .op = cli->args.command->op,
                                               .code = CODE_WAITING,
                                               .text = "" };
        o->items[i].key =
            arena_printf(&cli->arena, "%s:%s:%s", local_host(&cli->arena), space, slash + 1);
        shape_defaults(&proc_view_shape, &o->items[i].view);
    }
}

static struct operating new_operating(struct cli *cli, struct watch *w)
{
    struct operating o = { .cli = cli, .w = w, .n = cli->names.n };

    o.items = arena_alloc(&cli->arena, o.n * sizeof(*o.items));
    fill_items(&o);
    o.until_ms = w->timeout_ms < 0 ? INT64_MAX : clock_mono_ms(cli->clock) + w->timeout_ms;
    w->task_id = "";
    w->task = (struct task_view){ .task_id = "",
                                  .app = "",
                                  .user = "",
                                  .created_ms = clock_wall_ms(cli->clock),
                                  .idempotent = is_idempotent(cli),
                                  .total = (int64_t)o.n,
                                  .left = (int64_t)o.n,
                                  .items = { o.items, o.n } };
    return o;
}

int local_operate(struct cli *cli, struct watch *w, int64_t *ret_not_begun, struct err *err)
{
    struct operating o = new_operating(cli, w);
    int64_t began_ms = clock_mono_ms(cli->clock);
    const struct timespec no_time = { 0 };
    sigset_t signals, old;
    int bad;

    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigprocmask(SIG_BLOCK, &signals, &old); /* of this thread; cannot fail */
    bad = operate_on_all(&o, err);
    if (w->end == WATCH_SIGNAL)
        w->signal = sigtimedwait(&signals, NULL, &no_time);
    sigprocmask(SIG_SETMASK, &old, NULL);
    w->elapsed_ms = clock_mono_ms(cli->clock) - began_ms;
    *ret_not_begun = (int64_t)(o.n - o.n_begun);
    for (size_t i = 0; i < AT_ONCE; i++) {
        if (o.asked[i].is_open)
            end_one(&o, &o.asked[i]);
    }
    return bad;
}

int local_operate_begin(struct cli *cli, struct arena *a, int64_t op, const char *space,
                        const char *name, struct local_link *ret, struct err *err)
{
    struct local_operate m = { .op = op, .meta = { space, name, { 0 } } };

    shape_defaults(&proc_spec_shape, &m.spec);
    return local_link_open(cli, a, LOCAL_OPERATE, &local_operate_shape, &m, ret, err);
}

/* ---- dry run ---- */

static const struct process_view *find_process(const struct list *known, const char *space,
                                               const char *name)
{
    const struct process_view *p = known->items;

    for (size_t i = 0; i < known->n; i++) {
        if (!strcmp(p[i].view.space, space) && !strcmp(p[i].view.name, name))
            return &p[i];
    }
    return NULL;
}

static const char *outcome_of(const struct cli *cli, int64_t op, const struct process_view *p)
{
    const struct operation *o = operation_find(op);
    bool runs = p && p->view.status == PROC_RUNNING;
    int code = runs ? o->if_running : o->if_stopped;

    return text_get(cli->lang, p && code && operation_was_done(op, code) ? TEXT_LOCAL_DONE_ALREADY
                                                                         : TEXT_WOULD_TRY);
}

int local_dry_run(struct cli *cli, struct operation_view *ret, struct err *err)
{
    const struct process_ask all = { "", "", "", NULL, 0 };
    struct operation_target *targets =
        arena_alloc(&cli->arena, (cli->names.n + 1) * sizeof(*targets));
    struct list known;

    if (local_get_processes(cli, &all, &known, err))
        return -1;
    for (size_t i = 0; i < cli->names.n; i++) {
        struct operation_ask ask;

        if (read_request(cli, i, &ask, err))
            return -1;
        targets[i] = (struct operation_target){
            .key = name_of(cli, i),
            .agent_id = "",
            .ip = "",
            .online = true,
            .text = outcome_of(cli, ask.op, find_process(&known, ask.space, ask.name)),
        };
    }
    *ret = (struct operation_view){ .task_id = "",
                                    .items = (int64_t)cli->names.n,
                                    .dry_run = true,
                                    .targets = { targets, cli->names.n } };
    return 0;
}
