/* Secrets that let a page in, and the names by which it may call this machine. */
#include "secret.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>

bool firn_secret_make(firn_secret *secret)
{
    unsigned char bits[16];
    secret->text[0] = 0;
    if (getrandom(bits, sizeof bits, 0) != (ssize_t)sizeof bits) return false;
    for (size_t i = 0; i < sizeof bits; i++) snprintf(secret->text + 2 * i, 3, "%02x", bits[i]);
    return true;
}

bool firn_secret_is(const firn_secret *secret, const char *text)
{
    const size_t n = sizeof secret->text - 1;
    if (!secret->text[0] || strlen(text) != n) return false;
    volatile unsigned char different = 0;
    for (size_t i = 0; i < n; i++) different |= (unsigned char)(secret->text[i] ^ text[i]);
    return different == 0;
}

/* Whether the text is an address in numbers, of IPv6 in brackets. */
static bool is_number(const char *name)
{
    unsigned char address[16];
    char inner[64];
    const size_t n = strlen(name);
    if (inet_pton(AF_INET, name, address) == 1) return true;
    if (n < 3 || n >= sizeof inner || name[0] != '[' || name[n - 1] != ']') return false;
    snprintf(inner, sizeof inner, "%.*s", (int)(n - 2), name + 1);
    return inet_pton(AF_INET6, inner, address) == 1;
}

bool firn_host_allowed(const char *host, int port, bool open)
{
    char name[128], number[16];
    const char *colon = strrchr(host, ':');
    if (!colon || strchr(colon, ']')) { /* without a port it is 80 */
        if (port != 80) return false;
        colon = host + strlen(host);
    } else {
        snprintf(number, sizeof number, "%d", port);
        if (strcmp(colon + 1, number) != 0) return false;
    }
    if ((size_t)(colon - host) >= sizeof name) return false;
    snprintf(name, sizeof name, "%.*s", (int)(colon - host), host);
    if (strcasecmp(name, "localhost") == 0 || strcmp(name, "127.0.0.1") == 0 ||
        strcmp(name, "[::1]") == 0) {
        return true;
    }
    return open && is_number(name);
}

bool firn_origin_allowed(const char *origin, const char *host)
{
    static const char scheme[] = "http://";
    return strncmp(origin, scheme, sizeof scheme - 1) == 0 &&
           strcmp(origin + sizeof scheme - 1, host) == 0;
}
