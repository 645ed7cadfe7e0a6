/* SPDX-License-Identifier: MIT */
/* A process that writes tasks and tells us of each that was acknowledged is killed,
 * at any time and at every system call: what it told us of is there, whole, and
 * there is never a part of anything. */
#include "tests/lib/store_rig.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include "base/os/sys.h"
#include "store/store_items.h"
#include "tests/lib/random.h"

enum { AT_ONCE = 4, ROUNDS = 25, TOLD_MAX = 20000 };

/* What the child tells: a task was made, or its first item is done. */
struct told {
    int32_t task;
    int32_t done;
};

static int64_t items_of(int task)
{
    return 1 + task * 7 % 40;
}

/* ---- The child.  It ends by itself after `tasks` of them. */

struct child {
    struct store *store;
    int pipe, next, end, running;
};

static void begin_task(struct child *me);

static void tell(const struct child *me, int task, int done)
{
    struct told t = { task, done };

    if (write(me->pipe, &t, sizeof(t)) != sizeof(t))
        _exit(8);
}

struct step {
    struct child *child;
    int task;
};

static void begin(struct child *me, struct store_call *c)
{
    struct err err;

    if (store_submit(me->store, c, &err))
        _exit(7);
    me->running++;
}

static void on_result(void *arg, struct store_call *c)
{
    struct step *s = arg;

    s->child->running--;
    if (c->failed)
        _exit(6);
    tell(s->child, s->task, 1);
    begin_task(s->child);
    store_call_free(c);
}

static void on_created(void *arg, struct store_call *c)
{
    struct step *s = arg;
    struct task_left_row *made = c->out;
    struct store_call *next = store_call_new(&store_task_result, on_result, NULL);
    struct task_result_ask *ask = arena_alloc(&next->arena, sizeof(*ask));
    struct result_row *row = arena_alloc(&next->arena, sizeof(*row));
    struct step *copy = arena_alloc(&next->arena, sizeof(*copy));

    s->child->running--;
    if (c->failed)
        _exit(5);
    tell(s->child, s->task, 0);
    *copy = *s;
    next->arg = copy;
    *row = (struct result_row){ .task_no = made->task_no, .code = 117, .done_ms = 5 };
    ask->results = (struct list){ row, 1 };
    next->in = ask;
    begin(copy->child, next);
    store_call_free(c);
}

static void begin_task(struct child *me)
{
    static struct task_spec_row spec = { 0, "{}" };
    struct store_call *c;
    struct task_create_ask *ask;
    struct task_item_row *items;
    struct step *s;
    size_t n = (size_t)items_of(me->next);

    if (me->next >= me->end)
        return;
    c = store_call_new(&store_task_create, on_created, NULL);
    ask = arena_alloc(&c->arena, sizeof(*ask));
    items = arena_alloc(&c->arena, n * sizeof(*items));
    c->arg = s = arena_alloc(&c->arena, sizeof(*s));
    *s = (struct step){ me, me->next };
    for (size_t i = 0; i < n; i++)
        items[i] = (struct task_item_row){ .n = (int64_t)i, .agent_id = "agent", .key = "key" };
    ask->task = (struct task_row){ .id = arena_printf(&c->arena, "T%d", me->next),
                                   .deadline_ms = INT64_MAX };
    ask->items = (struct list){ items, n };
    ask->specs = (struct list){ &spec, 1 };
    c->in = ask;
    me->next++;
    begin(me, c);
}

static void child_main(const char *url, int to, int first, int end, long fault)
{
    struct child me = { .pipe = to, .next = first, .end = end };
    struct err err;

    sys_fault("any", fault, 0);
    if (store_open(&(struct store_options){ .url = url }, &me.store, &err))
        _exit(9);
    for (int i = 0; i < AT_ONCE; i++)
        begin_task(&me);
    while (me.running > 0) {
        struct pollfd p = { .fd = store_fd(me.store), .events = POLLIN };

        (void)poll(&p, 1, -1); /* whatever it says, the next line finds out */
        store_on_ready(me.store, 0);
    }
    store_close(me.store);
    _exit(0);
}

/* ---- Its parent. */

struct witness {
    struct store_rig rig;
    struct told told[TOLD_MAX];
    size_t n_told;
    pid_t pid;
    int pipe, next;
};

static int setup(void **state)
{
    struct witness *w = xalloc(sizeof(*w));

    store_rig_place(&w->rig);
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    struct witness *w = *state;

    store_rig_remove(&w->rig);
    free(w);
    return 0;
}

