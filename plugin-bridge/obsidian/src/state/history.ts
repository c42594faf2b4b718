/** Queries asked before, the newest first, and a place among them. */

export const KEPT = 50;

export function remember(history: readonly string[], query: string): string[] {
  const asked = query.trim();
  if (!asked) return [...history];
  return [asked, ...history.filter((known) => known !== asked)].slice(0, KEPT);
}

/** Walks through the history and comes back to what was being typed. */
export class Walk {
  private place = -1;
  private draft = '';

  constructor(private readonly history: readonly string[]) {}

  /** The query before the one shown; null at the end. */
  older(shown: string): string | null {
    if (this.place < 0) this.draft = shown;
    const next = this.history[this.place + 1] === shown ? this.place + 2 : this.place + 1;
    const query = this.history[next];
    if (query === undefined) return null;
    this.place = next;
    return query;
  }

  newer(): string | null {
    if (this.place < 0) return null;
    this.place -= 1;
    return this.place < 0 ? this.draft : (this.history[this.place] ?? null);
  }
}
