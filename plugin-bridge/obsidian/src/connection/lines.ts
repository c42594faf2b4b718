/**
 * Cuts a stream of bytes into lines. Chunks are kept as they come and joined once a line is whole, so that a reply of
 * megabytes costs no more than its size; a letter cut in two by a chunk's end is whole again when it is decoded.
 */

import { Failure } from './failures';

export const MAX_LINE_BYTES = 64_000_000;

const NEWLINE = 10;

export class Lines {
  private parts: Uint8Array[] = [];
  private size = 0;
  private readonly decoder = new TextDecoder('utf-8');

  constructor(private readonly maxBytes = MAX_LINE_BYTES) {}

  /** The lines that these bytes complete; blank ones are passed over. */
  feed(chunk: Uint8Array): string[] {
    const lines: string[] = [];
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      this.take(chunk.subarray(start, end));
      start = end + 1;
      const line = this.decoder.decode(this.joined()).trim();
      this.parts = [];
      this.size = 0;
      if (line) lines.push(line);
    }
    if (start < chunk.length) this.take(chunk.subarray(start));
    return lines;
  }

  private take(part: Uint8Array): void {
    this.size += part.length;
    if (this.size > this.maxBytes) throw new Failure('MessageTooLarge', 'the daemon sent a line without an end');
    this.parts.push(part);
  }

  private joined(): Uint8Array {
    if (this.parts.length === 1 && this.parts[0]) return this.parts[0];
    const whole = new Uint8Array(this.size);
    let at = 0;
    for (const part of this.parts) {
      whole.set(part, at);
      at += part.length;
    }
    return whole;
  }
}
