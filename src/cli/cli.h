/* SPDX-License-Identifier: MIT */
/* cli.h - one run of `holdfast`: its arguments, its output, and its connection to the server.
 *
 * Exit status: 1 the operation failed, was not allowed, found nothing, or did not end within
 * --timeout; 2 the command line, the settings, a spec file or another file of the user
 * is wrong; 3 the server, or with --local the agent, cannot be reached or cannot answer
 * now.  An offline host is 1, because the server has answered. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include "base/os/time.h"
#include "cli/client.h"
#include "cli/options.h"
#include "cli/out.h"
#include "cli/refusal.h"
#include "cli/settings.h"

enum cli_status { CLI_OK = 0, CLI_SOME_FAILED = 1, CLI_USAGE = 2, CLI_SERVER = 3 };

enum { CLI_GET_MS = 30 * 1000, CLI_TASK_MS = 60 * 1000, CLI_POST_MS = 60 * 1000 };

struct cli {
    struct args args;
    struct cli_settings settings;
    enum lang lang;
    char *const *env; /* of this process */
    const struct clock *clock;
    struct arena arena;
    struct out out;  /* standard output */
    struct out side; /* standard error: progress and errors */
    const char *
        local; /* with --local: socket of this host's agent, which replaces the server; else NULL */
    struct list
        names;      /* struct word; with --local: the processes that the words select (names.h) */
    bool wants_use; /* current CPU and memory; the agent needs a moment for that */
    bool has_group; /* a word selected a namespace or all */
    bool has_asked; /* a connection to the agent was attempted */
    struct client *client; /* NULL before the first request */
    struct refusal refusal;
    bool refused;                   /* the server has refused the last request; see `refusal` */
    enum cli_status refused_status; /* exit status of a refused request; CLI_OK: none was refused */
};

/* Sends a request; *ret is a struct of `shape`, its texts in the arena. */
int cli_get(struct cli *cli, const char *path, const struct client_pair *query, int64_t timeout_ms,
            const struct shape *shape, struct arena *a, void *ret, struct err *err);
int cli_post(struct cli *cli, const char *path, const struct client_pair *query,
             const struct shape *ask_shape, const void *ask, const struct shape *shape, void *ret,
             struct err *err);

/* The same for a request that must take effect only once, even if it is sent twice (client.h). */
int cli_post_once(struct cli *cli, const char *path, const struct shape *ask_shape, const void *ask,
                  const struct shape *shape, void *ret, struct err *err);

/* With another method; `ask_shape` NULL: without a body. */
int cli_send(struct cli *cli, const char *method, const char *path, const struct client_pair *query,
             const struct shape *ask_shape, const void *ask, const struct shape *shape, void *ret,
             struct err *err);

/* Reads a stream (client.h) to its end.  `last_id` "": only new events. */
int cli_stream(struct cli *cli, const char *path, const struct client_pair *query,
               const char *last_id, const struct client_sink *sink, struct err *err);

/* Reads all pages of a list: *ret is the list of the items of all pages.  `page` is a shape with
 * the list as its first field and `next` as its second; the last pair of `query` is for `after`. */
int cli_get_all(struct cli *cli, const char *path, struct client_pair *query,
                const struct shape *page, struct list *ret, struct err *err);

/* Whether SIGINT or SIGTERM is pending while it is blocked. */
bool cli_is_interrupted(void);

/* Numbers and times as text, in cli->arena. */
const char *cli_count(struct cli *cli, int64_t n);
const char *cli_duration(struct cli *cli, int64_t ms);
const char *cli_hosts(struct cli *cli, int64_t n); /* "1 host", "3 hosts" */

/* `limit` of a list that is shown as one page, from --lines; NULL: the server's default. */
const char *cli_limit(struct cli *cli);

/* Prints the value as a line of JSON. */
void cli_json(struct cli *cli, const struct shape *shape, const void *value);

#endif
