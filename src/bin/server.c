/* SPDX-License-Identifier: MIT */
/* server.c - holdfast-server: settings, log, loop, then all parts, lowest first; it runs until it
 * is stopped, and finishes the requests in progress first.
 *
 *   store    persistent data                   tasks    operations and their results
 *   fleet    hosts and processes, in memory    agents   the link, sessions, the CA
 *   events   stored and written to a file      api      HTTP requests of clients */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/auth/access.h"
#include "api/auth/login.h"
#include "api/pipeline/api.h"
#include "api/pipeline/metrics.h"
#include "api/pipeline/routes.h"
#include "base/io/log.h"
#include "base/io/loop.h"
#include "base/io/notify.h"
#include "base/mem/mem.h"
#include "base/os/sys.h"
#include "bin/front.h"
#include "server/dispatch/hub.h"
#include "server/dispatch/tasks.h"
#include "server/events/events.h"
#include "server/fleet/fleet.h"
#include "server/sessions/agents.h"
#include "server/sessions/settings.h"
#include "store/store.h"
#include "wire/http/http.h"
#include "wire/tls/seal.h"

struct server {
    struct server_settings settings;
    struct arena arena;
    struct log *log;
    struct loop *loop;
    struct store *store;
    struct watch *store_watch;
    struct retention *retention;
    struct fleet *fleet;
    struct events *events;
    struct heartbeat *heartbeat;
    struct agents *agents;
    struct tasks *tasks;
    struct logs *logs;
    struct pushes *pushes;
    struct groups *groups;
    struct seal *seal;
    struct access *access;
    struct scopes *scopes;
    struct login *login;
    struct api *api;
    struct api_door public, admin;
    struct tls *tls;
    struct http_server *http, *admin_http;
    struct front front;
    int64_t open_files; /* limit of open descriptors; 0: not known */
    unsigned draining;  /* listeners with requests in progress */
    struct timer tick, stop;
};

/* How often refusals are logged, however many there are. */
enum { TICK_MS = 10 * 1000 };

/* How long a stop waits for the requests in progress. */
enum { STOP_MS = 30 * 1000 };

/* Descriptors that are not connections: log, epoll, listeners, signals. */
enum { OTHER_FDS = 64, OPEN_FILES_MAX = 1 << 20 }; /* a higher limit counts as unlimited */

static void server_on_tick(void *arg)
{
    struct server *s = arg;

    front_log_refusals(&s->front);
    timer_set(s->loop, &s->tick, TICK_MS);
}

static void on_links_empty(void *arg)
{
    struct server *s = arg;

    loop_stop(s->loop);
}

/* Agents are stopped last: a request in progress may need one. */
static void on_empty(void *arg)
{
    struct server *s = arg;

    if (!--s->draining)
        agents_drain(s->agents, on_links_empty, s);
}

static void on_stop_late(void *arg)
{
    struct server *s = arg;

    LOG(s->log, LOG_WARN, "stopping with requests in work",
        log_int("connections", (int64_t)http_server_counters(s->http)->connections));
    loop_stop(s->loop);
}

static void notify_manager(struct server *s, const char *text)
{
    struct err err;

    if (notify(getenv("NOTIFY_SOCKET"), text, &err))
        LOG(s->log, LOG_WARN, "the service manager can not be told", log_err(&err));
}

static void on_stop(void *arg, int number)
{
    struct server *s = arg;

    if (s->front.is_stopping) {
        LOG(s->log, LOG_INFO, "stopping now", log_int("signal", number));
        loop_stop(s->loop);
        return;
    }
    s->front.is_stopping = true;
    notify_manager(s, "STOPPING=1");
    s->draining = 2;
    api_drain(s->api);
    http_server_drain(s->http, on_empty, s);
    http_server_drain(s->admin_http, on_empty, s);
    timer_init(&s->stop, on_stop_late, s);
    timer_set(s->loop, &s->stop, STOP_MS);
    LOG(s->log, LOG_INFO, "stopping", log_int("signal", number),
        log_int("connections_in_work", (int64_t)http_server_counters(s->http)->connections),
        log_str("hint", "a second signal ends it at once"));
}

/* A new certificate that cannot be used leaves the old one in use. */
static void reload_tls(struct server *s)
{
    const struct tls_config config = { .cert_path = s->settings.tls.cert,
                                       .key_path = s->settings.tls.key };
    struct err err = { 0 };
    struct tls *tls;

    if (!s->tls)
        return;
    if (tls_server_new(&config, &tls, &err)) {
        LOG(s->log, LOG_ERROR, "the certificate of the API stays as it was", log_err(&err));
        return;
    }
    http_server_set_tls(s->http, tls);
    tls_free(s->tls); /* freed with the last of its connections */
    s->tls = tls;
    LOG(s->log, LOG_INFO, "the certificate of the API was read again",
        log_str("cert", config.cert_path));
}

