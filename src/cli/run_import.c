/* SPDX-License-Identifier: MIT */
/* run_import.c - the import command: specs from the files of other supervisors. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/io/file.h"
#include "base/mem/mem.h"
#include "base/os/sys.h"
#include "base/text/utf8.h"
#include "cli/from_proc.h"
#include "cli/from_supervisord.h"
#include "cli/from_systemd.h"
#include "cli/run.h"
#include "cli/width.h"

enum { FOLDER_MODE = 0755, SPEC_MODE = 0644, VALUE_SHOWN = 60 };

/* ---- reading ---- */

static bool import_ends_with(const char *path, const char *end)
{
    size_t n = strlen(path), m = strlen(end);

    return n >= m && !strcmp(path + n - m, end);
}

static int import_one(struct plan *p, const char *path, struct err *err)
{
    if (import_ends_with(path, ".service") || import_ends_with(path, ".timer"))
        return from_systemd(p, path, err);
    if (import_ends_with(path, ".proc") || import_ends_with(path, ".json"))
        return from_proc(p, path, err);
    return from_supervisord(p, path, err);
}

static int import_all(struct cli *cli, struct plan *p, struct err *err)
{
    for (size_t i = 0; i < cli->args.n_words; i++) {
        if (import_one(p, cli->args.words[i], err))
            return -1;
    }
    from_systemd_finish(p);
    plan_check_twins(p);
    plan_check_specs(p);
    return 0;
}

/* ---- the plan ---- */

static void put_notes(struct out *o, struct cli *cli, const struct buf *notes, const char *indent)
{
    const struct plan_note *note;
    size_t n = plan_notes(notes, &note);

    for (size_t i = 0; i < n; i++) {
        const struct setting *at = note[i].at;
        const char *what = *at->value && at->key[0] != '['
                               ? arena_printf(&cli->arena, "%s=%.*s", at->key,
                                              (int)utf8_cut(at->value, VALUE_SHOWN), at->value)
                               : at->key;

        out_puts(o, indent);
        out_line(o, note[i].kind == PLAN_LEFT_OUT ? TEXT_PLAN_LEFT : TEXT_PLAN_NOTED,
                 TEXT_ARGS(at->file, cli_count(cli, (int64_t)at->line),
                           width_clean(&cli->arena, what), note[i].why));
    }
}

static const char *full_name(struct cli *cli, const struct plan_process *process)
{
    return *process->space ? arena_printf(&cli->arena, "%s/%s", process->space, process->name)
                           : process->name;
}

static void put_plan(struct cli *cli, const struct plan *p, struct out *o)
{
    for (size_t i = 0; i < plan_count(p); i++) {
        const struct plan_process *process = plan_at(p, i);
        const char *command = draft_find(&process->draft, "command");

        out_line(o, TEXT_PLAN_PROCESS,
                 TEXT_ARGS(full_name(cli, process), process->at.file,
                           cli_count(cli, (int64_t)process->at.line), process->at.key,
                           command ? command : ""));
        put_notes(o, cli, &process->notes, "  ");
    }
    put_notes(o, cli, &p->notes, "");
    out_line(o, TEXT_PLAN_TOTAL,
             TEXT_ARGS(cli_count(cli, (int64_t)plan_count(p)),
                       cli_count(cli, (int64_t)plan_count_left_out(p))));
}

/* ---- the specs ---- */

static void put_specs(struct cli *cli, const struct plan *p)
{
    out_puts(&cli->out, plan_count(p) ? "processes:\n" : "processes: []\n");
    for (size_t i = 0; i < plan_count(p); i++)
        draft_write(&plan_at(p, i)->draft, "  - ", "    ", &cli->out.b);
}

