/* SPDX-License-Identifier: MIT */
/* from_systemd.c - see from_systemd.h.  What each key becomes is a row of `rules`. */
#include "cli/from_systemd.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem/mem.h"
#include "cli/calendar.h"
#include "cli/options.h"
#include "cli/unit_file.h"
#include "cli/unit_names.h"
#include "cli/words.h"
#include "model/rules.h"

/* The process that is made of a unit. */
struct service {
    struct plan *plan;
    struct plan_process *process;
    struct unit_names names;
    const struct list *settings;
    const char *directory, *type;
    struct buf pre_start, stop; /* shell lines so far */
};

/* ---- values ---- */

/* The last value of a key, expanded; NULL: none, or it was reset, or it cannot be expanded. */
static const char *service_get(const struct service *s, const char *section, const char *key)
{
    const struct setting *found = setting_find(s->settings, section, key);
    const char *value;
    struct err ignored;

    return found && *found->value &&
                   !unit_names_expand(&s->names, s->plan->arena, found->value, &value, &ignored)
               ? value
               : NULL;
}

/* ---- values; each returns why it is left out, or PLAN_FINE ---- */

typedef enum text unit_map(struct service *s, const struct setting *at, const char *value);

static bool unit_is_true(const char *value)
{
    return !strcasecmp(value, "yes") || !strcasecmp(value, "true") || !strcasecmp(value, "on") ||
           !strcmp(value, "1");
}

static enum text map_span(struct service *s, const char *key, const char *value, int64_t most)
{
    int64_t seconds;

    if (!calendar_span(value, &seconds))
        return TEXT_PLAN_NOT_A_TIME;
    if (seconds < 0 || seconds > most)
        return TEXT_PLAN_RANGE;
    draft_number(&s->process->draft, key, seconds ? seconds : 1);
    return PLAN_FINE;
}

static enum text map_type(struct service *s, const struct setting *at, const char *value)
{
    struct draft *d = &s->process->draft;

    (void)at;
    if (!strcmp(value, "notify") || !strcmp(value, "notify-reload"))
        draft_part(d, "ready", "when", "notify");
    else if (!strcmp(value, "forking") && service_get(s, "Service", "PIDFile"))
        draft_part(d, "ready", "when", "pid_file");
    else if (!strcmp(value, "dbus"))
        return TEXT_PLAN_DBUS;
    return PLAN_FINE;
}

static enum text map_restart(struct service *s, const struct setting *at, const char *value)
{
    static const char *const same[] = { "always", "on-failure" };
    struct draft *d = &s->process->draft;

    (void)at;
    if (!strcmp(value, "no"))
        return PLAN_FINE;
    if (!strcmp(s->type, "oneshot"))
        return TEXT_PLAN_RESTART_ONCE;
    for (size_t i = 0; i < ARRAY_LEN(same); i++) {
        if (!strcmp(value, same[i])) {
            draft_text(d, "restart", same[i]);
            return PLAN_FINE;
        }
    }
    draft_text(d, "restart", "on-failure");
    return TEXT_PLAN_RESTART;
}

static enum text map_restart_sec(struct service *s, const struct setting *at, const char *value)
{
    (void)at;
    return map_span(s, "start_interval", value, DAY_S);
}

static enum text map_timeout_start(struct service *s, const struct setting *at, const char *value)
{
    (void)at;
    return map_span(s, "op_timeout", value, DAY_S);
}

static enum text map_timeout_stop(struct service *s, const struct setting *at, const char *value)
{
    (void)at;
    return map_span(s, "stop_wait", value, DAY_S);
}

static enum text map_timeout(struct service *s, const struct setting *at, const char *value)
{
    enum text why = map_timeout_start(s, at, value);

    return why == PLAN_FINE ? map_timeout_stop(s, at, value) : why;
}

static enum text map_user(struct service *s, const struct setting *at, const char *value)
{
    int64_t uid;

