/* SPDX-License-Identifier: MIT */
/* tasks.c - requests, agents, and effects of the hub.  See tasks.h. */
#include "server/dispatch/tasks.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem/mem.h"
#include "base/os/sys.h"
#include "model/operation.h"
#include "model/task.h"
#include "server/dispatch/task_in.h"
#include "server/dispatch/task_join.h"
#include "server/dispatch/task_rows.h"
#include "server/fleet/fleet_registry.h"

enum { FORGET_MS = 10 * 60 * 1000, PRUNE_FIRST_MS = 60 * 1000, DAYS = 7 };
enum { RETRY_MS = 100, RETRY_MAX_MS = 5000 };

/* Limits of memory; an item takes one or two kilobytes. */
enum { OPEN_ITEMS_MAX = 500 * 1000, ENDED_ITEMS_MAX = 100 * 1000 };

int64_t tasks_wall_ms(const struct tasks *t)
{
    return clock_wall_ms(loop_clock(t->loop));
}

static void on_wake(void *arg)
{
    struct tasks *t = arg;

    hub_on_time(t->hub, loop_now_ms(t->loop));
    tasks_wake(t);
}

/* Called after everything that may change hub_next_ms().  A timer that is due is not set again: it
 * would move behind all other timers in every loop iteration. */
void tasks_wake(struct tasks *t)
{
    int64_t next_ms = hub_next_ms(t->hub), now_ms = loop_now_ms(t->loop);

    if (next_ms == INT64_MAX)
        timer_stop(t->loop, &t->wake);
    else if (!t->wake.place || (t->wake.due_ms > now_ms && t->wake.due_ms != next_ms))
        timer_set(t->loop, &t->wake, next_ms - now_ms); /* negative: at once */
}

void outbox_soon(struct tasks *t, struct outbox *box)
{
    if (!box->is_out && !box->flush.place)
        timer_set(t->loop, &box->flush, box->wait_ms);
}

void outbox_failed(struct tasks *t, struct outbox *box, const struct err *err)
{
    int64_t longer_ms = box->wait_ms ? 2 * box->wait_ms : RETRY_MS;

    box->wait_ms = longer_ms < RETRY_MAX_MS ? longer_ms : RETRY_MAX_MS;
    LOG(t->log, LOG_ERROR, "the store fails, what was to be written waits", log_err(err),
        log_int("again_in_ms", box->wait_ms));
    timer_set(t->loop, &box->flush, box->wait_ms);
}

struct peer *tasks_peer(struct tasks *t, const char *agent)
{
    struct peer *p = map_find_str(&t->peers, agent);

    if (p)
        return p;
    p = xalloc(sizeof(*p));
    p->id = xstrdup(agent);
    map_put_str(&t->peers, p->id, p);
    return p;
}

/* ---- a task in memory */

static void free_active_task(struct active_task *active_task)
{
    struct tasks *t = active_task->tasks;

    join_drop(active_task);
    timer_stop(t->loop, &active_task->tell);
    free(active_task->failure);
    arena_free(&active_task->arena);
    free(active_task);
}

static void drop_active_task(struct active_task *active_task)
{
    struct tasks *t = active_task->tasks;

    map_del_str(&t->by_id, active_task->id);
    if (active_task->task_no)
        map_del(&t->by_no, (const char *)&active_task->task_no, sizeof(active_task->task_no));
    t->n_open -= !active_task->is_ended;
    t->n_items -= active_task->n;
    if (!active_task->task_no)
        t->counts.items -= (int64_t)active_task->n; /* it was never stored */
    if (active_task->is_ended) {
        TAILQ_REMOVE(&t->ended, active_task, ended);
        t->n_items_ended -= active_task->n;
    }
    free_active_task(active_task);
}

static void set_forget(struct tasks *t, int64_t least_ms)
{
    const struct active_task *oldest = TAILQ_FIRST(&t->ended);
    int64_t in_ms;

    if (!oldest)
        return;
    in_ms = oldest->ended_ms + FORGET_MS - loop_now_ms(t->loop);
    if (t->n_items_ended > t->ended_max || in_ms < least_ms)
        in_ms = least_ms;
    timer_set(t->loop, &t->forget, in_ms);
}

