/* SPDX-License-Identifier: MIT */
/* from_supervisord.c - see from_supervisord.h.  What each key of a program becomes is a row of
 * `rules`. */
#include "cli/from_supervisord.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem/mem.h"
#include "cli/ini_file.h"
#include "cli/options.h"
#include "cli/words.h"
#include "model/rules.h"

/* One file with all that it includes. */
struct conf {
    struct plan *plan;
    const struct list *settings;
    const char *here;
};

/* One process that is being made; a program with numprocs makes several. */
struct making {
    struct conf *conf;
    struct plan_process *process;
    const char *section, *program, *group;
    int64_t number, of;
};

/* ---- %(name)s ---- */

static const char *making_variable(const struct making *m, const char *name)
{
    const struct plan_host *host = m->conf->plan->host;
    struct arena *a = m->conf->plan->arena;
    size_t n;

    if (!strcmp(name, "here"))
        return m->conf->here;
    if (!strcmp(name, "program_name"))
        return m->program;
    if (!strcmp(name, "group_name"))
        return m->group;
    if (!strcmp(name, "process_num"))
        return arena_printf(a, "%lld", (long long)m->number);
    if (!strcmp(name, "numprocs"))
        return arena_printf(a, "%lld", (long long)m->of);
    if (!strcmp(name, "host_node_name"))
        return host->name;
    if (strncmp(name, "ENV_", 4) != 0)
        return NULL;
    n = strlen(name + 4);
    for (char *const *e = host->env; *e; e++) {
        if (!strncmp(*e, name + 4, n) && (*e)[n] == '=')
            return *e + n + 1;
    }
    return NULL;
}

/* At "%(": appends the value and returns what follows; NULL and an err. */
static const char *making_expand_one(const struct making *m, const char *p, struct buf *to,
                                     struct err *err)
{
    struct arena *a = m->conf->plan->arena;
    const char *end = strchr(p, ')'),
               *name = end ? arena_memdup(a, p + 2, (size_t)(end - p - 2)) : "";
    const char *value = end ? making_variable(m, name) : NULL;
    size_t width = end ? strspn(end + 1, "0123456789") : 0;
    char c = end ? end[1 + width] : '\0';
    int64_t columns = 0, number = 0;

    (void)(width &&
           plan_number(arena_memdup(a, end + 1, width), &columns)); /* 0: too many digits */
    if (!end || (c != 's' && c != 'd') || columns > 64)
        (void)err_set(err, ERR_INVALID, "%s",
                      MSG("a percent sign is written twice, or begins a name in parentheses"));
    else if (!value)
        (void)err_set(err, ERR_INVALID, "the variable %s is not known here", name);
    else if (c == 'd' && !plan_number(value, &number))
        (void)err_set(err, ERR_INVALID, "the variable %s is not a number", name);
    else if (c == 'd')
        buf_printf(to, end[1] == '0' ? "%0*lld" : "%*lld", (int)columns, (long long)number);
    else
        buf_puts(to, value);
    if (!end || !value || (c != 's' && c != 'd') || columns > 64 || err->code)
        return NULL;
    return end + 2 + width;
}

static int making_expand(const struct making *m, const char *text, const char **ret,
                         struct err *err)
{
    struct buf b = { 0 };

    *err = (struct err){ 0 };
    while (text && *text) {
        if (text[0] == '%' && text[1] == '%') {
            buf_addc(&b, '%');
            text += 2;
        } else if (text[0] == '%' && text[1] == '(') {
            text = making_expand_one(m, text, &b, err);
        } else if (text[0] == '%') {
            (void)err_set(err, ERR_INVALID, "%s",
                          MSG("a percent sign is written twice, or begins a name in parentheses"));
            text = NULL;
        } else {
            buf_addc(&b, *text++);
        }
    }
    *ret = arena_memdup(m->conf->plan->arena, buf_data(&b), b.len);
    buf_free(&b);
    return text ? 0 : -1;
}

static const char *conf_get(const struct conf *c, const char *section, const char *key)
{
    const struct setting *s = setting_find(c->settings, section, key);

    return s ? s->value : NULL;
}

