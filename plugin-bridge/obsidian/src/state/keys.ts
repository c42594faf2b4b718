/** What a key or a click in a list of results means. The same meaning for both, and none while text is being composed. */

export type Action =
  | 'open'
  | 'open-tab'
  | 'open-split'
  | 'open-background'
  | 'insert-link'
  | 'create'
  | 'in-note'
  | 'next'
  | 'previous'
  | 'next-page'
  | 'previous-page'
  | 'older'
  | 'newer';

export interface Pressed {
  key: string;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
  shiftKey: boolean;
  isComposing: boolean;
}

const CONTROL: Readonly<Record<string, Action>> = { n: 'next', j: 'next', p: 'previous', k: 'previous' };

export function keyAction(evt: Pressed, mac: boolean): Action | null {
  if (evt.isComposing) return null;
  const mod = mac ? evt.metaKey : evt.ctrlKey;
  const { altKey: alt, shiftKey: shift } = evt;
  if (evt.key === 'Enter') return enter(mod, alt, shift);
  if (evt.key === 'Tab') return mod || alt || shift ? null : 'in-note';
  if (evt.key === 'ArrowDown' || evt.key === 'ArrowUp') {
    if (mod || shift) return null;
    if (alt) return evt.key === 'ArrowUp' ? 'older' : 'newer';
    return evt.key === 'ArrowUp' ? 'previous' : 'next';
  }
  if (alt || shift) return null;
  if (evt.key === 'PageDown') return 'next-page';
  if (evt.key === 'PageUp') return 'previous-page';
  const letter = evt.key.toLowerCase();
  if (mod && letter === 'o') return 'open-background';
  // Control on every system, as in a terminal and in Emacs.
  return evt.ctrlKey && !evt.metaKey ? (CONTROL[letter] ?? null) : null;
}

function enter(mod: boolean, alt: boolean, shift: boolean): Action | null {
  if (shift) return mod || alt ? null : 'create';
  if (mod) return alt ? 'open-split' : 'open-tab';
  return alt ? 'insert-link' : 'open';
}

export interface Clicked {
  button: number;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
}

export function clickAction(evt: Clicked, mac: boolean): Action | null {
  if (evt.button === 1) return 'open-background';
  if (evt.button !== 0) return null;
  return enter(mac ? evt.metaKey : evt.ctrlKey, evt.altKey, false);
}
