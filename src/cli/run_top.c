/* SPDX-License-Identifier: MIT */
/* run_top.c - the top command: the processes of this host, live. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem/mem.h"
#include "cli/local.h"
#include "cli/local_operate.h"
#include "cli/run.h"
#include "cli/terminal.h"
#include "cli/top_view.h"
#include "cli/width.h"
#include "model/operation.h"
#include "model/translate.h"
#include "model/why_write.h"

/* REFRESH_MS: between two lists; the agent measures at most every 5 s.  WATCH_MS: while the result
 * of an operation is awaited. */
enum { REFRESH_MS = 2000, WATCH_MS = 200, SIGNAL_STATUS = 128 };

enum top_mode { TOP_TABLE, TOP_CONFIRM, TOP_WHY, TOP_LOGS };

/* An operation that was begun here. */
struct top_operation {
    struct local_link link;
    struct arena arena;
    const char *label; /* "stop shop/web" */
    bool is_open;
};

struct top {
    struct cli *cli;
    struct terminal terminal;
    struct top_view view;
    struct list processes; /* struct process_view, in `data` */
    struct arena data;
    char *selected; /* NAMESPACE/NAME; NULL: the first row */
    enum top_mode mode;
    int64_t confirm_op, due_ms;
    char *message;
    struct top_operation op;
};

/* ---- messages ---- */

static void set_message(struct top *t, enum text id, const char *const *args)
{
    struct buf b = { 0 };

    text_put(&b, t->cli->lang, id, args);
    free(t->message);
    t->message = xstrdup(buf_text(&b));
    buf_free(&b);
}

static void clear_message(struct top *t)
{
    free(t->message);
    t->message = NULL;
}

static void tell_err(struct top *t, const struct err *err)
{
    struct arena a = { 0 };

    free(t->message);
    t->message = xstrdup(translate(err_msg(err), t->cli->lang, &a));
    arena_free(&a);
}

/* ---- data ---- */

static const struct proc_view *selected_view(const struct top *t)
{
    const struct process_view *p = t->processes.items;

    return t->view.selected < t->processes.n ? &p[t->view.selected].view : NULL;
}

static void note_selected(struct top *t)
{
    const struct proc_view *v = selected_view(t);

    free(t->selected);
    t->selected = v ? xprintf("%s/%s", v->space, v->name) : NULL;
}

static bool is_selected(const struct top *t, const struct proc_view *v)
{
    size_t n = strlen(v->space);

    return t->selected && !strncmp(t->selected, v->space, n) && t->selected[n] == '/' &&
           !strcmp(t->selected + n + 1, v->name);
}

/* After the rows were sorted: the same process stays selected. */
static void find_selected(struct top *t)
{
    const struct process_view *p = t->processes.items;

    for (size_t i = 0; i < t->processes.n; i++) {
        if (is_selected(t, &p[i].view)) {
            t->view.selected = i;
            break;
        }
    }
    top_scroll(&t->view, t->processes.n);
}

static void sort_rows(struct top *t)
{
    top_sort(&t->processes, t->view.sorted_by, t->view.is_reversed);
    find_selected(t);
}

static int load(struct top *t, struct err *err)
{
    const struct process_ask all = { "", "", "", NULL, 0 };
    struct cli *cli = t->cli;
    struct arena own = cli->arena;
    struct list processes;
    int bad;

    cli->arena = (struct arena){ 0 };
    cli->wants_use = true;
    bad = local_get_processes(cli, &all, &processes, err);
    if (bad) {
        arena_free(&cli->arena);
    } else {
        arena_free(&t->data);
        t->data = cli->arena;
        t->processes = processes;
    }
    cli->arena = own;
    return bad;
}

/* An agent that restarts comes back: the rows stay, and the message says why. */
static void refresh(struct top *t)
{
    struct err err = { 0 };

    t->due_ms = clock_mono_ms(t->cli->clock) + REFRESH_MS;
    if (load(t, &err))
        tell_err(t, &err);
    sort_rows(t);
}

/* ---- operations ---- */

static void end_operation(struct top *t)
{
    if (!t->op.is_open)
        return;
    local_link_close(&t->op.link);
    arena_free(&t->op.arena);
    t->op.is_open = false;
}

static const char *label_of(struct arena *a, enum lang lang, int64_t op, const char *name)
{
    return arena_printf(a, "%s %s", why_op_name(op, lang), name);
}

