/* SPDX-License-Identifier: MIT */
/* policy.c - see policy.h. */
#include "agent/confine/policy.h"

#include <string.h>

#include "agent/confine/place.h"
#include "agent/exec/command.h"
#include "agent/identify/interp.h"
#include "base/mem/buf.h"
#include "base/mem/mem.h"
#include "base/os/sys.h"
#include "model/code.h"
#include "model/rules.h"

#define AT(member) .offset = offsetof(struct policy, member)

enum { LIST_MAX = 256 };

/* clang-format off */
static const struct field user_fields[] = {
    { "user", .type = FIELD_STR, .offset = offsetof(struct proc_word, text), .min = 1, .max = NAME_MAX_BYTES, .check = rule_line },
    { 0 },
};
static const struct shape user_shape = { "user", sizeof(struct proc_word), user_fields, .bare = true };

static const struct field path_fields[] = {
    { "path", .type = FIELD_STR, .offset = offsetof(struct proc_word, text), .min = 1, .max = PATH_MAX_BYTES, .check = rule_path },
    { 0 },
};
static const struct shape path_shape = { "path", sizeof(struct proc_word), path_fields, .bare = true };

static const struct enum_name commands_names[] = {
    { COMMANDS_ANY, "any" }, { COMMANDS_UNDER_PREFIX, "under_prefix" }, { 0 },
};
static const struct field policy_fields[] = {
    { "users", .type = FIELD_LIST, AT(users), .max = LIST_MAX, .sub = &user_shape,
      .doc = "users that processes may have; none: all" },
    { "paths", .type = FIELD_LIST, AT(paths), .max = LIST_MAX, .sub = &path_shape,
      .doc = "folders that `setup_path`, `pid_path` and `env_file` must lie in, every symbolic link followed; none: "
             "all" },
    { "commands", .type = FIELD_ENUM, AT(commands), .names = commands_names, .flags = FIELD_BY_NAME,
      .doc = "`any`: what a shell understands; `under_prefix`: plain words alone, with no shell, whose program lies "
             "in one of `paths`" },
    { 0 },
};
const struct shape policy_settings_shape = { "policy", sizeof(struct policy), policy_fields };

#define CMD(member) { offsetof(struct proc_control, member), #member }
static const struct { size_t at; const char *name; } commands[] = {
    CMD(start_cmd), CMD(stop_cmd), CMD(restart_cmd), CMD(reload_cmd), CMD(kill_cmd), CMD(version_cmd), CMD(health_cmd),
};

/* Programs that run other programs. Interpreters are in interp.h. */
static const char *const launchers[] = {
    "awk", "bwrap", "busybox", "capsh", "catchsegv", "chpst", "chroot", "chrt", "csh", "daemonize", "doas", "dumb-init",
    "ed", "env", "ex", "expect", "fakeroot", "find", "firejail", "fish", "flock", "gawk", "gdb", "git", "ionice", "ip",
    "less", "ltrace", "make", "man", "mawk", "more", "nawk", "nice", "nohup", "nsenter", "numactl", "original-awk",
    "parallel", "perf", "pkexec", "prlimit", "proot", "rsync", "runcon", "runuser", "screen", "sed",
    "setarch", "setpriv", "setsid", "setuidgid", "sg", "ssh", "start-stop-daemon", "stdbuf", "strace", "su", "sudo",
    "systemd-run", "tar", "taskset", "tcsh", "time", "timeout", "tini", "tmux", "toybox", "unshare", "valgrind", "vi",
    "vim", "xargs", "zip",
};

/* Variables that make a program run other code or search for its parts elsewhere. A final
 * star matches any suffix. */
static const char *const variables[] = {
    "LD_*", "BASH_*", "ENV", "SHELLOPTS", "BASHOPTS", "PS4", "PROMPT_COMMAND", "IFS", "CDPATH", "PATH", "HOME",
    "GCONV_PATH", "GETCONF_DIR", "GLIBC_TUNABLES", "LOCPATH", "NLSPATH", "HOSTALIASES", "MALLOC_*", "ZDOTDIR", "SHELL",
    "EDITOR", "VISUAL", "PAGER", "BROWSER", "LESSOPEN", "LESSCLOSE", "AWKPATH", "AWKLIBPATH", "TAR_OPTIONS", "RSYNC_RSH",
    "MAKEFLAGS", "XDG_*", "GTK_*", "GIO_*", "QT_*", "GST_*", "KRB5_*", "ERL_*", "R_*", "GUILE_*",
    "PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "PYTHONUSERBASE", "PYTHONBREAKPOINT", "PYTHONWARNINGS",
    "PYTHONEXECUTABLE", "PYTHONPLATLIBDIR", "PYTHONPYCACHEPREFIX", "PYTHONINSPECT", "PERL5*", "PERLLIB", "RUBYLIB",
    "RUBYOPT", "GEM_*", "BUNDLE_*", "NODE_OPTIONS", "NODE_PATH", "LUA_*", "PHPRC", "PHP_INI_SCAN_DIR", "TCLLIBPATH",
    "JAVA_*", "_JAVA_OPTIONS", "JDK_*", "JRE_HOME", "CATALINA_*", "CLASSPATH", "DOTNET_*", "CORECLR_*", "COR_*",
    "OPENSSL_*", "GIT_*",
};
/* clang-format on */

