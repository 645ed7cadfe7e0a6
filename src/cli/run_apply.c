/* SPDX-License-Identifier: MIT */
/* run_apply.c - the apply command: makes this host run what a folder of specs says. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/mem/mem.h"
#include "cli/confirm.h"
#include "cli/local.h"
#include "cli/local_link.h"
#include "cli/run.h"
#include "cli/spec_plan.h"
#include "cli/table.h"
#include "cli/width.h"

/* Connections at a time; the agent allows a user some more. */
enum { AT_ONCE = 16 };

/* ---- what is there */

/* The agent has been asked before: what is wrong is the folder. */
static int read_folder(struct cli *cli, const char *folder, const char *pid_dir, struct list *ret,
                       struct err *err)
{
    const struct short_context context = { "", "", spec_file_user(&cli->arena), pid_dir };

    if (*folder != '/')
        return text_err(err, ERR_INVALID, cli->lang, TEXT_NOT_A_FOLDER, TEXT_ARGS(folder));
    if (!spec_folder_read(folder, &context, &cli->arena, ret, err))
        return 0;
    if (err->code == ERR_SYSTEM && err->sys == ENOENT && cli->args.allow_empty) {
        *ret = (struct list){ 0 };
        return 0;
    }
    cli->refused_status = CLI_USAGE;
    return -1;
}

/* An empty folder is more likely a mistake than a wish to stop everything. */
static int check_empty(struct cli *cli, const char *folder, const struct list *processes,
                       const struct plan *plan, struct err *err)
{
    if (processes->n || !plan->n[PLAN_REMOVED] || cli->args.allow_empty)
        return 0;
    return text_err(err, ERR_INVALID, cli->lang, TEXT_APPLY_EMPTY,
                    TEXT_ARGS(folder, cli_count(cli, (int64_t)plan->n[PLAN_REMOVED])));
}

/* ---- the plan */

static const struct {
    enum text name;
    enum style style;
    const char *sign;
} actions[PLAN_ACTIONS] = {
    [PLAN_SAME] = { TEXT_PLAN_SAME, STYLE_DIM, " " },
    [PLAN_NEW] = { TEXT_PLAN_NEW, STYLE_GOOD, "+" },
    [PLAN_CHANGED] = { TEXT_PLAN_CHANGED, STYLE_PLAIN, "~" },
    [PLAN_STOPPED] = { TEXT_PLAN_STOPPED, STYLE_DIM, "=" },
    [PLAN_REMOVED] = { TEXT_PLAN_REMOVED, STYLE_BAD, "-" },
};

static const char *full_name(struct arena *a, const struct proc_meta *m)
{
    return arena_printf(a, "%s/%s", m->space, m->name);
}

/* What is done, and why. */
static const char *about(struct cli *cli, const struct plan_step *s)
{
    const char *what =
        text_get(cli->lang, s->action == PLAN_CHANGED && !s->running ? TEXT_PLAN_CHANGED_DOWN
                                                                     : actions[s->action].name);
    const char *why = s->action == PLAN_NEW ? s->path : s->changes;

    return *why ? arena_printf(&cli->arena, "%s: %s", what, why) : what;
}

static void put_plan(struct cli *cli, const struct plan *plan)
{
    const struct plan_step *steps = plan->steps.items;

    for (size_t i = 0; i < plan->steps.n; i++) {
        const struct plan_step *s = &steps[i];

        if (s->action == PLAN_SAME)
            continue;
        out_styled(&cli->out, actions[s->action].style, actions[s->action].sign);
        out_puts(&cli->out, " ");
        out_puts(&cli->out, width_clean(&cli->arena, full_name(&cli->arena, &s->meta)));
        out_puts(&cli->out, "  ");
        out_puts(&cli->out, width_clean(&cli->arena, about(cli, s)));
        out_puts(&cli->out, "\n");
    }
}

static void put_counts(struct cli *cli, enum text text, const struct plan *plan, int64_t failed)
{
    out_line(&cli->out, text,
             TEXT_ARGS(cli_count(cli, (int64_t)plan->n[PLAN_NEW]),
                       cli_count(cli, (int64_t)plan->n[PLAN_CHANGED]),
                       cli_count(cli, (int64_t)plan->n[PLAN_REMOVED]),
                       cli_count(cli, (int64_t)(plan->n[PLAN_SAME] + plan->n[PLAN_STOPPED])),
                       cli_count(cli, failed)));
}

/* ---- carrying it out */

struct job {
    struct plan_step *step;
    struct local_link link;
};

static int begin_operation(struct cli *cli, const struct plan_step *s, int64_t op,
                           struct local_link *l, struct err *err)
{
    struct local_operate m = { .op = op, .meta = s->meta };

    if (s->spec)
        m.spec = *s->spec;
    else
        shape_defaults(&proc_spec_shape, &m.spec);
    return local_link_open(cli, &cli->arena, LOCAL_OPERATE, &local_operate_shape, &m, l, err);
}

static int begin_forget(struct cli *cli, const struct plan_step *s, struct local_link *l,
                        struct err *err)
{
    const struct local_ask which = { s->meta.space, s->meta.name, false };

    return local_link_open(cli, &cli->arena, LOCAL_FORGET, &local_ask_shape, &which, l, err);
}

/* One that runs is stopped in the first round and forgotten in the second.  False: there is nothing
 * to do in this round. */
