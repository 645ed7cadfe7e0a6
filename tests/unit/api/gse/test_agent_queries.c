/* SPDX-License-Identifier: MIT */
/* Promises of the queries about agents: api/gse/agent_queries.c, over a real fleet. */
#include "tests/unit/api/fleet_world.h"

#define ESB        "/api/c/compapi/v2/gse/"
#define CLUSTER    "/api/bk-gse/prod/api/v2/cluster/"
#define JOB        "/api/c/compapi/v2/job/"
#define JOB_SYSTEM "/api/bk-job/prod/api/v3/system/"
#define AT(ip)     "{\"ip\":\"" ip "\",\"bk_cloud_id\":0}"
#define HOST_A3    "{\"ip\":\"10.0.0.3\",\"bk_cloud_id\":2}"

/* ---- by address */

static void get_agent_status_maps_hosts_to_alive(void **state)
{
    static const struct {
        const char *key, *ip;
        int64_t cloud_id, alive;
    } hosts[] = {
        { "0:10.0.0.2", "10.0.0.2", 0, 1 },
        { "2:10.0.0.3", "10.0.0.3", 2, 0 },
        { "0:10.0.0.4", "10.0.0.4", 0, 0 },
        { "0:10.9.9.9", "10.9.9.9", 0, 0 }, /* unknown */
    };
    struct fleet_world *f = *state;
    const json_t *data = fleet_world_post(
        f, ESB "get_agent_status/",
        "{\"bk_supplier_account\":\"0\",\"hosts\":[" AT("10.0.0.2") "," HOST_A3 "," AT(
            "10.0.0.4") "," AT("10.9.9.9") "," AT("10.0.0.2") "]}");

    assert_int_equal(json_object_size(data), ARRAY_LEN(hosts));
    for (size_t i = 0; i < ARRAY_LEN(hosts); i++) {
        const json_t *entry = json_object_get(data, hosts[i].key);

        assert_int_equal(json_object_size(entry), 3);
        assert_string_equal(text_at(entry, "ip"), hosts[i].ip);
        assert_int_equal(int_at(entry, "bk_cloud_id"), hosts[i].cloud_id);
        assert_int_equal(int_at(entry, "bk_agent_alive"), hosts[i].alive);
    }
}

static void a_moment_without_a_session_is_no_death(void **state)
{
    struct fleet_world *f = *state;

    for (int64_t gone_s = 9; gone_s <= 10; gone_s++) {
        const json_t *data;

        fleet_set_session(f->fleet, "a1", 0, (WALL_MS - gone_s) * INT64_C(1000));
        data = fleet_world_post(f, ESB "get_agent_status/", "{\"hosts\":[" AT("10.0.0.1") "]}");
        assert_int_equal(int_at(json_object_get(data, "0:10.0.0.1"), "bk_agent_alive"),
                         gone_s < 10);
    }
}

static void info_is_of_those_that_have_an_agent(void **state)
{
    struct fleet_world *f = *state;
    const json_t *data = fleet_world_post(
        f, ESB "get_agent_info", "{\"hosts\":[" HOST_A3 "," AT("10.9.9.9") "," HOST_A3 "]}");
    const json_t *entry = json_object_get(data, "2:10.0.0.3");

    assert_int_equal(json_object_size(data), 1);
    assert_int_equal(json_object_size(entry), 5);
    assert_string_equal(text_at(entry, "ip"), "10.0.0.3");
    assert_string_equal(text_at(entry, "version"), "1.4");
    assert_int_equal(int_at(entry, "bk_cloud_id"), 2);
    assert_string_equal(text_at(entry, "parent_ip"), "");
    assert_int_equal(int_at(entry, "parent_port"), 0);
}

#define LONG         "0123456789012345678901234567890123456789012345678901234567890123456789"
#define NO_ADDRESSES AT("") "," AT(LONG) "," AT("10.0.0.1\\n") "," AT("\\u0001")

