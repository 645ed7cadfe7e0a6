/* SPDX-License-Identifier: MIT */
/* short_spec.c - see short_spec.h. */
#include "model/short_spec.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem/mem.h"
#include "base/text/msg.h"
#include "model/cron.h"
#include "model/rules.h"

#define AT(type, member)  .offset = offsetof(struct type, member)
#define HAS(type, member) .has = offsetof(struct type, member)

enum { LIMIT_MAX_BYTES = 32, PROCESSES_MAX = 1000, FILE_NAME_MAX = 240 };

#define EVERY "every "

static const char *check_schedule(const char *text)
{
    int64_t seconds;

    if (strncmp(text, EVERY, strlen(EVERY)) != 0)
        return cron_check(text);
    if (!field_read_units(FIELD_SECONDS, text + strlen(EVERY), &seconds) || !seconds ||
        seconds > 366 * DAY_S)
        return MSG("must be \"every\" and a duration, such as \"every 30s\", or a rule of cron");
    return NULL;
}

/* "50%" or "50": *ret is 50. */
static bool read_percent(const char *text, double *ret)
{
    char *end;

    if (*text < '0' || *text > '9')
        return false;
    *ret = strtod(text, &end);
    return (!*end || !strcmp(end, "%")) && *ret <= 100;
}

static const char *check_cpu(const char *text)
{
    double percent;

    return !*text || read_percent(text, &percent)
               ? NULL
               : MSG("must be percent of all cores together, such as 50%%");
}

static const char *check_memory(const char *text)
{
    int64_t bytes;
    double percent;

    bool has_unit = text[strspn(text, "0123456789")];

    if (!*text || (has_unit && field_read_units(FIELD_BYTES, text, &bytes)))
        return NULL;
    return strchr(text, '%') && read_percent(text, &percent)
               ? NULL
               : MSG("must be a size, such as 512M, or percent of the host's memory, such as 50%%");
}

/* clang-format off */
static const struct enum_name restart_names[] = {
    { RESTART_ALWAYS, "always" }, { RESTART_ON_FAILURE, "on-failure" }, { RESTART_NEVER, "never" },
    { RESTART_UNSET, "" }, { 0 },
};

static const struct field limits_fields[] = {
    { "cpu", .type = FIELD_STR, AT(short_limits, cpu), .max = LIMIT_MAX_BYTES, .check = check_cpu,
      .flags = FIELD_OMIT_EMPTY, .doc = "percent of all cores together: `50%`; `resource.cpu`" },
    { "memory", .type = FIELD_STR, AT(short_limits, memory), .max = LIMIT_MAX_BYTES, .check = check_memory,
      .flags = FIELD_OMIT_EMPTY, .doc = "a size, `512M`: `limit_memory`; or percent of the host's memory, `50%`: `resource.mem`" },
    { 0 },
};
static const struct shape limits_shape = { "limits", sizeof(struct short_limits), limits_fields,
      .doc = "Above one of them the process is stopped and, if it is hosted, started again." };

