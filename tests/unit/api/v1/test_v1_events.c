/* SPDX-License-Identifier: MIT */
/* Promises of /v1/events and its stream: api/v1/v1_events.c, event_scope.c, event_feed.c. */
#include "api/pipeline/event_feed.h"
#include "tests/unit/api/fake_server.h"
#include "tests/unit/api/world.h"

#include "api/pipeline/api_state.h"
#include "server/events/events.h"

/* Three hosts of three businesses. */
struct events_world {
    struct world w;
    struct fleet fleet;
    struct tasks tasks;
    int64_t ids[3];
};

static int setup(void **state)
{
    static const struct events_settings none = { .file = "", .node = "main" };
    struct events_world *v = xalloc(sizeof(*v));
    struct err err;

    world_init(&v->w);
    for (size_t i = 0; i < 3; i++)
        v->fleet.hosts[i] = (struct fleet_host){
            .agent_id = (const char *const[]){ "a1", "a2", "a3" }[i],
            .ip = (const char *const[]){ "10.0.0.1", "10.0.0.2", "10.0.0.3" }[i],
            .biz_id = (int64_t)i + 1,
        };
    v->fleet.n = 3;
    world_put_app(&v->w, "web", "{\"rights\":[\"read\"],\"namespaces\":[\"web\"]}");
    world_put_app(&v->w, "biz1", "{\"rights\":[\"read\"],\"businesses\":[1]}");
    if (events_new(v->w.rig.loop, NULL, v->w.store.store, &none, &v->w.events, &err) ||
        events_load(v->w.events, &v->fleet, &err))
        fail_msg("%s", err.text);
    world_open(&v->w, &v->fleet, &v->tasks);
    *state = v;
    return 0;
}

static int teardown(void **state)
{
    struct events_world *v = *state;
    struct events *events = v->w.events;

    world_close_doors(&v->w);
    api_stop(v->w.api);
    events_stop(events);
    events_free(events);
    world_done(&v->w);
    buf_free(&v->tasks.asked);
    free(v);
    return 0;
}

static void happen(struct events_world *v, size_t host, const char *name, const char *space)
{
    const struct message_event m = { .id = v->ids[host] + 1,
                                     .after = v->ids[host],
                                     .name = name,
                                     .text = "so it \"was\"",
                                     .space = space,
                                     .proc = *space ? "p" : "",
                                     .proc_name = *space ? "bin" : "",
                                     .wall_ms = 1234 };

    v->ids[host]++;
    events_on_message(v->w.events, &v->fleet.hosts[host], v->fleet.hosts[host].agent_id, &m);
}

static void settle(struct events_world *v, int64_t last)
{
    TURN_UNTIL(&v->w.rig, events_last(v->w.events) == last);
}

/* Events 1 to 6. */
static void some_happen(struct events_world *v)
{
    happen(v, 0, "process_restart_success", "gse");
    happen(v, 1, "process_restart_success", "web");
    happen(v, 0, "process_restart_failed", "web");
    happen(v, 2, "process_cancel_restart", "gse");
    happen(v, 1, "agent_proc_file_edited", "");
    events_tell(v->w.events, NULL, EVENT_STORE, "bad disk");
    settle(v, 6);
}

#define AUTH(app)                                                                                  \
    "X-Bkapi-Authorization: {\"bk_app_code\":\"" app "\",\"bk_app_secret\":\"" WORLD_SECRET        \
    "\"}\r\n"

/* The ids of a page and its next: "3 2 1|" */
static const char *ids(struct events_world *v, const char *auth, const char *query, char to[256])
{
    char path[256];
    const char *p = world_ask(
        &v->w, "GET", (snprintf(path, sizeof(path), "/v1/events%s", query), path), auth, NULL);
    size_t n = 0;

    if (v->w.status != 200) {
        snprintf(to, 256, "%d", v->w.status);
        return to;
    }
    to[0] = '\0';
    while ((p = strstr(p, "\"id\":"))) {
        p += 5;
        n += (size_t)snprintf(to + n, 256 - n, "%s%lld", n ? " " : "", strtoll(p, NULL, 10));
    }
    p = strstr(v->w.body, "\"next\":\"");
    if (p)
        snprintf(to + n, 256 - n, "|%.*s", (int)strcspn(p + 8, "\""), p + 8);
    return to;
}

/* ---- pages */