/* A value of the program, expanded; "": not given, or it cannot be, which is noted elsewhere. */
static const char *making_get(const struct making *m, const char *key)
{
    const char *text = conf_get(m->conf, m->section, key), *value;
    struct err ignored;

    return text && !making_expand(m, text, &value, &ignored) ? value : "";
}

/* ---- one value; each returns why it is left out, or PLAN_FINE ---- */

typedef enum text rule_map(struct making *m, const struct setting *s, const char *value);

static bool is_true(const char *value)
{
    return !strcasecmp(value, "true") || !strcasecmp(value, "yes") || !strcasecmp(value, "on") ||
           !strcmp(value, "1");
}

static enum text map_number(struct making *m, const char *key, const char *value, int64_t least,
                            int64_t most)
{
    int64_t n;

    if (!plan_number(value, &n))
        return TEXT_PLAN_NOT_A_NUMBER;
    if (n < least || n > most)
        return TEXT_PLAN_RANGE;
    draft_number(&m->process->draft, key, n);
    return PLAN_FINE;
}

static enum text map_priority(struct making *m, const struct setting *s, const char *value)
{
    (void)s;
    return map_number(m, "priority", value, -1000, 1000);
}

static enum text map_autostart(struct making *m, const struct setting *s, const char *value)
{
    (void)m, (void)s;
    return is_true(value) ? PLAN_FINE : TEXT_PLAN_AUTOSTART;
}

/* Whether the spec says `start_retries`: supervisord gives up on starts that fail, and restarts
 * whatever was up. */
static bool has_retries(const struct making *m)
{
    return conf_get(m->conf, m->section, "startretries") != NULL;
}

static enum text map_autorestart(struct making *m, const struct setting *s, const char *value)
{
    struct draft *d = &m->process->draft;

    (void)s;
    if (!strcasecmp(value, "unexpected"))
        return PLAN_FINE; /* exit_codes says it */
    draft_drop(d, "exit_codes");
    if (!is_true(value))
        draft_text(d, "restart", "never");
    else if (!has_retries(m))
        draft_text(d, "restart", "always");
    else
        draft_drop(d, "restart");
    return PLAN_FINE;
}

static bool restarts_unexpected(const struct making *m)
{
    const char *value = making_get(m, "autorestart");

    return !*value || !strcasecmp(value, "unexpected");
}

static enum text map_startsecs(struct making *m, const struct setting *s, const char *value)
{
    (void)s;
    return map_number(m, "start_check_secs", value, 1, HOUR_S);
}

static enum text map_startretries(struct making *m, const struct setting *s, const char *value)
{
    const char *restart = making_get(m, "autorestart");

    (void)s;
    if (*restart && !is_true(restart) && !restarts_unexpected(m))
        return TEXT_PLAN_RETRIES_NEVER;
    return map_number(m, "start_retries", value, 0, 1000);
}

static enum text map_exitcodes(struct making *m, const struct setting *s, const char *value)
{
    struct draft *d = &m->process->draft;
    char *text = arena_strdup(m->conf->plan->arena, value), *rest = text, *code;
    int64_t n;

    (void)s;
    if (!restarts_unexpected(m))
        return TEXT_PLAN_EXIT_CODES_UNUSED;
    draft_drop(d, "exit_codes");
    while ((code = strsep(&rest, ", \n")) != NULL) {
        if (!*code)
            continue;
        if (!plan_number(code, &n) || n < 0 || n > 255)
            return TEXT_PLAN_NOT_A_NUMBER;
        draft_item_number(d, "exit_codes", n);
    }
    return PLAN_FINE;
}

static enum text map_stopsignal(struct making *m, const struct setting *s, const char *value)
{
    static const struct {
        const char *name, *number;
    } signals[] = {
        { "TERM", "15" }, { "HUP", "1" },   { "INT", "2" },   { "QUIT", "3" },
        { "KILL", "9" },  { "USR1", "10" }, { "USR2", "12" },
    };

