/* SPDX-License-Identifier: MIT */
/* store_probe.h - checks by a write whether the store can be written. */
#ifndef STORE_STORE_PROBE_H
#define STORE_STORE_PROBE_H

#include "store/store.h"

extern const struct store_verb
    store_probe; /* takes and returns nothing; fails if the store cannot be written */

#endif