static void an_event_is_shown_with_all_there_is(void **state)
{
    struct events_world *v = *state;

    happen(v, 1, "process_restart_success", "gse");
    settle(v, 1);
    world_ask(&v->w, "GET", "/v1/events", DEMO_AUTH, NULL);
    assert_int_equal(v->w.status, 200);
    assert_string_equal(
        v->w.body,
        "{\"events\":[{\"id\":1,\"time_ms\":1234,\"taken_ms\":1700000000000,"
        "\"event\":\"process_restart_success\",\"text\":\"so it \\\"was\\\"\",\"agent_id\":\"a2\","
        "\"cloud_id\":0,\"ip\":\"10.0.0.2\",\"biz_id\":2,\"namespace\":\"gse\",\"name\":\"p\","
        "\"proc_name\":\"bin\"}],\"next\":\"\",\"last\":1}\n");
}

static void pages_have_what_is_asked_for_and_may_be_seen(void **state)
{
    static const struct {
        const char *auth, *query, *ids;
    } cases[] = {
        { DEMO_AUTH, "", "6 5 4 3 2 1|" },
        { DEMO_AUTH, "?limit=2", "6 5|5" },
        { DEMO_AUTH, "?limit=2&after=5", "4 3|3" },
        { DEMO_AUTH, "?limit=2&after=3", "2 1|" },
        { DEMO_AUTH, "?order=oldest", "1 2 3 4 5 6|" },
        { DEMO_AUTH, "?order=oldest&after=4", "5 6|" },
        { DEMO_AUTH, "?order=oldest&after=0&limit=3", "1 2 3|3" },
        { DEMO_AUTH, "?after=0", "|" },
        { DEMO_AUTH, "?order=oldest&after=99", "|" },
        { DEMO_AUTH, "?host=a1", "3 1|" },
        { DEMO_AUTH, "?host=10.0.0.1&limit=1", "3|3" },
        { DEMO_AUTH, "?host=0:10.0.0.2", "5 2|" },
        { DEMO_AUTH, "?namespace=gse", "4 1|" },
        { DEMO_AUTH, "?name=p&namespace=web", "3 2|" },
        { DEMO_AUTH, "?event=process_restart_success", "2 1|" },
        { DEMO_AUTH, "?since_s=1700000000", "6 5 4 3 2 1|" },
        { DEMO_AUTH, "?since_s=1700000001", "|" },
        { AUTH("web"), "",
          "5 3 2|" }, /* events of a host are visible to all apps that may see the host */
        { AUTH("web"), "?limit=1", "5|5" },
        { AUTH("web"), "?limit=1&after=5", "3|3" },
        { AUTH("web"), "?namespace=gse", "403" },
        { AUTH("biz1"), "", "3 1|" },
        { AUTH("biz1"), "?host=a2", "404" },
        { AUTH("biz1"), "?limit=1&order=oldest", "1|1" },
        { DEMO_AUTH, "?host=nobody", "404" },
        { DEMO_AUTH, "?limit=0", "400" },
        { DEMO_AUTH, "?limit=1001", "400" },
        { DEMO_AUTH, "?after=x", "400" },
        { DEMO_AUTH, "?order=other", "400" },
        { DEMO_AUTH, "?since_s=-1", "400" },
        { DEMO_AUTH, "?unknown=1", "400" },
        { "", "", "401" },
    };
    struct events_world *v = *state;
    char got[256];

    some_happen(v);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        if (strcmp(ids(v, cases[i].auth, cases[i].query, got), cases[i].ids) != 0)
            fail_msg("case %zu, %s: %s, not %s", i, cases[i].query, got, cases[i].ids);
    }
    fleet_del_host(&v->fleet, "a1");
    assert_string_equal(ids(v, DEMO_AUTH, "", got), "6 5 4 3 2 1|");
    assert_string_equal(ids(v, AUTH("biz1"), "", got), "|"); /* of a removed host */
}

/* An app that may see few of many events gets them without many pages. */
static void few_among_many_are_found(void **state)
{
    struct events_world *v = *state;
    char got[256];

    happen(v, 0, "process_healthy", "web");
    for (int i = 0; i < 1900; i++)
        happen(v, 1, "process_unhealthy", "gse");
    happen(v, 0, "process_healthy", "web");
    settle(v, 1902);
    assert_string_equal(ids(v, AUTH("web"), "", got), "1902 1|");
}

