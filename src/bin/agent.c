/* SPDX-License-Identifier: MIT */
/* agent.c - holdfast-agent: settings, log, loop, the agent and its link to a server; it runs until
 * it is stopped.  The processes that it supervises keep running. */
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/shell/agent.h"
#include "agent/shell/agent_upgrade.h"
#include "agent/shell/settings.h"
#include "base/io/file.h"
#include "base/io/log.h"
#include "base/io/loop.h"
#include "base/io/notify.h"
#include "base/mem/mem.h"
#include "base/os/sys.h"
#include "link/client.h"
#include "link/lookup.h"

/* The OOM killer should end other processes before the agent. */
#define OOM_SCORE "-900"

enum { TOKEN_FILE_MAX = 1024 };

struct program {
    struct agent_program self;
    int argc;
    struct agent_settings settings;
    struct arena arena; /* owns the settings */
    struct log *log;
    struct loop *loop;
    struct agent *agent;
    struct client *client;    /* NULL: no server is configured */
    const char *server_names; /* for log and status */
    bool was_down;            /* a lost link has been logged */
    char *trouble;            /* why the link is down; NULL: it is up */
    int64_t again_at_ms;      /* time of the next attempt, on the loop's clock */
};

/* ---- the link */

static void fill_hello(void *arg, struct message_hello *hello)
{
    struct program *p = arg;

    agent_fill_hello(p->agent, hello);
}

static void on_up(void *arg, const struct message_welcome *welcome)
{
    struct program *p = arg;

    p->was_down = false;
    free(p->trouble);
    p->trouble = NULL;
    LOG(p->log, LOG_INFO, "connected", log_str("agent_id", client_agent_id(p->client)),
        log_int("epoch", welcome->epoch));
    agent_on_up(p->agent, welcome);
}

static void on_message(void *arg, unsigned type, const void *message)
{
    struct program *p = arg;
    const struct message_error *e = message;

    if (type == MESSAGE_ERROR)
        LOG(p->log, LOG_WARN, "the server refuses what it was told",
            log_str("about", message_name((unsigned)e->type)), log_int("code", e->code),
            log_str("error", e->text));
    else
        agent_on_message(p->agent, type, message);
}

/* After joining, the token is not needed and its file may be gone. */
static int agent_read_token(struct program *p, const char **ret, struct err *err)
{
    const char *path = p->settings.join_token_file;
    struct buf text = { 0 };
    struct stat st;
    size_t n;

    *ret = p->settings.join_token;
    if (**ret || !*path)
        return 0;
    if (file_read_secret(path, TOKEN_FILE_MAX, &text, err)) {
        const char *cert = arena_printf(&p->arena, "%s/agent.pem", p->settings.data_dir);

        if (err->sys == ENOENT && !sys_stat(cert, &st))
            return 0;
        return err_wrap(err, "%s", "join_token_file");
    }
    n = strcspn(buf_text(&text), " \t\r\n");
    *ret = arena_memdup(&p->arena, buf_text(&text),
                        n); /* done again each minute until it has joined */
    file_wipe(&text);
    return 0;
}

/* A token that the server refuses can be replaced in its file without a restart. */
static void renew_token(void *arg)
{
    struct program *p = arg;
    struct err err = { 0 };
    const char *token;

    if (!p->client || !client_is_unwanted(p->client) || !*p->settings.join_token_file)
        return;
    if (agent_read_token(p, &token, &err) || client_set_token(p->client, token, &err))
        LOG(p->log, LOG_WARN, "no other token to join by", log_err(&err));
}

/* Logs the first of several failures as a warning; all of them at debug level. */
static void on_down(void *arg, const struct err *why, int64_t again_ms)
{
    struct program *p = arg;
    const char *text = why ? err_msg(why) : MSG("the server ended the session");
    bool is_unwanted = client_is_unwanted(p->client);
    bool is_news = !p->was_down || (is_unwanted && (!p->trouble || strcmp(p->trouble, text) != 0));

    LOG(p->log,
        !is_news      ? LOG_DEBUG
        : is_unwanted ? LOG_ERROR
                      : LOG_WARN,
        is_unwanted ? "the server does not want us; hosted processes are kept alive"
                    : "no server; hosted processes are kept alive",
        log_str("error", text), log_int("again_ms", again_ms));
    p->was_down = true;
    free(p->trouble);
    p->trouble = xstrdup(text);
    p->again_at_ms = loop_now_ms(p->loop) + again_ms;
    agent_on_down(p->agent);
}

