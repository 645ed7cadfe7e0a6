/* SPDX-License-Identifier: MIT */
#include "model/why_write.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
/* cmocka.h needs the headers above. */
#include <cmocka.h>

#include "base/mem/mem.h"
#include "base/text/utf8.h"
#include "model/proc.h"
#include "model/view.h"
#include "model/why_judge.h"

enum { NOW = 1700000000 };

/* Common members of views; rows override some of them on purpose. */
#pragma GCC diagnostic ignored "-Woverride-init"
#define NONE    .cause.doing = -1, .cause.exit_code = -1
#define RUNS    NONE, .wanted = PROC_RUNNING, .status = PROC_RUNNING, .hosted = true
#define DOWN    NONE, .wanted = PROC_RUNNING, .status = PROC_STOPPED, .hosted = true, .pid = -1
#define STOPPED NONE, .wanted = PROC_STOPPED, .status = PROC_STOPPED, .pid = -1

#define EXIT(ago_s, code)                                                                          \
    .cause.exit_s = NOW - (ago_s), .cause.exit_code = (code), .cause.exit_pid = 700
#define SIGNAL(ago_s, n)                                                                           \
    .cause.exit_s = NOW - (ago_s), .cause.exit_signal = (n), .cause.exit_pid = 700
#define FAILED(ago_s, op, code, text)                                                              \
    .cause.failed_s = NOW - (ago_s), .cause.failed_op = (op), .cause.failed_code = (code),         \
    .cause.failed_text = (text)
#define TRIES(n, most, in_s)                                                                       \
    .cause.tries = (n), .cause.tries_max = (most), .cause.next_try_s = NOW + (in_s)

static const struct proc_check_view checks[] = {
    { .name = "port", .state = CHECK_PASSING, .text = "" },
    { .name = "page", .state = CHECK_FAILING, .text = "no\nanswer" },
};

