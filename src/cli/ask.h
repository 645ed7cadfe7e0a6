/* SPDX-License-Identifier: MIT */
/* ask.h - builds the body of a command's request from its words and options.
 *
 * Everything is read by the shape that the server uses, so that invalid values are refused here,
 * with the name of the field, before anything is sent. */
#ifndef CLI_ASK_H
#define CLI_ASK_H

#include "cli/commands.h"
#include "cli/options.h"
#include "model/app.h"
#include "model/event.h"
#include "model/host.h"
#include "model/log.h"
#include "model/task.h"

int ask_operation(const struct args *args, enum lang lang, struct arena *a,
                  struct operation_ask *ret, struct err *err);
int ask_forget(const struct args *args, enum lang lang, struct arena *a, struct forget_ask *ret,
               struct err *err); /* without hosts if none are named */
int ask_processes(const struct args *args, enum lang lang, struct arena *a, struct process_ask *ret,
                  struct err *err);
int ask_logs(const struct args *args, const char *word, enum lang lang, struct arena *a,
             struct log_ask *ret, struct err *err);
int ask_events(const struct args *args, enum lang lang, int64_t now_s, struct arena *a,
               struct event_ask *ret, struct err *err);
int ask_app(const struct args *args, enum lang lang, struct arena *a, struct app_ask *ret,
            struct err *err);
/* Changes only the given fields. */
int ask_permissions(const struct args *args, enum lang lang, struct arena *a,
                    struct app_permissions *to, struct err *err);
int ask_token(const struct args *args, enum lang lang, struct arena *a, struct token_ask *ret,
              struct err *err);

#endif
