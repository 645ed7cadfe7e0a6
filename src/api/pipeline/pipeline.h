/* SPDX-License-Identifier: MIT */
/* pipeline.h - the steps of a call: it is authenticated (gate.h), its parameters are read by the
 * shape of its route, a repeated one is recognized (idempotency.h), the route's handler carries it
 * out, and its result is recorded (audit.h) before it is answered. */
#ifndef API_PIPELINE_PIPELINE_H
#define API_PIPELINE_PIPELINE_H

#include "api/pipeline/call.h"

extern const struct call_steps pipeline_steps; /* for struct api */

void pipeline_start(struct call *c); /* the body is complete */

#endif
