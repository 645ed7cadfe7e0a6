/* SPDX-License-Identifier: MIT */
/* why_write.c - the sentence of why_write.h: state, last exit, failure, next step.  A part without
 * facts is left out. */
#include "model/why_write.h"

#include <stdio.h>
#include <string.h>

#include "base/text/utf8.h"
#include "model/duration.h"
#include "model/operation.h"
#include "model/phrase.h"
#include "model/proc.h"
#include "model/translate.h"
#include "model/view.h"
#include "model/why_judge.h"

/* Limit of a foreign text in the sentence; the facts have more of it. */
enum { DETAIL_BYTES = 320 };

enum phrase {
    RUNNING,
    RUNNING_AS,
    RUNNING_FOR,
    INSTANCES,
    SHOULD_NOT,
    UNHOSTED,
    OLD_SPEC,
    RESTARTED_ONCE,
    RESTARTED,
    FLAPPING,
    LEFT,
    AFTER,
    AGAIN,
    STOPPED,
    STOPPED_FOR,
    NOT_RUNNING,
    NEVER,
    FINISHED,
    FINISHED_AGO,
    EXPECTED,
    GIVEN_UP_ONCE,
    GIVEN_UP,
    COMMA,
    SEMICOLON,
    ENDED,
    EXIT_CODE,
    EXIT_SIGNAL,
    EXIT_CORE,
    EXIT_OOM,
    EXIT_OOM_PERHAPS,
    EXIT_UNKNOWN,
    FAILED,
    DETAIL,
    NEXT_TRY,
    NEXT_TRY_NOW,
    NEXT_OF,
    NEXT_OF_NOW,
    USED_UP,
    NO_RETRIES,
    WAITING,
    WAITS_FOR,
    FORBIDDEN,
    NOT_HOSTED,
    INSTEAD,
    THIS_TRY,
    THIS_OF,
    RUN_DOING,
    RUN_NEVER,
    RUN_WELL,
    RUN_FAILED,
    RUN_NEXT,
    RUN_NEXT_NOW,
    RUN_NO_SCHEDULE,
    RUN_NOT_HOSTED,
    OVER_LIMIT,
    FILE_CHANGED,
    UNHEALTHY,
    UNHEALTHY_SAID,
    UNHEALTHY_CHECK,
    DRIFT,
    AWAY,
    AWAY_FOR,
};

