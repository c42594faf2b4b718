/** The search as a modal: opened, used, gone. */

import { Modal, type Editor } from 'obsidian';
import type { Session } from '../session';
import { carryOut, endsSearch } from './actions';
import { drawInstructions } from './bindings';
import { targetEditor } from './opening';
import { SearchPanel } from './panel';

export class SearchModal extends Modal {
  private readonly panel: SearchPanel;
  private readonly target: { editor: Editor; path: string } | null;

  constructor(
    session: Session,
    private readonly first: string,
  ) {
    super(session.app);
    this.target = targetEditor(session.app);
    this.modalEl.addClass('prompt', 'vaultrag-modal');
    this.contentEl.addClass('vaultrag-modal-content');
    this.panel = new SearchPanel(
      session,
      this.contentEl,
      {
        act: (action, hit, query) => {
          if (endsSearch(action)) this.close();
          void carryOut(session, action, hit, query, this.target);
        },
      },
      { preview: session.settings.preview },
    );
    this.panel.bind(this.scope);
    drawInstructions(this.contentEl, session.mac);
  }

  override onOpen(): void {
    this.panel.load();
    this.panel.setQuery(this.first);
    this.panel.input.focus();
    this.panel.input.select();
  }

  override onClose(): void {
    this.panel.unload();
    this.contentEl.empty();
  }
}

/** What is selected in the editor, where it is short enough to be searched for. */
export function prefill(session: Session): string {
  const selected = targetEditor(session.app)?.editor.getSelection().trim() ?? '';
  return selected.length <= 200 && !selected.includes('\n') ? selected : '';
}
