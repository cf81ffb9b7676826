# What `make install` puts where: headers, the libraries, the command line with its manual page and
# completion, and the files by which pkg-config (firn, firn_scene, firn_live, firn_render) and CMake (firn::firn,
# firn::firn_static, firn::firn_scene, firn::firn_live, firn::firn_render) find them.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(DIRECTORY include/firn DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(TARGETS firn_shared firn_static firn_scene firn_live firn_render EXPORT firn
        INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(TARGET firn)
    install(TARGETS firn)
    install(FILES doc/firn.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
    install(FILES ${completion_dir}/firn.bash RENAME firn
            DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
    install(FILES ${completion_dir}/firn.zsh RENAME _firn
            DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
    install(FILES ${completion_dir}/firn.fish
            DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
    # The studio's page, which firn view serves, if `make web` has built it.
    install(DIRECTORY ${PROJECT_BINARY_DIR}/web/ DESTINATION ${CMAKE_INSTALL_DATADIR}/firn/web OPTIONAL)
endif()

# A .pc file finds its prefix from its own place, so that an installed tree may be moved.
file(RELATIVE_PATH pc_to_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
function(firn_pkg_config name description requires libs private)
    set(pc_name ${name})
    set(pc_description "${description}")
    set(pc_requires "${requires}")
    set(pc_libs "${libs}")
    set(pc_private "${private}")
    configure_file(cmake/library.pc.in ${name}.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()
firn_pkg_config(firn "A material point method engine for computer graphics" "" "-lfirn"
                "-lm ${thread_option}")
# Static libraries: what they need is part of linking with them.
firn_pkg_config(firn_scene "Firn's particle files, geometry, scenes and runs" "firn"
                "-lfirn_scene -lyaml -lz -lisal -lblosc -lpthread -lm" "")
firn_pkg_config(firn_live "Firn's live sessions" "firn_scene" "-lfirn_live" "")
firn_pkg_config(firn_render "Firn's pictures" "firn_scene" "-lfirn_render" "")

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/firn)
install(EXPORT firn FILE firn-targets.cmake NAMESPACE firn:: DESTINATION ${package_dir})
configure_package_config_file(cmake/firn-config.cmake.in firn-config.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(firn-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/firn-config.cmake ${PROJECT_BINARY_DIR}/firn-config-version.cmake
        DESTINATION ${package_dir})