/* clang-format off */
static const char *const phrases[][LANGS] = {
    [RUNNING] = { "running", "运行中" },
    [RUNNING_AS] = { "running as pid {0}", "运行中，PID {0}" },
    [RUNNING_FOR] = { "running for {0} as pid {1}", "已运行 {0}，PID {1}" },
    [INSTANCES] = { ", but only {0} of {1} instances are there", "，但实例不足：应有 {1} 个，实有 {0} 个" },
    [SHOULD_NOT] = { ", though it should be stopped", "，但期望为停止" },
    [UNHOSTED] = { ", not hosted", "，未托管" },
    [OLD_SPEC] = { "; it runs with its previous spec until its next start", "；仍按修改前的配置运行，下次启动时生效" },
    [RESTARTED_ONCE] = { "; restarted once", "；已自动重启 1 次" },
    [RESTARTED] = { "; restarted {0} times", "；已自动重启 {0} 次" },
    [LEFT] = { "; these processes of it still run: {0}", "；其以下进程仍在运行：{0}" },
    [FLAPPING] = { "; restarted {0} times in 10 minutes", "；10 分钟内已自动重启 {0} 次" },
    [AFTER] = { ", after {0}", "，原因：{0}" },
    [AGAIN] = { ", last after {0}", "，最近一次原因：{0}" },
    [STOPPED] = { "stopped, as wanted", "已按期望停止" },
    [STOPPED_FOR] = { "stopped for {0}, as wanted", "已按期望停止 {0}" },
    [NOT_RUNNING] = { "not running", "未运行" },
    [NEVER] = { "never started", "从未启动" },
    [FINISHED] = { "finished, as it should", "已按预期运行完成" },
    [FINISHED_AGO] = { "finished {0} ago, as it should", "已于 {0}前按预期运行完成" },
    [EXPECTED] = { "ended as expected with exit code {1}, {0} ago", "已于 {0}前按预期退出，退出码 {1}" },
    [GIVEN_UP_ONCE] = { "given up after 1 try, no longer hosted", "自动拉起 1 次后放弃，已取消托管" },
    [GIVEN_UP] = { "given up after {0} tries, no longer hosted", "自动拉起 {0} 次后放弃，已取消托管" },
    [COMMA] = { ", ", "，" },
    [SEMICOLON] = { "; ", "；" },
    [ENDED] = { "ended {0} ago: {1}", "进程于 {0}前退出：{1}" },
    [EXIT_CODE] = { "exit code {0}", "退出码 {0}" },
    [EXIT_SIGNAL] = { "signal {0}", "信号 {0}" },
    [EXIT_CORE] = { ", core dumped", "，已产生 core" },
    [EXIT_OOM_PERHAPS] = { ", perhaps an OOM kill (out of memory)", "，可能因内存不足被系统终止（OOM）" },
    [EXIT_OOM] = { "OOM kill (out of memory)", "内存不足，被系统终止（OOM）" },
    [EXIT_UNKNOWN] = { "exit code unknown", "退出码未知" },
    [FAILED] = { "; {0} failed {1} ago: {2} ({3})", "；{1}前{0}失败：{2}（{3}）" },
    [DETAIL] = { "{1}", "{0}：{1}" },
    [NEXT_TRY] = { "; try {0} in {1}", "；{1}后第 {0} 次拉起" },
    [NEXT_TRY_NOW] = { "; try {0} is due now", "；即将第 {0} 次拉起" },
    [NEXT_OF] = { "; try {0} of {2} in {1}", "；{1}后第 {0} 次拉起（最多 {2} 次）" },
    [NEXT_OF_NOW] = { "; try {0} of {1} is due now", "；即将第 {0} 次拉起（最多 {1} 次）" },
    [USED_UP] = { "; all {0} tries are used up, given up in {1}", "；{0} 次拉起均已用完，{1}后放弃" },
    [NO_RETRIES] = { "; start_retries is 0, so it is not started", "；start_retries 为 0，不会自动拉起" },
    [WAITING] = { "; waiting to be started", "；等待拉起" },
    [WAITS_FOR] = { "; started when {0} is up", "；等待 {0} 启动后再拉起" },
    [FORBIDDEN] = { "; not started again while the host's policy forbids it", "；主机策略禁止，不会自动拉起" },
    [NOT_HOSTED] = { "; not hosted, so it is not started", "；未托管，不会自动拉起" },
    [INSTEAD] = { "; {0}", "；{0}" },
    [THIS_TRY] = { ", try {0}", "（第 {0} 次拉起）" },
    [THIS_OF] = { ", try {0} of {1}", "（第 {0} 次拉起，最多 {1} 次）" },
    [RUN_DOING] = { "being run", "正在执行" },
    [RUN_NEVER] = { "not run yet", "尚未执行" },
    [RUN_WELL] = { "last run {0} ago succeeded", "最近一次执行于 {0}前成功" },
    [RUN_FAILED] = { "last run failed {0} ago: {1} ({2})", "最近一次执行于 {0}前失败：{1}（{2}）" },
    [RUN_NEXT] = { "; next run in {0}", "；下次执行在 {0}后" },
    [RUN_NEXT_NOW] = { "; next run is due now", "；即将执行下一次" },
    [RUN_NO_SCHEDULE] = { "; it has no schedule, so it is run only when asked", "；没有执行计划，仅在请求时执行" },
    [RUN_NOT_HOSTED] = { "; not hosted, so it is not run", "；未托管，不会自动执行" },
    [UNHEALTHY] = { "; unhealthy for {0}", "；不健康已 {0}" },
    [UNHEALTHY_SAID] = { "; unhealthy for {0}: {1}", "；不健康已 {0}：{1}" },
    [UNHEALTHY_CHECK] = { "; unhealthy for {0}: check {1}: {2}", "；不健康已 {0}：检查 {1}：{2}" },
    [DRIFT] = { "; configuration is not as it should be: {0}", "；配置文件与预期不符：{0}" },
    [FILE_CHANGED] = { "; the last time because {0} had changed", "；最近一次是因为 {0} 有变动" },
    [OVER_LIMIT] = { ", for it used too much ({0})", "，资源超限（{0}）" },
    [AWAY] = { "the agent is not connected; last known: ", "Agent 未连接；最后所知：" },
    [AWAY_FOR] = { "nothing heard of the agent for {0}; known then: ", "Agent 已失联 {0}；当时所知：" },
};
/* clang-format on */

