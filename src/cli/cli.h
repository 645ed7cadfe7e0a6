/* SPDX-License-Identifier: MIT */
/* cli.h - one run of `holdfast`: what was asked for, where answers go, and the
 * server they come from.
 *
 * What fails before the first request is the caller's to mend (status 2), what fails
 * after it the server's or the network's (3). */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include "base/time.h"
#include "cli/args.h"
#include "cli/client.h"
#include "cli/out.h"
#include "cli/refusal.h"
#include "cli/settings.h"

enum cli_status { CLI_OK = 0, CLI_SOME_FAILED = 1, CLI_USAGE = 2, CLI_SERVER = 3 };

enum { CLI_GET_MS = 30 * 1000, CLI_TASK_MS = 60 * 1000, CLI_POST_MS = 60 * 1000 };

struct cli {
    struct args args;
    struct cli_settings settings;
    enum lang lang;
    const struct clock *clock;
    struct arena arena;
    struct out out;        /* answers */
    struct out side;       /* standard error: progress, and what is wrong */
    const char *local;     /* socket of this host's agent, asked in place of a server; or NULL */
    bool has_asked;        /* it, or tried to */
    struct client *client; /* NULL before the first request */
    struct refusal refusal;
    bool refused; /* by the server, with that */
};

/* The whole program; returns its exit status. */
int cli_main(int argc, char *const *argv, char *const *env);

/* Asks the server; *ret is a struct of `shape`, its texts in the arena. */
int cli_get(struct cli *cli, const char *path, const struct client_pair *query, int64_t timeout_ms,
            const struct shape *shape, struct arena *a, void *ret, struct err *err);
int cli_post(struct cli *cli, const char *path, const struct client_pair *query,
             const struct shape *ask_shape, const void *ask, const struct shape *shape, void *ret,
             struct err *err);

/* The same of what must be done once, though it may have to be asked for twice (client.h). */
int cli_post_once(struct cli *cli, const char *path, const struct shape *ask_shape, const void *ask,
                  const struct shape *shape, void *ret, struct err *err);

/* With another method; `ask_shape` NULL: without a body. */
int cli_send(struct cli *cli, const char *method, const char *path, const struct client_pair *query,
             const struct shape *ask_shape, const void *ask, const struct shape *shape, void *ret,
             struct err *err);

/* A stream (client.h), to its end.  `last_id` "": from now on. */
int cli_stream(struct cli *cli, const char *path, const struct client_pair *query,
               const char *last_id, const struct client_sink *sink, struct err *err);

/* A list that comes in pages, whole: *ret is the list of the items of all of them.
 * `page` is a shape whose first field is the list and whose second is `next`; the
 * last pair of `query` is for `after`. */
int cli_get_all(struct cli *cli, const char *path, struct client_pair *query,
                const struct shape *page, struct list *ret, struct err *err);

struct process_ask;
int cli_get_processes(struct cli *cli, const struct process_ask *ask, struct list *ret,
                      struct err *err);

/* Whether a signal that is blocked has come meanwhile, SIGINT or SIGTERM. */
bool cli_is_interrupted(void);

/* Numbers and times as text, in cli->arena. */
const char *cli_count(struct cli *cli, int64_t n);
const char *cli_duration(struct cli *cli, int64_t ms);
const char *cli_hosts(struct cli *cli, int64_t n); /* "1 host", "3 hosts" */

/* `limit` of a list of which one page is shown, as --lines says; NULL: as the server has it. */
const char *cli_limit(struct cli *cli);

/* Prints it as JSON, with a line end. */
void cli_json(struct cli *cli, const struct shape *shape, const void *value);

#endif