    (void)at;
    if (plan_number(value, &uid))
        return TEXT_PLAN_UID;
    draft_text(&s->process->draft, "user", value);
    return PLAN_FINE;
}

/* A process has the groups of its user. */
static enum text map_group(struct service *s, const struct setting *at, const char *value)
{
    const char *user = service_get(s, "Service", "User");

    (void)at;
    return !*value || !strcmp(value, user ? user : "root") ? PLAN_FINE : TEXT_PLAN_GROUP;
}

static enum text map_environment(struct service *s, const struct setting *at, const char *value)
{
    struct arena *a = s->plan->arena;
    const struct word *words;
    struct list list;
    struct err why;

    (void)at;
    if (!*value)
        draft_drop(&s->process->draft, "environment");
    if (words_split(value, WORDS_SYSTEMD, a, &list, &why))
        return TEXT_PLAN_ENVIRONMENT;
    words = list.items;
    for (size_t i = 0; i < list.n; i++) {
        const char *equals = strchr(words[i].text, '=');

        if (!equals || equals == words[i].text)
            return TEXT_PLAN_ENVIRONMENT;
        draft_part(&s->process->draft, "environment",
                   arena_memdup(a, words[i].text, (size_t)(equals - words[i].text)), equals + 1);
    }
    return PLAN_FINE;
}

static enum text map_env_file(struct service *s, const struct setting *at, const char *value)
{
    struct draft *d = &s->process->draft;

    (void)at;
    if (!*value) {
        draft_drop(d, "env_file");
        return PLAN_FINE;
    }
    if (draft_find(d, "env_file"))
        return TEXT_PLAN_ENV_FILES;
    draft_text(d, "env_file", value + (*value == '-'));
    return *value == '-' ? TEXT_PLAN_ENV_FILE_OPTIONAL : PLAN_FINE;
}

static enum text map_signal(struct service *s, const struct setting *at, const char *value)
{
    static const char *const names[] = { "TERM", "INT", "QUIT", "HUP", "USR1", "USR2", "KILL" };

    (void)at;
    if (!strncmp(value, "SIG", 3))
        value += 3;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (!strcmp(value, names[i])) {
            draft_text(&s->process->draft, "stop_signal", names[i]);
            return PLAN_FINE;
        }
    }
    return TEXT_PLAN_SIGNAL;
}

static enum text map_kill_mode(struct service *s, const struct setting *at, const char *value)
{
    (void)at;
    if (!strcmp(value, "process"))
        draft_text(&s->process->draft, "scope", "process");
    return !strcmp(value, "none") ? TEXT_PLAN_KILL_NONE : PLAN_FINE;
}

static enum text map_nice(struct service *s, const struct setting *at, const char *value)
{
    int64_t n;

    (void)at;
    if (!plan_number(value, &n) || n < -20 || n > 19)
        return TEXT_PLAN_RANGE;
    draft_number(&s->process->draft, "nice", n);
    return PLAN_FINE;
}

static enum text map_exit_status(struct service *s, const struct setting *at, const char *value)
{
    char *rest = arena_strdup(s->plan->arena, value), *one;
    const char *restart = service_get(s, "Service", "Restart");
    enum text why = PLAN_FINE;
    int64_t n;

    (void)at;
    if (restart && !strcmp(restart, "always"))
        return TEXT_PLAN_EXIT_ALWAYS;
    while ((one = strsep(&rest, " \t")) != NULL) {
        if (!*one)
            continue;
        if (plan_number(one, &n) && n >= 0 && n <= 255)
            draft_item_number(&s->process->draft, "exit_codes", n);
        else
            why = TEXT_PLAN_EXIT_NAMES;
    }
    return why;
}

/* "512M", "infinity": bytes; -1: none.  Not a percentage. */
static bool unit_bytes(const char *value, int64_t *ret)
{
    *ret = -1;
    return !strcmp(value, "infinity") || field_read_units(FIELD_BYTES, value, ret);
}

static enum text map_memory_max(struct service *s, const struct setting *at, const char *value)
{
    int64_t bytes;

