/* SPDX-License-Identifier: MIT */
#include "agent/persist/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem/mem.h"
#include "base/os/sys.h"
#include "tests/lib/random.h"

static struct {
    char dir[64], path[96], lock[112], beside[112], spare[112];
    struct buf read; /* what the last open gave, a line a record */
} here;

static int set_up(void **state)
{
    (void)state;
    snprintf(here.dir, sizeof(here.dir), "/tmp/journal-XXXXXX");
    assert_non_null(mkdtemp(here.dir));
    snprintf(here.path, sizeof(here.path), "%s/j", here.dir);
    snprintf(here.lock, sizeof(here.lock), "%s.lock", here.path);
    snprintf(here.beside, sizeof(here.beside), "%s.new", here.path);
    snprintf(here.spare, sizeof(here.spare), "%s.spare", here.path);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    sys_fault("any", 0, 0);
    buf_free(&here.read);
    unlink(here.path);
    unlink(here.lock);
    unlink(here.beside);
    unlink(here.spare);
    return rmdir(here.dir);
}

static int on_record(void *arg, uint8_t type, const char *body, size_t n, struct err *err)
{
    (void)arg, (void)err;
    buf_printf(&here.read, "%d:%.*s\n", type, (int)n, body);
    return 0;
}

static int try_open(struct journal **ret, struct journal_report *report, struct err *err)
{
    buf_truncate(&here.read, 0);
    return journal_open(here.path, on_record, NULL, ret, report, err);
}

static struct journal *open_it(void)
{
    struct journal_report report;
    struct journal *j = NULL;
    struct err err = { 0 };

    if (try_open(&j, &report, &err))
        fail_msg("%s", err.text);
    return j;
}

static void holds(const char *text)
{
    journal_close(open_it());
    assert_string_equal(buf_text(&here.read), text);
}

static int64_t put(struct journal *j, int type, const char *text)
{
    return journal_append(j, (uint8_t)type, text, strlen(text));
}

static int64_t file_size(void)
{
    struct stat st;

    assert_int_equal(stat(here.path, &st), 0);
    return st.st_size;
}

static void what_was_flushed_comes_back_in_order(void **state)
{
    struct journal *j = open_it();
    struct err err;

    (void)state;
    put(j, 1, "one");
    put(j, 255, "");
    assert_int_equal(journal_flush(j, &err), 0);
    put(j, 2, "three");
    assert_int_equal(journal_flush(j, &err), 0);
    put(j, 3, "never flushed");
    journal_close(j);
    holds("1:one\n255:\n2:three\n");
    holds("1:one\n255:\n2:three\n"); /* reading changes nothing */
}