static int denied(struct err *err, const char *setting, const char *what, const char *field)
{
    return err_set(err, CODE_DENIED, "policy.%s: %s (%s)", setting, what, field);
}

/* ---- folders */

static const char *word(const struct list *words, size_t i)
{
    return ((const struct proc_word *)words->items)[i].text;
}

static bool has_word(const struct list *words, const char *text)
{
    for (size_t i = 0; i < words->n; i++) {
        if (!strcmp(word(words, i), text))
            return true;
    }
    return false;
}

/* A configured folder may be a link itself: its target is meant. A folder that can not be resolved
 * contains nothing. */
static bool is_under_any(const struct policy *p, const char *real)
{
    char folder[PATH_MAX];
    struct err ignored;

    for (size_t i = 0; i < p->paths.n; i++) {
        if (!place_resolve(word(&p->paths, i), folder, &ignored) && place_is_under(real, folder))
            return true;
    }
    return false;
}

static int refuse_path(const struct policy *p, const char *path, const char *real,
                       const char *field, struct err *err)
{
    struct arena a = { 0 };
    const char *list = "", *what;
    bool is_real = !strcmp(path, real);

    for (size_t i = 0; i < p->paths.n; i++)
        list = arena_printf(&a, "%s%s%s", list, i ? ", " : "", word(&p->paths, i));
    if (*list && is_real)
        what = arena_msg(&a, "%s is under none of %s", path, list);
    else if (*list)
        what = arena_msg(&a, "%s, which is %s, is under none of %s", path, real, list);
    else if (is_real)
        what = arena_msg(&a, "%s is under no folder: none is named", path);
    else
        what = arena_msg(&a, "%s, which is %s, is under no folder: none is named", path, real);
    denied(err, "paths", what, field);
    arena_free(&a);
    return -1;
}

static int check_path(const struct policy *p, const char *path, const char *field, struct err *err)
{
    char real[PATH_MAX];
    struct err why;

    if (place_resolve(path, real, &why))
        return denied(err, "paths", err_msg(&why), field);
    return is_under_any(p, real) ? 0 : refuse_path(p, path, real, field, err);
}

/* The agent alone writes to its folder of pid files. */
static bool is_kept(const struct policy *p, const char *pid_path)
{
    size_t n = p->pid_dir ? strlen(p->pid_dir) : 0;

    return n && !strncmp(pid_path, p->pid_dir, n) && pid_path[n] == '/' &&
           !strchr(pid_path + n + 1, '/');
}

/* Without a setup_path, which is optional in Job, commands run in /. */
static int check_paths(const struct policy *p, const struct proc_spec *spec, struct err *err)
{
    const struct {
        const char *path, *field;
    } paths[] = {
        { *spec->identity.setup_path ? spec->identity.setup_path : "/", "setup_path" },
        { is_kept(p, spec->identity.pid_path) ? "" : spec->identity.pid_path, "pid_path" },
        { spec->extra.env_file, "env_file" },
    };

    for (size_t i = 0; i < ARRAY_LEN(paths) && p->paths.n; i++) {
        if (paths[i].path && *paths[i].path && check_path(p, paths[i].path, paths[i].field, err))
            return -1;
    }
    return 0;
}

/* ---- environment */

static bool is_named(const char *pattern, const char *name)
{
    size_t n = strlen(pattern);

    return pattern[n - 1] == '*' ? !strncmp(pattern, name, n - 1) : !strcmp(pattern, name);
}

int policy_allow_variable(const struct policy *p, const char *name, const char *where,
                          struct err *err)
{
    for (size_t i = 0; i < ARRAY_LEN(variables) && p->commands == COMMANDS_UNDER_PREFIX; i++) {
        if (is_named(variables[i], name))
            return err_set(err, CODE_DENIED,
                           "policy.commands: %s can make a program run something else, so "
                           "under_prefix does not take it (%s)",
                           name, where);
    }
    return 0;
}

static int check_variables(const struct policy *p, const struct proc_spec *spec, struct err *err)
{
    const struct proc_env *env = spec->extra.env.items;

    for (size_t i = 0; i < spec->extra.env.n; i++) {
        if (policy_allow_variable(p, env[i].key, "environment", err))
            return -1;
    }
    return 0;
}

/* ---- commands */

static const char *policy_name_of(const struct proc_spec *spec, const char *line)
{
    for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
        const char *control = (const char *)&spec->control + commands[i].at;

        if (!strcmp(*(const char *const *)(const void *)control, line))
            return commands[i].name;
    }
    return proc_checks_have(&spec->extra.checks, line) ? "checks" : "command";
}

