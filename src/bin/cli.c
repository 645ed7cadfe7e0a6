/* SPDX-License-Identifier: MIT */
/* cli.c - holdfast: the command line. */
#include <unistd.h>

#include "cli/cli_main.h"

int main(int argc, char **argv)
{
    return cli_main(argc, argv, environ);
}