    (void)s;
    if (!strncasecmp(value, "SIG", 3))
        value += 3;
    for (size_t i = 0; i < ARRAY_LEN(signals); i++) {
        if (!strcasecmp(value, signals[i].name) || !strcmp(value, signals[i].number)) {
            draft_text(&m->process->draft, "stop_signal", signals[i].name);
            return PLAN_FINE;
        }
    }
    return TEXT_PLAN_SIGNAL;
}

static enum text map_stopwaitsecs(struct making *m, const struct setting *s, const char *value)
{
    (void)s;
    return map_number(m, "stop_wait", value, 1, DAY_S);
}

/* The agent always ends the whole family; "no" is said only where the file says it. */
static enum text map_killasgroup(struct making *m, const struct setting *s, const char *value)
{
    (void)s;
    if (!is_true(value))
        draft_text(&m->process->draft, "scope", "process");
    return PLAN_FINE;
}

static enum text map_user(struct making *m, const struct setting *s, const char *value)
{
    int64_t uid;

    (void)s;
    if (plan_number(value, &uid))
        return TEXT_PLAN_UID;
    if (strchr(value, ':'))
        return TEXT_PLAN_GROUP;
    draft_text(&m->process->draft, "user", value);
    return PLAN_FINE;
}

static enum text map_umask(struct making *m, const struct setting *s, const char *value)
{
    (void)m, (void)s;
    return value[strspn(value, "0")] && !strcmp(value + strspn(value, "0"), "22") ? PLAN_FINE
                                                                                  : TEXT_PLAN_UMASK;
}

static enum text map_output(struct making *m, const struct setting *s, const char *value)
{
    (void)m, (void)s;
    return !strcasecmp(value, "AUTO") || !strcasecmp(value, "NONE") || !*value ? PLAN_FINE
                                                                               : TEXT_PLAN_OUTPUT;
}

static enum text map_output_bytes(struct making *m, const struct setting *s, const char *value)
{
    enum { LOG_BYTES_MAX = 256 << 20 };
    static const struct {
        const char *unit;
        int shift;
    } units[] = { { "", 0 }, { "kb", 10 }, { "mb", 20 }, { "gb", 30 } };
    size_t digits = strspn(value, "0123456789");
    int64_t n;

    (void)s;
    if (!digits || digits > 9 ||
        !plan_number(arena_memdup(m->conf->plan->arena, value, digits), &n))
        return TEXT_PLAN_NOT_A_NUMBER;
    for (size_t i = 0; i < ARRAY_LEN(units); i++) {
        if (strcasecmp(value + digits, units[i].unit) != 0)
            continue;
        if (!n || n << units[i].shift > LOG_BYTES_MAX)
            return TEXT_PLAN_OUTPUT_BYTES;
        draft_number(&m->process->draft, "log_max_bytes", n << units[i].shift);
        return PLAN_FINE;
    }
    return TEXT_PLAN_NOT_A_NUMBER;
}

/* KEY="value",KEY2=value */
static enum text map_environment(struct making *m, const struct setting *s, const char *value)
{
    struct arena *a = m->conf->plan->arena;
    struct buf spaced = { 0 };
    const struct word *words;
    struct list list;
    struct err why;
    char quote = 0;
    int bad;

    (void)s;
    for (const char *p = value; *p; p++) { /* commas outside of quotes end a pair */
        if (quote ? *p == quote : *p == '"' || *p == '\'')
            quote = quote ? 0 : *p;
        buf_addc(&spaced, !quote && *p == ',' ? ' ' : *p);
    }
    bad = words_split(buf_text(&spaced), WORDS_SHLEX, a, &list, &why);
    buf_free(&spaced);
    if (bad)
        return TEXT_PLAN_ENVIRONMENT;
    words = list.items;
    for (size_t i = 0; i < list.n; i++) {
        const char *equals = strchr(words[i].text, '=');

        if (!equals || equals == words[i].text)
            return TEXT_PLAN_ENVIRONMENT;
        draft_part(&m->process->draft, "environment",
                   arena_memdup(a, words[i].text, (size_t)(equals - words[i].text)), equals + 1);
    }
    return PLAN_FINE;
}

