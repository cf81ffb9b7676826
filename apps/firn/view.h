/* The engines behind the pages of `firn view`. */
#ifndef FIRN_VIEW_H
#define FIRN_VIEW_H

#include <firn/scene.h>

#include "session.h"

/* ---- view_scene.c: a scene that pages simulate ---- */

typedef struct firn_view_scene {
    const char *path, *text; /* the scene that pages begin with */
    const char *isa;         /* NULL: the best */
    int32_t threads;         /* 0: all */
} firn_view_scene;

/* The scene must stay. */
firn_engine firn_view_scene_engine(const firn_view_scene *scene);

/* ---- view_cache.c: the frames of a finished run ---- */

typedef struct firn_view_cache firn_view_cache;

/* Opens files, a folder, a pattern or an Alembic file. fps 0: as the file says, or the scene, or 24. The scene,
 * which must stay, says how materials look; NULL: unknown. */
FIRN_MUST_CHECK firn_status firn_view_cache_create(const char *const *name, int64_t count,
                                                   double fps, const firn_scene *scene,
                                                   firn_view_cache **cache, firn_error *error);
void firn_view_cache_destroy(firn_view_cache *cache); /* NULL is fine */
/* How many frames there are. */
int64_t firn_view_cache_frames(const firn_view_cache *cache);
/* The cache must stay. */
firn_engine firn_view_cache_engine(firn_view_cache *cache);

#endif
