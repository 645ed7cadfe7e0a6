/* SPDX-License-Identifier: MIT */
/* test_core_random.c - random inputs to the agent's core, with its invariants checked after each.
 *
 *     test_agent_core_random              the seeds of a test run
 *     test_agent_core_random FIRST COUNT  these, each printed if it fails
 *     test_agent_core_random SEED 1 trace
 *
 * Answers come late, in any order, again, to operations that have ended, and about processes and
 * operations that the core does not know.  After the inputs everything is answered, and every
 * operation must end. */
#include "agent/supervise/core_local.h"
#include "agent/supervise/op_table.h"
#include "model/app.h"
#include "model/operation.h"
#include "tests/lib/core_rig.h"
#include "tests/lib/random.h"

enum {
    SEEDS = 300,
    INPUTS = 400,
    ASKS_MAX = 256,
    ANSWERED_MAX = 32,
    NAMES = 4,
    PIDS = 9,
    END_INPUTS = 20000,
    NO_OPERATION = 99
};

/* What the core has asked for and may still be answered. */
enum ask_kind { ASKED_RUN, ASKED_RUN_END, ASKED_PROBE, ASKED_PORT, ASKED_FAMILY };

struct asked {
    enum ask_kind kind;
    uint64_t id, question;
};

static struct {
    uint64_t seed, random;
    bool has_trace;
    int input;
    char doing[120];
    uint64_t durable;   /* mark */
    uint64_t first;     /* the mark before the first record of the journal */
    size_t n_compacted; /* records that are durable since the journal was compacted */
    struct asked asked[ASKS_MAX], answered[ANSWERED_MAX];
    size_t n_asked, n_answered;
    int64_t next_item;
    int64_t last_event;
} world;

static const char *const names[NAMES] = { "a", "b", "c", "d" };

static uint64_t below(uint64_t n)
{
    return random_below(&world.random, n);
}

static bool chance(unsigned percent)
{
    return below(100) < percent;
}

static void doing(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(world.doing, sizeof(world.doing), fmt, ap);
    va_end(ap);
    if (world.has_trace)
        printf("%4d %8lld %s\n", world.input, (long long)rig.now_ms, world.doing);
}

/* ---- effects */

static void note_asked(enum ask_kind kind, uint64_t id, uint64_t question)
{
    if (world.n_asked == ASKS_MAX) /* the oldest is never answered */
        memmove(world.asked, world.asked + 1, --world.n_asked * sizeof(world.asked[0]));
    world.asked[world.n_asked++] = (struct asked){ kind, id, question };
    if (world.has_trace)
        printf("              asks %d id %llu question %llu\n", kind, (unsigned long long)id,
               (unsigned long long)question);
}

static void on_send(void *arg, unsigned type, const struct shape *s, const void *message)
{
    (void)arg;
    (void)s;
    if (type == MESSAGE_EVENT)
        world.last_event = ((const struct message_event *)message)->id;
    if (type == MESSAGE_RESULT && world.has_trace)
        printf("              result of %lld: %lld %s\n",
               (long long)((const struct message_result *)message)->item,
               (long long)((const struct message_result *)message)->code,
               ((const struct message_result *)message)->text);
}

static void on_run(void *arg, const struct core_run *run)
{
    (void)arg;
    note_asked(ASKED_RUN, run->id, 0);
}

static void on_adopt(void *arg, const struct core_adopt *a)
{
    (void)arg;
    note_asked(ASKED_RUN_END, a->id, 0);
}

static void on_end_run(void *arg, uint64_t id)
{
    (void)arg;
    (void)id; /* its end was asked for when it began */
}

static void on_probe(void *arg, const struct core_look *look)
{
    (void)arg;
    note_asked(ASKED_PROBE, look->id, look->question);
}

static void on_watch(void *arg, struct core_ident ident)
{
    (void)arg;
    (void)ident;
}

static void on_signal(void *arg, struct core_ident ident, int number, bool with_children)
{
    (void)arg;
    (void)number;
    (void)with_children;
    assert_true(ident.pid > 0);
}

static int on_allow(void *arg, const struct proc_spec *spec, const char *line, struct err *err)
{
    (void)arg;
    (void)spec;
    (void)line;
    if (chance(3))
        return err_set(err, CODE_DENIED, "policy: no");
    return chance(3) ? err_set(err, ERR_UNAVAILABLE, "not now") : 0;
}

static void on_sample(void *arg, struct core_ident ident)
{
    (void)arg;
    (void)ident;
}

