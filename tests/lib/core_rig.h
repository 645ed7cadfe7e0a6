/* SPDX-License-Identifier: MIT */
/* core_rig.h - the agent's core with a made-up host around it: as many processes as a test
 * names, whose commands do what the test says and when it says so.  Time passes only in
 * rig_pass(). */
#ifndef TESTS_LIB_CORE_RIG_H
#define TESTS_LIB_CORE_RIG_H

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h needs those before it. */
#include <cmocka.h>

#include "agent/supervise/core.h"
#include "agent/supervise/core_net.h"
#include "agent/supervise/core_use.h"
#include "base/mem/arena.h"
#include "base/mem/buf.h"
#include "base/mem/mem.h"
#include "link/group.h"
#include "model/code.h"
#include "tests/lib/readable.h"
#include "tests/lib/wide_text.h"

enum { RIG_PROCS = 64, RIG_ASKS = 4096, RIG_RECORDS = 4096, RIG_STEP_MS = 100 };
enum { RIG_CORES = 4, RIG_MEM_BYTES = 1 << 30 };

/* A process, and what its commands will do. */
struct rig_proc {
    char name[32], pid_path[48];
    int64_t pid;                  /* 0: it does not run */
    int status;                   /* of its commands */
    const char *output;           /* and what they say */
    bool hangs;                   /* its commands do not end, until rig_end() */
    bool is_foreground;           /* its start command is the process */
    bool is_idle;                 /* its commands change nothing */
    bool ignores_term;            /* it does not mind SIGTERM */
    const char *elsewhere;        /* what is found instead of it */
    bool is_unsure;               /* which is no answer: it may run all the same */
    const char *program, *script; /* of `elsewhere` */
    struct core_ident more[4];
    size_t n_more;      /* others that fit */
    struct err failure; /* code not 0: its commands can not even begin */
    bool is_unheard;    /* the start of its command is not reported */
    int64_t mark;       /* of the last one */
    uint64_t run;       /* its command that runs now; 0: none */
    int64_t run_pid;
    int runs, signals, samples;
    int delivered, delivered_number; /* signals that were asked for; the last one */
    bool refuses_signals;
    int pre_runs, pre_status; /* of its pre-start command */
    bool pre_hangs;
    int doubles;                  /* commands that were begun while another ran */
    double cpu;                   /* what it uses: percent of the machine */
    int64_t rss_bytes;            /* and of RIG_MEM_BYTES */
    int64_t cpu_us;               /* so far */
    bool is_hidden;               /* what it uses can not be said */
    const char *version, *health; /* what its side commands say; NULL: nothing */
    int version_status, health_status;
    bool side_hangs;   /* they do not end, */
    bool side_is_hard; /* not even when they are killed */
    uint64_t side[2];  /* those that run: version, health */
    int sides[2];      /* how many were begun */
    bool has_pid_file; /* which names it */
    size_t files;      /* that are watched */
    int files_again;   /* how often they were asked for */
    size_t left;       /* members of its family besides the main process */
    int tree_kills;    /* SIGKILL to it and its descendants */
    bool left_ignores_term, left_is_immortal, left_may_be_main;
    const char *left_others;     /* NULL: none */
    bool start_lives;            /* its start command, after all this time */
    int looks, left_signals[65]; /* of its family: without a signal, and by signal */
    bool is_watched, has_view;
    struct proc_view view;                          /* as it was told last, in English */
    const char *limit_text, *failed_text, *instead; /* of its cause, as they were told */
    struct arena arena;
};

struct rig_result {
    int64_t item, code;
    char text[600], chinese[600];
    bool is_message;
    char others[64], version[64], health[64];
    bool hosted;
    int64_t wanted, pid, register_s;
};

