/* SPDX-License-Identifier: MIT */
/* A whole agent whose groups of processes have limits: real ones, with all their children. */
#include "agent/shell/agent_sample.h"

#include "agent/confine/cgroup.h"
#include "link/group.h"
#include "tests/lib/folder.h"
#include "tests/lib/whole_agent.h"

#define EXCEED "process_group_resource_limit_exceed"

static struct {
    int64_t taken;
    int events;
    char victim[64], text[512], failure[512];
} heard;

static void on_send(void *arg, unsigned type, const struct shape *s, const void *message)
{
    const struct message_event *e = message;
    const struct message_group_ref *taken = message;
    const struct message_result *r = message;

    (void)arg;
    (void)s;
    if (type == MESSAGE_GROUP_TAKEN)
        heard.taken = taken->id;
    if (type == MESSAGE_RESULT && r->code)
        readable(heard.failure, sizeof(heard.failure), r->text, LANG_EN);
    if (type != MESSAGE_EVENT || strcmp(e->name, EXCEED) != 0)
        return;
    heard.events++;
    snprintf(heard.victim, sizeof(heard.victim), "%s", e->proc);
    readable(heard.text, sizeof(heard.text), e->text, LANG_EN);
}

/* As often as can be, and without a grace. */
static void start_with(enum cgroup_use cgroups)
{
    const struct agent_options o = { .dir = whole.data,
                                     .output_max_bytes = 1 << 20,
                                     .limit_interval_ms = 300,
                                     .cgroups = cgroups,
                                     .send = on_send };

    whole_start(&o);
}

static void start_agent(void)
{
    start_with(CGROUPS_OFF);
}

static int set_up(void **state)
{
    (void)state;
    memset(&heard, 0, sizeof(heard));
    whole_set_up();
    start_agent();
    return 0;
}

static void set_group(int64_t id, double cpu, double mem)
{
    const struct message_group m = { id, { "space", { cpu, mem, 0, 0 } } };

    agent_on_message(whole.agent, MESSAGE_GROUP, &m);
    TURN_UNTIL(heard.taken == id);
}

static bool file_has(const char *text)
{
    char *file = folder_text(world_text("%s/procgroupinfo.json", whole.data));
    bool has = strstr(file, text) != NULL;

    free(file);
    return has;
}

static void groups_are_written_down_and_outlive_the_agent(void **state)
{
    static const char group[] =
        "{\"process_group\":[{\"id\":\"space\",\"resource\":{\"cpu_pool_limit\":40.5,"
        "\"mem_pool_limit\":0,\"cpu_pool_weight\":0,\"mem_pool_weight\":0}}]}\n";

    (void)state;
    set_group(1, 40.5, 0);
    TURN_UNTIL(file_has(group));
    whole_stop();
    folder_put(world_text("%s/procgroupinfo.json", whole.data), 0644, "lost", 4);
    start_agent();
    TURN_UNTIL(file_has(group)); /* the journal is the truth, the file a copy */
    set_group(2, 0, 0);
    TURN_UNTIL(file_has("{\"process_group\":[]}\n"));
}

static void the_one_that_burns_most_is_stopped(void **state)
{
    const struct proc_spec calm = whole_spec("calm", "./victim");
    const struct proc_spec hot = whole_spec("hot", "./victim --children 1 --burn");

    (void)state;
    set_group(1, 2, 0);
    whole_command(PROC_OP_START, "calm", &calm);
    whole_command(PROC_OP_START, "hot", &hot);
    TURN_UNTIL(heard.events > 0 || *heard.failure);
    assert_string_equal(heard.failure, ""); /* of a start */
    assert_string_equal(heard.victim, "hot");
    assert_non_null(strstr(heard.text, "hot is stopped: its group uses cpu "));
    assert_non_null(
        strstr(heard.text, " % of the machine, the group's limit is 2 %, and of that it uses "));
}

/* Where this host has any, and else without. */
static void members_of_a_cgroup_count(void **state)
{
    whole_stop();
    start_with(CGROUPS_ALL);
    the_one_that_burns_most_is_stopped(state);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, whole_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(groups_are_written_down_and_outlive_the_agent),
        TEST(the_one_that_burns_most_is_stopped),
        TEST(members_of_a_cgroup_count),
    };

    return cmocka_run_group_tests_name("agent_sample", tests, NULL, NULL);
}