static const struct field short_fields[] = {
    { "name", .type = FIELD_STR, AT(short_spec, name), .max = 2 * NAME_MAX_BYTES + 1, .check = rule_line,
      .flags = FIELD_OMIT_EMPTY, .doc = "`NAME` or `NAMESPACE/NAME`; without a namespace it is in `default`" },
    { "namespace", .type = FIELD_STR, AT(short_spec, space), .max = NAME_MAX_BYTES, .check = rule_space,
      .flags = FIELD_OMIT_EMPTY, .doc = "groups processes of one owner" },
    { "labels", .type = FIELD_MAP, AT(short_spec, labels), .max = PROC_LABELS_MAX, .sub = &proc_label_shape,
      .flags = FIELD_OMIT_EMPTY, .doc = "stored and returned" },
    { "command", .type = FIELD_STR, AT(short_spec, control.start_cmd), .max = COMMAND_MAX_BYTES,
      .flags = FIELD_OMIT_EMPTY, .doc = "starts it: the program itself, or a command that leaves it running" },
    { "stop_command", .type = FIELD_STR, AT(short_spec, control.stop_cmd), .max = COMMAND_MAX_BYTES,
      .flags = FIELD_OMIT_EMPTY, .doc = "stops it; without it: `stop_signal`, then SIGKILL" },
    { "restart_command", .type = FIELD_STR, AT(short_spec, control.restart_cmd), .max = COMMAND_MAX_BYTES,
      .flags = FIELD_OMIT_EMPTY, .doc = "restarts it; without it: a stop, then a start" },
    { "reload_command", .type = FIELD_STR, AT(short_spec, control.reload_cmd), .max = COMMAND_MAX_BYTES,
      .flags = FIELD_OMIT_EMPTY, .doc = "makes it read its configuration again" },
    { "kill_command", .type = FIELD_STR, AT(short_spec, control.kill_cmd), .max = COMMAND_MAX_BYTES,
      .flags = FIELD_OMIT_EMPTY, .doc = "ends it at once; without it: SIGKILL" },
    { "version_command", .type = FIELD_STR, AT(short_spec, control.version_cmd), .max = COMMAND_MAX_BYTES,
      .flags = FIELD_OMIT_EMPTY, .doc = "prints its version" },
    { "health_command", .type = FIELD_STR, AT(short_spec, control.health_cmd), .max = COMMAND_MAX_BYTES,
      .flags = FIELD_OMIT_EMPTY, .doc = "exits with 0 if it is healthy" },
    { "user", .type = FIELD_STR, AT(short_spec, user), .max = ID_MAX_BYTES, .check = rule_line,
      .flags = FIELD_OMIT_EMPTY, .doc = "the account it runs as; with `--local` the caller's, but root has to be named" },
    { "program", "proc_name", .type = FIELD_STR, AT(short_spec, program), .max = NAME_MAX_BYTES, .check = rule_line,
      .flags = FIELD_OMIT_EMPTY, .doc = "file name of the program, as `ps -e` shows it; without it, that of the command" },
    { "directory", "setup_path", .type = FIELD_STR, AT(short_spec, directory), .max = PATH_MAX_BYTES, .check = rule_path,
      .flags = FIELD_OMIT_EMPTY, .doc = "commands run here; without it, the folder of the command, or `/`" },
    { "pid_file", "pid_path", .type = FIELD_STR, AT(short_spec, pid_file), .max = PATH_MAX_BYTES, .check = rule_path,
      .flags = FIELD_OMIT_EMPTY, .doc = "where the program writes its pid; without it the agent keeps one in its `pid_dir`" },
    { "restart", .type = FIELD_ENUM, AT(short_spec, restart), .names = restart_names,
      .flags = FIELD_BY_NAME | FIELD_OMIT_EMPTY, .doc = "when it ends: `always` restarts it and never gives up (`keep_trying`); "
      "`on-failure` the same, unless it exits with 0 (`keep_trying` and `exit_codes: [0]`); `never` (`start_retries: 0`); "
      "without it the agent gives up after `start_retries` failures in a row" },
    { "schedule", .type = FIELD_STR, AT(short_spec, schedule), .max = NAME_MAX_BYTES, .check = check_schedule,
      .flags = FIELD_OMIT_EMPTY, .doc = "runs it periodically: a rule of cron, \"0 2 * * *\" or `@daily`, in the host's time zone, "
      "or \"every 30s\"" },
    { "limits", .type = FIELD_OBJ, AT(short_spec, limits), .sub = &limits_shape,
      .doc = "what it may use, checked every 5 s" },
#define AT_POLICY(member)  AT(short_spec, policy.member)
#define HAS_POLICY(member) HAS(short_spec, policy.member)
#include "model/policy_rows.h"
#define AT_EXTRA(member) AT(short_spec, extra.member)
#include "model/extra_rows.h"
    { "identity", .type = FIELD_OBJ, AT(short_spec, spec.identity), HAS(short_spec, spec.has_identity),
      .sub = &proc_identity_shape, .doc = "long form: what it is" },
    { "control", .type = FIELD_OBJ, AT(short_spec, spec.control), HAS(short_spec, spec.has_control),
      .sub = &proc_control_shape, .doc = "long form: how to command it" },
    { "resource", .type = FIELD_OBJ, AT(short_spec, spec.resource), HAS(short_spec, spec.has_resource),
      .sub = &proc_resource_shape, .doc = "long form: what it may use" },
    { "monitor_policy", .type = FIELD_OBJ, AT(short_spec, spec.policy), HAS(short_spec, spec.has_policy),
      .sub = &proc_policy_shape, .doc = "long form: how it is kept alive" },
    { "alive_monitor_policy", .type = FIELD_OBJ, AT(short_spec, spec.alive_policy), HAS(short_spec, spec.has_alive_policy),
      .sub = &proc_policy_shape, .doc = "long form: the same; wins where both say something" },
    { "warn_report_policy", .type = FIELD_OBJ, AT(short_spec, spec.warn), HAS(short_spec, spec.has_warn),
      .sub = &proc_warn_shape, .doc = "where its events go" },
    { "configmap", .type = FIELD_LIST, AT(short_spec, spec.config_files), .max = PROC_CONFIG_FILES_MAX,
      .sub = &proc_config_file_shape, .doc = "files whose change is reported" },
    { "holdfast", .type = FIELD_OBJ, AT(short_spec, spec.extra), .sub = &proc_extra_shape,
      .doc = "long form: the fields above that BlueKing has no word for" },
    { 0 },
};
const struct shape short_spec_shape = { "short_spec", sizeof(struct short_spec), short_fields,
      .doc = "A spec as people write it; required are `name`, which a command line or request may give instead, and `command`. "
             "Durations may have a unit (`90`, `30s`, `1h30m`), sizes too (`512K`, `64M`, `2G`)." };

