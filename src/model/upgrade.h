/* SPDX-License-Identifier: MIT */
/* upgrade.h - GSE's upgrade_to_agent_id: hosts that were identified by their address are identified
 * by their agent's id from now on. */
#ifndef MODEL_UPGRADE_H
#define MODEL_UPGRADE_H

#include <stdint.h>

#include "wire/json/shape.h"

struct upgrade_host {
    const char *ip, *agent_id;
    int64_t cloud_id;
};

struct upgrade_ask {
    struct list hosts; /* struct upgrade_host */
};

struct upgrade_view {
    struct list success, failed; /* struct agent_ref: "cloud:ip" */
};

extern const struct shape upgrade_ask_shape, upgrade_view_shape;

#endif