static void only_its_owner_may_read_it(void **state)
{
    struct stat st;

    (void)state;
    journal_close(open_it());
    assert_int_equal(stat(here.path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
}

static void positions_say_what_is_durable(void **state)
{
    struct journal *j = open_it();
    int64_t a = put(j, 1, "a"), b;
    struct err err;

    (void)state;
    assert_true(journal_durable(j) < a);
    assert_int_equal(journal_flush(j, &err), 0);
    assert_true(journal_durable(j) < a);
    assert_int_equal(journal_sync(j, a, &err), 0);
    assert_true(journal_durable(j) >= a);
    sys_fault("any", 1, EIO);
    assert_int_equal(journal_sync(j, a, &err), 0); /* nothing to do: no call at all */
    assert_false(sys_fault_hit());
    sys_fault("any", 0, 0);
    b = put(j, 1, "b");
    assert_true(b > a && journal_durable(j) < b);
    assert_int_equal(journal_sync(j, b, &err), 0);
    assert_true(journal_durable(j) >= b);
    journal_close(j);
    holds("1:a\n1:b\n");
}

static void *run_sync(void *arg)
{
    journal_sync_run(arg);
    return NULL;
}

static void a_sync_may_run_in_another_thread(void **state)
{
    struct journal *j = open_it();
    int64_t a = put(j, 1, "a"), b;
    struct journal_sync s;
    pthread_t thread;
    struct err err;

    (void)state;
    assert_int_equal(journal_sync_begin(j, &s, &err), 0);
    assert_int_equal(pthread_create(&thread, NULL, run_sync, &s), 0);
    b = put(j, 1, "b"); /* meanwhile: one that waits, and one that is written */
    assert_int_equal(journal_flush(j, &err), 0);
    put(j, 1, "c");
    pthread_join(thread, NULL);
    assert_int_equal(journal_sync_end(j, &s, &err), 0);
    assert_true(journal_durable(j) >= a && journal_durable(j) < b);
    assert_int_equal(journal_flush(j, &err), 0);
    journal_close(j);
    holds("1:a\n1:b\n1:c\n");
}

/* By another open file of the same process, which is as good as another process. */
static void a_second_opener_is_refused(void **state)
{
    struct journal *j = open_it(), *second;
    struct journal_report report;
    struct err err;

    (void)state;
    assert_int_equal(try_open(&second, &report, &err), -1);
    assert_int_equal(err.code, ERR_CONFLICT);
    assert_non_null(strstr(err.text, here.path));
    put(j, 1, "a");
    assert_int_equal(journal_flush(j, &err), 0); /* and the first is not disturbed */
    journal_close(j);
    holds("1:a\n");
}

static void a_torn_end_is_cut_off_and_told(void **state)
{
    int64_t before, size;

    (void)state;
    for (int64_t cut = 1;; cut++) {
        struct journal *j = open_it();
        struct journal_report report = { 0 };
        struct err err = { 0 };

        put(j, 1, "kept");
        assert_int_equal(journal_flush(j, &err), 0);
        before = file_size();
        put(j, 2, "torn in two");
        assert_int_equal(journal_flush(j, &err), 0);
        journal_close(j);
        size = file_size();
        if (cut > size - before)
            break;
        assert_int_equal(truncate(here.path, size - cut), 0);
        assert_int_equal(try_open(&j, &report, &err), 0);
        assert_string_equal(buf_text(&here.read), "1:kept\n");
        assert_int_equal(report.count, 1);
        assert_int_equal(report.torn_at, before);
        assert_int_equal(report.torn_bytes, size - cut - before);
        put(j, 3, "after"); /* and it goes on from there */
        assert_int_equal(journal_flush(j, &err), 0);
        journal_close(j);
        holds("1:kept\n3:after\n");
        unlink(here.path);
    }
}

static void flip(int64_t at)
{
    int fd = open(here.path, O_RDWR);
    char c;

    assert_int_equal(pread(fd, &c, 1, at), 1);
    c ^= 0x10;
    assert_int_equal(pwrite(fd, &c, 1, at), 1);
    close(fd);
}

static void damage_is_an_error_with_file_and_place_and_changes_nothing(void **state)
{
    struct journal *j = open_it();
    int64_t size, end;
    struct err err;

    (void)state;
    put(j, 1, "a");
    put(j, 2, "b");
    end = put(j, 3, "c");
    assert_int_equal(journal_sync(j, end, &err), 0);
    journal_close(j);
    size = file_size();
    for (int64_t at = 0; at < size; at++) {
        struct journal_report report;
        int result;

        flip(at);
        result = try_open(&j, &report, &err);
        if (result) {
            assert_int_equal(err.code, ERR_MALFORMED);
            assert_non_null(strstr(err.text, here.path));
            assert_non_null(strstr(err.text, "damaged at byte"));
            assert_string_equal(buf_text(&here.read), "");
            assert_int_equal(file_size(), size);
        } else { /* the mark itself, at the end: no record is lost */
            assert_true(at >= size - RECORD_HEAD - 8);
            assert_string_equal(buf_text(&here.read), "1:a\n2:b\n3:c\n");
            journal_close(j);
            break;
        }
        flip(at);
    }
    assert_int_not_equal(here.read.len, 0);
}

static void a_file_that_is_no_journal_is_left_alone(void **state)
{
    static const char *const contents[] = { "", "{}\n", "HOLDFJ1\n", "HOLDFJ2\n1234567890123456" };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(contents); i++) {
        int fd = open(here.path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        struct journal_report report;
        struct journal *j;
        struct err err;

        assert_int_equal(write(fd, contents[i], strlen(contents[i])), strlen(contents[i]));
        close(fd);
        assert_int_equal(try_open(&j, &report, &err), -1);
        assert_int_equal(err.code, ERR_MALFORMED);
        assert_int_equal(file_size(), strlen(contents[i]));
    }
}

static void put_live(void *arg, struct journal_writer *w)
{
    const char *const *texts = arg;

    for (; *texts; texts++)
        journal_put(w, 9, *texts, strlen(*texts));
}

static void compaction_keeps_what_is_live(void **state)
{
    const char *live[] = { "x", "y", NULL };
    struct journal *j = open_it();
    int64_t before, after;
    struct err err;

    (void)state;
    for (int i = 0; i < 1000; i++)
        put(j, 1, "old");
    assert_int_equal(journal_flush(j, &err), 0);
    before = put(j, 1, "dropped");
    assert_int_equal(journal_compact(j, put_live, live, &err), 0);
    assert_true(journal_durable(j) >= before);
    assert_true(journal_size_bytes(j) < 200);
    assert_int_equal(file_size(), journal_size_bytes(j));
    after = put(j, 2, "new");
    assert_true(after > before);
    assert_int_equal(journal_sync(j, after, &err), 0);
    journal_close(j);
    holds("9:x\n9:y\n2:new\n");
}

static void damage_after_a_compaction_is_seen_too(void **state)
{
    const char *live[] = { "x", NULL };
    struct journal *j = open_it();
    struct journal_report report;
    struct err err;

    (void)state;
    assert_int_equal(journal_compact(j, put_live, live, &err), 0);
    journal_close(j);
    flip(RECORD_FILE_HEAD + RECORD_HEAD);
    assert_int_equal(try_open(&j, &report, &err), -1);
    assert_int_equal(err.code, ERR_MALFORMED);
}

static void a_failed_compaction_leaves_the_old_one_or_a_journal_that_says_no(void **state)
{
    const char *live[] = { "live", NULL };

    (void)state;
    for (int nth = 1;; nth++) {
        struct journal *j = open_it();
        struct err err = { 0 };
        int result;
        bool hit;

        put(j, 1, "old");
        assert_int_equal(journal_flush(j, &err), 0);
        sys_fault("any", nth, ENOSPC);
        result = journal_compact(j, put_live, live, &err);
        hit = sys_fault_hit();
        sys_fault("any", 0, 0);
        if (result)
            assert_int_equal(err.sys, ENOSPC);
        put(j, 2, "more");
        if (!journal_flush(j, &err)) {
            journal_close(j);
            holds(result ? "1:old\n2:more\n" : "9:live\n2:more\n");
        } else {
            assert_int_equal(result, -1);
            assert_int_equal(err.code, ERR_UNAVAILABLE);
            assert_int_equal(journal_compact(j, put_live, live, &err), 0); /* which mends it */
            put(j, 3, "mended");
            assert_int_equal(journal_flush(j, &err), 0);
            journal_close(j);
            holds("9:live\n3:mended\n");
        }
        unlink(here.path);
        if (!hit)
            break;
    }
}

static int64_t room_of(const char *path)
{
    struct stat st;

    assert_int_equal(stat(path, &st), 0);
    return st.st_blocks * 512;
}

static void put_many(struct journal *j, int kilobytes)
{
    static const char kilobyte[1024];
    struct err err;

    for (int i = 0; i < kilobytes; i++) {
        journal_append(j, 1, kilobyte, sizeof(kilobyte));
        assert_int_equal(journal_flush(j, &err), 0);
    }
}

static void room_on_the_disk_is_taken_ahead_for_records_and_for_a_compaction(void **state)
{
    enum { LEAST = 512 * 1024 };
    const char *live[] = { "x", NULL };
    struct journal *j = open_it();
    struct err err;

    (void)state;
    assert_true(room_of(here.path) >= LEAST);
    assert_true(room_of(here.spare) >= LEAST);
    put_many(j, 3000);
    assert_true(room_of(here.path) >= file_size() + LEAST);
    assert_true(room_of(here.spare) >= file_size()); /* even if all of it is live */
    sys_fault("fallocate", 1, ENOSPC);
    assert_int_equal(journal_compact(j, put_live, live, &err), 0);
    assert_true(sys_fault_hit());
    assert_true(file_size() < 200 && room_of(here.path) >= 3000 * 1024); /* the spare's */
    put_many(j, 1);
    journal_close(j);
    j = open_it();
    assert_true(room_of(here.path) >= LEAST && room_of(here.spare) >= LEAST);
    journal_close(j);
}

static void a_spare_file_that_is_not_empty_is_not_taken(void **state)
{
    const char *live[] = { "x", NULL };
    struct journal *j = open_it();
    struct err err;
    int fd;

    (void)state;
    fd = open(here.spare, O_WRONLY | O_CLOEXEC);
    assert_int_equal(pwrite(fd, "rest", 4, 1000), 4);
    close(fd);
    assert_int_equal(journal_compact(j, put_live, live, &err), 0);
    assert_true(file_size() < 200);
    journal_close(j);
    holds("9:x\n");
}

static void a_full_disk_is_a_definite_error_and_no_more(void **state)
{
    struct journal *j = open_it();
    struct rlimit found, small;
    int64_t lost, kept;
    struct err err = { 0 };
    char large[20000];

    (void)state;
    put(j, 1, "before");
    assert_int_equal(journal_flush(j, &err), 0);
    memset(large, 'x', sizeof(large));
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &found);
    small = (struct rlimit){ 8192, found.rlim_max }; /* in the middle of it: a part is written */
    setrlimit(RLIMIT_FSIZE, &small);
    put(j, 2, "small, and of the same batch");
    lost = journal_append(j, 2, large, sizeof(large));
    assert_int_equal(journal_flush(j, &err), -1);
    assert_int_equal(err.sys, EFBIG);
    assert_int_equal(file_size(), journal_size_bytes(j));
    kept = put(j, 3, "after");
    assert_true(kept > lost);
    assert_int_equal(journal_sync(j, kept, &err), 0);
    assert_int_equal(journal_sync(j, lost, &err), -1); /* never durable, whatever comes after */
    setrlimit(RLIMIT_FSIZE, &found);
    signal(SIGXFSZ, SIG_DFL);
    journal_close(j);
    holds("1:before\n3:after\n");
}

static void after_a_failed_sync_nothing_is_promised(void **state)
{
    const char *live[] = { "live", NULL };
    struct journal *j = open_it();
    int64_t at = put(j, 1, "a");
    struct err err;

    (void)state;
    sys_fault("fdatasync", 1, EIO);
    assert_int_equal(journal_sync(j, at, &err), -1);
    assert_int_equal(err.sys, EIO);
    assert_int_equal(journal_sync(j, at, &err), -1); /* a second try would only seem to work */
    assert_int_equal(err.code, ERR_UNAVAILABLE);
    assert_true(journal_durable(j) < at);
    put(j, 1, "b");
    assert_int_equal(journal_flush(j, &err), -1);
    assert_int_equal(journal_compact(j, put_live, live, &err), 0);
    at = put(j, 1, "c");
    assert_int_equal(journal_sync(j, at, &err), 0);
    journal_close(j);
    holds("9:live\n1:c\n");
}

static void a_batch_that_fails_is_taken_back(void **state)
{
    struct journal *j = open_it();
    struct err err;

    (void)state;
    put(j, 1, "a");
    assert_int_equal(journal_flush(j, &err), 0);
    put(j, 2, "b");
    sys_fault("write", 1, ENOSPC);
    assert_int_equal(journal_flush(j, &err), -1);
    assert_int_equal(err.sys, ENOSPC);
    put(j, 3, "c");
    assert_int_equal(journal_flush(j, &err), 0);
    journal_close(j);
    holds("1:a\n3:c\n");
}

static void a_part_that_can_not_be_taken_back_stops_it(void **state)
{
    struct journal *j = open_it();
    struct rlimit found, small;
    struct err err;

    (void)state;
    put(j, 1, "a");
    assert_int_equal(journal_flush(j, &err), 0);
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &found);
    small = (struct rlimit){ (rlim_t)file_size() + 5, found.rlim_max };
    setrlimit(RLIMIT_FSIZE, &small);
    put(j, 2, "b");
    sys_fault("ftruncate", 1, EIO);
    assert_int_equal(journal_flush(j, &err), -1);
    setrlimit(RLIMIT_FSIZE, &found);
    signal(SIGXFSZ, SIG_DFL);
    put(j, 3, "c");
    assert_int_equal(journal_flush(j, &err), -1); /* it would stand behind a part of b */
    assert_int_equal(err.code, ERR_UNAVAILABLE);
    journal_close(j);
    holds("1:a\n");
}