/* clang-format off */
static const struct {
    struct proc_view view;
    bool trouble;
    const char *said[LANGS];
} rows[] = {
    /* what it left */
    { { STOPPED, .cause.since_s = NOW - 60, .cause.left = "nginx (12), nginx (13)" }, false,
      { "stopped for 1m 0s, as wanted; these processes of it still run: nginx (12), nginx (13)",
        "已按期望停止 1分0秒；其以下进程仍在运行：nginx (12), nginx (13)" } },
    /* periodic */
    { { DOWN, .cause.is_periodic = true, .cause.next_run_s = NOW + 10800 }, false,
      { "not run yet; next run in 3h 0m",
        "尚未执行；下次执行在 3小时0分后" } },
    { { DOWN, .cause.is_periodic = true, .cause.next_run_s = NOW + 60, .last_start_s = NOW - 30,
        .cause.has_finished = true }, false,
      { "last run 30s ago succeeded; next run in 1m 0s",
        "最近一次执行于 30秒前成功；下次执行在 1分0秒后" } },
    { { DOWN, .cause.is_periodic = true, .cause.next_run_s = NOW - 1, EXIT(20, 3),
        FAILED(20, PROC_OP_START, CODE_COMMAND, "\x01""the command ended with exit code %d\x02""1:3") }, true,
      { "last run failed 20s ago: the command ended with exit code 3 (65535); next run is due now",
        "最近一次执行于 20秒前失败：命令执行失败：命令以退出码 3 结束（65535）；即将执行下一次" } },
    { { DOWN, .cause.is_periodic = true }, false,
      { "not run yet; it has no schedule, so it is run only when asked",
        "尚未执行；没有执行计划，仅在请求时执行" } },
    { { DOWN, .cause.is_periodic = true, .hosted = false, .last_start_s = NOW - 60 }, false,
      { "last run 1m 0s ago succeeded; not hosted, so it is not run",
        "最近一次执行于 1分0秒前成功；未托管，不会自动执行" } },
    { { DOWN, .cause.is_periodic = true, .cause.doing = PROC_OP_START }, false,
      { "being run", "正在执行" } },
    { { STOPPED, .cause.is_periodic = true, .cause.since_s = NOW - 60 }, false,
      { "stopped for 1m 0s, as wanted", "已按期望停止 1分0秒" } },
    /* running */
    { { RUNS, .pid = 812 }, false,
      { "running as pid 812",
        "运行中，PID 812" } },
    { { RUNS, .pid = 812, .cause.since_s = NOW - 10920 }, false,
      { "running for 3h 2m as pid 812",
        "已运行 3小时2分，PID 812" } },
    { { RUNS, .pid = 0, .cause.since_s = NOW - 5 }, false,
      { "running",
        "运行中" } },
    { { RUNS, .pid = 812, .cause.since_s = NOW + 30 }, false,
      { "running for 0s as pid 812",
        "已运行 0秒，PID 812" } },
    { { RUNS, .pid = 812, .cause.since_s = NOW - 60, .hosted = false }, false,
      { "running for 1m 0s as pid 812, not hosted",
        "已运行 1分0秒，PID 812，未托管" } },
    { { RUNS, .pid = 812, .cause.since_s = NOW - 60, .wanted = PROC_UNREGISTERED, .hosted = false }, false,
      { "running for 1m 0s as pid 812, not hosted",
        "已运行 1分0秒，PID 812，未托管" } },
    { { RUNS, .pid = 812, .cause.since_s = NOW - 60, .cause.has_old_spec = true }, false,
      { "running for 1m 0s as pid 812; it runs with its previous spec until its next start",
        "已运行 1分0秒，PID 812；仍按修改前的配置运行，下次启动时生效" } },
    { { STOPPED, .cause.since_s = NOW - 300, FAILED(2, PROC_OP_START, CODE_COMMAND, "exit code 3") }, false,
      { "not running; start failed 2s ago: exit code 3 (65535)",
        "未运行；2秒前启动失败：命令执行失败：exit code 3（65535）" } },
    { { RUNS, .pid = 812, .cause.since_s = NOW - 60, .restarts = 1 }, false,
      { "running for 1m 0s as pid 812; restarted once",
        "已运行 1分0秒，PID 812；已自动重启 1 次" } },
    { { RUNS, .pid = 812, .cause.since_s = NOW - 60, .restarts = 1, EXIT(61, 1) }, false,
      { "running for 1m 0s as pid 812; restarted once, after exit code 1",
        "已运行 1分0秒，PID 812；已自动重启 1 次，原因：退出码 1" } },
    { { RUNS, .pid = 812, .cause.since_s = NOW - 3, .restarts = 99, SIGNAL(3, 9), .cause.recent_restarts = 57, .cause.recent_s = NOW - 3 }, true,
      { "running for 3s as pid 812; restarted 57 times in 10 minutes, last after signal 9 (SIGKILL)",
        "已运行 3秒，PID 812；10 分钟内已自动重启 57 次，最近一次原因：信号 9（SIGKILL）" } },
    { { RUNS, .pid = 812, .cause.since_s = NOW - 3, .restarts = 99, SIGNAL(3, 9), .cause.recent_restarts = 4, .cause.recent_s = NOW - 3 }, false,
      { "running for 3s as pid 812; restarted 99 times, last after signal 9 (SIGKILL)",
        "已运行 3秒，PID 812；已自动重启 99 次，最近一次原因：信号 9（SIGKILL）" } },
    { { RUNS, .pid = 812, .cause.since_s = NOW - 600, .restarts = 99, SIGNAL(600, 9), .cause.recent_restarts = 57, .cause.recent_s = NOW - 600 }, true,
      { "running for 10m 0s as pid 812; restarted 99 times, last after signal 9 (SIGKILL)",
        "已运行 10分0秒，PID 812；已自动重启 99 次，最近一次原因：信号 9（SIGKILL）" } },
    { { RUNS, .pid = 812, .cause.since_s = NOW - 7200, .restarts = 2, SIGNAL(7201, 11), .cause.exit_core = true }, false,
      { "running for 2h 0m as pid 812; restarted 2 times, last after signal 11 (SIGSEGV), core dumped",
        "已运行 2小时0分，PID 812；已自动重启 2 次，最近一次原因：信号 11（SIGSEGV），已产生 core" } },
    { { RUNS, .pid = 812, .cause.since_s = NOW - 7200, .restarts = 3, SIGNAL(7201, 9), .cause.exit_oom = true }, false,
      { "running for 2h 0m as pid 812; restarted 3 times, last after OOM kill (out of memory)",
        "已运行 2小时0分，PID 812；已自动重启 3 次，最近一次原因：内存不足，被系统终止（OOM）" } },
    { { RUNS, .pid = 812, .cause.since_s = NOW - 7200, .restarts = 3, EXIT(7201, -1) }, false,
      { "running for 2h 0m as pid 812; restarted 3 times, last after exit code unknown",
        "已运行 2小时0分，PID 812；已自动重启 3 次，最近一次原因：退出码未知" } },
    { { RUNS, .pid = 812, .cause.since_s = NOW - 7200, SIGNAL(7201, 15) }, false,
      { "running for 2h 0m as pid 812",
        "已运行 2小时0分，PID 812" } },
    { { RUNS, .pid = 812, .cause.since_s = NOW - 60, .restarts = 2, SIGNAL(70, 9), .cause.limit_s = NOW - 70,
        .cause.limit_text = "\x01""cpu %s %% of the machine, its limit is %g %%\x02""16:97.2, 98.0, 97.72:50" }, false,
      { "running for 1m 0s as pid 812; restarted 2 times, last after signal 9 (SIGKILL), for it used too much (cpu 97.2, "
        "98.0, 97.7 % of the machine, its limit is 50 %)",
        "已运行 1分0秒，PID 812；已自动重启 2 次，最近一次原因：信号 9（SIGKILL），资源超限（占用整机 CPU 97.2, 98.0, 97.7 %，"
        "上限为 50 %）" } },
    { { RUNS, .pid = 812, .cause.since_s = NOW - 60, .restarts = 3, EXIT(61, 1), .cause.limit_s = NOW - 70,
        .cause.limit_text = "it was another time" }, false,
      { "running for 1m 0s as pid 812; restarted 3 times, last after exit code 1",
        "已运行 1分0秒，PID 812；已自动重启 3 次，最近一次原因：退出码 1" } },
    /* running, with a problem */
    { { RUNS, .pid = 812, .cause.since_s = NOW - 60, .cause.instances = 2, .cause.instances_wanted = 3 }, true,
      { "running for 1m 0s as pid 812, but only 2 of 3 instances are there",
        "已运行 1分0秒，PID 812，但实例不足：应有 3 个，实有 2 个" } },
    { { RUNS, .pid = 812, .cause.since_s = NOW - 60, .cause.instances = 3, .cause.instances_wanted = 3 }, false,
      { "running for 1m 0s as pid 812",
        "已运行 1分0秒，PID 812" } },
    { { RUNS, .pid = 812, .cause.since_s = NOW - 3600, .cause.unhealthy_s = NOW - 300, .health = "no\n database" }, true,
      { "running for 1h 0m as pid 812; unhealthy for 5m 0s: no database",
        "已运行 1小时0分，PID 812；不健康已 5分0秒：no database" } },
    { { RUNS, .pid = 812, .cause.since_s = NOW - 3600, .cause.unhealthy_s = NOW - 300, .cause.drift = "/etc/x: is not there" }, true,
      { "running for 1h 0m as pid 812; unhealthy for 5m 0s; configuration is not as it should be: /etc/x: is not there",
        "已运行 1小时0分，PID 812；不健康已 5分0秒；配置文件与预期不符：/etc/x: is not there" } },
    { { RUNS, .pid = 812, .cause.since_s = NOW - 3600, .cause.unhealthy_s = NOW - 300, .health = "fine", .checks = { (void *)(uintptr_t)checks, 2 } }, true,
      { "running for 1h 0m as pid 812; unhealthy for 5m 0s: check page: no answer",
        "已运行 1小时0分，PID 812；不健康已 5分0秒：检查 page：no answer" } },
    { { RUNS, .pid = 812, .cause.since_s = NOW - 60, .wanted = PROC_STOPPED, .hosted = false, FAILED(5, PROC_OP_STOP, CODE_CHECK, "still alive: pid 812 (web)") }, true,
      { "running for 1m 0s as pid 812, though it should be stopped; stop failed 5s ago: still alive: pid 812 (web) (836)",
        "已运行 1分0秒，PID 812，但期望为停止；5秒前停止失败：操作后状态检查未通过：still alive: pid 812 (web)（836）" } },
    { { RUNS, .pid = 812, .cause.since_s = NOW - 3600, FAILED(300, PROC_OP_RELOAD, CODE_COMMAND, "exit code 3:\n\tno such file\n") }, false,
      { "running for 1h 0m as pid 812; reload failed 5m 0s ago: exit code 3: no such file (65535)",
        "已运行 1小时0分，PID 812；5分0秒前重新加载失败：命令执行失败：exit code 3: no such file（65535）" } },
    { { RUNS, .pid = 812, .cause.since_s = NOW - 3600, FAILED(300, PROC_OP_RELOAD, CODE_TIMEOUT, "") }, false,
      { "running for 1h 0m as pid 812; reload failed 5m 0s ago: the command took too long (822)",
        "已运行 1小时0分，PID 812；5分0秒前重新加载失败：命令执行超时（822）" } },
    { { DOWN, .hosted = false, FAILED(5, PROC_OP_START, CODE_TIMEOUT, "\x01""the command ran longer than %lld s and was ended: %s\x02""2:6077:\x01""%s names %lld whose exe is %s, expected %s\x02""13:\x01""the command\x02""2:123:web6:websrv") }, true,
      { "not running; start failed 5s ago: the command ran longer than 60 s and was ended: the command names 12 whose exe is web, expected websrv (822); not hosted, so it is not started",
        "未运行；5秒前启动失败：命令执行超时：命令执行超过 60 秒，已被终止：命令 指向 12，其程序是 web，应为 websrv（822）；未托管，不会自动拉起" } },
    { { RUNS, .pid = 812, .cause.since_s = NOW - 60, FAILED(90, PROC_OP_START, CODE_CHECK, "not alive"), .restarts = 1, EXIT(95, 1) }, false,
      { "running for 1m 0s as pid 812; restarted once, after exit code 1",
        "已运行 1分0秒，PID 812；已自动重启 1 次，原因：退出码 1" } },
    { { RUNS, .pid = 812, .cause.since_s = NOW - 60, FAILED(5, PROC_OP_START, CODE_RUNNING, "it runs") }, false,
      { "running for 1m 0s as pid 812",
        "已运行 1分0秒，PID 812" } },
    /* in progress */
    { { DOWN, .cause.doing = PROC_OP_START }, false,
      { "being started",
        "正在启动" } },
    { { DOWN, .cause.doing = PROC_OP_START, .cause.instead = "\x01""the command runs as %s, and %s is expected: is proc_name (program) right?\x02""4:java3:web" }, false,
      { "being started; the command runs as java, and web is expected: is proc_name (program) right?",
        "正在启动；命令以 java 运行，应为 web：proc_name（program）是否正确？" } },
    { { DOWN, .cause.doing = PROC_OP_START, .cause.tries = 2, .cause.tries_max = 4, EXIT(3, 1), .cause.instead = "web is java" }, true,
      { "being started, try 2 of 4; web is java; ended 3s ago: exit code 1",
        "正在启动（第 2 次拉起，最多 4 次）；web is java；进程于 3秒前退出：退出码 1" } },
    { { RUNS, .pid = 812, .wanted = PROC_STOPPED, .cause.doing = PROC_OP_STOP }, false,
      { "being stopped",
        "正在停止" } },
    { { RUNS, .pid = 812, .cause.doing = PROC_OP_RESTART }, false,
      { "being restarted",
        "正在重启" } },
    { { RUNS, .pid = 812, .cause.doing = PROC_OP_RELOAD }, false,
      { "being reloaded",
        "正在重新加载" } },
    { { RUNS, .pid = 812, .wanted = PROC_STOPPED, .cause.doing = PROC_OP_KILL }, false,
      { "being killed",
        "正在强制结束" } },
    { { DOWN, .cause.doing = PROC_OP_START, .cause.tries = 2, .cause.tries_max = 4, EXIT(3, 1) }, true,
      { "being started, try 2 of 4; ended 3s ago: exit code 1",
        "正在启动（第 2 次拉起，最多 4 次）；进程于 3秒前退出：退出码 1" } },
    { { DOWN, .cause.doing = PROC_OP_RESTART, .cause.tries = 7, .cause.tries_max = -1, SIGNAL(3, 6), FAILED(2, PROC_OP_START, CODE_CHECK, MSG("not alive")) }, true,
      { "being restarted, try 7; ended 3s ago: signal 6 (SIGABRT); start failed 2s ago: not alive (836)",
        "正在重启（第 7 次拉起）；进程于 3秒前退出：信号 6（SIGABRT）；2秒前启动失败：操作后状态检查未通过：未存活（836）" } },
    { { RUNS, .pid = 812, .cause.since_s = NOW - 9, .cause.doing = PROC_OP_QUERY }, false,
      { "running for 9s as pid 812",
        "已运行 9秒，PID 812" } },
    { { RUNS, .pid = 812, .cause.since_s = NOW - 9, .cause.doing = 5 }, false,
      { "running for 9s as pid 812",
        "已运行 9秒，PID 812" } },
    /* should run and does not */
    { { DOWN }, true,
      { "never started; start_retries is 0, so it is not started",
        "从未启动；start_retries 为 0，不会自动拉起" } },
    { { DOWN, .hosted = false }, true,
      { "never started; not hosted, so it is not started",
        "从未启动；未托管，不会自动拉起" } },
    { { DOWN, EXIT(12, 1), TRIES(1, 4, 7) }, true,
      { "not running, ended 12s ago: exit code 1; try 2 of 4 in 7s",
        "未运行，进程于 12秒前退出：退出码 1；7秒后第 2 次拉起（最多 4 次）" } },
    { { DOWN, EXIT(12, 0), TRIES(1, 4, 0) }, true,
      { "not running, ended 12s ago: exit code 0; try 2 of 4 is due now",
        "未运行，进程于 12秒前退出：退出码 0；即将第 2 次拉起（最多 4 次）" } },
    { { DOWN, SIGNAL(12, 11), .cause.exit_core = true, TRIES(0, 4, 10) }, true,
      { "not running, ended 12s ago: signal 11 (SIGSEGV), core dumped; try 1 of 4 in 10s",
        "未运行，进程于 12秒前退出：信号 11（SIGSEGV），已产生 core；10秒后第 1 次拉起（最多 4 次）" } },
    { { DOWN, SIGNAL(12, 9), .cause.exit_oom_perhaps = true, TRIES(9, -1, 7) }, true,
      { "not running, ended 12s ago: signal 9 (SIGKILL), perhaps an OOM kill (out of memory); try 10 in 7s",
        "未运行，进程于 12秒前退出：信号 9（SIGKILL），可能因内存不足被系统终止（OOM）；7秒后第 10 次拉起" } },
    { { DOWN, SIGNAL(12, 9), .cause.exit_oom = true, TRIES(9, -1, 7) }, true,
      { "not running, ended 12s ago: OOM kill (out of memory); try 10 in 7s",
        "未运行，进程于 12秒前退出：内存不足，被系统终止（OOM）；7秒后第 10 次拉起" } },
    { { DOWN, SIGNAL(12, 9), TRIES(9, -1, -1) }, true,
      { "not running, ended 12s ago: signal 9 (SIGKILL); try 10 is due now",
        "未运行，进程于 12秒前退出：信号 9（SIGKILL）；即将第 10 次拉起" } },
    { { DOWN, SIGNAL(12, 36), TRIES(3, 4, 1) }, true,
      { "not running, ended 12s ago: signal 36; try 4 of 4 in 1s",
        "未运行，进程于 12秒前退出：信号 36；1秒后第 4 次拉起（最多 4 次）" } },
    { { DOWN, EXIT(12, -1), TRIES(3, 4, 1) }, true,
      { "not running, ended 12s ago: exit code unknown; try 4 of 4 in 1s",
        "未运行，进程于 12秒前退出：退出码未知；1秒后第 4 次拉起（最多 4 次）" } },
    { { DOWN, EXIT(12, 1), TRIES(4, 4, 8) }, true,
      { "not running, ended 12s ago: exit code 1; all 4 tries are used up, given up in 8s",
        "未运行，进程于 12秒前退出：退出码 1；4 次拉起均已用完，8秒后放弃" } },
    { { DOWN, EXIT(12, 1), .cause.tries_max = 0 }, true,
      { "not running, ended 12s ago: exit code 1; start_retries is 0, so it is not started",
        "未运行，进程于 12秒前退出：退出码 1；start_retries 为 0，不会自动拉起" } },
    { { DOWN, EXIT(12, 1), .cause.tries_max = 4 }, true,
      { "not running, ended 12s ago: exit code 1; waiting to be started",
        "未运行，进程于 12秒前退出：退出码 1；等待拉起" } },
    { { DOWN, EXIT(90000, 1), .hosted = false }, true,
      { "not running, ended 1d 1h ago: exit code 1; not hosted, so it is not started",
        "未运行，进程于 1天1小时前退出：退出码 1；未托管，不会自动拉起" } },
    { { DOWN, .last_start_s = NOW - 50, FAILED(45, PROC_OP_START, CODE_MATCH, "\x01""%s names %lld whose exe is %s, expected %s\x02""28:\x01""pid file %s\x02""12:/run/web.pid4:12344:java3:web"), .hosted = false }, true,
      { "not running; start failed 45s ago: pid file /run/web.pid names 1234 whose exe is java, expected web (807); not hosted, so it is not started",
        "未运行；45秒前启动失败：进程与预期不符：PID 文件 /run/web.pid 指向 1234，其程序是 java，应为 web（807）；未托管，不会自动拉起" } },
    { { DOWN, EXIT(20, 1), FAILED(15, PROC_OP_START, CODE_CHECK, "not alive after 5 s"), TRIES(2, 4, 7) }, true,
      { "not running, ended 20s ago: exit code 1; start failed 15s ago: not alive after 5 s (836); try 3 of 4 in 7s",
        "未运行，进程于 20秒前退出：退出码 1；15秒前启动失败：操作后状态检查未通过：not alive after 5 s（836）；7秒后第 3 次拉起（最多 4 次）" } },
    { { DOWN, FAILED(15, PROC_OP_START, CODE_USER, "\x01""user %s: no such user\x02""7:nobody2"), .hosted = false, .wanted = PROC_STOPPED }, false,
      { "not running; start failed 15s ago: user nobody2: no such user (122)",
        "未运行；15秒前启动失败：系统用户不存在：用户 nobody2 不存在（122）" } },
    { { DOWN, FAILED(15, 99, CODE_SYSTEM, "disk"), .hosted = false }, true,
      { "not running; operation failed 15s ago: disk (101); not hosted, so it is not started",
        "未运行；15秒前操作失败：服务内部错误：disk（101）；未托管，不会自动拉起" } },
    /* given up */
    { { DOWN, .hosted = false, .cause.has_given_up = true, .cause.tries = 4, EXIT(300, 1) }, true,
      { "given up after 4 tries, no longer hosted; ended 5m 0s ago: exit code 1",
        "自动拉起 4 次后放弃，已取消托管；进程于 5分0秒前退出：退出码 1" } },
    { { DOWN, .hosted = false, .cause.has_given_up = true, .cause.tries = 1, EXIT(300, 127), FAILED(300, PROC_OP_START, CODE_COMMAND, "sh: 1: web: not found") }, true,
      { "given up after 1 try, no longer hosted; ended 5m 0s ago: exit code 127; start failed 5m 0s ago: sh: 1: web: not found (65535)",
        "自动拉起 1 次后放弃，已取消托管；进程于 5分0秒前退出：退出码 127；5分0秒前启动失败：命令执行失败：sh: 1: web: not found（65535）" } },
    /* stopped as wanted */
    { { STOPPED }, false,
      { "stopped, as wanted",
        "已按期望停止" } },
    { { STOPPED, .cause.since_s = NOW - 300, SIGNAL(300, 15) }, false,
      { "stopped for 5m 0s, as wanted",
        "已按期望停止 5分0秒" } },
    { { STOPPED, .cause.since_s = NOW - 300, FAILED(400, PROC_OP_STOP, CODE_CHECK, "alive") }, false,
      { "stopped for 5m 0s, as wanted",
        "已按期望停止 5分0秒" } },
    { { STOPPED, .cause.since_s = NOW - 300, FAILED(2, PROC_OP_STOP, CODE_NOT_RUNNING, "not running") }, false,
      { "stopped for 5m 0s, as wanted",
        "已按期望停止 5分0秒" } },
    { { STOPPED, .wanted = PROC_UNREGISTERED, .status = PROC_UNREGISTERED }, false,
      { "never started",
        "从未启动" } },
    { { STOPPED, .wanted = PROC_UNREGISTERED, EXIT(30, 0) }, false,
      { "not running, ended 30s ago: exit code 0",
        "未运行，进程于 30秒前退出：退出码 0" } },
    /* runs once */
    { { DOWN, .cause.has_finished = true, EXIT(30, 0) }, false,
      { "finished 30s ago, as it should",
        "已于 30秒前按预期运行完成" } },
    { { DOWN, .cause.has_finished = true, EXIT(30, 3), .last_start_s = NOW - 90 }, false,
      { "ended as expected with exit code 3, 30s ago",
        "已于 30秒前按预期退出，退出码 3" } },
    { { DOWN, EXIT(12, 1), .cause.tries_max = 4, .cause.waits_for = "app:db" }, true,
      { "not running, ended 12s ago: exit code 1; started when app:db is up",
        "未运行，进程于 12秒前退出：退出码 1；等待 app:db 启动后再拉起" } },
    { { DOWN, EXIT(12, 1), .cause.tries_max = 4, FAILED(12, PROC_OP_START, CODE_DENIED, "policy.users: no") }, true,
      { "not running, ended 12s ago: exit code 1; start failed 12s ago: policy.users: no (823); not started again while "
        "the host's policy forbids it",
        "未运行，进程于 12秒前退出：退出码 1；12秒前启动失败：没有权限：policy.users: no（823）；主机策略禁止，不会自动拉起" } },
    { { DOWN, .cause.has_finished = true, .hosted = false }, false,
      { "finished, as it should",
        "已按预期运行完成" } },
    { { DOWN, .cause.has_finished = true, EXIT(3600, 0), .last_start_s = NOW - 30 }, false,
      { "finished 30s ago, as it should",
        "已于 30秒前按预期运行完成" } },
    { { DOWN, .cause.has_finished = true, EXIT(3600, 0), .last_start_s = NOW - 30, FAILED(5, PROC_OP_START, CODE_COMMAND, "exit code 3") }, true,
      { "not running, ended 1h 0m ago: exit code 0; start failed 5s ago: exit code 3 (65535)",
        "未运行，进程于 1小时0分前退出：退出码 0；5秒前启动失败：命令执行失败：exit code 3（65535）" } },
    { { STOPPED, .wanted = PROC_UNREGISTERED, .cause.since_s = NOW - 5, FAILED(5, PROC_OP_START, CODE_COMMAND, "exit code 3") }, true,
      { "not running; start failed 5s ago: exit code 3 (65535)",
        "未运行；5秒前启动失败：命令执行失败：exit code 3（65535）" } },
};
/* clang-format on */

