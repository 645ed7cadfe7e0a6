/* SPDX-License-Identifier: MIT */
#include "server/fleet/fleet.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "server/fleet/fleet_registry.h"
#include "server/fleet/fleet_state.h"
#include "store/store_procs.h"
#include "tests/unit/server/task_world.h"

static struct proc_view a_view(const char *space, const char *name, int64_t status)
{
    struct proc_view v;

    shape_defaults(&proc_view_shape, &v);
    v.space = space;
    v.name = name;
    v.status = status;
    v.pid = status == PROC_RUNNING ? 100 : -1;
    v.why = "because";
    v.report_s = 1000;
    return v;
}

static void say(struct world *w, const char *agent, struct proc_view *views, size_t n)
{
    const struct message_processes m = { .list = { views, n }, .digest = "d1" };
    struct err err;

    assert_int_equal(fleet_on_processes(w->fleet, agent, &m, &err), 0);
}

static void page(struct world *w, const char *agent, struct proc_view *views, size_t n, bool last)
{
    const struct message_processes m = {
        .is_snapshot = true, .is_last = last, .list = { views, n }, .digest = "d2"
    };
    struct err err;

    assert_int_equal(fleet_on_processes(w->fleet, agent, &m, &err), 0);
}

static void put_spec(struct world *w, const char *agent, const char *space, const char *name)
{
    struct proc_meta meta = { space, name, { 0 } };
    struct proc_spec spec;

    world_spec(&spec);
    fleet_put_spec(w->fleet, agent, &meta, &spec, w->clock.wall);
}

static size_t stored_procs(struct world *w, const char *agent, struct list *ret)
{
    const struct agent_row ask = { agent };

    store_rig_do(&w->rig, &store_proc_of, &ask, ret);
    return ret->n;
}

static void hosts_are_found_by_id_and_by_address(void **state)
{
    struct world *w = *state;
    const struct fleet_host *a = fleet_find(w->fleet, "agent-a");

    assert_string_equal(a->ip, "10.0.0.1");
    assert_int_equal(a->biz_id, 2);
    assert_ptr_equal(fleet_find(w->fleet, "0:10.0.0.1"), a);
    assert_ptr_equal(fleet_find_at(w->fleet, 0, "10.0.0.1"), a);
    assert_null(fleet_find_at(w->fleet, 1, "10.0.0.1"));
    assert_null(fleet_find(w->fleet, "agent"));
    assert_null(fleet_find(w->fleet, ""));
    assert_null(fleet_proc(a, "space", "p"));
}

static void a_host_may_change_its_address_and_leave(void **state)
{
    struct world *w = *state;
    const struct fleet_host *a = fleet_find(w->fleet, "agent-a");
    struct proc_view v = a_view("s", "p", PROC_RUNNING);
    struct host_row row = { .agent_id = a->agent_id, /* its own texts */
                            .ip = "10.0.0.9",
                            .hostname = a->hostname };

    say(w, "agent-a", &v, 1);
    fleet_put_host(w->fleet, &row);
    assert_null(fleet_find(w->fleet, "0:10.0.0.1"));
    assert_string_equal(fleet_find(w->fleet, "0:10.0.0.9")->hostname, "host");
    assert_int_equal(fleet_totals(w->fleet)->hosts, 2);
    fleet_set_session(w->fleet, "agent-a", 5, w->clock.wall);
    fleet_del_host(w->fleet, "agent-a");
    fleet_del_host(w->fleet, "agent-a");
    assert_null(fleet_find(w->fleet, "agent-a"));
    assert_null(fleet_find(w->fleet, "0:10.0.0.9"));
    assert_int_equal(fleet_totals(w->fleet)->hosts, 1);
    assert_int_equal(fleet_totals(w->fleet)->online, 0);
    assert_int_equal(fleet_totals(w->fleet)->procs, 0);
    say(w, "agent-a", &v, 1); /* an unknown host is ignored */
    world_pass(w, 1000);
}