    (void)at;
    if (!unit_bytes(value, &bytes))
        return TEXT_PLAN_NOT_BYTES;
    if (bytes > 0)
        draft_part_number(&s->process->draft, "caps", "mem_bytes", bytes);
    return PLAN_FINE;
}

static enum text map_tasks_max(struct service *s, const struct setting *at, const char *value)
{
    int64_t n;

    (void)at;
    if (!strcmp(value, "infinity"))
        return PLAN_FINE;
    if (!plan_number(value, &n) || n < 1 || n > INT32_MAX)
        return TEXT_PLAN_NOT_A_NUMBER;
    draft_part_number(&s->process->draft, "caps", "processes", n);
    return PLAN_FINE;
}

/* systemd counts percent of one core, a spec percent of all. */
static enum text map_cpu_quota(struct service *s, const struct setting *at, const char *value)
{
    size_t digits = strspn(value, "0123456789");
    const char *cores = arena_printf(s->plan->arena, "%lld", (long long)s->plan->host->cores);
    int64_t percent;

    if (!*value)
        return PLAN_FINE;
    if (strcmp(value + digits, "%") != 0 || digits > 6 ||
        !plan_number(arena_memdup(s->plan->arena, value, digits), &percent) || !percent)
        return TEXT_PLAN_NOT_A_NUMBER;
    if (percent >= 100 * s->plan->host->cores)
        return PLAN_FINE; /* no bound on this host */
    draft_part_float(&s->process->draft, "caps", "cpu",
                     (double)percent / (double)s->plan->host->cores);
    plan_remark(s->plan, s->process, at, TEXT_PLAN_CORES, TEXT_ARGS(cores));
    return PLAN_FINE;
}

static enum text map_limit(struct service *s, const struct setting *at, const char *value)
{
    static const struct {
        const char *key, *name;
    } limits[] = {
        { "LimitAS", "as" },         { "LimitCORE", "core" },   { "LimitCPU", "cpu" },
        { "LimitDATA", "data" },     { "LimitFSIZE", "fsize" }, { "LimitMEMLOCK", "memlock" },
        { "LimitNOFILE", "nofile" }, { "LimitNPROC", "nproc" }, { "LimitSTACK", "stack" },
    };
    const char *colon = strchr(value, ':');
    const char *soft = colon ? arena_memdup(s->plan->arena, value, (size_t)(colon - value)) : value;
    int64_t n;

    for (size_t i = 0; i < ARRAY_LEN(limits); i++) {
        if (strcmp(at->key, limits[i].key) != 0)
            continue;
        if (!unit_bytes(soft, &n))
            return TEXT_PLAN_NOT_BYTES;
        draft_part_number(&s->process->draft, "rlimits", limits[i].name, n);
        return colon && strcmp(colon + 1, soft) != 0 ? TEXT_PLAN_SOFT_AND_HARD : PLAN_FINE;
    }
    return TEXT_PLAN_LIMIT;
}

static enum text map_umask(struct service *s, const struct setting *at, const char *value)
{
    (void)s, (void)at;
    return !strcmp(value + strspn(value, "0"), "22") ? PLAN_FINE : TEXT_PLAN_UMASK;
}

static enum text map_output(struct service *s, const struct setting *at, const char *value)
{
    (void)s, (void)at;
    return !strcmp(value, "journal") || !strcmp(value, "inherit") || !strcmp(value, "null") ||
                   !*value
               ? PLAN_FINE
               : TEXT_PLAN_OUTPUT;
}

static enum text map_no(struct service *s, const struct setting *at, const char *value)
{
    (void)s, (void)at;
    return unit_is_true(value) ? TEXT_PLAN_NO_COUNTERPART : PLAN_FINE;
}

/* Services are found when all files have been read; other units only order systemd's own start. */
static enum text map_after(struct service *s, const struct setting *at, const char *value)
{
    struct setting *copy = arena_alloc(s->plan->arena, sizeof(*copy));
    char *rest = arena_strdup(s->plan->arena, value), *one;

