/* Files: read whole, written so that they appear whole or not at all. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "io/io.h"

/* ---- input ---- */

/* Why something that is no ordinary file is not read, or NULL. Pipes and devices may go on for ever,
 * and have no size to compare with a limit. */
static const char *no_file(mode_t mode)
{
    if (S_ISREG(mode)) return NULL;
    if (S_ISDIR(mode)) return "is a folder; name a file";
    if (S_ISFIFO(mode)) return "is a pipe; write what comes from it to a file and name that";
    return "is a device; name a file";
}

/* Up to `wanted` bytes. The file's size is what it was when it was opened. */
static firn_status read_open(int file, const char *path, uint64_t most, uint64_t wanted,
                             firn_bytes *out, firn_error *error)
{
    struct stat about;
    if (fstat(file, &about) != 0) {
        return firn_fail(error, FIRN_INVALID, "%s: %s", path, strerror(errno));
    }
    const char *why = no_file(about.st_mode);
    if (why) return firn_fail(error, FIRN_INVALID, "%s: %s", path, why);
    uint64_t size = (uint64_t)about.st_size;
    if (size > most) {
        return firn_fail(error, FIRN_INVALID, "%s: has %llu bytes; it must have at most %llu MiB",
                         path, (unsigned long long)size, (unsigned long long)(most >> 20));
    }
    if (size > wanted) size = wanted;
    firn_error inner = {0};
    firn_status st = firn_memory_check((double)size, "the file", &inner);
    if (st != FIRN_OK) return firn_fail(error, st, "%s: %s", path, inner.message);
    out->data = malloc((size_t)size + 1);
    if (!out->data) {
        return firn_fail(error, FIRN_NO_MEMORY, "%s: out of memory for %llu bytes", path,
                         (unsigned long long)size);
    }
    while (out->size < size) {
        const ssize_t got = read(file, out->data + out->size, (size_t)size - out->size);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return firn_fail(error, FIRN_INVALID, "%s: %s", path, strerror(errno));
        if (got == 0) {
            return firn_fail(error, FIRN_INVALID,
                             "%s: was cut short while it was read; read it when it is complete",
                             path);
        }
        out->size += (size_t)got;
    }
    return FIRN_OK;
}

static firn_status read_some(const char *path, uint64_t most, uint64_t wanted, firn_bytes *out,
                             firn_error *error)
{
    *out = (firn_bytes){0};
    const int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* pipes are not waited for */
    if (file < 0) return firn_fail(error, FIRN_INVALID, "%s: %s", path, strerror(errno));
    const firn_status st = read_open(file, path, most, wanted, out, error);
    close(file);
    if (st != FIRN_OK) firn_bytes_free(out);
    return st;
}

firn_status firn_bytes_read_most(const char *path, uint64_t most, firn_bytes *out,
                                 firn_error *error)
{
    return read_some(path, most, UINT64_MAX, out, error);
}

firn_status firn_bytes_read_begin(const char *path, size_t most, firn_bytes *out, firn_error *error)
{
    return read_some(path, UINT64_MAX, most, out, error);
}

firn_status firn_bytes_read(const char *path, firn_bytes *out, firn_error *error)
{
    return firn_bytes_read_most(path, FIRN_MOST_FILE, out, error);
}

firn_status firn_check_unpacked(double bytes, firn_error *error)
{
    if (bytes > (double)FIRN_MOST_UNPACKED) {
        return firn_fail(error, FIRN_INVALID, "unpacks to %.3f GiB; it must be at most %d GiB",
                         bytes / (1 << 30), (int)(FIRN_MOST_UNPACKED >> 30));
    }
    return firn_memory_check(bytes, "what it unpacks to", error);
}

firn_bytes firn_bytes_text(const firn_bytes *in)
{
    const bool marked = in->size >= 3 && memcmp(in->data, "\xef\xbb\xbf", 3) == 0;
    return marked ? (firn_bytes){in->data + 3, in->size - 3} : *in;
}

void firn_bytes_free(firn_bytes *bytes)
{
    free(bytes->data);
    *bytes = (firn_bytes){0};
}

firn_status firn_make_folder(const char *path, firn_error *error)
{
    char *copy = strdup(path);
    if (!copy) return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    for (char *p = copy + 1;; p++) {
        if (*p != '/' && *p != 0) continue;
        const char end = *p;
        *p = 0;
        if (mkdir(copy, 0777) != 0 && errno != EEXIST) {
            firn_status st = firn_fail(error, FIRN_OUTPUT, "%s: %s", copy, strerror(errno));
            free(copy);
            return st;
        }
        *p = end;
        if (!end) break;
    }
    free(copy);
    struct stat about;
    if (stat(path, &about) != 0 || !S_ISDIR(about.st_mode)) {
        return firn_fail(error, FIRN_OUTPUT, "%s: is not a folder", path);
    }
    return FIRN_OK;
}

/* ---- output ---- */

int firn_descriptor_raise(int descriptor)
{
    if (descriptor < 0 || descriptor > 2) return descriptor;
    const int raised = fcntl(descriptor, F_DUPFD_CLOEXEC, 3), why = errno;
    close(descriptor);
    errno = why;
    return raised;
}

/* A new file, at the first byte; NULL and errno on failure. What a host printed to the descriptor
 * before it was raised goes. */
