/** Looking at the page and typing in it, for tests without a browser. */

import { until } from './daemon';

export function all(selector: string, root: ParentNode = document): HTMLElement[] {
  return Array.from(root.querySelectorAll<HTMLElement>(selector));
}

export function one(selector: string, root: ParentNode = document): HTMLElement {
  const found = root.querySelector<HTMLElement>(selector);
  if (!found) throw new Error(`there is no ${selector}`);
  return found;
}

export function input(root: ParentNode = document): HTMLInputElement {
  return one('input.prompt-input', root) as HTMLInputElement;
}

export function type(text: string, root: ParentNode = document): void {
  const field = input(root);
  field.focus();
  field.value = text;
  field.dispatchEvent(new Event('input', { bubbles: true }));
}

export function press(key: string, more: KeyboardEventInit = {}): KeyboardEvent {
  const evt = new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true, ...more });
  (document.activeElement ?? document.body).dispatchEvent(evt);
  return evt;
}

export function titles(root: ParentNode = document): string[] {
  return all('.vaultrag-hit .suggestion-title', root).map((el) => el.textContent ?? '');
}

export function selected(root: ParentNode = document): string {
  return root.querySelector('.vaultrag-hit.is-selected .suggestion-title')?.textContent ?? '';
}

export function banner(root: ParentNode = document): { kind: string; text: string } {
  const el = one('.vaultrag-banner', root);
  return el.classList.contains('is-empty') ? { kind: '', text: '' } : { kind: el.dataset.kind ?? '', text: el.textContent ?? '' };
}

export async function shown(...wanted: string[]): Promise<void> {
  await until(() => JSON.stringify(titles()) === JSON.stringify(wanted), `the list shows ${wanted.join(', ')}`);
}

/** Wait for the whole answer to what was typed. */
export async function settled(): Promise<void> {
  const busy = (): boolean => one('.vaultrag-panel').classList.contains('is-busy');
  await until(() => !busy() && (titles().length || banner().kind), 'the whole answer');
}