static bool on_has_family(void *arg, const struct core_family *f)
{
    (void)arg;
    (void)f;
    return chance(30);
}

static void on_family(void *arg, const struct core_family *f)
{
    (void)arg;
    note_asked(ASKED_FAMILY, f->id, f->question);
}

static void on_siblings(void *arg, const struct core_family *f)
{
    (void)arg;
    (void)f;
}

static bool on_is_alive(void *arg, struct core_ident ident)
{
    (void)arg;
    (void)ident;
    return chance(50);
}

static void on_files(void *arg, const char *space, const char *name, const char *user,
                     const struct list *files)
{
    (void)arg;
    (void)space;
    (void)name;
    (void)user;
    (void)files;
}

static void on_check(void *arg, const struct core_check *check)
{
    (void)arg;
    note_asked(ASKED_PORT, check->id, 0);
}

static struct core_ident any_ident(void)
{
    return (struct core_ident){ 1 + (int64_t)below(PIDS), 1 + (int64_t)below(2) };
}

static void choose_ident(void *to, const char *space, const char *name, struct core_ident ident)
{
    (void)space;
    (void)name;
    if (chance(40))
        *(struct core_ident *)to = ident;
}

/* Rather one that the core knows. */
static struct core_ident some_ident(void)
{
    struct core_ident ident = any_ident();

    if (chance(60))
        core_each_running(rig.core, choose_ident, &ident);
    return ident;
}

static enum core_begun on_find_run(void *arg, const struct core_run *run, struct core_ident *ret)
{
    (void)arg;
    (void)run;
    *ret = any_ident();
    return (enum core_begun)below(BEGUN_UNKNOWN + 1);
}

static const struct core_effects effects = {
    .journal = rig_journal,
    .send = on_send,
    .run = on_run,
    .adopt = on_adopt,
    .end_run = on_end_run,
    .probe = on_probe,
    .watch = on_watch,
    .signal = on_signal,
    .allow = on_allow,
    .sample = on_sample,
    .has_family = on_has_family,
    .family = on_family,
    .siblings = on_siblings,
    .is_alive = on_is_alive,
    .files = on_files,
    .check = on_check,
    .unexpected = rig_unexpected,
    .find_run = on_find_run,
};

/* ---- answers */

static void answer_run(const struct asked *a)
{
    const struct core_began began = { some_ident(), (int64_t)below(100), chance(30) };
    struct err failure;

    err_set(&failure, chance(50) ? CODE_USER : ERR_SYSTEM, "not begun");
    if (chance(10)) {
        doing("run %llu fails", (unsigned long long)a->id);
        core_on_run(rig.core, a->id, NULL, &failure, rig.now_ms);
        return;
    }
    doing("run %llu begins as %lld", (unsigned long long)a->id, (long long)began.ident.pid);
    note_asked(ASKED_RUN_END, a->id, 0);
    core_on_run(rig.core, a->id, &began, NULL, rig.now_ms);
}

static void answer_run_end(const struct asked *a)
{
    static const int statuses[] = { 0, 0, 0, 1, 255, CORE_SIGNALED + SIGKILL, CORE_STATUS_UNKNOWN };
    int status = statuses[below(ARRAY_LEN(statuses))];

    doing("run %llu ends with %d", (unsigned long long)a->id, status);
    core_on_run_end(rig.core, a->id, status, chance(50) ? "said" : "", rig.now_ms);
}

static void answer_probe(const struct asked *a)
{
    static const enum core_found found[] = { FOUND_NOTHING, FOUND_NOTHING, FOUND_IT,
                                             FOUND_IT,      FOUND_IT,      FOUND_ANOTHER,
                                             FOUND_UNSURE,  FOUND_DENIED };
    struct core_probe probe = { .question = a->question,
                                .found = found[below(ARRAY_LEN(found))],
                                .why = "why" };

    shape_defaults(&proc_view_shape, &probe.view);
    if (probe.found == FOUND_IT)
        probe.ident = some_ident();
    doing("probe %llu of %llu: %d, pid %lld", (unsigned long long)a->question,
          (unsigned long long)a->id, probe.found, (long long)probe.ident.pid);
    core_on_probe(rig.core, a->id, &probe, rig.now_ms);
}

static void answer_family(const struct asked *a)
{
    const struct core_members m = {
        .question = a->question, .n = below(3), .names = "d (12)", .others = ""
    };

    doing("family %llu of %llu: %zu", (unsigned long long)a->question, (unsigned long long)a->id,
          m.n);
    core_on_family(rig.core, a->id, &m, rig.now_ms);
}