static void what_can_be_no_address_is_an_entry_of_its_own(void **state)
{
    static const char *const keys[] = { "0:", ("0:" LONG), "0:10.0.0.1\n", "0:\x01" };
    struct fleet_world *f = *state;
    const json_t *data = fleet_world_post(f, ESB "get_agent_status",
                                          "{\"hosts\":[" NO_ADDRESSES "," AT("10.0.0.1") "]}");

    assert_int_equal(json_object_size(data), ARRAY_LEN(keys) + 1);
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        assert_int_equal(int_at(json_object_get(data, keys[i]), "bk_agent_alive"), 0);
    assert_int_equal(int_at(json_object_get(data, "0:10.0.0.1"), "bk_agent_alive"), 1);
    data = fleet_world_post(f, ESB "get_agent_info",
                            "{\"hosts\":[" NO_ADDRESSES "," AT("10.0.0.1") "]}");
    assert_int_equal(json_object_size(data), 1);
    assert_string_equal(text_at(json_object_get(data, "0:10.0.0.1"), "ip"), "10.0.0.1");
}

/* ESB's forms have one code for all errors, and their own texts. */
static void forms_of_esb_are_refused_as_esb_does(void **state)
{
#define FORM "\"code\":1306000,\"message\":\"host list [hosts] "
    static const struct {
        const char *body, *said;
    } cases[] = {
        { "{}", FORM "This field is required.\"" },
        { "{\"hosts\":null}", FORM "hosts: must be a list" },
        { "{\"hosts\":[]}", FORM "hosts: " },
        { "{\"hosts\":{}}", FORM "hosts: " },
        { "{\"hosts\":[{\"ip\":\"10.0.0.1\"}]}", FORM "hosts[0].bk_cloud_id: required\"" },
        { "{\"hosts\":[" AT("10.0.0.1") ",{\"bk_cloud_id\":0}]}", FORM "hosts[1].ip: required\"" },
        { "{\"hosts\":[{\"ip\":\"10.0.0.1\",\"bk_cloud_id\":\"x\"}]}",
          FORM "hosts[0].bk_cloud_id: " },
        { "{\"hosts\":", "\"code\":1306000,\"message\":\"Request JSON string is wrong in format" },
    };
    static const char *const names[] = { ESB "get_agent_status", ESB "get_agent_info" };
    struct fleet_world *f = *state;

    for (size_t i = 0; i < ARRAY_LEN(cases) * ARRAY_LEN(names); i++) {
        world_ask(&f->w, "POST", names[i % 2], DEMO_AUTH, cases[i / 2].body);
        if (f->w.status != 200 || !strstr(f->w.body, cases[i / 2].said) ||
            !strstr(f->w.body, "\"data\":null"))
            fail_msg("%s: %s", cases[i / 2].body, f->w.body);
    }
}

/* ---- by agent id */

static void states_are_a_list_of_all_that_were_asked_for(void **state)
{
    static const struct {
        const char *id;
        int64_t cloud_id, status;
        const char *version;
    } agents[] = {
        { "a3", 2, 6, "1.4" }, { "nobody", -1, -2, "" },   { "0:10.0.0.1", 0, 2, "1.4" },
        { "a1", 0, 2, "1.4" }, { "7:1.2.3.4", 7, -2, "" }, { "a4", 0, 6, "1.4" },
    };
    struct fleet_world *f = *state;
    const json_t *data =
        fleet_world_post(f, CLUSTER "list_agent_state",
                         "{\"agent_id_list\":[\"a3\",\"nobody\",\"0:10.0.0.1\",\"a1\",\"a3\","
                         "\"7:1.2.3.4\",\"a4\"],\"no_request\":true}");

    assert_true(json_is_array(data));
    assert_int_equal(json_array_size(data), ARRAY_LEN(agents));
    for (size_t i = 0; i < ARRAY_LEN(agents); i++) {
        const json_t *entry = json_array_get(data, i);

        assert_int_equal(json_object_size(entry), 6);
        assert_string_equal(text_at(entry, "bk_agent_id"), agents[i].id);
        assert_int_equal(int_at(entry, "bk_cloud_id"), agents[i].cloud_id);
        assert_int_equal(int_at(entry, "status_code"), agents[i].status);
        assert_int_equal(int_at(entry, "run_mode"), 1);
        assert_string_equal(text_at(entry, "version"), agents[i].version);
        assert_true(int_at(entry, "report_time") >= 0);
    }
    assert_int_equal(int_at(json_array_get(data, 0), "report_time"), HOUR_AGO_MS);
    assert_int_equal(int_at(json_array_get(data, 2), "report_time"), WALL_MS * INT64_C(1000));
}

