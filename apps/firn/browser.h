/* Opening an address in the user's browser. */
#ifndef FIRN_BROWSER_H
#define FIRN_BROWSER_H

#include <sys/types.h>

#include <firn/firn.h>

/* A file that leads to an address. The address is a secret, and what stands on a command line is for every
 * user of the machine to see, so browsers are given this file, which its owner alone can read. */
typedef struct firn_browser {
    char folder[200], path[240]; /* "": none */
    pid_t opener;                /* a process; 0: it has ended */
} firn_browser;

FIRN_MUST_CHECK firn_status firn_browser_open(firn_browser *browser, const char *address,
                                              firn_error *error);
/* Call from time to time. Returns true once if xdg-open has failed. */
bool firn_browser_failed(firn_browser *browser);
/* Removes the file. */
void firn_browser_close(firn_browser *browser);

#endif