static const char *write_why(const struct proc_view *v, enum lang lang, struct buf *b)
{
    buf_truncate(b, 0);
    why_write(v, lang, NOW, b);
    return buf_text(b);
}

static void every_state_has_one_sentence(void **state)
{
    struct buf b = { 0 };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        for (int lang = 0; lang < LANGS; lang++)
            assert_string_equal(write_why(&rows[i].view, (enum lang)lang, &b), rows[i].said[lang]);
        if (why_is_trouble(&rows[i].view) != rows[i].trouble)
            fail_msg("trouble? %s", rows[i].said[LANG_EN]);
    }
    buf_free(&b);
}

/* proc_view_shape, which reads it, has a limit. */
static void a_sentence_is_one_line_and_short(void **state)
{
    struct proc_view v = { DOWN, EXIT(12, 1), TRIES(3, 4, 1) };
    char text[2000];
    struct buf b = { 0 };

    (void)state;
    for (size_t i = 0; i + 3 < sizeof(text); i += 3)
        memcpy(text + i, "\xE4\xB8\xAD", 4);
    text[1] = '\0';
    memcpy(text, "\n\t\033[2J\r\n\x7F", 8); /* and an incomplete character */
    text[8] = ' ';
    v.cause.failed_s = NOW;
    v.cause.failed_op = PROC_OP_START;
    v.cause.failed_code = CODE_COMMAND;
    v.cause.failed_text = text;
    for (int lang = 0; lang < LANGS; lang++) {
        write_why(&v, (enum lang)lang, &b);
        assert_true(b.len < 1024);
        assert_int_equal(utf8_valid(buf_data(&b), b.len), b.len);
        assert_non_null(strstr(buf_text(&b), "中…"));
        for (size_t i = 0; i < b.len; i++)
            assert_true((unsigned char)buf_data(&b)[i] >= ' ' && buf_data(&b)[i] != 0x7F);
    }
    buf_free(&b);
}

