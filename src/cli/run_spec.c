/* SPDX-License-Identifier: MIT */
/* run_spec.c - the spec commands: tools for files of specs. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem/mem.h"
#include "base/os/sys.h"
#include "cli/local.h"
#include "cli/run.h"
#include "cli/table.h"
#include "model/rules.h"
#include "model/spec_file.h"

/* ---- check */

static const char *kind_of(const struct proc_policy *p, const struct proc_extra *x, struct cli *cli)
{
    if (p->kind == PROC_PERIODIC)
        return *p->cron_rule
                   ? p->cron_rule
                   : arena_printf(&cli->arena, "every %s", cli_duration(cli, p->cycle_s * 1000));
    if (p->kind == PROC_RUN_ONCE)
        return text_get(cli->lang, TEXT_SPEC_ONCE);
    if (!p->start_retries && !x->keep_trying)
        return text_get(cli->lang, TEXT_SPEC_NEVER);
    if (x->keep_trying && proc_exit_is_expected(x, 0))
        return text_get(cli->lang, TEXT_SPEC_ON_FAILURE);
    return text_get(cli->lang, x->keep_trying ? TEXT_SPEC_ALWAYS : TEXT_SPEC_RESTARTED);
}

static const struct column check_columns[] = {
    { TEXT_PROCESS, false },
    { TEXT_SPEC_PROGRAM, false },
    { TEXT_SPEC_USER, false },
    { TEXT_SPEC_FOLDER, false, .goes = 1 },
    { TEXT_SPEC_RESTART, false, .goes = 2 },
    { TEXT_SPEC_COMMAND, false },
};

