/** A text cut at its matches. */

import type { Evidence, Span } from '../../../protocol/protocol';

export interface Segment {
  text: string;
  match: boolean;
}

/** The segments of a text, in order, none empty. Spans that do not fit the text are left out. */
export function segments(text: string, spans: readonly Span[] = []): Segment[] {
  const parts: Segment[] = [];
  let at = 0;
  for (const { start, end } of spans) {
    if (start < at || end <= start || end > text.length) continue;
    if (start > at) parts.push({ text: text.slice(at, start), match: false });
    parts.push({ text: text.slice(start, end), match: true });
    at = end;
  }
  if (at < text.length) parts.push({ text: text.slice(at), match: false });
  return parts;
}

/** The different words that match, longest first, for marking them in a rendered text. */
export function matchedWords(text: string, spans: readonly Span[]): string[] {
  const words = spans.map(({ start, end }) => text.slice(start, end)).filter((word) => word.trim());
  return [...new Set(words)].sort((a, b) => b.length - a.length);
}

const ARMS: Readonly<Record<string, string>> = {
  words: 'words',
  nearness: 'words',
  names: 'name',
  meaning: 'meaning',
  passages: 'meaning',
  links: 'links',
};

/** Why a note was found, in a few words: the arms that speak for it, the strongest first. */
export function whyFound(evidence: readonly Evidence[]): string {
  const strongest = [...evidence].filter((one) => one.contribution > 0).sort((a, b) => b.contribution - a.contribution);
  return [...new Set(strongest.map((one) => ARMS[one.arm] ?? one.arm))].join(' + ');
}

/** The same at length: each arm with its rank and its part. */
export function whyAtLength(evidence: readonly Evidence[]): string {
  return evidence
    .map((one) => `${one.arm}: rank ${one.rank}, ${one.contribution.toFixed(2)} of the score`)
    .join('\n');
}