static void agent_on_joined(void *arg, const char *agent_id)
{
    struct program *p = arg;

    LOG(p->log, LOG_INFO, "joined", log_str("agent_id", agent_id));
}

static const struct client_owner owner = { fill_hello, on_up,           on_message,
                                           on_down,    agent_on_joined, renew_token };

static void send_message(void *arg, unsigned type, const struct shape *s, const void *message)
{
    struct program *p = arg;

    if (p->client)
        client_send(p->client, type, s, message);
}

/* ---- settings */

static const char **server_list(struct program *p)
{
    const struct agent_server *servers = p->settings.servers.items;
    size_t n = p->settings.servers.n;
    const char **list = arena_alloc(&p->arena, (n + 1) * sizeof(*list));

    p->server_names = "";
    for (size_t i = 0; i < n; i++) {
        list[i] = servers[i].address;
        p->server_names =
            arena_printf(&p->arena, "%s%s%s", p->server_names, i ? ", " : "", list[i]);
    }
    return list;
}

static int check_settings(const struct agent_settings *s, struct err *err)
{
    const struct agent_server *servers = s->servers.items;

    if (!s->servers.n && (*s->join_token || *s->join_token_file))
        return err_set(err, ERR_INVALID,
                       "servers: none is named, as host:port, but a token to join one is");
    for (size_t i = 0; i < s->servers.n; i++) {
        const char *wrong = lookup_check(servers[i].address);

        if (wrong)
            return err_set(err, ERR_INVALID, "%s[%zu]: '%s' %s", "servers", i, servers[i].address,
                           wrong);
    }
    if (*s->join_token && *s->join_token_file)
        return err_set(err, ERR_INVALID, "join_token and join_token_file: only one of them");
    return policy_check(&s->policy, err);
}

/* Options that only print something are handled at the start, not at a reload. */
static int load_settings(const struct program *p, struct arena *a, struct agent_settings *ret,
                         struct config_loaded *ret_loaded, struct err *err)
{
    if (config_load(&agent_config, p->argc, p->self.argv, environ, a, ret, ret_loaded, err))
        return -1;
    return ret_loaded->show ? 0 : check_settings(ret, err);
}

static void fill_link(void *arg, struct agent_link *ret)
{
    struct program *p = arg;
    int64_t left_ms = p->again_at_ms - loop_now_ms(p->loop);

    if (p->client)
        *ret =
            (struct agent_link){ p->server_names, client_agent_id(p->client),
                                 client_is_up(p->client), p->trouble, left_ms > 0 ? left_ms : 0 };
}

static struct agent_options options_of(struct program *p)
{
    return (struct agent_options){ .dir = p->settings.data_dir,
                                   .pid_dir = p->settings.pid_dir,
                                   .output_max_bytes = p->settings.output.max_bytes,
                                   .at_once = p->settings.operations.at_once,
                                   .limit_interval_ms = p->settings.limits.interval_s * 1000,
                                   .limit_grace_ms = p->settings.limits.grace_s * 1000,
                                   .policy = &p->settings.policy,
                                   .proc_file = p->settings.proc_file,
                                   .specs = p->settings.specs,
                                   .without = p->settings.without,
                                   .cgroups = p->settings.cgroups,
                                   .scope_by_name = &p->settings.scope_by_name,
                                   .local_socket = p->settings.local.socket,
                                   .local_group = p->settings.local.group,
                                   .send = send_message,
                                   .link = fill_link,
                                   .arg = p };
}

/* ---- life cycle */

static void notify_manager(struct program *p, const char *text)
{
    struct err err;

    if (notify(getenv("NOTIFY_SOCKET"), text, &err))
        LOG(p->log, LOG_WARN, "the service manager can not be told", log_err(&err));
}

static void tell_reloading(struct program *p)
{
    char text[64];

    snprintf(text, sizeof(text), "RELOADING=1\nMONOTONIC_USEC=%lld",
             (long long)clock_mono_ms(&clock_system) * 1000);
    notify_manager(p, text);
}

