/* SPDX-License-Identifier: MIT */
/* fleet.h - all known hosts and their processes, in memory.
 *
 * Queries are answered from here, without the store.  fleet_load() reads the store at start; from
 * then on every change is made here first, and the fleet submits it to the store.  A failed write
 * is logged and retried with the current state: while the server runs, memory is authoritative.
 *
 * Hosts are sorted by id, processes of a host by namespace and name, so iteration is stable.
 * Pointers are valid until the next call that changes something. */
#ifndef SERVER_FLEET_FLEET_H
#define SERVER_FLEET_FLEET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/io/log.h"
#include "base/io/loop.h"
#include "link/message.h"
#include "server/fleet/fleet_view.h"
#include "store/store.h"
#include "store/store_hosts.h"

struct fleet;

struct fleet *fleet_new(struct loop *loop, struct log *log, struct store *store);
void fleet_free(struct fleet *f);                 /* NULL is allowed */
int fleet_load(struct fleet *f, struct err *err); /* blocks; once, before the loop runs */

/* By agent id, which may be spelled "cloud:ip"; NULL if there is none. */
const struct fleet_host *fleet_find(const struct fleet *f, const char *agent_id);
const struct fleet_host *fleet_find_at(const struct fleet *f, int64_t cloud_id, const char *ip);
const struct fleet_host *fleet_find_number(const struct fleet *f, int64_t host_id);
const struct fleet_proc *fleet_proc(const struct fleet_host *h, const char *space,
                                    const char *name);
/* The first host whose id is greater than `after` ("": the first); NULL: no more. */
const struct fleet_host *fleet_next(const struct fleet *f, const char *after);
const struct fleet_totals *fleet_totals(const struct fleet *f);

/* The number of hosts in a business; the next business that has hosts, by id, 0: none. */
size_t fleet_in_business(const struct fleet *f, int64_t biz_id);
int64_t fleet_next_business(const struct fleet *f, int64_t after);

/* A host has joined, or its facts changed.  The row is copied.  The caller writes it to the store
 * (joining waits for that); the fleet submits nothing here. */
void fleet_put_host(struct fleet *f, const struct host_row *row);
void fleet_del_host(struct fleet *f, const char *agent_id);
void fleet_set_facts(struct fleet *f, const char *agent_id, const struct fleet_facts *facts);
void fleet_set_session(struct fleet *f, const char *agent_id, int64_t epoch, int64_t wall_ms);
void fleet_set_silent(struct fleet *f, const char *agent_id, int64_t since_ms); /* 0: not silent */

/* A report of an agent about its processes: changes, or a snapshot in pages (processes on none of
 * them are removed with the last page).  Fails with ERR_LIMIT if there are too many; those before
 * the limit are applied. */
int fleet_on_processes(struct fleet *f, const char *agent_id, const struct message_processes *m,
                       struct err *err);

#endif
