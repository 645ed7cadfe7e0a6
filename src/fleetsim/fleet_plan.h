/* SPDX-License-Identifier: MIT */
/* fleet_plan.h - the settings of holdfast-sim, and which of its agents misbehaves how.
 *
 * The kinds follow from the seed, the number of agents and the shares alone, so all processes of a
 * run agree, and another run has the same black holes. */
#ifndef FLEETSIM_FLEET_PLAN_H
#define FLEETSIM_FLEET_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/json/config.h"

enum fleet_kind {
    FLEET_GOOD,         /* behaves well */
    FLEET_SLOW,         /* answers late */
    FLEET_FAILING,      /* all its operations fail */
    FLEET_FLAPPING,     /* its processes die and come back */
    FLEET_OFFLINE,      /* has joined once, and never connects */
    FLEET_BLACK_HOLE,   /* connects, then reads nothing while TCP stays up */
    FLEET_MUTE,         /* answers pings but no commands */
    FLEET_LYING,        /* sends false messages */
    FLEET_RECONNECTING, /* drops its connection again and again */
    FLEET_KINDS
};

struct fleet_kind_info {
    const char *name; /* name of its setting; "good" has none */
    const char *does; /* description */
};
extern const struct fleet_kind_info fleet_kinds[FLEET_KINDS];

/* Settings that apply to all agents. */
struct fleet_settings {
    int64_t agents, procs, processes, seed;
    const char *server, *dir, *token, *token_file, *name, *ip, *control;
    const char *shares[FLEET_KINDS]; /* "2%", or a number of agents */
    int64_t at_once;                 /* agents that connect at the same time at the start */
    int64_t op_ms, slow_ms;          /* duration of an operation; that of a slow agent */
    int64_t back_ms;                 /* until a dead process is back */
    int64_t flap_s, drop_s;          /* interval of flapping and of reconnecting */
    int64_t rate;                    /* changes of processes per second, over all agents */
    int64_t duration_s;              /* 0: until SIGINT, SIGTERM or `stop` */
    bool json;
};
extern const struct config_spec fleet_config;

/* How many of `agents` a share is; ERR_INVALID if it is malformed. */
int fleet_share(const char *text, int64_t agents, int64_t *ret, struct err *err);

struct fleet_plan {
    int64_t agents;
    uint8_t *kinds; /* enum fleet_kind of each agent */
    int64_t count[FLEET_KINDS];
};

/* ERR_INVALID, with the setting's name, if a share is malformed or the shares exceed all agents. */
int fleet_plan_init(struct fleet_plan *p, const struct fleet_settings *s, struct err *err);
void fleet_plan_done(struct fleet_plan *p); /* all zeroes is fine */

/* One line: the numbers of the misbehaving agents by kind. */
void fleet_plan_json(const struct fleet_plan *p, struct buf *to);

/* The name of an agent, which ends with its number, and its address, counted up from the first. */
enum { FLEET_NAME_SIZE = 80, FLEET_IP_SIZE = 16 };
void fleet_name(const struct fleet_settings *s, int64_t agent, char to[FLEET_NAME_SIZE]);
int fleet_ip(const struct fleet_settings *s, int64_t agent, char to[FLEET_IP_SIZE],
             struct err *err);

/* SplitMix64: pseudo-random numbers that are the same in every run.  Any state is valid. */
uint64_t fleet_random(uint64_t *state);
uint64_t fleet_seed(int64_t seed, int64_t agent); /* seed of one agent */

#endif
