/* SPDX-License-Identifier: MIT */
/* run_why.c - the why command: the state of a process as a sentence, and the facts behind it. */
#include <string.h>

#include "base/mem/mem.h"
#include "cli/ask.h"
#include "cli/local.h"
#include "cli/names.h"
#include "cli/run.h"
#include "cli/views.h"
#include "cli/width.h"
#include "model/duration.h"
#include "model/explain.h"
#include "model/why_judge.h"
#include "model/why_write.h"

enum { INDENT = 2, GAP = 2 };

struct block {
    struct cli *cli;
    const struct process_view *process;
    const struct list *operations; /* struct explain_operation */
    int64_t now_s;
    size_t labels; /* columns of the widest label */
};

/* ---- lines ---- */

static void run_why_put_wrapped(struct block *b, size_t column, enum style style, const char *text)
{
    out_wrapped(&b->cli->out, column, style, width_clean(&b->cli->arena, text));
}

/* ---- facts ---- */

static const enum text labels[] = { TEXT_FACT_STATE,       TEXT_FACT_WANTED,   TEXT_FACT_HOSTED,
                                    TEXT_FACT_PID,         TEXT_FACT_EXIT,     TEXT_FACT_RESTARTS,
                                    TEXT_FACT_INSTANCES,   TEXT_FACT_TRIES,    TEXT_FACT_NEXT,
                                    TEXT_FACT_FAILED,      TEXT_FACT_SENTENCE, TEXT_FACT_OUTPUT,
                                    TEXT_FACT_NEXT_RUN,    TEXT_FACT_RUNS,     TEXT_FACT_USE,
                                    TEXT_FACT_LIMIT,       TEXT_FACT_VERSION,  TEXT_FACT_HEALTH,
                                    TEXT_FACT_CONFIG,      TEXT_FACT_WAITS,    TEXT_FACT_OPERATIONS,
                                    TEXT_FACT_EXIT_OUTPUT, TEXT_FACT_CHECKS };

static size_t widest_label(enum lang lang)
{
    size_t widest = 0;

    for (size_t i = 0; i < ARRAY_LEN(labels); i++) {
        size_t width = width_text(text_get(lang, labels[i]));

        widest = width > widest ? width : widest;
    }
    return widest;
}

static void put_label(struct block *b, enum text label)
{
    struct out *o = &b->cli->out;
    const char *text = text_get(b->cli->lang, label);

    out_blanks(o, INDENT);
    out_styled(o, STYLE_DIM, text);
    out_blanks(o, b->labels - width_text(text) + GAP);
}

static void put_fact(struct block *b, enum text label, const char *value)
{
    put_label(b, label);
    run_why_put_wrapped(b, INDENT + b->labels + GAP, STYLE_PLAIN, value);
}

static const char *run_why_keep(struct block *b, struct buf *text)
{
    const char *copy = arena_strdup(&b->cli->arena, buf_text(text));

    buf_free(text);
    return copy;
}

static const char *run_why_fill(struct block *b, enum text id, const char *const *args)
{
    struct buf text = { 0 };

    text_put(&text, b->cli->lang, id, args);
    return run_why_keep(b, &text);
}

static const char *span(struct block *b, int64_t seconds)
{
    return cli_duration(b->cli, seconds * 1000);
}

/* "2026-11-15 05:47 (3m 12s ago)" */
static const char *moment(struct block *b, int64_t when_s)
{
    struct buf date = { 0 };

    duration_put_date(&date, when_s);
    return run_why_fill(b, TEXT_FACT_AGO,
                        TEXT_ARGS(run_why_keep(b, &date), span(b, b->now_s - when_s)));
}