/* ---- what each key becomes ---- */

struct rule {
    const char *key;
    rule_map *map; /* NULL: `why`, or nothing is needed or it is read elsewhere */
    enum text why;
};

/* clang-format off */
static const struct rule rules[] = {
    { "command", NULL, PLAN_FINE },
    { "process_name", NULL, PLAN_FINE },
    { "numprocs", NULL, PLAN_FINE },
    { "numprocs_start", NULL, PLAN_FINE },
    { "directory", NULL, PLAN_FINE },
    { "priority", map_priority, PLAN_FINE },
    { "autostart", map_autostart, PLAN_FINE },
    { "autorestart", map_autorestart, PLAN_FINE },
    { "startsecs", map_startsecs, PLAN_FINE },
    { "startretries", map_startretries, PLAN_FINE },
    { "exitcodes", map_exitcodes, PLAN_FINE },
    { "stopsignal", map_stopsignal, PLAN_FINE },
    { "stopwaitsecs", map_stopwaitsecs, PLAN_FINE },
    { "stopasgroup", NULL, PLAN_FINE },
    { "killasgroup", map_killasgroup, PLAN_FINE },
    { "user", map_user, PLAN_FINE },
    { "umask", map_umask, PLAN_FINE },
    { "environment", map_environment, PLAN_FINE },
    { "redirect_stderr", NULL, PLAN_FINE },
    { "stdout_logfile", map_output, PLAN_FINE },
    { "stdout_logfile_maxbytes", map_output_bytes, PLAN_FINE },
    { "stdout_logfile_backups", NULL, TEXT_PLAN_BACKUPS },
    { "stdout_capture_maxbytes", NULL, TEXT_PLAN_EVENTS },
    { "stdout_events_enabled", NULL, TEXT_PLAN_EVENTS },
    { "stdout_syslog", NULL, TEXT_PLAN_OUTPUT },
    { "stderr_logfile", map_output, PLAN_FINE },
    { "stderr_logfile_maxbytes", NULL, TEXT_PLAN_STDERR },
    { "stderr_logfile_backups", NULL, TEXT_PLAN_STDERR },
    { "stderr_capture_maxbytes", NULL, TEXT_PLAN_EVENTS },
    { "stderr_events_enabled", NULL, TEXT_PLAN_EVENTS },
    { "stderr_syslog", NULL, TEXT_PLAN_OUTPUT },
    { "serverurl", NULL, TEXT_PLAN_SERVERURL },
    { 0 },
};

/* Sections that are about supervisord itself, and what is not run by an agent at all. */
static const struct { const char *name; enum text why; } sections[] = {
    { "supervisord", PLAN_FINE }, { "unix_http_server", PLAN_FINE }, { "inet_http_server", PLAN_FINE },
    { "supervisorctl", PLAN_FINE }, { "include", PLAN_FINE }, { "rpcinterface:", PLAN_FINE },
    { "ctlplugin:", PLAN_FINE }, { "program:", PLAN_FINE }, { "group:", PLAN_FINE },
    { "eventlistener:", TEXT_PLAN_EVENT_LISTENER }, { "fcgi-program:", TEXT_PLAN_FCGI },
};
/* clang-format on */

static const struct rule *find_rule(const char *key)
{
    for (const struct rule *r = rules; r->key; r++) {
        if (!strcmp(r->key, key))
            return r;
    }
    return NULL;
}

static void making_take(struct making *m, const struct setting *s)
{
    struct plan *p = m->conf->plan;
    const struct rule *r = find_rule(s->key);
    enum text why = r ? r->why : TEXT_PLAN_UNKNOWN;
    const char *value;
    struct err err;

    if (r && r->why == PLAN_FINE && making_expand(m, s->value, &value, &err)) {
        plan_left_out_err(p, m->process, s, &err);
        return;
    }
    if (r && r->map)
        why = r->map(m, s, value);
    if (why != PLAN_FINE)
        plan_left_out(p, m->process, s, why);
}