/* As lists show it: `ps` and `status` count the same. */
static void a_periodic_process_counts_as_running_while_it_is_run(void **state)
{
    struct world *w = *state;
    struct proc_view v = a_view("s", "p", PROC_STOPPED);

    v.hosted = v.cause.is_periodic = true;
    v.cause.doing = -1;
    fleet_set_session(w->fleet, "agent-a", 5, w->clock.wall);
    for (int i = 0; i < 3; i++) {
        v.cause.doing = i % 2 ? PROC_OP_START : -1;
        say(w, "agent-a", &v, 1);
        assert_int_equal(fleet_totals(w->fleet)->running, i % 2);
    }
    v.cause.doing = PROC_OP_START;
    say(w, "agent-a", &v, 1);
    fleet_set_session(w->fleet, "agent-a", 0, w->clock.wall);
    assert_int_equal(fleet_totals(w->fleet)->running, 0);
}

/* The agent says when it is over. */
static void a_process_that_is_restarted_again_and_again_is_counted(void **state)
{
    static const int64_t recent[] = { 4, 5, 57, 0 };
    struct world *w = *state;
    struct proc_view v = a_view("s", "p", PROC_RUNNING);

    fleet_set_session(w->fleet, "agent-a", 5, w->clock.wall);
    for (size_t i = 0; i < ARRAY_LEN(recent); i++) {
        v.cause.recent_restarts = recent[i];
        say(w, "agent-a", &v, 1);
        assert_int_equal(fleet_totals(w->fleet)->flapping, recent[i] >= 5);
    }
    v.cause.recent_restarts = 5;
    say(w, "agent-a", &v, 1);
    fleet_set_session(w->fleet, "agent-a", 0, w->clock.wall);
    assert_int_equal(fleet_totals(w->fleet)->flapping, 0);
}

static void walks_are_in_order(void **state)
{
    static const char *const procs[][2] = {
        { "b", "a" }, { "a", "b" }, { "a", "a" }, { "b", "0" }
    };
    static const char *const sorted[] = { "aa", "ab", "b0", "ba" };
    struct world *w = *state;
    const struct fleet_host *h;
    char last[32] = "";
    int n = 0;

    for (int i = 0; i < 200; i++) {
        char id[32], ip[32];

        snprintf(id, sizeof(id), "host-%03d", i * 37 % 200);
        snprintf(ip, sizeof(ip), "10.1.0.%d", i);
        world_add_host(w, id, ip);
    }
    for (; (h = fleet_next(w->fleet, last)); n++) {
        assert_true(strcmp(h->agent_id, last) > 0);
        snprintf(last, sizeof(last), "%s", h->agent_id);
    }
    assert_int_equal(n, 202);
    assert_string_equal(fleet_next(w->fleet, "host-0105")->agent_id, "host-011");
    for (size_t i = 0; i < ARRAY_LEN(procs); i++) {
        struct proc_view v = a_view(procs[i][0], procs[i][1], PROC_STOPPED);

        say(w, "agent-a", &v, 1);
    }
    h = fleet_find(w->fleet, "agent-a");
    assert_int_equal(h->n_procs, ARRAY_LEN(sorted));
    for (size_t i = 0; i < ARRAY_LEN(sorted); i++) {
        assert_int_equal(h->procs[i]->space[0], sorted[i][0]);
        assert_int_equal(h->procs[i]->name[0], sorted[i][1]);
    }
}

static void totals_follow_changes(void **state)
{
    struct world *w = *state;
    struct proc_view v = a_view("s", "p", PROC_RUNNING);
    const struct fleet_totals *t = fleet_totals(w->fleet);

    v.hosted = true;
    say(w, "agent-a", &v, 1);
    say(w, "agent-b", &v, 1);
    assert_int_equal(t->procs, 2);
    assert_int_equal(t->running, 0); /* the state of an offline host is unknown */
    fleet_set_session(w->fleet, "agent-a", 1, w->clock.wall);
    fleet_set_session(w->fleet, "agent-b", 1, w->clock.wall);
    assert_int_equal(t->running, 2);
    assert_int_equal(t->hosted, 2);
    v.status = PROC_STOPPED;
    v.hosted = false;
    say(w, "agent-a", &v, 1);
    assert_int_equal(t->procs, 2);
    assert_int_equal(t->running, 1);
    assert_int_equal(t->hosted, 1);
    page(w, "agent-b", NULL, 0, true);
    assert_int_equal(t->procs, 1);
    assert_int_equal(t->running, 0);
    fleet_set_session(w->fleet, "agent-b", 0, 1);
    fleet_set_session(w->fleet, "agent-a", 3, 1);
    fleet_set_session(w->fleet, "agent-a", 4, 2);
    assert_int_equal(t->online, 1);
    fleet_set_session(w->fleet, "agent-a", 0, 3);
    assert_int_equal(t->online, 0);
}

