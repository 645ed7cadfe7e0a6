/* SPDX-License-Identifier: MIT */
#include "server/fleet_spaces.h"

#include "task_world.h"
#include "tests/lib/random.h"

enum { HITS_MAX = 4096 };

static struct proc_view a_view(const char *space, const char *name)
{
    struct proc_view v;

    shape_defaults(&proc_view_shape, &v);
    v.space = space;
    v.name = name;
    return v;
}

static void say(struct world *w, const char *agent, const char *space, const char *name)
{
    struct proc_view v = a_view(space, name);
    const struct message_processes m = { .list = { &v, 1 }, .digest = "d" };
    struct err err;

    assert_int_equal(fleet_on_processes(w->fleet, agent, &m, &err), 0);
}

static void say_all(struct world *w, const char *agent, struct proc_view *views, size_t n)
{
    const struct message_processes m = {
        .is_snapshot = true, .is_last = true, .list = { views, n }, .digest = "d"
    };
    struct err err;

    assert_int_equal(fleet_on_processes(w->fleet, agent, &m, &err), 0);
}

/* "agent/name agent/name", and how many there are in all before it. */
static const char *page(struct world *w, const char *space, size_t start, size_t most)
{
    static char text[1024];
    struct fleet_hit hits[64];
    const struct fleet_page ask = { .space = space, .start = start, .most = most };
    size_t n, total = fleet_page(w->fleet, &ask, hits, &n);
    int at = snprintf(text, sizeof(text), "%zu:", total);

    assert_true(n <= most);
    for (size_t i = 0; i < n; i++)
        at += snprintf(text + at, sizeof(text) - (size_t)at, " %s/%s", hits[i].host->agent_id,
                       hits[i].proc->name);
    return text;
}

static void pages_are_by_agent_and_name(void **state)
{
    struct world *w = *state;

    assert_string_equal(page(w, "s", 0, 10), "0:");
    say(w, "agent-b", "s", "y");
    say(w, "agent-a", "s", "q");
    say(w, "agent-a", "s", "p");
    say(w, "agent-a", "r", "x");
    say(w, "agent-a", "t", "x");
    say(w, "agent-b", "s", "z");
    assert_string_equal(page(w, "s", 0, 10), "4: agent-a/p agent-a/q agent-b/y agent-b/z");
    assert_string_equal(page(w, "s", 0, 1), "4: agent-a/p");
    assert_string_equal(page(w, "s", 1, 2), "4: agent-a/q agent-b/y");
    assert_string_equal(page(w, "s", 3, 2), "4: agent-b/z");
    assert_string_equal(page(w, "s", 4, 2), "4:");
    assert_string_equal(page(w, "s", SIZE_MAX, 2), "4:");
    assert_string_equal(page(w, "s", 0, 0), "4:");
    assert_string_equal(page(w, "r", 0, 10), "1: agent-a/x");
    assert_string_equal(page(w, "nobody", 0, 10), "0:");
}

static void its_hosts_come_one_by_one(void **state)
{
    struct world *w = *state;
    const struct fleet_host *h;

    say(w, "agent-b", "s", "y");
    say(w, "agent-a", "s", "q");
    say(w, "agent-a", "r", "x");
    h = fleet_next_in(w->fleet, "s", "");
    assert_string_equal(h->agent_id, "agent-a");
    h = fleet_next_in(w->fleet, "s", "agent-a");
    assert_string_equal(h->agent_id, "agent-b");
    assert_ptr_equal(fleet_next_in(w->fleet, "s", "agent-aa"), h); /* one that is not there */
    assert_null(fleet_next_in(w->fleet, "s", "agent-b"));
    assert_null(fleet_next_in(w->fleet, "r", "agent-a"));
    assert_null(fleet_next_in(w->fleet, "nobody", ""));
}

/* Who pages through a namespace sees those that stay once each, unless something before
 * them comes or goes. */