    *copy = *at;
    while ((one = strsep(&rest, " \t")) != NULL) {
        struct plan_after after = { s->process, copy, one };
        size_t n = strlen(one);

        if (n <= 8 || strcmp(one + n - 8, ".service") != 0)
            continue;
        one[n - 8] = '\0';
        buf_add(&s->plan->afters, &after, sizeof(after));
    }
    return PLAN_FINE;
}

/* ---- commands ---- */

/* A command of systemd: prefixes, then words. */
struct unit_command {
    bool ignores_failure;
    struct list words; /* struct word */
};

static int service_words(struct service *s, const struct setting *at, struct unit_command *ret,
                         struct err *err)
{
    struct word *w;
    const char *text = at->value, *expanded;
    bool has_argv0 = false;
    size_t n = 0;

    *ret = (struct unit_command){ 0 };
    for (; *text && strchr("-@:+!", *text); text++) {
        ret->ignores_failure = ret->ignores_failure || *text == '-';
        has_argv0 = has_argv0 || *text == '@';
        if (strchr("@:+!", *text))
            plan_left_out(s->plan, s->process, at, TEXT_PLAN_PREFIX);
    }
    if (unit_names_expand(&s->names, s->plan->arena, text, &expanded, err) ||
        words_split(expanded, WORDS_SYSTEMD, s->plan->arena, &ret->words, err))
        return -1;
    w = ret->words.items;
    for (size_t i = 0; i < ret->words.n; i++) {
        if (!(has_argv0 && i == 1))
            w[n++] = w[i];
    }
    ret->words.n = n;
    return n ? 0 : err_set(err, ERR_INVALID, "%s", MSG("the command is empty"));
}

/* The pid of the main process, for a shell: of its pid file, which then has to be known. */
static const char *service_main_pid(struct service *s)
{
    const char *pid_file = draft_find(&s->process->draft, "pid_file");

    if (!pid_file) {
        pid_file = arena_printf(s->plan->arena, "/run/%s.pid", s->names.name);
        draft_text(&s->process->draft, "pid_file", pid_file);
    }
    return arena_printf(s->plan->arena, "$(cat %s)", pid_file);
}

static void service_put_line(struct service *s, const struct unit_command *c, struct buf *to)
{
    const struct word *w = c->words.items;

    buf_puts(to, c->ignores_failure ? "{ " : "");
    for (size_t i = 0; i < c->words.n; i++) {
        buf_puts(to, i ? " " : "");
        if (!strcmp(w[i].text, "$MAINPID") || !strcmp(w[i].text, "${MAINPID}"))
            buf_puts(to, service_main_pid(s));
        else
            words_put(to, w[i].text, true);
    }
    buf_puts(to, c->ignores_failure ? " || :; }" : "");
}

/* Adds a shell line that runs one command after the others. */
static void service_add_line(struct service *s, const struct setting *at, struct buf *to)
{
    struct unit_command c;
    struct err err;

    if (!*at->value) {
        buf_truncate(to, 0);
        return;
    }
    if (service_words(s, at, &c, &err)) {
        plan_left_out_err(s->plan, s->process, at, &err);
        return;
    }
    buf_puts(to, to->len ? " && " : "");
    service_put_line(s, &c, to);
}

static enum text map_pre_start(struct service *s, const struct setting *at, const char *value)
{
    (void)value;
    service_add_line(s, at, &s->pre_start);
    return PLAN_FINE;
}

static enum text map_stop(struct service *s, const struct setting *at, const char *value)
{
    (void)value;
    service_add_line(s, at, &s->stop);
    return PLAN_FINE;
}

static enum text map_reload(struct service *s, const struct setting *at, const char *value)
{
    struct buf line = { 0 };
    const char *before = draft_find(&s->process->draft, "reload_command");

