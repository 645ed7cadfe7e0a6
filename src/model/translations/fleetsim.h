/* SPDX-License-Identifier: MIT */
/* fleetsim.h - rows of translate.h: sentences of src/fleetsim.  For translate.c. */
/* clang-format off */
    { { "agent %s", "模拟 Agent %s" } },
    { { "no counts: %.*s", "不是计数：%.*s" } },
    { { "'%s' is no share: 2%% is one, 0.1%% too, or a number of agents up to %lld", "“%s”不是份额：可写 2%%、0.1%%，或不超过 %lld 的 Agent 数" } },
    { { "%s: with the shares before it more than all agents", "%s：与前面的份额合计超过全部 Agent" } },
    { { "ip: '%s' is not an IPv4 address", "ip：“%s”不是 IPv4 地址" } },
    { { "ip: from %s on there is no room for %lld agents", "ip：从 %s 起容纳不下 %lld 个 Agent" } },
    /* clang-format on */
