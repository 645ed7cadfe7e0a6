/* SPDX-License-Identifier: MIT */
/* handlers.h - the handlers in the table of routes.c.  The comment names the struct of c->ask. */
#ifndef API_PIPELINE_HANDLERS_H
#define API_PIPELINE_HANDLERS_H

struct call;

void operate_one(struct call *c);   /* struct proc_operate */
void operate_batch(struct call *c); /* struct proc_operate_batch */
void operate_known(struct call *c); /* struct proc_operate; uses the registered spec */
void result_get(struct call *c);    /* struct task_ref */

void register_new(struct call *c);        /* struct proc_register */
void register_update(struct call *c);     /* struct proc_register */
void register_end(struct call *c);        /* struct proc_register; the spec is ignored */
void groups_put(struct call *c);          /* struct group_set_ask */
void groups_get(struct call *c);          /* struct group_get_ask */
void upgrade_to_agent_id(struct call *c); /* struct upgrade_ask */

void job_manage(struct call *c);         /* struct job_operate */
void job_operate(struct call *c);        /* struct job_operate */
void job_operate_script(struct call *c); /* struct job_script_operate */
void job_result_get(struct call *c);     /* struct job_result_ask */

void status_get(struct call *c);     /* struct proc_status_ask */
void status_sync(struct call *c);    /* struct proc_sync_ask */
void task_state_get(struct call *c); /* struct task_state_ask */

void agents_status(struct call *c);     /* struct agent_hosts_ask */
void agents_info(struct call *c);       /* struct agent_hosts_ask */
void agents_list_state(struct call *c); /* struct agent_ids_ask */
void agents_list_info(struct call *c);  /* struct agent_ids_ask */
void job_agents_status(struct call *c); /* struct job_agents_ask */
void job_agents_info(struct call *c);   /* struct host_ids_ask */

void metrics_get(struct call *c);

void v1_status(struct call *c);
void v1_hosts(struct call *c);            /* struct host_list_ask */
void v1_host_set(struct call *c);         /* struct host_set_ask */
void v1_hosts_import(struct call *c);     /* struct host_import_ask */
void v1_host_remove(struct call *c);      /* struct host_remove_ask */
void v1_businesses(struct call *c);       /* struct page_ask */
void v1_business_put(struct call *c);     /* struct business_put_ask */
void v1_business_del(struct call *c);     /* no ask; the id is c->rest */
void v1_business_sets(struct call *c);    /* struct page_ask */
void v1_business_set_put(struct call *c); /* struct business_set_view */
void v1_business_set_del(struct call *c); /* no ask; the id is c->rest */
void v1_audit(struct call *c);            /* struct audit_ask */
void v1_processes(struct call *c);        /* struct process_ask */
void v1_forget(struct call *c);           /* struct forget_ask */
void v1_logs(struct call *c);             /* struct log_ask */
void v1_events(struct call *c);           /* struct event_ask */
void v1_event_stream(struct call *c);     /* struct event_stream_ask */
void v1_tasks(struct call *c);            /* struct task_list_query */
void v1_task(struct call *c);             /* struct task_look; the id is c->rest */
void v1_task_cancel(struct call *c);      /* struct task_ref */
void v1_explain(struct call *c);          /* struct explain_ask */
void v1_operate(struct call *c);          /* struct operation_ask */
void v1_apps(struct call *c);             /* struct page_ask */
void v1_app(struct call *c);              /* here and below the app's code is c->rest */
void v1_app_put(struct call *c);          /* struct app_ask */
void v1_app_set(struct call *c);          /* struct app_set_ask */
void v1_app_del(struct call *c);
void v1_tokens(struct call *c);    /* struct page_ask */
void v1_token_put(struct call *c); /* struct token_ask */
void v1_token_del(struct call *c); /* no ask; the id is c->rest */

#endif
