/* SPDX-License-Identifier: MIT */
#include "server/fleet/fleet_spaces.h"

#include "tests/lib/random.h"
#include "tests/unit/server/task_world.h"

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
    assert_string_equal(page(w, "unknown", 0, 10), "0:");
}

/* "agent agent": the hosts behind one. */
static const char *walk_text(const struct world *w, const struct fleet_part *part,
                             const char *after)
{
    static char text[1024];
    struct arena a = { 0 };
    struct fleet_walk walk;
    const struct fleet_host *h;
    size_t at = 0;

    text[0] = '\0';
    fleet_walk(&walk, w->fleet, part, after, &a);
    while ((h = fleet_walk_next(&walk)) && at < sizeof(text))
        at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s", at ? " " : "", h->agent_id);
    assert_null(fleet_walk_next(&walk)); /* it stays at the end */
    arena_free(&a);
    return text;
}

static void its_hosts_come_one_by_one(void **state)
{
    struct world *w = *state;
    const char *const names[] = { "s", "r", "unknown" };
    struct fleet_part part = { .has_spaces = true, .spaces = names, .n_spaces = 1 };

    say(w, "agent-b", "s", "y");
    say(w, "agent-a", "s", "q");
    say(w, "agent-a", "r", "x");
    assert_string_equal(walk_text(w, &part, ""), "agent-a agent-b");
    assert_string_equal(walk_text(w, &part, "agent-a"), "agent-b");
    assert_string_equal(walk_text(w, &part, "agent-aa"), "agent-b"); /* that is not there */
    assert_string_equal(walk_text(w, &part, "agent-b"), "");
    part.n_spaces = 3;
    assert_string_equal(walk_text(w, &part, ""), "agent-a agent-b"); /* each once */
    part.spaces = names + 2;
    part.n_spaces = 1;
    assert_string_equal(walk_text(w, &part, ""), "");
    part.n_spaces = 0; /* held to none is not the same as not held */
    assert_string_equal(walk_text(w, &part, ""), "");
    assert_string_equal(walk_text(w, &(struct fleet_part){ .has_businesses = true }, ""), "");
    assert_string_equal(walk_text(w, &(struct fleet_part){ 0 }, ""), "agent-a agent-b");
}

/* A client that pages through a namespace sees those that stay once each, unless something before
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

/* They are read page by page, and a host's may stand on two of them. */
static void many_are_there_after_a_restart(void **state)
{
    enum { MANY = 700 };
    struct world *w = *state;
    static struct proc_view views[MANY];
    static char names[MANY][8];

    for (int i = 0; i < MANY; i++) {
        snprintf(names[i], sizeof(names[i]), "p%03d", i);
        views[i] = a_view("s", names[i]);
    }
    say_all(w, "agent-a", views, MANY);
    say_all(w, "agent-b", views, MANY);
    world_pass(w, 1000);
    world_restart(w);
    assert_string_equal(page(w, "s", 0, 1), "1400: agent-a/p000");
    assert_string_equal(page(w, "s", 1000, 1), "1400: agent-b/p300");
    assert_string_equal(page(w, "s", 1399, 2), "1400: agent-b/p699");
    assert_int_equal(fleet_totals(w->fleet)->procs, 2 * MANY);
}

/* ---- businesses */

static void move(struct world *w, const char *agent, const char *ip, int64_t biz_id)
{
    const struct host_row row = { .agent_id = agent, .ip = ip, .biz_id = biz_id };

    fleet_put_host(w->fleet, &row);
}

static const char *page_in(struct world *w, const struct fleet_part *part, size_t start)
{
    static char text[1024];
    struct fleet_hit hits[3];
    const struct fleet_page ask = { "s", start, ARRAY_LEN(hits), part };
    size_t n, total = fleet_page(w->fleet, &ask, hits, &n);
    int at = snprintf(text, sizeof(text), "%zu:", total);

    for (size_t i = 0; i < n; i++)
        at += snprintf(text + at, sizeof(text) - (size_t)at, " %s/%s", hits[i].host->agent_id,
                       hits[i].proc->name);
    return text;
}