/* The size of an answer is limited, however many events are requested. */
static void a_page_of_large_events_is_shorter(void **state)
{
    enum { LARGE = 15000, N = 200 };
    struct events_world *v = *state;
    char *text = xalloc(LARGE + 1), path[64] = "/v1/events?limit=1000";
    struct message_event m = {
        .name = "x", .space = "", .proc = "", .proc_name = "", .text = text
    };
    size_t n = 0, pages = 0;

    memset(text, 'x', LARGE);
    for (m.id = 1; m.id <= N; m.id++) {
        m.after = m.id - 1;
        events_on_message(v->w.events, &v->fleet.hosts[0], "a1", &m);
    }
    settle(v, N);
    while (*path) {
        const char *p = world_ask(&v->w, "GET", path, DEMO_AUTH, NULL), *next;

        assert_true(v->w.got.len < 1200 * 1024);
        next = strstr(p, "\"next\":\"") + strlen("\"next\":\"");
        for (; (p = strstr(p, "\"id\":")); p++)
            n++;
        path[0] = '\0';
        if (*next != '"')
            snprintf(path, sizeof(path), "/v1/events?limit=1000&after=%lld",
                     strtoll(next, NULL, 10));
        pages++;
    }
    assert_int_equal(n, N);
    assert_int_equal(pages, 3);
    free(text);
}

/* ---- the stream */

static int listen_to(struct events_world *v, const char *auth, const char *path,
                     const char *headers)
{
    struct buf out = { 0 };
    int fd = world_connect(&v->w, 0);

    world_head(&out, "GET", path, auth);
    buf_printf(&out, "%s\r\n", headers);
    buf_truncate(&v->w.got, 0);
    world_send(&v->w, fd, &out);
    buf_free(&out);
    return fd;
}

static bool heard(struct events_world *v, int fd, const char *text)
{
    world_take(&v->w, fd);
    return strstr(buf_text(&v->w.got), text) != NULL;
}

#define HEAR(v, fd, text) TURN_UNTIL(&(v)->w.rig, heard(v, fd, text))

static void a_stream_sends_events_that_the_app_may_see(void **state)
{
    struct events_world *v = *state;
    int fd;

    some_happen(v);
    fd = listen_to(v, AUTH("web"), "/v1/events/stream", "");
    HEAR(v, fd, "id: 6\n\n"); /* the start of the stream */
    assert_non_null(strstr(buf_text(&v->w.got), "Content-Type: text/event-stream"));
    happen(v, 0, "process_healthy", "web");
    happen(v, 0, "process_unhealthy", "gse");
    happen(v, 0, "process_run_failed", "web");
    HEAR(v, fd, "process_run_failed");
    assert_non_null(strstr(buf_text(&v->w.got), "id: 7\ndata: {\"id\":7,"));
    assert_non_null(strstr(buf_text(&v->w.got), "id: 9\ndata: {\"id\":9,"));
    assert_null(strstr(buf_text(&v->w.got), "process_unhealthy"));
    assert_null(strstr(buf_text(&v->w.got), "\"id\":6,")); /* from before the start */
    close(fd);
}

/* Both at once: each gets only what it may see. */
static void each_reads_it_in_a_language_of_its_own(void **state)
{
    static const char chinese[] = "Blueking-Language: zh-hans\r\n";
    struct events_world *v = *state;
    int one = listen_to(v, DEMO_AUTH, "/v1/events/stream", chinese), other;
    char text[200];

    HEAR(v, one, "id: 0\n\n");
    other = listen_to(v, DEMO_AUTH, "/v1/events/stream", "");
    HEAR(v, other, "id: 0\n\n");
    buf_truncate(&v->w.got, 0);
    msg_printf(text, sizeof(text), "for %lld s nothing could be stored: %s", 5LL,
               MSG("Read-only file system"));
    events_tell(v->w.events, NULL, EVENT_STORE, text);
    HEAR(v, one, "\"text\":\"5 秒内无法存储：文件系统只读\"");
    buf_truncate(&v->w.got, 0);
    HEAR(v, other, "\"text\":\"for 5 s nothing could be stored: Read-only file system\"");
    close(one);
    close(other);
    world_ask(&v->w, "GET", "/v1/events", DEMO_AUTH "Blueking-Language: zh-cn\r\n", NULL);
    assert_non_null(strstr(v->w.body, "\"text\":\"5 秒内无法存储：文件系统只读\""));
}

