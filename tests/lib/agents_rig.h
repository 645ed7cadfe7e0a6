/* SPDX-License-Identifier: MIT */
/* agents_rig.h - a server's end of the link with a real store and fleet, and agents made
 * by hand that talk to it over real TLS, all in one loop whose clock stands still but for
 * a millisecond a turn.  The tasks are ours: what they are told is written down.
 *
 * The store can be held back (what it has done is not heard of until it is let go), so
 * that "while a call is on its way" is a moment of any length; and its disk can fail. */
#ifndef TESTS_LIB_AGENTS_RIG_H
#define TESTS_LIB_AGENTS_RIG_H

#include <arpa/inet.h>
#include <errno.h>
#include <stdatomic.h>
#include <sys/syscall.h>

#include "base/mem/mem.h"
#include "base/os/sys.h"
#include "link/conn.h"
#include "link/message.h"
#include "model/translate.h"
#include "server/sessions/agents.h"
#include "store/store_apps.h"
#include "store/store_hosts.h"
#include "tests/lib/bad_disk.h"
#include "tests/lib/folder.h"
#include "tests/lib/rig.h"
#include "tests/lib/store_rig.h"
#include "wire/tls/ca.h"
#include "wire/tls/secret.h"

/* ---- the tasks ---- */

struct tasks {
    int sessions, ends, messages;
    char agent[80], end_agent[80], task[80];
    int64_t epoch, end_epoch, message_epoch;
    unsigned type;
};

void tasks_on_session(struct tasks *t, const char *agent, int64_t epoch)
{
    t->sessions++;
    snprintf(t->agent, sizeof(t->agent), "%s", agent);
    t->epoch = epoch;
}

void tasks_on_session_end(struct tasks *t, const char *agent, int64_t epoch)
{
    t->ends++;
    snprintf(t->end_agent, sizeof(t->end_agent), "%s", agent);
    t->end_epoch = epoch;
}

void tasks_on_message(struct tasks *t, const char *agent, int64_t epoch, unsigned type,
                      const void *message)
{
    const char *task = type == MESSAGE_TAKEN ? ((const struct message_ref *)message)->task
                                             : ((const struct message_result *)message)->task;

    assert_string_equal(agent, t->agent);
    t->messages++;
    t->type = type;
    t->message_epoch = epoch;
    snprintf(t->task, sizeof(t->task), "%s", task);
}

/* ---- the world ---- */

enum { TESTER_MESSAGES = MESSAGE_LOG + 1, TESTERS_MAX = 64 };

struct world {
    struct rig rig;
    struct store_rig db;
    struct folder folder;
    struct watch *store_watch;
    struct log *log;
    struct fleet *fleet;
    struct events *events;
    struct agents *agents;
    struct tasks tasks;
    struct agents_settings settings;
    struct address at;
    char events_path[64], log_path[64];
    struct tester *testers[TESTERS_MAX];
    size_t n_testers;
    struct err err;
};

/* An agent: its key, what it has heard. */
struct tester {
    struct world *w;
    struct conn *conn; /* NULL: gone */
    struct tls *tls;
    struct cert_key *key;
    struct buf request, own; /* PEM: key, certificate, CA; empty without one */
    struct arena arena;
    bool is_ready, is_over, is_mute; /* a mute one answers no ping */
    struct err why;
    int heard[TESTER_MESSAGES];
    struct message_joined joined;
    struct message_welcome welcome;
    struct message_error error;
    struct message_command command;
    int64_t ping_ms;
    int64_t event_stored;
    const char *from; /* the address it connects from; NULL: 127.0.0.1 */
    int fd;           /* of the last connection */
};

static inline void world_hold_store(struct world *w, bool held)
{
    assert_int_equal(watch_want(w->store_watch, held ? 0 : WATCH_READ, &w->err), 0);
}

static inline void world_watch_store(struct world *w)
{
    if (watch_new(w->rig.loop, store_fd(w->db.store), store_on_ready, w->db.store, &w->store_watch,
                  &w->err))
        fail_msg("%s", w->err.text);
    world_hold_store(w, false);
}

