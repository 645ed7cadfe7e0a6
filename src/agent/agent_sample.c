/* SPDX-License-Identifier: MIT */
/* agent_sample.c - see agent_sample.h. */
#include "agent/agent_sample.h"

#include <stdlib.h>
#include <unistd.h>

#include "agent/agent_in.h"
#include "agent/core_use.h"
#include "agent/sample.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "model/group.h"

/* In one turn of the loop: some milliseconds.  One that has forked a thousand times takes a
 * turn of its own. */
enum { SAMPLES_AT_ONCE = 64, PROCESSES_AT_ONCE = 512 };

struct samples {
    struct sampler *sampler;
    struct core_ident *wants;
    size_t n, at, cap; /* those before `at` are done */
    uint64_t written;  /* changes of the groups, as they are in the file */
};

int samples_new(struct agent *a, struct samples **ret, struct err *err)
{
    struct samples *s = xalloc(sizeof(*s));

    if (sampler_new(&s->sampler, err)) {
        free(s);
        return -1;
    }
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

void hand_sample(void *agent, struct core_ident ident)
{
    struct agent *a = agent;
    struct samples *s = a->samples;

    if (s->n == s->cap) {
        s->cap = s->cap ? 2 * s->cap : SAMPLES_AT_ONCE;
        s->wants = xresize(s->wants, s->cap * sizeof(*s->wants));
    }
    s->wants[s->n++] = ident;
    agent_wake(a);
}

/* NULL: there is none, as far as we know. */
static const char *cgroup_of(const struct agent *a, struct core_ident ident, char *to, size_t size)
{
    char name[OUTLOG_NAME_SIZE];
    struct core_whose whose;

    if (!cgroups_are_used(a->cgroups) || !core_find_whose(a->core, ident, &whose))
        return NULL;
    said_name(whose.space, whose.name, "start", name);
    return cgroup_folder(a->cgroups, name, to, size) ? to : NULL;
}

/* Gives how many processes were looked at. */
static int64_t sample(struct agent *a, struct core_ident ident)
{
    char folder[PROCFS_PATH_SIZE];
    const char *cgroup = cgroup_of(a, ident, folder, sizeof(folder));
    struct core_sample got;
    struct err err;
    int failed = sampler_read(a->samples->sampler, ident, cgroup, &got, &err);

    if (failed && err.code != ERR_NOT_FOUND)
        LOG(a->log, LOG_DEBUG, "what a process uses can not be said", log_int("pid", ident.pid),
            log_err(&err));
    core_on_sample(a->core, ident, failed ? NULL : &got, agent_now_ms(a));
    return failed ? 0 : got.processes;
}

/* Few are ever set, so that this may take its time. */
static void write_groups(struct agent *a)
{
    uint64_t changes = core_group_changes(a->core);
    struct arena arena = { 0 };
    struct buf text = { 0 };
    struct proc_group_file file;
    char *path;
    struct err err;

    if (changes == a->samples->written)
        return;
    a->samples->written = changes;
    file.groups = core_groups(a->core, &arena);
    shape_write(&proc_group_file_shape, &file, &text);
    buf_addc(&text, '\n');
    path = xprintf("%s/procgroupinfo.json", a->o.dir);
    if (file_replace(path, 0644, buf_data(&text), text.len, &err))
        LOG(a->log, LOG_WARN, "the list of groups for other tools is not up to date",
            log_err(&err));
    free(path);
    buf_free(&text);
    arena_free(&arena);
}

/* What comes of one may be that others are asked for, which come behind. */
void samples_settle(struct agent *a)
{
    struct samples *s = a->samples;

    write_groups(a);
    for (int64_t left = PROCESSES_AT_ONCE; left > 0 && s->at < s->n;)
        left -= PROCESSES_AT_ONCE / SAMPLES_AT_ONCE + sample(a, s->wants[s->at++]);
    if (s->at < s->n) {
        agent_wake(a);
        return;
    }
    s->at = s->n = 0;
    sampler_forget(s->sampler);
}