static void businesses_come_one_after_the_other(void **state)
{
    struct world *w = *state;
    const int64_t both[] = { 7, 9 }, other[] = { 8, 9 };
    const struct fleet_part seven = { true, false, both, 1, NULL, 0 },
                            all = { true, false, both, 2, NULL, 0 },
                            nine = { true, false, other, 2, NULL, 0 },
                            none = { .has_businesses = true };

    move(w, "a", "10.0.0.11", 9);
    move(w, "b", "10.0.0.12", 7);
    move(w, "c", "10.0.0.13", 9);
    say(w, "a", "s", "1");
    say(w, "b", "s", "1");
    say(w, "b", "s", "2");
    say(w, "c", "s", "1");
    say(w, "c", "t", "1");
    assert_string_equal(page_in(w, &seven, 0), "2: b/1 b/2");
    assert_string_equal(page_in(w, &all, 0), "4: b/1 b/2 a/1");
    assert_string_equal(page_in(w, &all, 3), "4: c/1");
    assert_string_equal(page_in(w, &nine, 0), "2: a/1 c/1");
    assert_string_equal(page_in(w, &none, 0), "0:");
    assert_string_equal(walk_text(w, &all, ""), "a b c"); /* by id, whatever their business */
    move(w, "a", "10.0.0.11", 7);
    assert_string_equal(page_in(w, &seven, 0), "3: a/1 b/1 b/2");
    assert_string_equal(page_in(w, &nine, 0), "1: c/1");
    assert_int_equal(fleet_in_business(w->fleet, 7), 2);
    fleet_del_host(w->fleet, "c");
    assert_string_equal(page_in(w, &nine, 0), "0:");
    assert_string_equal(page_in(w, NULL, 0), "3: a/1 b/1 b/2");
}

/* ---- against a walk over all hosts */

static const int64_t businesses[] = { 0, 3, 4, 5 };
static const char *const spaces[] = { "a", "b", "c" };

static bool has_business(const struct fleet_part *part, const struct fleet_host *h)
{
    for (size_t i = 0; i < part->n_businesses; i++) {
        if (part->businesses[i] == h->biz_id)
            return true;
    }
    return !part->has_businesses;
}

static bool has_space(const struct fleet_part *part, const struct fleet_proc *p)
{
    for (size_t i = 0; i < part->n_spaces; i++) {
        if (!strcmp(part->spaces[i], p->space))
            return true;
    }
    return !part->has_spaces;
}

struct found {
    struct fleet_hit hits[HITS_MAX];
    size_t n;
};

static void find_in(const struct world *w, const struct fleet_part *part, const char *space,
                    struct found *f)
{
    for (const struct fleet_host *h = fleet_next(w->fleet, ""); h;
         h = fleet_next(w->fleet, h->agent_id)) {
        for (size_t i = 0; has_business(part, h) && i < h->n_procs; i++) {
            if (!strcmp(h->procs[i]->space, space))
                f->hits[f->n++] = (struct fleet_hit){ h, h->procs[i] };
        }
    }
}

/* Business by business, as they are given. */
static void find_all(const struct world *w, const struct fleet_part *part, const char *space,
                     struct found *f)
{
    f->n = 0;
    if (!part->has_businesses)
        find_in(w, part, space, f);
    for (size_t i = 0; part->has_businesses && i < part->n_businesses; i++)
        find_in(w, &(struct fleet_part){ true, false, &part->businesses[i], 1, NULL, 0 }, space, f);
}

static void compare_pages(const struct world *w, const struct fleet_part *part, uint64_t *seed)
{
    static struct found all;
    static struct fleet_hit got[HITS_MAX];
    struct fleet_page ask = { .space = spaces[random_below(seed, 3)], .part = part };
    size_t n;

    find_all(w, part, ask.space, &all);
    for (; ask.start < all.n + 2; ask.start += 1 + random_below(seed, 30)) {
        size_t left = ask.start < all.n ? all.n - ask.start : 0;

        ask.most = random_below(seed, 40);
        assert_int_equal(fleet_page(w->fleet, &ask, got, &n), all.n);
        assert_int_equal(n, left < ask.most ? left : ask.most);
        if (n)
            assert_memory_equal(got, all.hits + ask.start, n * sizeof(got[0]));
    }
}

static bool is_in(const struct fleet_part *part, const struct fleet_host *h)
{
    size_t i = 0;

    while (i < h->n_procs && !has_space(part, h->procs[i]))
        i++;
    return has_business(part, h) && (!part->has_spaces || i < h->n_procs);
}

