/** Completion inside the query: `tag:` with the vault's tags, `path:` with its folders. */

export interface Completion {
  /** What is replaced in the query. */
  from: number;
  to: number;
  /** What may take its place, best first. */
  options: string[];
}

const MOST = 8;

/** What can be completed at the cursor; null when nothing can. */
export function completionAt(
  query: string,
  cursor: number,
  known: { tags: readonly string[]; folders: readonly string[] },
): Completion | null {
  const before = query.slice(0, cursor);
  const found = /(?:^|\s)-?(tag:#?|path:)("?)([^"\s]*|[^"]*)$/i.exec(before);
  if (!found) return null;
  const [, operator = '', quote = '', typed = ''] = found;
  if (!quote && /\s/.test(typed)) return null;
  const tag = operator.toLowerCase().startsWith('tag');
  const options = rank(tag ? known.tags : known.folders, typed).map((value) =>
    tag ? value : spaced(value) ? `"${value}"` : value,
  );
  const from = cursor - typed.length - quote.length;
  const ahead = quote ? /^[^"]*"?/ : /^\S*/;
  const to = cursor + (ahead.exec(query.slice(cursor))?.[0].length ?? 0);
  if (options.length === 0 || (options.length === 1 && options[0] === query.slice(from, to))) return null;
  return { from, to, options };
}

export function complete(query: string, completion: Completion, option: string): { query: string; cursor: number } {
  const rest = query.slice(completion.to);
  const space = rest.startsWith(' ') ? '' : ' ';
  const head = query.slice(0, completion.from) + option + space;
  return { query: head + rest, cursor: head.length + (space ? 0 : 1) };
}

/** Those that begin so, then those with a part that begins so, then those that hold it. */
function rank(values: readonly string[], typed: string): string[] {
  const wanted = typed.toLowerCase();
  const place = (value: string): number => {
    const lower = value.toLowerCase();
    if (lower.startsWith(wanted)) return 0;
    if (lower.split('/').some((part) => part.startsWith(wanted))) return 1;
    return lower.includes(wanted) ? 2 : 3;
  };
  return values
    .map((value, index) => ({ value, index, place: place(value) }))
    .filter((one) => one.place < 3)
    .sort((a, b) => a.place - b.place || a.index - b.index)
    .slice(0, MOST)
    .map((one) => one.value);
}

function spaced(value: string): boolean {
  return /\s/.test(value);
}