/* ---- one process ---- */

/* pidproxy writes nothing and changes nothing: it waits for the process of a pid file. */
static void making_take_pidproxy(struct making *m, struct list *words)
{
    struct word *w = words->items;
    const char *slash = strrchr(w[0].text, '/');

    if (words->n < 3 || strcmp(slash ? slash + 1 : w[0].text, "pidproxy") != 0)
        return;
    draft_text(&m->process->draft, "pid_file", w[1].text);
    *words = (struct list){ w + 2, words->n - 2 };
}

static int making_command(struct making *m, const struct setting *s, struct err *err)
{
    struct plan *p = m->conf->plan;
    const char *text, *directory = making_get(m, "directory");
    struct list words;

    if (making_expand(m, s->value, &text, err) ||
        words_split(text, WORDS_SHLEX, p->arena, &words, err))
        return -1;
    if (!words.n)
        return err_set(err, ERR_INVALID, "%s", MSG("the command is empty"));
    if (!*directory && conf_get(m->conf, "supervisord", "directory"))
        directory = conf_get(m->conf, "supervisord", "directory");
    making_take_pidproxy(m, &words);
    plan_command(p, m->process, s, &words, directory, false);
    return 0;
}

/* What supervisord does without the setting, where that differs from what a spec does. */
static void making_defaults(struct making *m)
{
    const struct setting *env = setting_find(m->conf->settings, "supervisord", "environment");
    const char *user = conf_get(m->conf, "supervisord", "user");
    struct draft *d = &m->process->draft;

    draft_text(d, "user", user ? user : m->conf->plan->host->user);
    draft_number(d, "start_check_secs", 1);
    draft_number(d, "stop_wait", 10);
    draft_item_number(d, "exit_codes", 0);
    if (!has_retries(m))
        draft_text(d, "restart", "on-failure");
    if (env)
        making_take(m, env);
}

/* Codes beside 0 are said by the fields that `restart: on-failure` stands for. */
static void making_restart(struct making *m)
{
    struct draft *d = &m->process->draft;
    const char *restart = draft_find(d, "restart"), *codes = making_get(m, "exitcodes");

    if (!restart || strcmp(restart, "on-failure") != 0)
        return;
    if (!*codes || !strcmp(codes, "0")) {
        draft_drop(d, "exit_codes");
        return;
    }
    draft_drop(d, "restart");
    draft_yes(d, "keep_trying");
}

static int making_process(struct making *m, const struct setting *head, struct err *err)
{
    struct plan *p = m->conf->plan;
    const struct setting *all = m->conf->settings->items;
    const struct setting *name = setting_find(m->conf->settings, m->section, "process_name");
    const struct setting *command = setting_find(m->conf->settings, m->section, "command");
    const char *own = m->program;

    if (!command)
        return err_set(err, ERR_INVALID, "%s", MSG("there is no command"));
    if (name && making_expand(m, name->value, &own, err))
        return -1;
    m->process = plan_add(p, m->group, own, head, err);
    if (!m->process)
        return -1;
    making_defaults(m);
    if (making_command(m, command, err)) {
        plan_drop_last(p);
        return -1;
    }
    for (size_t i = 0; i < m->conf->settings->n; i++) {
        if (*all[i].key && !strcmp(all[i].section, m->section))
            making_take(m, &all[i]);
    }
    making_restart(m);
    return 0;
}

/* The group that has the program, which is its namespace; "": none. */
static const char *group_of(const struct conf *c, const char *program)
{
    const struct setting *all = c->settings->items;

    for (size_t i = 0; i < c->settings->n; i++) {
        char *rest, *one;

        if (strncmp(all[i].section, "group:", 6) != 0 || strcmp(all[i].key, "programs") != 0)
            continue;
        rest = arena_strdup(c->plan->arena, all[i].value);
        while ((one = strsep(&rest, ", \n\t")) != NULL) {
            if (!strcmp(one, program))
                return all[i].section + 6;
        }
    }
    return c->plan->host->space;
}

