/* SPDX-License-Identifier: MIT */
/* suggest.c - see suggest.h. */
#include "base/text/suggest.h"

#include <stdint.h>
#include <string.h>

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t suggest_distance(const char *a, const char *b)
{
    size_t rows[SUGGEST_MAX + 1][SUGGEST_MAX + 1], n = strlen(a), m = strlen(b);

    if (n > SUGGEST_MAX || m > SUGGEST_MAX)
        return SIZE_MAX;
    for (size_t i = 0; i <= n; i++)
        rows[i][0] = i;
    for (size_t j = 0; j <= m; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= n; i++) {
        for (size_t j = 1; j <= m; j++) {
            size_t best = rows[i - 1][j - 1] + (a[i - 1] != b[j - 1]);

            best = least(best, least(rows[i - 1][j], rows[i][j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                best = least(best, rows[i - 2][j - 2] + 1);
            rows[i][j] = best;
        }
    }
    return rows[n][m];
}

/* The first word that starts with `word`, which must have at least three letters. */
static const char *find_longer(const char *word, const char *const *words)
{
    enum { PREFIX_MIN = 3 };
    size_t n = strlen(word);

    while (*words && (n < PREFIX_MIN || strncmp(*words, word, n) != 0))
        words++;
    return *words;
}

/* Typing errors to tolerate: one in a short word, more in a long one.  "name" is not a misspelt
 * "note". */
static size_t slips_max(size_t bytes)
{
    return bytes < 5 ? 1 : bytes < 9 ? 2 : bytes / 3;
}

/* A prefix of a word counts before typing errors. */
const char *suggest_find(const char *word, const char *const *words)
{
    const char *found = find_longer(word, words);
    size_t best = slips_max(strlen(word)) + 1;

    if (found)
        return found;
    for (; *words; words++) {
        size_t far = suggest_distance(word, *words);

        if (far < best && far < strlen(*words)) {
            best = far;
            found = *words;
        }
    }
    return found;
}
