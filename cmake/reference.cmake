# Whether doc/reference.md (FILE) is what `firn list --markdown` (PROGRAM) prints.
execute_process(COMMAND ${PROGRAM} list --markdown OUTPUT_VARIABLE now RESULT_VARIABLE result)
if(NOT result EQUAL 0)
    message(FATAL_ERROR "firn list --markdown: exit ${result}")
endif()
file(READ ${FILE} before)
if(NOT now STREQUAL before)
    message(FATAL_ERROR "${FILE} is not current: run `make reference`")
endif()