static int64_t conf_number(const struct conf *c, const char *section, const char *key,
                           int64_t fallback)
{
    const struct setting *s = setting_find(c->settings, section, key);
    int64_t n = fallback;

    if (s && (!plan_number(s->value, &n) || n < 0 || n > PLAN_INSTANCES_MAX)) {
        plan_left_out(c->plan, NULL, s, TEXT_PLAN_RANGE);
        return fallback;
    }
    return n;
}

static void conf_program(struct conf *c, const struct setting *head)
{
    const char *program = head->section + strlen("program:");
    int64_t n = conf_number(c, head->section, "numprocs", 1);
    int64_t first = conf_number(c, head->section, "numprocs_start", 0);

    for (int64_t i = 0; i < n; i++) {
        struct making m = { .conf = c,
                            .section = head->section,
                            .program = program,
                            .group = group_of(c, program),
                            .number = first + i,
                            .of = n };
        const struct setting at = { head->file, head->line, head->section,
                                    arena_printf(c->plan->arena, "[%s]", head->section), "" };
        struct err err = { 0 };

        if (making_process(&m, &at, &err)) {
            plan_left_out_err(c->plan, NULL, &at, &err);
            return; /* the others fail alike */
        }
    }
}

static void conf_group(struct conf *c, const struct setting *s)
{
    char *rest = arena_strdup(c->plan->arena, s->value), *one;

    if (strcmp(s->key, "priority") == 0)
        plan_left_out(c->plan, NULL, s, TEXT_PLAN_GROUP_PRIORITY);
    if (strcmp(s->key, "programs") != 0)
        return;
    while ((one = strsep(&rest, ", \n\t")) != NULL) {
        const char *section = arena_printf(c->plan->arena, "program:%s", one);

        if (*one && !setting_find(c->settings, section, ""))
            plan_left_out(c->plan, NULL, s, TEXT_PLAN_NO_PROGRAM);
    }
}

static enum text why_no_section(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(sections); i++) {
        size_t n = strlen(sections[i].name);

        if (sections[i].name[n - 1] == ':' ? !strncmp(name, sections[i].name, n) && name[n]
                                           : !strcmp(name, sections[i].name))
            return sections[i].why;
    }
    return TEXT_PLAN_UNKNOWN_SECTION;
}

int from_supervisord_settings(struct plan *p, const struct list *settings, const char *here,
                              struct err *err)
{
    struct conf c = { p, settings, here };
    const struct setting *s = settings->items;

    for (size_t i = 0; i < settings->n; i++) {
        enum text why = why_no_section(s[i].section);

        if (!*s[i].key && why != PLAN_FINE)
            plan_left_out(p, NULL,
                          &(struct setting){ s[i].file, s[i].line, s[i].section,
                                             arena_printf(p->arena, "[%s]", s[i].section), "" },
                          why);
        else if (!*s[i].key && !strncmp(s[i].section, "program:", 8))
            conf_program(&c, &s[i]);
        else if (*s[i].key && !strncmp(s[i].section, "group:", 6))
            conf_group(&c, &s[i]);
        if (plan_count(p) == PLAN_PROCESSES_MAX)
            return err_set(err, ERR_LIMIT, "more than %d processes", PLAN_PROCESSES_MAX);
    }
    return 0;
}

/* ---- files ---- */

static const char *folder_of(struct arena *a, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *folder =
        slash ? arena_memdup(a, path, slash == path ? 1 : (size_t)(slash - path)) : ".";
    char *whole = realpath(folder, NULL);
    const char *found = arena_strdup(a, whole ? whole : folder);

    free(whole);
    return found;
}

/* Adds the settings of a file to `all`. */
static int conf_read(struct plan *p, const char *path, struct buf *all, struct err *err)
{
    struct buf text = { 0 };
    struct list list;
    int bad = plan_read(p, path, SETTING_FILE_MAX, &text, err);

    if (bad)
        return bad > 0 ? err_set(err, ERR_INVALID, "%s: included twice", path) : -1;
    bad = ini_read(arena_strdup(p->arena, path), text.len ? buf_data(&text) : "", text.len,
                   p->arena, &list, err);
    buf_free(&text);
    if (!bad && list.n)
        buf_add(all, list.items, list.n * sizeof(struct setting));
    return bad;
}

