/* SPDX-License-Identifier: MIT */
/* join.h - what is said when an agent joins and when it renews its certificate;
 * messages like those of message.h, which has their types. */
#ifndef LINK_JOIN_H
#define LINK_JOIN_H

#include "link/message.h"

struct message_join {
    int64_t version_min, version_max;
    const char *secret;   /* of the token */
    const char *request;  /* for a certificate, PEM */
    const char *ip;       /* "": the one the connection comes from */
    const char *agent_id; /* that is asked for; "": any */
    const char *hostname, *agent_version;
};

struct message_joined {
    const char *agent_id, *cert, *ca; /* PEM */
    int64_t cloud_id, biz_id;
    const char *ip; /* as it is known by now */
};

struct message_renew {
    const char *request; /* PEM */
};

extern const struct shape message_join_shape, message_joined_shape, message_renew_shape;

#endif
