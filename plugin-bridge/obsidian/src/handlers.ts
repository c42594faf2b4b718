/** Ways in from outside the app: `obsidian://vaultrag?query=…`, and the app's command line. */

import type { CliData, ObsidianProtocolData, Plugin } from 'obsidian';
import { failureOf } from './connection/failures';
import type { Session } from './session';
import { openHit, openNote } from './ui/opening';
import { SearchModal } from './ui/search-modal';

export function registerHandlers(plugin: Plugin, session: Session): void {
  plugin.registerObsidianProtocolHandler('vaultrag', (data) => void followLink(session, data));
  plugin.registerCliHandler(
    'vaultrag',
    'Search notes by word, name and meaning',
    {
      query: { value: '<text>', description: 'What to search for', required: true },
      limit: { value: '<n>', description: 'Notes at most' },
      format: { value: 'text|json', description: 'What is printed' },
      open: { description: 'Open the best note' },
    },
    (data) => searchFromCli(session, data),
  );
}

/** `query` opens the search; `path` (and `line`) a note. */
export async function followLink(session: Session, data: ObsidianProtocolData): Promise<void> {
  const line = Number(data.line ?? 0);
  if (data.path) await openNote(session.app, data.path, 'here', Number.isInteger(line) ? line : 0);
  else new SearchModal(session, data.query ?? '').open();
}

export async function searchFromCli(session: Session, data: CliData): Promise<string> {
  const query = data.query ?? '';
  if (!query.trim()) return 'vaultrag: say what to search for: query=<text>';
  const limit = Number(data.limit ?? 10);
  try {
    const params = { query, limit: Number.isInteger(limit) && limit > 0 ? limit : 10, preview_chars: 200 };
    const answer = await session.connection.call('search', params);
    const [best] = answer.hits;
    if (data.open && best) await openHit(session.app, best, 'here');
    if (data.format === 'json') return JSON.stringify(answer);
    const why = answer.reasons.map((reason) => `(${reason.why})`).join('\n');
    const lines = answer.hits.map((hit) => `${hit.citation}\t${hit.title}`);
    return [...(lines.length ? lines : ['Nothing found.']), ...(why ? [why] : [])].join('\n');
  } catch (error) {
    const { message, hint } = failureOf(error);
    return `vaultrag: ${message}${hint ? `\n  try: ${hint}` : ''}`;
  }
}
