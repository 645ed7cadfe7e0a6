/* SPDX-License-Identifier: MIT */
/* commands.c - see commands.h.  A new command is a row here, its texts in
 * text_rows.h, and its function; that of an operation is made of its row in model/operation_rows.h.
 */
#include "cli/commands.h"

#include <string.h>

#include "base/mem/mem.h"
#include "cli/run.h"
#include "cli/width.h"
#include "model/operation.h"

#define HAS(id) (UINT64_C(1) << OPTION_##id)

/* clang-format off */
/* Of a row of model/operation.h; help lists the rows by their kind. */
#define OPERATION_COMMAND(id, number, name, ...) \
    { name, "NAMESPACE/NAME", 1, 1, \
      HAS(HOST) | HAS(SPEC) | HAS(NO_WAIT) | HAS(TIMEOUT) | HAS(EXPECT) | HAS(DRY_RUN) | HAS(IDEMPOTENT), \
      TEXT_DO_##id, PROC_OP_##id, run_operation, OF_BOTH },
/* With the signal behind the process. */
#define OWN_COMMAND(id, number, name, ...) \
    { name, "NAMESPACE/NAME SIGNAL", 2, 2, HAS(HOST) | HAS(NO_WAIT) | HAS(TIMEOUT) | HAS(EXPECT) | HAS(DRY_RUN) | HAS(IDEMPOTENT), \
      TEXT_DO_##id, PROC_OP_##id, run_operation, OF_BOTH },
#define FILTERS HAS(HOST) | HAS(NAMESPACE) | HAS(BIZ) | HAS(STATE) | HAS(HOSTED) | HAS(MATCH)
#define PERMISSIONS HAS(RIGHT) | HAS(OPERATION) | HAS(NAMESPACE) | HAS(BIZ) | HAS(BIZ_SET) | HAS(RATE) | HAS(SIGNATURES)

const struct command cli_commands[] = {
    { "status", "", 0, 0, 0, TEXT_DO_STATUS, -1, run_status, OF_BOTH },
    { "ps", "[NAMESPACE[/NAME]]", 0, 1, FILTERS, TEXT_DO_PS, -1, run_ps, OF_BOTH },
    { "why", "NAMESPACE/NAME...", 1, ARGS_WORDS_MAX, HAS(HOST), TEXT_DO_WHY, -1, run_why, OF_BOTH },
    { "logs", "NAMESPACE/NAME...", 1, ARGS_WORDS_MAX,
      HAS(HOST) | HAS(LINES) | HAS(COMMAND) | HAS(FOLLOW) | HAS(SINCE) | HAS(TIMESTAMPS) | HAS(GREP), TEXT_DO_LOGS, -1, run_logs, OF_BOTH },
    { "events", "", 0, 0, HAS(HOST) | HAS(NAMESPACE) | HAS(SINCE) | HAS(LINES) | HAS(FOLLOW), TEXT_DO_EVENTS, -1, run_events, OF_BOTH },
#define OPERATION_ACTS OPERATION_COMMAND
#define OPERATION_OWN OWN_COMMAND
#include "model/operation_rows.h"
#define OPERATION_HOSTS OPERATION_COMMAND
#define OPERATION_OWN(...)
#include "model/operation_rows.h"
#define OPERATION_LOOKS OPERATION_COMMAND
#define OPERATION_OWN(...)
#include "model/operation_rows.h"
    { "forget", "NAMESPACE/NAME", 1, 1, HAS(HOST) | HAS(YES), TEXT_DO_FORGET, -1, run_forget, OF_BOTH },
    { "import", "FILE...", 1, ARGS_WORDS_MAX, HAS(OUTPUT) | HAS(FORCE) | HAS(NAMESPACE) | HAS(USER), TEXT_DO_IMPORT, -1, run_import, OF_FILES },
    { "facts", "", 0, 0, 0, TEXT_DO_FACTS, -1, run_facts, OF_AGENT },
    { "apply", "", 0, 0, HAS(SPECS) | HAS(DRY_RUN) | HAS(ALLOW_EMPTY) | HAS(YES), TEXT_DO_APPLY, -1, run_apply, OF_AGENT },
    { "spec check", "FILE...", 1, ARGS_WORDS_MAX, 0, TEXT_DO_SPEC_CHECK, -1, run_spec_check, OF_FILES },
    { "spec fields", "[FIELD]", 0, 1, 0, TEXT_DO_SPEC_FIELDS, -1, run_spec_fields, OF_FILES },
    { "spec show", "NAMESPACE/NAME", 1, 1, 0, TEXT_DO_SPEC_SHOW, -1, run_spec_show, OF_AGENT },
    { "spec init", "[COMMAND...]", 0, ARGS_WORDS_MAX, HAS(PID), TEXT_DO_SPEC_INIT, -1, run_spec_init, OF_FILES },
    { "top", "", 0, 0, 0, TEXT_DO_TOP, -1, run_top, OF_AGENT },
    { "task", "ID", 1, 1, HAS(WAIT) | HAS(TIMEOUT) | HAS(FAILED), TEXT_DO_TASK, -1, run_task },
    { "task show", "ID", 1, 1, HAS(WAIT) | HAS(TIMEOUT) | HAS(FAILED), TEXT_DO_TASK_SHOW, -1, run_task },
    { "task list", "", 0, 0, HAS(OPEN) | HAS(FAILED) | HAS(BY) | HAS(SINCE) | HAS(LINES), TEXT_DO_TASK_LIST, -1, run_task_list },
    { "task cancel", "ID", 1, 1, 0, TEXT_DO_TASK_CANCEL, -1, run_task_cancel },
    { "host list", "", 0, 0, HAS(BIZ) | HAS(CLOUD) | HAS(STATE) | HAS(MATCH), TEXT_DO_HOST_LIST, -1, run_host_list },
    { "host set", "HOST", 1, 1, HAS(BIZ) | HAS(HOST_ID) | HAS(NOTE), TEXT_DO_HOST_SET, -1, run_host_set },
    { "host import", "FILE", 1, 1, HAS(DRY_RUN), TEXT_DO_HOST_IMPORT, -1, run_host_import },
    { "host remove", "HOST...", 1, ARGS_WORDS_MAX, HAS(YES), TEXT_DO_HOST_REMOVE, -1, run_host_remove },
    { "business list", "", 0, 0, 0, TEXT_DO_BUSINESS_LIST, -1, run_business_list },
    { "business set", "ID NAME", 2, 2, 0, TEXT_DO_BUSINESS_SET, -1, run_business_set },
    { "business remove", "ID", 1, 1, 0, TEXT_DO_BUSINESS_REMOVE, -1, run_business_remove },
    { "business-set list", "", 0, 0, 0, TEXT_DO_BUSINESS_SET_LIST, -1, run_business_set_list },
    { "business-set set", "ID NAME", 2, 2, HAS(BIZ), TEXT_DO_BUSINESS_SET_SET, -1, run_business_set_set },
    { "business-set remove", "ID", 1, 1, 0, TEXT_DO_BUSINESS_SET_REMOVE, -1, run_business_set_remove },
    { "audit", "", 0, 0, HAS(BY) | HAS(USER) | HAS(ROUTE) | HAS(SINCE) | HAS(UNTIL) | HAS(LINES), TEXT_DO_AUDIT, -1, run_audit },
    { "app create", "CODE", 1, 1, PERMISSIONS | HAS(ROTATE), TEXT_DO_APP_CREATE, -1, run_app_create },
    { "app set", "CODE", 1, 1, PERMISSIONS, TEXT_DO_APP_SET, -1, run_app_set },
    { "app rotate", "CODE", 1, 1, 0, TEXT_DO_APP_ROTATE, -1, run_app_rotate },
    { "app delete", "CODE", 1, 1, 0, TEXT_DO_APP_DELETE, -1, run_app_delete },
    { "app list", "", 0, 0, 0, TEXT_DO_APP_LIST, -1, run_app_list },
    { "token create", "", 0, 0, HAS(CLOUD) | HAS(BIZ) | HAS(TTL) | HAS(USES) | HAS(NOTE) | HAS(RELAY),
      TEXT_DO_TOKEN_CREATE, -1, run_token_create },
    { "token list", "", 0, 0, 0, TEXT_DO_TOKEN_LIST, -1, run_token_list },
    { "token revoke", "ID", 1, 1, 0, TEXT_DO_TOKEN_REVOKE, -1, run_token_revoke },
    { 0 },
};
/* clang-format on */

/* Options that have another meaning, and help text, in some commands. */
static const struct {
    enum option_id option;
    int (*run)(struct cli *cli, struct err *err);
    enum text help;
} own_texts[] = {
    { OPTION_HOST, run_operation, TEXT_OPT_HOSTS },
    { OPTION_HOST, run_forget, TEXT_OPT_HOSTS },
    { OPTION_YES, run_apply, TEXT_OPT_YES_APPLY },
    { OPTION_TIMEOUT, run_task, TEXT_OPT_TIMEOUT_TASK },
    { OPTION_NAMESPACE, run_app_create, TEXT_OPT_NAMESPACE_APP },
    { OPTION_NAMESPACE, run_app_set, TEXT_OPT_NAMESPACE_APP },
    { OPTION_NAMESPACE, run_import, TEXT_OPT_NAMESPACE_IMPORT },
    { OPTION_USER, run_import, TEXT_OPT_USER_IMPORT },
    { OPTION_BIZ, run_app_create, TEXT_OPT_BIZ_APP },
    { OPTION_BIZ, run_app_set, TEXT_OPT_BIZ_APP },
    { OPTION_BIZ, run_host_set, TEXT_OPT_BIZ_HOST },
    { OPTION_BIZ, run_business_set_set, TEXT_OPT_BIZ_IN_SET },
    { OPTION_BIZ, run_token_create, TEXT_OPT_BIZ_TOKEN },
    { OPTION_CLOUD, run_token_create, TEXT_OPT_CLOUD_TOKEN },
    { OPTION_STATE, run_host_list, TEXT_OPT_STATE_HOST },
    { OPTION_MATCH, run_ps, TEXT_OPT_MATCH_PROCESS },
    { OPTION_SINCE, run_logs, TEXT_OPT_SINCE_LOGS },
    { OPTION_LINES, run_events, TEXT_OPT_LINES_EVENTS },
    { OPTION_LINES, run_task_list, TEXT_OPT_LINES_PAGE },
    { OPTION_LINES, run_audit, TEXT_OPT_LINES_PAGE },
};

/* The name of the command, of which `name` may be the alias. */
static const char *resolve_alias(const char *name)
{
    for (const struct enum_name *e = operation_names; e->name; e++) {
        const char *alias = operation_find(e->value)->alias;

        if (alias && !strcmp(alias, name))
            return e->name;
    }
    return name;
}

const struct command *command_find(const char *name)
{
    name = resolve_alias(name);
    for (const struct command *c = cli_commands; c->name; c++) {
        if (!strcmp(c->name, name))
            return c;
    }
    return NULL;
}

bool command_has_names(const struct command *c)
{
    return c->words_min > 0 && c->place == OF_BOTH;
}

static bool is_in_group(const struct command *c, const char *group)
{
    size_t n = strlen(group);

    return !n || (!strncmp(c->name, group, n) && (!c->name[n] || c->name[n] == ' '));
}

bool command_is_group(const char *word)
{
    for (const struct command *c = cli_commands; c->name; c++) {
        if (*word && is_in_group(c, word) && strcmp(c->name, word) != 0)
            return true;
    }
    return false;
}

/* ---- help ---- */

/* "  left   right", with the right sides aligned by display width. */
static void commands_put_row(struct out *o, const char *left, const char *right)
{
    enum { INDENT = 2, LEFT = 24 };
    size_t n = width_text(left);

    out_blanks(o, INDENT);
    out_puts(o, left);
    out_blanks(o, n < LEFT ? LEFT + 1 - n : 1);
    out_wrapped(o, INDENT + LEFT + 1, STYLE_PLAIN, right);
}

/* `c` NULL: the text that is valid for all commands. */
static enum text help_of(const struct command *c, size_t id)
{
    for (size_t i = 0; c && i < ARRAY_LEN(own_texts); i++) {
        if (own_texts[i].option == (enum option_id)id && own_texts[i].run == c->run)
            return own_texts[i].help;
    }
    return cli_options[id].help;
}

/* The options of the command; `c` NULL: the global ones. */
static void put_options(struct out *o, const struct command *c)
{
    uint64_t which = c ? c->options : UINT64_MAX;

    for (size_t i = c ? 0 : OPTIONS_GLOBAL; i < (c ? OPTIONS_GLOBAL : OPTIONS); i++) {
        const struct option *option = &cli_options[i];
        struct buf left = { 0 };

        if (!(which >> i & 1))
            continue;
        buf_printf(&left, "--%s%s%s", option->name,
                   option->value && option->kind != OPTION_IS_FLAG_OR_TEXT ? " " : "",
                   option->value ? option->value : "");
        commands_put_row(o, buf_text(&left), text_get(o->lang, help_of(c, i)));
        buf_free(&left);
    }
}

/* Omits `told`, which was described above: a group may be a command, too. */
static void put_commands(struct out *o, const char *group, const struct command *told)
{
    out_line(o, told ? TEXT_OTHER_COMMANDS : TEXT_COMMANDS, NULL);
    for (const struct command *c = cli_commands; c->name; c++) {
        struct buf left = { 0 };

        if (!is_in_group(c, group) || c == told)
            continue;
        buf_printf(&left, "%s%s%s", c->name, *c->words ? " " : "", c->words);
        commands_put_row(o, buf_text(&left), text_get(o->lang, c->help));
        buf_free(&left);
    }
}

static void put_usage(struct out *o, const char *name, const char *words)
{
    struct buf line = { 0 };

    buf_printf(&line, "%s%s%s", name, *words ? " " : "", words);
    out_line(o, TEXT_USAGE, TEXT_ARGS(buf_text(&line)));
    out_puts(o, "\n");
    buf_free(&line);
}

static void put_texts(struct out *o, const enum text *ids, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        out_puts(o, i ? "\n" : "");
        out_line(o, ids[i], NULL);
    }
}

/* The global options and notes. */
static void put_common(struct out *o)
{
    static const enum text end[] = { TEXT_HELP_FILE, TEXT_HELP_EXIT, TEXT_HELP_MORE };

    put_texts(o, (const enum text[]){ TEXT_GLOBAL_OPTIONS }, 1);
    put_options(o, NULL);
    out_puts(o, "\n");
    put_texts(o, end, ARRAY_LEN(end));
}

void command_help(struct out *o, const char *name)
{
    const struct command *c = command_find(name);

    put_usage(o, c ? c->name : *name ? name : "COMMAND", c ? c->words : "[...]");
    if (c || !*name) {
        out_wrapped(o, 0, STYLE_PLAIN, text_get(o->lang, c ? c->help : TEXT_ABOUT));
        out_puts(o, "\n");
    }
    if (c && c->options) {
        put_texts(o, (const enum text[]){ TEXT_OPTIONS }, 1);
        put_options(o, c);
        out_puts(o, "\n");
    }
    if (c && command_has_names(c)) {
        out_line(o, TEXT_HELP_NAMES, NULL);
        out_puts(o, "\n");
    }
    if (!c || command_is_group(c->name)) {
        put_commands(o, c ? c->name : name, c);
        out_puts(o, "\n");
    }
    if (*name)
        put_texts(o, (const enum text[]){ TEXT_COMMON_OPTIONS }, 1);
    else
        put_common(o);
}