static FILE *create(const char *path)
{
    unlink(path); /* left by a process of the same number */
    const int first = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (first < 0) return NULL;
    const int descriptor = firn_descriptor_raise(first);
    FILE *file = NULL;
    if (descriptor == first || (ftruncate(descriptor, 0) == 0 && lseek(descriptor, 0, 0) == 0)) {
        file = fdopen(descriptor, "wb");
    }
    if (file) return file;
    const int why = errno;
    if (descriptor >= 0) close(descriptor);
    unlink(path);
    errno = why;
    return NULL;
}

/* The existing file, cut off at a byte and at its end; NULL and errno on failure. */
static FILE *reopen(const char *path, uint64_t size)
{
    const int descriptor = firn_descriptor_raise(open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC));
    FILE *file = NULL;
    if (descriptor >= 0 && ftruncate(descriptor, (off_t)size) == 0) {
        file = fdopen(descriptor, "r+b");
    }
    if (file && fseeko(file, 0, SEEK_END) == 0) return file;
    const int why = errno;
    if (file) {
        fclose(file);
    } else if (descriptor >= 0) {
        close(descriptor);
    }
    errno = why;
    return NULL;
}

/* With `ending` behind the name; `size` above 0 continues a file that is there. */
static firn_status open_output(firn_output *out, const char *path, const char *ending,
                               uint64_t size, firn_error *error)
{
    *out = (firn_output){0};
    const size_t length = strlen(path);
    out->path = malloc(length + 1);
    out->temporary = malloc(length + 32);
    if (!out->path || !out->temporary) {
        firn_output_discard(out);
        return firn_fail(error, FIRN_NO_MEMORY, "%s: out of memory", path);
    }
    memcpy(out->path, path, length + 1);
    struct stat there;
    if (stat(path, &there) == 0 && !S_ISREG(there.st_mode)) {
        firn_output_discard(out);
        return firn_fail(error, FIRN_OUTPUT, "%s: is %s; write to another file", path,
                         S_ISDIR(there.st_mode) ? "a folder" : "a device or a pipe");
    }
    snprintf(out->temporary, length + 32, "%s%s", path, ending);
    out->file = size ? reopen(out->temporary, size) : create(out->temporary);
    if (!out->file) {
        const int why = errno;
        free(out->temporary); /* nothing to remove */
        out->temporary = NULL;
        firn_output_discard(out);
        return firn_fail(error, FIRN_OUTPUT, "%s: %s", path, strerror(why));
    }
    return FIRN_OK;
}

firn_status firn_output_open(firn_output *out, const char *path, firn_error *error)
{
    char ending[32];
    snprintf(ending, sizeof ending, ".%ld.part", (long)getpid());
    return open_output(out, path, ending, 0, error);
}

firn_status firn_output_continue(firn_output *out, const char *path, uint64_t size,
                                 firn_error *error)
{
    const firn_status st = open_output(out, path, ".part", size, error);
    out->keep = st == FIRN_OK;
    return st;
}

void firn_output_write(firn_output *out, const void *data, size_t size)
{
    if (out->failed || size == 0) return;
    if (fwrite(data, 1, size, out->file) != size) out->failed = errno ? errno : EIO;
}

void firn_output_print(firn_output *out, const char *format, ...)
{
    if (out->failed) return;
    va_list arguments;
    va_start(arguments, format);
    if (vfprintf(out->file, format, arguments) < 0) out->failed = errno ? errno : EIO;
    va_end(arguments);
}

void firn_output_patch(firn_output *out, uint64_t at, const void *data, size_t size)
{
    if (out->failed) return;
    const off_t end = ftello(out->file); /* memory as a file has forgotten it afterwards */
    if (end < 0 || fseeko(out->file, (off_t)at, SEEK_SET) != 0) out->failed = errno;
    firn_output_write(out, data, size);
    if (!out->failed && fseeko(out->file, end, SEEK_SET) != 0) out->failed = errno;
}

static void flush(firn_output *out)
{
    if (fflush(out->file) != 0 && !out->failed) out->failed = errno;
    if (!out->failed && fsync(fileno(out->file)) != 0 && errno != EINVAL && errno != ENOTSUP) {
        out->failed = errno; /* pipes and odd file systems cannot sync; a full disk shows here */
    }
}

firn_status firn_output_sync(firn_output *out, firn_error *error)
{
    flush(out);
    if (!out->failed) return FIRN_OK;
    return firn_fail(error, FIRN_OUTPUT, "%s: %s", out->path, strerror(out->failed));
}

firn_status firn_output_commit(firn_output *out, firn_error *error)
{
    flush(out);
    if (fclose(out->file) != 0 && !out->failed) out->failed = errno;
    out->file = NULL;
    if (!out->failed && rename(out->temporary, out->path) != 0) out->failed = errno;
    firn_status st = FIRN_OK;
    if (out->failed) {
        st = firn_fail(error, FIRN_OUTPUT, "%s: %s; %s", out->path, strerror(out->failed),
                       out->keep ? "it stays unfinished" : "nothing was written");
        firn_output_discard(out);
        return st;
    }
    free(out->temporary);
    out->temporary = NULL;
    firn_output_discard(out);
    return FIRN_OK;
}

void firn_output_discard(firn_output *out)
{
    if (out->file) fclose(out->file);
    if (out->temporary && !out->keep) remove(out->temporary);
    free(out->temporary);
    free(out->path);
    *out = (firn_output){0};
}

firn_status firn_bytes_write(const char *path, const void *data, size_t size, firn_error *error)
{
    firn_output out;
    const firn_status st = firn_output_open(&out, path, error);
    if (st != FIRN_OK) return st;
    firn_output_write(&out, data, size);
    return firn_output_commit(&out, error);
}