static void a_stream_tells_what_was_asked_for(void **state)
{
    struct events_world *v = *state;
    int fd = listen_to(v, DEMO_AUTH,
                       "/v1/events/stream?host=a1&namespace=web&event=process_healthy", "");

    HEAR(v, fd, "id: 0\n\n");
    happen(v, 0, "process_healthy", "gse");
    happen(v, 1, "process_healthy", "web");
    happen(v, 0, "process_unhealthy", "web");
    happen(v, 0, "process_healthy", "web");
    HEAR(v, fd, "id: 4\ndata: ");
    assert_null(strstr(buf_text(&v->w.got), "id: 3\n"));
    close(fd);
}

static void a_stream_goes_on_where_it_ended(void **state)
{
    struct events_world *v = *state;
    int fd;

    some_happen(v);
    fd = listen_to(v, DEMO_AUTH, "/v1/events/stream?after=0", "Last-Event-ID: 4\r\n");
    HEAR(v, fd, "bad disk");
    happen(v, 0, "new", "web");
    HEAR(v, fd, "id: 7\ndata: ");
    assert_null(strstr(buf_text(&v->w.got), "id: 3\n"));
    assert_non_null(strstr(buf_text(&v->w.got), "id: 5\ndata: "));
    assert_null(strstr(buf_text(&v->w.got), "event: gap"));
    close(fd);
    fd = listen_to(v, AUTH("biz1"), "/v1/events/stream?after=0", "Last-Event-ID: nonsense\r\n");
    HEAR(v, fd, "id: 7\ndata: ");
    assert_non_null(strstr(buf_text(&v->w.got), "id: 3\ndata: "));
    assert_null(strstr(buf_text(&v->w.got), "id: 4\n"));
    close(fd);
}

/* Events that are stored while older ones are sent arrive once, and in order. */
static void nothing_is_told_twice_at_the_seam(void **state)
{
    struct events_world *v = *state;
    long long before = 0;
    int fd;

    for (int i = 0; i < 1200; i++)
        happen(v, 1, "old", "gse");
    settle(v, 1200);
    fd = listen_to(v, DEMO_AUTH, "/v1/events/stream?after=0", "");
    for (int i = 0; i < 300; i++) {
        happen(v, 1, "new", "gse");
        world_take(&v->w, fd);
        rig_turn_in(&v->w.rig, 0, 0);
    }
    HEAR(v, fd, "id: 1500\ndata: ");
    for (const char *p = buf_text(&v->w.got); (p = strstr(p, "\ndata: {\"id\":")); before++) {
        p += strlen("\ndata: {\"id\":");
        assert_int_equal(strtoll(p, NULL, 10), before + 1);
    }
    assert_int_equal(before, 1500);
    close(fd);
}

static void what_is_kept_no_more_is_a_gap(void **state)
{
    struct events_world *v = *state;
    struct event_prune_got gone;
    int fd;

    some_happen(v);
    store_rig_do(&v->w.store, &store_event_prune, &(struct event_prune_ask){ 100, 0, 2 }, &gone);
    assert_int_equal(gone.gone, 4);
    fd = listen_to(v, DEMO_AUTH, "/v1/events/stream?after=1", "");
    HEAR(v, fd, "bad disk");
    assert_non_null(
        strstr(buf_text(&v->w.got), "event: gap\nid: 4\ndata: {\"after\":1,\"until\":4}\n\n"));
    close(fd);
    fd = listen_to(v, DEMO_AUTH, "/v1/events/stream?after=77", ""); /* an id of another store */
    HEAR(v, fd, "event: gap\nid: 6\ndata: {\"after\":77,\"until\":6}\n\n");
    close(fd);
}

static void a_client_offline_too_long_gets_the_newest_events(void **state)
{
    struct events_world *v = *state;
    struct event_row *rows = xalloc((FEED_RESUME_MAX + 50) * sizeof(*rows));
    const struct event_put_ask ask = { .rows = { rows, FEED_RESUME_MAX + 50 } };
    struct event_put_got got;
    char wanted[64];
    int fd;

    for (int64_t i = 0; i < FEED_RESUME_MAX + 50; i++)
        rows[i] = (struct event_row){ .seq = i, .agent_id = "a1", .name = "x" };
    store_rig_do(&v->w.store, &store_event_put, &ask, &got);
    free(rows);
    happen(v, 0, "new", "web");
    settle(v, FEED_RESUME_MAX + 51);
    fd = listen_to(v, DEMO_AUTH, "/v1/events/stream?after=0", "");
    snprintf(wanted, sizeof(wanted), "id: %d\ndata: ", FEED_RESUME_MAX + 51);
    HEAR(v, fd, wanted); /* more than the socket holds: sent as fast as the client reads */
    assert_non_null(strstr(buf_text(&v->w.got), "{\"after\":0,\"until\":51}"));
    assert_non_null(strstr(buf_text(&v->w.got), "id: 52\ndata: "));
    close(fd);
}

