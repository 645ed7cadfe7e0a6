/* SPDX-License-Identifier: MIT */
/* Calls, threads and commits; tests/contract has the verbs. */
#include "store/store.h"

#include "tests/lib/store_rig.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/os/sys.h"
#include "store/store_apps.h"
#include "store/store_hosts.h"
#include "store/store_tasks.h"

/* SQLite does not let us replace this call, so this definition comes before the C library's. */
static atomic_int failing_syncs;

int fdatasync(int fd)
{
    if (atomic_load(&failing_syncs) > 0 && atomic_fetch_sub(&failing_syncs, 1) > 0) {
        errno = EIO;
        return -1;
    }
    return (int)syscall(SYS_fdatasync, fd);
}

/* ---- The loop's side. */

enum { ENDS_MAX = 4096 };

/* Finished calls in order: the number in `arg` of each. */
struct ends {
    int n;
    int number[ENDS_MAX];
    bool failed[ENDS_MAX];
    int code[ENDS_MAX];
    int64_t commit[ENDS_MAX];
};

struct numbered {
    struct ends *ends;
    int number;
};

static void on_done(void *arg, struct store_call *c)
{
    struct numbered *me = arg;
    struct ends *e = me->ends;

    assert_in_range(e->n, 0, ENDS_MAX - 1);
    e->number[e->n] = me->number;
    e->failed[e->n] = c->failed;
    e->code[e->n] = c->failed ? c->err.code : 0;
    e->commit[e->n] = c->commit;
    e->n++;
    free(me);
    store_call_free(c);
}

static struct store_call *new_call(const struct store_verb *verb, struct ends *e, int number)
{
    struct numbered *me = xalloc(sizeof(*me));

    *me = (struct numbered){ e, number };
    return store_call_new(verb, on_done, me);
}

static struct store_call *app_call(struct ends *e, int number, const char *code, const char *secret)
{
    struct store_call *c = new_call(&store_app_put, e, number);
    struct app_row *row = arena_alloc(&c->arena, sizeof(*row));

    *row = (struct app_row){ .code = arena_strdup(&c->arena, code),
                             .secret_1 = arena_strdup(&c->arena, secret) };
    c->in = row;
    return c;
}

static struct store_call *host_call(struct ends *e, int number, const char *ip)
{
    struct store_call *c = new_call(&store_host_put, e, number);
    struct host_row *row = arena_alloc(&c->arena, sizeof(*row));

    *row = (struct host_row){ .agent_id = arena_printf(&c->arena, "agent%d", number), .ip = ip };
    c->in = row;
    return c;
}

/* A call that keeps the writer busy while others are submitted. */
static struct store_call *task_call(struct ends *e, int number, size_t n)
{
    struct store_call *c = new_call(&store_task_create, e, number);
    struct task_create_ask *ask = arena_alloc(&c->arena, sizeof(*ask));
    struct task_item_row *items = arena_alloc(&c->arena, n * sizeof(*items));

    for (size_t i = 0; i < n; i++)
        items[i] = (struct task_item_row){ .n = (int64_t)i, .agent_id = "agent", .key = "key" };
    ask->task.id = arena_printf(&c->arena, "T%d", number);
    ask->items = (struct list){ items, n };
    c->in = ask;
    return c;
}

/* A call that fails when most of it is written. */
static struct store_call *bad_task_call(struct ends *e, int number)
{
    struct store_call *c = task_call(e, number, 5);
    const struct task_create_ask *ask = c->in;

    ROW(task_item_row, ask->items, 4)->n = 0; /* conflicts with another item */
    return c;
}

static void submit(struct store_rig *r, struct store_call *c)
{
    if (store_submit(r->store, c, &r->err))
        fail_msg("%s", r->err.text);
}

static void wait_for(struct store_rig *r, const struct ends *e, int n)
{
    while (e->n < n) {
        struct pollfd p = { .fd = store_fd(r->store), .events = POLLIN };

        assert_int_equal(poll(&p, 1, 60000), 1);
        store_on_ready(r->store, 0);
    }
    assert_int_equal(e->n, n);
}

static size_t count_apps(struct store_rig *r)
{
    struct list rows;

    store_rig_do(r, &store_app_list, &(struct store_page){ "", 100000 }, &rows);
    return rows.n;
}