struct sentence {
    const struct proc_view *view;
    const struct proc_cause *cause;
    enum lang lang;
    int64_t now_s;
    struct buf *to;
    struct arena arena;
};

const char *why_op_name(int64_t op, enum lang lang)
{
    const struct operation *o = operation_find(op);

    return o ? o->verb[lang] : lang == LANG_EN ? "operation" : "操作";
}

/* ---- words ---- */

static void say(struct sentence *s, enum phrase id, const char *const *args)
{
    phrase_put(s->to, phrases[id][s->lang], args);
}

static const char *number(struct sentence *s, int64_t n)
{
    return arena_printf(&s->arena, "%lld", (long long)n);
}

static const char *why_write_keep(struct sentence *s, struct buf *b)
{
    const char *text = arena_strdup(&s->arena, buf_text(b));

    buf_free(b);
    return text;
}

static const char *span(struct sentence *s, int64_t seconds)
{
    struct buf b = { 0 };

    duration_put(&b, s->lang, seconds * 1000);
    return why_write_keep(s, &b);
}

static const char *ago(struct sentence *s, int64_t when_s)
{
    return span(s, s->now_s - when_s);
}

/* The text on one line, shortened to DETAIL_BYTES. */
static const char *detail(struct sentence *s, const char *text)
{
    size_t n = strlen(text), room = utf8_cut(text, DETAIL_BYTES);
    struct buf b = { 0 };

    for (size_t i = 0; i < room; i++) {
        bool blank = (unsigned char)text[i] <= ' ' || text[i] == 0x7F;

        if (!blank)
            buf_addc(&b, text[i]);
        else if (b.len && buf_data(&b)[b.len - 1] != ' ')
            buf_addc(&b, ' ');
    }
    if (b.len && buf_data(&b)[b.len - 1] == ' ')
        buf_truncate(&b, b.len - 1);
    buf_puts(&b, room < n ? "…" : "");
    return why_write_keep(s, &b);
}

/* A text of the agent, in the reader's language. */
static const char *agents_words(struct sentence *s, const char *text)
{
    struct buf b = { 0 };

    translate_put(&b, text ? text : "", s->lang);
    return detail(s, why_write_keep(s, &b));
}

void why_write_exit(const struct proc_cause *c, enum lang lang, struct buf *to)
{
    const char *name = c->exit_signal > 0 ? sigabbrev_np((int)c->exit_signal) : NULL;
    char text[48];

    if (c->exit_oom) {
        buf_puts(to, phrases[EXIT_OOM][lang]);
    } else if (c->exit_signal > 0) {
        snprintf(text, sizeof(text), lang == LANG_EN ? "%lld (SIG%s)" : "%lld（SIG%s）",
                 (long long)c->exit_signal, name ? name : "?");
        if (!name)
            snprintf(text, sizeof(text), "%lld", (long long)c->exit_signal);
        phrase_put(to, phrases[EXIT_SIGNAL][lang], PHRASE_ARGS(text));
        buf_puts(to, c->exit_core ? phrases[EXIT_CORE][lang] : "");
        buf_puts(to, c->exit_oom_perhaps ? phrases[EXIT_OOM_PERHAPS][lang] : "");
    } else if (c->exit_code >= 0) {
        snprintf(text, sizeof(text), "%lld", (long long)c->exit_code);
        phrase_put(to, phrases[EXIT_CODE][lang], PHRASE_ARGS(text));
    } else {
        buf_puts(to, phrases[EXIT_UNKNOWN][lang]);
    }
}