static void a_beat_comes_when_nothing_happens(void **state)
{
    struct events_world *v = *state;
    int fd = listen_to(v, AUTH("biz1"), "/v1/events/stream", "");

    HEAR(v, fd, "id: 0\n\n");
    rig_pass_ms(&v->w.rig, FEED_BEAT_MS);
    HEAR(v, fd, ":\n\n");
    happen(v, 1, "process_unhealthy", "gse");
    settle(v, 1);
    rig_pass_ms(&v->w.rig, FEED_BEAT_MS);
    HEAR(v, fd, "id: 1\n\n"); /* the point to resume from */
    rig_pass_ms(&v->w.rig, FEED_OPEN_MS);
    TURN_UNTIL(&v->w.rig, world_take(&v->w, fd)); /* a reconnecting client is authenticated again */
    close(fd);
}

/* Changed permissions apply at once, also to streams. */
static void a_stream_ends_when_its_app_is_changed(void **state)
{
    struct events_world *v = *state;
    int fd, other = listen_to(v, AUTH("web"), "/v1/events/stream", "");

    HEAR(v, other, "id: 0\n\n");
    fd = listen_to(v, AUTH("biz1"), "/v1/events/stream", "");
    HEAR(v, fd, "id: 0\n\n");
    world_admin(&v->w, "PUT", "/v1/apps/biz1", "{\"permissions\":{\"businesses\":[2]}}");
    assert_int_equal(v->w.status, 200);
    happen(v, 0, "process_run_failed", "web");
    settle(v, 1);
    buf_truncate(&v->w.got, 0);
    TURN_UNTIL(&v->w.rig, world_take(&v->w, fd));
    assert_null(strstr(buf_text(&v->w.got), "process_run_failed"));
    HEAR(v, other, "process_run_failed"); /* the other stream continues */
    close(other);
    close(fd);
}

enum { LARGE = 15000, MANY_LARGE = 400 }; /* more than may wait for a socket */

static void large_ones_happen(struct events_world *v, int64_t from, int64_t to)
{
    char *text = xalloc(LARGE + 1);
    struct message_event m = {
        .name = "x", .space = "", .proc = "", .proc_name = "", .text = text
    };

    memset(text, 'x', LARGE);
    for (m.id = from; m.id <= to; m.id++) {
        m.after = m.id - 1;
        events_on_message(v->w.events, &v->fleet.hosts[0], "a1", &m);
    }
    settle(v, to);
    free(text);
}

static size_t count_large(struct events_world *v)
{
    size_t n = 0;

    for (const char *p = buf_text(&v->w.got); (p = strstr(p, "\ndata: {")); p++)
        n++;
    return n;
}

/* They arrive in few transactions, for connected and for reconnecting clients. */
static void a_client_that_reads_gets_all_large_events(void **state)
{
    struct events_world *v = *state;
    int fd = listen_to(v, DEMO_AUTH, "/v1/events/stream", "");

    HEAR(v, fd, "id: 0\n\n");
    large_ones_happen(v, 1, MANY_LARGE);
    for (int i = 0; i < 2; i++) {
        PASS_UNTIL(&v->w.rig, heard(v, fd, "id: 400\ndata: "));
        assert_int_equal(count_large(v), MANY_LARGE);
        close(fd);
        fd = listen_to(v, DEMO_AUTH, "/v1/events/stream?after=0", "");
    }
    close(fd);
    assert_int_equal(http_server_counters(v->w.servers[0])->refused[HTTP_SLOW_READER], 0);
}