static void put_state(struct block *b)
{
    const struct proc_view *v = &b->process->view;
    const char *state = text_get(b->cli->lang, views_state(b->process));
    int64_t unknown_s = b->process->unknown_since_s;
    int64_t since_s = unknown_s ? unknown_s : v->cause.is_periodic ? 0 : v->cause.since_s;

    if (since_s > 0)
        state = run_why_fill(b, TEXT_FACT_SINCE, TEXT_ARGS(state, moment(b, since_s)));
    put_fact(b, TEXT_FACT_STATE, state);
    if (*views_wanted(b->cli->lang, v))
        put_fact(b, TEXT_FACT_WANTED, views_wanted(b->cli->lang, v));
    put_fact(b, TEXT_FACT_HOSTED,
             text_get(b->cli->lang, v->hosted               ? TEXT_YES
                                    : v->cause.has_given_up ? TEXT_FACT_GIVEN_UP
                                                            : TEXT_NO));
    if (v->pid > 0 && !unknown_s)
        put_fact(b, TEXT_FACT_PID, cli_count(b->cli, v->pid));
    if (v->cause.instances_wanted > 0 && !unknown_s)
        put_fact(b, TEXT_FACT_INSTANCES,
                 run_why_fill(b, TEXT_FACT_OF,
                              TEXT_ARGS(cli_count(b->cli, v->cause.instances),
                                        cli_count(b->cli, v->cause.instances_wanted))));
}

/* As of the agent's last report. */
static void put_use(struct block *b)
{
    const struct proc_view *v = &b->process->view;
    struct arena *a = &b->cli->arena;
    const char *text;

    if (v->mem_bytes <= 0 || b->process->unknown_since_s)
        return;
    text = run_why_fill(b, TEXT_FACT_USE_MEM,
                        TEXT_ARGS(arena_printf(a, "%.1f MB", (double)v->mem_bytes / (1 << 20)),
                                  arena_printf(a, "%.1f", v->mem_percent)));
    text = run_why_fill(b, TEXT_FACT_USE_ALL,
                        TEXT_ARGS(arena_printf(a, "%.1f", v->cpu_percent), text));
    put_fact(b, TEXT_FACT_USE, text);
}

/* Puts several lines on one. */
static const char *on_one_line(struct block *b, const char *text)
{
    char *line = arena_strdup(&b->cli->arena, text);

    for (char *c = line; *c; c++)
        *c = *c == '\n' || *c == '\r' || *c == '\t' ? ' ' : *c;
    return line;
}

static void put_health(struct block *b)
{
    const struct proc_view *v = &b->process->view;
    const struct {
        enum text label;
        const char *value;
    } facts[] = { { TEXT_FACT_VERSION, v->version },
                  { TEXT_FACT_HEALTH, v->health },
                  { TEXT_FACT_CONFIG, v->cause.drift },
                  { TEXT_FACT_WAITS, v->cause.waits_for } };

    for (size_t i = 0; i < ARRAY_LEN(facts); i++) {
        if (facts[i].value && *facts[i].value)
            put_fact(b, facts[i].label, on_one_line(b, facts[i].value));
    }
}

static const char *check_text(struct block *b, const struct proc_check_view *check)
{
    const char *name = check->name,
               *ms = arena_printf(&b->cli->arena, check->latency_ms < 10 ? "%.1f" : "%.0f",
                                  check->latency_ms);

    switch ((enum proc_check_state)check->state) {
    case CHECK_UNKNOWN: break;
    case CHECK_PASSING: return run_why_fill(b, TEXT_FACT_CHECK_PASSING, TEXT_ARGS(name, ms));
    case CHECK_FAILING:
        return run_why_fill(
            b, TEXT_FACT_CHECK_FAILING,
            TEXT_ARGS(name, span(b, b->now_s - check->since_s), on_one_line(b, check->text)));
    }
    return run_why_fill(b, TEXT_FACT_CHECK_UNKNOWN, TEXT_ARGS(name));
}