static void what_comes_behind_a_page_does_not_move_it(void **state)
{
    struct world *w = *state;

    say(w, "agent-a", "s", "b");
    say(w, "agent-a", "s", "d");
    say(w, "agent-b", "s", "a");
    assert_string_equal(page(w, "s", 0, 2), "3: agent-a/b agent-a/d");
    say(w, "agent-a", "s", "b"); /* it has changed, and stays where it is */
    say(w, "agent-b", "s", "c");
    say(w, "agent-b", "u", "c");
    assert_string_equal(page(w, "s", 2, 2), "4: agent-b/a agent-b/c");
    world_add_host(w, "agent-0", "10.0.0.9");
    say(w, "agent-0", "s", "x");
    assert_string_equal(page(w, "s", 2, 2), "5: agent-a/d agent-b/a");
    fleet_del_host(w->fleet, "agent-a");
    assert_string_equal(page(w, "s", 0, 9), "3: agent-0/x agent-b/a agent-b/c");
}

static void a_snapshot_replaces_what_there_was(void **state)
{
    struct world *w = *state;
    struct proc_view views[] = { a_view("s", "b"), a_view("u", "a"), a_view("s", "b") };

    say(w, "agent-a", "s", "a");
    say(w, "agent-a", "t", "a");
    say(w, "agent-b", "t", "a");
    say_all(w, "agent-a", views, 3); /* one of them twice: the last counts */
    assert_string_equal(page(w, "s", 0, 9), "1: agent-a/b");
    assert_string_equal(page(w, "t", 0, 9), "1: agent-b/a");
    assert_string_equal(page(w, "u", 0, 9), "1: agent-a/a");
    say_all(w, "agent-a", NULL, 0);
    assert_string_equal(page(w, "s", 0, 9), "0:");
    assert_string_equal(page(w, "t", 0, 9), "1: agent-b/a");
}

static void it_is_the_same_after_a_restart(void **state)
{
    struct world *w = *state;

    say(w, "agent-b", "s", "b");
    say(w, "agent-a", "s", "a");
    world_pass(w, 1000);
    world_restart(w);
    assert_string_equal(page(w, "s", 0, 9), "2: agent-a/a agent-b/b");
}

/* ---- against a walk over all hosts */

static bool is_even(const void *arg, const struct fleet_host *h)
{
    assert_ptr_equal(arg, "arg");
    return (h->agent_id[strlen(h->agent_id) - 1] - '0') % 2 == 0;
}

static size_t walk(const struct world *w, const struct fleet_page *ask, struct fleet_hit *hits,
                   size_t *n)
{
    size_t total = 0;

    *n = 0;
    for (const struct fleet_host *h = fleet_next(w->fleet, ""); h;
         h = fleet_next(w->fleet, h->agent_id)) {
        if (ask->counts && !ask->counts(ask->arg, h))
            continue;
        for (size_t i = 0; i < h->n_procs; i++) {
            if (strcmp(h->procs[i]->space, ask->space) != 0)
                continue;
            if (total++ >= ask->start && *n < ask->most)
                hits[(*n)++] = (struct fleet_hit){ h, h->procs[i] };
        }
    }
    return total;
}

static void compare_pages(const struct world *w, const struct fleet_page *ask)
{
    static struct fleet_hit got[HITS_MAX], wanted[HITS_MAX];
    size_t n, n_wanted, total = walk(w, ask, wanted, &n_wanted);

    assert_int_equal(fleet_page(w->fleet, ask, got, &n), total);
    assert_int_equal(n, n_wanted);
    for (size_t i = 0; i < n; i++) {
        assert_ptr_equal(got[i].host, wanted[i].host);
        assert_ptr_equal(got[i].proc, wanted[i].proc);
    }
}

