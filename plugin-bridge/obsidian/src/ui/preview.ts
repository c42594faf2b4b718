/** The selected note, rendered by the app, at the passage that fits, with the words marked. */

import { Component, MarkdownRenderer, type App } from 'obsidian';
import type { Hit } from '../../../protocol/protocol';
import { matchedWords } from '../state/highlight';
import { excerpt } from '../state/naming';
import { fileAt } from './opening';

export class Preview extends Component {
  private shown: Component | null = null;
  private key = '';

  constructor(
    private readonly app: App,
    private readonly el: HTMLElement,
  ) {
    super();
  }

  override onunload(): void {
    this.shown = null;
  }

  /** Show this note; null shows nothing. The same note at the same place is not drawn twice. */
  async show(hit: Hit | null): Promise<void> {
    const key = hit ? `${hit.path}:${hit.start_line}:${hit.preview}` : '';
    if (key === this.key) return;
    this.key = key;
    if (!hit) {
      this.clear();
      return;
    }
    const file = hit.kind === 'note' ? fileAt(this.app, hit.path) : null; // of another kind there is no Markdown to read
    const text = file ? excerpt(await this.app.vault.cachedRead(file), hit.start_line, hit.end_line) : hit.preview;
    if (key !== this.key) return;
    const component = this.clear();
    const head = this.el.createDiv({ cls: 'vaultrag-preview-title', text: hit.title });
    head.setAttribute('title', hit.path);
    const body = this.el.createDiv({ cls: 'vaultrag-preview-text markdown-rendered' });
    await MarkdownRenderer.render(this.app, text, body, hit.path, component);
    if (key !== this.key) return;
    mark(body, matchedWords(hit.preview, hit.spans));
    body.querySelector('mark')?.scrollIntoView({ block: 'center' });
  }

  /** Take down what was drawn, with all that the renderer attached to it. */
  private clear(): Component {
    if (this.shown) this.removeChild(this.shown);
    this.el.empty();
    this.shown = this.addChild(new Component());
    return this.shown;
  }
}

/** Mark words in rendered text, without touching its structure. */
export function mark(el: HTMLElement, words: readonly string[]): void {
  if (words.length === 0) return;
  const pattern = new RegExp(`(${words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|')})`, 'u');
  const walker = el.doc.createTreeWalker(el, NodeFilter.SHOW_TEXT);
  const found: Text[] = [];
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (pattern.test(node.nodeValue ?? '')) found.push(node as Text);
  }
  for (const node of found) {
    const parts = createFragment();
    (node.nodeValue ?? '').split(pattern).forEach((part, index) => {
      if (index % 2) parts.createEl('mark', { text: part });
      else parts.appendText(part);
    });
    node.replaceWith(parts);
  }
}
