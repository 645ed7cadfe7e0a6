/* SPDX-License-Identifier: MIT */
/* keyed_results.h - an immediate answer with a result per host: a map from key to result, as in
 * GSE's v1.
 *
 * A key is in the caller's spelling.  A host that is named twice the same way has one key; a host
 * that is named in two ways is one target with two keys. */
#ifndef API_GSE_KEYED_RESULTS_H
#define API_GSE_KEYED_RESULTS_H

#include "api/pipeline/call.h"
#include "base/mem/map.h"
#include "server/fleet/fleet_registry.h"

struct result_key {
    const char *text;
    size_t target;
};

struct keyed_results {
    struct call *call;
    struct result_key *keys;
    size_t n_keys;
    struct registering_target *targets; /* code 0: known and visible to the app */
    size_t n;
    struct map by_key, by_agent;
};

struct keyed_results *keyed_results_new(struct call *c, size_t most); /* in the call's arena */
void keyed_results_add(struct keyed_results *m, const struct fleet_host *h,
                       const char *key);           /* h NULL: unknown host */
void keyed_results_ready(struct keyed_results *m); /* all hosts were added */

/* Ends the call with the failure, or with the results of the targets. */
void keyed_results_end(struct keyed_results *m, const struct err *failure);

#endif