static void answer_port(const struct asked *a)
{
    const struct core_checked got = { (enum core_check_outcome)below(4), (double)below(100),
                                      "it fails" };

    doing("check of %llu: %d", (unsigned long long)a->id, (int)got.outcome);
    core_on_check(rig.core, a->id, &got, rig.now_ms);
}

static void answer(const struct asked *a)
{
    switch (a->kind) {
    case ASKED_RUN: answer_run(a); return;
    case ASKED_RUN_END: answer_run_end(a); return;
    case ASKED_PROBE: answer_probe(a); return;
    case ASKED_PORT: answer_port(a); return;
    case ASKED_FAMILY: answer_family(a); return;
    }
}

static void answer_once(size_t i)
{
    const struct asked a = world.asked[i];

    memmove(world.asked + i, world.asked + i + 1, (--world.n_asked - i) * sizeof(a));
    world.answered[world.n_answered++ % ANSWERED_MAX] = a;
    answer(&a);
}

/* The core relies on it that what an operation waits for is answered once: an answer comes again
 * only when that has ended, or has asked again. */
static void answer_again(void)
{
    size_t n = world.n_answered < ANSWERED_MAX ? world.n_answered : ANSWERED_MAX;
    const struct asked a = n ? world.answered[below(n)] : (struct asked){ 0 };
    const struct op *op = map_find(&rig.core->by_id, (const char *)&a.id, sizeof(a.id));

    if (n && (!op || op->phase == PHASE_SYNC || a.kind == ASKED_PORT ||
              (a.kind == ASKED_PROBE && op->questions != a.question)))
        answer(&a);
}

/* ---- other inputs */

static void input_answer(void)
{
    size_t newest = below(4);

    if (chance(10))
        answer_again();
    else if (world.n_asked)
        answer_once(chance(70) && newest < world.n_asked ? world.n_asked - 1 - newest
                                                         : below(world.n_asked));
}

static void input_durable(void)
{
    world.durable += below(rig.mark - world.durable + 1);
    if (chance(70))
        world.durable = rig.mark;
    doing("durable to %llu", (unsigned long long)world.durable);
    core_on_durable(rig.core, world.durable, rig.now_ms);
}

static void input_time(void)
{
    static const int64_t steps[] = { 0, 10, 100, 100, 500, 1000, 1000, 5000, 60000 };
    int64_t ms = steps[below(ARRAY_LEN(steps))], next_ms = core_next_ms(rig.core);

    if (chance(70) && next_ms < INT64_MAX && next_ms > rig.now_ms)
        ms = next_ms - rig.now_ms;
    rig.now_ms += ms;
    rig.wall_ms += ms;
    if (chance(1))
        rig.wall_ms += chance(50) ? 86400000 : -3600000;
    doing("time passes: %lld ms", (long long)ms);
    core_on_time(rig.core, rig.now_ms, rig.wall_ms);
}

static const char *some_line(const char *line, unsigned percent)
{
    return chance(percent) ? line : "";
}

static void choose_spec(struct proc_spec *spec)
{
    static struct proc_word after[] = { { "a" } };
    static struct proc_check checks[] = {
        { "", "", "80", "", "", 0, 3, 0, 2, false },
        { "", "", "", "check", "", 0, 5, 0, 1, false },
        { "", "http://127.0.0.1/", "", "", "", 0, 1, 0, 3, false },
    };

    spec->control = (struct proc_control){ some_line("start", 90),   some_line("stop", 40),
                                           some_line("restart", 30), some_line("reload", 60),
                                           some_line("kill", 20),    some_line("version", 20),
                                           some_line("health", 30) };
    if (chance(10)) { /* the known one is used */
        spec->identity = (struct proc_identity){ "", "", "", "", "", "", "" };
        spec->control = (struct proc_control){ "", "", "", "", "", "", "" };
        spec->has_identity = spec->has_control = PRESENCE_ABSENT;
    }
    spec->has_policy = spec->policy.has_kind = PRESENCE_GIVEN;
    spec->policy.kind = chance(70) ? PROC_RESIDENT : (int64_t)below(3);
    spec->policy.has_timeout = spec->policy.has_start_check = PRESENCE_GIVEN;
    spec->policy.op_timeout_s = 1 + (int64_t)below(20);
    spec->policy.start_check_s = (int64_t)below(8);
    if (spec->policy.kind == PROC_PERIODIC && chance(50)) {
        spec->policy.has_cycle = PRESENCE_GIVEN;
        spec->policy.cycle_s = 1 + (int64_t)below(60);
    }
    spec->extra.ready = (struct proc_ready){ chance(50) ? (int64_t)below(5) : READY_ALIVE, 80,
                                             1 + (int64_t)below(10), false };
    spec->extra.checks = (struct list){ checks, chance(40) ? below(4) : 0 };
    spec->extra.keep_trying = chance(20);
    spec->extra.instances = chance(10) ? 3 : 0;
    spec->extra.health_interval_s = chance(20) ? 5 : 0;
    spec->extra.unhealthy_restarts = (int64_t)below(3);
    if (chance(10))
        spec->extra.after = (struct list){ after, 1 };
    if (chance(10))
        spec->resource.cpu_percent = 10;
}