    (void)value;
    buf_puts(&line, before && *at->value ? before : "");
    service_add_line(s, at, &line);
    draft_drop(&s->process->draft, "reload_command");
    if (line.len)
        draft_text(&s->process->draft, "reload_command",
                   arena_strdup(s->plan->arena, buf_text(&line)));
    buf_free(&line);
    return PLAN_FINE;
}

/* ---- what each key becomes ---- */

struct rule {
    const char *section, *key; /* a key that ends with * stands for all that begin so */
    unit_map *map;             /* NULL: `why`, or nothing is needed or it is read elsewhere */
    enum text why;
};

/* clang-format off */
static const struct rule rules[] = {
    { "Service", "Type", map_type, PLAN_FINE },
    { "Service", "ExecStart", NULL, PLAN_FINE },
    { "Service", "ExecStartPre", map_pre_start, PLAN_FINE },
    { "Service", "ExecStop", map_stop, PLAN_FINE },
    { "Service", "ExecReload", map_reload, PLAN_FINE },
    { "Service", "Exec*", NULL, TEXT_PLAN_EXEC },
    { "Service", "Restart", map_restart, PLAN_FINE },
    { "Service", "RestartSec", map_restart_sec, PLAN_FINE },
    { "Service", "SuccessExitStatus", map_exit_status, PLAN_FINE },
    { "Service", "TimeoutStartSec", map_timeout_start, PLAN_FINE },
    { "Service", "TimeoutStopSec", map_timeout_stop, PLAN_FINE },
    { "Service", "TimeoutSec", map_timeout, PLAN_FINE },
    { "Service", "User", map_user, PLAN_FINE },
    { "Service", "Group", map_group, PLAN_FINE },
    { "Service", "SupplementaryGroups", NULL, TEXT_PLAN_GROUP },
    { "Service", "WorkingDirectory", NULL, PLAN_FINE },
    { "Service", "Environment", map_environment, PLAN_FINE },
    { "Service", "EnvironmentFile", map_env_file, PLAN_FINE },
    { "Service", "PIDFile", NULL, PLAN_FINE },
    { "Service", "KillSignal", map_signal, PLAN_FINE },
    { "Service", "KillMode", map_kill_mode, PLAN_FINE },
    { "Service", "SendSIGKILL", NULL, TEXT_PLAN_NO_COUNTERPART },
    { "Service", "Nice", map_nice, PLAN_FINE },
    { "Service", "MemoryMax", map_memory_max, PLAN_FINE },
    { "Service", "MemoryLimit", map_memory_max, PLAN_FINE },
    { "Service", "CPUQuota", map_cpu_quota, PLAN_FINE },
    { "Service", "TasksMax", map_tasks_max, PLAN_FINE },
    { "Service", "Limit*", map_limit, PLAN_FINE },
    { "Service", "UMask", map_umask, PLAN_FINE },
    { "Service", "StandardOutput", map_output, PLAN_FINE },
    { "Service", "StandardError", map_output, PLAN_FINE },
    { "Service", "SyslogIdentifier", NULL, PLAN_FINE },
    { "Service", "NotifyAccess", NULL, PLAN_FINE },
    { "Service", "RemainAfterExit", map_no, PLAN_FINE },
    { "Service", "GuessMainPID", NULL, PLAN_FINE },
    { "Service", "WatchdogSec", NULL, TEXT_PLAN_WATCHDOG },
    { "Service", "Protect*", NULL, TEXT_PLAN_SANDBOX },
    { "Service", "Private*", NULL, TEXT_PLAN_SANDBOX },
    { "Service", "Restrict*", NULL, TEXT_PLAN_SANDBOX },
    { "Service", "ReadWritePaths", NULL, TEXT_PLAN_SANDBOX },
    { "Service", "ReadOnlyPaths", NULL, TEXT_PLAN_SANDBOX },
    { "Service", "InaccessiblePaths", NULL, TEXT_PLAN_SANDBOX },
    { "Service", "NoNewPrivileges", map_no, PLAN_FINE },
    { "Service", "CapabilityBoundingSet", NULL, TEXT_PLAN_SANDBOX },
    { "Service", "AmbientCapabilities", NULL, TEXT_PLAN_SANDBOX },
    { "Service", "SystemCall*", NULL, TEXT_PLAN_SANDBOX },
    { "Service", "RuntimeDirectory*", NULL, TEXT_PLAN_FOLDERS },
    { "Service", "StateDirectory*", NULL, TEXT_PLAN_FOLDERS },
    { "Service", "CacheDirectory*", NULL, TEXT_PLAN_FOLDERS },
    { "Service", "LogsDirectory*", NULL, TEXT_PLAN_FOLDERS },
    { "Service", "StartLimit*", NULL, TEXT_PLAN_START_LIMIT },
    { "Unit", "StartLimit*", NULL, TEXT_PLAN_START_LIMIT },
    { "Unit", "After", map_after, PLAN_FINE },
    { "Unit", "Description", NULL, PLAN_FINE },
    { "Unit", "Documentation", NULL, PLAN_FINE },
    { "Unit", "Wants", NULL, PLAN_FINE },
    { "Unit", "Condition*", NULL, TEXT_PLAN_NO_COUNTERPART },
    { "Unit", "Assert*", NULL, TEXT_PLAN_NO_COUNTERPART },
    { "Unit", "DefaultDependencies", NULL, PLAN_FINE },
    { "Install", "*", NULL, PLAN_FINE },
    { "Timer", "OnCalendar", NULL, PLAN_FINE },
    { "Timer", "OnUnitActiveSec", NULL, PLAN_FINE },
    { "Timer", "Persistent", NULL, PLAN_FINE },
    { "Timer", "AccuracySec", NULL, PLAN_FINE },
    { "Timer", "Unit", NULL, PLAN_FINE },
    { 0 },
};
/* clang-format on */