struct rig {
    struct core *core;
    struct arena arena;
    int64_t now_ms, wall_ms;
    uint64_t mark;
    int64_t next_pid, next_item;
    const char *forbids;   /* a command, or a user; NULL: all is allowed */
    bool has_one_pid_file; /* all that are named from now on are one process */
    bool stores_nothing;   /* the server: it acknowledges no result and no event */
    bool is_policy_slow;   /* only a look can tell */
    bool is_policy_silent; /* not even that */
    bool is_blind;         /* no probe is answered */
    bool is_family_silent; /* no question about a family is answered */
    int sibling_asks;
    char family_siblings[32];                    /* of family_main */
    int family_drops;                            /* questions about one that were given up */
    struct core_ident family_main, family_start; /* as it was asked last whether any are left */
    bool is_begun_unknown;                       /* nor whether a command was begun */
    int64_t last_instances;                      /* so many were looked for last */
    bool is_of_start;                            /* of the last look: as find.h has it */
    bool is_doubtful;                            /* what was asked last */
    bool is_untrusted;
    int start_kills;                /* signals to commands */
    bool port_is_open;              /* of all of them */
    enum core_check_outcome net[8]; /* of checks over the network, by their number in the name */
    bool is_foreign;                /* the port: it belongs to another process, */
    bool is_port_untried;           /* or it could not be tried, */
    bool is_port_silent;            /* or the try does not end */
    double latency_ms;              /* of checks */
    bool any_owner;                 /* of what was tried last, */
    struct core_ident main;         /* and whose it should be */
    int changes;                    /* of checks, between passing and failing */
    char change[64];                /* the last one */
    int64_t port;                   /* that was tried last */
    int ports;                      /* tries, */
    int drops;                      /* and those that were given up */
    bool is_urgent, needs_owner;    /* of what was tried last */
    struct rig_proc procs[RIG_PROCS];
    size_t n_procs;
    struct {
        bool is_run;
        uint64_t id, question;
        struct rig_proc *proc;
        char what[16];
        struct core_ident known, self;
        bool by_pid_file;
    } asks[RIG_ASKS]; /* not answered yet, oldest first */
    size_t n_asks;
    struct rig_result results[RIG_ASKS];
    size_t n_results, n_stored;
    char order[RIG_ASKS][32]; /* whose commands were begun, in this order */
    size_t n_order;
    char events[256][40];
    char event[600], event_chinese[600]; /* the text of the last one */
    bool event_is_message;
    size_t n_events, n_told; /* told: messages about processes */
    int64_t event_id;
    int64_t group_taken; /* id of the last that was */
    int unexpected;      /* pairs that the core's tables do not have; the last one: */
    char unexpected_state[16], unexpected_event[16];
    struct {
        unsigned type;
        char *json;
    } records[RIG_RECORDS];
    size_t n_records;
};

static struct rig rig;

static inline struct rig_proc *rig_proc(const char *name)
{
    for (size_t i = 0; i < rig.n_procs; i++) {
        if (!strcmp(rig.procs[i].name, name))
            return &rig.procs[i];
    }
    assert_true(rig.n_procs < RIG_PROCS);
    snprintf(rig.procs[rig.n_procs].name, sizeof(rig.procs[0].name), "%s", name);
    snprintf(rig.procs[rig.n_procs].pid_path, sizeof(rig.procs[0].pid_path), "/srv/%.32s.pid",
             rig.has_one_pid_file ? "one" : name);
    rig.procs[rig.n_procs].output = "";
    return &rig.procs[rig.n_procs++];
}

/* ---- hands */

static inline uint64_t rig_journal(void *arg, unsigned type, const struct shape *s,
                                   const void *record, bool durable)
{
    struct buf json = { 0 };

    (void)arg;
    (void)durable;
    assert_true(rig.n_records < RIG_RECORDS);
    shape_write(s, record, &json);
    rig.records[rig.n_records].type = type;
    rig.records[rig.n_records++].json = xmemdup(buf_data(&json), json.len);
    buf_free(&json);
    return ++rig.mark;
}

static inline void rig_take_view(const struct proc_view *v)
{
    struct rig_proc *p = rig_proc(v->name);

    arena_reset(&p->arena);
    p->view = *v;
    p->has_view = true;
    proc_view_keep(&p->view, &p->arena);
    p->limit_text = p->view.cause.limit_text;
    p->failed_text = p->view.cause.failed_text;
    p->instead = p->view.cause.instead;
    p->view.cause.limit_text = translate(p->limit_text, LANG_EN, &p->arena);
    p->view.cause.failed_text = translate(p->failed_text, LANG_EN, &p->arena);
    p->view.cause.instead = translate(p->instead, LANG_EN, &p->arena);
    p->view.health = translate(p->view.health, LANG_EN, &p->arena);
}