static const char *exit_text(struct sentence *s)
{
    struct buf b = { 0 };

    why_write_exit(s->cause, s->lang, &b);
    return why_write_keep(s, &b);
}

/* ---- parts ---- */

/* limit_s is set again when the process is down; an exit after that has another reason. */
static void say_limit(struct sentence *s)
{
    const struct proc_cause *c = s->cause;

    if (c->limit_s > 0 && c->limit_s >= c->exit_s)
        say(s, OVER_LIMIT, PHRASE_ARGS(agents_words(s, c->limit_text)));
}

static void say_ended(struct sentence *s, enum phrase before)
{
    if (s->cause->exit_s <= 0)
        return;
    say(s, before, NULL);
    say(s, ENDED, PHRASE_ARGS(ago(s, s->cause->exit_s), exit_text(s)));
    say_limit(s);
}

/* The text may be a command's own output; what the code means exists in both languages. */
static const char *failure(struct sentence *s)
{
    const struct proc_cause *c = s->cause;
    const char *known = code_get((int)c->failed_code)->text[s->lang];
    const char *text = agents_words(s, c->failed_text);
    struct buf b = { 0 };

    if (*text)
        phrase_put(&b, phrases[DETAIL][s->lang], PHRASE_ARGS(known, text));
    else
        buf_puts(&b, known);
    return why_write_keep(s, &b);
}

static void say_failed(struct sentence *s)
{
    const struct proc_cause *c = s->cause;

    if (why_failure_stands(s->view))
        say(s, FAILED,
            PHRASE_ARGS(why_op_name(c->failed_op, s->lang), ago(s, c->failed_s), failure(s),
                        number(s, c->failed_code)));
}

static void say_try(struct sentence *s)
{
    const struct proc_cause *c = s->cause;
    const char *n = number(s, c->tries + 1), *most = number(s, c->tries_max);
    bool is_due = c->next_try_s <= s->now_s;
    const char *wait = span(s, c->next_try_s - s->now_s);

    if (why_is_used_up(c))
        say(s, USED_UP, PHRASE_ARGS(number(s, c->tries), wait));
    else if (c->tries_max > 0)
        say(s, is_due ? NEXT_OF_NOW : NEXT_OF,
            is_due ? PHRASE_ARGS(n, most) : PHRASE_ARGS(n, wait, most));
    else
        say(s, is_due ? NEXT_TRY_NOW : NEXT_TRY, PHRASE_ARGS(n, wait));
}

/* What happens next to a process that should run and does not; a process that runs once is not
 * restarted. */
static void say_next(struct sentence *s)
{
    const struct proc_cause *c = s->cause;

    if (c->has_finished)
        return;
    if (!s->view->hosted)
        say(s, NOT_HOSTED, NULL);
    else if (c->next_try_s > 0)
        say_try(s);
    else if (c->waits_for && *c->waits_for)
        say(s, WAITS_FOR, PHRASE_ARGS(c->waits_for));
    else if (why_is_forbidden(s->view))
        say(s, FORBIDDEN, NULL);
    else
        say(s, c->tries_max ? WAITING : NO_RETRIES, NULL);
}

static void say_flapping(struct sentence *s)
{
    if (why_is_flapping(s->cause, s->now_s))
        say(s, FLAPPING, PHRASE_ARGS(number(s, s->cause->recent_restarts)));
}

/* A start or an exit after that has another reason. */
static bool say_changed(struct sentence *s)
{
    const struct proc_cause *c = s->cause;
    const char *file = detail(s, c->changed_file ? c->changed_file : "");

    if (!*file || c->changed_s <= 0 || c->changed_s < s->view->last_start_s ||
        c->changed_s < c->exit_s)
        return false;
    say(s, FILE_CHANGED, PHRASE_ARGS(file));
    return true;
}

