/* SPDX-License-Identifier: MIT */
/* fleet_front.c - see fleet_front.h.
 *
 * Each worker answers each line with one line, in order.  So the questions are one list, each
 * worker remembers how many it has answered, and a question is finished when all workers have
 * answered. */
#include "fleetsim/fleet_front.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/queue.h>
#include <unistd.h>

#include "base/mem/mem.h"
#include "base/os/sys.h"
#include "fleetsim/fleet_crowd.h"
#include "fleetsim/fleet_lines.h"
#include "wire/net/listen.h"

enum { REDRAW_MS = 200, LINE_MS = 5000, SECOND_MS = 1000 };

struct front;

struct worker {
    struct front *front;
    struct fleet_lines *lines; /* NULL: it has ended */
    uint64_t answered;         /* number of the last question that it has answered */
    pid_t pid;
};

/* A client of the control socket. */
struct guest {
    struct front *front;
    struct fleet_lines *lines;
    LIST_ENTRY(guest) link;
};

enum asked {
    ASKED_COMMAND, /* for fleet_crowd_do() */
    ASKED_COUNTS,  /* `report` and `stop` */
    ASKED_PLAN,    /* behaviour of each agent: known here, but answered in turn */
    ASKED_ERROR,   /* internal: the last error of the links */
};

struct question {
    uint64_t number; /* from 1 on */
    enum asked asked;
    int64_t left;        /* workers that have not answered yet */
    struct guest *guest; /* NULL: internal */
    struct fleet_counts counts;
    int64_t done, at_ns;
    char *error; /* NULL: none */
    STAILQ_ENTRY(question) link;
};

struct front {
    const struct fleet_settings *s;
    const struct fleet_plan *plan;
    struct loop *loop;
    struct worker *workers;
    int64_t left; /* running workers */
    struct listener *listener;
    LIST_HEAD(, guest) guests;
    STAILQ_HEAD(, question) questions;
    uint64_t asked;
    struct timer redraw, over;
    int64_t begun_ms;
    struct fleet_counts counts; /* of the last report */
    char *error;                /* last error of the links; NULL: none */
    bool is_terminal, is_stopping, has_failed;
};

/* ---- questions to the workers */

static enum asked asked_by(const char *line)
{
    static const struct {
        const char *line;
        enum asked asked;
    } known[] = { { "report", ASKED_COUNTS },
                  { "stop", ASKED_COUNTS },
                  { "plan", ASKED_PLAN },
                  { "error", ASKED_ERROR } };

    for (size_t i = 0; i < ARRAY_LEN(known); i++) {
        if (!strcmp(known[i].line, line))
            return known[i].asked;
    }
    return ASKED_COMMAND;
}

static void ask_workers(struct front *f, const char *line, struct guest *guest)
{
    struct question *q = xalloc(sizeof(*q));
    char *text;

    q->number = ++f->asked;
    q->left = f->left;
    q->guest = guest;
    q->asked = asked_by(line);
    text = xprintf("%s\n", q->asked == ASKED_PLAN ? "report" : line);
    STAILQ_INSERT_TAIL(&f->questions, q, link);
    for (int64_t i = 0; i < f->s->processes; i++) {
        if (f->workers[i].lines)
            fleet_lines_send(f->workers[i].lines, text, strlen(text));
    }
    free(text);
}

static void stop_workers(struct front *f)
{
    if (f->is_stopping)
        return;
    f->is_stopping = true;
    timer_stop(f->loop, &f->over);
    timer_stop(f->loop, &f->redraw);
    ask_workers(f, "error", NULL);
    ask_workers(f, "stop", NULL);
}

static int64_t ran_ms(const struct front *f)
{
    return loop_now_ms(f->loop) - f->begun_ms;
}

/* ---- answers */

static void write_answer(const struct question *q, struct buf *to)
{
    const struct fleet_answer answer = { q->done, q->at_ns, q->error ? q->error : "" };

    shape_write(&fleet_answer_shape, &answer, to);
    buf_addc(to, '\n');
}

static void answer_guest(struct front *f, const struct question *q)
{
    struct buf line = { 0 };

    switch (q->asked) {
    case ASKED_COUNTS: fleet_counts_json(&q->counts, ran_ms(f), &line); break;
    case ASKED_PLAN: fleet_plan_json(f->plan, &line); break;
    case ASKED_COMMAND:
    case ASKED_ERROR: write_answer(q, &line); break;
    }
    fleet_lines_send(q->guest->lines, buf_data(&line), line.len);
    buf_free(&line);
}

static void question_free(struct question *q)
{
    free(q->error);
    free(q);
}

static void finish_question(struct front *f, struct question *q)
{
    STAILQ_REMOVE(&f->questions, q, question, link);
    if (q->asked == ASKED_COUNTS)
        f->counts = q->counts;
    if (q->asked == ASKED_ERROR) {
        free(f->error);
        f->error = q->error;
        q->error = NULL;
    }
    if (q->guest)
        answer_guest(f, q);
    question_free(q);
}

