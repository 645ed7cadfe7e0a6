/* SPDX-License-Identifier: MIT */
/* A journal with records of every type, as an agent with real processes left it, torn at
 * every byte: the next agent reads what is whole, ends no process and starts none. */
#include <sys/prctl.h>

#include "agent/persist/journal.h"
#include "agent/supervise/core_journal.h"
#include "tests/lib/whole_agent.h"

enum { ITEMS_MAX = 4096, MEMBERS = 2 };

static struct rig {
    char journal[128];
    struct {
        int64_t code, pid;
        bool has_come;
    } answers[ITEMS_MAX];
    int64_t last_event;
    char *bytes;
    size_t n, ends[ITEMS_MAX]; /* of the journal, and of each record in it */
    size_t records;
    bool types[256];
} rig;

static const char *const names[MEMBERS] = { "fore", "daemon" };

/* ---- an agent and its server */

static void on_send(void *arg, unsigned type, const struct shape *s, const void *message)
{
    const struct message_result *r = message;
    const struct message_event *e = message;

    (void)arg;
    (void)s;
    if (type == MESSAGE_RESULT && r->item > 0 && r->item < ITEMS_MAX) {
        rig.answers[r->item].has_come = true;
        rig.answers[r->item].code = r->code;
        rig.answers[r->item].pid = r->view.pid;
    }
    if (type == MESSAGE_EVENT)
        rig.last_event = e->id;
}

static void start_agent(void)
{
    const struct agent_options o = { .dir = whole.data,
                                     .output_max_bytes = 1 << 20,
                                     .send = on_send };

    whole_start(&o);
}

static struct proc_spec spec_of(const char *name)
{
    bool is_daemon = !strcmp(name, "daemon");
    struct proc_spec s = whole_spec(
        name, is_daemon ? "./victim --life-ms 900000 --daemonize --pid-file pid --slot slot"
                        : "./victim --life-ms 900000 --slot slot");

    s.identity.setup_path = world_text("%s/%s", whole.dir, name);
    s.identity.pid_path = world_text("%s/%s/pid", whole.dir, name);
    s.policy.op_timeout_s = 2;
    s.policy.has_timeout = PRESENCE_GIVEN;
    return s;
}

static int64_t ask(int64_t op, const char *name)
{
    const struct proc_spec spec = spec_of(name);
    int64_t item = whole_command(op, name, &spec);
    const struct message_ref ref = { "GSETASK:S:1", item };

    assert_true(item < ITEMS_MAX);
    TURN_UNTIL(rig.answers[item].has_come);
    agent_on_message(whole.agent, MESSAGE_STORED, &ref);
    return item;
}

/* ---- what the processes say of themselves */

static const char *slot_of(const char *name)
{
    return world_read(world_text("%s/%s/slot", whole.dir, name));
}

static int times_begun(const char *name)
{
    int n = 0;

    for (const char *at = slot_of(name); (at = strchr(at, '\n')); at++)
        n++;
    return n;
}

static int64_t pid_of(const char *name)
{
    const char *text = slot_of(name), *space = strrchr(text, ' ');

    return space ? strtoll(space, NULL, 10) : 0;
}

static bool lives(int64_t pid)
{
    struct procfs_stat st;
    struct err err;

    return !procfs_stat((pid_t)pid, &st, &err) && st.state != 'Z';
}

/* ---- a journal with everything in it */

static int note_type(void *arg, uint8_t type, const char *body, size_t n, struct err *err)
{
    (void)arg;
    (void)body;
    (void)n;
    (void)err;
    rig.types[type] = true;
    return 0;
}

/* Those that only a compaction writes, or an overflow. */
static void append_rare(void)
{
    static const struct {
        uint8_t type;
        const char *body;
    } rare[] = {
        { RECORD_DONE, "{\"task\":\"GSETASK:S:2\",\"item\":1,\"deadline_ms\":1}" },
        { RECORD_EVENT_LAST, "{\"id\":70}" },
        { RECORD_EVENT_GAP, "{\"id\":71,\"lost\":2,\"wall_ms\":1}" },
        { RECORD_EVENT_STORED, "{\"id\":72}" },
    };
    struct journal_report report;
    struct journal *j;
    struct err err = { 0 };

    if (journal_open(rig.journal, note_type, NULL, &j, &report, &err))
        fail_msg("%s", err.text);
    for (size_t i = 0; i < ARRAY_LEN(rare); i++)
        journal_append(j, rare[i].type, rare[i].body, strlen(rare[i].body));
    assert_int_equal(journal_flush(j, &err), 0);
    journal_close(j);
    assert_int_equal(journal_open(rig.journal, note_type, NULL, &j, &report, &err), 0);
    rig.records = report.count;
    journal_close(j);
}

static void write_all(const char *path, const char *bytes, size_t n)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, n), (ssize_t)n);
    close(fd);
}

static void read_journal(void)
{
    struct stat st;
    int fd = open(rig.journal, O_RDONLY | O_CLOEXEC);

    assert_int_equal(fstat(fd, &st), 0);
    rig.n = (size_t)st.st_size;
    rig.bytes = xalloc(rig.n);
    assert_int_equal(read(fd, rig.bytes, rig.n), (ssize_t)rig.n);
    close(fd);
}