/* How many commits have a known duration: each once, however many calls it had. */
static int64_t timed_commits(const struct store_rig *r)
{
    const struct hist *took = &store_counters(r->store)->commit;
    uint64_t n = 0;

    for (size_t i = 0; i <= HIST_BOUNDS; i++)
        n += took->counts[i];
    assert_true(took->sum_us > 0);
    return (int64_t)n;
}

static void waiting_writes_share_one_commit(void **state)
{
    enum { CALLS = 500 };
    static struct ends e;
    struct store_rig *r = *state;
    int64_t commits = 0;

    submit(r, task_call(&e, 0, 20000));
    for (int i = 1; i <= CALLS; i++) {
        char code[16];

        snprintf(code, sizeof(code), "app%d", i);
        submit(r, app_call(&e, i, code, ""));
    }
    wait_for(r, &e, CALLS + 1);
    for (int i = 0; i <= CALLS; i++) {
        assert_false(e.failed[i]);
        assert_int_equal(e.number[i], i); /* in the order of submission */
        commits += i == 0 || e.commit[i] != e.commit[i - 1];
    }
    assert_in_range(commits, 1, 3);
    assert_int_equal(store_counters(r->store)->calls, CALLS + 1);
    assert_int_equal(store_counters(r->store)->commits, commits);
    assert_int_equal(store_counters(r->store)->by_mode[1], CALLS + 1);
    assert_int_equal(timed_commits(r), commits);
    assert_int_equal(count_apps(r), CALLS);
}

static struct store_call *mixed_call(struct ends *e, int number)
{
    if (number % 7 == 0)
        return bad_task_call(e, number);
    if (number % 3 == 0) /* all of these want the address of the first */
        return host_call(e, number, "10.0.0.1");
    return app_call(e, number, number % 2 ? "odd" : "even", "");
}

static void a_call_that_fails_harms_no_other_and_leaves_nothing(void **state)
{
    enum { CALLS = 100 };
    static struct ends e;
    struct store_rig *r = *state;
    struct list rows;

    submit(r, task_call(&e, 0, 5000));
    for (int i = 1; i <= CALLS; i++)
        submit(r, mixed_call(&e, i));
    wait_for(r, &e, CALLS + 1);
    for (int i = 1; i <= CALLS; i++) {
        bool well = i == 3 || (i % 3 && i % 7);

        assert_int_equal(e.number[i], i);
        assert_int_equal(e.code[i], well ? 0 : ERR_CONFLICT);
    }
    assert_int_equal(store_counters(r->store)->failed, 33 + 14 - 4 - 1);
    store_rig_do(r, &store_host_list, &(struct store_page){ "", 100 }, &rows);
    assert_int_equal(rows.n, 1);
    store_rig_do(r, &store_task_open, &(struct task_open_ask){ 0, 100 }, &rows);
    assert_int_equal(rows.n, 1);
    assert_int_equal(count_apps(r), 2);
}

static void a_full_store_refuses_and_recovers(void **state)
{
    enum { ROOM = 8 };
    static struct ends e;
    struct store_rig *r = *state;

    store_rig_close(r);
    r->options.calls_max = ROOM;
    store_rig_open(r);
    for (int round = 0; round < 3; round++) {
        struct store_call *more;

        e.n = 0;
        for (int i = 0; i < ROOM; i++)
            submit(r, app_call(&e, i, "a", ""));
        more = app_call(&e, ROOM, "refused", "");
        assert_int_equal(store_submit(r->store, more, &r->err), -1);
        assert_int_equal(r->err.code, ERR_UNAVAILABLE);
        assert_int_equal(store_counters(r->store)->refused, round + 1);
        assert_int_equal(store_counters(r->store)->on_their_way, ROOM);
        free(more->arg);
        store_call_free(more);
        wait_for(r, &e, ROOM);
    }
    assert_int_equal(count_apps(r), 1);
}

static void closing_finishes_what_was_submitted(void **state)
{
    enum { CALLS = 200 };
    static struct ends e;
    struct store_rig *r = *state;

    submit(r, task_call(&e, 0, 5000));
    for (int i = 1; i <= CALLS; i++) {
        char code[16];

        snprintf(code, sizeof(code), "app%d", i);
        submit(r, app_call(&e, i, code, ""));
    }
    store_rig_close(r);
    assert_int_equal(e.n, CALLS + 1);
    for (int i = 0; i <= CALLS; i++)
        assert_false(e.failed[i]);
    store_rig_open(r);
    assert_int_equal(count_apps(r), CALLS);
}