static void on_hangup(void *arg, int number)
{
    struct server *s = arg;
    struct err err = { 0 };

    (void)number;
    if (log_reopen(s->log, &err))
        LOG(s->log, LOG_ERROR, "the log file stays as it was", log_err(&err));
    else
        LOG(s->log, LOG_INFO, "the log file was opened again");
    if (events_reopen(s->events, &err))
        LOG(s->log, LOG_ERROR, "the file of events stays as it was", log_err(&err));
    reload_tls(s);
}

static int catch_signals(struct server *s, struct err *err)
{
    signal(SIGPIPE, SIG_IGN);
    if (loop_on_signal(s->loop, SIGTERM, on_stop, s, err) ||
        loop_on_signal(s->loop, SIGINT, on_stop, s, err) ||
        loop_on_signal(s->loop, SIGHUP, on_hangup, s, err))
        return -1;
    return 0;
}

static int server_make_tls(struct server *s, const struct address *at, struct err *err)
{
    const struct tls_config config = { .cert_path = s->settings.tls.cert,
                                       .key_path = s->settings.tls.key };
    bool wanted = *config.cert_path || *config.key_path;

    if (!wanted && !address_is_loopback(at))
        return err_set(
            err, ERR_INVALID,
            "listen: %s is not a loopback address; off loopback the server needs TLS: set "
            "tls.cert and tls.key",
            s->settings.listen);
    if (!wanted)
        return 0;
    if (!*config.cert_path || !*config.key_path)
        return err_set(err, ERR_INVALID, "tls.cert and tls.key: either both or none");
    return tls_server_new(&config, &s->tls, err);
}

/* Raises the limit of descriptors to the maximum; warns if it is below the number of
 * connections. */
static void raise_fd_limit(struct server *s)
{
    struct rlimit limit;

    if (sys_prlimit(RLIMIT_NOFILE, NULL, &limit))
        return;
    limit.rlim_cur = limit.rlim_max;
    (void)sys_prlimit(RLIMIT_NOFILE, &limit,
                      NULL); /* if it fails the limit stays, and the warning below is right */
    if (sys_prlimit(RLIMIT_NOFILE, NULL, &limit))
        return;
    s->open_files = limit.rlim_cur < OPEN_FILES_MAX ? (int64_t)limit.rlim_cur : OPEN_FILES_MAX;
    if (s->open_files >= s->settings.http.connections + OTHER_FDS)
        return;
    LOG(s->log, LOG_WARN, "fewer files may be open than connections are allowed; raise ulimit -n",
        log_int("open_files", s->open_files),
        log_int("http.connections", s->settings.http.connections));
}

static void notify_ready(struct server *s, const struct address *at, const struct address *link)
{
    const char *scheme = s->tls ? "https" : "http";
    char text[ADDRESS_TEXT_SIZE], link_text[ADDRESS_TEXT_SIZE];

    address_print(at, text);
    address_print(link, link_text);
    LOG(s->log, LOG_INFO, "ready", log_str("version", HOLDFAST_VERSION), log_str("listen", text),
        log_str("link", link_text), log_int("hosts", fleet_totals(s->fleet)->hosts),
        log_int("open_tasks", tasks_open(s->tasks)),
        log_str("health", arena_printf(&s->arena, "%s://%s/healthz", scheme, text)));
    printf("holdfast-server %s: API %s://%s/, agents %s, data %s; Ctrl-C ends it\n",
           HOLDFAST_VERSION, scheme, text, link_text, s->settings.data_dir);
    fflush(stdout);
    notify_manager(s, "READY=1");
}

/* ---- its parts */

/* The folder has the CA's key and the admin socket, so only our user may own it or write to it. */
static int make_data_dir(const char *path, struct err *err)
{
    struct stat st;

    if (sys_mkdir(path, 0700) && errno != EEXIST)
        return err_sys(err, "data_dir: make %s", path);
    if (sys_stat(path, &st))
        return err_sys(err, "%s: %s", "data_dir", path);
    if (!S_ISDIR(st.st_mode))
        return err_set(err, ERR_INVALID, "data_dir: %s is not a folder", path);
    if (st.st_uid != geteuid())
        return err_set(err, ERR_DENIED, "data_dir: %s belongs to user %u, not to us (%u); chown it",
                       path, (unsigned)st.st_uid, (unsigned)geteuid());
    if (st.st_mode & (S_IWGRP | S_IWOTH))
        return err_set(err, ERR_DENIED,
                       "data_dir: others may write to %s; take that away: chmod go-w", path);
    return 0;
}

