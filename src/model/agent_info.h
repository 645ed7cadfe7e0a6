/* SPDX-License-Identifier: MIT */
/* agent_info.h - agents as the APIs of GSE and Job show them: requests, answers, and the result of
 * a task per agent. */
#ifndef MODEL_AGENT_INFO_H
#define MODEL_AGENT_INFO_H

#include "model/job.h"

enum {
    AGENTS_ASK_MAX = 5000,     /* Job asks for at most so many at once */
    AGENTS_NAMED_MAX = 1000000 /* ids with repetitions; at most TARGETS_MAX different ones */
};

/* GSE's numbers; only the three that every client reads the same way. */
enum agent_status { AGENT_UNKNOWN = -2, AGENT_RUNNING = 2, AGENT_STOPPED = 6 };
enum { AGENT_MODE_AGENT = 1 };

/* get_agent_status and get_agent_info of ESB */
struct agent_hosts_ask {
    struct list hosts; /* struct host_ref */
};

/* list_agent_state and list_agent_info of the gateway */
struct agent_ids_ask {
    struct list agents; /* struct agent_ref */
};

/* Job's get_agent_status */
struct job_agents_ask {
    struct job_scope scope;
    struct list hosts; /* struct host_ref */
};

/* Job's query_agent_info */
struct host_number {
    int64_t id;
};

struct host_ids_ask {
    struct list ids; /* struct host_number */
};

struct agent_alive {
    const char *ip;
    int64_t cloud_id, alive;
};

struct agent_short {
    const char *ip, *version;
    int64_t cloud_id;
    const char *parent_ip; /* "": agents connect directly */
    int64_t parent_port;
};

struct agent_state {
    const char *agent_id; /* as in the request */
    int64_t cloud_id;
    const char *version;
    int64_t mode, status, report_ms;
};

/* Clients read the numbers as unsigned: only the status and the cloud area may be negative. */
struct agent_full {
    int64_t code;
    const char *message, *agent_id;
    int64_t cloud_id;
    const char *ip, *os, *arch, *parent_ip;
    int64_t parent_port, report_ms;
    const char *version;
    double cpu_percent, mem_percent;
    int64_t cpus, mem_bytes, start_s, work_ms;
    const char *cycle;
    int64_t mode, status;
    const char *status_text;
    int64_t last_status;
    const char *last_status_text, *remark;
};

struct job_agent {
    int64_t host_id, alive;
    const char *version;
};

struct job_agents {
    struct list list; /* struct job_agent */
};

/* get_task_state: without agents, all agents of the task. */
struct task_state_ask {
    const char *task_id;
    struct list agents; /* struct agent_ref */
};

struct task_state {
    const char *state; /* pending, executing, timeout, failed, successed */
    struct list done, timed_out, failed, pending, offline, restarted; /* struct agent_ref */
};

struct task_state_view {
    struct task_state result;
};

extern const struct shape agent_hosts_ask_shape, agent_ids_ask_shape, job_agents_ask_shape,
    host_ids_ask_shape, agent_alive_shape, agent_short_shape, agent_state_shape, agent_full_shape,
    job_agents_shape, task_state_ask_shape, task_state_view_shape;

#endif
