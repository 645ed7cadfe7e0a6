/* SPDX-License-Identifier: MIT */
/* sim_server.h - the server of the simulator with its store, and the network between it and
 * its agents. */
#ifndef SIM_SIM_SERVER_H
#define SIM_SIM_SERVER_H

#include <stdint.h>

#include "wire/shape.h"

struct host;
struct sim;

/* sim_net.c */
void net_to_agent(struct sim *s, int host, int64_t epoch, unsigned type, const struct shape *shape,
                  const void *message);
void net_to_server(struct host *h, unsigned type, const struct shape *shape, const void *message);
void net_welcome(struct sim *s, int host, int64_t epoch); /* a session begins with it, or never */

/* sim_server.c */
void server_start(struct sim *s);
void server_kill(struct sim *s);
void server_operate(struct sim *s, int task);
void server_deliver(struct sim *s, int host, int64_t epoch, unsigned type, const char *json);
void server_arrival(struct sim *s, int host);
void server_session(struct sim *s, int host, int64_t epoch);
void server_session_end(struct sim *s, int host, int64_t epoch);
void server_wake(struct sim *s);

/* sim_store.c: what is asked of it is there later, and is said to be there later still. */
void store_put_task(struct sim *s, int task);
void store_put_result(struct sim *s, int task, int64_t item, int64_t code);
void store_put_cancel(struct sim *s, int task);

#endif
