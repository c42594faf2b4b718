/** `[[?` and some words: a link is completed by what the note is about, not by its name. */

import { EditorSuggest, type Editor, type EditorPosition, type EditorSuggestContext, type EditorSuggestTriggerInfo, type TFile } from 'obsidian';
import type { Answer, Hit } from '../../../protocol/protocol';
import { Latest } from '../connection/latest';
import type { Session } from '../session';
import { triggerAt } from '../state/naming';
import { drawHit } from './hit-view';
import { linkTo } from './opening';

const PAUSE_MS = 80;

export class LinkSuggest extends EditorSuggest<Hit> {
  private readonly latest = new Latest<Answer>();

  constructor(private readonly session: Session) {
    super(session.app);
    this.limit = 12;
    this.setInstructions([
      { command: '↵', purpose: 'insert link' },
      { command: 'esc', purpose: 'close' },
    ]);
  }

  override onTrigger(cursor: EditorPosition, editor: Editor, file: TFile | null): EditorSuggestTriggerInfo | null {
    if (!this.session.settings.linkCompletion || !file) return null;
    const found = triggerAt(editor.getLine(cursor.line), cursor.ch);
    return found && { start: { line: cursor.line, ch: found.start }, end: cursor, query: found.query };
  }

  override async getSuggestions(context: EditorSuggestContext): Promise<Hit[]> {
    const query = context.query.trim();
    if (!query) return [];
    const params = { query, limit: this.limit + 1, typing: true, preview_chars: 120 };
    try {
      const answer = await this.latest.ask(async (signal) => {
        await pause(PAUSE_MS, signal);
        return this.session.connection.call('search', params, { signal });
      });
      return answer.hits.filter((hit) => hit.path !== context.file.path).slice(0, this.limit);
    } catch {
      return []; // the status bar says what is the matter
    }
  }

  override renderSuggestion(hit: Hit, el: HTMLElement): void {
    drawHit(el, hit, { preview: true });
  }

  override selectSuggestion(hit: Hit): void {
    const { context } = this;
    if (!context) return;
    const link = linkTo(this.app, hit.path, context.file.path);
    if (link === null) return;
    const { editor, start } = context;
    const line = editor.getLine(context.end.line);
    // The editor closes brackets by itself: what it has put behind the cursor goes too.
    const closed = line.slice(context.end.ch).startsWith(']]') ? 2 : 0;
    editor.replaceRange(link, start, { line: context.end.line, ch: context.end.ch + closed });
    editor.setCursor({ line: start.line, ch: start.ch + link.length });
    this.close();
  }
}

/** Wait a moment; rejects when what was waited for is superseded. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = window.setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      window.clearTimeout(timer);
      reject(new Error('superseded'));
    });
  });
}
