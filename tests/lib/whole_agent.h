/* SPDX-License-Identifier: MIT */
/* whole_agent.h - a whole agent with real processes, but for its link: begun, turned, ended,
 * and all that it started with it.  One at a time. */
#ifndef TESTS_LIB_WHOLE_AGENT_H
#define TESTS_LIB_WHOLE_AGENT_H

#include <pwd.h>

#include "agent/shell/agent.h"
#include "base/io/loop.h"
#include "model/code.h"
#include "tests/lib/agent_world.h"
#include "tests/lib/readable.h"

enum { WHOLE_TURN_MS = 20, WHOLE_PATIENCE_MS = 60 * 1000 };

static struct whole {
    char dir[64], data[96], user[64]; /* the processes' folder, the agent's, and whose they are */
    struct loop *loop;
    struct agent *agent;
    int64_t item; /* of the last command */
} whole;

/* What came of the commands, by item. */
enum { WHOLE_ANSWERS = 32 };

static struct whole_answer {
    bool has_come;
    int64_t code, pid;
    char text[2000], version[64], health[64];
} whole_answers[WHOLE_ANSWERS];

/* As a server would greet it. */
static inline int whole_try(const struct clock *clock, const struct agent_options *o,
                            struct err *err)
{
    struct message_welcome welcome = { .version = 1, .epoch = 1, .wants_processes = true };

    assert_int_equal(loop_new(clock, &whole.loop, err), 0);
    if (agent_new(whole.loop, NULL, o, &whole.agent, err)) {
        loop_free(whole.loop);
        return -1;
    }
    welcome.server_ms = clock_mono_ms(&clock_system);
    agent_on_up(whole.agent, &welcome);
    return 0;
}

static inline void whole_start(const struct agent_options *o)
{
    struct err err = { 0 };

    if (whole_try(&clock_system, o, &err))
        fail_msg("%s", err.text);
}

static inline void whole_stop(void)
{
    agent_free(whole.agent);
    loop_free(whole.loop);
    whole.agent = NULL;
}

static inline void whole_turn(void)
{
    struct err err;

    assert_int_equal(loop_turn(whole.loop, WHOLE_TURN_MS, &err), 0);
}

#define TURN_UNTIL(condition)                                                                      \
    do {                                                                                           \
        int64_t end_ = clock_mono_ms(&clock_system) + WHOLE_PATIENCE_MS;                           \
                                                                                                   \
        while (!(condition) && clock_mono_ms(&clock_system) < end_)                                \
            whole_turn();                                                                          \
        if (!(condition))                                                                          \
            fail_msg("never came true: %s", #condition);                                           \
    } while (0)

/* A folder with a victim in it. */
static inline void whole_set_up(void)
{
    memset(&whole, 0, sizeof(whole));
    memset(whole_answers, 0, sizeof(whole_answers));
    snprintf(whole.user, sizeof(whole.user), "%s", getpwuid(geteuid())->pw_name);
    snprintf(whole.dir, sizeof(whole.dir), "/tmp/agent-XXXXXX");
    assert_non_null(mkdtemp(whole.dir));
    assert_int_equal(chmod(whole.dir, 0755), 0);
    snprintf(whole.data, sizeof(whole.data), "%s/data", whole.dir);
    world_copy_victim(world_text("%s/victim", whole.dir));
}

static inline bool whole_kill_child(void *arg, pid_t pid)
{
    (void)arg;
    world_kill(pid);
    return true;
}

/* We are subreaper, so all that the agent started are our children by now, or will be
 * when their parents are gone. */
static inline int whole_tear_down(void **state)
{
    struct err err;

    (void)state;
    sys_fault("any", 0, 0);
    if (whole.agent)
        whole_stop();
    do {
        assert_int_equal(procfs_each_child(getpid(), whole_kill_child, NULL, &err), 0);
    } while (waitpid(-1, NULL, 0) > 0);
    world_remove(whole.dir);
    return 0;
}

/* A process in the folder, with the shortest times there are. */
static inline struct proc_spec whole_spec(const char *name, const char *start)
{
    struct proc_spec s;

    shape_defaults(&proc_spec_shape, &s);
    s.has_identity = s.has_control = s.has_policy = PRESENCE_GIVEN;
    s.identity.proc_name = "victim";
    s.identity.setup_path = whole.dir;
    s.identity.pid_path = world_text("%s/%s.pid", whole.dir, name);
    s.identity.user = whole.user;
    s.control.start_cmd = start;
    s.policy.start_check_s = s.policy.stop_check_s = s.policy.start_interval_s = 1;
    s.policy.has_start_check = s.policy.has_stop_check = s.policy.has_interval = PRESENCE_GIVEN;
    return s;
}

/* The number of the item. */
static inline int64_t whole_command(int64_t op, const char *name, const struct proc_spec *spec)
{
    const struct message_command m = { .task = "GSETASK:S:1",
                                       .item = ++whole.item,
                                       .op = op,
                                       .deadline_ms = clock_mono_ms(&clock_system) + 60 * 1000,
                                       .meta = { "space", name, { 0 } },
                                       .spec = *spec };

    agent_on_message(whole.agent, MESSAGE_COMMAND, &m);
    return whole.item;
}

/* A journal is opened, and what is in it does not matter. */
static inline int whole_pass_over(void *arg, uint8_t type, const char *body, size_t n,
                                  struct err *err)
{
    (void)arg;
    (void)type;
    (void)body;
    (void)n;
    (void)err;
    return 0;
}

/* For agent_options.send. */
static inline void whole_on_send(void *arg, unsigned type, const struct shape *s,
                                 const void *message)
{
    const struct message_result *r = message;
    struct whole_answer *a = &whole_answers[type == MESSAGE_RESULT ? r->item : 0];

    (void)arg;
    (void)s;
    if (type != MESSAGE_RESULT)
        return;
    a->has_come = true;
    a->code = r->code;
    a->pid = r->view.pid;
    readable(a->text, sizeof(a->text), r->text, LANG_EN);
    snprintf(a->version, sizeof(a->version), "%s", r->view.version);
    readable(a->health, sizeof(a->health), r->view.health, LANG_EN);
}

#endif
