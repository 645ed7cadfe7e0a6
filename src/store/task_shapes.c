/* SPDX-License-Identifier: MIT */
/* task_shapes.c - see task_shapes.h. */
#include "store/task_shapes.h"

#include "store/db.h"
#include "store/store_tasks.h"

static const struct field task_fields[] = {
    DB_NUMBER(task_row, task_no),
    DB_TEXT(task_row, id),
    DB_TEXT(task_row, app),
    DB_TEXT(task_row, user),
    DB_NUMBER(task_row, form),
    DB_NUMBER(task_row, created_ms),
    DB_NUMBER(task_row, deadline_ms),
    DB_NUMBER(task_row, n_items),
    DB_NUMBER(task_row, n_left),
    DB_NUMBER(task_row, finished_ms),
    DB_NUMBER(task_row, n_failed),
    DB_NUMBER(task_row, cancelled_ms),
    DB_NUMBER(task_row, idempotent),
    DB_TEXT(task_row, request_key),
    { 0 },
};
const struct shape task_shape = DB_SHAPE(task_row, task_fields);

static const struct field spec_fields[] = {
    DB_NUMBER(task_spec_row, n),
    DB_TEXT(task_spec_row, spec),
    { 0 },
};
const struct shape task_spec_shape = DB_SHAPE(task_spec_row, spec_fields);

static const struct field item_fields[] = {
    DB_NUMBER(task_item_row, task_no),
    DB_NUMBER(task_item_row, n),
    DB_TEXT(task_item_row, agent_id),
    DB_TEXT(task_item_row, key),
    DB_TEXT(task_item_row, space),
    DB_TEXT(task_item_row, name),
    DB_NUMBER(task_item_row, op),
    DB_NUMBER(task_item_row, spec_n),
    DB_NUMBER(task_item_row, state),
    DB_NUMBER(task_item_row, epoch),
    DB_NUMBER(task_item_row, code),
    DB_TEXT(task_item_row, message),
    DB_TEXT(task_item_row, content),
    DB_NUMBER(task_item_row, done_ms),
    { 0 },
};
const struct shape task_item_shape = DB_SHAPE(task_item_row, item_fields);
const struct shape task_new_item_shape = DB_SHAPE(task_item_row, item_fields + 1);
