/* SPDX-License-Identifier: MIT */
/* sim_server.h - the simulated server with its store, and the network to its agents. */
#ifndef TESTS_SIM_LIB_SIM_SERVER_H
#define TESTS_SIM_LIB_SIM_SERVER_H

#include <stdint.h>

#include "wire/json/shape.h"

struct host;
struct sim;

/* sim_net.c */
void net_to_agent(struct sim *s, int host, int64_t epoch, unsigned type, const struct shape *shape,
                  const void *message);
void net_to_server(struct host *h, unsigned type, const struct shape *shape, const void *message);
void net_welcome(struct sim *s, int host,
                 int64_t epoch); /* the first frame of a session; without it there is no session */

/* sim_server.c */
void server_start(struct sim *s);
void server_kill(struct sim *s);
void server_operate(struct sim *s, int task);
void server_deliver(struct sim *s, int host, int64_t epoch, unsigned type, const char *json);
void server_arrival(struct sim *s, int host);
void server_session(struct sim *s, int host, int64_t epoch);
void server_session_end(struct sim *s, int host, int64_t epoch);
void server_wake(struct sim *s);

/* sim_store.c: a write takes effect later, and is acknowledged later still. */
void store_put_task(struct sim *s, int task);
void store_put_result(struct sim *s, int task, int64_t item, int64_t code);
void store_put_cancel(struct sim *s, int task);

#endif
