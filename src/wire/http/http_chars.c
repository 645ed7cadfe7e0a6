/* SPDX-License-Identifier: MIT */
/* http_chars.c - see http_chars.h. */
#include "wire/http/http_chars.h"

/* clang-format off */
#define V   HTTP_VALUE
#define VT  (HTTP_VALUE | HTTP_TARGET)
#define VTH (HTTP_VALUE | HTTP_TARGET | HTTP_HOST)
#define VTK (HTTP_VALUE | HTTP_TARGET | HTTP_TOKEN)
#define ALL (HTTP_VALUE | HTTP_TARGET | HTTP_TOKEN | HTTP_HOST)

const unsigned char http_chars[256] = {
    ['\t'] = V, [' '] = V, ['#'] = V | HTTP_TOKEN,
    ['"'] = VT, ['/'] = VT, ['<'] = VT, ['>'] = VT, ['?'] = VT, ['@'] = VT,
    ['\\'] = VT, ['{'] = VT, ['}'] = VT,
    ['('] = VTH, [')'] = VTH, [','] = VTH, [':'] = VTH, [';'] = VTH, ['='] = VTH,
    ['['] = VTH, [']'] = VTH,
    ['^'] = VTK, ['`'] = VTK, ['|'] = VTK,
    ['!'] = ALL, ['$'] = ALL, ['%'] = ALL, ['&'] = ALL, ['\''] = ALL, ['*'] = ALL,
    ['+'] = ALL, ['-'] = ALL, ['.'] = ALL, ['_'] = ALL, ['~'] = ALL,
    ['0' ... '9'] = ALL | HTTP_HEX | HTTP_DIGIT,
    ['A' ... 'F'] = ALL | HTTP_HEX, ['a' ... 'f'] = ALL | HTTP_HEX,
    ['G' ... 'Z'] = ALL, ['g' ... 'z'] = ALL,
    [0x80 ... 0xFF] = V,
};
/* clang-format on */
