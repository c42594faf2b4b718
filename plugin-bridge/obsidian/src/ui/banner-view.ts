/** Draws a banner: what is the matter, how far it is, the command to copy, and what can be done at once. */

import { setIcon } from 'obsidian';
import type { Banner } from '../state/banner';

const LABELS: Readonly<Record<NonNullable<Banner['action']>, string>> = {
  start: 'Start it',
  serve: 'Search this vault',
  retry: 'Try again',
  create: 'Create a note',
};

const ICONS: Readonly<Record<Banner['kind'], string>> = {
  offline: 'unplug',
  connecting: 'loader',
  incompatible: 'triangle-alert',
  unserved: 'folder-search',
  indexing: 'hourglass',
  'keyword-only': 'whole-word',
  mismatch: 'whole-word',
  relaxed: 'info',
  partial: 'info',
  nothing: 'search-x',
  failed: 'triangle-alert',
};

export function drawBanner(el: HTMLElement, banner: Banner | null, act: (action: NonNullable<Banner['action']>) => void): void {
  const key = JSON.stringify(banner);
  if (el.dataset.drawn === key) return;
  el.dataset.drawn = key;
  el.empty();
  el.toggleClass('is-empty', banner === null);
  if (!banner) return;
  el.dataset.kind = banner.kind;
  const line = el.createDiv({ cls: 'vaultrag-banner-line' });
  setIcon(line.createSpan({ cls: 'vaultrag-banner-icon' }), ICONS[banner.kind]);
  line.createSpan({ cls: 'vaultrag-banner-text', text: banner.text });
  if (banner.action) {
    const { action } = banner;
    const button = line.createEl('button', { cls: 'vaultrag-banner-action', text: LABELS[action] });
    button.addEventListener('click', () => act(action));
  }
  if (banner.progress !== null) {
    el.createEl('progress', { cls: 'vaultrag-progress', attr: { max: '1', value: String(banner.progress) } });
  }
  if (banner.command) drawCommand(el, banner.command);
}

/** A command that a person may run, with a button that copies it. It is never run from here. */
export function drawCommand(el: HTMLElement, command: string): void {
  const line = el.createDiv({ cls: 'vaultrag-command' });
  line.createEl('code', { text: command });
  const button = line.createEl('button', { cls: 'clickable-icon', attr: { 'aria-label': 'Copy' } });
  setIcon(button, 'copy');
  button.addEventListener('click', () => {
    void navigator.clipboard.writeText(command).then(() => {
      setIcon(button, 'check');
      button.setAttribute('aria-label', 'Copied');
    });
  });
}