static inline void rig_take_result(const struct message_result *r)
{
    struct rig_result *to = &rig.results[rig.n_results++];

    assert_true(rig.n_results <= RIG_ASKS);
    assert_whole_text(r->text);
    *to = (struct rig_result){ .item = r->item,
                               .code = r->code,
                               .is_message = msg_is(r->text),
                               .hosted = r->view.hosted,
                               .wanted = r->view.wanted,
                               .pid = r->view.pid,
                               .register_s = r->view.register_s };
    readable(to->text, sizeof(to->text), r->text, LANG_EN);
    readable(to->chinese, sizeof(to->chinese), r->text, LANG_ZH);
    snprintf(to->others, sizeof(to->others), "%s", r->view.others);
    snprintf(to->version, sizeof(to->version), "%s", r->view.version);
    readable(to->health, sizeof(to->health), r->view.health, LANG_EN);
}

static inline void rig_take_event(const struct message_event *e)
{
    assert_true(rig.n_events < ARRAY_LEN(rig.events));
    assert_whole_text(e->text);
    snprintf(rig.events[rig.n_events++], sizeof(rig.events[0]), "%s", e->name);
    rig.event_id = e->id;
    readable(rig.event, sizeof(rig.event), e->text, LANG_EN);
    readable(rig.event_chinese, sizeof(rig.event_chinese), e->text, LANG_ZH);
    rig.event_is_message = msg_is(e->text);
}

static inline void rig_send(void *arg, unsigned type, const struct shape *s, const void *message)
{
    const struct message_processes *m = message;

    (void)arg;
    (void)s;
    if (type == MESSAGE_RESULT)
        rig_take_result(message);
    else if (type == MESSAGE_EVENT)
        rig_take_event(message);
    else if (type == MESSAGE_GROUP_TAKEN)
        rig.group_taken = ((const struct message_group_ref *)message)->id;
    rig.n_told += type == MESSAGE_PROCESSES;
    for (size_t i = 0; type == MESSAGE_PROCESSES && i < m->list.n; i++)
        rig_take_view((const struct proc_view *)m->list.items + i);
}

static inline void rig_ask(bool is_run, uint64_t id, const char *name, const char *what)
{
    assert_true(rig.n_asks < RIG_ASKS);
    rig.asks[rig.n_asks].is_run = is_run;
    rig.asks[rig.n_asks].id = id;
    rig.asks[rig.n_asks].question = 0;
    rig.asks[rig.n_asks].proc = rig_proc(name);
    snprintf(rig.asks[rig.n_asks++].what, sizeof(rig.asks[0].what), "%s", what);
}

/* -1: an operation's. */
static inline int rig_side(const char *what)
{
    return !strcmp(what, "version") ? 0 : !strcmp(what, "health") ? 1 : -1;
}

static inline void rig_run(void *arg, const struct core_run *run)
{
    (void)arg;
    if (rig_side(run->what) >= 0) {
        assert_true(run->wants_output && !*run->task);
        rig_ask(true, run->id, run->name, run->what);
        return;
    }
    rig_ask(true, run->id, run->name, run->what);
    rig_proc(run->name)->mark = run->mark;
    snprintf(rig.order[rig.n_order++], sizeof(rig.order[0]), "%s", run->name);
    rig_proc(run->name)->runs++;
}

static inline enum core_begun rig_find_run(void *arg, const struct core_run *run,
                                           struct core_ident *ret)
{
    (void)arg;
    if (rig.is_begun_unknown)
        return BEGUN_UNKNOWN;
    for (size_t i = 0; i < rig.n_procs; i++) {
        if (rig.procs[i].run_pid && rig.procs[i].mark == run->mark) {
            assert_string_equal(run->name, rig.procs[i].name);
            *ret = (struct core_ident){ rig.procs[i].run_pid, 1 };
            return BEGUN_RUNS;
        }
    }
    return BEGUN_NOT;
}

static inline void rig_adopt(void *arg, const struct core_adopt *a)
{
    struct rig_proc *p = rig_proc(a->name);

    (void)arg;
    if (p->run_pid == a->ident.pid)
        p->run = a->id;
    else
        rig_ask(false, a->id, a->name, "gone");
}

static inline void rig_end_run(void *arg, uint64_t id)
{
    (void)arg;
    rig_ask(false, id, "", "end");
}

static inline bool rig_forbids(const char *text)
{
    return rig.forbids && !strcmp(text, rig.forbids);
}

static inline int rig_allow(void *arg, const struct proc_spec *spec, const char *line,
                            struct err *err)
{
    (void)arg;
    if (rig.is_policy_slow)
        return err_set(err, ERR_UNAVAILABLE, "not now");
    if (!rig_forbids(*line ? line : spec->identity.user))
        return 0;
    return err_set(err, CODE_DENIED, "policy: not %s", rig.forbids);
}