static inline int world_try_start(struct world *w, struct err *err)
{
    if (agents_new(w->rig.loop, w->log, w->db.store, w->fleet, w->events, &w->settings, &w->agents,
                   err))
        return -1;
    agents_set_tasks(w->agents, &w->tasks);
    return agents_listen(w->agents, &w->at, err);
}

static inline void world_start(struct world *w)
{
    if (world_try_start(w, &w->err))
        fail_msg("%s", w->err.text);
}

static inline void world_open_events(struct world *w)
{
    const struct events_settings o = { .file = w->events_path, .node = "node-1" };

    if (events_new(w->rig.loop, w->log, w->db.store, &o, &w->events, &w->err) ||
        events_load(w->events, w->fleet, &w->err))
        fail_msg("%s", w->err.text);
}

/* Everything but the agents. */
static inline struct world *world_new(void)
{
    struct world *w = xalloc(sizeof(*w));

    rig_init(&w->rig);
    w->rig.clock.wall = clock_wall_ms(&clock_system); /* OpenSSL has its own idea of it */
    folder_init(&w->folder);
    store_rig_place(&w->db);
    store_rig_open(&w->db);
    world_watch_store(w);
    snprintf(w->events_path, sizeof(w->events_path), "%s/events", w->folder.path);
    snprintf(w->log_path, sizeof(w->log_path), "%s/log", w->folder.path);
    w->fleet = fleet_new(w->rig.loop, NULL, w->db.store);
    if (fleet_load(w->fleet, &w->err) ||
        log_new(w->log_path, LOG_DEBUG, &w->rig.clock.clock, &w->log, &w->err))
        fail_msg("%s", w->err.text);
    world_open_events(w);
    w->settings = (struct agents_settings){ w->folder.path, "127.0.0.1:0", "node-1", 1000, 0 };
    return w;
}

static inline void tester_free(struct tester *t)
{
    conn_free(t->conn);
    tls_free(t->tls);
    cert_key_free(t->key);
    buf_free(&t->request);
    buf_free(&t->own);
    arena_free(&t->arena);
    free(t);
}

static inline void world_free(struct world *w)
{
    atomic_store(&disk_fails, 0);
    sys_fault("any", 0, 0);
    for (size_t i = 0; i < w->n_testers; i++)
        tester_free(w->testers[i]);
    agents_free(w->agents);
    events_stop(w->events);
    fleet_free(w->fleet);
    watch_free(w->store_watch);
    store_rig_close(&w->db);
    store_rig_remove(&w->db);
    events_free(w->events);
    log_free(w->log);
    rig_done(&w->rig);
    folder_done(&w->folder);
    free(w);
}

static inline int world_setup(void **state)
{
    struct world *w = world_new();

    world_start(w);
    *state = w;
    return 0;
}

static inline int world_teardown(void **state)
{
    world_free(*state);
    return 0;
}

#define AGENTS_TEST(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)

/* ---- the store, asked directly ---- */

static inline void world_put_token(struct world *w, const char *secret, int64_t uses, int64_t in_ms)
{
    char hash[SECRET_HASH_SIZE];
    /* The agents of this rig have other addresses than the one that they all connect from. */
    struct token_row row = { hash, 0, 2, w->rig.clock.wall + in_ms, uses, "", .relay = true };

    secret_hash(secret, hash);
    store_rig_do(&w->db, &store_token_put, &row, NULL);
}

static inline int64_t world_uses_left(struct world *w, const char *secret)
{
    char hash[SECRET_HASH_SIZE];
    struct list rows;

    secret_hash(secret, hash);
    store_rig_do(&w->db, &store_token_find, &(struct token_find_ask){ hash }, &rows);
    assert_int_equal(rows.n, 1);
    return ROW(token_row, rows, 0)->uses_left;
}

