/* SPDX-License-Identifier: MIT */
/* crc.h - CRC-32C (Castagnoli), the checksum of journal records. */
#ifndef AGENT_PERSIST_CRC_H
#define AGENT_PERSIST_CRC_H

#include <stddef.h>
#include <stdint.h>

/* `crc` is 0 at first, or the result for the preceding bytes. */
uint32_t crc32c(uint32_t crc, const void *bytes, size_t n);

/* The same without the CPU instruction. */
uint32_t crc32c_portable(uint32_t crc, const void *bytes, size_t n);

#endif