static bool is_in_round(const struct plan_step *s, bool is_second)
{
    if (s->action == PLAN_REMOVED)
        return is_second ? !s->code : s->running;
    return !is_second && (s->action == PLAN_NEW || s->action == PLAN_CHANGED);
}

static int begin_step(struct cli *cli, const struct plan_step *s, bool is_second,
                      struct local_link *l, struct err *err)
{
    if (is_second)
        return begin_forget(cli, s, l, err);
    if (s->action == PLAN_REMOVED)
        return begin_operation(cli, s, PROC_OP_STOP, l, err);
    return begin_operation(
        cli, s, s->action == PLAN_CHANGED && s->running ? PROC_OP_RESTART : PROC_OP_HOST, l, err);
}

/* A process that has ended by itself meanwhile needs no stop. */
static void take_end(struct cli *cli, struct plan_step *s, const struct message_result *r)
{
    bool is_down = s->action == PLAN_REMOVED && r->code == CODE_NOT_RUNNING;

    s->code = is_down ? CODE_OK : r->code;
    s->text = s->code ? local_readable(cli, r->text) : "";
}

static int wait_for(struct cli *cli, struct job *j, struct err *err)
{
    for (;;) {
        const void *message = NULL;
        unsigned type = 0;

        if (local_link_next(&j->link, INT64_MAX, &type, &message, err) != LOCAL_CAME)
            return -1;
        if (type != MESSAGE_RESULT)
            continue;
        take_end(cli, j->step, message);
        return 0;
    }
}

static int wait_for_all(struct cli *cli, struct job *jobs, size_t n, struct err *err)
{
    int bad = 0;

    for (size_t i = 0; i < n; i++) {
        bad = bad || wait_for(cli, &jobs[i], err);
        local_link_close(&jobs[i].link);
    }
    return bad ? -1 : 0;
}

static int carry_out(struct cli *cli, struct plan *plan, bool is_second, struct err *err)
{
    struct plan_step *steps = plan->steps.items;
    struct job jobs[AT_ONCE];
    size_t n = 0;

    for (size_t i = 0; i < plan->steps.n; i++) {
        if (!is_in_round(&steps[i], is_second))
            continue;
        jobs[n].step = &steps[i];
        if (begin_step(cli, &steps[i], is_second, &jobs[n].link, err)) {
            struct err ignored; /* the first failure is reported */

            (void)wait_for_all(cli, jobs, n, &ignored);
            return -1;
        }
        if (++n < AT_ONCE)
            continue;
        if (wait_for_all(cli, jobs, n, err))
            return -1;
        n = 0;
    }
    return wait_for_all(cli, jobs, n, err);
}

static int64_t put_failures(struct cli *cli, const struct plan *plan)
{
    const struct plan_step *steps = plan->steps.items;
    int64_t failed = 0;

    for (size_t i = 0; i < plan->steps.n; i++) {
        if (!steps[i].code)
            continue;
        failed++;
        if (!cli->settings.json)
            out_line(&cli->out, TEXT_PLAN_FAILED,
                     TEXT_ARGS(full_name(&cli->arena, &steps[i].meta),
                               cli_count(cli, steps[i].code), steps[i].text));
    }
    return failed;
}

/* Asks only at a terminal, and only where processes are restarted or removed. */
static bool is_agreed(struct cli *cli, const struct plan *plan)
{
    bool is_asked = isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
    struct err ignored;

    if (!is_asked || cli->args.yes || !(plan->n[PLAN_CHANGED] + plan->n[PLAN_REMOVED]))
        return true;
    (void)out_flush(&cli->out, &ignored); /* the question stands below the plan */
    return confirm(cli, TEXT_APPLY_SURE,
                   TEXT_ARGS(cli_count(cli, (int64_t)plan->n[PLAN_CHANGED]),
                             cli_count(cli, (int64_t)plan->n[PLAN_REMOVED])));
}

static int apply_plan(struct cli *cli, struct plan *plan, struct err *err)
{
    int64_t failed;

    if (!cli->settings.json)
        put_plan(cli, plan);
    if (cli->args.dry_run) {
        if (!cli->settings.json)
            put_counts(cli, TEXT_PLAN_DRY, plan, 0);
        else
            cli_json(cli, &plan_shape, plan);
        return CLI_OK;
    }
    if (!is_agreed(cli, plan))
        return CLI_USAGE;
    if (carry_out(cli, plan, false, err) || carry_out(cli, plan, true, err))
        return -1;
    failed = put_failures(cli, plan);
    if (cli->settings.json)
        cli_json(cli, &plan_shape, plan);
    else if (!cli->settings.quiet)
        put_counts(cli, failed ? TEXT_PLAN_DONE_FAILED : TEXT_PLAN_DONE, plan, failed);
    return failed ? CLI_SOME_FAILED : CLI_OK;
}

int run_apply(struct cli *cli, struct err *err)
{
    const char *given = args_has(&cli->args, OPTION_SPECS) ? cli->args.specs : SPEC_FOLDER;
    const char *folder = spec_folder_path(given, &cli->arena);
    struct list processes, specs;
    const char *pid_dir;
    struct plan plan;

    if (local_get_pid_dir(cli, &pid_dir, err) ||
        read_folder(cli, folder, pid_dir, &processes, err) ||
        local_get_specs(cli, "", "", &specs, err))
        return -1;
    plan_make(folder, &processes, &specs, &cli->arena, &plan);
    if (check_empty(cli, folder, &processes, &plan, err))
        return -1;
    return apply_plan(cli, &plan, err);
}
