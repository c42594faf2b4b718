/** Names and places of notes, worked out from text alone. */

/** A file name for a note about this query: its words without operators, and without what no file system takes. */
export function noteName(query: string): string {
  const words = query
    .replace(/(^|\s)-"[^"]*"?/g, ' ')
    .replace(/(^|\s)-?(tag|path|file|after|before|is):("[^"]*"?|\S*)/gi, ' ')
    .replace(/(^|\s)-\S+/g, ' ')
    .replace(/\[[^\]]*:[^\]]*\]/g, ' ');
  const plain = words.replace(/[\\/:*?"<>|#^[\]]/g, ' ').replace(/\s+/g, ' ').trim();
  return plain.replace(/^\.+/, '').replace(/[. ]+$/, '').slice(0, 120).trim();
}

/** The folder part of a vault path; empty at the root. */
export function folderOf(path: string): string {
  const slash = path.lastIndexOf('/');
  return slash < 0 ? '' : path.slice(0, slash);
}

export interface Trigger {
  /** Where `[[?` begins in the line. */
  start: number;
  /** What stands after it. */
  query: string;
}

/** Whether the cursor stands after `[[?` and some words: then a link is completed by meaning. */
export function triggerAt(line: string, cursor: number): Trigger | null {
  const before = line.slice(0, cursor);
  const start = before.lastIndexOf('[[?');
  if (start < 0) return null;
  const query = before.slice(start + 3);
  return /[[\]|#^]/.test(query) ? null : { start, query };
}

/** The lines around a passage, 1-based and inclusive, and nothing of the properties. */
export function excerpt(text: string, startLine: number, endLine: number, after = 40): string {
  const lines = text.replaceAll('\r\n', '\n').split('\n');
  const body = bodyLine(lines);
  const first = Math.max(body, startLine > 0 ? startLine - 3 : body);
  const last = Math.max(first, Math.max(endLine, startLine) + after);
  return lines.slice(first - 1, last).join('\n');
}

function bodyLine(lines: readonly string[]): number {
  if (lines[0]?.replace(/^\uFEFF/, '').trimEnd() !== '---') return 1;
  const close = lines.findIndex((line, index) => index > 0 && line.trimEnd() === '---');
  return close < 0 ? 1 : close + 2;
}
