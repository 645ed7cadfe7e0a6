/* SPDX-License-Identifier: MIT */
/* sim_wanted.c - see sim_wanted.h. */
#include "tests/sim/lib/sim_wanted.h"

#include <string.h>

#include "agent/supervise/core_list.h"
#include "model/code.h"
#include "model/operation.h"
#include "tests/sim/lib/sim_in.h"

void sim_wanted_result(struct host *h, const struct message_result *m)
{
    bool *is_unwanted = &h->is_unwanted[m->view.name[1] - '0'];

    if (m->code != CODE_OK)
        return;
    switch (operation_find(check_find(h->sim, m->task)->items[m->item].op)->hosting) {
    case HOSTING_STAYS: return;
    case HOSTING_BEGINS: *is_unwanted = false; return;
    case HOSTING_ENDS: *is_unwanted = true; return;
    }
}

void sim_wanted_run(struct host *h, const struct core_run *run)
{
    if (!*run->task && h->is_unwanted[run->name[1] - '0'])
        sim_fail(h->sim, "host %d: %s is restarted, and should not run", h->n, run->name);
}

void sim_wanted_unknown(struct host *h)
{
    memset(h->is_unwanted, 0, sizeof(h->is_unwanted));
}

static void check_runs(void *host, const struct core_hosted *hosted)
{
    struct host *h = host;
    int key = hosted->meta.name[1] - '0';

    for (size_t i = 0; i < h->n_procs; i++) {
        if (h->procs[i].is_alive && h->procs[i].is_daemon && h->procs[i].key == key)
            return;
    }
    sim_fail(h->sim, "host %d: %s is hosted and does not run", h->n, hosted->meta.name);
}

void sim_wanted_check(struct host *h)
{
    core_each_hosted(h->core, check_runs, h);
    if (core_in_work(h->core))
        sim_fail(h->sim, "host %d: an operation does not end", h->n);
}
