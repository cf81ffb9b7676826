/* Opening an address in the user's browser. */
#include "browser.h"

#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "options.h"

extern char **environ;

static bool write_file(const char *path, const char *address)
{
    FILE *file = fopen(path, "w");
    if (!file) return false;
    fprintf(file,
            "<!DOCTYPE html>\n<meta charset=\"utf-8\">\n<title>Firn</title>\n"
            "<meta http-equiv=\"refresh\" content=\"0; url=%s\">\n<a href=\"%s\">Firn</a>\n",
            address, address);
    const bool fine = !ferror(file);
    return fclose(file) == 0 && fine;
}

/* In a process group of its own, so that Ctrl-C here does not end the browser there. */
static bool start_browser(firn_browser *b)
{
    char *const words[] = {"xdg-open", b->path, NULL};
    posix_spawnattr_t how;
    if (posix_spawnattr_init(&how) != 0) return false;
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETPGROUP);
    const bool fine = posix_spawnp(&b->opener, words[0], NULL, &how, words, environ) == 0;
    posix_spawnattr_destroy(&how);
    if (!fine) b->opener = 0;
    return fine;
}

firn_status firn_browser_open(firn_browser *b, const char *address, firn_error *error)
{
    const char *runtime = getenv("XDG_RUNTIME_DIR"), *temporary = getenv("TMPDIR");
    *b = (firn_browser){0};
    snprintf(b->folder, sizeof b->folder, "%.160s/firn_view.XXXXXX",
             runtime     ? runtime
             : temporary ? temporary
                         : "/tmp");
    if (!mkdtemp(b->folder)) { /* which its owner alone may enter */
        *b = (firn_browser){0};
        return firn_app_fail(error, FIRN_OUTPUT, "cannot make a file for the browser");
    }
    snprintf(b->path, sizeof b->path, "%s/studio.html", b->folder);
    if (!write_file(b->path, address) || !start_browser(b)) {
        firn_browser_close(b);
        return firn_app_fail(error, FIRN_OUTPUT,
                             "xdg-open does not start; open the address in a browser yourself");
    }
    return FIRN_OK;
}

bool firn_browser_failed(firn_browser *b)
{
    int how = 0;
    if (!b->opener || waitpid(b->opener, &how, WNOHANG) != b->opener) return false;
    b->opener = 0;
    return !WIFEXITED(how) || WEXITSTATUS(how) != 0;
}

void firn_browser_close(firn_browser *b)
{
    if (b->path[0]) unlink(b->path);
    if (b->folder[0]) rmdir(b->folder);
    *b = (firn_browser){.opener = b->opener};
}
