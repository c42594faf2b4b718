/** What a search shows: pure values, and how each event changes them. Drawing them is the panel's business. */

import type { Answer, Hit } from '../../../protocol/protocol';
import type { Failure } from '../connection/failures';

export interface SearchState {
  query: string;
  /** The newest answer, also while a newer question is under way. */
  answer: Answer | null;
  /** Whether a question is under way. */
  busy: boolean;
  failure: Failure | null;
  /** Index of the selected hit; -1 when there is none. */
  selected: number;
  /** Whether a person moved the selection: then it stays with its note when the list changes. */
  moved: boolean;
}

export const EMPTY: SearchState = { query: '', answer: null, busy: false, failure: null, selected: -1, moved: false };

export const NOTHING_ELSE = 'Nothing else matches closely. Nearest notes:';

const lists = new WeakMap<Answer, Hit[]>();

/** What the list shows: what was found, then the nearest notes, which say that they are weak. The same array each time. */
export function listed(answer: Answer): Hit[] {
  let hits = lists.get(answer);
  if (!hits) {
    hits = answer.nearest.length ? [...answer.hits, ...answer.nearest] : answer.hits;
    lists.set(answer, hits);
  }
  return hits;
}

const NONE: Hit[] = [];

export function hitsOf(state: SearchState): Hit[] {
  return state.answer ? listed(state.answer) : NONE;
}

export function selectedHit(state: SearchState): Hit | null {
  return hitsOf(state)[state.selected] ?? null;
}

export function typed(state: SearchState, query: string): SearchState {
  if (!query.trim()) return { ...EMPTY, query };
  return { ...state, query, busy: true, moved: false };
}

export function answered(state: SearchState, answer: Answer, whole: boolean): SearchState {
  const kept = state.moved ? selectedHit(state)?.path : undefined;
  const place = kept === undefined ? -1 : listed(answer).findIndex((hit) => hit.path === kept);
  const selected = listed(answer).length === 0 ? -1 : Math.max(0, place);
  return { ...state, answer, failure: null, busy: !whole, selected, moved: state.moved && place >= 0 };
}

export function failed(state: SearchState, failure: Failure): SearchState {
  return { ...state, failure, busy: false, answer: null, selected: -1 };
}

/**
 * Whether what is shown answers an older question, and nobody has chosen from it: who types fast and presses Enter means
 * the best note for all of the words.
 */
export function outrun(state: SearchState): boolean {
  return state.busy && !state.moved && state.answer?.query !== state.query;
}

/** Move the selection by so many places; it goes round at the ends when it moves by one. */
export function moved(state: SearchState, by: number): SearchState {
  const count = hitsOf(state).length;
  if (count === 0) return state;
  const wanted = state.selected + by;
  const selected =
    Math.abs(by) === 1 ? (wanted + count) % count : Math.min(count - 1, Math.max(0, wanted));
  return { ...state, selected, moved: true };
}

export function chosen(state: SearchState, index: number): SearchState {
  return index >= 0 && index < hitsOf(state).length ? { ...state, selected: index, moved: true } : state;
}