static inline const struct host_row *world_stored_host(struct world *w, const char *id)
{
    struct list rows;

    store_rig_do(&w->db, &store_host_find, &(struct host_ask){ id }, &rows);
    return rows.n ? rows.items : NULL;
}

static inline const struct session_row *world_stored_session(struct world *w, const char *id)
{
    struct list rows;

    store_rig_do(&w->db, &store_session_list, &(struct store_page){ "", 1000 }, &rows);
    for (size_t i = 0; i < rows.n; i++) {
        if (!strcmp(ROW(session_row, rows, i)->agent_id, id))
            return ROW(session_row, rows, i);
    }
    return NULL;
}

static inline bool world_file_has(const char *path, const char *text)
{
    char *all = folder_text(path);
    bool found = strstr(all, text) != NULL;

    free(all);
    return found;
}

/* ---- an agent ---- */

static inline void tester_on_ready(void *arg)
{
    struct tester *t = arg;

    t->is_ready = true;
}

static inline void tester_on_message(void *arg, unsigned type, const void *message)
{
    struct tester *t = arg;
    const struct message_joined *j = message;
    const struct message_ping *p = message;

    t->heard[type]++;
    if (type == MESSAGE_JOINED) {
        t->joined = *j;
        t->joined.agent_id = arena_strdup(&t->arena, j->agent_id);
        t->joined.cert = arena_strdup(&t->arena, j->cert);
        t->joined.ca = arena_strdup(&t->arena, j->ca);
        t->joined.ip = arena_strdup(&t->arena, j->ip);
    } else if (type == MESSAGE_WELCOME) {
        t->welcome = *(const struct message_welcome *)message;
    } else if (type == MESSAGE_EVENT_STORED) {
        t->event_stored = ((const struct message_event_ref *)message)->id;
    } else if (type == MESSAGE_ERROR) {
        t->error = *(const struct message_error *)message;
        t->error.text = arena_strdup(&t->arena, translate(t->error.text, LANG_EN, &t->arena));
    } else if (type == MESSAGE_PING) {
        t->ping_ms = p->server_ms;
        if (!t->is_mute)
            conn_send(t->conn, MESSAGE_PONG, &message_ping_shape,
                      &(struct message_ping){ p->server_ms, 7 });
    }
}

static inline void tester_on_end(void *arg, const struct err *why)
{
    struct tester *t = arg;

    t->is_over = true;
    if (why)
        t->why = *why;
}

static const struct conn_owner tester_owner = { tester_on_ready, tester_on_message, tester_on_end,
                                                NULL };

static inline struct tester *tester_new(struct world *w)
{
    struct tester *t = xalloc(sizeof(*t));

    t->w = w;
    t->key = cert_key_new();
    cert_request_write(t->key, &t->request);
    assert_true(w->n_testers < TESTERS_MAX);
    w->testers[w->n_testers++] = t;
    return t;
}

/* Another connection of the same agent; it has its key and its certificate. */
static inline struct tester *tester_twin(struct tester *of)
{
    struct tester *t = tester_new(of->w);
    struct buf pem = { 0 };
    struct err err;

    cert_key_free(t->key);
    buf_free(&t->request);
    cert_key_write(of->key, &pem);
    assert_int_equal(cert_key_read(buf_text(&pem), &t->key, &err), 0);
    cert_request_write(t->key, &t->request);
    buf_puts(&t->own, buf_text(&of->own));
    t->joined = of->joined; /* whose texts live as long as the world */
    buf_free(&pem);
    return t;
}

