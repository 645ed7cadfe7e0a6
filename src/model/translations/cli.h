/* SPDX-License-Identifier: MIT */
/* cli.h - rows of translate.h: sentences of src/cli.  For translate.c. */
/* clang-format off */
    { { "write to %s", "写入%s" } },
    { { "standard output", "标准输出" } },
    { { "standard error", "标准错误输出" } },
    { { "%zu:%zu: %s", "%zu:%zu：%s" } },
    { { "text behind a closing quote; a quote inside is written twice", "右引号之后还有文本；字段内的引号须写两次" } },
    { { "a quote that is not closed", "引号没有闭合" } },
    { { "a quote inside of a field that does not begin with one", "未以引号开头的字段中含有引号" } },
    { { "a byte of zero", "含有值为零的字节" } },
    { { "the settings of the terminal", "终端设置" } },
    { { "not UTF-8; save the file as UTF-8", "不是 UTF-8；请将文件保存为 UTF-8" } },
    { { "more than 64 fields", "字段超过 64 个" } },
    /* clang-format on */
