/* Unknown names: which known one was meant. */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <firn/base.h>

/* Letters to insert, delete, change or swap to make b of a, up to 64 letters. */
static int distance(const char *a, const char *b)
{
    enum { MOST = 64 };
    const size_t n = strlen(a), m = strlen(b);
    if (n > MOST || m > MOST) return MOST;
    int before[MOST + 1], row[MOST + 1], next[MOST + 1];
    for (size_t j = 0; j <= m; j++) row[j] = before[j] = (int)j;
    for (size_t i = 1; i <= n; i++) {
        next[0] = (int)i;
        for (size_t j = 1; j <= m; j++) {
            int d = row[j - 1] + (a[i - 1] != b[j - 1]);
            if (row[j] + 1 < d) d = row[j] + 1;
            if (next[j - 1] + 1 < d) d = next[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                before[j - 2] + 1 < d) {
                d = before[j - 2] + 1;
            }
            next[j] = d;
        }
        memcpy(before, row, sizeof row);
        memcpy(row, next, sizeof next);
    }
    return row[m];
}

/* The one that is in the name or has it in itself, of several the one that shares most; or NULL. */
static const char *nested(const char *name, const char *const *names)
{
    const char *best = NULL;
    size_t most = 2; /* shorter ones are in everything */
    for (int i = 0; names[i]; i++) {
        const size_t n = strlen(name), m = strlen(names[i]), shared = n < m ? n : m;
        if (shared <= most || !(m < n ? strstr(name, names[i]) : strstr(names[i], name))) continue;
        most = shared;
        best = names[i];
    }
    return best;
}

/* How many letters in a row two names have in common; fewer than four are chance, and none. */
static size_t shared_letters(const char *a, const char *b)
{
    size_t most = 3;
    for (const char *p = a; *p; p++) {
        for (const char *q = b; *q; q++) {
            size_t n = 0;
            while (p[n] && p[n] == q[n]) n++;
            if (n > most) most = n;
        }
    }
    return most > 3 ? most : 0;
}

const char *firn_nearest(const char *name, const char *const *names, char *text, size_t size)
{
    const char *best = NULL;
    int least = 1 + (int)strlen(name) / 3;
    for (int i = 0; names[i]; i++) {
        const int d = distance(name, names[i]);
        if (d <= least && d < (int)strlen(name) && (!best || d < least)) {
            least = d;
            best = names[i];
        }
    }
    if (!best) best = nested(name, names);
    if (best) {
        snprintf(text, size, ", did you mean \"%s\"?", best);
        return text;
    }
    size_t used = (size_t)snprintf(text, size, "; there are");
    const char *lead = " ";
    char head[40]; /* of names that are absurdly long */
    snprintf(head, sizeof head, "%s", name);
    for (size_t level = sizeof head; level-- > 0;) { /* room is scarce: related ones first */
        for (int i = 0; names[i] && used < size; i++) {
            if (shared_letters(head, names[i]) != level) continue;
            if (used + strlen(names[i]) + 8 > size) {
                snprintf(text + used, size - used, "%s...", lead);
                return text;
            }
            used += (size_t)snprintf(text + used, size - used, "%s%s", lead, names[i]);
            lead = ", ";
        }
    }
    return text;
}