static inline bool rig_is_denied(const struct core_look *look)
{
    bool is_denied = look->unchecked && rig_forbids(look->unchecked->identity.user);

    for (size_t i = 0; look->unchecked && look->unchecked_lines[i]; i++)
        is_denied |= rig_forbids(look->unchecked_lines[i]);
    return is_denied;
}

static inline void rig_probe(void *arg, const struct core_look *look)
{
    (void)arg;
    if (look->unchecked && rig.is_policy_silent)
        return;
    rig_ask(false, look->id, look->name, rig_is_denied(look) ? "deny" : "probe");
    rig.asks[rig.n_asks - 1].question = look->question;
    rig.asks[rig.n_asks - 1].known = look->known;
    rig.asks[rig.n_asks - 1].self = look->self;
    rig.asks[rig.n_asks - 1].by_pid_file = look->by_pid_file;
    rig.last_instances = look->instances;
    rig.is_doubtful = look->is_doubtful;
    rig.is_untrusted = look->is_untrusted;
    rig.is_of_start = look->is_of_start;
}

static inline void rig_watch(void *arg, struct core_ident ident)
{
    (void)arg;
    for (size_t i = 0; i < rig.n_procs; i++)
        rig.procs[i].is_watched |= rig.procs[i].pid == ident.pid;
}

static inline void rig_signal(void *arg, struct core_ident ident, int number, bool with_children)
{
    bool is_known = false;

    (void)arg;
    for (size_t i = 0; i < rig.n_procs; i++) {
        struct rig_proc *p = &rig.procs[i];

        is_known |= p->pid == ident.pid;
        if (p->pid != ident.pid)
            continue;
        p->signals++;
        p->tree_kills += with_children;
        if (number == SIGKILL || !p->ignores_term)
            rig_ask(false, (uint64_t)number, p->name, "die");
    }
    rig.start_kills += !is_known; /* to a start command */
}

static inline int rig_deliver(void *arg, struct core_ident ident, int number, struct err *err)
{
    (void)arg;
    for (size_t i = 0; i < rig.n_procs; i++) {
        struct rig_proc *p = &rig.procs[i];

        if (p->pid != ident.pid)
            continue;
        if (p->refuses_signals)
            return err_set(err, ERR_DENIED, "not permitted");
        p->delivered++;
        p->delivered_number = number;
        return 0;
    }
    return err_set(err, ERR_NOT_FOUND, "the process has ended");
}

static inline bool rig_has_family(void *arg, const struct core_family *f)
{
    (void)arg;
    rig.family_main = f->main;
    rig.family_start = f->start;
    snprintf(rig.family_siblings, sizeof(rig.family_siblings), "%s", f->siblings);
    return rig_proc(f->name)->left > 0;
}

static inline void rig_family(void *arg, const struct core_family *f)
{
    (void)arg;
    if (rig.is_family_silent)
        return;
    rig_ask(false, f->id, f->name, "family");
    rig.asks[rig.n_asks - 1].question = f->question;
    rig.asks[rig.n_asks - 1].known = (struct core_ident){ .pid = f->number };
}

static inline void rig_drop_family(void *arg, uint64_t id)
{
    (void)arg;
    (void)id;
    rig.family_drops++;
}

static inline void rig_siblings(void *arg, const struct core_family *f)
{
    (void)arg;
    (void)f;
    rig.sibling_asks++;
}

static inline bool rig_is_alone(void *arg, const struct proc_spec *spec)
{
    (void)arg;
    return spec->extra.scope == SCOPE_PROCESS;
}

static inline bool rig_is_alive(void *arg, struct core_ident ident)
{
    (void)arg;
    for (size_t i = 0; i < rig.n_procs; i++) {
        if (rig.procs[i].start_lives && ident.pid)
            return true;
    }
    return false;
}

static inline void rig_sample(void *arg, struct core_ident ident)
{
    (void)arg;
    for (size_t i = 0; i < rig.n_procs; i++) {
        if (rig.procs[i].pid == ident.pid)
            rig_ask(false, (uint64_t)ident.pid, rig.procs[i].name, "sample");
    }
}

static inline void rig_files(void *arg, const char *space, const char *name, const char *user,
                             const struct list *files)
{
    (void)arg;
    (void)space;
    (void)user;
    rig_proc(name)->files = files->n;
}

