/** The app's own page preview on a note of a list, and dragging the note out as a link. */

import type { App, HoverParent } from 'obsidian';
import { linkTo, targetEditor } from './opening';

export function hoverLink(app: App, source: string, hoverParent: HoverParent, event: MouseEvent, targetEl: HTMLElement, linktext: string): void {
  app.workspace.trigger('hover-link', { event, source, hoverParent, targetEl, linktext, sourcePath: '' });
}

/** Dropped into a note, the row becomes a link in the user's style. */
export function draggable(app: App, el: HTMLElement, path: string): void {
  el.draggable = true;
  el.addEventListener('dragstart', (evt) => {
    const link = linkTo(app, path, targetEditor(app)?.path ?? '');
    if (link !== null) evt.dataTransfer?.setData('text/plain', link);
  });
}