static void a_client_that_does_not_read_is_disconnected(void **state)
{
    struct events_world *v = *state;
    int slow = listen_to(v, DEMO_AUTH, "/v1/events/stream", ""), fd;

    HEAR(v, slow, "id: 0\n\n");
    fd = listen_to(v, DEMO_AUTH, "/v1/events/stream", "");
    HEAR(v, fd, "id: 0\n\n");
    large_ones_happen(v, 1, MANY_LARGE);
    PASS_UNTIL(&v->w.rig, heard(v, fd, "id: 400\ndata: ")); /* the other client has all */
    PASS_UNTIL(&v->w.rig, http_server_counters(v->w.servers[0])->refused[HTTP_SLOW_READER] == 1 &&
                              http_server_counters(v->w.servers[0])->connections == 1);
    close(slow);
    close(fd);
}

static void streams_are_limited_and_disconnected_clients_make_room(void **state)
{
    struct events_world *v = *state;
    int fds[FEED_MAX];

    for (size_t i = 0; i < FEED_MAX; i++) {
        fds[i] = listen_to(v, i < FEED_APP_MAX ? DEMO_AUTH : AUTH("web"), "/v1/events/stream", "");
        HEAR(v, fds[i], "id: 0\n\n");
        if (i + 1 != FEED_APP_MAX)
            continue;
        world_ask(&v->w, "GET", "/v1/events/stream", DEMO_AUTH, NULL);
        assert_int_equal(v->w.status, 409); /* one app leaves room for others */
        assert_non_null(strstr(v->w.body, "50 streams of app demo are open already"));
    }
    world_ask(&v->w, "GET", "/v1/events/stream", AUTH("biz1"), NULL);
    assert_int_equal(v->w.status, 503);
    close(fds[50]);
    TURN_UNTIL(&v->w.rig, http_server_counters(v->w.servers[0])->connections < FEED_MAX);
    fds[50] = listen_to(v, AUTH("biz1"), "/v1/events/stream", "");
    HEAR(v, fds[50], "id: 0\n\n");
    for (size_t i = 0; i < FEED_MAX; i++)
        close(fds[i]);
}

static void on_empty(void *arg)
{
    *(bool *)arg = true;
}

static void a_server_that_drains_ends_its_streams(void **state)
{
    struct events_world *v = *state;
    bool is_empty = false;
    int fd = listen_to(v, DEMO_AUTH, "/v1/events/stream", "");

    HEAR(v, fd, "id: 0\n\n");
    api_drain(v->w.api);
    http_server_drain(v->w.servers[0], on_empty, &is_empty);
    TURN_UNTIL(&v->w.rig, world_take(&v->w, fd));
    close(fd);
    TURN_UNTIL(&v->w.rig, is_empty);
    happen(v, 0, "late", "web");
    settle(v, 1);
    world_admin(&v->w, "GET", "/v1/events/stream", NULL);
    assert_int_equal(v->w.status, 503);
}

static void a_stream_without_permission_is_refused(void **state)
{
    struct events_world *v = *state;

    world_ask(&v->w, "GET", "/v1/events/stream", "", NULL);
    assert_int_equal(v->w.status, 401);
    world_ask(&v->w, "GET", "/v1/events/stream?namespace=gse", AUTH("web"), NULL);
    assert_int_equal(v->w.status, 403);
    world_ask(&v->w, "GET", "/v1/events/stream?host=a2", AUTH("biz1"), NULL);
    assert_int_equal(v->w.status, 404);
    world_ask(&v->w, "GET", "/v1/events/stream?after=x", DEMO_AUTH, NULL);
    assert_int_equal(v->w.status, 400);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(an_event_is_shown_with_all_there_is),
        TEST(pages_have_what_is_asked_for_and_may_be_seen),
        TEST(few_among_many_are_found),
        TEST(a_page_of_large_events_is_shorter),
        TEST(a_stream_sends_events_that_the_app_may_see),
        TEST(each_reads_it_in_a_language_of_its_own),
        TEST(a_stream_tells_what_was_asked_for),
        TEST(a_stream_goes_on_where_it_ended),
        TEST(nothing_is_told_twice_at_the_seam),
        TEST(what_is_kept_no_more_is_a_gap),
        TEST(a_client_offline_too_long_gets_the_newest_events),
        TEST(a_beat_comes_when_nothing_happens),
        TEST(a_stream_ends_when_its_app_is_changed),
        TEST(a_client_that_reads_gets_all_large_events),
        TEST(a_client_that_does_not_read_is_disconnected),
        TEST(streams_are_limited_and_disconnected_clients_make_room),
        TEST(a_server_that_drains_ends_its_streams),
        TEST(a_stream_without_permission_is_refused),
    };

    return cmocka_run_group_tests_name("api/v1_events", tests, NULL, NULL);
}