/* Any call of an open refused: an error that says so, or a journal that is right. */
static void every_call_of_an_open_may_fail(void **state)
{
    struct journal *j = open_it();
    struct err err;

    (void)state;
    put(j, 1, "a");
    assert_int_equal(journal_flush(j, &err), 0);
    journal_close(j);
    for (int round = 0; round < 2; round++) { /* one that is there, and one that is not */
        for (int nth = 1;; nth++) {
            struct journal_report report;
            int result;

            if (round == 1)
                unlink(here.path);
            sys_fault("any", nth, EDQUOT);
            result = try_open(&j, &report, &err);
            if (result)
                assert_true(err.code == ERR_SYSTEM && err.sys == EDQUOT);
            else
                journal_close(j);
            if (!sys_fault_hit())
                break;
            sys_fault("any", 0, 0);
            holds(round ? "" : "1:a\n");
        }
    }
}

/* --- Killed while it writes ---------------------------------------------- */

struct shared {
    volatile uint64_t flushed, synced, compacted; /* numbers that the child was told are safe */
};

static void put_state(void *arg, struct journal_writer *w)
{
    uint64_t *upto = arg;

    for (uint64_t i = *upto > 3 ? *upto - 3 : 1; i <= *upto; i++)
        journal_put(w, 1, (char *)&i, sizeof(i));
}