static void input_command(void)
{
    static const int64_t in_ms[] = { -1000, 500, 5000, 60000, 300000, 300000 };
    static const int64_t ops[] = { PROC_OP_START, PROC_OP_START,   PROC_OP_START,   PROC_OP_STOP,
                                   PROC_OP_STOP,  PROC_OP_RESTART, PROC_OP_RESTART, PROC_OP_QUERY,
                                   PROC_OP_HOST,  PROC_OP_UNHOST,  PROC_OP_RELOAD,  PROC_OP_KILL,
                                   NO_OPERATION };
    int64_t deadline_ms = in_ms[below(ARRAY_LEN(in_ms))];
    struct message_command m = rig_command(ops[below(ARRAY_LEN(ops))], names[below(NAMES)]);
    char task[CORE_LOCAL_TASK_SIZE];

    choose_spec(&m.spec);
    m.item = chance(90) ? ++world.next_item : 1 + (int64_t)below((uint64_t)world.next_item + 1);
    m.deadline_ms = rig.now_ms + deadline_ms;
    m.only_if_hosted = chance(5);
    m.forgets = chance(20);
    m.stores_spec = chance(30);
    m.hosts_running = chance(30);
    m.may_host = chance(30) ? MAY_HOST_ALL : MAY_HOST_NONE;
    m.ends_tries = chance(30);
    m.look = (int64_t)below(LOOK_UNCHECKED + 1);
    doing("command %lld: op %lld on %s [%s %s %s %s] kind %lld ready %lld", (long long)m.item,
          (long long)m.op, m.meta.name, m.spec.control.start_cmd, m.spec.control.stop_cmd,
          m.spec.control.restart_cmd, m.spec.control.kill_cmd, (long long)m.spec.policy.kind,
          (long long)m.spec.extra.ready.kind);
    if (chance(90)) {
        core_on_message(rig.core, MESSAGE_COMMAND, &m, rig.now_ms);
        return;
    }
    core_local_task("tom", (uint64_t)m.item, task);
    m.task = task;
    if (chance(90))
        (void)core_operate(rig.core, &m, deadline_ms, rig.now_ms);
    else
        core_on_message(rig.core, MESSAGE_COMMAND, &m, rig.now_ms);
}

static int64_t some_item(void)
{
    return 1 + (int64_t)below((uint64_t)world.next_item + 2);
}

static void input_cancel(void)
{
    const struct message_cancel m = { .task = "T",
                                      .item = some_item(),
                                      .deadline_ms = rig.now_ms + (int64_t)below(60000),
                                      .meta = { "space", names[below(NAMES)], { 0 } } };

    doing("cancel %lld", (long long)m.item);
    world.next_item = m.item > world.next_item ? m.item : world.next_item;
    core_on_message(rig.core, MESSAGE_CANCEL, &m, rig.now_ms);
}

static void input_stored(void)
{
    const struct message_ref ref = { "T", some_item() };
    const struct message_event_ref event = { world.last_event };

    doing("stored %lld", (long long)ref.item);
    if (chance(70))
        core_on_message(rig.core, MESSAGE_STORED, &ref, rig.now_ms);
    else
        core_on_message(rig.core, MESSAGE_EVENT_STORED, &event, rig.now_ms);
}

static void input_link(void)
{
    const struct message_welcome welcome = { .version = 1,
                                             .epoch = 1,
                                             .server_ms = rig.now_ms + (int64_t)below(1000),
                                             .wants_processes = chance(50) };
    const struct message_ping ping = { rig.now_ms, 0 };
    char digest[DIGEST_TEXT_SIZE];

    doing("link");
    if (chance(30)) {
        core_on_link(rig.core, chance(50), rig.now_ms);
    } else if (chance(50)) {
        core_digest(rig.core, digest);
        core_on_message(rig.core, MESSAGE_WELCOME, &welcome, rig.now_ms);
    } else {
        core_on_message(rig.core, MESSAGE_PING, &ping, rig.now_ms);
    }
}