static void put_checks(struct block *b)
{
    const struct list *list = &b->process->view.checks;
    const struct proc_check_view *checks = list->items;

    for (size_t i = 0; i < list->n; i++) {
        if (i == 0)
            put_label(b, TEXT_FACT_CHECKS);
        else
            out_blanks(&b->cli->out, INDENT + b->labels + GAP);
        run_why_put_wrapped(b, INDENT + b->labels + GAP,
                            checks[i].state == CHECK_FAILING ? STYLE_BAD : STYLE_PLAIN,
                            check_text(b, &checks[i]));
    }
}

static void put_limit(struct block *b)
{
    const struct proc_cause *c = &b->process->view.cause;

    if (c->limit_s > 0)
        put_fact(b, TEXT_FACT_LIMIT,
                 run_why_fill(b, TEXT_FACT_ENDED, TEXT_ARGS(c->limit_text, moment(b, c->limit_s))));
}

static void put_exit(struct block *b)
{
    const struct proc_cause *c = &b->process->view.cause;
    struct buf how = { 0 };
    const char *text;

    if (c->exit_s <= 0)
        return;
    why_write_exit(c, b->cli->lang, &how);
    text = run_why_fill(b, TEXT_FACT_ENDED, TEXT_ARGS(run_why_keep(b, &how), moment(b, c->exit_s)));
    if (c->exit_pid > 0)
        text =
            run_why_fill(b, TEXT_FACT_ENDED_PID, TEXT_ARGS(text, cli_count(b->cli, c->exit_pid)));
    put_fact(b, TEXT_FACT_EXIT, text);
}

static void put_tries(struct block *b)
{
    const struct proc_view *v = &b->process->view;
    const struct proc_cause *c = &v->cause;
    const char *n = cli_count(b->cli, c->tries);

    if (v->restarts > 0)
        put_fact(b, TEXT_FACT_RESTARTS, cli_count(b->cli, v->restarts));
    if (c->tries > 0 && c->tries_max > 0)
        n = run_why_fill(b, TEXT_FACT_OF_MOST, TEXT_ARGS(n, cli_count(b->cli, c->tries_max)));
    if (c->tries > 0)
        put_fact(b, TEXT_FACT_TRIES, n);
    if (why_is_used_up(c))
        return;
    if (c->next_try_s > b->now_s)
        put_fact(b, TEXT_FACT_NEXT,
                 run_why_fill(b, TEXT_FACT_IN, TEXT_ARGS(span(b, c->next_try_s - b->now_s))));
    else if (c->next_try_s > 0)
        put_fact(b, TEXT_FACT_NEXT, text_get(b->cli->lang, TEXT_FACT_NOW));
}

static void put_failure(struct block *b)
{
    const struct proc_cause *c = &b->process->view.cause;
    const struct code_info *info = code_get((int)c->failed_code);
    const char *code = cli_count(b->cli, c->failed_code);

    if (c->failed_s <= 0)
        return;
    if (info->number == c->failed_code)
        code = arena_printf(&b->cli->arena, "%s %s", code, info->name);
    put_fact(b, TEXT_FACT_FAILED,
             run_why_fill(
                 b, TEXT_FACT_FAILURE,
                 TEXT_ARGS(why_op_name(c->failed_op, b->cli->lang), moment(b, c->failed_s), code)));
    if (*c->failed_text) {
        out_blanks(&b->cli->out, INDENT + b->labels + GAP);
        run_why_put_wrapped(b, INDENT + b->labels + GAP, STYLE_PLAIN, c->failed_text);
    }
}

/* The output of a process that runs is old: it is from its previous end, or from a start that
 * failed. */
static bool has_old_output(const struct proc_view *v)
{
    return v->status == PROC_RUNNING && !why_failure_stands(v);
}

static bool is_of_exit(const struct proc_cause *c)
{
    return c->exit_s > 0 && c->exit_s >= c->failed_s;
}