static inline void rig_files_again(void *arg, const char *space, const char *name)
{
    (void)arg;
    (void)space;
    rig_proc(name)->files_again++;
}

static inline void rig_on_check(void *arg, const struct core_check *check)
{
    struct check_place place;
    const char *wrong = *check->check->http ? check_read_url(check->check->http, &place)
                                            : check_read_tcp(check->check->tcp, &place);

    (void)arg;
    assert_null(wrong);
    rig.port = place.port;
    rig.any_owner = check->check->any_owner;
    rig.is_urgent = check->is_urgent;
    rig.needs_owner = check->needs_owner;
    rig.main = check->family.main;
    rig.ports++;
    rig_ask(false, check->id, check->family.name, *check->check->name ? "check" : "port");
    rig.asks[rig.n_asks - 1].question = (uint64_t)(*check->check->name - '0');
}

static inline void rig_drop_check(void *arg, uint64_t id)
{
    (void)arg;
    (void)id;
    rig.drops++;
}

static inline void rig_check_changed(void *arg, const char *space, const char *name,
                                     const struct proc_check_view *check)
{
    (void)arg;
    (void)space;
    rig.changes++;
    snprintf(rig.change, sizeof(rig.change), "%s %s %s", name, check->name,
             check->state == CHECK_FAILING ? "fails" : "passes");
}

static inline void rig_unexpected(void *arg, const char *state, const char *event)
{
    (void)arg;
    rig.unexpected++;
    snprintf(rig.unexpected_state, sizeof(rig.unexpected_state), "%s", state);
    snprintf(rig.unexpected_event, sizeof(rig.unexpected_event), "%s", event);
}

static const struct core_effects rig_effects = {
    .journal = rig_journal,
    .send = rig_send,
    .run = rig_run,
    .adopt = rig_adopt,
    .end_run = rig_end_run,
    .find_run = rig_find_run,
    .probe = rig_probe,
    .watch = rig_watch,
    .signal = rig_signal,
    .deliver = rig_deliver,
    .allow = rig_allow,
    .sample = rig_sample,
    .files = rig_files,
    .check = rig_on_check,
    .drop_check = rig_drop_check,
    .check_changed = rig_check_changed,
    .files_again = rig_files_again,
    .has_family = rig_has_family,
    .family = rig_family,
    .drop_family = rig_drop_family,
    .siblings = rig_siblings,
    .is_alive = rig_is_alive,
    .is_alone = rig_is_alone,
    .unexpected = rig_unexpected,
};

/* ---- what happens */

static inline void rig_die(struct rig_proc *p, int status)
{
    struct core_ident gone = { p->pid, 1 };

    if (!p->pid)
        return;
    p->pid = 0;
    if (p->is_watched)
        core_on_exit(rig.core, gone, status, rig.now_ms);
    p->is_watched = false;
}

static inline void rig_come_up(struct rig_proc *p, int64_t pid)
{
    p->pid = pid;
    p->is_watched = false;
}

/* The command that runs now ends. */
static inline void rig_end(struct rig_proc *p, int status)
{
    uint64_t run = p->run;

    p->run = 0;
    p->run_pid = 0;
    core_on_run_end(rig.core, run, status, p->output, rig.now_ms);
}

static inline void rig_do(struct rig_proc *p, const char *what)
{
    bool stops = !strcmp(what, "stop") || !strcmp(what, "kill") || !strcmp(what, "restart");

    if (p->status || p->is_idle)
        return;
    if (stops)
        rig_die(p, CORE_SIGNALED + SIGTERM);
    if (!strcmp(what, "start") || !strcmp(what, "restart"))
        rig_come_up(p, p->is_foreground ? p->run_pid : ++rig.next_pid);
}

static inline void rig_end_side(struct rig_proc *p, int which, int status)
{
    uint64_t id = p->side[which];
    const char *said = which ? p->health : p->version;

    p->side[which] = 0;
    core_on_run_end(rig.core, id, status, said ? said : "", rig.now_ms);
}

static inline void rig_begin_side(struct rig_proc *p, uint64_t id, int which)
{
    const struct core_began began = { .ident = { ++rig.next_pid, 1 } };

    p->sides[which]++;
    if (p->failure.code) {
        core_on_run(rig.core, id, NULL, &p->failure, rig.now_ms);
        return;
    }
    assert_int_equal(p->side[which], 0); /* never two at once */
    p->side[which] = id;
    core_on_run(rig.core, id, &began, NULL, rig.now_ms);
    if (!p->side_hangs)
        rig_end_side(p, which, which ? p->health_status : p->version_status);
}

