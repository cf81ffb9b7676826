/* A zip file of files that are compressed already, as pictures are: stored as they are. Parts stay Blobs, so that a
 * long sequence need not be in memory twice. */
import {Writer} from './bytes.ts';
import {FileError} from './points.ts';

let table: Uint32Array | undefined;

export function crc32(bytes: Uint8Array): number {
  if (!table) {
    table = new Uint32Array(256);
    for (let i = 0; i < 256; i++) {
      let c = i;
      for (let k = 0; k < 8; k++) c = c & 1 ? 0xedb88320 ^ c >>> 1 : c >>> 1;
      table[i] = c;
    }
  }
  let crc = 0xffffffff;
  for (let i = 0; i < bytes.length; i++) crc = table[(crc ^ bytes[i]!) & 255]! ^ crc >>> 8;
  return ~crc >>> 0;
}

const VERSION = 20, UTF8 = 0x800, DATE = 1 << 5 | 1; /* of 1980, so that the same pictures give the same file */
const MOST_FILES = 65535, MOST_SIZE = 0xffffffff;

export class ZipWriter {
  private parts: BlobPart[] = [];
  private directory = new Writer();
  private at = 0;
  count = 0;

  /* Fields that the file's head and its row in the directory share. */
  private fields(to: Writer, name: Uint8Array, crc: number, size: number): Writer {
    return to.u16(VERSION, UTF8, 0, 0, DATE).u32(crc, size, size).u16(name.length, 0);
  }

  add(name: string, bytes: Uint8Array<ArrayBuffer>): void {
    const text = new TextEncoder().encode(name), crc = crc32(bytes);
    if (this.count === MOST_FILES || this.at + bytes.length + 1000 > MOST_SIZE) {
      throw new FileError('The sequence is too long for one zip file: 4 GB or 65,535 pictures are the most.');
    }
    const head = this.fields(new Writer().u32(0x04034b50), text, crc, bytes.length).bytes(text).join();
    this.fields(this.directory.u32(0x02014b50).u16(VERSION), text, crc, bytes.length)
      .u16(0, 0, 0).u32(0, this.at).bytes(text);
    this.parts.push(head, new Blob([bytes]));
    this.at += head.length + bytes.length;
    this.count++;
  }

  finish(): Blob {
    const directory = this.directory.join();
    const end = new Writer().u32(0x06054b50).u16(0, 0, this.count, this.count).u32(directory.length, this.at).u16(0);
    return new Blob([...this.parts, directory, end.join()], {type: 'application/zip'});
  }
}
