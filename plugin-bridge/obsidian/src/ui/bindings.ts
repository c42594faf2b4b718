/** The keys of a list of notes, in the app's own scopes, and as they are told to a person. */

import type { Modifier, Scope } from 'obsidian';

const KEYS: ReadonlyArray<[Modifier[], string]> = [
  [[], 'Enter'],
  [['Mod'], 'Enter'],
  [['Mod', 'Alt'], 'Enter'],
  [['Alt'], 'Enter'],
  [['Shift'], 'Enter'],
  [['Mod'], 'o'],
  [[], 'Tab'],
  [[], 'ArrowUp'],
  [[], 'ArrowDown'],
  [['Alt'], 'ArrowUp'],
  [['Alt'], 'ArrowDown'],
  [[], 'PageUp'],
  [[], 'PageDown'],
  [['Ctrl'], 'n'],
  [['Ctrl'], 'p'],
  [['Ctrl'], 'j'],
  [['Ctrl'], 'k'],
];

/** Hand each of the keys to `press`; one that it takes goes no further. */
export function bindKeys(scope: Scope, press: (evt: KeyboardEvent) => boolean): void {
  for (const [modifiers, key] of KEYS) {
    scope.register(modifiers, key, (evt) => (press(evt) ? false : undefined));
  }
}

export function instructions(mac: boolean): Array<{ command: string; purpose: string }> {
  const mod = mac ? '⌘' : 'ctrl';
  const alt = mac ? '⌥' : 'alt';
  return [
    { command: '↵', purpose: 'open' },
    { command: `${mod} ↵`, purpose: 'new tab' },
    { command: `${mod} ${alt} ↵`, purpose: 'split' },
    { command: `${mod} o`, purpose: 'in the background' },
    { command: `${alt} ↵`, purpose: 'insert link' },
    { command: 'shift ↵', purpose: 'create note' },
    { command: 'tab', purpose: 'matches in the note' },
    { command: `${alt} ↑↓`, purpose: 'history' },
  ];
}

export function drawInstructions(el: HTMLElement, mac: boolean): void {
  const line = el.createDiv({ cls: 'prompt-instructions' });
  for (const { command, purpose } of instructions(mac)) {
    const part = line.createDiv({ cls: 'prompt-instruction' });
    part.createSpan({ cls: 'prompt-instruction-command', text: command });
    part.createSpan({ text: purpose });
  }
}