static void changes_go_to_the_store_together(void **state)
{
    struct world *w = *state;
    struct list rows;
    uint64_t calls = store_counters(w->rig.store)->calls;

    for (int i = 0; i < 50; i++) {
        struct proc_view v = a_view("s", i % 2 ? "p" : "q", i < 49 ? PROC_RUNNING : PROC_STOPPED);

        say(w, "agent-a", &v, 1);
    }
    assert_int_equal(store_counters(w->rig.store)->calls, calls);
    world_pass(w, 100);
    assert_int_equal(store_counters(w->rig.store)->calls - calls, 2);
    assert_int_equal(stored_procs(w, "agent-a", &rows), 2);
}

/* Agents say it every minute, of every process. */
static void what_a_process_uses_stays_in_memory(void **state)
{
    struct world *w = *state;
    struct proc_view v = a_view("s", "p", PROC_RUNNING);
    const struct fleet_proc *p;
    uint64_t calls;

    say(w, "agent-a", &v, 1);
    world_pass(w, 100);
    calls = store_counters(w->rig.store)->calls;
    v.cpu_percent = 12.5;
    v.mem_bytes = 4096;
    v.report_s += 60;
    say(w, "agent-a", &v, 1);
    world_pass(w, 100);
    p = fleet_proc(fleet_find(w->fleet, "agent-a"), "s", "p");
    assert_true(p->view.cpu_percent > 12 && p->view.mem_bytes == 4096);
    assert_int_equal(p->view.report_s, v.report_s);
    assert_int_equal(store_counters(w->rig.store)->calls, calls);
    v.cause.exit_s = 1; /* this is of the kind that is stored */
    say(w, "agent-a", &v, 1);
    v.report_s += 60; /* and is still to be, when no more than this follows at once */
    say(w, "agent-a", &v, 1);
    world_pass(w, 100);
    assert_int_equal(store_counters(w->rig.store)->calls - calls, 1);
}

static void all_that_is_known_outlives_a_restart(void **state)
{
    struct world *w = *state;
    struct proc_view v = a_view("s", "p", PROC_RUNNING);
    struct proc_run runs[] = { { .begun_s = 9, .output = "copied" },
                               { .begun_s = 8, .exit_code = 3, .output = "" } };
    const struct proc_run *kept;
    const struct fleet_host *h;
    const struct fleet_proc *p;
    int64_t left_ms;

    v.version = "1.2";
    v.hosted = true;
    v.wanted = PROC_RUNNING;
    v.register_s = 7;
    v.last_start_s = 8;
    v.restarts = 3;
    v.cause.exit_s = 6;
    v.cause.exit_code = 2;
    v.cause.output = "the last words";
    v.cause.failed_text = "found java";
    v.cause.runs = (struct list){ runs, ARRAY_LEN(runs) };
    v.cause.tries_max = -1;
    world_connect(w, "agent-a");
    world_disconnect(w, "agent-b", world_connect(w, "agent-b"));
    left_ms = w->clock.wall;
    say(w, "agent-a", &v, 1);
    put_spec(w, "agent-a", "s", "p");
    world_pass(w, 5000);
    world_restart(w);
    h = fleet_find(w->fleet, "agent-a");
    assert_string_equal(h->hostname, "host");
    assert_string_equal(h->cert_fingerprint, "ab");
    assert_int_equal(h->epoch, 0); /* no agent is connected at start */
    assert_int_equal(h->since_ms, w->clock.wall);
    assert_string_equal(h->digest, "");
    assert_int_equal(fleet_find(w->fleet, "agent-b")->since_ms, left_ms);
    p = fleet_proc(h, "s", "p");
    assert_int_equal(p->view.status, PROC_RUNNING);
    assert_int_equal(p->view.wanted, PROC_RUNNING);
    assert_true(p->view.hosted);
    assert_int_equal(p->view.pid, 100);
    assert_string_equal(p->view.version, "1.2");
    assert_string_equal(p->view.why, "because");
    assert_int_equal(p->view.register_s, 7);
    assert_int_equal(p->view.last_start_s, 8);
    assert_int_equal(p->view.report_s, 1000);
    assert_int_equal(p->view.restarts, 3);
    assert_int_equal(p->view.cause.exit_s, 6);
    assert_int_equal(p->view.cause.exit_code, 2);
    assert_int_equal(p->view.cause.doing, -1);
    assert_int_equal(p->view.cause.tries_max, -1);
    assert_string_equal(p->view.cause.output, "the last words");
    assert_string_equal(p->view.cause.failed_text, "found java");
    assert_int_equal(p->view.cause.runs.n, 2);
    kept = p->view.cause.runs.items;
    assert_int_equal(kept[0].begun_s, 9);
    assert_string_equal(kept[0].output, "copied");
    assert_int_equal(kept[1].exit_code, 3);
    assert_string_equal(kept[1].output, "");
    assert_non_null(strstr(p->spec, "./start.sh"));
    assert_null(p->labels);
    assert_int_equal(fleet_totals(w->fleet)->running, 0); /* no agent is connected yet */
    fleet_set_session(w->fleet, "agent-a", 9, w->clock.wall);
    assert_int_equal(fleet_totals(w->fleet)->running, 1);
}