static void begin_operation(struct top *t, int64_t op)
{
    const struct proc_view *v = selected_view(t);
    struct err err = { 0 };

    if (!v)
        return;
    t->op.arena = (struct arena){ 0 };
    t->op.label = label_of(&t->op.arena, t->cli->lang, op, t->selected);
    if (local_operate_begin(t->cli, &t->op.arena, op, v->space, v->name, &t->op.link, &err)) {
        tell_err(t, &err);
        arena_free(&t->op.arena);
        return;
    }
    t->op.is_open = true;
    set_message(t, TEXT_TOP_BEGUN, TEXT_ARGS(t->op.label));
}

static void take_result(struct top *t, const struct message_result *r)
{
    struct arena a = { 0 };

    if (r->code)
        set_message(t, TEXT_TOP_FAILED,
                    TEXT_ARGS(t->op.label, translate_own(r->text, t->cli->lang, &a)));
    else
        set_message(t, TEXT_TOP_DONE, TEXT_ARGS(t->op.label));
    arena_free(&a);
    end_operation(t);
    t->due_ms = 0; /* the table shows it at once */
}

static void poll_operation(struct top *t)
{
    int64_t until_ms = clock_mono_ms(t->cli->clock) + 1;
    struct err err = { 0 };

    while (t->op.is_open) {
        const void *message = NULL;
        unsigned type = 0;
        enum local_came came = local_link_next(&t->op.link, until_ms, &type, &message, &err);

        if (came == LOCAL_FAILED) {
            tell_err(t, &err);
            end_operation(t);
        } else if (came != LOCAL_CAME) {
            return;
        } else if (type == MESSAGE_RESULT) {
            take_result(t, message);
        }
        until_ms = 0;
    }
}

/* What ends something is asked for. */
static void want_operation(struct top *t, int64_t op)
{
    const struct operation *o = operation_find(op);

    if (!t->selected)
        return;
    if (t->op.is_open) {
        set_message(t, TEXT_TOP_BUSY, TEXT_ARGS(t->op.label));
        return;
    }
    if (o->outcome == MAKES_RUN && !o->replaces) {
        begin_operation(t, op);
        return;
    }
    t->mode = TOP_CONFIRM;
    t->confirm_op = op;
    set_message(t, TEXT_TOP_SURE, TEXT_ARGS(why_op_name(op, t->cli->lang), t->selected));
}

/* ---- pages ---- */

/* What `why` prints, without colours. */
static const char *why_text(struct top *t, struct arena *a)
{
    struct cli *cli = t->cli;
    struct word name = { t->selected };
    struct out screen = cli->out;
    struct err err = { 0 };
    const char *text;

    cli->names = (struct list){ &name, 1 };
    cli->out =
        (struct out){ .fd = -1, .lang = cli->lang, .terminal = true, .width = t->view.width };
    text = run_why(cli, &err) < 0 ? translate(err_msg(&err), cli->lang, a)
                                  : arena_strdup(a, buf_text(&cli->out.b));
    out_done(&cli->out);
    cli->out = screen;
    return text;
}

static const char *logs_text(struct top *t, struct arena *a)
{
    const struct proc_view *v = selected_view(t);
    struct log_ask ask = { v->space, v->name, "", "", (int64_t)t->view.height, -1 };
    struct log_view view;
    struct err err = { 0 };
    struct buf b = { 0 };
    const char *text;

    if (local_get_log(t->cli, &ask, a, &view, &err))
        return translate(err_msg(&err), t->cli->lang, a);
    width_show(&b, view.output);
    text = arena_strdup(a, buf_text(&b));
    buf_free(&b);
    return text;
}

/* ---- drawing ---- */

static const char **compose(struct top *t, struct arena *a)
{
    bool is_logs = t->mode == TOP_LOGS;

    if (selected_view(t) && (is_logs || t->mode == TOP_WHY))
        return top_page(&t->view, is_logs ? logs_text(t, a) : why_text(t, a), is_logs, a);
    t->view.message = t->message;
    return top_lines(&t->view, &t->processes, clock_wall_ms(t->cli->clock) / 1000, a);
}

static int draw(struct top *t, struct err *err)
{
    int64_t now_s = clock_wall_ms(t->cli->clock) / 1000;
    struct cli *cli = t->cli;
    struct arena own = cli->arena, a = { 0 };
    char iso[TIME_TEXT_SIZE];
    int bad;

    time_iso((now_s + time_zone_offset_s(now_s)) * 1000, iso);
    iso[19] = '\0';
    t->view.time = iso + 11;
    t->view.message = NULL;
    t->view.width = t->terminal.width;
    t->view.height = t->terminal.height;
    top_scroll(&t->view, t->processes.n);
    cli->arena = (struct arena){ 0 };
    bad = terminal_draw(&t->terminal, compose(t, &a), err);
    arena_free(&cli->arena);
    arena_free(&a);
    cli->arena = own;
    return bad;
}

