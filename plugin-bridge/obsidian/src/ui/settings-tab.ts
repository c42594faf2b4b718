/** The settings, declared; and the service's own state, with what can be done about it. */

import { PluginSettingTab, type App, type Plugin, type Setting, type SettingDefinitionItem } from 'obsidian';
import type { Session } from '../session';
import { DEFAULTS, settingsFrom, type Settings } from '../settings';
import { bannerFor } from '../state/banner';
import { statusText } from '../state/status-text';
import { drawCommand } from './banner-view';

type Key = keyof Settings;

export class VaultragSettingTab extends PluginSettingTab {
  constructor(
    app: App,
    plugin: Plugin,
    private readonly session: Session,
    private readonly save: (settings: Settings) => Promise<void>,
  ) {
    super(app, plugin);
  }

  override getSettingDefinitions(): SettingDefinitionItem<Key>[] {
    return [
      {
        type: 'group',
        heading: 'Search service',
        items: [
          { name: 'State', desc: 'The service runs beside the app and keeps the index.', render: (setting) => this.drawState(setting) },
          { name: 'Log', desc: 'The last lines that the service wrote.', render: (setting) => this.drawLog(setting) },
          {
            name: 'Start the service when needed',
            desc: 'When you open the search and the service is off. Runs the program below.',
            control: { type: 'toggle', key: 'startWhenNeeded', defaultValue: DEFAULTS.startWhenNeeded },
          },
          {
            name: 'Program',
            desc: 'Full path of the vaultrag program. Leave empty to look in the usual places.',
            control: { type: 'text', key: 'program', placeholder: '~/.local/bin/vaultrag', defaultValue: '' },
          },
          {
            name: 'Socket',
            desc: 'Path of the socket. Leave empty to find it.',
            control: { type: 'text', key: 'socket', placeholder: 'Found by itself', defaultValue: '' },
          },
        ],
      },
      {
        type: 'group',
        heading: 'Lists',
        items: [
          {
            name: 'Notes in a list',
            control: { type: 'slider', key: 'limit', min: 5, max: 100, step: 5, defaultValue: DEFAULTS.limit },
          },
          {
            name: 'Preview',
            desc: 'Show the selected note beside the list.',
            control: { type: 'toggle', key: 'preview', defaultValue: DEFAULTS.preview },
          },
          {
            name: 'Leave out linked notes',
            desc: 'Related notes that the open note is linked with already.',
            control: { type: 'toggle', key: 'excludeLinked', defaultValue: DEFAULTS.excludeLinked },
          },
          {
            name: 'Complete links by meaning',
            desc: 'Type [[? and some words in a note.',
            control: { type: 'toggle', key: 'linkCompletion', defaultValue: DEFAULTS.linkCompletion },
          },
        ],
      },
    ];
  }

  override getControlValue(key: string): unknown {
    return this.session.settings[key as Key];
  }

  override async setControlValue(key: string, value: unknown): Promise<void> {
    const before = this.session.settings;
    const settings = settingsFrom({ ...before, [key]: value });
    this.session.settings = settings;
    await this.save(settings);
    if (settings.socket !== before.socket) await this.session.connection.restart();
  }

  private drawState(setting: Setting): () => void {
    const { connection, root } = this.session;
    setting.settingEl.addClass('vaultrag-state');
    const draw = (): void => {
      const { vaultId } = this.session;
      const { text, tooltip } = statusText(connection.state, connection.status, vaultId);
      const facts = { query: '', answer: null, busy: false, failure: null, vault: vaultId, root };
      const banner = bannerFor({ ...facts, connection: connection.state, status: connection.status });
      setting.descEl.empty();
      setting.descEl.createDiv({ text: `${text.replace(/^Search: /, '')} – ${tooltip}` });
      if (banner?.command) drawCommand(setting.descEl, banner.command);
      setting.controlEl.empty();
      if (connection.state.kind === 'unserved') {
        setting.addButton((button) => button.setButtonText('Search this vault').onClick(() => this.session.serve()));
      }
      if (connection.state.kind === 'ready') {
        setting.addButton((button) => button.setButtonText('Restart').onClick(() => this.session.restartService()));
      } else {
        setting.addButton((button) => button.setButtonText('Start').setCta().onClick(() => this.session.start()));
      }
    };
    const ends = [connection.onState(draw), connection.onStatus(draw)];
    draw();
    void connection.wake();
    return () => ends.forEach((end) => end());
  }

  private drawLog(setting: Setting): void {
    setting.settingEl.addClass('vaultrag-log');
    const log = setting.settingEl.createEl('pre', { cls: 'vaultrag-log-text' });
    const draw = async (): Promise<void> => {
      const text = await this.session.log();
      log.setText(text ?? 'There is no log here. A service of the system writes to its journal: journalctl --user -u vaultrag');
      log.scrollTop = log.scrollHeight;
    };
    setting.addExtraButton((button) => button.setIcon('refresh-cw').setTooltip('Read again').onClick(() => void draw()));
    void draw();
  }
}