static void on_stop(void *arg, int number)
{
    struct program *p = arg;

    notify_manager(p, "STOPPING=1");
    LOG(p->log, LOG_INFO, "stopping; the processes live on", log_int("signal", number));
    loop_stop(p->loop);
}

/* Settings that are read only at the start. */
static const struct {
    const char *name;
    size_t at;
} fixed[] = {
    { "data_dir", offsetof(struct agent_settings, data_dir) },
    { "pid_dir", offsetof(struct agent_settings, pid_dir) },
    { "ip", offsetof(struct agent_settings, ip) },
    { "agent_id", offsetof(struct agent_settings, agent_id) },
    { "join_token", offsetof(struct agent_settings, join_token) },
    { "join_token_file", offsetof(struct agent_settings, join_token_file) },
    { "without", offsetof(struct agent_settings, without) },
};

static const char **fixed_text(struct agent_settings *s, size_t i)
{
    return (const char **)((char *)s + fixed[i].at);
}

/* Keeps the values in use; the texts are copied because the old settings are freed. */
static void keep_fixed_settings(struct program *p, struct agent_settings *to, struct arena *a)
{
    for (size_t i = 0; i < ARRAY_LEN(fixed); i++) {
        const char *now = *fixed_text(&p->settings, i);
        const char **wanted = fixed_text(to, i);

        if (strcmp(now, *wanted) != 0)
            LOG(p->log, LOG_WARN, "takes effect when the agent is started anew",
                log_str("setting", fixed[i].name));
        *wanted = arena_strdup(a, now);
    }
}

/* A link is opened at the start, with an identity, or never. */
static int set_servers(struct program *p, struct err *err)
{
    const char **list = server_list(p);

    if (p->client && *list)
        return client_set_servers(p->client, list, err);
    if (p->client || *list)
        LOG(p->log, LOG_WARN, "takes effect when the agent is started anew",
            log_str("setting", "servers"));
    return 0;
}

static int reload(struct program *p, struct err *err)
{
    struct arena a = { 0 };
    struct agent_settings to;
    struct agent_options options;
    struct config_loaded loaded;

    if (load_settings(p, &a, &to, &loaded, err) ||
        log_set(p->log, *to.log.file ? to.log.file : NULL, (enum log_level)to.log.level, err)) {
        arena_free(&a);
        return -1;
    }
    keep_fixed_settings(p, &to, &a);
    arena_free(&p->arena);
    p->arena = a;
    p->settings = to;
    options = options_of(p);
    agent_set(p->agent, &options);
    return set_servers(p, err);
}

/* All settings are replaced or none: an error in the file must not stop a running agent. */
static void on_hangup(void *arg, int number)
{
    struct program *p = arg;
    struct err err = { 0 };

    (void)number;
    tell_reloading(p);
    if (reload(p, &err))
        LOG(p->log, LOG_ERROR, "the configuration is refused, and the one before stays in force",
            log_err(&err));
    else
        LOG(p->log, LOG_INFO, "the configuration was read again, the log file opened again");
    notify_manager(p, "READY=1");
}

/* A new program that could not read its configuration would end at once. */
static void on_upgrade(void *arg, int number)
{
    struct program *p = arg;
    struct arena a = { 0 };
    struct agent_settings to;
    struct config_loaded loaded;
    struct err err = { 0 };

    (void)number;
    if (load_settings(p, &a, &to, &loaded, &err))
        LOG(p->log, LOG_ERROR, "not upgraded: the configuration could not be read again",
            log_err(&err));
    else
        agent_upgrade(p->agent, &p->self);
    arena_free(&a);
}

static int catch_signals(struct program *p, struct err *err)
{
    signal(SIGPIPE, SIG_IGN);
    signal(SIGCHLD, SIG_DFL); /* the parent may have ignored it */
    if (loop_on_signal(p->loop, SIGTERM, on_stop, p, err) ||
        loop_on_signal(p->loop, SIGINT, on_stop, p, err) ||
        loop_on_signal(p->loop, SIGHUP, on_hangup, p, err) ||
        loop_on_signal(p->loop, SIGUSR2, on_upgrade, p, err))
        return -1;
    return 0;
}

