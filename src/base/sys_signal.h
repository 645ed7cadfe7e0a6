/* SPDX-License-Identifier: MIT */
/* sys_signal.h - what a child does with the signals 1 to 31 before it is another program.  A set of
 * them has a bit, 1U << number, for each.  None of this can fail. */
#ifndef BASE_SYS_SIGNAL_H
#define BASE_SYS_SIGNAL_H

unsigned sys_ignored_signals(void); /* by us */

/* For a child that has our memory still. */
void sys_default_signals(unsigned which);
void sys_unblock_signals(void); /* all, the realtime ones too */

#endif
