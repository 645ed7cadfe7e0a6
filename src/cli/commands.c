/* SPDX-License-Identifier: MIT */
/* commands.c - see commands.h.  A new command is a row here, its texts in
 * text_rows.h, and its function. */
#include "cli/commands.h"

#include <string.h>

#include "base/mem.h"
#include "cli/args.h"
#include "cli/run.h"
#include "cli/width.h"
#include "model/proc.h"

#define TO(member) .offset = offsetof(struct args, member)
#define HAS(id)    (UINT64_C(1) << OPTION_##id)

/* clang-format off */
const struct option cli_options[OPTIONS] = {
    [OPTION_HOST] = { "host", "HOST", OPTION_IS_LIST, TO(hosts), TEXT_OPT_HOST },
    [OPTION_SPEC] = { "spec", "FILE", OPTION_IS_TEXT, TO(spec), TEXT_OPT_SPEC },
    [OPTION_NO_WAIT] = { "no-wait", NULL, OPTION_IS_FLAG, TO(no_wait), TEXT_OPT_NO_WAIT },
    [OPTION_WAIT] = { "wait", NULL, OPTION_IS_FLAG, TO(wait), TEXT_OPT_WAIT },
    [OPTION_TIMEOUT] = { "timeout", "TIME", OPTION_IS_SECONDS, TO(timeout_s), TEXT_OPT_TIMEOUT },
    [OPTION_RIGHT] = { "right", "RIGHT", OPTION_IS_LIST, TO(rights), TEXT_OPT_RIGHT },
    [OPTION_NAMESPACE] = { "namespace", "NAME", OPTION_IS_LIST, TO(spaces), TEXT_OPT_NAMESPACE },
    [OPTION_BIZ] = { "biz", "ID", OPTION_IS_LIST, TO(businesses), TEXT_OPT_BIZ },
    [OPTION_BIZ_SET] = { "biz-set", "ID", OPTION_IS_LIST, TO(business_sets), TEXT_OPT_BIZ_SET },
    [OPTION_OPERATION] = { "operation", "NAME", OPTION_IS_LIST, TO(operations), TEXT_OPT_OPERATION },
    [OPTION_RATE] = { "rate", "N", OPTION_IS_NUMBER, TO(rate), TEXT_OPT_RATE },
    [OPTION_SIGNATURES] = { "signatures", "[=no]", OPTION_IS_FLAG_OR_TEXT, TO(signatures), TEXT_OPT_SIGNATURES },
    [OPTION_ROTATE] = { "rotate", NULL, OPTION_IS_FLAG, TO(rotate), TEXT_OPT_ROTATE },
    [OPTION_CLOUD] = { "cloud", "ID", OPTION_IS_NUMBER, TO(cloud), TEXT_OPT_CLOUD },
    [OPTION_TTL] = { "ttl", "TIME", OPTION_IS_SECONDS, TO(ttl_s), TEXT_OPT_TTL },
    [OPTION_USES] = { "uses", "N", OPTION_IS_NUMBER, TO(uses), TEXT_OPT_USES },
    [OPTION_NOTE] = { "note", "TEXT", OPTION_IS_TEXT, TO(note), TEXT_OPT_NOTE },
    [OPTION_LINES] = { "lines", "N", OPTION_IS_NUMBER, TO(lines), TEXT_OPT_LINES },
    [OPTION_COMMAND] = { "command", "COMMAND", OPTION_IS_TEXT, TO(what), TEXT_OPT_COMMAND },
    [OPTION_FOLLOW] = { "follow", NULL, OPTION_IS_FLAG, TO(follow), TEXT_OPT_FOLLOW },
    [OPTION_UNTIL] = { "until", "TIME", OPTION_IS_SECONDS, TO(until_s), TEXT_OPT_UNTIL },
    [OPTION_HOST_ID] = { "host-id", "ID", OPTION_IS_NUMBER, TO(host_id), TEXT_OPT_HOST_ID },
    [OPTION_STATE] = { "state", "STATE", OPTION_IS_TEXT, TO(state), TEXT_OPT_STATE },
    [OPTION_MATCH] = { "match", "TEXT", OPTION_IS_TEXT, TO(text), TEXT_OPT_MATCH },
    [OPTION_DRY_RUN] = { "dry-run", NULL, OPTION_IS_FLAG, TO(dry_run), TEXT_OPT_DRY_RUN },
    [OPTION_BY] = { "by", "APP", OPTION_IS_TEXT, TO(by), TEXT_OPT_BY },
    [OPTION_USER] = { "user", "NAME", OPTION_IS_TEXT, TO(user), TEXT_OPT_USER },
    [OPTION_ROUTE] = { "route", "API", OPTION_IS_TEXT, TO(route), TEXT_OPT_ROUTE },
    [OPTION_SINCE] = { "since", "TIME", OPTION_IS_SECONDS, TO(since_s), TEXT_OPT_SINCE },
    [OPTION_EXPECT] = { "expect", "N", OPTION_IS_NUMBER, TO(expect), TEXT_OPT_EXPECT },
    [OPTION_IDEMPOTENT] = { "idempotent", NULL, OPTION_IS_FLAG, TO(idempotent), TEXT_OPT_IDEMPOTENT },
    [OPTION_FAILED] = { "failed", NULL, OPTION_IS_FLAG, TO(failed), TEXT_OPT_FAILED },
    [OPTION_OPEN] = { "open", NULL, OPTION_IS_FLAG, TO(open), TEXT_OPT_OPEN },
    [OPTION_HOSTED] = { "hosted", "[=no]", OPTION_IS_FLAG_OR_TEXT, TO(hosted), TEXT_OPT_HOSTED },
    [OPTION_YES] = { "yes", NULL, OPTION_IS_FLAG, TO(yes), TEXT_OPT_YES },
    [OPTION_SERVER] = { "server", "URL", OPTION_IS_SETTING, .help = TEXT_OPT_SERVER },
    [OPTION_SOCKET] = { "socket", "PATH", OPTION_IS_SETTING, .help = TEXT_OPT_SOCKET },
    [OPTION_LOCAL] = { "local", "[=SOCKET]", OPTION_IS_FLAG_OR_TEXT, TO(local), TEXT_OPT_LOCAL },
    [OPTION_APP] = { "app", "CODE", OPTION_IS_SETTING, .help = TEXT_OPT_APP },
    [OPTION_SECRET_FILE] = { "secret-file", "FILE", OPTION_IS_SETTING, .help = TEXT_OPT_SECRET_FILE },
    [OPTION_CA] = { "ca", "FILE", OPTION_IS_SETTING, .help = TEXT_OPT_CA },
    [OPTION_LANG] = { "lang", "LANG", OPTION_IS_SETTING, .help = TEXT_OPT_LANG },
    [OPTION_JSON] = { "json", NULL, OPTION_IS_SETTING, .help = TEXT_OPT_JSON },
    [OPTION_QUIET] = { "quiet", NULL, OPTION_IS_SETTING, .help = TEXT_OPT_QUIET },
    [OPTION_COLOR] = { "color", "WHEN", OPTION_IS_SETTING, .help = TEXT_OPT_COLOR },
    [OPTION_CONFIG] = { "config", "FILE", OPTION_IS_SETTING, .help = TEXT_OPT_CONFIG },
    [OPTION_HELP] = { "help", NULL, OPTION_IS_FLAG, TO(help), TEXT_OPT_HELP },
    [OPTION_VERSION] = { "version", NULL, OPTION_IS_FLAG, TO(version), TEXT_OPT_VERSION },
};

