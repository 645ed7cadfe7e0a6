/* SPDX-License-Identifier: MIT */
/* cli_main.c - see cli_main.h. */
#include "cli/cli_main.h"

#include <string.h>
#include <unistd.h>

#include "cli/args.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/local.h"
#include "cli/names.h"
#include "cli/width.h"
#include "model/translate.h"

static void show_help(struct cli *cli)
{
    if (cli->args.version)
        out_puts(&cli->out, "holdfast " HOLDFAST_VERSION "\n");
    else
        command_help(&cli->out, cli->args.about);
}

static enum lang lang_of(const struct cli *cli)
{
    switch ((enum lang_wish)cli->settings.lang) {
    case LANG_WISH_AUTO: return cli->lang;
    case LANG_WISH_EN: return LANG_EN;
    case LANG_WISH_ZH: return LANG_ZH;
    }
    return cli->lang;
}

static int run_command(struct cli *cli, struct err *err)
{
    if (args_has(&cli->args, OPTION_LOCAL)) {
        cli->local = local_path(&cli->args, &cli->settings);
        if (names_select(cli, err))
            return -1;
    }
    return cli->args.command->run(cli, err);
}

static int load_and_run(struct cli *cli, char *const *env, struct err *err)
{
    const char *no_colour = settings_env(env, "NO_COLOR"), *term = settings_env(env, "TERM");

    if (settings_load(&cli->args, env, cli->lang, &cli->arena, &cli->settings, err))
        return -1;
    cli->lang = cli->out.lang = cli->side.lang = lang_of(cli);
    out_colour(&cli->out, (enum colour_wish)cli->settings.color, no_colour, term);
    out_colour(&cli->side, (enum colour_wish)cli->settings.color, no_colour, term);
    if (term && !strcmp(term, "dumb"))
        cli->side.terminal = false; /* such a terminal cannot redraw a line */
    return run_command(cli, err);
}

static int cli_main_run(struct cli *cli, int argc, char *const *argv, char *const *env,
                        struct err *err)
{
    if (args_read(argc, argv, cli->lang, &cli->arena, &cli->args, err))
        return -1;
    if (!cli->args.command) {
        show_help(cli);
        return CLI_OK;
    }
    return load_and_run(cli, env, err);
}

/* The text may come from a server or a file: it must not move the cursor. */
static void print_error(struct cli *cli, const char *text)
{
    static const char name[] = "holdfast: ";
    struct err ignored;

    out_styled(&cli->side, STYLE_BAD, name);
    out_wrapped(&cli->side, strlen(name), STYLE_PLAIN, width_clean(&cli->arena, text));
    /* A failure to write to standard error cannot be reported. */
    (void)out_flush(&cli->side, &ignored);
}

static enum cli_status cli_main_status_of(const struct cli *cli, const struct err *err)
{
    bool has_asked = cli->client || cli->has_asked;

    if (err->code == ERR_MALFORMED && has_asked)
        return CLI_SERVER; /* the answer is not from our server, whatever its status */
    if (cli->refused_status != CLI_OK)
        return cli->refused_status;
    return has_asked && err->code != ERR_INVALID ? CLI_SERVER : CLI_USAGE;
}

static int report_failure(struct cli *cli, const struct err *err)
{
    if (cli->settings.json) {
        struct refusal r = cli->refused ? cli->refusal : refusal_of(err, cli->lang, &cli->arena);

        cli_json(cli, &refusal_shape, &r);
    }
    print_error(cli, translate(err_msg(err), cli->lang, &cli->arena));
    return (int)cli_main_status_of(cli, err);
}

int cli_main(int argc, char *const *argv, char *const *env)
{
    enum lang lang = settings_lang(argc, argv, env);
    struct cli cli = { .lang = lang, .env = env, .clock = &clock_system };
    struct err err = { 0 };
    int status;

    out_init(&cli.out, STDOUT_FILENO, MSG("standard output"), lang);
    out_init(&cli.side, STDERR_FILENO, MSG("standard error"), lang);
    status = cli_main_run(&cli, argc, argv, env, &err);
    if (status < 0)
        status = report_failure(&cli, &err);
    if (out_flush(&cli.out, &err)) {
        print_error(&cli, translate(err_msg(&err), cli.lang, &cli.arena));
        status = CLI_SOME_FAILED;
    }
    client_free(cli.client);
    out_done(&cli.out);
    out_done(&cli.side);
    arena_free(&cli.arena);
    return status;
}