static inline void rig_begin_run(struct rig_proc *p, uint64_t id, const char *what)
{
    struct core_began began = { .ident = { ++rig.next_pid, 1 }, .fits = p->is_foreground };
    bool is_pre = !strcmp(what, OPERATION_PRE_START);

    p->pre_runs += is_pre;
    if (p->failure.code) {
        core_on_run(rig.core, id, NULL, &p->failure, rig.now_ms);
        return;
    }
    p->doubles += p->run_pid != 0;
    p->run = id;
    p->run_pid = began.ident.pid;
    if (p->is_unheard)
        return;
    core_on_run(rig.core, id, &began, NULL, rig.now_ms);
    if (is_pre && !p->pre_hangs)
        rig_end(p, p->pre_status);
    if (p->hangs || is_pre)
        return;
    rig_do(p, what);
    if (!p->is_foreground || strcmp(what, "start") != 0)
        rig_end(p, p->status);
}

static inline void rig_answer_probe(struct rig_proc *p, uint64_t id, uint64_t question,
                                    int64_t self, bool by_pid_file)
{
    bool runs =
        p->pid && !p->elsewhere && (!self || self == p->pid) && (p->has_pid_file || !by_pid_file);
    struct core_ident all[1 + ARRAY_LEN(p->more)];
    struct core_probe probe = { .question = question,
                                .found = runs                              ? FOUND_IT
                                         : p->is_unsure && rig.is_of_start ? FOUND_NOTHING
                                         : p->is_unsure                    ? FOUND_UNSURE
                                         : p->elsewhere                    ? FOUND_ANOTHER
                                                                           : FOUND_NOTHING,
                                .ident = { runs ? p->pid : 0, runs },
                                .why = p->elsewhere ? p->elsewhere : "there is no pid file",
                                .program = p->elsewhere ? p->program : "",
                                .script = p->elsewhere ? p->script : "" };

    shape_defaults(&proc_view_shape, &probe.view);
    all[0] = probe.ident;
    memcpy(all + 1, p->more, sizeof(p->more));
    probe.all = runs ? all : all + 1;
    probe.n_all = p->n_more + (runs ? 1 : 0);
    core_on_probe(rig.core, id, &probe, rig.now_ms);
}

static inline void rig_answer_family(struct rig_proc *p, uint64_t id, uint64_t question, int number)
{
    const struct core_members m = { .question = question,
                                    .n = p->left,
                                    .may_be_main = p->left && p->left_may_be_main,
                                    .names = p->left ? "worker (77)" : "",
                                    .others = p->left_others ? p->left_others : "" };

    p->looks += !number;
    p->left_signals[number]++;
    if (!p->left_is_immortal && (number == SIGKILL || (number && !p->left_ignores_term)))
        p->left = 0;
    core_on_family(rig.core, id, &m, rig.now_ms);
}

static inline void rig_answer_denied(uint64_t id, uint64_t question)
{
    char why[64];
    struct core_probe probe = { .question = question, .found = FOUND_DENIED, .why = why };

    snprintf(why, sizeof(why), "policy: not %s", rig.forbids);
    shape_defaults(&proc_view_shape, &probe.view);
    core_on_probe(rig.core, id, &probe, rig.now_ms);
}

static inline void rig_answer_sample(struct rig_proc *p, int64_t pid)
{
    const struct core_sample s = { .cpu_us = p->cpu_us, .rss_bytes = p->rss_bytes, .processes = 1 };

    p->samples++;
    core_on_sample(rig.core, (struct core_ident){ pid, 1 }, p->is_hidden ? NULL : &s, rig.now_ms);
}

static inline void rig_end_late(uint64_t id)
{
    for (size_t i = 0; i < rig.n_procs; i++) {
        if (rig.procs[i].run == id)
            rig_end(&rig.procs[i], CORE_SIGNALED + SIGKILL);
        for (int which = 0; which < 2; which++) {
            if (rig.procs[i].side[which] == id && !rig.procs[i].side_is_hard)
                rig_end_side(&rig.procs[i], which, CORE_SIGNALED + SIGKILL);
        }
    }
}