/* NAME.yaml, or NAMESPACE.NAME.yaml if another process has that name. */
static const char *spec_path(struct cli *cli, const struct plan *p, size_t i)
{
    const struct plan_process *process = plan_at(p, i);
    bool is_twice = false;
    char *file;

    for (size_t k = 0; k < plan_count(p); k++)
        is_twice = is_twice || (k != i && !strcmp(plan_at(p, k)->name, process->name));
    file = is_twice && *process->space
               ? arena_printf(&cli->arena, "%s.%s", process->space, process->name)
               : arena_strdup(&cli->arena, process->name);
    for (char *c = file; *c; c++)
        *c = (char)(*c == '.' && c == file ? '_' : *c); /* names have no slash */
    return arena_printf(&cli->arena, "%s/%s.yaml", cli->args.output, file);
}

static int check_absent(struct cli *cli, const char *const *paths, size_t n, struct err *err)
{
    struct stat st;

    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < i; k++) {
            if (!strcmp(paths[i], paths[k]))
                return text_err(err, ERR_CONFLICT, cli->lang, TEXT_PLAN_EXISTS,
                                TEXT_ARGS(paths[i]));
        }
        if (!cli->args.force && !sys_lstat(AT_FDCWD, paths[i], &st))
            return text_err(err, ERR_CONFLICT, cli->lang, TEXT_PLAN_EXISTS, TEXT_ARGS(paths[i]));
    }
    return 0;
}

static int write_spec(struct cli *cli, const struct plan_process *process, const char *path,
                      struct err *err)
{
    struct buf text = { 0 };
    int bad;

    draft_write(&process->draft, "", "", &text);
    bad = cli->args.force ? file_replace(path, SPEC_MODE, buf_data(&text), text.len, err)
                          : file_create(path, SPEC_MODE, buf_data(&text), text.len, err);
    buf_free(&text);
    return bad;
}

/* All names are checked before the first file is written. */
static int write_specs(struct cli *cli, const struct plan *p, struct err *err)
{
    size_t n = plan_count(p);
    const char **paths = arena_alloc(&cli->arena, (n + 1) * sizeof(*paths));

    if (sys_mkdir(cli->args.output, FOLDER_MODE) && errno != EEXIST)
        return err_sys(err, "create %s", cli->args.output);
    for (size_t i = 0; i < n; i++)
        paths[i] = spec_path(cli, p, i);
    if (check_absent(cli, paths, n, err))
        return -1;
    for (size_t i = 0; i < n; i++) {
        if (write_spec(cli, plan_at(p, i), paths[i], err))
            return -1;
    }
    return 0;
}

static int show(struct cli *cli, const struct plan *p, struct err *err)
{
    bool to_files = args_has(&cli->args, OPTION_OUTPUT);
    struct err ignored;

    if (to_files && write_specs(cli, p, err))
        return -1;
    if (!to_files)
        put_specs(cli, p);
    if (!cli->settings.quiet)
        put_plan(cli, p, to_files ? &cli->out : &cli->side);
    if (to_files && !cli->settings.quiet)
        out_line(&cli->out, TEXT_PLAN_WRITTEN, TEXT_ARGS(cli->args.output));
    /* A failure to write to standard error cannot be reported. */
    (void)out_flush(&cli->side, &ignored);
    return plan_count_left_out(p) ? CLI_SOME_FAILED : CLI_OK;
}

int run_import(struct cli *cli, struct err *err)
{
    const struct word *space = cli->args.spaces.items;
    char name[256] = "";
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    struct plan_host host = { .env = cli->env,
                              .name = gethostname(name, sizeof(name) - 1) ? "" : name,
                              .cores = cores > 0 ? cores : 1,
                              .user = args_has(&cli->args, OPTION_USER) ? cli->args.user : "root",
                              .space = cli->args.spaces.n ? space[0].text : "" };
    struct plan p = { .arena = &cli->arena, .lang = cli->lang, .host = &host };
    int status = import_all(cli, &p, err) ? -1 : show(cli, &p, err);

    plan_free(&p);
    return status;
}
