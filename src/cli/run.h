/* SPDX-License-Identifier: MIT */
/* run.h - the functions of the commands in commands.c: each sends requests and prints the
 * answers.  They return the exit status, or -1 and an err. */
#ifndef CLI_RUN_H
#define CLI_RUN_H

#include "cli/cli.h"

int run_status(struct cli *cli, struct err *err);
int run_ps(struct cli *cli, struct err *err);
int run_why(struct cli *cli, struct err *err);
int run_top(struct cli *cli, struct err *err);
int run_logs(struct cli *cli, struct err *err);
int run_events(struct cli *cli, struct err *err);
int run_import(struct cli *cli, struct err *err);
int run_facts(struct cli *cli, struct err *err);
int run_host_list(struct cli *cli, struct err *err);
int run_host_set(struct cli *cli, struct err *err);
int run_host_import(struct cli *cli, struct err *err);
int run_host_remove(struct cli *cli, struct err *err);

int run_business_list(struct cli *cli, struct err *err);
int run_business_set(struct cli *cli, struct err *err);
int run_business_remove(struct cli *cli, struct err *err);
int run_business_set_list(struct cli *cli, struct err *err);
int run_business_set_set(struct cli *cli, struct err *err);
int run_business_set_remove(struct cli *cli, struct err *err);
int run_audit(struct cli *cli, struct err *err);

int run_apply(struct cli *cli, struct err *err);
int run_spec_check(struct cli *cli, struct err *err);
int run_spec_fields(struct cli *cli, struct err *err);
int run_spec_show(struct cli *cli, struct err *err);
int run_spec_init(struct cli *cli, struct err *err);

int run_operation(struct cli *cli, struct err *err);
int run_forget(struct cli *cli, struct err *err);
int run_task(struct cli *cli, struct err *err);
int run_task_list(struct cli *cli, struct err *err);
int run_task_cancel(struct cli *cli, struct err *err);

int run_app_create(struct cli *cli, struct err *err);
int run_app_set(struct cli *cli, struct err *err);
int run_app_rotate(struct cli *cli, struct err *err);
int run_app_delete(struct cli *cli, struct err *err);
int run_app_list(struct cli *cli, struct err *err);
int run_token_create(struct cli *cli, struct err *err);
int run_token_list(struct cli *cli, struct err *err);
int run_token_revoke(struct cli *cli, struct err *err);

#endif