static int take_answer(struct question *q, const char *line, size_t n, struct err *err)
{
    struct fleet_answer answer;
    struct arena arena = { 0 };
    int bad = shape_read(&fleet_answer_shape, line, n, 0, &arena, &answer, err);

    if (!bad) {
        q->done += answer.done;
        q->at_ns = answer.at_ns > q->at_ns ? answer.at_ns : q->at_ns;
    }
    if (!bad && *answer.error && !q->error)
        q->error = xstrdup(answer.error);
    arena_free(&arena);
    return bad;
}

static int take_counts(struct question *q, const char *line, size_t n, struct err *err)
{
    struct fleet_counts counts;

    if (fleet_counts_read(line, n, &counts, err))
        return -1;
    fleet_counts_add(&q->counts, &counts);
    return 0;
}

static void fail_front(struct front *f, const char *text)
{
    if (!f->is_stopping)
        fprintf(stderr, "%sholdfast-sim: %s\n", f->is_terminal ? "\r\033[K" : "", text);
    f->has_failed = true;
    stop_workers(f);
}

static void fleet_front_on_answer(void *arg, const char *line, size_t n)
{
    struct worker *w = arg;
    struct question *q;
    struct err err = { 0 };
    bool is_counts;

    w->answered++;
    STAILQ_FOREACH(q, &w->front->questions, link) {
        if (q->number == w->answered)
            break;
    }
    if (!q)
        return;
    is_counts = q->asked == ASKED_COUNTS || q->asked == ASKED_PLAN;
    if (is_counts ? take_counts(q, line, n, &err) : take_answer(q, line, n, &err))
        fail_front(w->front, err.text);
    if (--q->left == 0)
        finish_question(w->front, q);
}

/* It answers nothing any more; the open questions end with the answers of the others. */
static void on_worker_end(void *arg)
{
    struct worker *w = arg;
    struct front *f = w->front;
    struct question *q, *next;

    fleet_lines_free(w->lines);
    w->lines = NULL;
    f->left--;
    for (q = STAILQ_FIRST(&f->questions); q; q = next) {
        next = STAILQ_NEXT(q, link);
        if (q->number > w->answered && --q->left == 0)
            finish_question(f, q);
    }
    if (!f->is_stopping)
        fail_front(f, "one of its processes has ended");
    if (f->left == 0)
        loop_stop(f->loop);
}

static const struct fleet_lines_owner worker_owner = { fleet_front_on_answer, on_worker_end };

/* ---- the control socket */

static void on_command(void *arg, const char *line, size_t n)
{
    struct guest *g = arg;

    if (n == 0 || g->front->is_stopping)
        return;
    if (!strcmp(line, "stop"))
        stop_workers(g->front);
    else
        ask_workers(g->front, line, g);
}

static void guest_free(struct guest *g)
{
    struct question *q;

    STAILQ_FOREACH(q, &g->front->questions, link) {
        if (q->guest == g)
            q->guest = NULL;
    }
    LIST_REMOVE(g, link);
    fleet_lines_free(g->lines);
    free(g);
}

static void on_guest_end(void *arg)
{
    guest_free(arg);
}

static const struct fleet_lines_owner guest_owner = { on_command, on_guest_end };

static void fleet_front_on_accept(void *arg, int fd, const struct address *peer)
{
    struct front *f = arg;
    struct guest *g = xalloc(sizeof(*g));
    struct err err = { 0 };

    (void)peer;
    g->front = f;
    if (fleet_lines_new(f->loop, fd, &guest_owner, g, &g->lines, &err)) {
        sys_close(fd);
        free(g);
        return;
    }
    LIST_INSERT_HEAD(&f->guests, g, link);
}

static void fleet_front_on_trouble(void *arg, const struct err *err)
{
    (void)arg;
    fprintf(stderr, "holdfast-sim: control: %s\n", err->text);
}

static const struct listener_owner listener_owner = { fleet_front_on_accept,
                                                      fleet_front_on_trouble };

static int listen_for_guests(struct front *f, struct err *err)
{
    struct address at;
    char *text;
    int bad;

    if (!*f->s->control)
        return 0;
    text = xprintf("unix:%s", f->s->control);
    bad = address_parse(text, &at, err) ||
          listener_new(f->loop, &at, &listener_owner, f, &f->listener, err);
    free(text);
    return bad ? err_wrap(err, "%s", "control") : 0;
}

/* ---- progress line */

/* A line that wraps could not be overwritten. */
static int columns(void)
{
    struct winsize size;

    if (sys_ioctl(STDERR_FILENO, TIOCGWINSZ, &size) || size.ws_col < 2)
        return 79;
    return size.ws_col - 1;
}