/* `n` distinct ids, each `times` times, interleaved. */
static void put_ids(struct buf *body, int n, int times)
{
    buf_puts(body, "{\"agent_id_list\":[");
    for (int i = 0; i < n * times; i++)
        buf_printf(body, "%s\"id-%d\"", i ? "," : "", i % n);
    buf_puts(body, "]}");
}

/* None of the ids is known: that is an answer, not a failure.  BSCP sends one id for each process
 * of a business. */
static void fifty_thousand_different_ids_are_answered_each_once(void **state)
{
    enum { MANY = 50000 };
    struct fleet_world *f = *state;
    struct buf body = { 0 };
    const json_t *data;

    put_ids(&body, MANY, 3);
    data = fleet_world_post(f, CLUSTER "list_agent_state/", buf_text(&body));
    assert_int_equal(json_array_size(data), MANY);
    assert_string_equal(text_at(json_array_get(data, MANY - 1), "bk_agent_id"), "id-49999");
    assert_int_equal(int_at(json_array_get(data, MANY - 1), "status_code"), -2);
    buf_truncate(&body, 0);
    put_ids(&body, MANY + 1, 1);
    world_ask(&f->w, "POST", CLUSTER "list_agent_state", DEMO_AUTH, buf_text(&body));
    assert_non_null(strstr(f->w.body,
                           "\"code\":1000811,\"message\":\"Parameters error, agent_id_list: "
                           "50001 different ids, 50000 at most"));
    buf_free(&body);
}

static void what_can_be_no_id_is_an_entry_of_its_own(void **state)
{
    struct fleet_world *f = *state;
    struct buf body = { 0 };
    const json_t *data;
    char large[1001];

    memset(large, 'x', sizeof(large) - 1);
    large[sizeof(large) - 1] = '\0';
    buf_printf(&body, "{\"agent_id_list\":[\"a1\",\"\",\"%s\",\"a\\tb\",\":\",\"\"]}", large);
    data = fleet_world_post(f, CLUSTER "list_agent_state/", buf_text(&body));
    assert_int_equal(json_array_size(data), 5);
    assert_int_equal(int_at(json_array_get(data, 0), "status_code"), 2);
    for (size_t i = 1; i < 5; i++)
        assert_int_equal(int_at(json_array_get(data, i), "status_code"), -2);
    assert_string_equal(text_at(json_array_get(data, 1), "bk_agent_id"), "");
    assert_string_equal(text_at(json_array_get(data, 2), "bk_agent_id"), large);
    buf_free(&body);
}

static const struct {
    const char *name;
    json_type type;
} members[] = {
    { "code", JSON_INTEGER },
    { "message", JSON_STRING },
    { "bk_agent_id", JSON_STRING },
    { "bk_cloud_id", JSON_INTEGER },
    { "bk_host_ip", JSON_STRING },
    { "bk_os_type", JSON_STRING },
    { "bk_cpu_architecture", JSON_STRING },
    { "parent_ip", JSON_STRING },
    { "parent_port", JSON_INTEGER },
    { "report_time", JSON_INTEGER },
    { "version", JSON_STRING },
    { "cpu_num", JSON_INTEGER },
    { "mem_size", JSON_INTEGER },
    { "start_time", JSON_INTEGER },
    { "last_work_time", JSON_INTEGER },
    { "conn_cycle_time", JSON_STRING },
    { "run_mode", JSON_INTEGER },
    { "status_code", JSON_INTEGER },
    { "status", JSON_STRING },
    { "last_status_code", JSON_INTEGER },
    { "last_status", JSON_STRING },
    { "remark", JSON_STRING },
};