/* Drops tasks that are old or too many; from now on tasks_read() finds them in the store. */
static void on_forget(void *arg)
{
    struct tasks *t = arg;
    int64_t old_ms = loop_now_ms(t->loop) - FORGET_MS;
    struct active_task *active_task = TAILQ_FIRST(&t->ended), *next;

    for (; active_task && (active_task->ended_ms <= old_ms || t->n_items_ended > t->ended_max);
         active_task = next) {
        next = TAILQ_NEXT(active_task, ended);
        if (active_task->is_cancel_out)
            continue; /* until the call has returned */
        hub_forget(t->hub, active_task->id);
        drop_active_task(active_task);
    }
    set_forget(t, RETRY_MS);
}

static void tell_all(struct active_task *active_task, const struct err *failure)
{
    struct waiter *w = active_task->waiters;

    active_task->waiters = NULL;
    for (; w; w = w->next)
        w->fn(w->arg, failure ? NULL : active_task->id, failure);
}

static void fail_active_task(struct active_task *active_task, const struct err *failure)
{
    hub_on_task_stored(active_task->tasks->hub, active_task->id, failure,
                       loop_now_ms(active_task->tasks->loop));
    join_drop(active_task); /* an equal request must not join it */
    tell_all(active_task, failure);
    drop_active_task(active_task);
}

static void on_tell(void *arg)
{
    struct active_task *active_task = arg;

    if (active_task->failure)
        fail_active_task(active_task, active_task->failure);
    else
        tell_all(active_task, NULL);
}

static void tasks_wait_for(struct active_task *active_task, task_accepted_fn *fn, void *arg)
{
    struct waiter *w = arena_alloc(&active_task->arena, sizeof(*w));

    *w = (struct waiter){ fn, arg, active_task->waiters };
    active_task->waiters = w;
    if (active_task->task_no)
        timer_set(active_task->tasks->loop, &active_task->tell, 0);
}

struct active_task *active_task_new(struct tasks *t, const struct task_row *row, size_t n)
{
    struct active_task *active_task = xalloc(sizeof(*active_task));

    active_task->tasks = t;
    active_task->id = arena_strdup(&active_task->arena, row->id);
    active_task->app = arena_strdup(&active_task->arena, row->app);
    active_task->user = arena_strdup(&active_task->arena, row->user);
    active_task->form = row->form;
    active_task->idempotent = row->idempotent;
    active_task->cancelled_ms = row->cancelled_ms;
    active_task->is_overtaken = row->cancelled_ms != 0;
    active_task->created_ms = row->created_ms;
    active_task->spec_seq = row->said_ms ? row->said_ms : row->created_ms;
    fleet_note_seq(t->fleet, active_task->spec_seq);
    active_task->deadline_ms = row->deadline_ms;
    active_task->n = active_task->left = n;
    active_task->items = arena_alloc(&active_task->arena, n * sizeof(*active_task->items));
    for (size_t i = 0; i < n; i++) {
        active_task->items[i].task = active_task;
        active_task->items[i].n = (int64_t)i;
    }
    TAILQ_INIT(&active_task->waiting);
    timer_init(&active_task->tell, on_tell, active_task);
    map_put_str(&t->by_id, active_task->id, active_task);
    t->n_open++;
    t->n_items += n;
    t->counts.items += (int64_t)n;
    return active_task;
}

/* The caller may still use the task, so it is not freed here even if there are too many. */
static void end_active_task(struct active_task *active_task)
{
    struct tasks *t = active_task->tasks;

    active_task->is_ended = true;
    active_task->ended_ms = loop_now_ms(t->loop);
    t->n_open--;
    join_drop(active_task);
    TAILQ_INSERT_TAIL(&t->ended, active_task, ended);
    t->n_items_ended += active_task->n;
    set_forget(t, 0);
}