#define OPERATION HAS(HOST) | HAS(SPEC) | HAS(NO_WAIT) | HAS(TIMEOUT) | HAS(EXPECT) | HAS(DRY_RUN) | HAS(IDEMPOTENT)
#define FILTERS HAS(HOST) | HAS(NAMESPACE) | HAS(BIZ) | HAS(STATE) | HAS(HOSTED) | HAS(MATCH)
#define PERMISSIONS HAS(RIGHT) | HAS(OPERATION) | HAS(NAMESPACE) | HAS(BIZ) | HAS(BIZ_SET) | HAS(RATE) | HAS(SIGNATURES)

const struct command cli_commands[] = {
    { "status", "", 0, 0, 0, TEXT_DO_STATUS, -1, run_status, OF_BOTH },
    { "ps", "[NAMESPACE[/NAME]]", 0, 1, FILTERS, TEXT_DO_PS, -1, run_ps, OF_BOTH },
    { "why", "NAMESPACE/NAME", 1, 1, HAS(HOST), TEXT_DO_WHY, -1, run_why, OF_BOTH },
    { "logs", "NAMESPACE/NAME", 1, 1, HAS(HOST) | HAS(LINES) | HAS(COMMAND) | HAS(FOLLOW), TEXT_DO_LOGS, -1, run_logs, OF_BOTH },
    { "events", "", 0, 0, HAS(HOST) | HAS(NAMESPACE) | HAS(SINCE) | HAS(LINES) | HAS(FOLLOW), TEXT_DO_EVENTS, -1, run_events },
    { "start", "NAMESPACE/NAME", 1, 1, OPERATION, TEXT_DO_START, PROC_OP_START, run_operation, OF_BOTH },
    { "stop", "NAMESPACE/NAME", 1, 1, OPERATION, TEXT_DO_STOP, PROC_OP_STOP, run_operation, OF_BOTH },
    { "restart", "NAMESPACE/NAME", 1, 1, OPERATION, TEXT_DO_RESTART, PROC_OP_RESTART, run_operation, OF_BOTH },
    { "reload", "NAMESPACE/NAME", 1, 1, OPERATION, TEXT_DO_RELOAD, PROC_OP_RELOAD, run_operation, OF_BOTH },
    { "kill", "NAMESPACE/NAME", 1, 1, OPERATION, TEXT_DO_KILL, PROC_OP_KILL, run_operation, OF_BOTH },
    { "host", "NAMESPACE/NAME", 1, 1, OPERATION, TEXT_DO_HOST, PROC_OP_HOST, run_operation, OF_BOTH },
    { "unhost", "NAMESPACE/NAME", 1, 1, OPERATION, TEXT_DO_UNHOST, PROC_OP_UNHOST, run_operation, OF_BOTH },
    { "query", "NAMESPACE/NAME", 1, 1, OPERATION, TEXT_DO_QUERY, PROC_OP_QUERY, run_operation, OF_BOTH },
    { "forget", "NAMESPACE/NAME", 1, 1, HAS(HOST) | HAS(YES), TEXT_DO_FORGET, -1, run_forget },
    { "facts", "", 0, 0, 0, TEXT_DO_FACTS, -1, run_facts, OF_AGENT },
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
    { "token create", "", 0, 0, HAS(CLOUD) | HAS(BIZ) | HAS(TTL) | HAS(USES) | HAS(NOTE), TEXT_DO_TOKEN_CREATE, -1,
      run_token_create },
    { "token list", "", 0, 0, 0, TEXT_DO_TOKEN_LIST, -1, run_token_list },
    { "token revoke", "ID", 1, 1, 0, TEXT_DO_TOKEN_REVOKE, -1, run_token_revoke },
    { 0 },
};
/* clang-format on */

