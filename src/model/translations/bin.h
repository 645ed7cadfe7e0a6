/* SPDX-License-Identifier: MIT */
/* bin.h - rows of translate.h: sentences of src/bin.  For translate.c. */
/* clang-format off */
    { { "the server ended the session", "服务端结束了会话" } },
    { { "%s: '%s' %s", "%s：'%s' %s" } },
    { { "%s[%zu]: '%s' %s", "%s[%zu]：'%s' %s" } },
    { { "servers: none is named, as host:port, but a token to join one is", "servers：给出了加入令牌，但未指定服务端（主机:端口）" } },
    { { "join_token and join_token_file: only one of them", "join_token 与 join_token_file：只能给出其中之一" } },
    { { "listen: %s is not a loopback address; off loopback the server needs TLS: set tls.cert and tls.key", "listen：%s 不是环回地址；在环回地址之外服务端需要 TLS：请设置 tls.cert 和 tls.key" } },
    { { "tls.cert and tls.key: either both or none", "tls.cert 与 tls.key：须同时给出，或都不给出" } },
    { { "data_dir: make %s", "data_dir：创建 %s" } },
    { { "data_dir: %s is not a folder", "data_dir：%s 不是目录" } },
    { { "data_dir: %s belongs to user %u, not to us (%u); chown it", "data_dir：%s 属于用户 %u，而不是当前用户（%u）；请用 chown 修改" } },
    { { "data_dir: others may write to %s; take that away: chmod go-w", "data_dir：其他用户可以写 %s；请收回该权限：chmod go-w" } },
    { { "data_dir: %s: write an absolute path", "data_dir：%s：须为绝对路径" } },
    { { "the number of open files", "打开文件数上限" } },
    { { "agents: %lld in %lld processes need %lld open files each, and %lld are allowed; use more --processes, or raise ulimit -n", "agents：%lld 个 Agent 分布在 %lld 个进程中，每个进程需打开 %lld 个文件，而上限为 %lld；请增大 --processes，或用 ulimit -n 提高上限" } },
    { { "%s is not what the tables say; to renew it: %s %s", "%s 与代码中的表不一致；请重新生成：%s %s" } },
    /* clang-format on */