static void note_spec(const struct active_item *item, const struct hub_item *pub)
{
    struct active_task *active_task = item->task;
    struct proc_meta meta = { pub->meta.space, pub->meta.name, active_task->labels[item->spec_n] };

    if (pub->code == CODE_OK && pub->spec->has_identity == PRESENCE_GIVEN &&
        operation_registers(pub->op))
        fleet_put_spec(active_task->tasks->fleet, pub->agent, &meta, pub->spec,
                       active_task->spec_seq);
}

void active_item_stored(struct active_item *item, const struct message_result *other)
{
    struct active_task *active_task = item->task;
    struct tasks *t = active_task->tasks;
    const struct hub_item *pub;
    size_t n;

    hub_on_result_stored(t->hub, active_task->id, item->n, other, loop_now_ms(t->loop));
    pub = hub_find(t->hub, active_task->id, &n);
    item->result = NULL;
    note_spec(item, &pub[item->n]);
    task_counts_end(&t->counts, &pub[item->n], item->done_ms - active_task->created_ms);
    if (--active_task->left == 0)
        end_active_task(active_task);
    cancel_item_stored(item);
}

/* ---- effects of the hub */

static void effects_store_task(void *arg, const struct hub_task *task)
{
    struct tasks *t = arg;
    struct active_task *active_task = map_find_str(&t->by_id, task->id);
    const struct hub_item *items = task->items.items;
    struct task_item_row *rows = ((const struct task_create_ask *)t->creating->in)->items.items;

    for (size_t i = 0; i < active_task->n; i++) {
        struct active_item *item = &active_task->items[i];

        item->spec_n = rows[i].spec_n;
        if (items[i].code != CODE_WAITING) {
            task_rows_end(&rows[i], &items[i], active_task->created_ms, &t->creating->arena);
            item->done_ms = active_task->created_ms;
            active_task->left--;
            continue;
        }
        item->claimed = tasks_peer(t, items[i].agent)->epoch;
        rows[i].state = item->claimed ? STORE_ITEM_CLAIMED : STORE_ITEM_QUEUED;
        rows[i].epoch = item->claimed;
    }
}

static void effects_store_result(void *arg, const char *task, int64_t item,
                                 const struct message_result *result)
{
    struct tasks *t = arg;
    struct active_task *active_task = map_find_str(&t->by_id, task);

    if (t->cancelling == active_task)
        cancel_item_ends(&active_task->items[item]);
    results_put(&active_task->items[item], result);
}

static void effects_send(void *arg, const char *agent, int64_t epoch, unsigned type,
                         const struct shape *s, const void *message)
{
    struct tasks *t = arg;

    t->effects->send(t->arg, agent, epoch, type, s, message);
}

static bool effects_is_full(void *arg, const char *agent, int64_t epoch)
{
    struct tasks *t = arg;

    return t->effects->is_full && t->effects->is_full(t->arg, agent, epoch);
}

static bool effects_is_here(void *arg, const char *agent)
{
    const struct peer *p = map_find_str(&((struct tasks *)arg)->peers, agent);

    return p && p->epoch;
}

static const struct hub_effects hub_effects = { effects_store_task, effects_store_result,
                                                effects_send, effects_is_full, effects_is_here };

/* ---- start and stop */

struct tasks *tasks_new(struct loop *loop, struct log *log, struct store *store,
                        struct fleet *fleet, const struct tasks_effects *effects, void *arg)
{
    struct tasks *t = xalloc(sizeof(*t));

    t->loop = loop;
    t->log = log;
    t->store = store;
    t->fleet = fleet;
    t->effects = effects;
    t->arg = arg;
    t->pending_calls = pending_calls_new(store);
    t->hub = hub_new(&hub_effects, t, loop_now_ms(loop));
    TAILQ_INIT(&t->waiting);
    TAILQ_INIT(&t->parked);
    TAILQ_INIT(&t->claiming);
    TAILQ_INIT(&t->ended);
    t->days = DAYS;
    t->open_max = OPEN_ITEMS_MAX;
    t->ended_max = ENDED_ITEMS_MAX;
    timer_init(&t->results.flush, results_flush, t);
    timer_init(&t->claims.flush, claims_flush, t);
    timer_init(&t->unpark, results_unpark, t);
    timer_init(&t->wake, on_wake, t);
    timer_init(&t->prune, task_prune, t);
    timer_init(&t->forget, on_forget, t);
    timer_set(loop, &t->prune, PRUNE_FIRST_MS);
    return t;
}

