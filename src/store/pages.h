/* SPDX-License-Identifier: MIT */
/* pages.h - the shape of struct store_page as query arguments. */
#ifndef STORE_PAGES_H
#define STORE_PAGES_H

#include "wire/json/shape.h"

extern const struct shape store_page_shape; /* $1 after, $2 limit */

#endif
