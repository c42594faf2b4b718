/** The commands. They are always there, and say what is the matter when the service is not; no default hotkeys. */

import { Notice, type Plugin, type WorkspaceLeaf } from 'obsidian';
import type { Session } from './session';
import { InNoteModal } from './ui/in-note-modal';
import { RELATED_VIEW } from './ui/related-view';
import { prefill, SearchModal } from './ui/search-modal';
import { SEARCH_VIEW, SearchView } from './ui/search-view';

export function registerCommands(plugin: Plugin, session: Session): void {
  const { app } = plugin;
  plugin.addCommand({
    id: 'open',
    name: 'Search notes by meaning',
    icon: 'search',
    callback: () => new SearchModal(session, prefill(session)).open(),
  });
  plugin.addCommand({
    id: 'open-pane',
    name: 'Show search pane',
    icon: 'panel-left',
    callback: () => void showSearchPane(plugin),
  });
  plugin.addCommand({
    id: 'related',
    name: 'Show related notes',
    icon: 'waypoints',
    callback: () => void show(plugin, RELATED_VIEW, 'right'),
  });
  plugin.addCommand({
    id: 'in-note',
    name: 'Find in the open note',
    icon: 'file-search',
    callback: () => {
      const file = app.workspace.getActiveFile();
      if (file) new InNoteModal(session, file.path, prefill(session)).open();
      else new Notice('No note is open.');
    },
  });
  plugin.addCommand({
    id: 'reconnect',
    name: 'Connect to the search service again',
    icon: 'refresh-cw',
    callback: () => void reconnect(session),
  });
  plugin.addRibbonIcon('search', 'Search notes by meaning', () => new SearchModal(session, prefill(session)).open());
}

export async function show(plugin: Plugin, type: string, side: 'left' | 'right'): Promise<WorkspaceLeaf> {
  const { workspace } = plugin.app;
  const leaf = await workspace.ensureSideLeaf(type, side, { active: true, reveal: true });
  await workspace.revealLeaf(leaf);
  return leaf;
}

async function showSearchPane(plugin: Plugin): Promise<void> {
  const { view } = await show(plugin, SEARCH_VIEW, 'left');
  if (view instanceof SearchView) view.focusInput();
}

export async function reconnect(session: Session): Promise<void> {
  await session.connection.restart();
  const { state } = session.connection;
  if (state.kind === 'ready') new Notice(`Connected to vaultrag ${state.welcome.version}.`);
  else if ('why' in state) new Notice(`Not connected: ${state.why}.${state.hint ? `\n${state.hint}` : ''}`, 10_000);
}