static bool is_launcher(const char *exe)
{
    for (size_t i = 0; i < ARRAY_LEN(launchers); i++) {
        if (!strcmp(launchers[i], exe))
            return true;
    }
    return !strncmp(exe, "ld-", 3) || !strncmp(exe, "ld.so", 5); /* the dynamic linker */
}

static const char *from_folder(const char *folder, const char *path, struct arena *a)
{
    return path[0] == '/' ? path : arena_printf(a, "%s/%s", folder, path);
}

/* The script of an interpreter must be in an allowed folder and come before all options, because
 * options can name further files. */
static int check_script(const struct policy *p, const struct proc_spec *spec, const char *exe,
                        const char *script, struct arena *a, struct err *err, const char *field)
{
    struct stat st;
    const char *file;

    if (!script || script[0] == '-' || script[0] == '+')
        return denied(err, "commands",
                      arena_msg(a, "%s takes a script as its first word and nothing else", exe),
                      field);
    file = from_folder(spec->identity.setup_path, script, a);
    if (sys_stat(file, &st) || !S_ISREG(st.st_mode))
        return denied(err, "commands", arena_msg(a, "%s: there is no such file", file), field);
    return check_path(p, file, field, err);
}

static int check_program(const struct policy *p, const struct proc_spec *spec, char **words,
                         struct arena *a, struct err *err, const char *field)
{
    const char *file = from_folder(spec->identity.setup_path, words[0], a), *exe;
    char real[PATH_MAX];
    struct err why;

    if (place_resolve(file, real, &why))
        return denied(err, "commands", err_msg(&why), field);
    if (!is_under_any(p, real))
        return refuse_path(p, file, real, field, err);
    exe = strrchr(real, '/') + 1;
    if (is_launcher(exe))
        return denied(err, "commands", arena_msg(a, "%s runs other programs", file), field);
    return interp_is_one(exe) ? check_script(p, spec, exe, words[1], a, err, field) : 0;
}

static int check_words(const struct policy *p, const struct proc_spec *spec, const char *line,
                       struct arena *a, struct err *err)
{
    const char *field = policy_name_of(spec, line);
    char **words = command_words(line, a);
    struct command c;

    if (!words)
        return denied(err, "commands",
                      MSG("under_prefix takes plain words alone, nothing that needs a shell"),
                      field);
    if (!strchr(words[0], '/'))
        return denied(err, "commands",
                      arena_msg(a, "%s: under_prefix takes a program by its path", words[0]),
                      field);
    command_plan(line, spec->identity.setup_path, "", NULL, a, &c);
    if (!c.is_direct)
        return denied(err, "commands",
                      arena_msg(a,
                                "%s is no program that runs without a shell: it is not there, or "
                                "not executable, or has no #! line",
                                words[0]),
                      field);
    return check_program(p, spec, words, a, err, field);
}

static int check_line(const struct policy *p, const struct proc_spec *spec, const char *line,
                      struct err *err)
{
    struct arena a = { 0 };
    int result = 0;

    if (p->commands == COMMANDS_UNDER_PREFIX)
        result = check_words(p, spec, line, &a, err);
    arena_free(&a);
    return result;
}

/* ---- complete check */

static int check_user(const struct policy *p, const char *user, struct err *err)
{
    if (!p->users.n || has_word(&p->users, user))
        return 0;
    if (!*user)
        return err_set(err, CODE_DENIED, "policy.users: without a user it is not allowed (user)");
    return err_set(err, CODE_DENIED, "policy.users: %s is not an allowed user (user)", user);
}

int policy_allow_user(const struct policy *p, const struct proc_spec *spec, struct err *err)
{
    return check_user(p, spec->identity.user, err) || check_variables(p, spec, err) ? -1 : 0;
}

int policy_allow(const struct policy *p, const struct proc_spec *spec, const char *line,
                 struct err *err)
{
    if (*line)
        return check_line(p, spec, line, err);
    if (check_user(p, spec->identity.user, err) || check_paths(p, spec, err))
        return -1;
    return check_variables(p, spec, err);
}

int policy_check(const struct policy *p, struct err *err)
{
    if (p->commands == COMMANDS_UNDER_PREFIX && !p->paths.n)
        return err_set(err, ERR_INVALID,
                       "policy.paths: at least one is needed where policy.commands is "
                       "under_prefix");
    return 0;
}

static void copy_words(const struct list *from, struct arena *a, struct list *ret)
{
    struct proc_word *to = arena_alloc(a, (from->n + 1) * sizeof(*to));

    for (size_t i = 0; i < from->n; i++)
        to[i].text = arena_strdup(a, word(from, i));
    *ret = (struct list){ to, from->n };
}

void policy_copy(const struct policy *from, struct arena *a, struct policy *ret)
{
    copy_words(&from->users, a, &ret->users);
    copy_words(&from->paths, a, &ret->paths);
    ret->commands = from->commands;
}
