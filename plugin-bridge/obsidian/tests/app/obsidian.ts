/**
 * What stands in for the app: obsidian-test-mocks, and on top of it the few things that the plugin needs to behave as they
 * do in the app. Windows stay open, a scope gets its keys, suggestions are asked for. Naive on purpose where the app is: a
 * promise that comes late overwrites the list.
 */

import * as mocks from 'obsidian-test-mocks/obsidian';

export * from 'obsidian-test-mocks/obsidian';

type Modifier = 'Mod' | 'Ctrl' | 'Meta' | 'Shift' | 'Alt';
type KeyListener = (evt: KeyboardEvent) => unknown;

Object.assign(mocks.Platform, { isWin: false, isLinux: true, isMacOS: false });

function fits(evt: KeyboardEvent, modifiers: Modifier[] | null): boolean {
  if (modifiers === null) return true;
  const wanted = new Set(modifiers.map((one) => (one === 'Mod' ? (mocks.Platform.isMacOS ? 'Meta' : 'Ctrl') : one)));
  return (
    evt.ctrlKey === wanted.has('Ctrl') &&
    evt.metaKey === wanted.has('Meta') &&
    evt.altKey === wanted.has('Alt') &&
    evt.shiftKey === wanted.has('Shift')
  );
}

export class Scope {
  private readonly keys: Array<{ modifiers: Modifier[] | null; key: string | null; listener: KeyListener }> = [];

  constructor(private readonly parent?: Scope) {}

  register(modifiers: Modifier[] | null, key: string | null, listener: KeyListener): object {
    const entry = { modifiers, key, listener };
    this.keys.push(entry);
    return entry;
  }

  unregister(): void {}

  handle(evt: KeyboardEvent): unknown {
    for (const { modifiers, key, listener } of this.keys) {
      if (key !== null && key.toLowerCase() !== evt.key.toLowerCase()) continue;
      if (!fits(evt, modifiers)) continue;
      const done = listener(evt);
      if (done !== undefined) return done;
    }
    return this.parent?.handle(evt);
  }
}

/** The scopes that get keys, the last one first; as the app's keymap does, before anything in the page. */
export const scopes: Scope[] = [];

window.addEventListener(
  'keydown',
  (evt) => {
    if (scopes.at(-1)?.handle(evt) === false) {
      evt.preventDefault();
      evt.stopPropagation();
    }
  },
  true,
);

export class Modal {
  readonly scope = new Scope();
  readonly containerEl = createDiv({ cls: 'modal-container' });
  readonly modalEl = this.containerEl.createDiv({ cls: 'modal', attr: { role: 'dialog' } });
  readonly titleEl = this.modalEl.createDiv({ cls: 'modal-title' });
  readonly contentEl = this.modalEl.createDiv({ cls: 'modal-content' });
  private isOpen = false;

  constructor(readonly app: mocks.App) {
    this.scope.register([], 'Escape', () => {
      this.close();
      return false;
    });
  }

  open(): void {
    this.isOpen = true;
    scopes.push(this.scope);
    activeDocument.body.append(this.containerEl);
    this.onOpen();
  }

  close(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    scopes.splice(scopes.lastIndexOf(this.scope), 1);
    this.containerEl.remove();
    this.onClose();
  }

  onOpen(): void {}
  onClose(): void {}
}

export class SuggestModal<T> extends Modal {
  limit = 100;
  emptyStateText = '';
  readonly inputEl = this.modalEl.createEl('input', { cls: 'prompt-input', type: 'text' });
  readonly resultContainerEl = this.modalEl.createDiv({ cls: 'prompt-results' });
  private values: T[] = [];
  private index = 0;

  constructor(app: mocks.App) {
    super(app);
    this.inputEl.addEventListener('input', () => void this.ask());
    this.scope.register([], 'ArrowDown', () => this.move(1));
    this.scope.register([], 'ArrowUp', () => this.move(-1));
    this.scope.register([], 'Enter', (evt) => {
      const value = this.values[this.index];
      this.close();
      if (value !== undefined) this.onChooseSuggestion(value, evt);
      return false;
    });
  }

  override onOpen(): void {
    this.inputEl.focus();
    void this.ask();
  }

  setPlaceholder(text: string): void {
    this.inputEl.placeholder = text;
  }

  private async ask(): Promise<void> {
    this.values = await this.getSuggestions(this.inputEl.value);
    this.index = 0;
    this.draw();
  }

  private move(by: number): false {
    this.index = Math.min(this.values.length - 1, Math.max(0, this.index + by));
    this.draw();
    return false;
  }

  private draw(): void {
    this.resultContainerEl.empty();
    if (this.values.length === 0) this.resultContainerEl.createDiv({ cls: 'suggestion-empty', text: this.emptyStateText });
    this.values.forEach((value, index) => {
      const el = this.resultContainerEl.createDiv({ cls: 'suggestion-item' });
      el.toggleClass('is-selected', index === this.index);
      this.renderSuggestion(value, el);
    });
  }

  getSuggestions(_query: string): T[] | Promise<T[]> {
    return [];
  }

  renderSuggestion(_value: T, _el: HTMLElement): void {}
  onChooseSuggestion(_value: T, _evt: KeyboardEvent): void {}
}

/** Headings, list items and paragraphs: enough to see where a text stands. */
export const MarkdownRenderer = {
  async render(_: unknown, text: string, el: HTMLElement): Promise<void> {
    await Promise.resolve();
    for (const block of text.split(/\n{2,}/)) {
      const heading = /^(#{1,6})\s+(.*)/.exec(block);
      if (heading) el.createEl(`h${heading[1]?.length ?? 1}` as 'h1', { text: heading[2] ?? '' });
      else if (block.trim()) el.createEl('p', { text: block });
    }
  },
};

export function setIcon(el: HTMLElement, icon: string): void {
  el.empty();
  el.dataset.icon = icon;
  el.createSvg('svg', { attr: { viewBox: '0 0 24 24', width: 16, height: 16, 'aria-hidden': 'true' } }, (svg) => {
    svg.createSvg('circle', { attr: { cx: 12, cy: 12, r: 8, fill: 'none', stroke: 'currentColor', 'stroke-width': 2 } });
  });
}

/** What the app said in passing. */
export const notices: string[] = [];

export class Notice {
  constructor(message: string) {
    notices.push(message);
  }
}
