/* SPDX-License-Identifier: MIT */
/* from_proc.c - see from_proc.h. */
#include "cli/from_proc.h"

#include <string.h>

#include "base/mem/mem.h"
#include "model/procfile.h"
#include "model/translate.h"

enum { PROC_FILE_MAX = 16 << 20 };

/* Finds the lines of records, which are in the order of the file. */
struct place {
    const char *at, *end;
    size_t line;
};

/* The line with the text in quotes; where it is escaped, the line before stays. */
static size_t place_find(struct place *place, struct arena *a, const char *text)
{
    const char *quoted = arena_printf(a, "\"%s\"", text);
    const char *found = place->at < place->end ? memmem(place->at, (size_t)(place->end - place->at),
                                                        quoted, strlen(quoted))
                                               : NULL;

    for (; found && place->at < found; place->at++)
        place->line += *place->at == '\n';
    return place->line;
}

/* clang-format off */
static const struct { const char *key; size_t offset; } texts[] = {
    { "command", offsetof(struct proc_record, start_cmd) },
    { "stop_command", offsetof(struct proc_record, stop_cmd) },
    { "restart_command", offsetof(struct proc_record, restart_cmd) },
    { "reload_command", offsetof(struct proc_record, reload_cmd) },
    { "kill_command", offsetof(struct proc_record, kill_cmd) },
    { "version_command", offsetof(struct proc_record, version_cmd) },
    { "health_command", offsetof(struct proc_record, health_cmd) },
    { "user", offsetof(struct proc_record, user) },
    { "program", offsetof(struct proc_record, proc_name) },
    { "directory", offsetof(struct proc_record, setup_path) },
    { "pid_file", offsetof(struct proc_record, pid_path) },
};
static const struct { const char *key; size_t offset; } numbers[] = {
    { "start_check_secs", offsetof(struct proc_record, start_check_s) },
    { "stop_check_secs", offsetof(struct proc_record, end_check_s) },
    { "op_timeout", offsetof(struct proc_record, op_timeout_s) },
};
/* clang-format on */

static void proc_map(struct plan *p, struct plan_process *process, const struct setting *at,
                     const struct proc_record *r)
{
    static const char *const kinds[] = { "periodic", "resident", "run_once" };
    struct draft *d = &process->draft;

    draft_text(d, "user", p->host->user);
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        const char *text = *(const char *const *)(const void *)((const char *)r + texts[i].offset);

        if (*text)
            draft_text(d, texts[i].key, text);
    }
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
        int64_t number = *(const int64_t *)(const void *)((const char *)r + numbers[i].offset);

        if (number)
            draft_number(d, numbers[i].key, number);
    }
    if (r->kind != PROC_RESIDENT)
        draft_text(d, "auto_type", kinds[r->kind]);
    if (r->cpu_percent > 0)
        draft_part_float(d, "limits", "cpu", r->cpu_percent);
    if (r->mem_percent > 0)
        draft_part(d, "limits", "memory", arena_printf(p->arena, "%.4g%%", r->mem_percent));
    if (*r->password)
        plan_left_out(p, process, at, TEXT_PLAN_PASSWORD);
}

static void proc_add(struct plan *p, const char *path, struct place *place,
                     const struct proc_record *r)
{
    const struct setting at = { path, place_find(place, p->arena, r->value_key), "proc",
                                r->value_key, "" };
    struct plan_process *process = NULL;
    struct proc_meta meta;
    struct err err;

    if (procfile_meta(r, p->arena, &meta, &err) ||
        !(process = plan_add(p, meta.space, meta.name, &at, &err)))
        plan_left_out_err(p, NULL, &at, &err);
    else
        proc_map(p, process, &at, r);
}

int from_proc_text(struct plan *p, const char *path, const char *text, size_t n, struct err *err)
{
    struct place place = { text, text + n, 1 };
    const struct proc_record *records;
    struct procfile file;

    if (procfile_read(text, n, p->arena, &file, err))
        return err_wrap(err, "%s", path);
    records = file.records.items;
    for (size_t i = 0; i < file.records.n; i++)
        proc_add(p, path, &place, &records[i]);
    if (file.bad_n)
        plan_left_out_err(p, NULL, &(struct setting){ path, 1, "proc", "proc", "" }, &file.bad);
    return 0;
}

int from_proc(struct plan *p, const char *path, struct err *err)
{
    struct buf text = { 0 };
    int bad = plan_read(p, path, PROC_FILE_MAX, &text, err);

    if (bad)
        return bad > 0 ? 0 : -1;
    bad = from_proc_text(p, arena_strdup(p->arena, path), text.len ? buf_data(&text) : "", text.len,
                         err);
    buf_free(&text);
    return bad;
}
