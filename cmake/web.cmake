# The web build, configured by emcmake (see the Makefile's target web): the engine, scenes and live sessions
# as one WebAssembly module for apps/studio. FIRN_PARALLEL is serial, or pthread, which needs memory that
# threads share and hence a page that is cross-origin isolated.
if(FIRN_PARALLEL STREQUAL "pthread")
    add_compile_options(-pthread)
endif()
firn_engine(engine ISAS ${isas})

file(GLOB scene_sources CONFIGURE_DEPENDS src/io/*.c src/geometry/*.c src/scene/*.c src/run/*.c
     src/live/*.c)
list(FILTER scene_sources EXCLUDE REGEX "/(png|prt|bgeo_sc|geo_gzip|vdb_read|vdb_write|yaml)\\.c$")
add_library(firn_scene STATIC ${scene_sources})
target_include_directories(firn_scene PUBLIC include PRIVATE src)
target_compile_options(firn_scene PRIVATE -ffp-contract=off)

add_executable(firn_web apps/studio/wasm.c ${engine_objects})
target_link_libraries(firn_web PRIVATE firn_scene m)
# Pointers up to 2 GB fit the signed numbers of the module's script. Kernels have frames of up to 26 KB, and
# values in scenes are read level by level.
target_link_options(firn_web PRIVATE -sMODULARIZE -sEXPORT_NAME=createFirn -sENVIRONMENT=worker,node
    -sALLOW_MEMORY_GROWTH -sMAXIMUM_MEMORY=2GB -sTOTAL_STACK=2MB --no-entry
    -sEXPORTED_FUNCTIONS=_malloc,_free -sNODEJS_CATCH_EXIT=0 -sNODEJS_CATCH_REJECTION=0)
if(FIRN_PARALLEL STREQUAL "pthread")
    set_target_properties(firn_web PROPERTIES OUTPUT_NAME firn_threads)
    target_link_options(firn_web PRIVATE -pthread -Wno-pthreads-mem-growth -sPTHREAD_POOL_SIZE_STRICT=2
        "-sPTHREAD_POOL_SIZE=Module['threads']-1" -sDEFAULT_PTHREAD_STACK_SIZE=1MB)
else()
    set_target_properties(firn_web PROPERTIES OUTPUT_NAME firn)
endif()