static void say_restarts(struct sentence *s)
{
    int64_t n = s->view->restarts;

    if (n <= 0)
        return;
    if (why_is_flapping(s->cause, s->now_s))
        say_flapping(s);
    else
        say(s, n == 1 ? RESTARTED_ONCE : RESTARTED, PHRASE_ARGS(number(s, n)));
    if (say_changed(s) || s->cause->exit_s <= 0)
        return;
    say(s, n == 1 ? AFTER : AGAIN, PHRASE_ARGS(exit_text(s)));
    say_limit(s);
}

/* It runs, but something is wrong with it. */
static void write_health(struct sentence *s)
{
    const struct proc_cause *c = s->cause;
    const char *health = agents_words(s, proc_view_complaint(s->view));
    const char *check = s->view->checks.n ? proc_view_failing(s->view) : NULL;
    const char *drift = detail(s, c->drift ? c->drift : "");

    if (c->unhealthy_s > 0 && check)
        say(s, UNHEALTHY_CHECK, PHRASE_ARGS(ago(s, c->unhealthy_s), detail(s, check), health));
    else if (c->unhealthy_s > 0)
        say(s, *health ? UNHEALTHY_SAID : UNHEALTHY, PHRASE_ARGS(ago(s, c->unhealthy_s), health));
    if (*drift)
        say(s, DRIFT, PHRASE_ARGS(drift));
}

static void say_running(struct sentence *s)
{
    const struct proc_view *v = s->view;
    const struct proc_cause *c = s->cause;
    const char *pid = number(s, v->pid);

    if (v->pid <= 0)
        say(s, RUNNING, NULL);
    else if (c->since_s > 0)
        say(s, RUNNING_FOR, PHRASE_ARGS(ago(s, c->since_s), pid));
    else
        say(s, RUNNING_AS, PHRASE_ARGS(pid));
    if (why_misses_instances(v))
        say(s, INSTANCES, PHRASE_ARGS(number(s, c->instances), number(s, c->instances_wanted)));
    if (v->wanted == PROC_STOPPED)
        say(s, SHOULD_NOT, NULL);
    else if (!v->hosted)
        say(s, UNHOSTED, NULL);
    if (c->has_old_spec)
        say(s, OLD_SPEC, NULL);
    say_restarts(s);
    write_health(s);
    say_failed(s);
}

static void say_left(struct sentence *s)
{
    const char *left = detail(s, s->cause->left ? s->cause->left : "");

    if (*left)
        say(s, LEFT, PHRASE_ARGS(left));
}

static void say_stopped(struct sentence *s)
{
    const struct proc_cause *c = s->cause;

    if (c->since_s > 0)
        say(s, STOPPED_FOR, PHRASE_ARGS(ago(s, c->since_s)));
    else
        say(s, STOPPED, NULL);
    say_left(s);
}

static void say_finished(struct sentence *s)
{
    int64_t exit_s = s->cause->exit_s, start_s = s->view->last_start_s;
    int64_t when_s = exit_s > start_s ? exit_s : start_s; /* the exit may be of an earlier run */

    if (when_s > 0 && when_s == exit_s && s->cause->exit_code > 0)
        say(s, EXPECTED, PHRASE_ARGS(ago(s, when_s), number(s, s->cause->exit_code)));
    else if (when_s > 0)
        say(s, FINISHED_AGO, PHRASE_ARGS(ago(s, when_s)));
    else
        say(s, FINISHED, NULL);
}

static void say_given_up(struct sentence *s)
{
    const struct proc_cause *c = s->cause;

    say(s, c->tries == 1 ? GIVEN_UP_ONCE : GIVEN_UP, PHRASE_ARGS(number(s, c->tries)));
    say_ended(s, SEMICOLON);
    say_flapping(s);
    say_failed(s);
}

static void say_not_running(struct sentence *s)
{
    const struct proc_view *v = s->view;

    if (!v->last_start_s && !s->cause->exit_s && !why_has_failed(s->cause))
        say(s, NEVER, NULL);
    else
        say(s, NOT_RUNNING, NULL);
    say_ended(s, COMMA);
    say_flapping(s);
    say_failed(s);
    say_left(s);
    if (v->wanted == PROC_RUNNING)
        say_next(s);
}

