/* SPDX-License-Identifier: MIT */
/* handlers.h - what the rows of routes.c name. */
#ifndef API_HANDLERS_H
#define API_HANDLERS_H

#include "api/call.h"
#include "model/task.h"

void operate_one(struct call *c);   /* struct proc_operate */
void operate_batch(struct call *c); /* struct proc_operate_batch */
void result_get(struct call *c);    /* struct task_ref */

void v1_status(struct call *c);
void v1_hosts(struct call *c);       /* struct page_ask */
void v1_host_remove(struct call *c); /* struct host_remove_ask */
void v1_processes(struct call *c);   /* struct process_ask */
void v1_logs(struct call *c);        /* struct log_ask */
void v1_task(struct call *c);        /* its id is c->rest */
void v1_operate(struct call *c);     /* struct operation_ask */
void v1_apps(struct call *c);        /* struct page_ask */
void v1_app_put(struct call *c);     /* struct app_ask */
void v1_token_put(struct call *c);   /* struct token_ask */

#endif