/* Both run, one of them restarted; a stop and a query of what is not there besides. */
static void live_a_little(void)
{
    start_agent();
    for (int i = 0; i < MEMBERS; i++)
        assert_int_equal(rig.answers[ask(PROC_OP_START, names[i])].code, CODE_OK);
    WAIT_UNTIL(times_begun("fore") == 1 && times_begun("daemon") == 1);
    world_kill(pid_of("fore"));
    TURN_UNTIL(times_begun("fore") == 2 && rig.last_event > 0);
    assert_int_equal(rig.answers[ask(PROC_OP_STOP, "fore-not")].code, CODE_NOT_RUNNING);
    TURN_UNTIL(rig.answers[ask(PROC_OP_QUERY, "fore")].pid == pid_of("fore"));
    whole_stop();
}

static int set_up(void **state)
{
    (void)state;
    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    whole_set_up();
    snprintf(whole.data, sizeof(whole.data), "%s/torn-XXXXXX",
             access("/dev/shm", W_OK) ? whole.dir : "/dev/shm");
    assert_non_null(mkdtemp(whole.data)); /* in memory: each open waits for the disk */
    snprintf(rig.journal, sizeof(rig.journal), "%s/journal", whole.data);
    mkdir(world_text("%s/fore-not", whole.dir), 0755);
    for (int i = 0; i < MEMBERS; i++) {
        assert_int_equal(mkdir(world_text("%s/%s", whole.dir, names[i]), 0755), 0);
        world_copy_victim(world_text("%s/%s/victim", whole.dir, names[i]));
    }
    live_a_little();
    append_rare();
    read_journal();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    if (whole.agent)
        whole_stop();
    world_remove(whole.data);
    whole_tear_down(NULL);
    free(rig.bytes);
    return 0;
}

/* ---- torn */

static void check_processes(size_t cut, const int64_t *pids)
{
    for (int i = 0; i < MEMBERS; i++) {
        if (!lives(pids[i]) || pid_of(names[i]) != pids[i])
            fail_msg("torn at %zu of %zu: %s was %lld, and says\n%s", cut, rig.n, names[i],
                     (long long)pids[i], slot_of(names[i]));
    }
}

static void every_type_is_in_the_journal(void **state)
{
    (void)state;
    for (int type = RECORD_COMMAND; type <= RECORD_EVENT_LAST; type++) {
        if (!rig.types[type])
            fail_msg("no record of type %d", type);
    }
}

/* It gets its name when its head is on the disk, so a head that is torn is damage. */
static void a_torn_head_is_said_and_nothing_changed(void **state)
{
    struct journal_report report;
    struct journal *j;
    struct stat st;

    (void)state;
    for (size_t cut = 1; cut < RECORD_FILE_HEAD; cut++) {
        struct err err = { 0 };

        write_all(rig.journal, rig.bytes, cut);
        assert_int_equal(journal_open(rig.journal, note_type, NULL, &j, &report, &err), -1);
        assert_int_equal(err.code, ERR_MALFORMED);
        assert_int_equal(stat(rig.journal, &st), 0);
        assert_int_equal(st.st_size, cut);
    }
}

/* From memory of its own, so that a byte read behind its end is seen. */
static size_t count_records(size_t cut)
{
    char *bytes = xalloc(cut);
    struct record_file file;
    struct err err = { 0 };

    memcpy(bytes, rig.bytes, cut);
    if (record_scan(bytes, cut, &file, &err))
        fail_msg("torn at %zu of %zu: %s", cut, rig.n, err.text);
    assert_int_equal(record_each(bytes, &file, note_type, NULL, &err), 0);
    free(bytes);
    return file.count;
}

/* Each cut leaves a whole number of records, and never fewer than a shorter one. */
static void torn_at_any_byte_it_is_read_up_to_there(void **state)
{
    size_t before = 0, boundaries = 0;

    (void)state;
    for (size_t cut = RECORD_FILE_HEAD; cut <= rig.n; cut++) {
        size_t count = count_records(cut);

        if (count < before || count > before + 1)
            fail_msg("torn at %zu of %zu: %zu records after %zu", cut, rig.n, count, before);
        if (count > before)
            rig.ends[boundaries++] = cut;
        before = count;
    }
    assert_int_equal(before, rig.records);
    assert_int_equal(boundaries, rig.records);
}

/* What an agent makes of it differs only from record to record: the byte does not matter. */
static void torn_in_any_record_nothing_is_ended_and_nothing_started(void **state)
{
    const int64_t pids[MEMBERS] = { pid_of("fore"), pid_of("daemon") };

    (void)state;
    for (size_t r = 0; r < rig.records; r++) {
        write_all(rig.journal, rig.bytes, rig.ends[r] - (r ? r % 3 : 0));
        start_agent();
        for (int i = 0; i < MEMBERS; i++) {
            int64_t item = ask(PROC_OP_QUERY, names[i]);

            if (rig.answers[item].pid != pids[i])
                fail_msg("torn at %zu of %zu, record %zu: %s is said to be %lld, and was %lld, and "
                         "says\n%s",
                         rig.ends[r], rig.n, r, names[i], (long long)rig.answers[item].pid,
                         (long long)pids[i], slot_of(names[i]));
        }
        check_processes(rig.ends[r], pids);
        whole_stop();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_is_in_the_journal),
        cmocka_unit_test(a_torn_head_is_said_and_nothing_changed),
        cmocka_unit_test(torn_at_any_byte_it_is_read_up_to_there),
        cmocka_unit_test(torn_in_any_record_nothing_is_ended_and_nothing_started),
    };

    if (geteuid())
        return WORLD_SKIPPED;
    return cmocka_run_group_tests_name("agent torn", tests, set_up, tear_down);
}
