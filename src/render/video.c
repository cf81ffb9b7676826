/* Starts ffmpeg, feeds it raw pictures through a socket, and waits for it. A socket, not a pipe,
 * so that a dead ffmpeg is an error here and not a signal. */
#include "render/video.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "io/io.h"

/* How each kind is encoded: quality by eye, not by size. Where the picture's end matters, as in
 * encoders that want even sizes, it is padded. */
static const struct {
    const char *end, *format;
    const char *codec[12];
} kinds[] = {
    {".mp4", "mp4", {"libx264", "-preset", "medium", "-crf", "17", "-movflags", "+faststart"}},
    {".webm", "webm", {"libvpx-vp9", "-crf", "24", "-b:v", "0", "-row-mt", "1"}},
};
enum { KIND_COUNT = sizeof kinds / sizeof *kinds };

static int kind_of(const char *path)
{
    const size_t n = strlen(path);
    for (int i = 0; i < KIND_COUNT; i++) {
        const size_t m = strlen(kinds[i].end);
        if (n > m && strcmp(path + n - m, kinds[i].end) == 0) return i;
    }
    return -1;
}

bool firn_video_is(const char *path) { return kind_of(path) >= 0; }

bool firn_video_possible(void)
{
    const char *folder = getenv("PATH");
    while (folder && *folder) {
        const int length = (int)strcspn(folder, ":");
        char path[4096];
        if (snprintf(path, sizeof path, "%.*s/ffmpeg", length, folder) < (int)sizeof path &&
            access(path, X_OK) == 0) {
            return true;
        }
        folder += length;
        folder += *folder == ':';
    }
    return false;
}

/* The words of the command, which end with NULL. `numbers` holds the text of some. */
enum { MOST_WORDS = 48 };

static void make_command(const firn_video *video, int kind, const char *size, const char *fps,
                         const char *word[MOST_WORDS])
{
    const char *const begin[] = {
        "ffmpeg",
        "-nostdin",
        "-hide_banner",
        "-loglevel",
        "error",
        "-y",
        "-f",
        "rawvideo",
        "-pix_fmt",
        "rgb24",
        "-video_size",
        size,
        "-framerate",
        fps,
        "-i",
        "pipe:0",
        "-vf",
        "pad=ceil(iw/2)*2:ceil(ih/2)*2,scale=out_color_matrix=bt709:out_range=tv",
        "-pix_fmt",
        "yuv420p",
        "-colorspace",
        "bt709",
        "-color_primaries",
        "bt709",
        "-color_trc",
        "bt709",
        "-color_range",
        "tv",
        "-c:v"};
    int n = 0;
    for (size_t i = 0; i < sizeof begin / sizeof *begin; i++) word[n++] = begin[i];
    for (int i = 0; kinds[kind].codec[i]; i++) word[n++] = kinds[kind].codec[i];
    word[n++] = "-f";
    word[n++] = kinds[kind].format;
    word[n++] = video->temporary;
    word[n] = NULL;
}

/* Starts the command with one end of the socket as its input. */
static int start(firn_video *video, const char *const *word, int input)
{
    extern char **environ;
    posix_spawn_file_actions_t files;
    if (posix_spawn_file_actions_init(&files) != 0) return ENOMEM;
    posix_spawnattr_t how;
    posix_spawnattr_init(&how);
    /* A group of its own: Ctrl-C is for us, who then end it as we like. */
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETPGROUP);
    posix_spawn_file_actions_adddup2(&files, input, 0);
    posix_spawn_file_actions_addopen(&files, 1, "/dev/null", 1, 0);
    posix_spawn_file_actions_adddup2(&files, fileno(video->words), 2);
    posix_spawn_file_actions_addclose(&files, video->socket);
    const int failed =
        posix_spawnp(&video->process, word[0], &files, &how, (char *const *)word, environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&how);
    if (failed) video->process = 0;
    return failed;
}

