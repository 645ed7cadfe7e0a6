/* SPDX-License-Identifier: MIT */
/* msg.h - a sentence for people that can still be put into another language.
 *
 * A message is a text that holds the printf format of its English sentence and the arguments, each
 * as it was printed.  The format identifies the row with the other languages (model/translate.h).
 * An argument may be a message itself; "%s: %s" joins what was tried and why it failed.
 *
 * Messages travel wherever texts do: in a struct err, a result, an event, an audit row, a journal
 * record.  They become readable at the edge: msg_english(), translate().  A text that is not a
 * message is readable already and stays as it is, so both may stand in the same member.  Output of
 * commands and names are arguments, never formats.
 *
 * Written: 0x01, the format, 0x02, then each argument as its length, ':' and its bytes.  A
 * reader without a row for the format can still print the English sentence. */
#ifndef BASE_TEXT_MSG_H
#define BASE_TEXT_MSG_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

/* A constant sentence without arguments: no '%' in it. */
#define MSG(sentence) "\x01" sentence "\x02"

/* What a message begins with, and so no output of a command may. */
#define MSG_BEGIN '\x01'

/* Of a function that makes a message: argument number `fmt` is its format, and `args` its first
 * argument.  tools/check-messages wants a row for each format that such a function is given. */
#define MSG_FORMAT(fmt, args) __attribute__((format(printf, fmt, args)))

enum { MSG_ARGS_MAX = 8, MSG_DEPTH_MAX = 16, MSG_FORMAT_MAX = 400 };

/* The row of a format of n bytes in the reader's language; NULL: there is none, or it is English.
 * The arguments of a translation may be in another order: "%2$s". */
typedef const char *msg_row_of(const char *fmt, size_t n, int lang);

bool msg_is(const char *text);

/* Whether a text is whole: not a message, or one that was not cut or made up. */
bool msg_is_whole(const char *text);

/* As snprintf(), but writes a message.  "%s" alone gives its argument unchanged.  If the message
 * does not fit, the English sentence is written in its place, cut between two characters.  Returns
 * the bytes written, without the NUL. */
size_t msg_printf(char *to, size_t size, const char *fmt, ...) MSG_FORMAT(3, 4);
size_t msg_vprintf(char *to, size_t size, const char *fmt, va_list ap) MSG_FORMAT(3, 0);

/* The size of `to` that is large enough for it. */
size_t msg_vsize(const char *fmt, va_list ap) MSG_FORMAT(1, 0);

/* A message of a sentence without arguments that is not known here, as strerror() gives; cut if it
 * does not fit. */
size_t msg_constant(char *to, size_t size, const char *sentence);

/* As msg_vprintf(), but always English. */
size_t msg_vprintf_english(char *to, size_t size, const char *fmt, va_list ap) MSG_FORMAT(3, 0);

/* Writes the sentence in a language, cut if it does not fit; row_of may be NULL for English.
 * Returns the bytes that the whole sentence needs, without the NUL. */
size_t msg_put(char *to, size_t size, const char *text, msg_row_of *row_of, int lang);

/* The English sentence, cut if it does not fit; returns `to`, or `text` if it is not a message. */
const char *msg_english(char *to, size_t size, const char *text);

/* Copies a text that may have `size` - 1 bytes: a message that is longer becomes its English
 * sentence, cut. */
size_t msg_copy(char *to, size_t size, const char *text);

#endif