/* Stored by an older program, or by a newer one. */
static void a_cause_that_can_not_be_read_is_left_out(void **state)
{
    static const char *const causes[] = { NULL, "{}", "[]", "{\"exit_code\":\"x\"}",
                                          "{\"soul\":1}" };
    struct world *w = *state;
    struct proc_row row = {
        .agent_id = "agent-a", .space = "s", .name = "p", .status = 1, .pid = 7
    };
    const struct fleet_proc *p;

    for (size_t i = 0; i < ARRAY_LEN(causes); i++) {
        row.cause = causes[i];
        store_rig_do(&w->rig, &store_proc_put, &row, NULL);
        world_restart(w);
        p = fleet_proc(fleet_find(w->fleet, "agent-a"), "s", "p");
        assert_int_equal(p->view.pid, 7);
        assert_int_equal(p->view.cause.doing, -1);
        assert_int_equal(p->view.cause.exit_code, -1);
        assert_string_equal(p->view.cause.output, "");
    }
}

static void more_hosts_than_a_page_are_loaded(void **state)
{
    struct world *w = *state;
    const struct fleet_host *h;

    for (int i = 0; i < 1100; i++) {
        char id[32], ip[32];

        snprintf(id, sizeof(id), "host-%04d", i);
        snprintf(ip, sizeof(ip), "10.1.%d.%d", i / 200, i % 200);
        world_add_host(w, id, ip);
    }
    world_restart(w);
    assert_int_equal(fleet_totals(w->fleet)->hosts, 1102);
    h = fleet_find(w->fleet, "host-1099");
    assert_string_equal(h->ip, "10.1.5.99");
}

static void a_snapshot_replaces_when_it_is_whole(void **state)
{
    struct world *w = *state;
    struct proc_view gone = a_view("s", "gone", PROC_RUNNING);
    struct proc_view old = a_view("s", "p", PROC_STOPPED), new = a_view("s", "p", PROC_RUNNING);
    struct proc_view more = a_view("s", "q", PROC_RUNNING);
    const struct fleet_host *h = fleet_find(w->fleet, "agent-a");
    struct list rows;

    say(w, "agent-a", &gone, 1);
    say(w, "agent-a", &old, 1);
    put_spec(w, "agent-a", "s", "p");
    world_pass(w, 100);
    page(w, "agent-a", &old, 1, false);
    assert_int_equal(h->n_procs, 2);
    assert_string_equal(h->digest, "d1");
    say(w, "agent-a", &new, 1); /* newer than what the page said */
    page(w, "agent-a", &more, 1, true);
    assert_int_equal(h->n_procs, 2);
    assert_string_equal(h->digest, "d2");
    assert_null(fleet_proc(h, "s", "gone"));
    assert_int_equal(fleet_proc(h, "s", "p")->view.status, PROC_RUNNING);
    assert_non_null(fleet_proc(h, "s", "p")->spec); /* an agent says nothing of specs */
    world_pass(w, 100);
    assert_int_equal(stored_procs(w, "agent-a", &rows), 2);
}