/* Prints the lines, with control characters escaped. */
static void put_output(struct block *b)
{
    const struct proc_view *v = &b->process->view;
    char *line = arena_strdup(&b->cli->arena, v->cause.output), *next;

    if (has_old_output(v) && !is_of_exit(&v->cause))
        return;
    for (bool first = true; line && *line; line = next, first = false) {
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        if (first)
            put_label(b, has_old_output(v) ? TEXT_FACT_EXIT_OUTPUT : TEXT_FACT_OUTPUT);
        else
            out_blanks(&b->cli->out, INDENT + b->labels + GAP);
        out_styled(&b->cli->out, STYLE_DIM, "| ");
        run_why_put_wrapped(b, INDENT + b->labels + GAP + 2, STYLE_PLAIN, line);
    }
}

/* ---- runs ---- */

static const char *date(struct block *b, int64_t when_s)
{
    struct buf text = { 0 };

    duration_put_date(&text, when_s);
    return run_why_keep(b, &text);
}

static void put_next_run(struct block *b)
{
    int64_t next_s = b->process->view.cause.next_run_s;

    if (next_s <= 0)
        return;
    put_fact(b, TEXT_FACT_NEXT_RUN,
             next_s <= b->now_s
                 ? text_get(b->cli->lang, TEXT_FACT_NOW)
                 : run_why_fill(b, TEXT_FACT_AHEAD,
                                TEXT_ARGS(date(b, next_s), span(b, next_s - b->now_s))));
}

/* "succeeded", "failed, exit code 1", "the command did not end in time (...)" */
static const char *run_result(struct block *b, const struct proc_run *run)
{
    const struct proc_cause ended = { .exit_code = run->exit_code,
                                      .exit_signal = run->exit_signal };
    bool is_known = run->exit_code >= 0 || run->exit_signal;
    const char *text = text_get(b->cli->lang, TEXT_FACT_RUN_WELL);
    struct buf how = { 0 };

    if (run->code == CODE_COMMAND && is_known)
        text = text_get(b->cli->lang, TEXT_FACT_RUN_BADLY);
    else if (run->code != CODE_OK)
        text = run_why_fill(
            b, TEXT_FACT_RUN_FAILED,
            TEXT_ARGS(code_get((int)run->code)->text[b->cli->lang], cli_count(b->cli, run->code)));
    if (!is_known || (run->code == CODE_OK && !run->exit_code))
        return text;
    why_write_exit(&ended, b->cli->lang, &how);
    return run_why_fill(b, TEXT_FACT_ENDED, TEXT_ARGS(text, run_why_keep(b, &how)));
}

static const char *last_line(const char *output)
{
    const char *line = strrchr(output, '\n');

    return line ? line + 1 : output;
}

/* Start, duration, result and last output of each run; newest first. */
static void put_runs(struct block *b)
{
    const struct list *list = &b->process->view.cause.runs;
    const struct proc_run *runs = list->items;
    const char *took[WHY_RUNS];
    size_t widest = 0, n = list->n < WHY_RUNS ? list->n : WHY_RUNS;

    for (size_t i = 0; i < n; i++) {
        took[i] = cli_duration(b->cli, runs[i].duration_ms);
        widest = width_text(took[i]) > widest ? width_text(took[i]) : widest;
    }
    for (size_t i = 0; i < n; i++) {
        const char *said = last_line(runs[i].output);

        if (i == 0)
            put_label(b, TEXT_FACT_RUNS);
        else
            out_blanks(&b->cli->out, INDENT + b->labels + GAP);
        run_why_put_wrapped(b, INDENT + b->labels + GAP, runs[i].code ? STYLE_BAD : STYLE_PLAIN,
                            arena_printf(&b->cli->arena, "%s%*s%s  %s%s%s",
                                         date(b, runs[i].begun_s),
                                         (int)(GAP + widest - width_text(took[i])), "", took[i],
                                         run_result(b, &runs[i]), *said ? "  | " : "", said));
    }
}

/* ---- operations ---- */

