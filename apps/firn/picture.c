/* Reads the words of the picture options (--size, --range, --slice, --show and others) into the
 * renderer's and the writer's options. Errors name the option and list what would work. */
#include "picture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const quality_words[] = {"draft", "final", NULL};
static const char *const look_words[] = {"volume", "spheres", "points", NULL};
static const char *const channel_words[] = {"rgb", "rgba", "rgb16", "rgba16", NULL};
static const char *const node_words[] = {"mass", "speed", "force", NULL};
static const char *const axis_words[] = {"x", "y", "z", NULL};

const char *firn_picture_quality(int32_t index) { return quality_words[index]; }

/* The place of a word in a list that ends with NULL. */
static firn_status read_word(const char *option, const char *text, const char *const *words,
                             int *out, firn_error *error)
{
    for (int i = 0; words[i]; i++) {
        if (strcmp(words[i], text) == 0) {
            *out = i;
            return FIRN_OK;
        }
    }
    char near[200];
    return firn_app_fail(error, FIRN_INVALID, "%s \"%s\" is not known%s", option, text,
                         firn_nearest(text, words, near, sizeof near));
}

/* "1280x720". */
static firn_status read_pair(const char *option, const char *text, int32_t most, int32_t *a,
                             int32_t *b, firn_error *error)
{
    char *end = NULL;
    const long first = strtol(text, &end, 10);
    long second = 0;
    const bool split = end != text && *end == 'x';
    if (split) second = strtol(end + 1, &end, 10);
    if (!split || *end || first < 1 || second < 1 || first > most || second > most) {
        return firn_app_fail(error, FIRN_INVALID,
                             "%s %s must be two whole numbers with an x between them, from 1 to %d",
                             option, text, most);
    }
    *a = (int32_t)first;
    *b = (int32_t)second;
    return FIRN_OK;
}

/* "0:5". */
static firn_status read_range(const char *option, const char *text, double *low, double *high,
                              firn_error *error)
{
    char *end = NULL;
    *low = strtod(text, &end);
    const bool split = end != text && *end == ':';
    const char *rest = split ? end + 1 : "";
    if (split) *high = strtod(rest, &end);
    if (!split || end == rest || *end || !(*low < *high)) {
        return firn_app_fail(error, FIRN_INVALID, "%s %s must be A:B with A below B", option, text);
    }
    return FIRN_OK;
}

static firn_status read_slice(const char *text, firn_renderer_options *renderer, firn_error *error)
{
    char axis[2] = {text[0], 0}, *end = NULL;
    if (text[0] && text[1] == '=') renderer->slice_offset = strtod(text + 2, &end);
    if (!end || end == text + 2 || *end) {
        return firn_app_fail(error, FIRN_INVALID,
                             "--slice %s must be an axis and metres along it, as z=0.1", text);
    }
    renderer->slice = true;
    return read_word("--slice", axis, axis_words, &renderer->slice_axis, error);
}

/* What follows on "grid=": the attribute of nodes, and a range if there is one. */
static firn_status read_node_color(const char *text, firn_renderer_options *renderer,
                                   firn_error *error)
{
    char word[40];
    int which = 0;
    const size_t length = strcspn(text, ":");
    snprintf(word, sizeof word, "%.*s", (int)length, text);
    firn_status st = read_word("--show grid=", word, node_words, &which, error);
    if (st != FIRN_OK) return st;
    renderer->grid_color = node_words[which];
    if (!text[length]) return FIRN_OK;
    renderer->grid_fixed = true;
    return read_range("--show grid: range", text + length + 1, &renderer->grid_low,
                      &renderer->grid_high, error);
}

/* "particles,grid=speed:0:2,velocity". */
static firn_status read_layers(const char *text, firn_renderer_options *renderer, firn_error *error)
{
    renderer->show = 0;
    while (*text) {
        const size_t length = strcspn(text, ",");
        char word[80];
        int layer = 0;
        snprintf(word, sizeof word, "%.*s", (int)length, text);
        char *value = strchr(word, '=');
        if (value) *value++ = 0;
        firn_status st = read_word("--show", word, firn_layer_names(), &layer, error);
        if (st == FIRN_OK && value && layer != FIRN_LAYER_GRID) {
            st = firn_app_fail(error, FIRN_INVALID,
                               "--show %s=%s: only grid takes an attribute, as grid=speed", word,
                               value);
        }
        if (st == FIRN_OK && value) st = read_node_color(value, renderer, error);
        if (st != FIRN_OK) return st;
        renderer->show |= 1u << layer;
        text += length;
        text += *text == ',';
    }
    return FIRN_OK;
}

firn_status firn_picture_read(const firn_picture_words *words, const char *option,
                              const firn_texts *files, firn_renderer_options *renderer,
                              firn_pictures_def *pictures, firn_error *error)
{
    *renderer = firn_renderer_options_default();
    *pictures = (firn_pictures_def){0};
    firn_render_options *render = &renderer->render;
    int quality = FIRN_FINAL, look = FIRN_RENDER_VOLUME, channels = 0;
    firn_status st = FIRN_OK;
    if (words->size) {
        st = read_pair("--size", words->size, FIRN_IMAGE_MOST, &render->width, &render->height,
                       error);
    }
    if (st == FIRN_OK && words->sheet) {
        st = read_pair("--sheet", words->sheet, 64, &pictures->columns, &pictures->rows, error);
    }
    if (st == FIRN_OK && words->quality) {
        st = read_word("--quality", words->quality, quality_words, &quality, error);
    }
    if (st == FIRN_OK && words->look) {
        st = read_word("--look", words->look, look_words, &look, error);
    }
    if (st == FIRN_OK && words->map) {
        st = read_word("--map", words->map, firn_colormap_names(), &renderer->map, error);
    }
    if (st == FIRN_OK && words->range) {
        st = read_range("--range", words->range, &renderer->low, &renderer->high, error);
    }
    if (st == FIRN_OK && words->slice) st = read_slice(words->slice, renderer, error);
    if (st == FIRN_OK && words->show) st = read_layers(words->show, renderer, error);
    if (st == FIRN_OK && !words->color && (words->range || words->map)) {
        st = firn_app_fail(error, FIRN_INVALID, "--range and --map need --color");
    }
    if (st == FIRN_OK && words->channels) {
        st = read_word("--channels", words->channels, channel_words, &channels, error);
    }
    if (st == FIRN_OK && files->count > FIRN_PICTURES_MOST) {
        st = firn_app_fail(error, FIRN_INVALID, "more than %d of %s", FIRN_PICTURES_MOST, option);
    }
    for (int i = 0; st == FIRN_OK && i < files->count; i++) {
        pictures->path[pictures->path_count++] = files->text[i];
    }
    pictures->bits = channels >= 2 ? 16 : 8;
    render->transparent = pictures->alpha = channels % 2 == 1;
    render->quality = (firn_quality)quality;
    render->mode = (firn_render_mode)look;
    render->samples = (int32_t)words->samples;
    renderer->color = words->color;
    renderer->fixed = words->range != NULL;
    return st;
}