/* Appends 1, 2, 3 ... of random sizes, and says in shared memory how far it came. */
static void write_for_ever(struct shared *s, uint64_t from, uint64_t seed)
{
    struct journal_report report;
    struct journal *j;
    struct err err;

    if (journal_open(here.path, on_record, NULL, &j, &report, &err))
        _exit(50);
    for (uint64_t i = from + 1;; i++) {
        char body[600] = { 0 };
        int64_t at;

        memcpy(body, &i, sizeof(i));
        at = journal_append(j, 1, body, sizeof(i) + random_below(&seed, sizeof(body) - sizeof(i)));
        if (random_below(&seed, 3) == 0) {
            if (journal_flush(j, &err))
                _exit(51);
            s->flushed = i;
        }
        if (random_below(&seed, 20) == 0) {
            if (journal_sync(j, at, &err))
                _exit(52);
            s->flushed = s->synced = i;
        }
        if (random_below(&seed, 60) == 0) {
            if (journal_compact(j, put_state, &i, &err))
                _exit(53);
            s->flushed = s->synced = s->compacted = i;
        }
    }
}

static int check_number(void *arg, uint8_t type, const char *body, size_t n, struct err *err)
{
    uint64_t *last = arg, number;

    (void)err;
    assert_int_equal(type, 1);
    assert_true(n >= sizeof(number));
    memcpy(&number, body, sizeof(number));
    assert_true(*last == 0 || number == *last + 1); /* in order, and none left out */
    *last = number;
    return 0;
}