static void must_be_whole(const json_t *entry)
{
    static const char *const unsigned_ones[] = { "parent_port", "report_time", "cpu_num",
                                                 "mem_size",    "start_time",  "last_work_time" };

    for (size_t i = 0; i < ARRAY_LEN(members); i++) {
        const json_t *value = json_object_get(entry, members[i].name);

        if (!value || json_typeof(value) != members[i].type)
            fail_msg("%s: missing, or of another type", members[i].name);
    }
    assert_true(json_is_number(json_object_get(entry, "cpu_rate")));
    assert_true(json_is_number(json_object_get(entry, "mem_rate")));
    assert_int_equal(json_object_size(entry), ARRAY_LEN(members) + 2);
    for (size_t i = 0; i < ARRAY_LEN(unsigned_ones); i++)
        assert_true(int_at(entry, unsigned_ones[i]) >= 0);
}

static void infos_say_what_the_agent_said_of_its_host(void **state)
{
    const struct fleet_facts facts = { "linux", "aarch64", 8, INT64_C(1) << 34, WALL_MS - 100 };
    struct fleet_world *f = *state;
    const json_t *data, *entry;

    fleet_set_facts(f->fleet, "a1", &facts);
    data = fleet_world_post(f, CLUSTER "list_agent_info",
                            "{\"agent_id_list\":[\"a1\",\"nobody\",\"a3\",\"a4\"]}");
    assert_int_equal(json_array_size(data), 4);
    for (size_t i = 0; i < 4; i++)
        must_be_whole(json_array_get(data, i));
    entry = json_array_get(data, 0);
    assert_int_equal(int_at(entry, "code"), 0);
    assert_string_equal(text_at(entry, "message"), "OK");
    assert_string_equal(text_at(entry, "bk_host_ip"), "10.0.0.1");
    assert_string_equal(text_at(entry, "bk_os_type"), "linux");
    assert_string_equal(text_at(entry, "bk_cpu_architecture"), "aarch64");
    assert_int_equal(int_at(entry, "cpu_num"), 8);
    assert_int_equal(int_at(entry, "mem_size"), INT64_C(1) << 34);
    assert_int_equal(int_at(entry, "start_time"), WALL_MS - 100);
    assert_int_equal(int_at(entry, "status_code"), 2);
    assert_string_equal(text_at(entry, "status"), "running");
    entry = json_array_get(data, 1);
    assert_int_equal(int_at(entry, "code"), 1011003);
    assert_string_equal(text_at(entry, "bk_agent_id"), "nobody");
    assert_int_equal(int_at(entry, "status_code"), -2);
    entry = json_array_get(data, 2); /* an agent that has not reported facts of its host */
    assert_int_equal(int_at(entry, "code"), 0);
    assert_string_equal(text_at(entry, "bk_os_type"), "");
    assert_int_equal(int_at(entry, "status_code"), 6);
    assert_string_equal(text_at(entry, "status"), "stopped");
    assert_string_equal(text_at(entry, "last_status"), "running");
    entry = json_array_get(data, 3); /* it was never connected */
    assert_string_equal(text_at(entry, "status"), "stopped");
    assert_int_equal(int_at(entry, "last_status_code"), -2);
    assert_string_equal(text_at(entry, "last_status"), "unknown");
}

static void report_time_of_a_silent_agent_is_its_last_message(void **state)
{
    struct fleet_world *f = *state;
    const json_t *data;

    fleet_set_silent(f->fleet, "a1", (WALL_MS - 10) * INT64_C(1000));
    data = fleet_world_post(f, CLUSTER "list_agent_state", "{\"agent_id_list\":[\"a1\",\"a2\"]}");
    assert_int_equal(int_at(json_array_get(data, 0), "status_code"),
                     2); /* nothing better is known */
    assert_int_equal(int_at(json_array_get(data, 0), "report_time"),
                     (WALL_MS - 10) * INT64_C(1000));
    assert_int_equal(int_at(json_array_get(data, 1), "report_time"), WALL_MS * INT64_C(1000));
}