static const char *operation_result(struct block *b, const struct explain_operation *o)
{
    const struct code_info *info = code_get((int)o->code);

    if (o->code == CODE_WAITING)
        return text_get(b->cli->lang, TEXT_WAITING);
    if (o->code == CODE_OK)
        return text_get(b->cli->lang, TEXT_FACT_RUN_WELL);
    return run_why_fill(b, TEXT_FACT_RUN_FAILED,
                        TEXT_ARGS(info->number == o->code ? info->text[b->cli->lang] : o->text,
                                  cli_count(b->cli, o->code)));
}

/* Padded with blanks, so that the next column is aligned. */
static const char *op_cell(const struct block *b, int64_t op)
{
    const struct explain_operation *o = b->operations->items;
    const char *name = why_op_name(op, b->cli->lang);
    size_t widest = 0;

    for (size_t i = 0; i < b->operations->n; i++) {
        size_t width = width_text(why_op_name(o[i].op, b->cli->lang));

        widest = width > widest ? width : widest;
    }
    return arena_printf(&b->cli->arena, "%s%*s", name, (int)(widest - width_text(name)), "");
}

static void put_operations(struct block *b)
{
    const struct explain_operation *o = b->operations->items;

    for (size_t i = 0; i < b->operations->n; i++) {
        if (i == 0)
            put_label(b, TEXT_FACT_OPERATIONS);
        else
            out_blanks(&b->cli->out, INDENT + b->labels + GAP);
        run_why_put_wrapped(b, INDENT + b->labels + GAP, STYLE_PLAIN,
                            arena_printf(&b->cli->arena, "%s  %s  %s  %s  %s",
                                         date(b, o[i].created_ms / 1000), op_cell(b, o[i].op),
                                         operation_result(b, &o[i]),
                                         *o[i].user ? o[i].user : o[i].app, o[i].task_id));
    }
}

/* ---- a process ---- */

static bool is_well(const struct process_view *p)
{
    return p->online && !why_is_trouble(&p->view);
}

static void run_why_put_process(struct cli *cli, const struct explanation *e, int64_t now_s)
{
    const struct process_view *p = &e->process;
    struct block b = { cli, p, &e->operations, now_s, widest_label(cli->lang) };
    const char *host = views_host(&cli->arena, p->agent_id, p->cloud_id, p->ip);
    const char *name = arena_printf(&cli->arena, "%s/%s", p->view.space, p->view.name);

    run_why_put_wrapped(&b, 0, STYLE_HEAD, run_why_fill(&b, TEXT_WHY_HEAD, TEXT_ARGS(name, host)));
    put_label(&b, TEXT_FACT_SENTENCE);
    run_why_put_wrapped(&b, INDENT + b.labels + GAP, is_well(p) ? STYLE_GOOD : STYLE_BAD,
                        views_why(&cli->arena, cli->lang, p, now_s));
    put_state(&b);
    put_use(&b);
    put_health(&b);
    put_checks(&b);
    put_exit(&b);
    put_limit(&b);
    put_tries(&b);
    put_next_run(&b);
    put_runs(&b);
    put_failure(&b);
    put_output(&b);
    put_operations(&b);
}

static int get_all(struct cli *cli, const struct process_ask *ask, struct list *ret,
                   struct err *err)
{
    struct client_pair query[] = { { "namespace", ask->space },
                                   { "name", ask->name },
                                   { "host", ask->host },
                                   { "after", "" },
                                   { 0 } };

    return cli_get_all(cli, "/v1/explain", query, &explain_page_shape, ret, err);
}

/* Without a server the JSON is the same as that of `ps`. */
static void put_json(struct cli *cli, const struct list *all)
{
    const struct explanation *e = all->items;
    struct process_view *views = arena_alloc(&cli->arena, (all->n + 1) * sizeof(*views));

    for (size_t i = 0; i < all->n; i++)
        views[i] = e[i].process;
    if (cli->local)
        cli_json(cli, &process_page_shape, &(struct process_page){ { views, all->n }, "" });
    else
        cli_json(cli, &explain_page_shape, &(struct explain_page){ *all, "" });
}