/* When each was written is told by report_ms, which alone is no reason to write. */
static void a_snapshot_that_says_what_is_stored_is_not_written_again(void **state)
{
    struct world *w = *state;
    struct proc_view both[] = { a_view("s", "p", PROC_RUNNING), a_view("s", "q", PROC_RUNNING) };
    struct proc_view twice[2];
    const struct proc_row *row;
    struct list rows;

    page(w, "agent-a", both, 2, true);
    world_pass(w, 100);
    both[0].report_s = both[1].report_s = 2000;
    page(w, "agent-a", both, 2, true);
    world_pass(w, 100);
    assert_int_equal(stored_procs(w, "agent-a", &rows), 2);
    row = rows.items;
    assert_int_equal(row[0].report_ms, 1000 * 1000);
    assert_int_equal(fleet_find(w->fleet, "agent-a")->procs[0]->view.report_s, 2000);
    both[1].restarts = 1; /* one is enough */
    page(w, "agent-a", both, 2, true);
    world_pass(w, 100);
    assert_int_equal(stored_procs(w, "agent-a", &rows), 2);
    row = rows.items;
    assert_int_equal(row[0].report_ms, 2000 * 1000);
    assert_int_equal(row[1].restarts, 1);
    twice[0] = twice[1] = both[0]; /* as many as before, but one is gone */
    page(w, "agent-a", twice, 2, true);
    world_pass(w, 100);
    assert_int_equal(stored_procs(w, "agent-a", &rows), 1);
}

static void half_a_snapshot_is_forgotten_with_its_session(void **state)
{
    struct world *w = *state;
    struct proc_view p = a_view("s", "p", PROC_RUNNING), q = a_view("s", "q", PROC_RUNNING);
    const struct fleet_host *h = fleet_find(w->fleet, "agent-a");

    page(w, "agent-a", &p, 1, false);
    fleet_set_session(w->fleet, "agent-a", 2, w->clock.wall);
    page(w, "agent-a", &q, 1, true);
    assert_int_equal(h->n_procs, 1);
    assert_string_equal(h->procs[0]->name, "q");
}

/* An agent that was broken into must not fill our memory, by changes or by pages. */
static void a_host_has_only_so_many_processes(void **state)
{
    struct world *w = *state;
    const struct fleet_host *h = fleet_find(w->fleet, "agent-a");
    static char names[FLEET_PROCS_MAX + 1][8];
    struct proc_view *views = xalloc(sizeof(names) / sizeof(names[0]) * sizeof(*views));
    struct message_processes m = { .list = { views, FLEET_PROCS_MAX + 1 }, .digest = "d3" };
    struct err err;

    for (int i = 0; i <= FLEET_PROCS_MAX; i++) {
        snprintf(names[i], sizeof(names[i]), "%d", i);
        views[i] = a_view("s", names[i], PROC_RUNNING);
    }
    page(w, "agent-a", views, FLEET_PROCS_MAX, true);
    say(w, "agent-a", views, FLEET_PROCS_MAX); /* those that it has */
    assert_int_equal(fleet_on_processes(w->fleet, "agent-a", &m, &err), -1);
    assert_int_equal(err.code, ERR_LIMIT);
    m.is_snapshot = true;
    assert_int_equal(fleet_on_processes(w->fleet, "agent-a", &m, &err), -1);
    assert_int_equal(h->n_procs, FLEET_PROCS_MAX);
    assert_string_equal(h->digest, "d1"); /* so it is asked for all of them again */
    free(views);
}

/* What fleet_put_spec() gave to many is one text. */
static void equal_specs_are_kept_once(void **state)
{
    struct world *w = *state;

    put_spec(w, "agent-a", "s", "p");
    put_spec(w, "agent-b", "s", "p");
    assert_ptr_equal(fleet_proc(fleet_find(w->fleet, "agent-a"), "s", "p")->spec,
                     fleet_proc(fleet_find(w->fleet, "agent-b"), "s", "p")->spec);
    fleet_del_host(w->fleet, "agent-a");
    assert_non_null(strstr(fleet_proc(fleet_find(w->fleet, "agent-b"), "s", "p")->spec, "start"));
}

