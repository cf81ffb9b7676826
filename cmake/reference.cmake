# Whether the pages in DOC are what the program (PROGRAM) prints.
function(check file)
    execute_process(COMMAND ${PROGRAM} ${ARGN} OUTPUT_VARIABLE now RESULT_VARIABLE result)
    if(NOT result EQUAL 0)
        message(FATAL_ERROR "firn ${ARGN}: exit ${result}")
    endif()
    file(READ ${DOC}/${file} before)
    if(NOT now STREQUAL before)
        message(FATAL_ERROR "doc/${file} is not current: run `make reference`")
    endif()
endfunction()

check(reference.md list --markdown)
check(firn.1 help --man)
