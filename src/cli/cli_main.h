/* SPDX-License-Identifier: MIT */
/* cli_main.h - the program `holdfast`: reads the command line and the settings, runs the command
 * and reports its error.  cli.h lists the exit statuses. */
#ifndef CLI_CLI_MAIN_H
#define CLI_CLI_MAIN_H

/* The whole program; returns its exit status. */
int cli_main(int argc, char *const *argv, char *const *env);

#endif
