/* SPDX-License-Identifier: MIT */
/* fetch.c - see fetch.h. */
#include "wire/http/fetch.h"

#include <curl/curl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/io/queue.h"
#include "base/io/thread.h"
#include "base/mem/mem.h"
#include "base/text/msg.h"

enum { IN_WORK_MAX = 32, TURN_MS = 60 * 1000 };

/* A request.  It belongs to the queue it is in, to fetch's thread between the two queues, and to
 * the loop's thread afterwards. */
struct job {
    struct queue_node node; /* must be first */
    char *url, *body;
    struct curl_slist *headers;
    int64_t until_ms;
    size_t answer_max;
    fetch_done_fn *fn;
    void *arg;

    CURL *curl;
    char why[CURL_ERROR_SIZE];
    bool too_large;
    struct fetch_answer answer;
    TAILQ_ENTRY(job) link; /* in `waiting` or `working` */
};

TAILQ_HEAD(job_list, job);

struct fetch {
    struct loop *loop;
    struct queue *asks, *answers;
    struct watch *watch;
    char *ca;
    size_t on_their_way; /* started and not finished; used by the loop's thread only */
    pthread_t thread;
    bool runs;
    CURLM *multi; /* the members from here on belong to fetch's thread while it runs */
    struct job_list waiting, in_work;
    size_t n_in_work;
};

static void job_free(struct job *j)
{
    explicit_bzero(j->url, strlen(j->url)); /* the query may contain a token */
    if (j->body)
        explicit_bzero(j->body, strlen(j->body));
    curl_slist_free_all(j->headers);
    buf_free(&j->answer.body);
    free(j->url);
    free(j->body);
    free(j);
}

/* ---- in fetch's thread ---- */

static size_t fetch_on_body(char *bytes, size_t one, size_t n, void *arg)
{
    struct job *j = arg;

    if (one * n > j->answer_max - j->answer.body.len) {
        j->too_large = true;
        return 0;
    }
    buf_add(&j->answer.body, bytes, one * n);
    return one * n;
}

/* The system's clock: the loop may have a test's clock, but libcurl uses this one. */
static int64_t now_ms(void)
{
    return clock_mono_ms(&clock_system);
}

/* Setting an option does not fail if libcurl was built with it.  libcurl reports a wrong value
 * when the request starts. */
static void set_options(const struct fetch *f, struct job *j, int64_t left_ms)
{
    CURL *c = j->curl;

    curl_easy_setopt(c, CURLOPT_URL, j->url);
    curl_easy_setopt(c, CURLOPT_PRIVATE, j);
    curl_easy_setopt(c, CURLOPT_ERRORBUFFER, j->why);
    curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(c, CURLOPT_PROXY, "");
    curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(c, CURLOPT_TIMEOUT_MS, (long)left_ms);
    curl_easy_setopt(c, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, fetch_on_body);
    curl_easy_setopt(c, CURLOPT_WRITEDATA, j);
    curl_easy_setopt(c, CURLOPT_USERAGENT, "holdfast/" HOLDFAST_VERSION);
    curl_easy_setopt(c, CURLOPT_HTTPHEADER, j->headers);
    if (j->body)
        curl_easy_setopt(c, CURLOPT_POSTFIELDS, j->body);
    if (*f->ca)
        curl_easy_setopt(c, CURLOPT_CAINFO, f->ca);
}

/* The loop's thread owns the job from here on.  The queue has room for all running requests. */
static void return_job(struct fetch *f, struct job *j)
{
    if (!queue_put(f->answers, &j->node))
        abort();
}

static void begin_job(struct fetch *f, struct job *j, int64_t left_ms)
{
    j->curl = curl_easy_init();
    if (!j->curl)
        abort(); /* out of memory */
    set_options(f, j, left_ms);
    if (curl_multi_add_handle(f->multi, j->curl))
        abort();
    TAILQ_INSERT_TAIL(&f->in_work, j, link);
    f->n_in_work++;
}

static void end_job(struct fetch *f, struct job *j)
{
    TAILQ_REMOVE(&f->in_work, j, link);
    f->n_in_work--;
    curl_multi_remove_handle(f->multi, j->curl);
    curl_easy_cleanup(j->curl);
    j->curl = NULL;
    return_job(f, j);
}

/* The error omits the query, which may contain secrets, because it is logged. */
static void fail_job(struct job *j, int code, const char *why)
{
    err_set(&j->answer.err, code, "%.*s: %s", (int)strcspn(j->url, "?"), j->url, why);
}

static void fetch_judge(struct job *j, CURLcode code)
{
    long status = 0;

    if (j->too_large) {
        fail_job(j, ERR_LIMIT, "the answer is larger than it may be");
    } else if (code) {
        fail_job(j, ERR_UNAVAILABLE, *j->why ? j->why : curl_easy_strerror(code));
    } else {
        curl_easy_getinfo(j->curl, CURLINFO_RESPONSE_CODE, &status);
        j->answer.status = (int)status;
    }
}

static void end_ready(struct fetch *f)
{
    CURLMsg *m;
    int left;

    while ((m = curl_multi_info_read(f->multi, &left))) {
        char *private = NULL;

        if (m->msg != CURLMSG_DONE)
            continue;
        curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, &private);
        fetch_judge((struct job *)(void *)private, m->data.result);
        end_job(f, (struct job *)(void *)private);
    }
}

static void take_asks(struct fetch *f)
{
    struct queue_node *next, *node = queue_take(f->asks);

    for (; node; node = next) {
        next = node->next;
        TAILQ_INSERT_TAIL(&f->waiting, (struct job *)(void *)node, link);
    }
}

