/* SPDX-License-Identifier: MIT */
/* operation_rows.h - the rows of operation.h, by number; included where a table is made of them.
 *
 * The includer defines OPERATION(id, kind, number, name, prose, help, help_zh, ...), which gets
 * every row, or one of OPERATION_ACTS, OPERATION_HOSTS and OPERATION_LOOKS, which gets the rows of
 * that kind, without `kind`.  OPERATION_OWN gets the rows that BlueKing's calls do not have, which
 * act on the process, too.  All five are undefined again at the end.
 *
 *   id       of enum proc_op: PROC_OP_id
 *   kind     of enum operation_kind; the macro of the row says it
 *   number   op_type of BlueKing's calls; of OPERATION_OWN, a number that those do not use
 *   name     on the wire, in logs, and on the command line
 *   prose    the name in sentences of the reference
 *   help     of the command line, in English and Chinese
 *   ...      the other members of struct operation */
#ifndef OPERATION
#define OPERATION(...)
#endif
#ifndef OPERATION_ACTS
#define OPERATION_ACTS(id, ...) OPERATION(id, ACTS_ON_PROCESS, __VA_ARGS__)
#endif
#ifndef OPERATION_OWN
#define OPERATION_OWN(id, ...) OPERATION(id, ACTS_ON_PROCESS, __VA_ARGS__)
#endif
#ifndef OPERATION_HOSTS
#define OPERATION_HOSTS(id, ...) OPERATION(id, CHANGES_HOSTING, __VA_ARGS__)
#endif
#ifndef OPERATION_LOOKS
#define OPERATION_LOOKS(id, ...) OPERATION(id, ONLY_LOOKS, __VA_ARGS__)
#endif

/* clang-format off */
OPERATION_ACTS(START, 0, "start", "start", "start a process", "启动进程",
    .verb = { "start", "启动" }, .doing = { "being started", "正在启动" },
    .outcome = MAKES_RUN, .hosting = HOSTING_BEGINS, .wanted = PROC_RUNNING, .if_running = CODE_RUNNING,
    .command = CONTROL(start_cmd), .required = CONTROL(start_cmd), .needs = NEEDS_PID_PATH, .brings_spec = true)
OPERATION_ACTS(STOP, 1, "stop", "stop", "stop a process", "停止进程",
    .verb = { "stop", "停止" }, .doing = { "being stopped", "正在停止" },
    .outcome = MAKES_STOP, .hosting = HOSTING_ENDS, .wanted = PROC_STOPPED, .if_stopped = CODE_NOT_RUNNING,
    .command = CONTROL(stop_cmd), .signal = SIGTERM, .needs = NEEDS_PID_PATH)
OPERATION_LOOKS(QUERY, 2, "query", "query", "query the state of a process on its hosts", "向主机查询进程状态",
    .verb = { "query", "查询" })
OPERATION_HOSTS(HOST, 3, "host", "host",
    "supervise a process: restart it when it exits; alias: manage (machines: host list)", "托管进程：退出后自动拉起；别名 manage（查看主机用 host list）",
    .verb = { "host", "托管" }, .hosting = HOSTING_BEGINS, .wanted = PROC_RUNNING,
    .required = CONTROL(start_cmd), .needs = NEEDS_PID_PATH, .brings_spec = true, .alias = "manage", .manage_number = 1)
OPERATION_HOSTS(UNHOST, 4, "unhost", "un-host",
    "stop supervising a process; it keeps running; alias: unmanage", "取消托管，进程继续运行；别名 unmanage",
    .verb = { "unhost", "取消托管" }, .hosting = HOSTING_ENDS, .alias = "unmanage", .manage_number = 2)
OPERATION_ACTS(RESTART, 7, "restart", "restart", "restart a process", "重启进程",
    .verb = { "restart", "重启" }, .doing = { "being restarted", "正在重启" },
    .outcome = MAKES_RUN, .replaces = true, .hosting = HOSTING_BEGINS, .wanted = PROC_RUNNING,
    .command = CONTROL(restart_cmd), .required = CONTROL(restart_cmd), .or_required = CONTROL(start_cmd),
    .needs = NEEDS_IDENTITY)
OPERATION_ACTS(RELOAD, 8, "reload", "reload", "make a process read its configuration again", "让进程重新加载配置",
    .verb = { "reload", "重新加载" }, .doing = { "being reloaded", "正在重新加载" }, .if_stopped = CODE_NOT_RUNNING,
    .command = CONTROL(reload_cmd), .required = CONTROL(reload_cmd), .needs = NEEDS_IDENTITY)
OPERATION_ACTS(KILL, 9, "kill", "kill", "kill a process", "强制结束进程",
    .verb = { "kill", "强制结束" }, .doing = { "being killed", "正在强制结束" },
    .outcome = MAKES_STOP, .hosting = HOSTING_ENDS, .wanted = PROC_STOPPED, .if_stopped = CODE_NOT_RUNNING,
    .command = CONTROL(kill_cmd), .signal = SIGKILL, .needs = NEEDS_PID_PATH)
OPERATION_OWN(SIGNAL, 32, "signal", "signal", "send a signal to the main process: HUP, USR1, RTMIN+1, 10 ...",
    "向主进程发送信号：HUP、USR1、RTMIN+1、10 等",
    .verb = { "signal", "发送信号" }, .doing = { "being signalled", "正在发送信号" }, .if_stopped = CODE_NOT_RUNNING,
    .needs = NEEDS_IDENTITY, .takes_signal = true)
/* clang-format on */

#undef OPERATION
#undef OPERATION_ACTS
#undef OPERATION_OWN
#undef OPERATION_HOSTS
#undef OPERATION_LOOKS