/* Connects, with the certificate if it has one. */
static inline void tester_dial(struct tester *t, const char *from)
{
    const struct tls_config config = {
        .own_pem = t->own.len ? buf_text(&t->own) : NULL,
        .ca_pin = agents_ca_fingerprint(t->w->agents),
        .only_1_3 = true,
    };
    struct sockaddr_in here = { .sin_family = AF_INET };
    int fd = sys_socket(AF_INET, SOCK_STREAM, 0);

    assert_true(fd >= 0);
    t->fd = fd;
    assert_int_equal(inet_pton(AF_INET, from, &here.sin_addr), 1);
    assert_int_equal(bind(fd, (struct sockaddr *)&here, sizeof(here)), 0);
    if (sys_connect(fd, &t->w->at.u.any, t->w->at.len))
        assert_int_equal(errno, EINPROGRESS);
    conn_free(t->conn);
    tls_free(t->tls);
    t->is_ready = t->is_over = false;
    memset(t->heard, 0, sizeof(t->heard));
    if (tls_client_new(&config, &t->tls, &t->w->err) ||
        conn_new(t->w->rig.loop, fd, t->tls, CA_SERVER_NAME, &tester_owner, t, &t->conn,
                 &t->w->err))
        fail_msg("%s", t->w->err.text);
}

/* And shakes hands. */
static inline void tester_connect(struct tester *t)
{
    tester_dial(t, t->from ? t->from : "127.0.0.1");
    TURN_UNTIL(&t->w->rig, t->is_ready || t->is_over);
}

static inline void tester_drop(struct tester *t)
{
    conn_free(t->conn);
    t->conn = NULL;
}

static inline struct message_join tester_join_words(struct tester *t, const char *secret,
                                                    const char *ip)
{
    return (struct message_join){ .version_min = LINK_VERSION,
                                  .version_max = LINK_VERSION,
                                  .secret = secret,
                                  .request = buf_text(&t->request),
                                  .ip = ip,
                                  .agent_id = "",
                                  .hostname = "box",
                                  .agent_version = "0.1" };
}

static inline void tester_say_join(struct tester *t, const struct message_join *m)
{
    tester_connect(t);
    conn_send(t->conn, MESSAGE_JOIN, &message_join_shape, m);
}

/* Until it is told yes or no; then the connection ends. */
static inline void tester_join(struct tester *t, const struct message_join *m)
{
    tester_say_join(t, m);
    TURN_UNTIL(&t->w->rig, t->is_over);
    assert_int_equal(t->heard[MESSAGE_JOINED] + t->heard[MESSAGE_ERROR], 1);
    if (!t->heard[MESSAGE_JOINED])
        return;
    buf_free(&t->own);
    cert_key_write(t->key, &t->own);
    buf_puts(&t->own, t->joined.cert);
    buf_puts(&t->own, t->joined.ca);
}

static inline struct message_hello tester_hello_words(struct tester *t)
{
    return (struct message_hello){ .version_min = LINK_VERSION,
                                   .version_max = LINK_VERSION,
                                   .agent_id = t->joined.agent_id,
                                   .agent_version = "0.1",
                                   .hostname = "box",
                                   .boot_id = "b",
                                   .digest = "",
                                   .agent_ms = 77 };
}

static inline void tester_say_hello(struct tester *t)
{
    struct message_hello m = tester_hello_words(t);

    tester_connect(t);
    conn_send(t->conn, MESSAGE_HELLO, &message_hello_shape, &m);
}

static inline void tester_hello(struct tester *t)
{
    tester_say_hello(t);
    TURN_UNTIL(&t->w->rig, t->heard[MESSAGE_WELCOME] || t->is_over);
    if (!t->heard[MESSAGE_WELCOME])
        fail_msg("no welcome: %s", t->error.text);
}

/* A member of the fleet; its token is used for nothing else. */
static inline struct tester *world_member(struct world *w, const char *ip)
{
    struct tester *t = tester_new(w);
    struct message_join m = tester_join_words(t, "member-token", ip);

    world_put_token(w, "member-token", 1, 60 * 1000);
    tester_join(t, &m);
    if (!t->heard[MESSAGE_JOINED])
        fail_msg("%s", t->error.text);
    return t;
}

static inline void assert_denied(const struct tester *t, int code, const char *text)
{
    assert_true(t->is_over);
    assert_int_equal(t->heard[MESSAGE_ERROR], 1);
    if (!strstr(t->error.text, text))
        fail_msg("'%s' does not say '%s'", t->error.text, text);
    assert_int_equal(t->error.code, code);
}

#endif
