/* Secrets that let a page in, and the names by which it may call this machine. */
#ifndef FIRN_SECRET_H
#define FIRN_SECRET_H

#include <stdbool.h>

/* 128 random bits in hexadecimal. */
typedef struct firn_secret {
    char text[33]; /* "": lets nobody in */
} firn_secret;

/* False: the system has no random numbers. */
bool firn_secret_make(firn_secret *secret);
/* Takes the same time wherever the first difference is. */
bool firn_secret_is(const firn_secret *secret, const char *text);

/* Whether a request's Host is one of our own: a loopback name with our port, or with `open` any
 * address in numbers. A page that another name was made to lead here (DNS rebinding) says that name. */
bool firn_host_allowed(const char *host, int port, bool open);
/* Whether a page of that Origin is ours: it came from the same Host. */
bool firn_origin_allowed(const char *origin, const char *host);

#endif