static int read_word(struct cli *cli, const char *word, struct process_ask *ret, struct err *err)
{
    struct args one = cli->args;

    one.words[0] = word;
    one.n_words = 1;
    if (ask_processes(&one, cli->lang, &cli->arena, ret, err))
        return -1;
    if (!*ret->name)
        return text_err(err, ERR_INVALID, cli->lang, TEXT_NOT_A_PROCESS, TEXT_ARGS(word));
    return 0;
}

static int get_named(struct cli *cli, size_t i, const struct process_ask *ask, struct buf *to,
                     struct err *err)
{
    struct list one;

    if (get_all(cli, ask, &one, err))
        return -1;
    buf_add(to, one.items, one.n * sizeof(struct explanation));
    return one.n || cli->settings.json ? 0 : names_unknown(cli, cli->args.words[i], err);
}

/* All words are checked before the first request. */
static int get_each(struct cli *cli, struct list *ret, struct err *err)
{
    size_t n = cli->args.n_words;
    struct process_ask *asks = arena_alloc(&cli->arena, n * sizeof(*asks));
    struct buf all = { 0 };
    int bad = 0;

    for (size_t i = 0; i < n; i++) {
        if (read_word(cli, cli->args.words[i], &asks[i], err))
            return -1;
    }
    for (size_t i = 0; i < n && !bad; i++)
        bad = get_named(cli, i, &asks[i], &all, err);
    ret->n = all.len / sizeof(struct explanation);
    ret->items = arena_alloc(&cli->arena, all.len + 1);
    if (all.len)
        memcpy(ret->items, buf_data(&all), all.len);
    buf_free(&all);
    return bad;
}

static const struct process_view *find_named(const struct list *known, const char *name)
{
    const struct process_view *p = known->items;

    for (size_t i = 0; i < known->n; i++) {
        size_t n = strlen(p[i].view.space);

        if (!strncmp(name, p[i].view.space, n) && name[n] == '/' &&
            !strcmp(name + n + 1, p[i].view.name))
            return &p[i];
    }
    return NULL;
}

/* The agent of this host knows its processes, but not the callers of their operations. */
static int get_local(struct cli *cli, struct list *ret, struct err *err)
{
    const struct process_ask any = { "", "", "", NULL, 0 };
    const struct word *names = cli->names.items;
    struct explanation *all = arena_alloc(&cli->arena, (cli->names.n + 1) * sizeof(*all));
    struct list known;

    *ret = (struct list){ all, 0 };
    cli->wants_use = true;
    if (cli_get_processes(cli, &any, &known, err))
        return -1;
    if (!cli->settings.json)
        local_name_hosts(cli, &known);
    for (size_t i = 0; i < cli->names.n; i++) {
        const struct process_view *p = find_named(&known, names[i].text);

        if (p)
            all[ret->n++].process = *p;
        else if (!cli->settings.json)
            return names_unknown(cli, names[i].text, err);
    }
    return 0;
}

/* Exit status 0 if no process is known to be in a wrong state. */
int run_why(struct cli *cli, struct err *err)
{
    int64_t now_s = clock_wall_ms(cli->clock) / 1000;
    const struct explanation *e;
    struct list all;
    bool well = true;

    if (cli->local ? get_local(cli, &all, err) : get_each(cli, &all, err))
        return -1;
    e = all.items;
    for (size_t i = 0; i < all.n; i++)
        well = is_well(&e[i].process) && well;
    if (cli->settings.json)
        put_json(cli, &all);
    for (size_t i = 0; i < all.n && !cli->settings.json; i++) {
        out_puts(&cli->out, i ? "\n" : "");
        run_why_put_process(cli, &e[i], now_s);
    }
    return well && all.n ? CLI_OK : CLI_SOME_FAILED;
}
