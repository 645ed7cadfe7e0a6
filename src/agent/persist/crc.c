/* SPDX-License-Identifier: MIT */
/* crc.c - see crc.h. */
#include "agent/persist/crc.h"

#include <string.h>

/* Four bits at a time: a table that fits one cache line. */
static const uint32_t table[16] = { 0x00000000, 0x105EC76F, 0x20BD8EDE, 0x30E349B1,
                                    0x417B1DBC, 0x5125DAD3, 0x61C69362, 0x7198540D,
                                    0x82F63B78, 0x92A8FC17, 0xA24BB5A6, 0xB21572C9,
                                    0xC38D26C4, 0xD3D3E1AB, 0xE330A81A, 0xF36E6F75 };

uint32_t crc32c_portable(uint32_t crc, const void *bytes, size_t n)
{
    const unsigned char *p = bytes;

    crc = ~crc;
    for (size_t i = 0; i < n; i++) {
        crc ^= p[i];
        crc = crc >> 4 ^ table[crc & 15];
        crc = crc >> 4 ^ table[crc & 15];
    }
    return ~crc;
}

#if defined(__x86_64__)

/* Uses the CPU instruction for this polynomial. */
__attribute__((target("sse4.2"))) static uint32_t crc32c_sse(uint32_t crc, const void *bytes,
                                                             size_t n)
{
    const unsigned char *p = bytes;
    uint64_t sum = ~crc, word;

    for (; n >= sizeof(word); p += sizeof(word), n -= sizeof(word)) {
        memcpy(&word, p, sizeof(word));
        sum = __builtin_ia32_crc32di(sum, word);
    }
    for (; n > 0; p++, n--)
        sum = __builtin_ia32_crc32qi((uint32_t)sum, *p);
    return ~(uint32_t)sum;
}

uint32_t crc32c(uint32_t crc, const void *bytes, size_t n)
{
    return __builtin_cpu_supports("sse4.2") ? crc32c_sse(crc, bytes, n)
                                            : crc32c_portable(crc, bytes, n);
}

#else

uint32_t crc32c(uint32_t crc, const void *bytes, size_t n)
{
    return crc32c_portable(crc, bytes, n);
}

#endif
