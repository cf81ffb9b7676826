/* The studio's page, read once and served from memory. */
#include "page.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "options.h"
#include <firn/points.h>

enum { PATH_MOST = 4096, MOST_FILES = 1000, MOST_DEPTH = 4, MOST_BYTES = 64 << 20 };

static const char *type_of(const char *name)
{
    static const char *const types[][2] = {{".html", "text/html; charset=utf-8"},
                                           {".js", "text/javascript; charset=utf-8"},
                                           {".css", "text/css; charset=utf-8"},
                                           {".json", "application/json"},
                                           {".wasm", "application/wasm"},
                                           {".svg", "image/svg+xml"},
                                           {".png", "image/png"},
                                           {".jpg", "image/jpeg"},
                                           {".webp", "image/webp"},
                                           {".ico", "image/x-icon"},
                                           {".txt", "text/plain; charset=utf-8"},
                                           {".yaml", "text/plain; charset=utf-8"}};
    const char *end = strrchr(name, '.');
    for (size_t i = 0; end && i < sizeof types / sizeof *types; i++) {
        if (strcmp(end, types[i][0]) == 0) return types[i][1];
    }
    return "application/octet-stream";
}

static firn_status add_file(firn_page *page, const char *path, const char *name, firn_error *error)
{
    size_t bytes = 0;
    for (int32_t i = 0; i < page->count; i++) bytes += page->file[i].size;
    firn_page_file *grown = realloc(page->file, ((size_t)page->count + 1) * sizeof *grown);
    if (!grown) return firn_app_fail(error, FIRN_NO_MEMORY, "out of memory");
    page->file = grown;
    firn_bytes read = {0};
    const firn_status st = firn_bytes_read(path, &read, error);
    if (st != FIRN_OK) return st;
    char *copy = strdup(name);
    if (!copy || page->count == MOST_FILES || bytes + read.size > MOST_BYTES) {
        firn_bytes_free(&read);
        const bool large = copy != NULL;
        free(copy);
        return large ? firn_app_fail(error, FIRN_INVALID, "%s: too much for a page", path)
                     : firn_app_fail(error, FIRN_NO_MEMORY, "out of memory");
    }
    page->file[page->count++] = (firn_page_file){copy, type_of(name), read.data, read.size};
    return FIRN_OK;
}

/* Adds a folder's files and those of folders in it; hidden ones are left out. */
static firn_status add_folder(firn_page *page, const char *path, const char *name, int depth,
                              firn_error *error)
{
    DIR *folder = opendir(path);
    if (!folder) return firn_app_fail(error, FIRN_INVALID, "%s: cannot be read", path);
    firn_status st = FIRN_OK;
    for (struct dirent *e; st == FIRN_OK && (e = readdir(folder));) {
        char inner[PATH_MOST], called[PATH_MOST];
        struct stat about;
        if (e->d_name[0] == '.') continue;
        const int n = snprintf(inner, sizeof inner, "%s/%s", path, e->d_name);
        const int m = snprintf(called, sizeof called, "%s/%s", name, e->d_name);
        if (n >= PATH_MOST || m >= PATH_MOST || stat(inner, &about) != 0) continue;
        if (S_ISREG(about.st_mode)) {
            st = add_file(page, inner, called, error);
        } else if (S_ISDIR(about.st_mode) && depth < MOST_DEPTH) {
            st = add_folder(page, inner, called, depth + 1, error);
        }
    }
    closedir(folder);
    return st;
}

/* Where the page is, as seen from the program's folder. */
static const char *const places[] = {"web", "../share/firn/web"};

static bool find_folder(char path[PATH_MOST])
{
    char program[PATH_MOST];
    const ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    if (n <= 0) return false;
    program[n] = 0;
    char *slash = strrchr(program, '/');
    if (slash) *slash = 0;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        char index[PATH_MOST];
        if (snprintf(path, PATH_MOST, "%s/%s", program, places[i]) >= PATH_MOST) continue;
        if (snprintf(index, sizeof index, "%s/index.html", path) >= PATH_MOST) continue;
        if (access(index, R_OK) == 0) return true;
    }
    return false;
}

firn_status firn_page_read(const char *folder, firn_page *page, firn_error *error)
{
    *page = (firn_page){0};
    char found[PATH_MOST];
    if (!folder) {
        if (!find_folder(found)) {
            return firn_app_fail(error, FIRN_INVALID,
                                 "the studio's page is not built: run `make web`, or name its "
                                 "folder with --page");
        }
        folder = found;
    }
    firn_status st = add_folder(page, folder, "", 0, error);
    if (st == FIRN_OK && !firn_page_find(page, "/")) {
        st = firn_app_fail(error, FIRN_INVALID, "%s: there is no index.html", folder);
    }
    if (st != FIRN_OK) firn_page_free(page);
    return st;
}

const firn_page_file *firn_page_find(const firn_page *page, const char *name)
{
    if (strcmp(name, "/") == 0) name = "/index.html";
    for (int32_t i = 0; i < page->count; i++) {
        if (strcmp(page->file[i].name, name) == 0) return &page->file[i];
    }
    return NULL;
}

void firn_page_free(firn_page *page)
{
    for (int32_t i = 0; i < page->count; i++) {
        free(page->file[i].name);
        free(page->file[i].data);
    }
    free(page->file);
    *page = (firn_page){0};
}
