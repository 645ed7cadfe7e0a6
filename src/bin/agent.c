/* SPDX-License-Identifier: MIT */
/* agent.c - holdfast-agent: settings, log, loop, the agent and its link to a server;
 * then it runs until it is told to stop.  The processes it looks after live on. */
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/agent.h"
#include "agent/agent_upgrade.h"
#include "agent/settings.h"
#include "base/file.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/notify.h"
#include "base/sys.h"
#include "link/client.h"
#include "link/lookup.h"

/* Who fills the memory is to be killed before us. */
#define OOM_SCORE "-900"

enum { TOKEN_FILE_MAX = 1024 };

struct program {
    struct agent_program self;
    int argc;
    struct agent_settings settings;
    struct arena arena; /* of the settings */
    struct log *log;
    struct loop *loop;
    struct agent *agent;
    struct client *client;    /* NULL: there is no server */
    const char *server_names; /* for people */
    bool was_down;            /* and that was logged */
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

/* The first of several failures is worth a line; all are for who looks closely. */
static void on_down(void *arg, const struct err *why, int64_t again_ms)
{
    struct program *p = arg;
    bool is_unwanted = again_ms >= CLIENT_UNWANTED_MS;
    enum log_level level = is_unwanted ? LOG_ERROR : p->was_down ? LOG_DEBUG : LOG_WARN;

    p->was_down = true;
    LOG(p->log, level,
        is_unwanted ? "the server does not want us; hosted processes are kept alive"
                    : "no server; hosted processes are kept alive",
        log_str("error", why ? why->text : "the server ended the session"),
        log_int("again_ms", again_ms));
    agent_on_down(p->agent);
}

static void on_joined(void *arg, const char *agent_id)
{
    struct program *p = arg;

    LOG(p->log, LOG_INFO, "joined", log_str("agent_id", agent_id));
}

static const struct client_owner owner = { fill_hello, on_up, on_message, on_down, on_joined };

static void send_message(void *arg, unsigned type, const struct shape *s, const void *message)
{
    struct program *p = arg;

    if (p->client)
        client_send(p->client, type, s, message);
}

/* ---- settings */

/* Once it has joined, the token is of no use and its file may be gone. */
static int read_token(struct program *p, const char **ret, struct err *err)
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
        return err_wrap(err, "join_token_file");
    }
    n = strcspn(buf_text(&text), " \t\r\n");
    *ret = arena_memdup(&p->arena, buf_text(&text), n);
    file_wipe(&text);
    return 0;
}

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
            return err_set(err, ERR_INVALID, "servers[%zu]: '%s' %s", i, servers[i].address, wrong);
    }
    if (*s->join_token && *s->join_token_file)
        return err_set(err, ERR_INVALID, "join_token and join_token_file: only one of them");
    return policy_check(&s->policy, err);
}

/* What there is to show, and that is all, is shown at the start alone. */
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

    if (p->client)
        *ret = (struct agent_link){ p->server_names, client_agent_id(p->client),
                                    client_is_up(p->client) };
}

static struct agent_options options_of(struct program *p)
{
    return (struct agent_options){ .dir = p->settings.data_dir,
                                   .output_max_bytes = p->settings.output.max_bytes,
                                   .at_once = p->settings.operations.at_once,
                                   .limit_interval_ms = p->settings.limits.interval_s * 1000,
                                   .limit_grace_ms = p->settings.limits.grace_s * 1000,
                                   .policy = &p->settings.policy,
                                   .proc_file = p->settings.proc_file,
                                   .without = p->settings.without,
                                   .cgroups = p->settings.cgroups,
                                   .local_socket = p->settings.local.socket,
                                   .local_group = p->settings.local.group,
                                   .send = send_message,
                                   .link = fill_link,
                                   .arg = p };
}

/* ---- its life */

static void tell_manager(struct program *p, const char *text)
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
    tell_manager(p, text);
}

static void on_stop(void *arg, int number)
{
    struct program *p = arg;

    tell_manager(p, "STOPPING=1");
    LOG(p->log, LOG_INFO, "stopping; the processes live on", log_int("signal", number));
    loop_stop(p->loop);
}

/* What is read once, at the start. */
static const struct {
    const char *name;
    size_t at;
} fixed[] = {
    { "data_dir", offsetof(struct agent_settings, data_dir) },
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

/* They stay as they are in force; the texts are kept apart from those that go. */
static void keep_fixed(struct program *p, struct agent_settings *to, struct arena *a)
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

/* A link is begun at the start, with an identity, or never. */
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
    keep_fixed(p, &to, &a);
    arena_free(&p->arena);
    p->arena = a;
    p->settings = to;
    options = options_of(p);
    agent_set(p->agent, &options);
    return set_servers(p, err);
}

/* All of it or nothing: a mistake in the file must not end what works. */
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
    tell_manager(p, "READY=1");
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
    signal(SIGCHLD, SIG_DFL); /* whoever started us may have ignored it */
    if (loop_on_signal(p->loop, SIGTERM, on_stop, p, err) ||
        loop_on_signal(p->loop, SIGINT, on_stop, p, err) ||
        loop_on_signal(p->loop, SIGHUP, on_hangup, p, err) ||
        loop_on_signal(p->loop, SIGUSR2, on_upgrade, p, err))
        return -1;
    return 0;
}

static void outlive_others(struct program *p)
{
    int fd = sys_open("/proc/self/oom_score_adj", O_WRONLY, 0);

    if (fd < 0 || sys_write(fd, OOM_SCORE, strlen(OOM_SCORE)) < 0)
        LOG(p->log, LOG_DEBUG, "oom_score_adj stays as it is");
    sys_close(fd);
}

static void say_ready(struct program *p)
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
    tell_manager(p, "READY=1");
}

static int start(struct program *p, struct err *err)
{
    const struct agent_options options = options_of(p);
    struct client_settings link = { .dir = p->settings.data_dir,
                                    .servers = server_list(p),
                                    .ip = p->settings.ip,
                                    .agent_id = p->settings.agent_id };

    if (loop_new(&clock_system, &p->loop, err) || catch_signals(p, err))
        return -1;
    outlive_others(p);
    if (agent_new(p->loop, p->log, &options, &p->agent, err))
        return -1;
    if (p->settings.servers.n &&
        (read_token(p, &link.token, err) || client_new(p->loop, &link, &owner, p, &p->client, err)))
        return -1;
    agent_program_ready();
    say_ready(p);
    return 0;
}

/* The agent has something to say to the last, so the link goes after it is silent. */
static void stop(struct program *p)
{
    struct client *client = p->client;

    p->client = NULL;
    client_free(client);
    agent_free(p->agent);
    loop_free(p->loop);
    log_free(p->log);
    arena_free(&p->arena);
    free(p->self.path);
}

/* For whoever started it; the log, where it is a file, is for later. */
static int complain(const struct program *p, const struct err *err, int status)
{
    fprintf(stderr, "holdfast-agent: %s\n", err->text);
    if (p->log && *p->settings.log.file)
        LOG(p->log, LOG_ERROR, "stopped by a failure", log_err(err));
    return status;
}

static int run(struct program *p, struct err *err)
{
    const char *file = p->settings.log.file;

    if (log_new(*file ? file : NULL, (enum log_level)p->settings.log.level, &clock_system, &p->log,
                err) ||
        start(p, err) || loop_run(p->loop, err))
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
        status = complain(&p, &err, 2);
    else if (loaded.show)
        fputs(loaded.show, stdout);
    else if (run(&p, &err))
        status = complain(&p, &err, EXIT_FAILURE);
    stop(&p);
    return status;
}
