/* SPDX-License-Identifier: MIT */
/* plan.c - see plan.h. */
#include "cli/plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/io/file.h"
#include "base/mem/mem.h"
#include "cli/options.h"
#include "cli/words.h"
#include "model/rules.h"
#include "model/short_spec.h"
#include "model/translate.h"
#include "wire/json/yaml.h"

size_t plan_count(const struct plan *p)
{
    return p->processes.len / sizeof(struct plan_process *);
}

struct plan_process *plan_at(const struct plan *p, size_t i)
{
    return ((struct plan_process **)(void *)buf_data(&p->processes))[i];
}

void plan_free(struct plan *p)
{
    for (size_t i = 0; i < plan_count(p); i++) {
        draft_free(&plan_at(p, i)->draft);
        buf_free(&plan_at(p, i)->notes);
    }
    buf_free(&p->processes);
    buf_free(&p->notes);
    buf_free(&p->afters);
    buf_free(&p->files);
}

struct plan_process *plan_find(const struct plan *p, const char *space, const char *name)
{
    for (size_t i = 0; i < plan_count(p); i++) {
        struct plan_process *process = plan_at(p, i);

        if (!strcmp(process->name, name) && !strcmp(process->space, space))
            return process;
    }
    return NULL;
}

static int plan_check_name(const char *space, const char *name, struct err *err)
{
    const char *wrong = rule_line(name);

    if (!wrong && (!*name || strlen(name) > NAME_MAX_BYTES))
        wrong = MSG("must have 1 to 256 bytes");
    if (wrong)
        return err_set(err, ERR_INVALID, "name: %s", wrong);
    if (strchr(name, '/'))
        return err_set(err, ERR_INVALID, "name: %s", MSG("must not have a slash"));
    wrong = rule_space(space);
    if (!wrong && strlen(space) > NAME_MAX_BYTES)
        wrong = MSG("must have 1 to 256 bytes");
    return wrong ? err_set(err, ERR_INVALID, "namespace: %s", wrong) : 0;
}

struct plan_process *plan_add(struct plan *p, const char *space, const char *name,
                              const struct setting *at, struct err *err)
{
    const struct plan_process *other = plan_find(p, space, name);
    struct plan_process *process;

    if (plan_check_name(space, name, err))
        return NULL;
    if (other) {
        (void)err_set(err, ERR_CONFLICT, "a process %s is made of %s:%zu already", name,
                      other->at.file, other->at.line); /* -1; NULL says so */
        return NULL;
    }
    if (plan_count(p) == PLAN_PROCESSES_MAX) {
        (void)err_set(err, ERR_LIMIT, "more than %d processes", PLAN_PROCESSES_MAX); /* as above */
        return NULL;
    }
    process = arena_alloc(p->arena, sizeof(*process));
    *process = (struct plan_process){ .space = space, .name = name, .at = *at };
    draft_text(&process->draft, "name", name);
    if (*space)
        draft_text(&process->draft, "namespace", space);
    buf_add(&p->processes, &process, sizeof(process));
    return process;
}

void plan_drop_last(struct plan *p)
{
    struct plan_process *process = plan_at(p, plan_count(p) - 1);

    if (process->notes.len)
        buf_add(&p->notes, buf_data(&process->notes), process->notes.len);
    draft_free(&process->draft);
    buf_free(&process->notes);
    buf_truncate(&p->processes, p->processes.len - sizeof(process));
}

/* ---- notes ---- */

static void plan_note(struct plan *p, struct plan_process *process, enum plan_note_kind kind,
                      const struct setting *at, const char *why)
{
    struct setting *copy = arena_alloc(p->arena, sizeof(*copy));
    const struct plan_note note = { kind, copy, why };

    *copy = *at;
    buf_add(process ? &process->notes : &p->notes, &note, sizeof(note));
}

static const char *plan_text(struct plan *p, enum text id, const char *const *args)
{
    struct buf b = { 0 };
    const char *text;

    text_put(&b, p->lang, id, args);
    text = arena_strdup(p->arena, buf_text(&b));
    buf_free(&b);
    return text;
}

void plan_left_out(struct plan *p, struct plan_process *process, const struct setting *at,
                   enum text why)
{
    plan_note(p, process, PLAN_LEFT_OUT, at, plan_text(p, why, NULL));
}

