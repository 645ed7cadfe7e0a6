/* SPDX-License-Identifier: MIT */
/* fleet_plan.h - a simulated fleet as it was asked for: the settings of holdfast-sim, and
 * which of its agents misbehaves how.
 *
 * Who does what follows from the seed, the number of agents and the shares alone, so all
 * processes of one run agree, and the next run has the same black holes. */
#ifndef SIM_FLEET_PLAN_H
#define SIM_FLEET_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/config.h"

enum fleet_kind {
    FLEET_GOOD,         /* as most are */
    FLEET_SLOW,         /* answers late */
    FLEET_FAILING,      /* every operation fails */
    FLEET_FLAPPING,     /* its processes die and come back */
    FLEET_OFFLINE,      /* has joined once, and never connects */
    FLEET_BLACK_HOLE,   /* connects, then reads nothing more while TCP stays up */
    FLEET_MUTE,         /* answers pings and never a command */
    FLEET_LYING,        /* says what is not so */
    FLEET_RECONNECTING, /* drops its connection again and again */
    FLEET_KINDS
};

struct fleet_kind_info {
    const char *name; /* as its setting is called; "good" has none */
    const char *does; /* for people */
};
extern const struct fleet_kind_info fleet_kinds[FLEET_KINDS];

/* What is the case for all agents, whatever each is like. */
struct fleet_settings {
    int64_t agents, procs, processes, seed;
    const char *server, *dir, *token, *token_file, *name, *ip, *control;
    const char *shares[FLEET_KINDS]; /* "2%" or a number of agents */
    int64_t at_once;                 /* that begin to connect, at the start */
    int64_t op_ms, slow_ms;          /* how long an operation takes; one of a slow agent */
    int64_t back_ms;                 /* until a process that died is back */
    int64_t flap_s, drop_s;          /* between what flapping and reconnecting agents do */
    int64_t rate;                    /* changes of processes a second, over all agents */
    int64_t duration_s;              /* 0: until it is told to stop */
    bool json;
};
extern const struct config_spec fleet_config;

/* How many of `agents` a share is; ERR_INVALID if it is none. */
int fleet_share(const char *text, int64_t agents, int64_t *ret, struct err *err);

struct fleet_plan {
    int64_t agents;
    uint8_t *kinds; /* enum fleet_kind, one an agent */
    int64_t count[FLEET_KINDS];
};

/* ERR_INVALID, with the setting's name, if a share is none or all are more than everybody. */
int fleet_plan_init(struct fleet_plan *p, const struct fleet_settings *s, struct err *err);
void fleet_plan_done(struct fleet_plan *p); /* all zeroes is fine */

/* One line: the numbers of all that misbehave, by what they do. */
void fleet_plan_json(const struct fleet_plan *p, struct buf *to);

/* What an agent is known by: its number behind the name, and an address behind the first. */
enum { FLEET_NAME_SIZE = 80, FLEET_IP_SIZE = 16 };
void fleet_name(const struct fleet_settings *s, int64_t agent, char to[FLEET_NAME_SIZE]);
int fleet_ip(const struct fleet_settings *s, int64_t agent, char to[FLEET_IP_SIZE],
             struct err *err);

/* SplitMix64: numbers that look random and are the same in every run.  Any state will do. */
uint64_t fleet_random(uint64_t *state);
uint64_t fleet_seed(int64_t seed, int64_t agent); /* an agent's own */

#endif
