/* SPDX-License-Identifier: MIT */
#include "server/registry/groups.h"

#include "store/store_groups.h"
#include "tests/unit/server/task_world.h"

struct group_world {
    struct world w; /* first */
    struct groups *groups;
    size_t n_sent;
    char agent[16];
    struct message_group last; /* of what was sent; its id is in `id` */
    char id[16];
    int n_set, n_failed;
};

static void on_send(void *arg, const char *agent, int64_t epoch, unsigned type,
                    const struct shape *s, const void *message)
{
    struct group_world *g = arg;

    (void)s;
    assert_int_equal(type, MESSAGE_GROUP);
    assert_int_equal(epoch, 7);
    g->n_sent++;
    g->last = *(const struct message_group *)message;
    snprintf(g->agent, sizeof(g->agent), "%s", agent);
    snprintf(g->id, sizeof(g->id), "%s", g->last.group.id);
}

static void open_groups(struct group_world *g)
{
    struct err err;

    g->groups = groups_new(g->w.loop, NULL, g->w.rig.store, g->w.fleet, on_send, g);
    if (groups_load(g->groups, &err))
        fail_msg("%s", err.text);
}

static int setup(void **state)
{
    struct group_world *g = xalloc(sizeof(*g));

    store_rig_place(&g->w.rig);
    clock_fake_init(&g->w.clock, 1000, START_WALL_MS * INT64_C(1000));
    world_open(&g->w);
    world_add_host(&g->w, "agent-a", "10.0.0.1");
    world_add_host(&g->w, "agent-b", "10.0.0.2");
    open_groups(g);
    *state = g;
    return 0;
}

static int teardown(void **state)
{
    struct group_world *g = *state;

    groups_free(g->groups);
    world_close(&g->w);
    store_rig_remove(&g->w.rig);
    free(g);
    return 0;
}

static void restart(struct group_world *g)
{
    groups_free(g->groups);
    world_restart(&g->w);
    open_groups(g);
}

static void on_set(void *arg, const struct err *failure)
{
    struct group_world *g = arg;

    if (failure)
        g->n_failed++;
    else
        g->n_set++;
}

static void set(struct group_world *g, const char *id, double cpu)
{
    struct proc_group group = { id, { cpu, 12.5, WEIGHT_USAGE, WEIGHT_SHARE } };
    struct groups_agent agents[] = { { "agent-a" }, { "agent-b" } };

    groups_set(g->groups, &(struct groups_ask){ "gse", { &group, 1 }, { agents, 2 } }, on_set, g);
    world_settle(&g->w);
}

static void connect_agent(struct group_world *g, const char *agent)
{
    fleet_set_session(g->w.fleet, agent, 7, g->w.clock.wall);
    groups_on_session(g->groups, agent);
    world_settle(&g->w);
}

static struct list ask(struct group_world *g, const char *space)
{
    return groups_of(g->groups, "agent-a", space, &g->w.rig.arena);
}

static void what_was_set_is_known_and_outlives_a_restart(void **state)
{
    struct group_world *g = *state;

    set(g, "gse", 30);
    set(g, "other", 10);
    assert_int_equal(g->n_set, 2);
    set(g, "gse", 40.25);
    for (int i = 0; i < 2; i++) {
        struct list found = ask(g, "gse");

        assert_int_equal(found.n, 2);
        assert_string_equal(ROW(proc_group, found, 0)->id, "gse");
        assert_true(ROW(proc_group, found, 0)->resource.cpu_percent == 40.25);
        assert_true(ROW(proc_group, found, 0)->resource.mem_percent == 12.5);
        assert_int_equal(ROW(proc_group, found, 0)->resource.mem_weight, WEIGHT_SHARE);
        assert_string_equal(ROW(proc_group, found, 1)->id, "other");
        assert_int_equal(ask(g, "other").n, 0); /* it was set under another name */
        assert_int_equal(groups_of(g->groups, "unknown", "gse", &g->w.rig.arena).n, 0);
        restart(g);
    }
}

static void an_agent_is_told_until_it_has_it(void **state)
{
    struct group_world *g = *state;

    connect_agent(g, "agent-a");
    assert_int_equal(g->n_sent, 0);
    set(g, "gse", 30);
    assert_int_equal(g->n_sent, 1); /* agent-b is away */
    assert_string_equal(g->agent, "agent-a");
    assert_string_equal(g->id, "gse");
    assert_true(g->last.group.resource.cpu_percent == 30);
    world_pass(&g->w, 5000);
    assert_int_equal(g->n_sent, 2);
    groups_on_taken(g->groups, "agent-a", &(struct message_group_ref){ g->last.id + 100 });
    groups_on_taken(g->groups, "unknown", &(struct message_group_ref){ g->last.id });
    world_pass(&g->w, 5000);
    assert_int_equal(g->n_sent, 3);
    groups_on_taken(g->groups, "agent-a", &(struct message_group_ref){ g->last.id });
    world_pass(&g->w, 60 * 1000);
    connect_agent(g, "agent-a");
    assert_int_equal(g->n_sent, 3);
}

