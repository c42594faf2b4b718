/** Notes related to the open one. Asked for when a note is opened, never while it is typed in. */

import { ItemView, setIcon, type WorkspaceLeaf } from 'obsidian';
import type { Answer, Hit } from '../../../protocol/protocol';
import { failureOf, isAbort, type Failure } from '../connection/failures';
import { Latest } from '../connection/latest';
import type { Session } from '../session';
import { bannerFor, type Banner } from '../state/banner';
import { clickAction } from '../state/keys';
import { carryOut } from './actions';
import { drawBanner } from './banner-view';
import { drawHit } from './hit-view';
import { draggable, hoverLink } from './hovering';

export const RELATED_VIEW = 'vaultrag-related';

export class RelatedView extends ItemView {
  private readonly latest = new Latest<Answer>();
  private path = '';
  private pinned = false;
  private folder = '';
  private excludeLinked: boolean;
  private answer: Answer | null = null;
  private failure: Failure | null = null;
  private busy = false;
  private drawn: Answer | null = null;
  private readonly titleEl: HTMLElement;
  private readonly pinEl: HTMLElement;
  private readonly bannerEl: HTMLElement;
  private readonly listEl: HTMLElement;
  private readonly folderEl: HTMLInputElement;

  constructor(
    leaf: WorkspaceLeaf,
    private readonly session: Session,
  ) {
    super(leaf);
    this.icon = 'waypoints';
    this.navigation = false;
    this.excludeLinked = session.settings.excludeLinked;
    const el = this.contentEl;
    el.addClass('vaultrag-related');
    const head = el.createDiv({ cls: 'vaultrag-related-head' });
    this.titleEl = head.createSpan({ cls: 'vaultrag-related-title' });
    this.pinEl = this.button(head, 'pin', 'Stay with this note', () => this.togglePin());
    this.button(head, 'refresh-cw', 'Look again', () => this.ask());
    const filters = el.createDiv({ cls: 'vaultrag-related-filters' });
    this.folderEl = filters.createEl('input', {
      type: 'text',
      placeholder: 'Only in folder…',
      attr: { 'aria-label': 'Only in folder', list: 'vaultrag-folders' },
    });
    const folders = filters.createEl('datalist', { attr: { id: 'vaultrag-folders' } });
    this.registerDomEvent(this.folderEl, 'focus', () => {
      folders.empty();
      for (const { path } of this.app.vault.getAllFolders()) folders.createEl('option', { attr: { value: path } });
    });
    this.registerDomEvent(this.folderEl, 'change', () => {
      this.folder = this.folderEl.value.trim();
      this.ask();
    });
    const label = filters.createEl('label', { text: 'New only' });
    label.setAttribute('title', 'Leave out notes that are linked with this one already');
    const box = label.createEl('input', { type: 'checkbox' });
    box.checked = this.excludeLinked;
    this.registerDomEvent(box, 'change', () => {
      this.excludeLinked = box.checked;
      this.ask();
    });
    this.bannerEl = el.createDiv({ cls: 'vaultrag-banner is-empty', attr: { role: 'status' } });
    this.listEl = el.createDiv({ cls: 'vaultrag-results', attr: { role: 'list', 'aria-label': 'Related notes' } });
  }

  getViewType(): string {
    return RELATED_VIEW;
  }

  getDisplayText(): string {
    return 'Related notes';
  }

  override onload(): void {
    super.onload();
    this.registerEvent(this.app.workspace.on('file-open', (file) => this.opened(file?.path ?? null)));
    this.registerEvent(this.app.vault.on('rename', (file, before) => this.renamed(before, file.path)));
    const { connection } = this.session;
    this.register(
      connection.onState((state) => {
        if (state.kind === 'ready') this.ask();
        else this.draw();
      }),
    );
    this.register(connection.onStatus(() => this.draw()));
    this.registerDomEvent(this.listEl, 'click', (evt) => this.clicked(evt));
    this.registerDomEvent(this.listEl, 'auxclick', (evt) => this.clicked(evt));
    this.opened(this.app.workspace.getActiveFile()?.path ?? null);
    void this.session.wake();
  }