static void start(struct witness *w, int tasks, long fault)
{
    int ends[2];

    assert_int_equal(pipe(ends), 0);
    w->pid = fork();
    if (w->pid == 0) {
        close(ends[0]);
        child_main(w->rig.url, ends[1], w->next, w->next + tasks, fault);
    }
    close(ends[1]);
    w->pipe = ends[0];
    w->next += tasks;
}

/* False at the end. */
static bool hear(struct witness *w)
{
    assert_in_range(w->n_told, 0, TOLD_MAX - 1);
    if (read(w->pipe, &w->told[w->n_told], sizeof(struct told)) != sizeof(struct told))
        return false;
    w->n_told++;
    return true;
}

/* How it ended: its exit status, or less than 0. */
static int reap(struct witness *w)
{
    int status;

    while (hear(w)) {
    }
    close(w->pipe);
    assert_int_equal(waitpid(w->pid, &status, 0), w->pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static struct task_read_got read_task(struct witness *w, const char *id)
{
    struct task_read_got got;

    store_rig_do(&w->rig, &store_task_read, &(struct task_read_ask){ id, -1, 1000 }, &got);
    return got;
}

/* Whole: all its items and its spec, and as many left as are not done. */
static void check_whole(const struct task_read_got *got)
{
    const struct task_row *task = got->tasks.items;
    int64_t left = 0;

    assert_int_equal(got->tasks.n, 1);
    assert_int_equal(got->specs.n, 1);
    assert_int_equal(task->n_items, items_of((int)strtol(task->id + 1, NULL, 10)));
    assert_int_equal(got->items.n, task->n_items);
    for (size_t i = 0; i < got->items.n; i++) {
        assert_int_equal(ROW(task_item_row, got->items, i)->n, i);
        left += ROW(task_item_row, got->items, i)->state != STORE_ITEM_DONE;
    }
    assert_int_equal(task->n_left, left);
}

static void check_told(struct witness *w)
{
    for (size_t i = 0; i < w->n_told; i++) {
        struct task_read_got got;
        char id[16];

        snprintf(id, sizeof(id), "T%d", w->told[i].task);
        got = read_task(w, id);
        if (got.tasks.n == 0)
            fail_msg("%s was acknowledged and is lost", id);
        check_whole(&got);
        if (w->told[i].done)
            assert_int_equal(ROW(task_item_row, got.items, 0)->code, 117);
        arena_reset(&w->rig.arena);
    }
}

static void check_all(struct witness *w)
{
    for (int i = 0; i < w->next; i++) {
        struct task_read_got got;
        char id[16];

        snprintf(id, sizeof(id), "T%d", i);
        got = read_task(w, id);
        if (got.tasks.n)
            check_whole(&got);
        arena_reset(&w->rig.arena);
    }
}

static void check(struct witness *w)
{
    store_rig_open(&w->rig);
    check_told(w);
    check_all(w);
    store_rig_close(&w->rig);
}

static void killed_at_any_time_it_has_what_it_acknowledged(void **state)
{
    struct witness *w = *state;
    uint64_t seed = 7;

    for (int round = 0; round < ROUNDS; round++) {
        size_t until = random_below(&seed, 60);
        int ended;

        start(w, 400, 0);
        while (w->n_told < until && hear(w)) {
        }
        usleep((useconds_t)random_below(&seed, 3000)); /* anywhere, not just after a word of its */
        kill(w->pid, SIGKILL);
        ended = reap(w);
        assert_true(ended == -SIGKILL || ended == 0); /* some are faster than we */
        check(w);
        w->n_told = 0; /* those were seen; they grow too many to look at each time */
    }
}

/* From an empty folder each time, so that the making of the file is among it. */
static void killed_at_every_call_it_has_what_it_acknowledged(void **state)
{
    static const char *const names[] = { "", "-wal", "-shm" };
    struct witness *w = *state;
    int ended = -SIGKILL;
    long n;

    for (n = 1; ended == -SIGKILL; n++) {
        for (size_t i = 0; i < ARRAY_LEN(names); i++) {
            char path[128];

            snprintf(path, sizeof(path), "%s%s", w->rig.path, names[i]);
            unlink(path);
        }
        w->n_told = 0;
        w->next = 0;
        start(w, 6, n);
        ended = reap(w);
        check(w);
        assert_in_range(n, 1, 5000);
    }
    assert_int_equal(ended, 0);
    assert_true(n > 50);
}

#define KILL_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        KILL_TEST(killed_at_any_time_it_has_what_it_acknowledged),
        KILL_TEST(killed_at_every_call_it_has_what_it_acknowledged),
    };

    return cmocka_run_group_tests_name("store_kill", tests, NULL, NULL);
}