static void ids_are_needed(void **state)
{
#define PARAM "\"code\":1000811,\"message\":\"Parameters error, "
    static const struct {
        const char *body, *said;
    } cases[] = {
        { "{}", PARAM "agent_id_list: required\"" },
        { "{\"agent_id_list\":[]}", PARAM "agent_id_list: " },
        { "{\"agent_id_list\":\"a1\"}", PARAM "agent_id_list: " },
        { "{\"agent_id_list\":[1]}", PARAM "agent_id_list[0]: " },
    };
    static const char *const names[] = { CLUSTER "list_agent_state", CLUSTER "list_agent_info" };
    struct fleet_world *f = *state;

    for (size_t i = 0; i < ARRAY_LEN(cases) * ARRAY_LEN(names); i++) {
        world_ask(&f->w, "POST", names[i % 2], DEMO_AUTH, cases[i / 2].body);
        if (!strstr(f->w.body, cases[i / 2].said))
            fail_msg("%s: %s", cases[i / 2].body, f->w.body);
    }
}

/* ---- what an app may not see */

static void other_businesses_have_no_agents(void **state)
{
    struct fleet_world *f = *state;
    const json_t *data;

    world_put_app(&f->w, "one", "{\"businesses\":[1]}");
    data = fleet_world_ask(f, "POST", CLUSTER "list_agent_state", AUTH_AS("one"),
                           "{\"agent_id_list\":[\"a1\",\"a2\"]}");
    assert_int_equal(int_at(json_array_get(data, 0), "status_code"), 2);
    assert_int_equal(int_at(json_array_get(data, 1), "status_code"), -2);
    data = fleet_world_ask(f, "POST", ESB "get_agent_status", AUTH_AS("one"),
                           "{\"hosts\":[" AT("10.0.0.1") "," AT("10.0.0.2") "]}");
    assert_int_equal(int_at(json_object_get(data, "0:10.0.0.1"), "bk_agent_alive"), 1);
    assert_int_equal(int_at(json_object_get(data, "0:10.0.0.2"), "bk_agent_alive"), 0);
    data = fleet_world_ask(f, "POST", ESB "get_agent_info", AUTH_AS("one"),
                           "{\"hosts\":[" AT("10.0.0.1") "," AT("10.0.0.2") "]}");
    assert_int_equal(json_object_size(data), 1);
    data = fleet_world_ask(f, "POST", JOB_SYSTEM "query_agent_info", AUTH_AS("one"),
                           "{\"host_id_list\":[101,102]}");
    data = json_object_get(data, "agent_info_list");
    assert_int_equal(int_at(json_array_get(data, 0), "status"), 1);
    assert_int_equal(int_at(json_array_get(data, 1), "status"), 0);
    assert_string_equal(text_at(json_array_get(data, 1), "version"), "");
}

/* ---- Job */

static void jobs_answer_is_a_list_of_its_scope(void **state)
{
    static const struct {
        const char *ip;
        int64_t cloud_id, alive;
    } hosts[] = {
        { "10.0.0.1", 0, 1 },
        { "10.0.0.2", 0, 0 }, /* of another business */
        { "10.0.0.3", 2, 0 },
        { "10.9.9.9", 0, 0 },
    };
    struct fleet_world *f = *state;
    const json_t *data =
        fleet_world_post(f, JOB "get_agent_status/",
                         "{\"bk_biz_id\":1,\"ip_list\":[" AT("10.0.0.1") "," AT(
                             "10.0.0.2") "," HOST_A3 "," AT("10.9.9.9") "," AT("10.0.0.1") "]}");

    assert_int_equal(json_array_size(data), ARRAY_LEN(hosts));
    for (size_t i = 0; i < ARRAY_LEN(hosts); i++) {
        const json_t *entry = json_array_get(data, i);

        assert_string_equal(text_at(entry, "ip"), hosts[i].ip);
        assert_int_equal(int_at(entry, "bk_cloud_id"), hosts[i].cloud_id);
        assert_int_equal(int_at(entry, "bk_agent_alive"), hosts[i].alive);
    }
}