  private opened(path: string | null): void {
    if (path === null || this.pinned || path === this.path || !/\.(md|markdown)$/i.test(path)) {
      this.draw();
      return;
    }
    this.path = path;
    this.answer = null;
    this.ask();
  }

  private renamed(before: string, path: string): void {
    if (before !== this.path) return;
    this.path = path;
    this.draw();
  }

  private togglePin(): void {
    this.pinned = !this.pinned;
    this.pinEl.toggleClass('is-active', this.pinned);
    if (!this.pinned) this.opened(this.app.workspace.getActiveFile()?.path ?? null);
  }

  private ask(): void {
    const { path, folder } = this;
    if (!path) return;
    this.busy = true;
    this.draw();
    const params = { path, folder, linked: !this.excludeLinked, limit: this.session.settings.limit };
    this.latest
      .ask((signal) => this.session.connection.call('related', params, { signal }))
      .then(
        (answer) => this.settle(path, answer, null),
        (error: unknown) => {
          if (!isAbort(error)) this.settle(path, null, failureOf(error));
        },
      );
  }

  private settle(path: string, answer: Answer | null, failure: Failure | null): void {
    if (path !== this.path) return;
    this.answer = answer;
    this.failure = failure;
    this.busy = false;
    this.draw();
  }

  private draw(): void {
    const name = this.path.slice(this.path.lastIndexOf('/') + 1).replace(/\.(md|markdown)$/i, '');
    this.titleEl.setText(name || 'No note is open');
    this.contentEl.toggleClass('is-busy', this.busy);
    drawBanner(this.bannerEl, this.banner(), (action) => {
      if (action === 'start') void this.session.start();
      else if (action === 'serve') void this.session.serve();
      else void this.session.connection.restart();
    });
    // The service tells of its state every second while it embeds: a row that is dragged or has the focus must stay.
    if (this.answer === this.drawn) return;
    this.drawn = this.answer;
    this.listEl.empty();
    for (const hit of this.answer?.hits ?? []) this.drawRow(hit);
  }

  private banner(): Banner | null {
    const { connection, vaultId, root } = this.session;
    const facts = { query: this.path, answer: this.answer, busy: this.busy, failure: this.failure };
    const banner = bannerFor({ ...facts, connection: connection.state, status: connection.status, vault: vaultId, root });
    if (banner?.kind === 'nothing') return { ...banner, text: 'No other note is near this one.', action: null };
    if (this.failure?.kind === 'NoteNotFound' && banner?.kind === 'failed') {
      return { ...banner, kind: 'nothing', text: 'This note is not in the index yet.', command: '' };
    }
    return banner;
  }

  private drawRow(hit: Hit): void {
    const row = this.listEl.createDiv({ attr: { role: 'listitem', 'data-path': hit.path, tabindex: '0' } });
    drawHit(row, hit, { preview: true });
    draggable(this.app, row, hit.path);
    row.addEventListener('mouseover', (evt) => hoverLink(this.app, RELATED_VIEW, this.leaf, evt, row, hit.path));
    row.addEventListener('keydown', (evt) => {
      if (evt.key === 'Enter' && !evt.isComposing) {
        void carryOut(this.session, clickAction({ ...mods(evt), button: 0 }, this.session.mac) ?? 'open', hit, '');
      }
    });
  }

  private clicked(evt: MouseEvent): void {
    const row = evt.targetNode?.instanceOf(Element) ? evt.targetNode.closest('.vaultrag-hit') : null;
    const hit = row ? this.answer?.hits[Array.from(this.listEl.children).indexOf(row)] : undefined;
    const action = clickAction(evt, this.session.mac);
    if (!hit || !action) return;
    evt.preventDefault();
    void carryOut(this.session, action, hit, '');
  }

  private button(el: HTMLElement, icon: string, label: string, act: () => void): HTMLElement {
    const button = el.createEl('button', { cls: 'clickable-icon', attr: { 'aria-label': label } });
    setIcon(button, icon);
    this.registerDomEvent(button, 'click', act);
    return button;
  }
}

function mods(evt: KeyboardEvent): { ctrlKey: boolean; metaKey: boolean; altKey: boolean } {
  return { ctrlKey: evt.ctrlKey, metaKey: evt.metaKey, altKey: evt.altKey };
}
