/* SPDX-License-Identifier: MIT */
/* fleet_lies.c - messages of a compromised or buggy agent: none of them may harm the server or
 * change what other clients see.  See fleet_agent.h. */
#include "base/mem/mem.h"
#include "fleetsim/fleet_agent.h"
#include "link/group.h"
#include "link/message.h"
#include "model/code.h"

enum { NO_SUCH_TYPE = 200, PAGE = 50 };

/* Claims that an unknown task is done. */
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

static void send_unknown_type(struct fleet_agent *a)
{
    const struct message_ping ping = { -1, -1 };

    fleet_send(a, NO_SUCH_TYPE, &message_ping_shape, &ping);
}

/* Sends messages that only a server sends. */
static void send_server_messages(struct fleet_agent *a)
{
    const struct message_ref ref = { "GSETASK:0:lie", 0 };
    const struct message_welcome welcome = { .version = LINK_VERSION, .ping_ms = 1 };

    fleet_send(a, MESSAGE_STORED, &message_ref_shape, &ref);
    fleet_send(a, MESSAGE_WELCOME, &message_welcome_shape, &welcome);
}

static void send_unasked_answer(struct fleet_agent *a)
{
    const struct message_log log = { .id = 1, .text = "", .output = "a lie\n" };
    const struct message_group_ref group = { -1 };
    const struct message_ping pong = { INT64_MAX, INT64_MIN };

    fleet_send(a, MESSAGE_LOG, &message_log_shape, &log);
    fleet_send(a, MESSAGE_GROUP_TAKEN, &message_group_ref_shape, &group);
    fleet_send(a, MESSAGE_PONG, &message_ping_shape, &pong);
}

/* Sends pages of a list without a last one. */
static void send_endless_list(struct fleet_agent *a)
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

static void send_false_event(struct fleet_agent *a)
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

static void request_renewal(struct fleet_agent *a)
{
    const struct message_renew renew = { "this is no request" };

    fleet_send(a, MESSAGE_RENEW, &message_renew_shape, &renew);
}

/* Joins under the id of another agent.  It does not send hello: the link ends when that is
 * refused. */
static void join_as_neighbour(struct fleet_agent *a)
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

/* Sends a body that does not fit its type, which ends the session. */
static void send_malformed_body(struct fleet_agent *a)
{
    const struct message_ping ping = { 0 };

    fleet_send(a, MESSAGE_RESULT, &message_ping_shape, &ping);
}

static void (*const lies[])(struct fleet_agent *a) = {
    claim_task,          claim_taken,         send_unknown_type, send_server_messages,
    send_unasked_answer, send_endless_list,   send_false_event,  request_renewal,
    join_as_neighbour,   send_malformed_body,
};

void fleet_lie(struct fleet_agent *a)
{
    lies[a->lie++ % ARRAY_LEN(lies)](a);
    a->world->counts.lies++;
}

static void send_false_result(struct fleet_agent *a, const struct message_command *m, int64_t item,
                              int code, const char *text)
{
    const struct fleet_dummy proc = { .space = m->meta.space, .name = m->meta.name, .pid = 1 };
    struct message_result r = { .task = m->task, .item = item, .code = code, .text = text };

    fleet_dummy_view(&proc, false, fleet_wall_s(a), &r.view);
    fleet_send(a, MESSAGE_RESULT, &message_result_shape, &r);
    a->world->counts.lies++;
}

/* Neighbouring items belong to other agents: claims that they are done. */
void fleet_lie_about(struct fleet_agent *a, const struct message_command *m)
{
    for (int64_t item = m->item - 2; item <= m->item + 2; item++) {
        if (item != m->item)
            send_false_result(a, m, item, CODE_OK, "success");
    }
}

/* The first result of an item is the one that counts. */
void fleet_lie_again(struct fleet_agent *a, const struct message_command *m)
{
    send_false_result(a, m, m->item, CODE_COMMAND, "no, it has failed after all");
}
