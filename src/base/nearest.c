/* SPDX-License-Identifier: MIT */
/* nearest.c - see nearest.h. */
#include "base/nearest.h"

#include <stdint.h>
#include <string.h>

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t nearest_distance(const char *a, const char *b)
{
    size_t rows[NEAREST_MAX + 1][NEAREST_MAX + 1], n = strlen(a), m = strlen(b);

    if (n > NEAREST_MAX || m > NEAREST_MAX)
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

/* The first that goes on where the word ends; one or two letters may be anything. */
static const char *find_longer(const char *word, const char *const *words)
{
    enum { PREFIX_MIN = 3 };
    size_t n = strlen(word);

    while (*words && (n < PREFIX_MIN || strncmp(*words, word, n) != 0))
        words++;
    return *words;
}

/* One slip in a short word, more in a longer one; else it is another word.  Who stops in the
 * middle of a word has made no slip. */
const char *nearest_find(const char *word, const char *const *words)
{
    const char *found = find_longer(word, words);
    size_t best = strlen(word) / 3 + 2;

    if (found)
        return found;
    if (strlen(word) < 3)
        best = 2;
    for (; *words; words++) {
        size_t far = nearest_distance(word, *words);

        if (far < best && far < strlen(*words)) {
            best = far;
            found = *words;
        }
    }
    return found;
}
