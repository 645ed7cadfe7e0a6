/* SPDX-License-Identifier: MIT */
/* codec.c - times the reading and writing of one JSON text, ours and jansson's
 * in turns; bench/codec drives it and makes sense of the numbers.
 *
 *     codec SHAPE FILE REPEATS MS
 *
 * prints "TASK BYTES NS" once a task and repeat: what one turn moved, and the CPU
 * time it took, taken over at least MS milliseconds. */
#include <inttypes.h>
#include <jansson.h>
#include <time.h>

#include "base/mem/mem.h"
#include "model/job.h"
#include "model/proc.h"
#include "wire/json/json_scan.h"
#include "wire/json/shape.h"

struct work {
    const struct shape *shape;
    struct buf text;
    struct arena arena; /* of the message that is read again and again */
    void *message;
    struct arena kept_arena; /* of the one that is written */
    void *kept;
    json_t *tree;
};

static const struct {
    const char *name;
    const struct shape *shape;
} shapes[] = {
    { "operate", &proc_operate_shape },
    { "operate_batch", &proc_operate_batch_shape },
    { "register", &proc_register_shape },
    { "job_operate", &job_operate_shape },
};

static void die(const char *what, const char *why)
{
    fprintf(stderr, "codec: %s: %s\n", what, why);
    exit(1);
}

/* ---- the tasks: each does its work once and returns the bytes moved */

static size_t read_ours(struct work *w)
{
    struct err err;

    arena_reset(&w->arena);
    if (shape_read(w->shape, buf_data(&w->text), w->text.len, 0, &w->arena, w->message, &err))
        die("shape_read", err.text);
    return w->text.len;
}

static size_t read_jansson(struct work *w)
{
    json_error_t error;
    json_t *tree = json_loadb(buf_data(&w->text), w->text.len, JSON_REJECT_DUPLICATES, &error);

    if (!tree)
        die("json_loadb", error.text);
    json_decref(tree);
    return w->text.len;
}

/* A buffer of its own each time, as an answer has; jansson makes one too. */
static size_t write_ours(struct work *w)
{
    struct buf out = { 0 };
    size_t n;

    shape_write(w->shape, w->kept, &out);
    n = out.len;
    buf_free(&out);
    return n;
}

static size_t write_jansson(struct work *w)
{
    char *out = json_dumps(w->tree, JSON_COMPACT);
    size_t n;

    if (!out)
        die("json_dumps", "failed");
    n = strlen(out);
    free(out);
    return n;
}

static size_t scan_ours(struct work *w)
{
    char code[64], secret[64], token[64];
    struct json_want wants[] = { { "bk_app_code", code, sizeof(code), false },
                                 { "bk_app_secret", secret, sizeof(secret), false },
                                 { "bk_token", token, sizeof(token), false } };
    struct err err;

    if (json_scan(buf_data(&w->text), w->text.len, wants, ARRAY_LEN(wants), &err))
        die("json_scan", err.text);
    return w->text.len;
}

static const struct {
    const char *name;
    size_t (*once)(struct work *w);
} tasks[] = {
    { "read.ours", read_ours },   { "read.jansson", read_jansson },
    { "write.ours", write_ours }, { "write.jansson", write_jansson },
    { "scan.ours", scan_ours },
};

/* ---- measuring */

static int64_t cpu_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static int64_t time_turns(size_t task, struct work *w, int64_t turns, size_t *ret_bytes)
{
    int64_t start = cpu_ns();

    for (int64_t i = 0; i < turns; i++)
        *ret_bytes = tasks[task].once(w);
    return cpu_ns() - start;
}

/* How many turns take at least `ns`; also warms up. */
static int64_t turns_for(size_t task, struct work *w, int64_t ns)
{
    size_t bytes;
    int64_t turns = 1;

    while (time_turns(task, w, turns, &bytes) < ns)
        turns *= 2;
    return turns;
}

static void measure(struct work *w, long repeats, int64_t ns)
{
    int64_t turns[ARRAY_LEN(tasks)];

    for (size_t i = 0; i < ARRAY_LEN(tasks); i++)
        turns[i] = turns_for(i, w, ns);
    for (long r = 0; r < repeats; r++) {
        for (size_t i = 0; i < ARRAY_LEN(tasks); i++) {
            size_t bytes = 0;
            int64_t took = time_turns(i, w, turns[i], &bytes);

            printf("%s %zu %.1f\n", tasks[i].name, bytes, (double)took / (double)turns[i]);
        }
    }
}

/* ---- setting up */

static const struct shape *find_shape(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(shapes); i++) {
        if (!strcmp(shapes[i].name, name))
            return shapes[i].shape;
    }
    die(name, "no such shape");
    return NULL;
}

static void load(struct buf *to, const char *path)
{
    FILE *f = fopen(path, "rb");
    size_t got;

    if (!f)
        die(path, "cannot be opened");
    while ((got = fread(buf_reserve(to, 65536), 1, 65536, f)) > 0)
        to->len += got;
    fclose(f);
}

static void prepare(struct work *w)
{
    json_error_t error;
    struct err err;

    w->message = xalloc(w->shape->size);
    w->kept = xalloc(w->shape->size);
    if (shape_read(w->shape, buf_data(&w->text), w->text.len, 0, &w->kept_arena, w->kept, &err))
        die("shape_read", err.text);
    w->tree = json_loadb(buf_data(&w->text), w->text.len, JSON_REJECT_DUPLICATES, &error);
    if (!w->tree)
        die("json_loadb", error.text);
}

static void done(struct work *w)
{
    json_decref(w->tree);
    arena_free(&w->arena);
    arena_free(&w->kept_arena);
    free(w->message);
    free(w->kept);
    buf_free(&w->text);
}

int main(int argc, char **argv)
{
    struct work w = { 0 };

    if (argc != 5)
        die("usage", "codec SHAPE FILE REPEATS MS");
    w.shape = find_shape(argv[1]);
    load(&w.text, argv[2]);
    prepare(&w);
    measure(&w, strtol(argv[3], NULL, 10), strtol(argv[4], NULL, 10) * 1000000);
    done(&w);
    return 0;
}
