/* SPDX-License-Identifier: MIT */
/* fleet_plan.c - see fleet_plan.h. */
#include "fleetsim/fleet_plan.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem/mem.h"
#include "model/rules.h"

#define AT(member)     .offset = offsetof(struct fleet_settings, member)
#define SHARE(kind)    .type = FIELD_STR, .max = SHARE_MAX, AT(shares[kind])
#define NUMBER(member) .type = FIELD_INT, AT(member)

enum {
    SHARE_MAX = 16,
    WORD_MAX = 40,
    AGENTS_MAX = 1000 * 1000,
    PROCS_MAX = 1000,
    PROCESSES_MAX = 64,
    MILLION = 1000 * 1000,
};

/* clang-format off */
const struct fleet_kind_info fleet_kinds[FLEET_KINDS] = {
    [FLEET_GOOD]         = { "good",         "answers at once" },
    [FLEET_SLOW]         = { "slow",         "answers operations late (--slow-ms)" },
    [FLEET_FAILING]      = { "failing",      "every operation that acts fails with 65535" },
    [FLEET_FLAPPING]     = { "flapping",     "its processes die and come back (--flap-seconds)" },
    [FLEET_OFFLINE]      = { "offline",      "has joined once, and never connects" },
    [FLEET_BLACK_HOLE]   = { "black_hole",   "connects, then reads nothing while TCP stays up" },
    [FLEET_MUTE]         = { "mute",         "tells of its processes, answers pings, and never a command" },
    [FLEET_LYING]        = { "lying",        "says what makes no sense or is not so" },
    [FLEET_RECONNECTING] = { "reconnecting", "drops its connection again and again (--drop-seconds)" },
};

static const struct field fields[] = {
    { "agents", NUMBER(agents), .min = 1, .max = AGENTS_MAX, .fallback = 100, .doc = "how many agents" },
    { "procs", NUMBER(procs), .max = PROCS_MAX, .fallback = 20, .doc = "processes that each of them hosts" },
    { "server", .type = FIELD_STR, AT(server), .max = NAME_MAX_BYTES, .check = rule_line,
      .fallback_text = "127.0.0.1:7021", .doc = "where the server's link is" },
    { "dir", .type = FIELD_STR, AT(dir), .max = PATH_MAX_BYTES, .flags = FIELD_REQUIRED, .check = rule_line,
      .doc = "folder of the agents' keys and certificates, kept for the next run; created if it is missing" },
    { "token", .type = FIELD_STR, AT(token), .max = NAME_MAX_BYTES, .flags = FIELD_SECRET, .check = rule_line,
      .doc = "join token, with at least as many uses as agents that have not joined" },
    { "token_file", .type = FIELD_STR, AT(token_file), .max = PATH_MAX_BYTES, .check = rule_line,
      .doc = "a file with the join token, readable only by its owner" },
    { "name", .type = FIELD_STR, AT(name), .min = 1, .max = WORD_MAX, .check = rule_line, .fallback_text = "sim",
      .doc = "of the fleet: agents are called NAME-00000 and so on, their namespace NAME" },
    { "ip", .type = FIELD_STR, AT(ip), .max = FLEET_IP_SIZE, .fallback_text = "10.0.0.1",
      .doc = "address of the first agent; the others follow" },
    { "processes", NUMBER(processes), .min = 1, .max = PROCESSES_MAX, .fallback = 1,
      .doc = "processes of this program that share the agents" },
    { "seed", NUMBER(seed), .doc = "decides which agents misbehave and when; the same seed gives the same fleet" },
    { "slow", SHARE(FLEET_SLOW), .doc = "share of agents that answer late, as 2% or as a number" },
    { "failing", SHARE(FLEET_FAILING), .doc = "share of agents whose operations fail" },
    { "flapping", SHARE(FLEET_FLAPPING), .doc = "share of agents whose processes die and come back" },
    { "offline", SHARE(FLEET_OFFLINE), .doc = "share of agents that have joined and never connect" },
    { "black_hole", SHARE(FLEET_BLACK_HOLE), .doc = "share of agents that read nothing once they are connected" },
    { "mute", SHARE(FLEET_MUTE), .doc = "share of agents that answer pings but no commands" },
    { "lying", SHARE(FLEET_LYING), .doc = "share of agents that send false messages" },
    { "reconnecting", SHARE(FLEET_RECONNECTING), .doc = "share of agents that drop their connection again and again" },
    { "op_ms", NUMBER(op_ms), .max = DAY_S * 1000LL, .doc = "how long an operation takes" },
    { "slow_ms", NUMBER(slow_ms), .max = DAY_S * 1000LL, .fallback = 5000,
      .doc = "how long an operation of a slow agent takes, at most twice this" },
    { "back_ms", NUMBER(back_ms), .min = -1, .max = DAY_S * 1000LL, .fallback = 1000,
      .doc = "how long a process that died stays down; -1: for good" },
    { "flap_seconds", NUMBER(flap_s), .min = 1, .max = DAY_S, .fallback = 5,
      .doc = "how often a process of a flapping agent dies" },
    { "drop_seconds", NUMBER(drop_s), .min = 1, .max = DAY_S, .fallback = 20,
      .doc = "how often a reconnecting agent drops its connection" },
    { "rate", NUMBER(rate), .max = MILLION, .doc = "changes of processes a second, over all agents" },
    { "at_once", NUMBER(at_once), .min = 1, .max = AGENTS_MAX, .fallback = 200,
      .doc = "agents that are on their way to their first session at the same time, of each process" },
    { "duration", NUMBER(duration_s), .max = 365LL * DAY_S, .doc = "seconds until it ends by itself; 0: never" },
    { "control", .type = FIELD_STR, AT(control), .max = PATH_MAX_BYTES, .check = rule_path,
      .doc = "a unix socket made here that takes commands, one a line; empty: none" },
    { "json", .type = FIELD_BOOL, AT(json), .doc = "the result as one JSON object, not as a table" },
    { 0 },
};
static const struct shape shape = { "sim settings", sizeof(struct fleet_settings), fields };
/* clang-format on */

