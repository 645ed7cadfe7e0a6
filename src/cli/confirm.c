/* SPDX-License-Identifier: MIT */
/* confirm.c - see confirm.h. */
#include "cli/confirm.h"

#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/mem/mem.h"
#include "base/os/sys.h"
#include "cli/commands.h"

int confirm_check(struct cli *cli, struct err *err)
{
    if (cli->args.yes || (isatty(STDIN_FILENO) && isatty(STDERR_FILENO)))
        return 0;
    return text_err(err, ERR_INVALID, cli->lang, TEXT_NEEDS_YES,
                    TEXT_ARGS(cli->args.command->name));
}

/* A terminal delivers a line at a time; end of file counts as no. */
static bool read_yes(void)
{
    static const char *const words[] = { "y", "yes", "是" };
    char line[64];
    ssize_t n = sys_read(STDIN_FILENO, line, sizeof(line) - 1);

    line[n > 0 ? n : 0] = '\0';
    line[strcspn(line, "\r\n")] = '\0';
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        if (!strcasecmp(line, words[i]))
            return true;
    }
    return false;
}

/* The question goes to standard error, because standard output is for results. */
bool confirm(struct cli *cli, enum text question, const char *const *args)
{
    struct err ignored;
    bool is_yes;

    if (cli->args.yes)
        return true;
    out_text(&cli->side, question, args);
    out_puts(&cli->side, cli->lang == LANG_ZH ? "（y/N）" : " (y/N) ");
    is_yes = !out_flush(&cli->side, &ignored) && read_yes();
    if (!is_yes)
        out_line(&cli->side, TEXT_NOTHING_DONE, NULL);
    (void)out_flush(&cli->side, &ignored); /* the exit status tells it too */
    return is_yes;
}