static void set_file_limit(rlim_t bytes)
{
    struct rlimit limit = { .rlim_cur = bytes, .rlim_max = RLIM_INFINITY };

    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void what_a_full_disk_refused_is_written_later(void **state)
{
    struct world *w = *state;
    struct proc_view v = a_view("s", "p", PROC_RUNNING);
    struct list rows;

    set_file_limit(1);
    say(w, "agent-a", &v, 1);
    page(w, "agent-b", &v, 1, true);
    world_pass(w, 100);
    world_pass(w, 1000);
    assert_int_equal(stored_procs(w, "agent-a", &rows), 0);
    v.status = PROC_STOPPED;
    say(w, "agent-a", &v, 1);
    set_file_limit(RLIM_INFINITY);
    world_pass(w, 1000);
    world_pass(w, 1000);
    assert_int_equal(stored_procs(w, "agent-a", &rows), 1);
    assert_int_equal(stored_procs(w, "agent-b", &rows), 1);
    world_restart(w);
    assert_int_equal(fleet_proc(fleet_find(w->fleet, "agent-a"), "s", "p")->view.status,
                     PROC_STOPPED);
}

/* Through a pipe, which the limit of files does not hold back. */
static void a_disk_that_stays_full_does_not_fill_the_log(void **state)
{
    struct world *w = *state;
    char *path = xprintf("%s/log", w->rig.dir), text[16384] = "";
    struct proc_view v[] = { a_view("s", "p", PROC_RUNNING), a_view("s", "q", PROC_RUNNING) };
    struct err err;
    struct log *log;
    int fd;

    assert_int_equal(mkfifo(path, 0600), 0);
    fd = open(path, O_RDWR | O_NONBLOCK);
    assert_int_equal(log_new(path, LOG_INFO, &w->clock.clock, &log, &err), 0);
    w->fleet->log = log;
    set_file_limit(1);
    say(w, "agent-a", v, 2);
    for (int i = 0; i < 5; i++)
        world_pass(w, 1000);
    set_file_limit(RLIM_INFINITY);
    assert_true(read(fd, text, sizeof(text) - 1) > 0);
    assert_non_null(strstr(text, "the store fails"));
    assert_null(strstr(strstr(text, "the store fails") + 1, "the store fails"));
    world_pass(w, 1000);
    w->fleet->log = NULL;
    log_free(log);
    close(fd);
    unlink(path);
    free(path);
}

static void more_changes_than_fit_go_bit_by_bit(void **state)
{
    enum { N = 1500 };
    struct world *w = *state;
    struct list rows;

    for (int i = 0; i < N; i++) {
        char name[16];
        struct proc_view v;

        snprintf(name, sizeof(name), "p%d", i);
        v = a_view("s", name, PROC_RUNNING);
        say(w, i % 2 ? "agent-a" : "agent-b", &v, 1);
    }
    world_pass(w, 100);
    assert_int_equal(stored_procs(w, "agent-a", &rows), N / 2);
    assert_int_equal(stored_procs(w, "agent-b", &rows), N / 2);
}

static void a_fleet_may_be_freed_while_calls_are_out(void **state)
{
    struct world *w = *state;
    struct proc_view v = a_view("s", "p", PROC_RUNNING);

    say(w, "agent-a", &v, 1);
    w->clock.mono += 100;
    while (!store_counters(w->rig.store)->on_their_way)
        world_turn(w, 0);
    fleet_free(w->fleet);
    w->fleet = NULL;
    world_settle(w);
    fleet_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WORLD_TEST(hosts_are_found_by_id_and_by_address),
        WORLD_TEST(a_host_may_change_its_address_and_leave),
        WORLD_TEST(a_periodic_process_counts_as_running_while_it_is_run),
        WORLD_TEST(a_process_that_is_restarted_again_and_again_is_counted),
        WORLD_TEST(walks_are_in_order),
        WORLD_TEST(totals_follow_changes),
        WORLD_TEST(changes_go_to_the_store_together),
        WORLD_TEST(what_a_process_uses_stays_in_memory),
        WORLD_TEST(all_that_is_known_outlives_a_restart),
        WORLD_TEST(a_cause_that_can_not_be_read_is_left_out),
        WORLD_TEST(more_hosts_than_a_page_are_loaded),
        WORLD_TEST(a_snapshot_replaces_when_it_is_whole),
        WORLD_TEST(a_snapshot_that_says_what_is_stored_is_not_written_again),
        WORLD_TEST(half_a_snapshot_is_forgotten_with_its_session),
        WORLD_TEST(a_host_has_only_so_many_processes),
        WORLD_TEST(equal_specs_are_kept_once),
        WORLD_TEST(what_a_full_disk_refused_is_written_later),
        WORLD_TEST(a_disk_that_stays_full_does_not_fill_the_log),
        WORLD_TEST(more_changes_than_fit_go_bit_by_bit),
        WORLD_TEST(a_fleet_may_be_freed_while_calls_are_out),
    };

    unsetenv("HOLDFAST_TEST_DB"); /* half of it is about SQLite's disk */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