static void input_group(void)
{
    const struct message_group m = { .id = ++world.next_item,
                                     .group = { "space", { chance(50) ? 20 : 0, 0, 0, 0 } } };

    doing("group");
    core_on_message(rig.core, MESSAGE_GROUP, &m, rig.now_ms);
}

static void input_exit(void)
{
    const struct core_ident ident = some_ident();

    doing("exit of %lld (%lld)", (long long)ident.pid, (long long)ident.start_ticks);
    core_on_exit(rig.core, ident, (int)below(3), rig.now_ms);
}

static void input_output(void)
{
    doing("output");
    core_on_output(rig.core, some_ident(), "said", (enum proc_oom)below(2), rig.now_ms);
}

static void input_siblings(void)
{
    doing("siblings");
    core_on_siblings(rig.core, "space", names[below(NAMES)], some_ident(), "17:1 18:1", rig.now_ms);
}

static void input_sample(void)
{
    const struct core_sample s = { (int64_t)below(1000000000), (int64_t)below(RIG_MEM_BYTES), 1,
                                   chance(10) };

    doing("sample");
    core_on_sample(rig.core, some_ident(), chance(90) ? &s : NULL, rig.now_ms);
}

static void input_ready(void)
{
    struct core_ident main = some_ident();

    if (chance(50))
        main.pid = 0;
    doing("ready, main %lld", (long long)main.pid);
    core_on_ready(rig.core, "space", names[below(NAMES)], main, rig.now_ms);
}

static void input_slow(void)
{
    uint64_t id = world.n_asked ? world.asked[below(world.n_asked)].id : 1;

    doing("%llu is slow", (unsigned long long)id);
    core_on_slow(rig.core, id, rig.now_ms);
}

/* Of operations that never were, or whose question was another. */
static void input_unknown(void)
{
    const struct asked nobody = { ASKED_PROBE, 1000000 + below(10), below(3) };

    answer_probe(&nobody);
    answer_run_end(&nobody);
    answer_run(&nobody);
    answer_family(&nobody);
    answer_port(&nobody);
}

static void input_policy(void)
{
    doing("policy, zone, slots");
    core_on_policy(rig.core, rig.now_ms);
    core_on_zone(rig.core);
    core_set_at_once(rig.core, 1 + (int64_t)below(3));
}

static void input_tell(void)
{
    core_tell_now(rig.core);
}

/* ---- the journal */

static void drop_records(size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        free(rig.records[i].json);
    memmove(rig.records + from, rig.records + to, (rig.n_records - to) * sizeof(rig.records[0]));
    rig.n_records -= to - from;
}

static void input_compact(void)
{
    size_t n = rig.n_records;

    doing("journal compacted");
    world.first = rig.mark;
    core_compact(rig.core);
    drop_records(0, n);
    world.n_compacted = rig.n_records;
}

static void begin(bool same_boot)
{
    struct err err;
    size_t n = rig.n_records;

    rig.core = core_new(&effects, NULL, rig.now_ms, rig.wall_ms);
    core_set_machine(rig.core, RIG_CORES, RIG_MEM_BYTES);
    core_set_at_once(rig.core, 1 + (int64_t)below(3));
    for (size_t i = 0; i < n; i++) {
        if (core_replay(rig.core, rig.records[i].type, rig.records[i].json,
                        strlen(rig.records[i].json), &err))
            fail_msg("seed %llu: %s", (unsigned long long)world.seed, err.text);
    }
    core_start(rig.core, same_boot, rig.now_ms, rig.wall_ms);
}

/* The agent is killed, or the host loses what was not durable; answers of the life before never
 * come. */
static void input_crash(void)
{
    bool same_boot = chance(60);
    size_t durable = (size_t)(world.durable > world.first ? world.durable - world.first : 0);

    doing("%s", same_boot ? "agent killed" : "power lost");
    core_free(rig.core);
    if (durable < world.n_compacted)
        durable = world.n_compacted;
    if (!same_boot && durable < rig.n_records)
        drop_records(durable, rig.n_records);
    world.n_asked = world.n_answered = 0;
    world.first = rig.mark - rig.n_records;
    world.durable = rig.mark;
    world.n_compacted = rig.n_records;
    begin(same_boot);
}