struct insistent {
    struct store *store;
    int refused;
};

static void submit_again(void *arg, struct store_call *c)
{
    struct insistent *me = arg;
    struct err err;

    me->refused += store_submit(me->store, c, &err) && err.code == ERR_UNAVAILABLE;
    store_call_free(c);
}

static void nothing_is_begun_while_closing(void **state)
{
    struct store_rig *r = *state;
    struct insistent me = { .store = r->store };
    struct store_call *c = store_call_new(&store_app_list, submit_again, &me);

    c->in = &(struct store_page){ "", 1 };
    submit(r, c);
    store_rig_close(r);
    assert_int_equal(me.refused, 1);
    store_close(NULL);
    store_call_free(NULL);
}

static void a_read_sees_what_was_done_before_it(void **state)
{
    static struct ends e;
    struct store_rig *r = *state;

    for (int i = 0; i < 200; i++) {
        struct list rows;
        char secret[16];

        e.n = 0;
        snprintf(secret, sizeof(secret), "%d", i);
        submit(r, app_call(&e, i, "a", secret));
        wait_for(r, &e, 1);
        store_rig_do(r, &store_app_find, &(struct app_find_ask){ "a" }, &rows);
        assert_string_equal(ROW(app_row, rows, 0)->secret_1, secret);
    }
}

/* ---- When the disk fails. */

static void a_write_that_is_not_on_the_disk_is_not_acknowledged(void **state)
{
    struct store_rig *r = *state;
    struct app_row app = { .code = "a" };

    for (int i = 0; i < 3; i++) {
        failing_syncs = 1;
        store_rig_refused(r, &store_app_put, &app, ERR_SYSTEM);
        assert_int_equal(failing_syncs, 0);
        assert_non_null(strstr(r->err.text, "look at the disk"));
        assert_int_equal(count_apps(r), 0);
    }
    store_rig_do(r, &store_app_put, &app, NULL);
    assert_int_equal(count_apps(r), 1);
}

static void a_commit_that_fails_is_tried_call_by_call(void **state)
{
    enum { CALLS = 10 };
    static struct ends e;
    struct store_rig *r = *state;

    failing_syncs = 2; /* the task's, then that of the others; or that of all, then the task's */
    submit(r, task_call(&e, 0, 5000));
    for (int i = 1; i <= CALLS; i++)
        submit(r, app_call(&e, i, "a", ""));
    wait_for(r, &e, CALLS + 1);
    assert_int_equal(failing_syncs, 0);
    for (int i = 0; i <= CALLS; i++)
        assert_int_equal(e.failed[i], i == 0);
    assert_int_equal(count_apps(r), 1);
}

/* The first host has the address in the shared transaction, but not when each call runs alone: the
 * answer of the second must match the latter.  Which calls share a transaction depends on the
 * threads, so it is tried often. */
static void an_answer_matches_what_is_stored(void **state)
{
    static struct ends e;
    struct store_rig *r = *state;

    for (int round = 0; round < 30; round++) {
        const char *ip = arena_printf(&r->arena, "10.0.0.%d", round);

        e.n = 0;
        failing_syncs = 3; /* of all calls or the task, of the task or the hosts, of a host */
        submit(r, task_call(&e, 3 * round, 500));
        submit(r, host_call(&e, 3 * round + 1, ip));
        submit(r, host_call(&e, 3 * round + 2, ip));
        wait_for(r, &e, 3);
        failing_syncs = 0;
        for (int i = 1; i < 3; i++) {
            struct host_ask ask = { arena_printf(&r->arena, "agent%d", e.number[i]) };
            struct list rows;

            store_rig_do(r, &store_host_find, &ask, &rows);
            assert_int_equal(rows.n, !e.failed[i]);
        }
    }
}

/* A task that finds no space is refused; small calls beside it succeed. */
static int too_large_for_the_disk(struct store_rig *r)
{
    struct rlimit limit = { .rlim_cur = 1024 * 1024, .rlim_max = RLIM_INFINITY };
    static struct ends e;

    signal(SIGXFSZ, SIG_IGN);
    if (store_open(&r->options, &r->store, &r->err))
        return 1;
    setrlimit(RLIMIT_FSIZE, &limit);
    submit(r, task_call(&e, 0, 20000));
    submit(r, app_call(&e, 1, "a", ""));
    submit(r, task_call(&e, 2, 20000));
    submit(r, app_call(&e, 3, "b", ""));
    wait_for(r, &e, 4);
    if (e.code[0] != ERR_UNAVAILABLE || e.code[2] != ERR_UNAVAILABLE)
        return 2;
    if (e.failed[1] || e.failed[3] || count_apps(r) != 2)
        return 3;
    store_close(r->store);
    return 0;
}