static void a_view_without_texts_is_fine(void **state)
{
    struct proc_view v = { DOWN, FAILED(5, PROC_OP_START, CODE_CHECK, NULL) };
    struct buf b = { 0 };

    (void)state;
    assert_string_equal(
        write_why(&v, LANG_EN, &b),
        "not running; start failed 5s ago: not in the state it should be in afterwards (836); "
        "start_retries is 0, so it is not started");
    buf_free(&b);
}

/* Times are shown relative to the last report of the agent. */
static void an_offline_agent_shows_the_last_known_state(void **state)
{
    const struct proc_view runs = { RUNS, .pid = 812, .cause.since_s = NOW - 3600 };
    const struct proc_view down = { DOWN, EXIT(612, 1), .cause.tries = 1, .cause.tries_max = 4,
                                    .cause.next_try_s = NOW - 600 + 7 };
    static const struct {
        int64_t since_s;
        bool is_down;
        const char *said[LANGS];
    } cases[] = {
        { NOW - 600,
          false,
          { "nothing heard of the agent for 10m 0s; known then: running for 50m 0s as pid 812",
            "Agent 已失联 10分0秒；当时所知：已运行 50分0秒，PID 812" } },
        { NOW - 600,
          true,
          { "nothing heard of the agent for 10m 0s; known then: not running, ended 12s ago: exit "
            "code 1; try 2 of 4 in 7s",
            "Agent 已失联 10分0秒；当时所知：未运行，进程于 12秒前退出：退出码 1；7秒后第 2 "
            "次拉起（最多 4 次）" } },
        { 0,
          true,
          { "the agent is not connected; last known: not running, ended 10m 12s ago: exit code 1; "
            "try 2 of 4 is due now",
            "Agent 未连接；最后所知：未运行，进程于 10分12秒前退出：退出码 1；即将第 2 "
            "次拉起（最多 4 次）" } },
    };
    struct buf b = { 0 };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        for (int lang = 0; lang < LANGS; lang++) {
            why_write_away(cases[i].is_down ? &down : &runs, (enum lang)lang, cases[i].since_s, NOW,
                           &b);
            assert_string_equal(buf_text(&b), cases[i].said[lang]);
            buf_truncate(&b, 0);
        }
    }
    buf_free(&b);
}