void plan_left_out_err(struct plan *p, struct plan_process *process, const struct setting *at,
                       const struct err *why)
{
    plan_note(p, process, PLAN_LEFT_OUT, at,
              arena_strdup(p->arena, translate(err_msg(why), p->lang, p->arena)));
}

void plan_remark(struct plan *p, struct plan_process *process, const struct setting *at,
                 enum text what, const char *const *args)
{
    plan_note(p, process, PLAN_REMARK, at, plan_text(p, what, args));
}

size_t plan_notes(const struct buf *notes, const struct plan_note **ret)
{
    *ret = (const struct plan_note *)(const void *)buf_data(notes);
    return notes->len / sizeof(**ret);
}

static size_t plan_count_kind(const struct buf *notes, enum plan_note_kind kind)
{
    const struct plan_note *note;
    size_t n = plan_notes(notes, &note), found = 0;

    for (size_t i = 0; i < n; i++)
        found += note[i].kind == kind;
    return found;
}

size_t plan_count_left_out(const struct plan *p)
{
    size_t n = plan_count_kind(&p->notes, PLAN_LEFT_OUT);

    for (size_t i = 0; i < plan_count(p); i++)
        n += plan_count_kind(&plan_at(p, i)->notes, PLAN_LEFT_OUT);
    return n;
}

/* ---- files ---- */

int plan_read(struct plan *p, const char *path, size_t max, struct buf *ret, struct err *err)
{
    const char *const *files = (const char *const *)(const void *)buf_data(&p->files);
    size_t n = p->files.len / sizeof(*files);
    const char *copy;

    for (size_t i = 0; i < n; i++) {
        if (!strcmp(files[i], path))
            return 1;
    }
    if (n == PLAN_FILES_MAX)
        return err_set(err, ERR_LIMIT, "%s: more than %d files", path, PLAN_FILES_MAX);
    if (file_read(path, max, ret, err))
        return -1;
    copy = arena_strdup(p->arena, path);
    buf_add(&p->files, &copy, sizeof(copy));
    return 0;
}

/* ---- commands ---- */

static const char *plan_base(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static bool plan_is_interpreter(const char *base)
{
    static const char *const names[] = { "sh",   "bash", "dash", "ksh",  "zsh", "python",
                                         "pypy", "perl", "ruby", "node", "php", "nodejs" };

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        size_t n = strlen(names[i]);

        if (!strncmp(base, names[i], n) && !base[n + strspn(base + n, "0123456789.")])
            return true;
    }
    return false;
}

/* Its program file is that of an interpreter, which is elsewhere. */
static bool plan_is_script(const char *path)
{
    static const char *const ends[] = { ".py", ".sh", ".pl", ".rb", ".js", ".php" };
    size_t n = strlen(path);

    for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
        size_t m = strlen(ends[i]);

        if (n > m && !strcmp(path + n - m, ends[i]))
            return true;
    }
    return false;
}

/* Flags of interpreters that take no value. */
static bool plan_is_flag(const char *word)
{
    static const char *const flags[] = {
        "-u", "-B", "-E", "-s", "-S", "-O", "-OO", "-I", "-e", "-w"
    };

    for (size_t i = 0; i < ARRAY_LEN(flags); i++) {
        if (!strcmp(word, flags[i]))
            return true;
    }
    return false;
}

/* The name that the agent finds it by: of the script, where an interpreter runs one. */
static const char *plan_program(const struct list *words, bool *ret_is_known)
{
    const struct word *w = words->items;
    const char *base = plan_base(w[0].text);
    size_t i = 1;

    *ret_is_known = true;
    if (!plan_is_interpreter(base))
        return base;
    while (i < words->n && plan_is_flag(w[i].text))
        i++;
    if (i < words->n && w[i].text[0] != '-' && *plan_base(w[i].text))
        return plan_base(w[i].text);
    *ret_is_known = !strstr(base, "sh") || i == words->n || strcmp(w[i].text, "-c") != 0;
    return base;
}

static bool plan_is_below(const char *path, const char *folder)
{
    size_t n = strlen(folder);

    while (n > 1 && folder[n - 1] == '/')
        n--;
    return n > 1 && !strncmp(path, folder, n) && path[n] == '/' && !strstr(path, "/../");
}

/* Where the file of the program is.  /usr as a whole: much of it are links within it. */
static const char *plan_folder(struct plan *p, const char *program)
{
    const char *slash = strrchr(program, '/');

    if (*program != '/' || plan_is_below(program, "/usr") || plan_is_script(program) ||
        slash == program)
        return "/usr";
    return arena_memdup(p->arena, program, (size_t)(slash - program));
}