static void show_progress(struct front *f)
{
    struct buf line = { 0 };

    fleet_counts_line(&f->counts, ran_ms(f), &line);
    if (f->error && f->counts.up < f->counts.expected)
        buf_printf(&line, "; last: %.100s", f->error);
    if (f->is_terminal)
        fprintf(stderr, "\r\033[K%.*s", columns(), buf_text(&line));
    else
        fprintf(stderr, "%s\n", buf_text(&line));
    buf_free(&line);
}

static void on_redraw(void *arg)
{
    struct front *f = arg;

    if (f->counts.agents)
        show_progress(f);
    ask_workers(f, "report", NULL);
    ask_workers(f, "error", NULL);
    timer_set(f->loop, &f->redraw, f->is_terminal ? REDRAW_MS : LINE_MS);
}

/* Sets the exit status, for scripts. */
static void set_exit_status(struct front *f)
{
    const struct fleet_counts *c = &f->counts;

    if (c->reached + c->parked >= c->agents)
        return;
    fprintf(stderr, "holdfast-sim: %lld of %lld agents were never connected; last: %s\n",
            (long long)(c->agents - c->reached - c->parked), (long long)c->agents,
            f->error ? f->error : "nothing went wrong, there was not enough time");
    f->has_failed = true;
}

static void show_end(struct front *f)
{
    struct buf text = { 0 };

    if (f->is_terminal)
        fputs("\r\033[K", stderr);
    set_exit_status(f);
    if (f->s->json)
        fleet_counts_json(&f->counts, ran_ms(f), &text);
    else
        fleet_counts_table(&f->counts, ran_ms(f), &text);
    fwrite(buf_data(&text), 1, text.len, stdout);
    fflush(stdout);
    buf_free(&text);
}

/* ---- life cycle */

static void on_over(void *arg)
{
    stop_workers(arg);
}

static void fleet_front_on_signal(void *arg, int number)
{
    (void)number;
    stop_workers(arg);
}

static int start_front(struct front *f, const struct fleet_child *children, struct err *err)
{
    if (loop_new(&clock_system, &f->loop, err) ||
        loop_on_signal(f->loop, SIGINT, fleet_front_on_signal, f, err) ||
        loop_on_signal(f->loop, SIGTERM, fleet_front_on_signal, f, err))
        return -1;
    signal(SIGPIPE, SIG_IGN);
    f->begun_ms = loop_now_ms(f->loop);
    for (int64_t i = 0; i < f->s->processes; i++) {
        struct worker *w = &f->workers[i];

        *w = (struct worker){ .front = f, .pid = children[i].pid };
        if (fleet_lines_new(f->loop, children[i].fd, &worker_owner, w, &w->lines, err))
            return -1;
        f->left++;
    }
    timer_set(f->loop, &f->redraw, REDRAW_MS);
    if (f->s->duration_s)
        timer_set(f->loop, &f->over, f->s->duration_s * SECOND_MS);
    return listen_for_guests(f, err);
}

/* A worker ends when its socket is closed. */
static void front_done(struct front *f)
{
    siginfo_t info;

    while (!LIST_EMPTY(&f->guests))
        guest_free(LIST_FIRST(&f->guests));
    for (int64_t i = 0; i < f->s->processes; i++) {
        fleet_lines_free(f->workers[i].lines);
        if (f->workers[i].pid > 0 && sys_waitid(P_PID, (id_t)f->workers[i].pid, &info, WEXITED))
            f->has_failed = true;
        else if (f->workers[i].pid > 0 && (info.si_code != CLD_EXITED || info.si_status))
            f->has_failed = true;
    }
    while (!STAILQ_EMPTY(&f->questions)) {
        struct question *q = STAILQ_FIRST(&f->questions);

        STAILQ_REMOVE_HEAD(&f->questions, link);
        question_free(q);
    }
    listener_free(f->listener);
    if (f->loop) {
        timer_stop(f->loop, &f->redraw);
        timer_stop(f->loop, &f->over);
    }
    loop_free(f->loop);
    free(f->workers);
    free(f->error);
}

int fleet_front_run(const struct fleet_settings *s, const struct fleet_plan *plan,
                    const struct fleet_child *children)
{
    struct front f = { .s = s, .plan = plan, .is_terminal = isatty(STDERR_FILENO) };
    struct err err = { 0 };

    f.workers = xalloc((size_t)s->processes * sizeof(*f.workers));
    LIST_INIT(&f.guests);
    STAILQ_INIT(&f.questions);
    timer_init(&f.redraw, on_redraw, &f);
    timer_init(&f.over, on_over, &f);
    if (start_front(&f, children, &err) || loop_run(f.loop, &err)) {
        fprintf(stderr, "holdfast-sim: %s\n", err.text);
        f.has_failed = true;
    } else {
        show_end(&f);
    }
    front_done(&f);
    return f.has_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