static void compare_all(const struct world *w, uint64_t *seed)
{
    static const char *const spaces[] = { "a", "b", "c" };

    for (size_t i = 0; i < ARRAY_LEN(spaces); i++) {
        struct fleet_page ask = { .space = spaces[i], .most = random_below(seed, 40) };

        for (ask.start = 0; ask.start < 80; ask.start += 1 + random_below(seed, 30))
            compare_pages(w, &ask);
        ask.start = random_below(seed, 20);
        ask.counts = is_even;
        ask.arg = "arg";
        compare_pages(w, &ask);
    }
}

static void say_random(struct world *w, const char *agent, uint64_t *seed)
{
    static const char *const spaces[] = { "a", "b", "c" };
    static const char *const names[] = { "1", "2", "3", "4", "5" };
    struct proc_view views[6];
    size_t n = random_below(seed, ARRAY_LEN(views));

    for (size_t i = 0; i < ARRAY_LEN(views); i++)
        views[i] = a_view(spaces[random_below(seed, 3)], names[random_below(seed, 5)]);
    if (random_below(seed, 3) == 0)
        say_all(w, agent, views, n);
    else
        say(w, agent, views[0].space, views[0].name);
}

static void pages_are_what_a_walk_finds(void **state)
{
    struct world *w = *state;
    uint64_t seed = 7;

    for (int i = 0; i < 600; i++) {
        int number = (int)random_below(&seed, 20);
        char id[16], ip[16];

        snprintf(id, sizeof(id), "h%02d", number);
        snprintf(ip, sizeof(ip), "10.0.1.%d", number);
        if (!fleet_find(w->fleet, id))
            world_add_host(w, id, ip);
        else if (random_below(&seed, 12) == 0)
            fleet_del_host(w->fleet, id);
        else
            say_random(w, id, &seed);
        if (i % 5 == 0)
            compare_all(w, &seed);
    }
}

static void a_host_is_found_by_its_number(void **state)
{
    struct world *w = *state;
    struct host_row row = { .agent_id = "agent-c", .ip = "10.0.0.3", .host_id = 7 };

    assert_null(fleet_find_number(w->fleet, 0));
    assert_null(fleet_find_number(w->fleet, 7));
    fleet_put_host(w->fleet, &row);
    assert_string_equal(fleet_find_number(w->fleet, 7)->agent_id, "agent-c");
    row.host_id = 8;
    fleet_put_host(w->fleet, &row);
    assert_null(fleet_find_number(w->fleet, 7));
    row.agent_id = "agent-d"; /* it has it now */
    row.ip = "10.0.0.4";
    fleet_put_host(w->fleet, &row);
    fleet_del_host(w->fleet, "agent-c");
    assert_string_equal(fleet_find_number(w->fleet, 8)->agent_id, "agent-d");
    fleet_del_host(w->fleet, "agent-d");
    assert_null(fleet_find_number(w->fleet, 8));
}

static void facts_stay_until_they_are_said_anew(void **state)
{
    struct world *w = *state;
    const struct fleet_facts facts = { "linux", "x86_64", 4, 1 << 30, 1000 };
    const struct host_row row = { .agent_id = "agent-a", .ip = "10.0.0.1" };

    assert_int_equal(fleet_find(w->fleet, "agent-a")->facts.cpus, 0);
    fleet_set_facts(w->fleet, "agent-a", &facts);
    fleet_set_facts(w->fleet, "nobody", &facts);
    fleet_put_host(w->fleet, &row);
    fleet_set_session(w->fleet, "agent-a", 0, w->clock.wall);
    assert_memory_equal(&fleet_find(w->fleet, "agent-a")->facts, &facts, sizeof(facts));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WORLD_TEST(pages_are_by_agent_and_name),
        WORLD_TEST(its_hosts_come_one_by_one),
        WORLD_TEST(what_comes_behind_a_page_does_not_move_it),
        WORLD_TEST(a_snapshot_replaces_what_there_was),
        WORLD_TEST(it_is_the_same_after_a_restart),
        WORLD_TEST(pages_are_what_a_walk_finds),
        WORLD_TEST(a_host_is_found_by_its_number),
        WORLD_TEST(facts_stay_until_they_are_said_anew),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
