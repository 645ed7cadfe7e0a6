/* SPDX-License-Identifier: MIT */
/* agent_sample.c - see agent_sample.h. */
#include "agent/shell/agent_sample.h"

#include <stdlib.h>
#include <unistd.h>

#include "agent/confine/cgroup.h"
#include "agent/identify/procfs.h"
#include "agent/shell/agent_base.h"
#include "agent/shell/agent_trim.h"
#include "agent/shell/sample.h"
#include "agent/supervise/core.h"
#include "agent/supervise/core_use.h"
#include "base/io/file.h"
#include "base/io/log.h"
#include "base/mem/arena.h"
#include "base/mem/buf.h"
#include "base/mem/mem.h"
#include "model/group.h"

/* Limits per turn of the loop: some milliseconds. A process with a thousand descendants takes a
 * turn of its own. */
enum { SAMPLES_AT_ONCE = 64, PROCESSES_AT_ONCE = 512 };

struct samples {
    struct agent_base *agent;
    struct sampler *sampler;
    struct core_ident *wants;
    size_t n, at, cap; /* those before `at` are done */
    uint64_t written;  /* change counter of the groups in the file */
};

int samples_new(struct agent_base *a, struct samples **ret, struct err *err)
{
    struct samples *s = xalloc(sizeof(*s));

    if (sampler_new(&s->sampler, err)) {
        free(s);
        return -1;
    }
    s->agent = a;
    core_set_machine(a->core, sysconf(_SC_NPROCESSORS_ONLN),
                     sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE));
    *ret = s;
    return 0;
}

void samples_free(struct samples *s)
{
    if (!s)
        return;
    sampler_free(s->sampler);
    free(s->wants);
    free(s);
}

void samples_ask(struct samples *s, struct core_ident ident)
{
    if (s->n == s->cap) {
        s->cap = s->cap ? 2 * s->cap : SAMPLES_AT_ONCE;
        s->wants = xresize(s->wants, s->cap * sizeof(*s->wants));
    }
    s->wants[s->n++] = ident;
    agent_wake(s->agent);
}

/* NULL: none known. */
static const char *cgroup_of(const struct agent_base *a, struct core_ident ident, char *to,
                             size_t size)
{
    char name[OUTLOG_NAME_SIZE];
    struct core_whose whose;

    if (!cgroups_are_used(a->cgroups) || !core_find_whose(a->core, ident, &whose))
        return NULL;
    output_name(whose.space, whose.name, "start", name);
    return cgroup_folder(a->cgroups, name, to, size) ? to : NULL;
}

/* Returns the number of processes read. */
static int64_t sample(struct samples *s, struct core_ident ident)
{
    struct agent_base *a = s->agent;
    char folder[PROCFS_PATH_SIZE];
    const char *cgroup = cgroup_of(a, ident, folder, sizeof(folder));
    struct core_sample got;
    struct err err;
    int failed = sampler_read(s->sampler, ident, cgroup, &got, &err);

    if (failed && err.code != ERR_NOT_FOUND)
        LOG(a->log, LOG_DEBUG, "what a process uses can not be said", log_int("pid", ident.pid),
            log_err(&err));
    core_on_sample(a->core, ident, failed ? NULL : &got, agent_now_ms(a));
    return failed ? 0 : got.processes;
}

/* Limits are changed rarely, so this need not be fast. */
static void write_groups(struct samples *s)
{
    struct agent_base *a = s->agent;
    uint64_t changes = core_group_changes(a->core);
    struct arena arena = { 0 };
    struct buf text = { 0 };
    struct proc_group_file file;
    char *path;
    struct err err;

    if (changes == s->written)
        return;
    s->written = changes;
    file.groups = core_groups(a->core, &arena);
    shape_write(&proc_group_file_shape, &file, &text);
    buf_addc(&text, '\n');
    path = xprintf("%s/procgroupinfo.json", a->dir);
    if (file_replace(path, 0644, buf_data(&text), text.len, &err))
        LOG(a->log, LOG_WARN, "the list of groups for other tools is not up to date",
            log_err(&err));
    free(path);
    buf_free(&text);
    arena_free(&arena);
}

bool samples_are_wanted(const struct samples *s)
{
    return s->at < s->n;
}

/* A result may cause further requests, which are appended. */
void samples_settle(struct samples *s)
{
    write_groups(s);
    for (int64_t left = PROCESSES_AT_ONCE; left > 0 && s->at < s->n;)
        left -= PROCESSES_AT_ONCE / SAMPLES_AT_ONCE + sample(s, s->wants[s->at++]);
    if (s->at < s->n) {
        agent_wake(s->agent);
        return;
    }
    s->at = s->n = 0;
    sampler_forget(s->sampler);
}