static const struct field list_fields[] = {
    { "processes", .type = FIELD_LIST, AT(short_spec_list, processes), .max = PROCESSES_MAX, .sub = &short_spec_shape,
      .doc = "one for each process" },
    { 0 },
};
const struct shape short_spec_list_shape = { "short_spec_list", sizeof(struct short_spec_list), list_fields,
      .doc = "Several specs in one file." };
/* clang-format on */

/* ---- what excludes each other */

static bool has_text(const char *const *texts, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (*texts[i])
            return true;
    }
    return false;
}

static bool has_commands(const struct proc_control *c)
{
    const char *const texts[] = { c->start_cmd, c->stop_cmd,    c->restart_cmd, c->reload_cmd,
                                  c->kill_cmd,  c->version_cmd, c->health_cmd };

    return has_text(texts, ARRAY_LEN(texts));
}

static bool has_identity(const struct short_spec *s)
{
    const char *const texts[] = { s->user, s->program, s->directory, s->pid_file };

    return has_text(texts, ARRAY_LEN(texts));
}

static bool has_policy(const struct proc_policy *p)
{
    return p->has_kind || p->has_start_check || p->has_stop_check || p->has_retries ||
           p->has_interval || p->has_timeout || p->has_cycle || p->has_cron;
}

/* The short form has no word for `job`, so its shape does not set it. */
static struct proc_extra short_extra(const struct short_spec *s)
{
    struct proc_extra x = s->extra, none;

    shape_defaults(&proc_extra_shape, &none);
    x.job = none.job;
    x.has_job = PRESENCE_ABSENT;
    return x;
}

static bool has_extra(const struct proc_extra *x)
{
    struct buf given = { 0 }, nothing = { 0 };
    struct proc_extra none;
    bool differs;

    shape_defaults(&proc_extra_shape, &none);
    shape_write(&proc_extra_shape, x, &given);
    shape_write(&proc_extra_shape, &none, &nothing);
    differs =
        given.len != nothing.len || memcmp(buf_data(&given), buf_data(&nothing), given.len) != 0;
    buf_free(&given);
    buf_free(&nothing);
    return differs;
}

