/* SPDX-License-Identifier: MIT */
/* hardened.c - copies its arguments to a buffer, by calls that _FORTIFY_SOURCE checks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    size_t size = (size_t)argc * 8;
    char *text = malloc(size), line[64];

    if (!text)
        return 1;
    memset(text, 0, size);
    for (int i = 1; i < argc; i++)
        memcpy(text + (i - 1) * 8, argv[i], strlen(argv[i])); /* level 3 knows the size of text */
    snprintf(line, sizeof(line), "%s", text);
    puts(line);
    free(text);
    return 0;
}