static void set_oom_score(struct program *p)
{
    int fd = sys_open("/proc/self/oom_score_adj", O_WRONLY, 0);

    if (fd < 0 || sys_write(fd, OOM_SCORE, strlen(OOM_SCORE)) < 0)
        LOG(p->log, LOG_DEBUG, "oom_score_adj stays as it is");
    sys_close(fd);
}

static void notify_ready(struct program *p)
{
    const struct passwd *user = getpwuid(geteuid());

    LOG(p->log, LOG_INFO, "ready", log_str("version", HOLDFAST_VERSION),
        log_str("data_dir", p->settings.data_dir), log_int("pid", getpid()));
    printf("holdfast-agent %s: data in %s, %s%s; Ctrl-C ends it, the processes live on\n",
           HOLDFAST_VERSION, p->settings.data_dir,
           p->client ? "server " : "no server: controlled by holdfast --local alone",
           p->client ? server_list(p)[0] : "");
    if (!p->client)
        LOG(p->log, LOG_INFO, "no server is configured; controlled by holdfast --local alone");
    if (geteuid() != 0) {
        LOG(p->log, LOG_WARN, "not root: only processes of this user can be started",
            log_str("user", user ? user->pw_name : ""), log_int("uid", geteuid()));
        printf("holdfast-agent: not root, so only processes of %s (uid %u) can be started\n",
               user ? user->pw_name : "this user", (unsigned)geteuid());
    }
    fflush(stdout);
    notify_manager(p, "READY=1");
}

static int start_agent(struct program *p, struct err *err)
{
    const struct agent_options options = options_of(p);
    struct client_settings link = { .dir = p->settings.data_dir,
                                    .servers = server_list(p),
                                    .ip = p->settings.ip,
                                    .agent_id = p->settings.agent_id };

    if (loop_new(&clock_system, &p->loop, err) || catch_signals(p, err))
        return -1;
    set_oom_score(p);
    if (agent_new(p->loop, p->log, &options, &p->agent, err))
        return -1;
    if (p->settings.servers.n && (agent_read_token(p, &link.token, err) ||
                                  client_new(p->loop, &link, &owner, p, &p->client, err)))
        return -1;
    agent_program_ready();
    notify_ready(p);
    return 0;
}

/* The agent sends messages until it has ended, so the link is closed after it. */
static void stop_agent(struct program *p, int status)
{
    struct client *client = p->client;

    p->client = NULL;
    client_free(client);
    if (!agent_free(p->agent)) {
        LOG(p->log, LOG_WARN, "a path of a process does not answer, and is not waited for");
        fflush(NULL);
        _exit(status);
    }
    loop_free(p->loop);
    log_free(p->log);
    arena_free(&p->arena);
    free(p->self.path);
    free(p->trouble);
}

/* Prints to stderr for the starter; the log may be a file. */
static int report_error(const struct program *p, const struct err *err, int status)
{
    fprintf(stderr, "holdfast-agent: %s\n", err->text);
    if (p->log && *p->settings.log.file)
        LOG(p->log, LOG_ERROR, "stopped by a failure", log_err(err));
    return status;
}

static int run_agent(struct program *p, struct err *err)
{
    const char *file = p->settings.log.file;

    if (log_new(*file ? file : NULL, (enum log_level)p->settings.log.level, &clock_system, &p->log,
                err) ||
        start_agent(p, err) || loop_run(p->loop, err))
        return -1;
    LOG(p->log, LOG_INFO, "stopped");
    return 0;
}

int main(int argc, char **argv)
{
    struct program p = { .argc = argc };
    struct config_loaded loaded = { 0 };
    struct err err = { 0 };
    int status = EXIT_SUCCESS;

    if (agent_program_find(agent_config.program, argv, &p.self, &err) ||
        load_settings(&p, &p.arena, &p.settings, &loaded, &err))
        status = report_error(&p, &err, 2);
    else if (loaded.show)
        fputs(loaded.show, stdout);
    else if (run_agent(&p, &err))
        status = report_error(&p, &err, EXIT_FAILURE);
    stop_agent(&p, status);
    return status;
}