static int check_blocks(const struct short_spec *s, struct err *err)
{
    const struct proc_extra extra = short_extra(s);
    const struct proc_spec *p = &s->spec;
    const struct {
        const char *block;
        bool is_twice;
    } pairs[] = {
        { "identity", p->has_identity && has_identity(s) },
        { "control", p->has_control && has_commands(&s->control) },
        { "resource", p->has_resource && (*s->limits.cpu || *s->limits.memory) },
        { "monitor_policy", (p->has_policy || p->has_alive_policy) && has_policy(&s->policy) },
        { "holdfast", has_extra(&p->extra) && has_extra(&extra) },
    };

    for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
        if (pairs[i].is_twice)
            return err_set(err, ERR_INVALID,
                           "%s: short words for the same stand beside this block: use one of them",
                           pairs[i].block);
    }
    return 0;
}

/* ---- name */

static int expand_meta(const struct short_spec *s, const struct short_context *context,
                       struct arena *a, struct proc_meta *ret, struct err *err)
{
    const char *slash = strchr(s->name, '/'), *name = s->name, *space = s->space;

    if (slash && *space)
        return err_set(err, ERR_INVALID, "namespace: the name has one, too: write name: %s",
                       slash + 1);
    if (slash) {
        space = arena_memdup(a, s->name, (size_t)(slash - s->name));
        name = slash + 1;
    }
    if (*context->name && *name && strcmp(name, context->name) != 0)
        return err_set(err, ERR_INVALID, "name: is %s, but %s was asked for", name, context->name);
    if (*context->space && *space && strcmp(space, context->space) != 0)
        return err_set(err, ERR_INVALID, "namespace: is %s, but %s was asked for", space,
                       context->space);
    name = *name ? name : context->name;
    space = *space ? space : *context->space ? context->space : SHORT_SPACE;
    if (!*name || (slash && !slash[1]))
        return err_set(err, ERR_INVALID, "name: required");
    if (strlen(name) > NAME_MAX_BYTES || strlen(space) > NAME_MAX_BYTES)
        return err_set(err, ERR_INVALID, "name: too long: %d bytes at most", NAME_MAX_BYTES);
    if (rule_space(space))
        return err_set(err, ERR_INVALID, "name: its namespace %s", rule_space(space));
    *ret = (struct proc_meta){ space, name, s->labels };
    return 0;
}

/* ---- command */

/* The word is the shell's own, or the program is another one. */
static bool is_opaque(const char *word)
{
    static const char *const words[] = { "cd",      ".",       "source",  "export", "set",
                                         "ulimit",  "umask",   "test",    "[",      "if",
                                         "while",   "for",     "case",    "sudo",   "su",
                                         "runuser", "nice",    "nohup",   "setsid", "chroot",
                                         "unshare", "numactl", "taskset", "ionice", "timeout",
                                         "sh",      "bash",    "dash" };

    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        if (!strcmp(words[i], word))
            return true;
    }
    return word[strcspn(word, "\"'`$;|&<>(){}*?[]~#\\")];
}

static bool is_assignment(const char *word)
{
    const char *equal = strchr(word, '=');

    return equal && equal != word && !memchr(word, '/', (size_t)(equal - word));
}

