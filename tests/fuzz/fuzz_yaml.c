/* SPDX-License-Identifier: MIT */
/* fuzz_yaml.c - any bytes as a configuration file: it is read or refused with
 * the file's name and a line, and what was read is within its rows' limits. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/settings.h"
#include "wire/json/yaml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = { 0 };
    struct err err = { 0 };
    struct test_settings s;
    struct buf out = { 0 };

    shape_defaults(&test_settings_shape, &s);
    s.name = "x";
    if (yaml_read(&test_settings_shape, "f", (const char *)data, size, &a, &s, &err)) {
        if (strncmp(err.text, "f:", 2) != 0)
            abort();
    } else {
        struct test_settings again;

        if (s.port < 1 || s.port > 65535 || s.words.n > 4 || strlen(s.name) > 32)
            abort();
        if (!*s.name)
            s.name = "x"; /* null is the default again; what is required is config's affair */
        shape_write(&test_settings_shape, &s, &out);
        if (shape_read(&test_settings_shape, buf_data(&out), out.len, SHAPE_STRICT, &a, &again,
                       &err))
            abort();
    }
    buf_free(&out);
    arena_free(&a);
    return 0;
}