static const struct {
    void (*fn)(void);
    unsigned weight;
} inputs[] = {
    { input_answer, 500 }, { input_durable, 200 }, { input_time, 200 },   { input_command, 120 },
    { input_cancel, 30 },  { input_stored, 30 },   { input_link, 30 },    { input_group, 3 },
    { input_exit, 60 },    { input_output, 10 },   { input_siblings, 5 }, { input_sample, 20 },
    { input_ready, 40 },   { input_slow, 20 },     { input_unknown, 10 }, { input_policy, 10 },
    { input_tell, 80 },    { input_compact, 3 },   { input_crash, 8 },
};

/* ---- a seed */

static void print_operations(void)
{
    struct map_entry *e;

    for (size_t at = 0; (e = map_next(&rig.core->by_id, &at));) {
        const struct op *op = e->value;

        printf("              %s: operation %lld as %llu%s, %s%s, command %lld, process %lld\n",
               op->proc->meta.name, (long long)op->command.op, (unsigned long long)op->id,
               op_is_ours(op) ? " of the agent" : "", op_phase_name(op->phase),
               op->half == HALF_STOP ? " (half)" : "", (long long)op->run.pid,
               (long long)op->proc->ident.pid);
    }
}

static const char *find_fault(void)
{
    static char text[400];
    const char *fault = core_find_fault(rig.core);

    if (!fault)
        return NULL;
    snprintf(text, sizeof(text), "seed %llu, input %d (%s): %s%s%s%s%s",
             (unsigned long long)world.seed, world.input, world.doing, fault,
             rig.unexpected ? ": " : "", rig.unexpected_event, rig.unexpected ? " in " : "",
             rig.unexpected_state);
    return text;
}

static void some_input(void)
{
    unsigned all = 0, at;
    size_t i = 0;

    for (size_t k = 0; k < ARRAY_LEN(inputs); k++)
        all += inputs[k].weight;
    for (at = (unsigned)below(all); at >= inputs[i].weight; i++)
        at -= inputs[i].weight;
    if (rig.n_records > RIG_RECORDS / 2)
        input_compact();
    inputs[i].fn();
}

/* Every effect is answered, oldest first, and nothing more is requested: all operations end. */
static const char *find_endless(void)
{
    static char text[120];
    struct map_entry *e;

    for (int i = 0; i < END_INPUTS && rig.core->commands.n; i++, world.input++) {
        const char *fault;

        if (rig.n_records > RIG_RECORDS / 2)
            input_compact();
        if (world.durable != rig.mark) {
            world.durable = rig.mark;
            core_on_durable(rig.core, world.durable, rig.now_ms);
        } else if (world.n_asked) {
            answer_once(0);
        } else {
            input_time();
        }
        if ((fault = find_fault()))
            return fault;
    }
    for (size_t at = 0; (e = map_next(&rig.core->commands, &at));) {
        snprintf(text, sizeof(text), "seed %llu: %s does not end", (unsigned long long)world.seed,
                 e->key);
        return text;
    }
    return NULL;
}

static const char *run(uint64_t seed, bool has_trace)
{
    const char *fault = NULL;

    memset(&world, 0, sizeof(world));
    world.seed = world.random = seed;
    world.has_trace = has_trace;
    rig.now_ms = 5000;
    rig.wall_ms = 1700000000000;
    rig.mark = 0;
    rig.unexpected = 0;
    rig.unexpected_event[0] = rig.unexpected_state[0] = '\0';
    begin(true);
    for (; world.input < INPUTS && !fault; world.input++) {
        some_input();
        fault = find_fault();
        if (has_trace)
            print_operations();
    }
    if (!fault)
        fault = find_endless();
    core_free(rig.core);
    drop_records(0, rig.n_records);
    return fault;
}

static void random_inputs_break_no_invariant(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        const char *fault = run(seed, false);

        if (fault)
            fail_msg("%s", fault);
    }
}

static int run_these(uint64_t first, uint64_t count, bool has_trace)
{
    int faults = 0;

    for (uint64_t seed = first; seed < first + count; seed++) {
        const char *fault = run(seed, has_trace);

        faults += fault != NULL;
        if (fault)
            printf("%s\n", fault);
    }
    printf("%llu seeds, %d faults\n", (unsigned long long)count, faults);
    return faults != 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_inputs_break_no_invariant),
    };

    if (argc > 2)
        return run_these(strtoull(argv[1], NULL, 10), strtoull(argv[2], NULL, 10), argc > 3);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
