/* SPDX-License-Identifier: MIT */
/* What apps with limits (businesses, business sets, namespaces) see of a real fleet, page by page:
 * api/pipeline/hosts.c, and the lists that use it. */
#include "api/pipeline/hosts.h"
#include "tests/unit/api/fleet_world.h"

#define SYNC "/api/c/compapi/v2/gse/sync_proc_status"

static void send_nothing(void *arg, const char *agent, int64_t epoch, unsigned type,
                         const struct shape *s, const void *message)
{
    (void)arg, (void)agent, (void)epoch, (void)type, (void)s, (void)message;
    fail(); /* must not be called */
}

static const struct tasks_effects effects = { send_nothing };

/* Of fleet_world.h: a1, a3 and a4 are in business 1, a2 is in 2. */
static int setup(void **state)
{
    static const int64_t both[] = { 1, 2, 77 };
    struct fleet_world *f;

    fleet_world_setup(state);
    f = *state;
    world_put_app(&f->w, "one", "{\"businesses\":[1]}");
    world_put_app(&f->w, "two", "{\"businesses\":[2,2]}");
    world_put_app(&f->w, "set", "{\"business_sets\":[8000001],\"businesses\":[2]}");
    world_put_app(&f->w, "gone", "{\"business_sets\":[8000009]}");
    world_put_app(&f->w, "web", "{\"namespaces\":[\"web\",\"none\",\"web\"]}");
    world_put_app(&f->w, "both", "{\"namespaces\":[\"web\",\"gse\"],\"businesses\":[1]}");
    scopes_put(f->w.scopes, SCOPE_BIZ_SET, &(struct scope){ 8000001, "both", both, 3 });
    f->w.api->parts.tasks = tasks_new(f->w.rig.loop, NULL, f->w.store.store, f->fleet, &effects, f);
    fleet_world_put_proc(f->fleet, "a1", "gse", "p");
    fleet_world_put_proc(f->fleet, "a1", "gse", "q");
    fleet_world_put_proc(f->fleet, "a2", "gse", "p");
    fleet_world_put_proc(f->fleet, "a2", "web", "w");
    fleet_world_put_proc(f->fleet, "a3", "gse", "p");
    fleet_world_put_proc(f->fleet, "a3", "log", "l");
    fleet_world_put_proc(f->fleet, "a3", "web", "w");
    return 0;
}

static int teardown(void **state)
{
    struct fleet_world *f = *state;

    tasks_free(f->w.api->parts.tasks);
    return fleet_world_teardown(state);
}

#define PARTS_TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

enum { APPS = 7 };
static const char *const apps[APPS] = { "demo", "one", "two", "set", "gone", "web", "both" };

static const char *auth(const char *app)
{
    static char text[256];

    snprintf(text, sizeof(text),
             "X-Bkapi-Authorization: {\"bk_app_code\":\"%s\",\"bk_app_secret\":\"" WORLD_SECRET
             "\"}\r\n",
             app);
    return text;
}

static const json_t *get(struct fleet_world *f, const char *app, const char *path)
{
    world_ask(&f->w, "GET", path, auth(app), NULL);
    if (f->w.status != 200)
        fail_msg("%s: %s: %s", app, path, f->w.body);
    json_decref(f->answer);
    f->answer = json_loads(f->w.body, 0, NULL);
    return f->answer;
}

/* ---- lists of /v1, to the end, with this page size */

static void add_line(const char *list, const json_t *item, struct buf *to)
{
    const json_t *process = json_object_get(item, "process");

    buf_printf(to, "%s%s", to->len ? " " : "", text_at(item, "agent_id"));
    if (!strcmp(list, "processes"))
        buf_printf(to, "/%s/%s", text_at(process, "namespace"), text_at(process, "name"));
}

static void read_all(struct fleet_world *f, const char *app, const char *list, const char *filter,
                     int limit, struct buf *to)
{
    char path[1024], next[512] = "";

    buf_truncate(to, 0);
    do {
        const json_t *page, *items;

        snprintf(path, sizeof(path), "/v1/%s?limit=%d%s&after=%s", list, limit, filter, next);
        page = get(f, app, path);
        items = json_object_get(page, list);
        assert_true(json_array_size(items) <= (size_t)limit);
        for (size_t i = 0; i < json_array_size(items); i++)
            add_line(list, json_array_get(items, i), to);
        snprintf(next, sizeof(next), "%s", text_at(page, "next"));
    } while (*next);
}

static void check(struct fleet_world *f, const char *list, const char *filter,
                  const char *const wanted[APPS])
{
    struct buf got = { 0 };

    for (size_t i = 0; i < APPS; i++) {
        for (int limit = 1; limit < 8; limit += 2) {
            read_all(f, apps[i], list, filter, limit, &got);
            if (strcmp(buf_text(&got), wanted[i]) != 0)
                fail_msg("%s of %s%s by %d: \"%s\", not \"%s\"", list, apps[i], filter, limit,
                         buf_text(&got), wanted[i]);
        }
    }
    buf_free(&got);
}

