/* SPDX-License-Identifier: MIT */
/* crc.h - CRC-32C (Castagnoli), by which a journal knows its own bytes. */
#ifndef AGENT_CRC_H
#define AGENT_CRC_H

#include <stddef.h>
#include <stdint.h>

/* `crc` is 0 to begin with, or the result for the bytes before these. */
uint32_t crc32c(uint32_t crc, const void *bytes, size_t n);

/* The same, where the processor has no instruction for it. */
uint32_t crc32c_portable(uint32_t crc, const void *bytes, size_t n);

#endif
