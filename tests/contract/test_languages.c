/* SPDX-License-Identifier: MIT */
/* What is said about a process, a task, an event and a change, in the caller's language, by every
 * route that shows it.  world_read_answer() checks that no answer has a message in it. */
#include "api/pipeline/routes.h"
#include "server/events/events.h"
#include "server/fleet/fleet_registry.h"
#include "tests/unit/api/server_world.h"

#define AS_DEMO                                                                                    \
    "X-Bkapi-Authorization: {\"bk_app_code\":\"demo\",\"bk_app_secret\":\"" WORLD_SECRET           \
    "\",\"bk_username\":\"tom\"}\r\n"
#define IN_CHINESE "Blueking-Language: zh-cn\r\n"

static void put_proc(struct server_world *v, const char *name, const char *failed, const char *why)
{
    struct proc_view view;
    const struct message_processes m = { .list = { &view, 1 }, .digest = "d" };
    struct err err;

    shape_defaults(&proc_view_shape, &view);
    view.space = "gse";
    view.name = name;
    view.why = why;
    view.status = PROC_STOPPED;
    view.wanted = PROC_RUNNING;
    view.cause.doing = -1;
    view.cause.failed_op = PROC_OP_START;
    view.cause.failed_code = CODE_COMMAND;
    view.cause.failed_s = view.cause.since_s = WALL_MS / 1000 - 60;
    view.cause.failed_text = failed;
    view.cause.limit_s = view.cause.since_s;
    view.cause.limit_text = failed;
    assert_int_equal(fleet_on_processes(v->fleet, "a1", &m, &err), 0);
}

/* A registration that the agent refused. */
static void put_trouble(struct server_world *v)
{
    const struct fleet_proc *p;

    server_world_put_proc(v, "a1", "r");
    world_ask(&v->w, "POST", "/api/c/compapi/v2/gse/unregister_proc_info/", AS_DEMO,
              "{\"meta\":{\"namespace\":\"gse\",\"name\":\"r\"},\"hosts\":[{\"ip\":\"10.0.0.1\","
              "\"bk_cloud_id\":0,\"bk_supplier_id\":0}]}");
    p = fleet_proc(fleet_find(v->fleet, "a1"), "gse", "r");
    if (!p || !p->needs_push)
        fail_msg("%s", v->w.body);
    fleet_settle(v->fleet, "a1", "gse", "r", p->spec_seq,
                 MSG("the host has as many processes as it may have"));
}

static void put_event(struct server_world *v, const char *text)
{
    events_tell(v->w.events, fleet_find(v->fleet, "a1"), EVENT_LOST, text);
}

/* A task whose agent answers with this text. */
static void put_task(struct server_world *v, const char *name, const char *text, char to[64])
{
    char body[256];
    struct proc_view view;
    size_t before = v->n_sent;

    snprintf(body, sizeof(body),
             "{\"operation\":\"query\",\"namespace\":\"gse\",\"name\":\"%s\",\"hosts\":[\"a1\"]}",
             name);
    server_world_operate(v, body, to);
    TURN_UNTIL(&v->w.rig, v->n_sent > before);
    shape_defaults(&proc_view_shape, &view);
    view.space = "gse";
    view.name = name;
    view.cause.failed_text = text;
    server_world_play(v, CODE_COMMAND, text, view);
    TURN_UNTIL(&v->w.rig, store_counters(v->w.store.store)->on_their_way == 0);
}

struct said {
    struct server_world v; /* first */
    char task[64], old[64];
};

static const char failed[] = MSG("no such host, or it has not joined"),
                  plain[] = "an older agent said: 7 of 9";

static int setup(void **state)
{
    static const struct events_settings none = { .file = "", .node = "main" };
    struct said *s = xalloc(sizeof(*s));
    struct server_world *v = &s->v;
    struct err err;

    world_init(&v->w);
    server_world_open(v);
    assert_int_equal(events_new(v->w.rig.loop, NULL, v->w.store.store, &none, &v->w.events, &err),
                     0);
    assert_int_equal(events_load(v->w.events, v->fleet, &err), 0);
    server_world_put_host(v, "a1", 0, "10.0.0.1", 1);
    server_world_put_host(v, "a2", 0, "10.0.0.2", 1);
    server_world_connect(v, "a1");
    world_open(&v->w, v->fleet, v->tasks);
    put_proc(v, "p", failed, "");
    put_proc(v, "q", plain, "");
    put_task(v, "p", failed, s->task);
    put_task(v, "q", plain, s->old);
    put_trouble(v);
    put_event(v, failed);
    put_event(v, plain);
    TURN_UNTIL(&v->w.rig, store_counters(v->w.store.store)->on_their_way == 0);
    *state = s;
    return 0;
}

static int teardown(void **state)
{
    struct server_world *v = *state;
    struct events *events = v->w.events;

    world_close_doors(&v->w);
    api_stop(v->w.api);
    tasks_free(v->tasks);
    events_stop(events);
    fleet_free(v->fleet);
    events_free(events);
    world_done(&v->w);
    json_decref(v->answer);
    arena_free(&v->arena);
    free(*state);
    return 0;
}

#define NOT_JOINED    "no such host, or it has not joined"
#define NOT_JOINED_ZH "没有这台主机，或其 Agent 尚未加入"
#define TASK_BODY     "{\"task_id\":\"TASK\"}"
#define STATUS_BODY                                                                                \
    "{\"meta\":{\"namespace\":\"gse\",\"name\":\"r\"},\"hosts\":[{\"ip\":\"10.0.0.1\","            \
    "\"bk_cloud_id\":0,\"bk_supplier_id\":0}]}"