static void compare_walk(const struct world *w, const struct fleet_part *part, const char *after)
{
    struct arena a = { 0 };
    struct fleet_walk walk;

    fleet_walk(&walk, w->fleet, part, after, &a);
    for (const struct fleet_host *h = fleet_next(w->fleet, after); h;
         h = fleet_next(w->fleet, h->agent_id)) {
        if (is_in(part, h))
            assert_ptr_equal(fleet_walk_next(&walk), h);
    }
    assert_null(fleet_walk_next(&walk));
    arena_free(&a);
}

static void compare_totals(const struct world *w, const struct fleet_part *part)
{
    struct fleet_totals t = { 0 }, got = fleet_count(w->fleet, part);

    for (const struct fleet_host *h = fleet_next(w->fleet, ""); h;
         h = fleet_next(w->fleet, h->agent_id)) {
        t.hosts += has_business(part, h);
        t.online += has_business(part, h) && h->epoch;
        for (size_t i = 0; has_business(part, h) && i < h->n_procs; i++) {
            bool counts = has_space(part, h->procs[i]);

            t.procs += counts;
            t.running += counts && h->epoch && h->procs[i]->view.status == PROC_RUNNING;
            t.hosted += counts && h->procs[i]->view.hosted;
        }
    }
    assert_memory_equal(&t, &got, sizeof(t));
}

static void compare_all(const struct world *w, uint64_t *seed)
{
    size_t first = random_below(seed, 4), from = random_below(seed, 3);
    const struct fleet_part part = {
        .has_businesses = random_below(seed, 4),
        .has_spaces = random_below(seed, 2),
        .businesses = businesses + first,
        .n_businesses = random_below(seed, 5 - first),
        .spaces = spaces + from,
        .n_spaces = random_below(seed, 4 - from),
    };
    char after[8] = "";

    if (random_below(seed, 2))
        snprintf(after, sizeof(after), "h%02d", (int)random_below(seed, 20));
    compare_pages(w, &part, seed);
    compare_walk(w, &part, after);
    compare_totals(w, &part);
}

static void say_random(struct world *w, const char *agent, uint64_t *seed)
{
    static const char *const names[] = { "1", "2", "3", "4", "5" };
    struct proc_view views[6];
    size_t n = random_below(seed, ARRAY_LEN(views));

    for (size_t i = 0; i < ARRAY_LEN(views); i++) {
        views[i] = a_view(spaces[random_below(seed, 3)], names[random_below(seed, 5)]);
        views[i].status = random_below(seed, 2) ? PROC_RUNNING : PROC_STOPPED;
        views[i].hosted = random_below(seed, 2);
    }
    if (random_below(seed, 3) == 0) {
        say_all(w, agent, views, n);
    } else {
        const struct message_processes m = { .list = { views, 1 }, .digest = "d" };
        struct err err;

        assert_int_equal(fleet_on_processes(w->fleet, agent, &m, &err), 0);
    }
}

static void pages_walks_and_sums_are_what_there_is(void **state)
{
    struct world *w = *state;
    uint64_t seed = 7;

    for (int i = 0; i < 3000; i++) {
        int number = (int)random_below(&seed, 20);
        uint64_t what = random_below(&seed, 24);
        char id[16], ip[16];

        snprintf(id, sizeof(id), "h%02d", number);
        snprintf(ip, sizeof(ip), "10.0.1.%d", number);
        if (!fleet_find(w->fleet, id) || what < 3)
            move(w, id, ip, businesses[random_below(&seed, 4)]);
        else if (what < 5)
            fleet_del_host(w->fleet, id);
        else if (what < 8)
            fleet_set_session(w->fleet, id, what - 5, w->clock.wall);
        else
            say_random(w, id, &seed);
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
    fleet_set_facts(w->fleet, "unknown", &facts);
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
        WORLD_TEST(many_are_there_after_a_restart),
        WORLD_TEST(businesses_come_one_after_the_other),
        WORLD_TEST(pages_walks_and_sums_are_what_there_is),
        WORLD_TEST(a_host_is_found_by_its_number),
        WORLD_TEST(facts_stay_until_they_are_said_anew),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