static inline void rig_answer_check(uint64_t id, enum core_check_outcome outcome)
{
    static const char *const texts[] = {
        [CHECK_OK] = "",
        [CHECK_FAILED] = "port 8080 takes no connections",
        [CHECK_FOREIGN] = "port 8080 is held by thief (12), which does not belong to it",
        [CHECK_NOT_DONE] = "",
    };
    const struct core_checked got = { outcome, rig.latency_ms, texts[outcome] };

    core_on_check(rig.core, id, &got, rig.now_ms);
}

static inline void rig_answer_port(uint64_t id)
{
    if (rig.is_port_silent)
        return;
    if (rig.is_port_untried)
        rig_answer_check(id, CHECK_NOT_DONE);
    else if (rig.is_foreign)
        rig_answer_check(id, CHECK_FOREIGN);
    else
        rig_answer_check(id, rig.port_is_open ? CHECK_OK : CHECK_FAILED);
}

/* Answers what was asked for first. */
static inline void rig_answer(void)
{
    struct rig_proc *p = rig.asks[0].proc;
    uint64_t id = rig.asks[0].id, question = rig.asks[0].question;
    int64_t self = rig.asks[0].self.pid;
    bool is_run = rig.asks[0].is_run, by_pid_file = rig.asks[0].by_pid_file;
    int number = (int)rig.asks[0].known.pid;
    char what[16];

    memcpy(what, rig.asks[0].what, sizeof(what));
    memmove(rig.asks, rig.asks + 1, --rig.n_asks * sizeof(rig.asks[0]));
    rig.asks[rig.n_asks].self = rig.asks[rig.n_asks].known = (struct core_ident){ 0 };
    rig.asks[rig.n_asks].by_pid_file = false;
    if (is_run && rig_side(what) >= 0)
        rig_begin_side(p, id, rig_side(what));
    else if (is_run)
        rig_begin_run(p, id, what);
    else if (!strcmp(what, "port"))
        rig_answer_port(id);
    else if (!strcmp(what, "check"))
        rig_answer_check(id, rig.net[question]);
    else if (!strcmp(what, "probe"))
        rig_answer_probe(p, id, question, self, by_pid_file);
    else if (!strcmp(what, "family"))
        rig_answer_family(p, id, question, number);
    else if (!strcmp(what, "deny"))
        rig_answer_denied(id, question);
    else if (!strcmp(what, "sample"))
        rig_answer_sample(p, (int64_t)id);
    else if (!strcmp(what, "die"))
        rig_die(p, CORE_SIGNALED + (int)id);
    else if (!strcmp(what, "gone"))
        core_on_run_end(rig.core, id, CORE_STATUS_UNKNOWN, "", rig.now_ms);
    else
        rig_end_late(id);
}

static inline void rig_take_events(void)
{
    const struct message_event_ref ref = { rig.event_id };

    rig.event_id = 0;
    if (ref.id && !rig.stores_nothing)
        core_on_message(rig.core, MESSAGE_EVENT_STORED, &ref, rig.now_ms);
}

static inline void rig_store_results(void)
{
    for (; rig.n_stored < rig.n_results && !rig.stores_nothing; rig.n_stored++) {
        const struct message_ref ref = { "T", rig.results[rig.n_stored].item };

        core_on_message(rig.core, MESSAGE_STORED, &ref, rig.now_ms);
    }
}

/* What must hold for the core after every input. */
static inline void rig_check(void)
{
    const char *fault = core_find_fault(rig.core);

    if (fault)
        fail_msg("%s%s%s%s%s", fault, rig.unexpected ? ": " : "", rig.unexpected_event,
                 rig.unexpected ? " in " : "", rig.unexpected_state);
}

/* Everything that is asked for happens, in no time. */
static inline void rig_settle(void)
{
    uint64_t mark;

    do {
        mark = rig.mark;
        core_on_durable(rig.core, mark, rig.now_ms);
        while (rig.n_asks && !rig.is_blind)
            rig_answer();
        core_tell_now(rig.core);
        rig_take_events();
        rig_store_results();
        rig_check();
    } while (mark != rig.mark);
}

static inline void rig_pass(int64_t ms)
{
    rig_settle();
    for (int64_t until_ms = rig.now_ms + ms; rig.now_ms < until_ms;) {
        rig.now_ms += RIG_STEP_MS;
        rig.wall_ms += RIG_STEP_MS;
        for (size_t i = 0; i < rig.n_procs; i++)
            rig.procs[i].cpu_us += (int64_t)(rig.procs[i].cpu * RIG_CORES * RIG_STEP_MS * 10);
        core_on_time(rig.core, rig.now_ms, rig.wall_ms);
        rig_settle();
    }
}

