/* What files.test.mjs uses of the page, in a page of its own. */
import {Graphs} from '../../src/graphs.ts';
import {Reader} from '../../src/files/reader.ts';
import {writePrt} from '../../src/files/prt.ts';
import {FileSequence, startRecording} from '../../src/files/recorder.ts';
import {makeLink, readLink} from '../../src/files/share.ts';
import {sortFiles} from '../../src/files/yaml_file.ts';

Object.assign(window, {firnFiles: {Graphs, Reader, writePrt, FileSequence, startRecording, makeLink, readLink, sortFiles}});
