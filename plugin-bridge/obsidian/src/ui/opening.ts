/** What is done with a note: open it somewhere, link to it, create it. All through the app's own ways. */

import { MarkdownView, normalizePath, Notice, TFile, type App, type Editor, type PaneType } from 'obsidian';
import type { Hit, Place } from '../../../protocol/protocol';
import { failureOf } from '../connection/failures';
import { noteName } from '../state/naming';

export type Where = 'here' | 'tab' | 'split' | 'background';

const PANES: Record<Where, PaneType | false> = { here: false, tab: 'tab', split: 'split', background: 'tab' };

/** The note of this path. The daemon names files as the disk does, the app composes accents. */
export function fileAt(app: App, path: string): TFile | null {
  return app.vault.getFileByPath(path) ?? app.vault.getFileByPath(normalizePath(path.normalize('NFC')));
}

/** Open a note, at a line (1-based; 0 for the top). */
export async function openNote(app: App, path: string, where: Where, line = 0): Promise<boolean> {
  const file = fileAt(app, path);
  if (!file) {
    new Notice(`There is no note ${path} in this vault any more.`);
    return false;
  }
  const leaf = app.workspace.getLeaf(PANES[where]);
  await leaf.openFile(file, {
    active: where !== 'background',
    ...(line > 0 ? { eState: { line: line - 1 } } : {}),
  });
  return true;
}

/** Select what matches, and scroll to it. */
export function selectPlace(editor: Editor, place: Place): void {
  const line = place.line - 1;
  const range = { from: { line, ch: place.start }, to: { line, ch: place.end } };
  editor.setSelection(range.from, range.to);
  editor.scrollIntoView(range, true);
}

/**
 * Open a note where a hit of it matches, or at its passage where nothing in it does. The cursor stands at the match and
 * nothing is selected: the next key must not replace a word, nor the next search begin with it.
 */
export async function openHit(app: App, hit: Hit, where: Where): Promise<boolean> {
  if (hit.kind !== 'note') {
    // The app's own viewers take the page from the link: file.pdf#page=7.
    await app.workspace.openLinkText(hit.citation, '', PANES[where], { active: where !== 'background' });
    return true;
  }
  const [place] = hit.places;
  if (!(await openNote(app, hit.path, where, place?.line ?? hit.start_line))) return false;
  const view = app.workspace.getActiveViewOfType(MarkdownView);
  if (place && view && where !== 'background' && view.file?.path === fileAt(app, hit.path)?.path) {
    const at = { line: place.line - 1, ch: place.start };
    view.editor.setCursor(at);
    view.editor.scrollIntoView({ from: at, to: at }, true);
  }
  return true;
}

/** The editor that a link goes into: the one being written in, else the one used last. */
export function targetEditor(app: App): { editor: Editor; path: string } | null {
  const active = app.workspace.activeEditor;
  if (active?.editor) return { editor: active.editor, path: active.file?.path ?? '' };
  const view = app.workspace.getMostRecentLeaf()?.view;
  return view instanceof MarkdownView ? { editor: view.editor, path: view.file?.path ?? '' } : null;
}

/** A link to a note, in the style that the user has chosen. */
export function linkTo(app: App, path: string, sourcePath: string, heading = ''): string | null {
  const file = fileAt(app, path);
  if (!file) return null;
  return app.fileManager.generateMarkdownLink(file, sourcePath, heading ? `#${heading}` : '');
}

export function insertLink(app: App, target: { editor: Editor; path: string } | null, path: string): boolean {
  if (!target) {
    new Notice('Open a note to put the link into.');
    return false;
  }
  const link = linkTo(app, path, target.path);
  if (link === null) {
    new Notice(`There is no note ${path} in this vault any more.`);
    return false;
  }
  target.editor.replaceSelection(link);
  return true;
}

/** Create a note named after the query, where the user wants new notes, and open it; one of that name is opened as it is. */
export async function createNote(app: App, query: string): Promise<boolean> {
  const name = noteName(query);
  if (!name) {
    new Notice('The query has no words to name a note after.');
    return false;
  }
  const source = app.workspace.getActiveFile()?.path ?? '';
  const folder = app.fileManager.getNewFileParent(source, `${name}.md`);
  const path = normalizePath(folder.isRoot() ? `${name}.md` : `${folder.path}/${name}.md`);
  try {
    if (!fileAt(app, path)) await app.vault.create(path, '');
    return await openNote(app, path, 'here');
  } catch (error) {
    new Notice(`The note cannot be created: ${failureOf(error).message}`);
    return false;
  }
}