firn_status firn_video_open(firn_video *video, const char *path, int32_t width, int32_t height,
                            double fps, firn_error *error)
{
    *video = (firn_video){0};
    const int kind = kind_of(path);
    if (kind < 0) return firn_fail(error, FIRN_INVALID, "%s: videos end in .mp4 or .webm", path);
    if (!firn_video_possible()) {
        return firn_fail(
            error, FIRN_UNSUPPORTED,
            "%s: videos are made by ffmpeg, which is not installed (apt install ffmpeg)", path);
    }
    const size_t room = strlen(path) + 32;
    *video = (firn_video){.open = true, .socket = -1, .width = width, .height = height};
    video->path = strdup(path);
    video->temporary = malloc(room);
    video->pixels = malloc((size_t)width * (size_t)height * 3);
    video->words = tmpfile();
    if (!video->path || !video->temporary || !video->pixels || !video->words) {
        firn_video_discard(video);
        return firn_fail(error, FIRN_NO_MEMORY, "%s: out of memory", path);
    }
    snprintf(video->temporary, room, "%s.%ld.part", path, (long)getpid());
    /* A socket, not a pipe: writing to one that is closed can be asked not to raise SIGPIPE. Not for
     * the next ffmpeg: it would keep this one from seeing the end. */
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        const int why = errno;
        firn_video_discard(video);
        return firn_fail(error, FIRN_OUTPUT, "%s: %s", path, strerror(why));
    }
    video->socket = firn_descriptor_raise(ends[0]);
    const int input = firn_descriptor_raise(ends[1]);
    char size[32], rate[32];
    snprintf(size, sizeof size, "%dx%d", width, height);
    snprintf(rate, sizeof rate, "%.6g", fps);
    const char *word[MOST_WORDS];
    make_command(video, kind, size, rate, word);
    const int failed = video->socket < 0 || input < 0 ? EMFILE : start(video, word, input);
    if (input >= 0) close(input);
    if (failed) {
        firn_video_discard(video);
        return firn_fail(error, FIRN_OUTPUT, "%s: ffmpeg does not start: %s", path,
                         strerror(failed));
    }
    return FIRN_OK;
}

/* Waits for ffmpeg to end; whether it was content. */
static bool finish(firn_video *video)
{
    if (video->socket >= 0) close(video->socket);
    video->socket = -1;
    int status = 0;
    while (waitpid(video->process, &status, 0) < 0 && errno == EINTR) {}
    video->process = 0;
    /* Where the disk is full at the end, it complains and ends with 0. */
    const bool content = fseek(video->words, 0, SEEK_END) == 0 && ftell(video->words) == 0;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 && content;
}

/* The first line that ffmpeg had to say. */
static firn_status refused(firn_video *video, firn_error *error)
{
    char line[300] = "ffmpeg failed without a message";
    rewind(video->words);
    if (fgets(line, sizeof line, video->words)) line[strcspn(line, "\n")] = 0;
    firn_status st =
        firn_fail(error, FIRN_OUTPUT, "%s: %s; nothing was written", video->path, line);
    firn_video_discard(video);
    return st;
}

firn_status firn_video_add(firn_video *video, const firn_image *picture, firn_error *error)
{
    firn_image_encode(picture, 8, 3, video->pixels);
    const size_t size = (size_t)video->width * (size_t)video->height * 3;
    for (size_t sent = 0; sent < size;) {
        const ssize_t n = send(video->socket, video->pixels + sent, size - sent, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) {
            finish(video);
            return refused(video, error);
        }
        sent += (size_t)n;
    }
    return FIRN_OK;
}

firn_status firn_video_commit(firn_video *video, firn_error *error)
{
    if (!finish(video)) return refused(video, error);
    if (rename(video->temporary, video->path) != 0) {
        firn_status st = firn_fail(error, FIRN_OUTPUT, "%s: %s", video->path, strerror(errno));
        firn_video_discard(video);
        return st;
    }
    free(video->temporary);
    video->temporary = NULL;
    firn_video_discard(video);
    return FIRN_OK;
}

void firn_video_discard(firn_video *video)
{
    if (!video->open) return;
    if (video->process > 0) {
        kill(video->process, SIGKILL);
        finish(video);
    }
    if (video->socket >= 0) close(video->socket);
    if (video->temporary) remove(video->temporary);
    if (video->words) fclose(video->words);
    free(video->temporary);
    free(video->path);
    free(video->pixels);
    *video = (firn_video){0};
}