/* ---- what is asked of it */

static inline struct message_command rig_command(int64_t op, const char *name)
{
    struct message_command m = { .task = "T",
                                 .item = ++rig.next_item,
                                 .op = op,
                                 .deadline_ms = rig.now_ms + 300 * 1000,
                                 .signal = op == PROC_OP_SIGNAL ? "HUP" : NULL,
                                 .meta = { "space", name, { 0 } } };

    shape_defaults(&proc_spec_shape, &m.spec);
    m.spec.has_identity = m.spec.has_control = PRESENCE_GIVEN;
    m.spec.identity = (struct proc_identity){ "", "d", "/srv", "", "", "", "root" };
    m.spec.identity.pid_path = rig_proc(name)->pid_path;
    m.spec.control.start_cmd = "start";
    return m;
}

static inline void rig_tell(const struct message_command *m)
{
    core_on_message(rig.core, MESSAGE_COMMAND, m, rig.now_ms);
}

static inline int64_t rig_operate(int64_t op, const char *name)
{
    struct message_command m = rig_command(op, name);

    rig_tell(&m);
    return m.item;
}

/* NULL: not yet. */
static inline const struct rig_result *rig_result(int64_t item)
{
    for (size_t i = 0; i < rig.n_results; i++) {
        if (rig.results[i].item == item)
            return &rig.results[i];
    }
    return NULL;
}

static inline int64_t rig_code(int64_t item)
{
    const struct rig_result *r = rig_result(item);

    return r ? r->code : CODE_WAITING;
}

static inline const struct proc_cause *rig_cause(const char *name)
{
    core_tell_now(rig.core);
    assert_true(rig_proc(name)->has_view);
    return &rig_proc(name)->view.cause;
}

static inline int rig_running(void)
{
    int n = 0;

    for (size_t i = 0; i < rig.n_procs; i++)
        n += rig.procs[i].run != 0;
    return n;
}

static inline int rig_count_events(const char *name)
{
    int n = 0;

    for (size_t i = 0; i < rig.n_events; i++)
        n += !strcmp(rig.events[i], name);
    return n;
}

/* ---- lives */

static inline void rig_welcome(void)
{
    const struct message_welcome m = { .version = 1, .epoch = 1, .server_ms = rig.now_ms };

    core_on_message(rig.core, MESSAGE_WELCOME, &m, rig.now_ms);
}

static inline int rig_set_up(void **state)
{
    (void)state;
    memset(&rig, 0, sizeof(rig));
    rig.now_ms = 5000;
    rig.wall_ms = 1700000000000;
    rig.next_pid = 1000;
    rig.core = core_new(&rig_effects, NULL, rig.now_ms, rig.wall_ms);
    core_set_machine(rig.core, RIG_CORES, RIG_MEM_BYTES);
    core_start(rig.core, true, rig.now_ms, rig.wall_ms);
    rig_welcome();
    return 0;
}

/* The agent is killed, or the host: the next one reads what this one has written. */
static inline void rig_crash(bool same_boot)
{
    size_t n = rig.n_records;
    struct err err;

    core_free(rig.core);
    rig.core = core_new(&rig_effects, NULL, rig.now_ms, rig.wall_ms);
    core_set_machine(rig.core, RIG_CORES, RIG_MEM_BYTES);
    rig.n_asks = 0;
    for (size_t i = 0; i < rig.n_procs; i++) {
        rig.procs[i].is_watched = false;
        if (!same_boot)
            rig.procs[i].pid = rig.procs[i].run_pid = 0;
        rig.procs[i].run = rig.procs[i].side[0] = rig.procs[i].side[1] = 0;
    }
    for (size_t i = 0; i < n; i++) {
        if (core_replay(rig.core, rig.records[i].type, rig.records[i].json,
                        strlen(rig.records[i].json), &err))
            fail_msg("%s", err.text);
    }
    core_start(rig.core, same_boot, rig.now_ms, rig.wall_ms);
    rig_welcome();
}

static inline int rig_tear_down(void **state)
{
    (void)state;
    core_free(rig.core);
    for (size_t i = 0; i < rig.n_records; i++)
        free(rig.records[i].json);
    for (size_t i = 0; i < rig.n_procs; i++)
        arena_free(&rig.procs[i].arena);
    return 0;
}

#define RIG_TEST(name) cmocka_unit_test_setup_teardown(name, rig_set_up, rig_tear_down)

#endif
