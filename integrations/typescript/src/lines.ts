/** Where does one line of the socket end and the next begin? */

/** A line has at most so many bytes. */
export const MAX_LINE_BYTES = 16 * 1024 * 1024;

/** Bytes that came, until they are lines. */
export class Lines {
  #parts: Buffer[] = [];
  #bytes = 0;

  /** Takes bytes, and gives the lines that are whole with them; blank ones are left out. */
  push(chunk: Buffer): string[] {
    const lines: string[] = [];
    let from = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
      this.#keep(chunk.subarray(from, end));
      const line = Buffer.concat(this.#parts, this.#bytes).toString("utf8");
      if (line.trim() !== "") lines.push(line);
      this.#parts = [];
      this.#bytes = 0;
      from = end + 1;
    }
    this.#keep(chunk.subarray(from));
    return lines;
  }

  #keep(part: Buffer): void {
    this.#bytes += part.length;
    if (this.#bytes > MAX_LINE_BYTES) throw new Error(`a line is longer than ${MAX_LINE_BYTES} bytes`);
    this.#parts.push(part);
  }
}
