/* SPDX-License-Identifier: MIT */
/* events_rig.h - events with a real store and file, in one loop whose clock moves a
 * millisecond a turn; the fleet is real too, and its hosts are put by hand. */
#ifndef TESTS_LIB_EVENTS_RIG_H
#define TESTS_LIB_EVENTS_RIG_H

#include <errno.h>
#include <stdatomic.h>
#include <sys/syscall.h>

#include "base/mem/mem.h"
#include "base/os/sys.h"
#include "model/event.h"
#include "model/translate.h"
#include "server/events/events.h"
#include "tests/lib/bad_disk.h"
#include "tests/lib/folder.h"
#include "tests/lib/rig.h"
#include "tests/lib/store_rig.h"

enum { EVENTS_WALL_S = 1700000000 };

struct world {
    struct rig rig;
    struct store_rig db;
    struct folder folder;
    struct watch *store_watch;
    struct log *log;
    struct fleet *fleet;
    struct events *events;
    struct events_settings settings;
    char path[64], log_path[64];
    struct buf stored, told; /* "a1:5 a2:7 ", and the names of what was told */
    size_t n_told;
    struct err err;
};

static inline void world_on_stored(void *arg, const char *agent_id, int64_t id)
{
    struct world *w = arg;

    buf_printf(&w->stored, "%s:%lld ", agent_id, (long long)id);
}

static inline void world_on_told(void *arg, const struct event_row *rows, size_t n)
{
    struct world *w = arg;

    for (size_t i = 0; i < n; i++)
        buf_printf(&w->told, "%lld %s %s\n", (long long)rows[i].seq, rows[i].agent_id,
                   rows[i].name);
    w->n_told += n;
}

static inline void world_open(struct world *w)
{
    if (events_new(w->rig.loop, w->log, w->db.store, &w->settings, &w->events, &w->err) ||
        events_load(w->events, w->fleet, &w->err))
        fail_msg("%s", w->err.text);
    events_set_stored(w->events, world_on_stored, w);
    events_set_told(w->events, world_on_told, w);
}

static inline void world_close(struct world *w)
{
    events_stop(w->events);
    events_free(w->events);
    w->events = NULL;
}

static inline void world_put_host(struct world *w, const char *agent_id, const char *ip)
{
    const struct host_row row = { .agent_id = agent_id,
                                  .ip = ip,
                                  .biz_id = 2,
                                  .hostname = "box",
                                  .version = "1",
                                  .cert_serial = "",
                                  .cert_fingerprint = "" };

    fleet_put_host(w->fleet, &row);
}

/* Folders and names; nothing is opened yet. */
static inline struct world *world_place(void)
{
    struct world *w = xalloc(sizeof(*w));

    folder_init(&w->folder);
    store_rig_place(&w->db);
    snprintf(w->path, sizeof(w->path), "%s/events", w->folder.path);
    snprintf(w->log_path, sizeof(w->log_path), "%s/log", w->folder.path);
    w->settings = (struct events_settings){ .file = w->path, .node = "main" };
    return w;
}

static inline void world_begin(struct world *w)
{
    rig_init(&w->rig);
    w->rig.clock.wall = (int64_t)EVENTS_WALL_S * 1000;
    store_rig_open(&w->db);
    w->fleet = fleet_new(w->rig.loop, NULL, w->db.store);
    if (watch_new(w->rig.loop, store_fd(w->db.store), store_on_ready, w->db.store, &w->store_watch,
                  &w->err) ||
        watch_want(w->store_watch, WATCH_READ, &w->err) || fleet_load(w->fleet, &w->err) ||
        log_new(w->log_path, LOG_DEBUG, &w->rig.clock.clock, &w->log, &w->err))
        fail_msg("%s", w->err.text);
    world_put_host(w, "a1", "10.0.0.1");
    world_put_host(w, "a2", "10.0.0.2");
    world_open(w);
}

static inline int world_setup(void **state)
{
    *state = world_place();
    world_begin(*state);
    return 0;
}

static inline int world_teardown(void **state)
{
    struct world *w = *state;

    atomic_store(&disk_fails, 0);
    sys_fault("any", 0, 0);
    events_stop(w->events);
    fleet_free(w->fleet);
    watch_free(w->store_watch);
    store_rig_close(&w->db);
    store_rig_remove(&w->db);
    events_free(w->events);
    log_free(w->log);
    rig_done(&w->rig);
    folder_done(&w->folder);
    buf_free(&w->stored);
    buf_free(&w->told);
    free(w);
    return 0;
}

#define EVENTS_TEST(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)

/* Each of another process: of one there are not many lines (event_bound.h). */
static inline void world_say(struct world *w, const char *agent, int64_t id, int64_t after)
{
    char proc[32];
    const struct message_event m = { .id = id,
                                     .after = after,
                                     .name = "process_restart_success",
                                     .text = "up again",
                                     .space = "gse",
                                     .proc = proc,
                                     .proc_name = "httpd",
                                     .wall_ms = 1000 + id };

    snprintf(proc, sizeof(proc), "web-%lld", (long long)id);

    events_on_message(w->events, fleet_find(w->fleet, agent), agent, &m);
}

static inline int world_lines(const char *path, const char *text)
{
    char *all = folder_text(path);
    int n = 0;

    for (const char *p = all; (p = strstr(p, text)); p++)
        n++;
    free(all);
    return n;
}

static inline bool world_is_idle(const struct world *w)
{
    return store_counters(w->db.store)->on_their_way == 0;
}

/* What the store has, oldest first. */
static inline struct event_page_got world_stored_rows(struct world *w)
{
    const struct event_page_ask ask = {
        .below = INT64_MAX, .agent_id = "", .space = "", .proc = "", .name = "", .limit = 10000
    };
    struct event_page_got got;

    store_rig_do(&w->db, &store_event_page, &ask, &got);
    return got;
}

/* With readable texts. */
static inline struct event_page_got world_rows(struct world *w)
{
    struct event_page_got got = world_stored_rows(w);

    for (size_t i = 0; i < got.rows.n; i++) {
        struct event_row *row = (struct event_row *)got.rows.items + i;

        row->message = arena_strdup(&w->db.arena, translate(row->message, LANG_EN, &w->db.arena));
    }
    return got;
}

#endif
