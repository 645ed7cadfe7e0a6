/* SPDX-License-Identifier: MIT */
/* gse.h - rows of translate.h: sentences of GSE, which clients look for, so they are the same in
 * each language; and the same in our own words, for /v1 and the command line.  For translate.c. */
/* clang-format off */
    { { "Script exit code non-zero. Error msessage: [%s]", "Script exit code non-zero. Error msessage: [%s]" },
      { "the command failed; its output: [%s]", "命令执行失败；其输出：[%s]" } },
    { { "%s process (%s) failed, for post-check status %s, please refer to agent log for details", "%s process (%s) failed, for post-check status %s, please refer to agent log for details" },
      { "%s of %s failed: the check afterwards found it %s", "%s %s 失败：操作后检查的状态为 %s" } },
    { { "%s process (%s) failed, for post-check status %s, please refer to agent log for details: %s", "%s process (%s) failed, for post-check status %s, please refer to agent log for details: %s" },
      { "%s of %s failed: the check afterwards found it %s: %s", "%s %s 失败：操作后检查的状态为 %s：%s" } },
    /* clang-format on */
