/**
 * The search itself: a line to type in, what is to be known, the list, the preview. The modal and the pane are frames
 * around it. Keys come from the frame's scope, so that the app's own hotkeys and these never both act.
 */

import { Component, type Scope } from 'obsidian';
import type { Answer, Hit } from '../../../protocol/protocol';
import { failureOf, isAbort } from '../connection/failures';
import { Latest } from '../connection/latest';
import type { Session } from '../session';
import { bannerFor } from '../state/banner';
import { Walk } from '../state/history';
import { clickAction, keyAction, type Action } from '../state/keys';
import * as search from '../state/search';
import { drawBanner } from './banner-view';
import { bindKeys } from './bindings';
import { CompletionView } from './completion-view';
import { drawHit } from './hit-view';
import { Preview } from './preview';

/** Two questions are so far apart at least: the first key is asked at once, and of a burst the last. */
const PAUSE_MS = 60;
const PAGE = 8;
let panels = 0;

export interface PanelFrame {
  /** Something is to be done with a note, or with the query when there is none. */
  act: (action: Action, hit: Hit | null, query: string) => void;
  /** The query has changed. */
  onQuery?: (query: string) => void;
  /** Source of the hover preview; empty for none. */
  hover?: (evt: MouseEvent, el: HTMLElement, hit: Hit) => void;
}

export class SearchPanel extends Component {
  readonly input: HTMLInputElement;
  private state: search.SearchState = search.EMPTY;
  private readonly latest = new Latest<Answer>();
  private readonly bannerEl: HTMLElement;
  private readonly listEl: HTMLElement;
  private readonly preview: Preview | null;
  private readonly completion: CompletionView;
  private readonly id = `vaultrag-${++panels}`;
  private walk: Walk;
  private timer: number | null = null;
  private askedAt = -Infinity;
  private composing = false;
  /** Waits for the answer to what was typed last. */
  private held: Action | null = null;
  private drawn: readonly Hit[] | null = null;

  constructor(
    private readonly session: Session,
    private readonly el: HTMLElement,
    private readonly frame: PanelFrame,
    options: { preview: boolean },
  ) {
    super();
    el.addClass('vaultrag-panel');
    const line = el.createDiv({ cls: 'prompt-input-container vaultrag-input' });
    this.input = line.createEl('input', {
      cls: 'prompt-input',
      type: 'text',
      placeholder: 'Search your notes…',
      attr: {
        role: 'combobox',
        'aria-label': 'Search your notes',
        'aria-autocomplete': 'list',
        'aria-controls': `${this.id}-list`,
        'aria-expanded': 'false',
        autocomplete: 'off',
        spellcheck: 'false',
      },
    });
    const completions = el.createDiv({ cls: 'vaultrag-completions', attr: { role: 'listbox', 'aria-label': 'Completions' } });
    this.bannerEl = el.createDiv({ cls: 'vaultrag-banner is-empty', attr: { role: 'status', 'aria-live': 'polite' } });
    const body = el.createDiv({ cls: 'vaultrag-body' });
    this.listEl = body.createDiv({
      cls: 'prompt-results vaultrag-results',
      attr: { id: `${this.id}-list`, role: 'listbox', 'aria-label': 'Notes found' },
    });
    this.preview = options.preview
      ? this.addChild(new Preview(session.app, body.createDiv({ cls: 'vaultrag-preview' })))
      : null;
    this.completion = new CompletionView(completions, this.input, () => this.changed());
    this.walk = new Walk(session.history);
  }

  override onload(): void {
    this.registerDomEvent(this.input, 'compositionstart', () => (this.composing = true));
    this.registerDomEvent(this.input, 'compositionend', () => {
      this.composing = false;
      this.changed();
    });
    this.registerDomEvent(this.input, 'input', () => {
      if (!this.composing) this.changed();
    });
    this.registerDomEvent(this.input, 'blur', () => this.completion.close());
    this.registerDomEvent(this.listEl, 'click', (evt) => this.clicked(evt));
    this.registerDomEvent(this.listEl, 'auxclick', (evt) => this.clicked(evt));
    this.registerDomEvent(this.listEl, 'mousemove', (evt) => this.pointed(evt));
    this.register(
      this.session.connection.onState(({ kind }) => {
        // What could not be asked when it was typed is asked now.
        if (kind === 'ready' && this.state.failure) this.ask();
        this.draw();
      }),
    );
    this.register(this.session.connection.onStatus(() => this.draw()));
    this.draw();
    void this.session.wake();
  }

