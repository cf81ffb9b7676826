/* Files in and out of the page: saved by download, opened by picker or drop. */
import {findSequences, type Sequence} from './cache.ts';
import {isParticleFile} from './formats.ts';

/* A title or a scene's name as a file's. */
export function fileName(title: string, extension: string): string {
  const name = title.trim().toLowerCase().replace(/[^a-z0-9_.-]+/g, '_').replace(/^[_.]+|_+$/g, '');
  return `${name || 'scene'}${extension}`;
}

/* Saves, and gives the name back for a message. */
export function saveFile(name: string, data: BlobPart, type = 'application/octet-stream'): string {
  const blob = data instanceof Blob ? data : new Blob([data], {type}), link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  return name;
}

export function saveScene(title: string, text: string): string {
  return saveFile(fileName(title, '.yaml'), text, 'application/yaml');
}

/* Empty if the user changes their mind. */
export function pickFiles(accept: string, multiple = true): Promise<File[]> {
  return new Promise(resolve => {
    const input = document.createElement('input');
    input.type = 'file';
    input.accept = accept;
    input.multiple = multiple;
    input.addEventListener('change', () => resolve([...input.files ?? []]));
    input.addEventListener('cancel', () => resolve([]));
    input.click();
  });
}

export const OPEN_ACCEPT = '.yaml,.yml,.prt,.geo,.bgeo,.sc,.ply,.csv,.obj,.stl';

/* What files are for. A PLY with faces is a mesh, one without is particles: its header tells. */
export type Opened = {scenes: File[]; meshes: File[]; sequences: Sequence[]; others: File[]};

export async function sortFiles(files: File[]): Promise<Opened> {
  const opened: Opened = {scenes: [], meshes: [], sequences: [], others: []}, particles: File[] = [];
  for (const file of files) {
    if (/\.ya?ml$/i.test(file.name)) opened.scenes.push(file);
    else if (/\.(obj|stl)$/i.test(file.name)) opened.meshes.push(file);
    else if (/\.ply$/i.test(file.name) && await hasFaces(file)) opened.meshes.push(file);
    else if (isParticleFile(file.name)) particles.push(file);
    else opened.others.push(file);
  }
  opened.sequences = findSequences(particles);
  return opened;
}

async function hasFaces(file: Blob): Promise<boolean> {
  const start = await file.slice(0, 8192).text(), header = start.slice(0, start.indexOf('end_header'));
  return /^element\s+face\s+[1-9]/m.test(header);
}

/* Files of a drop, those of dropped folders too. */
export async function droppedFiles(data: DataTransfer): Promise<File[]> {
  const entries = [...data.items].map(i => i.webkitGetAsEntry?.()).filter(e => e != null);
  if (!entries.length) return [...data.files];
  const files: File[] = [];
  for (const entry of entries) await collect(entry, files);
  return files;
}

const MOST_FILES = 100000;

async function collect(entry: FileSystemEntry, files: File[]): Promise<void> {
  if (files.length >= MOST_FILES) return;
  if (entry.isFile) {
    files.push(await new Promise<File>((done, fail) => (entry as FileSystemFileEntry).file(done, fail)));
    return;
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((done, fail) => reader.readEntries(done, fail));
    if (!some.length) return;
    for (const e of some) await collect(e, files);
  }
}

export type Drops = {over(yes: boolean): void; files(files: File[]): void};

/* Calls `files` for each drop on an element, and `over` when one begins and ends. Returns what undoes it. */
export function watchDrops(element: HTMLElement, on: Drops): () => void {
  let depth = 0;
  const holds = (e: DragEvent): boolean => e.dataTransfer?.types.includes('Files') ?? false;
  const enter = (e: DragEvent): void => {
    if (holds(e) && depth++ === 0) on.over(true);
  };
  const leave = (e: DragEvent): void => {
    if (holds(e) && --depth === 0) on.over(false);
  };
  const over = (e: DragEvent): void => {
    if (holds(e)) e.preventDefault();
  };
  const drop = (e: DragEvent): void => {
    if (!holds(e)) return;
    e.preventDefault();
    depth = 0;
    on.over(false);
    void droppedFiles(e.dataTransfer!).then(on.files);
  };
  const ended = new AbortController(), options = {signal: ended.signal};
  element.addEventListener('dragenter', enter, options);
  element.addEventListener('dragleave', leave, options);
  element.addEventListener('dragover', over, options);
  element.addEventListener('drop', drop, options);
  return () => ended.abort();
}