static const struct rule *find_rule(const struct setting *at)
{
    for (const struct rule *r = rules; r->key; r++) {
        size_t n = strcspn(r->key, "*");

        if (!strcmp(r->section, at->section) &&
            (r->key[n] ? !strncmp(at->key, r->key, n) : !strcmp(at->key, r->key)))
            return r;
    }
    return NULL;
}

/* Units that only order: targets, slices and the like. */
static bool names_service(const char *value)
{
    return strstr(value, ".service") != NULL;
}

static void service_take(struct service *s, const struct setting *at)
{
    const struct rule *r = find_rule(at);
    enum text why = r ? r->why : TEXT_PLAN_UNKNOWN;
    bool is_unit = !strcmp(at->section, "Unit");
    const char *value = at->value;
    struct err err;

    if (!strncmp(at->section, "X-", 2) || !strncmp(at->key, "X-", 2))
        return; /* systemd ignores them, too */
    if (!r && is_unit)
        why = names_service(at->value) ? TEXT_PLAN_REQUIRES : PLAN_FINE;
    if (!*at->value && r && !r->map)
        return; /* a list that is reset */
    if (r && why == PLAN_FINE && !strcmp(at->section, "Service") &&
        unit_names_expand(&s->names, s->plan->arena, at->value, &value, &err)) {
        plan_left_out_err(s->plan, s->process, at, &err);
        return;
    }
    if (r && r->map)
        why = r->map(s, at, value);
    if (why != PLAN_FINE)
        plan_left_out(s->plan, s->process, at, why);
}

/* ---- one unit ---- */

/* The commands that ExecStart= gives, without those that were reset. */
static size_t service_starts(const struct service *s, const struct setting **ret, size_t most)
{
    const struct setting *all = s->settings->items;
    size_t n = 0;

    for (size_t i = 0; i < s->settings->n; i++) {
        if (strcmp(all[i].section, "Service") != 0 || strcmp(all[i].key, "ExecStart") != 0)
            continue;
        if (!*all[i].value)
            n = 0;
        else if (n < most)
            ret[n++] = &all[i];
    }
    return n;
}