static void what_was_acknowledged_survives_kill_9(void **state)
{
    struct shared *s =
        mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    uint64_t seed = 7, last = 0;

    (void)state;
    for (int round = 0; round < 60; round++) {
        struct journal_report report;
        struct journal *j;
        struct err err = { 0 };
        uint64_t goal = s->flushed + 1 + random_below(&seed, 300), child_seed = random_next(&seed);
        pid_t pid = fork();
        int status;

        assert_true(pid >= 0);
        if (pid == 0)
            write_for_ever(s, last, child_seed);
        while (s->flushed < goal && !waitpid(pid, &status, WNOHANG))
            ;
        kill(pid, SIGKILL);
        waitpid(pid, &status, 0);
        last = 0;
        if (journal_open(here.path, check_number, &last, &j, &report, &err))
            fail_msg("round %d: %s", round, err.text);
        journal_close(j);
        if (last < s->flushed)
            fail_msg("round %d: %llu was told, %llu is there", round,
                     (unsigned long long)s->flushed, (unsigned long long)last);
    }
    assert_true(s->compacted > 0 && s->synced > 0);
    munmap(s, sizeof(*s));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_was_flushed_comes_back_in_order),
        TEST(only_its_owner_may_read_it),
        TEST(positions_say_what_is_durable),
        TEST(a_sync_may_run_in_another_thread),
        TEST(a_second_opener_is_refused),
        TEST(a_torn_end_is_cut_off_and_told),
        TEST(damage_is_an_error_with_file_and_place_and_changes_nothing),
        TEST(a_file_that_is_no_journal_is_left_alone),
        TEST(compaction_keeps_what_is_live),
        TEST(damage_after_a_compaction_is_seen_too),
        TEST(a_failed_compaction_leaves_the_old_one_or_a_journal_that_says_no),
        TEST(room_on_the_disk_is_taken_ahead_for_records_and_for_a_compaction),
        TEST(a_spare_file_that_is_not_empty_is_not_taken),
        TEST(a_full_disk_is_a_definite_error_and_no_more),
        TEST(after_a_failed_sync_nothing_is_promised),
        TEST(a_batch_that_fails_is_taken_back),
        TEST(a_part_that_can_not_be_taken_back_stops_it),
        TEST(every_call_of_an_open_may_fail),
        TEST(what_was_acknowledged_survives_kill_9),
    };

    return cmocka_run_group_tests_name("journal", tests, NULL, NULL);
}
