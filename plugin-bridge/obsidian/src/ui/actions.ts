/** Carries out what a list of notes was told to do. The same for the modal, the pane and the related notes. */

import type { Editor } from 'obsidian';
import type { Hit } from '../../../protocol/protocol';
import type { Session } from '../session';
import type { Action } from '../state/keys';
import { InNoteModal } from './in-note-modal';
import { createNote, insertLink, openHit, targetEditor, type Where } from './opening';

const PLACES: Partial<Record<Action, Where>> = {
  open: 'here',
  'open-tab': 'tab',
  'open-split': 'split',
  'open-background': 'background',
};

/** Whether the list has done its work with this and may go away. */
export function endsSearch(action: Action): boolean {
  return action !== 'insert-link' && action !== 'open-background';
}

export async function carryOut(
  session: Session,
  action: Action,
  hit: Hit | null,
  query: string,
  target: { editor: Editor; path: string } | null = targetEditor(session.app),
): Promise<void> {
  const { app } = session;
  if (action === 'create') {
    await createNote(app, query);
    return;
  }
  if (!hit) return;
  const where = PLACES[action];
  if (where) await openHit(app, hit, where);
  else if (action === 'insert-link') insertLink(app, target, hit.path);
  else if (action === 'in-note') new InNoteModal(session, hit.path, query).open();
}
