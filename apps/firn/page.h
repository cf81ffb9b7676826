/* The studio's page: its files in memory, by the names that browsers ask for. Nothing else is ever served. */
#ifndef FIRN_PAGE_H
#define FIRN_PAGE_H

#include <firn/firn.h>

typedef struct firn_page_file {
    char *name; /* "/index.html" */
    const char *type;
    unsigned char *data;
    size_t size;
} firn_page_file;

typedef struct firn_page {
    firn_page_file *file;
    int32_t count;
} firn_page;

/* Reads the page in a folder; NULL: the one beside the program, web/ of the build or share/firn/web as
 * installed. FIRN_INVALID: there is none. */
FIRN_MUST_CHECK firn_status firn_page_read(const char *folder, firn_page *page, firn_error *error);
/* NULL: the page has no such file. "/" is "/index.html". */
const firn_page_file *firn_page_find(const firn_page *page, const char *name);
void firn_page_free(firn_page *page);

#endif