/* A oneshot may have several, which run one after the other. */
static int service_command(struct service *s, struct err *err)
{
    enum { STARTS_MAX = 64 };
    const struct setting *starts[STARTS_MAX];
    size_t n = service_starts(s, starts, STARTS_MAX);
    struct unit_command c;
    struct buf line = { 0 };

    if (!n)
        return err_set(err, ERR_INVALID, "%s", MSG("there is no command"));
    if (service_words(s, starts[0], &c, err))
        return -1;
    plan_command(s->plan, s->process, starts[0], &c.words, s->directory, true);
    if (n == 1 && !c.ignores_failure)
        return 0;
    if (strcmp(s->directory, "/") != 0)
        draft_text(&s->process->draft, "directory", s->directory);
    service_put_line(s, &c, &line);
    for (size_t i = 1; i < n; i++)
        service_add_line(s, starts[i], &line);
    draft_text(&s->process->draft, "command", arena_strdup(s->plan->arena, buf_text(&line)));
    buf_free(&line);
    return 0;
}

static void service_directory(struct service *s)
{
    const char *directory = service_get(s, "Service", "WorkingDirectory");
    const struct setting *at = setting_find(s->settings, "Service", "WorkingDirectory");

    s->directory = "/";
    if (!directory)
        return;
    if (*directory == '-') {
        plan_left_out(s->plan, s->process, at, TEXT_PLAN_FOLDER_OPTIONAL);
        directory++;
    }
    if (!strcmp(directory, "~"))
        plan_left_out(s->plan, s->process, at, TEXT_PLAN_HOME);
    else
        s->directory = directory;
}

static void service_pid_file(struct service *s)
{
    const char *pid_file = service_get(s, "Service", "PIDFile");

    if (pid_file)
        draft_text(&s->process->draft, "pid_file",
                   *pid_file == '/' ? pid_file : arena_printf(s->plan->arena, "/run/%s", pid_file));
}

static void service_timer(struct service *s, const struct list *timer)
{
    const struct setting *all = timer->items;
    struct draft *d = &s->process->draft;

    draft_drop(d, "restart");
    for (size_t i = 0; i < timer->n; i++) {
        bool is_calendar = !strcmp(all[i].key, "OnCalendar"),
             is_span = !strcmp(all[i].key, "OnUnitActiveSec");
        bool is_taken = draft_find(d, "schedule") != NULL;
        struct buf rule = { 0 };
        int64_t seconds;

        if (strcmp(all[i].section, "Timer") != 0)
            continue;
        if (is_calendar && !is_taken && calendar_to_cron(all[i].value, &rule))
            draft_text(d, "schedule", arena_strdup(s->plan->arena, buf_text(&rule)));
        else if (is_calendar)
            plan_left_out(s->plan, s->process, &all[i],
                          is_taken ? TEXT_PLAN_SCHEDULES : TEXT_PLAN_CALENDAR);
        else if (is_span && !is_taken && calendar_span(all[i].value, &seconds) && seconds > 0)
            draft_text(d, "schedule",
                       arena_printf(s->plan->arena, "every %llds", (long long)seconds));
        else if (is_span || !find_rule(&all[i]))
            plan_left_out(s->plan, s->process, &all[i],
                          is_span && is_taken ? TEXT_PLAN_SCHEDULES : TEXT_PLAN_TIMER);
        buf_free(&rule);
    }
    if (!draft_find(d, "schedule"))
        draft_text(d, "auto_type", "periodic"); /* it runs on request */
}

/* What systemd does without the setting, where that differs from what a spec does. */
static void service_defaults(struct service *s, bool has_timer)
{
    struct draft *d = &s->process->draft;

    draft_text(d, "user", s->plan->host->user);
    if (has_timer)
        return;
    if (!strcmp(s->type, "oneshot"))
        draft_text(d, "auto_type", "run_once");
    else
        draft_text(d, "restart", "never");
}

