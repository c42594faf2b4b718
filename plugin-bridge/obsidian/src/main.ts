/** The plugin: puts the parts together when the app loads it, and takes everything down when it is unloaded. */

import { FileSystemAdapter, Notice, Platform, Plugin } from 'obsidian';
import { reconnect, registerCommands } from './commands';
import { registerHandlers } from './handlers';
import { Session } from './session';
import { settingsFrom, type Settings } from './settings';
import { LinkSuggest } from './ui/link-suggest';
import { RELATED_VIEW, RelatedView } from './ui/related-view';
import { SEARCH_VIEW, SearchView } from './ui/search-view';
import { VaultragSettingTab } from './ui/settings-tab';
import { StatusBar } from './ui/status-bar';

export default class VaultragPlugin extends Plugin {
  override async onload(): Promise<void> {
    const { adapter } = this.app.vault;
    if (!(adapter instanceof FileSystemAdapter)) {
      new Notice('Vaultrag needs a vault on this computer’s own disk.');
      return;
    }
    const platform = Platform.isMacOS ? 'darwin' : Platform.isWin ? 'win32' : 'linux';
    const client = `obsidian-plugin/${this.manifest.version}`;
    const session = new Session(this.app, settingsFrom(await this.loadData()), adapter.getBasePath(), platform, client);
    this.register(() => session.close());

    this.registerView(SEARCH_VIEW, (leaf) => new SearchView(leaf, session));
    this.registerView(RELATED_VIEW, (leaf) => new RelatedView(leaf, session));
    this.registerHoverLinkSource(SEARCH_VIEW, { display: 'Search by meaning', defaultMod: true });
    this.registerHoverLinkSource(RELATED_VIEW, { display: 'Related notes', defaultMod: true });
    this.registerEditorSuggest(new LinkSuggest(session));
    registerCommands(this, session);
    registerHandlers(this, session);
    const save = (settings: Settings): Promise<void> => this.saveData(settings);
    this.addSettingTab(new VaultragSettingTab(this.app, this, session, save));
    this.addChild(new StatusBar(session, this.addStatusBarItem(), () => void reconnect(session)));

    // A window that comes back to the front after a sleep should not wait for the next attempt.
    this.registerDomEvent(window, 'focus', () => {
      if (session.connection.state.kind === 'offline') void session.connection.wake();
    });
    this.app.workspace.onLayoutReady(() => void session.connection.wake());
  }
}