static void hosts_are_those_of_its_businesses(void **state)
{
    check(*state, "hosts", "",
          (const char *const[APPS]){ "a1 a2 a3 a4", "a1 a3 a4", "a2", "a1 a2 a3 a4", "",
                                     "a1 a2 a3 a4", "a1 a3 a4" });
    check(*state, "hosts", "&business=1",
          (const char *const[APPS]){ "a1 a3 a4", "a1 a3 a4", "", "a1 a3 a4", "", "a1 a3 a4",
                                     "a1 a3 a4" });
    check(*state, "hosts", "&state=online",
          (const char *const[APPS]){ "a1 a2", "a1", "a2", "a1 a2", "", "a1 a2", "a1" });
}

static void processes_are_those_of_its_businesses_and_namespaces(void **state)
{
    static const char all[] = "a1/gse/p a1/gse/q a2/gse/p a2/web/w a3/gse/p a3/log/l a3/web/w";

    check(*state, "processes", "",
          (const char *const[APPS]){ all, "a1/gse/p a1/gse/q a3/gse/p a3/log/l a3/web/w",
                                     "a2/gse/p a2/web/w", all, "", "a2/web/w a3/web/w",
                                     "a1/gse/p a1/gse/q a3/gse/p a3/web/w" });
    check(*state, "processes", "&namespace=web",
          (const char *const[APPS]){ "a2/web/w a3/web/w", "a3/web/w", "a2/web/w",
                                     "a2/web/w a3/web/w", "", "a2/web/w a3/web/w", "a3/web/w" });
    check(*state, "processes", "&namespace=log&business=1",
          (const char *const[APPS]){ "a3/log/l", "a3/log/l", "", "a3/log/l", "", "", "" });
    check(*state, "processes", "&name=p&business=2",
          (const char *const[APPS]){ "a2/gse/p", "", "a2/gse/p", "a2/gse/p", "", "", "" });
}

/* ---- numbers */

static void sums_are_of_what_it_sees(void **state)
{
    static const int64_t sums[APPS][5] = {
        { 4, 2, 7, 4, 7 }, { 3, 1, 5, 2, 5 }, { 1, 1, 2, 2, 2 }, { 4, 2, 7, 4, 7 },
        { 0, 0, 0, 0, 0 }, { 4, 2, 2, 1, 2 }, { 3, 1, 4, 2, 4 },
    };
    static const char *const names[] = { "hosts", "online", "processes", "running", "hosted" };
    struct fleet_world *f = *state;

    for (size_t i = 0; i < APPS; i++) {
        const json_t *view = get(f, apps[i], "/v1/status");

        for (size_t k = 0; k < ARRAY_LEN(names); k++) {
            if (int_at(view, names[k]) != sums[i][k])
                fail_msg("%s of %s: %s", names[k], apps[i], f->w.body);
        }
    }
}

/* ---- sync_proc_status */

/* "COUNT: a1/p a1/q", page after page of two. */
static const char *sync_all(struct fleet_world *f, const char *app, struct buf *to)
{
    int64_t count = 0;

    buf_truncate(to, 0);
    for (int64_t start = 0; start == 0 || start < count; start += 2) {
        char body[128];
        const json_t *data, *list;

        snprintf(body, sizeof(body),
                 "{\"meta\":{\"namespace\":\"gse\"},\"page\":{\"start\":%d,\"limit\":2}}",
                 (int)start);
        data = fleet_world_ask(f, "POST", SYNC, auth(app), body);
        list = json_object_get(data, "proc_infos");
        count = int_at(data, "count");
        if (!start)
            buf_printf(to, "%d:", (int)count);
        for (size_t i = 0; i < json_array_size(list); i++) {
            const json_t *info = json_array_get(list, i);

            buf_printf(to, " %s/%s", text_at(info, "bk_agent_id"),
                       text_at(json_object_get(info, "meta"), "name"));
        }
    }
    return buf_text(to);
}

static void pages_go_business_by_business(void **state)
{
    struct fleet_world *f = *state;
    const struct host_row moved = { .agent_id = "a1", .ip = "10.0.0.1", .biz_id = 2 };
    struct buf got = { 0 };

    assert_string_equal(sync_all(f, "demo", &got), "4: a1/p a1/q a2/p a3/p");
    assert_string_equal(sync_all(f, "one", &got), "3: a1/p a1/q a3/p");
    assert_string_equal(sync_all(f, "two", &got), "1: a2/p");
    assert_string_equal(sync_all(f, "set", &got), "4: a1/p a1/q a3/p a2/p");
    assert_string_equal(sync_all(f, "gone", &got), "0:");
    assert_string_equal(sync_all(f, "both", &got), "3: a1/p a1/q a3/p");
    fleet_put_host(f->fleet, &moved);
    assert_string_equal(sync_all(f, "demo", &got), "4: a1/p a1/q a2/p a3/p");
    assert_string_equal(sync_all(f, "one", &got), "1: a3/p");
    assert_string_equal(sync_all(f, "two", &got), "3: a1/p a1/q a2/p");
    assert_string_equal(sync_all(f, "set", &got), "4: a3/p a1/p a1/q a2/p");
    scopes_del(f->w.scopes, SCOPE_BIZ_SET, 8000001);
    assert_string_equal(sync_all(f, "set", &got), "3: a1/p a1/q a2/p");
    buf_free(&got);
}

