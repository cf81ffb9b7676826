/* The command `firn bench` and the helpers of all benchmarks: materials by name, an allocator that
 * counts, the machine's description, CSV files with a comment line per run. */
#include "bench.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "app.h"

/* ---- the command ---- */

static const firn_command *const benches[] = {&firn_bench_step_command,
                                              &firn_bench_scaling_command,
                                              &firn_bench_realtime_command,
                                              &firn_bench_stable_command,
                                              &firn_bench_files_command,
                                              &firn_bench_fill_command,
                                              &firn_bench_implicit_command,
                                              &firn_bench_busy_command,
                                              &firn_bench_voxelize_command,
                                              &firn_bench_live_command,
                                              &firn_bench_solver_command,
                                              &firn_bench_liquid_command,
                                              NULL};

const firn_command firn_bench_command = {
    .name = "firn bench",
    .line = "measure speed: step, scaling, realtime, stable, files, fill, implicit, busy, "
            "voxelize, live, solver, liquid",
    .summary = "Measures how fast the engine is on this machine. Nothing stays on disk unless "
               "--csv asks for it.",
    .parts = benches};

const char *firn_bench_material_name(int32_t index)
{
    const int32_t law = index;
    if (law < FIRN_LAW_COUNT) return firn_law_name((firn_law_kind)law);
    int32_t left = index - FIRN_LAW_COUNT;
    const firn_preset *p;
    for (int32_t i = 0; (p = firn_preset_get(i)); i++) {
        if (firn_law_find(p->name) != FIRN_LAW_COUNT) continue; /* that name was told */
        if (left-- == 0) return p->name;
    }
    return NULL;
}

firn_material_def firn_bench_material(const char *name)
{
    const firn_preset *preset = firn_preset_find(name);
    firn_material_def def =
        firn_material_def_preset(preset ? preset : firn_preset_find("jelly_hard"));
    if (!preset) def.law = firn_law_find(name);
    return def;
}

/* ---- measuring ---- */

double firn_bench_cpu(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *reallocate(void *user_data, void *block, size_t old_size, size_t new_size,
                        size_t alignment)
{
    firn_bench_memory *memory = user_data;
    const firn_allocator allocator = firn_allocator_default();
    void *result = allocator.reallocate(allocator.user_data, block, old_size, new_size, alignment);
    if (new_size > 0 && !result) return NULL;
    /* While a block grows, old and new exist. */
    if (memory->held + new_size > memory->peak) memory->peak = memory->held + new_size;
    memory->held += new_size - old_size;
    return result;
}

firn_allocator firn_bench_allocator(firn_bench_memory *memory)
{
    return (firn_allocator){.reallocate = reallocate, .user_data = memory};
}

/* The number after `key` in a file of the system, or -1. */
static int64_t number_in(const char *path, const char *key)
{
    FILE *file = fopen(path, "r");
    if (!file) return -1;
    char line[256];
    int64_t value = -1;
    while (value < 0 && fgets(line, sizeof line, file)) {
        if (strncmp(line, key, strlen(key)) != 0) continue;
        char *end = NULL;
        const char *digits = line + strlen(key);
        const long long number = strtoll(digits, &end, 10);
        if (end != digits) value = number;
    }
    fclose(file);
    return value;
}

int64_t firn_bench_memory_available(void)
{
    int64_t least = INT64_MAX;
    const int64_t machine = number_in("/proc/meminfo", "MemAvailable:");
    if (machine >= 0) least = machine * 1024;
    const int64_t limit = number_in("/sys/fs/cgroup/memory.max", "");
    const int64_t used = number_in("/sys/fs/cgroup/memory.current", "");
    if (limit >= 0 && used >= 0 && limit - used < least) least = limit - used;
    return least;
}

/* ---- results ---- */

void firn_bench_machine(char *text, size_t size)
{
    char name[96] = "unknown CPU", line[256];
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file && fgets(line, sizeof line, file)) {
        const char *colon = strchr(line, ':');
        if (!colon || strncmp(line, "model name", 10) != 0) continue;
        colon += 1 + strspn(colon + 1, " \t");
        snprintf(name, sizeof name, "%.*s", (int)strcspn(colon, "\n"), colon);
        break;
    }
    if (file) fclose(file);
    /* Virtual machines shorten the name; family and model still tell the generation. */
    const int64_t family = number_in("/proc/cpuinfo", "cpu family\t:");
    const int64_t model = number_in("/proc/cpuinfo", "model\t\t:");
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (family >= 0 && model >= 0) {
        snprintf(text, size, "%s (family %lld model %lld) x %ld", name, (long long)family,
                 (long long)model, cores);
    } else {
        snprintf(text, size, "%s x %ld", name, cores);
    }
}

const char *firn_bench_compiler(void)
{
#if defined(__clang__)
    return __VERSION__;
#elif defined(__GNUC__)
    return "gcc " __VERSION__;
#else
    return "unknown compiler";
#endif
}

/* Whether the last comment of a file is this line. Leaves the position at the end. */
static bool ends_under(FILE *file, const char *comment)
{
    bool same = false;
    char line[512];
    while (fgets(line, sizeof line, file)) {
        if (line[0] == '#') same = strcmp(line, comment) == 0;
    }
    fseek(file, 0, SEEK_END);
    return same;
}

bool firn_bench_csv_open(firn_bench_csv *csv, const char *command, const char *path,
                         const char *columns)
{
    *csv = (firn_bench_csv){.path = path};
    if (!path) return true;
    csv->file = fopen(path, "r+");
    if (!csv->file) csv->file = fopen(path, "w+");
    if (!csv->file) {
        fprintf(stderr, "%s: cannot write %s; choose a file in a directory that exists\n", command,
                path);
        return false;
    }
    char machine[128], date[32], comment[512];
    firn_bench_machine(machine, sizeof machine);
    const time_t now = time(NULL);
    struct tm utc;
    gmtime_r(&now, &utc);
    strftime(date, sizeof date, "%Y-%m-%d", &utc);
    snprintf(comment, sizeof comment, "# %s, %s, %s, firn %s\n", machine, firn_bench_compiler(),
             date, firn_version());
    const bool known = ends_under(csv->file, comment);
    if (ftell(csv->file) == 0) fprintf(csv->file, "%s\n", columns);
    if (!known) fputs(comment, csv->file);
    return true;
}

void firn_bench_csv_row(const firn_bench_csv *csv, const char *format, ...)
{
    if (!csv->file) return;
    va_list arguments;
    va_start(arguments, format);
    vfprintf(csv->file, format, arguments);
    va_end(arguments);
    fputc('\n', csv->file);
    fflush(csv->file);
}

bool firn_bench_csv_close(firn_bench_csv *csv, const char *command)
{
    if (!csv->file) return true;
    const bool failed = ferror(csv->file) != 0;
    if (fclose(csv->file) != 0 || failed) {
        fprintf(stderr, "%s: could not write all of %s; is the disk full?\n", command, csv->path);
        return false;
    }
    return true;
}