/* What they were called first, and Job's API calls them. */
static const struct {
    const char *old, *name;
} aliases[] = { { "manage", "host" }, { "unmanage", "unhost" } };

const struct command *command_find(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(aliases); i++) {
        if (!strcmp(aliases[i].old, name))
            name = aliases[i].name;
    }
    for (const struct command *c = cli_commands; c->name; c++) {
        if (!strcmp(c->name, name))
            return c;
    }
    return NULL;
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

/* "  left   right", the right sides below each other by what is seen. */
static void put_row(struct out *o, const char *left, const char *right)
{
    enum { INDENT = 2, LEFT = 24 };
    size_t n = width_text(left);

    out_blanks(o, INDENT);
    out_puts(o, left);
    out_blanks(o, n < LEFT ? LEFT + 1 - n : 1);
    out_wrapped(o, INDENT + LEFT + 1, STYLE_PLAIN, right);
}

static void put_options(struct out *o, size_t from, size_t to, uint64_t which)
{
    for (size_t i = from; i < to; i++) {
        const struct option *option = &cli_options[i];
        struct buf left = { 0 };

        if (!(which >> i & 1))
            continue;
        buf_printf(&left, "--%s%s%s", option->name,
                   option->value && option->kind != OPTION_IS_FLAG_OR_TEXT ? " " : "",
                   option->value ? option->value : "");
        put_row(o, buf_text(&left), text_get(o->lang, option->help));
        buf_free(&left);
    }
}

/* But for the one that is told of above, which a group may be, too. */
static void put_commands(struct out *o, const char *group, const struct command *told)
{
    out_line(o, told ? TEXT_OTHER_COMMANDS : TEXT_COMMANDS, NULL);
    for (const struct command *c = cli_commands; c->name; c++) {
        struct buf left = { 0 };

        if (!is_in_group(c, group) || c == told)
            continue;
        buf_printf(&left, "%s%s%s", c->name, *c->words ? " " : "", c->words);
        put_row(o, buf_text(&left), text_get(o->lang, c->help));
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

/* What every command has, at length. */
static void put_common(struct out *o)
{
    static const enum text end[] = { TEXT_HELP_FILE, TEXT_HELP_EXIT, TEXT_HELP_MORE };

    put_texts(o, (const enum text[]){ TEXT_GLOBAL_OPTIONS }, 1);
    put_options(o, OPTIONS_GLOBAL, OPTIONS, UINT64_MAX);
    out_puts(o, "\n");
    put_texts(o, end, ARRAY_LEN(end));
}

void command_help(struct out *o, const char *name)
{
    const struct command *c = command_find(name);

    put_usage(o, c ? c->name : *name ? name : "COMMAND", c ? c->words : "[...]");
    if (c || !*name) {
        put_texts(o, c ? &c->help : (const enum text[]){ TEXT_ABOUT }, 1);
        out_puts(o, "\n");
    }
    if (c && c->options) {
        put_texts(o, (const enum text[]){ TEXT_OPTIONS }, 1);
        put_options(o, 0, OPTIONS_GLOBAL, c->options);
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
