/* SPDX-License-Identifier: MIT */
/* fleet_lies.c - what an agent may say that was taken over, or has a bug: nothing of it may
 * harm the server, nor what others are told.  See fleet_agent.h. */
#include "base/mem.h"
#include "link/group.h"
#include "link/join.h"
#include "link/output.h"
#include "model/code.h"
#include "sim/fleet_agent.h"

enum { NO_SUCH_TYPE = 200, PAGE = 50 };

/* A task that nobody has, told as done by somebody who was not asked. */
static void claim_task(struct fleet_agent *a)
{
    const struct fleet_dummy proc = { .space = "elsewhere", .name = "nothing", .pid = 1 };
    struct message_result m = { .task = "GSETASK:0:lie", .item = 1, .text = "success" };

    fleet_dummy_view(&proc, true, fleet_wall_s(a), &m.view);
    fleet_send(a, MESSAGE_RESULT, &message_result_shape, &m);
}

static void claim_taken(struct fleet_agent *a)
{
    const struct message_ref ref = { "GSETASK:0:lie", -1 };

    fleet_send(a, MESSAGE_TAKEN, &message_ref_shape, &ref);
}

static void say_unknown_type(struct fleet_agent *a)
{
    const struct message_ping ping = { -1, -1 };

    fleet_send(a, NO_SUCH_TYPE, &message_ping_shape, &ping);
}

/* The words of the server. */
static void play_server(struct fleet_agent *a)
{
    const struct message_ref ref = { "GSETASK:0:lie", 0 };
    const struct message_welcome welcome = { .version = LINK_VERSION, .ping_ms = 1 };

    fleet_send(a, MESSAGE_STORED, &message_ref_shape, &ref);
    fleet_send(a, MESSAGE_WELCOME, &message_welcome_shape, &welcome);
}

static void answer_unasked(struct fleet_agent *a)
{
    const struct message_log log = { .id = 1, .text = "", .output = "a lie\n" };
    const struct message_group_ref group = { -1 };
    const struct message_ping pong = { INT64_MAX, INT64_MIN };

    fleet_send(a, MESSAGE_LOG, &message_log_shape, &log);
    fleet_send(a, MESSAGE_GROUP_TAKEN, &message_group_ref_shape, &group);
    fleet_send(a, MESSAGE_PONG, &message_ping_shape, &pong);
}

/* Pages of a list that never ends. */
static void begin_list(struct fleet_agent *a)
{
    struct proc_view views[PAGE];
    const struct message_processes m = { .is_snapshot = true,
                                         .list = { views, PAGE },
                                         .digest = "never" };
    const struct fleet_dummy proc = { .space = "elsewhere", .name = "endless", .pid = INT32_MAX };

    for (size_t i = 0; i < PAGE; i++)
        fleet_dummy_view(&proc, false, fleet_wall_s(a), &views[i]);
    fleet_send(a, MESSAGE_PROCESSES, &message_processes_shape, &m);
}

static void tell_nonsense(struct fleet_agent *a)
{
    const struct message_event e = { .id = INT64_MAX,
                                     .after = INT64_MAX - 1,
                                     .name = "no_such_event",
                                     .text = "a lie",
                                     .space = "elsewhere",
                                     .proc = "nothing",
                                     .proc_name = "nothing",
                                     .wall_ms = INT64_MIN };

    fleet_send(a, MESSAGE_EVENT, &message_event_shape, &e);
}

static void ask_for_a_certificate(struct fleet_agent *a)
{
    const struct message_renew renew = { "this is no request" };

    fleet_send(a, MESSAGE_RENEW, &message_renew_shape, &renew);
}

/* In the name of a neighbour.  Not hello: what is refused of that, a link takes to heart. */
static void join_again(struct fleet_agent *a)
{
    char name[FLEET_NAME_SIZE];
    const struct message_join join = { .version_min = LINK_VERSION,
                                       .version_max = LINK_VERSION,
                                       .secret = "guessed",
                                       .request = "this is no request",
                                       .ip = a->world->s->ip,
                                       .agent_id = name,
                                       .hostname = name,
                                       .agent_version = "" };

    fleet_name(a->world->s, a->number + 1, name);
    fleet_send(a, MESSAGE_JOIN, &message_join_shape, &join);
}

/* It costs the session: the body is not what its type says. */
static void say_it_wrong(struct fleet_agent *a)
{
    const struct message_ping ping = { 0 };

    fleet_send(a, MESSAGE_RESULT, &message_ping_shape, &ping);
}

static void (*const lies[])(struct fleet_agent *a) = {
    claim_task, claim_taken,   say_unknown_type,      play_server, answer_unasked,
    begin_list, tell_nonsense, ask_for_a_certificate, join_again,  say_it_wrong,
};

void fleet_lie(struct fleet_agent *a)
{
    lies[a->lie++ % ARRAY_LEN(lies)](a);
    a->world->counts.lies++;
}

static void send_result(struct fleet_agent *a, const struct message_command *m, int64_t item,
                        int code, const char *text)
{
    const struct fleet_dummy proc = { .space = m->meta.space, .name = m->meta.name, .pid = 1 };
    struct message_result r = { .task = m->task, .item = item, .code = code, .text = text };

    fleet_dummy_view(&proc, false, fleet_wall_s(a), &r.view);
    fleet_send(a, MESSAGE_RESULT, &message_result_shape, &r);
    a->world->counts.lies++;
}

/* The items beside it are other agents': of them it says that they are done. */
void fleet_lie_about(struct fleet_agent *a, const struct message_command *m)
{
    for (int64_t item = m->item - 2; item <= m->item + 2; item++) {
        if (item != m->item)
            send_result(a, m, item, CODE_OK, "success");
    }
}

/* What was said first counts. */
void fleet_lie_again(struct fleet_agent *a, const struct message_command *m)
{
    send_result(a, m, m->item, CODE_COMMAND, "no, it has failed after all");
}