static void end_waiting(struct fetch *f, struct job *j, const char *why)
{
    TAILQ_REMOVE(&f->waiting, j, link);
    fail_job(j, ERR_UNAVAILABLE, why);
    return_job(f, j);
}

/* We limit the number of connections ourselves: with libcurl's own limit, some requests that
 * waited for a connection were never started. */
static void begin_waiting(struct fetch *f)
{
    struct job *j;

    while (f->n_in_work < IN_WORK_MAX && (j = TAILQ_FIRST(&f->waiting))) {
        int64_t left_ms = j->until_ms - now_ms();

        if (left_ms <= 0) {
            end_waiting(f, j, "too many others were before it");
            continue;
        }
        TAILQ_REMOVE(&f->waiting, j, link);
        begin_job(f, j, left_ms);
    }
}

static void stop_jobs(struct fetch *f)
{
    static const char why[] = "given up, the program stops";
    struct job *j;

    while ((j = TAILQ_FIRST(&f->waiting)))
        end_waiting(f, j, why);
    while ((j = TAILQ_FIRST(&f->in_work))) {
        fail_job(j, ERR_UNAVAILABLE, why);
        end_job(f, j);
    }
}

static void *thread_main(void *arg)
{
    struct fetch *f = arg;

    while (!queue_is_closed(f->asks)) {
        struct curl_waitfd wait = { queue_fd(f->asks), CURL_WAIT_POLLIN, 0 };
        int running;

        take_asks(f);
        begin_waiting(f);
        if (curl_multi_perform(f->multi, &running))
            abort(); /* out of memory, or a bug */
        end_ready(f);
        if (f->n_in_work == IN_WORK_MAX || TAILQ_EMPTY(&f->waiting))
            curl_multi_poll(f->multi, &wait, 1, TURN_MS, NULL);
    }
    take_asks(f);
    stop_jobs(f);
    return NULL;
}

/* ---- in the loop's thread ---- */

static void on_answers(void *arg, unsigned ready)
{
    struct fetch *f = arg;
    struct queue_node *next, *node = queue_take(f->answers);

    (void)ready;
    for (; node; node = next) {
        struct job *j = (struct job *)(void *)node;

        next = node->next;
        f->on_their_way--;
        j->fn(j->arg, &j->answer);
        job_free(j);
    }
}

static int fetch_start_thread(struct fetch *f, struct err *err)
{
    if (thread_start(thread_main, f, &f->thread, err))
        return -1;
    f->runs = true;
    return 0;
}

int fetch_new(struct loop *loop, const char *ca, struct fetch **ret, struct err *err)
{
    struct fetch *f = xalloc(sizeof(*f));

    if (curl_global_init(CURL_GLOBAL_DEFAULT))
        abort(); /* out of memory, or a broken installation */
    f->loop = loop;
    f->ca = xstrdup(ca);
    TAILQ_INIT(&f->waiting);
    TAILQ_INIT(&f->in_work);
    f->multi = curl_multi_init();
    if (!f->multi)
        abort();
    if (queue_new(FETCH_MAX, &f->asks, err) || queue_new(FETCH_MAX, &f->answers, err) ||
        watch_new(loop, queue_fd(f->answers), on_answers, f, &f->watch, err) ||
        watch_want(f->watch, WATCH_READ, err) || fetch_start_thread(f, err)) {
        fetch_free(f);
        return -1;
    }
    *ret = f;
    return 0;
}

void fetch_free(struct fetch *f)
{
    if (!f)
        return;
    if (f->runs) {
        queue_close(f->asks);
        pthread_join(f->thread, NULL);
        on_answers(f, 0);
    }
    watch_free(f->watch);
    queue_free(f->asks);
    queue_free(f->answers);
    curl_multi_cleanup(f->multi);
    curl_global_cleanup();
    free(f->ca);
    free(f);
}

static struct curl_slist *copy_headers(const struct http_field *h)
{
    struct curl_slist *list = curl_slist_append(NULL, "Accept: application/json");

    for (; list && h && h->name; h++) {
        char *line = xprintf("%s: %s", h->name, h->value);

        list = curl_slist_append(list, line);
        free(line);
    }
    if (!list)
        abort();
    return list;
}

int fetch_start(struct fetch *f, const struct fetch_ask *ask, fetch_done_fn *fn, void *arg,
                struct err *err)
{
    struct job *j;

    if (f->on_their_way >= FETCH_MAX)
        return err_set(err, ERR_UNAVAILABLE, "%d requests are on their way already", FETCH_MAX);
    j = xalloc(sizeof(*j));
    j->url = xstrdup(ask->url);
    j->body = ask->body ? xstrdup(ask->body) : NULL;
    j->headers = copy_headers(ask->headers);
    j->until_ms = now_ms() + ask->timeout_ms;
    j->answer_max = ask->answer_max;
    j->fn = fn;
    j->arg = arg;
    if (!queue_put(f->asks, &j->node)) {
        job_free(j);
        return err_set(err, ERR_UNAVAILABLE, "the program stops");
    }
    f->on_their_way++;
    return 0;
}

const char *fetch_check_url(const char *url)
{
    size_t scheme = !strncmp(url, "http://", 7) ? 7 : !strncmp(url, "https://", 8) ? 8 : 0;
    size_t host = scheme ? strcspn(url + scheme, "/?#") : 0;

    if (!host)
        return MSG("must be a URL that begins with http:// or https:// and a host");
    if (memchr(url + scheme, '@', host))
        return MSG("must have no user in it");
    for (const char *p = url; *p; p++) {
        if ((unsigned char)*p <= ' ' || *p == 0x7f)
            return MSG("must have no blanks in it");
    }
    return NULL;
}