void tasks_set_limits(struct tasks *t, const struct hub_limits *limits)
{
    hub_set_limits(t->hub, limits);
}

void tasks_keep(struct tasks *t, int64_t days, const struct retention *retention)
{
    t->days = days;
    t->retention = retention;
}

static void stop_timers(struct tasks *t)
{
    timer_stop(t->loop, &t->results.flush);
    timer_stop(t->loop, &t->claims.flush);
    timer_stop(t->loop, &t->unpark);
    timer_stop(t->loop, &t->wake);
    timer_stop(t->loop, &t->prune);
    timer_stop(t->loop, &t->forget);
}

void tasks_free(struct tasks *t)
{
    struct map_entry *e;

    if (!t)
        return;
    stop_timers(t);
    hub_free(t->hub);
    for (size_t at = 0; (e = map_next(&t->by_id, &at));)
        free_active_task(e->value);
    for (size_t at = 0; (e = map_next(&t->peers, &at));) {
        struct peer *p = e->value;

        free(p->id);
        free(p);
    }
    pending_calls_free(t->pending_calls);
    map_free(&t->by_id);
    map_free(&t->by_no);
    map_free(&t->by_digest);
    map_free(&t->keys);
    map_free(&t->coming);
    map_free(&t->peers);
    free(t);
}

/* ---- requests */

/* "GSETASK:S:20261115054753" and ten random digits, ":" and a counter. */
static const char *draw_id(struct tasks *t, struct arena *a)
{
    static const char digits[] = "0123456789";
    char iso[TIME_TEXT_SIZE], stamp[15];
    uint64_t random;
    size_t n = 0;

    time_iso(tasks_wall_ms(t), iso);
    for (const char *p = iso; *p && n + 1 < sizeof(stamp); p++) {
        if (strchr(digits, *p))
            stamp[n++] = *p;
    }
    stamp[n] = 0;
    sys_random(&random, sizeof(random));
    return arena_printf(a, "GSETASK:S:%s%010" PRIu64 ":%lld", stamp, random % UINT64_C(10000000000),
                        (long long)++t->counter);
}

/* Counts the items that ended before the task was stored. */
static void count_created(const struct active_task *active_task)
{
    struct tasks *t = active_task->tasks;
    size_t n = 0;
    const struct hub_item *items = hub_find(t->hub, active_task->id, &n);

    t->counts.accepted++;
    for (size_t i = 0; i < n; i++) {
        if (items[i].code != CODE_WAITING)
            task_counts_end(&t->counts, &items[i], 0);
    }
}

static void on_created(void *arg, struct store_call *c)
{
    struct active_task *active_task = arg;
    struct tasks *t = active_task->tasks;

    if (c->failed) {
        fail_active_task(active_task, &c->err);
    } else {
        active_task->task_no = ((struct task_left_row *)c->out)->task_no;
        map_put(&t->by_no, (const char *)&active_task->task_no, sizeof(active_task->task_no),
                active_task);
        hub_on_task_stored(t->hub, active_task->id, NULL, loop_now_ms(t->loop));
        count_created(active_task);
        if (active_task->left == 0)
            end_active_task(active_task);
        tell_all(active_task, NULL);
    }
    store_call_free(c);
    tasks_wake(t);
}

static int tasks_check_room(const struct tasks *t, struct err *err)
{
    size_t open = t->n_items - t->n_items_ended;

    if (open <= t->open_max)
        return 0;
    return err_set(err, ERR_UNAVAILABLE,
                   "%zu targets of tasks have not ended, and there may be %zu: try again later",
                   open, t->open_max);
}

/* A refusal, by us or by the store, is reported later too, never from within this call. */
static void tasks_submit(struct active_task *active_task, struct store_call *c)
{
    struct err err;

    c->arg = active_task;
    if (tasks_check_room(active_task->tasks, &err) == 0 &&
        pending_calls_submit(active_task->tasks->pending_calls, c, &err) == 0)
        return;
    store_call_free(c);
    active_task->failure = xalloc(sizeof(err));
    *active_task->failure = err;
    timer_set(active_task->tasks->loop, &active_task->tell, 0);
}