/* The first word that is a program: without assignments, `exec` and `env`. */
static const char *first_word(const char *command, struct arena *a)
{
    const char *word;

    do {
        size_t n;

        command += strspn(command, " \t");
        n = strcspn(command, " \t\n");
        word = arena_memdup(a, command, n);
        command += n;
    } while (*word && (is_assignment(word) || !strcmp(word, "exec") || !strcmp(word, "env")));
    return word;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

const char *short_spec_program(const char *command, struct arena *a)
{
    const char *word = first_word(command, a);

    return strpbrk(command, ";|&`\n") || is_opaque(word) || is_opaque(base_name(word)) ? "" : word;
}

/* ---- identity */

static int expand_directory(const char *word, struct arena *a, const char **ret, struct err *err)
{
    const char *slash = strrchr(word, '/');

    if (**ret)
        return 0;
    if (*word == '/')
        *ret = slash == word ? "/" : arena_memdup(a, word, (size_t)(slash - word));
    else if (!slash)
        *ret = "/";
    else
        return err_set(err, ERR_INVALID,
                       "directory: required, because the command begins with the relative path %s",
                       word);
    return 0;
}

/* No two names have the same file: a namespace has no colon. */
static const char *pid_file_name(const struct proc_meta *meta, struct arena *a)
{
    const char *name = arena_printf(a, "%s:%s.pid", meta->space, meta->name), *ret;
    struct buf b = { 0 };

    for (; *name; name++) {
        if (*name == '/' || *name == '%')
            buf_printf(&b, "%%%02X", (unsigned)*name);
        else
            buf_addc(&b, *name);
    }
    ret = arena_strdup(a, buf_text(&b));
    buf_free(&b);
    return ret;
}

static int expand_pid_path(const struct proc_meta *meta, const char *dir, struct arena *a,
                           const char **ret, struct err *err)
{
    const char *name = pid_file_name(meta, a);

    if (**ret)
        return 0;
    if (strlen(name) > FILE_NAME_MAX)
        return err_set(err, ERR_INVALID,
                       "pid_file: required, because the name is too long for a file");
    *ret = arena_printf(a, "%s/%s", dir, name);
    return 0;
}

static int expand_identity(const struct short_spec *s, const struct proc_meta *meta,
                           const struct short_context *context, struct arena *a,
                           struct proc_identity *ret, struct err *err)
{
    const char *word = first_word(s->control.start_cmd, a);

    *ret = (struct proc_identity){ .index_key = "",
                                   .proc_name = s->program,
                                   .setup_path = s->directory,
                                   .pid_path = s->pid_file,
                                   .config_path = "",
                                   .log_path = "",
                                   .user = *s->user ? s->user : context->user };
    if (!*ret->user)
        return err_set(err, ERR_INVALID, "user: required: the account that it runs as");
    if (!*ret->proc_name && (!*word || strpbrk(word, "\"'\\") || is_opaque(base_name(word))))
        return err_set(err, ERR_INVALID,
                       "program: required, because the command does not begin with the program: "
                       "its file name, as ps -e shows it");
    if (!*ret->proc_name)
        ret->proc_name = base_name(word);
    if (is_opaque(word) && !*ret->setup_path)
        word = "";
    return expand_directory(word, a, &ret->setup_path, err) ||
           expand_pid_path(meta, context->pid_dir, a, &ret->pid_path, err);
}

/* ---- policy */

static void add_exit_code_0(struct proc_extra *x, struct arena *a)
{
    const struct proc_number *old = x->exit_codes.items;
    size_t n = x->exit_codes.n;
    struct proc_number *codes = arena_alloc(a, (n + 1) * sizeof(*codes));

    for (size_t i = 0; i < n; i++)
        codes[i + 1] = old[i];
    codes[0].number = 0;
    x->exit_codes = (struct list){ codes, n + 1 };
}

static int expand_restart(const struct short_spec *s, struct arena *a, struct proc_policy *policy,
                          struct proc_extra *extra, struct err *err)
{
    if (s->restart == RESTART_UNSET)
        return 0;
    if (extra->keep_trying || policy->has_retries == PRESENCE_GIVEN)
        return err_set(err, ERR_INVALID,
                       "restart: stands for keep_trying and start_retries: leave those out");
    if (*s->schedule)
        return err_set(err, ERR_INVALID,
                       "restart: what runs by a schedule is not restarted: leave one of them out");
    if (s->restart == RESTART_NEVER) {
        policy->start_retries = 0;
        policy->has_retries = PRESENCE_GIVEN;
        return 0;
    }
    extra->keep_trying = true;
    if (s->restart == RESTART_ON_FAILURE && !proc_exit_is_expected(extra, 0))
        add_exit_code_0(extra, a);
    return 0;
}

static int expand_schedule(const struct short_spec *s, struct proc_policy *policy, struct err *err)
{
    if (!*s->schedule)
        return 0;
    if (policy->has_cron || policy->has_cycle)
        return err_set(err, ERR_INVALID,
                       "schedule: stands for crontab_rule and cycle_time: leave those out");
    if (policy->has_kind == PRESENCE_GIVEN && policy->kind != PROC_PERIODIC)
        return err_set(err, ERR_INVALID,
                       "schedule: is for auto_type 0 (periodic): leave auto_type out");
    policy->kind = PROC_PERIODIC;
    policy->has_kind = PRESENCE_GIVEN;
    if (!strncmp(s->schedule, EVERY, strlen(EVERY))) {
        (void)field_read_units(FIELD_SECONDS, s->schedule + strlen(EVERY), &policy->cycle_s);
        policy->has_cycle = PRESENCE_GIVEN;
        return 0;
    }
    policy->cron_rule = s->schedule;
    policy->has_cron = PRESENCE_GIVEN;
    return 0;
}

static void expand_limits(const struct short_limits *l, struct proc_spec *ret)
{
    double percent;
    int64_t bytes;

    if (read_percent(l->cpu, &percent))
        ret->resource.cpu_percent = percent;
    if (strchr(l->memory, '%') && read_percent(l->memory, &percent))
        ret->resource.mem_percent = percent;
    if (*l->memory && field_read_units(FIELD_BYTES, l->memory, &bytes))
        ret->extra.limit_memory = bytes;
    if (*l->cpu || strchr(l->memory, '%'))
        ret->has_resource = PRESENCE_GIVEN;
}

/* Names are written with a slash everywhere; the long form has a colon. */
static void expand_after(struct proc_extra *x, struct arena *a)
{
    const struct proc_word *from = x->after.items;
    struct proc_word *to = arena_alloc(a, (x->after.n + 1) * sizeof(*to));

    for (size_t i = 0; i < x->after.n; i++) {
        char *text = arena_strdup(a, from[i].text), *slash = strchr(text, '/');

        if (slash && !strchr(text, ':'))
            *slash = ':';
        to[i].text = text;
    }
    x->after.items = to;
}

/* Restart and schedule add to whichever form has the policy. */
static int expand_policy(const struct short_spec *s, struct arena *a, struct proc_spec *ret,
                         struct err *err)
{
    bool is_short = has_policy(&s->policy) || s->restart != RESTART_UNSET || *s->schedule;
    const struct proc_extra extra = short_extra(s);
    struct proc_policy *policy;

    if (has_extra(&extra)) {
        ret->extra = extra;
        expand_after(&ret->extra, a);
    }
    if (!is_short)
        return 0;
    if (ret->has_policy == PRESENCE_GIVEN && ret->has_alive_policy != PRESENCE_GIVEN) {
        policy = &ret->policy;
    } else {
        policy = &ret->alive_policy;
        if (ret->has_alive_policy != PRESENCE_GIVEN)
            *policy = s->policy;
        ret->has_alive_policy = PRESENCE_GIVEN;
    }
    return expand_restart(s, a, policy, &ret->extra, err) || expand_schedule(s, policy, err);
}

int short_spec_expand(const struct short_spec *s, const struct short_context *context,
                      struct arena *a, struct proc_meta *ret_meta, struct proc_spec *ret,
                      struct err *err)
{
    struct proc_spec spec = s->spec;
    struct proc_meta meta;
    bool is_long = s->spec.has_identity == PRESENCE_GIVEN;

    if (check_blocks(s, err) || expand_meta(s, context, a, &meta, err) ||
        expand_policy(s, a, &spec, err))
        return -1;
    expand_limits(&s->limits, &spec);
    if (has_commands(&s->control)) {
        spec.control = s->control;
        spec.has_control = PRESENCE_GIVEN;
    }
    if (!is_long && (has_identity(s) || *s->control.start_cmd)) {
        if (!*spec.control.start_cmd)
            return err_set(err, ERR_INVALID, "command: required");
        if (expand_identity(s, &meta, context, a, &spec.identity, err))
            return -1;
        spec.has_identity = PRESENCE_GIVEN;
    }
    *ret_meta = meta;
    *ret = spec;
    return 0;
}
