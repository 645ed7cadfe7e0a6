/* SPDX-License-Identifier: MIT */
/* lifecycle_page.h - docs/lifecycle.md: the tables of states and events of the agent's core. */
#ifndef BIN_LIFECYCLE_PAGE_H
#define BIN_LIFECYCLE_PAGE_H

#include "base/mem/buf.h"

void lifecycle_page_write(struct buf *out);

#endif
