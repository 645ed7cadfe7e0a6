/* SPDX-License-Identifier: MIT */
/* tasks.c - see tasks.h: the hub with its store and its clock. */
#include "server/tasks.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sys.h"
#include "model/task.h"
#include "server/task_in.h"
#include "server/task_join.h"
#include "server/task_rows.h"

enum { FORGET_MS = 10 * 60 * 1000, PRUNE_FIRST_MS = 60 * 1000, DAYS = 7 };
enum { RETRY_MS = 100, RETRY_MAX_MS = 5000 };

/* What may be in memory; an item takes a kilobyte or two. */
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

/* Called after whatever may have moved the hub's next moment.  One that is due stays: set again
 * it would be the last, in every turn, behind those who call us. */
void tasks_wake(struct tasks *t)
{
    int64_t next_ms = hub_next_ms(t->hub), now_ms = loop_now_ms(t->loop);

    if (next_ms == INT64_MAX)
        timer_stop(t->loop, &t->wake);
    else if (!t->wake.place || (t->wake.due_ms > now_ms && t->wake.due_ms != next_ms))
        timer_set(t->loop, &t->wake, next_ms - now_ms); /* what is past is now */
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

/* ---- A task in memory. */

static void free_live(struct live *live)
{
    struct tasks *t = live->tasks;

    join_drop(live);
    timer_stop(t->loop, &live->tell);
    free(live->failure);
    arena_free(&live->arena);
    free(live);
}

static void drop_live(struct live *live)
{
    struct tasks *t = live->tasks;

    map_del_str(&t->by_id, live->id);
    if (live->task_no)
        map_del(&t->by_no, (const char *)&live->task_no, sizeof(live->task_no));
    t->n_open -= !live->is_ended;
    t->n_items -= live->n;
    if (!live->task_no)
        t->counts.items -= (int64_t)live->n; /* it never was */
    if (live->is_ended) {
        TAILQ_REMOVE(&t->ended, live, ended);
        t->n_items_ended -= live->n;
    }
    free_live(live);
}

static void set_forget(struct tasks *t, int64_t least_ms)
{
    const struct live *oldest = TAILQ_FIRST(&t->ended);
    int64_t in_ms;

    if (!oldest)
        return;
    in_ms = oldest->ended_ms + FORGET_MS - loop_now_ms(t->loop);
    if (t->n_items_ended > t->ended_max || in_ms < least_ms)
        in_ms = least_ms;
    timer_set(t->loop, &t->forget, in_ms);
}

/* The store has those that are old or too many; tasks_read() looks there from now on. */
static void on_forget(void *arg)
{
    struct tasks *t = arg;
    int64_t old_ms = loop_now_ms(t->loop) - FORGET_MS;
    struct live *live = TAILQ_FIRST(&t->ended), *next;

    for (; live && (live->ended_ms <= old_ms || t->n_items_ended > t->ended_max); live = next) {
        next = TAILQ_NEXT(live, ended);
        if (live->is_cancel_out)
            continue; /* not before that is back */
        hub_forget(t->hub, live->id);
        drop_live(live);
    }
    set_forget(t, RETRY_MS);
}

static void tell_all(struct live *live, const struct err *failure)
{
    struct waiter *w = live->waiters;

    live->waiters = NULL;
    for (; w; w = w->next)
        w->fn(w->arg, failure ? NULL : live->id, failure);
}

static void fail_live(struct live *live, const struct err *failure)
{
    hub_on_task_stored(live->tasks->hub, live->id, failure, loop_now_ms(live->tasks->loop));
    join_drop(live); /* who asks now asks anew */
    tell_all(live, failure);
    drop_live(live);
}

static void on_tell(void *arg)
{
    struct live *live = arg;

    if (live->failure)
        fail_live(live, live->failure);
    else
        tell_all(live, NULL);
}

static void wait_for(struct live *live, task_accepted_fn *fn, void *arg)
{
    struct waiter *w = arena_alloc(&live->arena, sizeof(*w));

    *w = (struct waiter){ fn, arg, live->waiters };
    live->waiters = w;
    if (live->task_no)
        timer_set(live->tasks->loop, &live->tell, 0);
}

struct live *live_new(struct tasks *t, const struct task_row *row, size_t n)
{
    struct live *live = xalloc(sizeof(*live));

    live->tasks = t;
    live->id = arena_strdup(&live->arena, row->id);
    live->app = arena_strdup(&live->arena, row->app);
    live->user = arena_strdup(&live->arena, row->user);
    live->form = row->form;
    live->idempotent = row->idempotent;
    live->cancelled_ms = row->cancelled_ms;
    live->is_overtaken = row->cancelled_ms != 0;
    live->created_ms = row->created_ms;
    live->deadline_ms = row->deadline_ms;
    live->n = live->left = n;
    live->items = arena_alloc(&live->arena, n * sizeof(*live->items));
    for (size_t i = 0; i < n; i++) {
        live->items[i].task = live;
        live->items[i].n = (int64_t)i;
    }
    TAILQ_INIT(&live->waiting);
    timer_init(&live->tell, on_tell, live);
    map_put_str(&t->by_id, live->id, live);
    t->n_open++;
    t->n_items += n;
    t->counts.items += (int64_t)n;
    return live;
}

/* It may be in use by who has ended it, so those that are too many go later. */
static void end_live(struct live *live)
{
    struct tasks *t = live->tasks;

    live->is_ended = true;
    live->ended_ms = loop_now_ms(t->loop);
    t->n_open--;
    join_drop(live);
    TAILQ_INSERT_TAIL(&t->ended, live, ended);
    t->n_items_ended += live->n;
    set_forget(t, 0);
}

static void note_spec(const struct live_item *item, const struct hub_item *pub)
{
    struct live *live = item->task;
    struct proc_meta meta = { pub->meta.space, pub->meta.name, live->labels[item->spec_n] };

    if (pub->code == CODE_OK && pub->spec->has_identity == PRESENCE_GIVEN &&
        task_makes_known(pub->op))
        fleet_put_spec(live->tasks->fleet, pub->agent, &meta, pub->spec, live->created_ms);
}

void live_item_stored(struct live_item *item, const struct message_result *other)
{
    struct live *live = item->task;
    struct tasks *t = live->tasks;
    const struct hub_item *pub;
    size_t n;

    hub_on_result_stored(t->hub, live->id, item->n, other, loop_now_ms(t->loop));
    pub = hub_find(t->hub, live->id, &n);
    item->result = NULL;
    note_spec(item, &pub[item->n]);
    task_counts_end(&t->counts, &pub[item->n], item->done_ms - live->created_ms);
    if (--live->left == 0)
        end_live(live);
    cancel_item_stored(item);
}

/* ---- The hub's hands. */

static void hand_store_task(void *arg, const struct hub_task *task)
{
    struct tasks *t = arg;
    struct live *live = map_find_str(&t->by_id, task->id);
    const struct hub_item *items = task->items.items;
    struct task_item_row *rows = ((const struct task_create_ask *)t->creating->in)->items.items;

    for (size_t i = 0; i < live->n; i++) {
        struct live_item *item = &live->items[i];

        item->spec_n = rows[i].spec_n;
        if (items[i].code != CODE_WAITING) {
            task_rows_end(&rows[i], &items[i], live->created_ms, &t->creating->arena);
            item->done_ms = live->created_ms;
            live->left--;
            continue;
        }
        item->claimed = tasks_peer(t, items[i].agent)->epoch;
        rows[i].state = item->claimed ? STORE_ITEM_CLAIMED : STORE_ITEM_QUEUED;
        rows[i].epoch = item->claimed;
    }
}

static void hand_store_result(void *arg, const char *task, int64_t item,
                              const struct message_result *result)
{
    struct tasks *t = arg;
    struct live *live = map_find_str(&t->by_id, task);

    if (t->cancelling == live)
        cancel_item_ends(&live->items[item]);
    results_put(&live->items[item], result);
}

static void hand_send(void *arg, const char *agent, int64_t epoch, unsigned type,
                      const struct shape *s, const void *message)
{
    struct tasks *t = arg;

    t->hands->send(t->arg, agent, epoch, type, s, message);
}

static bool hand_is_full(void *arg, const char *agent, int64_t epoch)
{
    struct tasks *t = arg;

    return t->hands->is_full && t->hands->is_full(t->arg, agent, epoch);
}

static bool hand_is_here(void *arg, const char *agent)
{
    const struct peer *p = map_find_str(&((struct tasks *)arg)->peers, agent);

    return p && p->epoch;
}

static const struct hub_hands hub_hands = { hand_store_task, hand_store_result, hand_send,
                                            hand_is_full, hand_is_here };

/* ---- Life. */

struct tasks *tasks_new(struct loop *loop, struct log *log, struct store *store,
                        struct fleet *fleet, const struct tasks_hands *hands, void *arg)
{
    struct tasks *t = xalloc(sizeof(*t));

    t->loop = loop;
    t->log = log;
    t->store = store;
    t->fleet = fleet;
    t->hands = hands;
    t->arg = arg;
    t->errands = errands_new(store);
    t->hub = hub_new(&hub_hands, t, loop_now_ms(loop));
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
        free_live(e->value);
    for (size_t at = 0; (e = map_next(&t->peers, &at));) {
        struct peer *p = e->value;

        free(p->id);
        free(p);
    }
    errands_free(t->errands);
    map_free(&t->by_id);
    map_free(&t->by_no);
    map_free(&t->by_digest);
    map_free(&t->keys);
    map_free(&t->coming);
    map_free(&t->peers);
    free(t);
}

/* ---- Asking. */

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

/* Those that need nobody have ended with it. */
static void count_created(const struct live *live)
{
    struct tasks *t = live->tasks;
    size_t n = 0;
    const struct hub_item *items = hub_find(t->hub, live->id, &n);

    t->counts.accepted++;
    for (size_t i = 0; i < n; i++) {
        if (items[i].code != CODE_WAITING)
            task_counts_end(&t->counts, &items[i], 0);
    }
}

static void on_created(void *arg, struct store_call *c)
{
    struct live *live = arg;
    struct tasks *t = live->tasks;

    if (c->failed) {
        fail_live(live, &c->err);
    } else {
        live->task_no = ((struct task_left_row *)c->out)->task_no;
        map_put(&t->by_no, (const char *)&live->task_no, sizeof(live->task_no), live);
        hub_on_task_stored(t->hub, live->id, NULL, loop_now_ms(t->loop));
        count_created(live);
        if (live->left == 0)
            end_live(live);
        tell_all(live, NULL);
    }
    store_call_free(c);
    tasks_wake(t);
}

static int check_room(const struct tasks *t, struct err *err)
{
    size_t open = t->n_items - t->n_items_ended;

    if (open <= t->open_max)
        return 0;
    return err_set(err, ERR_UNAVAILABLE,
                   "%zu targets of tasks have not ended, and there may be %zu: try again later",
                   open, t->open_max);
}

/* Refused, by us or by the store, it is told later all the same. */
static void submit(struct live *live, struct store_call *c)
{
    struct err err;

    c->arg = live;
    if (check_room(live->tasks, &err) == 0 && errands_submit(live->tasks->errands, c, &err) == 0)
        return;
    store_call_free(c);
    live->failure = xalloc(sizeof(err));
    *live->failure = err;
    timer_set(live->tasks->loop, &live->tell, 0);
}

static struct live *operate(struct tasks *t, struct store_call *c, struct task_create_ask *rows,
                            struct hub_item *items, const char *digest)
{
    struct live *live;

    rows->task.id = draw_id(t, &c->arena);
    live = live_new(t, &rows->task, rows->items.n);
    live->labels = task_rows_labels(&rows->specs, &live->arena);
    c->in = rows;
    t->creating = c;
    hub_operate(t->hub, &(struct hub_task){ live->id, { items, live->n }, false, live->app },
                loop_now_ms(t->loop));
    t->creating = NULL;
    memcpy(live->digest, digest, sizeof(live->digest));
    join_add(live, &rows->items);
    submit(live, c);
    tasks_wake(t);
    return live;
}

/* Who asks with a key says by it whether this is the same again (store_requests.h). */
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
    struct live *live;

    task_rows_of(ask, tasks_wall_ms(t), loop_now_ms(t->loop), &c->arena, rows, items);
    join_digest(rows, digest);
    live = has_key(ask) ? NULL : join_find(t, digest);
    if (live)
        store_call_free(c);
    else
        live = operate(t, c, rows, items, digest);
    wait_for(live, fn, arg);
}

int64_t tasks_deadline_ms(const struct tasks *t, const char *id)
{
    const struct live *live = map_find_str(&t->by_id, id);

    return live ? live->deadline_ms : 0;
}

/* ---- Agents. */

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