static int open_store(struct server *s, struct err *err)
{
    const char *url = s->settings.store;
    struct store_options o = {
        .url = *url ? url : arena_printf(&s->arena, "sqlite:%s/holdfast.db", s->settings.data_dir)
    };

    if (!*url && *s->settings.data_dir != '/')
        return err_set(err, ERR_INVALID, "data_dir: %s: write an absolute path",
                       s->settings.data_dir);
    if (make_data_dir(s->settings.data_dir, err) || store_open(&o, &s->store, err) ||
        watch_new(s->loop, store_fd(s->store), store_on_ready, s->store, &s->store_watch, err) ||
        watch_want(s->store_watch, WATCH_READ, err))
        return -1;
    return 0;
}

/* Apps, and how they authenticate. */
static int make_access(struct server *s, struct err *err)
{
    const struct login_config login = { .url = s->settings.login.url,
                                        .app_code = s->settings.login.app_code,
                                        .app_token = s->settings.login.app_token,
                                        .ca = s->settings.login.ca,
                                        .timeout_ms = s->settings.login.timeout_s * 1000 };

    if (seal_open(s->settings.data_dir, &s->seal, err) || access_new(&s->settings, &s->access, err))
        return -1;
    return *login.url ? login_new(s->loop, s->log, &login, &s->login, err) : 0;
}

static int make_events(struct server *s, struct err *err)
{
    const struct events_settings o = { .file = s->settings.events.file,
                                       .node = s->settings.node,
                                       .days = s->settings.events.days,
                                       .rows_max = s->settings.events.max_rows,
                                       .host_burst = s->settings.events.host_burst,
                                       .host_per_minute = s->settings.events.host_per_minute,
                                       .retention = s->retention };

    if (events_new(s->loop, s->log, s->store, &o, &s->events, err) ||
        events_load(s->events, s->fleet, err))
        return -1;
    s->heartbeat = heartbeat_new(s->loop, s->fleet, s->events, s->settings.events.lost_s * 1000);
    heartbeat_start(s->heartbeat, events_lost(s->events));
    return 0;
}

/* Every connection to the link needs a descriptor, unknown peers included; some are left for the
 * API. */
static int64_t links_max(const struct server *s)
{
    return s->open_files > OTHER_FDS ? (s->open_files - OTHER_FDS) / 32 * 31 : 0;
}

/* Agents must find the open tasks, so they are admitted last. */
static int make_parts(struct server *s, struct err *err)
{
    const struct agents_settings link = { .dir = s->settings.data_dir,
                                          .listen = s->settings.link.listen,
                                          .node = s->settings.node,
                                          .ping_ms = s->settings.link.ping_s * 1000,
                                          .links_max = links_max(s) };
    const struct hub_limits limits = { (size_t)s->settings.dispatch.per_agent,
                                       (size_t)s->settings.dispatch.total };
    static const struct tasks_effects effects = { agents_send, agents_is_full };

    s->retention = retention_new(s->loop, s->log, s->store);
    s->fleet = fleet_new(s->loop, s->log, s->store);
    if (retention_load(s->retention, err) || fleet_load(s->fleet, err) || make_events(s, err) ||
        agents_new(s->loop, s->log, s->store, s->fleet, s->events, &link, &s->agents, err))
        return -1;
    s->tasks = tasks_new(s->loop, s->log, s->store, s->fleet, &effects, s->agents);
    tasks_keep(s->tasks, s->settings.tasks.days, s->retention);
    tasks_set_limits(s->tasks, &limits);
    agents_set_tasks(s->agents, s->tasks);
    s->logs = logs_new(s->loop, agents_send, s->agents);
    agents_set_logs(s->agents, s->logs);
    agents_set_heartbeat(s->agents, s->heartbeat);
    s->pushes = pushes_new(s->loop, s->log, s->fleet, agents_send, s->agents);
    s->groups = groups_new(s->loop, s->log, s->store, s->fleet, agents_send, s->agents);
    agents_set_registry(s->agents, s->pushes, s->groups);
    s->scopes = scopes_new(s->fleet);
    if (scopes_load(s->scopes, s->store, err) || tasks_load(s->tasks, err) ||
        groups_load(s->groups, err) || make_access(s, err))
        return -1;
    s->api = api_new(&(struct api_parts){ .loop = s->loop,
                                          .log = s->log,
                                          .store = s->store,
                                          .fleet = s->fleet,
                                          .tasks = s->tasks,
                                          .logs = s->logs,
                                          .groups = s->groups,
                                          .events = s->events,
                                          .scopes = s->scopes,
                                          .audit_days = s->settings.audit.days,
                                          .body_bytes_total = s->settings.http.body_bytes_total,
                                          .retention = s->retention,
                                          .access = s->access,
                                          .login = s->login,
                                          .seal = s->seal,
                                          .ca_fingerprint = agents_ca_fingerprint(s->agents),
                                          .version = HOLDFAST_VERSION });
    s->public = (struct api_door){ s->api, false };
    s->admin = (struct api_door){ s->api, true };
    return 0;
}