static void service_finish(struct service *s, bool has_timer, const struct list *timer)
{
    struct draft *d = &s->process->draft;

    if (s->pre_start.len)
        draft_text(d, "pre_start", arena_strdup(s->plan->arena, buf_text(&s->pre_start)));
    if (s->stop.len)
        draft_text(d, "stop_command", arena_strdup(s->plan->arena, buf_text(&s->stop)));
    if (!strcmp(s->type, "forking") && !draft_find(d, "pid_file"))
        plan_remark(s->plan, s->process, &s->process->at, TEXT_PLAN_NO_PID_FILE, NULL);
    if (has_timer)
        service_timer(s, timer);
}

static int service_make(struct service *s, const struct list *timer, struct err *err)
{
    const struct setting *all = s->settings->items;

    service_directory(s);
    service_pid_file(s);
    service_defaults(s, timer != NULL);
    if (service_command(s, err)) {
        plan_drop_last(s->plan);
        return -1;
    }
    for (size_t i = 0; i < s->settings->n; i++)
        service_take(s, &all[i]);
    service_finish(s, timer != NULL, timer);
    return 0;
}

int from_systemd_settings(struct plan *p, const char *path, const struct list *service,
                          const struct list *timer, struct err *err)
{
    struct service s = { .plan = p, .settings = service };
    struct setting at = { arena_strdup(p->arena, path), 1, "Service", "", "" };
    const char *type;
    struct err why;

    (void)err;
    unit_names_init(&s.names, path, p->host->name, p->arena);
    at.key = s.names.unit;
    type = service_get(&s, "Service", "Type");
    s.type = timer ? "oneshot" : type ? type : "simple";
    if (s.names.is_template) {
        plan_left_out(p, NULL, &at, TEXT_PLAN_TEMPLATE);
        return 0;
    }
    s.process = plan_add(p, p->host->space, s.names.name, &at, &why);
    if (!s.process || service_make(&s, timer, &why))
        plan_left_out_err(p, NULL, &at, &why);
    buf_free(&s.pre_start);
    buf_free(&s.stop);
    return 0;
}

/* ---- files ---- */

/* 1: read before; 2: there is none, which is allowed for a timer. */
static int unit_load(struct plan *p, const char *path, bool may_lack, struct list *ret,
                     struct err *err)
{
    struct buf text = { 0 };
    int bad = plan_read(p, path, SETTING_FILE_MAX, &text, err);

    if (bad < 0 && may_lack && err->code == ERR_SYSTEM && err->sys == ENOENT)
        return 2;
    if (bad)
        return bad;
    bad = unit_read(arena_strdup(p->arena, path), text.len ? buf_data(&text) : "", text.len,
                    p->arena, ret, err);
    buf_free(&text);
    return bad;
}

int from_systemd(struct plan *p, const char *path, struct err *err)
{
    size_t n = strlen(path), stem = !strcmp(path + n - 6, ".timer") ? n - 6 : n - 8;
    const char *service_path = arena_printf(p->arena, "%.*s.service", (int)stem, path);
    const char *timer_path = arena_printf(p->arena, "%.*s.timer", (int)stem, path);
    struct list service = { 0 }, timer = { 0 };
    int got = unit_load(p, service_path, false, &service, err);

    if (got)
        return got < 0 ? -1 : 0;
    got = unit_load(p, timer_path, true, &timer, err);
    if (got < 0)
        return -1;
    return from_systemd_settings(p, service_path, &service, got ? NULL : &timer, err);
}

/* ---- order ---- */

void from_systemd_finish(struct plan *p)
{
    const struct plan_after *after = (const struct plan_after *)(const void *)buf_data(&p->afters);

    for (size_t i = 0; i < p->afters.len / sizeof(*after); i++) {
        if (plan_find(p, p->host->space, after[i].name))
            draft_item(&after[i].process->draft, "after", after[i].name);
        else
            plan_left_out(p, after[i].process, after[i].at, TEXT_PLAN_AFTER);
    }
    buf_free(&p->afters);
}