static void every_operation_has_a_name(void **state)
{
    (void)state;
    assert_string_equal(why_op_name(PROC_OP_START, LANG_EN), "start");
    assert_string_equal(why_op_name(PROC_OP_KILL, LANG_ZH), "强制结束");
    for (int64_t op = -2; op < 12; op++) {
        for (int lang = 0; lang < LANGS; lang++)
            assert_true(*why_op_name(op, (enum lang)lang));
    }
}

static void the_facts_survive_the_wire(void **state)
{
    struct proc_view v, got;
    struct arena a = { 0 };
    struct buf b = { 0 }, said = { 0 };
    struct err err;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        v = rows[i].view;
        v.space = "s";
        v.name = "n";
        proc_view_keep(&v, &a);
        buf_truncate(&b, 0);
        shape_write(&proc_view_shape, &v, &b);
        if (shape_read(&proc_view_shape, buf_data(&b), b.len, SHAPE_STRICT, &a, &got, &err))
            fail_msg("%s: %s", err.text, buf_text(&b));
        assert_string_equal(write_why(&got, LANG_EN, &said), rows[i].said[LANG_EN]);
    }
    buf_free(&b);
    buf_free(&said);
    arena_free(&a);
}

/* An agent may send any number; calculations with them must not overflow. */
static void numbers_out_of_all_bounds_are_refused(void **state)
{
    static const char *const names[] = { "since_s",     "exit_s",    "failed_s",  "failed_op",
                                         "failed_code", "tries",     "tries_max", "next_try_s",
                                         "exit_signal", "instances", "exit_pid" };
    static const char *const values[] = { "9223372036854775807", "-9223372036854775808" };
    struct arena a = { 0 };
    struct proc_view v;
    struct err err;

    (void)state;
    for (size_t i = 0; i < 2 * ARRAY_LEN(names); i++) {
        const char *text =
            arena_printf(&a, "{\"namespace\":\"s\",\"name\":\"n\",\"cause\":{\"%s\":%s}}",
                         names[i / 2], values[i % 2]);

        assert_int_equal(shape_read(&proc_view_shape, text, strlen(text), 0, &a, &v, &err), -1);
        assert_non_null(strstr(err.text, names[i / 2]));
    }
    arena_free(&a);
}