static void a_call_too_large_for_the_disk_fails_alone(void **state)
{
    struct store_rig *r = *state;
    pid_t pid;
    int status;

    store_rig_close(r);
    pid = fork();
    if (pid == 0)
        _exit(too_large_for_the_disk(r));
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    store_rig_open(r);
    assert_int_equal(count_apps(r), 2);
}

/* Any call of SQLite may fail: every call is answered, and acknowledged data is there. */
static void every_call_of_a_write_may_fail(void **state)
{
    static const int errors[] = { EIO, ENOSPC };
    struct store_rig *r = *state;
    size_t acknowledged = 0;
    int refused = 0;

    for (size_t k = 0; k < ARRAY_LEN(errors); k++) {
        bool hit = true;

        for (int n = 1; hit; n++) {
            char code[32];
            struct app_row app = { .code = code };

            snprintf(code, sizeof(code), "%zu-%d", k, n);
            sys_fault("any", n, errors[k]);
            if (store_sync(r->store, &store_app_put, &app, NULL, NULL, &r->err))
                refused++;
            else
                acknowledged++;
            hit = sys_fault_hit();
            sys_fault("any", 0, 0);
            assert_int_equal(count_apps(r), acknowledged);
            assert_in_range(n, 1, 100);
        }
    }
    assert_true(refused > 2);
    store_rig_close(r);
    store_rig_open(r);
    assert_int_equal(count_apps(r), acknowledged);
}

/* ---- Many threads. */

enum { THREADS = 8, EACH = 60 };

struct caller {
    struct store *store;
    int number, bad;
    pthread_t thread;
};

static void *put_and_find(void *arg)
{
    struct caller *me = arg;
    struct arena a = { 0 };

    for (int i = 0; i < EACH; i++) {
        struct app_row app = { .code = arena_printf(&a, "%d-%d", me->number, i), .secret_1 = "x" };
        struct app_find_ask ask = { app.code };
        struct list rows;
        struct err err;

        me->bad += store_sync(me->store, &store_app_put, &app, NULL, NULL, &err) != 0;
        me->bad +=
            store_sync(me->store, &store_app_find, &ask, &a, &rows, &err) != 0 || rows.n != 1;
    }
    arena_free(&a);
    return NULL;
}

static void many_threads_wait_for_their_own_calls(void **state)
{
    struct store_rig *r = *state;
    struct caller callers[THREADS];
    static struct ends e;

    for (int i = 0; i < THREADS; i++) {
        callers[i] = (struct caller){ .store = r->store, .number = i };
        assert_int_equal(pthread_create(&callers[i].thread, NULL, put_and_find, &callers[i]), 0);
    }
    for (int i = 0; i < 200; i++)
        submit(r, app_call(&e, i, "the loop's", ""));
    wait_for(r, &e, 200);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(callers[i].thread, NULL);
        assert_int_equal(callers[i].bad, 0);
    }
    assert_int_equal(count_apps(r), THREADS * EACH + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(waiting_writes_share_one_commit),
        STORE_TEST(a_call_that_fails_harms_no_other_and_leaves_nothing),
        STORE_TEST(a_full_store_refuses_and_recovers),
        STORE_TEST(closing_finishes_what_was_submitted),
        STORE_TEST(nothing_is_begun_while_closing),
        STORE_TEST(a_read_sees_what_was_done_before_it),
        STORE_TEST(a_write_that_is_not_on_the_disk_is_not_acknowledged),
        STORE_TEST(a_commit_that_fails_is_tried_call_by_call),
        STORE_TEST(an_answer_matches_what_is_stored),
        STORE_TEST(a_call_too_large_for_the_disk_fails_alone),
        STORE_TEST(every_call_of_a_write_may_fail),
        STORE_TEST(many_threads_wait_for_their_own_calls),
    };

    unsetenv("HOLDFAST_TEST_DB"); /* half of this is about SQLite's disk */
    return cmocka_run_group_tests_name("store", tests, NULL, NULL);
}