/* ---- keys ---- */

static void move(struct top *t, int key)
{
    size_t n = t->processes.n, room = top_room(&t->view), *at = &t->view.selected;

    switch (key) {
    case KEY_UP: *at -= *at > 0; break;
    case KEY_DOWN: *at += *at + 1 < n; break;
    case KEY_PAGE_UP: *at -= *at < room ? *at : room; break;
    case KEY_PAGE_DOWN: *at = *at + room < n ? *at + room : n ? n - 1 : 0; break;
    case KEY_HOME: *at = 0; break;
    case KEY_END: *at = n ? n - 1 : 0; break;
    }
    top_scroll(&t->view, n);
    note_selected(t);
}

static void sort_by(struct top *t, enum top_column by)
{
    t->view.is_reversed = t->view.sorted_by == by && !t->view.is_reversed;
    t->view.sorted_by = by;
    sort_rows(t);
}

static void on_table_key(struct top *t, int key)
{
    clear_message(t);
    if (!t->selected)
        note_selected(t);
    switch (key) {
    case 's': want_operation(t, PROC_OP_START); return;
    case 't': want_operation(t, PROC_OP_STOP); return;
    case 'r': want_operation(t, PROC_OP_RESTART); return;
    case 'l': t->mode = TOP_LOGS; return;
    case 'w': t->mode = TOP_WHY; return;
    }
    for (size_t c = 0; c < TOP_COLUMNS; c++) {
        if (key == top_keys[c])
            sort_by(t, (enum top_column)c);
    }
    move(t, key);
}

/* False: the end was asked for. */
static bool on_key(struct top *t, int key)
{
    if (t->mode == TOP_TABLE && key == 'q')
        return false;
    switch (t->mode) {
    case TOP_TABLE: on_table_key(t, key); return true;
    case TOP_CONFIRM:
        clear_message(t);
        t->mode = TOP_TABLE;
        if (key < 128 && tolower(key) == 'y')
            begin_operation(t, t->confirm_op);
        return true;
    case TOP_WHY:
    case TOP_LOGS: t->mode = TOP_TABLE; return true;
    }
    return true;
}

/* ---- the loop ---- */

static int64_t wait_ms(const struct top *t)
{
    int64_t left_ms = t->due_ms - clock_mono_ms(t->cli->clock);

    if (t->op.is_open && left_ms > WATCH_MS)
        return WATCH_MS;
    return left_ms > 0 ? left_ms : 0;
}

static int run_live(struct top *t, struct err *err)
{
    for (;;) {
        int key = -1;

        if (draw(t, err))
            return -1;
        switch (terminal_wait(&t->terminal, wait_ms(t), &key)) {
        case TERMINAL_END: return 0;
        case TERMINAL_KEY:
            if (!on_key(t, key))
                return 0;
            break;
        case TERMINAL_RESIZED:
        case TERMINAL_NOTHING: break;
        }
        poll_operation(t);
        if (clock_mono_ms(t->cli->clock) >= t->due_ms)
            refresh(t);
    }
}

static int show_live(struct top *t, struct err *err)
{
    int bad, number;

    if (terminal_open(&t->terminal, STDIN_FILENO, &t->cli->out, err))
        return -1;
    t->due_ms = clock_mono_ms(t->cli->clock) + REFRESH_MS;
    sort_rows(t);
    bad = run_live(t, err);
    number = t->terminal.signal;
    terminal_close(&t->terminal);
    if (bad)
        return -1;
    return number == SIGTERM || number == SIGHUP ? SIGNAL_STATUS + number : CLI_OK;
}

static int show_once(struct top *t)
{
    struct cli *cli = t->cli;

    top_sort(&t->processes, TOP_NAME, false);
    if (cli->settings.json)
        cli_json(cli, &process_page_shape, &(struct process_page){ t->processes, "" });
    else
        top_put_plain(&t->processes, clock_wall_ms(cli->clock) / 1000, &cli->out);
    return CLI_OK;
}

int run_top(struct cli *cli, struct err *err)
{
    struct top t = { .cli = cli };
    bool is_live = cli->out.terminal && isatty(STDIN_FILENO) && !cli->settings.json;
    int status;

    t.view = (struct top_view){ .lang = cli->lang,
                                .colour = cli->out.colour,
                                .host = local_host(&cli->arena),
                                .sorted_by = TOP_CPU };
    status = load(&t, err) ? -1 : is_live ? show_live(&t, err) : show_once(&t);
    end_operation(&t);
    free(t.selected);
    free(t.message);
    arena_free(&t.data);
    return status;
}