static void job_says_what_is_wrong_in_its_way(void **state)
{
#define WITH(ip) "{\"bk_biz_id\":1,\"ip_list\":[" AT("10.0.0.1") "," AT(ip) "]}"
#define INVALID  "\"code\":1241002,\"message\":\"Invalid request parameters: "
    static const struct {
        const char *body, *said;
    } cases[] = {
        { "{\"bk_biz_id\":1}", INVALID "ip_list: required\"" },
        { "{\"bk_biz_id\":1,\"ip_list\":[]}", INVALID "ip_list: " },
        { "{\"ip_list\":[" AT("10.0.0.1") "]}", INVALID },
        { "{\"bk_biz_id\":1,\"ip_list\":[{\"ip\":\"1.1.1.1\"}]}",
          INVALID "ip_list[0].bk_cloud_id: required\"" },
        { WITH(""), INVALID "ip_list[1].ip: must not be empty\"" },
        { WITH("10.0.0.256"), INVALID "ip_list[1].ip: must be an IPv4 address\"" },
        { WITH("10.0.0.1\\n"), INVALID "ip_list[1].ip: must be an IPv4 address\"" },
        { WITH(LONG), INVALID "ip_list[1].ip: " },
    };
    struct fleet_world *f = *state;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        world_ask(&f->w, "POST", JOB "get_agent_status", DEMO_AUTH, cases[i].body);
        if (!strstr(f->w.body, cases[i].said) || !strstr(f->w.body, "\"job_request_id\""))
            fail_msg("%s: %s", cases[i].body, f->w.body);
    }
}

static void hosts_are_asked_for_by_number(void **state)
{
    static const int64_t ids[] = { 103, 7, 101 }, alive[] = { 0, 0, 1 };
    struct fleet_world *f = *state;
    const json_t *data =
        fleet_world_post(f, JOB_SYSTEM "query_agent_info", "{\"host_id_list\":[103,7,101,103]}");
    const json_t *list = json_object_get(data, "agent_info_list");

    assert_int_equal(json_array_size(list), ARRAY_LEN(ids));
    for (size_t i = 0; i < ARRAY_LEN(ids); i++) {
        const json_t *entry = json_array_get(list, i);

        assert_int_equal(json_object_size(entry), 3);
        assert_int_equal(int_at(entry, "bk_host_id"), ids[i]);
        assert_int_equal(int_at(entry, "status"), alive[i]);
        assert_string_equal(text_at(entry, "version"), ids[i] == 7 ? "" : "1.4");
    }
    world_ask(&f->w, "POST", JOB_SYSTEM "query_agent_info", DEMO_AUTH, "{\"host_id_list\":[0]}");
    assert_non_null(strstr(f->w.body, "host_id_list[0]: "));
    world_ask(&f->w, "POST", JOB_SYSTEM "query_agent_info", DEMO_AUTH, "{}");
    assert_non_null(strstr(f->w.body, "host_id_list: required"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FLEET_TEST(get_agent_status_maps_hosts_to_alive),
        FLEET_TEST(a_moment_without_a_session_is_no_death),
        FLEET_TEST(info_is_of_those_that_have_an_agent),
        FLEET_TEST(what_can_be_no_address_is_an_entry_of_its_own),
        FLEET_TEST(forms_of_esb_are_refused_as_esb_does),
        FLEET_TEST(states_are_a_list_of_all_that_were_asked_for),
        FLEET_TEST(fifty_thousand_different_ids_are_answered_each_once),
        FLEET_TEST(what_can_be_no_id_is_an_entry_of_its_own),
        FLEET_TEST(infos_say_what_the_agent_said_of_its_host),
        FLEET_TEST(report_time_of_a_silent_agent_is_its_last_message),
        FLEET_TEST(ids_are_needed),
        FLEET_TEST(other_businesses_have_no_agents),
        FLEET_TEST(jobs_answer_is_a_list_of_its_scope),
        FLEET_TEST(job_says_what_is_wrong_in_its_way),
        FLEET_TEST(hosts_are_asked_for_by_number),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