/* The largest and the smallest numbers that are accepted. */
static void a_sentence_is_made_of_any_number(void **state)
{
    static const int64_t ends[] = { WHY_NUMBER_MAX, -WHY_NUMBER_MAX };
    struct buf b = { 0 };

    (void)state;
    for (size_t i = 0; i < 8; i++) {
        int64_t n = ends[i % 2];
        struct proc_view v = {
            .wanted = PROC_RUNNING,
            .status = i & 2 ? PROC_RUNNING : PROC_STOPPED,
            .hosted = i & 4,
            .pid = n,
            .restarts = n,
            .last_start_s = n,
            .cause = { .since_s = -n,
                       .doing = -1,
                       .exit_s = n,
                       .exit_signal = n,
                       .failed_s = n,
                       .failed_op = n,
                       .failed_code = n,
                       .tries = n,
                       .tries_max = n,
                       .next_try_s = n,
                       .instances = n,
                       .instances_wanted = n },
        };

        for (int lang = 0; lang < LANGS; lang++) {
            assert_true(*write_why(&v, (enum lang)lang, &b));
            assert_true(b.len < 1024);
            why_write_away(&v, (enum lang)lang, n, NOW, &b);
        }
    }
    buf_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_state_has_one_sentence),
        cmocka_unit_test(a_sentence_is_one_line_and_short),
        cmocka_unit_test(a_view_without_texts_is_fine),
        cmocka_unit_test(an_offline_agent_shows_the_last_known_state),
        cmocka_unit_test(every_operation_has_a_name),
        cmocka_unit_test(the_facts_survive_the_wire),
        cmocka_unit_test(numbers_out_of_all_bounds_are_refused),
        cmocka_unit_test(a_sentence_is_made_of_any_number),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