static const char *plan_line(struct plan *p, const struct list *words, const char *cd,
                             bool has_variables)
{
    const struct word *w = words->items;
    struct buf b = { 0 };
    bool is_plain = !strchr(w[0].text, '=');
    const char *line;

    for (size_t i = 0; i < words->n; i++)
        is_plain = is_plain && words_is_plain(w[i].text);
    if (cd) {
        buf_puts(&b, "cd ");
        words_put(&b, cd, false);
        buf_puts(&b, " && ");
    }
    buf_puts(&b, cd || !is_plain ? "exec " : "");
    for (size_t i = 0; i < words->n; i++) {
        buf_puts(&b, i ? " " : "");
        words_put(&b, w[i].text, has_variables);
    }
    line = arena_strdup(p->arena, buf_text(&b));
    buf_free(&b);
    return line;
}

void plan_command(struct plan *p, struct plan_process *process, const struct setting *at,
                  const struct list *words, const char *directory, bool has_variables)
{
    const char *program = ((const struct word *)words->items)[0].text, *folder = directory, *name;
    bool is_known, has_pid_file = draft_find(&process->draft, "pid_file") != NULL;
    bool is_relative = *program != '/' && strchr(program, '/');
    bool is_inside = (is_relative || plan_is_below(program, directory)) &&
                     !plan_is_interpreter(plan_base(program)) && !plan_is_script(program);
    bool has_directory = *directory && strcmp(directory, "/") != 0;

    name = plan_program(words, &is_known);
    if (!has_directory || (!has_pid_file && !is_inside))
        folder = plan_folder(p, program);
    draft_text(&process->draft, "command",
               plan_line(p, words,
                         has_directory && strcmp(folder, directory) != 0 ? directory : NULL,
                         has_variables));
    draft_text(&process->draft, "program", name);
    draft_text(&process->draft, "directory", folder);
    if (!is_known)
        plan_remark(p, process, at, TEXT_PLAN_PROGRAM_UNKNOWN, TEXT_ARGS(name));
}

static bool plan_is_twin(const char *const *program, const char *const *user, size_t i, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        if (k != i && program[k] && !strcmp(program[k], program[i]) && !strcmp(user[k], user[i]))
            return true;
    }
    return false;
}

void plan_check_twins(struct plan *p)
{
    size_t n = plan_count(p);
    const char **program = arena_alloc(p->arena, (n + 1) * sizeof(*program));
    const char **user = arena_alloc(p->arena, (n + 1) * sizeof(*user));

    for (size_t i = 0; i < n; i++) {
        const struct draft *d = &plan_at(p, i)->draft;
        const char *name = draft_find(d, "user");

        program[i] = draft_find(d, "pid_file") ? NULL : draft_find(d, "program");
        user[i] = name ? name : "";
    }
    for (size_t i = 0; i < n; i++) {
        struct plan_process *process = plan_at(p, i);

        if (program[i] && plan_is_twin(program, user, i, n))
            plan_remark(p, process, &process->at, TEXT_PLAN_TWIN, TEXT_ARGS(program[i], user[i]));
    }
}

void plan_check_specs(struct plan *p)
{
    const struct short_context context = { "", "", p->host->user, SHORT_PID_DIR };

    for (size_t i = 0; i < plan_count(p); i++) {
        struct plan_process *process = plan_at(p, i);
        struct short_spec *s = arena_alloc(p->arena, sizeof(*s));
        struct proc_meta meta;
        struct proc_spec spec;
        struct buf text = { 0 };
        struct err err;

        draft_write(&process->draft, "", "", &text);
        shape_defaults(&short_spec_shape, s);
        if (yaml_read(&short_spec_shape, process->name, buf_text(&text), text.len, p->arena, s,
                      &err) ||
            short_spec_expand(s, &context, p->arena, &meta, &spec, &err))
            plan_left_out_err(p, process, &process->at, &err);
        buf_free(&text);
    }
}

bool plan_number(const char *text, int64_t *ret)
{
    bool is_negative = *text == '-';
    size_t n = strspn(text + is_negative, "0123456789");

    if (!n || n > 15 || text[is_negative + n])
        return false;
    *ret = strtoll(text, NULL, 10);
    return true;
}
