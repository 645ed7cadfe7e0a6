/* SPDX-License-Identifier: MIT */
#include "agent/exec/lease.h"

#include <dirent.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "tests/lib/agent_world.h"

enum { PAGE = 4096 };

struct leased {
    struct world *w;
    struct lease_finder *finder;
    int folder, fd; /* fd has a lease on the file */
    struct stat st;
};

static int set_up(void **state)
{
    struct leased *t = xalloc(sizeof(*t));

    signal(SIGIO, SIG_IGN); /* the kernel sends it when something is in the way of the lease */
    t->w = world_new();
    t->folder = open(t->w->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    t->finder = lease_finder_new(t->folder);
    t->fd = openat(t->folder, "file", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert_true(t->fd >= 0);
    assert_int_equal(fstat(t->fd, &t->st), 0);
    assert_int_equal(fcntl(t->fd, F_SETLEASE, F_WRLCK), 0);
    *state = t;
    return 0;
}

static int tear_down(void **state)
{
    struct leased *t = *state;

    WAIT_UNTIL(!lease_finder_is_busy(t->finder));
    lease_finder_free(t->finder);
    close(t->fd);
    close(t->folder);
    world_free(t->w);
    free(t);
    return 0;
}

static void the_lease_is_removed_through_a_duplicate(void **state)
{
    struct leased *t = *state;
    int fd = lease_remove(t->finder, &t->st);
    struct stat st;

    assert_true(fd >= 0 && fd != t->fd);
    assert_int_equal(fcntl(t->fd, F_GETLEASE), F_UNLCK);
    assert_int_equal(fstat(fd, &st), 0);
    assert_int_equal(st.st_ino, t->st.st_ino);
    close(fd);
    assert_int_equal(lease_remove(t->finder, &t->st), -1); /* there is none any more */
}

/* Inode numbers are unique only within a file system. */
static void a_lease_on_another_file_system_is_left_alone(void **state)
{
    struct leased *t = *state;
    int shm = open("/dev/shm", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct lease_finder *other = lease_finder_new(shm);

    assert_int_equal(lease_remove(other, &t->st), -1);
    assert_int_equal(fcntl(t->fd, F_GETLEASE), F_WRLCK);
    lease_finder_free(other);
    close(shm);
}

struct swapper {
    int shown; /* this descriptor is the leased file and a pipe in turn */
    int leased, pipe;
    atomic_bool is_over;
};

static void *swap(void *arg)
{
    struct swapper *s = arg;

    while (!s->is_over) {
        dup3(s->leased, s->shown, O_CLOEXEC);
        dup3(s->pipe, s->shown, O_CLOEXEC);
    }
    return NULL;
}

static size_t open_files(void)
{
    DIR *dir = opendir("/proc/self/fd");
    size_t n = 0;

    while (readdir(dir))
        n++;
    closedir(dir);
    return n;
}

/* The search looks at the lowest descriptor first, which is replaced all the time, so it sees the
 * leased file there and may duplicate the pipe. */
static void a_file_put_in_the_place_of_the_leased_one_is_never_given(void **state)
{
    struct leased *t = *state;
    struct swapper s = { .shown = t->fd, .leased = dup(t->fd) };
    size_t before = open_files(); /* with s.leased */
    struct stat st;
    pthread_t id;
    int ends[2];

    assert_int_equal(pipe(ends), 0);
    s.pipe = ends[0];
    assert_int_equal(pthread_create(&id, NULL, swap, &s), 0);
    for (int i = 0; i < 300; i++) {
        int fd = lease_remove(t->finder, &t->st);

        if (fd < 0)
            continue;
        assert_int_equal(fstat(fd, &st), 0);
        assert_true(st.st_dev == t->st.st_dev && st.st_ino == t->st.st_ino);
        close(fd);
        assert_int_equal(fcntl(s.leased, F_SETLEASE, F_WRLCK), 0);
    }
    s.is_over = true;
    pthread_join(id, NULL);
    dup3(s.leased, t->fd, O_CLOEXEC);
    close(s.leased);
    close(ends[0]);
    close(ends[1]);
    WAIT_UNTIL(!lease_finder_is_busy(t->finder));
    assert_int_equal(open_files(), before - 1);
}

/* An epoll descriptor whose lock is held by a thread that waits for a page of memory. */
struct stuck_epoll {
    int uffd, epoll, event;
    void *page;
    pthread_t id;
    atomic_int tid;
};

static void *wait_for_page(void *arg)
{
    struct stuck_epoll *s = arg;

    s->tid = (int)syscall(SYS_gettid);
    syscall(SYS_epoll_pwait, s->epoll, s->page, 1, -1, NULL, 8); /* no sanitizer looks at it */
    return NULL;
}

/* The event is there already, so it can only wait for the page. */
static bool is_waiting(int tid)
{
    char text[64] = { 0 };
    int fd = open(world_text("/proc/self/task/%d/syscall", tid), O_RDONLY | O_CLOEXEC);
    ssize_t got = read(fd, text, sizeof(text) - 1);

    close(fd);
    return got > 0 && strtol(text, NULL, 10) == SYS_epoll_pwait;
}

static bool begin_stuck(struct stuck_epoll *s)
{
    struct uffdio_api api = { .api = UFFD_API };
    struct uffdio_register range = { .mode = UFFDIO_REGISTER_MODE_MISSING };
    struct epoll_event event = { .events = EPOLLIN };

    s->uffd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
    if (s->uffd < 0 || ioctl(s->uffd, UFFDIO_API, &api))
        return false;
    s->page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    range.range = (struct uffdio_range){ (uintptr_t)s->page, PAGE };
    assert_int_equal(ioctl(s->uffd, UFFDIO_REGISTER, &range), 0);
    s->event = eventfd(1, EFD_CLOEXEC);
    assert_int_equal(epoll_ctl(s->epoll, EPOLL_CTL_ADD, s->event, &event), 0);
    assert_int_equal(pthread_create(&s->id, NULL, wait_for_page, s), 0);
    WAIT_UNTIL(s->tid && is_waiting(s->tid));
    return true;
}

static void end_stuck(struct stuck_epoll *s)
{
    struct uffdio_zeropage zero = { .range = { (uintptr_t)s->page, PAGE } };

    assert_int_equal(ioctl(s->uffd, UFFDIO_ZEROPAGE, &zero), 0);
    pthread_join(s->id, NULL);
    munmap(s->page, PAGE);
    close(s->event);
    close(s->uffd);
}

/* To read its fdinfo would wait for that page, for ever. */
static void an_epoll_descriptor_that_hangs_is_not_looked_at(void **state)
{
    struct leased *t = *state;
    int copy = dup(t->fd), fd;
    struct stuck_epoll s = { .epoll = epoll_create1(EPOLL_CLOEXEC) };

    assert_int_equal(dup3(s.epoll, t->fd, O_CLOEXEC), t->fd); /* it comes before the leased one */
    close(s.epoll);
    s.epoll = t->fd;
    if (!begin_stuck(&s)) {
        close(s.uffd);
        dup3(copy, t->fd, O_CLOEXEC);
        close(copy);
        skip();
    }
    fd = lease_remove(t->finder, &t->st);
    end_stuck(&s);
    dup3(copy, t->fd, O_CLOEXEC);
    close(copy);
    assert_true(fd >= 0);
    close(fd);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_lease_is_removed_through_a_duplicate),
        TEST(a_lease_on_another_file_system_is_left_alone),
        TEST(a_file_put_in_the_place_of_the_leased_one_is_never_given),
        TEST(an_epoll_descriptor_that_hangs_is_not_looked_at),
    };

    if (geteuid())
        return WORLD_SKIPPED;
    return cmocka_run_group_tests_name("lease", tests, NULL, NULL);
}