static void an_offline_agent_gets_its_groups_with_its_next_session(void **state)
{
    struct group_world *g = *state;
    int64_t first;

    set(g, "gse", 30);
    assert_int_equal(g->n_sent, 0);
    restart(g);
    connect_agent(g, "agent-b");
    assert_int_equal(g->n_sent, 1);
    assert_string_equal(g->agent, "agent-b");
    first = g->last.id;
    groups_on_taken(g->groups, "agent-b", &(struct message_group_ref){ first });
    world_settle(&g->w);
    restart(g);
    connect_agent(g, "agent-b");
    assert_int_equal(g->n_sent, 1);
    set(g, "gse", 20); /* another value is another number, of before a restart or not */
    assert_int_equal(g->n_sent, 2);
    assert_true(g->last.id > first);
    groups_on_taken(g->groups, "agent-b", &(struct message_group_ref){ first });
    world_pass(&g->w, 5000);
    assert_int_equal(g->n_sent, 3);
}

static void a_store_that_is_full_is_told(void **state)
{
    struct group_world *g = *state;
    struct proc_group group = { "gse", { 1, 1, 0, 0 } };
    struct groups_agent agent = { "agent-a" };
    const struct groups_ask full = { "gse", { &group, 1 }, { &agent, 1 } };

    groups_free(g->groups);
    world_close(&g->w);
    g->w.rig.options.calls_max = 1;
    world_open(&g->w);
    open_groups(g);
    groups_set(g->groups, &full, on_set, g);
    groups_set(g->groups, &full, on_set, g);
    assert_int_equal(g->n_failed, 1);
    world_settle(&g->w);
    assert_int_equal(g->n_set, 1);
    assert_int_equal(ask(g, "gse").n, 1);
}

static void a_host_that_is_removed_takes_them_along(void **state)
{
    struct group_world *g = *state;
    const struct {
        const char *agent_id;
    } gone = { "agent-a" };
    struct list rows;

    connect_agent(g, "agent-a");
    set(g, "gse", 30);
    store_rig_do(&g->w.rig, &store_host_del, &gone, &rows);
    fleet_del_host(g->w.fleet, "agent-a");
    groups_forget(g->groups, "agent-a");
    world_pass(&g->w, 60 * 1000);
    assert_int_equal(g->n_sent, 1);
    set(g, "gse", 20);                            /* it was asked for before the fleet knew */
    world_add_host(&g->w, "agent-a", "10.0.0.1"); /* and joins again, as another host */
    for (int i = 0; i < 2; i++) {
        connect_agent(g, "agent-a");
        assert_int_equal(g->n_sent, 1);
        assert_int_equal(ask(g, "gse").n, 0);
        restart(g);
    }
}

static void a_host_has_not_more_than_it_may(void **state)
{
    static char ids[GROUPS_HOST_MAX + 1][8];
    struct proc_group groups[GROUPS_HOST_MAX + 1] = { 0 };
    struct list all = { groups, GROUPS_HOST_MAX + 1 }, most = { groups, GROUPS_HOST_MAX };
    struct list last = { &groups[GROUPS_HOST_MAX], 1 };
    struct groups_agent agent = { "agent-a" };
    struct group_world *g = *state;

    for (size_t i = 0; i < all.n; i++) {
        snprintf(ids[i], sizeof(ids[i]), "g%zu", i);
        groups[i].id = ids[i];
    }
    assert_false(groups_fit(g->groups, "agent-a", &all));
    assert_true(groups_fit(g->groups, "agent-a", &most));
    groups_set(g->groups, &(struct groups_ask){ "gse", most, { &agent, 1 } }, on_set, g);
    world_settle(&g->w);
    assert_int_equal(g->n_set, 1);
    assert_true(groups_fit(g->groups, "agent-a", &most)); /* they are there already */
    assert_false(groups_fit(g->groups, "agent-a", &last));
    assert_true(groups_fit(g->groups, "agent-b", &last));
}

#define GROUP_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        GROUP_TEST(what_was_set_is_known_and_outlives_a_restart),
        GROUP_TEST(an_agent_is_told_until_it_has_it),
        GROUP_TEST(an_offline_agent_gets_its_groups_with_its_next_session),
        GROUP_TEST(a_store_that_is_full_is_told),
        GROUP_TEST(a_host_that_is_removed_takes_them_along),
        GROUP_TEST(a_host_has_not_more_than_it_may),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