/* ---- many hosts that do not match */

static void put_many(struct fleet_world *f, const char *agent, size_t n)
{
    struct proc_view *views = xalloc(n * sizeof(*views));
    const struct message_processes m = {
        .is_snapshot = true, .is_last = true, .list = { views, n }, .digest = "d"
    };
    char(*names)[16] = xalloc(n * sizeof(*names));
    struct err err;

    for (size_t i = 0; i < n; i++) {
        snprintf(names[i], sizeof(names[i]), "x%zu", i);
        shape_defaults(&proc_view_shape, &views[i]);
        views[i].space = "many";
        views[i].name = i == n - 1 ? "last" : names[i];
    }
    assert_int_equal(fleet_on_processes(f->fleet, agent, &m, &err), 0);
    free(views);
    free(names);
}

/* A page ends after examining enough hosts, and the next continues there. */
static void no_page_looks_at_everything(void **state)
{
    struct fleet_world *f = *state;
    struct buf got = { 0 };
    const json_t *page;

    for (int i = 1; i <= 4; i++) {
        char agent[4] = { 'a', (char)('0' + i), '\0' };

        put_many(f, agent, 7500);
    }
    page = get(f, "demo", "/v1/processes?name=last");
    assert_int_equal(json_array_size(json_object_get(page, "processes")), 3);
    assert_true(*text_at(page, "next") != '\0');
    read_all(f, "demo", "processes", "&name=last", 100, &got);
    assert_string_equal(buf_text(&got), "a1/many/last a2/many/last a3/many/last a4/many/last");
    read_all(f, "demo", "processes", "&name=last", 1, &got);
    assert_string_equal(buf_text(&got), "a1/many/last a2/many/last a3/many/last a4/many/last");
    page = get(f, "demo", "/v1/processes?text=nowhere");
    assert_int_equal(json_array_size(json_object_get(page, "processes")), 0);
    assert_true(*text_at(page, "next") != '\0');
    read_all(f, "demo", "processes", "&text=nowhere", 100, &got);
    assert_string_equal(buf_text(&got), "");
    read_all(f, "demo", "processes", "&text=A3&name=last", 100, &got); /* matches its host */
    assert_string_equal(buf_text(&got), "a3/many/last");
    read_all(f, "demo", "processes", "&host=a2&name=last", 1, &got);
    assert_string_equal(buf_text(&got), "a2/many/last");
    page = get(f, "demo", "/v1/hosts"); /* their processes are counted for it */
    assert_int_equal(json_array_size(json_object_get(page, "hosts")), 3);
    assert_true(*text_at(page, "next") != '\0');
    read_all(f, "demo", "hosts", "", 100, &got);
    assert_string_equal(buf_text(&got), "a1 a2 a3 a4");
    buf_free(&got);
}

static void nor_does_an_explanation(void **state)
{
    struct fleet_world *f = *state;
    const json_t *page;
    char path[128];

    for (int i = 0; i <= HOSTS_LOOKS_MAX; i++) {
        char agent[16], ip[32];

        snprintf(agent, sizeof(agent), "b%05d", i);
        snprintf(ip, sizeof(ip), "10.9.%d.%d", i / 250, i % 250);
        fleet_put_host(f->fleet, &(struct host_row){ .agent_id = agent, .ip = ip });
        fleet_world_put_proc(f->fleet, agent, "wide", i < HOSTS_LOOKS_MAX ? "most" : "last");
    }
    page = get(f, "demo", "/v1/explain?namespace=wide&name=last");
    assert_int_equal(json_array_size(json_object_get(page, "processes")), 0);
    snprintf(path, sizeof(path), "/v1/explain?namespace=wide&name=last&after=%s",
             text_at(page, "next"));
    page = get(f, "demo", path);
    assert_int_equal(json_array_size(json_object_get(page, "processes")), 1);
    assert_string_equal(text_at(page, "next"), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PARTS_TEST(hosts_are_those_of_its_businesses),
        PARTS_TEST(processes_are_those_of_its_businesses_and_namespaces),
        PARTS_TEST(sums_are_of_what_it_sees),
        PARTS_TEST(pages_go_business_by_business),
        PARTS_TEST(no_page_looks_at_everything),
        PARTS_TEST(nor_does_an_explanation),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