  override onunload(): void {
    if (this.timer !== null) window.clearTimeout(this.timer);
    this.latest.cancel(failureOf(new Error('closed')));
  }

  get query(): string {
    return this.input.value;
  }

  /** The whole state, for the frame that shows something of it. */
  get found(): Answer | null {
    return this.state.answer;
  }

  /** Put a query in, and ask it. */
  setQuery(query: string): void {
    if (query === this.input.value) return;
    this.input.value = query;
    this.changed();
  }

  /** Take the keys of this scope, while the focus is in the panel. */
  bind(scope: Scope): void {
    bindKeys(scope, (evt) => this.press(evt));
  }

  /** Whether the key was for the panel. */
  press(evt: KeyboardEvent): boolean {
    if (!this.el.contains(this.el.doc.activeElement)) return false;
    const action = keyAction({ ...picked(evt), isComposing: evt.isComposing || this.composing }, this.session.mac);
    if (!action) return false;
    return this.completion.isOpen ? this.pressInCompletion(action) || this.perform(action) : this.perform(action);
  }

  private pressInCompletion(action: Action): boolean {
    if (action === 'next') this.completion.move(1);
    else if (action === 'previous') this.completion.move(-1);
    else if (action === 'open' || action === 'in-note') this.completion.accept();
    else return false;
    return true;
  }

  private perform(action: Action): boolean {
    this.held = null;
    switch (action) {
      case 'next':
        this.select(search.moved(this.state, 1));
        return true;
      case 'previous':
        this.select(search.moved(this.state, -1));
        return true;
      case 'next-page':
        this.select(search.moved(this.state, PAGE));
        return true;
      case 'previous-page':
        this.select(search.moved(this.state, -PAGE));
        return true;
      case 'older':
      case 'newer': {
        const query = action === 'older' ? this.walk.older(this.input.value) : this.walk.newer();
        if (query !== null) this.recall(query);
        return true;
      }
      default:
        return this.act(action, search.selectedHit(this.state));
    }
  }

  private act(action: Action, hit: Hit | null): boolean {
    if (action !== 'create' && search.outrun(this.state)) {
      this.held = action;
      return true;
    }
    if (action !== 'create' && !hit) return action !== 'in-note';
    if (this.query.trim()) {
      this.session.remember(this.query);
      this.walk = new Walk(this.session.history);
    }
    this.frame.act(action, hit, this.query);
    return true;
  }

  private recall(query: string): void {
    const { walk } = this;
    this.input.value = query;
    this.changed();
    this.walk = walk;
  }

  // -- asking

  private changed(): void {
    this.held = null;
    this.walk = new Walk(this.session.history);
    const query = this.input.value;
    this.frame.onQuery?.(query);
    this.state = search.typed(this.state, query);
    if (this.timer !== null) window.clearTimeout(this.timer);
    const wait = Math.max(0, this.askedAt + PAUSE_MS - performance.now());
    this.timer = window.setTimeout(() => this.ask(), wait);
    this.draw();
    void this.offer();
  }

  private ask(): void {
    this.timer = null;
    this.askedAt = performance.now();
    const { query } = this.state;
    if (!query.trim()) {
      this.latest.cancel(failureOf(new Error('nothing is asked')));
      return;
    }
    const params = { query, limit: this.session.settings.limit, typing: true, partial: true, preview_chars: 360 };
    const asked = this.latest.ask((signal) =>
      this.session.connection.call('search', params, {
        signal,
        onPartial: (answer) => {
          if (!signal.aborted) this.show(search.answered(this.state, answer, false));
        },
      }),
    );
    asked.then(
      (answer) => {
        // Of several that get the newest answer, the newest question's own draws it.
        if (answer.query !== this.state.query) return;
        this.show(search.answered(this.state, answer, true));
        this.release();
      },
      (error: unknown) => {
        if (query !== this.state.query || isAbort(error)) return;
        this.held = null;
        this.show(search.failed(this.state, failureOf(error)));
      },
    );
  }

