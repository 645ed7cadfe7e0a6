/* SPDX-License-Identifier: MIT */
/* shapes.h - the list of all top-level shapes: for the tests that walk all tables, and for the
 * reference.  Nested shapes are reached through their fields. */
#ifndef MODEL_SHAPES_H
#define MODEL_SHAPES_H

#include "wire/json/shape.h"

extern const struct shape *const model_shapes[]; /* ends with NULL */

#endif
