/* SPDX-License-Identifier: MIT */
/* core_list.c - see core_list.h. */
#include "agent/supervise/core_list.h"

#include "agent/supervise/core_cause.h"
#include "agent/supervise/core_in.h"

uint64_t core_list_changes(const struct core *c)
{
    return c->list_changes;
}

void core_each_hosted(const struct core *c, void (*fn)(void *arg, const struct core_hosted *h),
                      void *arg)
{
    struct map_entry *e;

    for (size_t at = 0; (e = map_next(&c->proc, &at));) {
        const struct proc *k = e->value;
        const struct core_hosted h = { k->meta, &k->spec, k->spec_op,
                                       k->spec_s ? k->spec_s : k->register_s };

        if (k->hosted && k->has_spec)
            fn(arg, &h);
    }
}

void core_host(struct core *c, const struct core_hosted *h)
{
    struct proc *k = core_proc(c, h->meta.space, h->meta.name);

    cause_on_spec(k, h->spec);
    restart_on_spec(k, h->spec);
    journal_note_spec(k, h->spec);
    k->spec_op = h->op;
    k->spec_s = h->since_s;
    k->has_spec = k->hosted = true;
    k->wanted = PROC_RUNNING;
    restart_reset(k);
    k->is_owed = !k->ident.pid;
    journal_note_process(k);
    restart_evaluate(k);
}

void core_tell_edited(struct core *c, const char *text)
{
    core_tell_own_event(c, "agent_proc_file_edited", text);
}

void core_unhost(struct core *c, const struct proc_meta *meta)
{
    struct proc *k = core_proc(c, meta->space, meta->name);

    k->hosted = k->is_owed = false;
    journal_note_process(k);
    restart_evaluate(k);
}
