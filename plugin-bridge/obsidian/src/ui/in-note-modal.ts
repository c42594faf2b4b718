/** Where a query stands in one note: its lines, each a place to go to. */

import { MarkdownView, SuggestModal } from 'obsidian';
import type { InNote, Match } from '../../../protocol/protocol';
import { failureOf } from '../connection/failures';
import { Latest } from '../connection/latest';
import type { Session } from '../session';
import { drawMatches } from './hit-view';
import { openNote, selectPlace } from './opening';

export class InNoteModal extends SuggestModal<Match> {
  private readonly latest = new Latest<InNote>();

  constructor(
    private readonly session: Session,
    private readonly path: string,
    private readonly first = '',
  ) {
    super(session.app);
    this.modalEl.addClass('vaultrag-in-note');
    this.setPlaceholder('Find in this note…');
    this.emptyStateText = 'Not in this note.';
  }

  override onOpen(): void {
    void super.onOpen();
    if (!this.first) return;
    this.inputEl.value = this.first;
    this.inputEl.dispatchEvent(new Event('input'));
    this.inputEl.select();
  }

  override async getSuggestions(query: string): Promise<Match[]> {
    if (!query.trim()) return [];
    try {
      const params = { path: this.path, query };
      const found = await this.latest.ask((signal) => this.session.connection.call('in_note', params, { signal }));
      this.emptyStateText = 'Not in this note.';
      return [...found.matches, ...passage(found)].sort((a, b) => a.line - b.line);
    } catch (error) {
      this.emptyStateText = failureOf(error).message;
      return [];
    }
  }

  override renderSuggestion(match: Match, el: HTMLElement): void {
    el.addClass('mod-complex');
    const content = el.createDiv({ cls: 'suggestion-content' });
    drawMatches(content.createDiv({ cls: 'suggestion-title' }), match.text, match.spans);
    if (match.heading) content.createDiv({ cls: 'suggestion-note', text: match.heading });
    el.createDiv({ cls: 'suggestion-aux' }).createSpan({ cls: 'suggestion-flair', text: String(match.line) });
  }

  override onChooseSuggestion(match: Match): void {
    void this.go(match);
  }

  private async go(match: Match): Promise<void> {
    if (!(await openNote(this.app, this.path, 'here', match.line))) return;
    const editor = this.app.workspace.getActiveViewOfType(MarkdownView)?.editor;
    const place = match.places[0];
    if (editor && place) selectPlace(editor, place);
  }
}

/** The passage nearest in meaning, as one more place, where no line of words is in it already. */
function passage(found: InNote): Match[] {
  const { start_line: line, end_line: end } = found;
  if (!line || found.matches.some((match) => match.line >= line && match.line <= end)) return [];
  const text = 'The passage nearest in meaning';
  return [{ line, column: 0, text, spans: [], heading: '', weight: 0, places: [] }];
}