static void say_next_run(struct sentence *s)
{
    int64_t next_s = s->cause->next_run_s;

    if (!s->view->hosted)
        say(s, RUN_NOT_HOSTED, NULL);
    else if (next_s <= 0)
        say(s, RUN_NO_SCHEDULE, NULL);
    else if (next_s <= s->now_s)
        say(s, RUN_NEXT_NOW, NULL);
    else
        say(s, RUN_NEXT, PHRASE_ARGS(span(s, next_s - s->now_s)));
}

/* How the last run ended, and when the next one is. */
static void say_periodic(struct sentence *s)
{
    const struct proc_cause *c = s->cause;
    const struct proc_run *last = c->runs.n ? c->runs.items : NULL;
    int64_t when_s = last ? last->begun_s + last->duration_ms / 1000 : s->view->last_start_s;
    bool is_of_run = operation_has_outcome(c->failed_op, MAKES_RUN);

    if (why_has_failed(c) && is_of_run)
        say(s, RUN_FAILED, PHRASE_ARGS(ago(s, c->failed_s), failure(s), number(s, c->failed_code)));
    else if (when_s > 0)
        say(s, RUN_WELL, PHRASE_ARGS(ago(s, when_s)));
    else
        say(s, RUN_NEVER, NULL);
    if (!is_of_run)
        say_failed(s);
    say_next_run(s);
}

static void say_instead(struct sentence *s)
{
    const char *instead = agents_words(s, s->cause->instead);

    if (*instead)
        say(s, INSTEAD, PHRASE_ARGS(instead));
}

/* The operation in progress, and its cause if it is an automatic restart. */
static void say_doing(struct sentence *s)
{
    const struct proc_cause *c = s->cause;
    const char *n = number(s, c->tries), *most = number(s, c->tries_max);

    if (c->is_periodic && c->doing == PROC_OP_START)
        say(s, RUN_DOING, NULL);
    else
        buf_puts(s->to, operation_find(c->doing)->doing[s->lang]);
    if (s->view->status == PROC_RUNNING || !s->view->hosted || c->tries <= 0) {
        say_instead(s);
        say_flapping(s);
        return;
    }
    say(s, c->tries_max > 0 ? THIS_OF : THIS_TRY, PHRASE_ARGS(n, most));
    say_instead(s);
    say_ended(s, SEMICOLON);
    say_flapping(s);
    say_failed(s);
}

static void say_all(struct sentence *s)
{
    const struct proc_view *v = s->view;

    if (why_is_in_work(s->cause))
        say_doing(s);
    else if (v->status == PROC_RUNNING)
        say_running(s);
    else if (why_is_periodic(v) && v->wanted == PROC_RUNNING)
        say_periodic(s);
    else if (why_is_finished(v))
        say_finished(s);
    else if (s->cause->has_given_up)
        say_given_up(s);
    else if (v->wanted == PROC_STOPPED && !why_failure_stands(v))
        say_stopped(s);
    else
        say_not_running(s);
}

void why_write(const struct proc_view *v, enum lang lang, int64_t now_s, struct buf *to)
{
    struct sentence s = { .view = v, .cause = &v->cause, .lang = lang, .now_s = now_s, .to = to };

    say_all(&s);
    arena_free(&s.arena);
}

/* Times are relative to since_s: whether a restart that was planned then has happened is not
 * known. */
void why_write_away(const struct proc_view *v, enum lang lang, int64_t since_s, int64_t now_s,
                    struct buf *to)
{
    struct sentence s = { .view = v, .cause = &v->cause, .lang = lang, .now_s = now_s, .to = to };

    if (since_s > 0)
        say(&s, AWAY_FOR, PHRASE_ARGS(ago(&s, since_s)));
    else
        say(&s, AWAY, NULL);
    s.now_s = since_s > 0 ? since_s : now_s;
    say_all(&s);
    arena_free(&s.arena);
}