static int conf_include_pattern(struct plan *p, const struct setting *s, const char *pattern,
                                struct buf *all, struct err *err)
{
    glob_t found = { 0 };
    int bad = glob(pattern, 0, NULL, &found);

    if (bad == GLOB_NOMATCH)
        return 0;
    if (bad)
        return setting_fail(s->file, s->line, MSG("the pattern cannot be read"), err);
    for (size_t i = 0; !bad && i < found.gl_pathc; i++) {
        bad = conf_read(p, found.gl_pathv[i], all, err);
        if (bad)
            err_wrap(err, "%s:%zu", s->file, s->line);
    }
    globfree(&found);
    return bad;
}

/* The patterns of [include]; those of an included file count for nothing in supervisord, too. */
static int conf_include(struct plan *p, const char *here, const struct list *main_settings,
                        struct buf *all, struct err *err)
{
    const struct setting *s = setting_find(main_settings, "include", "files");
    struct conf c = { p, main_settings, here };
    struct making m = { .conf = &c, .section = "include", .program = "", .group = "" };
    const char *text;
    char *rest, *one;

    if (!s)
        return 0;
    if (making_expand(&m, s->value, &text, err))
        return err_wrap(err, "%s:%zu", s->file, s->line);
    rest = arena_strdup(p->arena, text);
    while ((one = strsep(&rest, " \n\t")) != NULL) {
        const char *pattern = *one == '/' ? one : arena_printf(p->arena, "%s/%s", here, one);

        if (*one && conf_include_pattern(p, s, pattern, all, err))
            return -1;
    }
    return 0;
}

/* Sections with one name, in several files. */
static int conf_check_sections(struct plan *p, const struct list *all, struct err *err)
{
    enum { SECTIONS_MAX = 20000 };
    const struct setting *s = all->items;
    const struct setting **heads = arena_alloc(p->arena, SECTIONS_MAX * sizeof(*heads));
    size_t n = 0;

    for (size_t i = 0; i < all->n; i++) {
        if (*s[i].key || !strcmp(s[i].section, "include"))
            continue;
        for (size_t k = 0; k < n; k++) {
            if (!strcmp(heads[k]->section, s[i].section))
                return err_set(err, ERR_INVALID, "%s:%zu: [%s] is in %s:%zu already", s[i].file,
                               s[i].line, s[i].section, heads[k]->file, heads[k]->line);
        }
        if (n == SECTIONS_MAX)
            return setting_fail(s[i].file, s[i].line, MSG("more than 20000 sections"), err);
        heads[n++] = &s[i];
    }
    return 0;
}

static void conf_note_nested(struct plan *p, const char *path, const struct list *all)
{
    const struct setting *s = all->items;

    for (size_t i = 0; i < all->n; i++) {
        if (!strcmp(s[i].section, "include") && !strcmp(s[i].key, "files") &&
            strcmp(s[i].file, path) != 0)
            plan_left_out(p, NULL, &s[i], TEXT_PLAN_NESTED);
    }
}

int from_supervisord(struct plan *p, const char *path, struct err *err)
{
    const char *here = folder_of(p->arena, path);
    struct buf all = { 0 };
    struct list list = { 0 };
    int bad;

    path = arena_strdup(p->arena, path);
    bad = conf_read(p, path, &all, err);
    if (!bad) {
        struct buf main_only = { 0 };
        struct list main_settings;

        if (all.len)
            buf_add(&main_only, buf_data(&all), all.len);
        setting_list(&main_only, p->arena, &main_settings);
        bad = conf_include(p, here, &main_settings, &all, err);
    }
    if (bad) {
        buf_free(&all);
        return -1;
    }
    setting_list(&all, p->arena, &list);
    if (conf_check_sections(p, &list, err))
        return -1;
    conf_note_nested(p, path, &list);
    return from_supervisord_settings(p, &list, here, err);
}