static void add_checked(struct cli *cli, struct table *t, const struct spec_process *p)
{
    const struct proc_identity *id = &p->spec.identity;
    const struct proc_policy policy = proc_policy_of(&p->spec);

    table_add(t, STYLE_PLAIN, arena_printf(&t->arena, "%s/%s", p->meta.space, p->meta.name));
    table_add(t, STYLE_PLAIN, id->proc_name);
    table_add(t, STYLE_PLAIN, *id->user ? id->user : text_get(cli->lang, TEXT_SPEC_SAY_USER));
    table_add(t, STYLE_PLAIN, id->setup_path);
    table_add(t, STYLE_PLAIN, kind_of(&policy, &p->spec.extra, cli));
    table_add(t, STYLE_PLAIN, p->spec.control.start_cmd);
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* A script has its own name, and may as well start the program: nothing is known of it. */
static bool is_binary(const char *path)
{
    char magic[4] = "";
    struct stat st;
    int fd = sys_stat(path, &st) || !S_ISREG(st.st_mode) ? -1 : sys_open(path, O_RDONLY, 0);
    ssize_t n = fd < 0 ? -1 : sys_read(fd, magic, sizeof(magic));

    if (fd >= 0)
        sys_close(fd);
    return n == (ssize_t)sizeof(magic) && !memcmp(magic, "\177ELF", sizeof(magic));
}

/* Where this host has the program; NULL: nowhere, or it is no binary. */
static const char *find_binary(const char *word, struct arena *a)
{
    const char *path = getenv("PATH");

    if (*word == '/')
        return is_binary(word) ? word : NULL;
    for (size_t n; path && !strchr(word, '/') && *path; path += n + (path[n] == ':')) {
        const char *file;

        n = strcspn(path, ":");
        file = arena_printf(a, "%.*s/%s", (int)n, path, word);
        if (*path == '/' && is_binary(file))
            return file;
    }
    return NULL;
}

/* Its executable, or the script that it interprets: the name of any word of the line. */
static bool is_called(const char *binary, const char *command, const char *program, struct arena *a)
{
    char target[PATH_MAX];

    if (realpath(binary, target) && !strcmp(last_part(target), program))
        return true;
    for (size_t n; *command; command += n + strspn(command + n, " \t")) {
        n = strcspn(command, " \t");
        if (!strcmp(last_part(arena_memdup(a, command, n)), program))
            return true;
    }
    return false;
}

/* A warning: the command may start the program, and end. */
static void warn_of_program(struct cli *cli, const struct spec_process *p)
{
    const char *command = p->spec.control.start_cmd, *program = p->spec.identity.proc_name;
    const char *word = short_spec_program(command, &cli->arena);
    const char *binary = *word ? find_binary(word, &cli->arena) : NULL;

    if (!binary || is_called(binary, command, program, &cli->arena))
        return;
    out_line(&cli->side, TEXT_SPEC_OTHER_PROGRAM,
             TEXT_ARGS(p->path, arena_printf(&cli->arena, "%s/%s", p->meta.space, p->meta.name),
                       last_part(word), program));
}

/* The account of a spec without one is the caller's, as with --local. */
int run_spec_check(struct cli *cli, struct err *err)
{
    const struct short_context context = { "", "", spec_file_user(&cli->arena), SHORT_PID_DIR };
    struct err ignored;
    struct table t;
    int64_t n = 0;

    table_init(&t, check_columns, ARRAY_LEN(check_columns));
    for (size_t i = 0; i < cli->args.n_words; i++) {
        const struct spec_process *p;
        struct list all;

        if (spec_file_read_all(cli->args.words[i], &context, &cli->arena, &all, err)) {
            table_done(&t);
            return -1;
        }
        p = all.items;
        for (size_t j = 0; j < all.n; j++, n++) {
            add_checked(cli, &t, &p[j]);
            if (!cli->settings.quiet)
                warn_of_program(cli, &p[j]);
        }
        for (size_t j = 0; cli->settings.json && j < all.n; j++)
            cli_json(cli, &proc_spec_shape, &p[j].spec);
    }
    if (!cli->settings.json && !cli->settings.quiet) {
        table_put(&t, &cli->out);
        out_line(&cli->out, TEXT_SPEC_GOOD, TEXT_ARGS(cli_count(cli, n)));
    }
    (void)out_flush(&cli->side, &ignored); /* a warning; standard error cannot be reported */
    table_done(&t);
    return CLI_OK;
}

/* ---- fields */

static const struct column field_columns[] = {
    { TEXT_FIELD, false },
    { TEXT_TYPE, false },
    { TEXT_DEFAULT, false, .goes = 1 },
    { TEXT_MEANING, false, .wraps = true },
};

static const char *type_of(struct cli *cli, struct arena *a, const struct field *f)
{
    char expected[SHAPE_EXPECT_SIZE], english[SHAPE_EXPECT_SIZE];
    const char *text;

    if (f->flags & (FIELD_SECONDS | FIELD_BYTES))
        return text_get(cli->lang, f->flags & FIELD_SECONDS ? TEXT_TYPE_DURATION : TEXT_TYPE_SIZE);
    field_expect(f, expected);
    text = msg_english(english, sizeof(english), expected);
    return arena_strdup(a, text);
}

static void add_field(struct cli *cli, struct table *t, const char *path, const struct field *f)
{
    struct buf fallback = { 0 };

    field_default(f, &fallback);
    table_add(t, STYLE_HEAD, arena_printf(&t->arena, "%s%s%s", path, *path ? "." : "", f->name));
    table_add(t, STYLE_PLAIN, type_of(cli, &t->arena, f));
    table_add(t, STYLE_PLAIN, buf_text(&fallback));
    table_add(t, STYLE_PLAIN, f->doc ? f->doc : "");
    buf_free(&fallback);
}

/* The field at the path "ready.port"; *ret_shape is the shape that has it. */
static const struct field *find_path(const char *path, const struct shape **ret_shape)
{
    const struct shape *s = &short_spec_shape;
    const struct field *f = NULL;

    while (s && *path) {
        size_t n = strcspn(path, ".");

        for (f = s->fields; f->name && !field_is_called(f->name, path, n); f++)
            continue;
        if (!f->name)
            return NULL;
        *ret_shape = s;
        path += n + (path[n] == '.');
        s = f->sub;
    }
    return *path ? NULL : f;
}

static void put_fields(struct cli *cli, const char *path, const struct shape *s)
{
    struct table t;

    table_init(&t, field_columns, ARRAY_LEN(field_columns));
    for (const struct field *f = s->fields; f->name; f++)
        add_field(cli, &t, path, f);
    table_put(&t, &cli->out);
    table_done(&t);
}

int run_spec_fields(struct cli *cli, struct err *err)
{
    const char *path = cli->args.n_words ? cli->args.words[0] : "";
    const struct shape *s = &short_spec_shape;
    const struct field *f = *path ? find_path(path, &s) : NULL;
    char why[SHAPE_EXPECT_SIZE];
    struct table t;

    if (*path && !f) {
        shape_no_such(s, path, strlen(path), false, why);
        return err_set(err, ERR_INVALID, "%s: %s", path, why);
    }
    if (!*path || (f->sub && !f->sub->bare)) {
        put_fields(cli, path, *path ? f->sub : s);
        return CLI_OK;
    }
    table_init(&t, field_columns, ARRAY_LEN(field_columns));
    add_field(cli, &t, "", f);
    table_put(&t, &cli->out);
    table_done(&t);
    return CLI_OK;
}

/* ---- show */

int run_spec_show(struct cli *cli, struct err *err)
{
    const char *word = cli->args.words[0], *slash = strchr(word, '/');
    const char *space = arena_memdup(&cli->arena, word, slash ? (size_t)(slash - word) : 0);
    const struct local_spec *s;
    struct list specs;

    if (local_get_specs(cli, space, slash ? slash + 1 : word, &specs, err))
        return -1;
    if (!specs.n) {
        cli->refused_status = CLI_SOME_FAILED;
        return text_err(err, ERR_NOT_FOUND, cli->lang, TEXT_LOCAL_UNKNOWN, TEXT_ARGS(word, ""));
    }
    s = specs.items;
    cli_json(cli, &proc_spec_shape, &s->spec);
    return CLI_OK;
}

/* ---- init */

/* A plain word, or a text in quotes as JSON has them, which YAML reads, too. */
static void put_yaml(struct buf *to, const char *key, const char *text)
{
    bool is_plain = isalpha((unsigned char)*text) || *text == '/';

    for (const char *p = text; *p; p++)
        is_plain = is_plain && (isalnum((unsigned char)*p) || strchr("/._-+ =", *p));
    buf_printf(to, "%s: ", key);
    if (is_plain && text[strlen(text) - 1] != ' ')
        buf_puts(to, text);
    else
        buf_quote(to, text, strlen(text));
    buf_addc(to, '\n');
}

/* A word of a command line, quoted for the shell if need be. */
static void put_word(struct buf *to, const char *word)
{
    bool is_plain = *word;

    for (const char *p = word; *p; p++)
        is_plain = is_plain && (isalnum((unsigned char)*p) || strchr("/._-+=:,@%", *p));
    buf_puts(to, to->len ? " " : "");
    if (is_plain) {
        buf_puts(to, word);
        return;
    }
    buf_addc(to, '\'');
    for (; *word; word++) {
        if (*word == '\'')
            buf_puts(to, "'\\''");
        else
            buf_addc(to, *word);
    }
    buf_addc(to, '\'');
}

static int read_link(const char *path, char *to, size_t size, struct err *err)
{
    ssize_t n = sys_readlinkat(AT_FDCWD, path, to, size - 1);

    if (n < 0)
        return err_sys(err, "read %s", path);
    to[n] = '\0';
    return 0;
}

/* The words of a running process. */
static int read_words(const char *path, struct buf *ret, struct err *err)
{
    char bytes[65536];
    int fd = sys_open(path, O_RDONLY, 0);
    ssize_t n = fd < 0 ? -1 : sys_read(fd, bytes, sizeof(bytes) - 1);

    if (fd >= 0)
        sys_close(fd);
    if (n < 0)
        return err_sys(err, "read %s", path);
    bytes[n] = '\0';
    for (const char *p = bytes; p < bytes + n; p += strlen(p) + 1)
        put_word(ret, p);
    return 0;
}

static int describe_pid(int64_t pid, struct buf *to, struct err *err)
{
    char path[64], exe[PATH_MAX], cwd[PATH_MAX];
    struct buf command = { 0 };
    const struct passwd *user;
    struct stat st;

    snprintf(path, sizeof(path), "/proc/%lld/exe", (long long)pid);
    if (read_link(path, exe, sizeof(exe), err))
        return -1;
    snprintf(path, sizeof(path), "/proc/%lld/cwd", (long long)pid);
    if (read_link(path, cwd, sizeof(cwd), err) || sys_stat(path, &st))
        return -1;
    snprintf(path, sizeof(path), "/proc/%lld/cmdline", (long long)pid);
    if (read_words(path, &command, err))
        return -1;
    snprintf(path, sizeof(path), "/proc/%lld", (long long)pid);
    user = sys_stat(path, &st) ? NULL : getpwuid(st.st_uid);
    put_yaml(to, "name", last_part(exe));
    put_yaml(to, "command", buf_text(&command));
    put_yaml(to, "program", last_part(exe));
    put_yaml(to, "directory", cwd);
    if (user)
        put_yaml(to, "user", user->pw_name);
    buf_free(&command);
    return 0;
}

static void describe_words(struct cli *cli, struct buf *to)
{
    struct buf command = { 0 };
    char cwd[PATH_MAX];
    const char *first = cli->args.words[0];

    for (size_t i = 0; i < cli->args.n_words; i++)
        put_word(&command, cli->args.words[i]);
    put_yaml(to, "name", last_part(first));
    put_yaml(to, "command", buf_text(&command));
    if (*first != '/' && getcwd(cwd, sizeof(cwd)))
        put_yaml(to, "directory", cwd);
    put_yaml(to, "user", *spec_file_user(&cli->arena) ? spec_file_user(&cli->arena) : "root");
    buf_free(&command);
}

int run_spec_init(struct cli *cli, struct err *err)
{
    struct buf text = { 0 };
    int64_t pid = cli->args.pid;

    if (pid > 0 ? describe_pid(pid, &text, err) : !cli->args.n_words) {
        buf_free(&text);
        return pid > 0 ? -1 : text_err(err, ERR_INVALID, cli->lang, TEXT_SPEC_INIT_WHAT, NULL);
    }
    if (pid <= 0)
        describe_words(cli, &text);
    buf_puts(&text, "restart: always\n");
    out_puts(&cli->out, buf_text(&text));
    buf_free(&text);
    return CLI_OK;
}