static struct active_task *operate(struct tasks *t, struct store_call *c,
                                   struct task_create_ask *rows, struct hub_item *items,
                                   const char *digest, int64_t may_host)
{
    struct active_task *active_task;

    rows->task.id = draw_id(t, &c->arena);
    active_task = active_task_new(t, &rows->task, rows->items.n);
    active_task->labels = task_rows_labels(&rows->specs, &active_task->arena);
    c->in = rows;
    t->creating = c;
    hub_operate(t->hub,
                &(struct hub_task){ active_task->id,
                                    { items, active_task->n },
                                    false,
                                    active_task->app,
                                    active_task->form == TASK_FORM_NATIVE,
                                    active_task->idempotent,
                                    may_host },
                loop_now_ms(t->loop));
    t->creating = NULL;
    memcpy(active_task->digest, digest, sizeof(active_task->digest));
    join_add(active_task, &rows->items);
    tasks_submit(active_task, c);
    tasks_wake(t);
    return active_task;
}

/* A request key tells repetitions apart instead of the digest (store_requests.h). */
static bool has_key(const struct task_ask *ask)
{
    return ask->request_key && *ask->request_key;
}

void tasks_operate(struct tasks *t, const struct task_ask *ask, task_accepted_fn *fn, void *arg)
{
    struct store_call *c = store_call_new(&store_task_create, on_created, NULL);
    struct task_create_ask *rows = arena_alloc(&c->arena, sizeof(*rows));
    struct hub_item *items = arena_alloc(&c->arena, ask->targets.n * sizeof(*items));
    char digest[DIGEST_TEXT_SIZE];
    struct active_task *active_task;

    task_rows_of(ask, tasks_wall_ms(t), loop_now_ms(t->loop), &c->arena, rows, items);
    rows->task.said_ms = fleet_draw_seq(t->fleet);
    join_digest(rows, digest);
    active_task = has_key(ask) ? NULL : join_find(t, digest);
    if (!active_task && ask->joins_only) {
        struct err err;

        store_call_free(c);
        err_set(&err, ERR_CONFLICT, "there is no unfinished task to join");
        fn(arg, NULL, &err);
        return;
    }
    if (active_task)
        store_call_free(c);
    else
        active_task = operate(t, c, rows, items, digest, ask->may_host);
    tasks_wait_for(active_task, fn, arg);
}

int64_t tasks_deadline_ms(const struct tasks *t, const char *id)
{
    const struct active_task *active_task = map_find_str(&t->by_id, id);

    return active_task ? active_task->deadline_ms : 0;
}

/* ---- agents */

void tasks_on_session(struct tasks *t, const char *agent, int64_t epoch)
{
    struct peer *p = tasks_peer(t, agent);

    if (epoch <= p->epoch)
        return;
    p->epoch = epoch;
    if (epoch > p->last)
        p->last = epoch;
    claims_put(t, p);
    hub_on_arrival(t->hub, agent, loop_now_ms(t->loop));
    tasks_wake(t);
}

void tasks_on_session_end(struct tasks *t, const char *agent, int64_t epoch)
{
    struct peer *p = tasks_peer(t, agent);

    if (p->epoch == epoch)
        p->epoch = 0;
    hub_on_session_end(t->hub, agent, epoch, loop_now_ms(t->loop));
    tasks_wake(t);
}

void tasks_on_message(struct tasks *t, const char *agent, int64_t epoch, unsigned type,
                      const void *message)
{
    hub_on_message(t->hub, agent, epoch, type, message, loop_now_ms(t->loop));
    tasks_wake(t);
}

int64_t tasks_open(const struct tasks *t)
{
    return t->n_open;
}

const struct task_counts *tasks_counts(struct tasks *t)
{
    t->counts.open = t->n_open;
    t->counts.in_memory = (int64_t)t->by_id.n;
    return &t->counts;
}