const struct config_spec fleet_config = {
    .program = "holdfast-sim",
    .about = "A fleet of simulated agents over real connections, to see what a server holds.",
    .env_prefix = "HOLDFAST_SIM",
    .default_file = "/etc/holdfast/sim.yaml",
    .shape = &shape,
};

/* ---- shares */

/* Reads a decimal number, in millionths. */
static const char *fleet_plan_read_number(const char *text, int64_t *ret_millionths)
{
    int64_t whole = 0, part = 0, unit = MILLION;
    const char *at = text;

    for (; *at >= '0' && *at <= '9' && whole < AGENTS_MAX; at++)
        whole = 10 * whole + (*at - '0');
    if (at == text)
        return NULL;
    if (*at == '.') {
        for (at++; *at >= '0' && *at <= '9'; at++) {
            unit /= 10;
            part += unit * (*at - '0');
        }
    }
    *ret_millionths = whole * MILLION + part;
    return at;
}

/* Rounded; but at least one if the share is not 0. */
static int64_t part_of(int64_t agents, int64_t percent_millionths)
{
    int64_t hundred = 100LL * MILLION;
    int64_t n = (agents * percent_millionths + hundred / 2) / hundred;

    return n == 0 && percent_millionths > 0 ? 1 : n;
}

int fleet_share(const char *text, int64_t agents, int64_t *ret, struct err *err)
{
    int64_t number = 0;
    const char *end;

    if (!*text) {
        *ret = 0;
        return 0;
    }
    end = fleet_plan_read_number(text, &number);
    if (end && !strcmp(end, "%") && number <= 100LL * MILLION)
        *ret = part_of(agents, number);
    else if (end && !*end && number % MILLION == 0 && number / MILLION <= agents)
        *ret = number / MILLION;
    else
        return err_set(err, ERR_INVALID,
                       "'%s' is no share: 2%% is one, 0.1%% too, or a number of agents up to %lld",
                       text, (long long)agents);
    return 0;
}

/* ---- kinds of agents */

uint64_t fleet_random(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;

    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

uint64_t fleet_seed(int64_t seed, int64_t agent)
{
    uint64_t state = (uint64_t)seed;

    return fleet_random(&state) ^ (uint64_t)agent * 0xD1342543DE82EF95u;
}

/* Gives a kind to n random agents without one. */
static void assign_kind(struct fleet_plan *p, enum fleet_kind kind, int64_t n, uint64_t *state)
{
    while (n > 0) {
        int64_t agent = (int64_t)(fleet_random(state) % (uint64_t)p->agents);

        while (p->kinds[agent] != FLEET_GOOD)
            agent = (agent + 1) % p->agents;
        p->kinds[agent] = (uint8_t)kind;
        n--;
    }
}

int fleet_plan_init(struct fleet_plan *p, const struct fleet_settings *s, struct err *err)
{
    uint64_t state = fleet_seed(s->seed, -1);
    int64_t left = s->agents;

    *p = (struct fleet_plan){ .agents = s->agents };
    for (int k = FLEET_GOOD + 1; k < FLEET_KINDS; k++) {
        if (fleet_share(s->shares[k], s->agents, &p->count[k], err))
            return err_wrap(err, "%s", fleet_kinds[k].name);
        left -= p->count[k];
        if (left < 0)
            return err_set(err, ERR_INVALID, "%s: with the shares before it more than all agents",
                           fleet_kinds[k].name);
    }
    p->count[FLEET_GOOD] = left;
    p->kinds = xalloc((size_t)s->agents);
    for (int k = FLEET_GOOD + 1; k < FLEET_KINDS; k++)
        assign_kind(p, (enum fleet_kind)k, p->count[k], &state);
    return 0;
}

void fleet_plan_done(struct fleet_plan *p)
{
    free(p->kinds);
    *p = (struct fleet_plan){ 0 };
}

void fleet_plan_json(const struct fleet_plan *p, struct buf *to)
{
    for (int k = FLEET_GOOD + 1; k < FLEET_KINDS; k++) {
        const char *between = "";

        buf_printf(to, "%s\"%s\":[", k == FLEET_GOOD + 1 ? "{" : ",", fleet_kinds[k].name);
        for (int64_t i = 0; i < p->agents; i++) {
            if (p->kinds[i] != k)
                continue;
            buf_printf(to, "%s%lld", between, (long long)i);
            between = ",";
        }
        buf_addc(to, ']');
    }
    buf_puts(to, "}\n");
}

/* ---- names */

void fleet_name(const struct fleet_settings *s, int64_t agent, char to[FLEET_NAME_SIZE])
{
    snprintf(to, FLEET_NAME_SIZE, "%.40s-%05lld", s->name, (long long)agent);
}

int fleet_ip(const struct fleet_settings *s, int64_t agent, char to[FLEET_IP_SIZE], struct err *err)
{
    struct in_addr first;

    if (inet_pton(AF_INET, s->ip, &first) != 1)
        return err_set(err, ERR_INVALID, "ip: '%s' is not an IPv4 address", s->ip);
    if ((int64_t)ntohl(first.s_addr) + agent > UINT32_MAX)
        return err_set(err, ERR_INVALID, "ip: from %s on there is no room for %lld agents", s->ip,
                       (long long)s->agents);
    first.s_addr = htonl(ntohl(first.s_addr) + (uint32_t)agent);
    inet_ntop(AF_INET, &first, to, FLEET_IP_SIZE);
    return 0;
}