  /** Do what was asked for before the answer was there. */
  private release(): void {
    const action = this.held;
    this.held = null;
    if (action) this.act(action, search.selectedHit(this.state));
  }

  private async offer(): Promise<void> {
    if (!/(^|\s)-?(tag|path):/i.test(this.input.value)) {
      this.completion.close();
      return;
    }
    const tags = await this.session.tags();
    const folders = this.session.app.vault.getAllFolders().map((folder) => folder.path);
    this.completion.update({ tags, folders });
  }

  // -- drawing

  private show(state: search.SearchState): void {
    this.state = state;
    this.draw();
  }

  private select(state: search.SearchState): void {
    this.show(state);
    this.listEl.children[state.selected]?.scrollIntoView({ block: 'nearest' });
  }

  private draw(): void {
    const { connection, vaultId, root } = this.session;
    const facts = { ...this.state, connection: connection.state, status: connection.status, vault: vaultId, root };
    drawBanner(this.bannerEl, bannerFor(facts), (action) => {
      if (action === 'start') void this.session.start().then(() => this.ask());
      else if (action === 'serve') void this.session.serve().then(() => this.ask());
      else if (action === 'retry') void connection.restart().then(() => this.ask());
      else this.act('create', null);
    });
    this.el.toggleClass('is-busy', this.state.busy);
    this.drawList();
    const hit = search.selectedHit(this.state);
    void this.preview?.show(hit);
  }

  private drawList(): void {
    const hits = search.hitsOf(this.state);
    if (hits !== this.drawn) {
      this.drawn = hits;
      this.listEl.empty();
      hits.forEach((hit, index) => this.drawRow(hit, index));
    }
    Array.from(this.listEl.children).forEach((row, index) => {
      row.toggleClass('is-selected', index === this.state.selected);
      row.setAttribute('aria-selected', String(index === this.state.selected));
    });
    this.input.setAttribute('aria-expanded', String(hits.length > 0));
    if (this.state.selected >= 0) this.input.setAttribute('aria-activedescendant', `${this.id}-${this.state.selected}`);
    else this.input.removeAttribute('aria-activedescendant');
  }

  private drawRow(hit: Hit, index: number): void {
    const row = this.listEl.createDiv({ attr: { id: `${this.id}-${index}`, role: 'option', 'data-path': hit.path } });
    // Inside the row, so that rows and hits keep the same numbers. With no hit the banner says it.
    const found = this.state.answer?.hits.length ?? 0;
    if (index === found && found > 0) row.createDiv({ cls: 'vaultrag-nearest', text: search.NOTHING_ELSE });
    drawHit(row, hit, { preview: true });
    const { hover } = this.frame;
    if (hover) row.addEventListener('mouseover', (evt) => hover(evt, row, hit));
  }

  // -- the mouse

  private rowOf(evt: MouseEvent): number {
    const row = evt.targetNode?.instanceOf(Element) ? evt.targetNode.closest('.vaultrag-hit') : null;
    return row ? Array.from(this.listEl.children).indexOf(row) : -1;
  }

  private clicked(evt: MouseEvent): void {
    const index = this.rowOf(evt);
    const action = clickAction(evt, this.session.mac);
    if (index < 0 || !action) return;
    evt.preventDefault();
    this.show(search.chosen(this.state, index));
    this.act(action, search.selectedHit(this.state));
  }

  private pointed(evt: MouseEvent): void {
    // The list may have moved under a mouse that stands still.
    if (evt.movementX === 0 && evt.movementY === 0) return;
    const index = this.rowOf(evt);
    if (index >= 0 && index !== this.state.selected) this.show(search.chosen(this.state, index));
  }
}

function picked(evt: KeyboardEvent): Omit<Parameters<typeof keyAction>[0], 'isComposing'> {
  const { key, ctrlKey, metaKey, altKey, shiftKey } = evt;
  return { key, ctrlKey, metaKey, altKey, shiftKey };
}
