/* SPDX-License-Identifier: MIT */
/* code.c - see code.h. */
#include "model/code.h"

#include <stddef.h>

/* clang-format off */
const struct code_info code_table[] = {
    { CODE_OK, "OK", 200, { "success", "成功" } },
    { ERR_INVALID, "INVALID", 400, { "wrong parameter", "参数错误" } },
    { ERR_MALFORMED, "MALFORMED", 400, { "not valid JSON", "不是合法的 JSON" } },
    { ERR_NOT_FOUND, "NOT_FOUND", 404, { "no such thing", "不存在" } },
    { ERR_CONFLICT, "CONFLICT", 409, { "not in this state", "当前状态不允许" } },
    { ERR_DENIED, "FORBIDDEN", 403, { "not allowed", "没有权限" } },
    { ERR_LIMIT, "LIMIT", 413, { "over a limit", "超出限制" } },
    { ERR_TIMEOUT, "TIMED_OUT", 504, { "took too long", "超时" } },
    { ERR_UNAVAILABLE, "UNAVAILABLE", 503, { "not available now, try again", "暂时不可用，请重试" } },
    { ERR_SYSTEM, "SYSTEM_CALL", 500, { "the system refused", "系统调用失败" } },
    { CODE_SYSTEM, "SYSTEM", 500, { "an error of the server", "服务内部错误" } },
    { CODE_WAITING, "WAITING", 200, { "in progress", "执行中" } },
    { CODE_OFFLINE, "OFFLINE", 503, { "the agent is not connected", "Agent 未连接" } },
    { CODE_DEADLINE, "DEADLINE", 504, { "no answer from the agent in time", "Agent 未在期限内返回结果" } },
    { CODE_USER, "USER", 400, { "no such system user", "系统用户不存在" } },
    { CODE_SPACE, "SPACE", 507, { "no space left on the host", "主机磁盘空间不足" } },
    { CODE_NOT_REGISTERED, "NOT_REGISTERED", 404, { "process info not registered", "进程未注册" } },
    { CODE_NO_TASK, "NO_TASK", 404, { "no such task, or it has expired", "任务不存在或已过期" } },
    { CODE_MATCH, "MATCH", 409, { "another process than expected", "进程与预期不符" } },
    { CODE_PARAM, "PARAM", 400, { "wrong parameter", "参数错误" } },
    { CODE_TIMEOUT, "TIMEOUT", 504, { "the command took too long", "命令执行超时" } },
    { CODE_DENIED, "DENIED", 403, { "not allowed", "没有权限" } },
    { CODE_CANCELLED, "CANCELLED", 409, { "cancelled", "任务已取消" } },
    { CODE_NO_COMMAND, "NO_COMMAND", 400, { "no command for this operation", "缺少该操作对应的命令" } },
    { CODE_RUNNING, "RUNNING", 409, { "already running", "进程已在运行" } },
    { CODE_NOT_RUNNING, "NOT_RUNNING", 409, { "not running", "进程未运行" } },
    { CODE_LOCKED, "LOCKED", 409, { "too many operations wait for this process", "该进程等待的操作过多" } },
    { CODE_UNKNOWN_OP, "UNKNOWN_OP", 400, { "unknown operation", "未知的操作类型" } },
    { CODE_CHECK, "CHECK", 409, { "not in the state it should be in afterwards", "操作后状态检查未通过" } },
    { CODE_REGISTERED, "REGISTERED", 409, { "already registered", "进程已注册" } },
    { CODE_COMMAND, "COMMAND", 500, { "the command failed", "命令执行失败" } },
    { CODE_NO_BUSINESS, "NO_BUSINESS", 404, { "no such business", "业务不存在" } },
    { CODE_NO_SCOPE, "NO_SCOPE", 404, { "no such business set", "业务集不存在" } },
    { 0 },
};
/* clang-format on */

static const struct code_info *code_find(int number)
{
    for (const struct code_info *c = code_table; c->name; c++) {
        if (c->number == number)
            return c;
    }
    return NULL;
}

const struct code_info *code_get(int number)
{
    const struct code_info *c = code_find(number);

    return c ? c : code_find(CODE_SYSTEM);
}