/* A client of this socket may do everything, so only its owner can open it, whatever the umask
 * is. */
static int listen_admin(struct server *s, struct err *err)
{
    const char *path = s->settings.admin_socket;
    struct address at, real;
    mode_t old;
    int failed;

    if (!*path)
        path = arena_printf(&s->arena, "%s/admin.sock", s->settings.data_dir);
    if (address_parse(arena_printf(&s->arena, "unix:%s", path), &at, err))
        return err_wrap(err, "%s", "admin_socket");
    s->admin_http = http_server_new(s->loop, NULL, &api_owner, &s->admin);
    old = umask(0177);
    failed = http_server_listen(s->admin_http, &at, NULL, &real, err);
    umask(old);
    return failed;
}

static int listen_public(struct server *s, const struct address *at, struct address *ret_real,
                         struct err *err)
{
    struct http_limits limits = http_limits_default;

    limits.connections_max = (size_t)s->settings.http.connections;
    limits.per_address_max = (size_t)s->settings.http.connections_per_address;
    limits.header_ms = s->settings.http.header_s * 1000;
    limits.idle_ms = s->settings.http.idle_s * 1000;
    limits.body_budget_bytes = (size_t)s->settings.http.body_bytes_total;
    s->http = http_server_new(s->loop, &limits, &front_owner, &s->front);
    s->front.http = s->http;
    metrics_watch(s->api, &(struct metrics_parts){ s->agents, s->pushes, s->http });
    return http_server_listen(s->http, at, s->tls, ret_real, err);
}

static int start_server(struct server *s, struct err *err)
{
    struct address at, real, link;

    if (address_parse(s->settings.listen, &at, err))
        return err_wrap(err, "%s", "listen");
    raise_fd_limit(s);
    if (routes_check(routes, err) || loop_new(&clock_system, &s->loop, err) ||
        catch_signals(s, err) || server_make_tls(s, &at, err) || open_store(s, err) ||
        make_parts(s, err))
        return -1;
    s->front = (struct front){
        .loop = s->loop, .log = s->log, .door = &s->public, .started_ms = loop_now_ms(s->loop)
    };
    if (listen_public(s, &at, &real, err) || listen_admin(s, err) ||
        agents_listen(s->agents, &link, err))
        return -1;
    timer_init(&s->tick, server_on_tick, s);
    timer_set(s->loop, &s->tick, TICK_MS);
    notify_ready(s, &real, &link);
    return 0;
}

/* In the order that api.h and tasks.h require. */
static void stop_server(struct server *s)
{
    http_server_free(s->http);
    http_server_free(s->admin_http);
    api_stop(s->api);
    login_free(s->login);
    agents_free(s->agents);
    heartbeat_free(s->heartbeat);
    logs_free(s->logs);
    pushes_free(s->pushes);
    groups_free(s->groups);
    tasks_free(s->tasks);
    events_stop(s->events);
    retention_free(s->retention);
    fleet_free(s->fleet);
    watch_free(s->store_watch);
    store_close(s->store);
    api_free(s->api);
    access_free(s->access);
    scopes_free(s->scopes);
    seal_free(s->seal);
    events_free(s->events);
    tls_free(s->tls);
    front_done(&s->front);
    loop_free(s->loop);
    log_free(s->log);
    arena_free(&s->arena);
}

/* Prints to stderr for the starter; the log may be a file. */
static int report_error(const struct server *s, const struct err *err, int status)
{
    fprintf(stderr, "holdfast-server: %s\n", err->text);
    if (s->log && *s->settings.log.file)
        LOG(s->log, LOG_ERROR, "stopped by a failure", log_err(err));
    return status;
}

static int run_server(struct server *s, const struct config_loaded *loaded, struct err *err)
{
    const char *file = s->settings.log.file;

    if (log_new(*file ? file : NULL, (enum log_level)s->settings.log.level, &clock_system, &s->log,
                err))
        return -1;
    for (const char *const *name = loaded->no_effect; *name; name++)
        LOG(s->log, LOG_WARN, "a setting has no effect and can be deleted",
            log_str("setting", *name));
    if (start_server(s, err) || loop_run(s->loop, err))
        return -1;
    front_log_refusals(&s->front);
    LOG(s->log, LOG_INFO, "stopped");
    return 0;
}

int main(int argc, char **argv)
{
    struct server s = { 0 };
    struct config_loaded loaded = { 0 };
    struct err err = { 0 };
    int status = EXIT_SUCCESS;

    if (config_load(&server_config, argc, argv, environ, &s.arena, &s.settings, &loaded, &err))
        status = report_error(&s, &err, 2);
    else if (loaded.show)
        fputs(loaded.show, stdout);
    else if (run_server(&s, &loaded, &err))
        status = report_error(&s, &err, EXIT_FAILURE);
    stop_server(&s);
    return status;
}
