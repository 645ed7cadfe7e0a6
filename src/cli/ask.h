/* SPDX-License-Identifier: MIT */
/* ask.h - what a command asks of the server, made of its words.
 *
 * Everything is read by the shape the server reads it by, so that what it would
 * refuse is refused here, by the field's name, before anything is sent. */
#ifndef CLI_ASK_H
#define CLI_ASK_H

#include "cli/args.h"
#include "model/app.h"
#include "model/event.h"
#include "model/host.h"
#include "model/log.h"
#include "model/task.h"

int ask_operation(const struct args *args, enum lang lang, struct arena *a,
                  struct operation_ask *ret, struct err *err);
int ask_forget(const struct args *args, enum lang lang, struct arena *a, struct forget_ask *ret,
               struct err *err); /* without hosts, if none are named */
int ask_processes(const struct args *args, enum lang lang, struct arena *a, struct process_ask *ret,
                  struct err *err);
int ask_logs(const struct args *args, enum lang lang, struct arena *a, struct log_ask *ret,
             struct err *err);
int ask_events(const struct args *args, enum lang lang, int64_t now_s, struct arena *a,
               struct event_ask *ret, struct err *err);
int ask_app(const struct args *args, enum lang lang, struct arena *a, struct app_ask *ret,
            struct err *err);
int ask_permissions(const struct args *args, enum lang lang, struct arena *a,
                    struct app_permissions *to, struct err *err); /* changes what is said */
int ask_token(const struct args *args, enum lang lang, struct arena *a, struct token_ask *ret,
              struct err *err);

#endif
