/* SPDX-License-Identifier: MIT */
/* shapes.c - see shapes.h.  A new exported shape is one line here. */
#include "model/shapes.h"

#include <stddef.h>

#include "model/agent_info.h"
#include "model/app.h"
#include "model/audit.h"
#include "model/event.h"
#include "model/explain.h"
#include "model/group.h"
#include "model/host.h"
#include "model/inventory.h"
#include "model/job.h"
#include "model/log.h"
#include "model/proc.h"
#include "model/proc_info.h"
#include "model/task.h"
#include "model/upgrade.h"

/* clang-format off */
const struct shape *const model_shapes[] = {
    &agent_alive_shape,
    &agent_full_shape,
    &agent_hosts_ask_shape,
    &agent_ids_ask_shape,
    &agent_short_shape,
    &agent_state_shape,
    &app_ask_shape,
    &app_page_shape,
    &app_permissions_shape,
    &app_set_ask_shape,
    &app_view_shape,
    &audit_ask_shape,
    &audit_page_view_shape,
    &audit_view_shape,
    &business_page_view_shape,
    &business_put_ask_shape,
    &business_set_page_shape,
    &business_set_view_shape,
    &business_view_shape,
    &forget_ask_shape,
    &forget_view_shape,
    &host_import_ask_shape,
    &host_import_view_shape,
    &host_list_ask_shape,
    &host_ids_ask_shape,
    &explain_ask_shape,
    &explain_operation_shape,
    &explain_page_shape,
    &explain_policy_shape,
    &explanation_shape,
    &event_ask_shape,
    &event_missing_shape,
    &event_page_shape,
    &event_stream_ask_shape,
    &event_view_shape,
    &host_page_shape,
    &host_ref_shape,
    &host_remove_ask_shape,
    &host_set_ask_shape,
    &host_set_view_shape,
    &host_view_shape,
    &job_agents_ask_shape,
    &job_agents_shape,
    &job_manage_shape,
    &job_operate_shape,
    &job_result_ask_shape,
    &job_result_shape,
    &job_script_operate_shape,
    &job_task_ref_shape,
    &log_ask_shape,
    &log_view_shape,
    &operation_short_ask_shape,
    &operation_target_shape,
    &operation_view_shape,
    &page_ask_shape,
    &proc_group_shape,
    &proc_hosts_ask_shape,
    &proc_infos_shape,
    &proc_meta_shape,
    &proc_operate_batch_shape,
    &proc_operate_shape,
    &proc_operate_known_shape,
    &proc_register_shape,
    &proc_unregister_shape,
    &proc_update_shape,
    &group_get_shape,
    &group_infos_shape,
    &group_resource_shape,
    &group_set_shape,
    &upgrade_ask_shape,
    &upgrade_view_shape,
    &proc_spec_shape,
    &proc_status_ask_shape,
    &proc_sync_ask_shape,
    &proc_sync_shape,
    &process_ask_shape,
    &process_page_shape,
    &process_view_shape,
    &status_view_shape,
    &task_code_view_shape,
    &task_item_view_shape,
    &task_line_shape,
    &task_list_query_shape,
    &task_look_shape,
    &task_page_shape,
    &task_ref_shape,
    &task_state_ask_shape,
    &task_state_view_shape,
    &task_view_shape,
    &token_ask_shape,
    &token_line_shape,
    &token_page_shape,
    &token_view_shape,
    NULL,
};
/* clang-format on */
