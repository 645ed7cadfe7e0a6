/* SPDX-License-Identifier: MIT */
/* shapes.h - every shape that messages begin with, in one list: for the tests
 * that walk all tables, and for the reference.  Shapes inside are reached through
 * their fields. */
#ifndef MODEL_SHAPES_H
#define MODEL_SHAPES_H

#include "wire/shape.h"

extern const struct shape *const model_shapes[]; /* ends with NULL */

#endif
