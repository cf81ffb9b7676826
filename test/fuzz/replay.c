/* Runs a fuzz target without a fuzzer: the files of its corpus, then each some hundred times with a
 * few bytes changed, the same ones every time. It needs no libFuzzer and serves daily tests. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Of targets that count the inputs they did not refuse. */
extern int fuzz_taken __attribute__((weak));

static uint64_t random_state;

static size_t random_below(size_t n) /* splitmix64 */
{
    uint64_t z = random_state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (size_t)((z ^ z >> 31) % n);
}

/* One byte, one number that counts end at, one piece elsewhere, or the end cut off. */
static size_t change(uint8_t *data, size_t size)
{
    static const uint64_t ends[] = {0, 1, 0x7f, 0xff, INT32_MAX, UINT32_MAX, INT64_MAX, UINT64_MAX};
    const size_t bytes = (size_t)1 << random_below(4);
    if (size < 2 * bytes) return size;
    const size_t to = random_below(size - bytes), from = random_below(size - bytes);
    switch (random_below(8)) {
    case 0: return 1 + random_below(size - 1);
    case 1:
    case 2: memcpy(data + to, &ends[random_below(sizeof ends / sizeof *ends)], bytes); break;
    case 3: memmove(data + to, data + from, bytes); break;
    default: data[to] = (uint8_t)random_below(256);
    }
    return size;
}

static int replay(const char *path)
{
    enum { CHANGES = 300, MOST = 1 << 20 };
    static uint8_t file[MOST], copy[MOST];
    FILE *f = fopen(path, "rb");
    if (!f) {
        perror(path);
        return 1;
    }
    const size_t size = fread(file, 1, sizeof file, f);
    fclose(f);
    const int before = &fuzz_taken ? fuzz_taken : -1;
    LLVMFuzzerTestOneInput(file, size);
    if (&fuzz_taken && fuzz_taken == before) {
        fprintf(stderr, "%s is refused: the corpus is of no use\n", path);
        return 1;
    }
    for (int i = 0; i < CHANGES; i++) {
        random_state = (uint64_t)i;
        memcpy(copy, file, size);
        size_t left = size;
        for (size_t n = 1 + random_below(4); n > 0; n--) left = change(copy, left);
        uint8_t *exact = malloc(left ? left : 1); /* so that reading past the end shows */
        if (!exact) return 1;
        memcpy(exact, copy, left);
        LLVMFuzzerTestOneInput(exact, left);
        free(exact);
    }
    return 0;
}

int main(int argc, char **argv)
{
    int bad = argc < 2;
    for (int i = 1; i < argc; i++) bad |= replay(argv[i]);
    return bad;
}