#define AWAY_BODY                                                                                  \
    "{\"meta\":{\"namespace\":\"gse\",\"name\":\"r\"},\"hosts\":[{\"ip\":\"10.9.9.9\","            \
    "\"bk_cloud_id\":0,\"bk_supplier_id\":0}],\"spec\":" SERVER_WORLD_SPEC "}"

/* clang-format off */
static const struct {
    const char *method, *path, *body, *words[LANGS];
} shown[] = {
    { "GET", "/v1/processes?namespace=gse&name=p", NULL, { "\"failed_text\":\"" NOT_JOINED "\"", "\"failed_text\":\"" NOT_JOINED_ZH "\"" } },
    { "GET", "/v1/processes?namespace=gse&name=p", NULL, { "\"limit_text\":\"" NOT_JOINED "\"", "\"limit_text\":\"" NOT_JOINED_ZH "\"" } },
    { "GET", "/v1/processes?namespace=gse&name=q", NULL, { "an older agent said: 7 of 9", "an older agent said: 7 of 9" } },
    { "GET", "/v1/explain?namespace=gse&name=p", NULL, { "\"failed_text\":\"" NOT_JOINED "\"", "\"failed_text\":\"" NOT_JOINED_ZH "\"" } },
    { "GET", "/v1/explain?namespace=gse&name=p", NULL, { "\"text\":\"" NOT_JOINED "\"", "\"text\":\"" NOT_JOINED_ZH "\"" } },
    { "GET", "/v1/explain?namespace=gse&name=q", NULL, { "\"text\":\"an older agent said: 7 of 9\"", "\"text\":\"an older agent said: 7 of 9\"" } },
    { "GET", "/v1/tasks/TASK", NULL, { "\"text\":\"" NOT_JOINED "\"", "\"text\":\"" NOT_JOINED_ZH "\"" } },
    { "GET", "/v1/tasks/TASK", NULL, { "\"failed_text\":\"" NOT_JOINED "\"", "\"failed_text\":\"" NOT_JOINED_ZH "\"" } },
    { "GET", "/v1/tasks/OLD", NULL, { "\"text\":\"an older agent said: 7 of 9\"", "\"text\":\"an older agent said: 7 of 9\"" } },
    { "POST", "/api/c/compapi/v2/gse/get_proc_operate_result_v2/", TASK_BODY, { "\"error_msg\":\"" NOT_JOINED "\"", "\"error_msg\":\"" NOT_JOINED_ZH "\"" } },
    { "GET", "/v1/events", NULL, { "\"text\":\"" NOT_JOINED "\"", "\"text\":\"" NOT_JOINED_ZH "\"" } },
    { "GET", "/v1/events", NULL, { "an older agent said: 7 of 9", "an older agent said: 7 of 9" } },
    { "POST", "/api/c/compapi/v2/gse/get_proc_status_v2/", STATUS_BODY, { "the host has as many processes as it may have", "主机上的进程数已达上限" } },
    { "POST", "/api/c/compapi/v2/gse/update_proc_info/", AWAY_BODY, { NOT_JOINED, NOT_JOINED_ZH } },
    { "POST", "/v1/operations?dry_run=1", "{\"operation\":\"start\",\"namespace\":\"gse\",\"name\":\"x\",\"hosts\":[\"a1\"],\"dry_run\":true}", { "the host does not know how to run this process: send a spec", "主机上没有该进程的运行信息：请提供 spec" } },
    { "GET", "/v1/tasks/none", NULL, { "task none: no such task, or it has expired", "任务 none 不存在或已过期" } },
    { "POST", "/v1/tasks/cancel", "{\"task_id\":\"none\"}", { "task none: no such task, or it has expired", "任务 none 不存在或已过期" } },
    { "GET", "/v1/audit", NULL, { "\"message\":\"task none: no such task, or it has expired\"", "\"message\":\"任务 none 不存在或已过期\"" } },
};
/* clang-format on */

/* With the ids of the tasks. */
static const char *filled(struct said *s, const char *text, char to[512])
{
    const char *at = text ? strstr(text, "TASK") : NULL;

    if (at)
        snprintf(to, 512, "%.*s%s%s", (int)(at - text), text, s->task, at + 4);
    else if (text && (at = strstr(text, "OLD")))
        snprintf(to, 512, "%.*s%s%s", (int)(at - text), text, s->old, at + 3);
    else
        return text;
    return to;
}

static void texts_are_in_the_callers_language(void **state)
{
    struct said *s = *state;

    for (size_t i = 0; i < ARRAY_LEN(shown); i++) {
        for (int lang = 0; lang < LANGS; lang++) {
            char path[512], body[512], headers[512];
            bool is_admin = !strcmp(shown[i].path, "/v1/audit");

            snprintf(headers, sizeof(headers), "%s%s", is_admin ? "" : AS_DEMO,
                     lang == LANG_ZH ? IN_CHINESE : "");
            world_ask_door(&s->v.w, is_admin, shown[i].method, filled(s, shown[i].path, path),
                           headers, filled(s, shown[i].body, body));
            TURN_UNTIL(&s->v.w.rig, store_counters(s->v.w.store.store)->on_their_way == 0);
            if (!strstr(s->v.w.body, shown[i].words[lang]))
                fail_msg("%zu: %s: no %s in %s", i, shown[i].path, shown[i].words[lang],
                         s->v.w.body);
            if (strstr(s->v.w.body, "_msg\"") && !strstr(s->v.w.body, "\"error_msg\""))
                fail_msg("%zu: %s: %s", i, shown[i].path, s->v.w.body);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(texts_are_in_the_callers_language, setup, teardown),
    };

    return cmocka_run_group_tests_name("languages", tests, NULL, NULL);
}
